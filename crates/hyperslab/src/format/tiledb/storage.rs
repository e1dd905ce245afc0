//! How arrays are stored: filters, tiles and fill values of attributes, and directives for properties that only TileDB
//! has.

use super::current_domain;
use super::datatype::directive as data_type_directive;
use super::objects::{ArrayObject, Field};
use super::{LABEL, TILEDB, filter};
use crate::strings::{name_bytes, name_text};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attributes, Datatype, Directive, Fill, Ndarray, NodePath, Storage, Values};
use hyperslab_tiledb::format::array_schema::{Attribute, EnumerationFile};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::filter_pipeline::{Filter, FilterPipeline};
use hyperslab_tiledb::format::layout::{ArrayType, DataOrder, Layout};
use std::sync::Arc;

impl ArrayObject {
    /// The attribute at a position of the schema.
    pub(super) fn attribute(&self, position: usize) -> Result<&Attribute> {
        let found = self.array.attributes().get(position);
        found.ok_or_else(|| Error::invalid(format!("attribute {position}, which the array does not have")))
    }

    /// An attribute without its values.
    pub(super) fn ndarray(
        &self,
        path: &NodePath,
        position: usize,
        attributes: Attributes,
    ) -> Result<Ndarray> {
        let attribute = self.attribute(position)?;
        let (datatype, element) = self.datatype(attribute)?;
        let mut storage =
            Storage { element, filters: filter::filters(&attribute.filters), ..Storage::default() };
        if !self.is_sparse() {
            storage.chunk = Some(self.positions()?.tile.clone());
        }
        storage.fill = Fill::Value(fill(attribute, &datatype)?);
        let mut native: Vec<(String, Directive)> =
            filter::max_chunk(&attribute.filters).into_iter().collect();
        let mut put = |name: &str, value| native.push((name.to_owned(), value));
        if let Some(name) = data_type_directive(attribute.data_type) {
            put("datatype", Directive::Text(name.to_owned()));
        }
        if attribute.order != DataOrder::Unordered {
            put("order", Directive::Text(data_order(attribute.order).to_owned()));
        }
        if let Some(name) = &attribute.enumeration {
            put("enumeration", Directive::Text(name_text(name)));
        }
        if let Some(bytes) = untold_fill(attribute) {
            put("fillvalue", bytes);
        }
        if let Some(validity) = untold_validity(attribute) {
            put("fill_valid", validity);
        }
        native.extend(untold_name("attribute", self.name(Field::Attribute(position)), &attribute.name));
        if !native.is_empty() {
            storage.native.push((TILEDB, native));
        }
        Ok(Ndarray {
            shape: self.shape(path)?,
            dimension: None,
            datatype: Some(Arc::new(datatype)),
            attributes,
            storage: storage.into(),
            value: None,
        })
    }

    /// A dimension label without its values, which is an array along one dimension.
    pub(super) fn label(&self, path: &NodePath, position: usize) -> Result<Ndarray> {
        let label = self.array.schema().dimension_labels.get(position);
        let label = label.ok_or_else(|| Error::invalid("a label that the array does not have"))?;
        let along = usize::try_from(label.dimension).unwrap_or(usize::MAX);
        let (datatype, element) = super::datatype::data_type(label.data_type, label.cell_val_num);
        let mut storage = Storage { element, ..Storage::default() };
        let mut native = vec![(LABEL.to_owned(), Directive::Text(data_order(label.order).to_owned()))];
        let mut put = |name: &str, value| native.push((name.to_owned(), value));
        if let Some(name) = data_type_directive(label.data_type) {
            put("datatype", Directive::Text(name.to_owned()));
        }
        if label.uri != usual_label_uri(position).into_bytes() {
            put("uri", Directive::Text(name_text(&label.uri)));
        }
        if !label.relative {
            put("relative", Directive::Bool(false));
        }
        if label.is_external {
            put("external", Directive::Bool(true));
        }
        if label.attribute != USUAL_LABEL_ATTRIBUTE.as_bytes() {
            put("attribute", Directive::Text(name_text(&label.attribute)));
        }
        native.extend(untold_name("name", self.name(Field::Label(position)), &label.name));
        storage.native.push((TILEDB, native));
        let coordinate = self.name(Field::Dimension(along)).map(|name| path.child(name));
        let dimension = hyperslab_model::Dimension { extent: self.extent(along)?, coordinate };
        Ok(Ndarray {
            shape: hyperslab_model::Shape::Dims(vec![dimension]),
            dimension: None,
            datatype: Some(Arc::new(datatype)),
            attributes: Attributes::new(),
            storage: storage.into(),
            value: None,
        })
    }

    /// The directives of the array as a whole. Those with the default value of libraries are left out.
    pub(super) fn storage(&self) -> Storage {
        let schema = self.array.schema();
        let mut native: Vec<(String, Directive)> = Vec::new();
        let mut put = |name: &str, value| native.push((name.to_owned(), value));
        put("array", Directive::Text(array_type(schema.array_type).to_owned()));
        put("version", Directive::Int(schema.version.into()));
        for (name, order) in [("cell_order", schema.cell_order), ("tile_order", schema.tile_order)] {
            if order != Layout::RowMajor {
                put(name, Directive::Text(layout(order).to_owned()));
            }
        }
        if schema.capacity != USUAL_CAPACITY {
            put("capacity", Directive::Int(schema.capacity.into()));
        }
        if schema.allows_dups {
            put("allows_dups", Directive::Bool(true));
        }
        let shared = [
            (COORDS_FILTER, &schema.coords_filters),
            (OFFSETS_FILTER, &schema.offsets_filters),
            (VALIDITY_FILTER, &schema.validity_filters),
        ];
        for (name, pipeline) in shared {
            if *pipeline == usual_filters(name, schema.version) {
                continue;
            }
            put(name, filter::directive(pipeline));
            if let Some((_, size)) = filter::max_chunk(pipeline) {
                put(&max_chunk_of(name), size);
            }
        }
        if !schema.enumerations.is_empty() {
            let one = |file: &EnumerationFile| {
                (name_text(&file.name), enumeration(self.array.enumeration(&file.name)))
            };
            put("enumerations", Directive::Map(schema.enumerations.iter().map(one).collect()));
            let file =
                |file: &EnumerationFile| (name_text(&file.name), Directive::Text(name_text(&file.file_name)));
            put(ENUMERATION_FILES, Directive::Map(schema.enumerations.iter().map(file).collect()));
        }
        // An error is reported where the dimensions are described.
        let positions = (!self.is_sparse()).then(|| self.positions().ok()).flatten();
        let extents = positions.as_ref().map_or(&[][..], |positions| &positions.extents);
        native.extend(current_domain::directives(schema, extents));
        Storage { native: vec![(TILEDB, native)], ..Storage::default() }
    }
}

/// The default filters of libraries for coordinates, offsets and validities.
pub(super) fn usual_filters(name: &str, version: u32) -> FilterPipeline {
    let filter = match name {
        VALIDITY_FILTER if version < VALIDITIES => return FilterPipeline::default(),
        VALIDITY_FILTER => Filter::Rle { level: -1 },
        _ => Filter::Zstd { level: -1 },
    };
    FilterPipeline { max_chunk_size: filter::USUAL_MAX_CHUNK, filters: vec![filter] }
}

/// The directive that states the maximum size of a chunk for shared filters.
pub(super) fn max_chunk_of(name: &str) -> String {
    format!("{name}_{}", filter::MAX_CHUNK)
}

/// The name of a member, unless it follows from the name under which the member is shown.
pub(super) fn untold_name(key: &str, shown: Option<&str>, name: &[u8]) -> Option<(String, Directive)> {
    if name.is_empty() {
        return Some(("anonymous".to_owned(), Directive::Bool(true)));
    }
    let is_told = shown.is_some_and(|shown| name_bytes(shown) == name);
    (!is_told).then(|| (key.to_owned(), Directive::Text(name_text(name))))
}

/// The values of an enumeration. Those of strings are in the datatype of each attribute.
fn enumeration(read: Result<Arc<Enumeration>>) -> Directive {
    let read = match read {
        Ok(read) => read,
        Err(error) => {
            return Directive::Map(vec![("x-error".to_owned(), Directive::Text(error.to_string()))]);
        }
    };
    let mut entries = Vec::new();
    let mut put = |name: &str, value| entries.push((name.to_owned(), value));
    put("datatype", Directive::Text(read.data_type.name().to_owned()));
    if read.ordered {
        put("ordered", Directive::Bool(true));
    }
    let value = |bytes: &[u8]| current_domain::value(read.data_type, read.cell_val_num, bytes);
    let values = read.values().map(|values| values.map(value).collect()).unwrap_or_default();
    put("values", Directive::List(values));
    Directive::Map(entries)
}

/// The element that unwritten cells have.
pub(super) fn fill(attribute: &Attribute, datatype: &Datatype) -> Result<Values> {
    let default = attribute.data_type.default_fill_value();
    let stored = attribute.fill_value.as_deref().unwrap_or(default);
    let mut heap = Heap::default();
    let inner = datatype.non_null();
    if attribute.nullable && attribute.fill_value_validity == 0 {
        let size = datatype.row_size().ok_or_else(|| Error::malformed("cells of 2^64 bytes or more"))?;
        return Ok(Values { rows: vec![0; size].into(), heap });
    }
    let row = if inner.has_slots() {
        let count = stored.len() / attribute.data_type.size();
        let count =
            u32::try_from(count).map_err(|_| Error::malformed("a fill value of 2^32 values or more"))?;
        heap.push_items(stored.to_vec().into(), count)?.to_bytes().to_vec()
    } else {
        // Schemas with cells that are disproportionate to their fill value are not opened.
        let size = inner.row_size().ok_or_else(|| Error::malformed("cells of 2^64 bytes or more"))?;
        match (stored.len() == size, size % stored.len().max(1)) {
            (true, _) => stored.to_vec(),
            (false, 0) => stored.repeat(size / stored.len().max(1)),
            _ => {
                let len = stored.len();
                return Err(Error::malformed(format!("a fill value of {len} bytes for cells of {size}")));
            }
        }
    };
    let mut rows = Vec::with_capacity(row.len() + 1);
    if attribute.nullable {
        rows.push(1);
    }
    rows.extend(row);
    Ok(Values { rows: rows.into(), heap })
}

/// The bytes of a fill value that cannot be derived from the value in the document. These are the bytes under null,
/// which nobody reads, unless they are what libraries store there; and bytes that are not exactly one value of the
/// cell.
fn untold_fill(attribute: &Attribute) -> Option<Directive> {
    let stored = attribute.fill_value.as_deref()?;
    let (default, size) = (attribute.data_type.default_fill_value(), attribute.data_type.size());
    let is_whole = match attribute.cell_val_num {
        CellValNum::Fixed(count) => usize::try_from(count).is_ok_and(|count| stored.len() / size == count),
        CellValNum::Var => true,
    };
    let is_whole = is_whole && stored.len().is_multiple_of(size);
    let is_told = match attribute.nullable && attribute.fill_value_validity == 0 {
        true => match attribute.cell_val_num {
            CellValNum::Fixed(_) => is_whole && stored.chunks(size).all(|value| value == default),
            CellValNum::Var => stored == default,
        },
        // A document has no booleans other than true and false.
        false => is_whole && (attribute.data_type != DataType::Bool || stored.iter().all(|byte| *byte <= 1)),
    };
    (!is_told).then(|| Directive::of_bytes(stored))
}

/// The validity of the fill value, unless it follows from the fill value: null or a value, or any value of an attribute
/// without nulls.
fn untold_validity(attribute: &Attribute) -> Option<Directive> {
    match (attribute.fill_value_validity, attribute.nullable) {
        (0, _) | (1, true) => None,
        (1, false) => Some(Directive::Bool(true)),
        (other, _) => Some(Directive::Int(other.into())),
    }
}

/// The name of the order of values.
pub(super) fn data_order(order: DataOrder) -> &'static str {
    match order {
        DataOrder::Unordered => "unordered",
        DataOrder::Increasing => "increasing",
        DataOrder::Decreasing => "decreasing",
    }
}

/// The name of the type of an array.
pub(super) fn array_type(of: ArrayType) -> &'static str {
    match of {
        ArrayType::Dense => "dense",
        ArrayType::Sparse => "sparse",
    }
}

/// The name of an order of tiles or cells.
pub(super) fn layout(order: Layout) -> &'static str {
    match order {
        Layout::RowMajor => "row-major",
        Layout::ColMajor => "col-major",
        Layout::GlobalOrder => "global-order",
        Layout::Unordered => "unordered",
        Layout::Hilbert => "hilbert",
    }
}

/// The default number of cells in a tile of a sparse array, as chosen by libraries.
pub(super) const USUAL_CAPACITY: u64 = 10_000;

/// The default URI that libraries give to the array of a dimension label.
pub(super) fn usual_label_uri(position: usize) -> String {
    format!("__labels/l{position}")
}

/// The default name that libraries give to the attribute of that array.
pub(super) const USUAL_LABEL_ATTRIBUTE: &str = "label";

/// The directives of shared filters.
pub(super) const COORDS_FILTER: &str = "coords_filter";
pub(super) const OFFSETS_FILTER: &str = "offsets_filter";
pub(super) const VALIDITY_FILTER: &str = "validity_filter";

/// The directive that states the files of enumerations, which a writer renames.
pub(super) const ENUMERATION_FILES: &str = "enumeration_files";

/// The first version in which cells can be null.
const VALIDITIES: u32 = 7;
