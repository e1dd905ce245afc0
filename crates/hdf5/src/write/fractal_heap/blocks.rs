//! The direct and indirect blocks of a heap.

use super::{Block, FractalHeapBuilder, WIDTH, narrow};
use crate::format::infrastructure::fractal_heap::indirect_block::{DirectBlockEntry, FilteredBlock};
use crate::format::infrastructure::fractal_heap::{FractalHeapDirectBlock, FractalHeapIndirectBlock};
use crate::format::{Address, Structure};
use crate::space::SpaceKind;
use crate::write::{Sink, put};
use hyperslab_core::{Encoder, Result};

/// A direct block that was written: its offset in the heap, and its entry.
type Written = (u64, DirectBlockEntry);

impl<const N: usize> FractalHeapBuilder<N> {
    /// Writes all blocks, and sets the fields of the header that follow from them.
    pub(super) fn write_blocks(&mut self, sink: &mut dyn Sink, heap_header: Address) -> Result<()> {
        let Some(last) = self.blocks.last() else { return Ok(()) };
        let starting_block_size = self.header.table.starting_block_size;
        let rows = match (last.offset, last.size) {
            (0, size) if size == starting_block_size => 0,
            (offset, _) => self.geometry.position(offset).row + 1,
        };
        let used = self.blocks.iter().map(|block| block.objects.len() as u64).sum::<u64>();
        self.header.managed_free_space = self.free_of_rows(rows).saturating_sub(used);
        self.header.managed_space = match rows {
            0 => starting_block_size,
            // The sizes of all blocks before a row add up to those of the row.
            _ => self.geometry.block_size(rows).map_or(0, |size| size * u64::from(WIDTH)),
        };
        self.header.table.current_root_rows = narrow(rows.into())?;
        let written = self
            .blocks
            .iter()
            .map(|block| Ok((block.offset, self.direct_block(sink, heap_header, block)?)))
            .collect::<Result<Vec<Written>>>()?;
        self.header.table.root_block = match (rows, written.first()) {
            (0, Some((_, entry))) => {
                if let (Some(filters), Some(stored)) = (&mut self.header.filters, entry.filtered) {
                    filters.root_direct_block_size = stored.size;
                    filters.root_direct_block_mask = stored.filter_mask;
                }
                // libhdf5 puts the root in the table when the second block is added.
                self.header.direct_block_iterator = 0;
                entry.address
            }
            _ => self.indirect_block(sink, heap_header, (0, rows), &written)?,
        };
        Ok(())
    }

    fn direct_block(
        &self,
        sink: &mut dyn Sink,
        heap_header: Address,
        block: &Block,
    ) -> Result<DirectBlockEntry> {
        if self.pipeline.is_none() && sink.is_measuring() {
            let address = sink.allocate(SpaceKind::Metadata, block.size)?;
            return Ok(DirectBlockEntry { address, filtered: None });
        }
        let mut data = block.objects.clone();
        data.resize(usize::try_from(block.size - self.prefix_len).unwrap_or(usize::MAX), 0);
        let mut e = Encoder::new();
        FractalHeapDirectBlock { heap_header, block_offset: block.offset, data }
            .encode(&mut e, &self.header.direct_block_context(&self.sizes))?;
        let (stored, filter_mask) = self.filter(e.into_bytes())?;
        let size = stored.len() as u64;
        let address = sink.allocate(SpaceKind::Metadata, size)?;
        sink.write(address, &stored)?;
        let filtered = filter_mask.map(|filter_mask| FilteredBlock { size, filter_mask });
        Ok(DirectBlockEntry { address, filtered })
    }

    /// Writes the indirect block with this offset and number of rows, after the blocks below it. It contains these
    /// blocks.
    fn indirect_block(
        &self,
        sink: &mut dyn Sink,
        heap_header: Address,
        (block_offset, rows): (u64, u32),
        mut blocks: &[Written],
    ) -> Result<Address> {
        let context = self.header.indirect_block_context(&self.sizes, rows)?;
        let missing = DirectBlockEntry {
            address: Address::UNDEFINED,
            filtered: context.filtered.then_some(FilteredBlock { size: 0, filter_mask: 0 }),
        };
        let mut direct_blocks = vec![missing; context.direct_entries];
        let mut indirect_blocks = vec![Address::UNDEFINED; context.indirect_entries];
        while let Some((offset, entry)) = blocks.first().copied() {
            let position = self.geometry.position(offset - block_offset);
            if let Some(place) = direct_blocks.get_mut(position.entry) {
                *place = entry;
                blocks = blocks.get(1..).unwrap_or_default();
                continue;
            }
            let start = offset - position.offset;
            let below = blocks.partition_point(|(offset, _)| offset - start < position.block_size);
            let (below, behind) = blocks.split_at_checked(below).unwrap_or((blocks, &[]));
            let rows = self.rows_of(position.block_size)?;
            let address = self.indirect_block(sink, heap_header, (start, rows), below)?;
            let place = position.entry - context.direct_entries;
            if let Some(place) = indirect_blocks.get_mut(place) {
                *place = address;
            }
            blocks = behind;
        }
        let block = FractalHeapIndirectBlock { heap_header, block_offset, direct_blocks, indirect_blocks };
        put(sink, SpaceKind::Metadata, &block, &context)
    }

    /// The number of bytes for objects in all blocks of a table with this number of rows, including blocks that do not
    /// exist; with no rows, in the only block.
    fn free_of_rows(&self, rows: u32) -> u64 {
        let mut by_row: Vec<u64> = Vec::new();
        let width = u64::from(WIDTH);
        for row in 0..rows.max(1) {
            let size = self.geometry.block_size(row).unwrap_or(0);
            let of_block =
                match self.geometry.rows_of(size).filter(|_| row >= self.geometry.max_direct_rows()) {
                    None => size - self.prefix_len,
                    Some(below) => by_row.iter().zip(0..below).map(|(of_row, _)| of_row).sum::<u64>(),
                };
            by_row.push(if rows == 0 { of_block } else { of_block * width });
        }
        by_row.iter().sum()
    }
}
