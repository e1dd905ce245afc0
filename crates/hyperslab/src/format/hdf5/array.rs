//! Elements of HDF5 datasets.

use super::Hdf5Source;
use super::opened::OpenedDataset;
use super::storage::stored_filter;
use crate::pool::Pool;
use crate::source::{ArraySource, ChunkCount, ChunkLevel, Chunks, MissingSources, StoredChunk, StoredForm};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{ChunkGrid, Planes, Region, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{ChunkPlace, ChunkPlacement};
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::MissingSource;
use hyperslab_hdf5::{Array, Dataset};
use hyperslab_model::{Datatype, Reference, Values};
use std::sync::{Arc, OnceLock};

pub(super) struct Hdf5Array {
    source: Arc<Hdf5Source>,
    opened: Arc<OpenedDataset>,
    /// Opened only when needed, since the index of the chunks may be large, and take several requests in a remote file.
    array: OnceLock<Array>,
    chunk: Vec<u64>,
}

impl Hdf5Array {
    pub(super) fn open(source: Arc<Hdf5Source>, opened: Arc<OpenedDataset>) -> Result<Self> {
        let dataset = &opened.dataset;
        let chunk = match dataset.chunk() {
            Some(chunk) => chunk.to_vec(),
            None => vec![1; dataset.extents().map_or(0, <[u64]>::len)],
        };
        let element = source.file.converter(dataset.datatype())?;
        check_rows(&opened.datatype, element.row_size())?;
        Ok(Hdf5Array { source, opened, array: OnceLock::new(), chunk })
    }

    /// The elements.
    fn array(&self) -> Result<&Array> {
        if let Some(array) = self.array.get() {
            return Ok(array);
        }
        let array = self.dataset().array(&self.source.file)?;
        Ok(self.array.get_or_init(|| array))
    }

    fn dataset(&self) -> &Dataset {
        &self.opened.dataset
    }
}

impl ArraySource for Hdf5Array {
    fn extents(&self) -> Option<&[u64]> {
        self.dataset().extents()
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.opened.datatype
    }

    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn pool(&self) -> &Pool {
        &self.source.pool
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let file = &self.source.file;
        read_with(&self.source, heap, |heap| self.array()?.read_part(file, region, rows, heap, scratch))
    }

    fn fill(&self) -> Result<Option<Values>> {
        let file = &self.source.file;
        let mut heap = Heap::default();
        let rows = read_with(&self.source, &mut heap, |heap| self.dataset().fill_row(file, heap))?;
        Ok(Some(Values { rows: rows.into(), heap }))
    }

    fn missing_sources(&self) -> Result<MissingSources> {
        let mut missing = MissingSources::default();
        self.dataset().missing_sources(&self.source.file, &mut |source| {
            match source {
                MissingSource::Dataset { file: ".", path } => missing.add(path.to_owned()),
                MissingSource::Dataset { file, path } => missing.add(format!("{file}:{path}")),
                MissingSource::Bytes { file, found, expected } => {
                    missing.add(format!("{file}, which has {found} of {expected} bytes"));
                    missing.instead = "zeros";
                }
            }
            Ok(())
        })?;
        Ok(missing)
    }

    fn check_layout(&self) -> Result<()> {
        self.array().map(|_| ())
    }

    fn stored_form(&self) -> Option<StoredForm> {
        let chunk = self.dataset().chunk()?.to_vec();
        let size = usize::try_from(self.dataset().datatype().size).unwrap_or(usize::MAX);
        let filters = self.dataset().filters().iter().map(|filter| stored_filter(filter, size)).collect();
        let native = self.dataset().datatype().portable_bytes();
        Some(StoredForm { chunk, element: self.array().ok()?.element_layout(), native, filters })
    }

    fn stored_chunk(&self, start: &[u64], out: &mut Vec<u8>) -> Result<StoredChunk> {
        Ok(match self.array()?.stored_chunk(&self.source.file, start, out)? {
            None => StoredChunk::Nothing,
            Some((len, filter_mask)) => StoredChunk::Here { len, filter_mask },
        })
    }

    fn is_unwritten_in(&self, region: &Region) -> Result<bool> {
        self.array()?.is_unwritten(region)
    }

    fn written(&self, visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        self.array()?.written(visit)
    }

    fn chunk_places(
        &self,
        _: ChunkLevel,
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        self.array()?.chunk_places(&self.source.file, visit)
    }

    fn decoded_chunk(&self) -> Option<Vec<u64>> {
        self.dataset().chunk().filter(|_| !self.dataset().filters().is_empty()).map(<[u64]>::to_vec)
    }

    fn is_divisible(&self) -> bool {
        self.array().is_ok_and(Array::is_stored_here)
    }

    fn is_far(&self) -> bool {
        self.source.file.is_far()
    }

    fn stored(&self) -> Result<u64> {
        Ok(self.array()?.stored_bytes())
    }

    fn chunks(&self) -> Result<Option<Chunks>> {
        let Some(written) = self.array()?.written_chunks() else { return Ok(None) };
        let extents = self.dataset().extents().unwrap_or_default();
        let along = ChunkGrid::regular(&self.chunk)?.chunks_along(extents)?;
        let of = element_count(&along).unwrap_or(u64::MAX);
        Ok(Some(Chunks { outer: ChunkCount { shape: self.chunk.clone(), written, of }, inner: None }))
    }

    fn is_unwritten(&self) -> Result<bool> {
        Ok(self.array()?.is_wholly_unwritten())
    }
}

/// Calls a function with a heap for references of the file, and converts these to references of the model.
pub(super) fn read_with<T>(
    source: &Hdf5Source,
    heap: &mut Heap<Reference>,
    read: impl FnOnce(&mut Heap<hyperslab_hdf5::Reference>) -> Result<T>,
) -> Result<T> {
    // Slots count from the start of the heap, so its existing content must stay in place.
    let known = heap.references.len();
    let mut own = Heap {
        buffers: std::mem::take(&mut heap.buffers),
        shared: std::mem::take(&mut heap.shared),
        charges: std::mem::take(&mut heap.charges),
        references: vec![hyperslab_hdf5::Reference::Null; known],
        content: heap.content,
    };
    let done = read(&mut own);
    (heap.buffers, heap.shared, heap.charges) = (own.buffers, own.shared, own.charges);
    heap.content = own.content;
    for reference in own.references.into_iter().skip(known) {
        heap.references.push(source.reference(reference)?);
    }
    done
}

/// Both crates compute the size of a row from the datatype; they must agree.
pub(super) fn check_rows(datatype: &Datatype, row: usize) -> Result<()> {
    if datatype.row_size() == Some(row) {
        return Ok(());
    }
    Err(Error::unsupported(format!("elements of {datatype} in rows of {row} bytes")))
}
