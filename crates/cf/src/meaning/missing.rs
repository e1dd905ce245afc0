//! Missing values.
//!
//! Spec: CF 1.13, 2.5.1 Missing data, valid and actual range of data

use crate::number::{Number, single};
use hyperslab_model::{Datatype, Element, Float};

/// The elements that mark missing values, according to the attributes `_FillValue`, `missing_value`, `valid_min`,
/// `valid_max` and `valid_range`. All of them are compared with packed numbers, not with unpacked ones.
#[derive(Clone, Debug, Default)]
pub struct Missing {
    ints: Vec<i128>,
    floats: Vec<f64>,
    texts: Vec<Vec<u8>>,
    /// The valid range; values outside of it are also missing.
    pub(super) valid: (Option<Number>, Option<Number>),
}

impl Missing {
    /// Whether no element can be missing.
    pub fn is_none(&self) -> bool {
        !self.is_marked() && matches!(self.valid, (None, None))
    }

    /// Whether a value marks missing elements. A valid range does not count.
    pub fn is_marked(&self) -> bool {
        !(self.ints.is_empty() && self.floats.is_empty() && self.texts.is_empty())
    }

    /// The same without the valid range: elements outside of it then do not count as missing.
    #[must_use]
    pub fn without_range(self) -> Missing {
        Missing { valid: (None, None), ..self }
    }

    pub(super) fn add(&mut self, value: Number, datatype: &Datatype) {
        match value {
            Number::Int(value) => {
                self.ints.push(value);
                self.add_float(value as f64);
            }
            Number::Float(value) => {
                self.ints.extend(Number::Float(value).as_int());
                // A missing value of -999.9 in a 64-bit attribute means the nearest 32-bit number.
                self.add_float(match datatype.non_null() {
                    Datatype::Float(Float::Single) => f64::from(single(value)),
                    _ => value,
                });
            }
        }
        self.ints.sort_unstable();
        self.ints.dedup();
    }

    pub(super) fn add_text(&mut self, text: Vec<u8>) {
        self.texts.push(text);
    }

    /// Adds a number that marks missing elements. NaN is always missing and needs no mark.
    pub fn add_float(&mut self, value: f64) {
        if !value.is_nan() && !self.floats.contains(&value) {
            self.floats.push(value);
        }
    }

    /// The integers that mark missing elements, in ascending order.
    pub fn ints(&self) -> &[i128] {
        &self.ints
    }

    /// The numbers that mark missing elements, without NaN.
    pub fn floats(&self) -> &[f64] {
        &self.floats
    }

    /// The minimum and maximum valid integer.
    pub fn int_range(&self) -> (i128, i128) {
        let low = match self.valid.0 {
            Some(Number::Int(low)) => low,
            Some(Number::Float(low)) => Number::Float(low.ceil()).as_int().unwrap_or(i128::MIN),
            None => i128::MIN,
        };
        let high = match self.valid.1 {
            Some(Number::Int(high)) => high,
            Some(Number::Float(high)) => Number::Float(high.floor()).as_int().unwrap_or(i128::MAX),
            None => i128::MAX,
        };
        (low, high)
    }

    /// The minimum and maximum valid number.
    pub fn float_range(&self) -> (f64, f64) {
        let number = |bound: Option<Number>, open: f64| match bound {
            Some(Number::Int(value)) => value as f64,
            Some(Number::Float(value)) if !value.is_nan() => value,
            _ => open,
        };
        (number(self.valid.0, f64::NEG_INFINITY), number(self.valid.1, f64::INFINITY))
    }

    /// Whether an element is missing: null, marked, outside of the valid range, or NaN.
    pub fn is_missing(&self, element: &Element<'_>) -> bool {
        let (low, high) = self.int_range();
        match element {
            Element::Null => true,
            Element::Int(value) => self.ints.contains(value) || !(low..=high).contains(value),
            Element::Enum(value, _) => self.ints.contains(value),
            Element::Float(value) => {
                let (low, high) = self.float_range();
                !(low..=high).contains(value) || self.floats.contains(value)
            }
            Element::Text(text) => self.texts.iter().any(|missing| missing == text),
            _ => false,
        }
    }
}
