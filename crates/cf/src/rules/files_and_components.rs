//! Rules of chapter 2, NetCDF Files and Components.

mod actual_range;
mod datatypes;
mod extremes;
mod missing;
mod names;
mod references;
mod text;

pub(super) use actual_range::{actual_range, actual_range_type};
pub(super) use datatypes::datatypes;
pub(super) use missing::{
    default_fill, fill_in_valid_range, fill_value_type, is_of_type, is_same, valid_range,
};
pub(super) use names::{dimensions_distinct, names, names_differ_in_case, string_coordinate_name};
pub(super) use references::{external_variables, group_attributes, reference_resolves};
pub(super) use text::{label_utf8, text_utf8};

use super::scope::{Found, Scope};
use crate::dataset::{Axis, axis_of};
use crate::tables::Version;
use std::collections::BTreeMap;

/// Spec: CF 1.13, 2.4 Dimensions
pub(super) fn dimension_order(scope: &Scope<'_>, found: &mut Found) {
    let mut axes: BTreeMap<usize, Option<Axis>> = BTreeMap::new();
    for variable in scope.variables().filter(|variable| variable.dimensions.len() > 1) {
        let mut order = Vec::new();
        for along in &variable.dimensions {
            let Some(coordinate) = scope.dataset.coordinate_of(along) else { continue };
            let axis = *axes.entry(coordinate.id).or_insert_with(|| axis_of(coordinate));
            order.extend(axis.map(|axis| (axis, along.name())));
        }
        if !order.is_sorted_by_key(|(axis, _)| *axis) {
            let told = |order: &[(Axis, &str)]| {
                let each = order.iter().map(|(axis, name)| format!("{name} ({})", axis.letter()));
                each.collect::<Vec<_>>().join(", ")
            };
            let here = told(&order);
            order.sort_by_key(|(axis, _)| *axis);
            let message = format!("dimensions in the order {here}, expected {}", told(&order));
            found.add(&variable.path, message, "order dimensions as time, height, latitude, longitude");
        }
    }
}

/// Spec: CF 1.13, 2.6.1 Identification of Conventions
pub(super) fn conventions(scope: &Scope<'_>, found: &mut Found) {
    let Some(root) = scope.root() else { return };
    let expected = format!("CF-{}", scope.version);
    let hint = format!("set Conventions to \"{expected}\"");
    let Some(attribute) = root.attributes.get("Conventions") else {
        return found.add("/", format!("no attribute Conventions, expected one with {expected}"), hint);
    };
    let Some(text) = attribute.text() else {
        let message = format!("Conventions is {}, expected a single string", attribute.type_name());
        return found.add("/@Conventions", message, hint);
    };
    if !names_of(text).any(|name| name == expected) {
        let others: Vec<String> = versions_of(text).map(|version| format!("CF-{version}")).collect();
        let message = match others.as_slice() {
            [] => format!("Conventions is {text:?}, expected {expected} among its names"),
            others => format!("Conventions names {}, expected {expected}", others.join(", ")),
        };
        found.add("/@Conventions", message, hint);
    }
}

/// The names of conventions in the attribute `Conventions`, separated by white space or commas.
pub fn names_of(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ' ', '\t', '\n']).map(str::trim).filter(|name| !name.is_empty())
}

/// The versions of CF that the attribute `Conventions` names.
pub fn versions_of(text: &str) -> impl Iterator<Item = Version> + '_ {
    names_of(text).filter_map(|name| Version::parse(name.strip_prefix("CF-")?))
}

/// Spec: CF 1.13, 2.6.2 Description of File Contents
pub(super) fn global_text(scope: &Scope<'_>, found: &mut Found) {
    const DESCRIBING: [&str; 6] = ["title", "history", "institution", "source", "references", "comment"];
    let of_groups = scope.groups().map(|group| (group.path.to_string(), &group.attributes));
    let of_variables = scope.variables().map(|variable| (variable.path.to_string(), &variable.attributes));
    for (path, attributes) in of_groups.chain(of_variables) {
        for name in DESCRIBING {
            if let Some(attribute) = attributes.get(name)
                && !attribute.is_text()
            {
                let message = format!("{name} is {}, expected a text", attribute.type_name());
                found.add(format!("{path}@{name}"), message, "write it as text");
            }
        }
    }
}
