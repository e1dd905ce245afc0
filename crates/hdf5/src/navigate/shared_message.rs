//! Messages that many object headers share in heaps of the file.
//!
//! Spec: HDF5 III.I Disk Format: Level 1I - Shared Object Header Message Table

use super::Reader;
use super::fractal_heap::FractalHeap;
use crate::format::infrastructure::SharedMessageTable;
use crate::format::infrastructure::shared_message_table::SharedMessageTableContext;
use crate::format::message::shared_message_table::SharedMessageTable as TableMessage;
use crate::format::message::{HeaderMessage, MessageType};
use crate::format::{Address, Structure};
use hyperslab_core::{Decoder, Error, Result};
use std::sync::OnceLock;

/// The messages in the shared object header message heaps of a file.
///
/// Table and heaps are opened when a message is first requested, so damage to them affects nothing else.
pub struct SharedMessages {
    message: TableMessage,
    heaps: OnceLock<Vec<Heap>>,
}

/// The heap of one index.
struct Heap {
    message_types: u16,
    address: Address,
    opened: OnceLock<FractalHeap>,
}

impl SharedMessages {
    /// The messages of the table that the superblock extension points to.
    pub fn new(message: TableMessage) -> Self {
        SharedMessages { message, heaps: OnceLock::new() }
    }

    /// Decodes the message with this heap ID; the heap follows from the type of the message.
    ///
    /// # Errors
    /// If no index has messages of the type, or the heap has none with the ID.
    pub fn message<S: HeaderMessage>(&self, reader: &Reader, id: &[u8]) -> Result<S> {
        let heap = self.heap(reader, S::TYPE)?;
        let bytes = heap.object(reader, id)?;
        let offset = reader.offset(S::NAME, heap.address())?;
        S::decode(&mut Decoder::decoded(S::NAME, "fractal heap object", offset, &bytes), reader.sizes())
    }

    fn heap(&self, reader: &Reader, message_type: MessageType) -> Result<&FractalHeap> {
        let bit = 1_u16.checked_shl(bit_of(message_type).into()).unwrap_or(0);
        let heap =
            self.heaps(reader)?.iter().find(|heap| heap.message_types & bit != 0).ok_or_else(|| {
                let place = reader.offset(SharedMessageTable::NAME, self.message.address).unwrap_or_default();
                let detail = format!("no index for shared messages of type {message_type}");
                Error::malformed(detail).at(SharedMessageTable::NAME, place)
            })?;
        match heap.opened.get() {
            Some(opened) => Ok(opened),
            None => {
                let opened = FractalHeap::open(reader, heap.address)?;
                Ok(heap.opened.get_or_init(|| opened))
            }
        }
    }

    fn heaps(&self, reader: &Reader) -> Result<&[Heap]> {
        if let Some(heaps) = self.heaps.get() {
            return Ok(heaps);
        }
        let context =
            SharedMessageTableContext { sizes: *reader.sizes(), index_count: self.message.index_count };
        let table: SharedMessageTable =
            reader.structure(self.message.address, context.table_len(), &context)?;
        let heaps = table.indexes.iter().map(|index| Heap {
            message_types: index.message_types,
            address: index.heap,
            opened: OnceLock::new(),
        });
        Ok(self.heaps.get_or_init(|| heaps.collect()))
    }
}

/// Both kinds of fill values are in the index of the newer kind.
fn bit_of(message_type: MessageType) -> u16 {
    match message_type {
        MessageType::FILL_VALUE_OLD => MessageType::FILL_VALUE.0,
        other => other.0,
    }
}
