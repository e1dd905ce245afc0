//! What a writer of arrays asks beyond what all may.

use super::Array;
use crate::codec::{Chain, Writer};
use crate::store::Key;
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;

impl Array {
    /// Where it lies in the store.
    pub fn path(&self) -> &Key {
        &self.path
    }

    /// As [`Array::encode_chunk`], but what is nothing but the fill value is encoded as well.
    pub(crate) fn encode_whole<R>(
        &self,
        shape: &[u64],
        rows: &[u8],
        heap: &Heap<R>,
        scratch: &mut Scratch,
    ) -> Result<Option<Bytes>> {
        self.chain.encode(rows, shape, &mut Writer { fill: None, heap: &heap.buffers, scratch })
    }

    /// What chunks are written through.
    pub(crate) fn chain(&self) -> &Chain {
        &self.chain
    }
}
