//! An array joined along one dimension.

use super::Counted;
use super::stores::Stores;
use crate::pool::Pool;
use crate::source::engine::row_size;
use crate::source::{ArraySource, ChunkCount, ChunkLevel, Chunks, MissingSources, StoredChunk, StoredForm};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region, scatter};
use hyperslab_core::rows::{Content, Heap};
use hyperslab_core::storage::{ChunkPlace, ChunkPlacement, Container};
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::place_rows;
use hyperslab_model::{Datatype, NodePath, Reference, Values};
use std::sync::{Arc, PoisonError};

pub(super) struct JoinedArray {
    stores: Arc<Stores>,
    path: NodePath,
    dimension: usize,
    extents: Vec<u64>,
    /// The array in the first store.
    first: Arc<dyn ArraySource>,
    chunks: Counted,
    /// The maximum number of bytes that variable-length elements may refer to.
    pub(super) most: u64,
}

/// The part of a region in one store.
struct Piece {
    store: usize,
    /// The region in that store.
    region: Region,
    /// The number of its first step along the dimension, within the whole region.
    first: u64,
}

impl JoinedArray {
    pub(super) fn new(
        stores: Arc<Stores>,
        path: NodePath,
        dimension: usize,
        first: Arc<dyn ArraySource>,
        chunks: Counted,
    ) -> JoinedArray {
        let mut extents = first.extents().unwrap_or_default().to_vec();
        if let Some(extent) = extents.get_mut(dimension) {
            *extent = stores.length();
        }
        JoinedArray { stores, path, dimension, extents, first, chunks, most: u64::MAX }
    }

    fn part(&self, store: usize) -> Result<Arc<dyn ArraySource>> {
        self.stores.array(store, &self.path)
    }

    /// Whether elements that were never written are the same in a store as in the first one. Formats have different
    /// default fill values for arrays that do not state one.
    fn has_same_fill(&self, array: &dyn ArraySource) -> Result<bool> {
        Ok(match (self.first.fill()?, array.fill()?) {
            (None, None) => true,
            (Some(own), Some(other)) => own.rows == other.rows && !self.datatype().has_slots(),
            _ => false,
        })
    }

    /// Start, count and step of a region along the dimension.
    fn along(&self, region: &Region) -> (u64, u64, u64) {
        let at = |of: &[u64]| of.get(self.dimension).copied().unwrap_or(0);
        (at(&region.start), at(&region.count), at(&region.step).max(1))
    }

    /// The parts of a region in each store that contains some of it.
    fn pieces(&self, region: &Region) -> Result<Vec<Piece>> {
        region.check(&self.extents)?;
        let (start, count, step) = self.along(region);
        let mut pieces = Vec::new();
        let mut done = 0;
        while done < count {
            let position = start.saturating_add(done.saturating_mul(step));
            let store = self.stores.at(position);
            let span = self.stores.span(store);
            let here = span.end.saturating_sub(position).div_ceil(step).clamp(1, count - done);
            let mut part = region.clone();
            if let (Some(start), Some(count)) =
                (part.start.get_mut(self.dimension), part.count.get_mut(self.dimension))
            {
                (*start, *count) = (position.saturating_sub(span.start), here);
            }
            pieces.push(Piece { store, region: part, first: done });
            done += here;
        }
        Ok(pieces)
    }

    /// Reads elements with slots: the content they refer to is kept separate for each store.
    fn read_slots(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let row = row_size(self)?;
        rows.slices(region).try_for_each(|(part, out)| {
            for piece in self.pieces(&part)? {
                let mut read = vec![0; piece.region.bytes(row)?];
                let mut own = Heap::of_at_most(heap.content.left());
                let array = self.part(piece.store)?;
                array.read_part(&piece.region, &mut Planes::whole(&mut read), &mut own, scratch)?;
                let Content { bytes, most } = heap.content;
                let named = bytes.saturating_add(own.content.bytes);
                own.shared.clear();
                let charges = std::mem::take(&mut own.charges);
                let mut placed = vec![0; read.len()];
                place_rows(Values { rows: read.into(), heap: own }, array.datatype(), &mut placed, heap)?;
                heap.charges.extend(charges);
                heap.content = Content { bytes: named, most };
                let mut start = vec![0; part.rank()];
                if let Some(start) = start.get_mut(self.dimension) {
                    *start = piece.first;
                }
                scatter(&placed, &start, &piece.region.count, &Region::all(&part.count), out, row)?;
            }
            Ok(())
        })
    }

    /// Whether all chunks belong to one grid and are stored in one form, so that a chunk that was never written has the
    /// same fill value in every store.
    fn has_one_grid(&self) -> Result<bool> {
        let Some(form) = self.first.stored_form() else { return Ok(false) };
        let side = form.chunk.get(self.dimension).copied().unwrap_or(0);
        for store in 0..self.stores.count() {
            let (array, span) = (self.part(store)?, self.stores.span(store));
            let is_aligned = span.is_empty() || span.start.checked_rem(side) == Some(0);
            let is_like = array.stored_form().is_some_and(|own| own.is_like(&form));
            if !is_aligned || !is_like || !self.has_same_fill(&*array)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Visits the places of the chunks of one store, whose files are named by their whole paths.
    fn places_in(
        &self,
        store: usize,
        level: ChunkLevel,
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        let path = self.stores.absolute(store);
        let folder = path.parent().unwrap_or(path);
        let is_archive = path.is_file();
        let first = self.stores.span(store).start;
        let (mut start, mut is_within) = (Vec::new(), false);
        let placement = self.part(store)?.chunk_places(level, &mut |place| {
            let named = match place.container {
                Container::Opened => path.to_owned(),
                Container::Named(name) => folder.join(name),
                Container::Value(_) if is_archive => {
                    is_within = true;
                    return Ok(());
                }
                Container::Value(key) => path.join(key.to_string()),
            };
            let name = named
                .to_str()
                .ok_or_else(|| Error::unsupported(format!("{}: the path is not UTF-8", named.display())))?;
            start.clear();
            start.extend_from_slice(place.start);
            if let Some(at) = start.get_mut(self.dimension) {
                *at = at.saturating_add(first);
            }
            visit(ChunkPlace { start: &start, container: Container::Named(name), ..place })
        })?;
        // Values in an archive are not files.
        Ok(if is_within { ChunkPlacement::InOtherArrays } else { placement })
    }

    /// Whether the chunk that begins at `start` is a whole chunk of one store, and where it begins there.
    fn stored_in_one(&self, start: &[u64], chunk: &[u64]) -> Option<(usize, Vec<u64>)> {
        let (at, side) = (*start.get(self.dimension)?, *chunk.get(self.dimension)?);
        let store = self.stores.at(at);
        let span = self.stores.span(store);
        let within = at.checked_sub(span.start)?;
        let ends = at.checked_add(side)?;
        // A chunk at the very end may extend beyond the joined length.
        let is_whole = ends <= span.end || span.end == self.stores.length();
        if !is_whole || within.checked_rem(side)? != 0 {
            return None;
        }
        let mut start = start.to_vec();
        *start.get_mut(self.dimension)? = within;
        Some((store, start))
    }
}

impl ArraySource for JoinedArray {
    fn extents(&self) -> Option<&[u64]> {
        Some(&self.extents)
    }

    fn datatype(&self) -> &Arc<Datatype> {
        self.first.datatype()
    }

    fn chunk(&self) -> &[u64] {
        self.first.chunk()
    }

    fn pool(&self) -> &Pool {
        self.first.pool()
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if self.datatype().has_slots() {
            return self.read_slots(region, rows, heap, scratch);
        }
        let pieces = self.pieces(region)?;
        if let [only] = pieces.as_slice() {
            return self.part(only.store)?.read_part(&only.region, rows, heap, scratch);
        }
        let cuts: Vec<u64> = pieces.iter().skip(1).map(|piece| piece.first).collect();
        let parts = rows.parts(region, self.dimension, &cuts, row_size(self)?)?;
        for (piece, (_, mut rows)) in pieces.iter().zip(parts) {
            self.part(piece.store)?.read_part(&piece.region, &mut rows, heap, scratch)?;
        }
        Ok(())
    }

    fn decoded_chunk(&self) -> Option<Vec<u64>> {
        self.first.decoded_chunk()
    }

    fn is_divisible(&self) -> bool {
        self.first.is_divisible()
    }

    fn is_far(&self) -> bool {
        self.first.is_far()
    }

    fn stored(&self) -> Result<u64> {
        (0..self.stores.count())
            .try_fold(0_u64, |sum, store| Ok(sum.saturating_add(self.part(store)?.stored()?)))
    }

    fn chunks(&self) -> Result<Option<Chunks>> {
        let known = || self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&self.path) {
            return Ok(known.clone());
        }
        let mut sum: Option<Chunks> = None;
        for store in 0..self.stores.count() {
            let Some(chunks) = self.part(store)?.chunks()? else {
                // If one store has no chunks, all of its elements count as written.
                sum = None;
                break;
            };
            match &mut sum {
                None => sum = Some(chunks),
                Some(sum) => {
                    add(&mut sum.outer, &chunks.outer);
                    match (&mut sum.inner, &chunks.inner) {
                        (Some(sum), Some(more)) => add(sum, more),
                        (inner, _) => *inner = None,
                    }
                }
            }
        }
        known().insert(self.path.clone(), sum.clone());
        Ok(sum)
    }

    fn chunk_places(
        &self,
        level: ChunkLevel,
        visit: &mut dyn FnMut(ChunkPlace<'_>) -> Result<()>,
    ) -> Result<ChunkPlacement> {
        if !self.has_one_grid()? {
            return Ok(ChunkPlacement::InOtherArrays);
        }
        for store in 0..self.stores.count() {
            match self.places_in(store, level, visit)? {
                ChunkPlacement::All => {}
                other => return Ok(other),
            }
        }
        Ok(ChunkPlacement::All)
    }

    fn fill(&self) -> Result<Option<Values>> {
        self.first.fill()
    }

    fn missing_sources(&self) -> Result<MissingSources> {
        for store in 0..self.stores.count() {
            let missing = self.part(store)?.missing_sources()?;
            if !missing.is_empty() {
                return Ok(missing);
            }
        }
        Ok(MissingSources::default())
    }

    fn fill_is_missing(&self) -> bool {
        self.first.fill_is_missing()
    }

    fn stored_form(&self) -> Option<StoredForm> {
        self.first.stored_form()
    }

    fn stored_chunk(&self, start: &[u64], out: &mut Vec<u8>) -> Result<StoredChunk> {
        let Some(form) = self.first.stored_form() else { return Ok(StoredChunk::Other) };
        let Some((store, start)) = self.stored_in_one(start, &form.chunk) else {
            return Ok(StoredChunk::Other);
        };
        let array = self.part(store)?;
        match array.stored_form() {
            Some(own) if own.is_like(&form) => match array.stored_chunk(&start, out)? {
                StoredChunk::Nothing if !self.has_same_fill(&*array)? => Ok(StoredChunk::Other),
                stored => Ok(stored),
            },
            _ => Ok(StoredChunk::Other),
        }
    }

    fn is_unwritten_in(&self, region: &Region) -> Result<bool> {
        for piece in self.pieces(region)? {
            let array = self.part(piece.store)?;
            if !array.is_unwritten_in(&piece.region)? || !self.has_same_fill(&*array)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn absent_is_unwritten(&self) -> bool {
        self.first.absent_is_unwritten()
    }

    fn most_content(&self) -> Result<u64> {
        Ok(self.most)
    }

    fn is_unwritten(&self) -> Result<bool> {
        for store in 0..self.stores.count() {
            let array = self.part(store)?;
            if !array.is_unwritten()? || !self.has_same_fill(&*array)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn add(sum: &mut ChunkCount, more: &ChunkCount) {
    sum.shape.iter_mut().zip(&more.shape).for_each(|(sum, more)| *sum = (*sum).max(*more));
    sum.written = sum.written.saturating_add(more.written);
    sum.of = sum.of.saturating_add(more.of);
}
