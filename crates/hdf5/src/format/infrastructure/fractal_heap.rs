//! Fractal Heap Header.
//!
//! Spec: HDF5 III.G Fractal Heap, "Layout: Fractal Heap Header"

pub mod direct_block;
pub mod doubling_table;
pub mod heap_id;
pub mod indirect_block;

pub use direct_block::FractalHeapDirectBlock;
pub use doubling_table::DoublingTable;
pub use heap_id::HeapId;
pub use indirect_block::FractalHeapIndirectBlock;

use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use direct_block::DirectBlockContext;
use heap_id::HeapIdContext;
use hyperslab_core::{Decoder, Encoder, Result};
use indirect_block::IndirectBlockContext;

/// The heap as a whole: what its objects are found by, and what it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FractalHeapHeader {
    /// Bytes of a heap ID.
    pub heap_id_len: u16,
    /// Bit 0: IDs of huge objects have wrapped; bit 1: direct blocks have checksums.
    pub flags: u8,
    /// Objects larger than this are huge.
    pub max_managed_object_size: u32,
    /// The ID that the next huge object follows.
    pub next_huge_object_id: u64,
    /// The version 2 B-tree that tracks huge objects.
    pub huge_objects_btree: Address,
    /// Free bytes in managed blocks.
    pub managed_free_space: u64,
    /// The free-space manager of managed blocks.
    pub free_space_manager: Address,
    /// The upper bound of the heap's linear address space.
    pub managed_space: u64,
    /// Bytes of direct blocks that exist.
    pub allocated_managed_space: u64,
    /// Where the next direct block goes, in the heap's address space.
    pub direct_block_iterator: u64,
    /// How many objects lie in direct blocks.
    pub managed_object_count: u64,
    /// Bytes of huge objects.
    pub huge_object_size: u64,
    /// How many objects are huge.
    pub huge_object_count: u64,
    /// Bytes of objects that lie in their IDs.
    pub tiny_object_size: u64,
    /// How many objects lie in their IDs.
    pub tiny_object_count: u64,
    /// Where managed objects are.
    pub table: DoublingTable,
    /// Present if blocks and huge objects are filtered.
    pub filters: Option<FractalHeapFilters>,
}

/// How the blocks of a heap are filtered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FractalHeapFilters {
    /// Stored bytes of the root block, if that is a direct block.
    pub root_direct_block_size: u64,
    /// Which filters were skipped for it.
    pub root_direct_block_mask: u32,
    /// A Filter Pipeline message, encoded.
    pub pipeline: Vec<u8>,
}

impl FractalHeapHeader {
    /// Bytes of the header, but for `filters`.
    pub fn fixed_len(sizes: &Sizes) -> u64 {
        let (offset, length) = (u64::from(sizes.offsets), u64::from(sizes.lengths));
        26 + 3 * offset + 12 * length
    }

    /// The first bytes of the header, up to the length of the filters.
    pub const PREFIX_LEN: u64 = 9;

    /// Bytes of a header that begins with these [`PREFIX_LEN`](Self::PREFIX_LEN) bytes.
    pub fn len_of(mut prefix: Decoder<'_>, sizes: &Sizes) -> Result<u64> {
        prefix.signature(SIGNATURE)?;
        prefix.reserved(3)?;
        Ok(match prefix.u16()? {
            0 => Self::fixed_len(sizes),
            filters => Self::fixed_len(sizes) + u64::from(sizes.lengths) + 4 + u64::from(filters),
        })
    }

    /// Whether direct blocks have checksums.
    pub fn has_direct_block_checksums(&self) -> bool {
        self.flags & DIRECT_BLOCK_CHECKSUMS != 0
    }

    /// What the layout of direct blocks depends on.
    pub fn direct_block_context(&self, sizes: &Sizes) -> DirectBlockContext {
        DirectBlockContext {
            sizes: *sizes,
            heap_offset_width: self.table.heap_offset_width(),
            checksummed: self.has_direct_block_checksums(),
        }
    }

    /// What the layout of an indirect block with `rows` rows depends on.
    pub fn indirect_block_context(&self, sizes: &Sizes, rows: u32) -> Result<IndirectBlockContext> {
        let geometry = self.table.geometry()?;
        let width = usize::from(self.table.width);
        let direct_rows = rows.min(geometry.max_direct_rows());
        let entries = |rows: u32| usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(width);
        Ok(IndirectBlockContext {
            sizes: *sizes,
            heap_offset_width: self.table.heap_offset_width(),
            filtered: self.filters.is_some(),
            direct_entries: entries(direct_rows),
            indirect_entries: entries(rows - direct_rows),
        })
    }

    /// What the layout of heap IDs depends on.
    pub fn heap_id_context(&self, sizes: &Sizes) -> HeapIdContext {
        let of_block = self.table.max_direct_block_size.checked_ilog2().unwrap_or(0).div_ceil(8);
        let of_object = self.max_managed_object_size.checked_ilog2().unwrap_or(0) / 8 + 1;
        HeapIdContext {
            sizes: *sizes,
            len: self.heap_id_len,
            filtered: self.filters.is_some(),
            heap_offset_width: self.table.heap_offset_width(),
            heap_length_width: u8::try_from(of_block.min(of_object)).unwrap_or(u8::MAX),
        }
    }
}

impl Structure for FractalHeapHeader {
    type Context = Sizes;
    const NAME: &'static str = "Fractal Heap Header";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let start = d.clone();
        d.signature(SIGNATURE)?;
        match d.u8()? {
            0 => {}
            other => return Err(d.unsupported(format!("version {other}, expected 0"))),
        }
        let heap_id_len = d.u16()?;
        let filters_len = d.u16()?;
        let header = FractalHeapHeader {
            heap_id_len,
            flags: d.u8()?,
            max_managed_object_size: d.u32()?,
            next_huge_object_id: sizes.length(d)?,
            huge_objects_btree: sizes.address(d)?,
            managed_free_space: sizes.length(d)?,
            free_space_manager: sizes.address(d)?,
            managed_space: sizes.length(d)?,
            allocated_managed_space: sizes.length(d)?,
            direct_block_iterator: sizes.length(d)?,
            managed_object_count: sizes.length(d)?,
            huge_object_size: sizes.length(d)?,
            huge_object_count: sizes.length(d)?,
            tiny_object_size: sizes.length(d)?,
            tiny_object_count: sizes.length(d)?,
            table: DoublingTable::decode(d, sizes)?,
            filters: match filters_len {
                0 => None,
                len => Some(FractalHeapFilters {
                    root_direct_block_size: sizes.length(d)?,
                    root_direct_block_mask: d.u32()?,
                    pipeline: d.take(usize::from(len))?.to_vec(),
                }),
            },
        };
        verify_checksum(&start, d)?;
        Ok(header)
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let start = e.len();
        e.bytes(SIGNATURE);
        e.u8(0);
        e.u16(self.heap_id_len);
        e.len_as(2, self.filters.as_ref().map_or(0, |filters| filters.pipeline.len()))?;
        e.u8(self.flags);
        e.u32(self.max_managed_object_size);
        sizes.put_length(e, self.next_huge_object_id)?;
        sizes.put_address(e, self.huge_objects_btree)?;
        sizes.put_length(e, self.managed_free_space)?;
        sizes.put_address(e, self.free_space_manager)?;
        sizes.put_length(e, self.managed_space)?;
        sizes.put_length(e, self.allocated_managed_space)?;
        sizes.put_length(e, self.direct_block_iterator)?;
        sizes.put_length(e, self.managed_object_count)?;
        sizes.put_length(e, self.huge_object_size)?;
        sizes.put_length(e, self.huge_object_count)?;
        sizes.put_length(e, self.tiny_object_size)?;
        sizes.put_length(e, self.tiny_object_count)?;
        self.table.encode(e, sizes)?;
        if let Some(filters) = &self.filters {
            sizes.put_length(e, filters.root_direct_block_size)?;
            e.u32(filters.root_direct_block_mask);
            e.bytes(&filters.pipeline);
        }
        append_checksum(e, start)
    }
}

const SIGNATURE: &[u8] = b"FRHP";
const DIRECT_BLOCK_CHECKSUMS: u8 = 0x02;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    pub(crate) fn sample() -> FractalHeapHeader {
        FractalHeapHeader {
            heap_id_len: 7,
            flags: 2,
            max_managed_object_size: 4096,
            next_huge_object_id: 1,
            huge_objects_btree: Address::UNDEFINED,
            managed_free_space: 2,
            free_space_manager: Address(0x300),
            managed_space: 3,
            allocated_managed_space: 4,
            direct_block_iterator: 5,
            managed_object_count: 6,
            huge_object_size: 7,
            huge_object_count: 8,
            tiny_object_size: 9,
            tiny_object_count: 10,
            table: DoublingTable {
                width: 4,
                starting_block_size: 512,
                max_direct_block_size: 65536,
                max_heap_size: 32,
                starting_root_rows: 1,
                root_block: Address(0x400),
                current_root_rows: 2,
            },
            filters: None,
        }
    }

    structure_tests!(FractalHeapHeader, context: Sizes::DEFAULT,
        golden: [
            include_str!("../../../tests/golden/fractal_heap_header_links.hex"),
            include_str!("../../../tests/golden/fractal_heap_header_attributes.hex"),
            include_str!("../../../tests/golden/fractal_heap_header_filtered.hex"),
        ],
        values: [sample()]);

    #[test]
    fn golden_headers_say_how_the_heaps_were_made() {
        let decode = |text| {
            let bytes = hex(text);
            let mut d = Decoder::new("t", 0, &bytes);
            let len = FractalHeapHeader::len_of(d.clone(), &Sizes::DEFAULT).unwrap();
            assert_eq!(len, bytes.len() as u64);
            FractalHeapHeader::decode(&mut d, &Sizes::DEFAULT).unwrap()
        };
        let links = decode(include_str!("../../../tests/golden/fractal_heap_header_links.hex"));
        assert_eq!((links.heap_id_len, links.managed_object_count), (7, 60));
        assert_eq!((links.table.width, links.table.starting_block_size), (4, 512));
        assert!(links.has_direct_block_checksums());
        assert!(links.filters.is_none());
        let context = links.heap_id_context(&Sizes::DEFAULT);
        assert_eq!((context.heap_offset_width, context.heap_length_width), (4, 2));

        let attributes = decode(include_str!("../../../tests/golden/fractal_heap_header_attributes.hex"));
        assert_eq!((attributes.heap_id_len, attributes.huge_object_count), (8, 2));
        assert!(!attributes.huge_objects_btree.is_undefined());

        let filtered = decode(include_str!("../../../tests/golden/fractal_heap_header_filtered.hex"));
        assert!(filtered.filters.is_some());
    }

    #[test]
    fn narrow_sizes_return() {
        for sizes in [Sizes { offsets: 4, lengths: 4 }, Sizes { offsets: 8, lengths: 4 }] {
            let mut e = Encoder::new();
            sample().encode(&mut e, &sizes).unwrap();
            assert_eq!(e.len() as u64, FractalHeapHeader::fixed_len(&sizes));
            let bytes = e.into_bytes();
            let mut d = Decoder::new("t", 0, &bytes);
            assert_eq!(FractalHeapHeader::decode(&mut d, &sizes).unwrap(), sample());
        }
    }

    #[test]
    fn refuses_tables_that_cannot_be() {
        let mut e = Encoder::new();
        let mut header = sample();
        header.table.width = 3;
        assert!(header.encode(&mut e, &Sizes::DEFAULT).is_err());
        let mut header = sample();
        header.table.max_heap_size = 65;
        assert!(header.encode(&mut e, &Sizes::DEFAULT).is_err());
    }
}
