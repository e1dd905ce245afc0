//! The schema and the enumerations of a TileDB array that a group describes.

use crate::format::tiledb::current_domain::value_bytes;
use crate::format::tiledb::directives::Directives;
use crate::format::tiledb::schema::attribute::enumeration as enumeration_of;
use crate::format::tiledb::schema::{Asked, Members};
use crate::strings::name_bytes;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Directive, Extent, NodePath};
use hyperslab_tiledb::format::array_schema::ArraySchema;
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::enumeration::Enumeration;
use hyperslab_tiledb::format::layout::ArrayType;
use hyperslab_tiledb::read::DenseDomain;
use hyperslab_tiledb::write::dense::integer;

/// A schema that can be written.
pub(super) struct Made {
    pub(super) schema: ArraySchema,
    /// The enumerations that it lists.
    pub(super) enumerations: Vec<Enumeration>,
    /// The dimensions whose domain begins at a higher coordinate than in the document.
    pub(super) moved: Vec<NodePath>,
}

/// The schema in a format version.
///
/// # Errors
/// If TileDB cannot represent what the document states.
pub(super) fn of(members: &Members, array_type: Option<ArrayType>, version: u32) -> Result<Made> {
    let mut schema = members.schema(&Asked { array_type, version: Some(version), most: MAX_CELL })?;
    let mut enumerations = Vec::with_capacity(schema.enumerations.len());
    for file in &schema.enumerations {
        let named = |e: Error| {
            let name = String::from_utf8_lossy(&file.name).into_owned();
            e.map_detail(|detail| format!("enumeration {name:?}: {detail}"))
        };
        enumerations.push(enumeration(members, &file.name).map_err(named)?);
    }
    let moved = match schema.array_type {
        ArrayType::Dense => align(&mut schema, members)?,
        ArrayType::Sparse => Vec::new(),
    };
    Ok(Made { schema, enumerations, moved })
}

/// The position in the domain of the first cell of a dimension. A dimension that cannot grow to the whole domain lies
/// at its end.
pub(super) fn first(size: Extent, all: u64) -> u64 {
    match size {
        Extent::Fixed(max) | Extent::Limited { max, .. } => all.saturating_sub(max),
        Extent::Unlimited { .. } | Extent::Uncounted => 0,
    }
}

/// Moves the start of domains so that no dimension begins within a tile: the preceding cells of the tile were never
/// written, and tiles are written whole.
fn align(schema: &mut ArraySchema, members: &Members) -> Result<Vec<NodePath>> {
    let domain = DenseDomain::of(schema)?;
    let sides = domain.origin.iter().zip(domain.shape.iter().zip(&domain.tile));
    let mut moved = Vec::new();
    for (((path, own), dimension), (origin, (all, tile))) in
        members.dimensions.iter().zip(&mut schema.domain.dimensions).zip(sides)
    {
        let behind = first(own.size, *all) % (*tile).max(1);
        if behind == 0 {
            continue;
        }
        let mut ends = integer(dimension.data_type, origin.saturating_add(behind.into()))?;
        ends.extend(dimension.domain.iter().skip(ends.len()));
        dimension.domain = ends;
        moved.push(path.clone());
    }
    Ok(moved)
}

/// An enumeration by its name: from the directives of the group, or with the labels of an attribute.
fn enumeration(members: &Members, name: &[u8]) -> Result<Enumeration> {
    let mut said = Directives::of(&members.group.storage);
    let known = said.map("enumerations")?.unwrap_or_default();
    if let Some((_, value)) = known.iter().find(|(own, _)| name_bytes(own) == name) {
        let Directive::Map(entries) = value else {
            return Err(Error::invalid(format!("{value}, expected datatype and values")));
        };
        return stated(name, &mut Directives::new("storage.tiledb.enumerations".to_owned(), entries));
    }
    for (path, own) in &members.attributes {
        let is_its = enumeration_of(path.name(), own)?.as_deref() == Some(name);
        let datatype = own.datatype.as_deref().map(|datatype| datatype.resolved().non_null());
        let Some(Datatype::Enum { members, .. }) = datatype.filter(|_| is_its) else { continue };
        if !members.iter().zip(0_i128..).all(|((_, value), number)| *value == number) {
            return Err(Error::unsupported("values that do not count from 0, as those of TileDB do"));
        }
        let labels: Vec<Vec<u8>> = members.iter().map(|(label, _)| name_bytes(label)).collect();
        return Ok(Enumeration::of_values(
            name.to_vec(),
            DataType::StringUtf8,
            CellValNum::Var,
            false,
            &labels,
        ));
    }
    Err(Error::invalid("no values"))
}

/// An enumeration as stated by a directive.
fn stated(name: &[u8], said: &mut Directives<'_>) -> Result<Enumeration> {
    let data_type = said.word("datatype", DataType::ALL, DataType::name)?;
    let data_type = data_type.ok_or_else(|| said.missing("datatype"))?;
    let ordered = said.boolean("ordered")?.unwrap_or(false);
    let Some(Directive::List(items)) = said.take("values") else { return Err(said.missing("values")) };
    let is_text = matches!(data_type, DataType::Char | DataType::StringAscii | DataType::StringUtf8);
    let values = if is_text { CellValNum::Var } else { CellValNum::ONE };
    let bytes = |item: &Directive| {
        value_bytes(data_type, values, item)
            .ok_or_else(|| Error::invalid(format!("value {item}, which {} does not hold", data_type.name())))
    };
    let items: Vec<Vec<u8>> = items.iter().map(bytes).collect::<Result<_>>()?;
    Ok(Enumeration::of_values(name.to_vec(), data_type, values, ordered, &items))
}

/// The maximum size of a cell in bytes.
pub(super) const MAX_CELL: u64 = 1 << 30;
