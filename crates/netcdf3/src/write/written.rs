//! Which elements of a variable were written.

use hyperslab_core::nd::{Region, element_count};
use hyperslab_core::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The indexes along the first dimension (the record dimension, if there is one) at which elements were written.
#[derive(Debug, Default)]
pub(super) struct Written(Mutex<Indexes>);

#[derive(Debug, Default)]
struct Indexes {
    /// The end of each range by its start. Ranges do not touch each other.
    ranges: BTreeMap<u64, u64>,
    /// The number of elements. Elements that were written twice count twice.
    elements: u64,
}

impl Written {
    /// Adds the elements of a region.
    pub(super) fn add(&self, region: &Region) {
        if region.is_empty() {
            return;
        }
        let mut indexes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        indexes.elements = indexes.elements.saturating_add(region.len().unwrap_or(u64::MAX));
        let first = (region.start.first(), region.count.first(), region.step.first());
        let (Some(start), Some(count), Some(step)) = first else { return indexes.insert(0, 1) };
        if *step == 1 {
            return indexes.insert(*start, start.saturating_add(*count));
        }
        for number in 0..*count {
            let at = start.saturating_add(number.saturating_mul(*step));
            indexes.insert(at, at.saturating_add(1));
        }
    }

    /// The regions of a variable of this shape to which nothing was written.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if only a part of the elements at
    /// some other index was written: it is not known which.
    pub(super) fn gaps(&self, shape: &[u64]) -> Result<Vec<Region>> {
        let indexes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (extent, inner) = shape.split_first().unwrap_or((&1, &[]));
        let mut gaps = Vec::new();
        let (mut end, mut touched) = (0, 0_u64);
        for (from, to) in indexes.ranges.iter().chain([(extent, extent)]) {
            if end < *from {
                let mut region = Region::all(shape);
                region.start.iter_mut().take(1).for_each(|start| *start = end);
                region.count.iter_mut().take(1).for_each(|count| *count = from - end);
                gaps.push(region);
            }
            touched = touched.saturating_add(to - from);
            end = *to;
        }
        let expected = element_count(inner).and_then(|each| each.checked_mul(touched)).unwrap_or(u64::MAX);
        if indexes.elements < expected {
            let elements = indexes.elements;
            let detail =
                format!("{elements} elements are written, of {expected} at the same {touched} indexes");
            return Err(Error::invalid(detail).with_hint("write the others, or fill them"));
        }
        Ok(gaps)
    }
}

impl Indexes {
    /// Adds a range, joined with all ranges that it touches.
    fn insert(&mut self, mut start: u64, mut end: u64) {
        while let Some((from, to)) = self.ranges.range(..=end).next_back().map(|(from, to)| (*from, *to)) {
            if to < start {
                break;
            }
            self.ranges.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.ranges.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut indexes = Indexes::default();
        for (start, end) in [(4, 6), (0, 1), (9, 12), (6, 7), (10, 11), (2, 3)] {
            indexes.insert(start, end);
        }
        assert_eq!(indexes.ranges, [(0, 1), (2, 3), (4, 7), (9, 12)].into());
        indexes.insert(1, 10);
        assert_eq!(indexes.ranges, [(0, 12)].into());
    }
}
