//! Strings and sequences in the global heap.

use super::program::{Program, Run, Store};
use crate::format::Structure;
use crate::format::infrastructure::{GlobalHeapCollection, GlobalHeapId};
use hyperslab_core::rows::Slot;
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The content of a heap object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    /// Characters of this size in bytes.
    Characters(u32),
    /// Elements.
    Elements(Box<Program>),
}

/// Decodes an element, a length and a heap ID, to a slot.
pub(super) fn read(run: &mut Run<'_>, items: &Variable, stored: &[u8]) -> Result<Slot> {
    let mut d = Decoder::new("variable-length element", 0, stored);
    let count = d.u32()?;
    let id = GlobalHeapId::decode(&mut d, run.sizes)?;
    // No heap object has address 0.
    if count == 0 || id.collection.0 == 0 {
        return Ok(Slot::default());
    }
    let object = run.collection(id.collection)?.find(id.index)?;
    let size = match items {
        Variable::Characters(size) => u64::from(*size),
        Variable::Elements(program) => program.stored as u64,
    };
    let len = match usize::try_from(u64::from(count).saturating_mul(size)) {
        Ok(len) if len <= object.len() => len,
        _ => {
            let detail = format!(
                "object {} has {} bytes, expected {count} items of {size} bytes",
                id.index,
                object.len()
            );
            let collection = run.reader.offset(GlobalHeapCollection::NAME, id.collection)?;
            return Err(Error::malformed(detail).at(GlobalHeapCollection::NAME, collection));
        }
    };
    let offset = object.start as u64;
    run.heap.content.name((len as u64).saturating_add(NAMING))?;
    match items {
        Variable::Elements(program) if !program.is_identity() => {
            let row = u64::from(count).saturating_mul(program.row as u64);
            let stored = run.collection(id.collection)?.bytes().slice(object.start..object.start + len);
            run.charge(row)?;
            let mut rows =
                vec![0; usize::try_from(row).map_err(|_| Error::malformed("row size overflows 2^64 bytes"))?];
            program.run(run, &stored, &mut rows)?;
            run.heap.push_items(rows.into(), count)
        }
        Variable::Elements(_) => Ok(Slot::at(run.collection_buffer()?, count, offset)),
        Variable::Characters(_) => {
            let count = u32::try_from(len).map_err(|_| Error::unsupported("text of 2^32 bytes or more"))?;
            Ok(Slot::at(run.collection_buffer()?, count, offset))
        }
    }
}

/// Stores the bytes that a slot points to in the global heap, and writes the element. An empty sequence needs no heap
/// object. An empty string does: without one, C programs find no pointer where they expect the string.
pub(super) fn write(store: &mut Store<'_>, items: &Variable, slot: Slot, stored: &mut [u8]) -> Result<()> {
    stored.fill(0);
    if slot.count == 0 && matches!(items, Variable::Elements(_)) {
        return Ok(());
    }
    let lost = || Error::invalid("slot points outside of the heap");
    let heap = store.heap;
    let size = match items {
        Variable::Characters(_) => 1,
        Variable::Elements(program) => program.row,
    };
    let len = usize::try_from(slot.count).ok().and_then(|count| count.checked_mul(size)).ok_or_else(lost)?;
    let rows = if len == 0 { &[] } else { heap.bytes(slot, len).ok_or_else(lost)? };
    let (count, id) = match items {
        Variable::Characters(size) => {
            if !slot.count.is_multiple_of((*size).max(1)) {
                return Err(Error::invalid(format!(
                    "{len} bytes of text, expected a multiple of the character size {size}"
                )));
            }
            (slot.count / (*size).max(1), store.objects.put(rows)?)
        }
        Variable::Elements(program) if program.is_identity() => (slot.count, store.objects.put(rows)?),
        Variable::Elements(program) => {
            let count = len.checked_div(program.row).unwrap_or(0);
            let mut object = vec![0; count.checked_mul(program.stored).ok_or_else(lost)?];
            program.store(store, rows, &mut object)?;
            (slot.count, store.objects.put(&object)?)
        }
    };
    let mut e = Encoder::new();
    e.u32(count);
    id.encode(&mut e, store.sizes)?;
    fill(stored, e.as_slice())
}

/// Copies bytes to the start of an element.
pub(super) fn fill(stored: &mut [u8], bytes: &[u8]) -> Result<()> {
    let len = stored.len();
    match stored.get_mut(..bytes.len()) {
        Some(to) => {
            to.copy_from_slice(bytes);
            Ok(())
        }
        None => Err(Error::invalid(format!("{} bytes do not fit in an element of {len}", bytes.len()))),
    }
}

/// Following a name takes as long as reading this number of bytes.
const NAMING: u64 = 64;
