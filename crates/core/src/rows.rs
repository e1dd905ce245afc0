//! The memory layout of decoded elements of any type: rows of fixed size, and a heap.
//!
//! An element is a *row* whose size its type determines. Numbers are in native byte order; fixed-length strings and
//! opaque bytes are as stored; compound members and array elements follow each other without padding. Data of
//! variable length (strings, sequences, references) is a 16-byte [`Slot`] that points into the [`Heap`]. To move
//! elements (between regions and chunks, or to transpose them) it is enough to copy rows.
//!
//! | type | row |
//! |---|---|
//! | integer, enumeration base, time in `s` bytes | [`int_row`]`(s)` bytes: 1, 2, 4, 8 or 16, sign- or zero-extended |
//! | IEEE half, single, double, bfloat16 | 2, 4, 8, 2 bytes |
//! | any other float of `s` stored bytes | the `s` stored bytes, little-endian |
//! | complex | two floats |
//! | bit field, opaque, fixed-length string | its bytes (a bit field little-endian) |
//! | compound, array | the rows of its parts, packed |
//! | variable-length string or sequence | a slot: buffer, count of bytes or elements, byte offset |
//! | reference | a slot: [`Slot::reference`] |

mod layout;

pub use layout::{ElementLayout, ElementPart};

use crate::{Charge, Error, ErrorKind, Limit, Result};
use bytes::Bytes;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// The row size of an integer stored in `stored` bytes.
pub const fn int_row(stored: usize) -> usize {
    stored.next_power_of_two()
}

/// Elements in row-major order, and the heap that their slots point into. `R` is the type of references.
#[derive(Clone, Debug)]
pub struct Rows<R> {
    /// The rows, without gaps.
    pub rows: Bytes,
    /// What the slots in the rows point to.
    pub heap: Heap<R>,
}

/// The data that slots point to.
#[derive(Clone, Debug)]
pub struct Heap<R> {
    /// Bytes of strings, and rows of sequences.
    pub buffers: Vec<Bytes>,
    /// References.
    pub references: Vec<R>,
    /// Buffers shared by several elements, by a key that identifies their content. Each is in `buffers` once.
    pub shared: FxHashMap<(u64, u64), u32>,
    /// The charges to a budget for buffers that do not borrow from a file.
    pub charges: Vec<Arc<Charge>>,
    /// How much content the slots may refer to.
    pub content: Content,
}

impl<R> Default for Heap<R> {
    fn default() -> Self {
        Heap::of_at_most(u64::MAX)
    }
}

/// The bytes that slots refer to, counted once per reference: a few bytes of a file can refer to the same content any
/// number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The bytes counted so far.
    pub bytes: u64,
    /// The maximum number of bytes.
    pub most: u64,
}

impl Content {
    /// Counts content before it is converted or copied.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] if the maximum is exceeded.
    pub fn name(&mut self, bytes: u64) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        match self.bytes <= self.most {
            true => Ok(()),
            false => Err(Error::limit_exceeded(
                Limit::Allocation,
                format!("elements of variable length refer to more than {} bytes", self.most),
            )),
        }
    }

    /// The number of bytes that slots may still refer to.
    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.bytes)
    }
}

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Rows { rows: Bytes::new(), heap: Heap::default() }
    }
}

impl<R: Clone> Rows<R> {
    /// The rows of a range of elements of `size` bytes, without copying. `None` if it extends past the last element.
    pub fn slice(&self, range: Range<usize>, size: usize) -> Option<Rows<R>> {
        let bytes = range.start.checked_mul(size)?..range.end.checked_mul(size)?;
        self.rows.get(bytes.clone())?;
        Some(Rows { rows: self.rows.slice(bytes), heap: self.heap.clone() })
    }

    /// The rows of the elements with these indexes, in this order. A row has `size` bytes. `None` if an index is too
    /// large. The heap buffers are shared, not copied.
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
    /// An empty heap whose slots may refer to at most this many bytes of content.
    pub fn of_at_most(most: u64) -> Self {
        Heap {
            buffers: Vec::new(),
            references: Vec::new(),
            shared: FxHashMap::default(),
            charges: Vec::new(),
            content: Content { bytes: 0, most },
        }
    }

    /// Adds a buffer and returns its index.
    ///
    /// # Errors
    /// Beyond 2^32 - 1 buffers.
    pub fn push(&mut self, bytes: Bytes) -> Result<u32> {
        let index = index_of(self.buffers.len())?;
        self.buffers.push(bytes);
        Ok(index)
    }

    /// Adds bytes as a buffer and returns the slot that points to them.
    ///
    /// # Errors
    /// As [`Heap::push`], and for bytes of 4 GiB or more.
    pub fn push_bytes(&mut self, bytes: Bytes) -> Result<Slot> {
        let count = u32::try_from(bytes.len()).map_err(|_| too_long())?;
        self.push_items(bytes, count)
    }

    /// Adds the rows of `count` items as a buffer and returns the slot that points to them. If there are no items, no
    /// buffer is added.
    ///
    /// # Errors
    /// As [`Heap::push`].
    pub fn push_items(&mut self, rows: Bytes, count: u32) -> Result<Slot> {
        match count {
            0 => Ok(Slot::default()),
            count => Ok(Slot::at(self.push(rows)?, count, 0)),
        }
    }

    /// The index of the buffer with this key. Calls `bytes` for it if there is none yet.
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

    /// Adds a reference and returns the slot that points to it.
    ///
    /// # Errors
    /// Beyond 2^32 - 1 references.
    pub fn push_reference(&mut self, reference: R) -> Result<Slot> {
        let index = index_of(self.references.len())?;
        self.references.push(reference);
        Ok(Slot::reference(index))
    }

    /// The first `len` bytes that `slot` points to. An empty slot needs no buffer.
    pub fn bytes(&self, slot: Slot, len: usize) -> Option<&[u8]> {
        slot.bytes(&self.buffers, len)
    }

    /// The string or bytes that `slot` points to.
    pub fn content(&self, slot: Slot) -> Option<&[u8]> {
        slot.content(&self.buffers)
    }

    /// The reference that `slot` points to.
    pub fn reference(&self, slot: Slot) -> Option<&R> {
        self.references.get(usize::try_from(slot.offset).ok()?)
    }

    /// Converts each reference.
    ///
    /// # Errors
    /// The first error that `tell` returns.
    pub fn map_references<S>(self, tell: impl FnMut(R) -> Result<S>) -> Result<Heap<S>> {
        Ok(Heap {
            buffers: self.buffers,
            references: self.references.into_iter().map(tell).collect::<Result<_>>()?,
            shared: self.shared,
            charges: self.charges,
            content: self.content,
        })
    }
}

fn index_of(len: usize) -> Result<u32> {
    match u32::try_from(len) {
        Ok(index) if index < Slot::REFERENCE => Ok(index),
        _ => Err(Error::new(ErrorKind::LimitExceeded, "more than 2^32 heap buffers in one array")),
    }
}

/// A pointer from a row to data of variable length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The index of the buffer in the heap.
    pub buffer: u32,
    /// The number of bytes of a string, or of elements of a sequence.
    pub count: u32,
    /// The offset of the first byte in the buffer. For a reference, its index in the heap.
    pub offset: u64,
}

impl Slot {
    /// The size of a slot in a row, in bytes.
    pub const SIZE: usize = 16;
    const REFERENCE: u32 = u32::MAX;

    /// The slot of the reference with this index.
    pub const fn reference(index: u32) -> Slot {
        Slot { buffer: Slot::REFERENCE, count: 1, offset: index as u64 }
    }

    /// A slot that points to nothing, not even an empty buffer: it stands for an element that cannot be read.
    pub const NOWHERE: Slot = Slot { buffer: u32::MAX, count: u32::MAX, offset: u64::MAX };

    /// The slot of `count` bytes or items from `offset` on in a buffer. All empty slots are equal.
    pub const fn at(buffer: u32, count: u32, offset: u64) -> Slot {
        match count {
            0 => Slot { buffer: 0, count: 0, offset: 0 },
            count => Slot { buffer, count, offset },
        }
    }

    /// The index that the next buffer of a heap receives.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] beyond 2^32 - 1 buffers.
    pub fn next_buffer(buffers: &[Bytes]) -> Result<u32> {
        index_of(buffers.len())
    }

    /// The slots in `rows`, which consist only of slots.
    pub fn each(rows: &[u8]) -> impl ExactSizeIterator<Item = Slot> {
        rows.as_chunks().0.iter().map(Slot::of_bytes)
    }

    /// Writes slots into `rows`, until either is exhausted.
    ///
    /// # Errors
    /// The first error in `slots`; `rows` then contains the slots before it.
    pub fn put_each(rows: &mut [u8], slots: impl Iterator<Item = Result<Slot>>) -> Result<()> {
        for (row, slot) in rows.as_chunks_mut().0.iter_mut().zip(slots) {
            *row = slot?.to_bytes();
        }
        Ok(())
    }

    /// Replaces each slot in `rows`, which consist only of slots.
    ///
    /// # Errors
    /// The first error that `change` returns; `rows` is then partly changed.
    pub fn change_each(rows: &mut [u8], mut change: impl FnMut(Slot) -> Result<Slot>) -> Result<()> {
        for row in rows.as_chunks_mut().0 {
            *row = change(Slot::of_bytes(row))?.to_bytes();
        }
        Ok(())
    }

    /// The slot after the heap that it points into has been appended to a heap of this many buffers and references.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] beyond 2^32 - 1 buffers.
    pub fn behind(self, buffers: usize, references: usize) -> Result<Slot> {
        if self.buffer == Slot::REFERENCE {
            let offset = self.offset.saturating_add(references as u64);
            return Ok(Slot { offset, ..self });
        }
        let buffer = usize::try_from(self.buffer).unwrap_or(usize::MAX).saturating_add(buffers);
        Ok(Slot { buffer: index_of(buffer)?, ..self })
    }

    /// The string or bytes that the slot points to in the buffers of a heap.
    pub fn content(self, buffers: &[Bytes]) -> Option<&[u8]> {
        self.bytes(buffers, usize::try_from(self.count).ok()?)
    }

    fn bytes(self, buffers: &[Bytes], len: usize) -> Option<&[u8]> {
        if len == 0 {
            return Some(&[]);
        }
        let from = usize::try_from(self.offset).ok()?;
        buffers.get(usize::try_from(self.buffer).ok()?)?.get(from..from.checked_add(len)?)
    }

    /// Reads the slot at the beginning of `row`. `None` if the row is too short.
    pub fn get(row: &[u8]) -> Option<Slot> {
        row.first_chunk().map(Slot::of_bytes)
    }

    fn of_bytes(row: &[u8; Slot::SIZE]) -> Slot {
        let [b0, b1, b2, b3, c0, c1, c2, c3, offset @ ..] = *row;
        Slot {
            buffer: u32::from_ne_bytes([b0, b1, b2, b3]),
            count: u32::from_ne_bytes([c0, c1, c2, c3]),
            offset: u64::from_ne_bytes(offset),
        }
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

/// Builds the rows of strings, or of byte sequences, one by one; all of them share one buffer.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    rows: Vec<u8>,
    content: Vec<u8>,
}

impl Packed {
    /// Adds an element.
    ///
    /// # Errors
    /// [`ErrorKind::LimitExceeded`] for 4 GiB or more.
    pub fn push(&mut self, element: &[u8]) -> Result<()> {
        let count = u32::try_from(element.len()).map_err(|_| too_long())?;
        self.rows.extend(Slot { buffer: 0, count, offset: self.content.len() as u64 }.to_bytes());
        self.content.extend_from_slice(element);
        Ok(())
    }

    /// The rows, and the heap that they point into.
    pub fn finish<R>(self) -> Rows<R> {
        let heap = Heap { buffers: vec![self.content.into()], ..Heap::default() };
        Rows { rows: self.rows.into(), heap }
    }
}

fn too_long() -> Error {
    Error::new(ErrorKind::LimitExceeded, "an element of 4 GiB or more")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_read_back_as_written() {
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
    fn packed_elements_are_read_back_in_order() {
        let mut packed = Packed::default();
        for element in [&b"abc"[..], b"", b"de"] {
            packed.push(element).unwrap();
        }
        let Rows { rows, heap } = packed.finish::<()>();
        let found: Vec<_> = Slot::each(&rows).map(|slot| heap.content(slot).unwrap()).collect();
        assert_eq!(found, [&b"abc"[..], b"", b"de"]);
    }

    #[test]
    fn slots_are_changed_up_to_the_first_error() {
        let slot = |count| Slot { buffer: 0, count, offset: 0 };
        let mut rows = [slot(1).to_bytes(), slot(2).to_bytes(), slot(3).to_bytes()].concat();
        let halve = |slot: Slot| match slot.count % 2 {
            0 => Ok(Slot { count: slot.count / 2, ..slot }),
            _ => Err(Error::malformed("an odd count")),
        };
        assert!(Slot::change_each(&mut rows, halve).is_err());
        Slot::change_each(&mut rows, |slot| Ok(Slot { count: slot.count * 2, ..slot })).unwrap();
        Slot::change_each(&mut rows, halve).unwrap();
        assert_eq!(Slot::each(&rows).map(|slot| slot.count).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn a_slot_moved_to_another_heap_has_the_same_bytes() {
        let slot = Slot { buffer: 1, count: 2, offset: 3 };
        assert_eq!(slot.behind(4, 9).unwrap(), Slot { buffer: 5, ..slot });
        assert_eq!(Slot::reference(2).behind(4, 9).unwrap(), Slot::reference(11));
        assert!(slot.behind(usize::MAX, 0).is_err());
    }

    #[test]
    fn shared_bytes_are_stored_once() {
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
