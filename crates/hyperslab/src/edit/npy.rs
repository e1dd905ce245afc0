//! Elements of NumPy files, whose format is described in `numpy.lib.format`.

use hyperslab_core::nd::element_count;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Limit, Result};
use hyperslab_model::{Column, Datatype, Float, Text, TimeUnit, Values};
use std::path::Path;
use std::sync::Arc;

/// Reads the elements of a file as elements of this datatype. Their shape must be `counts`; dimensions of length one
/// may be missing.
///
/// # Errors
/// If the file cannot be read, is not a NumPy file, or has elements of another type.
pub(super) fn read(path: &Path, datatype: &Arc<Datatype>, counts: &[u64], most: u64) -> Result<Column> {
    let len = std::fs::metadata(path)?.len();
    if len > most {
        let detail = format!("a file of {len} bytes, {most} are allowed");
        return Err(Error::limit_exceeded(Limit::Allocation, detail));
    }
    elements(&std::fs::read(path)?, datatype, counts)
}

fn elements(file: &[u8], datatype: &Arc<Datatype>, counts: &[u64]) -> Result<Column> {
    let Header { descr, is_fortran, shape, bytes } = header(file)?;
    let without = |counts: &[u64]| counts.iter().copied().filter(|count| *count != 1).collect::<Vec<_>>();
    if without(&shape) != without(counts) {
        return Err(Error::invalid(format!("elements of shape {shape:?}, expected {counts:?}")));
    }
    if is_fortran && without(&shape).len() > 1 {
        return Err(Error::unsupported("elements in Fortran order")
            .with_hint("numpy.ascontiguousarray converts them to C order"));
    }
    let element = datatype.non_null();
    let expected = descr_of(element).ok_or_else(|| {
        Error::unsupported(format!("elements of type {datatype}, which files of NumPy do not have"))
    })?;
    let count = element_count(&shape).and_then(|count| usize::try_from(count).ok());
    let size = size_of(&descr).filter(|size| *size > 0);
    let (Some(count), Some(size)) = (count, size) else {
        return Err(Error::unsupported(format!("elements of dtype {descr}")));
    };
    let is_whole = count.checked_mul(size) == Some(bytes.len());
    if !is_whole {
        let found = bytes.len();
        return Err(Error::invalid(format!("{found} bytes of elements, expected {count} of {size}")));
    }
    let is_text = matches!(element, Datatype::String(_));
    let kind = descr.get(1..2).unwrap_or_default();
    let values = match (element, kind) {
        (Datatype::String(Text::Variable), "S" | "U") => texts(bytes, size, &descr)?,
        _ if descr == expected || (is_text && kind == "S") => {
            Values { rows: bytes.to_vec().into(), heap: Heap::default() }
        }
        // Only the byte order differs.
        _ if descr.replacen('>', "<", 1) == expected => {
            let rows: Vec<u8> = bytes.chunks_exact(size).flat_map(|row| row.iter().rev().copied()).collect();
            Values { rows: rows.into(), heap: Heap::default() }
        }
        _ => {
            let hint = format!("array.astype('{expected}') converts them");
            return Err(
                Error::invalid(format!("elements of dtype {descr}, expected {expected}")).with_hint(hint)
            );
        }
    };
    let own = match element {
        Datatype::String(Text::Fixed { pad, len }) if size != usize::try_from(*len).unwrap_or(0) => {
            let len =
                u32::try_from(size).map_err(|_| Error::unsupported(format!("strings of {size} bytes")))?;
            Datatype::String(Text::Fixed { len, pad: *pad })
        }
        element => element.clone(),
    };
    Ok(Column { name: String::new(), datatype: Arc::new(own), values })
}

struct Header<'f> {
    descr: String,
    is_fortran: bool,
    shape: Vec<u64>,
    bytes: &'f [u8],
}

fn header(file: &[u8]) -> Result<Header<'_>> {
    let none = || Error::invalid("is not a NumPy file, expected one written by numpy.save");
    let rest = file.strip_prefix(b"\x93NUMPY").ok_or_else(none)?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(none)?;
    let (len, rest) = match version[0] {
        1 => {
            let (len, rest) = rest.split_first_chunk::<2>().ok_or_else(none)?;
            (u32::from(u16::from_le_bytes(*len)), rest)
        }
        2 | 3 => {
            let (len, rest) = rest.split_first_chunk::<4>().ok_or_else(none)?;
            (u32::from_le_bytes(*len), rest)
        }
        other => return Err(Error::unsupported(format!("version {other} of the format, expected 1 to 3"))),
    };
    let at = usize::try_from(len).map_err(|_| none())?;
    let (text, bytes) = rest.split_at_checked(at).ok_or_else(none)?;
    let text = std::str::from_utf8(text).map_err(|_| none())?;
    let value = |key: &str| text.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
    let descr = value("descr").ok_or_else(none)?;
    let descr = descr.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map(|(descr, _)| descr);
    let descr = descr.ok_or_else(|| Error::unsupported("elements with named fields"))?;
    let shape = value("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')')).ok_or_else(none)?.0;
    let lens = shape.split(',').map(str::trim).filter(|len| !len.is_empty());
    let shape = lens.map(|len| len.parse().map_err(|_| none())).collect::<Result<_>>()?;
    let is_fortran = value("fortran_order").is_some_and(|rest| rest.starts_with("True"));
    Ok(Header { descr: descr.to_owned(), is_fortran, shape, bytes })
}

/// The size in bytes of an element of a dtype: `<i8`, `<M8[ns]`, `<U3` of characters of four bytes each.
fn size_of(descr: &str) -> Option<usize> {
    let size: usize = descr.get(2..)?.split('[').next()?.parse().ok()?;
    size.checked_mul(if descr.get(1..2) == Some("U") { 4 } else { 1 })
}

/// The dtype whose elements equal the rows of this datatype.
fn descr_of(datatype: &Datatype) -> Option<String> {
    let plain = |code: &str, size: usize| {
        let order = if size == 1 { '|' } else { '<' };
        Some(format!("{order}{code}{size}"))
    };
    match datatype.resolved() {
        Datatype::Int { signed, .. } => plain(if *signed { "i" } else { "u" }, datatype.row_size()?),
        Datatype::Float(Float::Single) => plain("f", 4),
        Datatype::Float(Float::Double) => plain("f", 8),
        Datatype::Bool => Some("|b1".to_owned()),
        Datatype::Enum { base, .. } => descr_of(base),
        Datatype::Datetime(TimeUnit { unit, duration }) => {
            Some(format!("<{}8[{unit}]", if *duration { 'm' } else { 'M' }))
        }
        Datatype::Opaque { size, .. } => Some(format!("|V{size}")),
        Datatype::String(Text::Fixed { len, .. }) => Some(format!("|S{len}")),
        Datatype::String(Text::Variable) => Some("|S".to_owned()),
        _ => None,
    }
}

/// Strings that NumPy pads with NULs.
fn texts(bytes: &[u8], size: usize, descr: &str) -> Result<Values> {
    let is_wide = descr.get(1..2) == Some("U");
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for text in bytes.chunks_exact(size) {
        let start = all.len() as u64;
        match is_wide {
            true => {
                let codes = text.chunks_exact(4).map(|code| {
                    let code = <[u8; 4]>::try_from(code).unwrap_or_default();
                    if descr.starts_with('>') { u32::from_be_bytes(code) } else { u32::from_le_bytes(code) }
                });
                let text: Option<String> = codes.map(char::from_u32).collect();
                let text = text.ok_or_else(|| Error::invalid("a string with an invalid code point"))?;
                all.extend_from_slice(text.trim_end_matches('\0').as_bytes());
            }
            false => {
                let len = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                all.extend_from_slice(text.get(..len).unwrap_or_default());
            }
        }
        let count = u32::try_from(all.len() as u64 - start);
        let count = count.map_err(|_| Error::unsupported("a text of 2^32 bytes or more"))?;
        rows.extend_from_slice(&Slot::at(0, count, start).to_bytes());
    }
    let mut heap = Heap::default();
    heap.push(all.into())?;
    Ok(Values { rows: rows.into(), heap })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        let len = u16::try_from(header.len()).unwrap().to_le_bytes();
        [&b"\x93NUMPY\x01\x00"[..], &len, header.as_bytes(), bytes].concat()
    }

    fn read(file: &[u8], datatype: Datatype, counts: &[u64]) -> Result<Column> {
        elements(file, &Arc::new(datatype), counts)
    }

    #[test]
    fn elements_are_those_of_the_array() {
        let numbers = file("<i2", "2,", &[1, 0, 2, 0]);
        assert_eq!(*read(&numbers, Datatype::int(16, true), &[1, 2]).unwrap().values.rows, [1, 0, 2, 0]);
        let swapped = file(">i2", "2,", &[0, 1, 0, 2]);
        assert_eq!(*read(&swapped, Datatype::int(16, true), &[2]).unwrap().values.rows, [1, 0, 2, 0]);
        let texts = file("<U2", "2,", &[b'a', 0, 0, 0, 0, 0, 0, 0, b'b', 0, 0, 0, b'c', 0, 0, 0]);
        let column = read(&texts, Datatype::String(Text::Variable), &[2]).unwrap();
        let slots: Vec<Slot> = Slot::each(&column.values.rows).collect();
        let found: Vec<_> = slots.iter().map(|slot| column.values.heap.content(*slot).unwrap()).collect();
        assert_eq!(found, [&b"a"[..], b"bc"]);
        let days = file("<M8[D]", "1,", &[5, 0, 0, 0, 0, 0, 0, 0]);
        let datetime = Datatype::Datetime(TimeUnit { unit: "D".into(), duration: false });
        assert!(read(&days, datetime, &[1]).is_ok());
    }

    #[test]
    fn other_elements_are_refused_by_name() {
        let error = |file: &[u8], counts: &[u64]| {
            read(file, Datatype::int(16, true), counts).err().unwrap().to_string()
        };
        assert!(error(b"PK", &[1]).contains("is not a NumPy file"));
        assert!(error(&file("<i2", "3,", &[0; 6]), &[2]).contains("shape [3], expected [2]"));
        assert!(error(&file("<i4", "1,", &[0; 4]), &[1]).contains("expected <i2"));
        assert!(error(&file("<i2", "2,", &[0; 3]), &[2]).contains("3 bytes of elements"));
    }
}
