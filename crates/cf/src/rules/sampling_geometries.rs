//! Rules of chapter 9, Discrete Sampling Geometries.

use super::scope::{Found, Scope, meant};
use crate::brief::brief;
use crate::dataset::{Attribute, Axis, Role, Target, Variable, axis_of, words};
use crate::tables::nearest::nearest;
use std::collections::{HashMap, HashSet};

/// A feature type: its name, the maximum number of dimensions of its data, and the roles of variables that identify its
/// features.
struct FeatureType {
    name: &'static str,
    dimensions: usize,
    roles: &'static [&'static str],
}

/// Spec: CF 1.13, Table 9.1
static FEATURE_TYPES: [FeatureType; 6] = [
    FeatureType { name: "point", dimensions: 1, roles: &[] },
    FeatureType { name: "timeSeries", dimensions: 2, roles: &["timeseries_id"] },
    FeatureType { name: "trajectory", dimensions: 2, roles: &["trajectory_id"] },
    FeatureType { name: "profile", dimensions: 2, roles: &["profile_id"] },
    FeatureType { name: "timeSeriesProfile", dimensions: 3, roles: &["timeseries_id", "profile_id"] },
    FeatureType { name: "trajectoryProfile", dimensions: 3, roles: &["trajectory_id", "profile_id"] },
];

/// The roles of section 9.5, and those of meshes.
const ROLES: [&str; 5] =
    ["timeseries_id", "profile_id", "trajectory_id", "mesh_topology", "location_index_set"];

/// How many of these roles belong to features.
const OF_FEATURES: usize = 3;

impl FeatureType {
    fn of(name: &str) -> Option<&'static FeatureType> {
        FEATURE_TYPES.iter().find(|of| of.name.eq_ignore_ascii_case(name))
    }

    /// The feature type of the file, if it is known.
    fn of_file(scope: &Scope<'_>) -> Option<&'static FeatureType> {
        FeatureType::of(scope.dataset.global("featureType")?.text()?)
    }
}

/// Spec: CF 1.13, 9.3 Representations of collections of features in data variables, 9.4 The featureType attribute
pub(super) fn feature_type(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables() {
        check_counting(scope, variable, "sample_dimension", "a count variable", found);
        check_counting(scope, variable, "instance_dimension", "an index variable", found);
    }
    let hint = "set it to point, timeSeries, trajectory, profile, timeSeriesProfile or trajectoryProfile";
    let Some(attribute) = scope.dataset.global("featureType") else {
        let mut ragged = scope.variables().filter(|of| of.is(Role::Count) || of.is(Role::Index));
        if let Some(variable) = ragged.next().filter(|_| scope.root().is_some()) {
            let message =
                format!("no attribute featureType, expected one as {} makes ragged arrays", variable.name());
            found.add("/", message, hint);
        }
        return;
    };
    let place = "/@featureType";
    let Some(text) = attribute.text() else {
        if scope.root().is_some() {
            let message = format!("featureType is {}, expected a text", attribute.type_name());
            found.add(place, message, hint);
        }
        return;
    };
    match FeatureType::of(text) {
        None if scope.root().is_some() => {
            let shown = brief(text);
            let near = nearest(text, FEATURE_TYPES.iter().map(|of| of.name));
            found.add(place, format!("featureType {shown:?}, expected one of Table 9.1"), meant(near, hint));
        }
        None => {}
        Some(kind) => {
            check_axes(scope, kind, found);
            check_dimensions(scope, kind, found);
        }
    }
}

/// Checks that a count or index variable of ragged arrays has integers along one dimension, and names another.
fn check_counting(
    scope: &Scope<'_>,
    variable: &Variable,
    attribute: &'static str,
    what: &str,
    found: &mut Found,
) {
    let Some(own) = variable.attributes.get(attribute) else { return };
    let place = variable.place(attribute);
    if own.text().is_none_or(|text| words(text).count() != 1) {
        let message = format!("{attribute} is {}, expected the name of one dimension", told(own));
        found.add(&place, message, "name one dimension");
    }
    if variable.datatype.is_some() && !variable.is_integer() {
        let own = variable.type_name();
        found.add(&variable.path, format!("{what} of {own}, expected integers"), "store it as integers");
    }
    match variable.dimensions.as_slice() {
        [] => {}
        [along] => {
            let is_own =
                scope.dataset.references(variable, attribute).any(|reference| match reference.target {
                    Target::Dimension(id) => scope
                        .dataset
                        .dimension_at(id)
                        .is_some_and(|named| along.path.as_ref() == Some(&named.path)),
                    _ => false,
                });
            if is_own {
                let message =
                    format!("{attribute} names {}, expected another dimension than its own", along.name());
                found.add(&place, message, "name the other dimension");
            }
        }
        many => {
            let message = format!("{what} of {} dimensions, expected one", many.len());
            found.add(&variable.path, message, "give it one dimension");
        }
    }
}

fn told(attribute: &Attribute) -> String {
    match attribute.text() {
        Some("") => "empty".to_owned(),
        Some(text) => format!("{} names", words(text).count()),
        None => attribute.type_name(),
    }
}

/// Features have a location and a time. Only what no variable of the file can provide is reported as missing here.
fn check_axes(scope: &Scope<'_>, kind: &FeatureType, found: &mut Found) {
    if scope.root().is_none() || !scope.dataset.variables.iter().any(|of| of.is(Role::Data)) {
        return;
    }
    let axes: HashSet<Axis> = scope.dataset.variables.iter().filter_map(axis_of).collect();
    for (axis, what) in [(Axis::X, "longitude or x"), (Axis::Y, "latitude or y"), (Axis::T, "time")] {
        if !axes.contains(&axis) {
            let message = format!("featureType {} without a coordinate of {what}, expected one", kind.name);
            found.add("/@featureType", message, format!("add the coordinate of {what}"));
        }
    }
}

/// Locations and times of data vary along at most as many dimensions as the feature type has. Data may have other
/// dimensions, such as that of a spectrum.
fn check_dimensions(scope: &Scope<'_>, kind: &FeatureType, found: &mut Found) {
    let mut axes: HashMap<usize, bool> = HashMap::new();
    for variable in scope.variables().filter(|of| of.is(Role::Data) && of.has("coordinates")) {
        let mut own: HashSet<usize> = HashSet::new();
        for coordinate in scope.dataset.coordinates(variable) {
            let has_axis = *axes.entry(coordinate.id).or_insert_with(|| axis_of(coordinate).is_some());
            if has_axis {
                let along = variable.dimensions.iter().enumerate();
                own.extend(
                    along.filter(|(_, along)| along.length > 1 && coordinate.spans(along)).map(|(at, _)| at),
                );
            }
        }
        if own.len() > kind.dimensions {
            let message = format!(
                "data along {} dimensions of places and times, expected at most {} for featureType {}",
                own.len(),
                kind.dimensions,
                kind.name
            );
            found.add(&variable.path, message, "correct featureType, or the dimensions");
        }
    }
}

/// Spec: CF 1.13, 9.5 Coordinates and metadata
pub(super) fn cf_role(scope: &Scope<'_>, found: &mut Found) {
    let known = ROLES.join(", ");
    let kind = FeatureType::of_file(scope);
    if let Some(kind) = kind.filter(|kind| !kind.roles.is_empty() && scope.root().is_some())
        && !scope.dataset.variables.iter().any(|variable| variable.has("cf_role"))
    {
        let roles = kind.roles.join(" and ");
        let message = format!("no variable with cf_role, expected {roles} for featureType {}", kind.name);
        found.advise("/@featureType", message, "add cf_role to the variable that identifies the features");
    }
    let mut met: HashMap<&str, &Variable> = HashMap::new();
    let mut others: Vec<(&Variable, &str)> = Vec::new();
    for variable in scope.with("cf_role") {
        let place = variable.place("cf_role");
        let Some(role) = variable.text("cf_role") else {
            let own = variable.attributes.get("cf_role").map(Attribute::type_name);
            let message = format!("cf_role is {}, expected one of {known}", own.unwrap_or_default());
            found.add(place, message, "use one of these values");
            continue;
        };
        // UGRID has roles for the tables that connect the parts of a mesh.
        if role.ends_with("_connectivity") {
            continue;
        }
        let Some(at) = ROLES.iter().position(|known| *known == role) else {
            let shown = brief(role);
            let message = format!("cf_role {shown:?}, expected one of {known}");
            found.add(place, message, meant(nearest(role, ROLES.into_iter()), "use one of these values"));
            continue;
        };
        if at >= OF_FEATURES {
            continue;
        }
        if let Some(other) = met.get(role) {
            // Formats list variables in different orders.
            let (first, second) =
                if variable.path < other.path { (variable, *other) } else { (*other, variable) };
            let message = format!("cf_role {role} also occurs at {}, expected it once", first.path);
            let hint = "keep it at the variable that identifies the features";
            found.add(second.place("cf_role"), message, hint);
            continue;
        }
        met.insert(role, variable);
        if kind.is_some_and(|kind| !kind.roles.is_empty() && !kind.roles.contains(&role)) {
            others.push((variable, role));
        }
    }
    // A variable may identify other things, but only in addition to the features.
    let Some(kind) = kind.filter(|kind| !kind.roles.iter().any(|role| met.contains_key(role))) else {
        return;
    };
    for (variable, role) in others {
        let message =
            format!("cf_role {role}, expected {} for featureType {}", kind.roles.join(" or "), kind.name);
        found.add(variable.place("cf_role"), message, "correct cf_role or featureType");
    }
}
