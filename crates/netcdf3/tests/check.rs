//! The findings of `check` in files that break each rule.

use crate::{TINY, attribute, dimension, empty, file, variable};
use bytes::Bytes;
use hyperslab_core::Limits;
use hyperslab_netcdf3::check::{Finding, Options, RULES, check};
use hyperslab_netcdf3::{DataType, Header, Variable, Version};
use std::collections::BTreeSet;

/// Findings as `rule object byte: message`.
pub(crate) fn found(bytes: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    let limits = Limits { allocation: 1 << 20, ..Limits::default() };
    let bytes = Box::new(Bytes::copy_from_slice(bytes));
    check(bytes, &limits, &Options::default(), &mut |finding| lines.push(line(finding))).unwrap();
    lines
}

fn line(finding: Finding) -> String {
    let object = finding.object.map(|object| format!(" {object}")).unwrap_or_default();
    let byte = finding.byte.map(|byte| format!(" {byte:#x}")).unwrap_or_default();
    format!("{}{object}{byte}: {}", finding.rule, finding.message)
}

/// A file with variables along `t` and `x`, whose header is changed after its elements were laid out.
fn changed(change: impl FnOnce(&mut Header)) -> Vec<u8> {
    let variables = vec![
        variable("x", DataType::Int, &[1]),
        variable("a", DataType::Short, &[0, 1]),
        variable("b", DataType::Byte, &[0]),
    ];
    let header = Header {
        dimensions: vec![dimension("t", 0), dimension("x", 3)],
        variables,
        ..empty(Version::Classic)
    };
    let (mut header, mut bytes) = file(header, 2);
    let len = header.encode().unwrap().len();
    change(&mut header);
    let encoded = header.encode().unwrap();
    bytes.splice(..len, encoded);
    bytes
}

fn cases() -> Vec<(Vec<u8>, Vec<&'static str>)> {
    let mut padded = TINY.to_vec();
    padded[23] = 7;
    let many = (0..20_000).map(|number| dimension(&format!("dimension_{number}"), 1)).collect();
    vec![
        (TINY.to_vec(), vec![]),
        (changed(|_| ()), vec![]),
        (TINY[..40].to_vec(), vec!["netcdf3/header 0x28: needs 4 bytes, 0 remain"]),
        (TINY[..91].to_vec(), vec![]),
        (
            TINY[..89].to_vec(),
            vec!["netcdf3/truncated /vx 0x50: elements to byte 0x5a, the file has 89 bytes"],
        ),
        (
            Header { dimensions: many, ..empty(Version::Classic) }.encode().unwrap(),
            vec![
                "netcdf3/limit: a header of 131082 bytes or more, at most 131072 are read (raise the allocation limit)",
            ],
        ),
        (padded, vec!["netcdf3/padding 0x17: byte 0x07 where nothing is stored, expected 0"]),
        (
            changed(|header| header.variables[2].name = b"a".to_vec()),
            vec![r#"netcdf3/duplicate-name 0x84: "a" a second time"#],
        ),
        (
            changed(|header| header.dimensions[0].name = b"/".to_vec()),
            vec![r#"netcdf3/name 0x10: "/" begins with a character that is neither a letter, a digit nor _"#],
        ),
        (
            changed(|header| {
                header.dimensions[1].length = 0;
                header.variables.truncate(1);
                header.variables[0].size = 4;
                header.records = Some(0);
            }),
            vec!["netcdf3/record-dimension /x: a second dimension of length 0, expected one at most"],
        ),
        (
            changed(|header| header.variables[0].dimensions = vec![9]),
            vec!["netcdf3/shape /x 0x38: dimension 9 of 2 dimensions"],
        ),
        (
            changed(|header| header.variables[0].begin = 8),
            vec!["netcdf3/begin /x 0x38: elements at byte 0x8, the header has 168 bytes"],
        ),
        (
            changed(|header| header.variables[2].begin = header.variables[1].begin + 4),
            vec!["netcdf3/overlap /b 0xb8: elements at byte 0xb8, those of /a end at 0xba"],
        ),
        (
            changed(|header| header.variables[0].begin = header.variables[2].begin),
            vec!["netcdf3/overlap /x 0xbc: elements at byte 0xbc, where records lie from 0xb4 to 0xcc"],
        ),
        (
            changed(|header| {
                header.records = Some(3);
                header.variables[2].begin += 12;
            }),
            vec![
                "netcdf3/truncated /a 0xb4: elements to byte 0xd2, the file has 204 bytes",
                "netcdf3/truncated /b 0xc8: elements to byte 0xe1, the file has 204 bytes",
                "netcdf3/overlap /b 0xc8: elements of the first record to byte 0xc9, the second begins at 0xc0",
            ],
        ),
        (
            changed(|header| header.variables[0].data_type = DataType::UInt),
            vec!["netcdf3/data-type /x 0x38: UInt in a file of version 1"],
        ),
        (
            changed(|header| header.variables[1].size = 6),
            vec!["netcdf3/vsize /a 0x5c: a size of 6 bytes, expected 8"],
        ),
        (
            changed(|header| header.records = Some(1)),
            vec!["netcdf3/uncounted-records 0x4: 1 records, the file has room for 2"],
        ),
        (
            changed(|header| header.records = None),
            vec!["netcdf3/streaming 0x4: 2 records by the size of the file"],
        ),
        (fill(), vec!["netcdf3/fill-value /v 0x20: 1 values of type Short, expected 1 of Int"]),
    ]
}

fn fill() -> Vec<u8> {
    let attributes = vec![attribute("_FillValue", DataType::Short, &[0, 1])];
    let variables = vec![Variable { attributes, ..variable("v", DataType::Int, &[]) }];
    file(Header { variables, ..empty(Version::Classic) }, 0).1
}

#[test]
fn faults_are_found_with_their_places() {
    let (found, expected): (Vec<_>, Vec<_>) =
        cases().into_iter().map(|(bytes, expected)| (found(&bytes), expected)).unzip();
    assert_eq!(found, expected);
}

#[test]
fn every_rule_has_data_that_break_it() {
    let lines: Vec<String> = cases().iter().flat_map(|(bytes, _)| found(bytes)).collect();
    let broken: BTreeSet<&str> = lines.iter().filter_map(|line| line.split([' ', ':']).next()).collect();
    let never: Vec<_> = RULES.iter().map(|rule| rule.name).filter(|name| !broken.contains(name)).collect();
    assert_eq!(never, [""; 0]);
}

#[test]
fn any_byte_may_be_wrong() {
    let bytes = changed(|_| ());
    let elements = 12 + 12 + 6;
    for at in 0..bytes.len() - elements {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            found(&bytes);
        }
    }
}
