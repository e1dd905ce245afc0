//! Written files: bytes given by hand, round trips, interruptions.

use crate::content::{Content, default_fill, open, read, read_part};
use crate::{TINY, attribute, dimension, empty, variable};
use bytes::Bytes;
use hyperslab_core::nd::{Region, gather, scatter};
use hyperslab_core::storage::{FaultyWrites, Recorded, WritableMemory, WriteAt, WriteFault};
use hyperslab_core::wrapper::Wrapper;
use hyperslab_core::{ErrorKind, Limits};
use hyperslab_netcdf3::check::{Options, check};
use hyperslab_netcdf3::{Attribute, DataType, Definition, File, Header, Variable, Version};
use proptest::prelude::*;
use std::sync::Arc;

fn findings(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let bytes = Box::new(Bytes::copy_from_slice(bytes));
    let add = &mut |finding: hyperslab_netcdf3::check::Finding| {
        found.push(format!("{}: {}", finding.rule, finding.message));
    };
    check(bytes, &Limits::default(), &Options::default(), add).unwrap();
    found
}

fn native(numbers: &[i16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

/// Two record variables of different sizes, and a variable without records.
fn two_with_records() -> Content {
    let header = Header {
        records: Some(2),
        dimensions: vec![dimension("x", 3), dimension("t", 0)],
        variables: vec![
            variable("b", DataType::Byte, &[1, 0]),
            variable("s", DataType::Short, &[]),
            variable("h", DataType::Short, &[1]),
        ],
        ..empty(Version::Classic)
    };
    let elements = vec![Some(vec![1, 2, 3, 4, 5, 6]), Some(native(&[0x0708])), None];
    Content { header, elements }
}

#[test]
fn writes_the_example_of_the_specification() {
    let header = Header {
        dimensions: vec![dimension("dim", 5)],
        variables: vec![variable("vx", DataType::Short, &[0])],
        ..empty(Version::Classic)
    };
    let content = Content { header, elements: vec![Some(native(&[3, 1, 4, 1, 5]))] };
    assert_eq!(content.write(), TINY);
}

#[test]
fn elements_without_records_come_first_and_padding_is_the_fill_value() {
    let bytes = two_with_records().write();
    let header = b"CDF\x01\0\0\0\x02\
\0\0\0\x0a\0\0\0\x02\0\0\0\x01x\0\0\0\0\0\0\x03\0\0\0\x01t\0\0\0\0\0\0\0\
\0\0\0\0\0\0\0\0\0\0\0\x0b\0\0\0\x03\
\0\0\0\x01b\0\0\0\0\0\0\x02\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x04\0\0\0\xa8\
\0\0\0\x01s\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\x04\0\0\0\xa4\
\0\0\0\x01h\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\x04\0\0\0\xac";
    let elements = b"\x07\x08\x80\x01\x01\x02\x03\x81\x80\x01\x80\x01\x04\x05\x06\x81\x80\x01\x80\x01";
    assert_eq!(bytes[..header.len()], header[..]);
    assert_eq!(bytes[header.len()..], elements[..]);
    assert_eq!(findings(&bytes), [""; 0]);
}

#[test]
fn records_of_a_single_variable_have_no_padding() {
    let header = Header {
        records: Some(3),
        dimensions: vec![dimension("t", 0), dimension("x", 3)],
        variables: vec![variable("b", DataType::UByte, &[0, 1])],
        ..empty(Version::Data64)
    };
    let content = Content { header, elements: vec![Some(vec![1, 2, 3, 4, 5, 6, 7, 8, 9])] };
    let bytes = content.write();
    let header = b"CDF\x05\0\0\0\0\0\0\0\x03\
\0\0\0\x0a\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x01t\0\0\0\0\0\0\0\0\0\0\0\
\0\0\0\0\0\0\0\x01x\0\0\0\0\0\0\0\0\0\0\x03\
\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0b\0\0\0\0\0\0\0\x01\
\0\0\0\0\0\0\0\x01b\0\0\0\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\
\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0\x9c";
    assert_eq!(bytes, [&header[..], &[1, 2, 3, 4, 5, 6, 7, 8, 9]].concat());
    assert_eq!(findings(&bytes), [""; 0]);
}

#[test]
fn the_attribute_gives_the_fill_value_of_elements_and_padding() {
    let mut content = two_with_records();
    content.elements = vec![None, None, None];
    for variable in &mut content.header.variables {
        let values = if variable.data_type == DataType::Byte { &[7][..] } else { &[1, 2] };
        variable.attributes = vec![attribute("_FillValue", variable.data_type, values)];
    }
    let bytes = content.write();
    let elements = [1, 2, 1, 2, 7, 7, 7, 7, 1, 2, 1, 2, 7, 7, 7, 7, 1, 2, 1, 2];
    assert_eq!(bytes[bytes.len() - elements.len()..], elements);
}

#[test]
fn the_oldest_version_that_holds_a_file_is_found() {
    let header = |data_type, length| Header {
        dimensions: vec![dimension("x", length)],
        variables: vec![variable("v", data_type, &[0]), variable("w", data_type, &[0])],
        ..empty(Version::Data64)
    };
    let oldest =
        |header: &Header| Definition::oldest(header, &default_fill).map(|found| found.header().version);
    assert_eq!(oldest(&header(DataType::Byte, 9)).unwrap(), Version::Classic);
    assert_eq!(oldest(&header(DataType::Int, 1 << 29)).unwrap(), Version::Offset64);
    assert_eq!(oldest(&header(DataType::Int, 1 << 30)).unwrap(), Version::Data64);
    assert_eq!(oldest(&header(DataType::UInt, 9)).unwrap(), Version::Data64);
    assert!(oldest(&header(DataType::Double, 1 << 60)).is_err());
}

#[test]
fn a_dimension_of_records_without_variables_keeps_its_length() {
    let header = Header { records: Some(7), dimensions: vec![dimension("t", 0)], ..empty(Version::Classic) };
    let bytes = Content { header: header.clone(), elements: vec![] }.write();
    assert_eq!(open(Bytes::from(bytes)).unwrap().header(), &header);
}

#[test]
fn parts_of_what_belongs_to_one_index_must_be_completed() {
    let content = two_with_records();
    let begin = || {
        let storage = Arc::new(WritableMemory::default());
        (storage.clone(), content.definition().begin(storage).unwrap())
    };
    let (storage, writer) = begin();
    writer.write_part(0, &Region::new(vec![1, 0], vec![1, 2]), &[4, 5]).unwrap();
    let error = writer.finish().unwrap_err();
    assert_eq!(
        error.to_string(),
        "/b: 2 elements are written, of 3 at the same 1 indexes\nhelp: write the others, or fill them"
    );
    assert!(!File::is_recognized(&storage.to_vec()));

    let (storage, writer) = begin();
    writer.write_part(0, &Region::new(vec![1, 0], vec![1, 2]), &[4, 5]).unwrap();
    writer.fill_part(0, &Region::new(vec![1, 2], vec![1, 1])).unwrap();
    writer.finish().unwrap();
    let file = open(Bytes::from(storage.to_vec())).unwrap();
    assert_eq!(read(&file, 0).unwrap(), [0x81, 0x81, 0x81, 4, 5, 0x81]);
}

#[test]
fn misplaced_elements_are_refused() {
    let writer = two_with_records().definition().begin(Arc::new(WritableMemory::default())).unwrap();
    let said = |number, region: &Region, rows: &[u8]| {
        let error = writer.write_part(number, region, rows).unwrap_err();
        (error.kind(), error.to_string())
    };
    assert_eq!(
        said(0, &Region::all(&[2, 3]), &[0; 5]),
        (ErrorKind::InvalidArgument, "/b: 5 bytes of elements, expected 6".into())
    );
    assert_eq!(
        said(0, &Region::all(&[3, 3]), &[0; 9]),
        (
            ErrorKind::InvalidArgument,
            "/b: the region reaches index 2 of dimension 0, which has size 2".into()
        )
    );
    assert_eq!(said(3, &Region::all(&[]), &[0]), (ErrorKind::NotFound, "no variable 3".into()));
}

#[test]
fn a_resumed_file_is_the_same() {
    let content = two_with_records();
    let whole = content.write();
    let storage = Arc::new(WritableMemory::default());
    let writer = content.definition().begin(storage.clone()).unwrap();
    writer.write_part(0, &Region::new(vec![0, 0], vec![1, 3]), &[1, 2, 3]).unwrap();
    drop(writer);
    assert!(!File::is_recognized(&storage.to_vec()));
    let writer = content.definition().resume(storage.clone()).unwrap();
    writer.write_part(0, &Region::new(vec![1, 0], vec![1, 3]), &[4, 5, 6]).unwrap();
    writer.write_part(1, &Region::all(&[]), &native(&[0x0708])).unwrap();
    writer.fill_part(2, &Region::all(&[2])).unwrap();
    writer.finish().unwrap();
    assert_eq!(storage.to_vec(), whole);

    let error = content.definition().resume(Arc::new(WritableMemory::new(*b"CDF"))).unwrap_err();
    assert_eq!(error.to_string(), "3 bytes, expected 184: another file was begun here");
}

#[test]
fn no_interruption_leaves_a_file_that_looks_whole() {
    let content = two_with_records();
    let whole = content.write();
    let old = Content::new(content.header.clone(), 5, |_| true).write();
    let storage = Arc::new(Recorded::new(WritableMemory::new(old.clone())).unwrap());
    let writer = content.definition().begin(storage.clone()).unwrap();
    for (number, rows) in content.elements.iter().enumerate() {
        let shape = writer.definition().layout(number).unwrap().shape.clone();
        rows.iter().for_each(|rows| writer.write_part(number, &Region::all(&shape), rows).unwrap());
    }
    writer.finish().unwrap();
    let log = storage.log();
    let states: Vec<_> = log.after_kill().chain(log.after_power_loss(1)).collect();
    assert!(states.len() > 50 && states.contains(&whole), "{}", states.len());
    for state in states {
        assert!(!File::is_recognized(&state) || state == whole || state == old, "{state:02x?}");
    }
}

#[test]
fn every_failing_request_is_an_error_and_leaves_no_file() {
    let content = two_with_records();
    let whole = content.write();
    let write = |fault| {
        let storage = Arc::new(FaultyWrites::new(WritableMemory::default(), fault));
        let written = content.definition().begin(storage.clone()).and_then(|writer| {
            for (number, rows) in content.elements.iter().enumerate() {
                let shape = writer.definition().layout(number)?.shape.clone();
                rows.iter().try_for_each(|rows| writer.write_part(number, &Region::all(&shape), rows))?;
            }
            writer.finish()
        });
        (written.map_err(|error| error.kind()), storage)
    };
    let (written, storage) = write(WriteFault::Short(3));
    assert_eq!((written, storage.inner().to_vec()), (Ok(()), whole.clone()));
    let (_, counted) = write(WriteFault::Operation(u64::MAX));
    let count = counted.operations();
    assert!(count > 6, "{count}");
    let faults = (0..count).flat_map(|at| [WriteFault::Operation(at), WriteFault::Torn(at, 3)]);
    let faults = faults.chain((0..whole.len() as u64).map(WriteFault::Full)).chain([WriteFault::Sync]);
    for fault in faults {
        let (written, storage) = write(fault);
        assert_eq!(written, Err(ErrorKind::Io), "{fault:?}");
        assert!(!File::is_recognized(&storage.inner().to_vec()), "{fault:?}");
    }
}

#[test]
fn every_truncation_is_an_error_or_the_part_that_is_there() {
    for seed in 0..2 {
        let mut content = two_with_records();
        if seed == 1 {
            content.header.variables.truncate(1);
            content.elements.truncate(1);
        }
        let whole = content.write();
        let header_len = usize::try_from(content.definition().header_len()).unwrap();
        for end in 0..whole.len() {
            let cut = Bytes::copy_from_slice(&whole[..end]);
            if end < header_len {
                assert_eq!(open(cut).err().unwrap().kind(), ErrorKind::Malformed, "{end}");
                continue;
            }
            let file = open(cut).unwrap();
            for number in 0..content.elements.len() {
                let layout = file.layout(number).unwrap();
                let is_there = layout.end().unwrap() <= end as u64;
                match read(&file, number) {
                    Ok(rows) => assert!(is_there && rows == content.expected(number), "{end}"),
                    Err(error) => {
                        assert!(!is_there && error.kind() == ErrorKind::Malformed, "{end}: {error}")
                    }
                }
            }
            // Only padding may be missing without a finding.
            let truncated =
                findings(&whole[..end]).iter().any(|found| found.starts_with("netcdf3/truncated"));
            let last = (0..content.elements.len()).map(|number| file.layout(number).unwrap().end().unwrap());
            assert_eq!(truncated, last.max().unwrap() > end as u64, "{end}");
        }
    }
}

/// Storage that pauses after each read, so that other threads write in the meantime.
struct Slow(WritableMemory);

impl Wrapper for Slow {
    type Inner = WritableMemory;

    fn wrapped(&self) -> &WritableMemory {
        &self.0
    }

    fn after(&self, _bytes: u64) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

impl WriteAt for Slow {
    fn write_some(&self, offset: u64, bytes: &[u8]) -> hyperslab_core::Result<usize> {
        self.0.write_some(offset, bytes)
    }
    fn set_len(&self, len: u64) -> hyperslab_core::Result<()> {
        self.0.set_len(len)
    }
    fn allocate(&self, range: std::ops::Range<u64>) -> hyperslab_core::Result<()> {
        self.0.allocate(range)
    }
    fn sync(&self) -> hyperslab_core::Result<()> {
        self.0.sync()
    }
}

#[test]
fn threads_write_records_of_each_other() {
    let header = Header {
        records: Some(4000),
        dimensions: vec![dimension("t", 0), dimension("x", 7), dimension("y", 50)],
        variables: vec![
            variable("a", DataType::Short, &[0, 1]),
            variable("b", DataType::Byte, &[2, 1]),
            variable("c", DataType::Double, &[0]),
        ],
        ..empty(Version::Offset64)
    };
    let content = Content::new(header, 3, |_| true);
    let whole = content.write();
    let storage = Arc::new(Slow(WritableMemory::default()));
    let writer = content.definition().begin(storage.clone()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (writer, content) = (&writer, &content);
            scope.spawn(move || {
                for (number, rows) in content.elements.iter().enumerate() {
                    let layout = writer.definition().layout(number).unwrap();
                    let mut region = Region::all(&layout.shape);
                    region.start[0] = thread;
                    // Many records at once, with the data of other variables between them; and records one by one.
                    let (at_once, step) = if number == 2 { (1, 4) } else { (250, 4) };
                    while region.start[0] < layout.shape[0] {
                        let left = (layout.shape[0] - region.start[0]).div_ceil(step);
                        (region.count[0], region.step[0]) = (left.min(at_once), step);
                        let mut part = vec![0; region.bytes(layout.element).unwrap()];
                        let zero = vec![0; layout.shape.len()];
                        let rows = rows.as_ref().unwrap();
                        scatter(rows, &zero, &layout.shape, &region, &mut part, layout.element).unwrap();
                        writer.write_part(number, &region, &part).unwrap();
                        region.start[0] += region.count[0] * step;
                    }
                }
            });
        }
    });
    writer.finish().unwrap();
    assert!(storage.0.to_vec() == whole);
}

#[test]
fn many_records_take_few_writes() {
    let header = Header {
        records: Some(10_000),
        dimensions: vec![dimension("t", 0)],
        variables: vec![variable("a", DataType::Byte, &[0]), variable("b", DataType::Double, &[0])],
        ..empty(Version::Classic)
    };
    let content = Content::new(header, 3, |number| number == 1);
    let storage = Arc::new(Recorded::new(WritableMemory::default()).unwrap());
    let writer = content.definition().begin(storage.clone()).unwrap();
    writer.write_part(1, &Region::all(&[10_000]), content.elements[1].as_ref().unwrap()).unwrap();
    writer.finish().unwrap();
    assert_eq!(storage.inner().to_vec(), content.write());
    let count = storage.log().operations().len();
    assert!(count < 10, "{count} operations");
}

#[test]
fn parts_larger_than_a_buffer_are_written() {
    let header = Header {
        dimensions: vec![dimension("x", 700_001)],
        variables: vec![
            variable("a", DataType::Short, &[0]),
            variable("b", DataType::Byte, &[0]),
            variable("c", DataType::Double, &[0]),
        ],
        ..empty(Version::Classic)
    };
    let content = Content::new(header, 9, |number| number != 2);
    let file = open(Bytes::from(content.write())).unwrap();
    for number in 0..3 {
        assert!(read(&file, number).unwrap() == content.expected(number));
    }
}

fn attributes() -> impl Strategy<Value = Vec<Attribute>> {
    let types = prop::sample::select(DataType::ALL[..6].to_vec());
    let one = ("[a-z][a-zé/ _.-]{0,5}x", types, prop::collection::vec(any::<u8>(), 0..20));
    prop::collection::vec(one, 0..3).prop_map(|all| {
        let mut attributes: Vec<Attribute> = Vec::new();
        for (name, data_type, mut values) in all {
            let name = name.replace('/', "~");
            values.truncate(values.len() / data_type.size() * data_type.size());
            if attributes.iter().all(|known| known.name != name.as_bytes()) {
                attributes.push(attribute(&name, data_type, &values));
            }
        }
        attributes
    })
}

fn contents() -> impl Strategy<Value = Content> {
    let version = prop::sample::select(vec![Version::Classic, Version::Offset64, Version::Data64]);
    let one =
        (any::<u8>(), any::<bool>(), prop::collection::vec(1..4_u64, 0..3), attributes(), any::<bool>());
    let variables = prop::collection::vec(one, 0..5);
    let lengths = prop::collection::vec(1..6_u64, 3);
    (version, 0..4_usize, 0..5_u64, lengths, attributes(), variables, any::<u64>()).prop_map(
        |(version, of_records, records, lengths, attributes, variables, seed)| {
            let mut dimensions: Vec<_> = lengths
                .iter()
                .enumerate()
                .map(|(at, length)| dimension(&format!("d{at}"), *length))
                .collect();
            dimensions.insert(of_records, dimension("t", 0));
            let types = DataType::ALL.len() - if version == Version::Data64 { 0 } else { 5 };
            let mut written = Vec::new();
            let mut list: Vec<Variable> = Vec::new();
            for (code, with_records, inner, attributes, is_written) in variables {
                let data_type = DataType::ALL[usize::from(code) % types];
                let places = (0..4).filter(|at| *at != of_records as u64).collect::<Vec<u64>>();
                let inner = inner.iter().map(|at| places[usize::try_from(*at).unwrap() - 1]);
                let ids: Vec<u64> =
                    with_records.then_some(of_records as u64).into_iter().chain(inner).collect();
                let name = format!("v{}", list.len());
                list.push(Variable { attributes, ..variable(&name, data_type, &ids) });
                written.push(is_written);
            }
            let header = Header { version, records: Some(records), dimensions, attributes, variables: list };
            Content::new(header, seed, |number| written[number])
        },
    )
}

/// Divides a variable into parts along one dimension: blocks, or every `count`-th index.
fn parts(shape: &[u64], along: usize, count: u64, by_steps: bool) -> Vec<Region> {
    let Some(extent) = shape.get(along).copied() else { return vec![Region::all(shape)] };
    let each = extent.div_ceil(count);
    let part = |number: u64| {
        let mut region = Region::all(shape);
        match by_steps {
            true => {
                region.start[along] = number;
                region.count[along] = extent.saturating_sub(number).div_ceil(count);
                region.step[along] = count;
            }
            false => {
                region.start[along] = (number * each).min(extent);
                region.count[along] = each.min(extent - region.start[along]);
            }
        }
        region
    };
    (0..count).map(part).collect()
}

proptest! {
    #[test]
    fn what_is_written_in_any_parts_is_read_back(
        content in contents(),
        along in 0..3_usize,
        count in 1..4_u64,
        by_steps in any::<bool>(),
    ) {
        let bytes = content.write_by(|writer, number, rows| {
            let shape = writer.definition().layout(number).unwrap().shape.clone();
            let element = writer.definition().layout(number).unwrap().element;
            for region in parts(&shape, along, count, by_steps).into_iter().rev() {
                let mut part = vec![0; region.bytes(element).unwrap()];
                if !part.is_empty() {
                    scatter(rows, &vec![0; shape.len()], &shape, &region, &mut part, element).unwrap();
                }
                writer.write_part(number, &region, &part).unwrap();
            }
        });
        prop_assert_eq!(bytes.len() as u64, content.definition().len());
        prop_assert!(bytes == content.write());
        prop_assert_eq!(findings(&bytes), Vec::<String>::new());
        let file = open(Bytes::from(bytes)).unwrap();
        let definition = content.definition();
        prop_assert_eq!(file.header(), definition.header());
        for number in 0..content.elements.len() {
            prop_assert_eq!(read(&file, number).unwrap(), content.expected(number));
        }
    }

    #[test]
    fn any_part_is_written_to_its_place_alone(
        content in contents(),
        axes in prop::collection::vec((any::<u16>(), any::<u16>(), 1..4_u64), 3),
    ) {
        for number in 0..content.elements.len() {
            let storage = Arc::new(WritableMemory::default());
            let writer = content.definition().begin(storage.clone()).unwrap();
            let layout = writer.definition().layout(number).unwrap().clone();
            let all = Region::all(&layout.shape);
            writer.fill_part(number, &all).unwrap();
            let (mut start, mut count, mut step) = (vec![], vec![], vec![]);
            for (extent, (from, of, by)) in layout.shape.iter().zip(&axes) {
                let from = if *extent == 0 { 0 } else { u64::from(*from) % extent };
                let most = (extent - from).div_ceil(*by);
                start.push(from);
                count.push(if most == 0 { 0 } else { u64::from(*of) % (most + 1) });
                step.push(*by);
            }
            let region = Region { start, count, step };
            let rows: Vec<u8> = (0..region.bytes(layout.element).unwrap()).map(|at| u8::try_from(at % 251).unwrap()).collect();
            writer.write_part(number, &region, &rows).unwrap();
            writer.finish().unwrap();
            let unwritten = Content { elements: vec![None; content.elements.len()], ..content.clone() };
            let file = open(Bytes::from(storage.to_vec())).unwrap();
            prop_assert_eq!(&read_part(&file, number, &region).unwrap(), &rows);
            let mut want = unwritten.expected(number);
            if !rows.is_empty() {
                gather(&rows, &region, &mut want, &vec![0; layout.shape.len()], &layout.shape, layout.element)
                    .unwrap();
            }
            prop_assert_eq!(read(&file, number).unwrap(), want);
            for other in (0..content.elements.len()).filter(|other| *other != number) {
                prop_assert_eq!(read(&file, other).unwrap(), unwritten.expected(other));
            }
        }
    }
}
