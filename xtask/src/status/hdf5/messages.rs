//! Chapter IV: the messages of data objects after datatypes, and their data.

use super::{part, section};
use crate::status::Proof::{Data, Golden, Test, Trial};
use crate::status::Section;
use crate::status::Written::{By, Not};

pub(super) const SECTIONS: &[Section] = &[
    section(
        "IV.A.2.e",
        "Fill value (old)",
        &[part(
            "any",
            &[Golden("message_fill_value_old")],
            By(&[Test("messages_of_datasets_have_the_versions_of_the_lower_bound")]),
        )],
    ),
    section(
        "IV.A.2.f",
        "Fill value",
        &[
            part(
                "version 1",
                &[Test("a_negative_size_means_undefined")],
                Not("only decoded and encoded as bytes: libhdf5 writes version 2 since 1.6.3"),
            ),
            part(
                "version 2",
                &[
                    Golden("message_fill_value_v2_value"),
                    Golden("message_fill_value_v2_default"),
                    Golden("message_fill_value_v2_undefined"),
                ],
                By(&[Test("messages_of_datasets_have_the_versions_of_the_lower_bound")]),
            ),
            part(
                "version 3",
                &[
                    Golden("message_fill_value_v3_value"),
                    Golden("message_fill_value_v3_default"),
                    Golden("message_fill_value_v3_undefined"),
                ],
                By(&[Test("messages_of_datasets_have_the_versions_of_the_lower_bound")]),
            ),
            part(
                "elements never written",
                &[Test("elements_never_written_have_the_fill_value")],
                By(&[
                    Test("datasets_without_chunks_have_no_index"),
                    Test("single_chunks_of_large_arrays_are_read_back"),
                    Trial("fillvalue"),
                ]),
            ),
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
                By(&[
                    Test("links::links_are_found_around_every_boundary"),
                    Test("a_link_of_64_kib_makes_all_dense"),
                    Trial("hard"),
                ]),
            ),
            part(
                "soft",
                &[Golden("message_link_soft")],
                By(&[Test("links::links_are_found_around_every_boundary"), Trial("soft")]),
            ),
            part(
                "external",
                &[Golden("message_link_external")],
                By(&[Test("links_of_any_kind_and_length_are_stored"), Trial("external")]),
            ),
            part(
                "user-defined",
                &[Test("external_and_user_defined_links_have_their_targets")],
                By(&[Test("links_of_any_kind_and_length_are_stored"), Trial("user")]),
            ),
            part(
                "one that cannot be read",
                &[Test("a_damaged_link_message_does_not_hide_the_others")],
                Not("nothing to write: readers must cope with it"),
            ),
        ],
    ),
    section(
        "IV.A.2.h",
        "External data files",
        &[
            part(
                "version 1",
                &[Golden("message_external_files"), Data("external/external.h5")],
                By(&[
                    Test("a_dataset_in_external_files_is_valid"),
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Trial("make_external"),
                ]),
            ),
            part(
                "several files, offsets, no end",
                &[Test("reads_several_external_files")],
                By(&[Test("names_and_places_are_read_back"), Trial("make_external")]),
            ),
            part(
                "missing files",
                &[Test("a_missing_external_file_is_an_error_only_where_it_is_read")],
                Not("nothing to write: readers must cope with it"),
            ),
            part(
                "files elsewhere",
                &[Test("rejects_files_outside_of_the_folder_by_name")],
                Not("nothing to write: readers must cope with it"),
            ),
        ],
    ),
    section(
        "IV.A.2.i",
        "Data layout",
        &[
            part(
                "versions 1 and 2",
                &[Test("versions_1_and_2_have_addresses_before_dimensions")],
                Not("only decoded and encoded as bytes: libhdf5 writes version 3 since 1.6.3"),
            ),
            part(
                "version 3, compact",
                &[
                    Golden("message_data_layout_v3_compact"),
                    Test("reads_every_region_of_contiguous_and_compact_data"),
                ],
                By(&[
                    Test("messages_of_datasets_have_the_versions_of_the_lower_bound"),
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Trial("compact"),
                ]),
            ),
            part(
                "version 3, contiguous",
                &[
                    Golden("message_data_layout_v3_contiguous"),
                    Golden("message_data_layout_v3_contiguous_narrow"),
                    Golden("message_data_layout_v3_contiguous_unallocated"),
                ],
                By(&[
                    Test("messages_of_datasets_have_the_versions_of_the_lower_bound"),
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Trial("contiguous"),
                ]),
            ),
            part(
                "version 3, chunked",
                &[Golden("message_data_layout_v3_chunked"), Golden("message_data_layout_v3_chunked_narrow")],
                By(&[
                    Test("messages_of_datasets_have_the_versions_of_the_lower_bound"),
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Trial("chunked"),
                ]),
            ),
            part(
                "version 4, single chunk",
                &[
                    Golden("message_data_layout_v4_single_chunk"),
                    Golden("message_data_layout_v4_single_chunk_filtered"),
                ],
                By(&[
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
            part(
                "version 4, implicit",
                &[Golden("message_data_layout_v4_implicit")],
                By(&[
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Test("whole_files_pass_all_checks"),
                    Trial("early"),
                ]),
            ),
            part(
                "version 4, fixed array",
                &[Golden("message_data_layout_v4_fixed_array")],
                By(&[
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
            part(
                "version 4, extensible array",
                &[Golden("message_data_layout_v4_extensible_array")],
                By(&[
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
            part(
                "version 4, version 2 B-tree",
                &[Golden("message_data_layout_v4_btree_v2")],
                By(&[
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
            part(
                "version 4, unfiltered edge chunks",
                &[
                    Golden("message_data_layout_v4_unfiltered_edges"),
                    Test("reads_partial_edge_chunks_without_filters"),
                ],
                By(&[
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Trial("unfiltered_edges"),
                ]),
            ),
            part(
                "version 4, virtual",
                &[Golden("message_data_layout_v4_virtual")],
                By(&[
                    Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                    Test("a_file_with_a_virtual_dataset_is_valid"),
                    Trial("make_virtual"),
                ]),
            ),
            part(
                "version 5",
                &[
                    Golden("message_data_layout_v5_extensible_array"),
                    Golden("message_data_layout_v5_single_chunk_filtered"),
                    Data("chunk_index/fixed_array_filtered_v5.h5"),
                ],
                By(&[
                    Test("messages_of_datasets_have_the_versions_of_the_lower_bound"),
                    Test("whole_files_pass_all_checks"),
                    Trial("v2.0"),
                ]),
            ),
        ],
    ),
    section(
        "IV.A.2.j",
        "Bogus",
        &[part("any", &[Test("rejects_other_values")], Not("libhdf5 writes it only in tests of its own"))],
    ),
    section(
        "IV.A.2.k",
        "Group info",
        &[part(
            "version 0",
            &[Golden("message_group_info"), Golden("message_group_info_estimated")],
            By(&[
                Test("phase_changes_and_estimates_are_kept"),
                Trial("link_phase_change"),
                Trial("link_estimates"),
            ]),
        )],
    ),
    section(
        "IV.A.2.l",
        "Filter pipeline",
        &[
            part(
                "version 1",
                &[Golden("message_filter_pipeline_v1"), Golden("message_filter_pipeline_v1_plugin")],
                By(&[Test("messages_of_datasets_have_the_versions_of_the_lower_bound"), Trial("earliest")]),
            ),
            part(
                "version 2",
                &[Golden("message_filter_pipeline_v2"), Golden("message_filter_pipeline_v2_plugin")],
                By(&[
                    Test("messages_of_datasets_have_the_versions_of_the_lower_bound"),
                    Test("filters_are_written_as_they_were_read"),
                    Trial("filter"),
                ]),
            ),
            part(
                "filter masks of chunks",
                &[Test("a_chunk_skips_the_filters_of_its_mask")],
                By(&[
                    Test("a_filter_that_changes_nothing_keeps_its_bit_in_the_mask"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
        ],
    ),
    section(
        "IV.A.2.m",
        "Attribute",
        &[
            part(
                "versions 1 and 2",
                &[Golden("message_attribute_v1"), Test("attributes_of_version_1_headers_are_in_name_order")],
                By(&[
                    Test("attributes_have_the_version_that_they_need_and_refer_to_committed_datatypes"),
                    Test("old_headers_refuse_large_attributes_and_name_the_remedy"),
                ]),
            ),
            part(
                "version 3",
                &[
                    Golden("message_attribute_v3"),
                    Golden("message_attribute_v3_utf8"),
                    Golden("message_attribute_v3_committed"),
                ],
                By(&[
                    Test("attributes_have_the_version_that_they_need_and_refer_to_committed_datatypes"),
                    Test("attributes_are_found_around_every_boundary"),
                    Trial("make_attributes"),
                ]),
            ),
        ],
    ),
    section(
        "IV.A.2.n",
        "Object comment",
        &[part(
            "any",
            &[Golden("message_comment")],
            By(&[
                Test("headers_keep_times_counts_comments_and_what_was_chosen_for_attributes"),
                Trial("comment"),
            ]),
        )],
    ),
    section(
        "IV.A.2.o",
        "Object modification time (old)",
        &[part(
            "any",
            &[Test("rejects_characters_that_are_not_digits")],
            Not("only decoded and encoded as bytes: libhdf5 stopped writing it with 1.6.1"),
        )],
    ),
    section(
        "IV.A.2.p",
        "Shared message table",
        &[part(
            "version 0",
            &[Golden("message_shared_message_table")],
            By(&[
                Test("shared_messages_are_read_and_counted"),
                Test("messages_are_shared_between_the_headers_of_a_file"),
            ]),
        )],
    ),
    section(
        "IV.A.2.q",
        "Object header continuation",
        &[
            part(
                "message",
                &[Golden("message_continuation")],
                Not("a header is one block of any length; a NIL message leaves room for one"),
            ),
            part(
                "blocks",
                &[
                    Golden("object_header_continuation_block_v1"),
                    Golden("object_header_continuation_block_v2"),
                    Golden("object_header_continuation_block_v2_tracked"),
                ],
                Not("a header is one block of any length"),
            ),
        ],
    ),
    section(
        "IV.A.2.r",
        "Symbol table",
        &[part(
            "any",
            &[Golden("message_symbol_table"), Golden("message_symbol_table_narrow")],
            By(&[
                Test("symbol_table::links_are_found_around_every_boundary"),
                Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
            ]),
        )],
    ),
    section(
        "IV.A.2.s",
        "Object modification time",
        &[part(
            "version 1",
            &[Golden("message_modification_time")],
            By(&[Test("headers_keep_times_counts_comments_and_what_was_chosen_for_attributes")]),
        )],
    ),
    section(
        "IV.A.2.t",
        "B-tree K values",
        &[part(
            "version 0",
            &[Golden("message_btree_k_values")],
            By(&[Test("superblocks_have_the_version_and_the_extension_that_the_options_need")]),
        )],
    ),
    section(
        "IV.A.2.u",
        "Driver info",
        &[part(
            "version 0",
            &[Golden("message_driver_info")],
            Not("a target is always one file; a set of files is written as one"),
        )],
    ),
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
            By(&[
                Test("attributes_are_found_around_every_boundary"),
                Test("a_large_attribute_makes_all_dense"),
            ]),
        )],
    ),
    section(
        "IV.A.2.w",
        "Object reference count",
        &[part(
            "version 0",
            &[Golden("message_reference_count")],
            By(&[Test("headers_keep_times_counts_comments_and_what_was_chosen_for_attributes")]),
        )],
    ),
    section(
        "IV.A.2.x",
        "File space info",
        &[
            part(
                "version 0",
                &[Test("version_0_has_manager_addresses_only_if_they_persist")],
                Not("only decoded and encoded as bytes: libhdf5 1.10.0 alone wrote it"),
            ),
            part(
                "version 1, pages",
                &[Golden("message_file_space_info_v1_page")],
                By(&[
                    Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                    Trial("hdf5.paged"),
                ]),
            ),
            part(
                "version 1, other strategies",
                &[Golden("message_file_space_info_v1_none"), Golden("message_file_space_info_v1_narrow")],
                By(&[
                    Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                    Test("file_space_of_all_strategies_is_kept"),
                ]),
            ),
            part(
                "version 1, free space that persists",
                &[Golden("message_file_space_info_v1_persist")],
                By(&[Test("file_space_of_all_strategies_is_kept")]),
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
            By(&[
                Test("round_trips_elements_of_every_class"),
                Test("round_trips_references_of_every_kind"),
                Trial("any_kind"),
            ]),
        )],
    ),
];
