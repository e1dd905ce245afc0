//! Consolidation of fragments of dense arrays: the cells of the box around them, tile by tile.

use super::{ConsolidateScratch, FragmentSet};
use crate::array::Array;
use crate::format::data_type::CellValNum;
use crate::format::layout::Layout;
use crate::format::timestamped_name::TimestampedName;
use crate::read::{DenseDomain, IndexBox, VarCells};
use crate::write::array::ArrayWriter;
use crate::write::dense::DenseFragment;
use crate::write::field::{EncodedTile, TileCells};
use crate::write::fragment::WrittenFragment;
use hyperslab_core::memory::check_memory;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, Result};
use std::sync::{Mutex, PoisonError};

/// Fragments of a dense array that are becoming one.
pub(super) struct DenseConsolidation {
    /// The array with these fragments alone.
    array: Array,
    fragment: DenseFragment,
    domain: DenseDomain,
    /// The cells of the new fragment.
    written: IndexBox,
    /// The tile that comes next. `None` behind the last.
    next: Mutex<Option<DensePiece>>,
}

/// A tile of an attribute.
#[derive(Clone)]
pub(super) struct DensePiece {
    attribute: usize,
    /// Its coordinates in the grid of tiles.
    at: Vec<u64>,
}

/// A tile that was made.
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
        // Fragments of old versions end with their tiles, which may be behind the domain.
        let ends = written.last.iter_mut().zip(&domain.shape);
        ends.for_each(|(last, len)| *last = (*last).min(len.saturating_sub(1)));
        let fragment = DenseFragment::new(writer, (set.start, set.end), written.clone())?;
        let first = written.first.iter().zip(&domain.tile).map(|(first, tile)| first / tile).collect();
        let next = match array.attributes().is_empty() {
            true => None,
            false => Some(DensePiece { attribute: 0, at: first }),
        };
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

    /// The tile behind another one: in tile order, and behind the last the first of the next attribute.
    fn behind(&self, piece: &DensePiece) -> Option<DensePiece> {
        let DensePiece { mut attribute, mut at } = piece.clone();
        let count = at.len();
        for step in 0..count {
            let dimension = match self.domain.tile_order {
                Layout::ColMajor => step,
                _ => count.checked_sub(step)?.checked_sub(1)?,
            };
            let tile = *self.domain.tile.get(dimension)?;
            let (first, last) =
                (self.written.first.get(dimension)? / tile, self.written.last.get(dimension)? / tile);
            let place = at.get_mut(dimension)?;
            if *place < last {
                *place = place.saturating_add(1);
                return Some(DensePiece { attribute, at });
            }
            *place = first;
        }
        attribute = attribute.saturating_add(1);
        (attribute < self.array.attributes().len()).then_some(DensePiece { attribute, at })
    }

    /// Reads the cells of a tile, the newest of each, and encodes them. As the library does, minima and sums are those of
    /// the whole tile, with the fill values around what was written: it answers aggregates with them.
    pub(super) fn make(&self, piece: DensePiece, scratch: &mut ConsolidateScratch) -> Result<MadeDense> {
        let none = || Error::invalid(format!("attribute {}", piece.attribute));
        let attribute = self.array.attributes().get(piece.attribute).ok_or_else(none)?;
        let (mut start, mut count, mut within) = (Vec::new(), Vec::new(), Vec::new());
        let sides = self.written.first.iter().zip(&self.written.last);
        for ((at, tile), (first, last)) in piece.at.iter().zip(&self.domain.tile).zip(sides) {
            let begin = at.saturating_mul(*tile);
            let (from, to) = (begin.max(*first), begin.saturating_add(tile.saturating_sub(1)).min(*last));
            start.push(from);
            count.push(to.saturating_sub(from).saturating_add(1));
            within.push(from.saturating_sub(begin));
        }
        let region = Region::new(start, count.clone());
        let mut validity = vec![0; if attribute.nullable { region.bytes(1)? } else { 0 }];
        let noted = attribute.nullable.then_some(validity.as_mut_slice());
        let (values, offsets) = match attribute.cell_val_num {
            CellValNum::Fixed(values) => {
                let size =
                    usize::try_from(values).unwrap_or(usize::MAX).saturating_mul(attribute.data_type.size());
                let len = region.bytes(size)?;
                check_memory(len)?;
                let mut rows = vec![0; len];
                self.array.read_dense(piece.attribute, &region, &mut Planes::whole(&mut rows), noted)?;
                (rows, Vec::new())
            }
            CellValNum::Var => {
                let cells = self.array.read_dense_var(piece.attribute, &region, noted)?;
                together(&cells, attribute.data_type.size())?
            }
        };
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

/// The values of cells one behind the other, and where each begins.
fn together(cells: &VarCells, value_size: usize) -> Result<(Vec<u8>, Vec<u64>)> {
    let (mut values, mut offsets) = (Vec::new(), Vec::new());
    for Slot { buffer, count, offset } in Slot::each(&cells.rows) {
        offsets.push(values.len() as u64);
        let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(value_size));
        let of = usize::try_from(buffer).ok().and_then(|buffer| cells.buffers.get(buffer));
        let value = match len {
            Some(0) => Some(&[][..]),
            len => of
                .zip(usize::try_from(offset).ok())
                .zip(len)
                .and_then(|((of, start), len)| of.get(start..start.checked_add(len)?)),
        };
        values.extend_from_slice(value.ok_or_else(|| Error::malformed("a cell outside of its tile"))?);
    }
    Ok((values, offsets))
}
