//! The appendices.

use super::{part, section};
use crate::status::Proof::{Data, Golden, Test, Trial};
use crate::status::Section;
use crate::status::Written::{By, Not};

pub(super) const SECTIONS: &[Section] = &[
    section("V", "Appendix A: definitions", &[]),
    section("VI", "Appendix B: file space memory allocation types", &[]),
    section(
        "VII.A",
        "Single chunk index",
        &[part(
            "any",
            &[Data("chunk_index/single_chunk.h5"), Data("chunk_index/single_chunk_filtered.h5")],
            By(&[
                Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                Test("whole_files_pass_all_checks"),
            ]),
        )],
    ),
    section(
        "VII.B",
        "Implicit index",
        &[part(
            "any",
            &[Data("chunk_index/implicit.h5"), Data("chunk_index/implicit_room_to_grow.h5")],
            By(&[
                Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                Test("whole_files_pass_all_checks"),
                Trial("early"),
            ]),
        )],
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
                By(&[
                    Test("counts_around_the_ends_of_blocks_pages_and_nodes_are_read_back"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
            part(
                "data block",
                &[Golden("fixed_array_data_block"), Golden("fixed_array_data_block_filtered")],
                By(&[
                    Test("counts_around_the_ends_of_blocks_pages_and_nodes_are_read_back"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
            part(
                "pages",
                &[
                    Golden("fixed_array_header_paged"),
                    Golden("fixed_array_data_block_paged"),
                    Golden("fixed_array_page"),
                    Data("chunk_index/fixed_array_paged.h5"),
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
                By(&[
                    Test("counts_around_the_ends_of_blocks_pages_and_nodes_are_read_back"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
            part(
                "index block",
                &[Golden("extensible_array_index_block"), Golden("extensible_array_index_block_filtered")],
                By(&[
                    Test("counts_around_the_ends_of_blocks_pages_and_nodes_are_read_back"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
            part(
                "secondary block",
                &[
                    Golden("extensible_array_secondary_block"),
                    Golden("extensible_array_secondary_block_paged"),
                ],
                By(&[
                    Test("counts_around_the_ends_of_blocks_pages_and_nodes_are_read_back"),
                    Test("whole_files_pass_all_checks"),
                    Trial("make_long"),
                ]),
            ),
            part(
                "data block",
                &[
                    Golden("extensible_array_data_block"),
                    Golden("extensible_array_data_block_filtered"),
                    Golden("extensible_array_data_block_paged"),
                ],
                By(&[
                    Test("counts_around_the_ends_of_blocks_pages_and_nodes_are_read_back"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
            part(
                "unlimited dimension that is not the first",
                &[
                    Data("chunk_index/extensible_array_last_dim.h5"),
                    Data("chunk_index/extensible_array_paged_last_dim.h5"),
                    Test("reads_every_region_with_every_chunk_index"),
                ],
                By(&[
                    Test("whole_datasets_are_read_back_from_every_index"),
                    Test("whole_files_pass_all_checks"),
                ]),
            ),
        ],
    ),
    section(
        "VII.E",
        "Version 2 B-tree index",
        &[part(
            "any",
            &[Data("chunk_index/btree_v2.h5"), Data("chunk_index/btree_v2_filtered.h5")],
            By(&[
                Test("elements_are_read_back_from_every_chunk_index_and_layout"),
                Test("whole_files_pass_all_checks"),
            ]),
        )],
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
                Not("no structure of a file has it: H5Sencode gives it to programs"),
            ),
            part(
                "none and all",
                &[Golden("selection_none"), Golden("selection_all")],
                By(&[Test("round_trips_references_of_every_kind")]),
            ),
            part(
                "points, versions 1 and 2",
                &[
                    Golden("selection_points_v1"),
                    Golden("selection_points_v2_2"),
                    Golden("selection_points_v2_4"),
                    Golden("selection_points_v2_8"),
                ],
                By(&[
                    Test("round_trips_elements_of_every_class"),
                    Test("round_trips_references_of_every_kind"),
                ]),
            ),
            part(
                "hyperslabs, version 1",
                &[Golden("selection_regular_v1"), Golden("selection_irregular_v1")],
                By(&[Test("round_trips_references_of_every_kind"), Trial("region")]),
            ),
            part(
                "hyperslabs, version 2",
                &[Golden("selection_regular_v2"), Golden("selection_unlimited_v2")],
                By(&[
                    Test("round_trips_references_of_every_kind"),
                    Test("virtual_datasets_grow_with_their_sources"),
                    Trial("make_virtual"),
                ]),
            ),
            part(
                "hyperslabs, version 3",
                &[
                    Golden("selection_regular_v3_2"),
                    Golden("selection_irregular_v3_4"),
                    Golden("selection_unlimited_v3"),
                ],
                By(&[Test("round_trips_references_of_every_kind")]),
            ),
        ],
    ),
    section(
        "VIII.B",
        "Reference encoding (revised)",
        &[
            part(
                "object",
                &[Golden("reference_stored_object")],
                By(&[Test("round_trips_elements_of_every_class"), Trial("new_reference")]),
            ),
            part(
                "region",
                &[Golden("reference_block_region"), Golden("reference_stored_region")],
                By(&[
                    Test("round_trips_references_of_every_kind"),
                    Test("references_to_all_elements_store_the_rank_of_the_dataset"),
                    Trial("new_reference"),
                ]),
            ),
            part(
                "attribute",
                &[Golden("reference_block_attribute"), Golden("reference_stored_attribute")],
                By(&[Test("round_trips_elements_of_every_class"), Trial("new_reference")]),
            ),
            part(
                "external",
                &[Golden("reference_block_external"), Golden("reference_stored_external")],
                By(&[
                    Test("round_trips_elements_of_every_class"),
                    Test("round_trips_references_of_every_kind"),
                ]),
            ),
        ],
    ),
    section(
        "VIII.C",
        "Reference encoding (backward compatibility)",
        &[
            part(
                "object",
                &[Test("object_references_become_addresses")],
                By(&[Test("round_trips_elements_of_every_class"), Trial("reference")]),
            ),
            part(
                "region",
                &[Golden("reference_region1"), Test("region_references_become_selections")],
                By(&[Test("round_trips_elements_of_every_class"), Trial("region")]),
            ),
        ],
    ),
];
