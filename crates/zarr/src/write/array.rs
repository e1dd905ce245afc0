//! The chunks of an array, and at last its documents.
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
use hyperslab_core::{Error, Limits, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// An array being written, by many threads at once. It is none until [`ArrayWriter::finish`]: its documents come
/// last.
pub struct ArrayWriter {
    store: Arc<dyn WritableStore>,
    array: Array,
    documents: Vec<(&'static str, Json)>,
    stores_fill: bool,
    pub(super) reason: Option<Reason>,
    warnings: Vec<String>,
    /// Where it is kept what arrays are finished.
    pub(super) register: Option<Register>,
}

impl ArrayWriter {
    /// Begins an array at `path`, whatever groups are above. If there is a node, it is none from now on.
    ///
    /// # Errors
    /// As [`ArrayDefinition::documents`], and [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for
    /// codecs that cannot be written, before anything is; what the store says.
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

    /// Where it lies in the store.
    pub fn path(&self) -> &Key {
        self.array.path()
    }

    /// Why it does not have the name that was asked for, if it has not.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// What of the definition is not as it was wanted, though no element is lost.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The size along each dimension.
    pub fn shape(&self) -> &[u64] {
        self.array.shape()
    }

    /// How the array is cut into what is written at once: chunks, or shards where there are any.
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

    /// The bytes of one row.
    pub fn row_size(&self) -> usize {
        self.array.row_size()
    }

    /// The element where nothing is written: its row, or the content of a string or of bytes.
    pub fn fill(&self) -> &[u8] {
        self.array.fill()
    }

    /// Writes a chunk or a shard: all its rows, or those of its part within the array, and the rest is filled.
    /// Slots point into `heap`. Returns the bytes stored. `None` if all is the fill value, so that nothing is.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a chunk past the array and
    /// rows of another number; what the store returns.
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

    /// Encodes a chunk or a shard as [`ArrayWriter::write_chunk`] does, without storing it. The bytes are in `out`,
    /// or are the rows themselves where codecs change nothing. `None` if all is the fill value.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a chunk past the array and
    /// rows of another number.
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

    /// Encodes a chunk or a shard of which only the first `given` rows along each dimension are given; the others
    /// are filled. Otherwise as [`ArrayWriter::encode_chunk`].
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
                let e = format!("{} bytes for {given:?} rows of {row} in a chunk of {shape:?}", rows.len());
                return Err(Error::invalid(e));
            }
            let (rows, heap) = self.padded(&chunk.shape, given, rows, &heap.buffers)?;
            self.encode_to(&chunk.shape, &rows.into(), &heap, out, scratch)
        };
        encode().or_else(|e| Err(self.placed(e, &self.array.chunk_key(index)?)))
    }

    /// The shape of the chunks within a shard, if there are shards.
    pub fn inner_shape(&self) -> Option<&[u64]> {
        self.array.chain().inner().map(|(shape, _)| shape)
    }

    /// As [`Array::stored_form`].
    pub fn stored_form(&self) -> Option<(Option<ElementLayout>, &[Codec])> {
        self.array.stored_form()
    }

    /// Encodes a chunk within a shard: the rows of `within`, which is its shape or, at the end of the array, less
    /// of it. `None` if all is the fill value.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there are no shards, and for
    /// rows of another number.
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

    /// Puts a shard together, in the memory of `out`, from chunks that are encoded already, row-major, none where
    /// nothing is stored: those past the array at least. `None` if there is no chunk, so that nothing is stored.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if there are no shards, for a shard
    /// past the array and chunks of another number.
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

    /// Stores the bytes of a chunk or a shard: encoded here, or elsewhere in the same way. None takes away what an
    /// interrupted run may have stored.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a chunk past the array; what
    /// the store returns.
    pub fn store(&self, index: &[u64], chunk: Option<&[u8]>) -> Result<()> {
        self.chunk(index)?;
        let key = self.array.chunk_key(index)?;
        self.put_chunk(&key, chunk).map(drop).map_err(|e| self.placed(e, &key))
    }

    /// Makes it an array: all chunks that are not written are filled.
    ///
    /// # Errors
    /// What the store says.
    pub fn finish(&self) -> Result<()> {
        for (name, json) in &self.documents {
            put_document(&*self.store, &self.path().join(name)?, json)?;
        }
        if let Some(register) = &self.register {
            register.finish(self.path(), &self.documents);
        }
        Ok(())
    }

    /// Takes back all chunks that were written, as far as the store can: nothing is left that is an array.
    ///
    /// # Errors
    /// What the store says.
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
                    EntryKind::Alias | EntryKind::Refused(_) => {}
                }
            }
        }
        Ok(())
    }

    fn put_chunk(&self, key: &Key, bytes: Option<&[u8]>) -> Result<Option<u64>> {
        match bytes {
            Some(bytes) => self.store.put(key, bytes).map(|()| Some(bytes.len() as u64)),
            None => self.store.delete(key).map(|_| None),
        }
    }

    /// Whether rows of so many bytes are those of a whole chunk, and not of its part within the array.
    fn is_whole(&self, shape: &[u64], within: &[u64], len: usize) -> Result<bool> {
        let row = self.row_size();
        let bytes = |shape: &[u64]| element_count(shape)?.checked_mul(row as u64);
        match Some(len as u64) {
            found if found == bytes(shape) => Ok(true),
            found if found == bytes(within) => Ok(false),
            _ => Err(Error::invalid(format!("{len} bytes for a chunk of {shape:?} rows of {row}"))),
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
        // What no codec changes is shared, not copied.
        Ok(Some(if at == rows.as_ptr() { rows.clone() } else { out.into() }))
    }

    /// Encodes a chunk in memory of the scratch, for `take` to use there.
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

    /// The chunk, and the shape of its part within the array.
    fn chunk(&self, index: &[u64]) -> Result<(Chunk, Vec<u64>)> {
        let chunk = self.grid().chunk(index)?;
        let mut within = Vec::with_capacity(chunk.shape.len());
        for ((start, size), len) in chunk.start.iter().zip(&chunk.shape).zip(self.shape()) {
            match len.checked_sub(*start) {
                Some(left) if left > 0 => within.push(left.min(*size)),
                _ => {
                    return Err(Error::invalid(format!("chunk {index:?} of an array of {:?}", self.shape())));
                }
            }
        }
        Ok((chunk, within))
    }

    /// A chunk of `shape` whose first rows along each dimension are those of `within`, and the heap with what the
    /// others need.
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
        let mut padded = vec![0; element_bytes(shape, self.row_size())?];
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

fn no_shards() -> Error {
    Error::invalid("an array without shards that are stored as they are")
}

/// Takes away what makes a node of `path`.
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
