//! Codecs of numcodecs that change elements: `delta`, `fixedscaleoffset`, `quantize`, `bitround`, `astype`, `packbits`.
//!
//! Spec: numcodecs, zarr-extensions/codecs/bitround

use super::{Members, Passing};
use crate::data_type::{ByteOrder, DataType, Float};
use crate::json::{Json, Number as JsonNumber, Object, Spot};
use crate::write::Version;
use hyperslab_codec::{AsType, BitRound, Codec, Delta, FixedScaleOffset, Number, NumberKind, Quantize};
use hyperslab_core::{Error, Result};

pub(super) fn read_delta(passing: &Passing, parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    let (decoded, encoded) = decoded_and_encoded(passing, parameters, at)?;
    match (decoded.kind, encoded.kind) {
        (NumberKind::Bool, _) | (_, NumberKind::Bool) => Err(at.unsupported("differences of booleans")),
        _ => Ok(Delta { decoded, encoded }.into()),
    }
}

pub(super) fn write_delta(codec: &Codec, _: Version) -> Option<Members> {
    let Codec::Delta(delta) = codec else { return None };
    Some(types(Vec::new(), delta.decoded, delta.encoded))
}

pub(super) fn read_fixed_scale_offset(
    passing: &Passing,
    parameters: &Object,
    at: &Spot<'_>,
) -> Result<Codec> {
    let (decoded, encoded) = decoded_and_encoded(passing, parameters, at)?;
    let real = |name: &str| match parameters.required(name, at)? {
        Json::Number(number) => Ok(number.as_f64()),
        other => Err(other.is_not("a number", &at.name(name))),
    };
    Ok(FixedScaleOffset::new(decoded, encoded, real("offset")?, real("scale")?).into())
}

pub(super) fn write_fixed_scale_offset(codec: &Codec, _: Version) -> Option<Members> {
    let Codec::FixedScaleOffset(scaled) = codec else { return None };
    let members = vec![("offset", real(scaled.offset())?), ("scale", real(scaled.scale())?)];
    Some(types(members, scaled.decoded(), scaled.encoded()))
}

pub(super) fn read_quantize(passing: &Passing, parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    let (decoded, encoded) = decoded_and_encoded(passing, parameters, at)?;
    let digits = integer(parameters, "digits", at)?;
    Quantize::new(decoded, encoded, digits).map(Codec::from).map_err(|e| at.malformed(e.detail()))
}

pub(super) fn write_quantize(codec: &Codec, _: Version) -> Option<Members> {
    let Codec::Quantize(quantize) = codec else { return None };
    let digits = Json::Number(JsonNumber::integer(quantize.digits()));
    Some(types(vec![("digits", digits)], quantize.decoded(), quantize.encoded()))
}

pub(super) fn read_bit_round(passing: &Passing, parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    let keep = integer(parameters, "keepbits", at)?;
    let number =
        passing.number.ok_or_else(|| at.unsupported("bitround of a data type that is not numeric"))?;
    BitRound::new(number, keep).map(Codec::from).map_err(|e| at.malformed(e.detail()))
}

pub(super) fn write_bit_round(codec: &Codec, _: Version) -> Option<Members> {
    let Codec::BitRound(rounded) = codec else { return None };
    Some(vec![("keepbits", u64::from(rounded.keep()).into())])
}

pub(super) fn read_as_type(passing: &Passing, parameters: &Object, at: &Spot<'_>) -> Result<Codec> {
    let decoded = number(parameters, "decode_dtype", passing.number, at)?;
    Ok(AsType { decoded, encoded: number(parameters, "encode_dtype", None, at)? }.into())
}

pub(super) fn write_as_type(codec: &Codec, _: Version) -> Option<Members> {
    let Codec::AsType(as_type) = codec else { return None };
    let code = |number: Number| Json::from(number.code().as_str());
    Some(vec![("encode_dtype", code(as_type.encoded)), ("decode_dtype", code(as_type.decoded))])
}

pub(super) fn write_pack_bits(codec: &Codec, _: Version) -> Option<Members> {
    matches!(codec, Codec::PackBits(_)).then(Vec::new)
}

/// The member `dtype`, by default the number type of the array, and the member `astype`, by default the same.
fn decoded_and_encoded(passing: &Passing, parameters: &Object, at: &Spot<'_>) -> Result<(Number, Number)> {
    let decoded = number(parameters, "dtype", passing.number, at)?;
    Ok((decoded, number(parameters, "astype", Some(decoded), at)?))
}

/// Members followed by both types. numcodecs requires the first one, although it could determine it itself.
fn types(mut members: Members, decoded: Number, encoded: Number) -> Members {
    members.push(("dtype", decoded.code().as_str().into()));
    if encoded != decoded {
        members.push(("astype", encoded.code().as_str().into()));
    }
    members
}

fn number(parameters: &Object, name: &str, default: Option<Number>, at: &Spot<'_>) -> Result<Number> {
    match (parameters.get(name), default) {
        (None | Some(Json::Null), Some(default)) => Ok(default),
        (None | Some(Json::Null), None) => Err(at.malformed(format!("no {name:?}"))),
        (Some(json), _) => {
            let here = at.name(name);
            Number::of_code(json.text(&here)?).map_err(|e: Error| here.unsupported(e.detail()))
        }
    }
}

/// A number, without a fraction if it is whole.
fn real(value: f64) -> Option<Json> {
    let whole = format!("{value:.0}").parse::<i128>().ok().filter(|_| value.fract() == 0.0);
    let number = whole.map_or_else(|| JsonNumber::float(value), |whole| Some(JsonNumber::integer(whole)));
    number.map(Json::Number)
}

fn integer<T: TryFrom<i128>>(parameters: &Object, name: &str, at: &Spot<'_>) -> Result<T> {
    let here = at.name(name);
    let Json::Number(number) = parameters.required(name, at)? else {
        return Err(here.malformed("expected an integer"));
    };
    let integer = number.as_integer().and_then(|integer| integer.try_into().ok());
    integer.ok_or_else(|| here.malformed(format!("{number}, expected a small integer")))
}

/// The number type to which a codec converts, if it is one of these codecs and changes the type.
pub(crate) fn made(codec: &Codec) -> Option<Number> {
    match codec {
        Codec::Delta(delta) => Some(delta.encoded),
        Codec::AsType(as_type) => Some(as_type.encoded),
        Codec::FixedScaleOffset(scaled) => Some(scaled.encoded()),
        Codec::Quantize(quantize) => Some(quantize.encoded()),
        Codec::PackBits(_) => Some(Number { kind: NumberKind::Unsigned { bytes: 1 }, big_endian: false }),
        _ => None,
    }
}

/// The byte order of numbers.
pub(crate) fn order_of(number: &Number) -> ByteOrder {
    if number.big_endian { ByteOrder::Big } else { ByteOrder::Little }
}

/// Whether the input and output of a codec are elements, not bytes.
pub(in crate::codec) fn is_of_elements(codec: &Codec) -> bool {
    made(codec).is_some() || keeps(codec)
}

/// The number type of the elements of a type in a certain byte order, or of the parts of these elements.
pub(in crate::codec) fn number_of(data_type: &DataType, order: ByteOrder) -> Option<Number> {
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

/// The number type as which a codec reads elements.
pub(in crate::codec) fn taken(codec: &Codec) -> Option<Number> {
    match codec {
        Codec::Delta(delta) => Some(delta.decoded),
        Codec::AsType(as_type) => Some(as_type.decoded),
        Codec::FixedScaleOffset(scaled) => Some(scaled.decoded()),
        Codec::Quantize(quantize) => Some(quantize.decoded()),
        Codec::BitRound(rounded) => Some(rounded.number()),
        _ => None,
    }
}

/// Whether elements keep their type.
pub(in crate::codec) fn keeps(codec: &Codec) -> bool {
    matches!(codec, Codec::BitRound(_))
}
