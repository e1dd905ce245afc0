//! What all NetCDF formats have in common: fill values, missing values and strings, and the NetCDF form of objects of
//! the model (`variable`, `datatype`, `attribute`), with their names, dimensions and user-defined types.

pub(super) mod array;
pub(super) mod attribute;
pub(super) mod datatype;
pub(super) mod dimension;
pub(super) mod flavour;
pub(super) mod hoisted;
pub(super) mod lowerings;
pub(super) mod name;
pub(super) mod record;
pub(super) mod user_types;
pub(super) mod variable;

use hyperslab_core::rows::Heap;
use hyperslab_model::{
    Attribute, CharacterSet, Datatype, ElementStorage, Fill, Float, Length, Pad, Text, Values,
};
use hyperslab_netcdf4::NumberType;
use std::sync::Arc;

/// The default fill value of NetCDF for a datatype, as one row in memory; `None` for zeros.
pub(super) fn default_fill(datatype: &Datatype) -> Option<Vec<u8>> {
    let number = match datatype {
        Datatype::Int { bits, signed } => NumberType::integer(*bits, *signed)?,
        Datatype::Float(Float::Single) => NumberType::Float,
        Datatype::Float(Float::Double) => NumberType::Double,
        Datatype::Enum { base, .. } => return default_fill(base),
        _ => return None,
    };
    Some(number.default_fill())
}

/// The value that readers of NetCDF treat as missing although no attribute marks it.
pub(super) fn missing(datatype: &Datatype, fill: &Fill) -> Option<Vec<u8>> {
    match fill {
        // For one-byte types, every value can be data; ncdump treats none as missing.
        _ if datatype.row_size() == Some(1) => None,
        Fill::Default => default_fill(datatype),
        Fill::Value(_) | Fill::Undefined => None,
    }
}

/// A string of `len` bytes.
pub(super) fn characters(len: u32) -> (Datatype, ElementStorage) {
    let pad = Pad::NulTerminated;
    let storage = ElementStorage {
        charset: Some(CharacterSet::Ascii),
        length: Some(Length::Fixed(len)),
        pad: Some(pad),
        ..ElementStorage::default()
    };
    (Datatype::String(Text::Fixed { len, pad }), storage)
}

/// An empty text attribute, which the formats store without any element.
pub(super) fn empty_text() -> Attribute {
    let (datatype, storage) = characters(1);
    let value = Values { rows: vec![0].into(), heap: Heap::default() };
    Attribute { shape: Some(Vec::new()), datatype: Arc::new(datatype), value, storage, native: Vec::new() }
}

/// The first word of a CDL document.
pub(crate) const FIRST_WORD_OF_CDL: &str = "netcdf";

/// Names that the NetCDF library reserves for itself and never shows as attributes.
pub(crate) const RESERVED_ATTRIBUTES: &[&str] = &[
    "CLASS",
    "DIMENSION_LIST",
    "NAME",
    "REFERENCE_LIST",
    "_ARRAY_DIMENSIONS",
    "_Codecs",
    "_Format",
    "_IsNetcdf4",
    "_NCProperties",
    "_NCZARR_ATTR",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_SuperblockVersion",
    "_nc3_strict",
];
