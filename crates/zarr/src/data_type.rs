//! Data types of the elements of an array.
//!
//! One type serves both versions. The properties of stored bytes, byte order and padding, are separate ([`ByteOrder`],
//! [`Field::offset`]); a [`Layout`] combines them for reading. Rows in memory have the form of
//! [`hyperslab_core::rows`]. A boolean is one byte, and UTF-32 has native byte order.
//!
//! Spec: Zarr v3 "Data types", zarr-extensions/data-types, Zarr v2 "Data type encoding"

pub mod base64;
mod dtype;
mod fill_value;
mod float;
mod layout;
mod structure;
mod time;

pub use dtype::Dtype;
pub use float::Float;
pub use layout::Layout;
pub use structure::{Field, Struct, TypeForm};
pub use time::TimeUnit;

pub(crate) use dtype::ObjectCodec;
pub(crate) use fill_value::FillRules;

use crate::json::{Json, Object, Spot};
use hyperslab_core::{Error, Result};

/// The type of one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataType {
    /// `bool`: a byte, 0 or 1.
    Bool,
    /// `int8` to `uint64`, and `int2`, `int4`, `uint2`, `uint4`, which take a byte each.
    Integer {
        /// Whether it may be negative.
        signed: bool,
        /// 2, 4, 8, 16, 32 or 64.
        bits: u8,
    },
    /// A floating-point number.
    Float(Float),
    /// A complex number of two floats of this format: real part, imaginary part.
    Complex(Float),
    /// `r*`, in NumPy `V`: raw bytes.
    Raw {
        /// The number of bytes.
        length: u64,
    },
    /// `null_terminated_bytes`, in NumPy `S`: bytes, padded with zeros.
    NullTerminatedBytes {
        /// The number of bytes.
        length: u64,
    },
    /// `fixed_length_utf32`, in NumPy `U`: code points, padded with zeros.
    FixedLengthUtf32 {
        /// The number of code points.
        length: u64,
    },
    /// `string`: variable-length UTF-8.
    String,
    /// `bytes`: variable-length bytes.
    Bytes,
    /// `numpy.datetime64`: the number of units since 1970-01-01. The minimum of int64 is `NaT` (not a time).
    DateTime64(TimeUnit),
    /// `numpy.timedelta64`: a number of units. The minimum of int64 is `NaT` (not a time).
    TimeDelta64(TimeUnit),
    /// `struct`: named fields.
    Struct(Struct),
    /// An array inside an element. Only fields of version 2 can have this type.
    Array {
        /// The type of its elements.
        element: Box<DataType>,
        /// Its shape.
        shape: Vec<u64>,
    },
}

/// The byte order of stored numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

impl DataType {
    /// Parses the `data_type` of version 3, with all known forms of structs.
    pub(crate) fn parse(json: &Json, at: &Spot<'_>) -> Result<DataType> {
        parse(json, 0, at)
    }

    /// The `data_type` of version 3. `order` is used only by forms that state the byte order.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for types without such a form: arrays inside
    /// elements, and, in the form of the draft of 2022, types that NumPy does not have.
    pub fn emit(&self, form: TypeForm, order: ByteOrder) -> Result<Json> {
        let with = |name: &str, configuration: Vec<(String, Json)>| {
            Json::Object(Object::from_iter([
                ("name".to_owned(), name.into()),
                ("configuration".to_owned(), Json::Object(configuration.into_iter().collect())),
            ]))
        };
        let length = |name: &str, bytes: u64| with(name, vec![("length_bytes".to_owned(), bytes.into())]);
        Ok(match self {
            DataType::Bool => "bool".into(),
            DataType::Integer { signed, bits } => integer_name(*signed, *bits).as_str().into(),
            DataType::Float(float) => float.name().into(),
            DataType::Complex(Float::Float32) => "complex64".into(),
            DataType::Complex(Float::Float64) => "complex128".into(),
            DataType::Complex(part) => format!("complex_{}", part.name()).as_str().into(),
            DataType::Raw { length: bytes } if form == TypeForm::Legacy => length("raw_bytes", *bytes),
            DataType::Raw { length } => format!("r{}", u128::from(*length) * 8).as_str().into(),
            DataType::NullTerminatedBytes { length: bytes } => length("null_terminated_bytes", *bytes),
            DataType::FixedLengthUtf32 { length: points } => {
                length("fixed_length_utf32", points.saturating_mul(4))
            }
            DataType::String => "string".into(),
            DataType::Bytes => "bytes".into(),
            DataType::DateTime64(unit) => with("numpy.datetime64", unit.emit()),
            DataType::TimeDelta64(unit) => with("numpy.timedelta64", unit.emit()),
            DataType::Struct(structure) => match form {
                TypeForm::Registered => with("struct", structure.emit(form, order)?),
                TypeForm::Legacy => with("structured", structure.emit(form, order)?),
                TypeForm::Seed => structure.emit_descr(order)?,
            },
            DataType::Array { .. } => {
                return Err(Error::unsupported(
                    "an array inside an element, for which version 3 has no type",
                ));
            }
        })
    }

    /// The size in bytes of one element stored by the codec `bytes`, including padding. `None` for variable-length types.
    pub fn stored_size(&self) -> Option<u64> {
        match self {
            DataType::Struct(structure) => Some(structure.stored_size()),
            DataType::Array { element, shape } => {
                shape.iter().try_fold(element.stored_size()?, |size, dim| size.checked_mul(*dim))
            }
            _ => self.scalar_size(),
        }
    }

    /// The size in bytes of one row in memory: the stored size without padding, or the size of a slot for variable-length
    /// types.
    pub fn row_size(&self) -> u64 {
        match self {
            DataType::String | DataType::Bytes => 16,
            DataType::Struct(structure) => structure
                .fields()
                .iter()
                .fold(0, |size, field| size.saturating_add(field.data_type.row_size())),
            DataType::Array { element, shape } => {
                shape.iter().fold(element.row_size(), |size, dim| size.saturating_mul(*dim))
            }
            _ => self.scalar_size().unwrap_or(16),
        }
    }

    /// The size in bytes of the units whose byte order is swapped, 1 if there is no byte order.
    pub(crate) fn swapped_together(&self) -> u8 {
        match self {
            DataType::Integer { bits, .. } => bits.div_ceil(8),
            DataType::Float(float) | DataType::Complex(float) => float.bytes(),
            DataType::FixedLengthUtf32 { .. } => 4,
            DataType::DateTime64(_) | DataType::TimeDelta64(_) => 8,
            _ => 1,
        }
    }

    fn scalar_size(&self) -> Option<u64> {
        Some(match self {
            DataType::Bool => 1,
            DataType::Integer { bits, .. } => u64::from(bits.div_ceil(8)),
            DataType::Float(float) => u64::from(float.bytes()),
            DataType::Complex(part) => 2 * u64::from(part.bytes()),
            DataType::Raw { length } | DataType::NullTerminatedBytes { length } => *length,
            DataType::FixedLengthUtf32 { length } => length.saturating_mul(4),
            DataType::DateTime64(_) | DataType::TimeDelta64(_) => 8,
            DataType::String | DataType::Bytes | DataType::Struct(_) | DataType::Array { .. } => return None,
        })
    }
}

/// Checks that the size of an element is from 1 to [`MAX_ELEMENT`] bytes.
pub(crate) fn check_size(data_type: &DataType, at: &Spot<'_>) -> Result<()> {
    let size = match data_type.stored_size() {
        Some(size) => size.max(data_type.row_size()),
        None if matches!(data_type, DataType::String | DataType::Bytes) => return Ok(()),
        None => return Err(at.too_large("elements of more than 2^64 bytes")),
    };
    match size {
        0 => Err(at.unsupported("elements of 0 bytes")),
        size if size > MAX_ELEMENT => {
            Err(at.too_large(format!("elements of {size} bytes, expected at most {MAX_ELEMENT}")))
        }
        _ => Ok(()),
    }
}

pub(super) fn parse(json: &Json, depth: u32, at: &Spot<'_>) -> Result<DataType> {
    if depth > at.limits().nesting {
        return Err(at.too_large(format!("types nested more than {} levels deep", at.limits().nesting)));
    }
    if let Json::Array(_) = json {
        return Struct::parse_bare(json, depth, at).map(DataType::Struct);
    }
    let (name, configuration, object) = match json {
        Json::String(name) => (name.as_str(), None, None),
        Json::Object(object) => {
            let name = object.required("name", at)?.text(&at.name("name"))?;
            (name, object.get("configuration"), Some(object))
        }
        other => return Err(other.is_not("a name or an object", at)),
    };
    if let Some(object) = object {
        if object.get("must_understand").is_some_and(|value| *value == Json::Bool(false)) {
            return Err(at.malformed("must_understand false, which is not allowed in a data type"));
        }
        for (other, _) in object.others(&["name", "configuration", "must_understand"]).iter() {
            at.deviates(format!("a member {other:?}, which is ignored"));
        }
    }
    let configured = at.name("configuration");
    let members = configuration.map(|json| json.object(&configured)).transpose()?;
    let needed = || members.ok_or_else(|| at.malformed(format!("{name:?} without a configuration")));
    let data_type = match name {
        "string" => DataType::String,
        "bytes" => DataType::Bytes,
        "variable_length_bytes" => {
            at.deviates("\"variable_length_bytes\", which is registered as \"bytes\"");
            DataType::Bytes
        }
        "struct" | "structured" => {
            let legacy = name == "structured";
            DataType::Struct(Struct::parse_configured(needed()?, legacy, depth, &configured)?)
        }
        "numpy.datetime64" => DataType::DateTime64(TimeUnit::parse(needed()?, &configured)?),
        "numpy.timedelta64" => DataType::TimeDelta64(TimeUnit::parse(needed()?, &configured)?),
        "fixed_length_utf32" => {
            let bytes = length_bytes(needed()?, &configured)?;
            if bytes % 4 != 0 {
                let here = configured.name("length_bytes");
                return Err(here.malformed(format!("{bytes}, expected a multiple of 4")));
            }
            DataType::FixedLengthUtf32 { length: bytes / 4 }
        }
        "null_terminated_bytes" => {
            DataType::NullTerminatedBytes { length: length_bytes(needed()?, &configured)? }
        }
        "raw_bytes" => DataType::Raw { length: length_bytes(needed()?, &configured)? },
        name => {
            if members.is_some_and(|members| !members.is_empty()) {
                return Err(configured.unsupported(format!("a configuration of {name:?}")));
            }
            plain(name).ok_or_else(|| at.unsupported(format!("data type {name:?}")))?
        }
    };
    check_size(&data_type, at)?;
    Ok(data_type)
}

/// The type with this name and without a configuration.
fn plain(name: &str) -> Option<DataType> {
    if name == "bool" {
        return Some(DataType::Bool);
    }
    if let Some(float) = Float::named(name) {
        return Some(DataType::Float(float));
    }
    if let Some(rest) = name.strip_prefix("complex") {
        return match rest {
            "64" => Some(DataType::Complex(Float::Float32)),
            "128" => Some(DataType::Complex(Float::Float64)),
            rest => Float::named(rest.strip_prefix('_')?).map(DataType::Complex),
        };
    }
    if let Some(bits) = name.strip_prefix('r') {
        let bits: u64 = bits.parse().ok().filter(|_| bits.bytes().all(|byte| byte.is_ascii_digit()))?;
        return bits.is_multiple_of(8).then_some(DataType::Raw { length: bits / 8 });
    }
    let (signed, bits) = match name.strip_prefix("int") {
        Some(bits) => (true, bits),
        None => (false, name.strip_prefix("uint")?),
    };
    let bits = match bits {
        "2" => 2,
        "4" => 4,
        "8" => 8,
        "16" => 16,
        "32" => 32,
        "64" => 64,
        _ => return None,
    };
    Some(DataType::Integer { signed, bits })
}

fn integer_name(signed: bool, bits: u8) -> String {
    format!("{}int{bits}", if signed { "" } else { "u" })
}

fn length_bytes(members: &Object, at: &Spot<'_>) -> Result<u64> {
    let here = at.name("length_bytes");
    match members.required("length_bytes", at)?.unsigned(&here)? {
        0 => Err(here.malformed("0, expected 1 or more")),
        length => Ok(length),
    }
}

/// The maximum size of one element in bytes. A document of a few bytes can claim any size, and a fill value has that
/// size.
pub(crate) const MAX_ELEMENT: u64 = 1 << 24;

#[cfg(test)]
mod tests;
