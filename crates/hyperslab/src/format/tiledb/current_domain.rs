//! Current domains, the part of the domain that may be written, converted in both directions. The current domain of a
//! dense array is given by the sizes of its dimensions if these begin with the domain; any other current domain is a
//! directive.

use super::datatype::data_type;
use super::dimensions::domain;
use super::directives::{Directives, real, single};
use crate::source::Counted;
use crate::strings::{name_bytes, name_text};
use hyperslab_core::Result;
use hyperslab_core::rows::Heap;
use hyperslab_model::{Datatype, Directive, Element, Elements, Extent, Float, Values};
use hyperslab_tiledb::format::array_schema::{ArraySchema, CurrentDomain, Dimension};
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::fragment_metadata::mbr::{Mbr, Range};
use hyperslab_tiledb::format::layout::ArrayType;

/// The directives for the current domain of an array, whose dimensions have these extents.
pub(super) fn directives(schema: &ArraySchema, extents: &[Extent]) -> Vec<(String, Directive)> {
    let Some(current) = &schema.current_domain else { return Vec::new() };
    let mut directives = Vec::new();
    if current.rectangle != told(schema.array_type, &schema.domain.dimensions, extents) {
        let ranges = current.rectangle.as_ref().map(|rectangle| ranges(schema, rectangle));
        directives.push((CURRENT_DOMAIN.to_owned(), ranges.unwrap_or(Directive::Null)));
    }
    if current.version != CurrentDomain::EMPTY.version {
        directives.push((VERSION.to_owned(), Directive::Int(current.version.into())));
    }
    directives
}

/// The current domain stated by directives, or otherwise by the sizes of dimensions.
///
/// # Errors
/// If a directive does not state a current domain.
pub(super) fn parse(
    said: &mut Directives<'_>,
    array_type: ArrayType,
    dimensions: &[Dimension],
    extents: &[Extent],
) -> Result<CurrentDomain> {
    let rectangle = match said.take(CURRENT_DOMAIN) {
        None => told(array_type, dimensions, extents),
        Some(Directive::Null) => None,
        Some(value) => Some(rectangle(dimensions, value).ok_or_else(|| {
            said.wrong(
                CURRENT_DOMAIN,
                value,
                "for each dimension a list of the least and the greatest coordinate",
            )
        })?),
    };
    let mut current = CurrentDomain { rectangle, ..CurrentDomain::EMPTY.clone() };
    said.set_int(VERSION, &mut current.version)?;
    Ok(current)
}

/// The current domain of a dense array, as given by the sizes of its dimensions: all cells that the dimensions have
/// now. `None` if they are all cells of the domain.
fn told(array_type: ArrayType, dimensions: &[Dimension], extents: &[Extent]) -> Option<Mbr> {
    if array_type == ArrayType::Sparse || extents.iter().all(Extent::is_fixed) {
        return None;
    }
    let range = |(dimension, extent): (&Dimension, &Extent)| {
        let (datatype, _) = data_type(dimension.data_type, dimension.cell_val_num);
        let (low, high) = Counted::ends(&datatype, &domain(dimension))?;
        let high = match extent {
            Extent::Fixed(_) => high,
            // A range cannot express that no cells may be written.
            extent => low.checked_add(extent.current().checked_sub(1)?.into())?,
        };
        let bytes = |end: i128| integer(dimension.data_type, end);
        Some(Range { min: bytes(low)?, max: bytes(high)? })
    };
    let ranges = dimensions.iter().zip(extents).map(range).collect::<Option<_>>()?;
    Some(Mbr { ranges })
}

fn ranges(schema: &ArraySchema, rectangle: &Mbr) -> Directive {
    let range = |(of, range): (&Dimension, &Range)| {
        Directive::List([&range.min, &range.max].map(|end| value(of.data_type, of.cell_val_num, end)).into())
    };
    Directive::List(schema.domain.dimensions.iter().zip(&rectangle.ranges).map(range).collect())
}

fn rectangle(dimensions: &[Dimension], value: &Directive) -> Option<Mbr> {
    let Directive::List(items) = value else { return None };
    let range = |(of, item): (&Dimension, &Directive)| {
        let Directive::List(ends) = item else { return None };
        let [min, max] = ends.as_slice() else { return None };
        Some(Range { min: bytes(of, min)?, max: bytes(of, max)? })
    };
    let ranges = dimensions.iter().zip(items).map(range).collect::<Option<_>>()?;
    (items.len() == dimensions.len()).then_some(Mbr { ranges })
}

/// A coordinate, or a value of an enumeration, as a directive.
pub(super) fn value(data_type: DataType, values: CellValNum, bytes: &[u8]) -> Directive {
    if values.is_var() {
        return Directive::Text(name_text(bytes));
    }
    let (datatype, _) = super::datatype::data_type(data_type, values);
    let value = Values { rows: bytes.to_vec().into(), heap: Heap::default() };
    match Elements::new(&datatype, &value).next().map(|one| one.get()) {
        Some(Element::Int(number)) => Directive::Int(number),
        Some(Element::Float(number)) => Directive::Float(number),
        _ => Directive::Null,
    }
}

/// The bytes of a coordinate. `None` if the dimension cannot have it.
fn bytes(of: &Dimension, value: &Directive) -> Option<Vec<u8>> {
    value_bytes(of.data_type, of.cell_val_num, value)
}

/// The bytes of a value made by [`value`]. `None` if the datatype cannot represent it.
pub(super) fn value_bytes(of: DataType, values: CellValNum, value: &Directive) -> Option<Vec<u8>> {
    if values.is_var() {
        let Directive::Text(text) = value else { return None };
        return Some(name_bytes(text));
    }
    let of_real = |number: f64| match data_type(of, values).0 {
        Datatype::Float(Float::Single) => Some(single(number).to_le_bytes().to_vec()),
        Datatype::Float(Float::Double) => Some(number.to_le_bytes().to_vec()),
        _ => None,
    };
    match *value {
        Directive::Int(number) => integer(of, number),
        _ => None,
    }
    .or_else(|| of_real(real(value)?))
}

/// The bytes of an integer. `None` if the datatype does not represent integers, or not this one.
pub(super) fn integer(of: DataType, number: i128) -> Option<Vec<u8>> {
    let (bits, signed) = match data_type(of, CellValNum::ONE).0 {
        Datatype::Int { bits, signed } => (u32::from(bits), signed),
        Datatype::Datetime(_) => (i64::BITS, true),
        _ => return None,
    };
    let range = match signed {
        true => -(1 << (bits - 1))..1_i128 << (bits - 1),
        false => 0..1 << bits,
    };
    let bytes = number.to_le_bytes().get(..of.size())?.to_vec();
    range.contains(&number).then_some(bytes)
}

const CURRENT_DOMAIN: &str = "current_domain";

/// The version of the structure, which differs from that of the schema.
const VERSION: &str = "current_domain_version";
