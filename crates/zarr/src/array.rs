//! Arrays of version 2 or 3 whose elements can be read.
//!
//! Spec: Zarr v3 "Array data storage", Zarr v2 "Chunks"

mod ahead;
mod write;

pub(crate) use ahead::MAX_CHUNKS;

use crate::codec::{Chain, InMemory, Reader, Writer};
use crate::data_type::DataType;
use crate::hierarchy::{Metadata, Node};
use crate::json::Context;
use crate::metadata::{ChunkKeyEncoding, v2, v3};
use ahead::Ahead;
use bytes::Bytes;
use hyperslab_codec::{Codec, Fidelity, Scratch};
use hyperslab_core::nd::{ChunkGrid, Planes, Region, element_count};
use hyperslab_core::rows::{ElementLayout, Heap};
use hyperslab_core::store::{Key, Store, Value};
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use std::ops::Range;

/// An array whose elements can be read.
#[derive(Clone, Debug)]
pub struct Array {
    path: Key,
    shape: Vec<u64>,
    data_type: DataType,
    grid: ChunkGrid,
    keys: ChunkKeyEncoding,
    fill: Bytes,
    row: usize,
    chain: Chain,
    limits: Limits,
}

impl Array {
    /// Creates an array from a node.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for a group, [`ErrorKind::Unsupported`] with the name of an unknown codec.
    pub fn new(node: &Node, limits: &Limits) -> Result<Array> {
        let array = match &node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(metadata)) => Array::of_v3(&node.path, metadata, limits),
            Metadata::V2Array { array, .. } => Array::of_v2(&node.path, array, limits),
            _ => Err(Error::invalid("is a group, not an array")),
        };
        let checked = array.and_then(|array| array.check_chunk_size().map(|()| array));
        checked.map_err(|e| e.in_object(format_args!("/{}", node.path)))
    }

    pub(crate) fn spare(&mut self, numbers: &[f64]) {
        self.chain.spare(numbers);
    }

    /// The size along each dimension.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The data type of the elements.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The chunk grid.
    pub fn grid(&self) -> &ChunkGrid {
        &self.grid
    }

    /// The fill value: a row, or the content of a variable-length string or byte sequence.
    pub fn fill(&self) -> &[u8] {
        &self.fill
    }

    /// The size of one row in memory, in bytes.
    pub fn row_size(&self) -> usize {
        self.row
    }

    /// The key of a chunk.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for an index outside the grid.
    pub fn chunk_key(&self, index: &[u64]) -> Result<Key> {
        self.path.join(&self.keys.encode(index))
    }

    /// The shape of inner chunks, in elements. `None` without shards, and if other codecs change the bytes of whole
    /// shards.
    pub fn inner_chunk(&self) -> Option<&[u64]> {
        self.chain.inner().map(|(shape, _)| shape)
    }

    /// The number of inner chunks of a shard that were written and contain elements of the array.
    ///
    /// # Errors
    /// If the shard index is malformed, with the key of the shard.
    pub fn written_inner_chunks(
        &self,
        store: &dyn Store,
        index: &[u64],
        scratch: &mut Scratch,
    ) -> Result<u64> {
        let mut written = 0;
        self.inner_places(store, index, scratch, &mut |_, _| {
            written += 1;
            true
        })?;
        Ok(written)
    }

    /// Calls `visit` with each inner chunk of a shard that was written and overlaps the array, in row-major order: the
    /// index of its first element in the array, and its bytes in the value of the shard. Stops when `visit` has seen
    /// enough.
    ///
    /// # Errors
    /// As [`Array::written_inner_chunks`].
    pub fn inner_places(
        &self,
        store: &dyn Store,
        index: &[u64],
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(&[u64], Range<u64>) -> bool,
    ) -> Result<()> {
        let key = self.chunk_key(index)?;
        let Some(value) = store.find(&key)? else { return Ok(()) };
        let chunk = self.grid.chunk(index)?;
        let end: Vec<_> = self
            .shape
            .iter()
            .zip(&chunk.start)
            .map(|(extent, start)| extent.saturating_sub(*start))
            .collect();
        let mut heap = Vec::new();
        let mut reader =
            Reader { fill: &self.fill, limits: &self.limits, scratch, heap: &mut heap, heap_left: 0 };
        let mut first = vec![0; chunk.start.len()];
        let visited =
            self.chain.inner_places(&*value, (&chunk.shape, &end), &mut reader, &mut |start, bytes| {
                for (first, (shard, within)) in first.iter_mut().zip(chunk.start.iter().zip(start)) {
                    *first = shard.saturating_add(*within);
                }
                visit(&first, bytes)
            });
        visited.map_err(|e| in_chunk(e, &key))
    }

    /// Reads a region into `rows`, in row-major order. From a shard, only the index and the inner chunks of the region
    /// are read. Rows of variable-length strings and bytes are slots; their content is added to `heap`, as much as the
    /// limits allow.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if the region is outside the shape or `rows` has the wrong length. The error of a
    /// chunk has its key.
    pub fn read<R>(
        &self,
        store: &dyn Store,
        region: &Region,
        rows: &mut [u8],
        heap: &mut Heap<R>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.read_part(store, region, &mut Planes::whole(rows), heap, scratch)
    }

    /// Reads a region into the part of an output that one of several threads fills, otherwise as [`Array::read`].
    ///
    /// # Errors
    /// As [`Array::read`].
    pub fn read_part<R>(
        &self,
        store: &dyn Store,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<R>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.read_stored(store, region, rows, heap, scratch)?;
        self.chain.check_read(region, rows)
    }

    /// Reads a region that may extend beyond the end of the array, where chunks can contain any data.
    pub(crate) fn read_stored<R>(
        &self,
        store: &dyn Store,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<R>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        region.check(&self.shape)?;
        let slot;
        let filling = match self.data_type {
            DataType::String | DataType::Bytes => {
                slot = heap.push_bytes(self.fill.clone())?.to_bytes();
                slot.as_slice()
            }
            _ => &self.fill,
        };
        let heap_left = self.limits.allocation.min(heap.content.left());
        let (heap, content) = (&mut heap.buffers, &mut heap.content);
        let mut reader = Reader { fill: filling, limits: &self.limits, scratch, heap, heap_left };
        let mut ahead = Ahead::new(self, store, region)?;
        let mut chunks = self.grid.chunks_in(region)?;
        while let Some(chunk) = chunks.next_chunk() {
            reader.scratch.cancel.check()?;
            let key = self.chunk_key(&chunk.index)?;
            let place = (chunk.start.as_slice(), chunk.shape.as_slice());
            let value = match ahead.take(self, store, &key, (region, rows))? {
                Some(fetched) => fetched.map(|bytes| Box::new(InMemory(bytes)) as Box<dyn Value>),
                None => store.find(&key)?,
            };
            let read = match value {
                None => match rows.overlap(place.0, place.1, region, self.row) {
                    Ok(Some(mut overlap)) => overlap.fill(filling),
                    Ok(None) => Ok(()),
                    Err(e) => Err(e),
                },
                Some(value) => self.chain.read(&*value, place, region, rows, &mut reader),
            };
            read.map_err(|e| in_chunk(e, &key))?;
        }
        content.name(heap_left.saturating_sub(reader.heap_left))
    }

    /// Whether the codecs preserve elements, or else how they change them.
    pub fn fidelity(&self) -> Fidelity {
        self.chain.fidelity(&self.data_type)
    }

    /// Whether the codecs may fail to encode or decode some elements, because they store numbers as another type with a
    /// smaller range.
    pub fn may_refuse(&self) -> bool {
        self.chain.may_refuse()
    }

    /// The layout of elements in chunks, and the bytes-to-bytes codecs in encoding order. `None` if chunks are not plain
    /// elements in row-major order: transposed chunks, and shards. The layout is `None` for variable-length elements,
    /// and if a codec converts elements.
    pub fn stored_form(&self) -> Option<(Option<ElementLayout>, &[Codec])> {
        self.chain.stored_form()
    }

    /// The bytes-to-bytes codecs in encoding order, if the decoded bytes equal the rows in memory.
    pub fn plain_codecs(&self) -> Option<&[Codec]> {
        self.chain.row_codecs()
    }

    /// The stored bytes of a chunk. `None` if it was never written.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn stored_chunk(&self, store: &dyn Store, index: &[u64]) -> Result<Option<Bytes>> {
        let key = self.chunk_key(index)?;
        let most = self.chain.most_stored(&self.grid.chunk(index)?.shape, &self.limits)?;
        store.read(&key, most.min(self.limits.allocation)).map_err(|e| in_chunk(e, &key))
    }

    /// Checks that the rows of an array of one chunk are in proportion to its stored bytes, or that the stored bytes
    /// declare the length of the rows.
    pub(crate) fn check_chunk(&self, value: &dyn Value) -> Result<()> {
        self.chain.check_value(value, &self.shape, &self.limits)
    }

    /// Whether no chunk that contains elements of `region` was written.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn is_unwritten(&self, store: &dyn Store, region: &Region) -> Result<bool> {
        let mut chunks = self.grid.chunks_in(region)?;
        while let Some(chunk) = chunks.next_chunk() {
            if store.size(&self.chunk_key(&chunk.index)?)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Encodes the rows of a whole chunk of `shape`, in elements, including those beyond the end of the array. `None` if
    /// all elements equal the fill value, so that no chunk has to be stored. Slots point into `heap`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] if `rows` has the wrong length, or a codec cannot encode an element.
    pub fn encode_chunk<R>(
        &self,
        shape: &[u64],
        rows: &[u8],
        heap: &Heap<R>,
        scratch: &mut Scratch,
    ) -> Result<Option<Bytes>> {
        let mut writer = Writer { fill: Some(&self.fill), heap: &heap.buffers, scratch };
        let mut out = Vec::new();
        let encoded = self.chain.encode(rows, shape, &mut out, &mut writer)?;
        Ok(encoded.map(|bytes| Bytes::copy_from_slice(&bytes)))
    }

    /// Rejects chunks of 2^63 bytes or more early, before one is read or filled.
    fn check_chunk_size(&self) -> Result<()> {
        let first = self.grid.chunk(&vec![0; self.shape.len()])?.shape;
        let bytes = element_count(&first).and_then(|count| count.checked_mul(self.row as u64));
        match bytes.and_then(|bytes| i64::try_from(bytes).ok()) {
            Some(_) => Ok(()),
            None => {
                let row = self.row;
                Err(Error::malformed(format!(
                    "chunks of {first:?} elements of {row} bytes, expected less than 2^63 bytes"
                )))
            }
        }
    }

    fn of_v3(path: &Key, metadata: &v3::ArrayMetadata, limits: &Limits) -> Result<Array> {
        let context = Context::new(limits);
        let at = context.document(v3::DOCUMENT);
        let there = at.name("codecs");
        let rank = metadata.shape.len();
        let chain = Chain::parse(&metadata.codecs, &metadata.data_type, metadata.byte_order, rank, &there)?;
        Ok(Array {
            path: path.clone(),
            shape: metadata.shape.clone(),
            data_type: (*metadata.data_type).clone(),
            grid: metadata.chunk_grid.geometry(&metadata.shape, limits)?,
            keys: *metadata.chunk_key_encoding,
            fill: (*metadata.fill_value).clone().into(),
            row: row_size(&metadata.data_type),
            chain,
            limits: *limits,
        })
    }

    fn of_v2(path: &Key, metadata: &v2::ArrayMetadata, limits: &Limits) -> Result<Array> {
        let context = Context::new(limits);
        let at = context.document(v2::ARRAY);
        let filters = metadata.filters.as_deref().unwrap_or_default();
        let order = (metadata.order, metadata.shape.len());
        let chain = Chain::parse_v2(filters, metadata.compressor.as_ref(), &metadata.dtype, order, &at)?;
        let row = row_size(&metadata.dtype.data_type);
        let varies = metadata.dtype.data_type.stored_size().is_none();
        let zeros = || vec![0; if varies { 0 } else { row }];
        Ok(Array {
            path: path.clone(),
            shape: metadata.shape.clone(),
            data_type: metadata.dtype.data_type.clone(),
            grid: metadata.grid()?,
            keys: metadata.chunk_key_encoding(),
            fill: metadata.fill_value.as_ref().map_or_else(zeros, |value| (**value).clone()).into(),
            row,
            chain,
            limits: *limits,
        })
    }
}

/// The size of an element in memory, in bytes.
fn row_size(data_type: &DataType) -> usize {
    usize::try_from(data_type.row_size()).unwrap_or(usize::MAX)
}

fn in_chunk(e: Error, key: &Key) -> Error {
    match e.kind() {
        ErrorKind::InvalidArgument => e,
        kind => Error::new(kind, format!("chunk {key}: {}", e.reason())),
    }
}

#[cfg(test)]
mod tests;
