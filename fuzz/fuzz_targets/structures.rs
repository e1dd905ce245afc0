//! Decodes every structure from the same bytes. A decoded structure must encode to bytes that decode to the same
//! structure.
#![no_main]

use hyperslab_core::{Decoder, Encoder};
use hyperslab_hdf5::format::chunk_index::extensible_array::{data_block, index_block, secondary_block};
use hyperslab_hdf5::format::chunk_index::{Client, extensible_array, fixed_array, page};
use hyperslab_hdf5::format::encoding::{dataspace, reference, selection};
use hyperslab_hdf5::format::infrastructure::fractal_heap::{direct_block, heap_id, indirect_block};
use hyperslab_hdf5::format::infrastructure::free_space_manager::{self, section_list};
use hyperslab_hdf5::format::infrastructure::{
    btree_v1, btree_v2, fractal_heap, global_heap, local_heap, metadata_cache_image, shared_message_table,
    symbol_table_entry, symbol_table_node, virtual_dataset_block,
};
use hyperslab_hdf5::format::metadata::{driver_info, superblock};
use hyperslab_hdf5::format::object_header::Chunk0;
use hyperslab_hdf5::format::{Sizes, Structure, checksum};
use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;

fuzz_target!(|bytes: &[u8]| {
    every_structure(bytes);
    // Most structures end with a checksum, which would keep the fuzzer from reaching the rest.
    if let Some((covered, _)) = bytes.split_last_chunk::<4>() {
        let mut repaired = covered.to_vec();
        repaired.extend_from_slice(&checksum::lookup3(covered).to_le_bytes());
        every_structure(&repaired);
        for few in [0, 1, 2, 3, 4, 5, 6, 7, 30, 31] {
            every_dependent_structure(&repaired, few);
        }
    }
});

fn every_structure(bytes: &[u8]) {
    returns::<superblock::Superblock>(bytes, &());
    returns::<Chunk0>(bytes, &());
    returns::<selection::DataspaceSelection>(bytes, &());
    returns::<dataspace::EncodedDataspace>(bytes, &());
    returns::<reference::ReferenceHeader>(bytes, &());
    for sizes in [Sizes::DEFAULT, Sizes { offsets: 4, lengths: 4 }] {
        returns::<driver_info::DriverInfoBlock>(bytes, &sizes);
        returns::<btree_v2::BtreeV2Header>(bytes, &sizes);
        returns::<fractal_heap::FractalHeapHeader>(bytes, &sizes);
        returns::<free_space_manager::FreeSpaceManagerHeader>(bytes, &sizes);
        returns::<global_heap::GlobalHeapCollection>(bytes, &sizes);
        returns::<local_heap::LocalHeapHeader>(bytes, &sizes);
        returns::<symbol_table_entry::SymbolTableEntry>(bytes, &sizes);
        returns::<symbol_table_node::SymbolTableNode>(bytes, &sizes);
        returns::<virtual_dataset_block::VirtualDatasetBlock>(bytes, &sizes);
        returns::<fixed_array::FixedArrayHeader>(bytes, &sizes);
        returns::<extensible_array::ExtensibleArrayHeader>(bytes, &sizes);
        returns::<reference::RegionReference>(bytes, &sizes);
        returns::<metadata_cache_image::MetadataCacheImageBlock>(bytes, &sizes);
        for node_type in [btree_v1::NodeType::Group, btree_v1::NodeType::Chunks { rank: 2 }] {
            returns::<btree_v1::BtreeV1Node>(bytes, &btree_v1::BtreeV1Context { sizes, node_type });
        }
    }
}

/// Structures whose layout depends on the structure that points to them, for which small numbers are used here.
fn every_dependent_structure(bytes: &[u8], few: u8) {
    let sizes = Sizes::DEFAULT;
    let (filtered, checksummed) = (few & 1 == 1, few & 2 == 2);
    let client = if filtered { Client::Filtered { size_width: 2 } } else { Client::Unfiltered };
    let elements = u64::from(few);
    let page_elements = checksummed.then_some(4);
    let len = bytes.len() as u64;
    returns::<page::DataBlockPage>(bytes, &page::PageContext { sizes, client, elements });
    returns::<fixed_array::FixedArrayDataBlock>(
        bytes,
        &fixed_array::DataBlockContext { sizes, client, elements, page_elements },
    );
    returns::<data_block::ExtensibleArrayDataBlock>(
        bytes,
        &data_block::DataBlockContext { sizes, client, offset_width: 4, elements },
    );
    returns::<index_block::ExtensibleArrayIndexBlock>(
        bytes,
        &index_block::IndexBlockContext { sizes, client, elements, data_blocks: 6, secondary_blocks: 2 },
    );
    returns::<secondary_block::ExtensibleArraySecondaryBlock>(
        bytes,
        &secondary_block::SecondaryBlockContext {
            sizes,
            client,
            offset_width: 4,
            page_bitmap_len: elements,
            data_blocks: 4,
        },
    );
    returns::<heap_id::HeapId>(
        bytes,
        &heap_id::HeapIdContext { sizes, len: 8, filtered, heap_offset_width: 4, heap_length_width: 2 },
    );
    returns::<direct_block::FractalHeapDirectBlock>(
        bytes,
        &direct_block::DirectBlockContext { sizes, heap_offset_width: 4, checksummed },
    );
    returns::<indirect_block::FractalHeapIndirectBlock>(
        bytes,
        &indirect_block::IndirectBlockContext {
            sizes,
            heap_offset_width: 4,
            filtered,
            direct_entries: few.into(),
            indirect_entries: 2,
        },
    );
    returns::<section_list::FreeSpaceSectionList>(
        bytes,
        &section_list::SectionListContext {
            sizes,
            client: if filtered {
                free_space_manager::Client::File
            } else {
                free_space_manager::Client::FractalHeap
            },
            len,
            section_count: elements,
            count_width: 1,
            size_width: 2,
            offset_width: 4,
        },
    );
    returns::<shared_message_table::SharedMessageTable>(
        bytes,
        &shared_message_table::SharedMessageTableContext { sizes, index_count: few % 9 },
    );
    returns::<shared_message_table::SharedMessageList>(
        bytes,
        &shared_message_table::SharedMessageListContext { sizes, message_count: few.into() },
    );
}

fn returns<S: Structure + PartialEq + Debug>(bytes: &[u8], context: &S::Context) {
    let Ok(value) = S::decode(&mut Decoder::new(S::NAME, 0, bytes), context) else { return };
    let mut e = Encoder::new();
    if value.encode(&mut e, context).is_err() {
        return;
    }
    let written = e.into_bytes();
    match S::decode(&mut Decoder::new(S::NAME, 0, &written), context) {
        Ok(again) => assert_eq!(value, again, "{} changed on its way", S::NAME),
        Err(error) => panic!("{} cannot read what it wrote: {error}\n{value:?}", S::NAME),
    }
}
