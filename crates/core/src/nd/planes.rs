//! Memory for the rows of a region, which several threads can fill part by part.

use super::copy::{Shared, bytes, check_len, outside, shared_ranges};
use super::{Region, advance, element_count, fill_rows};
use crate::{Error, Result};

/// The memory for the rows of a region: one slice, or one slice of equal length for each index of its outer
/// dimensions. Dividing a region along an inner dimension gives parts of the second kind: the rows of a part are not
/// contiguous, but each thread has its own slices.
#[derive(Debug)]
pub struct Planes<'a> {
    /// In row-major order of the outer dimensions.
    slices: Vec<&'a mut [u8]>,
    /// The number of outer dimensions.
    outer: usize,
}

impl<'a> Planes<'a> {
    /// All rows in one slice.
    pub fn whole(rows: &'a mut [u8]) -> Self {
        Planes { slices: vec![rows], outer: 0 }
    }

    /// Divides the rows of `region` along a dimension before each step in `cuts`. Returns the parts in order, with
    /// their regions. A part can be divided again along a later dimension.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if there is no such dimension or a later one
    /// is already divided, if the steps do not ascend within it, or if the number of rows is not that of the region.
    ///
    /// ```
    /// use hyperslab_core::nd::{Planes, Region};
    ///
    /// let mut rows = *b"abcdef";
    /// let mut parts = Planes::whole(&mut rows).cut(&Region::all(&[2, 3]), 1, &[1], 1)?;
    /// let (region, planes) = &mut parts[1];
    /// assert_eq!((&region.start, &region.count), (&vec![0, 1], &vec![2, 2]));
    /// planes.overlap(&[0, 0], &[2, 3], region, 1)?.unwrap().fill(b".")?;
    /// assert_eq!(&rows, b"a..d..");
    /// # Ok::<(), hyperslab_core::Error>(())
    /// ```
    pub fn cut(
        self,
        region: &Region,
        dimension: usize,
        cuts: &[u64],
        row: usize,
    ) -> Result<Vec<(Region, Planes<'a>)>> {
        let (outer, inner) = region.count.split_at_checked(dimension).unwrap_or_default();
        let (known, between) = outer.split_at_checked(self.outer).ok_or_else(|| {
            Error::invalid(format!("a cut along dimension {dimension} after one along {}", self.outer))
        })?;
        let plane: Vec<u64> = region.count.iter().skip(self.outer).copied().collect();
        if bytes(element_count(known).ok_or_else(outside)?, 1)? != self.slices.len() {
            return Err(outside());
        }
        for slice in &self.slices {
            check_len("region", slice.len(), &plane, row)?;
        }
        let Some((count, inner)) = inner.split_first() else {
            return Err(Error::invalid(format!("a cut along dimension {dimension} of {}", region.rank())));
        };
        let ends = || cuts.iter().copied().chain([*count]);
        let ascends = std::iter::once(0).chain(ends()).is_sorted_by(|a, b| a < b);
        let is_empty = *count == 0 && cuts.is_empty();
        if !ascends && !is_empty {
            return Err(Error::invalid(format!("cuts at {cuts:?} of {count} steps")));
        }
        if region.is_empty() {
            return Ok(vec![(region.clone(), self)]);
        }
        let step_bytes = bytes(element_count(inner).ok_or_else(outside)?, row)?;
        let mut begin = 0;
        let mut parts = Vec::with_capacity(cuts.len() + 1);
        for end in ends() {
            let mut part = region.clone();
            part.keep(dimension, begin, end - begin);
            parts.push((part, Planes { slices: Vec::new(), outer: dimension }));
            begin = end;
        }
        let steps = element_count(between).ok_or_else(outside)?;
        for mut rest in self.slices {
            for _ in 0..steps {
                for (part, planes) in &mut parts {
                    let steps = part.count.get(dimension).copied().unwrap_or(0);
                    let (slice, later) =
                        rest.split_at_mut_checked(bytes(steps, step_bytes)?).ok_or_else(outside)?;
                    planes.slices.push(slice);
                    rest = later;
                }
            }
        }
        Ok(parts)
    }

    /// As [`Planes::cut`], but along any dimension and only temporarily: the rows are whole again afterwards.
    ///
    /// # Errors
    /// As [`Planes::cut`].
    pub fn parts(
        &mut self,
        region: &Region,
        dimension: usize,
        cuts: &[u64],
        row: usize,
    ) -> Result<Vec<(Region, Planes<'_>)>> {
        let outer = self.outer;
        let slices = self.slices.iter_mut().map(|slice| &mut **slice);
        if dimension >= outer {
            return Planes { slices: slices.collect(), outer }.cut(region, dimension, cuts, row);
        }
        // Each slice has one index along the dimension.
        let count = region.count.get(dimension).copied().unwrap_or(0);
        let within = region.count.iter().take(outer).skip(dimension + 1);
        let within = within.fold(1_u64, |product, count| product.saturating_mul(*count)).max(1);
        let mut begin = 0;
        let mut parts = Vec::with_capacity(cuts.len() + 1);
        for end in cuts.iter().copied().chain([count]) {
            let mut part = region.clone();
            part.keep(dimension, begin, end.checked_sub(begin).ok_or_else(outside)?);
            parts.push((part, Planes { slices: Vec::new(), outer }));
            begin = end;
        }
        for (number, slice) in slices.enumerate() {
            let index = number as u64 / within % count.max(1);
            let part = parts.get_mut(cuts.partition_point(|cut| *cut <= index));
            let (_, planes) = part.ok_or_else(outside)?;
            planes.slices.push(slice);
        }
        Ok(parts)
    }

    /// The number of bytes in all slices.
    pub fn len(&self) -> usize {
        self.slices.iter().map(|slice| slice.len()).sum()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.slices.iter().all(|slice| slice.is_empty())
    }

    /// The same rows as those of the region without its first dimension, along which there is one step.
    pub fn of_first_step(&mut self) -> Planes<'_> {
        let slices = self.slices.iter_mut().map(|slice| &mut **slice).collect();
        Planes { slices, outer: self.outer.saturating_sub(1) }
    }

    /// The slices, each with its part of `region`.
    pub fn slices<'p>(&'p mut self, region: &Region) -> impl Iterator<Item = (Region, &'p mut [u8])> {
        let mut first = region.clone();
        for dimension in 0..self.outer {
            first.keep(dimension, 0, 1);
        }
        let outer = |of: &[u64]| of.iter().take(self.outer).copied().collect::<Vec<_>>();
        let (counts, steps) = (outer(&region.count), outer(&region.step));
        let mut at = vec![0; self.outer];
        self.slices.iter_mut().map(move |slice| {
            let mut part = first.clone();
            for (start, (at, step)) in part.start.iter_mut().zip(at.iter().zip(&steps)) {
                *start += at * step;
            }
            advance(&mut at, &counts);
            (part, &mut **slice)
        })
    }

    /// Sets every row to `value`.
    ///
    /// # Errors
    /// As [`fill_rows`].
    pub fn fill(&mut self, value: &[u8]) -> Result<()> {
        self.slices.iter_mut().try_for_each(|slice| fill_rows(value, slice))
    }

    /// The elements that the region of these rows and a chunk have in common; `None` if there are none. The chunk is
    /// the box of `shape` at `start` and may extend past the end of the array. An element has `row` bytes.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the ranks differ or the slices do not
    /// have the length of the region.
    pub fn overlap<'p>(
        &'p mut self,
        start: &[u64],
        shape: &[u64],
        region: &Region,
        row: usize,
    ) -> Result<Option<Overlap<'p, 'a>>> {
        let inner = region.count.get(self.outer..).unwrap_or_default();
        let plane = self.slices.first().map_or(0, |slice| slice.len());
        check_len("region", plane, inner, row)?;
        let Some(ranges) = shared_ranges(start, shape, region, row)? else { return Ok(None) };
        let shared = Shared::plan(&ranges, start, shape, region, row, self.outer)?;
        let of = |shape: &[u64]| bytes(element_count(shape).ok_or_else(outside)?, row);
        let mut overlap =
            Overlap { shared, chunk: of(shape)?, from: 0, plane: 0, dims: vec![], planes: self };
        let mut from_step = of(shape.get(overlap.planes.outer..).unwrap_or_default())?;
        let mut plane_step = 1_usize;
        let dims = ranges.iter().zip(start.iter().zip(shape));
        let dims = dims.zip(region.start.iter().zip(&region.count).zip(&region.step));
        for ((within, (start, size)), ((first, count), step)) in dims.take(overlap.planes.outer).rev() {
            let first = first.saturating_add(within.start.saturating_mul(*step));
            overlap.from += bytes(first.saturating_sub(*start), from_step)?;
            overlap.plane += bytes(within.start, plane_step)?;
            let steps = bytes(within.end - within.start, 1)?;
            if steps > 1 {
                overlap.dims.push(Dim { steps, from: bytes(*step, from_step)?, plane: plane_step, at: 0 });
            }
            from_step = bytes(*size, from_step)?;
            plane_step = bytes(*count, plane_step)?;
        }
        match plane_step == overlap.planes.slices.len() {
            true => Ok(Some(overlap)),
            false => Err(outside()),
        }
    }
}

/// The elements that a chunk and a region have in common, and their places in both.
pub struct Overlap<'p, 'a> {
    planes: &'p mut Planes<'a>,
    /// The copy from one plane of the chunk to one slice of the region.
    shared: Shared,
    /// The size of the chunk in bytes.
    chunk: usize,
    /// The offset of the first common plane of the chunk, and the index of its slice.
    from: usize,
    plane: usize,
    /// The outer dimensions along which they have more than one step in common, innermost first.
    dims: Vec<Dim>,
}

struct Dim {
    steps: usize,
    /// The distance between steps: in bytes of the chunk and in slices of the region.
    from: usize,
    plane: usize,
    at: usize,
}

impl Overlap<'_, '_> {
    /// The memory of the region for all rows of the chunk, if these are contiguous there. A chunk can then be decoded
    /// straight to it.
    pub fn in_place(&mut self) -> Option<&mut [u8]> {
        let (from, to, len) = self.shared.one_piece()?;
        let whole = self.dims.is_empty() && from == 0 && len == self.chunk;
        let slice = self.planes.slices.get_mut(self.plane).filter(|_| whole)?;
        slice.get_mut(to..)?.get_mut(..len)
    }

    /// Copies the common elements from the rows of the chunk.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the length of the rows is not that of the
    /// chunk.
    pub fn scatter(&mut self, chunk_rows: &[u8]) -> Result<()> {
        if chunk_rows.len() != self.chunk {
            let (found, chunk) = (chunk_rows.len(), self.chunk);
            return Err(Error::invalid(format!("{found} bytes for the rows of a chunk of {chunk}")));
        }
        self.each(|shared, from, to| shared.walk(chunk_rows.get(from..).unwrap_or_default(), to))
    }

    /// Sets all common elements to the row `value`.
    ///
    /// # Errors
    /// As [`Planes::overlap`], which reports them earlier.
    pub fn fill(&mut self, value: &[u8]) -> Result<()> {
        self.each(|shared, _, to| shared.walk_filling(value, to))
    }

    /// Calls `what` with the offset of each plane of the chunk and the slice it belongs to.
    fn each(&mut self, mut what: impl FnMut(&mut Shared, usize, &mut [u8]) -> Result<()>) -> Result<()> {
        loop {
            let slice = self.planes.slices.get_mut(self.plane).ok_or_else(outside)?;
            what(&mut self.shared, self.from, slice)?;
            if !self.step() {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> bool {
        for dim in &mut self.dims {
            dim.at += 1;
            if dim.at < dim.steps {
                self.from += dim.from;
                self.plane += dim.plane;
                return true;
            }
            dim.at = 0;
            self.from -= (dim.steps - 1) * dim.from;
            self.plane -= (dim.steps - 1) * dim.plane;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::strategies::{elements_of, shape_and_region};
    use super::super::{ChunkGrid, scatter};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_along_an_outer_dimension_have_the_slices_of_their_indexes() {
        // The elements of 4 x 3 x 2 are their own numbers.
        let mut rows: Vec<u8> = (0..24).collect();
        let whole = Region::all(&[4, 3, 2]);
        let halves = Planes::whole(&mut rows).cut(&whole, 1, &[2], 1).unwrap();
        for (half, mut planes) in halves {
            for (region, mut planes) in planes.parts(&half, 0, &[1, 3], 1).unwrap() {
                assert_eq!(Some(planes.len() as u64), region.len());
                for (part, slice) in planes.slices(&region) {
                    let first = part.start[0] * 6 + part.start[1] * 2 + part.start[2];
                    assert!(region.start[0] <= part.start[0] && slice[0] == u8::try_from(first).unwrap());
                }
            }
            // The rows are whole again.
            assert_eq!(Some(planes.len() as u64), half.len());
        }
    }

    #[test]
    fn only_complete_contiguous_chunks_are_in_place() {
        let region = Region::all(&[4, 6]);
        let in_place = |rows: &mut [u8], start: &[u64], shape: &[u64], region: &Region| {
            let mut planes = Planes::whole(rows);
            let mut overlap = planes.overlap(start, shape, region, 2).unwrap().unwrap();
            overlap.in_place().map(|place| place.len())
        };
        let mut rows = [0; 48];
        assert_eq!(in_place(&mut rows, &[2, 0], &[2, 6], &region), Some(24));
        assert_eq!(in_place(&mut rows, &[1, 2], &[1, 3], &region), Some(6));
        assert_eq!(in_place(&mut rows, &[0, 0], &[2, 3], &region), None);
        // The chunk extends past the region.
        assert_eq!(in_place(&mut rows, &[2, 0], &[3, 6], &region), None);
        assert_eq!(in_place(&mut rows, &[3, 4], &[1, 3], &region), None);
        let stepped = Region { start: vec![0, 0], count: vec![4, 6], step: vec![2, 1] };
        assert_eq!(in_place(&mut rows, &[2, 0], &[2, 6], &stepped), None);
        assert_eq!(in_place(&mut rows, &[2, 0], &[1, 6], &stepped), Some(12));
    }

    #[test]
    fn rejects_cuts_outside_the_region() {
        let region = Region::all(&[2, 3]);
        for (dimension, cuts, len) in
            [(2, &[1][..], 6), (0, &[2], 6), (0, &[0], 6), (1, &[2, 1], 6), (1, &[1], 5)]
        {
            assert!(
                Planes::whole(&mut vec![0; len]).cut(&region, dimension, cuts, 1).is_err(),
                "{dimension} {cuts:?}"
            );
        }
        let parts = Planes::whole(&mut []).cut(&Region::all(&[2, 0]), 1, &[], 1);
        assert!(parts.unwrap().iter().all(|(_, planes)| planes.is_empty()));
        assert!(Planes::whole(&mut []).cut(&Region::all(&[2, 0]), 1, &[5], 1).is_err());
        let mut rows = [0; 6];
        let (part, half) = Planes::whole(&mut rows).cut(&region, 1, &[1], 1).unwrap().remove(1);
        assert!(half.cut(&part, 0, &[1], 1).is_err());
        let vast = Planes::whole(&mut []).cut(&Region::all(&[u64::MAX, 0]), 1, &[], 1);
        assert_eq!(vast.unwrap().len(), 1);
    }

    proptest! {
        #[test]
        fn separately_filled_parts_give_the_whole_region(
            (shape, region) in shape_and_region(),
            chunk in prop::collection::vec(1..5_u64, 4),
            along in any::<prop::sample::Index>(),
            further in any::<prop::sample::Index>(),
            every in 1..4_u64,
            row in prop::sample::select(vec![1, 3, 4, 8]),
        ) {
            prop_assume!(!shape.is_empty() && !region.is_empty());
            let grid = ChunkGrid::regular(&chunk[..shape.len()]).unwrap();
            let len = usize::try_from(region.len().unwrap()).unwrap() * row;
            let bytes_of = |chunk: &super::super::Chunk| -> Vec<u8> {
                let seed = chunk.index.iter().fold(7, |seed, i| seed * 31 + i);
                let elements = element_count(&chunk.shape).unwrap() * row as u64;
                (0..elements).map(|i| u8::try_from((seed + i * 3) % 251).unwrap()).collect()
            };
            let mut want = vec![0; len];
            for chunk in grid.chunks_in(&region).unwrap() {
                scatter(&bytes_of(&chunk), &chunk.start, &chunk.shape, &region, &mut want, row).unwrap();
            }
            let dimension = along.index(shape.len());
            let cuts: Vec<u64> = (1..region.count[dimension]).filter(|step| step % every == 0).collect();
            let mut got = vec![0; len];
            let again = dimension + further.index(shape.len() - dimension);
            let parts = Planes::whole(&mut got).cut(&region, dimension, &cuts, row).unwrap().into_iter();
            let parts = parts.flat_map(|(part, planes)| {
                let half = part.count[again] / 2;
                planes.cut(&part, again, &[half][..usize::from(half > 0)], row).unwrap()
            });
            for (part, mut planes) in parts {
                let starts: Vec<_> = planes.slices(&part).map(|(slice, rows)| (slice, rows.len())).collect();
                prop_assert_eq!(starts.iter().map(|(_, len)| len).sum::<usize>(), planes.len());
                let elements: Vec<_> = starts.iter().flat_map(|(slice, _)| elements_of(slice)).collect();
                prop_assert_eq!(elements, elements_of(&part));
                for chunk in grid.chunks_in(&part).unwrap() {
                    let bytes = bytes_of(&chunk);
                    let mut overlap = planes.overlap(&chunk.start, &chunk.shape, &part, row).unwrap().unwrap();
                    match overlap.in_place() {
                        Some(place) => place.copy_from_slice(&bytes),
                        None => overlap.scatter(&bytes).unwrap(),
                    }
                }
            }
            prop_assert_eq!(got, want);
        }
    }
}
