//! Chapters I and II: changes, and metadata of the file.

use super::{part, section};
use crate::status::Proof::{Data, Golden, Test, Trial};
use crate::status::Section;
use crate::status::Written::{By, Not};

pub(super) const SECTIONS: &[Section] = &[
    section(
        "I.A",
        "This document",
        &[part(
            "checksums",
            &[Test("checksum::agrees_with_the_published_driver"), Golden("superblock_v3")],
            By(&[
                Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                Test("whole_files_pass_all_checks"),
            ]),
        )],
    ),
    section("I.B", "Changes for HDF5 2.0", &[]),
    section("I.C", "Changes for HDF5 1.12", &[]),
    section("I.D", "Changes for HDF5 1.10", &[]),
    section(
        "II.A",
        "Format signature and superblock",
        &[
            part(
                "version 0",
                &[Golden("superblock_v0"), Golden("superblock_v0_driver_info")],
                By(&[
                    Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                    Trial("earliest"),
                ]),
            ),
            part(
                "version 1",
                &[Test("a_version_1_superblock_has_the_k_of_chunk_indexes")],
                By(&[Test("superblocks_have_the_version_and_the_extension_that_the_options_need")]),
            ),
            part(
                "version 2",
                &[Golden("superblock_v2")],
                By(&[
                    Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                    Trial("v1.8"),
                ]),
            ),
            part(
                "version 3",
                &[Golden("superblock_v3"), Golden("superblock_v3_extension")],
                By(&[
                    Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                    Trial("v1.10"),
                ]),
            ),
            part(
                "user block",
                &[Golden("superblock_v0_user_block"), Test("addresses_start_after_the_user_block")],
                By(&[
                    Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                    Trial("hdf5.userblock"),
                ]),
            ),
            part(
                "signature at 0, 512, 1024 and so on",
                &[Test("the_signature_is_found_at_doubling_places_only")],
                By(&[
                    Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                    Trial("hdf5.userblock"),
                ]),
            ),
            part(
                "sizes of offsets and lengths 2, 4, 8",
                &[Golden("superblock_v0_narrow"), Test("undefined_is_all_ones_at_every_width")],
                By(&[
                    Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                    Trial("hdf5.sizes"),
                ]),
            ),
            part(
                "sizes of offsets and lengths 16, 32",
                &[Test("undefined_is_all_ones_at_every_width")],
                Not("refused by name: files are smaller than 2^64 bytes"),
            ),
            part(
                "file consistency flags",
                &[Golden("superblock_v3_open"), Test("a_file_that_was_not_closed_is_read_with_a_warning")],
                Not("always 0: a file gets its superblock last, when it is whole"),
            ),
        ],
    ),
    section(
        "II.B",
        "File driver info",
        &[
            part(
                "family",
                &[Golden("driver_info_family"), Test("any_member_opens_the_whole_set")],
                Not("a target is always one file; a set of files is written as one"),
            ),
            part(
                "multi and split",
                &[Golden("driver_info_split"), Test("any_member_opens_the_whole_set")],
                Not("a target is always one file; a set of files is written as one"),
            ),
            part(
                "members that are missing",
                &[Test("lone_members_of_sets_are_refused_by_name")],
                Not("nothing to write: readers must cope with it"),
            ),
            part(
                "members that are cut short",
                &[Test("warns_of_truncated_members")],
                Not("nothing to write: readers must cope with it"),
            ),
        ],
    ),
    section(
        "II.C",
        "Superblock extension",
        &[
            part(
                "shared message table",
                &[Data("shared_messages.h5"), Test("messages_shared_in_heaps_are_those_that_were_written")],
                By(&[
                    Test("messages_are_shared_between_the_headers_of_a_file"),
                    Test("shared_messages_are_read_and_counted"),
                ]),
            ),
            part(
                "B-tree K values",
                &[Golden("message_btree_k_values")],
                By(&[Test("superblocks_have_the_version_and_the_extension_that_the_options_need")]),
            ),
            part(
                "driver info",
                &[Data("family_v2.h5"), Data("split_v2.h5")],
                Not("a target is always one file; a set of files is written as one"),
            ),
            part(
                "file space info",
                &[Golden("message_file_space_info_v1_page")],
                By(&[
                    Test("superblocks_have_the_version_and_the_extension_that_the_options_need"),
                    Trial("hdf5.paged"),
                ]),
            ),
            part(
                "metadata cache image",
                &[Data("cache_image.h5"), Test("metadata_in_a_cache_image_is_that_of_the_file")],
                Not("a cache image is never written: all metadata is in its place"),
            ),
        ],
    ),
];
