//! Views: sources and arrays that show another source or array differently.
//!
//! A view defines what it shows differently. This module passes on everything else, so no view can forget a method.

use crate::cells::CellSource;
use crate::pool::Pool;
use crate::source::cache::CachedChunks;
use crate::source::{
    ArraySource, ChunkLevel, Declared, Dialect, Entry, Handle, LeftBehind, MissingSources, Source,
    StoredChunk, StoredForm, UnfollowedLinks, Unshown,
};
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{ChunkPlace, ChunkPlacement};
use hyperslab_model::{Attribute, Datatype, Node, NodePath, Reference, Values};
use std::sync::Arc;

/// A source that shows the objects of another one differently.
pub(crate) trait SourceView: Send + Sync {
    /// The underlying source.
    fn viewed(&self) -> &dyn Source;

    /// The size of everything that is read, in bytes.
    fn read_size(&self) -> Result<u64> {
        self.viewed().size()
    }

    /// An object of the viewed source, as this view lists it.
    fn entry(&self, entry: Entry) -> Result<Entry> {
        Ok(entry)
    }

    /// An object of the viewed source, as this view loads it.
    fn node(&self, _object: &Handle, node: Node) -> Result<Node> {
        Ok(node)
    }

    /// The elements of an array of the viewed source, as this view reads them.
    fn elements(&self, _object: &Handle, array: Arc<dyn ArraySource>) -> Result<Arc<dyn ArraySource>> {
        Ok(array)
    }

    /// The object at a path, for a view with objects of its own.
    fn entry_at(&self, path: &NodePath) -> Result<Entry> {
        self.entry(self.viewed().find(path)?)
    }

    /// The members of a group, for a view with objects of its own.
    fn entries_in(&self, group: &Handle) -> Result<Vec<Entry>> {
        self.viewed().members(group)?.into_iter().map(|entry| self.entry(entry)).collect()
    }

    /// One object, for a view with objects of its own.
    fn node_of(&self, object: &Handle) -> Result<Node> {
        self.node(object, self.viewed().load(object)?)
    }

    /// The elements of an array, for a view with objects of its own.
    fn elements_of(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        self.elements(object, self.viewed().array(object)?)
    }

    /// The cells of a sparse array.
    fn cells_of(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        self.viewed().cells(group)
    }

    /// The order of the members of a group, as [`Source::declared`].
    fn declared_in(&self, group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        self.viewed().declared(group, members)
    }

    /// As [`Source::stored_order_of_attributes`].
    fn attribute_order_of(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        self.viewed().stored_order_of_attributes(object)
    }

    /// As [`Source::fill_attribute`].
    fn fill_attribute_of(&self, object: &Handle) -> Result<Option<Attribute>> {
        self.viewed().fill_attribute(object)
    }

    /// As [`Source::open_named`].
    fn open_other(&self, file: &str) -> Result<Option<Arc<dyn Source>>> {
        self.viewed().open_named(file)
    }

    /// As [`Source::has_unshown_elements`].
    fn unshown_elements_of(&self, object: &Handle) -> Result<bool> {
        self.viewed().has_unshown_elements(object)
    }

    /// As [`Source::left_behind`].
    fn left_behind_of(&self, object: &Handle) -> Result<Vec<LeftBehind>> {
        self.viewed().left_behind(object)
    }

    /// Content that this view does not show, as [`Source::unshown`].
    fn left_unshown(&self) -> Vec<Unshown> {
        self.viewed().unshown()
    }

    /// The links that this view could not follow.
    fn links_left(&self) -> UnfollowedLinks {
        self.viewed().unfollowed_links()
    }

    /// As [`Source::met_twice`].
    fn noted_twice(&self, object: &Handle) {
        self.viewed().met_twice(object);
    }
}

impl<T: SourceView> Source for T {
    fn beneath(&self) -> Option<&dyn Source> {
        Some(self.viewed())
    }

    fn dialect(&self) -> &'static Dialect {
        self.viewed().dialect()
    }

    fn size(&self) -> Result<u64> {
        self.read_size()
    }

    fn find(&self, path: &NodePath) -> Result<Entry> {
        self.entry_at(path)
    }

    fn members(&self, group: &Handle) -> Result<Vec<Entry>> {
        self.entries_in(group)
    }

    fn load(&self, object: &Handle) -> Result<Node> {
        self.node_of(object)
    }

    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        self.elements_of(object)
    }

    fn cells(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        self.cells_of(group)
    }

    fn declared(&self, group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        self.declared_in(group, members)
    }

    fn stored_order_of_attributes(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        self.attribute_order_of(object)
    }

    fn fill_attribute(&self, object: &Handle) -> Result<Option<Attribute>> {
        self.fill_attribute_of(object)
    }

    fn open_named(&self, file: &str) -> Result<Option<Arc<dyn Source>>> {
        self.open_other(file)
    }

    fn has_unshown_elements(&self, object: &Handle) -> Result<bool> {
        self.unshown_elements_of(object)
    }

    fn left_behind(&self, object: &Handle) -> Result<Vec<LeftBehind>> {
        self.left_behind_of(object)
    }

    fn unshown(&self) -> Vec<Unshown> {
        self.left_unshown()
    }

    fn unfollowed_links(&self) -> UnfollowedLinks {
        self.links_left()
    }

    fn met_twice(&self, object: &Handle) {
        self.noted_twice(object);
    }
}

/// An array that shows the elements of another one differently: at other positions, more or fewer of them, or with
/// other values. Anything that depends on the layout of the viewed array (its chunks, and what is known about them) is
/// not passed on.
pub(crate) trait ArrayView: Send + Sync {
    /// The underlying array.
    fn viewed(&self) -> &dyn ArraySource;

    /// Whether all elements are at the same positions, so that the layout is passed on as well. Stored bytes are not
    /// passed on: they encode other values.
    fn is_in_place(&self) -> bool {
        false
    }

    /// The extents of the view.
    fn shown_extents(&self) -> Option<&[u64]> {
        self.viewed().extents()
    }

    /// The datatype of the view.
    fn shown_datatype(&self) -> &Arc<Datatype> {
        self.viewed().datatype()
    }

    /// The chunk shape of the view, for readers that follow it.
    fn shown_chunk(&self) -> &[u64] {
        self.viewed().chunk()
    }

    /// As [`ArraySource::read_part`].
    fn read_shown(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()>;

    /// As [`ArraySource::fill`].
    fn shown_fill(&self) -> Result<Option<Values>> {
        self.viewed().fill()
    }

    /// As [`ArraySource::is_unwritten_in`].
    fn is_shown_unwritten_in(&self, region: &Region) -> Result<bool> {
        if self.is_in_place() { self.viewed().is_unwritten_in(region) } else { Ok(false) }
    }

    /// As [`ArraySource::is_unwritten`].
    fn is_shown_unwritten(&self) -> Result<bool> {
        self.viewed().is_unwritten()
    }
}

impl<T: ArrayView> ArraySource for T {
    fn beneath(&self) -> Option<&dyn ArraySource> {
        self.is_in_place().then(|| self.viewed())
    }

    fn extents(&self) -> Option<&[u64]> {
        self.shown_extents()
    }

    fn datatype(&self) -> &Arc<Datatype> {
        self.shown_datatype()
    }

    fn chunk(&self) -> &[u64] {
        self.shown_chunk()
    }

    fn pool(&self) -> &Pool {
        self.viewed().pool()
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.read_shown(region, rows, heap, scratch)
    }

    fn cached_chunks(&self) -> Option<&CachedChunks> {
        // Cached chunks contain the elements of the viewed array.
        None
    }

    fn is_divisible(&self) -> bool {
        self.viewed().is_divisible()
    }

    fn is_far(&self) -> bool {
        self.viewed().is_far()
    }

    fn stored(&self) -> Result<u64> {
        self.viewed().stored()
    }

    fn fill(&self) -> Result<Option<Values>> {
        self.shown_fill()
    }

    fn missing_sources(&self) -> Result<MissingSources> {
        self.viewed().missing_sources()
    }

    fn check_layout(&self) -> Result<()> {
        self.viewed().check_layout()
    }

    fn has_ordered_labels(&self) -> bool {
        self.viewed().has_ordered_labels()
    }

    fn fill_is_missing(&self) -> bool {
        self.viewed().fill_is_missing()
    }

    fn stored_form(&self) -> Option<StoredForm> {
        None
    }

    fn stored_chunk(&self, _: &[u64], _: &mut Vec<u8>) -> Result<StoredChunk> {
        Ok(StoredChunk::Other)
    }

    fn chunk_places(
        &self,
        _: ChunkLevel,
        _: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        match self.is_in_place() {
            // The chunks exist, but contain the bytes of other values.
            true => Ok(ChunkPlacement::InOtherArrays),
            false => Ok(ChunkPlacement::Nowhere),
        }
    }

    fn is_unwritten_in(&self, region: &Region) -> Result<bool> {
        self.is_shown_unwritten_in(region)
    }

    fn most_content(&self) -> Result<u64> {
        self.viewed().most_content()
    }

    fn is_unwritten(&self) -> Result<bool> {
        self.is_shown_unwritten()
    }
}
