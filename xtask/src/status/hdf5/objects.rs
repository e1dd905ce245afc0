//! Chapter IV: data objects, up to their datatypes.

use super::{part, section};
use crate::status::Proof::{Golden, Test, Trial};
use crate::status::Section;
use crate::status::Written::{By, Not, Unasked};

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
            By(&[
                Test("headers_keep_times_counts_comments_and_what_was_chosen_for_attributes"),
                Trial("earliest"),
            ]),
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
                By(&[
                    Test("headers_keep_times_counts_comments_and_what_was_chosen_for_attributes"),
                    Trial("v1.8"),
                ]),
            ),
            part(
                "times",
                &[Golden("object_header_prefix_v2_times")],
                By(&[Test("headers_keep_times_counts_comments_and_what_was_chosen_for_attributes")]),
            ),
            part(
                "attribute phase change",
                &[Golden("object_header_prefix_v2_phase_change")],
                By(&[
                    Test("headers_keep_times_counts_comments_and_what_was_chosen_for_attributes"),
                    Trial("attribute_phase_change"),
                ]),
            ),
            part(
                "creation order",
                &[Golden("object_header_message_v2_tracked")],
                By(&[
                    Test("headers_keep_times_counts_comments_and_what_was_chosen_for_attributes"),
                    Test("attributes_are_found_around_every_boundary"),
                    Trial("track_attributes"),
                ]),
            ),
            part("gaps", &[Golden("object_header_v2_gap")], Not("a header ends with a NIL message instead")),
        ],
    ),
    section(
        "IV.A.2",
        "Data object header messages",
        &[
            part(
                "shared message version 1",
                &[Test("version_1_holds_a_symbol_table_entry")],
                Not("only decoded and encoded as bytes: libhdf5 stopped writing it with 1.6.1"),
            ),
            part(
                "shared message version 2",
                &[Golden("message_shared_v2_committed")],
                By(&[Test("attributes_have_the_version_that_they_need_and_refer_to_committed_datatypes")]),
            ),
            part(
                "shared message version 3",
                &[Golden("message_shared_v3_heap")],
                By(&[
                    Test("shared_messages_are_read_and_counted"),
                    Test("messages_are_shared_between_the_headers_of_a_file"),
                ]),
            ),
        ],
    ),
    section(
        "IV.A.2.a",
        "NIL",
        &[part(
            "any",
            &[Golden("message_nil")],
            By(&[Test("headers_keep_times_counts_comments_and_what_was_chosen_for_attributes")]),
        )],
    ),
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
                By(&[Test("messages_of_datasets_have_the_versions_of_the_lower_bound"), Trial("earliest")]),
            ),
            part(
                "version 1, permutation",
                &[Test("a_permutation_is_kept_but_ignored")],
                Not("only decoded and encoded as bytes: no library ever used it"),
            ),
            part(
                "version 2",
                &[
                    Golden("message_dataspace_v2_scalar"),
                    Golden("message_dataspace_v2_null"),
                    Golden("message_dataspace_v2_unlimited"),
                ],
                By(&[Test("messages_of_datasets_have_the_versions_of_the_lower_bound")]),
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
            By(&[
                Test("links::links_are_found_around_every_boundary"),
                Test("links::an_empty_group_has_no_heap"),
            ]),
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
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_elements_of_every_class"),
                    Trial("integer"),
                    Trial("reduced"),
                ]),
            ),
            part(
                "class 1, floating-point",
                &[
                    Golden("message_datatype_floating_point_v1"),
                    Golden("message_datatype_floating_point_v1_half"),
                    Golden("message_datatype_floating_point_v1_x87"),
                    Test("reads_floats_of_both_byte_orders"),
                ],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_elements_of_every_class"),
                    Trial("floating"),
                ]),
            ),
            part(
                "class 1, bfloat16 and floats of 8 bits and less",
                &[
                    Golden("message_datatype_floating_point_v1_bfloat16"),
                    Test("small_floats_keep_their_bits"),
                ],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Trial("brain_float"),
                    Trial("small_float"),
                ]),
            ),
            part(
                "class 1, VAX order",
                &[Golden("message_datatype_floating_point_v3_vax"), Test("reverses_words_of_vax_numbers")],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_elements_of_every_class"),
                ]),
            ),
            part(
                "class 0, unused bits that are ones",
                &[
                    Golden("message_datatype_fixed_point_v1_padded"),
                    Test("round_trips_integers_of_any_precision"),
                ],
                Unasked(&[Test("round_trips_integers_of_any_precision")]),
            ),
            part(
                "class 4, unused bits that are ones",
                &[Test("moves_bit_fields_to_bit_0")],
                Not("unused bits of bit fields become zeros"),
            ),
            part(
                "class 2, time",
                &[Golden("message_datatype_time_v1")],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Trial("time"),
                ]),
            ),
            part(
                "class 3, string",
                &[
                    Golden("message_datatype_string_v1"),
                    Golden("message_datatype_string_v1_utf8"),
                    Test("strings_keep_their_padding"),
                ],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_elements_of_every_class"),
                    Trial("fixed_string"),
                ]),
            ),
            part(
                "class 4, bit field",
                &[Golden("message_datatype_bit_field_v1")],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_elements_of_every_class"),
                    Trial("bit_field"),
                ]),
            ),
            part(
                "class 5, opaque",
                &[Golden("message_datatype_opaque_v1")],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_elements_of_every_class"),
                    Trial("opaque"),
                ]),
            ),
            part(
                "class 6, compound",
                &[
                    Golden("message_datatype_compound_v1"),
                    Golden("message_datatype_compound_v2"),
                    Golden("message_datatype_compound_v3"),
                    Test("compounds_become_packed_rows_of_native_numbers"),
                ],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_elements_of_every_class"),
                    Trial("compound"),
                ]),
            ),
            part(
                "class 7, reference",
                &[
                    Golden("message_datatype_reference_v1_object"),
                    Golden("message_datatype_reference_v1_region"),
                    Golden("message_datatype_reference_v4"),
                ],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_references_of_every_kind"),
                    Trial("reference"),
                    Trial("region"),
                    Trial("new_reference"),
                ]),
            ),
            part(
                "class 8, enumeration",
                &[
                    Golden("message_datatype_enumeration_v1"),
                    Golden("message_datatype_enumeration_v3"),
                    Test("enumerations_become_integers"),
                ],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_elements_of_every_class"),
                    Trial("enumeration"),
                ]),
            ),
            part(
                "class 9, variable-length",
                &[
                    Golden("message_datatype_variable_length_v1_string"),
                    Golden("message_datatype_variable_length_v1_sequence"),
                    Test("reads_sequences"),
                ],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_elements_of_every_class"),
                    Trial("variable_string"),
                    Trial("sequence"),
                ]),
            ),
            part(
                "class 10, array",
                &[Golden("message_datatype_array_v2"), Golden("message_datatype_array_v3")],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Test("round_trips_elements_of_every_class"),
                    Trial("array"),
                ]),
            ),
            part(
                "class 11, complex",
                &[Golden("message_datatype_complex_v5")],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Trial("complex_number"),
                ]),
            ),
            part(
                "versions 1 to 5, nested",
                &[
                    Golden("message_datatype_nested_v1"),
                    Golden("message_datatype_nested_v3"),
                    Golden("message_datatype_nested_v4"),
                    Golden("message_datatype_nested_v5"),
                ],
                By(&[
                    Test("versions_are_those_that_libhdf5_chooses"),
                    Test("messages_are_those_that_libhdf5_writes"),
                    Trial("any_kind"),
                ]),
            ),
        ],
    ),
];
