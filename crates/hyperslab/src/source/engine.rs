//! Reads regions of arrays with several threads. Each thread fills a part of the caller's memory.
//!
//! A region is divided at chunk borders, along as many dimensions, starting with the outermost, as it takes to give
//! every thread enough work. No chunk is decoded twice, and no two threads write the same bytes. Parts are started in
//! stored order.

mod content;
mod memory;
mod selection;

use crate::source::ArraySource;
use hyperslab_core::memory::Memory;
use hyperslab_core::nd::{Bands, Planes, Region, bands, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::FAR_REQUEST;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Reference, Values};
use std::sync::mpsc::sync_channel;

pub(crate) use content::{Allowed, bands as bands_of_content, halves};
pub(crate) use memory::element_memory;
pub(crate) use selection::{MAX_HULL, read_into as selected_into, values as selected};

/// Reads the elements of `region` to `rows`.
pub(crate) fn read<A: ArraySource + ?Sized>(
    array: &A,
    region: &Region,
    rows: &mut [u8],
    heap: &mut Heap<Reference>,
) -> Result<()> {
    let pool = array.pool();
    let row = array.datatype().row_size().unwrap_or(0);
    if let Some(cached) = array.cached_chunks()
        && cached.read(array, region, rows, row)?
    {
        return Ok(());
    }
    // The targets of slots are in the order of the elements, whatever the number of threads.
    let divisible = !rows.is_empty() && array.is_divisible() && !array.datatype().has_slots();
    // The token is checked between parts, even with one thread.
    let parts = match divisible && (pool.threads() > 1 || pool.cancel_token().can_cancel()) {
        true => parts(rows, region, array.chunk(), row, &Share::of(array))?,
        false => None,
    };
    if let Some(parts) = parts {
        let done = pool.each(parts, memory_for(array.chunk(), row), |(part, mut rows), scratch| {
            // Rows without slots have no targets.
            array.read_part(&part, &mut rows, &mut Heap::default(), scratch)
        });
        match done {
            // Several threads need more memory than one; only the read by one thread decides.
            Err(e) if e.kind() == ErrorKind::LimitExceeded => {}
            done => return done,
        }
    }
    pool.check()?;
    pool.alone(|scratch| array.read_part(region, &mut Planes::whole(rows), heap, scratch))
}

/// Reads the elements of `region` to new memory.
pub(crate) fn values<A: ArraySource + ?Sized>(array: &A, region: &Region) -> Result<Values> {
    let len = region.bytes(row_size(array)?)?;
    let mut allowed = Allowed::default();
    loop {
        let (mut rows, mut heap) = (Memory::zeroed(len)?, Heap::of_at_most(allowed.left()));
        match array.read(region, &mut rows, &mut heap) {
            Err(e) if e.kind() == ErrorKind::LimitExceeded && allowed.asks(array)? => {}
            read => return read.map(|()| Values { rows: rows.into(), heap }),
        }
    }
}

/// Reads a region from its first element to its last within the memory of the pool. While `take` processes some
/// elements, the next ones are read. `take` also receives the number of the first element, unless it overflows.
///
/// # Errors
/// The first error of reading or of `take`, and if a single element exceeds the memory.
pub(crate) fn stream(
    array: &dyn ArraySource,
    region: &Region,
    take: &mut dyn FnMut(Option<u64>, &Values) -> Result<()>,
) -> Result<()> {
    let usual = match array.datatype().has_slots() {
        true => USUAL_SLOTS,
        false if array.is_far() => FAR_REQUEST,
        false => USUAL_BAND,
    };
    stream_in(array, region, (element_memory(array, region), usual), take)
}

/// Reads in bands of about `usual` bytes, given the memory that an element takes.
fn stream_in(
    array: &dyn ArraySource,
    region: &Region,
    (memory, usual): (u64, u64),
    take: &mut dyn FnMut(Option<u64>, &Values) -> Result<()>,
) -> Result<()> {
    let row = row_size(array)?;
    let pool = array.pool();
    let mut cut = untorn(region, array.chunk(), memory, usual, pool.memory())?;
    let Some(first) = cut.next() else { return Ok(()) };
    let mut rest = cut.peekable();
    if array.datatype().has_slots() {
        let bands = std::iter::once(first).chain(rest);
        let make = |send: &mut dyn FnMut((Option<u64>, Values)) -> Result<()>| {
            let mut read = |band: &Region, most| values_in(array, band, (row, most), Vec::new());
            content::bands(&[array], array.chunk(), bands, &mut read, &mut |band, values: Values| {
                let bytes = values.heap.content.bytes;
                send((band.len(), values)).map(|()| bytes)
            })
        };
        return pool.ahead(make, |(count, values)| take(count, &values));
    }
    if rest.peek().is_none() {
        return take(first.len(), &values_in(array, &first, (row, u64::MAX), Vec::new())?);
    }
    let (used, reused) = sync_channel::<Vec<u8>>(1);
    let make = move |send: &mut dyn FnMut((Option<u64>, Values)) -> Result<()>| {
        std::iter::once(first).chain(rest).try_for_each(|band| {
            let memory = reused.try_recv().unwrap_or_default();
            send((band.len(), values_in(array, &band, (row, u64::MAX), memory)?))
        })
    };
    pool.ahead(make, |(count, values)| {
        take(count, &values)?;
        // The rows are unshared again once the values are dropped.
        if let Ok(rows) = values.rows.try_into_mut() {
            // If no thread takes them, this only costs speed.
            let _ = used.try_send(rows.into());
        }
        Ok(())
    })
}

/// The values of a region, in reused memory if possible. Rows have `row` bytes; what they refer to has at most
/// `content` bytes.
pub(crate) fn values_in(
    array: &dyn ArraySource,
    region: &Region,
    (row, content): (usize, u64),
    mut rows: Vec<u8>,
) -> Result<Values> {
    let len = region.bytes(row)?;
    match len <= rows.capacity() {
        true => rows.resize(len, 0),
        false => rows = vec![0; len],
    }
    let mut heap = Heap::of_at_most(content);
    array.read(region, &mut rows, &mut heap)?;
    Ok(Values { rows: rows.into(), heap })
}

/// Bands of moderate size; larger ones if these would split chunks, which would be decoded several times.
pub(crate) fn untorn(region: &Region, chunk: &[u64], row: u64, usual: u64, memory: u64) -> Result<Bands> {
    // One band is processed while the next is read.
    let row = usize::try_from(row).unwrap_or(usize::MAX);
    let max = (memory / 3).max(MIN_BAND);
    let mut size = usual.min(max);
    loop {
        let cut = bands(region, chunk, row, size)?;
        if !cut.tears_chunks() || size >= max {
            return Ok(cut);
        }
        size = size.saturating_mul(2).min(max);
    }
}

/// The size in bytes of the chunks that contain elements of a region, which must be decoded.
fn work(region: &Region, chunk: &[u64], row: usize) -> u64 {
    let dims = region.count.iter().zip(&region.step).zip(chunk);
    dims.fold(row as u64, |work, ((count, step), chunk)| {
        let chunks = count.saturating_sub(1).saturating_mul(*step) / chunk.max(&1) + 1;
        work.saturating_mul(chunks.min(*count).saturating_mul(*chunk))
    })
}

/// The memory that a thread needs for chunks in progress, in bytes: stored, decoded, intermediate, converted.
fn memory_for(chunk: &[u64], row: usize) -> u64 {
    element_count(chunk).unwrap_or(u64::MAX).saturating_mul(row as u64).saturating_mul(4)
}

/// How finely a region is divided.
struct Share {
    min_parts: u64,
    /// The number of parts for each of these, if parts are not too small, so that all threads end together.
    finer: u64,
    /// The size in bytes above which a part is divided if it has several chunks.
    max_part: u64,
}

impl Share {
    /// From remote storage, a thread requests its whole part at once; the parts in progress fit into the memory.
    fn of<A: ArraySource + ?Sized>(array: &A) -> Share {
        let threads = array.pool().threads().max(1) as u64;
        match array.is_far() {
            true => Share::far(threads, array.pool().memory()),
            false => Share::near(threads),
        }
    }

    fn far(threads: u64, memory: u64) -> Share {
        Share { min_parts: threads, finer: 1, max_part: FAR_REQUEST.min(memory / 4 / threads) }
    }

    fn near(threads: u64) -> Share {
        Share { min_parts: threads.saturating_mul(PARTS_A_THREAD), finer: 4, max_part: MAX_PART }
    }
}

/// The rows of a region in parts; `None` if there are too few chunks or too little work.
fn parts<'r>(
    rows: &'r mut [u8],
    region: &Region,
    chunk: &[u64],
    row: usize,
    share: &Share,
) -> Result<Option<Vec<(Region, Planes<'r>)>>> {
    let division = division(region, chunk, work(region, chunk, row), share);
    if division.is_empty() {
        return Ok(None);
    }
    let mut parts = vec![(region.clone(), Planes::whole(rows))];
    for (dimension, cuts) in division {
        let mut finer = Vec::new();
        for (region, planes) in parts {
            finer.extend(planes.cut(&region, dimension, &cuts, row)?);
        }
        parts = finer;
    }
    Ok(Some(parts))
}

/// The dimensions along which a region is divided into at least `min_parts` parts, and the steps of the borders. Empty
/// if the work is too small.
fn division(region: &Region, chunk: &[u64], len: u64, share: &Share) -> Vec<(usize, Vec<u64>)> {
    let mut division = Vec::new();
    if len < MIN_DIVIDED {
        return division;
    }
    let Share { min_parts, finer, max_part } = *share;
    let part = (len / min_parts / finer).clamp(MIN_PART, max_part.max(MIN_PART));
    let (mut outer, mut parts) = (1_u64, 1_u64);
    let dims = region.start.iter().zip(&region.count).zip(&region.step).zip(chunk);
    for (dimension, (((start, count), step), chunk)) in dims.enumerate() {
        let step_bytes = (len / parts / count.max(&1)).max(1);
        let cuts = cuts((*start, *count, *step), *chunk, (part / step_bytes).max(1));
        if outer.saturating_mul(cuts.len() as u64 + 1) > MAX_SLICES {
            break;
        }
        if !cuts.is_empty() {
            parts = parts.saturating_mul(cuts.len() as u64 + 1);
            division.push((dimension, cuts));
        }
        if parts >= min_parts {
            break;
        }
        outer = outer.saturating_mul(*count);
    }
    division
}

/// The steps of one dimension at which it is divided: at chunk borders that are at least `min` steps apart.
pub(crate) fn cuts((start, count, step): (u64, u64, u64), chunk: u64, min: u64) -> Vec<u64> {
    let (chunk, step) = (chunk.max(1), step.max(1));
    let reaching = |index: u64| index.saturating_sub(start).div_ceil(step);
    let mut cuts = Vec::new();
    let mut at = 0_u64;
    loop {
        let earliest = at.saturating_add(min);
        let border = earliest.saturating_mul(step).saturating_add(start) / chunk * chunk;
        at = match reaching(border) {
            step if step == earliest => step,
            _ => reaching(border.saturating_add(chunk)),
        };
        if at >= count {
            return cuts;
        }
        cuts.push(at);
    }
}

/// The size of an element in memory in bytes.
pub(crate) fn row_size<A: ArraySource + ?Sized>(array: &A) -> Result<usize> {
    array
        .datatype()
        .row_size()
        .ok_or_else(|| Error::new(ErrorKind::LimitExceeded, "elements larger than memory"))
}

/// The minimum work in bytes for starting threads.
const MIN_DIVIDED: u64 = 512 << 10;
/// The number of parts of a region per thread: enough that all threads end together, but few enough that distribution
/// costs nothing.
const MIN_PART: u64 = 256 << 10;
const MAX_PART: u64 = 4 << 20;
const PARTS_A_THREAD: u64 = 4;
/// The maximum number of slices of all parts of a region; each takes 16 bytes.
const MAX_SLICES: u64 = 1 << 20;
/// The number of bytes of rows that are streamed at a time.
pub(crate) const USUAL_BAND: u64 = 16 << 20;
/// The number of bytes of elements with slots that are streamed at a time, with the targets of the slots.
pub(crate) const USUAL_SLOTS: u64 = 8 << 20;
const MIN_BAND: u64 = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use crate::source::testing::Numbers;
    use hyperslab_core::nd::{Selection, scatter};
    use proptest::prelude::*;

    fn numbered(shape: &[u64], chunk: &[u64], threads: usize) -> Numbers {
        Numbers::new(shape, chunk, Pool::new(threads, Pool::MEMORY))
    }

    /// The numbers of a region, computed one by one.
    fn expected(numbers: &Numbers, region: &Region) -> Vec<u8> {
        let all: Vec<u8> = (0..numbers.shape.iter().product::<u64>()).flat_map(u64::to_ne_bytes).collect();
        let mut out = vec![0; region.bytes(8).unwrap()];
        scatter(&all, &vec![0; region.rank()], &numbers.shape, region, &mut out, 8).unwrap();
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn any_region_is_the_same_with_any_number_of_threads(
            axes in prop::collection::vec((2..5_u64, 1..5_u64, 0..3_u64, 1..3_u64), 1..3),
            last in (10_000..30_000_u64, 100..9000_u64),
            threads in 1..5_usize,
        ) {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).chain([last.0]).collect();
            let chunk: Vec<u64> = axes.iter().map(|axis| axis.1).chain([last.1]).collect();
            let numbers = numbered(&shape, &chunk, threads);
            let mut region = Region::all(&shape);
            for (dimension, (extent, _, start, step)) in axes.iter().enumerate() {
                let start = start % extent;
                region.start[dimension] = start;
                region.step[dimension] = *step;
                region.count[dimension] = (extent - start).div_ceil(*step);
            }
            let mut out = vec![0; region.bytes(8).unwrap()];
            numbers.read(&region, &mut out, &mut Heap::default()).unwrap();
            prop_assert!(out == expected(&numbers, &region));
            prop_assert_eq!(numbers.most_often(), 1);

            numbers.read.lock().unwrap().clear();
            let mut streamed = Vec::new();
            stream_in(&numbers, &region, (8, 100_000), &mut |_, values| {
                streamed.extend_from_slice(&values.rows);
                Ok(())
            }).unwrap();
            prop_assert!(streamed == out);
            // Only a chunk within which a band begins is read twice, for both bands that it belongs to.
            prop_assert!(numbers.most_often() <= 2);
        }
    }

    #[test]
    fn one_thread_after_another_reads_all_that_it_is_given() {
        let numbers = numbered(&[240, 100, 100], &[240, 10, 10], 2);
        let region = Region::all(&numbers.shape);
        let values = numbers.values(&region).unwrap();
        assert!(values.rows == expected(&numbers, &region));
        assert_eq!(numbers.most_often(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn points_boxes_and_masks_come_in_their_order_from_chunks_read_once(
            points in prop::collection::vec((0..7_u64, 0..11_u64, 0..3000_u64), 0..40),
            boxes in prop::collection::vec((0..4_u64, 0..5_u64, 1..3_u64, 0..2000_u64), 1..5),
            mask in prop::collection::vec(any::<bool>(), 11 * 13),
            chunk in (1..4_u64, 1..5_u64, 1..2000_u64),
            threads in 1..4_usize,
        ) {
            let numbers = numbered(&[7, 11, 3000], &[chunk.0, chunk.1, chunk.2], threads);
            let coordinates = points.iter().flat_map(|(a, b, c)| [*a, *b, *c]).collect();
            let blocks = boxes.iter().map(|(a, b, step, c)| Region {
                start: vec![*a, *b, *c],
                count: vec![2, 3, 300],
                step: vec![*step, 2, *step],
            });
            for selection in [Selection::Points { rank: 3, coordinates }, Selection::Blocks(blocks.collect())] {
                numbers.read.lock().unwrap().clear();
                let values = numbers.select(&selection).unwrap();
                let mut elements = selection.elements(&numbers.shape).unwrap();
                let mut want = Vec::new();
                while let Some(element) = elements.next_element() {
                    want.extend(numbers.place(element).to_ne_bytes());
                }
                prop_assert!(values.rows == want);
                prop_assert!(numbers.most_often() <= 1);
            }
            let small = numbered(&[11, 13], &[3, 4], threads);
            let values = small.select(&Selection::of_mask(&[11, 13], &mask).unwrap()).unwrap();
            let want = (0..11 * 13).zip(&mask).filter(|(_, wanted)| **wanted);
            prop_assert!(values.rows == want.flat_map(|(i, _): (u64, _)| i.to_ne_bytes()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn selections_of_nothing_and_of_scalars() {
        let numbers = numbered(&[3, 4], &[2, 2], 2);
        assert!(numbers.select(&Selection::None).unwrap().rows.is_empty());
        assert_eq!(numbers.select(&Selection::All).unwrap().rows.len(), 96);
        assert!(numbers.select(&Selection::Points { rank: 2, coordinates: vec![3, 0] }).is_err());
        let scalar = numbered(&[], &[], 2);
        let values = scalar.select(&Selection::of_mask(&[], &[true]).unwrap()).unwrap();
        assert_eq!(values.rows, 0_u64.to_ne_bytes()[..]);
        assert!(Selection::of_mask(&[2, 2], &[true]).is_err());
    }

    #[test]
    fn a_token_ends_large_reads_and_streams_with_any_number_of_threads() {
        use hyperslab_core::CancelToken;
        use std::time::{Duration, Instant};
        for threads in [1, 2] {
            // Takes seconds: 256 MiB of numbers that are generated one by one.
            let read: [fn(&Numbers) -> Result<()>; 2] = [
                |numbers| numbers.values(&Region::all(&numbers.shape)).map(|_| ()),
                |numbers| stream(numbers, &Region::all(&numbers.shape), &mut |_, _| Ok(())),
            ];
            for read in read {
                let delays = (0..5).map(|_| {
                    let token = CancelToken::new();
                    let pool = Pool::new(threads, Pool::MEMORY).with_cancel(token.clone());
                    let numbers = Numbers::new(&[1 << 25], &[1 << 12], pool);
                    std::thread::scope(|scope| {
                        let cancelling = scope.spawn(move || {
                            std::thread::sleep(Duration::from_millis(100));
                            token.cancel();
                            Instant::now()
                        });
                        assert_eq!(read(&numbers).unwrap_err().kind(), ErrorKind::Cancelled);
                        let ended = Instant::now();
                        ended.saturating_duration_since(cancelling.join().unwrap())
                    })
                });
                // The best of several tries, as other tests may be using the processors.
                let shortest = delays.min().unwrap();
                assert!(shortest < Duration::from_millis(100), "{shortest:?} with {threads} threads");
            }
        }
    }

    #[test]
    fn errors_end_streams() {
        let numbers = numbered(&[1 << 22], &[1 << 16], 2);
        let mut taken = 0;
        let e = stream(&numbers, &Region::all(&[1 << 22]), &mut |_, _| {
            taken += 1;
            Err(Error::invalid("enough"))
        });
        assert_eq!((e.unwrap_err().to_string().as_str(), taken), ("enough", 1));
    }

    #[test]
    fn regions_are_cut_along_the_outermost_dimensions_that_feed_all_threads() {
        let parts_of = |region: &Region, chunk: &[u64], len| -> Vec<(usize, usize)> {
            let division = division(region, chunk, len, &Share::near(2));
            division.into_iter().map(|(dimension, cuts)| (dimension, cuts.len() + 1)).collect()
        };
        let grid = |shape: &[u64], chunk: &[u64]| {
            parts_of(&Region::all(shape), chunk, shape.iter().product::<u64>() * 4)
        };
        // Rows of chunks of 4 MiB.
        assert_eq!(grid(&[240, 1024, 1024], &[1, 256, 256]), [(0, 240)]);
        // One row of chunks spans the first dimension, two do not feed two threads.
        assert_eq!(grid(&[240, 1024, 1024], &[240, 64, 64]), [(1, 16)]);
        assert_eq!(grid(&[240, 1024, 1024], &[120, 64, 64]), [(0, 2), (1, 16)]);
        assert_eq!(grid(&[2, 1024, 1024], &[1, 512, 1024]), [(0, 2), (1, 2)]);
        // With few large parts, one thread may have a whole part left when the others are done.
        assert_eq!(grid(&[512, 512, 1024], &[128, 128, 128]), [(0, 4), (1, 4)]);
        // A column has few bytes, but it requires decoding all chunks.
        let column = Region::new(vec![0, 5, 5], vec![240, 1, 1]);
        let chunks = work(&column, &[1, 512, 512], 4);
        assert_eq!(chunks, 240 << 20);
        assert!(parts_of(&column, &[1, 512, 512], chunks)[0].1 > 50);
        assert_eq!(work(&column, &[1, 1, 1], 4), 960);
        // One chunk has to be decoded by one thread.
        assert_eq!(grid(&[1000, 1000], &[1000, 1000]), []);
        // In one piece, in parts of 4 MiB.
        assert_eq!(grid(&[1 << 28], &[1]), [(0, 256)]);
        // More slices would take more memory than they are worth.
        assert_eq!(grid(&[1 << 18, 64, 64], &[1 << 18, 64, 8]), []);
    }
    #[test]
    fn regions_of_remote_storage_are_cut_into_parts_of_the_size_of_requests() {
        let parts_of = |shape: &[u64], chunk: &[u64], threads, memory| {
            let share = Share::far(threads, memory);
            let division = division(&Region::all(shape), chunk, shape.iter().product::<u64>() * 4, &share);
            division.iter().map(|(_, cuts)| cuts.len() + 1).product::<usize>()
        };
        // 64 chunks of 256 KiB, 1 MiB and 4 MiB.
        assert_eq!(parts_of(&[64, 256, 256], &[1, 256, 256], 2, 512 << 20), 2);
        assert_eq!(parts_of(&[64, 512, 512], &[1, 512, 512], 2, 512 << 20), 2);
        assert_eq!(parts_of(&[64, 1024, 1024], &[1, 1024, 1024], 2, 512 << 20), 4);
        assert_eq!(parts_of(&[64, 1024, 1024], &[1, 1024, 1024], 8, 512 << 20), 16);
        assert_eq!(parts_of(&[64, 1024, 1024], &[1, 1024, 1024], 2, 64 << 20), 32);
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
        let of = |chunk: &[u64], memory| {
            untorn(&region, chunk, 4, USUAL_BAND, memory).unwrap().next().unwrap().count
        };
        assert_eq!(of(&[1, 1, 1], 512 << 20), [4, 1024, 1024]);
        assert_eq!(of(&[8, 256, 256], 512 << 20), [8, 1024, 1024]);
        assert_eq!(of(&[8, 256, 256], 16 << 20), [1, 1024, 1024]);
        assert_eq!(of(&[240, 64, 64], 512 << 20), [42, 1024, 1024]);
    }
}
