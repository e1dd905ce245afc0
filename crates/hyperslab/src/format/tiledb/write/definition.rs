//! Plans an array of the model as a TileDB array with one attribute: its schema, and the content of the record.

use super::collected::takes;
use super::dimension_names::{DimensionNames, stem};
use super::lowerings::{
    BOOLEAN, BYTE_ORDER, BYTES, CHUNKS, COMPLEX, DIMENSION_NAME, DOMAIN, EMPTY, FILL, INNER_NAMED_TYPE,
    LAYOUT, MEMBERS, NAMED_TYPE, NESTED, NOT_UNICODE, NULL_SPACE, NUMBERS, PADDING, REFERENCES, SCALAR,
    SHARDS, TEXTS, UNNAMED, UNWRITTEN,
};
use super::metadata::put_native;
use super::schema::MAX_CELL;
use super::{collects, filters, version};
use crate::format::tiledb::elements::{StoredCells, StoredElements};
use crate::format::tiledb::parts::{Part, StoredParts};
use crate::format::tiledb::record::{ARRAY, PARTS, ROLE};
use crate::format::tiledb::schema::attribute::default_fill;
use crate::format::tiledb::storage::{
    COORDS_FILTER, OFFSETS_FILTER, USUAL_CAPACITY, VALIDITY_FILTER, usual_filters,
};
use crate::format::zarr::keep::record::{datatype_json, element_json, elements_json, has_named};
use crate::strings::name_bytes;
use crate::target::{Facts, Losses, TargetOptions};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::rows::push_zero;
use hyperslab_model::{
    ByteOrder, Datatype, Extent, Fill, Layout as StorageLayout, Node, NodePath, Shape, Storage, Text, Values,
};
use hyperslab_tiledb::format::array_schema::{
    ArraySchema, Attribute, CurrentDomain, Dimension, Domain, EnumerationFile,
};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::filter_pipeline::FilterPipeline;
use hyperslab_tiledb::format::fragment_metadata::mbr::{Mbr, Range};
use hyperslab_tiledb::format::layout::{ArrayType, DataOrder, Layout};
use hyperslab_zarr::json::{Json, Number, Object};
use std::sync::Arc;

/// A planned array.
pub(super) struct ArrayPlan {
    pub(super) schema: ArraySchema,
    pub(super) enumerations: Vec<Enumeration>,
    pub(super) parts: StoredParts,
    /// Whether the array is collected with others of its group.
    pub(super) is_collected: bool,
    /// Content that TileDB cannot represent, without attributes.
    pub(super) record: Object,
    /// The extents of the array. None of them is 0 if it has cells.
    pub(super) extents: Vec<u64>,
    /// Whether cells that the source never wrote must be written, because the array has a different fill value.
    pub(super) needs_unwritten: bool,
}

/// A dimension of the array.
struct Planned {
    extent: Extent,
    tile: u64,
    name: Vec<u8>,
}

impl ArrayPlan {
    /// Plans an array or a dimension coordinate, and notes content that TileDB loses or stores in another form.
    ///
    /// # Errors
    /// If TileDB cannot store the array.
    pub(super) fn new(
        path: &NodePath,
        node: &Node,
        facts: Facts,
        (options, names): (&TargetOptions, &mut DimensionNames),
        losses: &mut dyn Losses,
    ) -> Result<ArrayPlan> {
        let (Some(shape), Some(storage), Some(datatype)) =
            (node.shape(path), node.storage(), node.datatype())
        else {
            return Err(Error::invalid("is not an array"));
        };
        let mut record = Object::new();
        record.insert(ROLE, ARRAY.into());
        if matches!(node, Node::DimCoord(_)) {
            record.insert("kind", "dimcoord".into());
        }
        if let Node::Ndarray(array) = node
            && let Some(extent) = array.dimension
        {
            record.insert("dimension", lengths(&[Some(extent.current()), extent.max()]));
        }
        let is_collected = collects(options) && takes(path, &shape, facts);
        let members = match is_collected {
            true => StoredParts::members(datatype, |_| facts.is_unicode)?,
            false => None,
        };
        let parts = match members {
            Some(parts) => {
                record.insert(PARTS, Json::Number(Number::integer(parts.parts().len() as u64)));
                parts
            }
            None => StoredParts::whole(StoredElements::new(datatype, &storage.element, None, facts)?),
        };
        note_type(path, datatype, parts.only(), facts, (&mut record, losses))?;
        note_storage(path, storage, losses);
        record_domain(path, datatype, storage, (&mut record, losses))?;
        if !facts.can_fill && !facts.is_whole {
            losses.note(&UNWRITTEN, path.to_string(), None);
        }
        put_native(path, storage, &mut record, losses);
        let planned = dimensions((path, node), &shape, storage, names, (&mut record, losses));
        let fills = parts
            .parts()
            .iter()
            .map(|part| fill_of(part, (datatype, &storage.fill)))
            .collect::<Result<Vec<_>>>()?;
        let is_unfillable = fills.iter().any(Option::is_none) && matches!(storage.fill, Fill::Value(_));
        if let (true, Fill::Value(value)) = (is_unfillable, &storage.fill) {
            record.insert("fill", element_json(datatype, value)?);
            losses.note(&FILL, path.to_string(), None);
        }
        let version = version(options)?;
        let mut attributes = Vec::with_capacity(fills.len());
        for (part, known_fill) in parts.parts().iter().zip(fills) {
            let elements = &part.elements;
            let (fill_value, validity) = match known_fill {
                Some(known) => known,
                None => (default_of(elements)?, 0),
            };
            attributes.push(Attribute {
                name: attribute_name((path, part.name()), &planned, &attributes),
                data_type: elements.data_type,
                cell_val_num: elements.cell_val_num,
                filters: filters::pipeline(path, storage, elements, facts, losses)?,
                fill_value: Some(fill_value),
                nullable: elements.nullable,
                fill_value_validity: validity,
                order: DataOrder::Unordered,
                enumeration: elements.labels.as_ref().map(|_| ENUMERATION.as_bytes().to_vec()),
            });
        }
        let labels = parts.only().and_then(|elements| elements.labels.as_ref());
        let enumerations: Vec<Enumeration> = labels.iter().map(|labels| enumeration(labels)).collect();
        let extents = planned.iter().map(|of| of.extent.current()).collect();
        let can_grow = planned.iter().any(|of| !of.extent.is_fixed());
        let schema = ArraySchema {
            enumerations: enumerations
                .iter()
                .map(|of| EnumerationFile { name: of.name.clone(), file_name: Vec::new() })
                .collect(),
            current_domain: (version >= CURRENT_DOMAINS).then(|| current_domain(&planned, can_grow)),
            ..dense_schema(version, planned.iter().map(dimension).collect(), attributes)
        };
        if can_grow && version < CURRENT_DOMAINS {
            let detail = format!("dimensions that can grow, which format version {version} does not have");
            return Err(Error::unsupported(detail));
        }
        let needs_unwritten = is_unfillable && !facts.is_whole;
        Ok(ArrayPlan { schema, enumerations, parts, is_collected, record, extents, needs_unwritten })
    }
}

/// Records the datatype if it cannot be derived from what is stored, and the path of a committed datatype. `elements`
/// is `None` if the members of a compound are stored individually.
fn note_type(
    path: &NodePath,
    datatype: &Arc<Datatype>,
    elements: Option<&StoredElements>,
    facts: Facts,
    (record, losses): (&mut Object, &mut dyn Losses),
) -> Result<()> {
    let resolved = datatype.resolved();
    if has_named(resolved) {
        losses.note(&INNER_NAMED_TYPE, path.to_string(), None);
    }
    let named = match &**datatype {
        Datatype::Named(path, _) => Some(path),
        _ => None,
    };
    let is_padded = resolved.any(
        &|of| matches!(of, Datatype::String(Text::Fixed { pad, .. }) if *pad != hyperslab_model::Pad::Nul),
    );
    if elements.is_some_and(|elements| elements.text_size.is_some()) {
        losses.note(&TEXTS, path.to_string(), None);
    }
    let is_told = elements.is_some_and(|elements| elements.is_told);
    if is_told && named.is_none() && !is_padded {
        return Ok(());
    }
    record.insert("type", datatype_json(resolved)?);
    if elements.is_some_and(StoredElements::replaces_spaces) {
        record.insert("padded", Json::Bool(true));
    }
    if let Some(named) = named {
        record.insert("named", named.as_str().into());
        losses.note(&NAMED_TYPE, path.to_string(), Some(format!("committed datatype {named}")));
    }
    let Some(elements) = elements else {
        losses.note(&MEMBERS, path.to_string(), Some(format!("type {resolved}")));
        return Ok(());
    };
    let inner = resolved.non_null();
    let lowered = match inner {
        _ if is_told && is_padded => &PADDING,
        _ if is_told => return Ok(()),
        Datatype::String(Text::Variable) if !facts.is_unicode => &NOT_UNICODE,
        Datatype::String(_) => &PADDING,
        Datatype::Complex(_) if elements.data_type != DataType::Char => &COMPLEX,
        // The members `r` and `i`, as used by h5py.
        Datatype::Compound(_) if elements.data_type != DataType::Char => &COMPLEX,
        Datatype::Enum { .. } if elements.data_type == DataType::Bool => &BOOLEAN,
        Datatype::Enum { .. } => &NUMBERS,
        Datatype::ObjRef | Datatype::RegRef | Datatype::Reference => &REFERENCES,
        of if elements.data_type == DataType::StringUtf8 && of.has_slots() => &NESTED,
        _ => &BYTES,
    };
    let detail = (lowered.what == BYTES.what).then(|| format!("type {resolved}"));
    losses.note(lowered, path.to_string(), detail);
    Ok(())
}

fn note_storage(path: &NodePath, storage: &Storage, losses: &mut dyn Losses) {
    let mut note = |lowered| losses.note(lowered, path.to_string(), None);
    if storage.shard.is_some() {
        note(&SHARDS);
    }
    if matches!(storage.element.endian, Some(ByteOrder::Big | ByteOrder::Vax)) {
        note(&BYTE_ORDER);
    }
    if !matches!(storage.layout, None | Some(StorageLayout::Chunked)) {
        note(&LAYOUT);
    }
}

/// Records the range of coordinates of a dimension and its tile extent, since its own coordinates are values.
fn record_domain(
    path: &NodePath,
    datatype: &Datatype,
    storage: &Storage,
    (record, losses): (&mut Object, &mut dyn Losses),
) -> Result<()> {
    if let Some(domain) = &storage.domain {
        record.insert("domain", Json::Array(elements_json(datatype, domain).collect::<Result<_>>()?));
    }
    if let Some(tile) = &storage.tile {
        record.insert("tile", element_json(datatype, tile)?);
    }
    if storage.domain.is_some() || storage.tile.is_some() {
        losses.note(&DOMAIN, path.to_string(), None);
    }
    Ok(())
}

/// The dimensions of the array, with distinct names.
fn dimensions(
    (path, node): (&NodePath, &Node),
    shape: &Shape,
    storage: &Storage,
    names: &mut DimensionNames,
    (record, losses): (&mut Object, &mut dyn Losses),
) -> Vec<Planned> {
    let one = |name: &str| Planned { extent: Extent::Fixed(1), tile: 1, name: name.as_bytes().to_vec() };
    let dims = match shape {
        Shape::Dims(dims) if dims.is_empty() => {
            record.insert("dimensions", Json::Array(Vec::new()));
            losses.note(&SCALAR, path.to_string(), None);
            return vec![one(SCALARS)];
        }
        Shape::Dims(dims) => dims,
        Shape::Null | Shape::Unsaid => {
            record.insert("shape", Json::Null);
            losses.note(&NULL_SPACE, path.to_string(), None);
            return vec![one(SCALARS)];
        }
    };
    let chunk = storage.chunk.as_ref().filter(|chunk| chunk.len() == dims.len());
    let mut planned: Vec<Planned> = Vec::with_capacity(dims.len());
    let (mut is_renamed, mut is_unnamed, mut is_cut) = (false, false, false);
    for (position, of) in dims.iter().enumerate() {
        let own = match (&of.coordinate, node) {
            (Some(path), _) => Some(path.name().to_owned()),
            (None, Node::DimCoord(_)) => Some(path.name().to_owned()),
            (None, _) => None,
        };
        is_unnamed |= own.is_none();
        let mut name = name_bytes(&own.clone().unwrap_or_else(|| format!("dim_{position}")));
        if name.is_empty() || name.starts_with(b"__") || planned.iter().any(|other| other.name == name) {
            name.extend(format!("_{position}").bytes());
            is_renamed |= own.is_some();
        }
        let taken: Vec<&[u8]> = planned.iter().map(|other| &*other.name).collect();
        let known = names.of(path.parent().as_ref(), &name, last(of.extent), &taken);
        is_renamed |= own.is_some() && known != name;
        let name = known;
        let current = of.extent.current();
        let all = of.extent.max().unwrap_or(u64::MAX).max(1);
        let asked = chunk.and_then(|chunk| chunk.get(position)).copied().unwrap_or(current).max(1);
        // No tile is longer than the domain.
        let tile = asked.min(all);
        is_cut |= tile < asked;
        planned.push(Planned { extent: of.extent, tile, name });
    }
    if dims.iter().any(|of| of.extent.current() == 0) {
        let extents: Vec<_> = dims.iter().map(|of| Some(of.extent.current())).collect();
        record.insert("extents", lengths(&extents));
        losses.note(&EMPTY, path.to_string(), None);
    }
    if dims.iter().any(|of| !of.extent.is_fixed()) {
        let maximum: Vec<_> = dims.iter().map(|of| of.extent.max()).collect();
        record.insert("maximum", lengths(&maximum));
    }
    if !matches!(node, Node::DimCoord(_)) {
        let paths =
            dims.iter().map(|of| of.coordinate.as_ref().map_or(Json::Null, |path| path.as_str().into()));
        record.insert("dimensions", Json::Array(paths.collect()));
    }
    if is_cut {
        losses.note(&CHUNKS, path.to_string(), None);
    }
    if is_unnamed {
        losses.note(&UNNAMED, path.to_string(), None);
    }
    if is_renamed {
        losses.note(&DIMENSION_NAME, path.to_string(), None);
    }
    planned
}

/// The name of an attribute: that of the array, or another name if a dimension has it. The name of a member is appended
/// to that of the array, and the result differs from the names of `others`.
fn attribute_name(
    (path, member): (&NodePath, Option<&str>),
    dimensions: &[Planned],
    others: &[Attribute],
) -> Vec<u8> {
    let mut name = match path.is_root() {
        true => b"value".to_vec(),
        false => name_bytes(path.name()),
    };
    if let Some(member) = member {
        name = [&name, &b"."[..], &name_bytes(member)].concat();
        // The names of members do not indicate whether they are names of dimensions.
        let is_taken = |name: &[u8]| {
            let is_other = others.iter().any(|other| other.name == name);
            is_other || dimensions.iter().any(|dimension| dimension.name == name)
        };
        while name.starts_with(b"__") || stem(&name) != name || is_taken(&name) {
            name =
                if name.starts_with(b"__") { [b"x", &name[..]].concat() } else { [&name[..], b"_"].concat() };
        }
        return name;
    }
    while name.starts_with(b"__") || dimensions.iter().any(|dimension| dimension.name == name) {
        name = match name.starts_with(b"__") {
            true => [b"x", &name[..]].concat(),
            false => [&name[..], DATA].concat(),
        };
    }
    name
}

/// A 64-bit dimension starting at 0.
fn dimension(of: &Planned) -> Dimension {
    Dimension {
        name: of.name.clone(),
        data_type: DataType::UInt64,
        cell_val_num: CellValNum::ONE,
        filters: no_filters(),
        domain: [0_u64.to_le_bytes(), last(of.extent).to_le_bytes()].concat(),
        tile_extent: Some(of.tile.to_le_bytes().to_vec()),
    }
}

/// The last position that a dimension may have.
fn last(extent: Extent) -> u64 {
    match extent {
        Extent::Unlimited { .. } | Extent::Uncounted => i64::MAX.cast_unsigned(),
        other => other.max().unwrap_or(1).max(1) - 1,
    }
}

/// The part of the domain that exists: all of it, unless a dimension can grow.
fn current_domain(dimensions: &[Planned], can_grow: bool) -> CurrentDomain {
    let range = |of: &Planned| Range {
        min: vec![0; 8],
        max: of.extent.current().max(1).saturating_sub(1).to_le_bytes().to_vec(),
    };
    let rectangle = can_grow.then(|| Mbr { ranges: dimensions.iter().map(range).collect() });
    CurrentDomain { rectangle, ..CurrentDomain::EMPTY.clone() }
}

/// The bytes of a fill value and its validity. `None` if TileDB cannot represent it.
fn fill_of(part: &Part, (datatype, fill): (&Datatype, &Fill)) -> Result<Option<(Vec<u8>, u8)>> {
    let zero;
    let value = match fill {
        Fill::Value(value) => value,
        // The TileDB default is not the string form of an element.
        Fill::Default if !part.elements.is_in_place() => {
            let (mut rows, mut heap) = (Vec::new(), Heap::default());
            push_zero(datatype, &mut rows, &mut heap)?;
            zero = Values { rows: rows.into(), heap };
            &zero
        }
        Fill::Default | Fill::Undefined => return Ok(None),
    };
    let value = part.of(value)?;
    let StoredCells { values, validity, .. } = part.elements.cells(&value)?;
    let is_valid = validity.first().copied();
    Ok(match (is_valid, values.is_empty()) {
        (Some(0), _) => Some((default_of(&part.elements)?, 0)),
        // A fill value has at least one byte.
        (_, true) => None,
        (valid, false) => Some((values.into_owned(), valid.unwrap_or(0))),
    })
}

/// The schema of a dense array in row-major order whose entire domain exists.
pub(super) fn dense_schema(
    version: u32,
    dimensions: Vec<Dimension>,
    attributes: Vec<Attribute>,
) -> ArraySchema {
    ArraySchema {
        version,
        allows_dups: false,
        array_type: ArrayType::Dense,
        tile_order: Layout::RowMajor,
        cell_order: Layout::RowMajor,
        capacity: USUAL_CAPACITY,
        coords_filters: usual_filters(COORDS_FILTER, version),
        offsets_filters: usual_filters(OFFSETS_FILTER, version),
        validity_filters: usual_filters(VALIDITY_FILTER, version),
        domain: Domain { dimensions },
        attributes,
        dimension_labels: Vec::new(),
        enumerations: Vec::new(),
        current_domain: (version >= CURRENT_DOMAINS).then(|| CurrentDomain::EMPTY.clone()),
    }
}

pub(super) fn no_filters() -> FilterPipeline {
    FilterPipeline { max_chunk_size: 65_536, filters: Vec::new() }
}

/// The default fill value of the library.
pub(super) fn default_of(elements: &StoredElements) -> Result<Vec<u8>> {
    default_fill(elements.data_type, elements.cell_val_num, MAX_CELL)
}

/// An enumeration of strings.
fn enumeration(labels: &[String]) -> Enumeration {
    let values: Vec<Vec<u8>> = labels.iter().map(|label| name_bytes(label)).collect();
    let name = ENUMERATION.as_bytes().to_vec();
    Enumeration::of_values(name, DataType::StringUtf8, CellValNum::Var, false, &values)
}

fn lengths(lengths: &[Option<u64>]) -> Json {
    let length =
        |length: &Option<u64>| length.map_or(Json::Null, |length| Json::Number(Number::integer(length)));
    Json::Array(lengths.iter().map(length).collect())
}

/// The dimension of arrays without dimensions, as in TileDB-CF.
const SCALARS: &str = "__scalars";

/// The suffix for the name of an attribute if a dimension has the same name, as in TileDB-CF.
const DATA: &[u8] = b".data";

/// The name of the enumeration of an array.
const ENUMERATION: &str = "labels";

/// The first version in which arrays have a current domain.
const CURRENT_DOMAINS: u32 = 22;
