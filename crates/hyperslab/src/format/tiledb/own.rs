//! Arrays that are each stored as the only attribute of a TileDB array, according to their records.

use super::array::DenseArray;
use super::elements::StoredElements;
use super::objects::{ArrayObject, Field};
use super::parts::StoredParts;
use super::record::Record;
use crate::format::zarr::keep::record::{elements as recorded_elements, see_texts};
use crate::pool::Pool;
use crate::source::{ArraySource, ChunkCount, Chunks};
use crate::target::Facts;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attributes, Datatype, DimCoord, Dimension, Extent, Fill, Ndarray, Node, NodeKind, NodePath, Reference,
    Shape, Values,
};
use hyperslab_tiledb::format::data_type::DataType;
use hyperslab_zarr::json::Json;
use std::sync::Arc;

impl ArrayObject {
    /// The array, or the dimension coordinate.
    pub(super) fn own_node(&self, path: &NodePath, record: &Record) -> Result<Node> {
        let member = self.name(Field::Attribute(record.position)).unwrap_or_default();
        // The raw view has no records.
        let attributes = self.metadata(false)?.of(member);
        let array = self.own_ndarray(record, attributes)?;
        if record.shared.kind != Some(NodeKind::DimCoord) {
            return Ok(Node::Ndarray(array));
        }
        let Some(size) = array.shape.dims().first().map(|dimension| dimension.extent) else {
            return Err(Error::malformed("a dimension coordinate without a dimension").in_object(path));
        };
        let Ndarray { datatype, attributes, storage, .. } = array;
        Ok(Node::DimCoord(DimCoord { size, datatype, attributes, storage, value: None }))
    }

    /// The array without its elements.
    pub(super) fn own_ndarray(&self, record: &Record, attributes: Attributes) -> Result<Ndarray> {
        let mut array = self.ndarray(&NodePath::root(), record.position, attributes)?;
        let parts = self.own_parts(record)?;
        array.shape = self.own_shape(record)?;
        array.dimension = record.shared.beside;
        if let Some(directives) = array.storage.native_mut(super::TILEDB).ok().filter(|own| !own.is_empty()) {
            // These directives are expressed by the record in terms of the model.
            directives.retain(|(key, _)| !["attribute", "datatype", "enumeration"].contains(&key.as_str()));
        }
        array.storage.native.retain(|(_, directives)| !directives.is_empty());
        if array.shape.dims().is_empty() {
            array.storage.chunk = None;
        }
        if let Some(datatype) = &record.shared.datatype {
            array.datatype = Some(Arc::clone(datatype));
            see_texts(datatype, &mut array.storage.element);
            array.storage.fill = Fill::Value(self.own_fill(record, &parts)?);
        } else if record.shared.fill.is_some() {
            array.storage.fill = Fill::Value(self.own_fill(record, &parts)?);
        }
        if let Some(datatype) = &array.datatype {
            let read = |json: &Option<Json>| {
                let items = |json: &Json| match json {
                    Json::Array(items) => items.clone(),
                    one => vec![one.clone()],
                };
                json.as_ref().map(|json| recorded_elements(datatype, &items(json))).transpose()
            };
            (array.storage.domain, array.storage.tile) =
                (read(&record.shared.domain)?, read(&record.shared.tile)?);
        }
        record.shared.restore_native(&mut array.storage)?;
        Ok(array)
    }

    /// The shape: the recorded one where the domain does not determine it.
    fn own_shape(&self, record: &Record) -> Result<Shape> {
        if record.shared.is_null {
            return Ok(Shape::Null);
        }
        let paths = record.shared.dimensions.clone();
        let counts = self.own_counts(record)?;
        let dims = counts.iter().enumerate().map(|(position, current)| {
            let coordinate = paths.as_ref().and_then(|paths| paths.get(position)).cloned().flatten();
            let extent: Extent = record.shared.extent(position, *current);
            Dimension { extent, coordinate }
        });
        Ok(Shape::Dims(dims.collect()))
    }

    /// The number of elements along each dimension.
    fn own_counts(&self, record: &Record) -> Result<Vec<u64>> {
        let stored = self.positions()?.counts.clone();
        let rank = record.shared.dimensions.as_ref().map_or(stored.len(), Vec::len);
        match rank {
            0 => Ok(Vec::new()),
            rank if rank == stored.len() => record.shared.current(&stored),
            rank => {
                let found = stored.len();
                Err(Error::malformed(format!("a record of {rank} dimensions, the array has {found}")))
            }
        }
    }

    /// How the elements are stored.
    fn own_parts(&self, record: &Record) -> Result<StoredParts> {
        let Some(count) = record.parts else { return Ok(StoredParts::whole(self.own_elements(record)?)) };
        let wrong =
            |what: &str| Error::malformed(format!("a record of {count} attributes for members, {what}"));
        let datatype = record.shared.datatype.as_ref().ok_or_else(|| wrong("without a type"))?;
        let at = |position| self.attribute(record.position.saturating_add(position));
        let is_unicode = |position| at(position).is_ok_and(|own| own.data_type != DataType::Blob);
        let parts = StoredParts::members(datatype, is_unicode)?;
        let parts = parts.filter(|parts| parts.parts().len() == count);
        let parts = parts.ok_or_else(|| wrong(&format!("of type {datatype}")))?;
        for (position, part) in parts.parts().iter().enumerate() {
            let (own, is) = (at(position)?, &part.elements);
            if (is.data_type, is.cell_val_num, is.nullable) != (own.data_type, own.cell_val_num, own.nullable)
            {
                return Err(wrong(&format!("of which attribute {position} is stored differently")));
            }
        }
        Ok(parts)
    }

    /// How elements are stored in a single attribute.
    fn own_elements(&self, record: &Record) -> Result<StoredElements> {
        let attribute = self.attribute(record.position)?;
        let (stored, element) = self.datatype(attribute)?;
        let stored = Arc::new(stored);
        let datatype = record.shared.datatype.as_ref().unwrap_or(&stored);
        let facts = Facts { is_unicode: attribute.data_type != DataType::Blob, ..Facts::default() };
        // Without a recorded datatype, the stored datatype applies.
        let named = record.shared.datatype.is_none().then_some(attribute.data_type);
        let elements = StoredElements::new(datatype, &element, named, facts)?;
        let is_stored = (elements.data_type, elements.cell_val_num, elements.nullable)
            == (attribute.data_type, attribute.cell_val_num, attribute.nullable);
        match is_stored {
            true => Ok(elements.with_spaces_back(record.shared.is_padded)),
            false => {
                Err(Error::malformed(format!("a record of type {datatype}, which is not stored as {stored}")))
            }
        }
    }

    /// The fill value: the recorded one or that of the attribute.
    fn own_fill(&self, record: &Record, parts: &StoredParts) -> Result<Values> {
        let (stored, _) = self.datatype(self.attribute(record.position)?)?;
        let datatype = record.shared.datatype.as_deref().unwrap_or(&stored);
        if let Some(json) = &record.shared.fill {
            return recorded_elements(datatype, std::slice::from_ref(json));
        }
        let (mut row, mut heap) = (vec![0; datatype.row_size().unwrap_or(0)], Heap::default());
        for (position, part) in parts.parts().iter().enumerate() {
            let attribute = self.attribute(record.position.saturating_add(position))?;
            let (stored, _) = self.datatype(attribute)?;
            part.place(super::storage::fill(attribute, &stored)?, datatype, &mut row, &mut heap)?;
        }
        Ok(Values { rows: row.into(), heap })
    }
}

/// The elements of such an array.
pub(super) struct OwnArray {
    /// The first attribute.
    inner: DenseArray,
    /// The attributes for the other members of a compound.
    others: Vec<DenseArray>,
    parts: StoredParts,
    datatype: Arc<Datatype>,
    /// `None` for a null dataspace.
    counts: Option<Vec<u64>>,
    chunk: Vec<u64>,
    fill: Option<Values>,
    puts_spaces_back: bool,
}

impl OwnArray {
    pub(super) fn open(object: &ArrayObject, record: &Record, pool: Pool) -> Result<OwnArray> {
        let inner = DenseArray::open(object, record.position, pool.clone())?;
        let parts = object.own_parts(record)?;
        let others = (1..parts.parts().len()).map(|position| record.position.saturating_add(position));
        let others = others.map(|position| DenseArray::open(object, position, pool.clone()));
        let others = others.collect::<Result<_>>()?;
        let counts = if record.shared.is_null { None } else { Some(object.own_counts(record)?) };
        let rank = counts.as_ref().map_or(0, Vec::len);
        let chunk = inner.chunk().iter().copied().take(rank).collect();
        let datatype = record.shared.datatype.clone().unwrap_or_else(|| Arc::clone(inner.datatype()));
        let fill = object.own_fill(record, &parts).ok();
        let puts_spaces_back = record.shared.is_padded;
        Ok(OwnArray { inner, others, parts, datatype, counts, chunk, fill, puts_spaces_back })
    }

    fn attributes(&self) -> impl Iterator<Item = &DenseArray> {
        std::iter::once(&self.inner).chain(&self.others)
    }

    /// The region in the stored array, in which a scalar has one dimension.
    fn stored_region(&self, region: &Region) -> Region {
        match region.count.is_empty() {
            true => Region::all(&[1]),
            false => region.clone(),
        }
    }
}

impl ArraySource for OwnArray {
    fn extents(&self) -> Option<&[u64]> {
        self.counts.as_deref()
    }

    fn datatype(&self) -> &Arc<Datatype> {
        &self.datatype
    }

    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn pool(&self) -> &Pool {
        self.inner.pool()
    }

    fn read_part(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        region.check(self.counts.as_deref().unwrap_or_default())?;
        if region.is_empty() {
            return Ok(());
        }
        let is_in_place = self.parts.only().is_some_and(StoredElements::is_in_place);
        if is_in_place && !self.puts_spaces_back {
            return self.inner.read_part(&self.stored_region(region), rows, heap, scratch);
        }
        rows.slices(region).try_for_each(|(part, out)| {
            let size = self.datatype.row_size().unwrap_or(1).max(1);
            let region = self.stored_region(&part);
            for (attribute, part) in self.attributes().zip(self.parts.parts()) {
                let row = attribute.datatype().row_size().unwrap_or(0);
                let mut stored = vec![0; (out.len() / size).saturating_mul(row)];
                let mut own = Heap::default();
                attribute.read_part(&region, &mut Planes::whole(&mut stored), &mut own, scratch)?;
                part.place(Values { rows: stored.into(), heap: own }, &self.datatype, out, heap)?;
            }
            Ok(())
        })
    }

    fn decoded_chunk(&self) -> Option<Vec<u64>> {
        (!self.chunk.is_empty()).then(|| self.chunk.clone())
    }

    fn stored(&self) -> Result<u64> {
        self.attributes().try_fold(0_u64, |sum, of| Ok(sum.saturating_add(of.stored()?)))
    }

    fn chunks(&self) -> Result<Option<Chunks>> {
        if self.chunk.is_empty() {
            return Ok(None);
        }
        let is_empty = self.counts.as_ref().is_some_and(|counts| counts.contains(&0));
        Ok(self.inner.chunks()?.map(|chunks| match is_empty {
            true => {
                let outer = ChunkCount { shape: self.chunk.clone(), written: 0, of: 0 };
                Chunks { outer, inner: None }
            }
            false => chunks,
        }))
    }

    fn fill(&self) -> Result<Option<Values>> {
        Ok(self.fill.clone())
    }

    fn is_unwritten(&self) -> Result<bool> {
        self.inner.is_unwritten()
    }
}
