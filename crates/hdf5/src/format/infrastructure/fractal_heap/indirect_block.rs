//! Fractal Heap Indirect Block.
//!
//! Spec: HDF5 III.G Fractal Heap, "Layout: Fractal Heap Indirect Block"

use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A block of addresses of direct and indirect blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FractalHeapIndirectBlock {
    /// The address of the header of the heap.
    pub heap_header: Address,
    /// The offset of the block in the managed address space of the heap.
    pub block_offset: u64,
    /// The direct blocks, row by row.
    pub direct_blocks: Vec<DirectBlockEntry>,
    /// The addresses of the indirect blocks, row by row. They follow the direct blocks.
    pub indirect_blocks: Vec<Address>,
}

/// The entry of a direct block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectBlockEntry {
    /// The address; undefined if the block does not exist.
    pub address: Address,
    /// The stored size and filter mask, if the heap has filters.
    pub filtered: Option<FilteredBlock>,
}

/// A direct block in a heap with filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilteredBlock {
    /// The stored size in bytes.
    pub size: u64,
    /// A bit for each filter that was skipped.
    pub filter_mask: u32,
}

/// The parameters that determine the layout of an indirect block.
#[derive(Clone, Copy, Debug)]
pub struct IndirectBlockContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The size in bytes of an offset in the heap.
    pub heap_offset_width: u8,
    /// Whether the heap has filters.
    pub filtered: bool,
    /// The number of entries for direct blocks.
    pub direct_entries: usize,
    /// The number of entries for indirect blocks.
    pub indirect_entries: usize,
}

impl IndirectBlockContext {
    /// The size of the block in bytes.
    pub fn block_len(&self) -> u64 {
        let entries = (self.direct_entries as u64).saturating_mul(self.direct_entry_len() as u64);
        let entries =
            entries.saturating_add((self.indirect_entries as u64).saturating_mul(self.sizes.offsets.into()));
        entries.saturating_add(9 + u64::from(self.sizes.offsets) + u64::from(self.heap_offset_width))
    }

    fn direct_entry_len(&self) -> usize {
        let filtered = if self.filtered { usize::from(self.sizes.lengths) + 4 } else { 0 };
        usize::from(self.sizes.offsets) + filtered
    }
}

impl Structure for FractalHeapIndirectBlock {
    type Context = IndirectBlockContext;
    const NAME: &'static str = "Fractal Heap Indirect Block";

    fn decode(d: &mut Decoder<'_>, context: &IndirectBlockContext) -> Result<Self> {
        let IndirectBlockContext { sizes, direct_entries, indirect_entries, .. } = context;
        let start = d.clone();
        d.signature(SIGNATURE)?;
        match d.u8()? {
            0 => {}
            other => return Err(d.unsupported(format!("version {other}, expected 0"))),
        }
        let heap_header = sizes.address(d)?;
        let block_offset = d.uint(context.heap_offset_width)?;
        let direct_blocks = (0..d.count(*direct_entries as u64, context.direct_entry_len())?)
            .map(|_| DirectBlockEntry::decode(d, context))
            .collect::<Result<_>>()?;
        let indirect_blocks = (0..d.count(*indirect_entries as u64, sizes.offsets.into())?)
            .map(|_| sizes.address(d))
            .collect::<Result<_>>()?;
        verify_checksum(&start, d)?;
        Ok(FractalHeapIndirectBlock { heap_header, block_offset, direct_blocks, indirect_blocks })
    }

    fn encode(&self, e: &mut Encoder, context: &IndirectBlockContext) -> Result<()> {
        let start = e.len();
        e.bytes(SIGNATURE);
        e.u8(0);
        context.sizes.put_address(e, self.heap_header)?;
        e.uint(context.heap_offset_width, self.block_offset)?;
        let found = (self.direct_blocks.len(), self.indirect_blocks.len());
        if found != (context.direct_entries, context.indirect_entries) {
            return Err(Error::invalid(format!(
                "{} direct and {} indirect blocks, expected {} and {}",
                found.0, found.1, context.direct_entries, context.indirect_entries
            )));
        }
        self.direct_blocks.iter().try_for_each(|entry| entry.encode(e, context))?;
        self.indirect_blocks.iter().try_for_each(|address| context.sizes.put_address(e, *address))?;
        append_checksum(e, start)
    }
}

impl DirectBlockEntry {
    fn decode(d: &mut Decoder<'_>, context: &IndirectBlockContext) -> Result<Self> {
        let address = context.sizes.address(d)?;
        let filtered = match context.filtered {
            true => Some(FilteredBlock { size: context.sizes.length(d)?, filter_mask: d.u32()? }),
            false => None,
        };
        Ok(DirectBlockEntry { address, filtered })
    }

    fn encode(&self, e: &mut Encoder, context: &IndirectBlockContext) -> Result<()> {
        context.sizes.put_address(e, self.address)?;
        match (context.filtered, &self.filtered) {
            (true, Some(FilteredBlock { size, filter_mask })) => {
                context.sizes.put_length(e, *size)?;
                e.u32(*filter_mask);
                Ok(())
            }
            (false, None) => Ok(()),
            _ => Err(Error::invalid(
                "direct block entries do not match the heap: filtered entries need a heap with filters",
            )),
        }
    }
}

const SIGNATURE: &[u8] = b"FHIB";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    /// 16 rows, of which 9 are direct.
    const CONTEXT: IndirectBlockContext = IndirectBlockContext {
        sizes: Sizes::DEFAULT,
        heap_offset_width: 4,
        filtered: false,
        direct_entries: 36,
        indirect_entries: 28,
    };
    const GOLDEN: &str = include_str!("../../../../tests/golden/fractal_heap_indirect_block.hex");

    structure_tests!(FractalHeapIndirectBlock, context: CONTEXT, golden: [GOLDEN], values: []);

    mod filtered {
        use super::*;
        const CONTEXT: IndirectBlockContext =
            IndirectBlockContext { filtered: true, direct_entries: 4, indirect_entries: 0, ..super::CONTEXT };
        structure_tests!(FractalHeapIndirectBlock, context: CONTEXT,
            golden: [include_str!("../../../../tests/golden/fractal_heap_indirect_block_filtered.hex")],
            values: []);
    }

    #[test]
    fn golden_block_points_to_indirect_blocks() {
        let bytes = hex(GOLDEN);
        assert_eq!(bytes.len() as u64, CONTEXT.block_len());
        let block = FractalHeapIndirectBlock::decode(&mut Decoder::new("t", 0, &bytes), &CONTEXT).unwrap();
        assert!(block.direct_blocks[0].address.is_undefined(), "no name fits in 512 bytes");
        assert!(!block.direct_blocks[35].address.is_undefined());
        assert!(!block.indirect_blocks[0].is_undefined());
        assert!(block.indirect_blocks[27].is_undefined());
    }
}
