//! Chapter III: infrastructure.

use super::{part, section};
use crate::status::Proof::{Data, Golden, Test};
use crate::status::Section;

pub(super) const SECTIONS: &[Section] = &[
    section(
        "III.A.1",
        "Version 1 B-trees",
        &[
            part(
                "type 0, group nodes",
                &[
                    Golden("btree_v1_group_leaf"),
                    Golden("btree_v1_group_empty"),
                    Golden("btree_v1_group_narrow"),
                    Test("all_links_come_in_order_of_names"),
                ],
            ),
            part(
                "type 1, chunks",
                &[
                    Golden("btree_v1_chunk_leaf"),
                    Golden("btree_v1_chunk_root"),
                    Data("chunk_index/btree_v1.h5"),
                ],
            ),
        ],
    ),
    section(
        "III.A.2",
        "Version 2 B-trees",
        &[
            part(
                "header, internal and leaf nodes",
                &[Golden("btree_v2_header"), Golden("btree_v2_internal"), Golden("btree_v2_leaf")],
            ),
            part(
                "types 1 to 4, huge objects",
                &[
                    Golden("btree_v2_record_huge_object"),
                    Test("huge_objects_are_found_by_their_ids"),
                    Test("tiny_and_huge_objects_need_no_block"),
                ],
            ),
            part("type 5, link names", &[Golden("btree_v2_record_link_name")]),
            part("type 6, link creation order", &[Golden("btree_v2_record_link_order")]),
            part(
                "type 7, shared messages",
                &[
                    Golden("btree_v2_record_shared_message_in_header"),
                    Golden("btree_v2_record_shared_message_in_heap"),
                ],
            ),
            part("type 8, attribute names", &[Golden("btree_v2_record_attribute_name")]),
            part("type 9, attribute creation order", &[Golden("btree_v2_record_attribute_order")]),
            part("type 10, chunks", &[Golden("btree_v2_record_chunk"), Data("chunk_index/btree_v2.h5")]),
            part(
                "type 11, filtered chunks",
                &[Golden("btree_v2_record_filtered_chunk"), Golden("btree_v2_record_filtered_chunk_v5")],
            ),
        ],
    ),
    section("III.B", "Group symbol table nodes", &[part("version 1", &[Golden("symbol_table_node")])]),
    section(
        "III.C",
        "Symbol table entry",
        &[
            part("cache type 0, nothing", &[Golden("symbol_table_entry_dataset")]),
            part(
                "cache type 1, group",
                &[Golden("symbol_table_entry_group"), Golden("symbol_table_entry_group_narrow")],
            ),
            part("cache type 2, soft link", &[Golden("symbol_table_entry_soft_link")]),
        ],
    ),
    section(
        "III.D",
        "Local heaps",
        &[
            part(
                "version 0",
                &[Golden("local_heap"), Golden("local_heap_full"), Golden("local_heap_narrow")],
            ),
            part("free list", &[Golden("local_heap_free_block")]),
        ],
    ),
    section(
        "III.E",
        "Global heap",
        &[
            part("version 1", &[Golden("global_heap_collection"), Golden("global_heap_collection_narrow")]),
            part("ID", &[Golden("global_heap_id")]),
        ],
    ),
    section(
        "III.F",
        "Global heap block for virtual datasets",
        &[
            part(
                "version 0",
                &[
                    Golden("vds_v0"),
                    Data("virtual/vds_v110.h5"),
                    Test("virtual_datasets_equal_those_of_libhdf5"),
                ],
            ),
            part("version 1, shared names", &[Golden("vds_v1"), Test("both_versions_have_the_same_sources")]),
            part(
                "numbered sources",
                &[
                    Golden("vds_unlimited"),
                    Data("virtual/vds_latest.h5"),
                    Test("unlimited_mappings_have_numbered_sources"),
                ],
            ),
            part(
                "unlimited mappings",
                &[
                    Data("virtual/expected.txt"),
                    Test("regions_of_a_virtual_dataset_equal_those_of_the_whole"),
                ],
            ),
            part("cycles", &[Data("virtual/cycle.h5"), Test("rejects_endless_nesting")]),
        ],
    ),
    section(
        "III.G",
        "Fractal heap",
        &[
            part(
                "header",
                &[
                    Golden("fractal_heap_header_links"),
                    Golden("fractal_heap_header_attributes"),
                    Golden("fractal_heap_header_filtered"),
                ],
            ),
            part("direct blocks", &[Golden("fractal_heap_direct_block")]),
            part(
                "indirect blocks",
                &[
                    Golden("fractal_heap_indirect_block"),
                    Golden("fractal_heap_indirect_block_filtered"),
                    Test("objects_come_from_every_row_and_from_nested_tables"),
                ],
            ),
            part("managed objects", &[Golden("fractal_heap_id_managed")]),
            part(
                "huge objects",
                &[Golden("fractal_heap_id_huge"), Test("huge_objects_are_found_by_their_ids")],
            ),
            part("tiny objects", &[Test("tiny_and_huge_objects_need_no_block")]),
            part("filtered heaps", &[Test("filtered_blocks_and_huge_objects_are_decoded")]),
        ],
    ),
    section(
        "III.H",
        "Free-space manager",
        &[
            part("header, client file", &[Golden("free_space_header_file")]),
            part("header, client fractal heap", &[Golden("free_space_header_heap")]),
            part("section list", &[Golden("free_space_sections_file"), Golden("free_space_sections_heap")]),
        ],
    ),
    section(
        "III.I",
        "Shared object header message table",
        &[
            part("table", &[Golden("sohm_table")]),
            part("list", &[Golden("sohm_list")]),
            part("B-tree", &[Data("shared_messages.h5"), Golden("btree_v2_record_shared_message_in_heap")]),
        ],
    ),
];
