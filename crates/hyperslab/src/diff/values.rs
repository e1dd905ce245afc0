//! Compares the elements of two arrays, in parts that are small compared with the memory.

use crate::select::Selected;
use crate::source::engine::{
    USUAL_BAND, USUAL_SLOTS, bands_of_content, element_memory, row_size, untorn, values_in,
};
use crate::source::{ArraySource, StoredChunk};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{ChunkGrid, Planes, Region, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Elements, Rules, Tally, Values};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An array and its compared elements.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub(super) array: &'a dyn ArraySource,
    pub(super) selected: &'a Selected,
}

/// The error of each side that could not be read.
#[derive(Debug, Default)]
pub(super) struct Failed {
    pub(super) a: Option<Error>,
    pub(super) b: Option<Error>,
}

/// Compares selections of equal counts. Calls `done` with the number of compared bytes of the first array, and also
/// returns it.
pub(super) fn compare(
    a: Operand<'_>,
    b: Operand<'_>,
    rules: &Rules,
    done: &mut dyn FnMut(u64),
) -> std::result::Result<(Tally, u64), Failed> {
    let rows = match (row_size(a.array), row_size(b.array)) {
        (Ok(x), Ok(y)) => (x, y),
        (x, y) => return Err(Failed { a: x.err(), b: y.err() }),
    };
    let pair = Pair { a: a.array, b: b.array, rows, rules, failed: Mutex::default() };
    let mut comparison = Comparison { pair: &pair, done, tally: Tally::default(), bytes: 0 };
    let compared = match (a.selected.as_region(), b.selected.as_region()) {
        (Some(x), Some(y)) if x.count == y.count => comparison.regions(&x, &y),
        _ => comparison.pieces(a.selected, b.selected),
    };
    let (tally, bytes) = (comparison.tally, comparison.bytes);
    let failed = unpoisoned(&pair.failed).take();
    match compared {
        Ok(()) => Ok((tally, bytes)),
        // An error before reading concerns both arrays; it is reported for the first.
        Err(error) => Err(failed.map_or(Failed { a: Some(error), b: None }, |(_, failed)| failed)),
    }
}

/// The differences found so far.
struct Comparison<'a, 'd> {
    pair: &'a Pair<'a>,
    done: &'d mut dyn FnMut(u64),
    tally: Tally,
    bytes: u64,
}

impl Comparison<'_, '_> {
    fn regions(&mut self, x: &Region, y: &Region) -> Result<()> {
        if self.is_unwritten(x, y)? {
            return Ok(());
        }
        let slots = [self.pair.a, self.pair.b]
            .iter()
            .any(|array| array.datatype().has_slots() || !array.is_divisible());
        if slots || x != y || !x.is_box() {
            return self.bands(x, y);
        }
        match (self.pair.stored_alike(), self.pair.block(x)) {
            (Some(chunk), _) => self.parts(x, &chunk, true),
            (None, Some(block)) => self.parts(x, &block, false),
            (None, None) => self.bands(x, y),
        }
    }

    /// Compares only the fill values if neither array was ever written. Returns whether that is enough.
    fn is_unwritten(&mut self, x: &Region, y: &Region) -> Result<bool> {
        let Some(count) = x.len().filter(|count| self.pair.bytes_of(*count) > MIN_UNWRITTEN) else {
            return Ok(false);
        };
        let unwritten = |array: &dyn ArraySource| array.is_unwritten().unwrap_or(false);
        if !unwritten(self.pair.a) || !unwritten(self.pair.b) {
            return Ok(false);
        }
        let first = |of: &Region| Region::new(of.start.clone(), vec![1; of.rank()]);
        let values = self.pair.read(&first(x), &first(y), u64::MAX)?;
        let tally = self.pair.tally_of(&values.0, &values.1);
        if tally.differing > 0 {
            return Ok(false);
        }
        self.tally.compared = count;
        Ok(true)
    }

    /// Compares parts with all threads. If `stored`, parts are chunks, and their stored bytes are compared first.
    fn parts(&mut self, region: &Region, block: &[u64], stored: bool) -> Result<()> {
        let grid = ChunkGrid::regular(block)?;
        let mut blocks = grid.chunks_in(region)?;
        let bytes = element_count(block)
            .unwrap_or(u64::MAX)
            .saturating_mul(4 * self.pair.rows.0.max(self.pair.rows.1) as u64);
        let buffers: Mutex<Vec<Buffers>> = Mutex::default();
        let tally = Mutex::new(std::mem::take(&mut self.tally));
        let mut number = 0;
        loop {
            let mut batch = Vec::with_capacity(PARTS_AT_ONCE);
            while batch.len() < PARTS_AT_ONCE
                && let Some(block) = blocks.next_chunk()
            {
                if let Some(part) = region.intersect(&block.start, &block.shape)? {
                    batch.push((number, part));
                    number += 1;
                }
            }
            if batch.is_empty() {
                break;
            }
            let elements: u64 = batch.iter().filter_map(|(_, part)| part.len()).sum();
            self.pair.a.pool().each(batch, bytes, |(number, part), scratch| {
                let mut buffer = unpoisoned(&buffers).pop().unwrap_or_default();
                let same = stored && self.pair.is_stored_same(block, &part, &mut buffer);
                let same = same || self.pair.is_same_fill(number, &part, &mut buffer, scratch)?;
                let found = match part.len().filter(|_| same) {
                    Some(compared) => Tally { compared, ..Tally::default() },
                    None => self.pair.part(number, &part, &mut buffer, scratch)?,
                };
                unpoisoned(&buffers).push(buffer);
                unpoisoned(&tally)
                    .add(found, self.pair.rules.max_reported, |index| number_in(region, &part, index));
                Ok(())
            })?;
            self.bytes = self.bytes.saturating_add(self.pair.bytes_of(elements));
            (self.done)(self.bytes);
        }
        self.tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(())
    }

    /// Compares bands, and reads the next band of both arrays while one is compared.
    fn bands(&mut self, x: &Region, y: &Region) -> Result<()> {
        let row = element_memory(self.pair.a, x).max(element_memory(self.pair.b, y));
        let usual = self.pair.usual();
        let pool = self.pair.a.pool();
        let chunk: Vec<u64> =
            self.pair.a.chunk().iter().zip(self.pair.b.chunk()).map(|(x, y)| *x.max(y)).collect();
        // Bands of both arrays share the memory.
        let bands = untorn(x, &chunk, row, usual / 2, pool.memory() / 2)?;
        let pair = self.pair;
        let make = move |send: &mut dyn FnMut((Values, Values)) -> Result<()>| {
            let mut read = |band: &Region, most: u64| pair.read(band, &same_steps(x, band, y), most);
            bands_of_content(&[pair.a, pair.b], &chunk, bands, &mut read, &mut |_, (a, b)| {
                let named = a.heap.content.bytes.saturating_add(b.heap.content.bytes);
                send((a, b)).map(|()| named)
            })
        };
        pool.ahead(make, |(a, b)| self.take(&a, &b))
    }

    /// Compares selections that are not regions, or have different numbers of dimensions.
    fn pieces(&mut self, x: &Selected, y: &Selected) -> Result<()> {
        // Assumes the usual size for the targets of slots: the elements are not in a region that could be sampled.
        let slots = [self.pair.a, self.pair.b].iter().any(|array| array.datatype().has_slots());
        let row = self.pair.rows.0.max(self.pair.rows.1).max(1) as u64 * if slots { 8 } else { 1 };
        let max = (self.pair.usual().min(self.pair.a.pool().memory() / 8) / row).max(1);
        for (number, (piece, other)) in (0..).zip(x.pieces(max).zip(y.pieces(max))) {
            let (a, b) = self.pair.both(number, piece.read(self.pair.a), other.read(self.pair.b))?;
            self.take(&a, &b)?;
        }
        Ok(())
    }

    /// Compares the next elements, which follow the previous ones.
    fn take(&mut self, a: &Values, b: &Values) -> Result<()> {
        let found = self.pair.tally_of(a, b);
        let before = self.tally.compared;
        self.tally.add(found, self.pair.rules.max_reported, |index| before.saturating_add(index));
        self.bytes = self.bytes.saturating_add(a.rows.len() as u64);
        (self.done)(self.bytes);
        Ok(())
    }
}

/// Two arrays whose elements can be compared.
struct Pair<'a> {
    a: &'a dyn ArraySource,
    b: &'a dyn ArraySource,
    /// The size of an element of each array in bytes.
    rows: (usize, usize),
    rules: &'a Rules,
    /// The number of the first part that could not be read, with the errors.
    failed: Mutex<Option<(u64, Failed)>>,
}

/// Memory for a part of each array.
type Buffers = (Vec<u8>, Vec<u8>);

impl Pair<'_> {
    /// The shape of parts that consist of whole chunks of both arrays and fit into the processor cache; `None` if the
    /// chunk shapes differ so much that parts would be too large.
    fn block(&self, region: &Region) -> Option<Vec<u64>> {
        let row = self.rows.0.max(self.rows.1) as u64;
        let mut block = Vec::with_capacity(region.rank());
        for ((x, y), count) in self.a.chunk().iter().zip(self.b.chunk()).zip(&region.count) {
            block.push(common_multiple((*x).max(1), (*y).max(1)).min((*count).max(1)));
        }
        let mut bytes = element_count(&block)?.checked_mul(row)?;
        let pool = self.a.pool();
        let max = pool.memory() / (4 * pool.threads() as u64);
        if bytes > max.min(MAX_PART) {
            return None;
        }
        for (extent, count) in block.iter_mut().zip(&region.count).rev() {
            let times = (USUAL_PART / bytes.max(1)).min(count.div_ceil((*extent).max(1))).max(1);
            *extent = extent.checked_mul(times)?;
            bytes = bytes.saturating_mul(times);
            if *extent < *count {
                break;
            }
        }
        Some(block)
    }

    /// The chunk shape, if equal stored bytes are equal elements in both arrays.
    fn stored_alike(&self) -> Option<Vec<u64>> {
        let (form, other) = self.a.stored_form().zip(self.b.stored_form())?;
        if !form.is_like(&other) {
            return None;
        }
        let row = self.rows.0.max(self.rows.1) as u64;
        let bytes = element_count(&form.chunk)?.checked_mul(row)?;
        let pool = self.a.pool();
        let fits = bytes <= pool.memory() / (4 * pool.threads() as u64);
        (fits && self.a.datatype().resolved() == self.b.datatype().resolved()).then_some(form.chunk)
    }

    /// Whether the chunk that contains `part` has the same stored bytes in both arrays.
    fn is_stored_same(&self, chunk: &[u64], part: &Region, buffers: &mut Buffers) -> bool {
        let start: Vec<u64> =
            part.start.iter().zip(chunk).map(|(at, size)| at - at % (*size).max(1)).collect();
        let here = |array: &dyn ArraySource, out: &mut Vec<u8>| match array.stored_chunk(&start, out) {
            Ok(StoredChunk::Here { len, filter_mask: 0 }) => Some(len),
            // Reading the elements will report the error.
            Ok(StoredChunk::Nothing | StoredChunk::Here { .. } | StoredChunk::Other) | Err(_) => None,
        };
        let lens = here(self.a, &mut buffers.0).zip(here(self.b, &mut buffers.1));
        lens.is_some_and(|(a, b)| {
            let stored = buffers.0.get(..a).zip(buffers.1.get(..b));
            stored.is_some_and(|(a, b)| !a.is_empty() && a == b)
        })
    }

    /// Whether a part was never written in both arrays, and their fill values are equal.
    fn is_same_fill(
        &self,
        number: u64,
        part: &Region,
        buffers: &mut Buffers,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let unwritten = |array: &dyn ArraySource| array.is_unwritten_in(part).unwrap_or(false);
        if part.is_empty() || !unwritten(self.a) || !unwritten(self.b) {
            return Ok(false);
        }
        let first = Region::new(part.start.clone(), vec![1; part.rank()]);
        Ok(self.part(number, &first, buffers, scratch)?.differing == 0)
    }

    fn part(
        &self,
        number: u64,
        part: &Region,
        buffers: &mut Buffers,
        scratch: &mut Scratch,
    ) -> Result<Tally> {
        let mut read = |array: &dyn ArraySource, row: usize, rows: &mut Vec<u8>| {
            rows.resize(part.bytes(row)?, 0);
            // Rows without slots have no content in the heap.
            array.read_part(part, &mut Planes::whole(rows), &mut Heap::default(), scratch)
        };
        let a = read(self.a, self.rows.0, &mut buffers.0);
        let b = read(self.b, self.rows.1, &mut buffers.1);
        self.both(number, a, b)?;
        let heap = Heap::default();
        let a = Elements::of(self.a.datatype(), &buffers.0, &heap);
        let b = Elements::of(self.b.datatype(), &buffers.1, &heap);
        Ok(Tally::of(a, b, self.rules))
    }

    fn tally_of(&self, a: &Values, b: &Values) -> Tally {
        Tally::of(Elements::new(self.a.datatype(), a), Elements::new(self.b.datatype(), b), self.rules)
    }

    fn usual(&self) -> u64 {
        let slots = [self.a, self.b].iter().any(|array| array.datatype().has_slots());
        if slots { USUAL_SLOTS } else { USUAL_BAND }
    }

    fn bytes_of(&self, count: u64) -> u64 {
        count.saturating_mul(self.rows.0 as u64)
    }

    /// Reads a band of both arrays, each of which may refer to at most `most` bytes of content.
    fn read(&self, x: &Region, y: &Region, most: u64) -> Result<(Values, Values)> {
        let a = values_in(self.a, x, (self.rows.0, most), Vec::new());
        let b = values_in(self.b, y, (self.rows.1, most), Vec::new());
        // A band with too much content is read in parts.
        let over = |e: &Error| e.kind() == ErrorKind::LimitExceeded;
        let is_over = [a.as_ref().err(), b.as_ref().err()].into_iter().flatten().any(over);
        *unpoisoned(&self.failed) = None;
        self.both(0, a, b).map_err(|e| match is_over {
            true => Error::new(ErrorKind::LimitExceeded, e.detail().to_owned()),
            false => e,
        })
    }

    /// Both results. An error is recorded; of several errors, that of the first part is kept.
    fn both<A, B>(&self, number: u64, a: Result<A>, b: Result<B>) -> Result<(A, B)> {
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) => return Ok((a, b)),
            (a, b) => (a.err(), b.err()),
        };
        let mut failed = unpoisoned(&self.failed);
        if failed.as_ref().is_none_or(|(first, _)| number < *first) {
            *failed = Some((number, Failed { a, b }));
        }
        Err(Error::invalid("one of the two cannot be read"))
    }
}

/// The region of `y` that corresponds to the region `part` of `x`.
fn same_steps(x: &Region, part: &Region, y: &Region) -> Region {
    let mut same = y.clone();
    let steps = part.start.iter().zip(&x.start).zip(&x.step).zip(&part.count);
    for ((start, count), (((at, first), step), own)) in same.start.iter_mut().zip(&mut same.count).zip(steps)
    {
        let skipped = at.saturating_sub(*first) / (*step).max(1);
        *start = start.saturating_add(skipped);
        *count = *own;
    }
    for ((start, of_y), step) in same.start.iter_mut().zip(&y.start).zip(&y.step) {
        *start = of_y.saturating_add(start.saturating_sub(*of_y).saturating_mul(*step));
    }
    same
}

/// The row-major number in `region` of the element number `index` of `part`.
fn number_in(region: &Region, part: &Region, index: u64) -> u64 {
    let (mut rest, mut number, mut stride) = (index, 0_u64, 1_u64);
    let dims = region.start.iter().zip(&region.count).zip(part.start.iter().zip(&part.count));
    for ((start, count), (own, own_count)) in dims.rev() {
        let own_count = (*own_count).max(1);
        let along = own.saturating_sub(*start).saturating_add(rest % own_count);
        number = number.saturating_add(along.saturating_mul(stride));
        rest /= own_count;
        stride = stride.saturating_mul(*count);
    }
    number
}

/// The least common multiple; `u64::MAX` on overflow.
fn common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The usual size in bytes of a part of one array that a thread compares at a time.
const USUAL_PART: u64 = 256 << 10;
/// The maximum size of a part, for large chunks.
const MAX_PART: u64 = 8 << 20;
/// The number of parts that are distributed to the threads at a time.
const PARTS_AT_ONCE: usize = 256;
/// The minimum size in bytes of arrays for which the search for written chunks is worth its cost.
const MIN_UNWRITTEN: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use crate::source::testing::{Nothing, Numbers};
    use hyperslab_model::{Shape, Tolerance};
    use proptest::prelude::*;

    fn select(selection: &str, shape: &[u64]) -> Selected {
        let texts: Vec<crate::select::Select> = Some(selection)
            .filter(|text| !text.is_empty())
            .map(|text| text.parse().unwrap())
            .into_iter()
            .collect();
        Selected::new(&Nothing, &texts, &Shape::fixed(shape)).unwrap()
    }

    fn rules(max_reported: usize) -> Rules {
        Rules { tolerance: Tolerance::default(), max_reported, show: hyperslab_ndl::json, ..Rules::EXACT }
    }

    fn compared(a: &Numbers, b: &Numbers, selected: &Selected) -> std::result::Result<Tally, Failed> {
        let operand = |array| Operand { array, selected };
        compare(operand(a), operand(b), &rules(5), &mut |_| {}).map(|(tally, _)| tally)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn finds_changed_elements_at_their_positions(
            axes in prop::collection::vec((1..6_u64, 1..6_u64, 1..6_u64), 0..3),
            last in (1000..9000_u64, 100..2000_u64, 100..2000_u64),
            changed in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
            (threads, memory) in (1..3_usize, prop::sample::select(vec![1_u64 << 20, 512 << 20])),
            selection in prop::sample::select(vec!["", "...,1:-1", "...,::3", "...,[5,2,2,90]", "...,7"]),
        ) {
            let axes: Vec<_> = axes.into_iter().chain([last]).collect();
            let of = |which: fn(&(u64, u64, u64)) -> u64| axes.iter().map(which).collect::<Vec<_>>();
            let (shape, pool) = (of(|axis| axis.0), Pool::new(threads, memory));
            let a = Numbers::new(&shape, &of(|axis| axis.1), pool.clone());
            let mut b = Numbers::new(&shape, &of(|axis| axis.2), pool);
            for index in &changed {
                let place = index.index(usize::try_from(shape.iter().product::<u64>()).unwrap()) as u64;
                let number = -1 - b.number(place);
                b.changed.insert(place, number);
            }
            let selected = select(selection, &shape);
            let count = selected.counts().iter().product::<u64>();
            let differing: Vec<u64> = (0..count)
                .filter(|index| {
                    let place = a.place(&selected.position(*index));
                    a.number(place) != b.number(place)
                })
                .collect();
            let tally = compared(&a, &b, &selected).unwrap_or_else(|_| panic!("unreadable"));
            prop_assert_eq!(tally.compared, count);
            prop_assert_eq!(tally.differing, differing.len() as u64);
            let first: Vec<u64> = tally.first.iter().map(|pair| pair.index).collect();
            prop_assert_eq!(&first[..], &differing[..differing.len().min(5)]);
            for pair in &tally.first {
                let number = a.place(&selected.position(pair.index));
                prop_assert_eq!(&pair.a, &number.to_string());
                prop_assert_eq!(&pair.b, &(-1 - i64::try_from(number).unwrap()).to_string());
            }
        }
    }

    #[test]
    fn names_the_side_that_cannot_be_read() {
        for (chunk, threads) in [(1000, 2), (777, 2), (1000, 1)] {
            let pool = Pool::new(threads, Pool::MEMORY);
            let shape = [40, 10_000];
            let a = Numbers::new(&shape, &[1, 1000], pool.clone());
            let mut b = Numbers::new(&shape, &[1, chunk], pool.clone());
            b.broken = Some(310_000);
            let whole = select("", &shape);
            assert!(matches!(compared(&a, &b, &whole), Err(Failed { a: None, b: Some(_) })));
            assert!(matches!(compared(&b, &a, &whole), Err(Failed { a: Some(_), b: None })));
            assert!(matches!(compared(&b, &b, &whole), Err(Failed { a: Some(_), b: Some(_) })));
            let before = select("0:30", &shape);
            assert_eq!(compared(&a, &b, &before).map(|tally| tally.differing).ok(), Some(0));
        }
    }

    #[test]
    fn selections_of_different_arrays_are_compared_in_their_order() {
        let pool = Pool::new(2, Pool::MEMORY);
        let (a, mut b) = (Numbers::new(&[3, 50], &[1, 50], pool.clone()), Numbers::new(&[50], &[7], pool));
        b.changed.insert(4, 9);
        let (x, y) = (select("0", &[3, 50]), select("", &[50]));
        let operands = (Operand { array: &a, selected: &x }, Operand { array: &b, selected: &y });
        let Ok((tally, _)) = compare(operands.0, operands.1, &rules(5), &mut |_| {}) else {
            panic!("unreadable")
        };
        assert_eq!((tally.compared, tally.differing, x.position(tally.first[0].index)), (50, 1, vec![0, 4]));
    }
}
