//! The interface of an open store of any format.

mod bounds;
mod by_group;
pub(crate) mod cache;
mod column;
mod counted;
mod declared;
mod dialect;
pub(crate) mod engine;
mod event;
mod grouped;
mod named;
mod sizes;
mod stored;
#[cfg(test)]
pub(crate) mod testing;
mod view;

pub use bounds::Asked;
pub(crate) use bounds::{check_counts, check_size, most_content};
pub(crate) use by_group::ByGroup;
pub(crate) use column::{ColumnOfCells, has_cells_only};
pub(crate) use counted::Counted;
pub use declared::Declared;
pub use dialect::{ContentStorage, Dialect};
pub use event::{Event, EventKind};
pub(crate) use grouped::grouped;
pub use named::{FileRole, FoundFile, MissingSources, NamedFile, NamedFiles, UnfollowedLinks};
pub(crate) use sizes::Sizes;
pub use stored::{StoredChunk, StoredFilter, StoredForm};
pub(crate) use view::{ArrayView, SourceView};

use crate::cells::CellSource;
use crate::pool::Pool;
use crate::source::cache::CachedChunks;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region, Selection};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{ChunkPlace, ChunkPlacement};
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{
    Attribute, Datatype, Dimension, Link, Node, NodeKind, NodePath, Reference, Shape, Storage, Unreadable,
    Values,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Content of a store that no object shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unshown {
    /// What it is.
    pub what: String,
    /// What is shown in its place.
    pub instead: &'static str,
}

/// What converting an object does not carry over, although all of its content is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftBehind {
    /// The history: what was written before, and when.
    History,
    /// Encryption: the key that opened the store is needed to read it.
    Encryption,
    /// The numbers of its enumeration: its elements are positions in that list.
    EnumeratedNumbers,
    /// The elements that its values refer to: the values are positions or element counts along a dimension of which
    /// only a part is selected.
    Linked,
}

/// An open store: an immutable tree of objects that many threads may read at the same time.
pub trait Source: Send + Sync {
    /// The source below this one, if this is a wrapper. It answers everything that the wrapper does not answer
    /// itself.
    fn beneath(&self) -> Option<&dyn Source> {
        None
    }

    /// The properties of the format and version.
    fn dialect(&self) -> &'static Dialect;

    /// The name of the format, for heads and reports: `HDF5`, `NetCDF-4`.
    fn format(&self) -> &'static str {
        self.dialect().title
    }

    /// The size of the store in bytes.
    fn size(&self) -> Result<u64>;

    /// The size of the store together with the other files that its elements are read from, as far as they are found.
    /// A virtual array or one in external files may be far larger than the file that describes it.
    ///
    /// # Errors
    /// As [`Source::size`] and [`Source::named_files`].
    fn size_with_parts(&self) -> Result<u64> {
        self.beneath().map_or_else(|| self.size(), Source::size_with_parts)
    }

    /// Warnings about the store as a whole: for example, a file was not closed.
    fn warnings(&self) -> Vec<String> {
        self.beneath().map(Source::warnings).unwrap_or_default()
    }

    /// Content that no object shows and that no read error names, each item with what is shown in its place.
    fn unshown(&self) -> Vec<Unshown> {
        self.beneath().map(Source::unshown).unwrap_or_default()
    }

    /// The error of the first read of the store that has failed since it was opened, if any. An answer that omits what
    /// could not be read is not an answer about the store.
    fn read_failure(&self) -> Option<Error> {
        self.beneath()?.read_failure()
    }

    /// The origin of a document that describes another store.
    fn origin(&self) -> Option<&Origin> {
        self.beneath()?.origin()
    }

    /// Whether this is a document, which has only the values that were requested when it was written.
    fn is_text(&self) -> bool {
        self.beneath().is_some_and(Source::is_text)
    }

    /// The place of an object in a document: line and column, from 1.
    fn place(&self, path: &NodePath) -> Option<(u32, u32)> {
        self.beneath()?.place(path)
    }

    /// The limits on the memory that a file may make the reader allocate.
    fn limits(&self) -> Limits {
        self.beneath().map(Source::limits).unwrap_or_default()
    }

    /// The resources for reading: threads, memory, and the cancellation token.
    fn pool(&self) -> &Pool {
        match self.beneath() {
            Some(source) => source.pool(),
            None => Pool::shared(),
        }
    }

    /// The object at `path`. Links in the path are followed, except at its end.
    ///
    /// # Errors
    /// [`NotFound`](hyperslab_core::ErrorKind::NotFound) if there is no such object.
    fn find(&self, path: &NodePath) -> Result<Entry>;

    /// The members of a group in stored order. A member that cannot be read is listed as unreadable.
    ///
    /// # Errors
    /// If the list of members cannot be read.
    fn members(&self, group: &Handle) -> Result<Vec<Entry>>;

    /// For each member of a group, its place in the order of declaration.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn declared(&self, group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        match self.beneath() {
            Some(source) => source.declared(group, members),
            None => Ok((0..).zip(members).map(|(place, _)| Declared { place, dimension: None }).collect()),
        }
    }

    /// Whether readers show the members of a group, and their attributes, in creation order.
    ///
    /// # Errors
    /// If the group cannot be read.
    fn keeps_order(&self, group: &NodePath) -> Result<bool> {
        self.beneath().map_or_else(|| Ok(self.dialect().keeps_order), |source| source.keeps_order(group))
    }

    /// The names of the attributes of an object in the order in which they are stored. `None` if that is the order of
    /// [`Node::attributes`].
    ///
    /// # Errors
    /// If the attributes cannot be listed.
    fn stored_order_of_attributes(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        self.beneath().map_or(Ok(None), |source| source.stored_order_of_attributes(object))
    }

    /// Whether the store follows the NetCDF classic model: one group, and only number and character types.
    fn is_classic_model(&self) -> bool {
        self.beneath().is_some_and(Source::is_classic_model)
    }

    /// One object without the values of its elements.
    ///
    /// # Errors
    /// If it cannot be read.
    fn load(&self, object: &Handle) -> Result<Node>;

    /// The attribute `_FillValue` of an array in the type of its elements, if the format stores it in another form,
    /// which [`Source::load`] shows but other formats do not understand. Only called for arrays with this attribute.
    ///
    /// # Errors
    /// If the array cannot be read.
    fn fill_attribute(&self, object: &Handle) -> Result<Option<Attribute>> {
        self.beneath().map_or(Ok(None), |source| source.fill_attribute(object))
    }

    /// Whether a dimension without a type has elements in the file that readers of the format do not show.
    ///
    /// # Errors
    /// If the system fails to read it.
    fn has_unshown_elements(&self, object: &Handle) -> Result<bool> {
        self.beneath().map_or(Ok(false), |source| source.has_unshown_elements(object))
    }

    /// What converting an object does not carry over.
    ///
    /// # Errors
    /// If the object cannot be read.
    fn left_behind(&self, object: &Handle) -> Result<Vec<LeftBehind>> {
        self.beneath().map_or(Ok(Vec::new()), |source| source.left_behind(object))
    }

    /// The elements of an array or dimension coordinate. The result keeps the store open and caches everything needed
    /// to locate the elements: open it once and read it many times.
    ///
    /// # Errors
    /// If it is not an array, or its elements cannot be located.
    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>>;

    /// The cells of a sparse array; `None` if the group is not one. The columns are members of the group.
    ///
    /// # Errors
    /// If the cells cannot be located.
    fn cells(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        self.beneath().map_or(Ok(None), |source| source.cells(group))
    }

    /// The writes to an object that the store still keeps, in any order. `None` if the object has no history of its
    /// own, as in formats that keep only what was written last.
    ///
    /// # Errors
    /// If it cannot be read.
    fn history(&self, object: &Handle) -> Result<Option<Vec<Event>>> {
        self.beneath().map_or(Ok(None), |source| source.history(object))
    }

    /// Other files that the store consists of, or that objects in it name; none if the store is self-contained.
    ///
    /// # Errors
    /// If the objects cannot be listed.
    fn named_files(&self) -> Result<NamedFiles> {
        self.beneath().map_or_else(|| Ok(NamedFiles::default()), Source::named_files)
    }

    /// Opens the store of the same format that an external link in this one names, with the same options. `None` if
    /// there is no such file.
    ///
    /// # Errors
    /// If it may not be followed, or cannot be opened.
    fn open_named(&self, file: &str) -> Result<Option<Arc<dyn Source>>> {
        self.beneath().map_or(Ok(None), |source| source.open_named(file))
    }

    /// The links that could not be followed, among those listed so far; none if links are not followed.
    fn unfollowed_links(&self) -> UnfollowedLinks {
        self.beneath().map(Source::unfollowed_links).unwrap_or_default()
    }

    /// The path of the opened file without symbolic links; `None` if it was not opened by a path, or other files cannot
    /// name it.
    fn identity(&self) -> Option<PathBuf> {
        self.beneath()?.identity()
    }

    /// Called by a walk that reached a group twice, to report that [`Source::members`] lists this object under several
    /// paths. From then on the source lists further paths as links.
    fn met_twice(&self, object: &Handle) {
        if let Some(source) = self.beneath() {
            source.met_twice(object);
        }
    }
}

/// The origin of the content of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The name of the file.
    pub location: String,
    /// The name of its format: `NetCDF-4`.
    pub format: String,
    /// The document includes the values of arrays with at most this number of elements; `None` if it includes no
    /// values.
    pub values: Option<u64>,
}

/// The elements of one array. It keeps the store open, even after its [`Source`] is dropped.
pub trait ArraySource: Send + Sync {
    /// The array below this one, if this is a wrapper with the same elements. It answers everything that the wrapper
    /// does not answer itself. An array with another shape or layout is not a wrapper.
    fn beneath(&self) -> Option<&dyn ArraySource> {
        None
    }

    /// The current extents; `None` for a null dataspace.
    fn extents(&self) -> Option<&[u64]>;

    /// The datatype of an element.
    fn datatype(&self) -> &Arc<Datatype>;

    /// The chunk shape, for readers that follow it; all ones if there are no chunks.
    fn chunk(&self) -> &[u64];

    /// The threads for reading, their memory, and the token that cancels them.
    fn pool(&self) -> &Pool;

    /// Reads the elements of `region` to `rows` in row-major order, with as many threads of the pool as are useful.
    /// `heap` is empty, or was filled by reading from this array.
    ///
    /// # Errors
    /// If `rows` does not have the size of the region, or a chunk cannot be read; `rows` is then unspecified.
    fn read(&self, region: &Region, rows: &mut [u8], heap: &mut Heap<Reference>) -> Result<()> {
        engine::read(self, region, rows, heap)
    }

    /// The part of [`ArraySource::read`] that each thread runs: reads a part of the region to the caller's memory,
    /// with the buffers and coders of the thread.
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

    /// Reads the elements of `region` to new memory.
    ///
    /// # Errors
    /// As [`ArraySource::read`], and if the elements exceed the memory.
    fn values(&self, region: &Region) -> Result<Values> {
        engine::values(self, region)
    }

    /// Reads the elements of a selection, in its order.
    ///
    /// # Errors
    /// As [`ArraySource::values`], and if the selection exceeds the extents.
    fn select(&self, selection: &Selection) -> Result<Values> {
        engine::selected(self, selection)
    }

    /// The shape of the unit of decoding: a chunk, or an inner chunk of a shard. `None` if reading a part costs little
    /// more than the part itself: the array has no chunks, or its chunks are unfiltered.
    fn decoded_chunk(&self) -> Option<Vec<u64>> {
        self.beneath()?.decoded_chunk()
    }

    /// The cache of decoded chunks, for reads of less than a chunk.
    fn cached_chunks(&self) -> Option<&CachedChunks> {
        self.beneath()?.cached_chunks()
    }

    /// Whether several parts can be read at the same time for little more than the cost of the whole. Elements that
    /// are scattered over other files must be located for each part.
    fn is_divisible(&self) -> bool {
        self.beneath().is_none_or(ArraySource::is_divisible)
    }

    /// Whether the elements are in remote storage, where fewer and larger requests take less time.
    fn is_far(&self) -> bool {
        self.beneath().is_some_and(ArraySource::is_far)
    }

    /// The stored size of the elements in bytes.
    ///
    /// # Errors
    /// If the chunks cannot be listed.
    fn stored(&self) -> Result<u64>;

    /// The total number of chunks and the number of written chunks; `None` if the array is not chunked.
    ///
    /// # Errors
    /// As [`ArraySource::stored`], and if the index of a shard cannot be read.
    fn chunks(&self) -> Result<Option<Chunks>> {
        self.beneath().map_or(Ok(None), ArraySource::chunks)
    }

    /// The fill value, if it is known not to be zero or empty.
    ///
    /// # Errors
    /// If it cannot be read.
    fn fill(&self) -> Result<Option<Values>> {
        self.beneath().map_or(Ok(None), ArraySource::fill)
    }

    /// The sources of a virtual array that do not exist.
    ///
    /// # Errors
    /// If a source exists and cannot be opened.
    fn missing_sources(&self) -> Result<MissingSources> {
        self.beneath().map_or_else(|| Ok(MissingSources::default()), ArraySource::missing_sources)
    }

    /// Checks the structures that lead to the elements, such as the index of chunks. Formats may read them only when
    /// elements are requested.
    ///
    /// # Errors
    /// If they are invalid.
    fn check_layout(&self) -> Result<()> {
        self.beneath().map_or(Ok(()), ArraySource::check_layout)
    }

    /// Whether the labels of its enumeration are ordered, so that elements compare in that order.
    fn has_ordered_labels(&self) -> bool {
        self.beneath().is_some_and(ArraySource::has_ordered_labels)
    }

    /// Whether readers of the format treat the fill value as missing, independent of attributes.
    fn fill_is_missing(&self) -> bool {
        self.beneath().is_some_and(ArraySource::fill_is_missing)
    }

    /// How chunks are stored. `None` if elements are not in chunks, or are not contiguous within them.
    fn stored_form(&self) -> Option<StoredForm> {
        self.beneath()?.stored_form()
    }

    /// The stored bytes of the chunk whose first element is at `start`, read to the start of `out`, which grows if
    /// necessary.
    ///
    /// # Errors
    /// If it cannot be read.
    fn stored_chunk(&self, start: &[u64], out: &mut Vec<u8>) -> Result<StoredChunk> {
        self.beneath().map_or(Ok(StoredChunk::Other), |array| array.stored_chunk(start, out))
    }

    /// Whether it is known, without decoding, that no element of `region` was ever written.
    ///
    /// # Errors
    /// If the chunks cannot be listed.
    fn is_unwritten_in(&self, region: &Region) -> Result<bool> {
        self.beneath().map_or(Ok(false), |array| array.is_unwritten_in(region))
    }

    /// Whether elements of absent chunks were never written and so have the fill value of the array. Otherwise they are
    /// ordinary elements, left out because they have the fill value of the store.
    fn absent_is_unwritten(&self) -> bool {
        self.beneath().is_none_or(ArraySource::absent_is_unwritten)
    }

    /// Whether the elements follow from other content, so that they are not content of the array itself: coordinates
    /// that count along a domain, labels that are another array. They have no line in [digests](crate::digest).
    fn is_told_elsewhere(&self) -> bool {
        self.beneath().is_some_and(ArraySource::is_told_elsewhere)
    }

    /// Whether it is a column of a sparse array, whose elements are in cells.
    fn is_of_cells(&self) -> bool {
        self.beneath().is_some_and(ArraySource::is_of_cells)
    }

    /// The maximum number of bytes that elements of variable length may refer to in one answer; bytes referred to
    /// several times count each time. Checked when a verb reads the whole array.
    ///
    /// # Errors
    /// If the size of the store cannot be read.
    fn most_content(&self) -> Result<u64> {
        self.beneath().map_or(Ok(u64::MAX), ArraySource::most_content)
    }

    /// Calls `visit` with the first element of each written chunk, if the written chunks are known without decoding.
    /// Returns whether they are.
    ///
    /// # Errors
    /// If the chunks cannot be listed; any error of `visit`.
    fn written(&self, visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        self.beneath().map_or(Ok(false), |array| array.written(visit))
    }

    /// Calls `visit` with the place of each chunk that was written, without reading any. HDF5 chunks are visited in
    /// row-major order, Zarr chunks in the order in which the store lists them. An unchunked array counts as one chunk,
    /// as does each record of the NetCDF classic formats.
    ///
    /// # Errors
    /// If the chunks cannot be listed; the errors of `visit`.
    fn chunk_places(
        &self,
        level: ChunkLevel,
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        self.beneath().map_or(Ok(ChunkPlacement::Nowhere), |array| array.chunk_places(level, visit))
    }

    /// Whether no element was ever written, so that all have the fill value.
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

/// Which chunks of an array are meant if chunks are nested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkLevel {
    /// The chunks that are stored separately: shards, if there are any.
    Outer,
    /// The inner chunks of shards. Without shards, the same as [`ChunkLevel::Outer`].
    Inner,
}

/// The numbers of chunks of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunks {
    /// The chunks that are stored separately: shards, if there are any.
    pub outer: ChunkCount,
    /// The inner chunks of shards.
    pub inner: Option<ChunkCount>,
}

/// The numbers of chunks of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkCount {
    /// The shape of a chunk; the largest if they differ.
    pub shape: Vec<u64>,
    /// The number of written chunks.
    pub written: u64,
    /// The number of chunks in the grid of the array.
    pub of: u64,
}

/// Identifies an object of an open store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Its path.
    pub path: NodePath,
    /// An identifier of the format, such as an address in HDF5.
    pub id: u64,
}

/// An object in a listing.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The object.
    pub handle: Handle,
    /// Its kind and properties.
    pub item: Item,
}

impl Entry {
    /// The dimensions of an array, as returned by [`along`]; `None` for other objects and for shapes without
    /// dimensions.
    pub(crate) fn dimensions(&self) -> Option<Vec<Dimension>> {
        match &self.item {
            Item::Array { kind, shape: Shape::Dims(dims), .. } => Some(along(&self.handle.path, *kind, dims)),
            _ => None,
        }
    }
}

/// The dimensions of an array; a dimension coordinate has itself as its dimension.
pub(crate) fn along(path: &NodePath, kind: NodeKind, dims: &[Dimension]) -> Vec<Dimension> {
    let own = (kind == NodeKind::DimCoord).then_some(path);
    let named =
        |of: &Dimension| Dimension { extent: of.extent, coordinate: own.or(of.coordinate.as_ref()).cloned() };
    dims.iter().map(named).collect()
}

/// The kind and properties of an object in a listing.
#[derive(Clone, Debug)]
pub enum Item {
    /// A group.
    Group,
    /// An array or a dimension coordinate.
    Array {
        /// Whether it is an array or a dimension coordinate.
        kind: NodeKind,
        /// The datatype; `None` for a dimension without coordinates.
        datatype: Option<Arc<Datatype>>,
        /// The dimensions.
        shape: Shape,
        /// The storage; boxed, since few listings of many objects need it.
        stored: Stored,
    },
    /// A named datatype.
    Datatype(Arc<Datatype>),
    /// A link.
    Link(Link),
    /// An object that cannot be read.
    Unreadable(Unreadable),
}

impl Item {
    /// The kind of the object.
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

/// The storage of an array in a listing.
#[derive(Clone, Debug)]
pub enum Stored {
    /// Contiguous, with this size in bytes.
    Bytes(u64),
    /// Chunked; [`ArraySource::stored`] returns the size.
    Chunks(Arc<Storage>),
    /// Nothing: a dimension without coordinates.
    Nothing,
}
