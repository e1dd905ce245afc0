//! Decodes every structure from the same bytes; what decodes must encode to bytes that decode to it.
#![no_main]

use hyperslab_core::{Decoder, Encoder};
use hyperslab_hdf5::format::chunk_index::{extensible_array, fixed_array};
use hyperslab_hdf5::format::encoding::{reference, selection};
use hyperslab_hdf5::format::infrastructure::{
    btree_v1, btree_v2, fractal_heap, free_space_manager, global_heap, local_heap, symbol_table_entry,
    symbol_table_node, virtual_dataset_block,
};
use hyperslab_hdf5::format::metadata::{driver_info, superblock};
use hyperslab_hdf5::format::object_header::Chunk0;
use hyperslab_hdf5::format::{Sizes, Structure, checksum};
use libfuzzer_sys::fuzz_target;
use std::fmt::Debug;

fuzz_target!(|bytes: &[u8]| {
    every_structure(bytes);
    // Most structures end with a checksum, which would keep the fuzzer out.
    if let Some((covered, _)) = bytes.split_last_chunk::<4>() {
        let mut repaired = covered.to_vec();
        repaired.extend_from_slice(&checksum::lookup3(covered).to_le_bytes());
        every_structure(&repaired);
    }
});

fn every_structure(bytes: &[u8]) {
    returns::<superblock::Superblock>(bytes, &());
    returns::<Chunk0>(bytes, &());
    returns::<selection::DataspaceSelection>(bytes, &());
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
        for node_type in [btree_v1::NodeType::Group, btree_v1::NodeType::Chunks { rank: 2 }] {
            returns::<btree_v1::BtreeV1Node>(bytes, &btree_v1::BtreeV1Context { sizes, node_type });
        }
    }
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
