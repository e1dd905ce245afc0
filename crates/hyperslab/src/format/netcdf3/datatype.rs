//! Converts datatypes and attributes to the model, as the NetCDF library converts them to NetCDF-4.

use super::super::netcdf::{characters, empty_text};
use super::objects::text;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Attribute, Attributes, Datatype, ElementStorage, Float, Text, Values};
use hyperslab_netcdf3::{DataType, to_big_endian, to_native};
use std::sync::Arc;

/// The datatype of an element and its storage. The byte order is not stated, since the format is always big-endian.
pub(super) fn datatype(from: DataType) -> (Datatype, ElementStorage) {
    let datatype = match from {
        DataType::Byte => Datatype::int(8, true),
        DataType::Short => Datatype::int(16, true),
        DataType::Int => Datatype::int(32, true),
        DataType::Int64 => Datatype::int(64, true),
        DataType::UByte => Datatype::int(8, false),
        DataType::UShort => Datatype::int(16, false),
        DataType::UInt => Datatype::int(32, false),
        DataType::UInt64 => Datatype::int(64, false),
        DataType::Float => Datatype::Float(Float::Single),
        DataType::Double => Datatype::Float(Float::Double),
        DataType::Char => return characters(1),
    };
    (datatype, ElementStorage::default())
}

/// The element type for a datatype; `None` if no version of the format has it.
pub(in crate::format) fn data_type(of: &Datatype) -> Option<DataType> {
    match of {
        Datatype::String(Text::Fixed { .. }) => Some(DataType::Char),
        _ => DataType::ALL.into_iter().find(|known| datatype(*known).0 == *of),
    }
}

/// The attributes by name; if names are equal, the first counts. A string is a scalar, as is any other single value.
pub(super) fn attributes(from: &[hyperslab_netcdf3::Attribute]) -> Attributes {
    let mut attributes = Attributes::with_capacity(from.len());
    for stored in from {
        attributes.entry(text(&stored.name)).or_insert_with(|| Ok(attribute(stored)));
    }
    attributes
}

/// An attribute in its stored form.
///
/// # Errors
/// If no version of the format has its type.
pub(super) fn stored_attribute(name: &str, from: &Attribute) -> Result<hyperslab_netcdf3::Attribute> {
    let data_type = data_type(&from.datatype)
        .ok_or_else(|| Error::unsupported(format!("attribute of {}", from.datatype)))?;
    let mut values = match from.shape {
        Some(_) => from.value.rows.to_vec(),
        None => Vec::new(),
    };
    to_big_endian(&mut values, data_type.size());
    Ok(hyperslab_netcdf3::Attribute { name: name.as_bytes().to_vec(), data_type, values })
}

fn attribute(from: &hyperslab_netcdf3::Attribute) -> Attribute {
    let mut rows = from.values.clone();
    to_native(&mut rows, from.data_type.size());
    let count = rows.len() / from.data_type.size();
    let (datatype, storage) = match (from.data_type, u32::try_from(count)) {
        (DataType::Char, Ok(len @ 1..)) => characters(len),
        (other, _) => datatype(other),
    };
    if from.data_type == DataType::Char && count == 0 {
        return empty_text();
    }
    let shape = match (from.data_type, count) {
        (DataType::Char, _) | (_, 1) => Vec::new(),
        (_, count) => vec![count as u64],
    };
    let value = Values { rows: rows.into(), heap: Heap::default() };
    Attribute { shape: Some(shape), datatype: Arc::new(datatype), value, storage, native: Vec::new() }
}
