//! The attribute `actual_range`, compared with the values.
//!
//! Spec: CF 1.13, 2.5.1 Missing data, valid and actual range of data

use super::missing::{default_fill, is_of_type, is_same, limits};
use super::{Found, Scope};
use crate::dataset::{Number, Variable};
use crate::number::single;
use crate::rules::values::Fold;
use hyperslab_model::{Datatype, Elements, Float};

/// The attribute has the type of the variable, or that of its packing.
pub(in crate::rules) fn actual_range_type(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("actual_range") {
        let Some(own) = variable.attributes.get("actual_range").filter(|own| own.numbers().is_some()) else {
            continue;
        };
        let packing =
            ["scale_factor", "add_offset"].into_iter().find_map(|name| variable.attributes.get(name));
        let (expected, is_it) = match packing {
            Some(packing) => {
                (packing.type_name(), !scope.dataset.has_typed_attributes || packing.datatype == own.datatype)
            }
            None => {
                let expected = variable.type_name();
                (expected, is_of_type(scope.dataset, own, variable))
            }
        };
        if !is_it {
            let message = format!("actual_range is {}, expected {expected}", own.type_name());
            found.add(variable.place("actual_range"), message, format!("write it as {expected}"));
        }
    }
}

pub(in crate::rules) fn actual_range<'a>(
    _scope: &'a Scope<'_>,
    variable: &'a Variable,
) -> Option<Box<dyn Fold + 'a>> {
    variable.attributes.get("actual_range")?;
    let first = |name| variable.numbers(name).and_then(|numbers| numbers.first().copied());
    let mut missing: Vec<Number> = variable.marks().map(|mark| variable.as_read(mark)).collect();
    if !variable.has("_FillValue") {
        missing.extend(variable.datatype.as_ref().and_then(default_fill));
    }
    Some(Box::new(Range {
        variable,
        missing,
        limits: limits(variable),
        scale: first("scale_factor").map_or(1.0, Number::as_f64),
        offset: first("add_offset").map_or(0.0, Number::as_f64),
        seen: None,
    }))
}

struct Range<'a> {
    variable: &'a Variable,
    missing: Vec<Number>,
    limits: (Option<f64>, Option<f64>),
    scale: f64,
    offset: f64,
    /// The least and the greatest stored value.
    seen: Option<(Number, Number)>,
}

/// The least and the greatest of the numbers in rows that are within limits and none of some values. The loop has no
/// branches, so that it runs in lanes.
fn extremes<const N: usize, T: Copy + PartialOrd>(
    rows: &[u8],
    of: fn([u8; N]) -> T,
    (low, high): (T, T),
    missing: &[T],
    seen: &mut Option<(T, T)>,
) {
    let (mut least, mut greatest) = seen.unwrap_or((high, low));
    let mut is_any = seen.is_some();
    for row in rows.chunks_exact(N) {
        let Ok(bytes) = row.try_into() else { continue };
        let value = of(bytes);
        // NaN is within no limits.
        let mut is_valid = value >= low && value <= high;
        for missing in missing {
            is_valid &= value != *missing;
        }
        is_any |= is_valid;
        least = if is_valid && value < least { value } else { least };
        greatest = if is_valid && value > greatest { value } else { greatest };
    }
    *seen = is_any.then_some((least, greatest));
}

impl Range<'_> {
    /// Takes values of 32 or 64 bits of floating point. Returns whether they are such.
    fn take_floats(&mut self, values: &Elements<'_>) -> bool {
        let floats: Vec<f64> = self.missing.iter().map(|missing| missing.as_f64()).collect();
        let (low, high) =
            (self.limits.0.unwrap_or(f64::NEG_INFINITY), self.limits.1.unwrap_or(f64::INFINITY));
        let mut seen = self.seen.map(|(low, high)| (low.as_f64(), high.as_f64()));
        match values.datatype() {
            Datatype::Float(Float::Double) => {
                extremes(values.rows(), f64::from_ne_bytes, (low, high), &floats, &mut seen);
            }
            // A limit is compared as it is, so that it must be one of 32 bits.
            Datatype::Float(Float::Single) if is_single(low) && is_single(high) => {
                let singles: Vec<f32> = floats.iter().map(|missing| single(*missing)).collect();
                let mut narrow = seen.map(|(low, high)| (single(low), single(high)));
                extremes(
                    values.rows(),
                    f32::from_ne_bytes,
                    (single(low), single(high)),
                    &singles,
                    &mut narrow,
                );
                seen = narrow.map(|(low, high)| (f64::from(low), f64::from(high)));
            }
            _ => return false,
        }
        self.seen = seen.map(|(low, high)| (Number::Float(low), Number::Float(high)));
        true
    }
}

/// Whether 32 bits hold a number.
fn is_single(value: f64) -> bool {
    f64::from(single(value)) == value
}

impl Fold for Range<'_> {
    fn take(&mut self, values: Elements<'_>) {
        if self.take_floats(&values) {
            return;
        }
        for number in values.filter_map(|element| Number::of(&element.present()?.get())) {
            let number = self.variable.as_read(number);
            let value = number.as_f64();
            let is_valid = !value.is_nan()
                && self.limits.0.is_none_or(|low| value >= low)
                && self.limits.1.is_none_or(|high| value <= high);
            if !is_valid || self.missing.iter().any(|missing| is_same(*missing, number)) {
                continue;
            }
            let (low, high) = self.seen.get_or_insert((number, number));
            if value < low.as_f64() {
                *low = number;
            }
            if value > high.as_f64() {
                *high = number;
            }
        }
    }

    fn finish(self: Box<Self>, found: &mut Found) {
        let place = self.variable.place("actual_range");
        let Some(&[low, high]) = self.variable.numbers("actual_range") else {
            let own = self.variable.attributes.get("actual_range");
            let own = match own
                .map(|attribute| (attribute.numbers().map(<[Number]>::len), attribute.type_name()))
            {
                Some((Some(count), _)) => format!("{count} values"),
                Some((None, name)) => name,
                None => return,
            };
            let message = format!("actual_range is {own}, expected 2 numbers");
            return found.add(place, message, "give the least and the greatest value");
        };
        let Some((least, greatest)) = self.seen else {
            let message = "actual_range of a variable whose values are all missing, expected none";
            return found.add(place, message, "remove the attribute");
        };
        let (mut least, mut greatest) = (self.unpacked(least), self.unpacked(greatest));
        if self.scale < 0.0 {
            (least, greatest) = (greatest, least);
        }
        if !self.is_near(low.as_f64(), least) || !self.is_near(high.as_f64(), greatest) {
            let message =
                format!("actual_range is {low}, {high}, expected {least}, {greatest} as the values are");
            found.add(place, message, format!("set it to {least}, {greatest}"));
        }
    }
}

impl Range<'_> {
    fn unpacked(&self, number: Number) -> f64 {
        number.as_f64() * self.scale + self.offset
    }

    /// Whether two values are equal as the type of the attribute or the variable holds them.
    fn is_near(&self, a: f64, b: f64) -> bool {
        let own =
            self.variable.attributes.get("actual_range").and_then(|attribute| attribute.datatype.as_ref());
        let is_float = |datatype: Option<&Datatype>| matches!(datatype, Some(Datatype::Float(Float::Single)));
        let is_packed = self.scale != 1.0 || self.offset != 0.0;
        let precision = match is_float(own) || is_float(self.variable.datatype.as_ref()) {
            true => f64::from(f32::EPSILON),
            false if is_packed => 8.0 * f64::EPSILON,
            false => 0.0,
        };
        (a - b).abs() <= precision * a.abs().max(b.abs()).max(if is_packed { self.offset.abs() } else { 0.0 })
    }
}
