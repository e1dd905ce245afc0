//! Chunks of an array being written.

use crate::format::zarr::lowering::Lowering;
use crate::source::StoredForm;
use crate::target::ArrayTarget;
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
}

impl ZarrArrayTarget {
    pub(super) fn new(writer: ArrayWriter, lowering: Lowering) -> Self {
        let size = |axis: &Axis| match axis {
            Axis::Regular { chunk } => *chunk,
            Axis::Edges(edges) => edges.iter().copied().max().unwrap_or(1),
        };
        let rank = writer.grid().rank().saturating_sub(lowering.trailing.len());
        let chunk = writer.grid().axes().iter().take(rank).map(size).collect();
        ZarrArrayTarget { writer, lowering, chunk }
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

    fn finish(&self) -> Result<()> {
        self.writer.finish()
    }

    fn abandon(&self) -> Result<()> {
        self.writer.abandon()
    }
}
