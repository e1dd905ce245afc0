//! Elements of variables, with and without records.

use crate::{TINY, dimension, empty, file, is_record, variable};
use bytes::Bytes;
use hyperslab_core::nd::{Planes, Region, scatter};
use hyperslab_core::{ErrorKind, Limits};
use hyperslab_netcdf3::{DataType, File, Header, Version, to_native};
use proptest::prelude::*;

fn open(bytes: &[u8]) -> File {
    File::open(Box::new(Bytes::copy_from_slice(bytes)), &Limits::default()).unwrap()
}

fn read(file: &File, variable: usize, region: Option<&Region>) -> hyperslab_core::Result<Vec<u8>> {
    let layout = file.layout(variable)?;
    let all = Region::all(&layout.shape);
    let region = region.unwrap_or(&all);
    let mut rows = vec![0; region.bytes(layout.element)?];
    file.read_part(&layout, region, &mut Planes::whole(&mut rows))?;
    Ok(rows)
}

#[test]
fn reads_the_example_of_the_specification() {
    let rows = read(&open(TINY), 0, None).unwrap();
    let numbers: Vec<_> = rows.as_chunks().0.iter().map(|number| i16::from_ne_bytes(*number)).collect();
    assert_eq!(numbers, [3, 1, 4, 1, 5]);
}

#[test]
fn elements_behind_the_end_of_the_file_are_an_error_and_the_others_are_read() {
    let file = open(&TINY[..86]);
    assert_eq!(read(&file, 0, Some(&Region::new(vec![0], vec![3]))).unwrap().len(), 6);
    let error = read(&file, 0, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "malformed NetCDF variable at byte 0x50: elements of 10 bytes, the file ends after 86 bytes"
    );
}

#[test]
fn a_single_record_variable_has_no_padding_between_records() {
    let header = |more: bool| {
        let mut variables = vec![variable("a", DataType::Byte, &[0, 1])];
        variables.extend(more.then(|| variable("b", DataType::Short, &[0])));
        let dimensions = vec![dimension("t", 0), dimension("x", 3)];
        Header { dimensions, variables, ..empty(Version::Classic) }
    };
    for (more, distance) in [(false, 3), (true, 8)] {
        let (_, bytes) = file(header(more), 5);
        let file = open(&bytes);
        assert_eq!(file.records().size, Some(distance));
        let begin = usize::try_from(file.layout(0).unwrap().begin).unwrap();
        let step = usize::try_from(distance).unwrap();
        let want: Vec<u8> = (0..5).flat_map(|t| bytes[begin + t * step..][..3].to_vec()).collect();
        assert_eq!(read(&file, 0, None).unwrap(), want);
    }
}

#[test]
fn records_that_nobody_counted_follow_from_the_size_of_the_file() {
    let variables = vec![variable("a", DataType::Double, &[0]), variable("b", DataType::Byte, &[0])];
    let header = Header { dimensions: vec![dimension("t", 0)], variables, ..empty(Version::Classic) };
    let (mut header, bytes) = file(header, 4);
    header.records = None;
    let mut bytes = [header.encode().unwrap(), bytes[header.encode().unwrap().len()..].to_vec()].concat();
    assert_eq!(open(&bytes).records().count, 4);
    // An incomplete record does not count.
    bytes.pop();
    assert_eq!(open(&bytes).records().count, 3);
    assert_eq!(open(&bytes).layout(1).unwrap().shape, [3]);
}

#[test]
fn sizes_follow_from_shapes_and_not_from_what_the_writer_noted() {
    let dimensions =
        vec![dimension("x", 70_000), dimension("y", 70_000), dimension("t", 0), dimension("z", 1)];
    let mut variables = vec![
        variable("large", DataType::Int, &[0, 1]),
        variable("vast", DataType::Int, &[0, 1, 0, 1]),
        variable("lost", DataType::Int, &[7]),
        variable("late", DataType::Int, &[3, 2]),
        variable("sound", DataType::Int, &[3]),
    ];
    for variable in &mut variables {
        variable.size = u64::from(u32::MAX);
    }
    let header = Header { dimensions, variables, ..empty(Version::Offset64) };
    let file = open(&header.encode().unwrap());
    assert_eq!(file.layout(0).unwrap().block, 4 * 70_000 * 70_000);
    let said = |variable| file.layout(variable).unwrap_err().to_string();
    assert_eq!(said(1), "[70000, 70000, 70000, 70000] elements take 2^64 bytes or more");
    assert_eq!(said(2), "dimension 7 of 4 dimensions");
    assert_eq!(said(3), "records along another than the first dimension");
    assert_eq!(file.layout(4).unwrap().block, 4);
    assert_eq!(file.layout(5).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn headers_larger_than_the_first_read_are_read_to_their_end() {
    let dimensions: Vec<_> = (0..40_000).map(|number| dimension(&format!("dimension_{number}"), 1)).collect();
    let variables = vec![variable("v", DataType::Int, &[39_999])];
    let (header, bytes) = file(Header { dimensions, variables, ..empty(Version::Data64) }, 0);
    assert_eq!(open(&bytes).header(), &header);
    let limits = Limits { allocation: 1 << 20, ..Limits::default() };
    let error = File::open(Box::new(Bytes::from(bytes)), &limits).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
}

proptest! {
    #[test]
    fn reads_the_elements_of_any_region(
        version in prop::sample::select(vec![Version::Classic, Version::Offset64, Version::Data64]),
        types in prop::collection::vec(prop::sample::select(DataType::ALL.to_vec()), 1..4),
        lengths in prop::collection::vec(1..5_u64, 2),
        records in 0..5_u64,
        with_records in prop::collection::vec(any::<bool>(), 3),
        axes in prop::collection::vec((any::<u16>(), any::<u16>(), 1..4_u64), 3),
    ) {
        let mut dimensions = vec![dimension("t", 0)];
        dimensions.extend(lengths.iter().map(|length| dimension("x", *length)));
        let variables = types.iter().zip(&with_records).map(|(data_type, records)| {
            variable("v", *data_type, if *records { &[0, 1, 2] } else { &[1, 2] })
        });
        let header = Header { dimensions, variables: variables.collect(), ..empty(version) };
        let (header, bytes) = file(header, records);
        let file = open(&bytes);
        let single = header.variables.iter().filter(|variable| is_record(&header, variable)).count() == 1;
        let inner: u64 = lengths.iter().product();
        let distance: u64 = header.variables.iter().filter(|variable| is_record(&header, variable)).map(|variable| {
            let block = inner * variable.data_type.size() as u64;
            if single { block } else { block.next_multiple_of(4) }
        }).sum();
        for (number, variable) in header.variables.iter().enumerate() {
            let element = variable.data_type.size();
            let block = inner * element as u64;
            let (shape, blocks) = match is_record(&header, variable) {
                true => (vec![records, lengths[0], lengths[1]], records),
                false => (lengths.clone(), 1),
            };
            let mut all: Vec<u8> = (0..blocks).flat_map(|record| {
                let at = usize::try_from(variable.begin + record * distance).unwrap();
                bytes[at..at + usize::try_from(block).unwrap()].to_vec()
            }).collect();
            to_native(&mut all, element);
            let (mut start, mut count, mut step) = (vec![], vec![], vec![]);
            for (size, (from, of, by)) in shape.iter().zip(&axes) {
                let from = if *size == 0 { 0 } else { u64::from(*from) % size };
                let most = (size - from).div_ceil(*by);
                start.push(from);
                count.push(if most == 0 { 0 } else { u64::from(*of) % (most + 1) });
                step.push(*by);
            }
            let region = Region { start, count, step };
            let got = read(&file, number, Some(&region)).unwrap();
            let mut want = vec![0; got.len()];
            if !want.is_empty() {
                scatter(&all, &vec![0; shape.len()], &shape, &region, &mut want, element).unwrap();
            }
            prop_assert_eq!(got, want);
        }
    }
}
