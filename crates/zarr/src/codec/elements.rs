//! Codecs of numcodecs that change elements and their data type.
//!
//! Their input and output are elements of the types in their parameters, including byte orders. Their output is in
//! row-major order.
//!
//! Spec: numcodecs, zarr-extensions/codecs/bitround

use super::numcodecs::numbers::{keeps, made, order_of, taken};
use crate::data_type::{ByteOrder, DataType, Float, Layout};
use crate::json::Spot;
use hyperslab_codec::{Codec, Number, NumberKind, Scratch, decode, encode};
use hyperslab_core::memory::room;
use hyperslab_core::nd::element_count;
use hyperslab_core::{Error, Result};

/// One of these codecs as an array-to-array codec of version 3, from rows to rows.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    codec: Codec,
    /// The elements before and after the codec.
    before: Layout,
    after: Layout,
}

/// The type and layout of elements in memory.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) data_type: DataType,
    pub(super) order: ByteOrder,
}

impl Elements {
    /// The codec, and the elements after it.
    pub(super) fn new(codec: Codec, before: &Memory, at: &Spot<'_>) -> Result<(Elements, Memory)> {
        let wrong = |e: Error| at.malformed(e.detail());
        let after = match made(&codec) {
            Some(number) => memory(number),
            None => before.clone(),
        };
        let layout = |memory: &Memory| Layout::new(&memory.data_type, Some(memory.order)).map_err(wrong);
        let elements = Elements { codec, before: layout(before)?, after: layout(&after)? };
        let read = taken(&elements.codec).map_or(1, Number::size);
        match elements.before.stored_size() {
            found if found.is_multiple_of(read) && (found == read || keeps(&elements.codec)) => {
                Ok((elements, after))
            }
            found => Err(at.malformed(format!("elements of {read} bytes, expected {found} as in the array"))),
        }
    }

    pub(super) fn spare(&mut self, numbers: &[f64]) {
        self.codec = self.codec.clone().sparing(numbers);
    }

    pub(super) fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The rank of the output for an input of `rank` dimensions.
    pub(super) fn rank(&self, rank: usize) -> usize {
        if matches!(self.codec, Codec::PackBits(_)) { 1 } else { rank }
    }

    /// The shape of the output and the size of its rows in bytes.
    pub(super) fn shape(&self, shape: &[u64]) -> Result<(Vec<u64>, usize)> {
        let shape = match self.codec {
            Codec::PackBits(_) => {
                let count = element_count(shape)
                    .ok_or_else(|| Error::malformed("a chunk of more than 2^63 bytes"))?;
                vec![count.div_ceil(8) + 1]
            }
            _ => shape.to_vec(),
        };
        Ok((shape, self.after.row_size()))
    }

    /// Decodes to rows.
    pub(super) fn undo(&self, changed: &[u8], rows: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let codecs = std::slice::from_ref(&self.codec);
        let mut stored = Vec::new();
        let changed = in_memory(&self.after, changed, &mut stored)?;
        if self.before.is_plain() {
            return decode(codecs, changed, rows, scratch);
        }
        let mut raw = vec![0; rows.len() / self.before.row_size() * self.before.stored_size()];
        decode(codecs, changed, &mut raw, scratch)?;
        self.before.decode(&raw, rows)
    }

    pub(super) fn apply(&self, rows: &[u8], scratch: &mut Scratch) -> Result<Vec<u8>> {
        let mut raw = Vec::new();
        let changed =
            encode(std::slice::from_ref(&self.codec), in_memory(&self.before, rows, &mut raw)?, scratch)?;
        if self.after.is_plain() {
            return Ok(changed);
        }
        let mut rows = vec![0; changed.len() / self.after.stored_size() * self.after.row_size()];
        self.after.decode(&changed, &mut rows)?;
        Ok(rows)
    }
}

fn memory(number: Number) -> Memory {
    let bits = u8::try_from(number.size() * 8).unwrap_or(64);
    let data_type = match number.kind {
        NumberKind::Bool => DataType::Bool,
        NumberKind::Signed { .. } => DataType::Integer { signed: true, bits },
        NumberKind::Unsigned { .. } => DataType::Integer { signed: false, bits },
        NumberKind::Float16 => DataType::Float(Float::Float16),
        NumberKind::Float32 => DataType::Float(Float::Float32),
        NumberKind::Float64 => DataType::Float(Float::Float64),
    };
    Memory { data_type, order: order_of(&number) }
}

/// Elements in the memory layout, converted from rows.
fn in_memory<'a>(layout: &Layout, rows: &'a [u8], buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
    if layout.is_plain() {
        return Ok(rows);
    }
    let raw = room(buffer, rows.len() / layout.row_size() * layout.stored_size());
    layout.encode(rows, raw)?;
    Ok(raw)
}
