//! Reads elements of Zarr arrays as rows of the model.

use super::datatype::{check_rows, make_utf8, utf32_spans};
use super::dimensions::shape;
use super::node::datatype_of;
use crate::format::zarr::keep::lowering::Lowering;
use crate::format::zarr::keep::record::{Record, elements, see_texts};
use crate::pool::Pool;
use crate::source::{
    ArraySource, ChunkCount, ChunkLevel, Chunks, Sizes, StoredChunk, StoredFilter, StoredForm,
};
use crate::target::Facts;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Axis, ChunkGrid as Grid, Planes, Region, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{ChunkPlace, ChunkPlacement, Container};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::place_rows;
use hyperslab_model::{Datatype, Fill, Reference, Storage, Values};
use hyperslab_netcdf4::name::FILL_VALUE;
use hyperslab_zarr::Array;
use hyperslab_zarr::data_type::DataType;
use hyperslab_zarr::hierarchy::{Hierarchy, Metadata, Node};
use hyperslab_zarr::json::Json;
use hyperslab_zarr::metadata::{ChunkGrid, Edges, v3};
use hyperslab_zarr::write::Version;
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The datatype that the elements of an array have in the model.
pub(in crate::format::zarr) struct ElementType {
    pub(in crate::format::zarr) datatype: Arc<Datatype>,
    /// The stored form, if a record states the datatype.
    lowering: Option<Lowering>,
}

impl ElementType {
    /// Determines the datatype from the stored one and the record.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the recorded datatype is not stored in this
    /// form.
    pub(in crate::format::zarr) fn new(node: &Node, record: Option<&Record>) -> Result<ElementType> {
        let element = ElementType::stored(node, record)?;
        if let Some(record) = record {
            record.check_extents(&record.current(element.own(shape(node)))?)?;
        }
        Ok(element)
    }

    fn stored(node: &Node, record: Option<&Record>) -> Result<ElementType> {
        let (stored, storage) = datatype_of(node)?;
        let Some(datatype) = record.and_then(|record| record.datatype.clone()) else {
            return Ok(ElementType { datatype: Arc::new(stored), lowering: None });
        };
        let (data_type, version) = match &node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) => (&*array.data_type, Version::V3),
            Metadata::V2Array { array, .. } => (&array.dtype.data_type, Version::V2),
            _ => return Err(Error::invalid("a group has no type")),
        };
        // The facts at the time of writing can be derived from the stored datatype.
        let facts = Facts { is_unicode: *data_type != DataType::Bytes, ..Facts::default() };
        let lowering = Lowering::new(&datatype, &storage, version, facts)?.stored_as(data_type);
        let lowering = lowering.with_spaces_back(record.is_some_and(|record| record.is_padded));
        let fits = is_of(data_type, &lowering.data_type) && shape(node).ends_with(&lowering.trailing);
        match fits {
            true => Ok(ElementType { datatype, lowering: Some(lowering) }),
            false => Err(Error::malformed(format!(
                "the record of hyperslab: member \"type\": {datatype}, which is not stored as {stored}"
            ))),
        }
    }

    /// The number of stored dimensions that belong to the datatype.
    pub(in crate::format::zarr) fn trailing(&self) -> usize {
        self.lowering.as_ref().map_or(0, |lowering| lowering.trailing.len())
    }

    /// The stored extents without those of the datatype.
    fn own<'s>(&self, stored: &'s [u64]) -> &'s [u64] {
        stored.get(..stored.len().saturating_sub(self.trailing())).unwrap_or_default()
    }

    /// Converts the storage of the stored elements to that of the model's elements.
    ///
    /// # Errors
    /// If the fill value is not a valid element.
    pub(in crate::format::zarr) fn see(&self, record: Option<&Record>, storage: &mut Storage) -> Result<()> {
        for shape in [&mut storage.chunk, &mut storage.shard].into_iter().flatten() {
            shape.truncate(shape.len().saturating_sub(self.trailing()));
        }
        // In NDL, a scalar has neither chunks nor filters.
        if record.is_some_and(|record| record.is_null) || storage.chunk.as_ref().is_some_and(Vec::is_empty) {
            (storage.chunk, storage.shard) = (None, None);
            storage.filters.clear();
        }
        if let Some(record) = record {
            let read = |member: &str, json: &Option<Json>, count: u64| -> Result<Option<Values>> {
                let Some(json) = json else { return Ok(None) };
                let items = match json {
                    Json::Array(items) => items.as_slice(),
                    one => std::slice::from_ref(one),
                };
                let values = (items.len() as u64 == count).then(|| elements(&self.datatype, items));
                let values = values.and_then(Result::ok).ok_or_else(|| {
                    let expected = format!("expected {count} of {}", self.datatype);
                    Error::malformed(format!("the record of hyperslab: member {member:?}: {expected}"))
                })?;
                Ok(Some(values))
            };
            storage.domain = read("domain", &record.domain, 2)?;
            storage.tile = read("tile", &record.tile, 1)?;
        }
        if self.lowering.is_some() {
            see_texts(&self.datatype, &mut storage.element);
        }
        if let Some(fill) = record.and_then(|record| record.fill.as_ref()) {
            storage.fill = Fill::Value(elements(&self.datatype, std::slice::from_ref(fill))?);
            return Ok(());
        }
        let Some(lowering) = &self.lowering else { return Ok(()) };
        if let Fill::Value(value) = &mut storage.fill {
            let one = std::mem::take(value);
            let size = self.datatype.row_size().unwrap_or(0);
            let rows = match lowering.trailing.is_empty() {
                true => one.rows.to_vec(),
                false => one.rows.iter().copied().cycle().take(size).collect(),
            };
            *value = lowering.lift(Values { rows: rows.into(), heap: one.heap })?;
        }
        Ok(())
    }
}

/// What must be known of an array in order to write its elements.
pub(in crate::format::zarr) struct WritableElements {
    pub(in crate::format::zarr) datatype: Arc<Datatype>,
    pub(in crate::format::zarr) lowering: Lowering,
    pub(in crate::format::zarr) extents: Vec<u64>,
    /// The shape of the unit of writing: a shard or a chunk.
    pub(in crate::format::zarr) unit: Vec<u64>,
}

/// How the elements of an array are written.
///
/// # Errors
/// If the array has no elements, or its record does not match its type.
pub(in crate::format::zarr) fn writable(node: &Node, record: Option<&Record>) -> Result<WritableElements> {
    let element = ElementType::new(node, record)?;
    if record.is_some_and(|record| record.is_null) {
        return Err(Error::invalid("a null dataspace has no elements"));
    }
    let lowering = match &element.lowering {
        Some(lowering) => lowering.clone(),
        None => {
            let (_, storage) = datatype_of(node)?;
            Lowering::new(&element.datatype, &storage, Version::V3, Facts::default())?
        }
    };
    let own = element.own(shape(node));
    let extents = record.map_or_else(|| Ok(own.to_vec()), |record| record.current(own))?;
    let mut unit = outer_chunk(node);
    unit.truncate(extents.len());
    let datatype = Arc::clone(&element.datatype);
    Ok(WritableElements { datatype, lowering, extents, unit })
}

/// Whether two data types have the same elements, regardless of the encoding of structs.
fn is_of(stored: &DataType, lowered: &DataType) -> bool {
    match (stored, lowered) {
        (DataType::Struct(stored), DataType::Struct(lowered)) => stored.packed() == lowered.packed(),
        (stored, lowered) => stored == lowered,
    }
}

pub(in crate::format::zarr) struct ZarrArray {
    hierarchy: Hierarchy,
    pool: Pool,
    node: Arc<Node>,
    /// `None` if codecs are unknown. The stored size can be computed nevertheless.
    array: Option<Array>,
    element: ElementType,
    extents: Option<Vec<u64>>,
    chunk: Vec<u64>,
    /// The UTF-32 strings in rows.
    utf32: Vec<(usize, usize)>,
    /// Whether a record states that readers of the source treat the fill value as missing.
    fill_is_missing: bool,
    /// Whether the fill value is in a record. Absent chunks then stand for elements that had the fill value of the
    /// store.
    fill_is_recorded: bool,
}

impl ZarrArray {
    pub(in crate::format::zarr) fn open(
        hierarchy: Hierarchy,
        pool: Pool,
        node: Arc<Node>,
        record: Option<&Record>,
    ) -> Result<Self> {
        let element = ElementType::new(&node, record)?;
        let array = Array::new(&node, hierarchy.limits()).ok();
        let utf32 = match &array {
            Some(array) => {
                if element.lowering.is_none() {
                    check_rows(&element.datatype, array.row_size())?;
                }
                utf32_spans(array.data_type())?
            }
            None => Vec::new(),
        };
        let mut chunk = outer_chunk(&node);
        let rank = chunk.len().saturating_sub(element.trailing());
        chunk.truncate(rank);
        let is_null = record.is_some_and(|record| record.is_null);
        let own = element.own(shape(&node));
        let own = record.map_or_else(|| Ok(own.to_vec()), |record| record.current(own))?;
        let extents = (!is_null).then_some(own);
        let fill_is_missing = record.is_some_and(|record| record.fill_is_missing);
        let fill_is_recorded = record.is_some_and(|record| record.fill.is_some());
        Ok(ZarrArray {
            hierarchy,
            pool,
            node,
            array,
            element,
            extents,
            chunk,
            utf32,
            fill_is_missing,
            fill_is_recorded,
        })
    }

    /// The stored extents without those of an array datatype.
    fn stored_extents(&self) -> Cow<'_, [u64]> {
        let stored = shape(&self.node);
        match &self.extents {
            Some(own) => own.iter().chain(stored.iter().skip(self.chunk.len())).copied().collect(),
            None => Cow::Borrowed(stored),
        }
    }

    /// The grid of the chunks or shards, even if codecs are unknown.
    fn grid(&self) -> Result<Cow<'_, Grid>> {
        match &self.array {
            // A grid with chunks of several sizes may take much memory.
            Some(array) => Ok(Cow::Borrowed(array.grid())),
            None => self.node.grid(self.hierarchy.limits()).map(Cow::Owned),
        }
    }

    /// The region of the stored array that corresponds to a region of the array.
    fn stored_region<'r>(&self, region: &'r Region) -> Cow<'r, Region> {
        let Some(lowering) = self.element.lowering.as_ref().filter(|of| !of.trailing.is_empty()) else {
            return Cow::Borrowed(region);
        };
        let mut region = region.clone();
        for extent in &lowering.trailing {
            region.start.push(0);
            region.count.push(*extent);
            region.step.push(1);
        }
        Cow::Owned(region)
    }
}

impl ArraySource for ZarrArray {
    fn extents(&self) -> Option<&[u64]> {
        self.extents.as_deref()
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.element.datatype
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
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let store = self.hierarchy.store();
        let Some(array) = &self.array else {
            // This returns the reason.
            return Array::new(&self.node, self.hierarchy.limits()).map(|_| ());
        };
        match &self.element.lowering {
            Some(lowering) if !lowering.is_in_place() => rows.slices(region).try_for_each(|(part, out)| {
                let size = self.element.datatype.row_size().unwrap_or(1).max(1);
                let mut stored = vec![0; (out.len() / size).saturating_mul(lowering.row_size())];
                let mut own = Heap::default();
                array.read(&**store, &self.stored_region(&part), &mut stored, &mut own, scratch)?;
                let lifted = lowering.lift(Values { rows: stored.into(), heap: own })?;
                place_rows(lifted, &self.element.datatype, out, heap)
            }),
            _ => {
                let region = self.stored_region(region);
                array.read_part(&**store, &region, rows, heap, scratch)?;
                rows.slices(&region).try_for_each(|(_, rows)| {
                    make_utf8(rows, array.row_size(), &self.utf32)?;
                    self.element.lowering.iter().for_each(|lowering| lowering.put_spaces_back(rows));
                    Ok(())
                })
            }
        }
    }

    fn fill_is_missing(&self) -> bool {
        let has_attribute = self.node.attributes().is_some_and(|all| all.get(FILL_VALUE).is_some());
        match &self.node.metadata {
            // As in xarray.
            Metadata::V2Array { array, .. } => array.fill_value.is_some() && !has_attribute,
            _ => self.fill_is_missing,
        }
    }

    fn stored_form(&self) -> Option<StoredForm> {
        let chunk = self.chunk.clone();
        let Some(array) = &self.array else {
            let named = |(name, configuration)| StoredFilter::Named { name, configuration };
            let filters = self.node.codecs().into_iter().map(named).collect();
            return Some(StoredForm { chunk, element: None, native: None, filters });
        };
        let is_regular = array.grid().axes().iter().all(|axis| matches!(axis, Axis::Regular { .. }));
        let (element, codecs) = array.stored_form().filter(|_| is_regular)?;
        let element = element.filter(|_| self.element.lowering.is_none() && self.utf32.is_empty());
        let filters = codecs.iter().cloned().map(StoredFilter::Codec).collect();
        Some(StoredForm { chunk, element, native: None, filters })
    }

    fn stored_chunk(&self, start: &[u64], out: &mut Vec<u8>) -> Result<StoredChunk> {
        let Some(array) = &self.array else { return Ok(StoredChunk::Other) };
        let index: Vec<u64> =
            start.iter().zip(&self.chunk).map(|(start, size)| start / (*size).max(1)).collect();
        Ok(match array.stored_chunk(&**self.hierarchy.store(), &index)? {
            None if self.fill_is_recorded => StoredChunk::Other,
            None => StoredChunk::Nothing,
            Some(bytes) => {
                out.clear();
                out.extend_from_slice(&bytes);
                StoredChunk::Here { len: bytes.len(), filter_mask: 0 }
            }
        })
    }

    fn is_unwritten_in(&self, region: &Region) -> Result<bool> {
        match &self.array {
            Some(array) if !self.fill_is_recorded => {
                array.is_unwritten(&**self.hierarchy.store(), &self.stored_region(region))
            }
            _ => Ok(false),
        }
    }

    fn absent_is_unwritten(&self) -> bool {
        !self.fill_is_recorded
    }

    fn decoded_chunk(&self) -> Option<Vec<u64>> {
        let array = self.array.as_ref().filter(|_| self.element.lowering.is_none())?;
        let is_regular = array.grid().axes().iter().all(|axis| matches!(axis, Axis::Regular { .. }));
        match array.inner_chunk() {
            Some(inner) => Some(inner.to_vec()),
            None => {
                let is_plain = array.plain_codecs().is_some_and(<[_]>::is_empty);
                (is_regular && !is_plain).then(|| self.chunk.clone())
            }
        }
    }

    fn is_divisible(&self) -> bool {
        self.array
            .as_ref()
            .is_some_and(|array| !matches!(array.data_type(), DataType::String | DataType::Bytes))
    }

    fn is_far(&self) -> bool {
        self.hierarchy.store().is_far()
    }

    fn stored(&self) -> Result<u64> {
        let mut sizes = Sizes::new(&**self.hierarchy.store(), &self.pool);
        self.hierarchy.chunks(&self.node, &mut |key, _| sizes.add(key).map(ControlFlow::Continue))?;
        sizes.sum()
    }

    fn chunks(&self) -> Result<Option<Chunks>> {
        let extents = &*self.stored_extents();
        let along = self.grid()?.chunks_along(extents)?;
        let of = element_count(&along).unwrap_or(u64::MAX);
        let mut outer = ChunkCount { shape: self.chunk.clone(), written: 0, of };
        let inner_chunk = self.array.as_ref().and_then(Array::inner_chunk);
        let mut shards = Vec::new();
        self.hierarchy.chunks(&self.node, &mut |_, index| {
            // Chunks beyond the current extents, left over from a longer array, are ignored.
            if index.iter().zip(&along).all(|(at, count)| at < count) {
                outer.written += 1;
                shards.extend(inner_chunk.map(|_| index.to_vec()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let (Some(array), Some(inner_chunk)) = (&self.array, inner_chunk) else {
            return Ok(Some(Chunks { outer, inner: None }));
        };
        let along = Grid::regular(inner_chunk)?.chunks_along(extents)?;
        let store = self.hierarchy.store();
        let written = AtomicU64::new(0);
        self.pool.each(shards, 0, |index, scratch| {
            written.fetch_add(array.written_inner_chunks(&**store, &index, scratch)?, Ordering::Relaxed);
            Ok(())
        })?;
        let of = element_count(&along).unwrap_or(u64::MAX);
        let inner = ChunkCount { shape: inner_chunk.to_vec(), written: written.into_inner(), of };
        Ok(Some(Chunks { outer, inner: Some(inner) }))
    }

    fn chunk_places(
        &self,
        level: ChunkLevel,
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        if self.extents.is_none() {
            return Ok(ChunkPlacement::All);
        }
        let (limits, store) = (self.hierarchy.limits(), self.hierarchy.store());
        let (grid, rank, extents) = (self.grid()?, self.chunk.len(), self.stored_extents());
        let along = grid.chunks_along(&extents)?;
        let array = match (level, &self.array) {
            (ChunkLevel::Outer, _) => None,
            (ChunkLevel::Inner, Some(array)) => array.inner_chunk().map(|inner| (array, inner)),
            // This returns the reason why the index of shards cannot be read.
            (ChunkLevel::Inner, None) => {
                return Array::new(&self.node, limits).map(|_| ChunkPlacement::Nowhere);
            }
        };
        let along_inner = array.map(|(_, inner)| Grid::regular(inner)?.chunks_along(&extents)).transpose()?;
        // The dimensions of an array datatype are stored dimensions. An element that spans several chunks has no
        // position.
        if along_inner.as_ref().unwrap_or(&along).iter().skip(rank).any(|count| *count > 1) {
            return Ok(ChunkPlacement::Nowhere);
        }
        let mut visit = |start: &[u64], key: &Key, bytes: Range<u64>| {
            let (start, container) = (start.get(..rank).unwrap_or_default(), Container::Value(key));
            let (offset, len) = (bytes.start, bytes.end.saturating_sub(bytes.start));
            visit(ChunkPlace { start, container, offset, len, before: 0, filter_mask: 0 })
        };
        self.pool.alone(|scratch| {
            self.hierarchy.chunks(&self.node, &mut |key, index| {
                // Chunks beyond the current extents, left over from a longer array, are ignored.
                if !index.iter().zip(&along).all(|(at, count)| at < count) {
                    return Ok(ControlFlow::Continue(()));
                }
                match array {
                    // The chunk may have been deleted since it was listed.
                    None => {
                        if let Some(len) = store.size(&key)? {
                            visit(&grid.chunk(index)?.start, &key, 0..len)?;
                        }
                    }
                    Some((array, _)) => {
                        let mut within = Ok(());
                        array.inner_places(&**store, index, scratch, &mut |start, bytes| {
                            within = visit(start, &key, bytes);
                            within.is_ok()
                        })?;
                        within?;
                    }
                }
                Ok(ControlFlow::Continue(()))
            })
        })?;
        Ok(ChunkPlacement::All)
    }

    fn is_unwritten(&self) -> Result<bool> {
        // An unreadable array is not treated as unwritten, even if nothing is stored.
        Ok(self.array.is_some() && !self.fill_is_recorded && !self.hierarchy.has_chunks(&self.node)?)
    }
}

/// The shape of the data stored under one key: the largest chunk or shard.
fn outer_chunk(node: &Node) -> Vec<u64> {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) => match &*array.chunk_grid {
            ChunkGrid::Regular { chunk_shape } => chunk_shape.clone(),
            ChunkGrid::Rectilinear { chunk_shapes } => {
                let largest = |edges: &Edges| match edges {
                    Edges::Step(size) => *size,
                    Edges::Runs(runs) => runs.iter().map(|(size, _)| *size).max().unwrap_or(1),
                };
                chunk_shapes.iter().map(largest).collect()
            }
        },
        Metadata::V2Array { array, .. } => array.chunks.iter().map(|chunk| (*chunk).max(1)).collect(),
        _ => Vec::new(),
    }
}

/// One element: a row of `data_type`, or the content of a string or of bytes.
pub(in crate::format::zarr) fn one(
    data_type: &DataType,
    mut value: Vec<u8>,
    utf32: &[(usize, usize)],
) -> Result<Values> {
    let mut heap = Heap::default();
    let rows = match data_type {
        DataType::String | DataType::Bytes => heap.push_bytes(value.into())?.to_bytes().to_vec(),
        _ => {
            let row = value.len();
            make_utf8(&mut value, row, utf32)?;
            value
        }
    };
    Ok(Values { rows: rows.into(), heap })
}
