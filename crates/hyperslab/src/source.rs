//! An opened file, whatever its format.

pub(crate) mod cache;
mod dialect;
pub(crate) mod engine;
mod named;
mod stored;
#[cfg(test)]
pub(crate) mod testing;

pub use dialect::Dialect;
pub use named::{FileRole, FoundFile, NamedFile, NamedFiles};
pub use stored::{StoredChunk, StoredFilter, StoredForm};

use crate::cells::CellSource;
use crate::pool::Pool;
use crate::source::cache::CachedChunks;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region, Selection, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{ChunkPlace, Placed};
use hyperslab_core::{Error, Limit, Limits, Result};
use hyperslab_model::{
    Datatype, Link, Node, NodeKind, NodePath, Reference, Shape, Storage, Unreadable, Values,
};
use std::sync::Arc;

/// An opened file: an immutable tree of objects that many threads may read at once.
pub trait Source: Send + Sync {
    /// The source that this one is a layer over. What a layer does not answer itself is asked of that one.
    fn beneath(&self) -> Option<&dyn Source> {
        None
    }

    /// What follows from the format and version of the file alone.
    fn dialect(&self) -> &'static Dialect;

    /// The format in words, for heads and reports: `HDF5`, `NetCDF-4`.
    fn format(&self) -> &'static str {
        self.dialect().title
    }

    /// Bytes of the file.
    fn size(&self) -> Result<u64>;

    /// What is worth a warning about the file as a whole: it was not closed, a text has slips.
    fn warnings(&self) -> Vec<String> {
        self.beneath().map(Source::warnings).unwrap_or_default()
    }

    /// What a text says of the file that it describes.
    fn origin(&self) -> Option<&Origin> {
        self.beneath()?.origin()
    }

    /// Whether this is a text, which holds values only as far as it was asked for them.
    fn is_text(&self) -> bool {
        self.beneath().is_some_and(Source::is_text)
    }

    /// Where a text names an object, as line and column from 1.
    fn place(&self, path: &NodePath) -> Option<(u32, u32)> {
        self.beneath()?.place(path)
    }

    /// What the file may make us allocate.
    fn limits(&self) -> Limits {
        self.beneath().map(Source::limits).unwrap_or_default()
    }

    /// What reads it: threads, memory, and the token that stops it.
    fn pool(&self) -> &Pool {
        match self.beneath() {
            Some(source) => source.pool(),
            None => Pool::shared(),
        }
    }

    /// The object at `path`; links on the way are followed, one at its end is not.
    ///
    /// # Errors
    /// [`NotFound`](hyperslab_core::ErrorKind::NotFound) if there is none.
    fn find(&self, path: &NodePath) -> Result<Entry>;

    /// The members of a group in stored order. A member that cannot be read is listed as unreadable.
    ///
    /// # Errors
    /// If the list of members itself cannot be read.
    fn members(&self, group: &Handle) -> Result<Vec<Entry>>;

    /// One object with everything but its array values.
    ///
    /// # Errors
    /// If it cannot be read.
    fn load(&self, object: &Handle) -> Result<Node>;

    /// The elements of an array or dimension coordinate. What is returned keeps the file open, with all that had to
    /// be found to locate the elements: read it many times rather than open it many times.
    ///
    /// # Errors
    /// If it is no array, or its elements cannot be located.
    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>>;

    /// The cells of the sparse array that a group is; `None` if it is none. The columns are members of the group.
    ///
    /// # Errors
    /// If the cells cannot be located.
    fn cells(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        self.beneath().map_or(Ok(None), |source| source.cells(group))
    }

    /// Other files that the store consists of, or that objects in it name; none for a store that is complete by itself.
    ///
    /// # Errors
    /// If the objects cannot be listed.
    fn named_files(&self) -> Result<NamedFiles> {
        self.beneath().map_or_else(|| Ok(NamedFiles::default()), Source::named_files)
    }

    /// Whether [`Source::members`] may list this object under several paths without saying so; asked by
    /// walks that met a group twice. A source answers by naming later paths as links from then on.
    fn met_twice(&self, object: &Handle) {
        if let Some(source) = self.beneath() {
            source.met_twice(object);
        }
    }
}

/// Where the content of a text came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file's name.
    pub location: String,
    /// Its format in words: `NetCDF-4`.
    pub format: String,
    /// The text has values of arrays of at most so many elements; none if `None`.
    pub values: Option<u64>,
}

/// The elements of one array. It owns what it reads from, and is still there when its [`Source`] was dropped.
pub trait ArraySource: Send + Sync {
    /// The array that this one is a layer over, element for element. What a layer does not answer itself is asked of
    /// that one. An array that shows another in part, or in another layout, is no layer.
    fn beneath(&self) -> Option<&dyn ArraySource> {
        None
    }

    /// Current extents; `None` for a null dataspace.
    fn extents(&self) -> Option<&[u64]>;

    /// The type of an element.
    fn datatype(&self) -> &Arc<Datatype>;

    /// The shape of a chunk, for readers that want to go along with it; ones where there are none.
    fn chunk(&self) -> &[u64];

    /// The threads that read it, their memory, and the token that stops them.
    fn pool(&self) -> &Pool;

    /// Fills `rows` with the elements of `region`, row-major, with as many threads of the pool as gain from it.
    /// `heap` is empty, or was filled by reading from this array.
    ///
    /// # Errors
    /// If `rows` is not as long as the region, or a chunk cannot be read; `rows` is then unspecified.
    fn read(&self, region: &Region, rows: &mut [u8], heap: &mut Heap<Reference>) -> Result<()> {
        engine::read(self, region, rows, heap)
    }

    /// What [`ArraySource::read`] has each thread do: fills a part of the caller's memory, with the buffers and
    /// coders of the thread.
    ///
    /// # Errors
    /// As [`ArraySource::read`].
    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()>;

    /// The elements of `region`, in memory of their own.
    ///
    /// # Errors
    /// As [`ArraySource::read`], also if they are more than memory holds.
    fn values(&self, region: &Region) -> Result<Values> {
        engine::values(self, region)
    }

    /// The elements that a selection means, in its order.
    ///
    /// # Errors
    /// As [`ArraySource::values`], and if the selection reaches outside.
    fn select(&self, selection: &Selection) -> Result<Values> {
        engine::selected(self, selection)
    }

    /// The shape of what is decoded together: a chunk, of shards a chunk within. `None` where reading a part costs
    /// little more than the part: what has no chunks, or chunks without filters.
    fn decoded_chunk(&self) -> Option<Vec<u64>> {
        self.beneath()?.decoded_chunk()
    }

    /// Its decoded chunks that are kept, for reads of less than a chunk.
    fn cached_chunks(&self) -> Option<&CachedChunks> {
        self.beneath()?.cached_chunks()
    }

    /// Whether several parts can be read at once for little more than the whole: elements that are scattered over
    /// other files have to be found for each part.
    fn is_divisible(&self) -> bool {
        self.beneath().is_none_or(ArraySource::is_divisible)
    }

    /// Bytes that the elements take in the file.
    ///
    /// # Errors
    /// If the chunks cannot be listed.
    fn stored(&self) -> Result<u64>;

    /// How many chunks there are and were written; `None` where elements are not cut into chunks.
    ///
    /// # Errors
    /// As [`ArraySource::stored`], and if a shard cannot say which chunks are in it.
    fn chunks(&self) -> Result<Option<Chunks>> {
        self.beneath().map_or(Ok(None), ArraySource::chunks)
    }

    /// The element where nothing was written, if that is known not to be zero or empty.
    ///
    /// # Errors
    /// If it cannot be read.
    fn fill(&self) -> Result<Option<Values>> {
        self.beneath().map_or(Ok(None), ArraySource::fill)
    }

    /// Whether readers of the format take the fill value for a missing one, whatever attributes say.
    fn fill_is_missing(&self) -> bool {
        self.beneath().is_some_and(ArraySource::fill_is_missing)
    }

    /// How chunks are stored: `None` if elements are not in chunks, or not one after the other in these.
    fn stored_form(&self) -> Option<StoredForm> {
        self.beneath()?.stored_form()
    }

    /// What is stored of the chunk that begins with the element at `start`, read to the beginning of `out`, which
    /// grows if it must.
    ///
    /// # Errors
    /// If it cannot be read.
    fn stored_chunk(&self, start: &[u64], out: &mut Vec<u8>) -> Result<StoredChunk> {
        self.beneath().map_or(Ok(StoredChunk::Other), |array| array.stored_chunk(start, out))
    }

    /// Whether it is known, without decoding anything, that no element of `region` was ever written.
    ///
    /// # Errors
    /// If the chunks cannot be listed.
    fn is_unwritten_in(&self, region: &Region) -> Result<bool> {
        self.beneath().map_or(Ok(false), |array| array.is_unwritten_in(region))
    }

    /// Tells `visit` where each chunk begins that was written, as far as it is known without decoding anything:
    /// whether it is.
    ///
    /// # Errors
    /// If the chunks cannot be listed, and what `visit` says.
    fn written(&self, visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        self.beneath().map_or(Ok(false), |array| array.written(visit))
    }

    /// Calls `visit` with the place of each chunk that was written, without reading any. Chunks of HDF5 come in
    /// row-major order, those of Zarr as the store lists them. An array in one piece is one chunk, and so is each record of the NetCDF
    /// classic formats.
    ///
    /// # Errors
    /// If the chunks cannot be listed; the errors of `visit`.
    fn chunk_places(
        &self,
        level: ChunkLevel,
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<Placed> {
        self.beneath().map_or(Ok(Placed::Nowhere), |array| array.chunk_places(level, visit))
    }

    /// Whether no element was ever written, so that all are fill.
    ///
    /// # Errors
    /// As [`ArraySource::stored`].
    fn is_unwritten(&self) -> Result<bool> {
        match self.beneath() {
            Some(array) => array.is_unwritten(),
            None => Ok(self.stored()? == 0),
        }
    }
}

/// Which chunks of an array are meant, where chunks lie within others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkLevel {
    /// Those that are stored each by itself: shards, where there are any.
    Outer,
    /// Those within shards. Where there are no shards, as [`ChunkLevel::Outer`].
    Inner,
}

/// How many chunks an array has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// Those that are stored each by itself: shards, where there are any.
    pub outer: ChunkCount,
    /// Those within shards.
    pub inner: Option<ChunkCount>,
}

/// How many chunks of one kind an array has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkCount {
    /// The shape of one; the largest where they differ.
    pub shape: Vec<u64>,
    /// Those that were written.
    pub written: u64,
    /// Those that the array reaches into.
    pub of: u64,
}

/// Names an object of an opened file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Its path.
    pub path: NodePath,
    /// The format's own shortcut to it, an address for HDF5.
    pub id: u64,
}

/// An object as a list shows it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Which one.
    pub handle: Handle,
    /// What it is.
    pub item: Item,
}

/// What a list says of an object.
#[derive(Clone, Debug)]
pub enum Item {
    /// A group.
    Group,
    /// An array or a dimension coordinate.
    Array {
        /// Which of the two.
        kind: NodeKind,
        /// Its type; `None` for a dimension without coordinates.
        datatype: Option<Arc<Datatype>>,
        /// Its dimensions.
        shape: Shape,
        /// Where and how it is stored, boxed as lists of many objects rarely look.
        stored: Stored,
    },
    /// A named datatype.
    Datatype(Arc<Datatype>),
    /// A link.
    Link(Link),
    /// Something that cannot be read.
    Unreadable(Unreadable),
}

impl Item {
    /// What it is.
    pub fn kind(&self) -> NodeKind {
        match self {
            Item::Group => NodeKind::Group,
            Item::Array { kind, .. } => *kind,
            Item::Datatype(_) => NodeKind::Datatype,
            Item::Link(_) => NodeKind::Link,
            Item::Unreadable(_) => NodeKind::Unreadable,
        }
    }
}

/// How an array of a list is stored.
#[derive(Clone, Debug)]
pub enum Stored {
    /// In so many bytes, in one piece.
    Bytes(u64),
    /// In chunks; the array's own [`ArraySource::stored`] knows in how many bytes.
    Chunks(Arc<Storage>),
    /// Nowhere: a dimension without coordinates.
    Nothing,
}

/// Refuses arrays whose size has nothing to do with that of their file: reading the fill value of exabytes
/// that were never written would not end.
///
/// # Errors
/// [`LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded), naming the option that raises the limit.
pub(crate) fn check_size(source: &dyn Source, array: &dyn ArraySource) -> Result<()> {
    check_counts(source, array, array.extents().unwrap_or_default())
}

/// As [`check_size`], for so many elements along each dimension.
///
/// # Errors
/// As [`check_size`].
pub(crate) fn check_counts(source: &dyn Source, array: &dyn ArraySource, counts: &[u64]) -> Result<()> {
    let row = array.datatype().row_size().unwrap_or(usize::MAX) as u64;
    let bytes = element_count(counts).and_then(|count| count.checked_mul(row));
    let plain = source.limits().allocation.saturating_mul(4);
    if bytes.is_some_and(|bytes| bytes <= plain) {
        return Ok(());
    }
    // Only now, as the size of a store in many files takes a walk over them.
    let size = source.size()?;
    if bytes.is_some_and(|bytes| bytes <= size.saturating_mul(MAX_RATIO)) {
        return Ok(());
    }
    let bytes = bytes.map_or("more than 2^64".into(), |bytes| bytes.to_string());
    Err(Error::limit_exceeded(Limit::Allocation, format!("elements of {bytes} bytes in a file of {size}")))
}

/// More than any byte of a file becomes when decompressed by deflate.
const MAX_RATIO: u64 = 1100;
