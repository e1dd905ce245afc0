//! Local heap.
//!
//! Spec: HDF5 III.D Disk Format: Level 1D - Local Heaps

use crate::format::{Address, Sizes, Structure};
use hyperslab_core::{Decoder, Encoder, Result};

/// The header of a heap with the names of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalHeapHeader {
    /// The size of the data segment in bytes.
    pub data_segment_size: u64,
    /// The offset of the first free block in the data segment. If there is none, the specification says undefined,
    /// but libhdf5 writes [`LAST_FREE_BLOCK`].
    pub free_list_head: u64,
    /// The address of the data segment.
    pub data_segment: Address,
}

/// The start of a free block in a data segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeBlock {
    /// The offset of the next free block, or [`LAST_FREE_BLOCK`].
    pub next: u64,
    /// The size of this free block in bytes, including these fields.
    pub size: u64,
}

/// The offset that ends the list of free blocks.
pub const LAST_FREE_BLOCK: u64 = 1;

impl LocalHeapHeader {
    /// The size of a header in bytes.
    pub fn len(sizes: &Sizes) -> u64 {
        8 + 2 * u64::from(sizes.lengths) + u64::from(sizes.offsets)
    }
}

impl Structure for LocalHeapHeader {
    type Context = Sizes;
    const NAME: &'static str = "Local Heap";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        d.signature(SIGNATURE)?;
        let at = d.clone();
        let version = d.u8()?;
        if version != 0 {
            return Err(at.unsupported(format!("version {version}, expected 0")));
        }
        d.reserved(3)?;
        let data_segment_size = sizes.length(d)?;
        let free_list_head = sizes.length_or_max(d)?;
        let data_segment = sizes.address(d)?;
        Ok(LocalHeapHeader { data_segment_size, free_list_head, data_segment })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        e.bytes(SIGNATURE);
        e.u8(0);
        e.reserved(3);
        sizes.put_length(e, self.data_segment_size)?;
        sizes.put_length_or_max(e, self.free_list_head)?;
        sizes.put_address(e, self.data_segment)
    }
}

impl Structure for FreeBlock {
    type Context = Sizes;
    const NAME: &'static str = "Local Heap Free Block";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let next = sizes.length(d)?;
        let size = sizes.length(d)?;
        Ok(FreeBlock { next, size })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        sizes.put_length(e, self.next)?;
        sizes.put_length(e, self.size)
    }
}

const SIGNATURE: &[u8] = b"HEAP";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(LocalHeapHeader, context: Sizes::DEFAULT,
    golden: [
        include_str!("../../../tests/golden/local_heap.hex"),
        include_str!("../../../tests/golden/local_heap_full.hex"),
    ],
    values: [LocalHeapHeader {
        data_segment_size: 88,
        free_list_head: u64::MAX,
        data_segment: Address(0x2c8),
    }]);

    mod narrow {
        use super::*;
        structure_tests!(LocalHeapHeader, context: Sizes { offsets: 4, lengths: 4 },
            golden: [include_str!("../../../tests/golden/local_heap_narrow.hex")],
            values: []);
    }

    mod free_block {
        use super::*;
        structure_tests!(FreeBlock, context: Sizes::DEFAULT,
            golden: [include_str!("../../../tests/golden/local_heap_free_block.hex")],
            values: [FreeBlock { next: 40, size: 16 }]);
    }
}
