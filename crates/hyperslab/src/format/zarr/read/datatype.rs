//! Converts Zarr data types to the model.

use hyperslab_core::rows::Slot;
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    ByteOrder, CharacterSet, Datatype, ElementStorage, Float, FloatFormat, Length, Member, Normalization,
    Pad, Text, TimeUnit,
};
use hyperslab_zarr::data_type::{self as zarr, DataType};

/// The datatype of the model, and the storage of elements with the byte order `order`.
pub(in crate::format::zarr) fn datatype(
    from: &DataType,
    order: Option<zarr::ByteOrder>,
) -> Result<(Datatype, ElementStorage)> {
    let mut storage = ElementStorage::default();
    let endian = || {
        order.map(|order| match order {
            zarr::ByteOrder::Little => ByteOrder::Little,
            zarr::ByteOrder::Big => ByteOrder::Big,
        })
    };
    let datatype = match from {
        DataType::Bool => Datatype::Bool,
        DataType::Integer { signed, bits } => {
            let bits = u16::from(*bits).max(8);
            storage.endian = endian().filter(|_| bits > 8);
            Datatype::int(bits, *signed)
        }
        DataType::Float(part) => {
            storage.endian = endian().filter(|_| part.bytes() > 1);
            match float(*part) {
                Some(float) => Datatype::Float(float),
                None => Datatype::int(8, false),
            }
        }
        DataType::Complex(part) => {
            storage.endian = endian().filter(|_| part.bytes() > 1);
            match float(*part) {
                Some(float) => Datatype::Complex(float),
                None => Datatype::Array { base: Box::new(Datatype::int(8, false)), shape: vec![2] },
            }
        }
        DataType::Raw { length } => Datatype::Opaque { size: length_of(*length)?, tag: String::new() },
        DataType::NullTerminatedBytes { length } => text(length_of(*length)?, &mut storage),
        DataType::FixedLengthUtf32 { length } => {
            storage.charset = Some(CharacterSet::Utf32);
            storage.endian = endian();
            text(length_of(length.saturating_mul(4))?, &mut storage)
        }
        DataType::String => Datatype::String(Text::Variable),
        DataType::Bytes => Datatype::Vlen(Box::new(Datatype::int(8, false))),
        DataType::DateTime64(unit) | DataType::TimeDelta64(unit) => {
            storage.endian = endian();
            let scale = if unit.scale() == 1 { String::new() } else { unit.scale().to_string() };
            let unit = format!("{scale}{}", unit.name());
            Datatype::Datetime(TimeUnit { unit, duration: matches!(from, DataType::TimeDelta64(_)) })
        }
        DataType::Struct(structure) => compound(structure, order, &mut storage)?,
        DataType::Array { element, shape } => {
            let (base, own) = datatype(element, order)?;
            storage = own;
            Datatype::Array { base: Box::new(base), shape: shape.clone() }
        }
    };
    Ok((datatype, storage))
}

/// Whether the datatype of the model has all properties of this one and would therefore be written in the same way.
pub(in crate::format::zarr) fn is_lossless(from: &DataType) -> bool {
    match from {
        DataType::Bool
        | DataType::Raw { .. }
        | DataType::String
        | DataType::Bytes
        | DataType::DateTime64(_)
        | DataType::TimeDelta64(_) => true,
        DataType::Integer { bits, .. } => *bits >= 8,
        DataType::Float(part) => float(*part).is_some_and(|float| float.keyword().is_some()),
        DataType::Complex(part) => matches!(part, zarr::Float::Float32 | zarr::Float::Float64),
        DataType::NullTerminatedBytes { .. } => false,
        // An empty string has no length in NDL.
        DataType::FixedLengthUtf32 { length } => *length > 0,
        DataType::Struct(structure) => {
            structure.fields().iter().all(|field| field.title.is_none() && is_lossless(&field.data_type))
        }
        DataType::Array { element, .. } => is_lossless(element),
    }
}

/// The UTF-32 strings in rows, as byte offset and length. The model has only UTF-8.
pub(in crate::format::zarr) fn utf32_spans(of: &DataType) -> Result<Vec<(usize, usize)>> {
    let mut spans = Vec::new();
    push_spans(of, 0, &mut spans)?;
    Ok(spans)
}

/// Converts UTF-8 in rows of `row` bytes to UTF-32 in place.
///
/// # Errors
/// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for a string that is not UTF-8, or that has too
/// many characters for the available space.
pub(in crate::format::zarr) fn make_utf32(
    rows: &mut [u8],
    row: usize,
    spans: &[(usize, usize)],
) -> Result<()> {
    for row in rows.chunks_exact_mut(row.max(1)) {
        for (start, len) in spans {
            let Some(place) = row.get_mut(*start..start.saturating_add(*len)) else { continue };
            let text = std::str::from_utf8(Pad::Nul.trim(place))
                .map_err(|_| Error::unsupported("a text that is not UTF-8 in UTF-32"))?;
            let points: Vec<u32> = text.chars().map(u32::from).collect();
            let (units, room) = (points.len(), len / 4);
            if units > room {
                let detail = format!("a text of {units} characters, expected at most {room} (UTF-32)");
                return Err(Error::unsupported(detail));
            }
            let units = points.into_iter().flat_map(u32::to_ne_bytes).chain(std::iter::repeat(0));
            place.iter_mut().zip(units).for_each(|(byte, unit)| *byte = unit);
        }
    }
    Ok(())
}

/// Converts UTF-32 in rows of `row` bytes to UTF-8 in place. A code point needs at most as many bytes as before; the
/// rest is filled with zeros.
pub(in crate::format::zarr) fn make_utf8(
    rows: &mut [u8],
    row: usize,
    spans: &[(usize, usize)],
) -> Result<()> {
    if spans.is_empty() {
        return Ok(());
    }
    for row in rows.chunks_exact_mut(row.max(1)) {
        for (start, len) in spans {
            let end = start.saturating_add(*len);
            let Some(units) = row.get_mut(*start..end) else { continue };
            let mut from = 0;
            let mut to = 0;
            while let Some(unit) = units.get(from..).and_then(|rest| rest.first_chunk::<4>()) {
                let point = u32::from_ne_bytes(*unit);
                from += 4;
                let Some(point) = char::from_u32(point) else {
                    return Err(Error::malformed(format!(
                        "the code point {point:#x}, expected one of Unicode"
                    )));
                };
                let mut encoded = [0; 4];
                let encoded = point.encode_utf8(&mut encoded).as_bytes();
                if let Some(place) = units.get_mut(to..to + encoded.len()) {
                    place.copy_from_slice(encoded);
                }
                to += encoded.len();
            }
            if let Some(rest) = units.get_mut(to..) {
                rest.fill(0);
            }
        }
    }
    Ok(())
}

fn push_spans(of: &DataType, start: usize, spans: &mut Vec<(usize, usize)>) -> Result<()> {
    match of {
        DataType::FixedLengthUtf32 { .. } => spans.push((start, row_size(of)?)),
        DataType::Struct(structure) => {
            let mut start = start;
            for field in structure.fields() {
                push_spans(&field.data_type, start, spans)?;
                start = start.saturating_add(row_size(&field.data_type)?);
            }
        }
        DataType::Array { element, .. } => {
            let size = row_size(element)?;
            let mut of_one = Vec::new();
            push_spans(element, start, &mut of_one)?;
            if of_one.is_empty() {
                return Ok(());
            }
            for index in 0..row_size(of)?.checked_div(size).unwrap_or(0) {
                spans.extend(of_one.iter().map(|(start, len)| (start.saturating_add(index * size), *len)));
            }
        }
        _ => {}
    }
    Ok(())
}

fn row_size(of: &DataType) -> Result<usize> {
    usize::try_from(of.row_size()).map_err(|_| Error::invalid("an element of more bytes than memory has"))
}

fn length_of(bytes: u64) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| Error::unsupported(format!("elements of {bytes} bytes")))
}

fn text(len: u32, storage: &mut ElementStorage) -> Datatype {
    storage.length = Some(Length::Fixed(len));
    storage.pad = Some(Pad::Nul);
    Datatype::String(Text::Fixed { len, pad: Pad::Nul })
}

fn compound(
    structure: &zarr::Struct,
    order: Option<zarr::ByteOrder>,
    storage: &mut ElementStorage,
) -> Result<Datatype> {
    let mut members = Vec::with_capacity(structure.fields().len());
    let (mut end, mut packed) = (0, true);
    for field in structure.fields() {
        let (datatype, own) = datatype(&field.data_type, field.byte_order.or(order))?;
        packed &= field.offset == end;
        end = field.offset.saturating_add(field.data_type.stored_size().unwrap_or_default());
        if !own.is_empty() {
            storage.members.push((field.name.clone(), own));
        }
        members.push(Member { name: field.name.clone(), datatype });
    }
    if !packed || end != structure.stored_size() {
        storage.offsets = Some(structure.fields().iter().map(|field| field.offset).collect());
        storage.itemsize = Some(structure.stored_size());
    }
    Ok(Datatype::Compound(members))
}

/// The floating-point format of Zarr that is read as this one; `None` if there is none.
pub(in crate::format::zarr) fn stored_float(of: &Float) -> Option<zarr::Float> {
    zarr::Float::all().find(|known| float(*known).as_ref() == Some(of))
}

/// `None` for the format without sign and mantissa.
fn float(of: zarr::Float) -> Option<Float> {
    let other = |(exponent, mantissa): (u8, u8), bias| {
        let format = FloatFormat {
            bits: 8,
            sign: exponent + mantissa,
            exponent: (mantissa, exponent),
            mantissa: (0, mantissa),
            bias,
            normalization: Normalization::Implied,
        };
        Float::Other(format)
    };
    Some(match of {
        zarr::Float::Float16 => Float::Half,
        zarr::Float::Float32 => Float::Single,
        zarr::Float::Float64 => Float::Double,
        zarr::Float::Bfloat16 => Float::BFloat,
        zarr::Float::Float8E3m4 => other((3, 4), 3),
        zarr::Float::Float8E4m3 => other((4, 3), 7),
        zarr::Float::Float8E4m3b11fnuz => other((4, 3), 11),
        zarr::Float::Float8E4m3fnuz => other((4, 3), 8),
        zarr::Float::Float8E5m2 => other((5, 2), 15),
        zarr::Float::Float8E5m2fnuz => other((5, 2), 16),
        zarr::Float::Float6E2m3fn => other((2, 3), 1),
        zarr::Float::Float6E3m2fn => other((3, 2), 3),
        zarr::Float::Float4E2m1fn => other((2, 1), 1),
        zarr::Float::Float8E8m0fnu => return None,
    })
}

/// Both crates compute the size of a row from the datatype; they must agree.
pub(in crate::format::zarr) fn check_rows(datatype: &Datatype, row: usize) -> Result<()> {
    let slot = matches!(datatype, Datatype::String(Text::Variable) | Datatype::Vlen(_));
    match datatype.row_size() == Some(if slot { Slot::SIZE } else { row }) {
        true => Ok(()),
        false => Err(Error::unsupported(format!("elements of {datatype} in rows of {row} bytes"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf32(text: &str, points: usize) -> Vec<u8> {
        let mut units: Vec<u32> = text.chars().map(u32::from).collect();
        units.resize(points, 0);
        units.into_iter().flat_map(u32::to_ne_bytes).collect()
    }

    #[test]
    fn converts_utf32_to_utf8_in_place() {
        let of =
            DataType::Array { element: Box::new(DataType::FixedLengthUtf32 { length: 3 }), shape: vec![2] };
        let spans = utf32_spans(&of).unwrap();
        assert_eq!(spans, [(0, 12), (12, 12)]);
        let mut rows = [utf32("aé😀", 3), utf32("z", 3)].concat();
        let stored = rows.clone();
        make_utf8(&mut rows, 24, &spans).unwrap();
        assert_eq!(&rows[..12], "aé😀\0\0\0\0\0".as_bytes());
        assert_eq!(&rows[12..], "z\0\0\0\0\0\0\0\0\0\0\0".as_bytes());
        make_utf32(&mut rows, 24, &spans).unwrap();
        assert_eq!(rows, stored);
    }

    #[test]
    fn rejects_texts_that_utf32_cannot_hold() {
        let told = |text: &[u8]| make_utf32(&mut text.to_vec(), 8, &[(0, 8)]).unwrap_err().to_string();
        assert_eq!(told(b"abc\0\0\0\0\0"), "a text of 3 characters, expected at most 2 (UTF-32)");
        assert_eq!(told(b"\xff\0\0\0\0\0\0\0"), "a text that is not UTF-8 in UTF-32");
    }

    #[test]
    fn rejects_invalid_code_points() {
        let mut row = 0xd800_u32.to_ne_bytes();
        let found = make_utf8(&mut row, 4, &[(0, 4)]).unwrap_err();
        assert_eq!(found.to_string(), "the code point 0xd800, expected one of Unicode");
    }
}
