//! Codecs of numcodecs that change elements, and with them the data type.
//!
//! They see elements as they lie in memory, under whatever type their parameters say, and give others in row-major
//! order.
//!
//! Spec: numcodecs, zarr-extensions/codecs/bitround

use crate::data_type::{ByteOrder, DataType, Float, Layout};
use crate::json::{Json, Object, Spot};
use hyperslab_codec::{
    AsType, BitRound, Codec, Delta, FixedScaleOffset, Number, NumberKind, PackBits, Quantize, Scratch,
    decode, encode,
};
use hyperslab_core::memory::room;
use hyperslab_core::nd::element_count;
use hyperslab_core::{Error, Result};

/// One of these codecs as a step of version 3, where elements are rows before and after.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    codec: Codec,
    /// How elements lie in memory before and after.
    before: Layout,
    after: Layout,
}

/// Elements in memory.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) data_type: DataType,
    pub(super) order: ByteOrder,
}

impl Elements {
    /// The step, and what it makes of elements.
    pub(super) fn new(codec: Codec, before: &Memory, at: &Spot<'_>) -> Result<(Elements, Memory)> {
        let wrong = |e: Error| at.malformed(e.detail());
        let after = match made(&codec) {
            Some(number) => memory(number),
            None => before.clone(),
        };
        let layout = |memory: &Memory| Layout::new(&memory.data_type, Some(memory.order)).map_err(wrong);
        let elements = Elements { codec, before: layout(before)?, after: layout(&after)? };
        let read = taken(&elements.codec).map_or(1, Number::size);
        match elements.before.stored_size() {
            found if found.is_multiple_of(read) && (found == read || keeps(&elements.codec)) => {
                Ok((elements, after))
            }
            found => Err(at.malformed(format!("elements of {read} bytes, those of the array have {found}"))),
        }
    }

    pub(super) fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The dimensions of what comes out of so many.
    pub(super) fn rank(&self, rank: usize) -> usize {
        if matches!(self.codec, Codec::PackBits(_)) { 1 } else { rank }
    }

    /// The shape and the bytes of a row of what comes out.
    pub(super) fn shape(&self, shape: &[u64]) -> Result<(Vec<u64>, usize)> {
        let shape = match self.codec {
            Codec::PackBits(_) => {
                let count =
                    element_count(shape).ok_or_else(|| Error::malformed("a chunk beyond all memory"))?;
                vec![count.div_ceil(8) + 1]
            }
            _ => shape.to_vec(),
        };
        Ok((shape, self.after.row_size()))
    }

    /// Undoes it to rows.
    pub(super) fn undo(&self, changed: &[u8], rows: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let codecs = std::slice::from_ref(&self.codec);
        let mut stored = Vec::new();
        let changed = in_memory(&self.after, changed, &mut stored)?;
        if self.before.is_plain() {
            return decode(codecs, changed, rows, scratch);
        }
        let mut raw = vec![0; rows.len() / self.before.row_size() * self.before.stored_size()];
        decode(codecs, changed, &mut raw, scratch)?;
        self.before.decode(&raw, rows)
    }

    pub(super) fn apply(&self, rows: &[u8], scratch: &mut Scratch) -> Result<Vec<u8>> {
        let mut raw = Vec::new();
        let changed =
            encode(std::slice::from_ref(&self.codec), in_memory(&self.before, rows, &mut raw)?, scratch)?;
        if self.after.is_plain() {
            return Ok(changed);
        }
        let mut rows = vec![0; changed.len() / self.after.stored_size() * self.after.row_size()];
        self.after.decode(&changed, &mut rows)?;
        Ok(rows)
    }
}

/// A codec by its name in numcodecs; none if it is none of these. `current` is what the elements are numbers of, if
/// they are.
pub(super) fn parse(
    id: &str,
    parameters: &Object,
    current: Option<Number>,
    at: &Spot<'_>,
) -> Result<Option<Codec>> {
    let number = |name: &str, default: Option<Number>| match (parameters.get(name), default) {
        (None | Some(Json::Null), Some(default)) => Ok(default),
        (None | Some(Json::Null), None) => Err(at.malformed(format!("no {name:?}"))),
        (Some(json), _) => parse_number(json, &at.name(name)),
    };
    let wrong = |e: Error| at.malformed(e.detail());
    Ok(Some(match id {
        "delta" => {
            let decoded = number("dtype", current)?;
            let encoded = number("astype", Some(decoded))?;
            match (decoded.kind, encoded.kind) {
                (NumberKind::Bool, _) | (_, NumberKind::Bool) => {
                    return Err(at.unsupported("differences of booleans"));
                }
                _ => Delta { decoded, encoded }.into(),
            }
        }
        "fixedscaleoffset" => {
            let decoded = number("dtype", current)?;
            let encoded = number("astype", Some(decoded))?;
            let real = |name: &str| match parameters.required(name, at)? {
                Json::Number(number) => Ok(number.as_f64()),
                other => Err(other.is_not("a number", &at.name(name))),
            };
            FixedScaleOffset::new(decoded, encoded, real("offset")?, real("scale")?).into()
        }
        "quantize" => {
            let decoded = number("dtype", current)?;
            let encoded = number("astype", Some(decoded))?;
            let digits = integer(parameters, "digits", at)?;
            Quantize::new(decoded, encoded, digits).map_err(wrong)?.into()
        }
        "bitround" => {
            let keep = integer(parameters, "keepbits", at)?;
            let current = current.ok_or_else(|| at.unsupported("bits of what is no number"))?;
            BitRound::new(current, keep).map_err(wrong)?.into()
        }
        "astype" => {
            let decoded = number("decode_dtype", current)?;
            AsType { decoded, encoded: number("encode_dtype", None)? }.into()
        }
        "packbits" => PackBits.into(),
        _ => return Ok(None),
    }))
}

/// What a codec makes numbers of, if it is one of these and they are not those it gets.
pub(super) fn made(codec: &Codec) -> Option<Number> {
    match codec {
        Codec::Delta(delta) => Some(delta.encoded),
        Codec::AsType(as_type) => Some(as_type.encoded),
        Codec::FixedScaleOffset(scaled) => Some(scaled.encoded()),
        Codec::Quantize(quantize) => Some(quantize.encoded()),
        Codec::PackBits(_) => Some(Number { kind: NumberKind::Unsigned { bytes: 1 }, big_endian: false }),
        _ => None,
    }
}

/// Whether a codec takes and gives elements, not bytes.
pub(super) fn is_of_elements(codec: &Codec) -> bool {
    made(codec).is_some() || keeps(codec)
}

/// The numbers that elements of a type in a certain order of bytes are, or consist of.
pub(super) fn number_of(data_type: &DataType, order: ByteOrder) -> Option<Number> {
    let kind = match data_type {
        DataType::Bool => NumberKind::Bool,
        DataType::Integer { signed: true, bits: bits @ 8.. } => NumberKind::Signed { bytes: bits / 8 },
        DataType::Integer { signed: false, bits: bits @ 8.. } => NumberKind::Unsigned { bytes: bits / 8 },
        DataType::DateTime64(_) | DataType::TimeDelta64(_) => NumberKind::Signed { bytes: 8 },
        DataType::Float(Float::Float16) | DataType::Complex(Float::Float16) => NumberKind::Float16,
        DataType::Float(Float::Float32) | DataType::Complex(Float::Float32) => NumberKind::Float32,
        DataType::Float(Float::Float64) | DataType::Complex(Float::Float64) => NumberKind::Float64,
        _ => return None,
    };
    Some(Number { kind, big_endian: order == ByteOrder::Big })
}

fn memory(number: Number) -> Memory {
    let bits = u8::try_from(number.size() * 8).unwrap_or(64);
    let data_type = match number.kind {
        NumberKind::Bool => DataType::Bool,
        NumberKind::Signed { .. } => DataType::Integer { signed: true, bits },
        NumberKind::Unsigned { .. } => DataType::Integer { signed: false, bits },
        NumberKind::Float16 => DataType::Float(Float::Float16),
        NumberKind::Float32 => DataType::Float(Float::Float32),
        NumberKind::Float64 => DataType::Float(Float::Float64),
    };
    Memory { data_type, order: if number.big_endian { ByteOrder::Big } else { ByteOrder::Little } }
}

/// The numbers that a codec reads elements as.
fn taken(codec: &Codec) -> Option<Number> {
    match codec {
        Codec::Delta(delta) => Some(delta.decoded),
        Codec::AsType(as_type) => Some(as_type.decoded),
        Codec::FixedScaleOffset(scaled) => Some(scaled.decoded()),
        Codec::Quantize(quantize) => Some(quantize.decoded()),
        Codec::BitRound(rounded) => Some(rounded.number()),
        _ => None,
    }
}

/// Whether elements stay what they are.
fn keeps(codec: &Codec) -> bool {
    matches!(codec, Codec::BitRound(_))
}

/// Elements as they lie in memory, made of rows.
fn in_memory<'a>(layout: &Layout, rows: &'a [u8], buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
    if layout.is_plain() {
        return Ok(rows);
    }
    let raw = room(buffer, rows.len() / layout.row_size() * layout.stored_size());
    layout.encode(rows, raw)?;
    Ok(raw)
}

fn integer<T: TryFrom<i128>>(parameters: &Object, name: &str, at: &Spot<'_>) -> Result<T> {
    let here = at.name(name);
    let Json::Number(number) = parameters.required(name, at)? else {
        return Err(here.malformed("expected an integer"));
    };
    let integer = number.as_integer().and_then(|integer| integer.try_into().ok());
    integer.ok_or_else(|| here.malformed(format!("{number}, expected a small integer")))
}

/// A type of numbers by its code or name in NumPy.
fn parse_number(json: &Json, at: &Spot<'_>) -> Result<Number> {
    let text = json.text(at)?;
    let (big_endian, kind) = match text.split_at_checked(1) {
        Some((">", kind)) => (true, kind),
        Some(("<" | "|" | "=", kind)) => (false, kind),
        _ => (false, text),
    };
    let kind = match kind {
        "b1" | "?" | "bool" => NumberKind::Bool,
        "i1" | "int8" => NumberKind::Signed { bytes: 1 },
        "i2" | "int16" => NumberKind::Signed { bytes: 2 },
        "i4" | "int32" => NumberKind::Signed { bytes: 4 },
        "i8" | "int64" => NumberKind::Signed { bytes: 8 },
        "u1" | "uint8" => NumberKind::Unsigned { bytes: 1 },
        "u2" | "uint16" => NumberKind::Unsigned { bytes: 2 },
        "u4" | "uint32" => NumberKind::Unsigned { bytes: 4 },
        "u8" | "uint64" => NumberKind::Unsigned { bytes: 8 },
        "f2" | "float16" => NumberKind::Float16,
        "f4" | "float32" => NumberKind::Float32,
        "f8" | "float64" => NumberKind::Float64,
        _ => return Err(at.unsupported(format!("numbers of type {text:?}"))),
    };
    Ok(Number { kind, big_endian })
}
