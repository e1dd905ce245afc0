//! Rules of chapter 9, Discrete Sampling Geometries.

use super::scope::{Found, Scope, meant};
use crate::dataset::{Axis, Role, Variable, axis_of};
use crate::tables::nearest::nearest;
use hyperslab_model::NodePath;
use std::collections::{BTreeMap, BTreeSet};

/// A feature type, and the values of `cf_role` that identify its features.
struct Feature {
    name: &'static str,
    roles: &'static [&'static str],
}

/// Spec: CF 1.13, Table 9.1, 9.5
static FEATURES: [Feature; 6] = [
    Feature { name: "point", roles: &[] },
    Feature { name: "timeSeries", roles: &["timeseries_id"] },
    Feature { name: "trajectory", roles: &["trajectory_id"] },
    Feature { name: "profile", roles: &["profile_id"] },
    Feature { name: "timeSeriesProfile", roles: &["timeseries_id", "profile_id"] },
    Feature { name: "trajectoryProfile", roles: &["trajectory_id", "profile_id"] },
];

/// The values of `cf_role`.
const ROLES: [&str; 3] = ["timeseries_id", "profile_id", "trajectory_id"];

/// The feature type of the file, if it is one.
fn feature(scope: &Scope<'_>) -> Option<&'static Feature> {
    let text = scope.dataset.global("featureType")?.text()?;
    FEATURES.iter().find(|feature| feature.name.eq_ignore_ascii_case(text))
}

/// Spec: CF 1.13, 9.1 to 9.4
pub(super) fn feature_type(scope: &Scope<'_>, found: &mut Found) {
    let attribute = scope.dataset.global("featureType");
    if let Some(attribute) = attribute
        && feature(scope).is_none()
    {
        let names = FEATURES.iter().map(|feature| feature.name);
        let known = names.clone().collect::<Vec<_>>().join(", ");
        let text = attribute.text();
        let own = text.map_or_else(|| attribute.type_name(), |text| format!("{text:?}"));
        let near = text.and_then(|text| nearest(text, names));
        let message = format!("featureType is {own}, expected one of {known}");
        found.add("/@featureType", message, meant(near, "use one of these"));
    }
    for name in ["sample_dimension", "instance_dimension"] {
        for variable in scope.with(name) {
            let place = variable.place(name);
            if !variable.is_integer() {
                let own = variable.datatype.as_ref().map(ToString::to_string).unwrap_or_default();
                let message = format!("{name} at a variable of {own}, expected one of integers");
                found.add(place, message, "store the variable as integers");
            } else if attribute.is_none() {
                let message = format!("{name} in a file without featureType, expected it");
                found.add(place, message, "add the global attribute featureType");
            }
        }
    }
    if let Some(feature) = feature(scope) {
        for variable in
            scope.variables().filter(|variable| variable.is(Role::Data) && variable.has("coordinates"))
        {
            check_coordinates(scope, variable, feature, found);
        }
    }
}

/// Checks the coordinates that every feature has: longitude, latitude and time. Those of heights are known by many names.
fn check_coordinates(scope: &Scope<'_>, variable: &Variable, feature: &Feature, found: &mut Found) {
    let mut axes: BTreeMap<Axis, &Variable> = BTreeMap::new();
    for coordinate in scope.dataset.coordinates(variable) {
        axes.extend(axis_of(coordinate).map(|axis| (axis, coordinate)));
    }
    let missing = [(Axis::X, "longitude"), (Axis::Y, "latitude"), (Axis::T, "time")];
    let missing: Vec<&str> =
        missing.into_iter().filter(|(axis, _)| !axes.contains_key(axis)).map(|(_, name)| name).collect();
    // Attributes may name coordinates that are not there, which is another rule.
    let has_all =
        scope.dataset.references(variable, "coordinates").all(|of| scope.dataset.target(of).is_some());
    if !missing.is_empty() && has_all {
        let message =
            format!("no coordinate of {}, expected one as every {} has", missing.join(" and "), feature.name);
        found.add(variable.place("coordinates"), message, "name it in the attribute coordinates");
    }
    let horizontal = axes.iter().filter(|(axis, _)| **axis != Axis::Z).map(|(_, coordinate)| coordinate);
    let dimensions: BTreeSet<&NodePath> = horizontal
        .flat_map(|coordinate| coordinate.dimensions_of_values())
        .filter_map(|along| along.path.as_ref())
        .collect();
    if feature.name == "point" && dimensions.len() > 1 {
        let names: Vec<&str> = dimensions.iter().map(|path| path.name()).collect();
        let message = format!("coordinates of points along {}, expected one dimension", names.join(" and "));
        found.add(
            &variable.path,
            message,
            "use another featureType, or store each point with all coordinates",
        );
    }
}

/// Spec: CF 1.13, 9.5 Coordinates and metadata
pub(super) fn cf_role(scope: &Scope<'_>, found: &mut Found) {
    let mut first: BTreeMap<&str, &Variable> = BTreeMap::new();
    let feature = feature(scope);
    for variable in scope.with("cf_role") {
        let place = variable.place("cf_role");
        let text = variable.text("cf_role").unwrap_or_default();
        if is_of_mesh(text) {
            continue;
        }
        if !ROLES.contains(&text) {
            let own = variable.attributes.get("cf_role").filter(|own| own.text().is_none());
            let own = own.map_or_else(|| format!("{text:?}"), crate::dataset::Attribute::type_name);
            let message = format!("cf_role is {own}, expected one of {}", ROLES.join(", "));
            found.add(place, message, meant(nearest(text, ROLES.into_iter()), "use one of these"));
            continue;
        }
        if let Some(feature) = feature.filter(|feature| !feature.roles.contains(&text)) {
            let expected = match feature.roles {
                [] => "none".to_owned(),
                roles => roles.join(" or "),
            };
            let message =
                format!("cf_role {text:?} in a file of featureType {}, expected {expected}", feature.name);
            found.add(&place, message, "correct cf_role or featureType");
        }
        if let Some(other) = first.insert(text, variable) {
            let message = format!("cf_role {text:?} here and at {}, expected it once", other.path);
            found.add(place, message, "leave it at the variable that identifies the features");
        }
    }
    let has_roles = scope.dataset.variables.iter().any(|variable| variable.has("cf_role"));
    if let Some(feature) = feature.filter(|feature| !feature.roles.is_empty() && !has_roles) {
        let roles = feature.roles.join(" and ");
        let message =
            format!("no variable with cf_role, expected {roles} where featureType is {}", feature.name);
        found.advise("/@featureType", message, "add cf_role to the variable that identifies the features");
    }
}

/// Whether it is a role of UGRID.
fn is_of_mesh(role: &str) -> bool {
    matches!(role, "mesh_topology" | "location_index_set") || role.ends_with("_connectivity")
}
