//! Files truncated at every byte: existing data is read, missing data is an error, and `check` reports it.

use crate::check::found;
use crate::content::{open, read, read_part};
use crate::{block, dimension, empty, file, is_record, record, variable};
use bytes::Bytes;
use hyperslab_core::nd::Region;
use hyperslab_netcdf3::{DataType, Header, Variable, Version};

const RECORDS: u64 = 3;

/// Layouts of variables along the record dimension `t` and `x`.
fn layouts() -> Vec<Vec<Variable>> {
    let fixed = || variable("x", DataType::Short, &[1]);
    vec![
        vec![fixed(), variable("c", DataType::Byte, &[])],
        vec![variable("a", DataType::Byte, &[0, 1])],
        vec![fixed(), variable("a", DataType::Byte, &[0, 1]), variable("b", DataType::Double, &[0])],
    ]
}

/// The offset at which each element of a variable ends, record by record.
fn ends(header: &Header, number: usize) -> Vec<u64> {
    let variable = &header.variables[number];
    let element = variable.data_type.size() as u64;
    let records = if is_record(header, variable) { RECORDS } else { 1 };
    let begins = (0..records).flat_map(|at| {
        let begin = variable.begin + at * record(header);
        (begin..begin + block(header, variable)).step_by(usize::try_from(element).unwrap())
    });
    begins.map(|begin| begin + element).collect()
}

/// The elements of a variable, one after another.
fn elements(shape: &[u64]) -> Vec<Region> {
    let count = shape.iter().product::<u64>();
    let place = |at: u64| {
        let mut rest = at;
        let mut start: Vec<u64> = shape
            .iter()
            .rev()
            .map(|length| {
                let place = rest % length;
                rest /= length;
                place
            })
            .collect();
        start.reverse();
        Region::new(start, vec![1; shape.len()])
    };
    (0..count).map(place).collect()
}

#[test]
fn what_is_there_is_read_and_what_is_not_there_is_said() {
    for version in [Version::Classic, Version::Offset64, Version::Data64] {
        for variables in layouts() {
            let dimensions = vec![dimension("t", 0), dimension("x", 3)];
            let (header, bytes) = file(Header { dimensions, variables, ..empty(version) }, RECORDS);
            let len = header.encode().unwrap().len();
            let whole = open(Bytes::from(bytes.clone())).unwrap();
            for cut in 0..bytes.len() {
                let part = Bytes::copy_from_slice(&bytes[..cut]);
                let findings = found(&part);
                let Ok(file) = open(part) else {
                    assert!(cut < len, "{version:?}, {cut} bytes of {}", bytes.len());
                    assert!(!findings.is_empty());
                    continue;
                };
                assert!(cut >= len, "a header of {len} bytes was read from {cut}");
                let mut is_whole = true;
                for number in 0..header.variables.len() {
                    let shape = file.layout(number).unwrap().shape.clone();
                    for (region, end) in elements(&shape).iter().zip(ends(&header, number)) {
                        match read_part(&file, number, region) {
                            Ok(element) => {
                                assert!(end <= cut as u64);
                                assert_eq!(element, read_part(&whole, number, region).unwrap());
                            }
                            Err(error) => {
                                assert!(end > cut as u64, "{error}");
                                is_whole = false;
                            }
                        }
                    }
                }
                let is_said = findings.iter().any(|line| line.starts_with("netcdf3/truncated"));
                assert_eq!(is_said, !is_whole, "{version:?}, {cut} bytes of {}: {findings:?}", bytes.len());
            }
        }
    }
}

#[test]
fn uncounted_records_end_with_the_last_whole_one() {
    for variables in layouts().into_iter().skip(1) {
        let dimensions = vec![dimension("t", 0), dimension("x", 3)];
        let header = Header { dimensions, variables, ..empty(Version::Classic) };
        let (header, mut bytes) = file(header, RECORDS);
        let whole = open(Bytes::from(bytes.clone())).unwrap();
        let mut uncounted = header.clone();
        uncounted.records = None;
        let head = uncounted.encode().unwrap();
        bytes.splice(..head.len(), head.iter().copied());
        let last = header.variables.len() - 1;
        for cut in usize::try_from(header.variables[last].begin).unwrap()..bytes.len() {
            let part = Bytes::copy_from_slice(&bytes[..cut]);
            assert!(found(&part).iter().any(|line| line.starts_with("netcdf3/streaming")));
            let file = open(part).unwrap();
            let own = read(&file, last).unwrap();
            let ends = ends(&header, last);
            assert!(read(&whole, last).unwrap().starts_with(&own));
            let element = header.variables[last].data_type.size();
            let there = own.len() / element;
            assert!(ends[..there].iter().all(|end| *end <= cut as u64), "{there} elements in {cut} bytes");
        }
    }
}
