//! Writes the chunks of an array, and its documents last.
//!
//! Spec: Zarr v3 "Array data storage", Zarr v2 "Chunks"

use super::hierarchy::Register;
use super::{ArrayDefinition, ArrayDocuments, Version};
use crate::array::Array;
use crate::codec::{Chain, Writer};
use crate::hierarchy::Node;
use crate::json::Json;
use crate::metadata::DOCUMENTS;
use crate::name::Reason;
use bytes::Bytes;
use hyperslab_codec::{Codec, Scratch};
use hyperslab_core::nd::{Chunk, ChunkGrid, Region, element_bytes, element_count, fill_rows, scatter};
use hyperslab_core::rows::{ElementLayout, Heap};
use hyperslab_core::store::{EntryKind, Key, WritableStore};
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// Writes an array. Several threads can write chunks at the same time. Readers see the array only after
/// [`ArrayWriter::finish`], which writes its documents.
pub struct ArrayWriter {
    store: Arc<dyn WritableStore>,
    array: Array,
    documents: Vec<(&'static str, Json)>,
    stores_fill: bool,
    pub(super) reason: Option<Reason>,
    warnings: Vec<String>,
    /// The registry of finished arrays.
    pub(super) register: Option<Register>,
}

impl ArrayWriter {
    /// Begins an array at `path`. The groups above do not have to exist. If there is a node at `path`, its documents are
    /// deleted.
    ///
    /// # Errors
    /// As [`ArrayDefinition::documents`], and [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for
    /// codecs that cannot be written, before anything is written; errors of the store.
    pub fn create(
        store: Arc<dyn WritableStore>,
        path: &Key,
        version: Version,
        definition: &ArrayDefinition,
    ) -> Result<ArrayWriter> {
        let ArrayDocuments { metadata, documents, warnings } = definition.documents(version)?;
        let array = Array::new(&Node { path: path.clone(), metadata }, &Limits::of_any_size())?;
        remove_documents(&*store, path)?;
        let stores_fill = definition.stores_fill();
        Ok(ArrayWriter { store, array, documents, stores_fill, reason: None, warnings, register: None })
    }

    /// Opens an existing array of a store in order to write chunks. All chunks are stored, even if they contain only
    /// the fill value.
    ///
    /// # Errors
    /// As [`Array::new`].
    pub fn open(store: Arc<dyn WritableStore>, node: &Node, limits: &Limits) -> Result<ArrayWriter> {
        let array = Array::new(node, limits)?;
        let (documents, warnings) = (Vec::new(), Vec::new());
        Ok(ArrayWriter { store, array, documents, stores_fill: true, reason: None, warnings, register: None })
    }

    /// Sets the numbers that rounding codecs leave unchanged, as [`Codec::sparing`] does: those of missing elements.
    pub fn spare(&mut self, numbers: &[f64]) {
        self.array.spare(numbers);
    }

    /// The path in the store.
    pub fn path(&self) -> &Key {
        self.array.path()
    }

    /// The reason why its name differs from the requested one. `None` if it is the same.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// The differences between the request and the definition. They cause no loss of elements.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The size along each dimension.
    pub fn shape(&self) -> &[u64] {
        self.array.shape()
    }

    /// The grid of the units that are written at once: shards if there are any, otherwise chunks.
    pub fn grid(&self) -> &ChunkGrid {
        self.array.grid()
    }

    /// The key of a chunk or shard.
    ///
    /// # Errors
    /// As [`Array::chunk_key`].
    pub fn chunk_key(&self, index: &[u64]) -> Result<Key> {
        self.array.chunk_key(index)
    }

    /// The size of one row in bytes.
    pub fn row_size(&self) -> usize {
        self.array.row_size()
    }

    /// The fill value: a row, or the content of a string or of bytes.
    pub fn fill(&self) -> &[u8] {
        self.array.fill()
    }

    /// Writes a chunk or a shard from all its rows, or from the rows of its part inside the array; the rest is filled.
    /// Slots point into `heap`. Returns the number of stored bytes. `None` if all elements equal the fill value, so that
    /// nothing is stored.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a chunk outside the array or
    /// rows of the wrong length; errors of the store.
    pub fn write_chunk<R>(
        &self,
        index: &[u64],
        rows: &[u8],
        heap: &Heap<R>,
        scratch: &mut Scratch,
    ) -> Result<Option<u64>> {
        let (chunk, within) = self.chunk(index)?;
        let key = self.array.chunk_key(index)?;
        let padded;
        let (rows, heap) = match self.is_whole(&chunk.shape, &within, rows.len()) {
            Ok(true) => (rows, heap.buffers.as_slice()),
            Ok(false) => {
                padded = self.padded(&chunk.shape, &within, rows, &heap.buffers)?;
                (padded.0.as_slice(), padded.1.as_slice())
            }
            Err(e) => return Err(self.placed(e, &key)),
        };
        let written = self.encode_in(self.array.chain(), &chunk.shape, (rows, heap), scratch, |bytes| {
            self.put_chunk(&key, bytes)
        });
        written.map_err(|e| self.placed(e, &key))
    }

    /// Encodes a chunk or a shard as [`ArrayWriter::write_chunk`] does, without storing it. The result is in `out`, or
    /// is the rows themselves if no codec changes them. `None` if all elements equal the fill value.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a chunk outside the array or
    /// rows of the wrong length.
    pub fn encode_chunk<R>(
        &self,
        index: &[u64],
        rows: &Bytes,
        heap: &Heap<R>,
        out: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Option<Bytes>> {
        let (chunk, within) = self.chunk(index)?;
        let whole = self.is_whole(&chunk.shape, &within, rows.len());
        let encoded = whole.and_then(|is_whole| match is_whole {
            true => self.encode_to(&chunk.shape, rows, &heap.buffers, out, scratch),
            false => {
                let (rows, heap) = self.padded(&chunk.shape, &within, rows, &heap.buffers)?;
                self.encode_to(&chunk.shape, &rows.into(), &heap, out, scratch)
            }
        });
        encoded.or_else(|e| Err(self.placed(e, &self.array.chunk_key(index)?)))
    }

    /// Encodes a chunk or a shard from its first `given` rows along each dimension. The other rows are filled. Apart
    /// from that, as [`ArrayWriter::encode_chunk`].
    ///
    /// # Errors
    /// As [`ArrayWriter::encode_chunk`].
    pub fn encode_part<R>(
        &self,
        index: &[u64],
        given: &[u64],
        rows: &[u8],
        heap: &Heap<R>,
        out: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Option<Bytes>> {
        let (chunk, _) = self.chunk(index)?;
        let encode = || {
            let fits = given.len() == chunk.shape.len()
                && given.iter().zip(&chunk.shape).all(|(part, size)| part <= size);
            let len = element_count(given).and_then(|count| count.checked_mul(self.row_size() as u64));
            if !fits || len != Some(rows.len() as u64) {
                let (shape, row) = (&chunk.shape, self.row_size());
                let e = format!(
                    "{} bytes, expected rows of shape {given:?} with {row} bytes per element, in a chunk of shape {shape:?}",
                    rows.len()
                );
                return Err(Error::invalid(e));
            }
            let (rows, heap) = self.padded(&chunk.shape, given, rows, &heap.buffers)?;
            self.encode_to(&chunk.shape, &rows.into(), &heap, out, scratch)
        };
        encode().or_else(|e| Err(self.placed(e, &self.array.chunk_key(index)?)))
    }

    /// The shape of inner chunks, in elements. `None` without shards.
    pub fn inner_shape(&self) -> Option<&[u64]> {
        self.array.chain().inner().map(|(shape, _)| shape)
    }

    /// As [`Array::stored_form`].
    pub fn stored_form(&self) -> Option<(Option<ElementLayout>, &[Codec])> {
        self.array.stored_form()
    }

    /// Encodes an inner chunk from the rows of `within`, which is its shape or, at the end of the array, a smaller
    /// shape. `None` if all elements equal the fill value.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there are no shards, and for
    /// rows of the wrong length.
    pub fn encode_inner<R>(
        &self,
        within: &[u64],
        rows: &[u8],
        heap: &Heap<R>,
        scratch: &mut Scratch,
    ) -> Result<Option<Bytes>> {
        let (shape, chain) = self.array.chain().inner().ok_or_else(no_shards)?;
        let padded;
        let (rows, heap) = if shape == within {
            (rows, heap.buffers.as_slice())
        } else {
            padded = self.padded(shape, within, rows, &heap.buffers)?;
            (padded.0.as_slice(), padded.1.as_slice())
        };
        self.encode_in(chain, shape, (rows, heap), scratch, |bytes| Ok(bytes.map(Bytes::copy_from_slice)))
    }

    /// Assembles a shard in `out` from encoded inner chunks in row-major order. Inner chunks that are not stored are
    /// `None`, including those outside the array. Returns `None` if there is no inner chunk, so that nothing is stored.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there are no shards, for a shard
    /// outside the array, and for the wrong number of inner chunks.
    pub fn encode_shard<B: AsRef<[u8]>>(
        &self,
        index: &[u64],
        chunks: impl IntoIterator<Item = Option<B>>,
        out: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Option<Bytes>> {
        let (shard, _) = self.chunk(index)?;
        let assemble = || {
            let assembled = self.array.chain().assemble(&shard.shape, out, scratch)?;
            let mut assembly = assembled.ok_or_else(no_shards)?;
            for chunk in chunks {
                assembly.push(chunk.as_ref().map(AsRef::as_ref));
            }
            let is_empty = assembly.is_empty();
            let bytes = assembly.finish(scratch)?;
            Ok((!is_empty).then(|| bytes.into()))
        };
        assemble().or_else(|e| Err(self.placed(e, &self.array.chunk_key(index)?)))
    }

    /// Stores the encoded bytes of a chunk or a shard. `None` deletes the bytes that an interrupted run may have stored.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a chunk outside the array;
    /// errors of the store.
    pub fn store(&self, index: &[u64], chunk: Option<&[u8]>) -> Result<()> {
        self.chunk(index)?;
        let key = self.array.chunk_key(index)?;
        self.put_chunk(&key, chunk).map(drop).map_err(|e| self.placed(e, &key))
    }

    /// Writes the documents, which complete the array. Chunks that were not written have the fill value.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn finish(&self) -> Result<()> {
        for (name, json) in &self.documents {
            put_document(&*self.store, &self.path().join(name)?, json)?;
        }
        if let Some(register) = &self.register {
            register.finish(self.path(), &self.documents);
        }
        Ok(())
    }

    /// Deletes all written chunks, if the store can delete values. No array remains.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn abandon(&self) -> Result<()> {
        if let Some(register) = &self.register {
            register.abandon(self.path());
        }
        let mut prefixes = vec![self.path().clone()];
        while let Some(prefix) = prefixes.pop() {
            for entry in self.store.list(&prefix)? {
                let key = prefix.join(&entry.name)?;
                match entry.kind {
                    EntryKind::Value => drop(self.store.delete(&key)?),
                    EntryKind::Prefix => prefixes.push(key),
                    EntryKind::Alias | EntryKind::Refused(_) | EntryKind::Unfollowed(_) => {}
                }
            }
        }
        Ok(())
    }

    fn put_chunk(&self, key: &Key, bytes: Option<&[u8]>) -> Result<Option<u64>> {
        let done = match bytes {
            Some(bytes) => self.store.put(key, bytes).map(|()| Some(bytes.len() as u64)),
            None => self.store.delete(key).map(|_| None),
        };
        // The key of a chunk is valid. If the store refuses it, another process has created something in place of a
        // folder.
        done.map_err(|e| match e.kind() {
            ErrorKind::InvalidArgument | ErrorKind::Malformed => {
                Error::new(ErrorKind::Io, e.reason().to_string())
            }
            _ => e,
        })
    }

    /// Whether rows with `len` bytes are a whole chunk, rather than only its part inside the array.
    fn is_whole(&self, shape: &[u64], within: &[u64], len: usize) -> Result<bool> {
        let row = self.row_size();
        let bytes = |shape: &[u64]| element_count(shape)?.checked_mul(row as u64);
        match Some(len as u64) {
            found if found == bytes(shape) => Ok(true),
            found if found == bytes(within) => Ok(false),
            _ => Err(Error::invalid(format!(
                "{len} bytes, expected a chunk of shape {shape:?} with {row} bytes per element"
            ))),
        }
    }

    /// Encodes a whole chunk or shard in the memory of `out`.
    fn encode_to(
        &self,
        shape: &[u64],
        rows: &Bytes,
        heap: &[Bytes],
        mut out: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Option<Bytes>> {
        let fill = (!self.stores_fill).then_some(self.fill());
        let encoded =
            self.array.chain().encode(rows, shape, &mut out, &mut Writer { fill, heap, scratch })?;
        let at = match encoded {
            None => return Ok(None),
            Some(Cow::Owned(bytes)) => return Ok(Some(bytes.into())),
            Some(Cow::Borrowed(bytes)) => bytes.as_ptr(),
        };
        // Bytes that no codec changes are shared instead of copied.
        Ok(Some(if at == rows.as_ptr() { rows.clone() } else { out.into() }))
    }

    /// Encodes a chunk in the memory of the scratch. `take` receives the bytes.
    fn encode_in<T>(
        &self,
        chain: &Chain,
        shape: &[u64],
        (rows, heap): (&[u8], &[Bytes]),
        scratch: &mut Scratch,
        take: impl FnOnce(Option<&[u8]>) -> Result<T>,
    ) -> Result<T> {
        let fill = (!self.stores_fill).then_some(self.fill());
        let mut out = std::mem::take(&mut scratch.buffers.stored);
        let encoded = chain.encode(rows, shape, &mut out, &mut Writer { fill, heap, scratch });
        let taken = encoded.and_then(|bytes| take(bytes.as_deref()));
        scratch.buffers.stored = out;
        taken
    }

    /// The chunk, and the shape of its part inside the array.
    fn chunk(&self, index: &[u64]) -> Result<(Chunk, Vec<u64>)> {
        let chunk = self.grid().chunk(index)?;
        let mut within = Vec::with_capacity(chunk.shape.len());
        for ((start, size), len) in chunk.start.iter().zip(&chunk.shape).zip(self.shape()) {
            match len.checked_sub(*start) {
                Some(left) if left > 0 => within.push(left.min(*size)),
                _ => {
                    return Err(Error::invalid(format!(
                        "chunk {index:?} is outside the array of shape {:?}",
                        self.shape()
                    )));
                }
            }
        }
        Ok((chunk, within))
    }

    /// The rows of a chunk of `shape`: the rows of `within` at its start, the fill value elsewhere. Also the heap with the
    /// content of the fill value.
    fn padded(
        &self,
        shape: &[u64],
        within: &[u64],
        rows: &[u8],
        heap: &[Bytes],
    ) -> Result<(Vec<u8>, Vec<Bytes>)> {
        let mut own = Heap::<()>::default();
        own.buffers.extend_from_slice(heap);
        let slot;
        let row = match self.array.data_type().stored_size() {
            Some(_) => self.fill(),
            None => {
                slot = own.push_bytes(Bytes::copy_from_slice(self.fill()))?.to_bytes();
                slot.as_slice()
            }
        };
        let size = element_bytes(shape, self.row_size())?;
        if is_mostly_padding(shape, self.shape(), self.row_size() as u64) {
            let detail = format!(
                "a chunk of {shape:?} elements takes {size} bytes, many times those of an array of {:?}; choose smaller \
                 chunks",
                self.shape()
            );
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
        let mut padded = vec![0; size];
        fill_rows(row, &mut padded)?;
        let start = vec![0; shape.len()];
        scatter(rows, &start, within, &Region::all(shape), &mut padded, self.row_size())?;
        Ok((padded, own.buffers))
    }

    fn placed(&self, e: Error, key: &Key) -> Error {
        Error::new(e.kind(), format!("chunk {key}: {}", e.reason()))
            .in_object(format_args!("/{}", self.path()))
    }
}

/// Whether a chunk extends so far past its array that it is not written: it would take memory that no element needs.
/// `row` is the size of an element.
pub fn is_mostly_padding(chunk: &[u64], array: &[u64], row: u64) -> bool {
    let bytes = |shape: &[u64]| element_count(shape).unwrap_or(u64::MAX).saturating_mul(row);
    bytes(chunk) > MAX_PADDED.max(bytes(array).saturating_mul(MAX_PADDING))
}

/// A chunk may take this many bytes, or this many times the bytes of the elements of its array.
const MAX_PADDED: u64 = 128 << 20;
const MAX_PADDING: u64 = 8;

fn no_shards() -> Error {
    Error::invalid("an array without shards, or with shards that other codecs encode")
}

/// Deletes the documents that make `path` a node.
pub(super) fn remove_documents(store: &dyn WritableStore, path: &Key) -> Result<()> {
    if store.list(path)?.is_empty() {
        return Ok(());
    }
    for name in DOCUMENTS {
        store.delete(&path.join(name)?)?;
    }
    Ok(())
}

pub(super) fn put_document(store: &dyn WritableStore, key: &Key, json: &Json) -> Result<()> {
    store.put(key, json.emit().as_bytes()).map_err(|e| Error::new(e.kind(), format!("{key}: {}", e.reason())))
}
