//! Attributes, in short form if a reader would infer the same type and shape from the value.

use super::{Lower, push_map};
use crate::number::Number;
use crate::tree::{Entries, Key, Scalar, Style, Tree};
use hyperslab_core::Result;
use hyperslab_model::{Attribute, Datatype, Float};

impl Lower<'_> {
    pub(super) fn attribute<'a>(&mut self, attribute: &'a Attribute) -> Result<Tree<'a>> {
        let Attribute { shape, datatype, value, storage, native } = attribute;
        let storage = self.attribute_storage(storage, native);
        let extra = self.attribute_extra(native);
        if let Some([]) = shape.as_deref()
            && !self.long
            && storage.is_empty()
            && extra.is_empty()
            && may_infer(datatype)
            && let Some(value) = self.value(datatype, value, &[])?
            && infers(datatype, &value)
        {
            return Ok(value);
        }
        let mut entries = Entries::with_capacity(4);
        let extents = match shape {
            Some(shape) => Tree::ints(shape),
            None => self.null_shape()?,
        };
        entries.push((Key::Word("shape"), extents));
        self.push_type(&mut entries, Some(datatype), Some(value))?;
        push_map(&mut entries, "storage", Style::Block, storage);
        entries.extend(extra);
        if let Some(shape) = shape {
            self.push_value(&mut entries, datatype, value, shape)?;
        }
        Ok(Tree::map(entries))
    }
}

fn may_infer(datatype: &Datatype) -> bool {
    matches!(datatype, Datatype::Int { .. } | Datatype::Float(Float::Double) | Datatype::String(_))
}

/// Whether a reader infers the type from the scalar: an integer is the first of int32, int64 and uint64 that holds
/// it, any other number is float64, everything else is text.
fn infers(datatype: &Datatype, value: &Tree<'_>) -> bool {
    let Tree::Scalar(scalar) = value else { return false };
    match (datatype, scalar) {
        (Datatype::Int { bits: 32, signed: true }, Scalar::Int(_)) => true,
        (Datatype::Int { bits: 64, signed: true }, Scalar::Int(value)) => i32::try_from(*value).is_err(),
        (Datatype::Int { bits: 64, signed: false }, Scalar::Int(value)) => i64::try_from(*value).is_err(),
        (Datatype::Float(Float::Double), Scalar::Number(Number::Double(_))) => true,
        (Datatype::String(_), Scalar::Text(_)) => true,
        _ => false,
    }
}
