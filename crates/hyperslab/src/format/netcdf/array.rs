//! Variables whose elements have a different form in NetCDF than in the source.

use super::datatype::Change;
use crate::target::{ArrayTarget, ChunkBytes, Encoded, Encoder};
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Element, Elements, Values};
use std::sync::Arc;

/// A variable that has additional dimensions, or elements of another type, compared with its source array.
pub(in crate::format) struct ChangedArray<'a> {
    inner: Box<dyn ArrayTarget + 'a>,
    /// The datatype of the source.
    datatype: Arc<Datatype>,
    change: Change,
    /// The shape of a chunk along the dimensions of the source.
    chunk: Vec<u64>,
    /// The number of additional dimensions, which chunks span completely.
    further: usize,
}

impl<'a> ChangedArray<'a> {
    /// # Errors
    /// If chunks do not span the additional dimensions completely.
    pub(in crate::format) fn new(
        inner: Box<dyn ArrayTarget + 'a>,
        datatype: Arc<Datatype>,
        change: Change,
        extents: &[u64],
    ) -> Result<ChangedArray<'a>> {
        let chunk = inner.encoder().chunk();
        let rank = chunk.len().saturating_sub(extents.len());
        let (own, further) = chunk.split_at_checked(rank).unwrap_or_default();
        if further != extents {
            return Err(Error::invalid(format!("chunks of {further:?} elements, expected {extents:?}")));
        }
        let (chunk, further) = (own.to_vec(), further.len());
        Ok(ChangedArray { inner, datatype, change, chunk, further })
    }

    /// The position of a chunk including the additional dimensions, each of which has only one chunk.
    fn index(&self, index: &[u64]) -> Vec<u64> {
        index.iter().copied().chain(std::iter::repeat_n(0, self.further)).collect()
    }
}

impl Encoder for ChangedArray<'_> {
    fn chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn encode(&self, index: &[u64], values: &Values, out: Vec<u8>, scratch: &mut Scratch) -> Result<Encoded> {
        let index = self.index(index);
        match self.change {
            Change::None => self.inner.encoder().encode(&index, values, out, scratch),
            change => {
                let values = changed(change, &self.datatype, values)?;
                self.inner.encoder().encode(&index, &values, out, scratch)
            }
        }
    }

    fn needs_unwritten(&self) -> bool {
        self.inner.encoder().needs_unwritten()
    }
}

impl ArrayTarget for ChangedArray<'_> {
    fn encoder(&self) -> &dyn Encoder {
        self
    }

    fn has_elements(&self) -> bool {
        self.inner.has_elements()
    }

    fn is_ordered(&self) -> bool {
        self.inner.is_ordered()
    }

    fn allocate(&self, size: u64) -> Result<u64> {
        self.inner.allocate(size)
    }

    fn place(&self, address: u64, data: &[u8]) -> Result<()> {
        self.inner.place(address, data)
    }

    fn store(&self, index: &[u64], chunk: Option<&ChunkBytes>) -> Result<()> {
        self.inner.store(&self.index(index), chunk)
    }

    fn is_recorded(&self) -> bool {
        self.inner.is_recorded()
    }

    fn settle(&self, number: u64) -> Result<()> {
        self.inner.settle(number)
    }

    fn resume(&self, number: u64) -> Result<()> {
        self.inner.resume(number)
    }

    fn resume_all(&self) -> Result<()> {
        self.inner.resume_all()
    }

    fn finish(&self) -> Result<()> {
        self.inner.finish()
    }

    fn abandon(&self) -> Result<()> {
        self.inner.abandon()
    }
}

/// The values after a change. If there is no change, they are the given values.
pub(in crate::format) fn changed(change: Change, datatype: &Datatype, values: &Values) -> Result<Values> {
    // Elements within arrays count as elements of their own.
    let datatype = innermost(datatype);
    let elements = Elements::new(datatype, values);
    let mut heap = Heap::default();
    let mut rows = Vec::new();
    match change {
        Change::None => return Ok(values.clone()),
        Change::ToSingle => {
            for element in elements {
                rows.extend(narrowed(number(&element.get(), datatype)?).to_ne_bytes());
            }
        }
        Change::ToInt => {
            for element in elements {
                let (Element::Int(number) | Element::Enum(number, _)) = element.get() else {
                    return Err(no_number(datatype));
                };
                let number = i32::try_from(number).map_err(|_| {
                    Error::invalid(format!("the integer {number}, where 32 bits were planned"))
                })?;
                rows.extend(number.to_ne_bytes());
            }
        }
        Change::ToDouble => {
            for element in elements {
                rows.extend(number(&element.get(), datatype)?.to_ne_bytes());
            }
        }
        Change::ToCharacters(len) => {
            for element in elements {
                let Element::Text(text) = element.get() else { return Err(no_number(datatype)) };
                let end = rows.len().saturating_add(len as usize);
                rows.extend_from_slice(text);
                if rows.len() > end {
                    let found = text.len();
                    return Err(Error::invalid(format!(
                        "a text of {found} bytes, at most {len} were planned"
                    )));
                }
                rows.resize(end, 0);
            }
        }
        Change::ToTexts => {
            for element in elements {
                let Element::Text(text) = element.get() else { return Err(no_number(datatype)) };
                let slot = match text.is_empty() {
                    true => Slot::default(),
                    false => heap.push_bytes(Bytes::copy_from_slice(text))?,
                };
                rows.extend(slot.to_bytes());
            }
        }
    }
    Ok(Values { rows: rows.into(), heap })
}

fn innermost(datatype: &Datatype) -> &Datatype {
    match datatype.resolved() {
        Datatype::Array { base, .. } => innermost(base),
        own => own,
    }
}

fn number(element: &Element<'_>, datatype: &Datatype) -> Result<f64> {
    match (element, datatype) {
        (Element::Float(number), _) => Ok(*number),
        (Element::Int(number) | Element::Enum(number, _), _) => Ok(nearest(*number)),
        (Element::Bits(bytes), _) => Ok(nearest(bits(bytes))),
        (Element::RawFloat(stored), Datatype::Float(float)) => {
            float.nearest(stored).ok_or_else(|| no_number(datatype))
        }
        _ => Err(no_number(datatype)),
    }
}

/// The nearest 64-bit number.
#[expect(clippy::cast_precision_loss, reason = "the plan says that it is the nearest")]
fn nearest(number: i128) -> f64 {
    number as f64
}

/// A bit field, as a number.
fn bits(bytes: &[u8]) -> i128 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | i128::from(*byte))
}

/// The 32-bit floating-point number equal to a number that fits, as all 16-bit numbers do.
#[expect(clippy::cast_possible_truncation, reason = "numbers of 16 bits are given")]
fn narrowed(number: f64) -> f32 {
    number as f32
}

fn no_number(datatype: &Datatype) -> Error {
    Error::unsupported(format!("an element of {datatype} that no NetCDF number approximates"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::{Float, Pad, Text};

    #[test]
    fn numbers_and_texts_change_one_by_one() {
        let half = Datatype::Float(Float::Half);
        let values = Values { rows: Bytes::from(0x3e00_u16.to_ne_bytes().to_vec()), heap: Heap::default() };
        let single = changed(Change::ToSingle, &half, &values).unwrap();
        assert_eq!(*single.rows, 1.5_f32.to_ne_bytes());
        let texts = Datatype::Array {
            base: Box::new(Datatype::String(Text::Fixed { len: 3, pad: Pad::Nul })),
            shape: vec![2],
        };
        let values = Values { rows: Bytes::from_static(b"ab\0\0\0\0"), heap: Heap::default() };
        let values = changed(Change::ToTexts, &texts, &values).unwrap();
        let variable = Datatype::String(Text::Variable);
        let found: Vec<_> = Elements::new(&variable, &values)
            .map(|text| match text.get() {
                Element::Text(text) => text.to_vec(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(found, [b"ab".to_vec(), Vec::new()]);
    }
}
