//! The `dtype` of version 2: type strings and lists of fields, as in NumPy.
//!
//! Spec: Zarr v2 "Data type encoding", NumPy "The array interface protocol"

use super::{ByteOrder, DataType, Float, Layout, Struct, TimeUnit, base64, check_size};
use crate::json::{Json, Spot};
use hyperslab_core::{Error, Result};

/// A data type and the byte order of its stored numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dtype {
    /// The data type.
    pub data_type: DataType,
    /// The byte order. `None` for single bytes. Fields of structs can have their own.
    pub byte_order: Option<ByteOrder>,
}

/// The type of the elements of a `|O` array, which its first filter determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectCodec {
    /// `vlen-utf8`, and `json2` if all elements are strings
    Utf8,
    /// `vlen-bytes`
    Bytes,
}

impl Dtype {
    pub(crate) fn parse(json: &Json, objects: Option<ObjectCodec>, at: &Spot<'_>) -> Result<Dtype> {
        let dtype = match (json, objects) {
            (Json::String(text), Some(codec)) if text == "|O" => {
                let data_type = match codec {
                    ObjectCodec::Utf8 => DataType::String,
                    ObjectCodec::Bytes => DataType::Bytes,
                };
                Dtype { data_type, byte_order: None }
            }
            (Json::String(text), _) => Dtype::parse_text(text, at)?,
            (Json::Array(_), _) => {
                let fields =
                    Struct::parse_tuples(json, 0, at, &|leaf, _, at| Dtype::parse_text(leaf.text(at)?, at))?;
                Dtype { data_type: DataType::Struct(fields), byte_order: None }
            }
            (other, _) => return Err(other.is_not("a string or a list of fields", at)),
        };
        check_size(&dtype.data_type, at)?;
        Ok(dtype)
    }

    /// A type string such as `<f4`.
    pub(super) fn parse_text(text: &str, at: &Spot<'_>) -> Result<Dtype> {
        // For types without a letter in NumPy, tensorstore writes the name.
        if let Some(data_type) = named(text) {
            return Ok(Dtype { data_type, byte_order: Some(ByteOrder::Little) });
        }
        let (order, rest) = match text.split_at_checked(1) {
            Some(("<", rest)) => (Some(ByteOrder::Little), rest),
            Some((">", rest)) => (Some(ByteOrder::Big), rest),
            Some(("|", rest)) => (None, rest),
            _ => return Err(at.malformed(format!("{text:?}, expected <, > or | and a type"))),
        };
        let data_type = parse_kind(rest, text, at)?;
        check_size(&data_type, at)?;
        let byte_order = match (data_type.swapped_together(), order) {
            (1, _) => None,
            (_, Some(order)) => Some(order),
            (_, None) => return Err(at.malformed(format!("{text:?} without a byte order"))),
        };
        Ok(Dtype { data_type, byte_order })
    }

    /// The `dtype` of version 2.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for types that NumPy does not have.
    pub fn emit(&self) -> Result<Json> {
        Dtype::emit_type(&self.data_type, self.byte_order.unwrap_or(ByteOrder::Little))
    }

    /// A fill value in the form of version 2: like version 3, but bytes and structs are the stored bytes in base64.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if `row` is not an element of
    /// this type.
    pub fn emit_fill(&self, row: &[u8]) -> Result<Json> {
        if !matches!(self.data_type, DataType::Raw { .. } | DataType::Struct(_) | DataType::Array { .. }) {
            return self.data_type.emit_fill(row);
        }
        let layout = Layout::new(&self.data_type, self.byte_order.or(Some(ByteOrder::Little)))?;
        if row.len() != layout.row_size() {
            return Err(Error::invalid(format!(
                "{} bytes, expected an element of {:?}",
                row.len(),
                self.data_type
            )));
        }
        let mut stored = vec![0; layout.stored_size()];
        layout.encode(row, &mut stored)?;
        Ok(base64::encode(&stored).as_str().into())
    }

    pub(super) fn emit_type(data_type: &DataType, order: ByteOrder) -> Result<Json> {
        let mark = match (data_type.swapped_together(), order) {
            (1, _) => '|',
            (_, ByteOrder::Little) => '<',
            (_, ByteOrder::Big) => '>',
        };
        let text = match data_type {
            DataType::Struct(structure) => return structure.emit_descr(order),
            DataType::Bool => "b1".to_owned(),
            DataType::Integer { signed, bits: bits @ (8 | 16 | 32 | 64) } => {
                format!("{}{}", if *signed { 'i' } else { 'u' }, bits / 8)
            }
            DataType::Float(float @ (Float::Float16 | Float::Float32 | Float::Float64)) => {
                format!("f{}", float.bytes())
            }
            DataType::Complex(part @ (Float::Float32 | Float::Float64)) => format!("c{}", 2 * part.bytes()),
            DataType::Raw { length } => format!("V{length}"),
            DataType::NullTerminatedBytes { length } => format!("S{length}"),
            DataType::FixedLengthUtf32 { length } => format!("U{length}"),
            DataType::String | DataType::Bytes => "O".to_owned(),
            DataType::DateTime64(unit) => format!("M8{}", unit.emit_dtype()),
            DataType::TimeDelta64(unit) => format!("m8{}", unit.emit_dtype()),
            other => return Err(Error::unsupported(format!("{other:?}, for which NumPy has no type"))),
        };
        Ok(format!("{mark}{text}").as_str().into())
    }
}

fn parse_kind(rest: &str, text: &str, at: &Spot<'_>) -> Result<DataType> {
    let kind = rest.get(..1).unwrap_or_default();
    let size_text = rest.get(1..).unwrap_or_default();
    let times = |text: &str| text.strip_prefix('8').and_then(TimeUnit::parse_dtype);
    let length = || {
        let digits = !size_text.is_empty() && size_text.bytes().all(|byte| byte.is_ascii_digit());
        size_text.parse::<u64>().ok().filter(|_| digits)
    };
    let found = match (kind, size_text) {
        ("b", "1") => Some(DataType::Bool),
        ("i" | "u", "1" | "2" | "4" | "8") => length()
            .and_then(|bytes| u8::try_from(bytes).ok())
            .map(|bytes| DataType::Integer { signed: kind == "i", bits: 8 * bytes }),
        ("f", "2") => Some(DataType::Float(Float::Float16)),
        ("f", "4") => Some(DataType::Float(Float::Float32)),
        ("f", "8") => Some(DataType::Float(Float::Float64)),
        ("c", "8") => Some(DataType::Complex(Float::Float32)),
        ("c", "16") => Some(DataType::Complex(Float::Float64)),
        ("S" | "a", _) => length().map(|length| DataType::NullTerminatedBytes { length }),
        ("U", _) => length().map(|length| DataType::FixedLengthUtf32 { length }),
        ("V", _) => length().map(|length| DataType::Raw { length }),
        ("M", size) => times(size).map(DataType::DateTime64),
        ("m", size) => times(size).map(DataType::TimeDelta64),
        ("O", _) => {
            return Err(
                at.unsupported(format!("{text:?} without a filter that gives the type of its objects"))
            );
        }
        _ => None,
    };
    found.ok_or_else(|| at.unsupported(format!("data type {text:?}")))
}

fn named(text: &str) -> Option<DataType> {
    match text {
        "bfloat16" => Some(DataType::Float(Float::Bfloat16)),
        "int2" => Some(DataType::Integer { signed: true, bits: 2 }),
        "int4" => Some(DataType::Integer { signed: true, bits: 4 }),
        "uint2" => Some(DataType::Integer { signed: false, bits: 2 }),
        "uint4" => Some(DataType::Integer { signed: false, bits: 4 }),
        text if text.starts_with("float8_") => Float::named(text).map(DataType::Float),
        _ => None,
    }
}
