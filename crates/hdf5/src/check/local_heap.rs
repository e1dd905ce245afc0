//! Checks local heaps: names, and the list of free blocks between them.

use super::Checker;
use super::reading::{AtOffset, Pointer};
use super::rule;
use crate::format::infrastructure::LocalHeapHeader;
use crate::format::infrastructure::local_heap::{FreeBlock, LAST_FREE_BLOCK};
use crate::format::{Address, Structure};
use bytes::Bytes;
use hyperslab_core::{Decoder, Result};

/// A heap in which names can be looked up.
pub(super) struct LocalHeap {
    /// The file offset of the data segment.
    pub(super) byte: u64,
    data: Bytes,
    /// Offset and length of each free block.
    free: Vec<(u64, u64)>,
}

impl LocalHeap {
    /// The text at an offset, without the NUL that ends it.
    pub(super) fn text(&self, offset: u64) -> Option<&[u8]> {
        let rest = self.data.get(usize::try_from(offset).ok()?..)?;
        let len = rest.iter().position(|byte| *byte == 0)?;
        rest.get(..len)
    }

    /// The free block that begins in the bytes from `offset`, or contains them.
    pub(super) fn free_block(&self, offset: u64, len: u64) -> Option<(u64, u64)> {
        let at = self.free.partition_point(|(free, _)| *free < offset.saturating_add(len));
        let block = *self.free.get(at.checked_sub(1)?)?;
        (block.0.saturating_add(block.1) > offset).then_some(block)
    }
}

impl Checker<'_> {
    pub(super) fn local_heap(&mut self, address: Address, from: Pointer) -> Result<Option<LocalHeap>> {
        let sizes = self.sizes();
        let len = LocalHeapHeader::len(&sizes);
        let Some(AtOffset { value: header, byte }) =
            self.structure::<LocalHeapHeader>(address, len, &sizes, from)?
        else {
            return Ok(None);
        };
        let lengths = u64::from(sizes.lengths);
        let segment_at = super::reading::pointer(LocalHeapHeader::NAME, byte + 8 + 2 * lengths);
        let size = header.data_segment_size;
        if size == 0 {
            return Ok(Some(LocalHeap { byte, data: Bytes::new(), free: Vec::new() }));
        }
        let Some((data_at, data)) = self.owned_bytes(DATA_SEGMENT, header.data_segment, size, segment_at)?
        else {
            return Ok(None);
        };
        let free = self.free_list(&header, byte + 8 + lengths, data_at, &data)?;
        Ok(Some(LocalHeap { byte: data_at, data, free }))
    }

    /// Checks the free list. Its blocks must be within the segment and must not overlap.
    fn free_list(
        &mut self,
        header: &LocalHeapHeader,
        head_at: u64,
        data_at: u64,
        data: &[u8],
    ) -> Result<Vec<(u64, u64)>> {
        let sizes = self.sizes();
        let min = 2 * u64::from(sizes.lengths);
        let max = data.len() as u64 / min.max(1);
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        let mut next = header.free_list_head;
        let mut at = (LocalHeapHeader::NAME, head_at);
        while next != LAST_FREE_BLOCK && next != u64::MAX {
            let rest = usize::try_from(next).ok().and_then(|next| data.get(next..));
            let place = data_at.saturating_add(next);
            let rest = rest.unwrap_or_default();
            let Ok(block) = FreeBlock::decode(&mut Decoder::new(FreeBlock::NAME, place, rest), &sizes) else {
                let message = format!("a free block at {next:#x} of a data segment of {} bytes", data.len());
                self.report(&rule::LOCAL_HEAP, at.0, at.1, message);
                break;
            };
            self.part(FreeBlock::NAME, place, min);
            if block.size < min || block.size > rest.len() as u64 {
                let message = format!("a free block of {} bytes, {min} to {} fit", block.size, rest.len());
                self.report(&rule::LOCAL_HEAP, FreeBlock::NAME, place + u64::from(sizes.lengths), message);
                break;
            }
            blocks.push((next, block.size));
            if blocks.len() as u64 > max {
                let message = "the list of free blocks goes in a circle";
                self.report(&rule::LOCAL_HEAP, FreeBlock::NAME, place, message);
                blocks.clear();
                break;
            }
            at = (FreeBlock::NAME, place);
            next = block.next;
        }
        blocks.sort_unstable();
        for [one, other] in blocks.array_windows() {
            if one.0 + one.1 > other.0 {
                let message = format!("the free blocks at {:#x} and {:#x} overlap", one.0, other.0);
                self.report(&rule::LOCAL_HEAP, FreeBlock::NAME, data_at + other.0, message);
            }
        }
        Ok(blocks)
    }

    /// The text at an offset that a structure refers to. It must not be free.
    pub(super) fn heap_text<'h>(
        &mut self,
        heap: &'h LocalHeap,
        offset: u64,
        from: Pointer,
    ) -> Option<&'h [u8]> {
        let Some(text) = heap.text(offset) else {
            let message = format!("the name at offset {offset:#x} does not lie within the local heap");
            self.report(&rule::LINK_NAME, from.structure, from.byte, message);
            return None;
        };
        // Many links can share one long name.
        if !self.spend_raw(text.len() as u64, from.structure, from.byte) {
            return None;
        }
        if let Some((free, size)) = heap.free_block(offset, text.len() as u64 + 1) {
            let message = format!("{size} bytes at {free:#x} are free, the name at {offset:#x} is in use");
            let at = heap.byte + free;
            self.report(&rule::FREE_SPACE_OVERLAP, FreeBlock::NAME, at, message);
        }
        Some(text)
    }
}

const DATA_SEGMENT: &str = "Local Heap Data Segment";
