//! How decoded elements lie in memory, whatever their type: fixed-size rows and a heap.
//!
//! An element is a *row*, as long as its type says: numbers in native byte order, fixed-length strings and
//! opaque bytes as they are, compound members and array elements packed one after the other, and for
//! everything variable (strings, sequences, references) one 16-byte [`Slot`] that points into the [`Heap`].
//! Moving elements (regions, chunks, transposition) copies rows and never looks inside.
//!
//! | type | row |
//! |---|---|
//! | integer, enumeration base, time of `s` stored bytes | [`int_row`]`(s)` bytes: 1, 2, 4, 8 or 16, sign- or zero-extended |
//! | IEEE half, single, double, bfloat16 | 2, 4, 8, 2 bytes |
//! | any other float of `s` stored bytes | the `s` stored bytes, little-endian |
//! | complex | two floats |
//! | bit field, opaque, fixed-length string | its bytes (a bit field little-endian) |
//! | compound, array | the rows of its parts, packed |
//! | variable-length string or sequence | a slot: buffer, count of bytes or elements, byte offset |
//! | reference | a slot: [`Slot::reference`] |

use crate::{Charge, Error, ErrorKind, Result};
use bytes::Bytes;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// The row size of an integer stored in `stored` bytes.
pub const fn int_row(stored: usize) -> usize {
    stored.next_power_of_two()
}

/// Elements in row-major order, with what their slots point to. `R` is how references are told.
#[derive(Clone, Debug)]
pub struct Rows<R> {
    /// The rows, packed.
    pub rows: Bytes,
    /// What the slots in the rows point to.
    pub heap: Heap<R>,
}

/// What slots point to.
#[derive(Clone, Debug)]
pub struct Heap<R> {
    /// Bytes of strings, rows of sequences.
    pub buffers: Vec<Bytes>,
    /// Targets of references.
    pub references: Vec<R>,
    /// What stands for something that is stored once, by what it is: its buffer is here once too.
    pub shared: FxHashMap<(u64, u64), u32>,
    /// What was taken from a budget for buffers that are no part of a file.
    pub charges: Vec<Arc<Charge>>,
}

impl<R> Default for Heap<R> {
    fn default() -> Self {
        Heap {
            buffers: Vec::new(),
            references: Vec::new(),
            shared: FxHashMap::default(),
            charges: Vec::new(),
        }
    }
}

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Rows { rows: Bytes::new(), heap: Heap::default() }
    }
}

impl<R: Clone> Rows<R> {
    /// The rows of a range of elements, of `size` bytes each, without copying them; `None` if it reaches past the
    /// last.
    pub fn slice(&self, range: Range<usize>, size: usize) -> Option<Rows<R>> {
        let bytes = range.start.checked_mul(size)?..range.end.checked_mul(size)?;
        self.rows.get(bytes.clone())?;
        Some(Rows { rows: self.rows.slice(bytes), heap: self.heap.clone() })
    }

    /// The rows of the elements at these indexes, of `size` bytes each, in this order; `None` if one is past the last.
    /// The buffers of the heap are shared with these rows.
    pub fn pick(&self, indexes: &[usize], size: usize) -> Option<Rows<R>> {
        let mut rows = Vec::with_capacity(indexes.len().checked_mul(size)?);
        for index in indexes {
            let start = index.checked_mul(size)?;
            rows.extend_from_slice(self.rows.get(start..start.checked_add(size)?)?);
        }
        Some(Rows { rows: rows.into(), heap: self.heap.clone() })
    }
}

impl<R> Heap<R> {
    /// Adds a buffer and returns its index.
    ///
    /// # Errors
    /// Beyond 2^32 - 1 buffers.
    pub fn push(&mut self, bytes: Bytes) -> Result<u32> {
        let index = index_of(self.buffers.len())?;
        self.buffers.push(bytes);
        Ok(index)
    }

    /// Adds a text or bytes and returns the slot that means it.
    ///
    /// # Errors
    /// As [`Heap::push`], and for 4 GiB or more.
    pub fn push_bytes(&mut self, bytes: Bytes) -> Result<Slot> {
        let Ok(count) = u32::try_from(bytes.len()) else {
            return Err(Error::new(ErrorKind::LimitExceeded, "an element of 4 GiB or more"));
        };
        match count {
            0 => Ok(Slot::default()),
            count => Ok(Slot { buffer: self.push(bytes)?, count, offset: 0 }),
        }
    }

    /// The index of the buffer for what `key` names, which `bytes` gives if it is not here yet.
    ///
    /// # Errors
    /// As [`Heap::push`].
    pub fn share(&mut self, key: (u64, u64), bytes: impl FnOnce() -> Bytes) -> Result<u32> {
        if let Some(known) = self.shared.get(&key) {
            return Ok(*known);
        }
        let index = self.push(bytes())?;
        self.shared.insert(key, index);
        Ok(index)
    }

    /// Adds a reference and returns the slot that means it.
    ///
    /// # Errors
    /// Beyond 2^32 - 1 references.
    pub fn push_reference(&mut self, reference: R) -> Result<Slot> {
        let index = index_of(self.references.len())?;
        self.references.push(reference);
        Ok(Slot::reference(index))
    }

    /// `len` bytes of what `slot` points to; empty slots need no buffer.
    pub fn bytes(&self, slot: Slot, len: usize) -> Option<&[u8]> {
        if len == 0 {
            return Some(&[]);
        }
        let from = usize::try_from(slot.offset).ok()?;
        self.buffers.get(usize::try_from(slot.buffer).ok()?)?.get(from..from.checked_add(len)?)
    }

    /// The reference that `slot` means.
    pub fn reference(&self, slot: Slot) -> Option<&R> {
        self.references.get(usize::try_from(slot.offset).ok()?)
    }

    /// The same heap with each reference told in another way.
    ///
    /// # Errors
    /// The first that `tell` gives.
    pub fn map_references<S>(self, tell: impl FnMut(R) -> Result<S>) -> Result<Heap<S>> {
        Ok(Heap {
            buffers: self.buffers,
            references: self.references.into_iter().map(tell).collect::<Result<_>>()?,
            shared: self.shared,
            charges: self.charges,
        })
    }
}

fn index_of(len: usize) -> Result<u32> {
    match u32::try_from(len) {
        Ok(index) if index < Slot::REFERENCE => Ok(index),
        _ => Err(Error::new(ErrorKind::LimitExceeded, "more than 2^32 heap buffers in one array")),
    }
}

/// A row's pointer to something of variable length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Index of the buffer.
    pub buffer: u32,
    /// Bytes of a string, elements of a sequence.
    pub count: u32,
    /// First byte within the buffer; for a reference its index.
    pub offset: u64,
}

impl Slot {
    /// Bytes of a slot in a row.
    pub const SIZE: usize = 16;
    const REFERENCE: u32 = u32::MAX;

    /// The slot of the reference with this index.
    pub const fn reference(index: u32) -> Slot {
        Slot { buffer: Slot::REFERENCE, count: 1, offset: index as u64 }
    }

    /// The slot at the beginning of `row`.
    pub fn get(row: &[u8]) -> Option<Slot> {
        let (buffer, rest) = row.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        Some(Slot {
            buffer: u32::from_ne_bytes(*buffer),
            count: u32::from_ne_bytes(*count),
            offset: u64::from_ne_bytes(*rest.first_chunk()?),
        })
    }

    /// The bytes of the slot in a row.
    pub fn to_bytes(self) -> [u8; Slot::SIZE] {
        let mut row = [0; Slot::SIZE];
        row[..4].copy_from_slice(&self.buffer.to_ne_bytes());
        row[4..8].copy_from_slice(&self.count.to_ne_bytes());
        row[8..].copy_from_slice(&self.offset.to_ne_bytes());
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_return() {
        let slot = Slot { buffer: 3, count: 0x0102_0304, offset: 0x0506_0708_090a_0b0c };
        assert_eq!(Slot::get(&slot.to_bytes()), Some(slot));
        assert_eq!(Slot::get(&[0; 15]), None);
    }

    #[test]
    fn elements_are_picked_by_their_indexes() {
        let rows = Rows::<()> { rows: Bytes::from_static(b"aabbcc"), heap: Heap::default() };
        assert_eq!(rows.pick(&[2, 0, 2], 2).unwrap().rows, b"ccaacc"[..]);
        assert_eq!(rows.slice(1..3, 2).unwrap().rows, b"bbcc"[..]);
        assert!(rows.pick(&[3], 2).is_none() && rows.pick(&[usize::MAX], 2).is_none());
        assert!(rows.slice(2..4, 2).is_none() && rows.slice(usize::MAX..usize::MAX, 2).is_none());
    }

    #[test]
    fn what_is_shared_is_there_once() {
        let mut heap = Heap::<()>::default();
        let mut share = |key| heap.share(key, || Bytes::from_static(b"abc")).unwrap();
        assert_eq!([share((1, 2)), share((1, 3)), share((1, 2)), share((2, 2))], [0, 1, 0, 2]);
        assert_eq!(heap.buffers.len(), 3);
    }

    #[test]
    fn heap_gives_no_bytes_outside_its_buffers() {
        let mut heap = Heap::<()>::default();
        let buffer = heap.push(Bytes::from_static(b"abc")).unwrap();
        let slot = Slot { buffer, count: 2, offset: 1 };
        assert_eq!(heap.bytes(slot, 2), Some(&b"bc"[..]));
        assert_eq!(heap.bytes(slot, 3), None);
        assert_eq!(heap.bytes(Slot { buffer: 9, ..slot }, 0), Some(&b""[..]));
        assert_eq!(heap.bytes(Slot { offset: u64::MAX, ..slot }, 2), None);
    }
}
