//! Where a region lies in an array that is stored in one piece.

use super::{Region, element_count};
use crate::{Error, Result};
use std::ops::Range;

/// The ranges of elements of an array of `shape`, stored row-major, that make up a region; each as long as it
/// can be, in the region's row-major order.
///
/// # Errors
/// As [`Region::check`], and [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the array
/// has more than 2^64 elements.
///
/// ```
/// use hyperslab_core::nd::{Region, runs};
///
/// let region = Region::new(vec![1, 0, 2], vec![2, 4, 5]);
/// let runs: Vec<_> = runs(&region, &[9, 4, 7])?.take(2).collect();
/// assert_eq!(runs, [30..35, 37..42]);
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
pub fn runs(region: &Region, shape: &[u64]) -> Result<Runs> {
    region.check(shape)?;
    let mut runs = Runs { dims: Vec::new(), next: None, len: 1 };
    if region.is_empty() {
        return Ok(runs);
    }
    if element_count(shape).is_none() {
        return Err(Error::invalid("an array of more than 2^64 elements"));
    }
    // Every index is below its size and their product is counted: nothing below can overflow.
    let (mut first, mut stride) = (0, 1);
    let sizes = region.start.iter().zip(&region.count).zip(&region.step).zip(shape);
    for (((start, count), step), size) in sizes.rev() {
        first += start * stride;
        if *count > 1 {
            runs.add(*count, step * stride);
        }
        stride *= size;
    }
    runs.dims.reverse();
    runs.next = Some(first);
    Ok(runs)
}

/// What [`runs`] gives.
#[derive(Clone, Debug)]
pub struct Runs {
    dims: Vec<Dim>,
    next: Option<u64>,
    len: u64,
}

#[derive(Clone, Debug)]
struct Dim {
    count: u64,
    stride: u64,
    at: u64,
}

impl Runs {
    /// Adds the next outer dimension, at first in reverse order.
    fn add(&mut self, count: u64, stride: u64) {
        match self.dims.last_mut() {
            None if stride == self.len => self.len *= count,
            Some(inner) if stride == inner.count * inner.stride => inner.count *= count,
            _ => self.dims.push(Dim { count, stride, at: 0 }),
        }
    }
}

impl Iterator for Runs {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        let first = self.next.take()?;
        let mut next = first;
        for dim in self.dims.iter_mut().rev() {
            dim.at += 1;
            if dim.at < dim.count {
                self.next = Some(next + dim.stride);
                break;
            }
            next -= (dim.count - 1) * dim.stride;
            dim.at = 0;
        }
        Some(first..first + self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::super::strategies::{elements_of, offset_of, shape_and_region};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whole_arrays_are_one_run() {
        for shape in [&[][..], &[7], &[2, 1, 5], &[1, 1, 1]] {
            let whole = 0..element_count(shape).unwrap();
            assert!(runs(&Region::all(shape), shape).unwrap().eq([whole]));
        }
        assert_eq!(runs(&Region::all(&[0, u64::MAX, 3]), &[0, u64::MAX, 3]).unwrap().count(), 0);
    }

    #[test]
    fn arrays_beyond_counting_are_refused() {
        let shape = [1 << 40, 1 << 40];
        assert!(runs(&Region::new(vec![0, 0], vec![1, 1]), &shape).is_err());
    }

    proptest! {
        #[test]
        fn runs_are_the_region_in_order((shape, region) in shape_and_region()) {
            let found: Vec<u64> = runs(&region, &shape).unwrap().flatten().collect();
            let want: Vec<u64> = elements_of(&region).iter().map(|e| offset_of(e, &shape)).collect();
            prop_assert_eq!(found, want);
        }
    }
}
