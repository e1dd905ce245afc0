//! Computes the number, extremes and sum of elements with all threads.
//!
//! Sums of integers are exact. Sums of floating-point numbers keep track of the rounding error of each addition, so the
//! result does not depend on the order or the number of threads.

use crate::pool::Pool;
use hyperslab_cf::meaning::Missing;
use hyperslab_core::Result;
use hyperslab_model::{Datatype, Element, Elements, Float, Values};
use std::sync::{Mutex, PoisonError};

/// The result for a set of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Fold {
    /// The number of elements that are not missing.
    pub(super) present: u64,
    /// The number of missing elements.
    pub(super) missing: u64,
    /// The minimum and maximum of the present elements; `None` if there are none or they have no order.
    pub(super) extremes: Option<(Number, Number)>,
    pub(super) sum: Sum,
}

/// An element that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

/// A sum of integers, and a sum of floating-point numbers with its rounding errors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sum {
    ints: i128,
    float: f64,
    rounded: f64,
    /// The sum of the same numbers divided by [`SCALE`], in case the sum itself overflows.
    scaled: f64,
}

impl Number {
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}

impl Sum {
    /// The mean of `count` numbers; `None` if there are no numbers, or infinities of both signs.
    pub(super) fn mean(&self, count: u64) -> Option<f64> {
        let divisor = i128::from(count);
        let whole = self.ints.checked_div(divisor)?;
        // The remainder of the division is less than the count.
        let rest = (self.ints - whole * divisor) as f64 / count as f64;
        let sum = self.float + self.rounded;
        let left = self.rounded - (sum - self.float);
        let quotient = sum / count as f64;
        let remainder = (-quotient).mul_add(count as f64, sum);
        let mean = (whole as f64 + rest) + (quotient + (remainder + left) / count as f64);
        let scaled = || self.scaled / count as f64 * SCALE + (whole as f64 + rest);
        Some(if mean.is_finite() { mean } else { scaled() }).filter(|mean| !mean.is_nan())
    }

    fn add_float(&mut self, value: f64) {
        let sum = self.float + value;
        let part = sum - self.float;
        self.rounded += (self.float - (sum - part)) + (value - part);
        self.float = sum;
        self.scaled += value / SCALE;
    }

    fn add(&mut self, other: &Sum) {
        self.ints = self.ints.saturating_add(other.ints);
        let scaled = self.scaled + other.scaled;
        self.add_float(other.float);
        self.scaled = scaled;
        self.rounded += other.rounded;
    }
}

impl Fold {
    /// Adds all elements of `values`, with as many threads as are useful.
    pub(super) fn take(
        &mut self,
        pool: &Pool,
        datatype: &Datatype,
        values: &Values,
        missing: &Missing,
    ) -> Result<()> {
        let row = datatype.row_size().unwrap_or(0).max(1);
        let part = (PART / row).max(1).saturating_mul(row);
        if values.rows.len() <= part || datatype.has_slots() {
            self.add(&fold(datatype, Elements::new(datatype, values), values, missing));
            return Ok(());
        }
        let parts: Vec<_> = (0..values.rows.len().div_ceil(part)).collect();
        let folded: Mutex<Vec<(usize, Fold)>> = Mutex::default();
        pool.each(parts, 0, |number, _| {
            let (begin, end) = (number * part, values.rows.len().min((number + 1) * part));
            let own = Values { rows: values.rows.slice(begin..end), ..Values::default() };
            let fold = fold(datatype, Elements::new(datatype, &own), &own, missing);
            folded.lock().unwrap_or_else(PoisonError::into_inner).push((number, fold));
            Ok(())
        })?;
        let mut folded = folded.into_inner().unwrap_or_else(PoisonError::into_inner);
        folded.sort_unstable_by_key(|(number, _)| *number);
        folded.iter().for_each(|(_, fold)| self.add(fold));
        Ok(())
    }

    fn add(&mut self, other: &Fold) {
        self.present = self.present.saturating_add(other.present);
        self.missing = self.missing.saturating_add(other.missing);
        self.sum.add(&other.sum);
        self.extremes = match (self.extremes, other.extremes) {
            (Some((min, max)), Some((low, high))) => {
                Some((if low < min { low } else { min }, if high > max { high } else { max }))
            }
            (one, other) => one.or(other),
        };
    }

    fn element(&mut self, number: Number) {
        match number {
            Number::Int(value) => self.sum.ints = self.sum.ints.saturating_add(value),
            Number::Float(value) => self.sum.add_float(value),
        }
        let (min, max) = self.extremes.unwrap_or((number, number));
        let min = if number < min { number } else { min };
        self.extremes = Some((min, if number > max { number } else { max }));
    }
}

/// Rows of the usual number types are processed directly, others element by element.
fn fold(datatype: &Datatype, elements: Elements<'_>, values: &Values, missing: &Missing) -> Fold {
    let rows = &values.rows;
    match datatype.resolved() {
        Datatype::Float(Float::Single) => floats(rows, |row| f64::from(f32::from_ne_bytes(row)), missing),
        Datatype::Float(Float::Double) => floats(rows, f64::from_ne_bytes, missing),
        Datatype::Int { bits: 8, signed: true } => ints(rows, i8::from_ne_bytes, missing),
        Datatype::Int { bits: 8, signed: false } => ints(rows, u8::from_ne_bytes, missing),
        Datatype::Int { bits: 16, signed: true } => ints(rows, i16::from_ne_bytes, missing),
        Datatype::Int { bits: 16, signed: false } => ints(rows, u16::from_ne_bytes, missing),
        Datatype::Int { bits: 32, signed: true } => ints(rows, i32::from_ne_bytes, missing),
        Datatype::Int { bits: 32, signed: false } => ints(rows, u32::from_ne_bytes, missing),
        Datatype::Int { bits: 64, signed: true } => ints(rows, i64::from_ne_bytes, missing),
        Datatype::Int { bits: 64, signed: false } => ints(rows, u64::from_ne_bytes, missing),
        _ => each_element(elements, missing),
    }
}

fn each_element(elements: Elements<'_>, missing: &Missing) -> Fold {
    let mut fold = Fold::default();
    for element in elements {
        let element = match (element.get(), element.datatype().resolved()) {
            (Element::RawFloat(stored), Datatype::Float(float)) => match float.nearest(stored) {
                Some(value) => Element::Float(value),
                None => Element::RawFloat(stored),
            },
            (element, _) => element,
        };
        if missing.is_missing(&element) {
            fold.missing += 1;
            continue;
        }
        fold.present += 1;
        match element {
            Element::Int(value) => fold.element(Number::Int(value)),
            Element::Bool(value) => fold.element(Number::Int(value.into())),
            Element::Float(value) => fold.element(Number::Float(value)),
            _ => {}
        }
    }
    fold
}

/// Several partial sums hide the latency of additions.
fn floats<const N: usize>(rows: &[u8], read: fn([u8; N]) -> f64, missing: &Missing) -> Fold {
    let (low, high) = missing.float_range();
    // NaN counts as missing, since all comparisons with it are false.
    let is_there = |value: f64| (value >= low) & (value <= high);
    match missing.floats() {
        [] => lanes(rows, read, is_there),
        [one] => lanes(rows, read, |value| is_there(value) & (value != *one)),
        [one, two] => lanes(rows, read, |value| is_there(value) & (value != *one) & (value != *two)),
        many => lanes(rows, read, |value| is_there(value) && !many.contains(&value)),
    }
}

fn lanes<const N: usize>(rows: &[u8], read: fn([u8; N]) -> f64, is_there: impl Fn(f64) -> bool) -> Fold {
    let mut sums = [(0.0_f64, 0.0_f64); LANES];
    let mut min = [f64::INFINITY; LANES];
    let mut max = [f64::NEG_INFINITY; LANES];
    let mut counts = [0_u64; LANES];
    let (rows, _) = rows.as_chunks::<N>();
    for group in rows.chunks(LANES) {
        let lanes = sums.iter_mut().zip(&mut min).zip(&mut max).zip(&mut counts);
        for (row, (((sum, min), max), count)) in group.iter().zip(lanes) {
            let value = read(*row);
            let there = is_there(value);
            *count += u64::from(there);
            *min = if there & (value < *min) { value } else { *min };
            *max = if there & (value > *max) { value } else { *max };
            let value = if there { value } else { 0.0 };
            let next = sum.0 + value;
            let part = next - sum.0;
            sum.1 += (sum.0 - (next - part)) + (value - part);
            sum.0 = next;
        }
    }
    let present: u64 = counts.iter().sum();
    let mut fold = Fold { present, missing: rows.len() as u64 - present, ..Fold::default() };
    for (float, rounded) in sums {
        fold.sum.add(&Sum { ints: 0, float, rounded, scaled: float / SCALE });
    }
    // In the rare case of an overflow, the numbers are added again.
    if !fold.sum.float.is_finite() {
        let there = rows.iter().map(|row| read(*row)).filter(|value| is_there(*value));
        fold.sum.scaled = there.map(|value| value / SCALE).sum();
    }
    if present > 0 {
        let min = min.into_iter().fold(f64::INFINITY, f64::min);
        let max = max.into_iter().fold(f64::NEG_INFINITY, f64::max);
        // Among zeros, the maximum is positive zero, in any order.
        let max = max + 0.0;
        fold.extremes = Some((Number::Float(min), Number::Float(max)));
    }
    fold
}

fn ints<const N: usize, T>(rows: &[u8], read: fn([u8; N]) -> T, missing: &Missing) -> Fold
where
    T: Copy + Ord + Into<i128> + TryFrom<i128>,
{
    // A fill value that the datatype cannot represent equals no element.
    let fills: Vec<T> = missing.ints().iter().filter_map(|fill| T::try_from(*fill).ok()).collect();
    let (low, high) = missing.int_range();
    let bounded = (low, high) != (i128::MIN, i128::MAX);
    match (fills.as_slice(), bounded) {
        ([], false) => plain_ints(rows, read, |_| true),
        ([one], false) => plain_ints(rows, read, |value| value != *one),
        (many, _) => {
            plain_ints(rows, read, |value| !many.contains(&value) && (low..=high).contains(&value.into()))
        }
    }
}

fn plain_ints<const N: usize, T: Copy + Ord + Into<i128>>(
    rows: &[u8],
    read: fn([u8; N]) -> T,
    is_there: impl Fn(T) -> bool,
) -> Fold {
    let (rows, _) = rows.as_chunks::<N>();
    let (mut present, mut sum, mut extremes) = (0_u64, 0_i128, None::<(T, T)>);
    for row in rows {
        let value = read(*row);
        if is_there(value) {
            present += 1;
            sum += value.into();
            let (min, max) = extremes.unwrap_or((value, value));
            extremes = Some((min.min(value), max.max(value)));
        }
    }
    Fold {
        present,
        missing: rows.len() as u64 - present,
        extremes: extremes.map(|(min, max)| (Number::Int(min.into()), Number::Int(max.into()))),
        sum: Sum { ints: sum, ..Sum::default() },
    }
}

/// The number of bytes of rows that one thread processes at a time.
const PART: usize = 1 << 20;
const LANES: usize = 8;
/// Sums of numbers divided by 2^64 do not overflow for any number of elements that a file can have.
const SCALE: f64 = 18_446_744_073_709_551_616.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn single(numbers: &[f32]) -> Values {
        let rows: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        Values { rows: rows.into(), ..Values::default() }
    }

    fn folded(values: &Values, datatype: &Datatype, missing: &Missing, threads: usize) -> Fold {
        let mut fold = Fold::default();
        fold.take(&Pool::new(threads, Pool::MEMORY), datatype, values, missing).unwrap();
        fold
    }

    #[test]
    fn sums_are_more_precise_than_plain_additions() {
        let double = Datatype::Float(Float::Double);
        let mut numbers = vec![1e16, 1.0, -1e16, 1.0];
        numbers.extend(std::iter::repeat_n(0.1, 1_000_000));
        let rows: Vec<u8> = numbers.iter().flat_map(|number: &f64| number.to_ne_bytes()).collect();
        let fold =
            folded(&Values { rows: rows.into(), ..Values::default() }, &double, &Missing::default(), 2);
        // The result of Python's math.fsum; plain addition gives 100001.
        assert!((fold.sum.mean(1).unwrap() - 100_002.0).abs() < 1e-7, "{:?}", fold.sum);
    }

    #[test]
    fn nan_and_fill_values_are_missing() {
        let values = single(&[1.5, f32::NAN, -999.0, 3.5, f32::INFINITY]);
        let mut missing = Missing::default();
        missing.add_float(-999.0);
        let fold = folded(&values, &Datatype::Float(Float::Single), &missing, 1);
        assert_eq!((fold.present, fold.missing), (3, 2));
        assert_eq!(fold.extremes, Some((Number::Float(1.5), Number::Float(f64::INFINITY))));
        assert_eq!(fold.sum.mean(fold.present), Some(f64::INFINITY));
    }

    #[test]
    fn means_are_finite_if_the_sum_overflows() {
        let double = Datatype::Float(Float::Double);
        let of = |numbers: &[f64]| {
            let rows: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
            let fold =
                folded(&Values { rows: rows.into(), ..Values::default() }, &double, &Missing::default(), 2);
            (fold.sum.mean(fold.present), fold.extremes)
        };
        assert_eq!(of(&[1.5e308, 1.5e308]).0, Some(1.5e308));
        assert_eq!(of(&vec![1.5e308; 300_000]).0.map(|mean| (mean / 1.5e308 * 1e9).round()), Some(1e9));
        assert_eq!(of(&[f64::INFINITY, 1.0]).0, Some(f64::INFINITY));
        assert_eq!(of(&[f64::NEG_INFINITY, 1.0]).0, Some(f64::NEG_INFINITY));
        assert_eq!(of(&[f64::NEG_INFINITY, f64::INFINITY]).0, None);
        let zeros = of(&[-0.0, 0.0]).1.map(|(_, max)| max.to_f64().is_sign_negative());
        assert_eq!(zeros, Some(false));
    }

    #[test]
    fn means_of_large_integers_are_exact() {
        let rows: Vec<u8> = [u64::MAX, u64::MAX, u64::MAX - 3].iter().flat_map(|n| n.to_ne_bytes()).collect();
        let values = Values { rows: rows.into(), ..Values::default() };
        let fold = folded(&values, &Datatype::int(64, false), &Missing::default(), 1);
        assert_eq!(fold.sum.mean(3), Some((u64::MAX - 1) as f64));
        assert_eq!(fold.extremes.unwrap().0, Number::Int((u64::MAX - 3).into()));
    }

    #[test]
    fn results_do_not_depend_on_threads_or_order() {
        let mut state = 7_u32;
        let mut numbers: Vec<f32> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(state & 0x7fff_ffff).min(1e30) - 1e3
        })
        .take(300_000)
        .collect();
        let datatype = Datatype::Float(Float::Single);
        let one = folded(&single(&numbers), &datatype, &Missing::default(), 1);
        assert_eq!(one, folded(&single(&numbers), &datatype, &Missing::default(), 3));
        numbers.reverse();
        let reversed = folded(&single(&numbers), &datatype, &Missing::default(), 2);
        assert_eq!((one.present, one.extremes), (reversed.present, reversed.extremes));
        assert_eq!(one.sum.mean(one.present), reversed.sum.mean(reversed.present));
    }
}
