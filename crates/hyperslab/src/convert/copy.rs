//! Copies the elements of one array with all threads: decoded and encoded, or undecoded.

use super::scratch::ScratchFile;
use super::tiles::Tiling;
use crate::pool::Pool;
use crate::source::engine::{Allowed, element_memory, halves};
use crate::source::{ArraySource, StoredChunk, StoredForm};
use crate::target::{ArrayTarget, ChunkBytes, Encoded, Encoder, InnerChunks, Placed, Sequence};
use hyperslab_codec::{Codec, Scratch, check_size};
use hyperslab_core::nd::{Chunk, ChunkGrid, Planes, Region, element_bytes, element_count, gather};
use hyperslab_core::rows::{ElementLayout, Heap};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::Values;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Callbacks of copying, called by many threads.
pub(super) trait Observer: Sync {
    /// Whether an earlier run has copied the box with this shape and number, which has `bytes` bytes of elements.
    fn is_done(&self, tile: &[u64], number: u64, bytes: u64) -> bool;

    /// Called after a box was copied.
    ///
    /// # Errors
    /// If that cannot be recorded.
    fn done(&self, tile: &[u64], number: u64, bytes: u64) -> Result<()>;

    /// The path of a temporary file as large as the array; `None` if there is no place for one.
    fn scratch(&self) -> Option<PathBuf>;
}

/// The reason why elements could not be copied.
#[derive(Debug)]
pub(super) enum CopyError {
    /// They cannot be read.
    Read(Error),
    /// They cannot be written.
    Write(Error),
}

/// The source, the encoder and the target of the elements of one array.
#[derive(Clone, Copy)]
pub(super) struct Way<'a> {
    /// The source of the elements.
    pub(super) array: &'a dyn ArraySource,
    /// The encoder of chunks.
    pub(super) encoder: &'a dyn Encoder,
    /// The target of chunks; `None` to only encode.
    pub(super) target: Option<&'a dyn ArrayTarget>,
    /// The threads and their memory.
    pub(super) pool: &'a Pool,
}

impl<'a> Way<'a> {
    /// Copying from an array to one that was declared in the target.
    pub(super) fn new(array: &'a dyn ArraySource, target: &'a dyn ArrayTarget, pool: &'a Pool) -> Way<'a> {
        Way { array, encoder: target.encoder(), target: Some(target), pool }
    }

    fn is_ordered(&self) -> bool {
        self.target.is_some_and(ArrayTarget::is_ordered)
    }

    /// The maximum size of a box of elements for one thread, in bytes. Reading and encoding need as much memory again,
    /// and codecs have their own buffers. If the target needs chunks in order, boxes must not depend on the number of
    /// threads, so fewer threads work if memory is short.
    fn max_box_bytes(&self) -> u64 {
        let shares = if self.is_ordered() { ORDERED_SHARES } else { self.pool.threads().max(1) as u64 };
        self.pool.memory() / shares / 3
    }
}

/// Copies all elements. Returns whether this took two passes, whose boxes differ from those of one pass.
///
/// # Errors
/// The first error of reading or writing.
pub(super) fn copy(way: Way<'_>, observer: &dyn Observer) -> Result<bool, CopyError> {
    let is_unreadable = AtomicBool::new(false);
    let copied = copy_with(way, observer, &is_unreadable);
    copied.map_err(|e| match is_unreadable.into_inner() {
        true => CopyError::Read(e),
        false => CopyError::Write(e),
    })
}

fn copy_with(way: Way<'_>, observer: &dyn Observer, is_unreadable: &AtomicBool) -> Result<bool> {
    let Way { array, encoder, pool, .. } = way;
    let Some(extents) = array.extents() else { return Ok(false) };
    let size = array.datatype().row_size().ok_or_else(too_large)?;
    // The targets of slots also need memory.
    let row = element_memory(array, &Region::all(extents));
    let max = way.max_box_bytes();
    let form = array.stored_form().filter(|form| encoder.can_copy_raw(form));
    let form = form.map(|form| Raw::new(&form, encoder.can_copy_masks(&form)));
    // Chunks that are too large for memory, although their inner chunks are not.
    let inner = encoder.inner_chunks().filter(|_| Tiling::whole(extents, encoder.chunk()).bytes(row) > max);
    let unit = inner.map_or(encoder.chunk(), InnerChunks::shape);
    let source = if form.is_some() { encoder.chunk().to_vec() } else { chunk_of(array, extents, unit, row) };
    let sequence = way.target.and_then(ArrayTarget::sequence);
    let tiling = Tiling::of(sequence, extents, &source, unit, row, max);
    let copier = |way, form| Copier::new(way, (size, row), form, is_unreadable);
    // Unchunked elements need no decoding: reading parts of them again is cheaper than a second pass.
    let is_chunked = array.chunk().iter().any(|size| *size != 1);
    let may_pass_twice =
        is_chunked && array.is_divisible() && !array.datatype().has_slots() && !encoder.needs_unwritten();
    let pass = |copier: Copier<'_>, source: &[u64], tiling: &Tiling| match inner {
        Some(inner) => copier.by_inner_chunks(inner, source, max, observer),
        None => copier.all(tiling, observer),
    };
    let Some(path) = may_pass_twice.then(|| observer.scratch()).flatten() else {
        return pass(copier(way, form)?, &source, &tiling).map(|()| false);
    };
    let Some([first, second]) = tiling.two_passes(&source, unit, row, max, sequence) else {
        return pass(copier(way, form)?, &source, &tiling).map(|()| false);
    };
    let scratch = ScratchFile::create(&path, array, &second.source)?;
    copier(Way::new(array, &scratch, pool), None)?.all(&first.tiling, &Unobserved)?;
    pass(copier(Way { array: &scratch, ..way }, None)?, &second.source, &second.tiling).map(|()| true)
}

/// The observer of copies that cannot be resumed: to an intermediate file, or as a trial.
pub(super) struct Unobserved;

impl Observer for Unobserved {
    fn is_done(&self, _: &[u64], _: u64, _: u64) -> bool {
        false
    }

    fn done(&self, _: &[u64], _: u64, _: u64) -> Result<()> {
        Ok(())
    }

    fn scratch(&self) -> Option<PathBuf> {
        None
    }
}

/// The numbers of the boxes with written elements, if that is known.
fn written_tiles(array: &dyn ArraySource, tiling: &Tiling) -> Result<Option<BTreeSet<u64>>> {
    let mut numbers = BTreeSet::new();
    let chunk = array.chunk();
    let is_known = array.written(&mut |start| {
        tiling.numbers_in(start, chunk, &mut |number| {
            numbers.insert(number);
        });
        Ok(())
    })?;
    Ok(is_known.then_some(numbers))
}

/// Receives the part of a box that is in one chunk.
type Put<'a> = &'a mut dyn FnMut(&Chunk, &Values, &mut Scratch) -> Result<()>;

/// Receives an encoded chunk with its index.
type PutEncoded<'a> = &'a mut dyn FnMut(&[u64], Encoded, &mut Scratch) -> Result<()>;

struct Copier<'a> {
    way: Way<'a>,
    grid: ChunkGrid,
    /// The size of a row in bytes, and its memory with the targets of its slots.
    row: usize,
    memory: u64,
    /// The stored form of chunks that are copied undecoded; `None` if they are decoded.
    form: Option<Raw>,
    /// Whether reading has failed.
    is_unreadable: &'a AtomicBool,
    /// Memory for reuse: for elements, and for encoded chunks.
    rows: Stock,
    encoded: Stock,
    /// The content that variable-length elements have referred to so far, if there are any.
    content: Mutex<Allowed>,
    has_content: bool,
}

/// The stored form of chunks that are copied undecoded.
struct Raw {
    /// The codecs and the size of a stored element in bytes; `None` if a codec is unknown.
    codecs: Option<(Vec<Codec>, usize)>,
    /// Whether chunks that skipped filters are copied as well.
    has_masks: bool,
}

impl Raw {
    fn new(form: &StoredForm, has_masks: bool) -> Raw {
        let size = form.element.as_ref().map(ElementLayout::size);
        Raw { codecs: form.codecs().zip(size), has_masks }
    }

    /// Fails if the stored bytes cannot decode to a chunk of this shape.
    fn check(&self, shape: &[u64], stored: &[u8]) -> Result<()> {
        match &self.codecs {
            Some((codecs, size)) => check_size(codecs, stored, element_bytes(shape, *size)?),
            None => Ok(()),
        }
    }
}

/// A box whose chunks wait until earlier ones are stored.
struct Made {
    /// The size of its elements in bytes.
    bytes: u64,
    chunks: Vec<(Vec<u64>, Encoded)>,
}

impl<'a> Copier<'a> {
    fn new(
        way: Way<'a>,
        (row, memory): (usize, u64),
        form: Option<Raw>,
        is_unreadable: &'a AtomicBool,
    ) -> Result<Copier<'a>> {
        let grid = ChunkGrid::regular(way.encoder.chunk())?;
        let (rows, encoded) = (Stock::default(), Stock::default());
        let (content, has_content) = (Mutex::default(), way.array.datatype().has_slots());
        Ok(Copier { way, grid, row, memory, form, is_unreadable, rows, encoded, content, has_content })
    }

    /// Copies everything, box by box.
    fn all(&self, tiling: &Tiling, observer: &dyn Observer) -> Result<()> {
        if self.way.is_ordered() {
            return self.all_in_order(tiling, observer);
        }
        self.each(tiling, self.numbers(tiling)?, |number, scratch| {
            let region = tiling.region(number);
            let bytes = self.bytes(&region);
            if observer.is_done(&tiling.tile, number, bytes) {
                return self.resume(number);
            }
            self.encode(&region, scratch, &mut |index, chunk, scratch| self.store(index, chunk, scratch))?;
            self.done(observer, &tiling.tile, number, bytes)
        })
    }

    /// Copies everything for a target that needs chunks in order: many threads read and encode boxes, which then wait
    /// for their turn.
    fn all_in_order(&self, tiling: &Tiling, observer: &dyn Observer) -> Result<()> {
        let make = |number: u64, scratch: &mut Scratch| {
            let region = tiling.region(number);
            let bytes = self.bytes(&region);
            if observer.is_done(&tiling.tile, number, bytes) {
                return Ok((number, None));
            }
            let mut chunks = Vec::new();
            self.encode(&region, scratch, &mut |index, chunk, _| {
                chunks.push((index.to_vec(), chunk));
                Ok(())
            })?;
            // Within a box, chunks are encoded in row-major order.
            if self.way.target.and_then(ArrayTarget::sequence) == Some(Sequence::ColumnMajor) {
                chunks.sort_by(|(one, _), (other, _)| one.iter().rev().cmp(other.iter().rev()));
            }
            Ok((number, Some(Made { bytes, chunks })))
        };
        let take = |(number, made): (u64, Option<Made>), scratch: &mut Scratch| {
            let Some(Made { bytes, chunks }) = made else { return self.resume(number) };
            for (index, chunk) in chunks {
                self.store(&index, chunk, scratch)?;
            }
            self.done(observer, &tiling.tile, number, bytes)
        };
        let Way { array, pool, .. } = self.way;
        let numbers = self.numbers(tiling)?;
        if array.is_divisible() && numbers.size_hint().1 != Some(1) {
            return pool.in_order(numbers, tiling.bytes(self.memory).saturating_mul(3), make, take);
        }
        for number in numbers {
            pool.alone(|scratch| take(make(number, scratch)?, scratch))?;
        }
        Ok(())
    }

    /// Copies chunk by chunk, for chunks that fit into memory only when encoded. All threads work on the same chunk.
    fn by_inner_chunks(
        &self,
        inner: &dyn InnerChunks,
        source: &[u64],
        max: u64,
        observer: &dyn Observer,
    ) -> Result<()> {
        let Way { array, encoder, pool, .. } = self.way;
        let extents = array.extents().unwrap_or_default();
        let chunks = Tiling::whole(extents, encoder.chunk());
        let grid = ChunkGrid::regular(inner.shape())?;
        for number in self.numbers(&chunks)? {
            let region = chunks.region(number);
            let bytes = self.bytes(&region);
            if observer.is_done(&chunks.tile, number, bytes) {
                self.resume(number)?;
                continue;
            }
            let counts: Vec<u64> =
                chunks.tile.iter().zip(inner.shape()).map(|(chunk, inner)| chunk / (*inner).max(1)).collect();
            let count = element_count(&counts).and_then(|count| usize::try_from(count).ok());
            let encoded = Mutex::new(vec![None; count.ok_or_else(too_large)?]);
            let tiling = Tiling::new(&region.count, source, inner.shape(), self.memory, max);
            self.each(&tiling, Box::new(0..tiling.len()), |number, scratch| {
                let mut part = tiling.region(number);
                part.start.iter_mut().zip(&region.start).for_each(|(start, first)| *start += first);
                self.tile(&part, &grid, scratch, &mut |chunk, values, scratch| {
                    let within = self::part(&chunk.start, &chunk.shape, &part);
                    let bytes = inner.encode(&within.count, values, scratch)?;
                    let place = chunk
                        .index
                        .iter()
                        .zip(&counts)
                        .fold(0, |place, (at, count)| place * count + at % count);
                    let mut encoded = encoded.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(slot) = usize::try_from(place).ok().and_then(|place| encoded.get_mut(place)) {
                        *slot = bytes;
                    }
                    Ok(())
                })
            })?;
            let encoded = encoded.into_inner().unwrap_or_else(PoisonError::into_inner);
            let index: Vec<u64> = region.start.iter().zip(&chunks.tile).map(|(at, size)| at / size).collect();
            pool.alone(|scratch| {
                let chunk = inner.assemble(&index, encoded, self.encoded.take(), scratch)?;
                self.store(&index, chunk, scratch)
            })?;
            self.done(observer, &chunks.tile, number, bytes)?;
        }
        Ok(())
    }

    /// Records that a box is stored.
    fn done(&self, observer: &dyn Observer, tile: &[u64], number: u64, bytes: u64) -> Result<()> {
        if let Some(target) = self.way.target.filter(|target| target.is_recorded()) {
            target.settle(number)?;
        }
        observer.done(tile, number, bytes)
    }

    /// Skips a box that an interrupted run has stored.
    fn resume(&self, number: u64) -> Result<()> {
        self.way.target.map_or(Ok(()), |target| target.resume(number))
    }

    /// Stores a chunk: first the data that it refers to, then the chunk itself.
    fn store(&self, index: &[u64], chunk: Encoded, scratch: &mut Scratch) -> Result<()> {
        let Some(target) = self.way.target else { return Ok(()) };
        let chunk = match chunk {
            Encoded::Absent => None,
            Encoded::Bytes(chunk) => Some(chunk),
            Encoded::Placed(Placed { sizes, make }) => {
                let addresses =
                    sizes.iter().map(|size| target.allocate(*size)).collect::<Result<Vec<_>>>()?;
                let (data, chunk) = make(&addresses, scratch)?;
                addresses.iter().zip(&data).try_for_each(|(address, data)| target.place(*address, data))?;
                Some(chunk)
            }
        };
        target.store(index, chunk.as_ref())?;
        if let Some(ChunkBytes { bytes, .. }) = chunk {
            self.encoded.reuse(bytes);
        }
        Ok(())
    }

    /// The numbers of the boxes to copy. If there are many boxes, only those with written elements.
    fn numbers(&self, tiling: &Tiling) -> Result<Box<dyn Iterator<Item = u64> + Send>> {
        let written = match tiling.len() > MAX_ASKED {
            true => self.noting(written_tiles(self.way.array, tiling))?,
            false => None,
        };
        Ok(match written {
            Some(numbers) if !self.way.encoder.needs_unwritten() => Box::new(numbers.into_iter()),
            _ => Box::new(0..tiling.len()),
        })
    }

    fn each(
        &self,
        tiling: &Tiling,
        numbers: Box<dyn Iterator<Item = u64> + Send>,
        work: impl Fn(u64, &mut Scratch) -> Result<()> + Sync,
    ) -> Result<()> {
        let pool = self.way.pool;
        if self.way.array.is_divisible() {
            // The elements of a box, in addition to those of one chunk in progress.
            return pool.each(numbers, tiling.bytes(self.memory).saturating_mul(2), work);
        }
        // One thread reads one box after another, since parts cannot be read at the same time.
        for number in numbers {
            pool.check()?;
            pool.alone(|scratch| work(number, scratch))?;
        }
        Ok(())
    }

    /// The size of the rows of a region in bytes.
    fn bytes(&self, region: &Region) -> u64 {
        region.len().unwrap_or(u64::MAX).saturating_mul(self.row as u64)
    }

    /// Encodes the chunks of a region, or reads their stored bytes if they can be copied undecoded.
    fn encode(&self, region: &Region, scratch: &mut Scratch, put: PutEncoded<'_>) -> Result<()> {
        if let Some(raw) = &self.form {
            return self.raw(raw, region, scratch, put);
        }
        self.tile(region, &self.grid, scratch, &mut |chunk, values, scratch| {
            let encoded = self.way.encoder.encode(&chunk.index, values, self.encoded.take(), scratch)?;
            put(&chunk.index, encoded, scratch)
        })
    }

    /// Reads a box and calls `put` with its part of each chunk of a grid.
    fn tile(&self, region: &Region, grid: &ChunkGrid, scratch: &mut Scratch, put: Put<'_>) -> Result<()> {
        let Way { array, encoder, .. } = self.way;
        if !encoder.needs_unwritten() && self.noting(array.is_unwritten_in(region))? {
            return Ok(());
        }
        let mut values = match self.values(region, scratch, self.way.max_box_bytes()) {
            Err(e) if e.kind() == ErrorKind::LimitExceeded => {
                // Boxes with too much content are copied in parts.
                if let Some(halves) = halves(region, encoder.chunk()) {
                    return halves.iter().try_for_each(|half| self.tile(half, grid, scratch, put));
                }
                self.values(region, scratch, u64::MAX)?
            }
            values => values?,
        };
        let mut chunks = grid.chunks_in(region)?;
        while let Some(chunk) = chunks.next_chunk() {
            let within = part(&chunk.start, &chunk.shape, region);
            if within.count == region.count {
                put(chunk, &values, scratch)?;
                continue;
            }
            let mut rows = self.memory(&within)?;
            gather(&values.rows, region, &mut rows, &within.start, &within.count, self.row)?;
            let heap = std::mem::take(&mut values.heap);
            let chunk_values = Values { rows: rows.into(), heap };
            put(chunk, &chunk_values, scratch)?;
            values.heap = chunk_values.heap;
            self.rows.reuse(chunk_values.rows);
        }
        self.rows.reuse(values.rows);
        Ok(())
    }

    /// Reads the stored bytes of the chunks of a region. Encodes the chunks that are stored in another form.
    fn raw(&self, raw: &Raw, region: &Region, scratch: &mut Scratch, put: PutEncoded<'_>) -> Result<()> {
        let Way { array, encoder, .. } = self.way;
        let mut chunks = self.grid.chunks_in(region)?;
        while let Some(chunk) = chunks.next_chunk() {
            let mut bytes = self.encoded.take();
            let stored = match encoder.can_copy_raw_at(&chunk.index) {
                true => self.noting(array.stored_chunk(&chunk.start, &mut bytes))?,
                false => StoredChunk::Other,
            };
            match stored {
                StoredChunk::Nothing if !encoder.needs_unwritten() => self.encoded.keep(bytes),
                StoredChunk::Here { len, filter_mask } if filter_mask == 0 || raw.has_masks => {
                    bytes.truncate(len);
                    // Bytes that cannot be a chunk are not copied.
                    if filter_mask == 0 {
                        self.noting(raw.check(&chunk.shape, &bytes))?;
                    }
                    let stored = ChunkBytes { bytes: bytes.into(), filter_mask };
                    let passed = encoder.pass(&chunk.index, stored, scratch)?;
                    put(&chunk.index, passed, scratch)?;
                }
                StoredChunk::Nothing | StoredChunk::Here { .. } | StoredChunk::Other => {
                    let within = part(&chunk.start, &chunk.shape, region);
                    let values = self.values(&within, scratch, u64::MAX)?;
                    let encoded = encoder.encode(&chunk.index, &values, bytes, scratch)?;
                    put(&chunk.index, encoded, scratch)?;
                    self.rows.reuse(values.rows);
                }
            }
        }
        Ok(())
    }

    /// The values of a region, whose elements may refer to at most `most` bytes of content.
    fn values(&self, region: &Region, scratch: &mut Scratch, most: u64) -> Result<Values> {
        let array = self.way.array;
        let mut rows = self.memory(region)?;
        let left = match self.has_content {
            true => self.content().left(),
            false => u64::MAX,
        };
        let mut heap = Heap::of_at_most(most.min(left));
        let mut read = array.read_part(region, &mut Planes::whole(&mut rows), &mut heap, scratch);
        let is_over = |e: &Error| e.kind() == ErrorKind::LimitExceeded;
        if read.as_ref().is_err_and(is_over) && most > left && self.noting(self.content().asks(array))? {
            heap = Heap::of_at_most(most.min(self.content().left()));
            read = array.read_part(region, &mut Planes::whole(&mut rows), &mut heap, scratch);
        }
        if most == u64::MAX || !read.as_ref().is_err_and(is_over) {
            self.noting(read)?;
        } else {
            // The caller reads the region in parts.
            read?;
        }
        if self.has_content {
            self.noting(self.content().name(array, heap.content.bytes))?;
        }
        Ok(Values { rows: rows.into(), heap })
    }

    fn content(&self) -> MutexGuard<'_, Allowed> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that reading failed.
    fn noting<T>(&self, read: Result<T>) -> Result<T> {
        read.inspect_err(|_| self.is_unreadable.store(true, Ordering::Relaxed))
    }

    /// Memory for the rows of a region, with unspecified content.
    fn memory(&self, region: &Region) -> Result<Vec<u8>> {
        let len = region.len().and_then(|count| usize::try_from(count).ok()?.checked_mul(self.row));
        let len = len.ok_or_else(too_large)?;
        let mut rows = self.rows.take();
        match len <= rows.capacity() {
            true => rows.resize(len, 0),
            false => rows = vec![0; len],
        }
        Ok(rows)
    }
}

/// Memory for reuse by many threads.
#[derive(Default)]
struct Stock(Mutex<Vec<Vec<u8>>>);

impl Stock {
    fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn keep(&self, memory: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }

    fn reuse(&self, bytes: bytes::Bytes) {
        // The memory can be reused unless a target or an encoded chunk keeps it.
        if let Ok(memory) = bytes.try_into_mut() {
            self.keep(memory.into());
        }
    }
}

/// The part of a chunk within a region.
fn part(start: &[u64], shape: &[u64], region: &Region) -> Region {
    let dims = start.iter().zip(shape).zip(region.start.iter().zip(&region.count));
    let count = dims.map(|((start, size), (first, count))| (first + count - start).min(*size)).collect();
    Region::new(start.to_vec(), count)
}

/// The shape of the part that is decoded at once. An array without chunks can be read in any parts; each spans several
/// `unit`s, so that reads are not too short.
fn chunk_of(array: &dyn ArraySource, extents: &[u64], unit: &[u64], row: u64) -> Vec<u64> {
    let chunk = array.chunk();
    if chunk.iter().any(|size| *size != 1) {
        return chunk.to_vec();
    }
    let mut chunk = vec![1; extents.len()];
    let mut bytes = row;
    for ((size, extent), unit) in chunk.iter_mut().zip(extents).zip(unit).rev() {
        if bytes >= MIN_READ {
            break;
        }
        let min = MIN_READ.div_ceil(bytes.max(1));
        *size = min.next_multiple_of((*unit).max(1)).clamp(1, (*extent).max(1));
        bytes = bytes.saturating_mul(*size);
    }
    chunk
}

fn too_large() -> Error {
    Error::new(ErrorKind::LimitExceeded, "more elements than memory holds")
}

/// The number of boxes that share the memory if chunks are stored in order.
const ORDERED_SHARES: u64 = 8;

/// The maximum number of boxes that are checked for written elements.
const MAX_ASKED: u64 = 1 << 16;

/// Reading fewer bytes than this takes as long as reading this many.
const MIN_READ: u64 = 64 << 10;
