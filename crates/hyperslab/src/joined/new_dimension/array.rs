//! The elements of an array with one more dimension at the front, which has one step.

use crate::pool::Pool;
use crate::source::{ArraySource, ChunkCount, ChunkLevel, Chunks, MissingSources, StoredChunk, StoredForm};
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{ChunkPlace, ChunkPlacement};
use hyperslab_model::{Datatype, Reference, Values};
use std::sync::Arc;

/// The same elements in the same chunks; positions just have one more number.
pub(super) struct OneStep {
    array: Arc<dyn ArraySource>,
    extents: Vec<u64>,
    chunk: Vec<u64>,
}

impl OneStep {
    pub(super) fn new(array: Arc<dyn ArraySource>, extents: Vec<u64>) -> OneStep {
        let chunk = longer(array.chunk(), 1);
        OneStep { array, extents, chunk }
    }
}

/// A shape or position with one more number in front.
fn longer(of: &[u64], first: u64) -> Vec<u64> {
    std::iter::once(first).chain(of.iter().copied()).collect()
}

/// A shape or position without its first number.
fn shorter(of: &[u64]) -> &[u64] {
    of.get(1..).unwrap_or_default()
}

/// A region without the new dimension.
fn within(region: &Region) -> Region {
    let part = |of: &[u64]| shorter(of).to_vec();
    Region { start: part(&region.start), count: part(&region.count), step: part(&region.step) }
}

/// Whether a region has no step of the new dimension.
fn is_empty(region: &Region) -> bool {
    region.count.first() == Some(&0)
}

fn counted(mut count: ChunkCount) -> ChunkCount {
    count.shape.insert(0, 1);
    count
}

impl ArraySource for OneStep {
    fn extents(&self) -> Option<&[u64]> {
        Some(&self.extents)
    }

    fn datatype(&self) -> &Arc<Datatype> {
        self.array.datatype()
    }

    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn pool(&self) -> &Pool {
        self.array.pool()
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        region.check(&self.extents)?;
        if is_empty(region) {
            return Ok(());
        }
        self.array.read_part(&within(region), &mut rows.of_first_step(), heap, scratch)
    }

    fn decoded_chunk(&self) -> Option<Vec<u64>> {
        self.array.decoded_chunk().map(|chunk| longer(&chunk, 1))
    }

    fn is_divisible(&self) -> bool {
        self.array.is_divisible()
    }

    fn is_far(&self) -> bool {
        self.array.is_far()
    }

    fn stored(&self) -> Result<u64> {
        self.array.stored()
    }

    fn chunks(&self) -> Result<Option<Chunks>> {
        let chunks = self.array.chunks()?;
        Ok(chunks.map(|Chunks { outer, inner }| Chunks { outer: counted(outer), inner: inner.map(counted) }))
    }

    fn fill(&self) -> Result<Option<Values>> {
        self.array.fill()
    }

    fn missing_sources(&self) -> Result<MissingSources> {
        self.array.missing_sources()
    }

    fn has_ordered_labels(&self) -> bool {
        self.array.has_ordered_labels()
    }

    fn fill_is_missing(&self) -> bool {
        self.array.fill_is_missing()
    }

    fn stored_form(&self) -> Option<StoredForm> {
        let form = self.array.stored_form()?;
        Some(StoredForm { chunk: longer(&form.chunk, 1), ..form })
    }

    fn stored_chunk(&self, start: &[u64], out: &mut Vec<u8>) -> Result<StoredChunk> {
        self.array.stored_chunk(shorter(start), out)
    }

    fn is_unwritten_in(&self, region: &Region) -> Result<bool> {
        self.array.is_unwritten_in(&within(region))
    }

    fn absent_is_unwritten(&self) -> bool {
        self.array.absent_is_unwritten()
    }

    fn is_told_elsewhere(&self) -> bool {
        self.array.is_told_elsewhere()
    }

    fn most_content(&self) -> Result<u64> {
        self.array.most_content()
    }

    fn written(&self, visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        self.array.written(&mut |start| visit(&longer(start, 0)))
    }

    fn chunk_places(
        &self,
        level: ChunkLevel,
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        self.array
            .chunk_places(level, &mut |place| visit(ChunkPlace { start: &longer(place.start, 0), ..place }))
    }

    fn is_unwritten(&self) -> Result<bool> {
        self.array.is_unwritten()
    }
}
