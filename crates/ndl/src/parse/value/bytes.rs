//! Values that are strings, opaque bytes, bit fields or times.

use super::super::events::{Node, Tag};
use super::super::scalar::{base64, hex, integer};
use super::super::{datatype::in_range, time};
use super::{Reader, Wrong, push_int};
use hyperslab_model::{CharacterSet, Datatype, Pad, Text, TimeUnit};

impl<'t> Reader<'_, 't, '_> {
    pub(super) fn datetime(
        &mut self,
        node: Node<'t>,
        datatype: &Datatype,
        unit: &TimeUnit,
        out: &mut Vec<u8>,
    ) -> Result<(), Wrong> {
        let scalar = self.scalar(node, "a time")?;
        let count = match integer(scalar.text).filter(|_| scalar.is_plain()) {
            Some(count) => Some(count),
            None => time::count(unit, scalar.text).or_else(|| integer(scalar.text)),
        };
        let Some(count) = count else {
            let expected = if unit.duration { "an integer" } else { "ISO 8601 text or an integer" };
            return self.wrong_kind(node, &format!("{expected} in units of {}", unit.unit));
        };
        if !in_range(count, 64, true) {
            return self.wrong_element(node, datatype, "out of range");
        }
        push_int(out, count, 64);
        Ok(())
    }

    pub(super) fn bits(&mut self, node: Node<'t>, size: u32, out: &mut Vec<u8>) -> Result<(), Wrong> {
        let scalar = self.scalar(node, "bits")?;
        let size = usize::try_from(size).map_err(|_| Wrong)?;
        let mut bytes = match scalar.text.strip_prefix("0x") {
            Some(digits) => {
                let even =
                    if digits.len() % 2 == 1 { format!("0x0{digits}") } else { scalar.text.to_string() };
                hex(&even).filter(|bytes| !bytes.is_empty())
            }
            None => {
                integer(scalar.text).filter(|value| *value >= 0).map(|value| value.to_be_bytes().to_vec())
            }
        };
        let Some(bytes) = &mut bytes else { return self.wrong_kind(node, "bits like 0xa5") };
        bytes.reverse();
        while bytes.len() > size && bytes.last() == Some(&0) {
            bytes.pop();
        }
        let Some(missing) = size.checked_sub(bytes.len()) else {
            return self.too_long(node, bytes.len(), size);
        };
        out.extend_from_slice(bytes);
        self.pad(out, missing, 0, node)
    }

    pub(super) fn text(&mut self, node: Node<'t>, text: Text, out: &mut Vec<u8>) -> Result<(), Wrong> {
        if node.is_null() {
            let message = "null for a string, read as an empty string";
            self.context.findings.note("ndl/null", node.span(), message);
        }
        // JSON has no tags.
        let stored_bytes = node.mapping().filter(|map| map.len() == 1).and_then(|map| map.get("x-bytes"));
        let scalar = self.scalar(stored_bytes.unwrap_or(node), "text")?;
        let decoded = match (scalar.tag, stored_bytes) {
            (Tag::Binary, _) => Some(base64(scalar.text).ok_or("base 64")),
            (_, Some(_)) => Some(hex(scalar.text).ok_or("hex text like \"0x89504e47\"")),
            _ => None,
        };
        let bytes: &[u8] = match &decoded {
            Some(Ok(bytes)) => bytes,
            Some(Err(expected)) => return self.wrong_kind(stored_bytes.unwrap_or(node), expected),
            None if node.is_null() => &[],
            None => scalar.text.as_bytes(),
        };
        if self.expected.charset == Some(CharacterSet::Ascii) && decoded.is_none() && !bytes.is_ascii() {
            self.context.findings.warning(
                "ndl/charset",
                node.span(),
                "text that is not ASCII, expected ASCII (charset ascii)",
            );
        }
        match text {
            Text::Variable => {
                let Ok(count) = u32::try_from(bytes.len()) else { return Err(Wrong) };
                let slot = self.allocate(count);
                self.heap.extend_from_slice(bytes);
                out.extend(slot.to_bytes());
                Ok(())
            }
            Text::Fixed { len, pad } => {
                if let Some(most) = self.expected.charset.and_then(|charset| charset.characters(len)) {
                    let characters = std::str::from_utf8(bytes).map(|text| text.chars().count());
                    match characters {
                        Ok(found) if found <= usize::try_from(most).unwrap_or(usize::MAX) => {}
                        Ok(found) => {
                            let message = format!(
                                "a text of {found} characters, expected at most {most} (length {len} in utf-32)"
                            );
                            self.context.findings.error("ndl/value-length", node.span(), message);
                            return Err(Wrong);
                        }
                        Err(_) => return self.wrong_kind(node, "text that is Unicode (charset utf-32)"),
                    }
                }
                let len = usize::try_from(len).map_err(|_| Wrong)?;
                let Some(missing) = len.checked_sub(bytes.len()) else {
                    return self.too_long(node, bytes.len(), len);
                };
                out.extend_from_slice(bytes);
                let byte = if pad == Pad::Space { b' ' } else { 0 };
                self.pad(out, missing, byte, node)
            }
        }
    }

    pub(super) fn opaque(&mut self, node: Node<'t>, size: u32, out: &mut Vec<u8>) -> Result<(), Wrong> {
        let scalar = self.scalar(node, "bytes")?;
        let size = usize::try_from(size).map_err(|_| Wrong)?;
        let bytes = match scalar.tag {
            Tag::Binary => base64(scalar.text),
            _ => hex(scalar.text),
        };
        let Some(bytes) = bytes else {
            return match scalar.tag {
                Tag::Binary => self.wrong_kind(node, "base 64"),
                _ => self.wrong_kind(node, "hex text like \"0x89504e47\", or !!binary"),
            };
        };
        let Some(missing) = size.checked_sub(bytes.len()) else {
            return self.too_long(node, bytes.len(), size);
        };
        if missing > 0 {
            let message =
                format!("{} bytes for an opaque element of {size} bytes, padded with zeros", bytes.len());
            self.context.findings.warning("ndl/value-length", node.span(), message);
        }
        out.extend(bytes);
        self.pad(out, missing, 0, node)
    }
}
