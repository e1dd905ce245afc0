//! Elements of labels, of coordinates and of attributes of dense arrays.

use super::datatype::is_ordered;
use super::objects::{ArrayObject, Object};
use super::storage::fill;
use crate::pool::Pool;
use crate::source::{ArraySource, ChunkCount, Chunks, Counted};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region, element_count};
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::nullable;
use hyperslab_model::{Datatype, Extent, Reference, Values};
use hyperslab_tiledb::array::Array;
use hyperslab_tiledb::read::sparse::SparseField;
use std::sync::Arc;

/// The part of the domain of a dense array that is shown.
#[derive(Debug)]
pub(super) struct Positions {
    /// The indices of the first cell in the domain.
    pub(super) first: Vec<u64>,
    /// The number of cells along each dimension.
    pub(super) counts: Vec<u64>,
    /// The same, including the lengths to which they may grow.
    pub(super) extents: Vec<Extent>,
    /// The cells of a tile along each dimension.
    pub(super) tile: Vec<u64>,
}

impl ArrayObject {
    /// The part of the domain that is shown: the current domain, otherwise the domain, or if that has too many cells,
    /// the part that was written.
    ///
    /// # Errors
    /// If the domain is not that of a dense array, or the fragments that determine what was written cannot be read.
    pub(super) fn positions(&self) -> Result<Arc<Positions>> {
        if let Some(known) = self.positions.get() {
            return Ok(Arc::clone(known));
        }
        let array = &self.array;
        let domain = array.dense_domain()?;
        let rank = domain.shape.len();
        let (mut first, mut counts) = match array.dense_current_domain()? {
            Some(current) => (current.first.clone(), current.shape()),
            None => (vec![0; rank], domain.shape.clone()),
        };
        // An array described by its record is as long as its domain, however little was written.
        if !self.is_own() && element_count(&counts).is_none_or(|cells| cells > MAX_CELLS) {
            (first, counts) = match array.dense_non_empty_domain()? {
                Some(written) => (written.first.clone(), written.shape()),
                None => (vec![0; rank], vec![0; rank]),
            };
        }
        let spans = first.iter().zip(&mut counts).zip(&domain.shape);
        let extents = spans.map(|((first, count), all)| {
            // Fragments may extend beyond the domain, since tiles do.
            let max = all.saturating_sub(*first);
            let current = (*count).min(max);
            *count = current;
            match max {
                max if max == current => Extent::Fixed(current),
                max if max > UNLIMITED && *first == 0 => Extent::Unlimited { current },
                max => Extent::Limited { current, max },
            }
        });
        let extents = extents.collect::<Vec<_>>();
        let positions = Positions { first, counts, extents, tile: domain.tile };
        Ok(Arc::clone(self.positions.get_or_init(|| Arc::new(positions))))
    }
}

/// An attribute of a dense array.
pub(super) struct DenseArray {
    array: Arc<Array>,
    attribute: usize,
    pool: Pool,
    positions: Arc<Positions>,
    datatype: Arc<Datatype>,
    fill: Values,
    is_label: bool,
}

impl DenseArray {
    pub(super) fn open(object: &ArrayObject, attribute: usize, pool: Pool) -> Result<DenseArray> {
        let of = object.attribute(attribute)?;
        let (datatype, _) = object.datatype(of)?;
        let fill = fill(of, &datatype)?;
        let (array, positions) = (Arc::clone(&object.array), object.positions()?);
        let datatype = Arc::new(datatype);
        Ok(DenseArray { array, attribute, pool, positions, datatype, fill, is_label: false })
    }

    /// The same elements in another part of the domain.
    pub(super) fn at(self, positions: Arc<Positions>) -> DenseArray {
        DenseArray { positions, ..self }
    }

    /// Translates the region to the domain.
    fn in_domain(&self, region: &Region) -> Result<Region> {
        region.check(&self.positions.counts)?;
        let mut region = region.clone();
        region
            .start
            .iter_mut()
            .zip(&self.positions.first)
            .for_each(|(at, first)| *at = at.saturating_add(*first));
        Ok(region)
    }
}

impl ArraySource for DenseArray {
    fn extents(&self) -> Option<&[u64]> {
        Some(&self.positions.counts)
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn chunk(&self) -> &[u64] {
        &self.positions.tile
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        _: &mut Scratch,
    ) -> Result<()> {
        let within = self.in_domain(region)?;
        let (array, attribute) = (&self.array, self.attribute);
        let is_nullable = matches!(*self.datatype, Datatype::Nullable(_));
        let value = self.datatype.non_null();
        if !is_nullable && !value.has_slots() {
            return array.read_dense(attribute, &within, rows, None);
        }
        let row = value.row_size().unwrap_or(0);
        let mut validity = vec![1; if is_nullable { region.bytes(1)? } else { 0 }];
        let wanted = is_nullable.then_some(&mut *validity);
        let mut values = if value.has_slots() {
            let mut cells = array.read_dense_var(attribute, &within, wanted)?;
            name_content(&cells.rows, value, heap)?;
            let before = heap.buffers.len();
            Slot::change_each(&mut cells.rows, |slot| slot.behind(before, 0))?;
            heap.buffers.append(&mut cells.buffers);
            cells.rows
        } else {
            let mut values = vec![0; region.bytes(row)?];
            array.read_dense(attribute, &within, &mut Planes::whole(&mut values), wanted)?;
            values
        };
        if is_nullable {
            values = nullable(&values, &validity, row);
        }
        // The rows are those of the region in sequence, regardless of its steps.
        let (origin, packed) = (vec![0; region.count.len()], Region::all(&region.count));
        let row = self.datatype.row_size().unwrap_or(0);
        match rows.overlap(&origin, &region.count, &packed, row)? {
            Some(mut overlap) => overlap.scatter(&values),
            None => Ok(()),
        }
    }

    fn decoded_chunk(&self) -> Option<Vec<u64>> {
        Some(self.positions.tile.clone())
    }

    fn stored(&self) -> Result<u64> {
        self.array.stored_size(SparseField::Attribute(self.attribute))
    }

    fn chunks(&self) -> Result<Option<Chunks>> {
        let tiles = self.positions.counts.iter().zip(&self.positions.tile);
        let of = tiles.fold(1_u64, |of, (count, tile)| of.saturating_mul(count.div_ceil((*tile).max(1))));
        let written = self.array.written_tiles()?.min(of);
        let outer = ChunkCount { shape: self.positions.tile.clone(), written, of };
        Ok(Some(Chunks { outer, inner: None }))
    }

    fn fill(&self) -> Result<Option<Values>> {
        Ok(Some(self.fill.clone()))
    }

    fn has_ordered_labels(&self) -> bool {
        let attributes = &self.array.schema().attributes;
        attributes.get(self.attribute).is_some_and(|attribute| is_ordered(&self.array, attribute))
    }

    fn is_told_elsewhere(&self) -> bool {
        self.is_label
    }

    fn is_unwritten(&self) -> Result<bool> {
        Ok(self.array.fragments()?.is_empty())
    }
}

/// Counts the content to which slots refer.
pub(super) fn name_content(rows: &[u8], datatype: &Datatype, heap: &mut Heap<Reference>) -> Result<()> {
    let size = match datatype {
        Datatype::Vlen(base) => base.row_size().unwrap_or(1) as u64,
        _ => 1,
    };
    let bytes = Slot::each(rows)
        .fold(0_u64, |sum, slot| sum.saturating_add(u64::from(slot.count).saturating_mul(size)));
    heap.content.name(bytes)
}

/// Coordinates that are given only by a domain.
pub(super) struct Coordinates {
    datatype: Arc<Datatype>,
    counted: Counted,
    counts: [u64; 1],
    pool: Pool,
}

impl Coordinates {
    pub(super) fn open(object: &ArrayObject, dimension: usize, pool: Pool) -> Result<Coordinates> {
        let (datatype, counted, count) = object.coordinates(dimension)?;
        Ok(Coordinates { datatype, counted, counts: [count], pool })
    }
}

impl ArraySource for Coordinates {
    fn extents(&self) -> Option<&[u64]> {
        Some(&self.counts)
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn chunk(&self) -> &[u64] {
        &[1]
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        _: &mut Heap<Reference>,
        _: &mut Scratch,
    ) -> Result<()> {
        region.check(&self.counts)?;
        self.counted.read(region, rows)
    }

    fn is_told_elsewhere(&self) -> bool {
        true
    }

    fn stored(&self) -> Result<u64> {
        Ok(0)
    }

    fn is_unwritten(&self) -> Result<bool> {
        Ok(false)
    }
}

/// The labels of a dimension, which are the attribute of a separate array.
pub(super) fn label(owner: &ArrayObject, position: usize, labels: &Object, pool: Pool) -> Result<DenseArray> {
    let Object::Array(array) = labels else {
        return Err(Error::malformed("a dimension label that is not an array"));
    };
    let label = owner.array.schema().dimension_labels.get(position);
    let attribute = label.and_then(|label| array.array.attribute(&label.attribute));
    let attribute = attribute.ok_or_else(|| Error::malformed("a dimension label without its attribute"))?;
    if array.is_sparse() {
        return Err(Error::unsupported("dimension labels in no order, which are cells of a sparse array"));
    }
    Ok(DenseArray { is_label: true, ..DenseArray::open(array, attribute, pool)? })
}

/// A dense array with more cells than this is shown only as far as it was written.
const MAX_CELLS: u64 = 50_000_000;

/// A dimension that may grow to more cells than this counts as unlimited.
pub(super) const UNLIMITED: u64 = 1 << 62;
