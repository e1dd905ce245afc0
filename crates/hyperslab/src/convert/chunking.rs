//! How the arrays of a conversion are divided into chunks in the target.

use crate::list::human_bytes;
use crate::stat::{Advice, Better};
use crate::target::Growing;
use hyperslab_core::nd::element_count;
use hyperslab_model::{Node, NodePath};

/// The chunks of an array in the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunking {
    /// The array.
    pub path: NodePath,
    /// Its extents in the target.
    pub shape: Vec<u64>,
    /// The shape of a chunk; of an inner chunk if there are shards.
    pub chunk: Vec<u64>,
    /// The shape of a shard, if there are shards.
    pub shard: Option<Vec<u64>>,
    /// The number of chunks or shards, each of which is stored separately. Those without values may be left out.
    pub count: u64,
    /// The size of the elements of a chunk or shard in bytes, before filters.
    pub each: u64,
}

impl Chunking {
    /// The chunks of a planned array; `None` if it is not chunked.
    pub(super) fn of(path: &NodePath, node: &Node, growing: &Growing) -> Option<Chunking> {
        let storage = node.storage()?;
        let chunk = storage.chunk.clone()?;
        let shape = growing.full(node.shape(path)?.dims());
        let outer = storage.shard.as_ref().unwrap_or(&chunk);
        let along = shape.iter().zip(outer).map(|(extent, side)| extent.div_ceil((*side).max(1)));
        let count = element_count(&along.collect::<Vec<_>>()).unwrap_or(u64::MAX);
        let row = node.datatype()?.row_size().unwrap_or(0) as u64;
        let each = element_count(outer).and_then(|count| count.checked_mul(row)).unwrap_or(u64::MAX);
        Some(Chunking { path: path.clone(), shape, shard: storage.shard.clone(), chunk, count, each })
    }

    /// Advice on reducing a large number of small chunks; `None` if there are few, or they are not small.
    pub fn advice(&self) -> Option<Advice> {
        if self.each >= SMALL || self.count < MANY {
            return None;
        }
        let (path, each) = (self.path.clone(), human_bytes(self.each));
        let reason =
            format!("{path} becomes {} chunks of {each}, each of which is stored separately", self.count);
        Some(Advice { path, reason, better: vec![Better::ChunkBytes(GOOD)] })
    }
}

/// Chunks of fewer bytes count as small: their names and requests cost more than their elements.
const SMALL: u64 = 16 << 10;
/// The number of chunks from which this matters.
const MANY: u64 = 1000;
const GOOD: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_many_small_chunks_are_advised_against() {
        let chunking = |count, each| Chunking {
            path: NodePath::root().child("time"),
            shape: vec![count],
            chunk: vec![1],
            shard: None,
            count,
            each,
        };
        for (count, each) in [(999, 8), (50_577, SMALL)] {
            assert_eq!(chunking(count, each).advice(), None);
        }
        assert_eq!(
            chunking(50_577, 8).advice().unwrap().to_string(),
            "/time becomes 50577 chunks of 8 B, each of which is stored separately; better in chunks of 1.0 MiB"
        );
    }
}
