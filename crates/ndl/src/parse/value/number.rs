//! Floating-point numbers, rounded once, directly to their type.

use super::super::events::{Node, Tag};
use super::super::scalar::{base64, double, hex, is_decimal, small_float, special};
use super::decimal::Encoded;
use super::{Reader, Wrong};
use hyperslab_model::{Datatype, Float};

impl<'t> Reader<'_, 't, '_> {
    pub(super) fn float(&mut self, node: Node<'t>, float: &Float, out: &mut Vec<u8>) -> Result<(), Wrong> {
        // JSON has no tags.
        let stored_bytes = node.mapping().filter(|map| map.len() == 1).and_then(|map| map.get("x-bytes"));
        let scalar = self.scalar(stored_bytes.unwrap_or(node), "a number")?;
        let text = scalar.text;
        let bytes = match scalar.tag {
            Tag::Binary => Some(base64(text)),
            _ if stored_bytes.is_some() => Some(hex(text)),
            _ if matches!(float, Float::Quad | Float::Other(_)) => {
                if is_decimal(text) || special(text).is_some() {
                    return self.decimal(node, text, float, out);
                }
                Some(hex(text))
            }
            _ => None,
        };
        if let Some(bytes) = bytes {
            return self.stored(node, float, bytes, out);
        }
        let infinite = match float {
            Float::Single => match single(text) {
                Some(value) => {
                    out.extend(value.to_ne_bytes());
                    value.is_infinite()
                }
                None => return self.not_a_number(node, float),
            },
            Float::Double => match double(text) {
                Some(value) => {
                    out.extend(value.to_ne_bytes());
                    value.is_infinite()
                }
                None => return self.not_a_number(node, float),
            },
            Float::Half => match small_float(text, 11) {
                Some(bits) => {
                    out.extend(bits.to_ne_bytes());
                    bits & 0x7fff == 0x7c00
                }
                None => return self.not_a_number(node, float),
            },
            Float::BFloat => match small_float(text, 8) {
                Some(bits) => {
                    out.extend(bits.to_ne_bytes());
                    bits & 0x7fff == 0x7f80
                }
                None => return self.not_a_number(node, float),
            },
            Float::Quad | Float::Other(_) => return self.not_a_number(node, float),
        };
        if infinite && special(text).is_none() {
            return self.wrong_element(node, &Datatype::Float(float.clone()), "out of range");
        }
        Ok(())
    }

    /// A number of a float format that the processor does not support.
    fn decimal(&mut self, node: Node<'t>, text: &str, float: &Float, out: &mut Vec<u8>) -> Result<(), Wrong> {
        let rule = match self.powers.encode(text, float) {
            Encoded::Bytes(bytes) => {
                out.extend(bytes);
                return Ok(());
            }
            Encoded::TooLarge => {
                return self.wrong_element(node, &Datatype::Float(float.clone()), "out of range");
            }
            Encoded::Unwieldy => "ndl/value",
            Encoded::TooCostly => "ndl/limit",
        };
        let message = format!("{} for {float}, expected its stored bytes", node.describe());
        let finding = self.context.findings.error(rule, node.span(), message);
        finding.hint(format!("write {} bytes as hex text, the least significant first", float.row_size()));
        Err(Wrong)
    }

    /// The stored bytes of a number, least significant first.
    fn stored(
        &mut self,
        node: Node<'t>,
        float: &Float,
        bytes: Option<Vec<u8>>,
        out: &mut Vec<u8>,
    ) -> Result<(), Wrong> {
        let size = float.row_size();
        let Some(mut bytes) = bytes.filter(|bytes| bytes.len() == size) else {
            return self.wrong_kind(
                node,
                &format!("a number ({float}), or its {size} bytes as hex text, the least significant first"),
            );
        };
        if cfg!(target_endian = "big") && !matches!(float, Float::Quad | Float::Other(_)) {
            bytes.reverse();
        }
        out.extend(bytes);
        Ok(())
    }

    fn not_a_number(&mut self, node: Node<'t>, float: &Float) -> Result<(), Wrong> {
        let text = node.scalar().map(|scalar| scalar.text.to_ascii_lowercase()).unwrap_or_default();
        let hint = match text.as_str() {
            "inf" | "+inf" | "infinity" | "+infinity" => Some("write .inf".into()),
            "-inf" | "-infinity" => Some("write -.inf".into()),
            "nan" | "+nan" | "-nan" => Some("write .nan".into()),
            _ => None,
        };
        let message = format!("{}, expected a number ({float})", node.describe());
        self.context.findings.error("ndl/value", node.span(), message).maybe_hint(hint);
        Err(Wrong)
    }
}

fn single(text: &str) -> Option<f32> {
    match special(text) {
        Some(value) if value.is_nan() => Some(f32::NAN),
        Some(value) => Some(if value > 0.0 { f32::INFINITY } else { f32::NEG_INFINITY }),
        None => is_decimal(text).then(|| text.parse().ok())?,
    }
}
