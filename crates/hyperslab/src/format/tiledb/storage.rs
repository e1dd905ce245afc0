//! How arrays are stored: filters, tiles and fill values of attributes, and directives for what only TileDB has.

use super::datatype::directive as data_type_directive;
use super::objects::{ArrayObject, Field};
use super::{LABEL, TILEDB, filter};
use crate::strings::name_text;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attributes, Datatype, Directive, Fill, Ndarray, NodePath, Storage, Values};
use hyperslab_tiledb::format::array_schema::Attribute;
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::filter_pipeline::{Filter, FilterPipeline};
use hyperslab_tiledb::format::layout::{DataOrder, Layout};
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
        let mut text = |name: &str, value: String| native.push((name.to_owned(), Directive::Text(value)));
        if let Some(name) = data_type_directive(attribute.data_type) {
            text("datatype", name.to_owned());
        }
        if let Some(order) = order(attribute.order) {
            text("order", order.to_owned());
        }
        if let Some(name) = &attribute.enumeration {
            text("enumeration", name_text(name));
        }
        if let Some(hidden) = value_under_null(attribute) {
            text("fillvalue", hidden);
        }
        if attribute.name.is_empty() {
            native.push(("anonymous".to_owned(), Directive::Bool(true)));
        }
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

    /// A dimension label without its values: an array along one dimension.
    pub(super) fn label(&self, path: &NodePath, position: usize) -> Result<Ndarray> {
        let label = self.array.schema().dimension_labels.get(position);
        let label = label.ok_or_else(|| Error::invalid("a label that the array does not have"))?;
        let along = usize::try_from(label.dimension).unwrap_or(usize::MAX);
        let (datatype, element) = super::datatype::data_type(label.data_type, label.cell_val_num);
        let mut storage = Storage { element, ..Storage::default() };
        let order = order(label.order).unwrap_or("unordered").to_owned();
        storage.native.push((TILEDB, vec![(LABEL.to_owned(), Directive::Text(order))]));
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

    /// The directives of the array as a whole. Those that have the value that libraries give by default are left out.
    pub(super) fn storage(&self) -> Storage {
        let schema = self.array.schema();
        let mut native: Vec<(String, Directive)> = Vec::new();
        let mut put = |name: &str, value| native.push((name.to_owned(), value));
        let kind = if self.is_sparse() { "sparse" } else { "dense" };
        put("array", Directive::Text(kind.to_owned()));
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
        let usual = |filters: Filter| FilterPipeline {
            max_chunk_size: filter::USUAL_MAX_CHUNK,
            filters: vec![filters],
        };
        let (zstd, rle) = (usual(Filter::Zstd { level: -1 }), usual(Filter::Rle { level: -1 }));
        let shared = [
            ("coords_filter", &schema.coords_filters, &zstd),
            ("offsets_filter", &schema.offsets_filters, &zstd),
            ("validity_filter", &schema.validity_filters, &rle),
        ];
        for (name, pipeline, usual) in shared {
            let is_said = schema.version >= 7 || name != "validity_filter";
            if pipeline != usual && is_said {
                put(name, filter::directive(pipeline));
                if let Some((_, size)) = filter::max_chunk(pipeline) {
                    put(&format!("{name}_max_chunk"), size);
                }
            }
        }
        if !schema.enumerations.is_empty() {
            let one = |file: &hyperslab_tiledb::format::array_schema::EnumerationFile| {
                (name_text(&file.name), enumeration(self.array.enumeration(&file.name)))
            };
            put("enumerations", Directive::Map(schema.enumerations.iter().map(one).collect()));
        }
        if schema.current_domain.as_ref().is_some_and(|current| current.rectangle.is_some())
            && self.is_sparse()
        {
            put("current_domain", self.current_domain());
        }
        Storage { native: vec![(TILEDB, native)], ..Storage::default() }
    }

    /// The ranges of coordinates that may be written, of a sparse array.
    fn current_domain(&self) -> Directive {
        let schema = self.array.schema();
        let rectangle = schema.current_domain.as_ref().and_then(|current| current.rectangle.as_ref());
        let ranges = rectangle.map(|rectangle| rectangle.ranges.as_slice()).unwrap_or_default();
        let range = |(of, range): (
            &hyperslab_tiledb::format::array_schema::Dimension,
            &hyperslab_tiledb::format::fragment_metadata::mbr::Range,
        )| {
            let ends = [&range.min, &range.max].map(|end| coordinate(of.data_type, of.cell_val_num, end));
            Directive::List(ends.into())
        };
        Directive::List(self.array.dimensions().iter().zip(ranges).map(range).collect())
    }
}

/// A coordinate as a directive.
fn coordinate(
    data_type: hyperslab_tiledb::format::data_type::DataType,
    values: hyperslab_tiledb::format::data_type::CellValNum,
    bytes: &[u8],
) -> Directive {
    if values.is_var() {
        return Directive::Text(name_text(bytes));
    }
    let (datatype, _) = super::datatype::data_type(data_type, values);
    let value = Values { rows: bytes.to_vec().into(), heap: Heap::default() };
    match hyperslab_model::Elements::new(&datatype, &value).next().map(|one| one.get()) {
        Some(hyperslab_model::Element::Int(number)) => Directive::Int(number),
        Some(hyperslab_model::Element::Float(number)) => Directive::Float(number),
        _ => Directive::Null,
    }
}

/// The values of an enumeration; those of texts are in the datatype of each attribute.
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
    let value = |bytes: &[u8]| match read.cell_val_num.is_var() {
        true => Directive::Text(name_text(bytes)),
        false => coordinate(read.data_type, read.cell_val_num, bytes),
    };
    let values = read.values().map(|values| values.map(value).collect()).unwrap_or_default();
    put("values", Directive::List(values));
    Directive::Map(entries)
}

/// The element that cells have which were never written.
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
        let size = inner.row_size().unwrap_or(usize::MAX);
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

/// The bytes of a fill value that is null, if they are not those of the datatype by default. Nobody reads them, but they
/// are stored.
fn value_under_null(attribute: &Attribute) -> Option<String> {
    let stored = attribute.fill_value.as_deref()?;
    let default = attribute.data_type.default_fill_value();
    let is_default = stored.chunks(default.len()).all(|value| value == default);
    let is_hidden = attribute.nullable && attribute.fill_value_validity == 0 && !is_default;
    is_hidden.then(|| stored.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}")))
}

fn order(order: DataOrder) -> Option<&'static str> {
    match order {
        DataOrder::Unordered => None,
        DataOrder::Increasing => Some("increasing"),
        DataOrder::Decreasing => Some("decreasing"),
    }
}

fn layout(order: Layout) -> &'static str {
    match order {
        Layout::RowMajor => "row-major",
        Layout::ColMajor => "col-major",
        Layout::GlobalOrder => "global-order",
        Layout::Unordered => "unordered",
        Layout::Hilbert => "hilbert",
    }
}

/// The number of cells of a tile of a sparse array that libraries choose.
const USUAL_CAPACITY: u64 = 10_000;
