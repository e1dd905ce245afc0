//! Elements of dense arrays, encoded by many threads and written as tiles in tile order.

use crate::format::tiledb::elements::{StoredCells, StoredElements};
use crate::format::tiledb::parts::{Part, StoredParts};
use crate::source::StoredForm;
use crate::target::{ArrayTarget, ChunkBytes, Encoded, Encoder, Sequence};
use hyperslab_codec::{Codec, Scratch, decode};
use hyperslab_core::nd::{Region, element_count, gather};
use hyperslab_core::{Error, Result};
use hyperslab_model::Values;
use hyperslab_tiledb::filter::{Scratch as FilterScratch, StoredTiles};
use hyperslab_tiledb::format::layout::Layout;
use hyperslab_tiledb::read::{DenseDomain, IndexBox};
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::dense::{DenseEncoder, DenseFragment, TileBuffers};
use hyperslab_tiledb::write::field::{EncodedTile, TileCells};
use hyperslab_tiledb::write::fragment::WrittenFragment;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A dense array whose attributes are written one after another into a single fragment.
pub(super) struct DenseStore {
    pub(super) writer: Arc<ArrayWriter>,
    domain: DenseDomain,
    /// The cells of the array, in indices of the domain.
    written: IndexBox,
    time: u64,
    fragment: Mutex<Option<DenseFragment>>,
    /// Fragments of an array of which only a little was written.
    parts: Mutex<Vec<WrittenFragment>>,
}

impl DenseStore {
    /// `first` is the first cell in the domain, and `extents` the number of cells. Without cells there is no fragment.
    pub(super) fn new(
        writer: Arc<ArrayWriter>,
        first: &[u64],
        extents: &[u64],
        time: u64,
    ) -> Result<DenseStore> {
        let domain = DenseDomain::of(writer.schema())?;
        let last =
            first.iter().zip(extents).map(|(first, count)| first.saturating_add(count.saturating_sub(1)));
        let written = IndexBox { first: first.to_vec(), last: last.collect() };
        let (fragment, parts) = Default::default();
        Ok(DenseStore { writer, domain, written, time, fragment, parts })
    }

    /// The first cell along a dimension and the number of cells.
    pub(super) fn side(&self, dimension: usize) -> (u64, u64) {
        let first = self.written.first.get(dimension).copied().unwrap_or_default();
        (first, self.written.shape().get(dimension).copied().unwrap_or_default())
    }

    /// Completes and commits what was written.
    pub(super) fn finish(&self) -> Result<()> {
        let mut fragments = std::mem::take(&mut *lock(&self.parts));
        if let Some(fragment) = lock(&self.fragment).take() {
            fragments.push(fragment.finish()?);
        }
        self.writer.commit(&fragments)
    }

    /// Discards what was written.
    pub(super) fn forget(&self) {
        lock(&self.parts).clear();
        *lock(&self.fragment) = None;
    }
}

/// An attribute of a dense array that is being written, or one for each member of a compound.
pub(super) struct TileDbArrayTarget<'a> {
    store: Arc<DenseStore>,
    /// The first attribute.
    attribute: usize,
    encoder: TileDbEncoder,
    /// Whether unwritten parts are left out, with the written parts stored in fragments of their own.
    is_partial: bool,
    placed: Mutex<Placed>,
    /// Called when the array is finished and when it is abandoned.
    finished: Box<dyn Fn() -> Result<()> + Send + Sync + 'a>,
    abandoned: Box<dyn Fn() -> Result<()> + Send + Sync + 'a>,
}

/// The position of the next tile.
#[derive(Default)]
struct Placed {
    /// The position of the next tile in tile order.
    next: u64,
    /// An encoded tile of fill values, and its cells along each dimension.
    fill: Option<(Vec<u64>, Vec<u8>)>,
    /// Encoded tiles along the last dimension that are waiting to become a fragment: their positions and their bytes.
    waiting: Vec<(Vec<u64>, Vec<u8>)>,
}

impl<'a> TileDbArrayTarget<'a> {
    pub(super) fn new(
        store: Arc<DenseStore>,
        attribute: usize,
        parts: StoredParts,
        (needs_unwritten, is_partial, is_scalar, is_asked): (bool, bool, bool, bool),
        finished: Box<dyn Fn() -> Result<()> + Send + Sync + 'a>,
        abandoned: Box<dyn Fn() -> Result<()> + Send + Sync + 'a>,
    ) -> Result<TileDbArrayTarget<'a>> {
        let dense = DenseEncoder::new(&store.writer, attribute)?;
        let others = (1..parts.parts().len())
            .map(|position| DenseEncoder::new(&store.writer, attribute.saturating_add(position)))
            .collect::<Result<_>>()?;
        let first = store.written.first.clone();
        let extents = store.written.shape();
        let encoder =
            TileDbEncoder { parts, dense, others, first, extents, needs_unwritten, is_scalar, is_asked };
        let placed = Mutex::default();
        Ok(TileDbArrayTarget { store, attribute, encoder, is_partial, placed, finished, abandoned })
    }

    /// The number of tiles of the array along each dimension.
    fn grid(&self) -> Vec<u64> {
        let sides = self.encoder.extents.iter().zip(self.encoder.dense.tile());
        sides.map(|(extent, tile)| extent.div_ceil((*tile).max(1))).collect()
    }

    fn order(&self) -> Sequence {
        match self.store.domain.tile_order {
            Layout::ColMajor => Sequence::ColumnMajor,
            _ => Sequence::RowMajor,
        }
    }

    fn position(&self, index: &[u64]) -> u64 {
        let step =
            |position: u64, (at, count): (&u64, u64)| position.saturating_mul(count).saturating_add(*at);
        let dims = index.iter().zip(self.grid());
        match self.order() {
            Sequence::RowMajor => dims.fold(0, step),
            Sequence::ColumnMajor => dims.collect::<Vec<_>>().into_iter().rev().fold(0, step),
        }
    }

    fn index(&self, position: u64) -> Vec<u64> {
        let grid = self.grid();
        let (mut index, mut rest) = (vec![0; grid.len()], position);
        let mut set = |dimension: usize| {
            if let (Some(at), Some(count)) = (index.get_mut(dimension), grid.get(dimension)) {
                *at = rest % (*count).max(1);
                rest /= (*count).max(1);
            }
        };
        match self.order() {
            Sequence::RowMajor => (0..grid.len()).rev().for_each(&mut set),
            Sequence::ColumnMajor => (0..grid.len()).for_each(&mut set),
        }
        index
    }

    /// Writes tiles of fill values up to a position.
    fn fill_to(&self, placed: &mut Placed, position: u64) -> Result<()> {
        while placed.next < position {
            let index = self.index(placed.next);
            let count = self.encoder.count(&index);
            let is_known = placed.fill.as_ref().is_some_and(|(of, _)| *of == count);
            if !is_known {
                placed.fill = Some((count.clone(), self.encoder.filled(&count)?));
            }
            let bytes = placed.fill.as_ref().map(|(_, bytes)| bytes.as_slice()).unwrap_or_default();
            self.put(&index, bytes)?;
            placed.next = placed.next.saturating_add(1);
        }
        Ok(())
    }

    /// Writes a tile into the fragment of the array.
    fn put(&self, index: &[u64], bytes: &[u8]) -> Result<()> {
        let store = &self.store;
        let mut fragment = lock(&store.fragment);
        let fragment = match &mut *fragment {
            Some(fragment) => fragment,
            none => none.insert(DenseFragment::new(
                &store.writer,
                (store.time, store.time),
                store.written.clone(),
            )?),
        };
        self.put_tiles(fragment, index, bytes)
    }

    /// Writes the tiles of a chunk, one for each attribute.
    fn put_tiles(&self, fragment: &DenseFragment, index: &[u64], bytes: &[u8]) -> Result<()> {
        let tile_at = self.encoder.tile_at(index);
        for (position, bytes) in self.encoder.each_tile(bytes)?.into_iter().enumerate() {
            let (bytes, tile) = EncodedTile::apart(bytes)?;
            fragment.put(self.attribute.saturating_add(position), &tile_at, bytes, &tile)?;
        }
        Ok(())
    }

    /// Writes the waiting tiles as a fragment.
    fn flush(&self, placed: &mut Placed) -> Result<()> {
        let tiles = std::mem::take(&mut placed.waiting);
        let (Some((first, _)), Some((last, _))) = (tiles.first(), tiles.last()) else { return Ok(()) };
        let (begin, store) = (self.encoder.begin(first), &self.store);
        let ends = self.encoder.begin(last).into_iter().zip(self.encoder.count(last));
        let end = ends.map(|(at, count)| at.saturating_add(count.saturating_sub(1))).collect();
        let written = IndexBox { first: begin, last: end };
        let fragment = DenseFragment::new(&store.writer, (store.time, store.time), written)?;
        for (index, bytes) in &tiles {
            self.put_tiles(&fragment, index, bytes)?;
        }
        lock(&store.parts).push(fragment.finish()?);
        Ok(())
    }
}

impl ArrayTarget for TileDbArrayTarget<'_> {
    fn encoder(&self) -> &dyn Encoder {
        &self.encoder
    }

    fn is_ordered(&self) -> bool {
        true
    }

    fn sequence(&self) -> Option<Sequence> {
        Some(self.order())
    }

    fn is_recorded(&self) -> bool {
        // The content of a fragment is known only when it is complete.
        false
    }

    fn store(&self, index: &[u64], chunk: Option<&ChunkBytes>) -> Result<()> {
        let mut placed = lock(&self.placed);
        let Some(chunk) = chunk else { return Ok(()) };
        let index = if self.encoder.is_scalar { &[0] } else { index };
        if !self.is_partial {
            self.fill_to(&mut placed, self.position(index))?;
            self.put(index, &chunk.bytes)?;
            placed.next = placed.next.saturating_add(1);
            return Ok(());
        }
        let fastest = match self.order() {
            Sequence::RowMajor => index.len().saturating_sub(1),
            Sequence::ColumnMajor => 0,
        };
        let follows = placed.waiting.last().is_none_or(|(last, _)| {
            let sides = last.iter().zip(index).enumerate();
            { sides }.all(|(at, (last, next))| *next == last + u64::from(at == fastest))
        });
        let bytes: usize = placed.waiting.iter().map(|(_, bytes)| bytes.len()).sum();
        if !follows || bytes > MAX_WAITING {
            self.flush(&mut placed)?;
        }
        placed.waiting.push((index.to_vec(), chunk.bytes.to_vec()));
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        let mut placed = lock(&self.placed);
        self.flush(&mut placed)?;
        // An array in which nothing was written needs no fragment, unless another attribute has one.
        let has_fragment = placed.next > 0 || lock(&self.store.fragment).is_some();
        if has_fragment && !self.is_partial {
            let tiles = self.grid().iter().fold(1, |tiles: u64, side| tiles.saturating_mul(*side));
            self.fill_to(&mut placed, tiles)?;
        }
        (self.finished)()
    }

    fn abandon(&self) -> Result<()> {
        self.store.forget();
        (self.abandoned)()
    }
}

/// The encoder of the tiles of an attribute, or of those for the members of a compound.
pub(super) struct TileDbEncoder {
    parts: StoredParts,
    dense: DenseEncoder,
    /// The encoders of the other members.
    others: Vec<DenseEncoder>,
    /// The position of the first cell of the array in the domain.
    first: Vec<u64>,
    extents: Vec<u64>,
    needs_unwritten: bool,
    /// Whether the array has no dimensions. Such an array is stored with one.
    is_scalar: bool,
    /// Whether the user requested the filters.
    is_asked: bool,
}

impl TileDbEncoder {
    /// The position of the first cell of a chunk in the domain.
    fn begin(&self, index: &[u64]) -> Vec<u64> {
        let sides = index.iter().zip(self.dense.tile()).zip(&self.first);
        sides.map(|((at, tile), first)| at.saturating_mul(*tile).saturating_add(*first)).collect()
    }

    /// The coordinates of a chunk in the tile grid of the domain.
    fn tile_at(&self, index: &[u64]) -> Vec<u64> {
        self.begin(index).iter().zip(self.dense.tile()).map(|(at, tile)| at / (*tile).max(1)).collect()
    }

    /// The number of cells of the array in a chunk along each dimension.
    fn count(&self, index: &[u64]) -> Vec<u64> {
        let sides = index.iter().zip(self.dense.tile()).zip(&self.extents);
        sides.map(|((at, tile), extent)| extent.saturating_sub(at.saturating_mul(*tile)).min(*tile)).collect()
    }

    /// An encoded tile of fill values.
    fn filled(&self, count: &[u64]) -> Result<Vec<u8>> {
        let cells = element_count(count).and_then(|cells| usize::try_from(cells).ok());
        let cells = cells.ok_or_else(|| Error::unsupported("tiles of more cells than memory holds"))?;
        let mut out = Vec::new();
        for (dense, _) in self.each() {
            dense.with_fill(cells, &mut |cells| self.put_tile(dense, count, cells, &mut out))?;
        }
        Ok(out)
    }

    fn each(&self) -> impl Iterator<Item = (&DenseEncoder, &Part)> {
        std::iter::once(&self.dense).chain(&self.others).zip(self.parts.parts())
    }

    /// Appends a tile. If there are several, each is preceded by its length.
    fn put_tile(
        &self,
        dense: &DenseEncoder,
        count: &[u64],
        cells: &TileCells<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if self.others.is_empty() {
            return put_together(dense, count, cells, out);
        }
        let mut own = Vec::new();
        put_together(dense, count, cells, &mut own)?;
        out.extend_from_slice(&(own.len() as u64).to_le_bytes());
        out.append(&mut own);
        Ok(())
    }

    /// The tiles of a chunk.
    fn each_tile<'b>(&self, bytes: &'b [u8]) -> Result<Vec<&'b [u8]>> {
        if self.others.is_empty() {
            return Ok(vec![bytes]);
        }
        let (mut tiles, mut rest) = (Vec::with_capacity(self.parts.parts().len()), bytes);
        for _ in self.parts.parts() {
            let (len, behind) =
                rest.split_first_chunk::<8>().ok_or_else(|| Error::invalid("a tile is missing"))?;
            let len = usize::try_from(u64::from_le_bytes(*len)).unwrap_or(usize::MAX);
            let tile = behind.split_at_checked(len).ok_or_else(|| Error::invalid("a tile cut short"))?;
            tiles.push(tile.0);
            rest = tile.1;
        }
        Ok(tiles)
    }
}

/// Appends an encoded tile and the information about it.
fn put_together(dense: &DenseEncoder, count: &[u64], cells: &TileCells<'_>, out: &mut Vec<u8>) -> Result<()> {
    // TileDB filters have their own buffers.
    let (mut buffers, mut scratch) = (TileBuffers::default(), FilterScratch::new());
    let within = vec![0; count.len()];
    let tile = dense.encode((&within, count), cells, out, (&mut buffers, &mut scratch))?;
    tile.put_behind(out);
    Ok(())
}

impl Encoder for TileDbEncoder {
    fn chunk(&self) -> &[u64] {
        if self.is_scalar { &[] } else { self.dense.tile() }
    }

    fn can_copy_raw(&self, form: &StoredForm) -> bool {
        let Some(elements) = self.parts.only().filter(|elements| elements.is_identity()) else {
            return false;
        };
        let Some(stored) = self.dense.stored_tiles() else { return false };
        // Shuffling one-byte elements changes nothing.
        let changes = |codec: &&Codec| !matches!(codec, Codec::Shuffle(shuffle) if shuffle.element < 2);
        let codecs: Vec<&Codec> = stored.codecs().iter().filter(changes).collect();
        // Regardless of the level, the bytes decode to the same data.
        let is_same = |(own, other): (&&Codec, &Codec)| match self.is_asked {
            true => *own == other,
            false => own.decodes_like(other),
        };
        let Some(others) = form.codecs() else { return false };
        form.chunk == self.dense.tile()
            && form
                .element
                .as_ref()
                .is_some_and(|element| element.is_row() && Some(element.size()) == elements.cell_size())
            && others.len() == codecs.len()
            && codecs.iter().zip(&others).all(is_same)
    }

    fn pass(&self, index: &[u64], chunk: ChunkBytes, scratch: &mut Scratch) -> Result<Encoded> {
        // Minima and sums are computed from the elements.
        let size = self.parts.only().and_then(StoredElements::cell_size).unwrap_or(0);
        let shape = self.dense.tile();
        let mut cells = vec![0; hyperslab_core::nd::element_bytes(shape, size)?];
        let codecs = self.dense.stored_tiles().map(StoredTiles::codecs).unwrap_or_default();
        decode(codecs, &chunk.bytes, &mut cells, scratch)?;
        let count = self.count(index);
        if count != shape {
            let mut within = vec![0; hyperslab_core::nd::element_bytes(&count, size)?];
            let origin = vec![0; count.len()];
            gather(&cells, &Region::all(shape), &mut within, &origin, &count, size)?;
            cells = within;
        }
        let mut out = Vec::with_capacity(chunk.bytes.len() + 256);
        let tile = self.dense.put_stored(&chunk.bytes, &cells, &mut out)?;
        tile.put_behind(&mut out);
        Ok(Encoded::of(Some(out.into())))
    }

    fn encode(&self, index: &[u64], values: &Values, mut out: Vec<u8>, _: &mut Scratch) -> Result<Encoded> {
        out.clear();
        let index = if self.is_scalar { &[0] } else { index };
        let count = self.count(index);
        for (dense, part) in self.each() {
            let own = part.of(values)?;
            let StoredCells { values, offsets, validity } = part.elements.cells(&own)?;
            let cells = TileCells { values: &values, offsets: &offsets, validity: &validity };
            self.put_tile(dense, &count, &cells, &mut out)?;
        }
        Ok(Encoded::of(Some(out.into())))
    }

    fn needs_unwritten(&self) -> bool {
        self.needs_unwritten
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The maximum size in bytes of encoded tiles that wait to become a fragment.
const MAX_WAITING: usize = 32 << 20;
