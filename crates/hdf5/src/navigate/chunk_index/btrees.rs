//! Chunks from B-trees of both versions.

use super::table::{ChunkEntry, Collector};
use super::{ChunkIndex, INDEX};
use crate::format::Structure;
use crate::format::infrastructure::btree_v2::{Record, RecordType};
use crate::format::infrastructure::{BtreeV1Node, BtreeV2Header};
use crate::navigate::Reader;
use crate::navigate::btree_v1::chunk_leaves;
use crate::navigate::btree_v2::BtreeV2;
use hyperslab_core::{Error, Result};
use std::ops::ControlFlow;

pub(super) fn version_1(reader: &Reader, index: &ChunkIndex, chunks: &mut Collector<'_>) -> Result<()> {
    let rank = u8::try_from(index.chunk_dims.len())
        .ok()
        .filter(|rank| *rank < u8::MAX)
        .ok_or_else(|| Error::malformed(format!("{} dimensions", index.chunk_dims.len())))?;
    let mut scaled = vec![0; index.chunk_dims.len()];
    chunk_leaves(reader, index.address, rank, |keys, children, node| {
        for (at, (address, (size, filter_mask))) in children.iter().zip(&keys.stored).enumerate() {
            let offsets = keys.offset(at).unwrap_or_default();
            for ((scaled, offset), chunk) in scaled.iter_mut().zip(offsets).zip(&index.chunk_dims) {
                *scaled = offset / chunk;
                if offset % chunk != 0 {
                    let detail =
                        format!("chunk offset {offsets:?}, expected multiples of {:?}", index.chunk_dims);
                    return Err(Error::malformed(detail).at(BtreeV1Node::NAME, node));
                }
            }
            let size = u64::from(*size);
            chunks.push(&scaled, ChunkEntry { address: *address, size, filter_mask: *filter_mask })?;
        }
        Ok(())
    })
}

pub(super) fn version_2(reader: &Reader, index: &ChunkIndex, chunks: &mut Collector<'_>) -> Result<()> {
    let tree = BtreeV2::open(reader, index.address)?;
    let layout = tree.layout();
    let expected = if index.filtered { RecordType::FilteredChunk } else { RecordType::Chunk };
    if layout.record_type() != expected || usize::from(layout.rank()) != index.chunk_dims.len() {
        let detail = format!(
            "records of {:?} of {} dimensions, expected {expected:?} of {}",
            layout.record_type(),
            layout.rank(),
            index.chunk_dims.len()
        );
        let offset = reader.offset(INDEX, index.address)?;
        return Err(Error::malformed(detail).at(BtreeV2Header::NAME, offset));
    }
    tree.records(&mut |record| {
        match record {
            Record::Chunk { address, scaled } => {
                chunks.push(&scaled, ChunkEntry { address, size: index.chunk_bytes, filter_mask: 0 })?;
            }
            Record::FilteredChunk { address, size, filter_mask, scaled } => {
                chunks.push(&scaled, ChunkEntry { address, size, filter_mask })?;
            }
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    })
}
