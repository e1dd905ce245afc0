//! An array that is copied to a target with another fill value, so elements that were never written must be written.

use crate::pool::Pool;
use crate::source::{ArraySource, Chunks, StoredChunk};
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_model::{Datatype, Reference};
use std::sync::Arc;

/// The elements of an array, all of them counted as written.
pub(super) struct Filled(pub(super) Arc<dyn ArraySource>);

impl ArraySource for Filled {
    fn beneath(&self) -> Option<&dyn ArraySource> {
        Some(&*self.0)
    }

    fn extents(&self) -> Option<&[u64]> {
        self.0.extents()
    }

    fn datatype(&self) -> &Arc<Datatype> {
        self.0.datatype()
    }

    fn chunk(&self) -> &[u64] {
        self.0.chunk()
    }

    fn pool(&self) -> &Pool {
        self.0.pool()
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.0.read_part(region, rows, heap, scratch)
    }

    fn stored(&self) -> Result<u64> {
        self.0.stored()
    }

    fn chunks(&self) -> Result<Option<Chunks>> {
        // The chunks of the source are not the chunks that will be written.
        Ok(None)
    }

    fn stored_chunk(&self, start: &[u64], out: &mut Vec<u8>) -> Result<StoredChunk> {
        Ok(match self.0.stored_chunk(start, out)? {
            StoredChunk::Nothing => StoredChunk::Other,
            stored => stored,
        })
    }

    fn is_unwritten_in(&self, _: &Region) -> Result<bool> {
        Ok(false)
    }

    fn written(&self, _: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        Ok(false)
    }

    fn is_unwritten(&self) -> Result<bool> {
        Ok(false)
    }
}
