//! Reads elements that are stored contiguously.

use super::{Region, advance, element_bytes, element_count, scatter};
use crate::memory::room;
use crate::storage::NEAR;
use crate::{Error, Result};

/// Reads the elements of a region to `out`. The array has dimensions `dims` and elements of `size` bytes; `bytes`
/// reads from an offset in the block.
///
/// Contiguous elements are read straight to their place. Elements with small gaps are read with the gaps, up to 1 MiB
/// at a time, because each read costs more than the bytes in a gap.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the region is not within the array or `out` is
/// shorter than the region, and what `bytes` returns.
pub fn read_contiguous(
    bytes: &dyn Fn(u64, &mut [u8]) -> Result<()>,
    dims: &[u64],
    region: &Region,
    size: usize,
    out: &mut [u8],
) -> Result<()> {
    region.check(dims)?;
    if region.is_empty() || size == 0 {
        return Ok(());
    }
    if element_count(dims).and_then(|count| count.checked_mul(size as u64)).is_none() {
        return Err(Error::invalid("an array of more than 2^64 bytes"));
    }
    let stretch = Stretch::new(dims, region, size as u64);
    let mut scratch = Vec::new();
    let mut rest = out;
    let mut outer = vec![0_u64; stretch.from];
    loop {
        let first = offset(&outer, region, &stretch.strides);
        stretch.read(bytes, first, size, &mut scratch, &mut rest)?;
        if !advance(&mut outer, &region.count) {
            return Ok(());
        }
    }
}

/// The inner dimensions of a region along which gaps are small.
struct Stretch {
    /// The outermost of them.
    from: usize,
    /// The region along them, and the extents of the array.
    region: Region,
    dims: Vec<u64>,
    /// Whether there are no gaps.
    dense: bool,
    /// The distance in bytes between indexes along each dimension of the array.
    strides: Vec<u64>,
}

impl Stretch {
    fn new(dims: &[u64], region: &Region, size: u64) -> Stretch {
        let mut strides = vec![size; dims.len()];
        let mut stride = size;
        for (own, extent) in strides.iter_mut().zip(dims).rev() {
            *own = stride;
            stride = stride.saturating_mul(*extent);
        }
        // From the first byte of an element to the end of the last one, and how many of these elements are requested.
        let (mut hull, mut wanted, mut from) = (size, size, dims.len());
        let of_region = region.count.iter().zip(&region.step).zip(&strides);
        for (dimension, ((count, step), stride)) in of_region.enumerate().rev() {
            let distance = step.saturating_mul(*stride);
            let dense = hull == wanted && (distance == hull || *count == 1);
            let near = *count == 1 || distance.saturating_sub(hull) <= NEAR;
            if !dense && (!near || *stride > PIECE) {
                break;
            }
            hull = hull.saturating_add(distance.saturating_mul(count - 1));
            wanted = wanted.saturating_mul(*count);
            from = dimension;
        }
        let inner = |of: &[u64]| of.get(from..).unwrap_or_default().to_vec();
        let parts = (inner(&region.start), inner(&region.count), inner(&region.step));
        let region = Region { start: parts.0, count: parts.1, step: parts.2 };
        Stretch { from, region, dims: inner(dims), dense: hull == wanted, strides }
    }

    /// Reads elements. `first` is the offset of index 0 along the inner dimensions.
    fn read(
        &self,
        bytes: &dyn Fn(u64, &mut [u8]) -> Result<()>,
        first: u64,
        size: usize,
        scratch: &mut Vec<u8>,
        rest: &mut &mut [u8],
    ) -> Result<()> {
        let strides = self.strides.get(self.from..).unwrap_or_default();
        let zero = vec![0; self.dims.len()];
        if self.dense {
            let out = self.region.take_rows(rest, size)?;
            return bytes(first.saturating_add(offset(&zero, &self.region, strides)), out);
        }
        let (Some(start), Some(count), Some(step), Some(stride)) =
            (self.region.start.first(), self.region.count.first(), self.region.step.first(), strides.first())
        else {
            return Err(Error::invalid("a region without dimensions has gaps"));
        };
        let each = (PIECE / step.saturating_mul(*stride).max(1)).clamp(1, *count);
        let (mut part, mut shape) = (self.region.clone(), self.dims.clone());
        let mut done = 0;
        while done < *count {
            let now = each.min(count - done);
            let index = start + done * step;
            for (own, new) in [(&mut part.start, index), (&mut part.count, now)] {
                own.iter_mut().take(1).for_each(|own| *own = new);
            }
            shape.iter_mut().take(1).for_each(|extent| *extent = (now - 1) * step + 1);
            // The range of all indexes along the inner dimensions, of which the hull of the elements is read.
            let whole = room(scratch, element_bytes(&shape, size)?);
            let begin = offset(&zero, &part, strides);
            let last: Vec<u64> = part.count.iter().map(|count| count - 1).collect();
            let end = offset(&last, &part, strides).saturating_add(size as u64);
            let corner = index.saturating_mul(*stride);
            let within = |at: u64| usize::try_from(at.saturating_sub(corner)).unwrap_or(usize::MAX);
            let hull = whole.get_mut(within(begin)..within(end));
            let hull = hull.ok_or_else(|| Error::invalid("a region too large"))?;
            bytes(first.saturating_add(begin), hull)?;
            let mut corner = zero.clone();
            corner.iter_mut().take(1).for_each(|at| *at = index);
            scatter(whole, &corner, &shape, &part, part.take_rows(rest, size)?, size)?;
            done += now;
        }
        Ok(())
    }
}

/// The offset of the element that is this many steps from the start of a region.
fn offset(steps: &[u64], region: &Region, strides: &[u64]) -> u64 {
    let of_region = region.start.iter().zip(&region.step).zip(strides);
    steps.iter().zip(of_region).fold(0, |offset, (at, ((start, step), stride))| {
        start.saturating_add(at.saturating_mul(*step)).saturating_mul(*stride).saturating_add(offset)
    })
}

/// The maximum length of a read that includes gaps.
const PIECE: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::RefCell;

    /// Reads a region from bytes that count up. Returns them, and the lengths of the reads.
    fn run(dims: &[u64], region: &Region, size: usize) -> (Vec<u8>, Vec<usize>) {
        let reads = RefCell::new(Vec::new());
        let bytes = |offset: u64, out: &mut [u8]| {
            reads.borrow_mut().push(out.len());
            for (at, byte) in (offset..).zip(out) {
                *byte = number(at);
            }
            Ok(())
        };
        let mut out = vec![0; usize::try_from(region.len().unwrap()).unwrap() * size];
        read_contiguous(&bytes, dims, region, size, &mut out).unwrap();
        (out, reads.into_inner())
    }

    fn number(at: u64) -> u8 {
        u8::try_from((at ^ at >> 8 ^ at >> 16) & 0xff).unwrap()
    }

    #[test]
    fn balances_the_number_of_reads_and_of_bytes() {
        let lengths = |start: &[u64], count: &[u64], step: &[u64]| {
            let region = Region { start: start.to_vec(), count: count.to_vec(), step: step.to_vec() };
            run(&[100, 10_000], &region, 8).1
        };
        assert_eq!(lengths(&[0, 0], &[100, 10_000], &[1, 1]), [8_000_000]);
        assert_eq!(lengths(&[3, 0], &[2, 10_000], &[1, 1]), [160_000]);
        assert_eq!(lengths(&[3, 0], &[2, 10_000], &[2, 1]), [80_000, 80_000]);
        assert_eq!(lengths(&[3, 5], &[2, 10], &[1, 4]), [296, 296]);
        assert_eq!(lengths(&[3, 5], &[1, 2], &[1, 600]), [8, 8]);
        assert_eq!(lengths(&[0, 10], &[26, 9900], &[1, 1]), [13 * 80_000 - 800, 13 * 80_000 - 800]);
    }

    proptest! {
        #[test]
        fn reads_the_elements_of_any_region(
            dims in prop::collection::vec((1..9_u64, 0..9_u64, 1..4_u64), 0..4),
            last in (1..3000_u64, 0..3000_u64, 1..900_u64),
            size in prop::sample::select(vec![1, 3, 8]),
        ) {
            let axes: Vec<_> = dims.into_iter().chain([last]).collect();
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let start: Vec<u64> = axes.iter().map(|(extent, start, _)| start % extent).collect();
            let step: Vec<u64> = axes.iter().map(|axis| axis.2).collect();
            let count = shape.iter().zip(&start).zip(&step).map(|((n, start), step)| (n - start).div_ceil(*step));
            let region = Region { count: count.collect(), start, step };
            let all = element_count(&shape).unwrap() * size as u64;
            let all: Vec<u8> = (0..all).map(number).collect();
            let mut want = vec![0; usize::try_from(region.len().unwrap()).unwrap() * size];
            scatter(&all, &vec![0; shape.len()], &shape, &region, &mut want, size).unwrap();
            prop_assert!(run(&shape, &region, size).0 == want);
        }
    }

    #[test]
    fn reads_scalars_and_empty_regions() {
        assert_eq!(run(&[], &Region::all(&[]), 4).1, [4]);
        assert_eq!(run(&[5, 0], &Region::all(&[5, 0]), 4).1, []);
        assert!(
            read_contiguous(
                &|_, _| Ok(()),
                &[u64::MAX, 9],
                &Region::new(vec![0, 0], vec![1, 1]),
                8,
                &mut [0; 8]
            )
            .is_err()
        );
    }
}
