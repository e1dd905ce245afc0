//! The attribute `actual_range`, compared with the values.
//!
//! Spec: CF 1.13, 2.5.1 Missing data, valid and actual range of data

use super::extremes::{Integers, Valid, extremes};
use super::missing::{default_fill, is_of_type, is_same, limits};
use super::{Found, Scope};
use crate::dataset::{Number, Variable};
use crate::number::{Reading, single};
use crate::rules::values::Fold;
use hyperslab_model::{Datatype, Elements, Float};

/// Checks that the attribute has the type of the variable, or that of its packing attributes.
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
    let reading = variable.reading();
    let mut missing: Vec<Number> = variable.marks().map(|mark| reading.read(mark)).collect();
    if !variable.has("_FillValue") {
        missing.extend(variable.datatype.as_ref().and_then(default_fill));
    }
    let limits = limits(variable);
    let integers = variable.datatype.as_ref().and_then(integer).and_then(|(bits, is_signed)| {
        Integers::new((bits, is_signed && !reading.is_unsigned()), limits, &missing)
    });
    let float = |missing: &Number| (missing.as_f64(), missing.as_f64());
    let floats = Valid {
        low: limits.0.unwrap_or(f64::NEG_INFINITY),
        high: limits.1.unwrap_or(f64::INFINITY),
        without: missing.iter().map(float).collect(),
    };
    Some(Box::new(Range {
        variable,
        reading,
        missing,
        limits,
        integers,
        floats,
        scale: first("scale_factor").map_or(1.0, Number::as_f64),
        offset: first("add_offset").map_or(0.0, Number::as_f64),
        seen: None,
    }))
}

struct Range<'a> {
    variable: &'a Variable,
    reading: Reading,
    missing: Vec<Number>,
    limits: (Option<f64>, Option<f64>),
    /// Which integers and which floating-point numbers are considered, according to the two fields above.
    integers: Option<Integers>,
    floats: Valid<f64>,
    scale: f64,
    offset: f64,
    /// The smallest and the largest stored value.
    seen: Option<(Number, Number)>,
}

/// The number of bits of elements that are integers, and whether they are signed.
fn integer(datatype: &Datatype) -> Option<(u16, bool)> {
    match datatype {
        Datatype::Int { bits, signed } => Some((*bits, *signed)),
        Datatype::Enum { base, .. } => match **base {
            Datatype::Int { bits, signed } => Some((bits, signed)),
            _ => None,
        },
        Datatype::Datetime(_) => Some((64, true)),
        _ => None,
    }
}

/// The first of the numbers in rows that equals `value`: a zero may have a sign.
fn first_equal<const N: usize, T: PartialEq>(rows: &[u8], of: fn([u8; N]) -> T, value: T) -> T {
    let mut all = rows.chunks_exact(N).filter_map(|row| Some(of(row.try_into().ok()?)));
    all.find(|other| *other == value).unwrap_or(value)
}

impl Range<'_> {
    /// Takes values if their type can be compared in lanes. Returns whether this is the case.
    fn take_lanes(&mut self, values: &Elements<'_>) -> bool {
        let datatype = values.datatype().resolved();
        let rows = values.rows();
        let found = match (datatype, &self.integers) {
            (Datatype::Float(Float::Double), _) => {
                let of = f64::from_ne_bytes;
                extremes::<8, 8, f64>(rows, of, &self.floats).map(|(least, greatest)| {
                    let signed = |value| if value == 0.0 { first_equal(rows, of, value) } else { value };
                    (Number::Float(signed(least)), Number::Float(signed(greatest)))
                })
            }
            // A limit is compared unchanged, so it must be representable in 32 bits.
            (Datatype::Float(Float::Single), _)
                if is_single(self.floats.low) && is_single(self.floats.high) =>
            {
                let of = f32::from_ne_bytes;
                let valid = self.floats.map(|value| Some(single(value)));
                valid.and_then(|valid| extremes::<4, 16, f32>(rows, of, &valid)).map(|(least, greatest)| {
                    let signed = |value| if value == 0.0 { first_equal(rows, of, value) } else { value };
                    (Number::Float(f64::from(signed(least))), Number::Float(f64::from(signed(greatest))))
                })
            }
            (datatype, Some(integers)) if self.variable.datatype.as_ref() == Some(datatype) => {
                integers.extremes(rows)
            }
            _ => return false,
        };
        if let Some((least, greatest)) = found {
            self.see(least, greatest);
        }
        true
    }

    /// Takes values of any type one by one.
    fn take_each(&mut self, values: Elements<'_>) {
        for number in values.filter_map(|element| Number::of(&element.present()?.get())) {
            let number = self.reading.read(number);
            let value = number.as_f64();
            let is_valid = !value.is_nan()
                && self.limits.0.is_none_or(|low| value >= low)
                && self.limits.1.is_none_or(|high| value <= high);
            if is_valid && !self.missing.iter().any(|missing| is_same(*missing, number)) {
                self.see(number, number);
            }
        }
    }

    fn see(&mut self, least: Number, greatest: Number) {
        let (low, high) = self.seen.get_or_insert((least, greatest));
        if least.as_f64() < low.as_f64() {
            *low = least;
        }
        if greatest.as_f64() > high.as_f64() {
            *high = greatest;
        }
    }
}

/// Whether a number is representable in 32 bits.
fn is_single(value: f64) -> bool {
    f64::from(single(value)) == value
}

impl Fold for Range<'_> {
    fn take(&mut self, values: Elements<'_>) {
        if !self.take_lanes(&values) {
            self.take_each(values);
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

    /// Whether two values are equal in the precision of the attribute or the variable.
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
        // No distance from infinity is small in comparison.
        if a.is_infinite() || b.is_infinite() {
            return a == b;
        }
        (a - b).abs() <= precision * a.abs().max(b.abs()).max(if is_packed { self.offset.abs() } else { 0.0 })
    }
}
