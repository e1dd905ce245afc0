//! The sections of the HDF5 File Format Specification, version 4.0.

use super::Proof::{self, Data, Golden, Test};
use super::{Part, Section};

const fn part(name: &'static str, proofs: &'static [Proof]) -> Part {
    Part { name, proofs }
}

const fn section(number: &'static str, title: &'static str, parts: &'static [Part]) -> Section {
    Section { number, title, parts }
}

/// All of them, in order.
pub(super) const SECTIONS: &[Section] = &[
    section(
        "I.A",
        "This document",
        &[part("checksums", &[Test("agrees_with_the_published_driver"), Golden("superblock_v3")])],
    ),
    section("I.B", "Changes for HDF5 2.0", &[]),
    section("I.C", "Changes for HDF5 1.12", &[]),
    section("I.D", "Changes for HDF5 1.10", &[]),
    section(
        "II.A",
        "Format signature and superblock",
        &[
            part("version 0", &[Golden("superblock_v0"), Golden("superblock_v0_driver_info")]),
            part("version 1", &[Test("a_superblock_of_version_1_has_the_k_of_chunk_indexes")]),
            part("version 2", &[Golden("superblock_v2")]),
            part("version 3", &[Golden("superblock_v3"), Golden("superblock_v3_extension")]),
            part(
                "user block",
                &[Golden("superblock_v0_user_block"), Test("addresses_count_from_behind_a_user_block")],
            ),
            part(
                "signature at 0, 512, 1024 and so on",
                &[Test("the_signature_is_found_at_doubling_places_only")],
            ),
            part(
                "sizes of offsets and lengths 2, 4, 8, 16, 32",
                &[Golden("superblock_v0_narrow"), Test("undefined_is_all_ones_at_every_width")],
            ),
            part(
                "file consistency flags",
                &[
                    Golden("superblock_v3_open"),
                    Test("a_file_that_a_writer_left_open_is_read_with_a_warning"),
                ],
            ),
        ],
    ),
    section(
        "II.B",
        "File driver info",
        &[
            part("family", &[Golden("driver_info_family"), Test("any_member_opens_the_whole_set")]),
            part("multi and split", &[Golden("driver_info_split"), Test("any_member_opens_the_whole_set")]),
            part("members that are missing", &[Test("lone_members_of_sets_are_refused_by_name")]),
            part("members that are cut short", &[Test("members_that_are_cut_short_are_warned_of")]),
        ],
    ),
    section(
        "II.C",
        "Superblock extension",
        &[
            part(
                "shared message table",
                &[Data("shared_messages.h5"), Test("messages_shared_in_heaps_are_those_that_were_written")],
            ),
            part("B-tree K values", &[Golden("message_btree_k_values")]),
            part("driver info", &[Data("family_v2.h5"), Data("split_v2.h5")]),
            part("file space info", &[Golden("message_file_space_info_v1_page")]),
            part(
                "metadata cache image",
                &[Data("cache_image.h5"), Test("metadata_in_a_cache_image_is_that_of_the_file")],
            ),
        ],
    ),
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
                    Test("virtual_datasets_are_what_the_library_reads"),
                ],
            ),
            part("version 1, shared names", &[Golden("vds_v1"), Test("both_versions_name_the_same_sources")]),
            part(
                "numbered sources",
                &[
                    Golden("vds_unlimited"),
                    Data("virtual/vds_latest.h5"),
                    Test("unlimited_mappings_number_their_sources"),
                ],
            ),
            part(
                "unlimited mappings",
                &[Data("virtual/expected.txt"), Test("any_part_of_a_virtual_dataset_is_that_of_the_whole")],
            ),
            part("cycles", &[Data("virtual/cycle.h5"), Test("what_would_not_end_is_refused")]),
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
    section(
        "IV.A.1.a",
        "Version 1 data object header prefix",
        &[part(
            "prefix and messages",
            &[
                Golden("object_header_prefix_v1"),
                Golden("object_header_v1"),
                Golden("object_header_message_v1"),
            ],
        )],
    ),
    section(
        "IV.A.1.b",
        "Version 2 data object header prefix",
        &[
            part(
                "prefix and messages",
                &[
                    Golden("object_header_prefix_v2_group"),
                    Golden("object_header_v2"),
                    Golden("object_header_message_v2"),
                ],
            ),
            part("times", &[Golden("object_header_prefix_v2_times")]),
            part("attribute phase change", &[Golden("object_header_prefix_v2_phase_change")]),
            part("creation order", &[Golden("object_header_message_v2_tracked")]),
            part("gaps", &[Golden("object_header_v2_gap")]),
        ],
    ),
    section(
        "IV.A.2",
        "Data object header messages",
        &[
            part("shared message version 1", &[Test("version_1_holds_a_symbol_table_entry")]),
            part("shared message version 2", &[Golden("message_shared_v2_committed")]),
            part("shared message version 3", &[Golden("message_shared_v3_heap")]),
        ],
    ),
    section("IV.A.2.a", "NIL", &[part("any", &[Golden("message_nil")])]),
    section(
        "IV.A.2.b",
        "Dataspace",
        &[
            part(
                "version 1",
                &[
                    Golden("message_dataspace_v1_simple"),
                    Golden("message_dataspace_v1_scalar"),
                    Golden("message_dataspace_v1_unlimited"),
                    Golden("message_dataspace_v1_narrow"),
                ],
            ),
            part("version 1, permutation", &[Test("a_permutation_is_kept_and_means_nothing")]),
            part(
                "version 2",
                &[
                    Golden("message_dataspace_v2_scalar"),
                    Golden("message_dataspace_v2_null"),
                    Golden("message_dataspace_v2_unlimited"),
                ],
            ),
        ],
    ),
    section(
        "IV.A.2.c",
        "Link info",
        &[part(
            "version 0",
            &[
                Golden("message_link_info"),
                Golden("message_link_info_dense"),
                Golden("message_link_info_indexed"),
            ],
        )],
    ),
    section(
        "IV.A.2.d",
        "Datatype",
        &[
            part(
                "class 0, fixed-point",
                &[
                    Golden("message_datatype_fixed_point_v1"),
                    Golden("message_datatype_fixed_point_v1_big_endian"),
                    Golden("message_datatype_fixed_point_v1_padded"),
                    Test("integers_of_every_size_and_order"),
                ],
            ),
            part(
                "class 1, floating-point",
                &[
                    Golden("message_datatype_floating_point_v1"),
                    Golden("message_datatype_floating_point_v1_half"),
                    Golden("message_datatype_floating_point_v1_x87"),
                    Test("floats_of_both_orders"),
                ],
            ),
            part(
                "class 1, bfloat16 and floats of 8 bits and less",
                &[Golden("message_datatype_floating_point_v1_bfloat16"), Test("small_floats_are_their_bits")],
            ),
            part(
                "class 1, VAX order",
                &[Golden("message_datatype_floating_point_v3_vax"), Test("words_of_vax_numbers_turn_around")],
            ),
            part("class 2, time", &[Golden("message_datatype_time_v1")]),
            part(
                "class 3, string",
                &[
                    Golden("message_datatype_string_v1"),
                    Golden("message_datatype_string_v1_utf8"),
                    Test("strings_keep_the_padding_that_their_type_names"),
                ],
            ),
            part("class 4, bit field", &[Golden("message_datatype_bit_field_v1")]),
            part("class 5, opaque", &[Golden("message_datatype_opaque_v1")]),
            part(
                "class 6, compound",
                &[
                    Golden("message_datatype_compound_v1"),
                    Golden("message_datatype_compound_v2"),
                    Golden("message_datatype_compound_v3"),
                    Test("compounds_are_packed_rows_of_native_numbers"),
                ],
            ),
            part(
                "class 7, reference",
                &[
                    Golden("message_datatype_reference_v1_object"),
                    Golden("message_datatype_reference_v1_region"),
                    Golden("message_datatype_reference_v4"),
                ],
            ),
            part(
                "class 8, enumeration",
                &[
                    Golden("message_datatype_enumeration_v1"),
                    Golden("message_datatype_enumeration_v3"),
                    Test("enumerations_are_their_integers"),
                ],
            ),
            part(
                "class 9, variable-length",
                &[
                    Golden("message_datatype_variable_length_v1_string"),
                    Golden("message_datatype_variable_length_v1_sequence"),
                    Test("sequences_have_their_elements"),
                ],
            ),
            part(
                "class 10, array",
                &[Golden("message_datatype_array_v2"), Golden("message_datatype_array_v3")],
            ),
            part("class 11, complex", &[Golden("message_datatype_complex_v5")]),
            part(
                "versions 1 to 5, nested",
                &[
                    Golden("message_datatype_nested_v1"),
                    Golden("message_datatype_nested_v3"),
                    Golden("message_datatype_nested_v4"),
                    Golden("message_datatype_nested_v5"),
                ],
            ),
        ],
    ),
    section("IV.A.2.e", "Fill value (old)", &[part("any", &[Golden("message_fill_value_old")])]),
    section(
        "IV.A.2.f",
        "Fill value",
        &[
            part(
                "versions 1 and 2",
                &[
                    Golden("message_fill_value_v2_value"),
                    Golden("message_fill_value_v2_default"),
                    Golden("message_fill_value_v2_undefined"),
                ],
            ),
            part(
                "version 3",
                &[
                    Golden("message_fill_value_v3_value"),
                    Golden("message_fill_value_v3_default"),
                    Golden("message_fill_value_v3_undefined"),
                ],
            ),
            part("elements never written", &[Test("what_was_never_written_is_the_fill_value")]),
        ],
    ),
    section(
        "IV.A.2.g",
        "Link",
        &[
            part(
                "hard",
                &[
                    Golden("message_link_hard"),
                    Golden("message_link_hard_utf8_tracked"),
                    Golden("message_link_long_name"),
                ],
            ),
            part("soft", &[Golden("message_link_soft")]),
            part("external", &[Golden("message_link_external")]),
            part("one that cannot be read", &[Test("a_link_message_that_cannot_be_read_hides_no_other")]),
        ],
    ),
    section(
        "IV.A.2.h",
        "External data files",
        &[
            part("version 1", &[Golden("message_external_files"), Data("external/external.h5")]),
            part("several files, offsets, no end", &[Test("external_files_are_read_one_after_another")]),
            part("missing files", &[Test("a_missing_external_file_is_an_error_where_it_is_read")]),
            part("files elsewhere", &[Test("files_outside_are_named_and_not_followed")]),
        ],
    ),
    section(
        "IV.A.2.i",
        "Data layout",
        &[
            part("versions 1 and 2", &[Test("versions_1_and_2_have_addresses_before_dimensions")]),
            part(
                "version 3, compact",
                &[
                    Golden("message_data_layout_v3_compact"),
                    Test("contiguous_and_compact_data_give_every_region"),
                ],
            ),
            part(
                "version 3, contiguous",
                &[
                    Golden("message_data_layout_v3_contiguous"),
                    Golden("message_data_layout_v3_contiguous_narrow"),
                    Golden("message_data_layout_v3_contiguous_unallocated"),
                ],
            ),
            part(
                "version 3, chunked",
                &[Golden("message_data_layout_v3_chunked"), Golden("message_data_layout_v3_chunked_narrow")],
            ),
            part(
                "version 4, single chunk",
                &[
                    Golden("message_data_layout_v4_single_chunk"),
                    Golden("message_data_layout_v4_single_chunk_filtered"),
                ],
            ),
            part("version 4, implicit", &[Golden("message_data_layout_v4_implicit")]),
            part("version 4, fixed array", &[Golden("message_data_layout_v4_fixed_array")]),
            part("version 4, extensible array", &[Golden("message_data_layout_v4_extensible_array")]),
            part("version 4, version 2 B-tree", &[Golden("message_data_layout_v4_btree_v2")]),
            part(
                "version 4, unfiltered edge chunks",
                &[
                    Golden("message_data_layout_v4_unfiltered_edges"),
                    Test("partial_edge_chunks_may_be_stored_without_filters"),
                ],
            ),
            part("version 4, virtual", &[Golden("message_data_layout_v4_virtual")]),
            part(
                "version 5",
                &[
                    Golden("message_data_layout_v5_extensible_array"),
                    Golden("message_data_layout_v5_single_chunk_filtered"),
                    Data("chunk_index/fixed_array_filtered_v5.h5"),
                ],
            ),
        ],
    ),
    section("IV.A.2.j", "Bogus", &[part("any", &[Test("rejects_other_values")])]),
    section(
        "IV.A.2.k",
        "Group info",
        &[part("version 0", &[Golden("message_group_info"), Golden("message_group_info_estimated")])],
    ),
    section(
        "IV.A.2.l",
        "Filter pipeline",
        &[
            part(
                "version 1",
                &[Golden("message_filter_pipeline_v1"), Golden("message_filter_pipeline_v1_plugin")],
            ),
            part(
                "version 2",
                &[Golden("message_filter_pipeline_v2"), Golden("message_filter_pipeline_v2_plugin")],
            ),
            part("filter masks of chunks", &[Test("a_chunk_skips_the_filters_of_its_mask")]),
        ],
    ),
    section(
        "IV.A.2.m",
        "Attribute",
        &[
            part(
                "versions 1 and 2",
                &[Golden("message_attribute_v1"), Test("attributes_of_version_1_headers_are_by_name")],
            ),
            part(
                "version 3",
                &[
                    Golden("message_attribute_v3"),
                    Golden("message_attribute_v3_utf8"),
                    Golden("message_attribute_v3_committed"),
                ],
            ),
        ],
    ),
    section("IV.A.2.n", "Object comment", &[part("any", &[Golden("message_comment")])]),
    section(
        "IV.A.2.o",
        "Object modification time (old)",
        &[part("any", &[Test("rejects_other_than_digits")])],
    ),
    section(
        "IV.A.2.p",
        "Shared message table",
        &[part("version 0", &[Golden("message_shared_message_table")])],
    ),
    section(
        "IV.A.2.q",
        "Object header continuation",
        &[
            part("message", &[Golden("message_continuation")]),
            part(
                "blocks",
                &[
                    Golden("object_header_continuation_block_v1"),
                    Golden("object_header_continuation_block_v2"),
                    Golden("object_header_continuation_block_v2_tracked"),
                ],
            ),
        ],
    ),
    section(
        "IV.A.2.r",
        "Symbol table",
        &[part("any", &[Golden("message_symbol_table"), Golden("message_symbol_table_narrow")])],
    ),
    section(
        "IV.A.2.s",
        "Object modification time",
        &[part("version 1", &[Golden("message_modification_time")])],
    ),
    section("IV.A.2.t", "B-tree K values", &[part("version 0", &[Golden("message_btree_k_values")])]),
    section("IV.A.2.u", "Driver info", &[part("version 0", &[Golden("message_driver_info")])]),
    section(
        "IV.A.2.v",
        "Attribute info",
        &[part(
            "version 0",
            &[
                Golden("message_attribute_info"),
                Golden("message_attribute_info_dense"),
                Golden("message_attribute_info_indexed"),
            ],
        )],
    ),
    section("IV.A.2.w", "Object reference count", &[part("version 0", &[Golden("message_reference_count")])]),
    section(
        "IV.A.2.x",
        "File space info",
        &[
            part("version 0", &[Test("version_0_has_addresses_only_if_all_is_kept")]),
            part(
                "version 1",
                &[
                    Golden("message_file_space_info_v1_none"),
                    Golden("message_file_space_info_v1_page"),
                    Golden("message_file_space_info_v1_persist"),
                    Golden("message_file_space_info_v1_narrow"),
                ],
            ),
        ],
    ),
    section(
        "IV.B",
        "Data object data storage",
        &[part(
            "elements of every class",
            &[
                Test("numbers_come_out_native"),
                Test("strings_and_sequences_are_slots"),
                Test("references_of_all_forms_are_told"),
            ],
        )],
    ),
    section("V", "Appendix A: definitions", &[]),
    section("VI", "Appendix B: file space memory allocation types", &[]),
    section(
        "VII.A",
        "Single chunk index",
        &[part("any", &[Data("chunk_index/single_chunk.h5"), Data("chunk_index/single_chunk_filtered.h5")])],
    ),
    section(
        "VII.B",
        "Implicit index",
        &[part("any", &[Data("chunk_index/implicit.h5"), Data("chunk_index/implicit_room_to_grow.h5")])],
    ),
    section(
        "VII.C",
        "Fixed array index",
        &[
            part(
                "header",
                &[
                    Golden("fixed_array_header"),
                    Golden("fixed_array_header_filtered"),
                    Golden("fixed_array_header_filtered_v5"),
                ],
            ),
            part(
                "data block",
                &[Golden("fixed_array_data_block"), Golden("fixed_array_data_block_filtered")],
            ),
            part(
                "pages",
                &[
                    Golden("fixed_array_header_paged"),
                    Golden("fixed_array_data_block_paged"),
                    Golden("fixed_array_page"),
                    Data("chunk_index/fixed_array_paged.h5"),
                ],
            ),
        ],
    ),
    section(
        "VII.D",
        "Extensible array index",
        &[
            part(
                "header",
                &[
                    Golden("extensible_array_header"),
                    Golden("extensible_array_header_filtered"),
                    Golden("extensible_array_header_filtered_v5"),
                ],
            ),
            part(
                "index block",
                &[Golden("extensible_array_index_block"), Golden("extensible_array_index_block_filtered")],
            ),
            part(
                "secondary block",
                &[
                    Golden("extensible_array_secondary_block"),
                    Golden("extensible_array_secondary_block_paged"),
                ],
            ),
            part(
                "data block",
                &[
                    Golden("extensible_array_data_block"),
                    Golden("extensible_array_data_block_filtered"),
                    Golden("extensible_array_data_block_paged"),
                ],
            ),
            part(
                "unlimited dimension that is not the first",
                &[
                    Data("chunk_index/extensible_array_last_dim.h5"),
                    Data("chunk_index/extensible_array_paged_last_dim.h5"),
                    Test("every_chunk_index_gives_every_region"),
                ],
            ),
        ],
    ),
    section(
        "VII.E",
        "Version 2 B-tree index",
        &[part("any", &[Data("chunk_index/btree_v2.h5"), Data("chunk_index/btree_v2_filtered.h5")])],
    ),
    section(
        "VIII.A",
        "Dataspace encoding",
        &[
            part(
                "extents",
                &[
                    Golden("encoded_dataspace_latest"),
                    Golden("encoded_dataspace_v18"),
                    Golden("encoded_dataspace_scalar"),
                ],
            ),
            part("none and all", &[Golden("selection_none"), Golden("selection_all")]),
            part(
                "points, versions 1 and 2",
                &[
                    Golden("selection_points_v1"),
                    Golden("selection_points_v2_2"),
                    Golden("selection_points_v2_4"),
                    Golden("selection_points_v2_8"),
                ],
            ),
            part(
                "hyperslabs, version 1",
                &[Golden("selection_regular_v1"), Golden("selection_irregular_v1")],
            ),
            part(
                "hyperslabs, version 2",
                &[Golden("selection_regular_v2"), Golden("selection_unlimited_v2")],
            ),
            part(
                "hyperslabs, version 3",
                &[
                    Golden("selection_regular_v3_2"),
                    Golden("selection_irregular_v3_4"),
                    Golden("selection_unlimited_v3"),
                ],
            ),
        ],
    ),
    section(
        "VIII.B",
        "Reference encoding (revised)",
        &[
            part("object", &[Golden("reference_stored_object")]),
            part("region", &[Golden("reference_block_region"), Golden("reference_stored_region")]),
            part("attribute", &[Golden("reference_block_attribute"), Golden("reference_stored_attribute")]),
            part("external", &[Golden("reference_block_external"), Golden("reference_stored_external")]),
        ],
    ),
    section(
        "VIII.C",
        "Reference encoding (backward compatibility)",
        &[
            part("object", &[Test("object_references_are_addresses")]),
            part("region", &[Golden("reference_region1"), Test("region_references_are_selections")]),
        ],
    ),
];
