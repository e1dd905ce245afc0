//! Converts datatypes of attributes, dimensions and metadata to the model and back.

use super::objects::ArrayObject;
use crate::strings::name_text;
use hyperslab_core::{Error, Result};
use hyperslab_model::{CharacterSet, Datatype, ElementStorage, Float, Length, Pad, Text, TimeUnit};
use hyperslab_tiledb::array::Array;
use hyperslab_tiledb::format::array_schema::Attribute;
use hyperslab_tiledb::format::data_type::{CellValNum, DataType};
use hyperslab_tiledb::format::enumeration::Enumeration;

impl ArrayObject {
    /// The datatype of an attribute, and how its elements are stored.
    ///
    /// # Errors
    /// If its enumeration cannot be read.
    pub(super) fn datatype(&self, attribute: &Attribute) -> Result<(Datatype, ElementStorage)> {
        let (mut datatype, storage) = data_type(attribute.data_type, attribute.cell_val_num);
        if let Some(name) = &attribute.enumeration
            && let Datatype::Int { .. } = datatype
        {
            let enumeration = self.array.enumeration(name)?;
            if let Some(members) = members(&enumeration) {
                datatype = Datatype::Enum { base: Box::new(datatype), members };
            }
        }
        if attribute.nullable {
            datatype = Datatype::Nullable(Box::new(datatype));
        }
        Ok((datatype, storage))
    }

    /// Whether the cells of an attribute represent values of an enumeration of numbers.
    ///
    /// # Errors
    /// If its enumeration cannot be read.
    pub(super) fn has_enumerated_numbers(&self, attribute: &Attribute) -> Result<bool> {
        let Some(name) = &attribute.enumeration else { return Ok(false) };
        Ok(!self.array.enumeration(name)?.data_type.is_text())
    }
}

/// Whether the enumeration of an attribute states that its values are ordered.
pub(super) fn is_ordered(array: &Array, attribute: &Attribute) -> bool {
    let enumeration = attribute.enumeration.as_ref().and_then(|name| array.enumeration(name).ok());
    enumeration.is_some_and(|enumeration| enumeration.ordered)
}

/// The names of the values of an enumeration of strings. `None` for an enumeration of other values, which attributes
/// show as numbers.
pub(super) fn members(enumeration: &Enumeration) -> Option<Vec<(String, i128)>> {
    if !enumeration.data_type.is_text() {
        return None;
    }
    let values = enumeration.values()?;
    Some(values.zip(0..).map(|(value, number)| (name_text(value), number)).collect())
}

/// A datatype in the model.
pub(super) fn data_type(data_type: DataType, values: CellValNum) -> (Datatype, ElementStorage) {
    if let Some(charset) = charset(data_type) {
        let (text, length) = match values {
            CellValNum::Var => (Text::Variable, Length::Variable),
            CellValNum::Fixed(len) => (Text::Fixed { len, pad: Pad::Nul }, Length::Fixed(len)),
        };
        let pad = matches!(values, CellValNum::Fixed(_)).then_some(Pad::Nul);
        let storage = ElementStorage { charset, length: Some(length), pad, ..ElementStorage::default() };
        return (Datatype::String(text), storage);
    }
    let datatype = match (data_type, values) {
        (DataType::Blob | DataType::GeomWkb | DataType::Any, CellValNum::Fixed(size)) => {
            Datatype::Opaque { size, tag: String::new() }
        }
        (_, CellValNum::ONE) => value_type(data_type),
        (_, CellValNum::Fixed(count)) => {
            Datatype::Array { base: Box::new(value_type(data_type)), shape: vec![count.into()] }
        }
        (_, CellValNum::Var) => Datatype::Vlen(Box::new(value_type(data_type))),
    };
    (datatype, ElementStorage::default())
}

/// The character set of strings; `None` if values are not bytes of a string, `Some(None)` if it is not known.
fn charset(data_type: DataType) -> Option<Option<CharacterSet>> {
    match data_type {
        DataType::Char => Some(None),
        DataType::StringAscii => Some(Some(CharacterSet::Ascii)),
        DataType::StringUtf8 | DataType::GeomWkt => Some(Some(CharacterSet::Utf8)),
        _ => None,
    }
}

/// The type of one value. Code units of strings are numbers, except for bytes.
fn value_type(data_type: DataType) -> Datatype {
    let time = |unit: &str, duration| Datatype::Datetime(TimeUnit { unit: unit.to_owned(), duration });
    match data_type {
        DataType::Int8 => Datatype::int(8, true),
        DataType::Int16 => Datatype::int(16, true),
        DataType::Int32 => Datatype::int(32, true),
        DataType::Int64 => Datatype::int(64, true),
        DataType::UInt16 | DataType::StringUtf16 | DataType::StringUcs2 => Datatype::int(16, false),
        DataType::UInt32 | DataType::StringUtf32 | DataType::StringUcs4 => Datatype::int(32, false),
        DataType::UInt64 => Datatype::int(64, false),
        DataType::Float32 => Datatype::Float(Float::Single),
        DataType::Float64 => Datatype::Float(Float::Double),
        DataType::Bool => Datatype::Bool,
        DataType::DatetimeYear => time("Y", false),
        DataType::DatetimeMonth => time("M", false),
        DataType::DatetimeWeek => time("W", false),
        DataType::DatetimeDay => time("D", false),
        DataType::DatetimeHr => time("h", false),
        DataType::DatetimeMin => time("m", false),
        DataType::DatetimeSec => time("s", false),
        DataType::DatetimeMs => time("ms", false),
        DataType::DatetimeUs => time("us", false),
        DataType::DatetimeNs => time("ns", false),
        DataType::DatetimePs => time("ps", false),
        DataType::DatetimeFs => time("fs", false),
        DataType::DatetimeAs => time("as", false),
        DataType::TimeHr => time("h", true),
        DataType::TimeMin => time("m", true),
        DataType::TimeSec => time("s", true),
        DataType::TimeMs => time("ms", true),
        DataType::TimeUs => time("us", true),
        DataType::TimeNs => time("ns", true),
        DataType::TimePs => time("ps", true),
        DataType::TimeFs => time("fs", true),
        DataType::TimeAs => time("as", true),
        DataType::UInt8
        | DataType::Char
        | DataType::StringAscii
        | DataType::StringUtf8
        | DataType::Any
        | DataType::Blob
        | DataType::GeomWkb
        | DataType::GeomWkt => Datatype::int(8, false),
    }
}

/// The datatype as a directive, where the model has only one for several: strings without a stated character set, code
/// units, geometries.
pub(super) fn directive(of: DataType) -> Option<&'static str> {
    match of {
        DataType::Char
        | DataType::StringUtf16
        | DataType::StringUtf32
        | DataType::StringUcs2
        | DataType::StringUcs4
        | DataType::Any
        | DataType::Blob
        | DataType::GeomWkb
        | DataType::GeomWkt => Some(of.name()),
        _ => None,
    }
}

/// The TileDB datatype, and the number of values per cell, for elements of a type of the model. `named` is the datatype
/// that a directive states.
///
/// # Errors
/// If TileDB has no such datatype, or `named` is a different one.
pub(super) fn stored(
    datatype: &Datatype,
    element: &ElementStorage,
    named: Option<DataType>,
) -> Result<(DataType, CellValNum)> {
    let datatype = datatype.resolved();
    let fixed = |count: u64| u32::try_from(count).ok().map(CellValNum::Fixed);
    let values = match datatype {
        Datatype::String(Text::Variable) | Datatype::Vlen(_) => Some(CellValNum::Var),
        Datatype::String(Text::Fixed { len: count, .. }) | Datatype::Opaque { size: count, .. } => {
            Some(CellValNum::Fixed(*count))
        }
        Datatype::Array { shape, .. } => match shape.as_slice() {
            [count] => fixed(*count),
            _ => None,
        },
        _ => Some(CellValNum::ONE),
    };
    let charset = match datatype {
        Datatype::String(_) => element.charset.or(Some(CharacterSet::Utf8)),
        _ => None,
    };
    let has = |of: DataType, values| is_same(&data_type(of, values).0, datatype);
    let found = values.and_then(|values| {
        let found = match (named, datatype) {
            (Some(named), _) => Some(named).filter(|named| has(*named, values)),
            (None, Datatype::Opaque { .. }) => Some(DataType::Blob).filter(|blob| has(*blob, values)),
            (None, _) => DataType::ALL.into_iter().find(|of| {
                let own = self::charset(*of).flatten();
                directive(*of).is_none() && own == charset && has(*of, values)
            }),
        };
        Some((found?, values))
    });
    found.ok_or_else(|| match named {
        Some(named) => Error::invalid(format!("type {datatype}, expected one of {}", named.name())),
        None => Error::unsupported(format!("type {datatype}, which TileDB does not have")),
    })
}

/// Whether types are the same for TileDB, which pads fixed-length strings with NULs.
fn is_same(one: &Datatype, other: &Datatype) -> bool {
    match (one.resolved(), other.resolved()) {
        (
            Datatype::String(Text::Fixed { len: one, .. }),
            Datatype::String(Text::Fixed { len: other, .. }),
        ) => one == other,
        (Datatype::Vlen(one), Datatype::Vlen(other)) => is_same(one, other),
        (Datatype::Array { base: one, shape }, Datatype::Array { base: other, shape: other_shape }) => {
            shape == other_shape && is_same(one, other)
        }
        (one, other) => one == other,
    }
}
