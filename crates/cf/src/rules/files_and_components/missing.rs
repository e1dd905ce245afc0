//! Missing data and valid ranges, by attributes.
//!
//! Spec: CF 1.13, 2.5.1 Missing data, valid and actual range of data

use super::{Found, Scope};
use crate::dataset::{Attribute, Dataset, Number, Value, Variable};
use crate::number::single;
use hyperslab_model::{Datatype, Float};

pub(in crate::rules) fn fill_value_type(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables() {
        for name in ["_FillValue", "missing_value"] {
            if let Some(attribute) = variable.attributes.get(name)
                && !is_of_type(scope.dataset, attribute, variable)
            {
                let expected = variable.type_name();
                let message =
                    format!("{name} is {}, expected {expected} as the variable", attribute.type_name());
                found.add(variable.place(name), message, format!("write {name} as {expected}"));
            }
        }
    }
}

/// Whether an attribute has the type of its variable. Where attributes keep no types: whether its numbers can be of
/// that type.
pub(in crate::rules) fn is_of_type(dataset: &Dataset, attribute: &Attribute, variable: &Variable) -> bool {
    let (Some(own), Some(of)) = (&attribute.datatype, &variable.datatype) else { return true };
    let is_unsigned = variable.has("_Unsigned");
    match (of, &attribute.value) {
        (Datatype::String(_), _) => {
            attribute.is_text() || (!dataset.has_typed_attributes && attribute.numbers().is_none())
        }
        // Special numbers are strings where attributes keep no types.
        (Datatype::Float(_), Value::Text(_)) if !dataset.has_typed_attributes => true,
        (_, Value::Numbers(numbers)) if !dataset.has_typed_attributes => {
            numbers.iter().all(|number| fits(*number, of))
        }
        (Datatype::Int { bits, .. }, Value::Numbers(_)) if is_unsigned => {
            matches!(own, Datatype::Int { bits: own, .. } if own == bits)
        }
        (Datatype::Enum { base, .. }, _) => own == of || *own == **base,
        // Attributes of dates are integers.
        (Datatype::Datetime(_), Value::Numbers(_)) | (Datatype::Bool, _) => true,
        (Datatype::Int { .. } | Datatype::Float(_), _) => own == of,
        _ => true,
    }
}

/// Whether a type can hold a number.
pub(in crate::rules) fn fits(number: Number, datatype: &Datatype) -> bool {
    match datatype {
        Datatype::Int { bits, signed } => number.as_int().is_some_and(|value| {
            let top = 1_i128.checked_shl(u32::from(*bits) - u32::from(*signed)).unwrap_or(i128::MAX);
            let low = if *signed { top.checked_neg().unwrap_or(i128::MIN) } else { 0 };
            (low..top).contains(&value)
        }),
        _ => true,
    }
}

pub(in crate::rules) fn valid_range(scope: &Scope<'_>, found: &mut Found) {
    // Limits of packed data apply to the packed values. CF 8.1
    let packed = |variable: &&Variable| variable.has("scale_factor") || variable.has("add_offset");
    for variable in scope.variables().filter(packed) {
        for name in ["valid_min", "valid_max", "valid_range"] {
            let Some(attribute) = variable.attributes.get(name).filter(|of| of.numbers().is_some()) else {
                continue;
            };
            if !is_of_type(scope.dataset, attribute, variable) {
                let expected = variable.type_name();
                let message =
                    format!("{name} is {}, expected {expected} as the packed values", attribute.type_name());
                found.add(variable.place(name), message, format!("write {name} as {expected}"));
            }
        }
    }
    for variable in scope.with("valid_range") {
        let place = variable.place("valid_range");
        for other in ["valid_min", "valid_max"].into_iter().filter(|other| variable.has(other)) {
            let message = format!("valid_range beside {other}, expected one or the other");
            found.add(&place, message, format!("remove {other}"));
        }
        match variable.stored_numbers("valid_range").as_deref() {
            Some([low, high]) if low.as_f64() > high.as_f64() => {
                let message = format!("valid_range is {low}, {high}, expected the least value first");
                found.add(&place, message, "swap the two");
            }
            Some([_, _]) => {}
            Some(numbers) => {
                let message = format!("valid_range has {} values, expected 2", numbers.len());
                found.add(&place, message, "give the least and the greatest valid value");
            }
            None => {
                let own = variable.attributes.get("valid_range").map(Attribute::type_name);
                let message = format!("valid_range is {}, expected 2 numbers", own.unwrap_or_default());
                found.add(&place, message, "give the least and the greatest valid value");
            }
        }
    }
}

/// The smallest and the largest valid value.
pub(in crate::rules) fn limits(variable: &Variable) -> (Option<f64>, Option<f64>) {
    let first = |name| Some(variable.stored_numbers(name)?.first()?.as_f64());
    match variable.stored_numbers("valid_range").as_deref() {
        Some([low, high]) => (Some(low.as_f64()), Some(high.as_f64())),
        _ => (first("valid_min"), first("valid_max")),
    }
}

pub(in crate::rules) fn fill_in_valid_range(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("_FillValue") {
        let Some(&[fill]) = variable.numbers("_FillValue") else { continue };
        let place = variable.place("_FillValue");
        let (low, high) = limits(variable);
        let value = variable.as_read(fill).as_f64();
        let is_above = low.is_none_or(|low| value >= low);
        let is_below = high.is_none_or(|high| value <= high);
        if (low.is_some() || high.is_some()) && is_above && is_below {
            let range = format!(
                "{} to {}",
                low.map_or_else(|| "…".to_owned(), |low| low.to_string()),
                high.map_or_else(|| "…".to_owned(), |high| high.to_string())
            );
            let message = format!("_FillValue {fill} is within the valid range {range}, expected it outside");
            found.add(&place, message, "choose another fill value, or a narrower range");
        }
        if let Some([missing]) = variable.numbers("missing_value")
            && !is_same(*missing, fill)
        {
            let message =
                format!("missing_value is {missing} and _FillValue {fill}, expected the same value");
            found.add(variable.place("missing_value"), message, "remove missing_value");
        }
    }
}

/// Whether two numbers are equal, even if only one of them was rounded to 32 bits.
pub(in crate::rules) fn is_same(a: Number, b: Number) -> bool {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a == b,
        _ => {
            let (a, b) = (a.as_f64(), b.as_f64());
            a == b || (a.is_nan() && b.is_nan()) || single(a) == single(b)
        }
    }
}

/// The default fill value of the NetCDF library, used if no attribute states another.
pub(in crate::rules) fn default_fill(datatype: &Datatype) -> Option<Number> {
    Some(match datatype {
        Datatype::Int { bits: 16, signed: true } => Number::Int(-32_767),
        Datatype::Int { bits: 16, signed: false } => Number::Int(65_535),
        Datatype::Int { bits: 32, signed: true } => Number::Int(-2_147_483_647),
        Datatype::Int { bits: 32, signed: false } => Number::Int(4_294_967_295),
        Datatype::Int { bits: 64, signed: true } => Number::Int(-9_223_372_036_854_775_806),
        Datatype::Int { bits: 64, signed: false } => Number::Int(18_446_744_073_709_551_614),
        Datatype::Float(Float::Single | Float::Double) => Number::Float(9.969_209_968_386_869e36),
        _ => return None,
    })
}
