//! Elements in documents.

use super::super::netcdf::default_fill;
use super::super::tiledb::is_label;
use super::{NdlSource, value};
use crate::pool::Pool;
use crate::source::{ArraySource, Counted, Origin, has_cells_only};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Limit, Limits, Remedy, Result};
use hyperslab_model::rows::push_zero;
use hyperslab_model::{
    Attributes, Datatype, DimCoord, Dimension, Fill, FillTime, Node, NodePath, Reference, Shape, Storage,
    Values,
};
use hyperslab_netcdf4::name::FILL_VALUE;
use std::sync::Arc;

pub(super) struct NdlArray {
    source: Arc<NdlSource>,
    path: NodePath,
    datatype: Arc<Datatype>,
    extents: Option<Vec<u64>>,
    chunk: Vec<u64>,
    elements: Elements,
    /// Whether the elements are labels of a dimension, which form a separate array in the described store.
    is_label: bool,
}

/// The role of an array in its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A dense array: each position has an element.
    Dense,
    /// A member of a sparse array that has no values in its cells.
    OfSparse,
    /// A column of the cells of a sparse array.
    Column,
}

enum Elements {
    /// The values of the node at the path of the array.
    Written,
    /// All elements have this value.
    Fill(Values),
    /// Coordinates that increase by one, starting at the lowest of their domain.
    Counted(Counted),
    /// The document was written without the values.
    Unknown,
    /// A column of a sparse array: its values are in the cells of the group.
    Cells,
}

impl NdlArray {
    /// The array of `node` at `path`.
    pub(super) fn open(source: &Arc<NdlSource>, path: &NodePath, node: &Node, role: Role) -> Result<Self> {
        let (origin, limits) = (source.origin.as_ref(), &source.limits);
        let (datatype, shape, storage, attributes, value) = match node {
            Node::Ndarray(ndarray) => {
                let parts = (&ndarray.datatype, ndarray.shape.clone(), &ndarray.storage, &ndarray.attributes);
                (parts.0, parts.1, parts.2, parts.3, &ndarray.value)
            }
            Node::DimCoord(dimcoord) => {
                let parts = (&dimcoord.datatype, shape_of(dimcoord), &dimcoord.storage, &dimcoord.attributes);
                (parts.0, parts.1, parts.2, parts.3, &dimcoord.value)
            }
            _ => return Err(Error::invalid("no array")),
        };
        let datatype = datatype.as_ref().ok_or_else(|| Error::invalid("the document states no datatype"))?;
        let extents = shape.current();
        let count = element_count(extents.as_deref().unwrap_or(&[0]));
        // A document that describes a file has the requested values. An array without values there may have some in the
        // file.
        let written = count.and_then(|count| count.checked_mul(datatype.leaves()));
        let asked = |origin: &Origin| origin.values.is_some_and(|max| written.is_some_and(|n| n <= max));
        let counted = || match node {
            Node::DimCoord(dimcoord) if role == Role::Dense => counted(dimcoord, limits).transpose(),
            _ => None,
        };
        let elements = match value {
            Some(_) => Elements::Written,
            None if role == Role::Column => Elements::Cells,
            None if count != Some(0) && !origin.is_none_or(asked) => Elements::Unknown,
            None => match counted() {
                Some(counted) => Elements::Counted(counted?),
                None => Elements::Fill(fill(datatype, storage, attributes, origin, limits)?),
            },
        };
        let rank = extents.as_ref().map_or(0, Vec::len);
        let chunk =
            storage.chunk.clone().filter(|chunk| chunk.len() == rank).unwrap_or_else(|| vec![1; rank]);
        let (source, path, datatype) = (Arc::clone(source), path.clone(), Arc::clone(datatype));
        Ok(NdlArray { source, path, datatype, extents, chunk, elements, is_label: is_label(storage) })
    }

    /// The values in the document.
    fn written(&self) -> Result<&Values> {
        let node = self.source.content.nodes.get(&self.path);
        node.and_then(value).ok_or_else(|| Error::invalid("the document has no values for it"))
    }
}

impl ArraySource for NdlArray {
    fn extents(&self) -> Option<&[u64]> {
        self.extents.as_deref()
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn pool(&self) -> &Pool {
        &self.source.pool
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        _: &mut Scratch,
    ) -> Result<()> {
        let extents = self.extents.as_deref().unwrap_or_default();
        region.check(extents)?;
        let values = match &self.elements {
            Elements::Written => self.written()?,
            Elements::Fill(one) => one,
            Elements::Counted(counted) => return counted.read(region, rows),
            Elements::Cells => return Err(has_cells_only()),
            Elements::Unknown => {
                let error = Error::invalid("the document has no values for it");
                return Err(error.with_remedy(Remedy::DescribeWithValues));
            }
        };
        // Slots remain valid only in a heap that starts like this one.
        if heap.buffers.is_empty() && heap.references.is_empty() {
            heap.clone_from(&values.heap);
        }
        match &self.elements {
            Elements::Fill(one) => rows.fill(&one.rows),
            _ => {
                let row = self.datatype.row_size().unwrap_or(0);
                let overlap = rows.overlap(&vec![0; extents.len()], extents, region, row)?;
                overlap.map_or(Ok(()), |mut overlap| overlap.scatter(&values.rows))
            }
        }
    }

    fn fill(&self) -> Result<Option<Values>> {
        Ok(match &self.elements {
            Elements::Fill(one) => Some(one.clone()),
            Elements::Written | Elements::Counted(_) | Elements::Unknown | Elements::Cells => None,
        })
    }

    fn is_of_cells(&self) -> bool {
        matches!(self.elements, Elements::Cells)
    }

    fn stored(&self) -> Result<u64> {
        Ok(match &self.elements {
            Elements::Written => bytes(self.written()?),
            Elements::Fill(_) | Elements::Counted(_) | Elements::Unknown | Elements::Cells => 0,
        })
    }

    fn is_told_elsewhere(&self) -> bool {
        self.is_label || matches!(self.elements, Elements::Counted(_))
    }

    fn is_unwritten(&self) -> Result<bool> {
        // Without cells, nothing is stored.
        Ok(matches!(self.elements, Elements::Fill(_) | Elements::Cells))
    }
}

/// Coordinates that follow from the domain of a dimension.
fn counted(dimcoord: &DimCoord, limits: &Limits) -> Result<Option<Counted>> {
    let (Some(datatype), Some(domain)) = (&dimcoord.datatype, &dimcoord.storage.domain) else {
        return Ok(None);
    };
    let Some(first) = Counted::first(datatype, domain, dimcoord.size) else { return Ok(None) };
    let (size, count) = (datatype.row_size().unwrap_or(0), dimcoord.size.current());
    if count.saturating_mul(size as u64) > limits.allocation {
        let detail = format!("{count} coordinates of {size} bytes");
        return Err(Error::limit_exceeded(Limit::Allocation, detail));
    }
    Ok(Some(Counted::new(first, datatype)))
}

/// The shape of the coordinates of a dimension.
pub(super) fn shape_of(dimcoord: &DimCoord) -> Shape {
    Shape::Dims(vec![Dimension { extent: dimcoord.size, coordinate: None }])
}

/// The memory that values take, in bytes.
pub(super) fn bytes(values: &Values) -> u64 {
    values.heap.buffers.iter().map(|buffer| buffer.len() as u64).sum::<u64>() + values.rows.len() as u64
}

/// The element that fills an array whose values are not written.
fn fill(
    datatype: &Datatype,
    storage: &Storage,
    attributes: &Attributes,
    origin: Option<&Origin>,
    limits: &Limits,
) -> Result<Values> {
    if let Fill::Value(value) = &storage.fill {
        return Ok(value.clone());
    }
    // In no-fill mode the NetCDF library sets no fill value.
    let fills = storage.fill_time != Some(FillTime::Never);
    if fills && origin.is_some_and(|origin| origin.format == "NetCDF-4") {
        // In the NetCDF view, the fill value is stated only by this attribute.
        if let Some(Ok(attribute)) = attributes.get(FILL_VALUE)
            && attribute.datatype.resolved() == datatype.resolved()
        {
            return Ok(attribute.value.clone());
        }
        if let Some(rows) = default_fill(datatype.resolved()) {
            return Ok(Values { rows: rows.into(), heap: Heap::default() });
        }
    }
    let mut heap = Heap::default();
    let size = datatype.row_size().unwrap_or(usize::MAX);
    let most = limits.allocation / ELEMENT_SHARE;
    if size as u64 > most {
        let detail = format!("an element of {size} bytes, at most {most} are filled");
        return Err(Error::limit_exceeded(Limit::Allocation, detail));
    }
    let mut rows = Vec::with_capacity(size);
    push_zero(datatype, &mut rows, &mut heap)?;
    Ok(Values { rows: rows.into(), heap })
}

/// The divisor of the allocation limit that bounds the element that fills an array: a few characters can declare a type
/// of any size.
const ELEMENT_SHARE: u64 = 32;
