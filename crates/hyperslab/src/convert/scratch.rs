//! A temporary file for an array between two layouts: decoded chunks, each at its own offset.

use crate::pool::Pool;
use crate::source::ArraySource;
use crate::target::{ArrayTarget, ChunkBytes, Encoded, Encoder};
use hyperslab_codec::Scratch as Coders;
use hyperslab_core::nd::{ChunkGrid, Planes, Region, element_count, fill_rows, scatter};
use hyperslab_core::real_path::RealFolder;
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{ReadAt, WritableFile, WriteAt};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Datatype, Reference, Values};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A temporary file with the elements of one array, whose rows have no slots. It is removed when the value is
/// dropped.
pub(super) struct ScratchFile {
    folder: RealFolder,
    name: OsString,
    file: WritableFile,
    shape: Vec<u64>,
    chunk: Vec<u64>,
    grid: ChunkGrid,
    /// The number of chunks along each dimension.
    counts: Vec<u64>,
    datatype: Arc<Datatype>,
    row: usize,
    /// The fill value, for chunks that were never written.
    fill: Vec<u8>,
    written: Vec<AtomicBool>,
    pool: Pool,
}

impl ScratchFile {
    /// Creates a file at the real path `path` for an array like `array`, in chunks of this shape.
    ///
    /// # Errors
    /// An error of the system, or if the array is larger than a file can be.
    pub(super) fn create(path: &Path, array: &dyn ArraySource, chunk: &[u64]) -> Result<ScratchFile> {
        let shape = array.extents().unwrap_or_default().to_vec();
        let row = array.datatype().row_size().ok_or_else(too_large)?;
        let grid = ChunkGrid::regular(chunk)?;
        let counts = grid.chunks_along(&shape)?;
        let chunks = element_count(&counts).ok_or_else(too_large)?;
        let bytes = element_count(chunk).and_then(|count| count.checked_mul(row as u64));
        let len = bytes.and_then(|bytes| bytes.checked_mul(chunks)).ok_or_else(too_large)?;
        let (folder, name) = RealFolder::around(path)?;
        match folder.remove_file(name) {
            // A run that was killed may have left it.
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
            _ => {}
        }
        let file = WritableFile::from(folder.create_file(name)?);
        // The file is sparse: only written chunks take space.
        file.set_len(len)?;
        let fill = match array.fill()? {
            Some(fill) => fill.rows.to_vec(),
            None => vec![0; row],
        };
        let written = (0..usize::try_from(chunks).map_err(|_| too_large())?).map(|_| AtomicBool::new(false));
        Ok(ScratchFile {
            name: name.to_owned(),
            folder,
            file,
            chunk: chunk.to_vec(),
            grid,
            counts,
            datatype: Arc::clone(array.datatype()),
            row,
            fill,
            written: written.collect(),
            pool: array.pool().clone(),
            shape,
        })
    }

    /// The number of a chunk, and its offset and size in the file in bytes.
    fn locate(&self, index: &[u64]) -> Result<(usize, u64, usize)> {
        let number = index.iter().zip(&self.counts).fold(0_u64, |number, (at, count)| number * count + at);
        let bytes =
            element_count(&self.chunk).and_then(|count| usize::try_from(count).ok()?.checked_mul(self.row));
        let bytes = bytes.ok_or_else(too_large)?;
        Ok((usize::try_from(number).map_err(|_| too_large())?, number.saturating_mul(bytes as u64), bytes))
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        // If removing fails, the file is in the folder of an unfinished target and is removed with it.
        let _ = self.folder.remove_file(&self.name);
    }
}

impl Encoder for ScratchFile {
    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn encode(&self, index: &[u64], values: &Values, mut out: Vec<u8>, _: &mut Coders) -> Result<Encoded> {
        let (_, _, len) = self.locate(index)?;
        if values.rows.len() == len {
            return Ok(Encoded::of(Some(values.rows.clone())));
        }
        let chunk = self.grid.chunk(index)?;
        let ends = chunk.start.iter().zip(&chunk.shape).zip(&self.shape);
        let within: Vec<u64> =
            ends.map(|((start, size), extent)| (*size).min(extent.saturating_sub(*start))).collect();
        out.resize(len, 0);
        fill_rows(&self.fill, &mut out)?;
        let start = vec![0; within.len()];
        scatter(&values.rows, &start, &within, &Region::all(&chunk.shape), &mut out, self.row)?;
        Ok(Encoded::of(Some(out.into())))
    }
}

impl ArrayTarget for ScratchFile {
    fn encoder(&self) -> &dyn Encoder {
        self
    }

    fn store(&self, index: &[u64], chunk: Option<&ChunkBytes>) -> Result<()> {
        let Some(chunk) = chunk else { return Ok(()) };
        let (number, offset, _) = self.locate(index)?;
        self.file.write_at(offset, &chunk.bytes)?;
        if let Some(written) = self.written.get(number) {
            written.store(true, Ordering::Release);
        }
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn abandon(&self) -> Result<()> {
        Ok(())
    }
}

impl ArraySource for ScratchFile {
    fn extents(&self) -> Option<&[u64]> {
        Some(&self.shape)
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        _: &mut Heap<Reference>,
        coders: &mut Coders,
    ) -> Result<()> {
        let mut chunks = self.grid.chunks_in(region)?;
        while let Some(chunk) = chunks.next_chunk() {
            let (number, offset, len) = self.locate(&chunk.index)?;
            let Some(mut overlap) = rows.overlap(&chunk.start, &chunk.shape, region, self.row)? else {
                continue;
            };
            if !self.written.get(number).is_some_and(|written| written.load(Ordering::Acquire)) {
                overlap.fill(&self.fill)?;
                continue;
            }
            if let Some(place) = overlap.in_place() {
                self.file.read_into(offset, place)?;
                continue;
            }
            let buffer = hyperslab_core::memory::room(&mut coders.buffers.rows, len);
            self.file.read_into(offset, buffer)?;
            overlap.scatter(buffer)?;
        }
        Ok(())
    }

    fn stored(&self) -> Result<u64> {
        self.file.len()
    }

    fn is_unwritten_in(&self, region: &Region) -> Result<bool> {
        let mut chunks = self.grid.chunks_in(region)?;
        while let Some(chunk) = chunks.next_chunk() {
            let (number, ..) = self.locate(&chunk.index)?;
            if self.written.get(number).is_some_and(|written| written.load(Ordering::Acquire)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::LimitExceeded, "an array larger than a file can be")
}
