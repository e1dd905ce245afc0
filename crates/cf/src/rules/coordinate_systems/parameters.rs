//! The parameters of grid mappings.
//!
//! Spec: CF 1.13, 5.6, Appendix F Grid Mappings

use super::grid_mapping::mapping_of;
use super::{Found, Scope};
use crate::dataset::{Attribute, Number, Variable};
use crate::tables::attributes::AttributeType;
use crate::tables::grid_mappings::{self, GridMapping, Presence};

pub(in crate::rules) fn grid_mapping_parameters(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("grid_mapping_name") {
        check_types(scope, variable, found);
        if !variable.dimensions_of_values().is_empty() {
            let count = variable.dimensions_of_values().len();
            let message = format!("a grid mapping variable with {count} dimensions, expected none");
            found.advise(&variable.path, message, "store it as a scalar");
        }
        let Some(mapping) = mapping_of(scope, variable) else { continue };
        check_presence(scope, variable, mapping, found);
        check_counts(variable, mapping, found);
        if mapping.name == "healpix" {
            check_healpix(variable, found);
        }
        if scope.is_since(7) {
            check_system(variable, found);
        }
    }
}

/// Checks types by Table F.1.
fn check_types(scope: &Scope<'_>, variable: &Variable, found: &mut Found) {
    for (name, attribute) in &variable.attributes {
        let Some(known) = grid_mappings::attribute(name) else { continue };
        if known.since.is_some_and(|since| since > scope.version) || name == "grid_mapping_name" {
            continue;
        }
        let expected = match known.data_type {
            AttributeType::Text if !attribute.is_text() => "a text",
            AttributeType::Number if attribute.numbers().is_none() => "a number",
            _ => continue,
        };
        let message = format!("{name} is {}, expected {expected}", attribute.type_name());
        found.add(variable.place(name), message, format!("write it as {expected}"));
    }
}

/// Finds missing parameters. An attribute that a later version allows for a parameter is accepted.
fn check_presence(scope: &Scope<'_>, variable: &Variable, mapping: &GridMapping, found: &mut Found) {
    for parameter in mapping.parameters.iter().filter(|of| of.presence == Presence::Required) {
        if parameter.alternatives.iter().any(|alternative| variable.has(alternative.name)) {
            continue;
        }
        let is_current = |since: Option<_>| since.is_none_or(|since| since <= scope.version);
        let is_old = |deprecated: Option<_>| deprecated.is_some_and(|version| version <= scope.version);
        let names = parameter.alternatives.iter();
        let names = names.filter(|of| is_current(of.since) && !is_old(of.deprecated)).map(|of| of.name);
        let names = names.collect::<Vec<_>>().join(" or ");
        let message = format!("{} without {names}, expected it", mapping.name);
        found.add(&variable.path, message, format!("add {names}"));
    }
}

fn check_counts(variable: &Variable, mapping: &GridMapping, found: &mut Found) {
    let alternatives = mapping.parameters.iter().flat_map(|parameter| &parameter.alternatives);
    for alternative in alternatives {
        let count = variable.numbers(alternative.name).map_or(1, <[Number]>::len);
        let most = alternative.max_values;
        if !(1..=most).contains(&count) {
            let expected = if most == 1 { "1".to_owned() } else { format!("1 to {most}") };
            let message = format!("{} has {count} values, expected {expected}", alternative.name);
            found.add(variable.place(alternative.name), message, format!("write {expected}"));
        }
    }
}

fn check_healpix(variable: &Variable, found: &mut Found) {
    let level = variable.attributes.get("refinement_level");
    match (variable.text("indexing_scheme"), level) {
        (Some(scheme @ ("nested" | "ring")), None) => {
            let message = format!("indexing_scheme {scheme} without refinement_level, expected it");
            found.add(&variable.path, message, "add refinement_level");
        }
        (Some(scheme @ ("nuniq" | "zuniq")), Some(_)) => {
            let message = format!("refinement_level beside indexing_scheme {scheme}, expected none");
            found.add(variable.place("refinement_level"), message, "remove refinement_level");
        }
        _ => {}
    }
    if let Some([value]) = level.and_then(Attribute::numbers)
        && !value.as_int().is_some_and(|value| (0..=29).contains(&value))
    {
        let message = format!("refinement_level is {value}, expected an integer from 0 to 29");
        found.add(variable.place("refinement_level"), message, "correct it");
    }
}

/// The names that belong together.
const SYSTEM: [&str; 4] =
    ["reference_ellipsoid_name", "prime_meridian_name", "horizontal_datum_name", "geographic_crs_name"];

fn check_system(variable: &Variable, found: &mut Found) {
    let missing: Vec<&str> = SYSTEM.into_iter().filter(|name| !variable.has(name)).collect();
    let is_part = !missing.is_empty() && missing.len() < SYSTEM.len();
    if is_part {
        let present = SYSTEM.iter().find(|name| variable.has(name)).copied().unwrap_or_default();
        let names = missing.join(", ");
        let message = format!("{present} without {names}, expected all or none");
        found.add(&variable.path, message, format!("add {names}"));
    }
    if variable.has("projected_crs_name") && !variable.has("geographic_crs_name") && !is_part {
        let message = "projected_crs_name without geographic_crs_name, expected both";
        found.add(variable.place("projected_crs_name"), message, "add geographic_crs_name");
    }
}
