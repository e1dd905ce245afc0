//! Chapter IV: data objects.

use super::{part, section};
use crate::status::Proof::{Data, Golden, Test};
use crate::status::Section;

pub(super) const SECTIONS: &[Section] = &[
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
            part("version 1, permutation", &[Test("a_permutation_is_kept_but_ignored")]),
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
                    Test("reads_integers_of_every_size_and_byte_order"),
                ],
            ),
            part(
                "class 1, floating-point",
                &[
                    Golden("message_datatype_floating_point_v1"),
                    Golden("message_datatype_floating_point_v1_half"),
                    Golden("message_datatype_floating_point_v1_x87"),
                    Test("reads_floats_of_both_byte_orders"),
                ],
            ),
            part(
                "class 1, bfloat16 and floats of 8 bits and less",
                &[
                    Golden("message_datatype_floating_point_v1_bfloat16"),
                    Test("small_floats_keep_their_bits"),
                ],
            ),
            part(
                "class 1, VAX order",
                &[Golden("message_datatype_floating_point_v3_vax"), Test("reverses_words_of_vax_numbers")],
            ),
            part("class 2, time", &[Golden("message_datatype_time_v1")]),
            part(
                "class 3, string",
                &[
                    Golden("message_datatype_string_v1"),
                    Golden("message_datatype_string_v1_utf8"),
                    Test("strings_keep_their_padding"),
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
                    Test("compounds_become_packed_rows_of_native_numbers"),
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
                    Test("enumerations_become_integers"),
                ],
            ),
            part(
                "class 9, variable-length",
                &[
                    Golden("message_datatype_variable_length_v1_string"),
                    Golden("message_datatype_variable_length_v1_sequence"),
                    Test("reads_sequences"),
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
            part("elements never written", &[Test("elements_never_written_have_the_fill_value")]),
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
            part("one that cannot be read", &[Test("a_damaged_link_message_does_not_hide_the_others")]),
        ],
    ),
    section(
        "IV.A.2.h",
        "External data files",
        &[
            part("version 1", &[Golden("message_external_files"), Data("external/external.h5")]),
            part("several files, offsets, no end", &[Test("reads_several_external_files")]),
            part("missing files", &[Test("a_missing_external_file_is_an_error_only_where_it_is_read")]),
            part("files elsewhere", &[Test("rejects_files_outside_of_the_folder_by_name")]),
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
                    Test("reads_every_region_of_contiguous_and_compact_data"),
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
                    Test("reads_partial_edge_chunks_without_filters"),
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
                &[Golden("message_attribute_v1"), Test("attributes_of_version_1_headers_are_in_name_order")],
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
        &[part("any", &[Test("rejects_characters_that_are_not_digits")])],
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
            part("version 0", &[Test("version_0_has_manager_addresses_only_if_they_persist")]),
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
                Test("numbers_become_native_rows"),
                Test("strings_and_sequences_become_slots"),
                Test("decodes_references_of_all_forms"),
            ],
        )],
    ),
];
