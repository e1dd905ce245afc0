//! Reads regions of arrays with several threads, each of which fills a part of the caller's memory.
//!
//! A region is cut at the borders of chunks, along the outermost dimension that gives every thread enough to
//! do, so that no chunk is decoded twice and no two threads write the same bytes. Parts are begun in the order
//! in which they are stored.

use crate::source::ArraySource;
use hyperslab_core::nd::{Bands, Planes, Region, bands};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Reference, Values};
use std::sync::mpsc::sync_channel;

/// Fills `rows` with the elements of `region`.
pub(crate) fn read<A: ArraySource + ?Sized>(
    array: &A,
    region: &Region,
    rows: &mut [u8],
    heap: &mut Heap<Reference>,
) -> Result<()> {
    let pool = array.pool();
    let row = array.datatype().row_size().unwrap_or(0);
    let division = match rows.len() >= LEAST_DIVIDED && array.is_divisible() {
        true => division(region, array.chunk(), rows.len(), pool.threads()),
        false => None,
    };
    let Some((dimension, cuts)) = division else {
        return pool.alone(|scratch| array.read_part(region, &mut Planes::whole(rows), heap, scratch));
    };
    let parts = Planes::cut(rows, region, dimension, &cuts, row)?;
    pool.each(parts, |(part, mut rows), scratch| {
        let mut none = Heap::default();
        array.read_part(&part, &mut rows, &mut none, scratch)?;
        match none.buffers.is_empty() && none.references.is_empty() {
            true => Ok(()),
            false => Err(Error::invalid("elements that point elsewhere were read in parts")),
        }
    })
}

/// Reads a region from its first element to its last within the memory of the pool, the next elements while
/// `take` has those before, with their number unless it is beyond counting.
///
/// # Errors
/// The first of reading or taking, and if a single element is more than memory holds.
pub(crate) fn stream(
    array: &dyn ArraySource,
    region: &Region,
    take: &mut dyn FnMut(Option<u64>, &Values) -> Result<()>,
) -> Result<()> {
    let row = array.datatype().row_size().ok_or_else(too_large)?;
    let pool = array.pool();
    let mut cut = untorn(region, array.chunk(), row, pool.memory())?;
    let Some(first) = cut.next() else { return Ok(()) };
    let mut rest = cut.peekable();
    if rest.peek().is_none() {
        return take(first.len(), &values(array, &first, row, Vec::new())?);
    }
    let (used, reused) = sync_channel::<Vec<u8>>(1);
    let make = move |send: &mut dyn FnMut((Option<u64>, Values)) -> Result<()>| {
        std::iter::once(first).chain(rest).try_for_each(|band| {
            let memory = reused.try_recv().unwrap_or_default();
            send((band.len(), values(array, &band, row, memory)?))
        })
    };
    pool.ahead(make, |(count, values)| {
        take(count, &values)?;
        // The rows are ours alone again once the values are gone.
        if let Ok(rows) = values.rows.try_into_mut() {
            // Only speed is lost if nobody wants them.
            let _ = used.try_send(rows.into());
        }
        Ok(())
    })
}

/// The values of a region, in memory that may have been used before.
fn values(array: &dyn ArraySource, region: &Region, row: usize, mut rows: Vec<u8>) -> Result<Values> {
    let count = region.len().and_then(|n| usize::try_from(n).ok());
    let len = count.and_then(|n| n.checked_mul(row)).ok_or_else(too_large)?;
    match len <= rows.len() {
        true => rows.truncate(len),
        false => rows = vec![0; len],
    }
    let mut heap = Heap::default();
    array.read(region, &mut rows, &mut heap)?;
    Ok(Values { rows: rows.into(), heap })
}

/// Bands of a moderate size, larger ones where these would tear chunks, which are then decoded several times.
fn untorn(region: &Region, chunk: &[u64], row: usize, memory: u64) -> Result<Bands> {
    // One band is taken while the next is read.
    let most = (memory / 3).max(LEAST_BAND);
    let mut size = USUAL_BAND.min(most);
    loop {
        let cut = bands(region, chunk, row, size)?;
        if !cut.tears_chunks() || size >= most {
            return Ok(cut);
        }
        size = size.saturating_mul(2).min(most);
    }
}

/// The dimension along which a region of `len` bytes is cut for so many threads, and the steps before which; none
/// if it has too few chunks.
fn division(region: &Region, chunk: &[u64], len: usize, threads: usize) -> Option<(usize, Vec<u64>)> {
    let (threads, len) = (threads as u64, len as u64);
    if threads < 2 {
        return None;
    }
    let wanted = threads.saturating_mul(PARTS_A_THREAD);
    let part = (len / wanted / 4).clamp(LEAST_PART, MOST_PART);
    let mut best: Option<(usize, Vec<u64>)> = None;
    let mut outer = 1_u64;
    let dims = region.start.iter().zip(&region.count).zip(&region.step).zip(chunk);
    for (dimension, (((start, count), step), chunk)) in dims.enumerate() {
        let step_bytes = (len / count.max(&1)).max(1);
        let cuts = cuts((*start, *count, *step), *chunk, (part / step_bytes).max(1));
        let parts = cuts.len() as u64 + 1;
        if outer.saturating_mul(parts) > MOST_SLICES {
            break;
        }
        if best.as_ref().is_none_or(|(_, best)| cuts.len() > best.len()) {
            best = Some((dimension, cuts));
        }
        if parts >= wanted {
            break;
        }
        outer = outer.saturating_mul(*count);
    }
    best.filter(|(_, cuts)| !cuts.is_empty())
}

/// The steps of one dimension before which it is cut: at borders of chunks that are at least `least` steps apart.
fn cuts((start, count, step): (u64, u64, u64), chunk: u64, least: u64) -> Vec<u64> {
    let (chunk, step) = (chunk.max(1), step.max(1));
    let reaching = |index: u64| index.saturating_sub(start).div_ceil(step);
    let mut cuts = Vec::new();
    let mut at = 0_u64;
    loop {
        let least = at.saturating_add(least);
        let border = least.saturating_mul(step).saturating_add(start) / chunk * chunk;
        at = match reaching(border) {
            step if step == least => step,
            _ => reaching(border.saturating_add(chunk)),
        };
        if at >= count {
            return cuts;
        }
        cuts.push(at);
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::LimitExceeded, "more elements than memory holds")
}

/// Bytes from which starting threads pays.
const LEAST_DIVIDED: usize = 512 << 10;
/// Parts of a region: short enough that all threads end together, long enough that handing out costs nothing.
const LEAST_PART: u64 = 256 << 10;
const MOST_PART: u64 = 4 << 20;
const PARTS_A_THREAD: u64 = 4;
/// Slices that the parts of a region may have in all; each takes 16 bytes.
const MOST_SLICES: u64 = 1 << 20;
/// Bytes of rows that are streamed at once.
const USUAL_BAND: u64 = 16 << 20;
const LEAST_BAND: u64 = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(region: &Region, chunk: &[u64], len: usize, threads: usize) -> Option<(usize, usize)> {
        division(region, chunk, len, threads).map(|(dimension, cuts)| (dimension, cuts.len() + 1))
    }

    #[test]
    fn regions_are_cut_along_the_outermost_dimension_that_feeds_all_threads() {
        let grid = |shape: &[u64], chunk: &[u64]| {
            let len = usize::try_from(shape.iter().product::<u64>() * 4).unwrap();
            parts(&Region::all(shape), chunk, len, 2)
        };
        // Rows of chunks of 4 MiB.
        assert_eq!(grid(&[240, 1024, 1024], &[1, 256, 256]), Some((0, 240)));
        // One row of chunks spans the first dimension, two do not feed two threads.
        assert_eq!(grid(&[240, 1024, 1024], &[240, 64, 64]), Some((1, 16)));
        assert_eq!(grid(&[240, 1024, 1024], &[120, 64, 64]), Some((1, 16)));
        assert_eq!(grid(&[2, 1024, 1024], &[1, 512, 1024]), Some((0, 2)));
        // One chunk has to be decoded by one thread.
        assert_eq!(grid(&[1000, 1000], &[1000, 1000]), None);
        // In one piece, in parts of 4 MiB.
        assert_eq!(grid(&[1 << 28], &[1]), Some((0, 256)));
        assert_eq!(parts(&Region::all(&[1 << 28]), &[1], 1 << 30, 1), None);
    }

    #[test]
    fn cuts_are_at_borders_of_chunks_for_any_start_and_step() {
        assert_eq!(cuts((0, 10, 1), 4, 1), [4, 8]);
        assert_eq!(cuts((3, 10, 1), 4, 1), [1, 5, 9]);
        assert_eq!(cuts((0, 10, 1), 4, 5), [8]);
        assert_eq!(cuts((1, 10, 3), 4, 1), [1, 3, 4, 5, 7, 8, 9]);
        assert!(cuts((u64::MAX - 1, 1, 1), u64::MAX, 1).is_empty());
    }

    #[test]
    fn bands_grow_before_they_tear_chunks() {
        let region = Region::all(&[240, 1024, 1024]);
        let of = |chunk: &[u64], memory| untorn(&region, chunk, 4, memory).unwrap().next().unwrap().count;
        assert_eq!(of(&[1, 1, 1], 512 << 20), [4, 1024, 1024]);
        assert_eq!(of(&[8, 256, 256], 512 << 20), [8, 1024, 1024]);
        assert_eq!(of(&[8, 256, 256], 16 << 20), [1, 1024, 1024]);
        assert_eq!(of(&[240, 64, 64], 512 << 20), [42, 1024, 1024]);
    }
}
