//! The attributes `grid_mapping` and `grid_mapping_name`.
//!
//! Spec: CF 1.13, 5.6 Horizontal Coordinate Reference Systems, Grid Mappings, and Projections

use super::{Found, Scope};
use crate::brief::brief;
use crate::dataset::{Attribute, Role, Variable, keyed, words};
use crate::rules::scope::meant;
use crate::tables::grid_mappings::{self, GridMapping};
use std::collections::BTreeSet;

pub(in crate::rules) fn grid_mapping(scope: &Scope<'_>, found: &mut Found) {
    let mut mappings = BTreeSet::new();
    for variable in scope.with("grid_mapping") {
        let place = variable.place("grid_mapping");
        let Some(text) = variable.text("grid_mapping") else {
            let own = variable.attributes.get("grid_mapping").map(Attribute::type_name).unwrap_or_default();
            let message = format!("grid_mapping is {own}, expected the name of a variable");
            found.add(place, message, "name the grid mapping variable");
            continue;
        };
        if let Some((message, hint)) = fault_of(scope, text) {
            found.add(place, message, hint);
            continue;
        }
        check_coordinates(scope, variable, found);
        let references = scope.dataset.references(variable, "grid_mapping");
        let named = references.filter(|reference| reference.key.is_none());
        mappings.extend(named.filter_map(|reference| scope.dataset.target(reference)).map(|of| of.id));
    }
    mappings.extend(scope.with("grid_mapping_name").map(|variable| variable.id));
    for mapping in mappings.into_iter().filter_map(|id| scope.dataset.get(id)) {
        check_name(scope, mapping, found);
    }
}

/// The error in the string of the attribute, and how to fix it.
fn fault_of(scope: &Scope<'_>, text: &str) -> Option<(String, &'static str)> {
    const HINT: &str = "write one name, or mapping: coordinates…";
    if !text.contains(':') {
        let count = words(text).count();
        return (count != 1).then(|| (format!("grid_mapping has {count} names, expected one"), HINT));
    }
    if !scope.is_since(7) {
        let message = "grid_mapping with a colon, expected the name of one variable";
        return Some((message.to_owned(), "name one variable, or use CF-1.7 or later"));
    }
    match keyed(text) {
        Err(word) => {
            Some((format!("grid_mapping has {:?}, expected a name with a colon", brief(word)), HINT))
        }
        Ok(pairs) => {
            let (mapping, _) = pairs.iter().find(|(_, names)| names.is_empty())?;
            Some((format!("no coordinates behind {:?}:, expected some", brief(mapping)), HINT))
        }
    }
}

/// Checks the coordinates of the extended form: coordinate variables, or auxiliary ones that the variable has.
fn check_coordinates(scope: &Scope<'_>, variable: &Variable, found: &mut Found) {
    // The coordinates of geometries are those of their nodes.
    if variable.is(Role::Geometry)
        || variable.has("geometry")
        || variable.is(Role::Mesh)
        || variable.has("mesh")
    {
        return;
    }
    let references = scope.dataset.references(variable, "grid_mapping");
    let coordinates = references.filter(|reference| reference.key.is_some());
    let coordinates: Vec<&Variable> = coordinates.filter_map(|of| scope.dataset.target(of)).collect();
    if coordinates.is_empty() {
        return;
    }
    let listed: BTreeSet<usize> =
        scope.dataset.named(variable, "coordinates").map(|coordinate| coordinate.id).collect();
    for coordinate in coordinates {
        if !coordinate.is(Role::Coordinate) && !listed.contains(&coordinate.id) {
            let name = coordinate.name();
            let message = format!(
                "grid_mapping names {name}, expected a coordinate variable or one that coordinates names"
            );
            found.add(variable.place("grid_mapping"), message, format!("add {name} to coordinates"));
        }
    }
}

fn check_name(scope: &Scope<'_>, mapping: &Variable, found: &mut Found) {
    let place = mapping.place("grid_mapping_name");
    let Some(attribute) = mapping.attributes.get("grid_mapping_name") else {
        let message = "a grid mapping variable without grid_mapping_name, expected it";
        return found.add(&mapping.path, message, "add grid_mapping_name");
    };
    let Some(name) = attribute.text() else {
        let message = format!("grid_mapping_name is {}, expected a text", attribute.type_name());
        return found.add(place, message, "write a name of Appendix F");
    };
    if mapping_of(scope, mapping).is_none() {
        let near = grid_mappings::nearest(name).filter(|near| *near != name);
        let message = match grid_mappings::get(name).and_then(|mapping| mapping.since) {
            Some(since) => format!(
                "grid_mapping_name {name:?}, expected one of CF {}: it came with CF {since}",
                scope.version
            ),
            None => format!("grid_mapping_name {name:?}, expected one of Appendix F"),
        };
        found.add(place, message, meant(near, "use a name of Appendix F"));
    }
}

/// The grid mapping of a variable, if the version has it.
pub(super) fn mapping_of(scope: &Scope<'_>, variable: &Variable) -> Option<&'static GridMapping> {
    let mapping = grid_mappings::get(variable.text("grid_mapping_name")?)?;
    mapping.since.is_none_or(|since| since <= scope.version).then_some(mapping)
}
