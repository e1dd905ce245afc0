//! An open source with the resources of one operation.

use crate::cells::{CellBatches, CellColumn, CellQuery, CellSource};
use crate::pool::Pool;
use crate::source::cache::{CachedChunks, ChunkCache};
use crate::source::{
    ArraySource, ChunkLevel, Chunks, Dialect, Entry, Handle, Source, StoredChunk, most_content,
};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{ChunkPlace, ChunkPlacement};
use hyperslab_core::wrapper::Failures;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Cells, Datatype, Node, NodePath, Reference};
use std::sync::Arc;

/// A source whose arrays are read with the threads, the memory and the cancel token of one operation. The open file
/// is shared: any number of operations can read it at the same time.
///
/// ```
/// use hyperslab::{CancelToken, ErrorKind, NodePath, OpenOptions, Operation, Pool, Source, digest, open};
///
/// let source = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
/// let token = CancelToken::new();
/// let operation = Operation::new(source, Pool::default().with_cancel(token.clone()));
/// assert!(digest::lines(&operation, &NodePath::root()).is_ok());
/// token.cancel();
/// assert_eq!(digest::lines(&operation, &NodePath::root()).unwrap_err().kind(), ErrorKind::Cancelled);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone)]
pub struct Operation {
    source: Arc<dyn Source>,
    pool: Pool,
    /// The chunk cache, if this operation opened the source. Other operations read through its arrays.
    chunk_cache: Option<ChunkCache>,
    /// The failed requests to the source, if this operation opened it.
    failures: Option<Failures>,
}

impl Operation {
    /// Reads `source` with `pool`.
    pub fn new(source: Arc<dyn Source>, pool: Pool) -> Operation {
        Operation { source, pool, chunk_cache: None, failures: None }
    }

    /// Reads `source`, which was just opened.
    pub(crate) fn opened(
        source: Arc<dyn Source>,
        pool: Pool,
        chunk_cache: ChunkCache,
        failures: Failures,
    ) -> Operation {
        Operation { source, pool, chunk_cache: Some(chunk_cache), failures: Some(failures) }
    }

    /// Reads an open array with `pool` instead of the pool with which it was opened.
    pub fn of_array(array: Arc<dyn ArraySource>, pool: Pool) -> Arc<dyn ArraySource> {
        Arc::new(OperationArray { array, pool, cached: None, source: None })
    }

    /// An array that was just opened.
    pub(crate) fn opened_array(
        array: Arc<dyn ArraySource>,
        pool: Pool,
        cache: Option<&ChunkCache>,
        source: Option<Arc<dyn Source>>,
    ) -> Arc<dyn ArraySource> {
        let cached = cache.and_then(|cache| CachedChunks::of(&*array, cache));
        Arc::new(OperationArray { array, pool, cached, source })
    }
}

impl Source for Operation {
    fn beneath(&self) -> Option<&dyn Source> {
        Some(&*self.source)
    }

    fn dialect(&self) -> &'static Dialect {
        self.source.dialect()
    }

    fn read_failure(&self) -> Option<Error> {
        match &self.failures {
            Some(failures) => failures.first(),
            None => self.source.read_failure(),
        }
    }

    fn size(&self) -> Result<u64> {
        self.pool.check()?;
        self.source.size()
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn find(&self, path: &NodePath) -> Result<Entry> {
        self.pool.check()?;
        self.source.find(path)
    }

    fn members(&self, group: &Handle) -> Result<Vec<Entry>> {
        self.pool.check()?;
        self.source.members(group)
    }

    fn load(&self, object: &Handle) -> Result<Node> {
        self.pool.check()?;
        self.source.load(object)
    }

    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        self.pool.check()?;
        let (array, pool) = (self.source.array(object)?, self.pool.clone());
        let source = Some(Arc::clone(&self.source));
        Ok(Operation::opened_array(array, pool, self.chunk_cache.as_ref(), source))
    }

    fn cells(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        self.pool.check()?;
        let cells = self.source.cells(group)?;
        Ok(cells
            .map(|cells| Arc::new(OperationCells { cells, pool: self.pool.clone() }) as Arc<dyn CellSource>))
    }
}

/// An array with the pool of an operation.
struct OperationArray {
    array: Arc<dyn ArraySource>,
    pool: Pool,
    cached: Option<CachedChunks>,
    /// The source that has the array.
    source: Option<Arc<dyn Source>>,
}

impl ArraySource for OperationArray {
    fn beneath(&self) -> Option<&dyn ArraySource> {
        Some(&*self.array)
    }

    fn extents(&self) -> Option<&[u64]> {
        self.array.extents()
    }

    fn datatype(&self) -> &Arc<Datatype> {
        self.array.datatype()
    }

    fn chunk(&self) -> &[u64] {
        self.array.chunk()
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.array.read_part(region, rows, heap, scratch)
    }

    fn most_content(&self) -> Result<u64> {
        match &self.source {
            Some(source) if self.array.datatype().has_slots() => most_content(&**source, &*self.array),
            _ => self.array.most_content(),
        }
    }

    fn cached_chunks(&self) -> Option<&CachedChunks> {
        self.cached.as_ref().or_else(|| self.array.cached_chunks())
    }

    fn stored(&self) -> Result<u64> {
        self.array.stored()
    }

    fn chunks(&self) -> Result<Option<Chunks>> {
        self.pool.check()?;
        self.array.chunks()
    }

    fn chunk_places(
        &self,
        level: ChunkLevel,
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        self.pool.check()?;
        self.array.chunk_places(level, &mut |place| {
            self.pool.check()?;
            visit(place)
        })
    }

    fn stored_chunk(&self, start: &[u64], out: &mut Vec<u8>) -> Result<StoredChunk> {
        self.pool.check()?;
        self.array.stored_chunk(start, out)
    }
}

/// Cells with the pool of an operation.
struct OperationCells {
    cells: Arc<dyn CellSource>,
    pool: Pool,
}

impl CellSource for OperationCells {
    fn columns(&self) -> &[CellColumn] {
        self.cells.columns()
    }

    fn count(&self, query: &CellQuery) -> Result<u64> {
        self.pool.check()?;
        self.cells.count(query)
    }

    fn batches(&self, query: &CellQuery) -> Result<CellBatches<'_>> {
        self.pool.check()?;
        let batches = self.cells.batches(query)?;
        Ok(Box::new(batches.map(|batch| self.pool.check().and(batch))))
    }

    fn read(&self, query: &CellQuery) -> Result<Option<Cells>> {
        self.pool.check()?;
        self.cells.read(query)
    }
}
