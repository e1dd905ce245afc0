//! A source whose arrays are as long as their dimensions.
//!
//! In NetCDF-4 a variable may have fewer records than its unlimited dimension. NetCDF readers show the rest as fill
//! values.

use crate::source::engine::row_size;
use crate::source::{ArraySource, ArrayView, Dialect, Entry, Handle, Item, Source, SourceView, along};
use crate::target::Growing;
use crate::walk::{Step, walk};
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::nd::{Planes, Region, fill_rows};
use hyperslab_core::rows::Heap;
use hyperslab_model::rows::{place_rows, push_zero};
use hyperslab_model::{
    Dimension, Elements, Extent, Fill, Node, NodeKind, NodePath, Reference, Shape, Values,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A source in which arrays that are shorter than their unlimited dimensions are extended to the full length, with fill
/// values after the stored elements, as the NetCDF library shows them. It is meant for reading; verbs that compare or
/// convert stores need the arrays unchanged.
///
/// The lengths of dimensions are found by listing all objects, when an array along an unlimited dimension is requested.
///
/// ```
/// use hyperslab::select::{FullLength, Select};
/// use hyperslab::{File, OpenOptions, open};
///
/// let source = open("../../examples/unlimited.nc".as_ref(), &OpenOptions::default())?;
/// let file = File::from(FullLength::shared(source));
/// assert_eq!(file.array("/short")?.read::<f32>(&Select::all())?, [1.5, 2.5, -1.0, -1.0, -1.0]);
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub struct FullLength {
    source: Arc<dyn Source>,
    growing: Mutex<Option<Arc<Growing>>>,
}

impl FullLength {
    /// The arrays of `source` at the length of their dimensions.
    pub fn new(source: Arc<dyn Source>) -> FullLength {
        FullLength { source, growing: Mutex::default() }
    }

    /// As [`FullLength::new`], for sources that are shared.
    pub fn shared(source: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(FullLength::new(source))
    }

    /// The lengths of all dimensions that can grow, if they were already needed.
    fn known(&self) -> MutexGuard<'_, Option<Arc<Growing>>> {
        self.growing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lengths of all dimensions that can grow.
    fn growing(&self) -> Result<Arc<Growing>> {
        let mut known = self.known();
        if let Some(known) = &*known {
            return Ok(Arc::clone(known));
        }
        let mut growing = Growing::default();
        let root = self.source.find(&NodePath::root())?;
        walk(&*self.source, &root.handle, &mut |step| {
            if let Step::Member(Entry { handle, item: Item::Array { kind, shape, .. } }) = step {
                for Dimension { extent, coordinate } in along(&handle.path, *kind, shape.dims()) {
                    coordinate.iter().for_each(|of| growing.add(of, extent));
                }
            }
            Ok(())
        })?;
        Ok(Arc::clone(known.insert(Arc::new(growing))))
    }

    /// The full extents of an array with these dimensions; `None` if the array already has them.
    fn full(&self, path: &NodePath, kind: NodeKind, dims: &[Dimension]) -> Result<Option<Vec<u64>>> {
        let dims = along(path, kind, dims);
        if !dims.iter().any(|of| of.coordinate.is_some() && !of.extent.is_fixed()) {
            return Ok(None);
        }
        let full = self.growing()?.full(&dims);
        let is_short = dims.iter().zip(&full).any(|(of, full)| of.extent.current() < *full);
        Ok(is_short.then_some(full))
    }

    fn lengthen(&self, path: &NodePath, kind: NodeKind, shape: &mut Shape) -> Result<()> {
        if let Shape::Dims(dims) = shape
            && let Some(full) = self.full(path, kind, dims)?
        {
            dims.iter_mut().zip(full).for_each(|(of, full)| of.extent = lengthened(of.extent, full));
        }
        Ok(())
    }
}

impl SourceView for FullLength {
    fn viewed(&self) -> &dyn Source {
        &*self.source
    }

    fn entry(&self, mut entry: Entry) -> Result<Entry> {
        if let Item::Array { kind, shape, .. } = &mut entry.item {
            self.lengthen(&entry.handle.path, *kind, shape)?;
        }
        Ok(entry)
    }

    fn node(&self, object: &Handle, mut node: Node) -> Result<Node> {
        match &mut node {
            Node::Ndarray(array) => self.lengthen(&object.path, NodeKind::Ndarray, &mut array.shape)?,
            Node::DimCoord(dimcoord) => {
                let own = Dimension { extent: dimcoord.size, coordinate: None };
                if let Some(full) = self.full(&object.path, NodeKind::DimCoord, &[own])? {
                    full.iter().for_each(|full| dimcoord.size = lengthened(dimcoord.size, *full));
                }
            }
            _ => {}
        }
        Ok(node)
    }

    fn elements(&self, object: &Handle, array: Arc<dyn ArraySource>) -> Result<Arc<dyn ArraySource>> {
        // In most files all arrays have the lengths of their dimensions, which are known once an array along a dimension
        // that can grow was listed.
        if self.known().as_ref().is_some_and(|growing| !growing.is_uneven()) {
            return Ok(array);
        }
        let Item::Array { kind, shape, .. } = self.source.find(&object.path)?.item else { return Ok(array) };
        let Some(extents) = self.full(&object.path, kind, shape.dims())? else { return Ok(array) };
        let fill = fill(&self.source.load(object)?, &*array, self.dialect())?;
        Ok(Arc::new(Lengthened { array, extents, fill }))
    }
}

fn lengthened(extent: Extent, current: u64) -> Extent {
    match extent {
        Extent::Limited { max, .. } if max > current => Extent::Limited { current, max },
        Extent::Limited { max, .. } => Extent::Fixed(max),
        Extent::Unlimited { .. } => Extent::Unlimited { current },
        fixed => fixed,
    }
}

/// The element that readers show where nothing is stored: the fill value of the array, that of its attribute, or that
/// of the format.
fn fill(node: &Node, array: &dyn ArraySource, dialect: &Dialect) -> Result<Values> {
    let datatype = array.datatype();
    if let Some(Fill::Value(value)) = node.storage().map(|storage| &storage.fill) {
        return Ok(value.clone());
    }
    if let Some(Ok(attribute)) = node.attributes().and_then(|all| all.get(FILL_VALUE))
        && attribute.datatype.row_size() == datatype.row_size()
        && attribute.datatype.same_content(datatype)
        && Elements::new(&attribute.datatype, &attribute.value).len() == 1
    {
        return Ok(attribute.value.clone());
    }
    if let Some(value) = array.fill()? {
        return Ok(value);
    }
    let (mut rows, mut heap) = (Vec::new(), Heap::default());
    match (dialect.missing)(datatype, &Fill::Default) {
        Some(row) => rows = row,
        None => push_zero(datatype, &mut rows, &mut heap)?,
    }
    Ok(Values { rows: rows.into(), heap })
}

/// An array with fill values after its elements.
struct Lengthened {
    array: Arc<dyn ArraySource>,
    extents: Vec<u64>,
    /// One element.
    fill: Values,
}

impl ArrayView for Lengthened {
    fn viewed(&self) -> &dyn ArraySource {
        &*self.array
    }

    fn shown_extents(&self) -> Option<&[u64]> {
        Some(&self.extents)
    }

    fn read_shown(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let row = row_size(self)?;
        let own = self.array.extents().unwrap_or_default();
        rows.slices(region).try_for_each(|(part, out)| {
            let stored = within(&part, own);
            if stored.count == part.count {
                return self.array.read_part(&part, &mut Planes::whole(out), heap, scratch);
            }
            // The elements of the array are read first: the heap must contain nothing but its own content.
            let mut read = vec![0; stored.bytes(row)?];
            if !read.is_empty() {
                self.array.read_part(&stored, &mut Planes::whole(&mut read), heap, scratch)?;
            }
            let mut fill = vec![0; row];
            place_rows(self.fill.clone(), self.array.datatype(), &mut fill, heap)?;
            fill_rows(&fill, out)?;
            put(&read, &stored.count, out, &part.count, row);
            Ok(())
        })
    }

    fn is_shown_unwritten(&self) -> Result<bool> {
        // The elements after those of the array may have another fill value.
        Ok(false)
    }
}

/// The part of a region below these extents.
fn within(region: &Region, extents: &[u64]) -> Region {
    let mut own = region.clone();
    for ((count, extent), (start, step)) in
        own.count.iter_mut().zip(extents).zip(region.start.iter().zip(&region.step))
    {
        *count = (*count).min(extent.saturating_sub(*start).div_ceil((*step).max(1)));
    }
    if own.count.contains(&0) {
        own.count.fill(0);
    }
    own
}

/// Copies a box of rows to the beginning of a larger one.
fn put(from: &[u8], counts: &[u64], to: &mut [u8], full: &[u64], row: usize) {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let (Some((last, outer)), Some((last_full, outer_full))) = (counts.split_last(), full.split_last())
    else {
        return;
    };
    let (line, stride) = (size(*last).saturating_mul(row), size(*last_full).saturating_mul(row));
    if line == 0 {
        return;
    }
    for (number, line) in from.chunks_exact(line).enumerate() {
        let (mut rest, mut place, mut factor) = (number as u64, 0_usize, 1_usize);
        for (count, full) in outer.iter().zip(outer_full).rev() {
            place = place.saturating_add(size(rest % (*count).max(1)).saturating_mul(factor));
            rest /= (*count).max(1);
            factor = factor.saturating_mul(size(*full));
        }
        let start = place.saturating_mul(stride);
        if let Some(place) = to.get_mut(start..start.saturating_add(line.len())) {
            place.copy_from_slice(line);
        }
    }
}

/// The attribute with the fill value, in the conventions of NetCDF.
const FILL_VALUE: &str = "_FillValue";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use crate::source::testing::Numbers;
    use proptest::prelude::*;

    proptest! {
        /// The elements of any region are those of the array, followed by the fill value.
        #[test]
        fn regions_of_a_lengthened_array_have_fill_behind_its_elements(
            sides in prop::collection::vec((0..5_u64, 0..4_u64, 1..4_u64), 1..4),
            part in prop::collection::vec((0..9_u64, 0..9_u64, 1..4_u64), 3),
            threads in 1..3_usize,
        ) {
            let own: Vec<u64> = sides.iter().map(|(own, ..)| *own).collect();
            let extents: Vec<u64> = sides.iter().map(|(own, more, _)| own + more).collect();
            let chunk: Vec<u64> = sides.iter().map(|(.., chunk)| *chunk).collect();
            let numbers = Numbers::new(&own, &chunk, Pool::new(threads, Pool::MEMORY));
            let fill = Values { rows: u64::MAX.to_ne_bytes().to_vec().into(), heap: Heap::default() };
            let array = Lengthened { array: Arc::new(numbers), extents: extents.clone(), fill };
            let mut region = Region::all(&extents);
            for (dimension, (start, count, step)) in part.into_iter().take(extents.len()).enumerate() {
                let extent = region.count[dimension];
                region.start[dimension] = start.min(extent);
                region.step[dimension] = step;
                region.count[dimension] = count.min((extent - start.min(extent)).div_ceil(step));
            }
            let values = array.values(&region).unwrap();
            let mut expected = vec![Some(0_u64)];
            for (dimension, own) in own.iter().enumerate() {
                let (start, step) = (region.start[dimension], region.step[dimension]);
                let at = (0..region.count[dimension]).map(|k| start + k * step);
                let at: Vec<_> = at.map(|at| (at < *own).then_some(at)).collect();
                expected = expected
                    .iter()
                    .flat_map(|place| at.iter().map(move |at| Some((*place)? * own + (*at)?)))
                    .collect();
            }
            let expected: Vec<u8> =
                expected.into_iter().flat_map(|place| place.unwrap_or(u64::MAX).to_ne_bytes()).collect();
            prop_assert_eq!(&values.rows[..], &expected[..]);
        }
    }
}
