//! The summary of a tile that is being written, computed in one pass over its cells.

use super::Sum;
use crate::array::fragment::FragmentField;
use crate::format::array_schema::ArraySchema;
use crate::format::data_type::{CellValNum, DataType};
use crate::read::compare::compare;
use hyperslab_core::{Decoder, Encoder, Result};
use std::cmp::Ordering;

/// Cells of a tile, or of a part of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TileCells<'c> {
    /// The values of all cells in their stored form, one after another.
    pub values: &'c [u8],
    /// The start of each cell in the values, if cells differ in their number of values; empty otherwise.
    pub offsets: &'c [u64],
    /// A byte for each cell, 0 if it is null. Empty for fields that cannot be null.
    pub validity: &'c [u8],
}

/// The summary of a tile or a fragment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileSummary {
    /// The minimum value that is not null; empty if none is stored.
    pub min: Vec<u8>,
    /// The maximum value that is not null; empty if none is stored.
    pub max: Vec<u8>,
    /// The bits of the sum of all values that are not null.
    pub sum: u64,
    /// The number of cells that are null.
    pub null_count: u64,
    /// Whether a value was found. Otherwise, the minimum and the maximum have no meaning.
    pub has_value: bool,
}

/// Which summaries are stored for the tiles of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noting {
    data_type: DataType,
    /// The size of a cell; 0 if cells differ in size.
    cell_size: usize,
    pub(crate) has_ends: bool,
    /// The sum of no values, if sums are stored.
    no_sum: Option<Sum>,
    pub(crate) has_null_count: bool,
}

impl Noting {
    /// The summaries that the library stores for a field; none for coordinates, as their rectangles contain this
    /// information.
    pub(crate) fn of(schema: &ArraySchema, field: FragmentField) -> Noting {
        let nothing = Noting {
            data_type: DataType::Blob,
            cell_size: 0,
            has_ends: false,
            no_sum: None,
            has_null_count: false,
        };
        let FragmentField::Attribute(position) = field else { return nothing };
        let Some(attribute) = schema.attributes.get(position) else { return nothing };
        let data_type = attribute.data_type;
        let is_text = matches!(data_type, DataType::Char | DataType::StringAscii);
        let is_other = data_type.is_string()
            || matches!(data_type, DataType::Any | DataType::Blob | DataType::GeomWkb | DataType::GeomWkt);
        let cell_size = match attribute.cell_val_num {
            CellValNum::Fixed(count) => {
                usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(data_type.size())
            }
            CellValNum::Var => 0,
        };
        Noting {
            data_type,
            cell_size,
            has_ends: is_text || (attribute.cell_val_num == CellValNum::ONE && !is_other),
            no_sum: super::no_sum(attribute),
            has_null_count: attribute.nullable,
        }
    }

    /// The minimum and maximum of coordinates that are numbers.
    pub(crate) fn of_numbers(data_type: DataType) -> Noting {
        Noting { data_type, cell_size: data_type.size(), has_ends: true, no_sum: None, has_null_count: false }
    }

    /// Whether sums are stored.
    pub(crate) fn has_sum(&self) -> bool {
        self.no_sum.is_some()
    }

    /// Whether minima and maxima differ in size.
    pub(crate) fn is_var(&self) -> bool {
        self.cell_size == 0
    }

    /// The summary of these cells.
    pub(crate) fn summary(&self, cells: &TileCells<'_>) -> TileSummary {
        macro_rules! integers {
            ($type:ty, $sum:ty) => {{
                let (mut min, mut max, mut sum, mut has_value) =
                    (<$type>::MAX, <$type>::MIN, 0 as $sum, false);
                let mut add = |value: $type| {
                    min = min.min(value);
                    max = max.max(value);
                    has_value = true;
                    sum = sum.saturating_add(value.into());
                };
                each!($type, add);
                (min.to_le_bytes().to_vec(), max.to_le_bytes().to_vec(), sum as u64, has_value)
            }};
        }
        macro_rules! floats {
            ($type:ty) => {{
                let (mut min, mut max, mut sum) = (<$type>::INFINITY, <$type>::NEG_INFINITY, 0.0_f64);
                let mut has_value = false;
                if cells.validity.is_empty() {
                    let (lanes, rest) = cells.values.as_chunks().0.as_chunks::<LANES>();
                    let (mut least, mut greatest) = ([min; LANES], [max; LANES]);
                    let mut add = |at: usize, value: [u8; size_of::<$type>()]| {
                        let value = <$type>::from_le_bytes(value);
                        // NaN is neither the minimum nor the maximum.
                        if let (Some(min), Some(max)) = (least.get_mut(at), greatest.get_mut(at)) {
                            *min = if value <= *min { value } else { *min };
                            *max = if value >= *max { value } else { *max };
                        }
                        sum += f64::from(value);
                    };
                    lanes
                        .iter()
                        .for_each(|lane| lane.iter().enumerate().for_each(|(at, value)| add(at, *value)));
                    rest.iter().enumerate().for_each(|(at, value)| add(at, *value));
                    min = least.into_iter().fold(min, |min, value| if value <= min { value } else { min });
                    max = greatest.into_iter().fold(max, |max, value| if value >= max { value } else { max });
                    has_value = !cells.values.is_empty();
                    // Of the two zeros, the last one is taken, as in the library.
                    let zero = || {
                        let values = cells.values.as_chunks().0.iter().rev();
                        values.map(|value| <$type>::from_le_bytes(*value)).find(|value| *value == 0.0)
                    };
                    min = if min == 0.0 { zero().unwrap_or(min) } else { min };
                    max = if max == 0.0 { zero().unwrap_or(max) } else { max };
                } else {
                    let mut add = |value: $type| {
                        min = if value <= min { value } else { min };
                        max = if value >= max { value } else { max };
                        has_value = true;
                        sum += f64::from(value);
                    };
                    each!($type, add);
                }
                if !sum.is_finite() {
                    // Each step saturates at the limits, as in the library.
                    sum = 0.0;
                    let mut add = |value: $type| sum = (sum + f64::from(value)).clamp(f64::MIN, f64::MAX);
                    each!($type, add);
                }
                // All values are NaN.
                if min > max {
                    (min, max) = (<$type>::MAX, <$type>::MIN);
                }
                (min.to_le_bytes().to_vec(), max.to_le_bytes().to_vec(), sum.to_bits(), has_value)
            }};
        }
        macro_rules! each {
            ($type:ty, $add:ident) => {{
                let values = cells.values.as_chunks().0;
                match cells.validity.is_empty() {
                    true => values.iter().for_each(|value| $add(<$type>::from_le_bytes(*value))),
                    false => {
                        let valid = values.iter().zip(cells.validity).filter(|(_, valid)| **valid != 0);
                        valid.for_each(|(value, _)| $add(<$type>::from_le_bytes(*value)));
                    }
                }
            }};
        }
        let null_count = cells.validity.iter().filter(|valid| **valid == 0).count() as u64;
        if !self.has_ends {
            return TileSummary { null_count, ..TileSummary::default() };
        }
        let is_number = self.cell_size == self.data_type.size();
        #[expect(clippy::cast_sign_loss, reason = "bits of sums")]
        let (min, max, sum, has_value) = match self.data_type {
            DataType::Char | DataType::StringAscii => self.ends_of_texts(cells),
            _ if !is_number => self.ends_of_texts(cells),
            DataType::Int8 => integers!(i8, i64),
            DataType::Int16 => integers!(i16, i64),
            DataType::Int32 => integers!(i32, i64),
            DataType::Int64 => integers!(i64, i64),
            DataType::UInt8 | DataType::Bool => integers!(u8, u64),
            DataType::UInt16 => integers!(u16, u64),
            DataType::UInt32 => integers!(u32, u64),
            DataType::UInt64 => integers!(u64, u64),
            DataType::Float32 => floats!(f32),
            DataType::Float64 => floats!(f64),
            _ => integers!(i64, i64),
        };
        TileSummary { min, max, sum: if self.has_sum() { sum } else { 0 }, null_count, has_value }
    }

    fn ends_of_texts(&self, cells: &TileCells<'_>) -> (Vec<u8>, Vec<u8>, u64, bool) {
        let mut ends: Option<(&[u8], &[u8])> = None;
        let mut add = |cell: usize, text| {
            if cells.validity.get(cell) == Some(&0) {
                return;
            }
            ends = Some(match ends {
                None => (text, text),
                Some((min, max)) => (min.min(text), max.max(text)),
            });
        };
        match self.cell_size {
            0 => {
                let bounds = cells.offsets.iter().zip(cells.offsets.iter().skip(1).chain([&u64::MAX]));
                for (cell, (start, end)) in bounds.enumerate() {
                    let end = usize::try_from(*end).unwrap_or(usize::MAX).min(cells.values.len());
                    let start = usize::try_from(*start).unwrap_or(usize::MAX);
                    add(cell, cells.values.get(start..end).unwrap_or_default());
                }
            }
            size => cells.values.chunks_exact(size).enumerate().for_each(|(cell, text)| add(cell, text)),
        }
        match ends {
            Some((min, max)) => (min.to_vec(), max.to_vec(), 0, true),
            None => (vec![0; self.cell_size], vec![0; self.cell_size], 0, false),
        }
    }

    /// Adds the summary of more cells.
    pub(crate) fn add(&self, to: &mut TileSummary, more: &TileSummary) {
        to.null_count = to.null_count.saturating_add(more.null_count);
        if let Some(nothing) = self.no_sum {
            let sum = |bits| nothing.with_bits(bits);
            to.sum = sum(to.sum).and(sum(more.sum)).bits();
        }
        let is = |one: &[u8], other: &[u8], order| compare(self.data_type, one, other) == Some(order);
        if to.min.is_empty() && !to.has_value || more.has_value && is(&more.min, &to.min, Ordering::Less) {
            to.min.clone_from(&more.min);
        }
        if to.max.is_empty() && !to.has_value || more.has_value && is(&more.max, &to.max, Ordering::Greater) {
            to.max.clone_from(&more.max);
        }
        if more.has_value && !to.has_value {
            (to.min, to.max) = (more.min.clone(), more.max.clone());
        }
        to.has_value |= more.has_value;
    }
}

impl TileSummary {
    pub(crate) fn put(&self, e: &mut Encoder) {
        e.u64(self.sum);
        e.u64(self.null_count);
        e.u8(self.has_value.into());
        for end in [&self.min, &self.max] {
            e.u64(end.len() as u64);
            e.bytes(end);
        }
    }

    pub(crate) fn take(d: &mut Decoder<'_>) -> Result<TileSummary> {
        let (sum, null_count, has_value) = (d.u64()?, d.u64()?, d.u8()? != 0);
        let mut end = || -> Result<Vec<u8>> {
            let len = d.u64()?;
            let len = d.len_of(len)?;
            Ok(d.take(len)?.to_vec())
        };
        Ok(TileSummary { min: end()?, max: end()?, sum, null_count, has_value })
    }
}

/// How many values of floating point are compared at a time.
const LANES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn noting(data_type: DataType, cell_size: usize) -> Noting {
        Noting {
            data_type,
            cell_size,
            has_ends: true,
            no_sum: super::super::sum_of(data_type),
            has_null_count: true,
        }
    }

    fn of_floats(numbers: &[f64]) -> (f64, f64, f64) {
        let values: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let cells = TileCells { values: &values, ..TileCells::default() };
        let TileSummary { min, max, sum, .. } = noting(DataType::Float64, 8).summary(&cells);
        let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
        (number(&min), number(&max), f64::from_bits(sum))
    }

    #[test]
    fn ends_are_numbers_and_infinities_but_not_nan() {
        assert_eq!(of_floats(&[2.0, f64::NAN, -1.0]).0, -1.0);
        assert_eq!(of_floats(&[f64::NEG_INFINITY]), (f64::NEG_INFINITY, f64::NEG_INFINITY, f64::MIN));
        assert_eq!(of_floats(&[f64::INFINITY, 3.0]), (3.0, f64::INFINITY, f64::MAX));
        let (min, max, sum) = of_floats(&[f64::NAN]);
        assert_eq!((min, max, sum.is_nan()), (f64::MAX, f64::MIN, true));
    }

    proptest::proptest! {
        #[test]
        fn values_in_lanes_have_the_ends_of_values_one_by_one(picks in proptest::collection::vec(0..7_usize, 0..40)) {
            let numbers = [0.0_f32, -0.0, f32::NAN, 1.5, -2.5, f32::INFINITY, f32::MIN];
            let values: Vec<u8> = picks.iter().flat_map(|pick| numbers[*pick].to_le_bytes()).collect();
            let of = noting(DataType::Float32, 4);
            let lanes = of.summary(&TileCells { values: &values, ..TileCells::default() });
            let one_by_one = of.summary(&TileCells { values: &values, validity: &vec![1; picks.len()], ..TileCells::default() });
            proptest::prop_assert_eq!(lanes, one_by_one);
        }
    }

    #[test]
    fn nulls_are_counted_and_nothing_else() {
        let values: Vec<u8> = [5_i16, -7, 100].iter().flat_map(|number| number.to_le_bytes()).collect();
        let cells = TileCells { values: &values, validity: &[1, 0, 1], ..TileCells::default() };
        let of = noting(DataType::Int16, 2);
        let mut found = of.summary(&cells);
        let ends = |found: &TileSummary| (found.min.clone(), found.max.clone(), found.sum, found.null_count);
        assert_eq!(ends(&found), (5_i16.to_le_bytes().to_vec(), 100_i16.to_le_bytes().to_vec(), 105, 1));
        let nulls = of.summary(&TileCells { validity: &[0, 0, 0], ..cells });
        of.add(&mut found, &nulls);
        assert_eq!(ends(&found), (5_i16.to_le_bytes().to_vec(), 100_i16.to_le_bytes().to_vec(), 105, 4));
        let mut other = nulls.clone();
        of.add(&mut other, &found);
        assert_eq!((other.min, other.sum, other.null_count), (5_i16.to_le_bytes().to_vec(), 105, 7));
    }

    #[test]
    fn texts_have_ends_by_their_bytes() {
        let cells = TileCells { values: b"bcabb", offsets: &[0, 2, 3], validity: &[] };
        let found = noting(DataType::StringAscii, 0).summary(&cells);
        assert_eq!((found.min, found.max), (b"a".to_vec(), b"bc".to_vec()));
    }
}
