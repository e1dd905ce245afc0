//! Elements of Zarr arrays as the model's rows.

use super::datatype::{check_rows, make_utf8, utf32_spans};
use super::datatype_of;
use super::dimensions::shape;
use crate::pool::Pool;
use crate::source::ArraySource;
use hyperslab_codec::Scratch;
use hyperslab_core::Result;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_model::{Datatype, Reference, Values};
use hyperslab_zarr::Array;
use hyperslab_zarr::data_type::DataType;
use hyperslab_zarr::hierarchy::{Hierarchy, Metadata, Node};
use hyperslab_zarr::metadata::{ChunkGrid, Edges, v3};
use std::sync::Arc;

pub(super) struct ZarrArray<'a> {
    hierarchy: &'a Hierarchy,
    pool: &'a Pool,
    node: Arc<Node>,
    /// None where codecs are not known, which does not keep anyone from asking how much is stored.
    array: Option<Array>,
    datatype: Arc<Datatype>,
    chunk: Vec<u64>,
    /// Where rows have UTF-32.
    utf32: Vec<(usize, usize)>,
}

impl<'a> ZarrArray<'a> {
    pub(super) fn open(hierarchy: &'a Hierarchy, pool: &'a Pool, node: Arc<Node>) -> Result<Self> {
        let (datatype, _) = datatype_of(&node)?;
        let array = Array::new(&node, hierarchy.limits()).ok();
        let utf32 = match &array {
            Some(array) => {
                check_rows(&datatype, array.row_size())?;
                utf32_spans(array.data_type())?
            }
            None => Vec::new(),
        };
        let chunk = outer_chunk(&node);
        Ok(ZarrArray { hierarchy, pool, node, array, datatype: Arc::new(datatype), chunk, utf32 })
    }
}

impl ArraySource for ZarrArray<'_> {
    fn extents(&self) -> Option<&[u64]> {
        Some(shape(&self.node))
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn pool(&self) -> &Pool {
        self.pool
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let store = self.hierarchy.store();
        let Some(array) = &self.array else {
            // Says why.
            return Array::new(&self.node, self.hierarchy.limits()).map(|_| ());
        };
        array.read_part(&**store, region, rows, heap, scratch)?;
        rows.slices(region).try_for_each(|(_, rows)| make_utf8(rows, array.row_size(), &self.utf32))
    }

    fn is_divisible(&self) -> bool {
        self.array
            .as_ref()
            .is_some_and(|array| !matches!(array.data_type(), DataType::String | DataType::Bytes))
    }

    fn stored(&self) -> Result<u64> {
        self.hierarchy.chunk_bytes(&self.node)
    }

    fn is_unwritten(&self) -> Result<bool> {
        self.hierarchy.has_chunks(&self.node).map(|found| !found)
    }
}

/// The shape of what is stored under one key, the largest where there are several.
fn outer_chunk(node: &Node) -> Vec<u64> {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) => match &*array.chunk_grid {
            ChunkGrid::Regular { chunk_shape } => chunk_shape.clone(),
            ChunkGrid::Rectilinear { chunk_shapes } => {
                let largest = |edges: &Edges| match edges {
                    Edges::Step(size) => *size,
                    Edges::Runs(runs) => runs.iter().map(|(size, _)| *size).max().unwrap_or(1),
                };
                chunk_shapes.iter().map(largest).collect()
            }
        },
        Metadata::V2Array { array, .. } => array.chunks.iter().map(|chunk| (*chunk).max(1)).collect(),
        _ => Vec::new(),
    }
}

/// One element: a row of `data_type`, or the content of a string or of bytes.
pub(super) fn one(data_type: &DataType, mut value: Vec<u8>, utf32: &[(usize, usize)]) -> Result<Values> {
    let mut heap = Heap::default();
    let rows = match data_type {
        DataType::String | DataType::Bytes => {
            let count = u32::try_from(value.len()).unwrap_or(u32::MAX);
            let buffer = heap.push(value.into())?;
            Slot { buffer, count, offset: 0 }.to_bytes().to_vec()
        }
        _ => {
            let row = value.len();
            make_utf8(&mut value, row, utf32)?;
            value
        }
    };
    Ok(Values { rows: rows.into(), heap })
}
