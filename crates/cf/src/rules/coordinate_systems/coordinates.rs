//! Coordinate variables and auxiliary coordinate variables.
//!
//! Spec: CF 1.13, 5 Coordinate Systems and Domain

use super::{Found, Scope, Spans};
use crate::dataset::{Attribute, Axis, Dataset, Role, Variable, axis_of, by_units};
use hyperslab_model::NodePath;
use std::collections::{BTreeMap, BTreeSet};

/// A dimension is evidently one of latitude, longitude, height or time if a data variable has exactly one auxiliary
/// coordinate that spans it, and this coordinate spans nothing else and is of this kind: it should be the coordinate
/// variable.
///
/// If several coordinates span a dimension, it may be a discrete one: stations, samples, scan lines. Discrete sampling
/// geometries, geometries and meshes have such dimensions by design. Names of dimensions are not evidence.
pub(in crate::rules) fn dimension_has_coordinate(scope: &Scope<'_>, found: &mut Found) {
    let dataset = scope.dataset;
    if has_features(dataset) {
        return;
    }
    let mut met = BTreeSet::new();
    for variable in scope.variables().filter(|variable| is_gridded(variable)) {
        let mut spanning: BTreeMap<&NodePath, Vec<&Variable>> = BTreeMap::new();
        for coordinate in dataset.named(variable, "coordinates") {
            for path in coordinate.dimensions_of_values().iter().filter_map(|along| along.path.as_ref()) {
                spanning.entry(path).or_default().push(coordinate);
            }
        }
        for along in variable.dimensions.iter().filter(|along| along.length > 1) {
            let Some(path) = &along.path else { continue };
            if dataset.at(path).is_some_and(|own| own.dimensions.len() == 1) {
                continue;
            }
            let Some([coordinate]) = spanning.get(path).map(Vec::as_slice) else { continue };
            let Some(axis) = axis_of(coordinate) else { continue };
            if coordinate.dimensions.len() == 1
                && coordinate.is_numeric()
                && is_earthly(coordinate, axis)
                && met.insert(path)
            {
                let name = along.name();
                let message = format!(
                    "the only coordinate along dimension {name} is an auxiliary one, expected a coordinate variable {name}"
                );
                found.add(
                    &coordinate.path,
                    message,
                    format!("rename the variable or the dimension to {name}"),
                );
            }
        }
    }
}

/// Whether the file has dimensions of features rather than of a grid.
fn has_features(dataset: &Dataset) -> bool {
    let is_feature_type = |name: &String| name.to_ascii_lowercase().ends_with("featuretype");
    let by_attribute = dataset.groups.iter().any(|group| group.attributes.keys().any(is_feature_type));
    let roles = [Role::Count, Role::Index, Role::Identifier];
    by_attribute || dataset.variables.iter().any(|variable| roles.iter().any(|role| variable.is(*role)))
}

fn is_gridded(variable: &Variable) -> bool {
    let other = [Role::Mesh, Role::Aggregation, Role::Geometry, Role::GridMapping];
    variable.is(Role::Data)
        && !other.iter().any(|role| variable.is(*role))
        && !["geometry", "mesh", "location"].iter().any(|name| variable.has(name))
}

/// Whether a coordinate is of latitude, longitude, height or time, and not of a projection.
fn is_earthly(coordinate: &Variable, axis: Axis) -> bool {
    match axis {
        Axis::X | Axis::Y => matches!(by_units(coordinate), Some(Axis::X | Axis::Y)),
        // Pressures are not necessarily those of levels.
        Axis::Z => {
            coordinate.has("positive") || coordinate.text("axis").and_then(Axis::of_letter) == Some(Axis::Z)
        }
        Axis::T => coordinate.standard_name().is_none_or(|name| name == "time"),
    }
}

pub(in crate::rules) fn coordinate_no_missing(scope: &Scope<'_>, found: &mut Found) {
    for name in ["_FillValue", "missing_value"] {
        for variable in scope.with(name).filter(|variable| variable.is(Role::Coordinate)) {
            let message = format!("{name} at a coordinate variable, expected none");
            found.add(variable.place(name), message, format!("remove {name}"));
        }
    }
}

/// Labels are covered by `label`, and geometry containers by `geometry`.
pub(in crate::rules) fn coordinates_dimensions(scope: &Scope<'_>, found: &mut Found) {
    let spans = Spans::new(scope.dataset);
    for variable in scope.with("coordinates") {
        let place = variable.place("coordinates");
        if variable.text("coordinates").is_none() {
            let own = variable.attributes.get("coordinates").map(Attribute::type_name).unwrap_or_default();
            let message = format!("coordinates is {own}, expected a text of names");
            found.add(place, message, "separate the names by blanks");
            continue;
        }
        if !has_coordinates(variable) {
            continue;
        }
        for coordinate in scope.dataset.named(variable, "coordinates") {
            if coordinate.is_text() || coordinate.is(Role::Mesh) || coordinate.is(Role::Aggregation) {
                continue;
            }
            if let Some(along) = spans.missing(variable, &coordinate.dimensions) {
                let message = format!(
                    "coordinate {} has the dimension {}, expected only dimensions of the variable",
                    coordinate.name(),
                    along.name()
                );
                let hint =
                    format!("remove {} from coordinates, or correct its dimensions", coordinate.name());
                found.add(&place, message, hint);
            }
        }
    }
}

/// Whether the attribute `coordinates` of a variable describes the location of its own values.
pub(in crate::rules) fn has_coordinates(variable: &Variable) -> bool {
    ![Role::Geometry, Role::Mesh, Role::Aggregation].iter().any(|role| variable.is(*role))
}
