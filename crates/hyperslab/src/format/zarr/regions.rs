//! Writes regions of arrays that already exist in a store.

use super::read::elements::{WritableElements, writable};
use super::{ZarrSource, open_source};
use crate::format::OpenOptions;
use crate::format::zarr::keep::lowering::Lowering;
use crate::pool::Pool;
use crate::source::Source;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Region, element_bytes, gather};
use hyperslab_core::store::{DirectoryWriter, Durability, WritableStore};
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{Datatype, Fill, NodePath, Values};
use hyperslab_zarr::write::ArrayWriter;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The arrays of a store in a directory, for writing regions of them.
pub(crate) struct Regions {
    source: ZarrSource,
    store: Arc<dyn WritableStore>,
}

/// An array of which regions are written.
pub(crate) struct RegionWriter {
    writer: ArrayWriter,
    lowering: Lowering,
    datatype: Arc<Datatype>,
    extents: Vec<u64>,
    /// The shape of the unit of writing: a shard or a chunk.
    unit: Vec<u64>,
}

impl Regions {
    /// Opens a store.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn open(path: &Path) -> Result<Regions> {
        let store = Arc::new(DirectoryWriter::open_real(path, Durability::Process)?);
        let options = OpenOptions { limits: Limits::of_any_size(), ..OpenOptions::default() };
        let source = open_source(Arc::clone(&store) as Arc<_>, &options)?;
        Ok(Regions { source, store })
    }

    /// The writer of an array.
    ///
    /// # Errors
    /// If there is no array at the path.
    pub(crate) fn writer(&self, path: &NodePath) -> Result<RegionWriter> {
        let (node, record) = self.source.stored_array(path)?;
        let WritableElements { datatype, lowering, extents, unit } = writable(&node, record.as_ref())?;
        let writer = ArrayWriter::open(Arc::clone(&self.store), &node, &Limits::of_any_size())?;
        Ok(RegionWriter { writer, lowering, datatype, extents, unit })
    }

    /// The fill value that an array declares; `None` for the default of the format.
    ///
    /// # Errors
    /// If there is no array at the path.
    pub(crate) fn fill(&self, path: &NodePath) -> Result<Option<Values>> {
        let node = self.source.load(&self.source.find(path)?.handle)?;
        Ok(match node.storage().map(|storage| &storage.fill) {
            Some(Fill::Value(value)) => Some(value.clone()),
            _ => None,
        })
    }

    /// Removes the chunks of an array for which `is_kept` returns false.
    ///
    /// # Errors
    /// Errors of the system.
    pub(crate) fn keep_only(&self, writer: &RegionWriter, is_kept: &dyn Fn(&[u64]) -> bool) -> Result<()> {
        let whole = Region::all(&writer.extents);
        for index in writer.chunks(&whole)? {
            if !is_kept(&index) {
                self.store.delete(&writer.writer.chunk_key(&writer.stored_index(&index))?)?;
            }
        }
        Ok(())
    }

    /// Whether a chunk is stored.
    ///
    /// # Errors
    /// Errors of the system.
    pub(crate) fn is_stored(&self, writer: &RegionWriter, index: &[u64]) -> Result<bool> {
        let key = writer.writer.chunk_key(&writer.stored_index(index))?;
        Ok(self.store.size(&key)?.is_some())
    }
}

impl RegionWriter {
    /// The datatype of the elements.
    pub(crate) fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    /// The lengths of the dimensions.
    pub(crate) fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The shape of the unit of writing.
    pub(crate) fn unit(&self) -> &[u64] {
        &self.unit
    }

    /// The chunks of a region. The region must consist of whole chunks.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a region that extends past the array, has
    /// gaps, or cuts chunks.
    pub(crate) fn chunks(&self, region: &Region) -> Result<Vec<Vec<u64>>> {
        region.check(&self.extents)?;
        let mut sides = Vec::with_capacity(self.unit.len());
        for (dimension, (((start, count), step), (unit, extent))) in
            { region.start.iter().zip(&region.count).zip(&region.step) }
                .zip(self.unit.iter().zip(&self.extents))
                .enumerate()
        {
            let end = start.saturating_add(*count);
            let is_aligned = start.is_multiple_of((*unit).max(1))
                && (end.is_multiple_of((*unit).max(1)) || end == *extent)
                && (*step == 1 || *count < 2);
            if !is_aligned {
                let detail = format!(
                    "a region of {start}..{end} along dimension {dimension}, which cuts chunks of {:?}",
                    self.unit
                );
                return Err(Error::invalid(detail).with_hint(format_args!(
                    "write whole chunks: begin at a multiple of {unit}, and end at one or at {extent}"
                )));
            }
            sides.push((start / (*unit).max(1), end.div_ceil((*unit).max(1))));
        }
        let mut all = vec![Vec::new()];
        for (first, end) in sides {
            all = all
                .into_iter()
                .flat_map(|index: Vec<u64>| (first..end).map(move |at| [index.as_slice(), &[at]].concat()))
                .collect();
        }
        Ok(all)
    }

    /// Encodes and stores the elements of a region, in row-major order. Returns the indices of the chunks in the chunk
    /// grid of the array.
    ///
    /// # Errors
    /// As [`RegionWriter::chunks`]; also if there are too many or too few elements, and errors of the store.
    pub(crate) fn write(&self, region: &Region, values: &Values, pool: &Pool) -> Result<Vec<Vec<u64>>> {
        let row = self.datatype.row_size().unwrap_or(0);
        if region.bytes(row)? != values.rows.len() {
            let (found, expected) = (values.rows.len() / row.max(1), region.len().unwrap_or(u64::MAX));
            return Err(Error::invalid(format!("{found} elements for a region of {expected}")));
        }
        let chunks = self.chunks(region)?;
        let each = element_bytes(&self.unit, row)?.saturating_mul(3) as u64;
        pool.each(&chunks, each, |index, scratch| self.write_chunk(region, values, index, scratch))?;
        Ok(chunks)
    }

    fn write_chunk(
        &self,
        region: &Region,
        values: &Values,
        index: &[u64],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let row = self.datatype.row_size().unwrap_or(0);
        let start: Vec<u64> =
            index.iter().zip(&self.unit).map(|(at, unit)| at.saturating_mul(*unit)).collect();
        let shape: Vec<u64> = { start.iter().zip(&self.unit).zip(&self.extents) }
            .map(|((start, unit), extent)| extent.saturating_sub(*start).min(*unit))
            .collect();
        let rows =
            match in_one_piece(region, &start, &shape, row).filter(|piece| piece.end <= values.rows.len()) {
                Some(piece) => values.rows.slice(piece),
                None => {
                    let mut rows = vec![0; element_bytes(&shape, row)?];
                    gather(&values.rows, region, &mut rows, &start, &shape, row)?;
                    rows.into()
                }
            };
        let own = Values { rows, heap: values.heap.clone() };
        let (rows, heap) = self.lowering.lower(&own)?;
        let stored = self.writer.write_chunk(&self.stored_index(index), &rows, &heap, scratch)?;
        stored.map(drop).ok_or_else(|| Error::invalid("a chunk that is not stored"))
    }

    /// The stored chunk index: each dimension of a lowered datatype has only one chunk.
    fn stored_index(&self, index: &[u64]) -> Vec<u64> {
        index.iter().copied().chain(self.lowering.trailing.iter().map(|_| 0)).collect()
    }
}

/// The byte range of a box of a region, if it is contiguous in the rows of the region. This requires a single row of
/// the first dimensions, the full extent of the last ones, and any part of the dimension in between. `row` is the size
/// of an element.
fn in_one_piece(region: &Region, start: &[u64], shape: &[u64], row: usize) -> Option<Range<usize>> {
    let whole = region.count.iter().zip(shape).rev().take_while(|(count, size)| count == size).count();
    let divided = shape.len().saturating_sub(whole + 1);
    if shape.iter().take(divided).any(|size| *size != 1) {
        return None;
    }
    let mut first = 0_u64;
    for ((at, begin), count) in start.iter().zip(&region.start).zip(&region.count) {
        first = first.checked_mul(*count)?.checked_add(at.checked_sub(*begin)?)?;
    }
    let first = usize::try_from(first).ok()?.checked_mul(row)?;
    Some(first..first.checked_add(element_bytes(shape, row).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_one_another_is_not_copied() {
        let region = Region::new(vec![4, 0, 0], vec![4, 6, 8]);
        let piece = |start: [u64; 3], shape: [u64; 3]| in_one_piece(&region, &start, &shape, 2);
        assert_eq!(piece([4, 0, 0], [4, 6, 8]), Some(0..384));
        assert_eq!(piece([6, 0, 0], [2, 6, 8]), Some(192..384));
        assert_eq!(piece([5, 2, 0], [1, 3, 8]), Some(128..176));
        assert_eq!(piece([5, 2, 4], [1, 1, 4]), Some(136..144));
        assert_eq!(piece([4, 0, 0], [2, 3, 8]), None);
        assert_eq!(piece([4, 0, 0], [1, 2, 4]), None);
        assert_eq!(piece([3, 0, 0], [4, 6, 8]), None);
        let scalar = Region::new(vec![], vec![]);
        assert_eq!(in_one_piece(&scalar, &[], &[], 8), Some(0..8));
    }
}
