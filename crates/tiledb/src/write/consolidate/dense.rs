//! Consolidates fragments of dense arrays: the cells of the box around them, tile by tile.

use super::{ConsolidateScratch, FragmentSet};
use crate::array::Array;
use crate::format::timestamped_name::TimestampedName;
use crate::read::{DenseDomain, IndexBox, TilePart};
use crate::write::array::ArrayWriter;
use crate::write::dense::{DenseFragment, stored_cells};
use crate::write::field::{EncodedTile, TileCells};
use crate::write::fragment::WrittenFragment;
use crate::write::sparse::Column;
use hyperslab_core::nd::Region;
use hyperslab_core::{Error, Result};
use std::sync::{Mutex, PoisonError};

/// Fragments of a dense array that are being merged into one.
pub(super) struct DenseConsolidation {
    /// The array with only these fragments.
    array: Array,
    fragment: DenseFragment,
    domain: DenseDomain,
    /// The cells of the new fragment.
    written: IndexBox,
    /// The tile that comes next. `None` after the last.
    next: Mutex<Option<DensePiece>>,
}

/// A tile of an attribute.
#[derive(Clone)]
pub(super) struct DensePiece {
    attribute: usize,
    /// Its coordinates in the grid of tiles.
    at: Vec<u64>,
}

/// A tile that was built.
pub(super) struct MadeDense {
    piece: DensePiece,
    bytes: Vec<u8>,
    tile: EncodedTile,
}

impl DenseConsolidation {
    pub(super) fn new(writer: &ArrayWriter, array: Array, set: &FragmentSet) -> Result<DenseConsolidation> {
        let domain = array.dense_domain()?;
        let none = || Error::invalid("fragments without cells");
        let mut written = array.dense_non_empty_domain()?.ok_or_else(none)?;
        // Fragments of old versions end with their tiles, which may extend past the domain.
        let ends = written.last.iter_mut().zip(&domain.shape);
        ends.for_each(|(last, len)| *last = (*last).min(len.saturating_sub(1)));
        let fragment = DenseFragment::new(writer, (set.start, set.end), written.clone())?;
        let first = || DensePiece { attribute: 0, at: domain.first_tile(&written) };
        let next = (!array.attributes().is_empty()).then(first);
        Ok(DenseConsolidation { array, fragment, domain, written, next: Mutex::new(next) })
    }

    pub(super) fn name(&self) -> &TimestampedName {
        self.fragment.name()
    }

    pub(super) fn next_piece(&self) -> Result<Option<DensePiece>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(piece) = next.clone() else { return Ok(None) };
        *next = self.behind(&piece);
        Ok(Some(piece))
    }

    /// The tile after another one: in tile order, and after the last one the first tile of the next attribute.
    fn behind(&self, piece: &DensePiece) -> Option<DensePiece> {
        let DensePiece { attribute, at } = piece;
        if let Some(at) = self.domain.next_tile(&self.written, at) {
            return Some(DensePiece { attribute: *attribute, at });
        }
        let attribute = attribute.saturating_add(1);
        let is_there = attribute < self.array.attributes().len();
        is_there.then(|| DensePiece { attribute, at: self.domain.first_tile(&self.written) })
    }

    /// Reads the newest cells of a tile, and encodes them. As in the library, minima and sums are those of the whole
    /// tile, including the fill values around what was written: the library answers aggregates with them.
    pub(super) fn make(&self, piece: DensePiece, scratch: &mut ConsolidateScratch) -> Result<MadeDense> {
        let TilePart { within, start, count } = self.domain.part_in(&self.written, &piece.at);
        let region = Region::new(start, count.clone());
        let Column { values, offsets, validity } = stored_cells(&self.array, piece.attribute, &region)?;
        let cells = TileCells { values: &values, offsets: &offsets, validity: &validity };
        let mut bytes = Vec::new();
        let buffers = (&mut scratch.tiles, &mut scratch.filters);
        let encoder = self.fragment.encoder(piece.attribute)?;
        let tile = encoder.encode_noting_all((&within, &count), &cells, &mut bytes, buffers)?;
        Ok(MadeDense { piece, bytes, tile })
    }

    pub(super) fn take(&self, made: &MadeDense) -> Result<u64> {
        let MadeDense { piece, bytes, tile } = made;
        self.fragment.put(piece.attribute, &piece.at, bytes, tile)?;
        Ok(bytes.len() as u64)
    }

    pub(super) fn finish(self) -> Result<WrittenFragment> {
        self.fragment.finish()
    }
}
