//! Geometries: container variables and the nodes that they name.
//!
//! Spec: CF 1.13, 7.6 Geometries

mod rings;
mod values;

pub(in crate::rules) use values::geometry_values;

use super::{Found, Scope, brief, check_single_name, is_same_dimension, told};
use crate::dataset::{Attribute, Dataset, Role, Variable, words};
use crate::rules::scope::meant;
use crate::tables::nearest::nearest;
use std::collections::{BTreeMap, BTreeSet};

const TYPES: [&str; 3] = ["point", "line", "polygon"];

pub(in crate::rules) fn geometry(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("geometry") {
        check_single_name(variable, "geometry", found);
        for container in scope.dataset.named(variable, "geometry").take(1) {
            check_owner(scope.dataset, variable, container, found);
        }
    }
    for container in containers(scope) {
        check_type(container, found);
        check_node_coordinates(scope.dataset, container, found);
        check_counts(scope.dataset, container, found);
    }
    for variable in scope.with("nodes").filter(|variable| !variable.is(Role::Mesh)) {
        check_nodes(scope.dataset, variable, found);
    }
}

/// The variables that describe geometries: those with such attributes, and those named in an attribute `geometry`.
fn containers<'s>(scope: &'s Scope<'_>) -> impl Iterator<Item = &'s Variable> + 's {
    scope.variables().filter(|variable| variable.is(Role::Geometry))
}

/// Checks the consistency of a variable that has a geometry with its container.
fn check_owner(dataset: &Dataset, variable: &Variable, container: &Variable, found: &mut Found) {
    for name in ["coordinates", "grid_mapping"] {
        if container.has(name) && !variable.has(name) {
            let message =
                format!("no {name}, expected one as the geometry container {} has it", container.name());
            found.add(&variable.path, message, format!("add {name} to the variable"));
        }
    }
    let count = dataset.named(container, "node_count").next();
    let Some([instances]) = count.map(|count| count.dimensions.as_slice()) else { return };
    let is_along = variable.dimensions.iter().any(|along| is_same_dimension(along, instances));
    // The dimensions of domains and aggregations are named in an attribute.
    let has_others = variable.has("dimensions") || variable.has("aggregated_dimensions");
    if !is_along && !has_others && instances.length != 1 {
        let message = format!(
            "dimensions {}, expected {} among them, as the geometries of {} have it",
            told(&variable.dimensions),
            instances.name(),
            container.name()
        );
        found.add(variable.place("geometry"), message, "name geometries of the same instances");
    }
}

fn check_type(container: &Variable, found: &mut Found) {
    let hint = "set it to point, line or polygon";
    let Some(attribute) = container.attributes.get("geometry_type") else {
        let message = "a geometry container without geometry_type, expected one";
        return found.add(&container.path, message, hint);
    };
    let place = container.place("geometry_type");
    let Some(text) = attribute.text() else {
        let message = format!("geometry_type is {}, expected a text", attribute.type_name());
        return found.add(place, message, hint);
    };
    if !TYPES.iter().any(|known| known.eq_ignore_ascii_case(text)) {
        let message = format!("geometry_type {:?}, expected point, line or polygon", brief(text));
        found.add(place, message, meant(nearest(text, TYPES.into_iter()), hint));
    }
}

fn check_node_coordinates(dataset: &Dataset, container: &Variable, found: &mut Found) {
    let hint = "name the variables of the coordinates of nodes";
    let Some(attribute) = container.attributes.get("node_coordinates") else {
        let message = "a geometry container without node_coordinates, expected some";
        return found.add(&container.path, message, hint);
    };
    let place = container.place("node_coordinates");
    if attribute.text().is_none_or(str::is_empty) {
        let own = if attribute.is_text() { "empty".to_owned() } else { attribute.type_name() };
        return found.add(place, format!("node_coordinates is {own}, expected names of variables"), hint);
    }
    let mut axes: BTreeMap<String, &str> = BTreeMap::new();
    let mut first: Option<&Variable> = None;
    let mut met = BTreeSet::new();
    for node in dataset.named(container, "node_coordinates").filter(|node| met.insert(node.id)) {
        let Some(axis) = node.text("axis") else {
            let message = format!("no axis, expected one as it is a node coordinate of {}", container.name());
            found.add(&node.path, message, "add the attribute axis");
            continue;
        };
        if let Some(other) = axes.insert(axis.to_ascii_uppercase(), node.name()) {
            let message =
                format!("{other} and {} have the axis {}, expected different ones", node.name(), brief(axis));
            found.add(&place, message, "give each node coordinate its own axis");
        }
    }
    met.clear();
    for node in dataset.named(container, "node_coordinates").filter(|node| met.insert(node.id)) {
        let [own] = node.dimensions.as_slice() else {
            let message = format!("dimensions {}, expected the one of the nodes", told(&node.dimensions));
            // A geometry of a single point needs no dimension.
            if !node.dimensions.is_empty() {
                found.add(&node.path, message, "give node coordinates the dimension of the nodes");
            }
            continue;
        };
        match first.map(|first| (first, first.dimensions.as_slice())) {
            Some((first, [of])) if !is_same_dimension(own, of) => {
                let message =
                    format!("dimension {}, expected {} as {} has", own.name(), of.name(), first.name());
                found.add(&node.path, message, "give all node coordinates the same dimension");
            }
            Some(_) => {}
            None => first = Some(node),
        }
    }
}

/// The variables that divide nodes into geometries and their parts.
fn check_counts(dataset: &Dataset, container: &Variable, found: &mut Found) {
    for name in ["node_count", "part_node_count", "interior_ring"] {
        check_single_name(container, name, found);
        for count in dataset.named(container, name).take(1) {
            if count.datatype.is_some() && !count.is_integer() {
                let own = count.type_name();
                let message = format!("variable of {own} named by {name}, expected integers");
                found.add(&count.path, message, "store it as integers");
            }
            if count.dimensions.len() > 1 || (count.dimensions.is_empty() && name == "interior_ring") {
                let message =
                    format!("dimensions {} of a {name} variable, expected one", told(&count.dimensions));
                found.add(&count.path, message, "give it one dimension");
            }
        }
    }
    if !container.has("interior_ring") {
        return;
    }
    let place = container.place("interior_ring");
    if !container.has("part_node_count") {
        let message = "interior_ring without part_node_count, expected both";
        return found.add(place, message, "add part_node_count");
    }
    let one = |name| dataset.named(container, name).next();
    let (Some(ring), Some(part)) = (one("interior_ring"), one("part_node_count")) else { return };
    if let ([own], [of]) = (ring.dimensions.as_slice(), part.dimensions.as_slice())
        && !is_same_dimension(own, of)
    {
        let message = format!("dimension {}, expected {} as {} has", own.name(), of.name(), part.name());
        found.add(&ring.path, message, "give it the dimension of part_node_count");
    }
}

/// Checks that the attribute `nodes` of a coordinate names a node coordinate.
fn check_nodes(dataset: &Dataset, variable: &Variable, found: &mut Found) {
    let place = variable.place("nodes");
    let text = variable.attributes.get("nodes").map(Attribute::text);
    if text.is_some_and(|text| text.is_none_or(|text| words(text).count() != 1)) {
        check_single_name(variable, "nodes", found);
        return;
    }
    for node in dataset.named(variable, "nodes").filter(|node| !node.is(Role::NodeCoordinate)) {
        let message = format!("nodes names {}, expected a node coordinate of a geometry", node.name());
        found.add(&place, message, "name one of node_coordinates");
    }
}
