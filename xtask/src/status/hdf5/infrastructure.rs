//! Chapter III: infrastructure.

use super::{part, section};
use crate::status::Proof::{Data, Golden, Test, Trial};
use crate::status::Section;
use crate::status::Written::{By, Not};

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
                By(&[
                    Test("symbol_table::links_are_found_around_every_boundary"),
                    Test("nodes_have_the_sizes_of_the_superblock"),
                    Trial("make_links"),
                ]),
            ),
            part(
                "type 1, chunks",
                &[
                    Golden("btree_v1_chunk_leaf"),
                    Golden("btree_v1_chunk_root"),
                    Data("chunk_index/btree_v1.h5"),
                ],
                By(&[
                    Test("counts_around_the_ends_of_blocks_pages_and_nodes_are_read_back"),
                    Test("whole_files_pass_all_checks"),
                    Trial("make_long"),
                ]),
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
                By(&[
                    Test("trees_of_any_number_of_records_are_read_back"),
                    Test("a_tree_grows_a_level_when_it_is_full"),
                ]),
            ),
            part(
                "types 1 and 3, huge objects",
                &[
                    Golden("btree_v2_record_huge_object"),
                    Test("huge_objects_are_found_by_their_ids"),
                    Test("tiny_and_huge_objects_need_no_block"),
                ],
                By(&[
                    Test("huge_objects_are_addressed_directly_where_the_id_has_room"),
                    Test("a_large_attribute_makes_all_dense"),
                ]),
            ),
            part(
                "type 2, filtered huge objects",
                &[Test("filtered_blocks_and_huge_objects_are_decoded")],
                By(&[Test("filtered_blocks_and_huge_objects_are_read_back")]),
            ),
            part(
                "type 4, filtered huge objects whose IDs are addresses",
                &[Test("filtered_direct_huge")],
                Not("IDs of 7 or 8 bytes, as all heaps have them, have no room for it"),
            ),
            part(
                "type 5, link names",
                &[Golden("btree_v2_record_link_name")],
                By(&[Test("links::links_are_found_around_every_boundary"), Trial("make_links")]),
            ),
            part(
                "type 6, link creation order",
                &[Golden("btree_v2_record_link_order")],
                By(&[Test("links::links_are_found_around_every_boundary"), Trial("index_order")]),
            ),
            part(
                "type 7, shared messages",
                &[
                    Golden("btree_v2_record_shared_message_in_header"),
                    Golden("btree_v2_record_shared_message_in_heap"),
                ],
                By(&[
                    Test("shared_messages_are_read_and_counted"),
                    Test("messages_are_shared_between_the_headers_of_a_file"),
                ]),
            ),
            part(
                "type 8, attribute names",
                &[Golden("btree_v2_record_attribute_name")],
                By(&[Test("attributes_are_found_around_every_boundary"), Trial("make_attributes")]),
            ),
            part(
                "type 9, attribute creation order",
                &[Golden("btree_v2_record_attribute_order")],
                By(&[Test("attributes_are_found_around_every_boundary"), Trial("index_attributes")]),
            ),
            part(
                "type 10, chunks",
                &[Golden("btree_v2_record_chunk"), Data("chunk_index/btree_v2.h5")],
                By(&[
                    Test("counts_around_the_ends_of_blocks_pages_and_nodes_are_read_back"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
            part(
                "type 11, filtered chunks",
                &[Golden("btree_v2_record_filtered_chunk"), Golden("btree_v2_record_filtered_chunk_v5")],
                By(&[
                    Test("counts_around_the_ends_of_blocks_pages_and_nodes_are_read_back"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
        ],
    ),
    section(
        "III.B",
        "Group symbol table nodes",
        &[part(
            "version 1",
            &[Golden("symbol_table_node")],
            By(&[
                Test("symbol_table::links_are_found_around_every_boundary"),
                Test("nodes_have_the_sizes_of_the_superblock"),
            ]),
        )],
    ),
    section(
        "III.C",
        "Symbol table entry",
        &[
            part(
                "cache type 0, nothing",
                &[Golden("symbol_table_entry_dataset")],
                By(&[Test("superblocks_have_the_version_and_the_extension_that_the_options_need")]),
            ),
            part(
                "cache type 1, group",
                &[Golden("symbol_table_entry_group"), Golden("symbol_table_entry_group_narrow")],
                By(&[
                    Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                    Test("symbol_table::links_are_found_around_every_boundary"),
                ]),
            ),
            part(
                "cache type 2, soft link",
                &[Golden("symbol_table_entry_soft_link")],
                By(&[Test("symbol_table::links_are_found_around_every_boundary")]),
            ),
        ],
    ),
    section(
        "III.D",
        "Local heaps",
        &[
            part(
                "version 0",
                &[Golden("local_heap"), Golden("local_heap_full"), Golden("local_heap_narrow")],
                By(&[
                    Test("symbol_table::links_are_found_around_every_boundary"),
                    Test("names_and_places_are_read_back"),
                ]),
            ),
            part(
                "free list",
                &[Golden("local_heap_free_block")],
                By(&[Test("an_empty_group_has_room_for_names_as_in_libhdf5")]),
            ),
        ],
    ),
    section(
        "III.E",
        "Global heap",
        &[
            part(
                "version 1",
                &[Golden("global_heap_collection"), Golden("global_heap_collection_narrow")],
                By(&[
                    Test("objects_are_read_back_from_collections_of_the_sizes_of_libhdf5"),
                    Test("a_file_with_relocated_elements_is_valid"),
                ]),
            ),
            part("ID", &[Golden("global_heap_id")], By(&[Test("nested_sequences_are_relocated")])),
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
                By(&[
                    Test("mappings_are_read_back"),
                    Test("a_file_with_a_virtual_dataset_is_valid"),
                    Trial("make_virtual"),
                ]),
            ),
            part(
                "version 1, shared names",
                &[Golden("vds_v1"), Test("both_versions_have_the_same_sources")],
                By(&[Test("mappings_are_read_back"), Test("version_1_is_written_only_if_it_is_not_larger")]),
            ),
            part(
                "numbered sources",
                &[
                    Golden("vds_unlimited"),
                    Data("virtual/vds_latest.h5"),
                    Test("unlimited_mappings_have_numbered_sources"),
                ],
                By(&[Test("virtual_datasets_grow_with_their_sources")]),
            ),
            part(
                "unlimited mappings",
                &[
                    Data("virtual/expected.txt"),
                    Test("regions_of_a_virtual_dataset_equal_those_of_the_whole"),
                ],
                By(&[Test("virtual_datasets_grow_with_their_sources")]),
            ),
            part(
                "cycles",
                &[Data("virtual/cycle.h5"), Test("rejects_endless_nesting")],
                Not("nothing to write: readers must cope with it"),
            ),
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
                By(&[
                    Test("links::links_are_found_around_every_boundary"),
                    Test("attributes_are_found_around_every_boundary"),
                    Test("an_empty_heap_has_no_block"),
                ]),
            ),
            part(
                "direct blocks",
                &[Golden("fractal_heap_direct_block")],
                By(&[
                    Test("the_first_block_is_the_root_until_there_are_two"),
                    Test("objects_fill_rests_before_new_blocks"),
                ]),
            ),
            part(
                "indirect blocks",
                &[
                    Golden("fractal_heap_indirect_block"),
                    Golden("fractal_heap_indirect_block_filtered"),
                    Test("objects_come_from_every_row_and_from_nested_tables"),
                ],
                By(&[
                    Test("heaps_of_many_objects_have_nested_indirect_blocks"),
                    Test("blocks_that_are_too_small_are_skipped"),
                ]),
            ),
            part(
                "managed objects",
                &[Golden("fractal_heap_id_managed")],
                By(&[Test("objects_of_each_kind_are_read_back")]),
            ),
            part(
                "huge objects",
                &[Golden("fractal_heap_id_huge"), Test("huge_objects_are_found_by_their_ids")],
                By(&[
                    Test("objects_of_each_kind_are_read_back"),
                    Test("huge_objects_are_addressed_directly_where_the_id_has_room"),
                ]),
            ),
            part(
                "tiny objects",
                &[Test("tiny_and_huge_objects_need_no_block")],
                By(&[Test("objects_of_each_kind_are_read_back")]),
            ),
            part(
                "filtered heaps",
                &[Test("filtered_blocks_and_huge_objects_are_decoded")],
                By(&[
                    Test("filtered_heaps_are_read"),
                    Test("filtered_blocks_and_huge_objects_are_read_back"),
                ]),
            ),
        ],
    ),
    section(
        "III.H",
        "Free-space manager",
        &[
            part(
                "client file",
                &[Golden("free_space_header_file"), Golden("free_space_sections_file")],
                Not(
                    "nothing is freed while a file is written, and free space at the end of pages is not kept",
                ),
            ),
            part(
                "client fractal heap",
                &[Golden("free_space_header_heap"), Golden("free_space_sections_heap")],
                By(&[
                    Test("links::links_are_found_around_every_boundary"),
                    Test("a_large_attribute_makes_all_dense"),
                ]),
            ),
        ],
    ),
    section(
        "III.I",
        "Shared object header message table",
        &[
            part(
                "table",
                &[Golden("sohm_table")],
                By(&[
                    Test("shared_messages_are_read_and_counted"),
                    Test("messages_are_shared_between_the_headers_of_a_file"),
                ]),
            ),
            part(
                "list",
                &[Golden("sohm_list")],
                By(&[
                    Test("shared_messages_are_read_and_counted"),
                    Test("messages_are_shared_between_the_headers_of_a_file"),
                ]),
            ),
            part(
                "B-tree",
                &[Data("shared_messages.h5"), Golden("btree_v2_record_shared_message_in_heap")],
                By(&[
                    Test("shared_messages_are_read_and_counted"),
                    Test("messages_are_shared_between_the_headers_of_a_file"),
                ]),
            ),
        ],
    ),
];
