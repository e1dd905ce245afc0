//! The appendices.

use super::{part, section};
use crate::status::Proof::{Data, Golden, Test};
use crate::status::Section;

pub(super) const SECTIONS: &[Section] = &[
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
                    Test("reads_every_region_with_every_chunk_index"),
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
            part("object", &[Test("object_references_become_addresses")]),
            part("region", &[Golden("reference_region1"), Test("region_references_become_selections")]),
        ],
    ),
];
