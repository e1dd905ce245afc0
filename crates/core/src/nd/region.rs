//! Boxes of elements, with or without gaps.

use crate::{Error, ErrorKind, Result};
use std::ops::{AddAssign, Range};

/// A box of elements, possibly with steps: along dimension `i`, the indexes `start[i] + k * step[i]` for `k` in
/// `0..count[i]`.
///
/// ```
/// use hyperslab_core::nd::Region;
///
/// let region = Region { start: vec![0, 4], count: vec![2, 3], step: vec![1, 5] };
/// assert_eq!(region.len(), Some(6));
/// region.check(&[2, 15])?;
/// assert!(region.check(&[2, 14]).is_err());
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first index along each dimension.
    pub start: Vec<u64>,
    /// The number of indexes along each dimension.
    pub count: Vec<u64>,
    /// The distance between neighbouring indexes along each dimension. 1 for a box without gaps.
    pub step: Vec<u64>,
}

/// The number of elements of an array. `None` if it does not fit in a `u64`. An array without dimensions has one
/// element.
pub fn element_count(shape: &[u64]) -> Option<u64> {
    // An extent of 0 makes the array empty, however large the other extents are.
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1, |product: u64, size| product.checked_mul(*size))
}

/// The size of the elements of an array in bytes, with `each` bytes per element.
///
/// # Errors
/// [`ErrorKind::LimitExceeded`] if it exceeds the address space.
pub fn element_bytes(shape: &[u64], each: usize) -> Result<usize> {
    let bytes = element_count(shape).and_then(|count| usize::try_from(count).ok()?.checked_mul(each));
    bytes.ok_or_else(|| Error::new(ErrorKind::LimitExceeded, "more elements than memory holds"))
}

/// Moves to the next index of an array of shape `counts`, in row-major order. After the last index it returns false
/// and `at` is 0 again. `at` can have the outer dimensions only.
///
/// ```
/// use hyperslab_core::nd::advance;
///
/// let mut at = [0_u64, 1];
/// assert!(advance(&mut at, &[2, 2]) && at == [1, 0]);
/// assert!(advance(&mut at, &[2, 2]) && at == [1, 1]);
/// assert!(!advance(&mut at, &[2, 2]) && at == [0, 0]);
/// ```
pub fn advance<T: Copy + PartialOrd + AddAssign + From<u8>>(at: &mut [T], counts: &[T]) -> bool {
    for (at, count) in at.iter_mut().zip(counts).rev() {
        *at += T::from(1);
        if *at < *count {
            return true;
        }
        *at = T::from(0);
    }
    false
}

impl Region {
    /// A box without gaps.
    ///
    /// ```
    /// use hyperslab_core::nd::Region;
    /// assert_eq!(Region::new(vec![2], vec![3]), Region { start: vec![2], count: vec![3], step: vec![1] });
    /// ```
    pub fn new(start: Vec<u64>, count: Vec<u64>) -> Self {
        let step = vec![1; count.len()];
        Region { start, count, step }
    }

    /// The region of all elements of an array.
    pub fn all(shape: &[u64]) -> Self {
        Region::new(vec![0; shape.len()], shape.to_vec())
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.count.len()
    }

    /// The number of elements. `None` if it does not fit in a `u64`.
    pub fn len(&self) -> Option<u64> {
        element_count(&self.count)
    }

    /// The size of the elements in bytes, with `each` bytes per element.
    ///
    /// # Errors
    /// As [`element_bytes`].
    pub fn bytes(&self, each: usize) -> Result<usize> {
        element_bytes(&self.count, each)
    }

    /// Splits the memory for the rows of this region from the beginning of `rest`, with `row` bytes per element.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if there are too few bytes, and as
    /// [`element_bytes`].
    pub fn take_rows<'a>(&self, rest: &mut &'a mut [u8], row: usize) -> Result<&'a mut [u8]> {
        let (now, later) = std::mem::take(rest)
            .split_at_mut_checked(self.bytes(row)?)
            .ok_or_else(|| Error::invalid("too few bytes for a region"))?;
        *rest = later;
        Ok(now)
    }

    /// Whether there are no elements. A region without dimensions has one element.
    pub fn is_empty(&self) -> bool {
        self.count.contains(&0)
    }

    /// The indexes from the first to the last along a dimension, with those between steps. `None` if there is no such
    /// dimension.
    pub fn span(&self, dimension: usize) -> Option<Range<u64>> {
        let (start, step) = (*self.start.get(dimension)?, *self.step.get(dimension)?);
        let count = *self.count.get(dimension)?;
        let last = count.saturating_sub(1).saturating_mul(step).saturating_add(start);
        Some(start..if count == 0 { start } else { last.saturating_add(1) })
    }

    /// Whether all steps are 1.
    pub fn is_box(&self) -> bool {
        self.step.iter().zip(&self.count).all(|(step, count)| *step == 1 || *count <= 1)
    }

    /// Checks that start, count and step have equal lengths, and that all elements are within an array of this shape.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument), with the dimension.
    pub fn check(&self, shape: &[u64]) -> Result<()> {
        self.check_rank(shape.len())?;
        for (dimension, (span, size)) in self.spans()?.zip(shape).enumerate() {
            if span.end > *size {
                return Err(Error::invalid(format!(
                    "the region reaches index {} of dimension {dimension}, which has size {size}",
                    span.end.saturating_sub(1)
                )));
            }
        }
        Ok(())
    }

    /// The part of the region within the box of `shape` at `start`, in the coordinates of the array. `None` if it is
    /// empty.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the ranks differ or a step is 0.
    pub fn intersect(&self, start: &[u64], shape: &[u64]) -> Result<Option<Region>> {
        let mut part = self.clone();
        for (dimension, within) in self.overlap(start, shape)?.enumerate() {
            if within.is_empty() {
                return Ok(None);
            }
            if let (Some(first), Some(count), Some(step)) =
                (part.start.get_mut(dimension), part.count.get_mut(dimension), self.step.get(dimension))
            {
                *first += within.start * step;
                *count = within.end - within.start;
            }
        }
        Ok(Some(part))
    }

    /// The same elements with a step of 1 along dimensions of at most one index, so that regions with equal elements
    /// are equal.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        for (step, count) in self.step.iter_mut().zip(&self.count) {
            if *count <= 1 {
                *step = 1;
            }
        }
        self
    }

    /// The boxes without gaps that the region consists of, in row-major order: whole ranges along dimensions with a
    /// step of 1, single indexes along the others.
    ///
    /// ```
    /// use hyperslab_core::nd::Region;
    ///
    /// let region = Region { start: vec![2, 1], count: vec![3, 2], step: vec![1, 3] };
    /// let blocks: Vec<_> = region.blocks().map(|block| (block.start, block.count)).collect();
    /// assert_eq!(blocks, [(vec![2, 1], vec![3, 1]), (vec![2, 4], vec![3, 1])]);
    /// assert_eq!(region.block_count(), Some(2));
    /// ```
    pub fn blocks(&self) -> impl Iterator<Item = Region> + '_ {
        // Along a dimension with a step of 1, all indexes are in one block.
        let gaps = self.count.iter().zip(&self.step).map(|(count, step)| if *step == 1 { 1 } else { *count });
        let counts: Vec<u64> = gaps.collect();
        let mut next = (!self.is_empty()).then(|| vec![0_u64; self.rank()]);
        std::iter::from_fn(move || {
            let at = next.as_mut()?;
            let dims = self.start.iter().zip(&self.count).zip(&self.step).zip(at.iter());
            let (start, count) = dims
                .map(|(((start, count), step), at)| match *step {
                    1 => (*start, *count),
                    step => (start.saturating_add(at.saturating_mul(step)), 1),
                })
                .unzip();
            if !advance(at, &counts) {
                next = None;
            }
            Some(Region::new(start, count))
        })
    }

    /// The number of [`Region::blocks`]. `None` if it does not fit in a `u64`.
    pub fn block_count(&self) -> Option<u64> {
        if self.is_empty() {
            return Some(0);
        }
        let gaps = self.count.iter().zip(&self.step).filter(|(_, step)| **step != 1);
        gaps.map(|(count, _)| *count).try_fold(1_u64, |product, count| product.checked_mul(count))
    }

    /// The range from the first index to the end along each dimension. Fails if the ranks differ, a step is 0, or an
    /// end does not fit in a `u64`: callers rely on this when they add and multiply up to these ends.
    pub(super) fn spans(&self) -> Result<impl Iterator<Item = Range<u64>>> {
        if self.start.len() != self.count.len() || self.step.len() != self.count.len() {
            return Err(Error::invalid(format!(
                "a region of {} starts, {} counts and {} steps",
                self.start.len(),
                self.count.len(),
                self.step.len()
            )));
        }
        let spans = || self.start.iter().zip(&self.count).zip(&self.step).map(|((s, c), t)| span(*s, *c, *t));
        if let Some(dimension) = spans().position(|span| span.is_none()) {
            return Err(Error::invalid(match self.step.get(dimension) {
                Some(0) => format!("a step of 0 in dimension {dimension}"),
                _ => format!("the region exceeds 2^64 in dimension {dimension}"),
            }));
        }
        Ok(spans().flatten())
    }

    /// The range of `k` within a box, for each dimension.
    pub(super) fn overlap(&self, start: &[u64], shape: &[u64]) -> Result<impl Iterator<Item = Range<u64>>> {
        self.check_rank(start.len())?;
        self.check_rank(shape.len())?;
        let of = self.spans()?.zip(&self.count).zip(&self.step);
        Ok(of.zip(start.iter().zip(shape)).map(|(((span, count), step), (start, size))| {
            let below = |limit: u64| limit.saturating_sub(span.start).div_ceil(*step).min(*count);
            below(*start)..below(start.saturating_add(*size))
        }))
    }

    pub(super) fn check_rank(&self, rank: usize) -> Result<()> {
        if self.rank() == rank {
            return Ok(());
        }
        Err(Error::invalid(format!("a region of {} dimensions, the array has {rank}", self.rank())))
    }
}

fn span(start: u64, count: u64, step: u64) -> Option<Range<u64>> {
    if step == 0 {
        return None;
    }
    let Some(steps) = count.checked_sub(1) else { return Some(0..0) };
    Some(start..steps.checked_mul(step)?.checked_add(start)?.checked_add(1)?)
}

#[cfg(test)]
mod tests {
    use super::super::strategies::{elements_of, shape_and_region};
    use super::*;
    use crate::ErrorKind;
    use proptest::prelude::*;

    #[test]
    fn counts_do_not_wrap() {
        assert_eq!(element_count(&[]), Some(1));
        assert_eq!(element_count(&[1 << 32, 1 << 32]), None);
        assert_eq!(element_count(&[1 << 32, 1 << 32, 0]), Some(0));
    }

    #[test]
    fn names_the_dimension_whose_extent_is_exceeded() {
        let e = Region::new(vec![0, 3], vec![1, 3]).check(&[4, 5]).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidArgument);
        assert_eq!(e.to_string(), "the region reaches index 5 of dimension 1, which has size 5");
        let e = Region::new(vec![0], vec![1]).check(&[4, 5]).unwrap_err();
        assert_eq!(e.to_string(), "a region of 1 dimensions, the array has 2");
    }

    #[test]
    fn rejects_regions_without_valid_counts_and_steps() {
        let endless = Region { start: vec![1], count: vec![2], step: vec![u64::MAX] };
        assert!(endless.check(&[u64::MAX]).unwrap_err().to_string().contains("2^64"));
        let stuck = Region { start: vec![1], count: vec![2], step: vec![0] };
        assert!(stuck.check(&[9]).unwrap_err().to_string().contains("step of 0"));
        let torn = Region { start: vec![1], count: vec![2], step: vec![] };
        assert!(torn.check(&[9]).is_err());
        Region::new(vec![9], vec![0]).check(&[4]).unwrap();
        Region::all(&[]).check(&[]).unwrap();
    }

    #[test]
    fn equal_regions_have_equal_normal_forms() {
        let far = Region { start: vec![3, 0], count: vec![1, 2], step: vec![7, 2] };
        let near = Region { start: vec![3, 0], count: vec![1, 2], step: vec![1, 2] };
        assert_eq!(far.normalized(), near);
        assert!(!near.is_box());
        assert!(Region { start: vec![3], count: vec![1], step: vec![7] }.is_box());
    }

    proptest! {
        #[test]
        fn intersection_keeps_exactly_the_elements_inside(
            (shape, region) in shape_and_region(),
            at in prop::collection::vec((0..8_u64, 0..8_u64), 4),
        ) {
            region.check(&shape).unwrap();
            let rank = shape.len();
            let start: Vec<u64> = at.iter().take(rank).map(|p| p.0).collect();
            let size: Vec<u64> = at.iter().take(rank).map(|p| p.1).collect();
            let inside = |e: &Vec<u64>| (0..rank).all(|i| e[i] >= start[i] && e[i] - start[i] < size[i]);
            let want: Vec<_> = elements_of(&region).into_iter().filter(inside).collect();
            match region.intersect(&start, &size).unwrap() {
                Some(part) => prop_assert_eq!(elements_of(&part), want),
                None => prop_assert!(want.is_empty()),
            }
        }
    }
}
