//! Chunks of an array being written.

use crate::format::zarr::lowering::Lowering;
use crate::source::StoredForm;
use crate::target::{ArrayTarget, PieceTarget};
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::nd::Axis;
use hyperslab_model::{ByteOrder, Values};
use hyperslab_zarr::data_type as zarr;
use hyperslab_zarr::write::ArrayWriter;

pub(super) struct ZarrArrayTarget {
    writer: ArrayWriter,
    lowering: Lowering,
    chunk: Vec<u64>,
    /// Of a chunk within a shard, where nothing but the last dimensions of a lowered type is cut in another way.
    inner: Option<Vec<u64>>,
}

impl ZarrArrayTarget {
    pub(super) fn new(writer: ArrayWriter, lowering: Lowering) -> Self {
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
        ZarrArrayTarget { writer, lowering, chunk, inner }
    }

    /// An index in the grid as it is stored, whose last dimensions have one chunk each.
    fn index(&self, index: &[u64]) -> Vec<u64> {
        index.iter().copied().chain(self.lowering.trailing.iter().map(|_| 0)).collect()
    }
}

impl ArrayTarget for ZarrArrayTarget {
    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn write(&self, index: &[u64], values: &Values, scratch: &mut Scratch) -> Result<Option<u64>> {
        let (rows, heap) = self.lowering.lower(values)?;
        self.writer.write_chunk(&self.index(index), &rows, &heap, scratch)
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

    fn write_stored(&self, index: &[u64], stored: &[u8]) -> Result<()> {
        self.writer.write_stored(&self.index(index), stored)
    }

    fn pieces(&self) -> Option<&dyn PieceTarget> {
        self.inner.as_ref().map(|_| self as &dyn PieceTarget)
    }

    fn finish(&self) -> Result<()> {
        self.writer.finish()
    }

    fn abandon(&self) -> Result<()> {
        self.writer.abandon()
    }
}

impl PieceTarget for ZarrArrayTarget {
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
