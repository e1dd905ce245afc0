//! Copies rows between chunks and regions.

use super::{Planes, Region, element_count};
use crate::{Error, Result};
use std::ops::Range;

/// Copies the elements that a chunk and a region have in common from the rows of the chunk to those of the region.
/// Both are in row-major order with `row` bytes per element. The chunk is the box of `chunk_shape` at `chunk_start`
/// and may extend past the end of the array.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the ranks differ, or the length of a buffer
/// is not that of its elements.
///
/// ```
/// use hyperslab_core::nd::{Region, scatter};
///
/// let mut out = *b"........";
/// scatter(b"abcdef", &[0, 2], &[2, 3], &Region::new(vec![1, 1], vec![2, 4]), &mut out, 1)?;
/// assert_eq!(&out, b".def....");
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
pub fn scatter(
    chunk_rows: &[u8],
    chunk_start: &[u64],
    chunk_shape: &[u64],
    region: &Region,
    out: &mut [u8],
    row: usize,
) -> Result<()> {
    check_len("chunk", chunk_rows.len(), chunk_shape, row)?;
    let mut out = Planes::whole(out);
    let overlap = out.overlap(chunk_start, chunk_shape, region, row)?;
    overlap.map_or(Ok(()), |mut overlap| overlap.scatter(chunk_rows))
}

/// The inverse of [`scatter`]: copies from the rows of the region to those of the chunk.
///
/// # Errors
/// As [`scatter`].
pub fn gather(
    rows: &[u8],
    region: &Region,
    chunk_rows: &mut [u8],
    chunk_start: &[u64],
    chunk_shape: &[u64],
    row: usize,
) -> Result<()> {
    check_len("chunk", chunk_rows.len(), chunk_shape, row)?;
    check_len("region", rows.len(), &region.count, row)?;
    let Some(ranges) = shared_ranges(chunk_start, chunk_shape, region, row)? else { return Ok(()) };
    let shared = Shared::plan(&ranges, chunk_start, chunk_shape, region, row, 0)?;
    shared.swapped().walk(rows, chunk_rows)
}

/// Sets every row of `out` to `value`.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if `out` is not a whole number of rows.
pub fn fill_rows(value: &[u8], out: &mut [u8]) -> Result<()> {
    if value.is_empty() || !out.len().is_multiple_of(value.len()) {
        return match out {
            [] => Ok(()),
            _ => {
                Err(Error::invalid(format!("{} bytes to fill with rows of {} bytes", out.len(), value.len())))
            }
        };
    }
    repeat(value, out);
    Ok(())
}

/// The steps of the region within the chunk, for each dimension. `None` if they have no element in common.
pub(super) fn shared_ranges(
    chunk_start: &[u64],
    chunk_shape: &[u64],
    region: &Region,
    row: usize,
) -> Result<Option<Vec<Range<u64>>>> {
    let ranges: Vec<_> = region.overlap(chunk_start, chunk_shape)?.collect();
    let empty = row == 0 || ranges.iter().any(Range::is_empty);
    Ok((!empty).then_some(ranges))
}

/// A copy between a chunk and a region: units of `unit` bytes that are contiguous on both sides, repeated along
/// `dims`.
pub(super) struct Shared {
    /// The offset of the first byte in the source and in the target.
    from: usize,
    to: usize,
    unit: usize,
    /// Outermost first. Each has a count of at least 2 and cannot be merged with the next one.
    dims: Vec<Dim>,
}

struct Dim {
    count: usize,
    /// The distance in bytes between neighbours in the source and in the target.
    from: usize,
    to: usize,
    at: usize,
}

impl Shared {
    /// The copy from chunk to region along the dimensions from `outer` on, in which they have `ranges` in common. All
    /// offsets are within buffers of `row` bytes per element.
    pub(super) fn plan(
        ranges: &[Range<u64>],
        chunk_start: &[u64],
        chunk_shape: &[u64],
        region: &Region,
        row: usize,
        outer: usize,
    ) -> Result<Shared> {
        // Neither side is empty, so no partial product exceeds the length of the buffers. The checks keep this local.
        let mut shared = Shared { from: 0, to: 0, unit: row, dims: Vec::with_capacity(region.rank()) };
        let (mut chunk_stride, mut region_stride) = (row, row);
        let of_chunk = chunk_start.iter().zip(chunk_shape);
        let of_region = region.start.iter().zip(&region.count).zip(&region.step);
        for ((within, (chunk_first, chunk_size)), ((first, count), step)) in
            ranges.iter().zip(of_chunk).zip(of_region).skip(outer).rev()
        {
            let first_shared = first.saturating_add(within.start.saturating_mul(*step));
            shared.from += bytes(first_shared.saturating_sub(*chunk_first), chunk_stride)?;
            shared.to += bytes(within.start, region_stride)?;
            let shared_count = bytes(within.end - within.start, 1)?;
            if shared_count > 1 {
                shared.add(shared_count, bytes(*step, chunk_stride)?, region_stride);
            }
            chunk_stride = bytes(*chunk_size, chunk_stride)?;
            region_stride = bytes(*count, region_stride)?;
        }
        shared.dims.reverse();
        Ok(shared)
    }

    /// The offsets in source and target and the number of bytes, if the copy is contiguous on both sides.
    pub(super) fn one_piece(&self) -> Option<(usize, usize, usize)> {
        self.dims.is_empty().then_some((self.from, self.to, self.unit))
    }

    /// Adds the next outer dimension. Dimensions are in reverse order until all are added.
    fn add(&mut self, count: usize, from: usize, to: usize) {
        match self.dims.last_mut() {
            None if from == self.unit && to == self.unit => self.unit *= count,
            Some(inner) if from == inner.count * inner.from && to == inner.count * inner.to => {
                inner.count *= count;
            }
            _ => self.dims.push(Dim { count, from, to, at: 0 }),
        }
    }

    fn swapped(mut self) -> Self {
        std::mem::swap(&mut self.from, &mut self.to);
        for dim in &mut self.dims {
            std::mem::swap(&mut dim.from, &mut dim.to);
        }
        self
    }

    /// Copies all units from `from` to `to`.
    pub(super) fn walk(&mut self, from: &[u8], to: &mut [u8]) -> Result<()> {
        // For a few bytes, a call of memcpy takes several times as long as the copy. Units of a common length are
        // copied as arrays, and those between two lengths as two overlapping arrays.
        let copied = match self.unit {
            1 => self.walk_units(1, from, to, copy_array::<1>),
            2 => self.walk_units(2, from, to, copy_array::<2>),
            4 => self.walk_units(4, from, to, copy_array::<4>),
            8 => self.walk_units(8, from, to, copy_array::<8>),
            16 => self.walk_units(16, from, to, copy_array::<16>),
            3 => self.walk_units(3, from, to, copy_ends::<2>),
            unit @ 5..8 => self.walk_units(unit, from, to, copy_ends::<4>),
            unit @ 9..16 => self.walk_units(unit, from, to, copy_ends::<8>),
            unit @ 17..=32 => self.walk_units(unit, from, to, copy_ends::<16>),
            unit => self.walk_units(unit, from, to, |from, to| to.copy_from_slice(from)),
        };
        copied.ok_or_else(outside)
    }

    /// Calls `copy` with each unit of both buffers. A constant `unit` compiles to a specialised loop.
    #[inline(always)]
    fn walk_units(
        &mut self,
        unit: usize,
        from: &[u8],
        to: &mut [u8],
        copy: impl Fn(&[u8], &mut [u8]),
    ) -> Option<()> {
        let inner = self.dims.pop();
        let (count, from_step, to_step) = match &inner {
            Some(inner) => (inner.count, inner.from, inner.to),
            None => (1, unit, unit),
        };
        loop {
            let (mut at, mut into) = (self.from, self.to);
            for _ in 0..count {
                copy(from.get(at..at + unit)?, to.get_mut(into..into + unit)?);
                at += from_step;
                into += to_step;
            }
            if !self.step() {
                self.dims.extend(inner);
                return Some(());
            }
        }
    }

    /// Sets all units of `out` to the row `value`.
    pub(super) fn walk_filling(&mut self, value: &[u8], out: &mut [u8]) -> Result<()> {
        loop {
            let unit = self.to..self.to + self.unit;
            repeat(value, out.get_mut(unit).ok_or_else(outside)?);
            if !self.step() {
                return Ok(());
            }
        }
    }

    /// Moves to the next unit along the outer dimensions. Returns false after the last one.
    fn step(&mut self) -> bool {
        for dim in self.dims.iter_mut().rev() {
            dim.at += 1;
            if dim.at < dim.count {
                self.from += dim.from;
                self.to += dim.to;
                return true;
            }
            dim.at = 0;
            self.from -= (dim.count - 1) * dim.from;
            self.to -= (dim.count - 1) * dim.to;
        }
        false
    }
}

#[inline(always)]
fn copy_array<const N: usize>(from: &[u8], to: &mut [u8]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
        *to = *from;
    }
}

/// Copies N to 2 N bytes, as two overlapping arrays.
#[inline(always)]
fn copy_ends<const N: usize>(from: &[u8], to: &mut [u8]) {
    copy_array::<N>(from, to);
    if let (Some(from), Some(to)) = (from.last_chunk::<N>(), to.last_chunk_mut::<N>()) {
        *to = *from;
    }
}

/// Fills `out` with copies of `value`. Its length is a multiple of that of the value.
fn repeat(value: &[u8], out: &mut [u8]) {
    if let Some((first, rest)) = value.split_first()
        && rest.iter().all(|byte| byte == first)
    {
        return out.fill(*first);
    }
    let Some(head) = out.get_mut(..value.len()) else { return };
    head.copy_from_slice(value);
    let mut done = value.len();
    while done < out.len() {
        let more = done.min(out.len() - done);
        out.copy_within(..more, done);
        done += more;
    }
}

pub(super) fn check_len(of: &str, found: usize, shape: &[u64], row: usize) -> Result<()> {
    let elements = element_count(shape);
    let expected = elements.and_then(|n| n.checked_mul(row as u64));
    if expected == Some(found as u64) || (row == 0 && found == 0) {
        return Ok(());
    }
    let expected = expected.map_or("more than 2^64".to_owned(), |n| n.to_string());
    Err(Error::invalid(format!(
        "{found} bytes for the rows of a {of}, expected {expected} ({row} for each of {shape:?})"
    )))
}

pub(super) fn bytes(count: u64, each: usize) -> Result<usize> {
    usize::try_from(count).ok().and_then(|count| count.checked_mul(each)).ok_or_else(outside)
}

#[cold]
pub(super) fn outside() -> Error {
    Error::invalid("rows outside their buffer")
}

#[cfg(test)]
mod tests {
    use super::super::strategies::{elements_of, offset_of, shape_and_region};
    use super::*;
    use proptest::prelude::*;

    fn fill(value: &[u8], start: &[u64], shape: &[u64], region: &Region, out: &mut [u8]) -> Result<()> {
        let mut out = Planes::whole(out);
        let overlap = out.overlap(start, shape, region, value.len())?;
        overlap.map_or(Ok(()), |mut overlap| overlap.fill(value))
    }

    fn pattern(elements: u64, row: usize) -> Vec<u8> {
        (0..usize::try_from(elements).unwrap() * row).map(|i| u8::try_from(i % 251).unwrap()).collect()
    }

    /// Calls `each` with the byte ranges of every common element in chunk and region.
    fn for_shared(
        start: &[u64],
        shape: &[u64],
        region: &Region,
        row: usize,
        mut each: impl FnMut(usize, usize),
    ) {
        for (i, element) in elements_of(region).iter().enumerate() {
            let within: Option<Vec<u64>> = element
                .iter()
                .zip(start.iter().zip(shape))
                .map(|(e, (s, n))| e.checked_sub(*s).filter(|e| e < n))
                .collect();
            if let Some(within) = within {
                each(usize::try_from(offset_of(&within, shape)).unwrap() * row, i * row);
            }
        }
    }

    fn chunk() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0..6_u64, 0..9_u64), 4)
    }

    proptest! {
        #[test]
        fn moves_exactly_the_shared_rows(
            (shape, region) in shape_and_region(),
            at in chunk(),
            aligned in any::<bool>(),
            row in prop::sample::select(vec![0, 1, 2, 3, 4, 8, 16, 17]),
        ) {
            let rank = shape.len();
            let (start, size): (Vec<_>, Vec<_>) = if aligned {
                shape.iter().map(|n| (0, *n)).unzip()
            } else {
                at.into_iter().take(rank).unzip()
            };
            let chunk = pattern(element_count(&size).unwrap(), row);
            let rows = pattern(region.len().unwrap(), row);

            let (mut want, mut got) = (rows.clone(), rows.clone());
            for_shared(&start, &size, &region, row, |c, r| want[r..r + row].copy_from_slice(&chunk[c..c + row]));
            scatter(&chunk, &start, &size, &region, &mut got, row).unwrap();
            prop_assert_eq!(got, want);

            let (mut want, mut got) = (chunk.clone(), chunk.clone());
            for_shared(&start, &size, &region, row, |c, r| want[c..c + row].copy_from_slice(&rows[r..r + row]));
            gather(&rows, &region, &mut got, &start, &size, row).unwrap();
            prop_assert_eq!(got, want);

            let value: Vec<u8> = (200..).take(row).collect();
            let (mut want, mut got) = (rows.clone(), rows);
            for_shared(&start, &size, &region, row, |_, r| want[r..r + row].copy_from_slice(&value));
            fill(&value, &start, &size, &region, &mut got).unwrap();
            prop_assert_eq!(got, want);
        }
    }

    #[test]
    fn rejects_buffers_of_another_length() {
        let region = Region::new(vec![0], vec![4]);
        for (chunk, out) in [(3, 4), (5, 4), (4, 3), (4, 5)] {
            let e = scatter(&vec![0; chunk], &[0], &[4], &region, &mut vec![0; out], 1).unwrap_err();
            assert_eq!(e.kind(), crate::ErrorKind::InvalidArgument);
        }
        assert!(scatter(&[], &[0, 0], &[u64::MAX, 2], &region, &mut [0; 4], 1).is_err());
        assert!(scatter(&[0; 4], &[0, 0], &[2, 2], &region, &mut [0; 4], 1).is_err());
        assert!(fill(&[1], &[0, 0], &[2, 2], &region, &mut [0; 4]).is_err());
        let stuck = Region { start: vec![0], count: vec![4], step: vec![0] };
        assert!(scatter(&[0; 4], &[0], &[4], &stuck, &mut [0; 4], 1).is_err());
    }

    #[test]
    fn copies_any_number_of_rows_of_no_bytes() {
        let region = Region::all(&[u64::MAX, u64::MAX]);
        scatter(&[], &[0, 0], &[u64::MAX, u64::MAX], &region, &mut [], 0).unwrap();
    }

    #[test]
    fn chunks_at_the_end_of_indexes_do_not_wrap() {
        let region = Region::new(vec![u64::MAX - 2], vec![2]);
        let mut out = [0; 2];
        scatter(b"abcd", &[u64::MAX - 3], &[4], &region, &mut out, 1).unwrap();
        assert_eq!(&out, b"bc");
    }

    #[test]
    fn rows_are_repeated_to_the_end() {
        let mut out = [0; 9];
        fill_rows(b"abc", &mut out).unwrap();
        assert_eq!(&out, b"abcabcabc");
        assert!(fill_rows(b"ab", &mut out).is_err());
        assert!(fill_rows(b"", &mut out).is_err());
        fill_rows(b"", &mut []).unwrap();
    }
}
