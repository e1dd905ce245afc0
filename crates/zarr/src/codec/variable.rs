//! `vlen-utf8`, `vlen-bytes` and `json2`: variable-length elements.
//!
//! The first two store the number of elements, then each element after its length. Both numbers have four bytes, little
//! endian. The third is a JSON array of the elements, followed by the NumPy type and the shape.
//!
//! Spec: zarr-extensions/codecs/vlen-utf8, zarr-extensions/codecs/vlen-bytes, numcodecs "JSON"

use crate::json::Json;
use bytes::Bytes;
use hyperslab_core::rows::Slot;
use hyperslab_core::{Decoder, Error, Limits, Result};

/// The codec of variable-length elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    Utf8,
    Bytes,
    /// Strings in JSON.
    Json,
}

impl Variable {
    /// Makes a slot for each element. Slots point into `raw`, which is added to the heap.
    pub(super) fn decode(self, raw: Bytes, rows: &mut [u8], heap: &mut Vec<Bytes>) -> Result<()> {
        let raw = if self == Variable::Json { of_json(&raw)?.into() } else { raw };
        let mut d = Decoder::new(self.name(), 0, &raw);
        let expected = Slot::each(rows).len();
        let count = d.u32()?;
        if u64::from(count) != expected as u64 {
            return Err(d.malformed(format!("{count} elements, expected {expected}")));
        }
        let buffer = Slot::next_buffer(heap)?;
        Slot::change_each(rows, |_| {
            let count = d.u32()?;
            if (self, count) == (Variable::Json, NO_STRING) {
                return Ok(Slot::NOWHERE);
            }
            let offset = d.offset();
            let element = d.take(d.len_of(count.into())?)?;
            if self != Variable::Bytes && std::str::from_utf8(element).is_err() {
                return Err(d.malformed(format!("a string of {count} bytes that are not UTF-8")));
            }
            Ok(Slot::at(buffer, count, offset))
        })?;
        d.finish()?;
        heap.push(raw);
        Ok(())
    }

    /// Encodes the content that slots point to.
    pub(super) fn encode(self, rows: &[u8], heap: &[Bytes]) -> Result<Vec<u8>> {
        let slots = Slot::each(rows);
        let count =
            u32::try_from(slots.len()).map_err(|_| Error::invalid("more than 2^32 elements in one chunk"))?;
        let mut raw = count.to_le_bytes().to_vec();
        for slot in slots {
            let element = slot.content(heap).ok_or_else(points_nowhere)?;
            if self != Variable::Bytes && std::str::from_utf8(element).is_err() {
                return Err(Error::invalid(format!(
                    "a string of {} bytes that are not UTF-8",
                    element.len()
                )));
            }
            let len = u32::try_from(element.len()).unwrap_or(u32::MAX);
            raw.extend_from_slice(&len.to_le_bytes());
            raw.extend_from_slice(element);
        }
        if self == Variable::Json {
            return to_json(&raw);
        }
        Ok(raw)
    }

    fn name(self) -> &'static str {
        match self {
            Variable::Utf8 => "vlen-utf8",
            Variable::Bytes => "vlen-bytes",
            Variable::Json => "json2",
        }
    }
}

/// Converts the strings of a JSON array to the form of `vlen-utf8`.
fn of_json(raw: &[u8]) -> Result<Vec<u8>> {
    let Json::Array(mut left) = Json::parse("json2", raw, &Limits::default())? else {
        return Err(Error::malformed("json2 without a JSON array"));
    };
    if !matches!(left.as_slice(), [.., Json::String(_), Json::Array(_)]) {
        return Err(Error::malformed("json2 without a type and a shape after the elements"));
    }
    left.truncate(left.len().saturating_sub(2));
    left.reverse();
    let (mut count, mut texts) = (0_u32, vec![0; 4]);
    while let Some(item) = left.pop() {
        match item {
            // Arrays of several dimensions are nested lists.
            Json::Array(items) => left.extend(items.into_iter().rev()),
            Json::String(text) => {
                let len = u32::try_from(text.len()).ok().filter(|len| *len != NO_STRING);
                let len = len.ok_or_else(|| Error::malformed("json2 with a string of 4 GiB"))?;
                texts.extend_from_slice(&len.to_le_bytes());
                texts.extend_from_slice(text.as_bytes());
                count = count.saturating_add(1);
            }
            // Beyond the end of the array, zarr-python writes a fill value of any type.
            _ => {
                texts.extend_from_slice(&NO_STRING.to_le_bytes());
                count = count.saturating_add(1);
            }
        }
    }
    if let Some(place) = texts.first_chunk_mut() {
        *place = count.to_le_bytes();
    }
    Ok(texts)
}

/// Converts from the form of `vlen-utf8` to a JSON array of one dimension.
fn to_json(raw: &[u8]) -> Result<Vec<u8>> {
    let mut d = Decoder::new("vlen-utf8", 0, raw);
    let count = d.u32()?;
    let mut items = Vec::new();
    for _ in 0..count {
        let len = d.u32()?;
        let text = String::from_utf8_lossy(d.take(d.len_of(len.into())?)?).into_owned();
        items.push(Json::String(text));
    }
    items.push("|O".into());
    items.push([u64::from(count)].as_slice().into());
    Ok(Json::Array(items).emit_compact().into_bytes())
}

/// Rejects elements of `json2` that are not strings.
pub(super) fn check_read(rows: &[u8]) -> Result<()> {
    match Slot::each(rows).any(|slot| slot == Slot::NOWHERE) {
        true => Err(Error::unsupported("json2 with elements that are not strings, expected strings")),
        false => Ok(()),
    }
}

/// The marker that replaces the length of an element that is not a string. Its slot is [`Slot::NOWHERE`].
const NO_STRING: u32 = u32::MAX;

/// The content of the slot `row`.
pub(super) fn pointed_to<'h>(row: &[u8], heap: &'h [Bytes]) -> Result<&'h [u8]> {
    Slot::get(row).and_then(|slot| slot.content(heap)).ok_or_else(points_nowhere)
}

fn points_nowhere() -> Error {
    Error::invalid("a slot without content")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::ErrorKind;

    /// As numcodecs encodes `["", "abc", "é"]`.
    const THREE: &[u8] = b"\x03\0\0\0\0\0\0\0\x03\0\0\0abc\x02\0\0\0\xc3\xa9";

    #[test]
    fn slots_point_into_the_chunk() {
        let (mut rows, mut heap) = ([0xee; 48], vec![Bytes::from_static(b"other")]);
        Variable::Utf8.decode(Bytes::from_static(THREE), &mut rows, &mut heap).unwrap();
        let elements: Vec<_> = rows.chunks(16).map(|row| pointed_to(row, &heap).unwrap()).collect();
        assert_eq!(elements, [&b""[..], b"abc", "é".as_bytes()]);
        assert_eq!(Variable::Utf8.encode(&rows, &heap).unwrap(), THREE);
        assert_eq!(heap.len(), 2);
    }

    #[test]
    fn rejects_malformed_lists_of_strings() {
        let refused = |variable: Variable, raw: &[u8]| {
            let mut heap = Vec::new();
            let e = variable.decode(Bytes::copy_from_slice(raw), &mut [0; 48], &mut heap).unwrap_err();
            assert!(heap.is_empty());
            assert_eq!(e.kind(), ErrorKind::Malformed);
            e.detail().to_owned()
        };
        for len in 0..THREE.len() {
            refused(Variable::Utf8, &THREE[..len]);
        }
        let changed = |at: usize, byte| {
            let mut raw = THREE.to_vec();
            raw[at] = byte;
            raw
        };
        assert_eq!(refused(Variable::Utf8, &changed(0, 2)), "2 elements, expected 3");
        assert_eq!(refused(Variable::Utf8, &changed(19, 0xff)), "a string of 2 bytes that are not UTF-8");
        Variable::Bytes.decode(changed(19, 0xff).into(), &mut [0; 48], &mut Vec::new()).unwrap();
        assert!(refused(Variable::Bytes, &[THREE, b"x"].concat()).contains("1"));
        refused(Variable::Bytes, &changed(11, 0xff));
    }

    #[test]
    fn reads_nested_json_and_writes_flat_json() {
        let nested = r#"[["", "abc"], ["é"], "|O", [1, 3]]"#;
        let (mut rows, mut heap) = ([0xee; 48], Vec::new());
        Variable::Json.decode(Bytes::from(nested), &mut rows, &mut heap).unwrap();
        let elements: Vec<_> = rows.chunks(16).map(|row| pointed_to(row, &heap).unwrap()).collect();
        assert_eq!(elements, [&b""[..], b"abc", "é".as_bytes()]);
        let written = Variable::Json.encode(&rows, &heap).unwrap();
        assert_eq!(written, r#"["","abc","é","|O",[3]]"#.as_bytes());
        let refused = |raw: &str| {
            let e = Variable::Json.decode(Bytes::from(raw.to_owned()), &mut [0; 48], &mut Vec::new());
            e.unwrap_err().detail().to_owned()
        };
        assert_eq!(refused("{}"), "json2 without a JSON array");
        assert_eq!(refused("[]"), "json2 without a type and a shape after the elements");
        assert_eq!(refused(r#"["a", "|O", [1]]"#), "1 elements, expected 3");
        // Elements beyond the end of the array are not checked.
        Variable::Json.decode(Bytes::from(r#"["a", "b", 0, "|O", [3]]"#), &mut rows, &mut heap).unwrap();
        assert!(check_read(&rows[..32]).is_ok() && check_read(&rows).is_err());
        assert!(pointed_to(&rows[32..], &heap).is_err());
    }

    #[test]
    fn rejects_invalid_slots() {
        let heap = [Bytes::from_static(b"ab\xff")];
        let row = |count, offset| Slot { buffer: 0, count, offset }.to_bytes();
        assert!(Variable::Bytes.encode(&row(3, 0), &heap).is_ok());
        assert!(Variable::Utf8.encode(&row(3, 0), &heap).is_err());
        assert!(Variable::Bytes.encode(&row(4, 0), &heap).is_err());
        assert!(Variable::Bytes.encode(&row(1, u64::MAX), &heap).is_err());
        assert!(Variable::Bytes.encode(&Slot::reference(0).to_bytes(), &heap).is_err());
    }
}
