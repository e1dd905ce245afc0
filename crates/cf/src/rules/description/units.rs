//! Units, and the units of standard names.
//!
//! Spec: CF 1.13, 3.1 Units, Appendix C, Appendix E

use super::{Found, Scope};
use crate::dataset::{LEVELS, Role, Variable, axis_of};
use crate::rules::cells::methods;
use crate::rules::scope::meant;
use crate::tables::{cell_methods, modifiers};
use crate::units::{BaseUnit, Unit, UnitError};
use hyperslab_model::Datatype;

pub(in crate::rules) fn units_present(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables().filter(|variable| !variable.has("units") && needs_units(variable)) {
        if let Some(canonical) = expected(scope, variable) {
            let is_plain = Unit::parse(&canonical).is_ok_and(|unit| unit.is_dimensionless());
            // Times since a moment need units even if their datatype is a number.
            if !is_plain {
                let name = variable.standard_name().unwrap_or_default();
                let message = format!("no units, expected units convertible to {canonical} for {name}");
                found.add(
                    &variable.path,
                    message,
                    format!("add the attribute units, such as \"{canonical}\""),
                );
            }
        } else if variable.is(Role::Coordinate)
            && let Some(axis) = axis_of(variable)
        {
            let message =
                format!("a coordinate variable along {} has no units, expected some", axis.letter());
            found.add(&variable.path, message, "add the attribute units");
        }
    }
}

/// Whether a variable needs its own units if it represents a quantity. Boundary variables share those of their
/// coordinate, and dates have them in their datatype.
fn needs_units(variable: &Variable) -> bool {
    let is_bounds = variable.is(Role::Boundary) || variable.is(Role::Climatology);
    variable.is_numeric()
        && !is_bounds
        && !matches!(variable.datatype, Some(Datatype::Datetime(_) | Datatype::Bool))
}

/// The canonical units of the standard name, as changed by its modifier and the cell methods. `None` without a standard
/// name.
fn expected(scope: &Scope<'_>, variable: &Variable) -> Option<String> {
    let name = variable.standard_name()?;
    let known = scope.names.get(name);
    let known = known.or_else(|| scope.names.alias(name)?.names().find_map(|name| scope.names.get(name)));
    let canonical = known?.units?;
    match variable.modifier().and_then(modifiers::get).map(|modifier| modifier.units) {
        Some(modifiers::ModifiedUnits::One) => return Some("1".to_owned()),
        Some(modifiers::ModifiedUnits::None) => return None,
        _ => {}
    }
    let squares =
        methods(variable).filter(|method| method.units == cell_methods::MethodUnits::Squared).count();
    Some((0..squares).fold(canonical.to_owned(), |units, _| format!("({units})2")))
}

pub(in crate::rules) fn units_known(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("units") {
        let Some(attribute) = variable.attributes.get("units") else { continue };
        let place = variable.place("units");
        let Some(text) = attribute.text() else {
            let message = format!("units are {}, expected a single string", attribute.type_name());
            found.add(place, message, "write the units as one text");
            continue;
        };
        if LEVELS.contains(&text) {
            continue;
        }
        if let Some(Err(error)) = variable.unit.as_deref() {
            let plain = UnitError { near: None, ..error.clone() };
            let message = format!("units {text:?} with {plain}");
            found.add(place, message, meant(error.near.as_deref(), "write units that UDUNITS reads"));
        } else if let Some(number) = variable.unit().and_then(|unit| factor_or_offset(text, unit)) {
            let message = format!("units {text:?} with {number:?}, expected no factors or offsets");
            found.add(place, message, "use scale_factor and add_offset, or a unit with a prefix");
        }
    }
}

/// The number in units that scales or shifts a named unit, which UDUNITS allows but CF does not. A number without a
/// named unit is itself a unit, and a factor of 1 changes nothing.
///
/// Spec: CF 1.13, 3.1.3 Scale factors and offsets
fn factor_or_offset<'a>(text: &'a str, unit: &Unit) -> Option<&'a str> {
    if unit.is_reference_time() {
        return None;
    }
    if let Some(at) = text.find('@') {
        return text.get(at..);
    }
    let words = || text.split(|letter: char| letter.is_whitespace() || "*/()·".contains(letter));
    let is_named = words()
        .any(|word| word.starts_with(|letter: char| letter.is_alphabetic() || "%°'\"".contains(letter)));
    let is_factor = |word: &&str| {
        let base = word.split('^').next().unwrap_or_default();
        base.starts_with(|letter: char| letter.is_ascii_digit())
            && base.parse::<f64>().is_ok_and(|value| value != 1.0)
    };
    words().find(is_factor).filter(|_| is_named)
}

pub(in crate::rules) fn units_canonical(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("units").filter(|variable| variable.has("standard_name")) {
        let (Some(unit), Some(text), Some(name)) =
            (variable.unit(), variable.text("units"), variable.standard_name())
        else {
            continue;
        };
        let place = variable.place("units");
        if scope.is_since(11) && is_volume_fraction(text) {
            let message = format!("units {text:?} beside a standard name, expected a plain fraction");
            found.add(&place, message, "write 1e-6 for ppmv, 1e-9 for ppbv, and so on");
            continue;
        }
        let Some(canonical) = expected(scope, variable) else { continue };
        let Ok(wanted) = Unit::parse(&canonical) else { continue };
        if !is_equivalent(unit, &wanted) {
            let message = format!("units {text:?}, expected units convertible to {canonical} for {name}");
            found.add(&place, message, "correct the units or the standard name");
        }
    }
}

/// Whether a factor and an offset convert one unit to the other. For standard names, a time since a moment counts as a
/// time; reciprocal units, which UDUNITS can convert, are not equivalent.
fn is_equivalent(unit: &Unit, wanted: &Unit) -> bool {
    if unit.is_reference_time() {
        return wanted.is_time() || wanted.is_reference_time();
    }
    unit.can_convert_to(wanted) && unit.dimension().is_same_quantity(wanted.dimension())
}

/// UDUNITS units that mean a fraction by volume, which the standard name already states.
fn is_volume_fraction(units: &str) -> bool {
    matches!(units, "ppv" | "ppmv" | "ppbv" | "pptv" | "ppqv")
}

pub(in crate::rules) fn units_dimensionless_name(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("units") {
        if let Some(text) = variable.text("units").filter(|text| LEVELS.contains(text)) {
            let message = format!("units {text:?} are deprecated, expected units of UDUNITS or none");
            found.add(
                variable.place("units"),
                message,
                "use a standard name and formula_terms of Appendix D",
            );
        }
    }
}

/// The values of `units_metadata`.
const METADATA: [&str; 6] = [
    "temperature: on_scale",
    "temperature: difference",
    "temperature: unknown",
    "leap_seconds: none",
    "leap_seconds: utc",
    "leap_seconds: unknown",
];

pub(in crate::rules) fn units_metadata(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables().filter(|variable| !variable.has("units_metadata")) {
        let is_temperature =
            variable.unit().is_some_and(|unit| unit.dimension().power(BaseUnit::Kelvin) != 0);
        if is_temperature && !variable.is(Role::Boundary) {
            let message = "units of a temperature without units_metadata, expected it to say whether they are on a scale";
            let hint = "add units_metadata, such as \"temperature: on_scale\"";
            found.advise(variable.place("units"), message, hint);
        }
    }
    for variable in scope.with("units_metadata") {
        let place = variable.place("units_metadata");
        let text = variable.text("units_metadata").unwrap_or_default();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !METADATA.contains(&&*words) {
            let near = crate::tables::nearest::nearest(&words, METADATA.into_iter());
            let message = format!("units_metadata is {text:?}, expected one of {}", METADATA.join(", "));
            found.add(place, message, meant(near, "use one of these values"));
            continue;
        }
        // Boundary variables inherit the units of their coordinate.
        if variable.is(Role::Boundary) && !variable.has("units") {
            continue;
        }
        if !variable.has("units") {
            found.add(place, "units_metadata without units, expected units", "add the attribute units");
            continue;
        }
        let Some(unit) = variable.unit() else { continue };
        let is_temperature = unit.dimension().power(BaseUnit::Kelvin) != 0;
        if !is_temperature && !unit.is_reference_time() {
            let message = "units_metadata beside units without temperature or reference time, expected none";
            found.add(place, message, "remove units_metadata");
        } else if words.starts_with("temperature") != is_temperature {
            let expected = if is_temperature { "temperature" } else { "leap_seconds" };
            found.add(place, format!("units_metadata is {text:?}, expected {expected} for these units"), "");
        } else if is_temperature && words != "temperature: difference" && is_difference(variable) {
            let message = format!(
                "units_metadata is {text:?}, expected temperature: difference for an error or a spread"
            );
            found.add(place, message, "set it to \"temperature: difference\"");
        }
    }
}

/// Whether the values are differences, according to the modifier or the cell methods.
fn is_difference(variable: &Variable) -> bool {
    let by_modifier =
        variable.modifier().and_then(modifiers::get).is_some_and(|modifier| modifier.is_difference);
    by_modifier || methods(variable).any(|method| method.is_difference)
}
