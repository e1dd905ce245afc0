//! Programs that convert the elements of a datatype.

use super::GlobalHeapObjects;
use super::number::{
    Bits, Integer, extract_bits, insert_bits, narrow, reverse, reverse_array, reverse_vax_words, widen,
};
use super::reference::{self, ReferenceForm};
use super::variable_length::{self, Variable};
use crate::format::{Address, Sizes};
use crate::navigate::Reader;
use crate::navigate::global_heap::{Collection, GlobalHeap};
use crate::reference::Reference;
use hyperslab_core::rows::{ElementLayout, ElementPart, Heap, Slot};
use hyperslab_core::{Error, Result};
use std::sync::Arc;

/// The conversion program of a datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The stored size of an element in bytes.
    pub(super) stored: usize,
    /// The size of a row in bytes.
    pub(super) row: usize,
    /// The operation. An array has the operation of its items, which are adjacent like elements.
    pub(super) op: Op,
}

/// The operation on adjacent items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Copies them.
    Copy,
    /// Reverses the bytes of each item of this size.
    Reverse(usize),
    /// Reverses the words of two bytes in each item of this size.
    ReverseVaxWords(usize),
    /// Widens integers with padding bits, or of a size that rows do not have.
    Widen(Integer),
    /// Extracts bit fields with padding bits.
    ExtractBits(Bits),
    /// Reads strings and sequences from the global heap; the size is that of a stored element.
    VariableLength(usize, Variable),
    /// Decodes references; the size is that of a stored element.
    Reference(usize, ReferenceForm),
    /// Converts the members of compounds.
    Compound {
        /// The stored size of a compound in bytes.
        stored: usize,
        /// The size of its row in bytes.
        row: usize,
        /// The members, in the order of the row.
        members: Vec<Member>,
    },
}

/// A member of a compound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// The byte offset in the stored compound.
    pub(super) from: usize,
    /// The byte offset in the row.
    pub(super) to: usize,
    /// The program of the member.
    pub(super) program: Program,
}

impl Program {
    pub(super) fn is_identity(&self) -> bool {
        self.op == Op::Copy
    }

    /// The places of the bytes of a row in the stored element. `None` if converting does more than move or reverse bytes.
    pub(super) fn layout(&self) -> Option<ElementLayout> {
        let mut layout = ElementLayout::new(self.stored);
        self.add_to(&mut layout, 0)?;
        Some(layout)
    }

    fn add_to(&self, layout: &mut ElementLayout, offset: usize) -> Option<()> {
        let len = self.stored;
        match &self.op {
            Op::Copy => layout.push(ElementPart { offset, len, unit: 1 }),
            Op::Reverse(unit) => layout.push(ElementPart { offset, len, unit: *unit }),
            Op::Compound { stored, members, .. } => (0..len.checked_div(*stored)?).try_for_each(|number| {
                let item = offset.checked_add(number.checked_mul(*stored)?)?;
                members
                    .iter()
                    .try_for_each(|member| member.program.add_to(layout, item.checked_add(member.from)?))
            }),
            _ => None,
        }
    }

    /// Converts integers. Needs no access to the file.
    pub(super) fn run_numbers(&self, stored: &[u8], rows: &mut [u8]) {
        match &self.op {
            Op::Reverse(size) => reverse(*size, stored, rows),
            Op::Widen(integer) => widen(integer, stored, rows),
            _ => rows.iter_mut().zip(stored).for_each(|(to, from)| *to = *from),
        }
    }

    /// Converts whole elements. Both sides hold the same number.
    pub(super) fn run(&self, run: &mut Run<'_>, stored: &[u8], rows: &mut [u8]) -> Result<()> {
        match &self.op {
            Op::Copy => match rows.len() == stored.len() {
                true => rows.copy_from_slice(stored),
                false => return Err(mismatch()),
            },
            Op::Reverse(size) => reverse(*size, stored, rows),
            Op::ReverseVaxWords(size) => reverse_vax_words(*size, stored, rows),
            Op::Widen(integer) => widen(integer, stored, rows),
            Op::ExtractBits(bits) => extract_bits(bits, stored, rows),
            Op::VariableLength(size, items) => {
                let slots = stored.chunks_exact(*size).map(|of| variable_length::read(run, items, of));
                Slot::put_each(rows, slots)?;
            }
            Op::Reference(size, form) => {
                let slots = stored.chunks_exact(*size).map(|of| {
                    let reference = reference::read(run, *form, of)?;
                    run.heap.push_reference(reference)
                });
                Slot::put_each(rows, slots)?;
            }
            Op::Compound { stored: size, row, members } => {
                let blocks =
                    stored.chunks(size.saturating_mul(BLOCK)).zip(rows.chunks_mut(row.saturating_mul(BLOCK)));
                for (stored, rows) in blocks {
                    let mut items = Items { stored, size: *size, rows, row: *row };
                    members.iter().try_for_each(|member| member.run(run, &mut items))?;
                }
            }
        }
        Ok(())
    }
}

impl Program {
    /// Encodes whole rows as stored elements. Both sides hold the same number. Bytes of a compound between members
    /// become 0.
    pub(super) fn store(&self, store: &mut Store<'_>, rows: &[u8], stored: &mut [u8]) -> Result<()> {
        match &self.op {
            Op::Copy => match rows.len() == stored.len() {
                true => stored.copy_from_slice(rows),
                false => return Err(mismatch()),
            },
            // Reversing is its own inverse.
            Op::Reverse(size) => reverse(*size, rows, stored),
            Op::ReverseVaxWords(size) => reverse_vax_words(*size, rows, stored),
            Op::Widen(integer) => narrow(integer, rows, stored)?,
            Op::ExtractBits(bits) => insert_bits(bits, rows, stored)?,
            Op::VariableLength(size, items) => {
                for (slot, stored) in Slot::each(rows).zip(stored.chunks_exact_mut(*size)) {
                    variable_length::write(store, items, slot, stored)?;
                }
            }
            Op::Reference(size, form) => {
                for (slot, stored) in Slot::each(rows).zip(stored.chunks_exact_mut(*size)) {
                    let reference = store.heap.reference(slot);
                    let reference =
                        reference.ok_or_else(|| Error::invalid("slot does not hold a reference"))?;
                    reference::write(store, *form, reference, stored)?;
                }
            }
            Op::Compound { stored: size, row, members } => {
                let blocks =
                    rows.chunks(row.saturating_mul(BLOCK)).zip(stored.chunks_mut(size.saturating_mul(BLOCK)));
                for (rows, stored) in blocks {
                    stored.fill(0);
                    for member in members {
                        member.store(store, (rows, *row), (stored, *size))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Items of a compound. One member of many items is converted at a time, so that the operation is selected once for
/// all of them.
struct Items<'a> {
    stored: &'a [u8],
    size: usize,
    rows: &'a mut [u8],
    row: usize,
}

impl Member {
    fn run(&self, run: &mut Run<'_>, items: &mut Items<'_>) -> Result<()> {
        match (&self.program.op, self.program.stored) {
            (Op::Copy, 1) => self.each(items, |from: &[u8; 1], to| *to = *from),
            (Op::Copy, 2) => self.each(items, |from: &[u8; 2], to| *to = *from),
            (Op::Copy, 4) => self.each(items, |from: &[u8; 4], to| *to = *from),
            (Op::Copy, 8) => self.each(items, |from: &[u8; 8], to| *to = *from),
            (Op::Copy, 16) => self.each(items, |from: &[u8; 16], to| *to = *from),
            (Op::Reverse(2), 2) => self.each(items, reverse_array::<2>),
            (Op::Reverse(4), 4) => self.each(items, reverse_array::<4>),
            (Op::Reverse(8), 8) => self.each(items, reverse_array::<8>),
            _ => {
                let rows = items.rows.chunks_exact_mut(items.row);
                for (stored, row) in items.stored.chunks_exact(items.size).zip(rows) {
                    let from = stored.get(self.from..self.from + self.program.stored);
                    let to = row.get_mut(self.to..self.to + self.program.row);
                    match (from, to) {
                        (Some(from), Some(to)) => self.program.run(run, from, to)?,
                        _ => return Err(mismatch()),
                    }
                }
                Ok(())
            }
        }
    }

    /// Stores this member of each item.
    fn store(
        &self,
        store: &mut Store<'_>,
        (rows, row): (&[u8], usize),
        (stored, size): (&mut [u8], usize),
    ) -> Result<()> {
        for (row, stored) in rows.chunks_exact(row).zip(stored.chunks_exact_mut(size)) {
            let from = row.get(self.to..self.to + self.program.row);
            let to = stored.get_mut(self.from..self.from + self.program.stored);
            match (from, to) {
                (Some(from), Some(to)) => self.program.store(store, from, to)?,
                _ => return Err(mismatch()),
            }
        }
        Ok(())
    }

    /// Calls `convert` with the `N` bytes of this member in each item.
    fn each<const N: usize>(
        &self,
        items: &mut Items<'_>,
        convert: impl Fn(&[u8; N], &mut [u8; N]),
    ) -> Result<()> {
        let rows = items.rows.chunks_exact_mut(items.row);
        for (stored, row) in items.stored.chunks_exact(items.size).zip(rows) {
            let from = stored.get(self.from..).and_then(|from| from.first_chunk());
            let to = row.get_mut(self.to..).and_then(|to| to.first_chunk_mut());
            match (from, to) {
                (Some(from), Some(to)) => convert(from, to),
                _ => return Err(mismatch()),
            }
        }
        Ok(())
    }
}

fn mismatch() -> Error {
    Error::invalid("different numbers of elements and rows")
}

/// The state of one call of [`Converter::store`](super::Converter::store).
pub(super) struct Store<'a> {
    pub(super) sizes: &'a Sizes,
    /// The heap that slots point into.
    pub(super) heap: &'a Heap<Reference>,
    pub(super) objects: &'a mut dyn GlobalHeapObjects,
}

/// The state of one call of [`Converter::convert`](super::Converter::convert).
pub(super) struct Run<'a> {
    pub(super) reader: &'a Reader,
    pub(super) sizes: &'a Sizes,
    pub(super) global_heap: &'a GlobalHeap,
    pub(super) heap: &'a mut Heap<Reference>,
    /// The collection used last, and its buffer number in the heap once a slot points into it.
    collection: Option<(Arc<Collection>, Option<u32>)>,
    /// Bytes that are charged to the budget but not used.
    charged: u64,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        reader: &'a Reader,
        sizes: &'a Sizes,
        global_heap: &'a GlobalHeap,
        heap: &'a mut Heap<Reference>,
    ) -> Self {
        Run { reader, sizes, global_heap, heap, collection: None, charged: 0 }
    }

    /// The global heap collection at `address`. Most elements use the same one as the element before; then no lock is
    /// taken.
    pub(super) fn collection(&mut self, address: Address) -> Result<&Arc<Collection>> {
        let kept = self.collection.take().filter(|(kept, _)| kept.address() == address);
        let kept = match kept {
            Some(kept) => kept,
            None => (self.global_heap.collection(self.reader, address)?, None),
        };
        Ok(&self.collection.insert(kept).0)
    }

    /// The buffer number in the heap of the collection used last. Each collection is added only once.
    pub(super) fn collection_buffer(&mut self) -> Result<u32> {
        match &mut self.collection {
            Some((_, Some(buffer))) => Ok(*buffer),
            Some((collection, buffer)) => {
                let key = (self.global_heap.number(), collection.address().0);
                Ok(*buffer.insert(self.heap.share(key, || collection.bytes().clone())?))
            }
            None => Err(Error::invalid("no global heap collection was read yet")),
        }
    }

    /// Charges an allocation to the budget, for as long as the heap exists.
    pub(super) fn charge(&mut self, bytes: u64) -> Result<()> {
        if bytes > self.charged {
            let portion = bytes.max(PORTION);
            self.heap.charges.push(Arc::new(self.reader.budget().charge(portion)?));
            self.charged = portion;
        }
        self.charged -= bytes;
        Ok(())
    }
}

/// The budget is charged in portions: charging each short text separately would take longer than reading it.
const PORTION: u64 = 1 << 16;
/// The number of compound items that are converted together; they should fit in the L1 cache.
const BLOCK: usize = 128;
