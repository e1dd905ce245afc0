//! Divides a region into bands that fit in memory and follow each other in row-major order.

use super::{Region, advance};
use crate::{Error, Result};

/// Divides a region into bands. Their elements, one band after the other, are the elements of the region in row-major
/// order. With `row` bytes per element, a band has at most `max_bytes` bytes, or a single element.
///
/// A band has as many whole rows of chunks as fit, so that no chunk is read twice. If not even one row of chunks
/// fits, bands end at or within a row of chunks.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the region is invalid, or the chunk has
/// another rank or no elements.
///
/// ```
/// use hyperslab_core::nd::{Region, bands};
///
/// let region = Region::all(&[10, 100]);
/// let bands: Vec<_> = bands(&region, &[4, 25], 1, 500)?.map(|band| (band.start, band.count)).collect();
/// assert_eq!(bands[0], (vec![0, 0], vec![4, 100]));
/// assert_eq!(bands[2], (vec![8, 0], vec![2, 100]));
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
pub fn bands(region: &Region, chunk: &[u64], row: usize, max_bytes: u64) -> Result<Bands> {
    region.check_rank(chunk.len())?;
    // Checked only for its errors: after this, every index of the region fits in a u64.
    drop(region.spans()?);
    if let Some(dimension) = chunk.iter().position(|size| *size == 0) {
        return Err(Error::invalid(format!("a chunk of size 0 along dimension {dimension}")));
    }
    // The outermost dimension whose single index fits in a band. Along the dimensions before it, a band has one
    // index.
    let mut cut = region.rank().saturating_sub(1);
    let (mut index_bytes, mut bytes) = (row as u64, row as u64);
    for (dimension, count) in region.count.iter().enumerate().rev() {
        if bytes > max_bytes {
            break;
        }
        (cut, index_bytes) = (dimension, bytes);
        bytes = bytes.saturating_mul(*count);
    }
    let outer = region.count.iter().zip(&region.step).zip(chunk).take(cut);
    let torn = outer.into_iter().any(|((count, step), chunk)| *count > 1 && chunk > step);
    Ok(Bands {
        torn,
        max_indexes: max_bytes.checked_div(index_bytes).unwrap_or(u64::MAX).max(1),
        chunk: chunk.get(cut).copied().unwrap_or(1),
        next: (!region.is_empty()).then(|| vec![0; region.rank().min(cut + 1)]),
        region: region.clone(),
    })
}

/// The iterator that [`bands`] returns.
#[derive(Clone, Debug)]
pub struct Bands {
    region: Region,
    /// Where the next band begins, in steps: one entry for each dimension up to the divided one.
    next: Option<Vec<u64>>,
    /// The size of a chunk along the divided dimension.
    chunk: u64,
    /// The number of indexes along the divided dimension that fit in a band.
    max_indexes: u64,
    /// Whether a chunk spans several indexes along a dimension before the divided one.
    torn: bool,
}

impl Bands {
    /// Whether bands divide chunks, so that a chunk is read for more bands than the two whose border crosses it.
    pub fn tears_chunks(&self) -> bool {
        let step = self.next.as_ref().and_then(|at| self.region.step.get(at.len().saturating_sub(1)));
        self.torn || self.chunk.div_ceil(step.copied().unwrap_or(1).max(1)) > self.max_indexes
    }
}

impl Iterator for Bands {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        let mut at = self.next.take()?;
        let mut band = self.region.clone();
        let Some((cut, outer)) = at.split_last_mut() else { return Some(band) };
        let depth = outer.len();
        for (dimension, step) in outer.iter().enumerate() {
            band.keep(dimension, *step, 1);
        }
        let until = self.end(depth, *cut);
        band.keep(depth, *cut, until - *cut);

        if self.region.count.get(depth).is_some_and(|count| until < *count) {
            *cut = until;
            self.next = Some(at);
            return Some(band);
        }
        *cut = 0;
        if advance(outer, &self.region.count) {
            self.next = Some(at);
        }
        Some(band)
    }
}

impl Bands {
    /// Where a band ends that begins at step `at` of the divided dimension.
    fn end(&self, dimension: usize, at: u64) -> u64 {
        let of = |list: &[u64]| list.get(dimension).copied().unwrap_or(1);
        let (start, count, step) = (of(&self.region.start), of(&self.region.count), of(&self.region.step));
        let max_end = at.saturating_add(self.max_indexes);
        if max_end >= count {
            return count;
        }
        let border = (start + max_end * step) / self.chunk * self.chunk;
        match border.saturating_sub(start).div_ceil(step) {
            aligned if aligned > at => aligned,
            _ => max_end,
        }
    }
}

impl Region {
    /// Reduces a region to `count` steps along a dimension, beginning with step `first`.
    pub(super) fn keep(&mut self, dimension: usize, first: u64, count: u64) {
        let Region { start, count: counts, step } = self;
        if let (Some(start), Some(kept), Some(step)) =
            (start.get_mut(dimension), counts.get_mut(dimension), step.get(dimension))
        {
            *start += first * step;
            *kept = count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::strategies::{elements_of, shape_and_region};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn chunk_rows_are_not_split_if_they_fit() {
        let region = Region::new(vec![3, 0], vec![20, 10]);
        let starts: Vec<_> = bands(&region, &[8, 10], 4, 80 * 4).unwrap().map(|b| b.start[0]).collect();
        assert_eq!(starts, [3, 8, 16]);
        let starts: Vec<_> = bands(&region, &[8, 10], 4, 50 * 4).unwrap().map(|b| b.start[0]).collect();
        assert_eq!(starts, [3, 8, 13, 16, 21]);
        let torn = |chunk: &[u64], max| bands(&region, chunk, 4, max).unwrap().tears_chunks();
        assert!(!torn(&[8, 10], 80 * 4) && torn(&[8, 10], 50 * 4));
        let stepped = Region { start: vec![0, 0], count: vec![9, 10], step: vec![4, 1] };
        assert!(!bands(&stepped, &[8, 10], 4, 80).unwrap().tears_chunks());
        assert!(!torn(&[1, 1], 4) && torn(&[2, 1], 4) && torn(&[1, 10], 36) && !torn(&[1, 10], 40));
    }

    #[test]
    fn inner_dimensions_are_split_if_an_outer_index_does_not_fit() {
        let region = Region::all(&[2, 100]);
        let found: Vec<_> = bands(&region, &[2, 30], 1, 70).unwrap().map(|b| (b.start, b.count)).collect();
        let want = [([0, 0], [1, 60]), ([0, 60], [1, 40]), ([1, 0], [1, 60]), ([1, 60], [1, 40])];
        assert_eq!(found, want.map(|(start, count)| (start.to_vec(), count.to_vec())));
    }

    #[test]
    fn accepts_scalars_empty_regions_and_rows_of_no_bytes() {
        assert_eq!(bands(&Region::all(&[]), &[], 8, 0).unwrap().collect::<Vec<_>>(), [Region::all(&[])]);
        assert_eq!(bands(&Region::all(&[3, 0]), &[1, 1], 8, 0).unwrap().count(), 0);
        let vast = Region::all(&[1 << 40, 1 << 40]);
        assert!(bands(&vast, &[1, 1], 0, 0).unwrap().eq([vast.clone()]));
        assert!(bands(&vast, &[1, 0], 1, 1).is_err());
        assert_eq!(bands(&vast, &[1, 1 << 20], 8, 1 << 20).unwrap().next().unwrap().count, [1, 1 << 17]);
    }

    proptest! {
        #[test]
        fn bands_cover_the_region_in_order(
            (shape, region) in shape_and_region(),
            chunk in prop::collection::vec(1..5_u64, 4),
            row in 0..5_usize,
            max in 0..200_u64,
        ) {
            let bands: Vec<Region> = bands(&region, &chunk[..shape.len()], row, max).unwrap().collect();
            prop_assert_eq!(bands.iter().flat_map(elements_of).collect::<Vec<_>>(), elements_of(&region));
            for band in bands {
                let len = band.len().unwrap();
                prop_assert!(len > 0 && (len == 1 || len * row as u64 <= max));
            }
        }
    }
}
