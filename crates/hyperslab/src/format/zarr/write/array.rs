//! Chunks of an array being written.

use crate::format::zarr::keep::lowering::Lowering;
use crate::source::StoredForm;
use crate::target::{ArrayTarget, PieceTarget};
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::nd::Axis;
use hyperslab_model::{ByteOrder, Values};
use hyperslab_zarr::data_type as zarr;
use hyperslab_zarr::write::ArrayWriter;

pub(super) struct ZarrArrayTarget<'a> {
    writer: ArrayWriter,
    lowering: Lowering,
    chunk: Vec<u64>,
    /// Of a chunk within a shard, where nothing but the last dimensions of a lowered type is cut in another way.
    inner: Option<Vec<u64>>,
    /// How long the array is, where it is stored at the length of its dimensions.
    own: Option<Vec<u64>>,
    wants_all: bool,
    /// What is done when it is an array.
    finished: Box<dyn Fn() + Send + Sync + 'a>,
}

impl<'a> ZarrArrayTarget<'a> {
    pub(super) fn new(
        writer: ArrayWriter,
        lowering: Lowering,
        (own, wants_all): (Option<Vec<u64>>, bool),
        finished: Box<dyn Fn() + Send + Sync + 'a>,
    ) -> Self {
        let size = |axis: &Axis| match axis {
            Axis::Regular { chunk } => *chunk,
            Axis::Edges(edges) => edges.iter().copied().max().unwrap_or(1),
        };
        let rank = writer.grid().rank().saturating_sub(lowering.trailing.len());
        let chunk = writer.grid().axes().iter().take(rank).map(size).collect();
        let inner = writer.inner_shape().and_then(|inner| {
            let (inner, trailing) = inner.split_at_checked(rank)?;
            (Some(trailing) == writer.shape().get(rank..)).then(|| inner.to_vec())
        });
        ZarrArrayTarget { writer, lowering, chunk, inner, own, wants_all, finished }
    }

    /// An index in the grid as it is stored, whose last dimensions have one chunk each.
    pub(super) fn index(&self, index: &[u64]) -> Vec<u64> {
        index.iter().copied().chain(self.lowering.trailing.iter().map(|_| 0)).collect()
    }

    /// The shape of the part of a chunk that is within the array, as it is stored.
    fn given(&self, index: &[u64], own: &[u64]) -> Vec<u64> {
        let dims = index.iter().zip(&self.chunk).zip(own);
        let within = dims.map(|((at, size), own)| own.saturating_sub(at.saturating_mul(*size)).min(*size));
        within.chain(self.lowering.trailing.iter().copied()).collect()
    }
}

impl ArrayTarget for ZarrArrayTarget<'_> {
    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn write(&self, index: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<u64>> {
        let (rows, heap) = self.lowering.lower(values)?;
        let stored = self.index(index);
        match &self.own {
            None => self.writer.write_chunk(&stored, &rows, &heap, scratch),
            Some(own) => self.writer.write_part(&stored, &self.given(index, own), &rows, &heap, scratch),
        }
    }

    fn wants_all(&self) -> bool {
        self.wants_all
    }

    fn accepts(&self, form: &StoredForm) -> bool {
        let Some((order, codecs)) = self.writer.plain_codecs() else { return false };
        let order = match order {
            zarr::ByteOrder::Little => ByteOrder::Little,
            zarr::ByteOrder::Big => ByteOrder::Big,
        };
        self.lowering.is_identity()
            && form.chunk == self.chunk
            && form.endian.is_none_or(|endian| endian == order)
            && form.codecs.len() == codecs.len()
            && form.codecs.iter().zip(codecs).all(|(one, other)| one.decodes_like(other))
    }

    fn passes(&self, index: &[u64]) -> bool {
        let Some(own) = &self.own else { return true };
        // What a chunk has past the end of a shorter array is shown here.
        let mut dims = index.iter().zip(&self.chunk).zip(own.iter().zip(self.writer.shape()));
        dims.all(|((at, size), (own, full))| {
            own == full || at.saturating_add(1).saturating_mul(*size) <= *own
        })
    }

    fn write_stored(&self, index: &[u64], stored: &[u8]) -> Result<()> {
        self.writer.write_stored(&self.index(index), stored)
    }

    fn pieces(&self) -> Option<&dyn PieceTarget> {
        self.inner.as_ref().map(|_| self as &dyn PieceTarget)
    }

    fn finish(&self) -> Result<()> {
        self.writer.finish()?;
        (self.finished)();
        Ok(())
    }

    fn abandon(&self) -> Result<()> {
        self.writer.abandon()
    }
}

impl PieceTarget for ZarrArrayTarget<'_> {
    fn shape(&self) -> &[u64] {
        self.inner.as_deref().unwrap_or(&self.chunk)
    }

    fn encode(&self, within: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<Bytes>> {
        let (rows, heap) = self.lowering.lower(values)?;
        let trailing = self.writer.shape().get(within.len()..).unwrap_or_default();
        self.writer.encode_inner(&[within, trailing].concat(), &rows, &heap, scratch)
    }

    fn write(&self, index: &[u64], pieces: Vec<Option<Bytes>>, scratch: &mut Scratch) -> Result<()> {
        self.writer.write_shard(&self.index(index), pieces, scratch).map(|_| ())
    }
}
