//! Rules of Appendix A, Attributes.

use super::scope::{Found, Scope};
use crate::dataset::{Attribute, Role, Variable};
use crate::tables::attributes::{self, Attribute as Known, AttributeType, Use};

/// Spec: CF 1.13, Table A.1
pub(super) fn attribute_use(scope: &Scope<'_>, found: &mut Found) {
    for group in scope.groups() {
        let uses: &[Use] =
            if group.parent.is_none() { &[Use::Global, Use::Group] } else { &[Use::Group, Use::Global] };
        for (name, known) in known(scope, group.attributes.iter()) {
            // Words of later versions are common among the attributes of files.
            if known.since.is_none() && !known.uses.iter().any(|own| uses.contains(own)) {
                let message = format!("{name} at a group, expected it at {}", places(known));
                found.add(format!("{}@{name}", group.path), message, "move it to a variable");
            }
        }
    }
    for variable in scope.variables() {
        let Some(uses) = uses_of(variable) else { continue };
        for (name, known) in known(scope, variable.attributes.iter()) {
            if !known.uses.iter().any(|own| uses.contains(own) || *own == Use::Other) {
                let message = format!("{name} at {}, expected it at {}", kind_of(variable), places(known));
                found.add(variable.place(name), message, "move it, or remove it");
            }
        }
        for name in TYPED {
            let (Some(own), Some(known)) = (variable.attributes.get(name), attributes::get(name)) else {
                continue;
            };
            let expected = match known.data_type {
                AttributeType::Text if !own.is_text() => "a text",
                AttributeType::Number if own.numbers().is_none() => "a number",
                _ => continue,
            };
            let message = format!("{name} is {}, expected {expected}", own.type_name());
            found.add(variable.place(name), message, format!("write it as {expected}"));
        }
    }
}

/// Attributes whose type no other rule checks.
const TYPED: [&str; 4] = ["long_name", "valid_min", "valid_max", "standard_error_multiplier"];

/// The attributes that the version knows.
fn known<'a>(
    scope: &Scope<'_>,
    attributes: impl Iterator<Item = (&'a String, &'a Attribute)>,
) -> Vec<(&'a str, &'static Known)> {
    let version = scope.version;
    let known = attributes.filter_map(|(name, _)| Some((name.as_str(), attributes::get(name)?)));
    known.filter(|(_, known)| known.since.is_none_or(|since| since <= version)).collect()
}

/// Where the attributes of a variable may be used, by its roles; `None` for variables that the table says nothing of.
fn uses_of(variable: &Variable) -> Option<Vec<Use>> {
    const NOT_LISTED: [Role; 9] = [
        Role::GridMapping,
        Role::NodeCount,
        Role::Compression,
        Role::Count,
        Role::Index,
        Role::Interpolation,
        Role::Mesh,
        Role::Aggregation,
        Role::Quantization,
    ];
    if NOT_LISTED.iter().any(|role| variable.is(*role)) {
        return None;
    }
    let mut uses = Vec::new();
    let roles: [(Role, &[Use]); 8] = [
        (Role::Data, &[Use::Data]),
        (Role::Coordinate, &[Use::Coordinate]),
        // What is a coordinate of one variable may be the data of another.
        (Role::Auxiliary, &[Use::Coordinate, Use::Data]),
        (Role::Identifier, &[Use::Coordinate, Use::Data]),
        (Role::NodeCoordinate, &[Use::Coordinate]),
        (Role::Geometry, &[Use::Geometry]),
        (Role::Domain, &[Use::Domain]),
        (Role::Boundary, &[Use::BoundaryInherited, Use::BoundaryOwn]),
    ];
    for (_, own) in roles.iter().filter(|(role, _)| variable.is(*role)) {
        uses.extend_from_slice(own);
    }
    if variable.is(Role::Climatology) {
        uses.extend([Use::BoundaryInherited, Use::BoundaryOwn]);
    }
    Some(uses)
}

/// What a variable is, for messages.
fn kind_of(variable: &Variable) -> &'static str {
    let kinds = [
        (Role::Boundary, "a boundary variable"),
        (Role::Climatology, "a climatology boundary variable"),
        (Role::Geometry, "a geometry container"),
        (Role::Domain, "a domain variable"),
        (Role::Coordinate, "a coordinate variable"),
        (Role::Auxiliary, "an auxiliary coordinate"),
        (Role::NodeCoordinate, "a node coordinate"),
    ];
    let kind = kinds.iter().find(|(role, _)| variable.is(*role));
    kind.map_or("a data variable", |(_, kind)| kind)
}

/// Where an attribute may stand.
fn places(known: &Known) -> String {
    let place = |of: &Use| match of {
        Use::Global => "the root group",
        Use::Group => "groups",
        Use::Coordinate => "coordinates",
        Use::Data => "data variables",
        Use::Geometry => "geometry containers",
        Use::Quantization => "quantization variables",
        Use::Domain => "domain variables",
        Use::BoundaryInherited | Use::BoundaryOwn => "boundary variables",
        Use::Aggregation => "aggregation variables",
        Use::Other => "variables of another purpose",
    };
    let mut places: Vec<&str> = known.uses.iter().map(place).collect();
    places.dedup();
    places.join(", ")
}
