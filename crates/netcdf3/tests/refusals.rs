//! Content that the formats cannot represent, which is rejected by name, and sizes at their limits.

use crate::content::{default_fill, open, read_part};
use crate::sparse::Sparse;
use crate::{attribute, dimension, empty, variable};
use hyperslab_core::ErrorKind;
use hyperslab_core::nd::Region;
use hyperslab_netcdf3::{DataType, Decoded, Definition, Dimension, Header, Variable, Version};
use proptest::prelude::*;
use std::sync::Arc;

fn refused(header: Header) -> String {
    let error = Definition::new(header, &default_fill).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    error.to_string()
}

/// A header with one variable along the record dimension `t` and `x`.
fn header(version: Version) -> Header {
    let variables = vec![variable("v", DataType::Short, &[0, 1])];
    Header {
        records: Some(1),
        dimensions: vec![dimension("t", 0), dimension("x", 3)],
        variables,
        ..empty(version)
    }
}

fn changed(version: Version, change: impl FnOnce(&mut Header)) -> String {
    let mut header = header(version);
    assert!(Definition::new(header.clone(), &default_fill).is_ok());
    change(&mut header);
    refused(header)
}

#[test]
fn names_that_readers_do_not_find_are_refused() {
    let named = |name: &[u8]| {
        changed(Version::Classic, |header| {
            header.dimensions[1] = Dimension { name: name.to_vec(), length: 3 }
        })
    };
    let other = "\nhelp: give it another name";
    assert_eq!(named(b""), format!("dimension \"\" is empty{other}"));
    assert_eq!(named(b"a/b"), format!("dimension \"a/b\" has a slash or a control character{other}"));
    assert_eq!(named(b"a\tb"), format!("dimension \"a\\tb\" has a slash or a control character{other}"));
    assert_eq!(named(b"a "), format!("dimension \"a \" ends with a space{other}"));
    assert_eq!(named(b"a\xff"), format!("dimension \"a\u{fffd}\" is not UTF-8{other}"));
    assert_eq!(
        named(b"-a"),
        format!("dimension \"-a\" begins with a character that is neither a letter, a digit nor _{other}")
    );
    assert_eq!(
        named("e\u{301}".as_bytes()),
        "dimension \"e\\u{301}\" is not in Unicode NFC, in which readers look for it\n\
         help: normalize the name"
    );
    assert!(
        named(&[b'a'; 257])
            .ends_with("has 257 bytes, readers take 256 at most\nhelp: give it a shorter name")
    );
    let twice = "is used twice\nhelp: give one of them another name";
    assert_eq!(named(b"t"), format!("dimension \"t\" {twice}"));
    assert_eq!(
        changed(Version::Classic, |header| header.variables.push(header.variables[0].clone())),
        format!("variable \"v\" {twice}")
    );
    assert_eq!(
        changed(Version::Classic, |header| {
            header.variables[0].attributes = vec![attribute("a", DataType::Char, b""); 2];
        }),
        format!("/v: attribute \"a\" {twice}")
    );
    assert_eq!(
        changed(Version::Classic, |header| header.attributes = vec![attribute("a+/", DataType::Char, b"")]),
        format!("attribute \"a+/\" has a slash or a control character{other}")
    );
    // Names that the specification allows.
    for name in ["é", "é a+b@(c)", "_a", "1", &"é".repeat(128)] {
        let mut header = header(Version::Classic);
        header.variables[0].name = name.into();
        assert!(Definition::new(header, &default_fill).is_ok(), "{name}");
    }
}

#[test]
fn dimensions_that_the_formats_lack_are_refused() {
    let version = Version::Offset64;
    assert_eq!(
        changed(version, |header| header.dimensions[1].length = 0),
        "dimension \"x\" has length 0, which makes it a record dimension like \"t\", expected at most one\n\
         help: give it a length of 1 or more, or write NetCDF-4"
    );
    assert_eq!(
        changed(version, |header| header.variables[0].dimensions = vec![1, 0]),
        "/v: records along its dimension 1, \"t\", expected along dimension 0\n\
         help: transpose the variable so that \"t\" is first, or give the dimension a length"
    );
    assert_eq!(
        changed(version, |header| header.variables[0].dimensions = vec![1, 2]),
        "/v: dimension 2 of 2 dimensions"
    );
    assert_eq!(
        changed(version, |header| header.dimensions[1].length = 1 << 31),
        "the length of dimension \"x\" is 2147483648, in CDF-2 at most 2147483647\nhelp: write CDF-5"
    );
    assert_eq!(
        changed(Version::Data64, |header| header.dimensions[1].length = 1 << 63),
        "the length of dimension \"x\" is 9223372036854775808, in CDF-5 at most 9223372036854775807"
    );
    assert_eq!(
        changed(version, |header| header.records = Some(1 << 31)),
        "the number of records is 2147483648, in CDF-2 at most 2147483647\nhelp: write CDF-5"
    );
    assert_eq!(
        changed(version, |header| header.records = None),
        "the number of records is not known, expected a number"
    );
    assert_eq!(
        changed(version, |header| header.dimensions[0].length = 2),
        "1 records without a dimension of length 0\nhelp: define the dimension of records with length 0"
    );
}

#[test]
fn types_and_fill_values_that_do_not_fit_are_refused() {
    for version in [Version::Classic, Version::Offset64] {
        for data_type in &DataType::ALL[6..] {
            let said = format!(
                "type {data_type:?}, which {version} does not have\n\
                help: write CDF-5, or convert to another type"
            );
            let found = changed(version, |header| header.variables[0].data_type = *data_type);
            assert_eq!(found, format!("/v: {said}"));
            let attribute = attribute("a", *data_type, &[]);
            let found = changed(version, |header| header.attributes = vec![attribute.clone()]);
            assert_eq!(found, format!("attribute \"a\" is of {said}"));
            let found = changed(version, |header| header.variables[0].attributes = vec![attribute]);
            assert_eq!(found, format!("/v: attribute \"a\" is of {said}"));
        }
    }
    assert_eq!(
        changed(Version::Classic, |header| header.attributes = vec![attribute("a", DataType::Int, &[0; 6])]),
        "attribute \"a\" has 6 bytes, expected values of 4 bytes"
    );
    let error = Definition::new(header(Version::Classic), &|_| vec![0; 3]).unwrap_err();
    assert_eq!(error.to_string(), "/v: a fill value of 3 bytes for type Short, expected 2");
}

/// A header of byte variables with these lengths, each with or without records.
fn sized(version: Version, lengths: &[(bool, u64)]) -> Header {
    let mut dimensions = vec![dimension("t", 0), dimension("k", 1 << 16)];
    let mut variables = Vec::new();
    for (number, (is_record, length)) in lengths.iter().enumerate() {
        assert!(length % (1 << 16) == 0);
        dimensions.push(dimension(&format!("x{number}"), length >> 16));
        let ids: &[u64] = if *is_record { &[0] } else { &[] };
        let ids = [ids, &[1, dimensions.len() as u64 - 1]].concat();
        variables.push(variable(&format!("v{number}"), DataType::Byte, &ids));
    }
    Header { records: Some(0), dimensions, variables, ..empty(version) }
}

#[test]
fn large_variables_are_refused_before_others() {
    const GIB: u64 = 1 << 30;
    let holds = |version, lengths: &[(bool, u64)]| {
        Definition::new(sized(version, lengths), &default_fill).map(drop).map_err(|error| error.to_string())
    };
    let (fixed, record) = (false, true);
    for (version, large) in [(Version::Classic, 2 * GIB), (Version::Offset64, 4 * GIB)] {
        let most = large - 4;
        let help = if version == Version::Classic { "write CDF-2 or CDF-5" } else { "write CDF-5" };
        for accepted in [
            &[(fixed, large)][..],
            &[(fixed, 1 << 16), (fixed, 9 * GIB)],
            &[(record, large)],
            &[(record, 1 << 16), (fixed, 1 << 16), (record, 9 * GIB)],
            &[(record, large), (fixed, 1 << 16)],
        ] {
            assert_eq!(holds(version, accepted), Ok(()), "{version} {accepted:?}");
        }
        let refused = |lengths: &[(bool, u64)], expected: &str| {
            assert_eq!(holds(version, lengths), Err(format!("{expected}\nhelp: {help}")), "{lengths:?}");
            assert_eq!(holds(Version::Data64, lengths), Ok(()));
        };
        refused(
            &[(fixed, large), (fixed, 1 << 16)],
            &format!(
                "/v0: {large} bytes of elements, {version} has {most} at most in all but the last variable without records"
            ),
        );
        refused(
            &[(fixed, 1 << 16), (fixed, large), (record, 1 << 16)],
            &format!("/v1: {large} bytes of elements, {version} has {most} at most in a file with records"),
        );
        refused(
            &[(record, large), (record, 1 << 16)],
            &format!(
                "/v0: {large} bytes of elements in a record, {version} has {most} at most in all but the last variable with records"
            ),
        );
    }
    let halves = [(fixed, GIB), (fixed, GIB), (fixed, 1 << 16)];
    assert_eq!(
        holds(Version::Classic, &halves).unwrap_err(),
        "/v2: its elements would begin at byte 2147483860, in CDF-1 at byte 2147483647 at most\n\
         help: write CDF-2 or CDF-5, or define it before the large variables"
    );
    assert_eq!(holds(Version::Offset64, &halves), Ok(()));
    assert!(
        holds(Version::Classic, &[(fixed, 9 * GIB), (fixed, 1 << 16)])
            .unwrap_err()
            .ends_with("help: write CDF-5")
    );
}

#[test]
fn files_of_2_to_the_63_bytes_are_refused() {
    let dimensions = vec![dimension("t", 0), dimension("x", 1 << 62), dimension("y", 4)];
    let file = |records, ids: &[u64], data_type| {
        let variables = vec![variable("v", data_type, ids)];
        refused(Header {
            records: Some(records),
            dimensions: dimensions.clone(),
            variables,
            ..empty(Version::Data64)
        })
    };
    assert_eq!(
        file(0, &[1], DataType::Short),
        "/v: 9223372036854775808 bytes of elements, CDF-5 has 9223372036854775804 at most"
    );
    assert_eq!(
        file(0, &[1, 2], DataType::Short),
        "/v: [4611686018427387904, 4] elements take 2^64 bytes or more"
    );
    assert_eq!(file(3, &[0, 1], DataType::Byte), "the file would have 2^63 bytes or more");
    assert_eq!(
        file(i64::MAX.unsigned_abs(), &[0, 2], DataType::Int),
        "the file would have 2^63 bytes or more"
    );
}

#[test]
fn elements_behind_4_gib_are_written_and_read() {
    let vast = |version, variables: Vec<Variable>| {
        let dimensions = vec![dimension("t", 0), dimension("x", 3), dimension("y", (1 << 31) - 1)];
        Header { records: Some(3), dimensions, variables, ..empty(version) }
    };
    let cases = [
        // The last variable, of 6 GiB, has a size that does not fit its field.
        (vast(Version::Classic, vec![variable("v", DataType::Byte, &[1, 2])]), Some(u64::from(u32::MAX))),
        (
            vast(
                Version::Offset64,
                vec![variable("u", DataType::Byte, &[2]), variable("v", DataType::Short, &[1, 2])],
            ),
            Some(u64::from(u32::MAX)),
        ),
        (
            vast(
                Version::Offset64,
                vec![variable("u", DataType::Byte, &[0]), variable("v", DataType::Int, &[0, 2])],
            ),
            Some(u64::from(u32::MAX)),
        ),
        (
            vast(
                Version::Data64,
                vec![
                    variable("u", DataType::Byte, &[1, 2]),
                    variable("v", DataType::Int64, &[0, 2]),
                    variable("w", DataType::Byte, &[0, 2]),
                ],
            ),
            None,
        ),
    ];
    for (header, size) in cases {
        let version = header.version;
        let storage = Arc::new(Sparse::default());
        let definition = Definition::new(header.clone(), &default_fill).unwrap();
        drop(definition.clone().begin(storage.clone()).unwrap());
        // For a resumed file, it is not known what was written before, so nothing is filled.
        let writer = definition.clone().resume(storage.clone()).unwrap();
        let mut expected = Vec::new();
        for number in 0..header.variables.len() {
            let layout = definition.layout(number).unwrap();
            let last: Vec<u64> = layout.shape.iter().map(|extent| extent - 1).collect();
            let region = Region::new(last.clone(), vec![1; last.len()]);
            let rows: Vec<u8> = (1..).take(layout.element).collect();
            writer.write_part(number, &region, &rows).unwrap();
            expected.push((number, region, rows));
        }
        writer.finish().unwrap();
        let file = open(storage.clone()).unwrap();
        assert_eq!(file.header(), definition.header());
        assert_eq!(file.len(), definition.len());
        let last = file.header().variables.iter().find(|variable| variable.name == b"v").unwrap();
        size.iter().for_each(|size| assert_eq!(last.size, *size, "{version}"));
        for (number, region, rows) in expected {
            assert_eq!(read_part(&file, number, &region).unwrap(), rows, "{version} {number}");
            assert!(version == Version::Classic || definition.len() > 1 << 32);
        }
    }
}

/// Numbers of all sizes.
fn numbers() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift)
}

proptest! {
    #[test]
    fn any_header_is_declared_or_refused(
        version in prop::sample::select(vec![Version::Classic, Version::Offset64, Version::Data64]),
        records in prop::option::of(numbers()),
        lengths in prop::collection::vec(numbers(), 0..4),
        variables in prop::collection::vec(
            (prop::sample::select(DataType::ALL.to_vec()), prop::collection::vec(0..4_u64, 0..4)),
            0..5,
        ),
    ) {
        let dimensions: Vec<_> =
            lengths.iter().enumerate().map(|(at, length)| dimension(&format!("d{at}"), *length)).collect();
        let variables: Vec<_> = variables
            .iter()
            .enumerate()
            .map(|(at, (data_type, ids))| variable(&format!("v{at}"), *data_type, ids))
            .collect();
        let header = Header { version, records, dimensions, variables, ..empty(version) };
        if let Ok(definition) = Definition::new(header, &default_fill) {
            let encoded = definition.header().encode().unwrap();
            prop_assert_eq!(definition.header_len(), encoded.len() as u64);
            let decoded = Header::decode(&encoded, definition.len()).unwrap();
            let expected = Decoded::Header(Box::new(definition.header().clone()), definition.header_len());
            prop_assert_eq!(decoded, expected);
            let mut ends = Vec::new();
            for number in 0..definition.header().variables.len() {
                let layout = definition.layout(number).unwrap();
                prop_assert!(layout.begin >= definition.header_len() && layout.begin.is_multiple_of(4));
                ends.push(layout.end().unwrap());
            }
            let end = ends.into_iter().max().unwrap_or(definition.header_len());
            prop_assert!(end <= definition.len() && definition.len() <= i64::MAX.unsigned_abs());
        }
    }
}
