//! Elements as CDL writes them.

use super::name::push_name;
use super::number::{DOUBLE, FLOAT, Place, float};
use super::types::{Class, Type, Types};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Element, ElementRef, Elements, Text};

/// Adds an element of a variable, or a part of one.
///
/// # Errors
/// If it does not fit its type.
pub(super) fn push_value(types: &Types, of: Type, element: ElementRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    match (of, element.get()) {
        (Type::String, Element::Text(_)) => push_string(text(&element), out),
        (Type::Char, Element::Text(_)) => out.extend_from_slice(element.row()),
        (Type::User(number), found) => {
            let class = types.get(number).map(|of| &of.class).ok_or_else(misfit)?;
            match (class, found) {
                (Class::Enum { .. }, Element::Enum(_, Some(name))) => out.extend_from_slice(name.as_bytes()),
                (Class::Enum { .. }, Element::Enum(value, None)) => push(out, &value.to_string()),
                (Class::Opaque(_), Element::Opaque(bytes)) => push_opaque(bytes, out),
                (Class::Vlen(base), Element::Vlen(elements)) => {
                    push_list(elements, out, |element, out| push_value(types, *base, element, out))?;
                }
                (Class::Compound(fields), Element::Compound(members)) => {
                    out.push(b'{');
                    for (number, (field, (_, element))) in fields.iter().zip(members).enumerate() {
                        if number > 0 {
                            push(out, ", ");
                        }
                        push_member(types, field.of, element, out)?;
                    }
                    out.push(b'}');
                }
                _ => return Err(misfit()),
            }
        }
        (_, Element::Int(value) | Element::Enum(value, _)) => push(out, &value.to_string()),
        (_, Element::Bool(value)) => push(out, if value { "1" } else { "0" }),
        (Type::Float, Element::Float(value)) => push(out, &float(value, FLOAT, Place::Value)),
        (_, Element::Float(value)) => push(out, &float(value, DOUBLE, Place::Value)),
        (_, Element::RawFloat(stored)) => push_raw(of, &element, stored, Place::Value, out)?,
        _ => return Err(misfit()),
    }
    Ok(())
}

/// Adds an element of an attribute that is neither text nor of a user-defined type.
pub(super) fn push_attribute_number(of: Type, element: ElementRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    match (of, element.get()) {
        (Type::Float, Element::Float(value)) => push(out, &float(value, FLOAT, Place::Attribute)),
        (_, Element::Float(value)) => push(out, &float(value, DOUBLE, Place::Attribute)),
        (_, Element::RawFloat(stored)) => push_raw(of, &element, stored, Place::Attribute, out)?,
        (_, Element::Int(value)) => {
            push(out, &value.to_string());
            push(out, of.suffix());
        }
        (_, Element::Bool(value)) => push(out, if value { "1UB" } else { "0UB" }),
        _ => return Err(misfit()),
    }
    Ok(())
}

/// Adds a floating-point number of a format without a name.
fn push_raw(
    of: Type,
    element: &ElementRef<'_>,
    stored: &[u8],
    place: Place,
    out: &mut Vec<u8>,
) -> Result<()> {
    let Datatype::Float(format) = element.datatype().resolved() else { return Err(misfit()) };
    let digits = if of == Type::Float { FLOAT } else { DOUBLE };
    push(out, &float(format.nearest(stored).ok_or_else(misfit)?, digits, place));
    Ok(())
}

/// Adds the name of an enumerated value with its special characters escaped, as in attributes.
pub(super) fn push_enum_name(element: ElementRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    match element.get() {
        Element::Enum(_, Some(name)) => push_name(out, name),
        Element::Enum(value, None) => push(out, &value.to_string()),
        _ => return Err(misfit()),
    }
    Ok(())
}

/// A member of a compound: characters are written as strings here, and arrays in braces.
fn push_member(types: &Types, of: Type, element: ElementRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    match (of, element.get()) {
        (Type::Char, Element::Array(elements, shape)) => {
            let len = shape.last().and_then(|len| usize::try_from(*len).ok()).unwrap_or(1).max(1);
            out.push(b'{');
            let characters: Vec<u8> = elements.filter_map(|one| one.row().first().copied()).collect();
            for (number, row) in characters.chunks(len).enumerate() {
                if number > 0 {
                    push(out, ", ");
                }
                push_characters_of_member(row, out);
            }
            out.push(b'}');
            Ok(())
        }
        (Type::Char, _) => {
            // The library reads one character of a string of any length.
            push_characters_of_member(element.row().get(..1).unwrap_or_default(), out);
            Ok(())
        }
        (_, Element::Array(elements, _)) => {
            push_list(elements, out, |element, out| push_value(types, of, element, out))
        }
        _ => push_value(types, of, element, out),
    }
}

fn push_list(
    elements: Elements<'_>,
    out: &mut Vec<u8>,
    mut one: impl FnMut(ElementRef<'_>, &mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    out.push(b'{');
    for (number, element) in elements.enumerate() {
        if number > 0 {
            push(out, ", ");
        }
        one(element, out)?;
    }
    out.push(b'}');
    Ok(())
}

/// The bytes of a string up to its first NUL, including space padding.
pub(super) fn text<'a>(element: &ElementRef<'a>) -> &'a [u8] {
    let bytes = match (element.datatype().resolved(), element.get()) {
        (Datatype::String(Text::Fixed { .. }), _) => element.row(),
        (_, Element::Text(text)) => text,
        _ => &[],
    };
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// A variable-length string among the values of a variable.
fn push_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text {
        match byte {
            // ncdump writes this letter for a vertical tab here.
            0x0b => push(out, "\\n"),
            byte => push_escaped(*byte, out),
        }
    }
    out.push(b'"');
}

/// Adds a byte of a string, escaped if it has a special meaning or is a control character.
pub(super) fn push_escaped(byte: u8, out: &mut Vec<u8>) {
    match byte {
        0x08 => push(out, "\\b"),
        0x0c => push(out, "\\f"),
        b'\n' => push(out, "\\n"),
        b'\r' => push(out, "\\r"),
        b'\t' => push(out, "\\t"),
        0x0b => push(out, "\\v"),
        b'\\' | b'\'' | b'"' => out.extend_from_slice(&[b'\\', byte]),
        byte if byte.is_ascii_control() => push(out, &format!("\\{byte:03o}")),
        byte => out.push(byte),
    }
}

/// Adds a byte of a variable of characters, where bytes outside ASCII are also escaped.
pub(super) fn push_character(byte: u8, out: &mut Vec<u8>) {
    match byte.is_ascii() {
        true => push_escaped(byte, out),
        false => push(out, &format!("\\{byte:03o}")),
    }
}

/// Characters in a compound, where ncdump puts a backslash before control characters and keeps the characters
/// themselves.
fn push_characters_of_member(row: &[u8], out: &mut Vec<u8>) {
    let len = row.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    out.push(b'"');
    for byte in row.get(..len).unwrap_or_default() {
        match byte {
            0x08..=b'\r' | b'\\' | b'\'' | b'"' => out.extend_from_slice(&[b'\\', *byte]),
            byte if byte.is_ascii_graphic() || *byte == b' ' => out.push(*byte),
            byte => push(out, &format!("\\{byte:03o}")),
        }
    }
    out.push(b'"');
}

/// An opaque value as hexadecimal digits.
pub(super) fn push_opaque(bytes: &[u8], out: &mut Vec<u8>) {
    push(out, "0X");
    bytes.iter().for_each(|byte| push(out, &format!("{byte:02X}")));
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// Whether a value is the fill value, so that `_` stands for it. Floating-point numbers are equal within the precision
/// of their type.
pub(super) fn is_fill(of: Type, fill: ElementRef<'_>, value: ElementRef<'_>) -> bool {
    match (fill.get(), value.get()) {
        (Element::Float(fill), Element::Float(value)) => floats(of, fill, value),
        (Element::Int(fill), Element::Int(value)) => fill == value,
        (Element::Text(_), Element::Text(_)) => text(&fill) == text(&value),
        (Element::Compound(fills), Element::Compound(values)) => {
            // Each member has its own precision; only that of single-precision numbers matters in practice.
            fills.zip(values).all(|((_, fill), (_, value))| {
                let of = match value.datatype().resolved() {
                    Datatype::Float(hyperslab_model::Float::Double) => Type::Double,
                    _ => Type::Float,
                };
                is_fill(of, fill, value)
            })
        }
        _ => fill.same(value),
    }
}

fn floats(of: Type, fill: f64, value: f64) -> bool {
    if (fill > 0.0) != (value > 0.0) {
        return false;
    }
    if !fill.is_finite() || !value.is_finite() {
        return fill.is_nan() && value.is_nan() || fill.is_infinite() && value.is_infinite();
    }
    let precision = if of == Type::Float { f64::from(f32::EPSILON) } else { f64::EPSILON };
    (fill - value).abs() <= (precision * value).abs()
}

fn misfit() -> Error {
    Error::malformed("an element does not fit its type")
}
