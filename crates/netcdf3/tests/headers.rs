//! Headers, decoded and encoded.

use crate::{TINY, attribute, dimension, empty, variable};
use hyperslab_core::ErrorKind;
use hyperslab_netcdf3::{Attribute, DataType, Decoded, Dimension, Header, Variable, Version};
use proptest::prelude::*;

fn decode(bytes: &[u8]) -> Result<Header, hyperslab_core::Error> {
    match Header::decode(bytes, bytes.len() as u64)? {
        Decoded::Header(header, _) => Ok(*header),
        Decoded::More(needed) => panic!("{needed} of {} bytes are needed", bytes.len()),
    }
}

#[test]
fn decodes_and_encodes_the_examples_of_the_specification() {
    let nothing = b"CDF\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    assert_eq!(decode(nothing).unwrap(), empty(Version::Classic));
    assert_eq!(empty(Version::Classic).encode().unwrap(), nothing);
    let tiny = Header {
        dimensions: vec![dimension("dim", 5)],
        variables: vec![Variable { size: 12, begin: 80, ..variable("vx", DataType::Short, &[0]) }],
        ..empty(Version::Classic)
    };
    assert_eq!(decode(TINY).unwrap(), tiny);
    assert_eq!(tiny.encode().unwrap(), TINY[..80]);
}

#[test]
fn versions_differ_in_the_width_of_counts_and_offsets() {
    let header = |version| Header {
        records: None,
        dimensions: vec![dimension("t", 0)],
        attributes: vec![attribute("a", DataType::Short, &[1, 2])],
        variables: vec![Variable { size: 4, begin: 0x0102, ..variable("v", DataType::Int, &[0]) }],
        ..empty(version)
    };
    let classic = b"CDF\x01\xff\xff\xff\xff\0\0\0\x0a\0\0\0\x01\0\0\0\x01t\0\0\0\0\0\0\0\
\0\0\0\x0c\0\0\0\x01\0\0\0\x01a\0\0\0\0\0\0\x03\0\0\0\x01\x01\x02\0\0\
\0\0\0\x0b\0\0\0\x01\0\0\0\x01v\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\x04\0\0\x01\x02";
    assert_eq!(header(Version::Classic).encode().unwrap(), classic);
    let offset = header(Version::Offset64).encode().unwrap();
    assert_eq!(offset[4..offset.len() - 8], classic[4..classic.len() - 4]);
    assert_eq!(offset[offset.len() - 8..], [0, 0, 0, 0, 0, 0, 1, 2]);
    let data = b"CDF\x05\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\x0a\0\0\0\0\0\0\0\x01\
\0\0\0\0\0\0\0\x01t\0\0\0\0\0\0\0\0\0\0\0\
\0\0\0\x0c\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01a\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x01\x01\x02\0\0\
\0\0\0\x0b\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x01v\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\
\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\x01\x02";
    assert_eq!(header(Version::Data64).encode().unwrap(), data);
    for bytes in [&classic[..], &offset, data] {
        assert_eq!(decode(bytes).unwrap().encode().unwrap(), bytes);
    }
}

#[test]
fn every_truncation_is_an_error_or_a_request_for_more() {
    let header = &TINY[..80];
    for end in 0..header.len() {
        let error = decode(&header[..end]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{end}: {error}");
        match Header::decode(&header[..end], TINY.len() as u64).unwrap() {
            Decoded::More(needed) => assert!(needed > end as u64 && needed <= 80, "{end}: {needed}"),
            decoded => panic!("{end}: {decoded:?}"),
        }
    }
}

#[test]
fn counts_that_the_file_cannot_hold_are_refused() {
    let with = |at: usize, bytes: &[u8]| {
        let mut tiny = TINY.to_vec();
        tiny[at..at + bytes.len()].copy_from_slice(bytes);
        decode(&tiny).unwrap_err().to_string()
    };
    assert_eq!(with(3, &[3]), "unsupported NetCDF header at byte 0x3: version 3, expected 1, 2 or 5");
    assert_eq!(
        with(12, &[0x7f]),
        "malformed NetCDF header at byte 0x10: 2130706433 dimensions do not fit in the 76 bytes that are left"
    );
    assert_eq!(
        with(16, &[0x7f]),
        "malformed NetCDF header at byte 0x14: 2130706435 values do not fit in the 72 bytes that are left"
    );
    assert_eq!(
        with(8, &[1]),
        "malformed NetCDF header at byte 0x8: tag 16777226 with 1 items, expected 10 (dimensions), or 0 with 0 items"
    );
    assert_eq!(with(68, &[0, 0, 0, 12]), "unsupported NetCDF header at byte 0x44: type 12, expected 1 to 11");
    assert_eq!(decode(b"HDF\x01").unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn numbers_that_their_field_cannot_hold_are_not_cut() {
    let dimensions = vec![dimension("x", 1 << 32)];
    assert!(Header { dimensions: dimensions.clone(), ..empty(Version::Offset64) }.encode().is_err());
    assert!(Header { dimensions, ..empty(Version::Data64) }.encode().is_ok());
    let variables = vec![Variable { begin: 1 << 32, ..variable("v", DataType::Int, &[]) }];
    assert!(Header { variables: variables.clone(), ..empty(Version::Classic) }.encode().is_err());
    assert!(Header { variables, ..empty(Version::Offset64) }.encode().is_ok());
    assert!(Header { records: Some(u32::MAX.into()), ..empty(Version::Classic) }.encode().is_err());
    let attributes = vec![attribute("a", DataType::Int, &[0; 5])];
    assert!(Header { attributes, ..empty(Version::Classic) }.encode().is_err());
}

fn names() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..9)
}

fn attributes() -> impl Strategy<Value = Vec<Attribute>> {
    let one =
        (names(), prop::sample::select(DataType::ALL.to_vec()), prop::collection::vec(any::<u8>(), 0..40));
    let one = one.prop_map(|(name, data_type, mut values)| {
        values.truncate(values.len() / data_type.size() * data_type.size());
        Attribute { name, data_type, values }
    });
    prop::collection::vec(one, 0..4)
}

fn headers() -> impl Strategy<Value = Header> {
    let version = prop::sample::select(vec![Version::Classic, Version::Offset64, Version::Data64]);
    let number = any::<u32>().prop_map(u64::from);
    let dimension = (names(), number.clone()).prop_map(|(name, length)| Dimension { name, length });
    let ids = prop::collection::vec(number.clone(), 0..5);
    let types = prop::sample::select(DataType::ALL.to_vec());
    let variable = (names(), ids, attributes(), types, number.clone(), number).prop_map(
        |(name, dimensions, attributes, data_type, size, begin)| Variable {
            name,
            dimensions,
            attributes,
            data_type,
            size,
            begin,
        },
    );
    let lists = (prop::collection::vec(dimension, 0..4), attributes(), prop::collection::vec(variable, 0..4));
    (version, prop::option::of(0..u64::from(u32::MAX)), lists).prop_map(
        |(version, records, (dimensions, attributes, variables))| Header {
            version,
            records,
            dimensions,
            attributes,
            variables,
        },
    )
}

proptest! {
    #[test]
    fn any_header_comes_back(header in headers(), behind in 0..9_usize) {
        let mut bytes = header.encode().unwrap();
        let len = bytes.len() as u64;
        bytes.resize(bytes.len() + behind, 0xaa);
        let decoded = Header::decode(&bytes, bytes.len() as u64).unwrap();
        prop_assert_eq!(decoded, Decoded::Header(Box::new(header), len));
    }

    #[test]
    fn places_of_items_are_where_they_are_encoded(header in headers()) {
        let bytes = header.encode().unwrap();
        let places = header.offsets().unwrap();
        let names = [
            header.dimensions.iter().map(|item| &item.name).collect::<Vec<_>>(),
            header.attributes.iter().map(|item| &item.name).collect(),
            header.variables.iter().map(|item| &item.name).collect(),
        ];
        let width = if header.version == Version::Data64 { 8 } else { 4 };
        for (name, at) in names.into_iter().flatten().zip(places.into_iter().flatten()) {
            let at = usize::try_from(at).unwrap() + width;
            prop_assert_eq!(&bytes[at..at + name.len()], &name[..]);
        }
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(version in 0..7_u8, rest in prop::collection::vec(0..16_u8, 0..200)) {
        let bytes = [b"CDF", &[version][..], &rest].concat();
        let _ = Header::decode(&bytes, bytes.len() as u64);
        let _ = Header::decode(&bytes, u64::MAX);
    }
}
