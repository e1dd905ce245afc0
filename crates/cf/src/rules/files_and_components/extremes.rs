//! The smallest and the largest of many numbers of one type, computed in SIMD lanes.

use crate::dataset::Number;
use crate::number::single;

/// Which numbers are considered: those from `low` to `high`, except some ranges. Both ends of a range are inclusive.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Valid<T> {
    pub(super) low: T,
    pub(super) high: T,
    pub(super) without: Vec<(T, T)>,
}

impl<T: Copy> Valid<T> {
    /// The same for another type; `None` if that type cannot represent one of the ends.
    pub(super) fn map<U>(&self, to: impl Fn(T) -> Option<U>) -> Option<Valid<U>> {
        let without = self.without.iter().map(|(low, high)| Some((to(*low)?, to(*high)?)));
        Some(Valid { low: to(self.low)?, high: to(self.high)?, without: without.collect::<Option<_>>()? })
    }
}

/// A number that can be compared in lanes.
pub(super) trait Lane: Copy + PartialOrd {
    /// No number is smaller.
    const LEAST: Self;
    /// No number is greater.
    const GREATEST: Self;
}

macro_rules! lanes {
    ($($of:ident: $least:ident, $greatest:ident;)*) => {
        $(impl Lane for $of {
            const LEAST: $of = $of::$least;
            const GREATEST: $of = $of::$greatest;
        })*
    };
}

lanes! {
    i8: MIN, MAX;
    i16: MIN, MAX;
    i32: MIN, MAX;
    i64: MIN, MAX;
    f32: NEG_INFINITY, INFINITY;
    f64: NEG_INFINITY, INFINITY;
}

/// The smallest and the largest valid number in rows; `None` if none is valid. `LANES` numbers are processed in
/// parallel, in loops without branches.
pub(super) fn extremes<const N: usize, const LANES: usize, T: Lane>(
    rows: &[u8],
    of: impl Fn([u8; N]) -> T,
    valid: &Valid<T>,
) -> Option<(T, T)> {
    let (mut least, mut greatest) = ([T::GREATEST; LANES], [T::LEAST; LANES]);
    let mut values = [T::LEAST; LANES];
    let blocks = rows.chunks_exact(N.saturating_mul(LANES));
    let rest = blocks.remainder();
    for block in blocks {
        for (value, row) in values.iter_mut().zip(block.chunks_exact(N)) {
            let Ok(bytes) = row.try_into() else { continue };
            *value = of(bytes);
        }
        take(&values, valid, &mut least, &mut greatest);
    }
    for row in rest.chunks_exact(N) {
        let Ok(bytes) = row.try_into() else { continue };
        take(&[of(bytes); LANES], valid, &mut least, &mut greatest);
    }
    let least = least.into_iter().fold(T::GREATEST, |a, b| if b < a { b } else { a });
    let greatest = greatest.into_iter().fold(T::LEAST, |a, b| if b > a { b } else { a });
    // If no number is valid, both still have their initial values.
    (least <= greatest).then_some((least, greatest))
}

/// Takes a number into each lane.
#[inline(always)]
fn take<const LANES: usize, T: Lane>(
    values: &[T; LANES],
    valid: &Valid<T>,
    least: &mut [T; LANES],
    greatest: &mut [T; LANES],
) {
    // A number that is not valid is replaced by one that changes nothing. NaN is not within any range.
    let is_within = |value: T, low: T, high: T| (value >= low) & (value <= high);
    let (mut lows, mut highs) = (*values, *values);
    for (low, high) in lows.iter_mut().zip(&mut highs) {
        let is_valid = is_within(*low, valid.low, valid.high);
        *low = if is_valid { *low } else { T::GREATEST };
        *high = if is_valid { *high } else { T::LEAST };
    }
    for (from, to) in &valid.without {
        for ((value, low), high) in values.iter().zip(&mut lows).zip(&mut highs) {
            let is_out = is_within(*value, *from, *to);
            *low = if is_out { T::GREATEST } else { *low };
            *high = if is_out { T::LEAST } else { *high };
        }
    }
    for (least, value) in least.iter_mut().zip(lows) {
        *least = if value < *least { value } else { *least };
    }
    for (greatest, value) in greatest.iter_mut().zip(highs) {
        *greatest = if value > *greatest { value } else { *greatest };
    }
}

/// The integers to consider, of a type of up to 64 bits.
pub(super) struct Integers {
    bits: u16,
    is_signed: bool,
    valid: Valid<i128>,
}

impl Integers {
    /// The integers within limits, which are compared as 64-bit floating-point numbers, except those equal to any of
    /// the given numbers. `None` for a type that has no lanes.
    pub(super) fn new(
        (bits, is_signed): (u16, bool),
        (low, high): (Option<f64>, Option<f64>),
        missing: &[Number],
    ) -> Option<Integers> {
        let type_range = match (bits, is_signed) {
            (8 | 16 | 32 | 64, true) => {
                let top = 1_i128.checked_shl(u32::from(bits) - 1)?;
                (-top, top - 1)
            }
            (8 | 16 | 32 | 64, false) => (0, 1_i128.checked_shl(u32::from(bits))? - 1),
            _ => return None,
        };
        // Rounding preserves the order, so a comparison that holds for some integer holds for all larger ones.
        let from = |holds: &dyn Fn(f64) -> bool| first_of(type_range, holds);
        let mut valid = Valid {
            low: low.map_or(type_range.0, |low| from(&|value| value >= low)),
            high: high.map_or(type_range.1, |high| from(&|value| value > high || high.is_nan()) - 1),
            without: Vec::new(),
        };
        let missing = missing.iter().filter_map(|missing| match *missing {
            Number::Int(value) => Some((value, value)),
            Number::Float(value) if value.is_nan() => None,
            // Equality in 32 bits is enough.
            Number::Float(value) => {
                let value = single(value);
                Some((from(&|other| single(other) >= value), from(&|other| single(other) > value) - 1))
            }
        });
        valid.leave_out(missing.filter(|(low, high)| low <= high).collect());
        Some(Integers { bits, is_signed, valid })
    }

    /// The smallest and the largest of the considered numbers in rows; `None` if there are none.
    pub(super) fn extremes(&self, rows: &[u8]) -> Option<(Number, Number)> {
        macro_rules! of {
            ($of:ident, $size:literal, $lanes:literal) => {{
                // Processors compare signed integers best. Unsigned ones have the same order after inverting the first
                // bit, which subtracts half of their range.
                let turn = if self.is_signed { 0 } else { $of::MIN };
                let less = i128::from(turn);
                // Ends that the type cannot represent mean a range without numbers.
                let valid = self.valid.map(|value| $of::try_from(value + less).ok())?;
                let of = |bytes| $of::from_ne_bytes(bytes) ^ turn;
                let (least, greatest) = extremes::<$size, $lanes, $of>(rows, of, &valid)?;
                let number = |value| Number::Int(i128::from(value) - less);
                Some((number(least), number(greatest)))
            }};
        }
        // With more lanes, the loops over small integers are no longer vectorised.
        match self.bits {
            8 => of!(i8, 1, 16),
            16 => of!(i16, 2, 16),
            32 => of!(i32, 4, 16),
            64 => of!(i64, 8, 8),
            _ => None,
        }
    }
}

impl Valid<i128> {
    /// Excludes ranges. A range at an end only moves that end: a mark of missing values is often the smallest or
    /// largest number.
    fn leave_out(&mut self, mut ranges: Vec<(i128, i128)>) {
        ranges.sort_unstable();
        for (low, high) in ranges {
            if high < self.low || low > self.high {
                continue;
            }
            if low <= self.low {
                self.low = high + 1;
                continue;
            }
            match self.without.last_mut() {
                Some((_, last)) if low <= *last + 1 => *last = high.max(*last),
                _ => self.without.push((low, high)),
            }
        }
        while let Some((low, high)) = self.without.last().copied()
            && high >= self.high
        {
            self.high = low - 1;
            self.without.pop();
        }
    }
}

/// The first integer of a range for which a condition holds that holds for all larger ones; the one after the range if
/// there is none.
fn first_of((mut low, high): (i128, i128), holds: &dyn Fn(f64) -> bool) -> i128 {
    let mut end = high + 1;
    while low < end {
        let middle = low + (end - low) / 2;
        if holds(Number::Int(middle).as_f64()) {
            end = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
