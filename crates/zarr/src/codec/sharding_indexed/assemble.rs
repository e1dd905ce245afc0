//! A shard assembled from inner chunks.

use super::Sharding;
use crate::codec::Chain;
use crate::data_type::ByteOrder;
use hyperslab_codec::{Scratch, encode};
use hyperslab_core::nd::element_count;
use hyperslab_core::{Error, Result};

/// A shard to which inner chunks are added, in row-major order.
pub(crate) struct Assembly<'a> {
    sharding: &'a Sharding,
    /// The expected number of inner chunks.
    count: u64,
    index: Vec<[u64; 2]>,
    shard: Vec<u8>,
}

impl Chain {
    /// The shape of inner chunks and the codecs with which they are written, if the assembled bytes of shards are
    /// stored unchanged.
    pub(crate) fn inner(&self) -> Option<(&[u64], &Chain)> {
        self.shards().map(|sharding| (sharding.inner_shape.as_slice(), &sharding.chain))
    }

    /// Begins a shard of `shape` in the memory of `room`. `None` if the assembled bytes of shards are not stored
    /// unchanged.
    pub(crate) fn assemble(
        &self,
        shape: &[u64],
        room: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Option<Assembly<'_>>> {
        self.shards().map(|sharding| sharding.assemble(shape, room, scratch)).transpose()
    }
}

impl Sharding {
    pub(super) fn assemble(
        &self,
        shape: &[u64],
        mut room: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Assembly<'_>> {
        let too_many = || Error::invalid("a shard with too many inner chunks");
        let count = element_count(&self.counts(shape)?).ok_or_else(too_many)?;
        let len =
            usize::try_from(count).ok().filter(|count| *count <= usize::MAX / 32).ok_or_else(too_many)?;
        room.clear();
        if !self.index_at_end {
            // The space before the inner chunks has the length of the index, which does not depend on its content.
            let nothing = vec![[0; 2]; len];
            room.resize(self.encoded_index(&nothing, scratch)?.len(), 0);
        }
        Ok(Assembly { sharding: self, count, index: Vec::with_capacity(len), shard: room })
    }

    fn encoded_index(&self, index: &[[u64; 2]], scratch: &mut Scratch) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(index.len().saturating_mul(16));
        for number in index.as_flattened() {
            bytes.extend_from_slice(&match self.index_order {
                ByteOrder::Little => number.to_le_bytes(),
                ByteOrder::Big => number.to_be_bytes(),
            });
        }
        encode(&self.index_codecs, &bytes, scratch)
    }
}

impl Assembly<'_> {
    /// Adds the next inner chunk, encoded. `None` if it is not stored.
    pub(crate) fn push(&mut self, chunk: Option<&[u8]>) {
        self.index.push(match chunk {
            Some(bytes) => [self.shard.len() as u64, bytes.len() as u64],
            None => [u64::MAX; 2],
        });
        self.shard.extend_from_slice(chunk.unwrap_or_default());
    }

    /// The bytes of the shard.
    pub(crate) fn finish(mut self, scratch: &mut Scratch) -> Result<Vec<u8>> {
        let found = self.index.len() as u64;
        if found != self.count {
            return Err(Error::invalid(format!("{found} inner chunks, expected {}", self.count)));
        }
        let index = self.sharding.encoded_index(&self.index, scratch)?;
        match self.sharding.index_at_end {
            true => self.shard.extend_from_slice(&index),
            false => self.shard.get_mut(..index.len()).unwrap_or_default().copy_from_slice(&index),
        }
        Ok(self.shard)
    }

    /// Whether no inner chunk is stored.
    pub(crate) fn is_empty(&self) -> bool {
        self.index.iter().all(|entry| *entry == [u64::MAX; 2])
    }
}
