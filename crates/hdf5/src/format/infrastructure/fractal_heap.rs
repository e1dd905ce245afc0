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

/// The header of a fractal heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FractalHeapHeader {
    /// The size of a heap ID in bytes.
    pub heap_id_len: u16,
    /// Bit 0: the IDs of huge objects have wrapped. Bit 1: direct blocks have checksums.
    pub flags: u8,
    /// The maximum size of a managed object in bytes. Larger objects are huge.
    pub max_managed_object_size: u32,
    /// The next free ID of a huge object.
    pub next_huge_object_id: u64,
    /// The address of the version 2 B-tree of huge objects.
    pub huge_objects_btree: Address,
    /// The number of free bytes in managed blocks.
    pub managed_free_space: u64,
    /// The address of the free-space manager of managed blocks.
    pub free_space_manager: Address,
    /// The size of the managed address space of the heap.
    pub managed_space: u64,
    /// The size of all allocated direct blocks in bytes.
    pub allocated_managed_space: u64,
    /// The offset of the next direct block in the managed address space.
    pub direct_block_iterator: u64,
    /// The number of managed objects.
    pub managed_object_count: u64,
    /// The size of all huge objects in bytes.
    pub huge_object_size: u64,
    /// The number of huge objects.
    pub huge_object_count: u64,
    /// The size of all tiny objects in bytes. A tiny object is stored in its heap ID.
    pub tiny_object_size: u64,
    /// The number of tiny objects.
    pub tiny_object_count: u64,
    /// The doubling table, which locates managed objects.
    pub table: DoublingTable,
    /// The filters of blocks and huge objects, if there are any.
    pub filters: Option<FractalHeapFilters>,
}

/// The filters of a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FractalHeapFilters {
    /// The stored size of the root block in bytes, if it is a direct block.
    pub root_direct_block_size: u64,
    /// A bit for each filter that was skipped for the root block.
    pub root_direct_block_mask: u32,
    /// The encoded Filter Pipeline message.
    pub pipeline: Vec<u8>,
}

impl FractalHeapHeader {
    /// The size of the header in bytes, without `filters`.
    pub fn fixed_len(sizes: &Sizes) -> u64 {
        let (offset, length) = (u64::from(sizes.offsets), u64::from(sizes.lengths));
        26 + 3 * offset + 12 * length
    }

    /// The number of bytes up to the length of the filters.
    pub const PREFIX_LEN: u64 = 9;

    /// The size in bytes of a header that begins with these [`PREFIX_LEN`](Self::PREFIX_LEN) bytes.
    pub fn len_of(mut prefix: Decoder<'_>, sizes: &Sizes) -> Result<u64> {
        prefix.signature(SIGNATURE)?;
        prefix.reserved(3)?;
        Ok(Self::len_with(prefix.u16()?.into(), sizes))
    }

    /// The size of the header in bytes.
    pub fn len(&self, sizes: &Sizes) -> u64 {
        Self::len_with(self.filters.as_ref().map_or(0, |filters| filters.pipeline.len() as u64), sizes)
    }

    fn len_with(filters: u64, sizes: &Sizes) -> u64 {
        match filters {
            0 => Self::fixed_len(sizes),
            filters => Self::fixed_len(sizes) + u64::from(sizes.lengths) + 4 + filters,
        }
    }

    /// Whether direct blocks have checksums.
    pub fn has_direct_block_checksums(&self) -> bool {
        self.flags & DIRECT_BLOCK_CHECKSUMS != 0
    }

    /// The parameters that determine the layout of a direct block.
    pub fn direct_block_context(&self, sizes: &Sizes) -> DirectBlockContext {
        DirectBlockContext {
            sizes: *sizes,
            heap_offset_width: self.table.heap_offset_width(),
            checksummed: self.has_direct_block_checksums(),
        }
    }

    /// The parameters that determine the layout of an indirect block with `rows` rows.
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

    /// The parameters that determine the layout of a heap ID.
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
    fn golden_headers_have_the_expected_parameters() {
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
    fn round_trips_with_narrow_sizes() {
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
    fn rejects_impossible_tables() {
        let mut e = Encoder::new();
        let mut header = sample();
        header.table.width = 3;
        assert!(header.encode(&mut e, &Sizes::DEFAULT).is_err());
        let mut header = sample();
        header.table.max_heap_size = 65;
        assert!(header.encode(&mut e, &Sizes::DEFAULT).is_err());
    }
}
