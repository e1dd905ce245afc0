use super::super::mbr::{CoordinateSize, Range};
use super::*;
use crate::format::structure_tests::{hex, structure_tests};

const SPARSE: &str = include_str!("../../../../tests/golden/footer_sparse.hex");
const DELETES: &str = include_str!("../../../../tests/golden/footer_deletes.hex");

/// Footers of versions 7 to 19.
const OLDER: [&str; 7] = [
    include_str!("../../../../tests/golden/footer_version_7.hex"),
    include_str!("../../../../tests/golden/footer_version_9.hex"),
    include_str!("../../../../tests/golden/footer_version_10.hex"),
    include_str!("../../../../tests/golden/footer_version_11.hex"),
    include_str!("../../../../tests/golden/footer_version_14.hex"),
    include_str!("../../../../tests/golden/footer_version_17.hex"),
    include_str!("../../../../tests/golden/footer_version_19.hex"),
];

fn context(attributes: usize, coordinates: &[CoordinateSize]) -> FragmentContext {
    FragmentContext { attributes, coordinates: coordinates.to_vec() }
}

fn plain() -> FragmentContext {
    context(2, &[CoordinateSize::Fixed(4), CoordinateSize::Fixed(4)])
}

/// A footer with everything that a version can express.
fn rich(version: u32, context: &FragmentContext) -> Footer {
    let (has_timestamps, has_delete_metadata) = (version >= 14, version >= 15);
    let slots = slots(version, context, has_timestamps, has_delete_metadata);
    let list = |count: u64| (0..count).map(|slot| 100 + slot).collect::<Vec<_>>();
    let range = Range { min: vec![1, 0, 0, 0], max: vec![7, 0, 0, 0] };
    Footer {
        version,
        schema_name: (version >= 10).then(|| b"__1_1_0123456789abcdef0123456789abcdef".to_vec()),
        dense: false,
        non_empty_domain: Some(Mbr { ranges: vec![range; context.coordinates.len()] }),
        sparse_tile_num: 3,
        last_tile_cell_num: 1,
        has_timestamps,
        has_delete_metadata,
        file_sizes: list(slots.count()),
        file_var_sizes: list(slots.var_count()),
        file_validity_sizes: list(since(7, &slots)),
        generic_tiles: GenericTileOffsets {
            r_tree: 5,
            tile_offsets: list(slots.count()),
            tile_var_offsets: list(slots.var_count()),
            tile_var_sizes: list(slots.var_count()),
            tile_validity_offsets: list(since(7, &slots)),
            tile_mins: list(since(11, &slots)),
            tile_maxes: list(since(11, &slots)),
            tile_sums: list(since(11, &slots)),
            tile_null_counts: list(since(11, &slots)),
            fragment_summary: (version >= 12).then_some(6),
            unused: None,
            processed_conditions: (version >= 16).then_some(7),
        },
        optional_sections: match version >= 23 {
            true => {
                vec![OptionalSection { identifier: OptionalSection::TILE_GLOBAL_ORDER, data: vec![1; 32] }]
            }
            false => vec![],
        },
    }
}

structure_tests!(Footer, context: plain(),
    golden: [SPARSE],
    values: [rich(3, &plain()), rich(6, &plain()), rich(9, &plain()), rich(10, &plain()), rich(11, &plain()),
        rich(15, &plain()), rich(22, &plain()), rich(23, &plain()),
        Footer { non_empty_domain: None, dense: true, ..rich(22, &plain()) }]);

mod dense {
    use super::*;
    structure_tests!(Footer, context: context(1, &[CoordinateSize::Fixed(1)]),
        golden: [include_str!("../../../../tests/golden/footer_dense.hex")], values: []);
}

mod strings {
    use super::*;
    structure_tests!(Footer, context: context(1, &[CoordinateSize::Var, CoordinateSize::Fixed(8)]),
        golden: [include_str!("../../../../tests/golden/footer_strings.hex")], values: []);
}

mod deletes {
    use super::*;
    structure_tests!(Footer, context: context(2, &[CoordinateSize::Fixed(4)]), golden: [DELETES], values: []);
}

mod older {
    use super::*;
    structure_tests!(Footer, context: context(2, &[CoordinateSize::Fixed(4)]), golden: [OLDER[0], OLDER[1], OLDER[2], OLDER[4], OLDER[5], OLDER[6]], values: []);

    /// Without its last number, it is the footer of an older library.
    mod version_11 {
        use super::*;
        structure_tests!(Footer, context: context(2, &[CoordinateSize::Fixed(4)]),
            golden: [OLDER[3]], values: [], open_ended);
    }
}

mod section {
    use super::*;
    structure_tests!(OptionalSection, context: (), golden: [], values: [OptionalSection {
        identifier: u64::MAX,
        data: vec![],
    }]);
}

#[test]
fn every_version_round_trips_and_has_the_length_that_is_computed() {
    for version in 3..=version::NEWEST {
        let context = plain();
        let footer = rich(version, &context);
        let bytes = crate::format::encode_all(&footer, &context).unwrap();
        let decoded: Footer = crate::format::decode_all(Decoder::new("t", 0, &bytes), &context).unwrap();
        assert_eq!(decoded, footer, "version {version}");
        let known = (version < 10).then_some(bytes.len() as u64);
        assert_eq!(Footer::known_len(version, &context), known, "version {version}");
    }
    let context = |size| context(2, &[size]);
    for golden in OLDER {
        let bytes = hex(golden);
        let version = u32::from(bytes[0]);
        let known = (version < 10).then_some(bytes.len() as u64);
        assert_eq!(
            Footer::known_len(version, &context(CoordinateSize::Fixed(4))),
            known,
            "version {version}"
        );
    }
    assert_eq!(Footer::known_len(5, &context(CoordinateSize::Var)), None);
}

#[test]
fn footers_of_version_11_may_end_with_a_number_that_means_nothing() {
    let context = context(2, &[CoordinateSize::Fixed(4)]);
    let bytes = hex(OLDER[3]);
    let decode = |bytes| crate::format::decode_all::<Footer>(Decoder::new("Footer", 0, bytes), &context);
    let with = decode(&bytes).unwrap();
    let without = decode(&bytes[..bytes.len() - 8]).unwrap();
    assert!(with.generic_tiles.unused.is_some() && without.generic_tiles.unused.is_none());
    assert_eq!(with.generic_tiles.fragment_summary, None);
    for end in (0..bytes.len()).filter(|end| *end != bytes.len() - 8) {
        assert!(decode(&bytes[..end]).is_err(), "{end}");
    }
    let later = Footer { version: 12, ..with };
    assert!(crate::format::encode_all(&later, &context).is_err());
}

#[test]
fn the_beginning_tells_version_and_schema() {
    let bytes = hex(SPARSE);
    let (version, name) = Footer::beginning(&mut Decoder::new("t", 0, &bytes)).unwrap();
    assert_eq!(version, 22);
    assert!(name.unwrap().starts_with(b"__"));
    let e = Footer::beginning(&mut Decoder::new("Footer", 0, &[2, 0, 0, 0])).unwrap_err();
    assert_eq!(e.to_string(), "malformed Footer at byte 0x0: version 2, which has no footer");
}

#[test]
fn timestamps_and_deletes_have_slots() {
    let context = context(2, &[CoordinateSize::Fixed(4)]);
    let bytes = hex(DELETES);
    let footer = Footer::decode(&mut Decoder::new("t", 0, &bytes), &context).unwrap();
    assert!(footer.has_timestamps && footer.has_delete_metadata);
    let slots = footer.slots(&context);
    assert_eq!((slots.count(), footer.file_sizes.len()), (7, 7));
    for slot in [slots.timestamps(), slots.delete_timestamps()] {
        let slot = usize::try_from(slot.unwrap()).unwrap();
        assert!(footer.file_sizes[slot] > 0);
    }
    let unused = usize::try_from(slots.coordinates()).unwrap();
    assert_eq!(footer.file_sizes[unused], 0);
}

#[test]
fn refuses_what_the_version_cannot_say() {
    let context = plain();
    let of = |since: u32, version: u32| Footer { version, ..rich(since, &context) };
    for (since, version) in
        [(23, 22), (15, 14), (14, 13), (16, 15), (12, 11), (11, 10), (10, 9), (7, 6), (5, 4), (9, 10), (3, 2)]
    {
        assert!(
            crate::format::encode_all(&of(since, version), &context).is_err(),
            "version {since} as {version}"
        );
    }
}

#[test]
fn strings_always_have_a_non_empty_domain() {
    let strings = context(2, &[CoordinateSize::Var, CoordinateSize::Var]);
    let footer = Footer { non_empty_domain: None, ..rich(22, &strings) };
    assert!(crate::format::encode_all(&footer, &strings).is_err());
    let mut bytes = crate::format::encode_all(&rich(22, &strings), &strings).unwrap();
    let at = 4 + 8 + rich(22, &strings).schema_name.unwrap().len() + 1;
    bytes[at] = 1;
    let e = Footer::decode(&mut Decoder::new("Footer", 0, &bytes), &strings).unwrap_err();
    assert_eq!(e.detail(), "no non-empty domain, with dimensions of variable size");
}
