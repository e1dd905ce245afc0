//! Rules of Appendix A.

use super::scope::{Found, Scope};
use crate::dataset::{Attribute, Dataset, Role, Variable, axis_of};
use crate::tables::attributes::{self, AttributeType, Use};

/// Names that other conventions also use, or that writers use everywhere with the same meaning.
const GENERAL: [&str; 20] = [
    "_FillValue",
    "algorithm",
    "comment",
    "coordinates",
    "dimensions",
    "flag_masks",
    "flag_meanings",
    "flag_values",
    "grid_mapping",
    "history",
    "implementation",
    "institution",
    "location",
    "long_name",
    "mesh",
    "missing_value",
    "nodes",
    "references",
    "select",
    "source",
];

/// Attributes whose type is not checked by any other rule.
const TYPED_HERE: [&str; 9] = [
    "algorithm",
    "computed_standard_name",
    "implementation",
    "long_name",
    "quantization_nsb",
    "quantization_nsd",
    "standard_error_multiplier",
    "valid_max",
    "valid_min",
];

/// Spec: CF 1.13, Table A.1
pub(super) fn attribute_use(scope: &Scope<'_>, found: &mut Found) {
    for group in scope.groups() {
        let level = if group.parent.is_none() { Use::Global } else { Use::Group };
        let is_allowed = |uses: &[Use]| uses.contains(&level) || uses.contains(&Use::Group);
        for (name, known) in known(scope, &group.attributes) {
            // Attributes of the whole file that are in a group have a separate rule.
            let is_of_file = known.uses.contains(&Use::Global);
            if !is_allowed(&known.uses) && !is_of_file && !GENERAL.contains(&name) {
                let place = format!("{}@{name}", group.path);
                let message = format!("{name} of a group, expected only on {}", expected(&known.uses));
                found.add(place, message, "move it to the variables that it is about");
            }
        }
    }
    for variable in scope.variables() {
        let uses = uses(scope, variable);
        for (name, known) in known(scope, &variable.attributes) {
            let place = || variable.place(name);
            if let Some((what, uses)) = &uses
                && !GENERAL.contains(&name)
                && !known.uses.iter().any(|of| uses.contains(of) || *of == Use::Other)
            {
                let message = format!("{name} of {what}, expected only on {}", expected(&known.uses));
                found.add(place(), message, "remove it, or move it to where it belongs");
            }
            check_type(scope.dataset, variable, name, known.data_type, found);
        }
    }
}

/// The attributes in the table of the version.
fn known<'a>(
    scope: &Scope<'_>,
    own: &'a indexmap::IndexMap<String, Attribute>,
) -> impl Iterator<Item = (&'a str, &'static attributes::Attribute)> {
    let version = scope.version;
    own.keys().filter_map(move |name| {
        let known = attributes::get(name)?;
        known.since.is_none_or(|since| since <= version).then_some((name.as_str(), known))
    })
}

/// The kind of a variable in the table, and the letters of its uses. `None` if the table does not list all attributes
/// that it may have.
fn uses(scope: &Scope<'_>, variable: &Variable) -> Option<(&'static str, Vec<Use>)> {
    const OTHERS: [Role; 7] = [
        Role::GridMapping,
        Role::NodeCount,
        Role::Count,
        Role::Index,
        Role::Interpolation,
        Role::Mesh,
        Role::Aggregation,
    ];
    // Variables that a version does not know yet may have any attribute.
    const LATER: [(Role, u16); 4] =
        [(Role::Geometry, 8), (Role::NodeCoordinate, 8), (Role::Domain, 9), (Role::Quantization, 12)];
    let is_later = LATER.iter().any(|(role, minor)| variable.is(*role) && !scope.is_since(*minor));
    if is_later || OTHERS.iter().any(|role| variable.is(*role)) {
        return None;
    }
    let is = |role: Role| variable.is(role);
    let is_boundary = is(Role::Boundary) || is(Role::Climatology);
    let is_named = [Role::Coordinate, Role::Auxiliary, Role::NodeCoordinate, Role::Identifier];
    // A variable along an axis may be a coordinate that no attribute names.
    let is_coordinate = is_named.iter().any(|role| is(*role))
        || is(Role::FormulaTerm)
        || (!is_boundary && axis_of(variable).is_some());
    let all = [
        (is(Role::Data), "a data variable", Use::Data),
        (is_coordinate, "a coordinate", Use::Coordinate),
        (is(Role::Geometry), "a geometry container", Use::Geometry),
        (is(Role::Quantization), "a quantization container", Use::Quantization),
        (is(Role::Domain), "a domain variable", Use::Domain),
        (is_boundary, "a boundary variable", Use::BoundaryInherited),
        (is_boundary, "a boundary variable", Use::BoundaryOwn),
    ];
    let own = all.into_iter().filter(|(is_it, ..)| *is_it);
    let (names, uses): (Vec<&str>, Vec<Use>) = own.map(|(_, name, of)| (name, of)).unzip();
    Some((names.last()?, uses))
}

/// Where an attribute may be used, for messages.
fn expected(uses: &[Use]) -> String {
    let mut names: Vec<&str> = uses
        .iter()
        .map(|of| match of {
            Use::Global => "the file",
            Use::Group => "groups",
            Use::Coordinate => "coordinates",
            Use::Data => "data variables",
            Use::Geometry => "geometry containers",
            Use::Quantization => "quantization containers",
            Use::Domain => "domain variables",
            Use::BoundaryInherited | Use::BoundaryOwn => "boundary variables",
            Use::Aggregation => "aggregation variables",
            Use::Other => "variables of another purpose",
        })
        .collect();
    names.dedup();
    names.join(", ")
}

fn check_type(
    dataset: &Dataset,
    variable: &Variable,
    name: &str,
    expected: AttributeType,
    found: &mut Found,
) {
    let Some(attribute) = variable.attributes.get(name).filter(|own| own.datatype.is_some()) else { return };
    if !TYPED_HERE.contains(&name) {
        return;
    }
    let what = match expected {
        AttributeType::Text if !attribute.is_text() => "a text",
        // Special numbers are strings where attributes keep no types, and so are dates.
        AttributeType::Number
            if dataset.has_typed_attributes && attribute.numbers().is_none() && variable.is_numeric() =>
        {
            "numbers"
        }
        _ => return,
    };
    let message = format!("{name} is {}, expected {what}", attribute.type_name());
    found.add(variable.place(name), message, format!("write it as {what}"));
}
