//! The elements of one array: read, decoded, encoded and written by all threads, or copied as they are stored.

use super::scratch::ScratchFile;
use super::tiles::Tiling;
use crate::pool::Pool;
use crate::source::{ArraySource, StoredChunk, StoredForm};
use crate::target::{ArrayTarget, PieceTarget};
use hyperslab_codec::{Scratch, check_size};
use hyperslab_core::nd::{Chunk, ChunkGrid, Planes, Region, element_bytes, element_count, gather};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Reference, Values};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What copying is told of and asks on its way, from many threads.
pub(super) trait Observer: Sync {
    /// Whether a box of this shape and number, of so many bytes of elements was copied by a run before this one.
    fn is_done(&self, tile: &[u64], number: u64, bytes: u64) -> bool;

    /// A box is copied.
    ///
    /// # Errors
    /// If that cannot be noted.
    fn done(&self, tile: &[u64], number: u64, bytes: u64) -> Result<()>;

    /// Where a file may be that is as large as the array, and that nobody needs afterwards; none if nowhere.
    fn scratch(&self) -> Option<PathBuf>;
}

/// Why elements could not be copied.
#[derive(Debug)]
pub(super) enum CopyError {
    /// They cannot be read.
    Read(Error),
    /// They cannot be written.
    Write(Error),
}

/// Copies all elements.
///
/// # Errors
/// The first of reading and writing.
pub(super) fn copy(
    array: &dyn ArraySource,
    target: &dyn ArrayTarget,
    observer: &dyn Observer,
) -> Result<(), CopyError> {
    let is_unreadable = AtomicBool::new(false);
    let copied = copy_with(array, target, observer, &is_unreadable);
    copied.map_err(|e| match is_unreadable.into_inner() {
        true => CopyError::Read(e),
        false => CopyError::Write(e),
    })
}

fn copy_with(
    array: &dyn ArraySource,
    target: &dyn ArrayTarget,
    observer: &dyn Observer,
    is_unreadable: &AtomicBool,
) -> Result<()> {
    let Some(extents) = array.extents() else { return Ok(()) };
    let size = array.datatype().row_size().ok_or_else(too_large)?;
    // What slots point to takes memory as well.
    let row = size as u64 * if array.datatype().has_slots() { 8 } else { 1 };
    let most = most_bytes(array.pool());
    let form = array.stored_form().filter(|form| target.accepts(form));
    // Chunks that are too large for memory, but not the pieces they are made of.
    let pieces = target.pieces().filter(|_| Tiling::whole(extents, target.chunk()).bytes(row) > most);
    let unit = pieces.map_or(target.chunk(), PieceTarget::shape);
    let source = if form.is_some() { target.chunk().to_vec() } else { chunk_of(array, extents, unit) };
    let tiling = Tiling::new(extents, &source, unit, row, most);
    let copier = |array, target, form| Copier::new(array, target, (size, row), form, is_unreadable);
    // What is not in chunks is not decoded: reading parts of it again costs less than a second pass.
    let is_chunked = array.chunk().iter().any(|size| *size != 1);
    let may_pass_twice =
        is_chunked && array.is_divisible() && !array.datatype().has_slots() && !target.wants_all();
    let pass = |copier: Copier<'_>, source: &[u64], tiling: &Tiling| match pieces {
        Some(pieces) => copier.in_pieces(pieces, source, most, observer),
        None => copier.all(tiling, observer),
    };
    let Some(path) = observer.scratch().filter(|_| may_pass_twice) else {
        return pass(copier(array, target, form)?, &source, &tiling);
    };
    let Some([first, second]) = tiling.two_passes(&source, unit, row, most) else {
        return pass(copier(array, target, form)?, &source, &tiling);
    };
    let scratch = ScratchFile::create(&path, array, &second.source)?;
    copier(array, &scratch, None)?.all(&first.tiling, &Unobserved)?;
    pass(copier(&scratch, target, None)?, &second.source, &second.tiling)
}

/// For what nobody goes on from: a pass into a file between, a trial.
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

/// The boxes in which something was written, if that is known.
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

/// Takes the part of a box that lies in a chunk.
type Put<'a> = &'a mut dyn FnMut(&Chunk, &Values, &mut Scratch) -> Result<()>;

struct Copier<'a> {
    array: &'a dyn ArraySource,
    target: &'a dyn ArrayTarget,
    grid: ChunkGrid,
    /// Bytes of a row, and what it takes of memory with what its slots point to.
    row: usize,
    memory: u64,
    /// How chunks are stored that are copied as they are; none if they are not.
    form: Option<StoredForm>,
    /// Whether reading has failed.
    is_unreadable: &'a AtomicBool,
    /// Memory that was used before.
    stock: Mutex<Vec<Vec<u8>>>,
}

impl<'a> Copier<'a> {
    fn new(
        array: &'a dyn ArraySource,
        target: &'a dyn ArrayTarget,
        (row, memory): (usize, u64),
        form: Option<StoredForm>,
        is_unreadable: &'a AtomicBool,
    ) -> Result<Copier<'a>> {
        let grid = ChunkGrid::regular(target.chunk())?;
        Ok(Copier { array, target, grid, row, memory, form, is_unreadable, stock: Mutex::default() })
    }

    /// Copies everything, box by box.
    fn all(&self, tiling: &Tiling, observer: &dyn Observer) -> Result<()> {
        self.each(tiling, self.numbers(tiling)?, |number, scratch| {
            let region = tiling.region(number);
            let copied = self.bytes(&region);
            if observer.is_done(&tiling.tile, number, copied) {
                return Ok(());
            }
            match self.form.is_some() {
                true => self.pass(&region, scratch)?,
                false => self.tile(&region, &self.grid, scratch, &mut |chunk, values, scratch| {
                    self.target.write(&chunk.index, values, scratch).map(|_| ())
                })?,
            }
            observer.done(&tiling.tile, number, copied)
        })
    }

    /// Copies everything, chunk by chunk of those that memory does not hold as they are, but encoded. All threads
    /// work on the same one.
    fn in_pieces(
        &self,
        pieces: &dyn PieceTarget,
        source: &[u64],
        most: u64,
        observer: &dyn Observer,
    ) -> Result<()> {
        let extents = self.array.extents().unwrap_or_default();
        let chunks = Tiling::whole(extents, self.target.chunk());
        let grid = ChunkGrid::regular(pieces.shape())?;
        for number in self.numbers(&chunks)? {
            let region = chunks.region(number);
            let copied = self.bytes(&region);
            if observer.is_done(&chunks.tile, number, copied) {
                continue;
            }
            let counts: Vec<u64> = chunks
                .tile
                .iter()
                .zip(pieces.shape())
                .map(|(chunk, piece)| chunk / (*piece).max(1))
                .collect();
            let count = element_count(&counts).and_then(|count| usize::try_from(count).ok());
            let encoded = Mutex::new(vec![None; count.ok_or_else(too_large)?]);
            let tiling = Tiling::new(&region.count, source, pieces.shape(), self.memory, most);
            self.each(&tiling, Box::new(0..tiling.len()), |number, scratch| {
                let mut part = tiling.region(number);
                part.start.iter_mut().zip(&region.start).for_each(|(start, first)| *start += first);
                self.tile(&part, &grid, scratch, &mut |piece, values, scratch| {
                    let within = self::part(&piece.start, &piece.shape, &part);
                    let bytes = pieces.encode(&within.count, values, scratch)?;
                    let place = piece
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
            self.array.pool().alone(|scratch| pieces.write(&index, encoded, scratch))?;
            observer.done(&chunks.tile, number, copied)?;
        }
        Ok(())
    }

    /// The boxes that are copied: those in which something was written, where there are many.
    fn numbers(&self, tiling: &Tiling) -> Result<Box<dyn Iterator<Item = u64> + Send>> {
        let written = match tiling.len() > MAX_ASKED {
            true => self.noting(written_tiles(self.array, tiling))?,
            false => None,
        };
        Ok(match written {
            Some(numbers) if !self.target.wants_all() => Box::new(numbers.into_iter()),
            _ => Box::new(0..tiling.len()),
        })
    }

    fn each(
        &self,
        tiling: &Tiling,
        numbers: Box<dyn Iterator<Item = u64> + Send>,
        work: impl Fn(u64, &mut Scratch) -> Result<()> + Sync,
    ) -> Result<()> {
        let pool = self.array.pool();
        if self.array.is_divisible() {
            // Elements in a box, beside those of one chunk on its way.
            return pool.each(numbers, tiling.bytes(self.memory).saturating_mul(2), work);
        }
        // What one thread has to find serves the others best if it is found once.
        for number in numbers {
            pool.alone(|scratch| work(number, scratch))?;
        }
        Ok(())
    }

    /// Bytes of the rows of a region.
    fn bytes(&self, region: &Region) -> u64 {
        region.len().unwrap_or(u64::MAX).saturating_mul(self.row as u64)
    }

    /// Reads a box and hands out its part of each chunk of a grid.
    fn tile(&self, region: &Region, grid: &ChunkGrid, scratch: &mut Scratch, put: Put<'_>) -> Result<()> {
        if !self.target.wants_all() && self.noting(self.array.is_unwritten_in(region))? {
            return Ok(());
        }
        let mut rows = self.memory(region)?;
        let mut heap = Heap::default();
        self.read(region, &mut rows, &mut heap, scratch)?;
        let mut values = Values { rows: rows.into(), heap };
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
            self.reuse(chunk_values.rows);
        }
        self.reuse(values.rows);
        Ok(())
    }

    /// Copies the chunks of a region as they are stored, and those that are stored in another form as others.
    fn pass(&self, region: &Region, scratch: &mut Scratch) -> Result<()> {
        let mut bytes = self.stocked();
        let mut chunks = self.grid.chunks_in(region)?;
        while let Some(chunk) = chunks.next_chunk() {
            let stored = match self.target.passes(&chunk.index) {
                true => self.noting(self.array.stored_chunk(&chunk.start, &mut bytes))?,
                false => StoredChunk::Other,
            };
            match stored {
                StoredChunk::Nothing if !self.target.wants_all() => {}
                StoredChunk::Here(len) => {
                    let stored = bytes.get(..len).unwrap_or_default();
                    // What can be no chunk at all is not passed on.
                    self.noting(self.check_stored(&chunk.shape, stored))?;
                    self.target.write_stored(&chunk.index, stored)?;
                }
                StoredChunk::Nothing | StoredChunk::Other => {
                    let within = part(&chunk.start, &chunk.shape, region);
                    let mut rows = self.memory(&within)?;
                    let mut heap = Heap::default();
                    self.read(&within, &mut rows, &mut heap, scratch)?;
                    let values = Values { rows: rows.into(), heap };
                    self.target.write(&chunk.index, &values, scratch)?;
                    self.reuse(values.rows);
                }
            }
        }
        self.keep(bytes);
        Ok(())
    }

    /// Refuses bytes that cannot decode to a whole chunk.
    fn check_stored(&self, shape: &[u64], stored: &[u8]) -> Result<()> {
        let codecs = self.form.as_ref().map(|form| form.codecs.as_slice()).unwrap_or_default();
        check_size(codecs, stored, element_bytes(shape, self.row)?)
    }

    fn read(
        &self,
        region: &Region,
        rows: &mut [u8],
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.noting(self.array.read_part(region, &mut Planes::whole(rows), heap, scratch))
    }

    /// Notes that it was reading that failed.
    fn noting<T>(&self, read: Result<T>) -> Result<T> {
        read.inspect_err(|_| self.is_unreadable.store(true, Ordering::Relaxed))
    }

    /// Memory for the rows of a region; what is in it does not matter.
    fn memory(&self, region: &Region) -> Result<Vec<u8>> {
        let len = region.len().and_then(|count| usize::try_from(count).ok()?.checked_mul(self.row));
        let len = len.ok_or_else(too_large)?;
        let mut rows = self.stocked();
        match len <= rows.capacity() {
            true => rows.resize(len, 0),
            false => rows = vec![0; len],
        }
        Ok(rows)
    }

    fn stocked(&self) -> Vec<u8> {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn keep(&self, memory: Vec<u8>) {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }

    fn reuse(&self, rows: bytes::Bytes) {
        // They are ours alone unless a target keeps them.
        if let Ok(rows) = rows.try_into_mut() {
            self.keep(rows.into());
        }
    }
}

/// The part of a chunk within a region.
fn part(start: &[u64], shape: &[u64], region: &Region) -> Region {
    let dims = start.iter().zip(shape).zip(region.start.iter().zip(&region.count));
    let count = dims.map(|((start, size), (first, count))| (first + count - start).min(*size)).collect();
    Region::new(start.to_vec(), count)
}

/// The shape of what is decoded at once. What has no chunks can be read in any parts, if these are not too short: as
/// many of the `unit`s that are written lie side by side in one.
fn chunk_of(array: &dyn ArraySource, extents: &[u64], unit: &[u64]) -> Vec<u64> {
    let chunk = array.chunk();
    if chunk.iter().any(|size| *size != 1) {
        return chunk.to_vec();
    }
    let mut chunk = vec![1; extents.len()];
    let mut bytes = array.datatype().row_size().unwrap_or(1) as u64;
    for ((size, extent), unit) in chunk.iter_mut().zip(extents).zip(unit).rev() {
        if bytes >= MIN_READ {
            break;
        }
        let least = MIN_READ.div_ceil(bytes.max(1));
        *size = least.next_multiple_of((*unit).max(1)).clamp(1, (*extent).max(1));
        bytes = bytes.saturating_mul(*size);
    }
    chunk
}

/// Bytes of elements that a thread may have in a box: what it reads and what it makes of it take as much again, and
/// coders have buffers of their own.
fn most_bytes(pool: &Pool) -> u64 {
    pool.memory() / pool.threads().max(1) as u64 / 3
}

fn too_large() -> Error {
    Error::new(ErrorKind::LimitExceeded, "more elements than memory holds")
}

/// Boxes of which each is asked for whether anything was written in it.
const MAX_ASKED: u64 = 1 << 16;

/// Bytes below which reading a piece costs as much as reading more.
const MIN_READ: u64 = 64 << 10;
