//! The values that stand for nulls among elements that cannot be null.

use crate::source::ArraySource;
use crate::source::engine::stream;
use hyperslab_cf::meaning::push_float;
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Result, valid};
use hyperslab_model::rows::push_zero;
use hyperslab_model::{Datatype, Float};

/// The element that replaces a null: NaN, NaT, zero or empty. `None` for elements that refer to objects.
///
/// # Errors
/// If there is no memory for it.
pub(crate) fn null_row(of: &Datatype) -> Result<Option<Vec<u8>>> {
    let mut row = Vec::new();
    match of.resolved() {
        Datatype::Float(float @ (Float::Single | Float::Double)) => push_float(float, f64::NAN, &mut row),
        Datatype::Datetime(_) => row.extend(i64::MIN.to_ne_bytes()),
        _ => {
            let mut heap = Heap::default();
            push_zero(of, &mut row, &mut heap)?;
            return Ok(heap.references.is_empty().then_some(row));
        }
    }
    Ok(Some(row))
}

/// An integer that no valid element of a nullable array has: the largest of an unsigned type or the smallest of a
/// signed one, which are the usual marks of missing numbers, or one near these. Reads the array.
///
/// # Errors
/// If the system fails to read it. Other errors are found again when the array is converted.
pub(crate) fn absent(array: &dyn ArraySource) -> Result<Option<Vec<u8>>> {
    let Datatype::Nullable(of) = array.datatype().resolved() else { return Ok(None) };
    let (Datatype::Int { signed, .. }, Some(size)) = (of.resolved(), of.row_size()) else { return Ok(None) };
    let (Some(mut candidates), Some(extents)) = (Candidates::of(*signed, size), array.extents()) else {
        return Ok(None);
    };
    if !array.is_unwritten()? {
        let read = stream(array, &Region::all(extents), &mut |_, values| {
            for row in values.rows.chunks_exact(size.saturating_add(1)) {
                if let Some((1.., value)) = row.split_first() {
                    candidates.see(value);
                }
            }
            Ok(())
        });
        if valid(read)?.is_none() {
            return Ok(None);
        }
    }
    Ok(candidates.absent())
}

/// The integers that may stand for a null: those at the ends of the range of their type.
struct Candidates {
    signed: bool,
    size: usize,
    /// The bits of the type.
    mask: u64,
    /// The bits of the first candidate. The others follow; the smallest number comes after the largest.
    first: u64,
    seen: [bool; 256],
    has_zero: bool,
}

/// The number of candidates: as many as there are one-byte integers.
const COUNT: u64 = 256;

impl Candidates {
    /// The candidates among integers of `size` bytes; `None` for sizes of more than 64 bits.
    fn of(signed: bool, size: usize) -> Option<Candidates> {
        let unused = 64_u32.checked_sub(u32::try_from(size).ok()?.checked_mul(8)?)?;
        let mask = u64::MAX.checked_shr(unused)?;
        let first = match signed {
            // The smallest number is in the middle.
            true => (mask >> 1).wrapping_add(1).wrapping_sub(COUNT / 2),
            false => mask.wrapping_sub(COUNT - 1),
        };
        Some(Candidates { signed, size, mask, first: first & mask, seen: [false; 256], has_zero: false })
    }

    fn see(&mut self, value: &[u8]) {
        let mut bytes = [0; 8];
        let own = match cfg!(target_endian = "little") {
            true => bytes.get_mut(..value.len()),
            false => bytes.len().checked_sub(value.len()).and_then(|start| bytes.get_mut(start..)),
        };
        if let Some(own) = own {
            own.copy_from_slice(value);
        }
        let number = u64::from_ne_bytes(bytes);
        self.has_zero |= number == 0;
        if self.size == bytes.len() {
            self.see_rounded(number);
        }
        let place = number.wrapping_sub(self.first) & self.mask;
        if let Some(seen) = usize::try_from(place).ok().and_then(|place| self.seen.get_mut(place)) {
            *seen = true;
        }
    }

    /// Readers represent integers with missing values as floating-point numbers, which are equal for all integers at an
    /// end of the 64-bit range.
    fn see_rounded(&mut self, number: u64) {
        let middle = self.seen.len() / 2;
        let (from_largest, from_smallest) = self.seen.split_at_mut(middle);
        let signed = i64::from_ne_bytes(number.to_ne_bytes());
        match self.signed {
            true if signed as f64 == i64::MAX as f64 => from_largest.fill(true),
            true if signed as f64 == i64::MIN as f64 => from_smallest.fill(true),
            false if number as f64 == u64::MAX as f64 => self.seen.fill(true),
            _ => {}
        }
    }

    /// The most usual candidate that was not seen: from the largest down for unsigned types; from the smallest up and
    /// the largest down, alternately, for signed types.
    fn absent(&self) -> Option<Vec<u8>> {
        let place = |step: u64| match (self.signed, step % 2) {
            (false, _) => COUNT - 1 - step,
            (true, 0) => COUNT / 2 + step / 2,
            (true, _) => COUNT / 2 - 1 - step / 2,
        };
        let is_absent =
            |place: &u64| usize::try_from(*place).is_ok_and(|place| self.seen.get(place) == Some(&false));
        let number = match (0..COUNT).map(place).find(is_absent) {
            Some(place) => self.first.wrapping_add(place) & self.mask,
            None if !self.has_zero => 0,
            None => return None,
        };
        let bytes = number.to_ne_bytes();
        let own = match cfg!(target_endian = "little") {
            true => bytes.get(..self.size),
            false => bytes.get(bytes.len().checked_sub(self.size)?..),
        };
        own.map(<[u8]>::to_vec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::TimeUnit;

    #[test]
    fn a_null_is_what_readers_take_for_missing() {
        let of = |datatype: &Datatype| null_row(datatype).unwrap().unwrap();
        let single = f32::from_ne_bytes(of(&Datatype::Float(Float::Single)).try_into().unwrap());
        assert!(single.is_nan());
        let time = Datatype::Datetime(TimeUnit { unit: "ms".into(), duration: false });
        assert_eq!(of(&time), i64::MIN.to_ne_bytes());
        assert_eq!(of(&Datatype::int(16, true)), [0, 0]);
        assert_eq!(null_row(&Datatype::ObjRef).unwrap(), None);
    }

    #[test]
    fn what_stands_for_a_null_is_at_an_end_of_the_range_and_absent() {
        fn next<const N: usize>(signed: bool, seen: &[[u8; N]]) -> [u8; N] {
            let mut candidates = Candidates::of(signed, N).unwrap();
            seen.iter().for_each(|value| candidates.see(value));
            candidates.absent().unwrap().try_into().unwrap()
        }
        let mut seen = Vec::new();
        for expected in [i16::MIN, i16::MAX, i16::MIN + 1, i16::MAX - 1] {
            assert_eq!(next(true, &seen), expected.to_ne_bytes());
            seen.push(expected.to_ne_bytes());
        }
        assert_eq!(next(true, &[0_i64.to_ne_bytes()]), i64::MIN.to_ne_bytes());
        assert_eq!(next(false, &[0_u64.to_ne_bytes()]), u64::MAX.to_ne_bytes());
        assert_eq!(next(false, &[u32::MAX.to_ne_bytes()]), (u32::MAX - 1).to_ne_bytes());
        // For one-byte types, all integers are candidates.
        for signed in [false, true] {
            let mut seen: Vec<[u8; 1]> = Vec::new();
            while seen.len() < 256 {
                let one = next(signed, &seen);
                assert!(!seen.contains(&one));
                seen.push(one);
            }
            let mut candidates = Candidates::of(signed, 1).unwrap();
            seen.iter().for_each(|value| candidates.see(value));
            assert_eq!(candidates.absent(), None);
        }
        // As floating-point numbers, the last 64-bit integers are all equal.
        assert_eq!(next(true, &[(i64::MIN + 300).to_ne_bytes()]), i64::MAX.to_ne_bytes());
        assert_eq!(next(false, &[(u64::MAX - 300).to_ne_bytes()]), [0; 8]);
        assert!(Candidates::of(false, 9).is_none());
    }
}
