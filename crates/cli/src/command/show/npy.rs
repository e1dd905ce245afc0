//! Elements as the bytes that NumPy reads.

use crate::terminal::Out;
use hyperslab::model::Datatype;
use hyperslab::show::Shown;
use hyperslab::{Error, Result};
use std::io::Write;

/// A NumPy file, version 1.0.
pub(super) fn write(shown: &Shown, out: &mut Out<'_>) -> Result<()> {
    if shown.is_null {
        return Err(Error::unsupported("NumPy cannot store a null dataspace; use --as json"));
    }
    let descr = descr(&shown.datatype)
        .ok_or_else(|| Error::unsupported(format!("NumPy has no type for {}", shown.datatype)))?;
    let extents: Vec<String> = shown.extents().iter().map(|extent| format!("{extent},")).collect();
    let mut header =
        format!("{{'descr': {descr}, 'fortran_order': False, 'shape': ({}), }}", extents.join(" "));
    // The header and the bytes before it fill whole blocks of 64 bytes.
    let unpadded = 10 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let len =
        u16::try_from(header.len()).map_err(|_| Error::unsupported("NumPy header of 64 KiB or more"))?;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&len.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    out.write_all(&little_endian(shown)?)?;
    Ok(())
}

/// The dtype string of NumPy, if its elements equal our rows.
fn descr(datatype: &Datatype) -> Option<String> {
    let plain =
        |code: &str, size: usize| Some(format!("'{}{code}{size}'", if size == 1 { '|' } else { '<' }));
    match datatype.resolved() {
        Datatype::Int { signed, .. } => plain(if *signed { "i" } else { "u" }, datatype.row_size()?),
        Datatype::Time { .. } => plain("u", datatype.row_size()?),
        Datatype::Float(hyperslab::model::Float::Half) => plain("f", 2),
        Datatype::Float(hyperslab::model::Float::Single) => plain("f", 4),
        Datatype::Float(hyperslab::model::Float::Double) => plain("f", 8),
        Datatype::Complex(hyperslab::model::Float::Single) => plain("c", 8),
        Datatype::Complex(hyperslab::model::Float::Double) => plain("c", 16),
        Datatype::Bool => Some("'|b1'".into()),
        Datatype::Enum { base, .. } => descr(base),
        Datatype::Bitfield { size } if matches!(size, 1 | 2 | 4 | 8) => {
            plain("u", usize::try_from(*size).ok()?)
        }
        Datatype::Opaque { size, .. } => Some(format!("'|V{size}'")),
        Datatype::String(hyperslab::model::Text::Fixed { len, .. }) => Some(format!("'|S{len}'")),
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

/// The inside of a string of Python, in ASCII: other characters need version 3.0 of the format.
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

/// The rows in little-endian byte order on every machine.
pub(super) fn little_endian(shown: &Shown) -> Result<Vec<u8>> {
    if descr(&shown.datatype).is_none() {
        return Err(Error::unsupported(format!(
            "elements of {} are not plain bytes; use --as json",
            shown.datatype
        )));
    }
    if cfg!(target_endian = "big") {
        return Err(Error::unsupported("raw values on a big-endian machine; use --as json"));
    }
    Ok(shown.values.rows.to_vec())
}
