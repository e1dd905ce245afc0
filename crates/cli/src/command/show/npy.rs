//! Elements as bytes in the form that NumPy reads.

mod missing;

use crate::terminal::Out;
use hyperslab::model::{Datatype, Text, TimeUnit};
use hyperslab::show::Shown;
use hyperslab::{Error, Result, Strings, Utf8};
use std::io::Write;

/// A NumPy file, version 1.0. Strings are characters, as NumPy's `str`, unless their bytes are requested. Missing
/// elements are NaN or NaT if they are decoded.
pub(super) fn write(shown: Shown, (is_decoded, is_raw): (bool, bool), out: &mut Out<'_>) -> Result<()> {
    if shown.is_null {
        return Err(Error::unsupported("NumPy cannot store a null dataspace; use --as json"));
    }
    let shown = &missing::filled(shown, is_decoded)?;
    if let Datatype::String(text) = shown.datatype.resolved()
        && !(is_raw && matches!(text, Text::Fixed { .. }))
    {
        return match Strings::of(&shown.datatype, &shown.values, Utf8::Strict) {
            Ok(texts) => characters(shown, &texts, out),
            // Of strings in another encoding, NumPy can only hold the bytes, and only at a fixed length.
            Err(_) if matches!(text, Text::Fixed { .. }) => rows(shown, out),
            Err(error) => Err(error),
        };
    }
    rows(shown, out)
}

/// Strings as UTF-32, padded with zeros to the length of the longest.
fn characters(shown: &Shown, texts: &Strings, out: &mut Out<'_>) -> Result<()> {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    header(shown, &format!("'<U{longest}'"), out)?;
    let mut row = Vec::with_capacity(longest.saturating_mul(4));
    for text in texts.iter() {
        row.clear();
        row.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
        row.resize(longest.saturating_mul(4), 0);
        out.write_all(&row)?;
    }
    Ok(())
}

/// Elements whose rows have the form that NumPy reads.
fn rows(shown: &Shown, out: &mut Out<'_>) -> Result<()> {
    let descr = descr(&shown.datatype)
        .ok_or_else(|| Error::unsupported(format!("NumPy has no type for {}", shown.datatype)))?;
    header(shown, &descr, out)?;
    out.write_all(little_endian(shown)?)?;
    Ok(())
}

fn header(shown: &Shown, descr: &str, out: &mut Out<'_>) -> Result<()> {
    let extents: Vec<String> = shown.extents().iter().map(|extent| format!("{extent},")).collect();
    let mut header =
        format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({}), }}", extents.join(" "));
    // The header, including the bytes before it, fills whole blocks of 64 bytes.
    let unpadded = 10 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let len =
        u16::try_from(header.len()).map_err(|_| Error::unsupported("NumPy header of 64 KiB or more"))?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&len.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    Ok(())
}

/// The dtype string of NumPy, if its elements equal our rows.
fn descr(datatype: &Datatype) -> Option<String> {
    let plain =
        |code: &str, size: usize| Some(format!("'{}{code}{size}'", if size == 1 { '|' } else { '<' }));
    match datatype.resolved() {
        Datatype::Int { bits: ..=64, signed } => plain(if *signed { "i" } else { "u" }, datatype.row_size()?),
        Datatype::Time { .. } => plain("u", datatype.row_size()?),
        Datatype::Float(hyperslab::model::Float::Half) => plain("f", 2),
        Datatype::Float(hyperslab::model::Float::Single) => plain("f", 4),
        Datatype::Float(hyperslab::model::Float::Double) => plain("f", 8),
        Datatype::Complex(hyperslab::model::Float::Single) => plain("c", 8),
        Datatype::Complex(hyperslab::model::Float::Double) => plain("c", 16),
        Datatype::Bool => Some("'|b1'".into()),
        Datatype::Datetime(TimeUnit { unit, duration }) => {
            let letters = unit.trim_start_matches(|c: char| c.is_ascii_digit());
            let code = if *duration { 'm' } else { 'M' };
            TIME_UNITS.contains(&letters).then(|| format!("'<{code}8[{unit}]'"))
        }
        Datatype::Enum { base, .. } => descr(base),
        Datatype::Bitfield { size } if matches!(size, 1 | 2 | 4 | 8) => {
            plain("u", usize::try_from(*size).ok()?)
        }
        Datatype::Opaque { size, .. } => Some(format!("'|V{size}'")),
        Datatype::String(Text::Fixed { len, .. }) => Some(format!("'|S{len}'")),
        Datatype::Compound(members) => {
            let fields: Option<Vec<String>> = members
                .iter()
                .map(|member| {
                    let name = python(&member.name);
                    Some(match member.datatype.resolved() {
                        Datatype::Array { base, shape } => {
                            let extents: Vec<_> = shape.iter().map(|extent| format!("{extent},")).collect();
                            format!("('{name}', {}, ({}))", descr(base)?, extents.join(" "))
                        }
                        other => format!("('{name}', {})", descr(other)?),
                    })
                })
                .collect();
            Some(format!("[{}]", fields?.join(", ")))
        }
        _ => None,
    }
}

/// The inside of a Python string literal, in ASCII: other characters need version 3.0 of the format.
fn python(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match (c, u32::from(c)) {
            ('\\' | '\'', _) => escaped.extend(['\\', c]),
            (' '..='~', _) => escaped.push(c),
            (_, code @ ..=0xff) => escaped.push_str(&format!("\\x{code:02x}")),
            (_, code @ ..=0xffff) => escaped.push_str(&format!("\\u{code:04x}")),
            (_, code) => escaped.push_str(&format!("\\U{code:08x}")),
        }
    }
    escaped
}

/// Only the bytes of the elements, in little-endian byte order. Missing elements are NaN if they are decoded.
pub(super) fn write_raw(shown: Shown, is_decoded: bool, out: &mut Out<'_>) -> Result<()> {
    let shown = missing::filled(shown, is_decoded)?;
    if let Datatype::Datetime(_) = shown.datatype.resolved() {
        return Err(Error::unsupported("raw bytes cannot record the unit of times; use --as npy"));
    }
    Ok(out.write_all(little_endian(&shown)?)?)
}

/// The rows in little-endian byte order on every machine.
fn little_endian(shown: &Shown) -> Result<&[u8]> {
    if descr(&shown.datatype).is_none() {
        return Err(Error::unsupported(format!(
            "elements of {} are not plain bytes; use --as json",
            shown.datatype
        )));
    }
    if cfg!(target_endian = "big") {
        return Err(Error::unsupported("raw values on a big-endian machine; use --as json"));
    }
    Ok(&shown.values.rows)
}

/// The units of NumPy's `datetime64` and `timedelta64`.
const TIME_UNITS: &[&str] = &["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];
