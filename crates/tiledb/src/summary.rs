//! Summaries of the cells of a tile: the minimum and the maximum value, the sum, and the number of nulls.
//!
//! Spec: TileDB format_spec, fragment.md "Tile Mins Maxes", "Tile Sums", "Tile Null Counts", which do not state for
//! which attributes summaries are stored; this is what the library does

mod tile;

pub(crate) use tile::Noting;
pub use tile::{TileCells, TileSummary};

use crate::format::array_schema::Attribute;
use crate::format::data_type::{CellValNum, DataType};
use crate::read::compare::compare;
use crate::read::tile::Tile;
use std::cmp::Ordering;
use std::fmt;

/// The summary of the cells of a tile or a fragment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CellSummary {
    /// The minimum and the maximum value that is not null. `None` if all are null, or a value is NaN.
    pub(crate) ends: Option<(Vec<u8>, Vec<u8>)>,
    /// The sum of all values that are not null. `None` if a value is NaN.
    pub(crate) sum: Option<Sum>,
    /// The maximum difference that the order of addition makes to a sum of floating-point numbers.
    pub(crate) rounding: f64,
    /// The number of cells that are null.
    pub(crate) null_count: u64,
}

/// A sum. Integers saturate at the limits of their type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sum {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

/// Whether the minimum and the maximum value are stored and reliable.
///
/// TileDB also stores them for strings of variable size, but may write other bytes: version 2.30 keeps the location of
/// the string until its tile is filtered.
pub(crate) fn has_ends(attribute: &Attribute) -> bool {
    let is_text = matches!(attribute.data_type, DataType::Char | DataType::StringAscii);
    match attribute.cell_val_num {
        CellValNum::ONE => is_text || is_number(attribute.data_type),
        CellValNum::Fixed(_) => is_text,
        CellValNum::Var => false,
    }
}

/// Whether the number of null cells is stored and reliable. For cells of variable size, it may be 0.
pub(crate) fn has_null_count(attribute: &Attribute) -> bool {
    attribute.nullable && !attribute.cell_val_num.is_var()
}

/// The sum of no values, if sums are stored.
pub(crate) fn no_sum(attribute: &Attribute) -> Option<Sum> {
    (attribute.cell_val_num == CellValNum::ONE).then(|| sum_of(attribute.data_type)).flatten()
}

/// The sum of no values of a datatype, if it has sums.
fn sum_of(data_type: DataType) -> Option<Sum> {
    match data_type {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Some(Sum::Signed(0)),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Some(Sum::Unsigned(0)),
        DataType::Float32 | DataType::Float64 => Some(Sum::Float(0.0)),
        _ => None,
    }
}

/// The summary to be stored for cells of a tile.
pub(crate) fn of_cells(
    attribute: &Attribute,
    tile: &Tile,
    cells: impl Iterator<Item = usize>,
) -> CellSummary {
    let data_type = attribute.data_type;
    let (has_ends, mut sum) = (has_ends(attribute), no_sum(attribute));
    let mut null_count = 0_u64;
    let mut ends: Option<(&[u8], &[u8])> = None;
    let (mut is_number, mut size, mut count) = (true, 0.0_f64, 0.0_f64);
    for cell in cells {
        if tile.validity.get(cell) == Some(&0) {
            null_count = null_count.saturating_add(1);
            continue;
        }
        let Some(value) = tile.cell(cell) else { continue };
        if !has_ends {
            continue;
        }
        is_number &= compare(data_type, value, value).is_some();
        ends = Some(match ends {
            None => (value, value),
            Some((min, max)) => (
                if compare(data_type, value, min) == Some(Ordering::Less) { value } else { min },
                if compare(data_type, value, max) == Some(Ordering::Greater) { value } else { max },
            ),
        });
        sum = sum.map(|sum| sum.and_value(data_type, value));
        if let Some(Sum::Float(number)) = sum.map(|sum| sum.with_bits(0).and_value(data_type, value)) {
            (size, count) = (size + number.abs(), count + 1.0);
        }
    }
    let ends = ends.filter(|_| is_number).map(|(min, max)| (min.to_vec(), max.to_vec()));
    // The error of each addition is half of the last digit of a sum, which does not exceed the sum of all magnitudes.
    let rounding = count * f64::EPSILON * size;
    CellSummary { ends, sum: sum.filter(|_| is_number), rounding, null_count }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sum::Signed(sum) => sum.fmt(f),
            Sum::Unsigned(sum) => sum.fmt(f),
            Sum::Float(sum) => sum.fmt(f),
        }
    }
}

impl Sum {
    /// The sum with these bits, of the same kind.
    pub(crate) fn with_bits(self, bits: u64) -> Sum {
        match self {
            Sum::Signed(_) => Sum::Signed(bits.cast_signed()),
            Sum::Unsigned(_) => Sum::Unsigned(bits),
            Sum::Float(_) => Sum::Float(f64::from_bits(bits)),
        }
    }

    /// The bits in their stored form.
    pub(crate) fn bits(self) -> u64 {
        match self {
            Sum::Signed(sum) => sum.cast_unsigned(),
            Sum::Unsigned(sum) => sum,
            Sum::Float(sum) => sum.to_bits(),
        }
    }

    pub(crate) fn and(self, other: Sum) -> Sum {
        match (self, other) {
            (Sum::Signed(a), Sum::Signed(b)) => Sum::Signed(a.saturating_add(b)),
            (Sum::Unsigned(a), Sum::Unsigned(b)) => Sum::Unsigned(a.saturating_add(b)),
            (Sum::Float(a), Sum::Float(b)) => Sum::Float((a + b).clamp(f64::MIN, f64::MAX)),
            (sum, _) => sum,
        }
    }

    /// Whether two sums are equal, apart from the effect of the order of addition: for floating-point numbers, at most
    /// `rounding`.
    pub(crate) fn is_near(self, other: Sum, rounding: f64) -> bool {
        match (self, other) {
            (Sum::Float(a), Sum::Float(b)) => a == b || (a - b).abs() <= rounding,
            // If integers reach a limit on the way, the result depends on the order of addition.
            (a, b) => a == b || a.is_limit() || b.is_limit(),
        }
    }

    fn is_limit(self) -> bool {
        matches!(self, Sum::Signed(i64::MIN | i64::MAX) | Sum::Unsigned(u64::MAX))
    }

    fn and_value(self, data_type: DataType, value: &[u8]) -> Sum {
        let bytes = |size: usize| {
            let mut bytes = [0; 8];
            if let (Some(to), Some(from)) = (bytes.get_mut(..size), value.get(..size)) {
                to.copy_from_slice(from);
            }
            bytes
        };
        let unsigned = u64::from_le_bytes(bytes(data_type.size().min(8)));
        let other = match data_type {
            DataType::Int8 => Sum::Signed(i64::from(bytes(1)[0].cast_signed())),
            DataType::Int16 => {
                let [a, b, ..] = bytes(2);
                Sum::Signed(i64::from(i16::from_le_bytes([a, b])))
            }
            DataType::Int32 => {
                let [a, b, c, d, ..] = bytes(4);
                Sum::Signed(i64::from(i32::from_le_bytes([a, b, c, d])))
            }
            DataType::Int64 => Sum::Signed(unsigned.cast_signed()),
            DataType::Float32 => {
                let [a, b, c, d, ..] = bytes(4);
                Sum::Float(f64::from(f32::from_le_bytes([a, b, c, d])))
            }
            DataType::Float64 => Sum::Float(f64::from_bits(unsigned)),
            _ => Sum::Unsigned(unsigned),
        };
        self.and(other)
    }
}

fn is_number(data_type: DataType) -> bool {
    match data_type {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => true,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => true,
        DataType::Float32 | DataType::Float64 => true,
        other => other.is_datetime() || other.is_time(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_integers_stop_at_the_limits() {
        assert_eq!(Sum::Signed(i64::MAX).and(Sum::Signed(1)), Sum::Signed(i64::MAX));
        assert_eq!(Sum::Unsigned(u64::MAX).and(Sum::Unsigned(1)), Sum::Unsigned(u64::MAX));
        assert_eq!(Sum::Signed(-3).and_value(DataType::Int16, &(-2_i16).to_le_bytes()), Sum::Signed(-5));
        assert_eq!(Sum::Float(0.5).and_value(DataType::Float32, &1.5_f32.to_le_bytes()), Sum::Float(2.0));
    }
}
