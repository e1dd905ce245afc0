//! Elements as numbers that can be drawn: packed numbers unpacked, times as seconds, words as their integers, missing
//! elements as NaN.

use super::scale::{Scale, Words};
use crate::meaning::{Meaning, meaning};
use crate::source::Source;
use hyperslab_cf::time::{Counting, SECOND};
use hyperslab_model::{Datatype, Element, Elements, Float, Node, NodePath, Values};
use std::collections::BTreeSet;

/// Converts the elements of one array.
#[derive(Debug)]
pub(super) struct Numbers {
    meaning: Meaning,
    kind: Kind,
}

/// What the numbers represent.
#[derive(Debug)]
enum Kind {
    Plain,
    /// Seconds in the calendar of the counting.
    Times(Counting),
    Words(Words),
}

impl Numbers {
    /// The conversion of the elements of `node` at `path`; `None` if they are not numbers.
    pub(super) fn of(
        source: &dyn Source,
        path: &NodePath,
        node: &Node,
        datatype: &Datatype,
    ) -> Option<Numbers> {
        let mut meaning = meaning(source, path, node, datatype);
        let (counting, flags) = (meaning.counting.take(), meaning.flags.take());
        let kind = match (datatype.non_null(), counting, flags) {
            (Datatype::Int { .. } | Datatype::Float(_), Some(counting), _) => Kind::Times(counting),
            (Datatype::Int { .. }, None, Some(flags)) if meaning.packing.is_none() => {
                Kind::Words(Words::Flags(flags))
            }
            (Datatype::Int { .. } | Datatype::Float(_) | Datatype::Time { .. }, ..) => Kind::Plain,
            (Datatype::Datetime(unit), ..) => Counting::of_type(unit).map_or(Kind::Plain, Kind::Times),
            (Datatype::Bool, ..) => Kind::Words(Words::Booleans),
            (Datatype::Enum { members, .. }, ..) => Kind::Words(Words::Members(members.clone())),
            _ => return None,
        };
        Some(Numbers { meaning, kind })
    }

    /// Whether numbers represent words, which have no mean.
    pub(super) fn are_words(&self) -> bool {
        matches!(self.kind, Kind::Words(_))
    }

    /// The unit, unless it is that of dates, or states that there is none.
    pub(super) fn units(&self, units: Option<String>) -> Option<String> {
        units.filter(|units| matches!(self.kind, Kind::Plain) && !["", "1"].contains(&units.as_str()))
    }

    /// The scale for drawing these numbers.
    pub(super) fn scale(&self, numbers: impl Iterator<Item = f64>) -> Scale {
        match &self.kind {
            Kind::Plain => Scale::numbers(),
            Kind::Times(counting) => Scale::times(counting.clone()),
            Kind::Words(words) => {
                let present: BTreeSet<i128> = numbers.filter(|number| !number.is_nan()).map(whole).collect();
                match present.len() <= MAX_WORDS {
                    true => Scale::coded(words, present),
                    false => Scale::numbers(),
                }
            }
        }
    }

    /// Calls `take` with the numbers of `values`, a few thousand at a time.
    pub(super) fn each(&self, values: &Values, take: &mut dyn FnMut(&[f64])) {
        match (&self.kind, &self.meaning.datatype) {
            (Kind::Plain, Datatype::Float(Float::Single)) => {
                self.fast(values, |row| f64::from(f32::from_ne_bytes(row)), take);
            }
            (Kind::Plain, Datatype::Float(Float::Double)) => self.fast(values, f64::from_ne_bytes, take),
            (Kind::Plain, Datatype::Int { bits: 8, signed: true }) => {
                self.fast(values, |row| f64::from(i8::from_ne_bytes(row)), take);
            }
            (Kind::Plain, Datatype::Int { bits: 8, signed: false }) => {
                self.fast(values, |row| f64::from(u8::from_ne_bytes(row)), take);
            }
            (Kind::Plain, Datatype::Int { bits: 16, signed: true }) => {
                self.fast(values, |row| f64::from(i16::from_ne_bytes(row)), take);
            }
            (Kind::Plain, Datatype::Int { bits: 16, signed: false }) => {
                self.fast(values, |row| f64::from(u16::from_ne_bytes(row)), take);
            }
            (Kind::Plain, Datatype::Int { bits: 32, signed: true }) => {
                self.fast(values, |row| f64::from(i32::from_ne_bytes(row)), take);
            }
            (Kind::Plain, Datatype::Int { bits: 32, signed: false }) => {
                self.fast(values, |row| f64::from(u32::from_ne_bytes(row)), take);
            }
            _ => {
                let mut numbers = Vec::with_capacity(BATCH);
                for element in Elements::new(&self.meaning.datatype, values) {
                    let got = match (element.get(), element.datatype().non_null()) {
                        (Element::RawFloat(stored), Datatype::Float(float)) => {
                            float.nearest(stored).map_or(Element::Null, Element::Float)
                        }
                        (got, _) => got,
                    };
                    numbers.push(self.number(&got).unwrap_or(f64::NAN));
                    if numbers.len() == BATCH {
                        take(&numbers);
                        numbers.clear();
                    }
                }
                take(&numbers);
            }
        }
    }

    /// Numbers that are all exact as 64-bit floating-point numbers.
    fn fast<const N: usize>(&self, values: &Values, read: fn([u8; N]) -> f64, take: &mut dyn FnMut(&[f64])) {
        let missing = &self.meaning.missing;
        let ((low, high), marks) = (missing.float_range(), missing.floats());
        let mut numbers = Vec::with_capacity(BATCH);
        let (rows, _) = values.rows.as_chunks::<N>();
        for rows in rows.chunks(BATCH) {
            numbers.clear();
            numbers.extend(rows.iter().map(|row| {
                let stored = read(*row);
                match stored >= low && stored <= high && !marks.contains(&stored) {
                    true => self.unpack(stored),
                    false => f64::NAN,
                }
            }));
            take(&numbers);
        }
    }

    /// The number that an element represents; `None` if it is missing.
    fn number(&self, element: &Element<'_>) -> Option<f64> {
        if self.meaning.missing.is_missing(element) {
            return None;
        }
        let stored = match element {
            Element::Int(value) | Element::Enum(value, _) => *value as f64,
            Element::Float(value) => *value,
            Element::Bool(value) => f64::from(u8::from(*value)),
            _ => return None,
        };
        let Kind::Times(counting) = &self.kind else { return Some(self.unpack(stored)) };
        let instant = match (element, &self.meaning.packing) {
            (Element::Int(count), None) => counting.instant(*count),
            _ => counting
                .moment(self.meaning.packing.as_ref().map_or(stored, |packing| packing.unpack(stored)))?,
        };
        Some(instant as f64 / SECOND as f64)
    }

    /// The number that a stored one represents, with the precision that readers use for unpacking.
    fn unpack(&self, stored: f64) -> f64 {
        self.meaning.packing.as_ref().map_or(stored, |packing| packing.unpack_rounded(stored))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "words have integers; saturates")]
pub(super) fn whole(number: f64) -> i128 {
    number as i128
}

/// The number of elements that are converted at a time.
const BATCH: usize = 8192;
/// The maximum number of words that are drawn separately.
const MAX_WORDS: usize = 64;
