//! Writes the chunks of an array: encodes and stores them.

use crate::format::zarr::keep::lowering::Lowering;
use crate::meaning::Meaning;
use crate::source::{StoredFilter, StoredForm};
use crate::target::{ArrayTarget, ChunkBytes, Encoded, Encoder, InnerChunks};
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::nd::{Axis, element_count};
use hyperslab_model::{Node, Values};
use hyperslab_zarr::write::ArrayWriter;
use std::borrow::Cow;

/// An array that is being written.
pub(super) struct ZarrArrayTarget<'a> {
    encoder: ZarrEncoder,
    is_ordered: bool,
    /// Called when the array is finished.
    finished: Box<dyn Fn() + Send + Sync + 'a>,
}

/// The encoder of the chunks of an array.
pub(super) struct ZarrEncoder {
    writer: ArrayWriter,
    lowering: Lowering,
    chunk: Vec<u64>,
    /// The stored form of chunks; `None` if they are not the plain sequence of the elements of the source.
    raw: Option<StoredForm>,
    /// Whether the user requested the filters.
    is_asked: bool,
    /// The shape of an inner chunk, if shards are divided only along dimensions of the array.
    inner: Option<Vec<u64>>,
    /// The extents of the array, if it is stored with longer dimensions.
    own: Option<Vec<u64>>,
    needs_unwritten: bool,
}

impl<'a> ZarrArrayTarget<'a> {
    /// `is_ordered` states whether the store needs chunks in order.
    pub(super) fn new(
        encoder: ZarrEncoder,
        is_ordered: bool,
        finished: Box<dyn Fn() + Send + Sync + 'a>,
    ) -> Self {
        ZarrArrayTarget { encoder, is_ordered, finished }
    }
}

impl ArrayTarget for ZarrArrayTarget<'_> {
    fn encoder(&self) -> &dyn Encoder {
        &self.encoder
    }

    fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    fn store(&self, index: &[u64], chunk: Option<&ChunkBytes>) -> Result<()> {
        let index = self.encoder.index(index);
        self.encoder.writer.store(&index, chunk.map(|chunk| chunk.bytes.as_ref()))
    }

    fn finish(&self) -> Result<()> {
        self.encoder.writer.finish()?;
        (self.finished)();
        Ok(())
    }

    fn abandon(&self) -> Result<()> {
        self.encoder.writer.abandon()
    }
}

impl ZarrEncoder {
    pub(super) fn new(
        mut writer: ArrayWriter,
        lowering: Lowering,
        own: Option<Vec<u64>>,
        node: &Node,
        (needs_unwritten, is_asked): (bool, bool),
    ) -> Self {
        let size = |axis: &Axis| match axis {
            Axis::Regular { chunk } => *chunk,
            Axis::Edges(edges) => edges.iter().copied().max().unwrap_or(1),
        };
        let rank = writer.grid().rank().saturating_sub(lowering.trailing.len());
        let chunk: Vec<u64> = writer.grid().axes().iter().take(rank).map(size).collect();
        let inner = writer.inner_shape().and_then(|inner| {
            let (inner, trailing) = inner.split_at_checked(rank)?;
            (Some(trailing) == writer.shape().get(rank..)).then(|| inner.to_vec())
        });
        let raw = raw_form(&writer, &lowering, &chunk);
        // A rounded fill value would no longer mark anything.
        if let (Some(attributes), Some(datatype)) = (node.attributes(), node.datatype()) {
            writer.spare(Meaning::as_stored(attributes, datatype).missing.floats());
        }
        ZarrEncoder { writer, lowering, chunk, raw, is_asked, inner, own, needs_unwritten }
    }

    /// The stored chunk index: each dimension of a lowered datatype has only one chunk.
    pub(super) fn index(&self, index: &[u64]) -> Vec<u64> {
        index.iter().copied().chain(self.lowering.trailing.iter().map(|_| 0)).collect()
    }

    /// The stored shape of the part of a chunk within the array.
    fn clipped(&self, index: &[u64], own: &[u64]) -> Vec<u64> {
        let dims = index.iter().zip(&self.chunk).zip(own);
        let within = dims.map(|((at, size), own)| own.saturating_sub(at.saturating_mul(*size)).min(*size));
        within.chain(self.lowering.trailing.iter().copied()).collect()
    }
}

fn raw_form(writer: &ArrayWriter, lowering: &Lowering, chunk: &[u64]) -> Option<StoredForm> {
    let (element, codecs) = writer.stored_form().filter(|_| lowering.is_identity())?;
    let element = element?.repeated(element_count(&lowering.trailing)?)?;
    let filters = codecs.iter().cloned().map(StoredFilter::Codec).collect();
    Some(StoredForm { chunk: chunk.to_vec(), element: Some(element), native: None, filters })
}

impl Encoder for ZarrEncoder {
    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn encode(&self, index: &[u64], values: &Values, out: Vec<u8>, scratch: &mut Scratch) -> Result<Encoded> {
        let (rows, heap) = self.lowering.lower(values)?;
        let stored = self.index(index);
        let encoded = match &self.own {
            None => {
                let rows = match rows {
                    Cow::Borrowed(_) => values.rows.clone(),
                    Cow::Owned(rows) => rows.into(),
                };
                self.writer.encode_chunk(&stored, &rows, &heap, out, scratch)
            }
            Some(own) => {
                self.writer.encode_part(&stored, &self.clipped(index, own), &rows, &heap, out, scratch)
            }
        };
        encoded.map(Encoded::of)
    }

    fn can_copy_raw(&self, form: &StoredForm) -> bool {
        self.raw.as_ref().is_some_and(|own| own.can_take(form, self.is_asked))
    }

    fn can_copy_raw_at(&self, index: &[u64]) -> bool {
        let Some(own) = &self.own else { return true };
        // Elements of a chunk beyond the end of a shorter array would be visible here.
        let mut dims = index.iter().zip(&self.chunk).zip(own.iter().zip(self.writer.shape()));
        dims.all(|((at, size), (own, full))| {
            own == full || at.saturating_add(1).saturating_mul(*size) <= *own
        })
    }

    fn needs_unwritten(&self) -> bool {
        self.needs_unwritten
    }

    fn inner_chunks(&self) -> Option<&dyn InnerChunks> {
        self.inner.as_ref().map(|_| self as &dyn InnerChunks)
    }
}

impl InnerChunks for ZarrEncoder {
    fn shape(&self) -> &[u64] {
        self.inner.as_deref().unwrap_or(&self.chunk)
    }

    fn encode(&self, within: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<Bytes>> {
        let (rows, heap) = self.lowering.lower(values)?;
        let trailing = self.writer.shape().get(within.len()..).unwrap_or_default();
        self.writer.encode_inner(&[within, trailing].concat(), &rows, &heap, scratch)
    }

    fn assemble(
        &self,
        index: &[u64],
        inner: Vec<Option<Bytes>>,
        out: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Encoded> {
        self.writer.encode_shard(&self.index(index), inner, out, scratch).map(Encoded::of)
    }
}
