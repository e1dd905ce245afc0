//! Virtual datasets written by our own writer.

use crate::File;
use crate::format::Address;
use crate::format::encoding::DataspaceSelection;
use crate::format::encoding::selection::hyperslab::{Blocks, Dimension};
use crate::format::message::dataspace::Extent;
use crate::format::message::datatype::{ByteOrder, Compound, Datatype, DatatypeClass, Member, Version};
use crate::format::message::link::{ExternalLink, Link, LinkTarget};
use crate::write::test_datasets::{integer, link, numbers};
use crate::write::test_file::TestFile;
use crate::write::{
    EncodedPiece, FileOptions, FileWriter, NewDataset, NewDatatype, NewFill, NewGroup, NewLayout, NewLink,
    VirtualMapping,
};
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region, Selection};
use hyperslab_core::rows::{Heap, Rows};
use hyperslab_core::storage::FileStorage;
use hyperslab_core::{CancelToken, ErrorKind, Limits, Remedy, Result};
use std::path::Path;

/// What lies in the root group of a file.
enum Item {
    /// A dataset with its rows, if it has some of its own.
    Dataset(Box<NewDataset>, Vec<u8>),
    Soft(&'static str),
    External(&'static str, &'static str),
}

fn own(new: NewDataset, rows: Vec<u8>) -> Item {
    Item::Dataset(Box::new(new), rows)
}

fn file(items: &[(&str, Item)]) -> TestFile {
    TestFile::write_objects(&FileOptions::default(), &mut |writer| {
        let mut links = Vec::new();
        for (name, item) in items {
            let target = match item {
                Item::Dataset(new, rows) => LinkTarget::Hard(put(writer, new, rows)?),
                Item::Soft(path) => LinkTarget::Soft(path.as_bytes().to_vec()),
                Item::External(file, path) => LinkTarget::External(ExternalLink {
                    file: file.as_bytes().to_vec(),
                    path: path.as_bytes().to_vec(),
                }),
            };
            let NewLink { link: hard, symbol_table } = link(name, Address(0));
            links.push(NewLink { link: Link { target, ..hard }, symbol_table });
        }
        writer.group(NewGroup { links, ..NewGroup::default() })
    })
    .unwrap()
}

fn put(writer: &mut FileWriter, new: &NewDataset, rows: &[u8]) -> Result<Address> {
    if writer.is_measuring() {
        return writer.measure_dataset(new);
    }
    let dataset = writer.begin_dataset(new)?;
    if new.layout.has_elements() {
        let (index, scratch) = (vec![0; new.extent.dimensions().len()], &mut Scratch::new());
        let rows = Bytes::copy_from_slice(rows);
        let encoded = dataset.encoder().encode(&index, &rows, &Heap::default(), Vec::new(), scratch)?;
        let EncodedPiece::Bytes(bytes, mask) = encoded else { panic!("no heap objects") };
        dataset.store(&index, &bytes, mask)?;
    }
    let address = dataset.address();
    dataset.finish()?;
    Ok(address)
}

fn of_type(datatype: Datatype) -> NewDatatype {
    NewDatatype { datatype, committed: None }
}

/// A dataset of 16-bit numbers from `first` on.
fn source(dims: &[u64], first: u16) -> Item {
    let extent = Extent::Simple { dimensions: dims.to_vec(), maximum: None, permutation: None };
    let len = u16::try_from(dims.iter().product::<u64>()).unwrap();
    let rows = (first..first + len).flat_map(u16::to_ne_bytes).collect();
    own(NewDataset { extent, ..numbers(1, 1, NewLayout::Contiguous, vec![]) }, rows)
}

/// A virtual dataset of 16-bit numbers, where no source is 99.
fn mapped(dims: &[u64], maximum: &[u64], mappings: Vec<VirtualMapping>) -> NewDataset {
    let extent =
        Extent::Simple { dimensions: dims.to_vec(), maximum: Some(maximum.to_vec()), permutation: None };
    let fill = NewFill::Value(Rows { rows: 99_u16.to_ne_bytes().to_vec().into(), heap: Heap::default() });
    NewDataset { extent, fill, ..numbers(1, 1, NewLayout::Virtual(mappings), vec![]) }
}

fn mapping(dataset: &str, here: DataspaceSelection) -> VirtualMapping {
    VirtualMapping {
        file: b".".to_vec(),
        dataset: dataset.as_bytes().to_vec(),
        source_selection: DataspaceSelection::All,
        virtual_selection: here,
    }
}

fn region(start: &[u64], count: &[u64]) -> DataspaceSelection {
    let region = Region::new(start.to_vec(), count.to_vec());
    DataspaceSelection::of(&Selection::Region(region)).unwrap()
}

fn blocks(dimensions: &[(u64, u64, u64, u64)]) -> DataspaceSelection {
    let dimension = |(start, stride, count, block): &(u64, u64, u64, u64)| Dimension {
        start: *start,
        stride: *stride,
        count: *count,
        block: *block,
    };
    DataspaceSelection::of_blocks(Blocks::Regular(dimensions.iter().map(dimension).collect()))
}

fn read_with(file: &File, name: &str, region: Option<&Region>, cancel: CancelToken) -> Result<Vec<u8>> {
    let link = file.root()?.link(file, name.as_bytes())?.unwrap();
    let dataset = file.object(link.address().unwrap())?.dataset(file)?;
    let array = dataset.array(file)?;
    let whole = Region::all(dataset.extents().unwrap());
    let region = region.unwrap_or(&whole);
    let mut rows = vec![0xaa; region.bytes(array.row_size())?];
    let mut scratch = Scratch::new();
    scratch.cancel = cancel;
    array.read_part(file, region, &mut Planes::whole(&mut rows), &mut Heap::default(), &mut scratch)?;
    Ok(rows)
}

fn read(file: &File, name: &str) -> Result<Vec<u8>> {
    read_with(file, name, None, CancelToken::default())
}

fn shorts(rows: &[u8]) -> Vec<u16> {
    rows.as_chunks().0.iter().map(|two| u16::from_ne_bytes(*two)).collect()
}

#[test]
fn members_that_a_source_lacks_have_the_fill_value_whatever_was_read_before() {
    let compound = |names: &[&str]| {
        let member = |(at, name): (u32, &&str)| Member {
            name: name.as_bytes().to_vec(),
            byte_offset: at * 2,
            datatype: integer(2),
        };
        let members: Vec<Member> = (0..).zip(names).map(member).collect();
        let size = 2 * u32::try_from(names.len()).unwrap();
        of_type(Datatype { version: Version::V3, size, class: DatatypeClass::Compound(Compound { members }) })
    };
    let rows = |numbers: &[u16]| numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>();
    let stored = |names: &[&str], elements: &[u16]| {
        let new = NewDataset { datatype: compound(names), ..numbers(2, 2, NewLayout::Contiguous, vec![]) };
        own(new, rows(elements))
    };
    let mappings = vec![mapping("both", region(&[0], &[2])), mapping("first", region(&[2], &[2]))];
    let fill = NewFill::Value(Rows { rows: rows(&[9, 7]).into(), heap: Heap::default() });
    let v = NewDataset { datatype: compound(&["x", "q"]), fill, ..mapped(&[5], &[5], mappings) };
    let file = file(&[
        ("both", stored(&["x", "q"], &[1, 111, 2, 222])),
        ("first", stored(&["x"], &[3, 4])),
        ("v", own(v, vec![])),
    ]);
    assert_eq!(shorts(&read(file.file(), "v").unwrap()), [1, 111, 2, 222, 3, 7, 4, 7, 9, 7]);
}

/// A numbered mapping in the first three columns, and an element so far behind it that most rows have no source.
fn far() -> TestFile {
    const ROWS: u64 = 1 << 40;
    let numbered = mapping("b%b", blocks(&[(0, 1, u64::MAX, 1), (0, 1, 1, 3)]));
    let at = |row: u64| mapping("one", blocks(&[(row, 1, 1, 1), (3, 1, 1, 1)]));
    let v = mapped(&[1, 4], &[u64::MAX, 4], vec![numbered, at(ROWS - 1)]);
    let near = mapping("b%b", blocks(&[(0, 3, u64::MAX, 2), (0, 1, 1, 3)]));
    let gaps = mapped(&[1, 4], &[u64::MAX, 4], vec![near, at(1000)]);
    file(&[
        ("b0", source(&[1, 3], 0)),
        ("b20000", source(&[1, 3], 10)),
        ("one", source(&[1, 1], 50)),
        ("v", own(v, vec![])),
        ("gaps", own(gaps, vec![])),
    ])
}

#[test]
fn numbered_sources_between_the_selected_rows_are_not_looked_for() {
    let file = far();
    let rows =
        |start: u64, step: u64| Region { start: vec![start, 0], count: vec![2, 4], step: vec![step, 1] };
    let read = |region: &Region| {
        read_with(file.file(), "v", Some(region), CancelToken::default()).map(|rows| shorts(&rows))
    };
    assert_eq!(read(&rows(0, 1 << 39)).unwrap(), [0, 1, 2, 99, 99, 99, 99, 99]);
    assert_eq!(read(&rows(0, (1 << 40) - 1)).unwrap(), [0, 1, 2, 99, 99, 99, 99, 50]);
    // More of them would be missing than a read may miss.
    assert_eq!(read(&rows(0, 20_000)).unwrap(), [0, 1, 2, 99, 10, 11, 12, 99]);
    // No column of theirs, and all rows.
    let column = Region { start: vec![0, 3], count: vec![2, 1], step: vec![1 << 39, 1] };
    assert_eq!(read(&column).unwrap(), [99, 99]);
    let many = Region { start: vec![0, 0], count: vec![8194, 1], step: vec![2, 1] };
    assert_eq!(read(&many).map(|_| ()).unwrap_err().kind(), ErrorKind::LimitExceeded);
}

#[test]
fn reading_numbered_sources_can_be_cancelled() {
    let file = far();
    let cancel = CancelToken::new();
    cancel.cancel();
    let region = Region { start: vec![0, 0], count: vec![2, 4], step: vec![1 << 39, 1] };
    let e = read_with(file.file(), "v", Some(&region), cancel).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Cancelled);
}

#[test]
fn a_block_of_another_size_than_its_numbered_source_is_an_error_where_it_is_selected() {
    let file = far();
    let row = |row: u64| {
        let region = Region { start: vec![row, 0], count: vec![1, 4], step: vec![1, 1] };
        read_with(file.file(), "gaps", Some(&region), CancelToken::default()).map(|rows| shorts(&rows))
    };
    assert_eq!(row(2).unwrap(), [99; 4]);
    assert_eq!(row(3).unwrap(), [99; 4]);
    assert_eq!(row(1).unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn sources_between_the_selected_rows_are_not_opened() {
    let rows = (0..3).map(|row| mapping(&format!("s{row}"), region(&[row, 0], &[1, 2])));
    let file = file(&[
        ("s0", source(&[2], 0)),
        ("s1", Item::Soft("/")),
        ("s2", source(&[2], 20)),
        ("v", own(mapped(&[3, 2], &[3, 2], rows.collect()), vec![])),
    ]);
    let gap = Region { start: vec![0, 0], count: vec![2, 2], step: vec![2, 1] };
    let read_gap = read_with(file.file(), "v", Some(&gap), CancelToken::default()).unwrap();
    assert_eq!(shorts(&read_gap), [0, 1, 20, 21]);
    let e = read(file.file(), "v").unwrap_err();
    assert_eq!((e.kind(), e.detail()), (ErrorKind::Malformed, "source s1 is a group, expected a dataset"));
}

#[test]
fn rows_far_apart_of_one_long_source_are_found_at_once() {
    const ROWS: u64 = 1 << 40;
    let extent = Extent::Simple { dimensions: vec![ROWS], maximum: None, permutation: None };
    let layout = NewLayout::Chunked { shape: vec![1 << 20], unfiltered_edges: false };
    let long = NewDataset { extent, ..numbers(1, 1, layout, vec![]) };
    let mappings = vec![mapping("long", DataspaceSelection::All)];
    let file = TestFile::write_objects(&FileOptions::default(), &mut |writer| {
        let mut links = Vec::new();
        for (name, new) in [("long", &long), ("v", &mapped(&[ROWS], &[ROWS], mappings.clone()))] {
            let address = match writer.is_measuring() {
                true => writer.measure_dataset(new)?,
                false => {
                    let dataset = writer.begin_dataset(new)?;
                    let address = dataset.address();
                    dataset.finish()?;
                    address
                }
            };
            links.push(link(name, address));
        }
        writer.group(NewGroup { links, ..NewGroup::default() })
    })
    .unwrap();
    let ends = Region { start: vec![0], count: vec![2], step: vec![ROWS - 1] };
    let rows = read_with(file.file(), "v", Some(&ends), CancelToken::default()).unwrap();
    assert_eq!(shorts(&rows), [0, 0]);
}

fn open(path: &Path) -> File {
    File::open(Box::new(FileStorage::open(path).unwrap()), Limits::default()).unwrap()
}

#[test]
fn sources_are_found_through_external_links() {
    let dir = tempfile::tempdir().unwrap();
    let v = |source: &str| own(mapped(&[3], &[3], vec![mapping(source, DataspaceSelection::All)]), vec![]);
    let master = file(&[
        ("real", source(&[3], 20)),
        ("ext", Item::External("data.h5", "/d")),
        ("whole", Item::External("data.h5", "/")),
        ("back", Item::External("data.h5", "/back")),
        ("missing", Item::External("no.h5", "/d")),
        ("dangling", Item::External("data.h5", "/no")),
        ("endless", Item::External("master.h5", "/endless")),
        ("of loop", Item::External("data.h5", "/loop")),
        ("group", Item::External("data.h5", "//")),
        ("v ext", v("/ext")),
        ("v whole", v("whole/soft")),
        ("v back", v("back")),
        ("v missing", v("missing")),
        ("v dangling", v("dangling")),
        ("v endless", v("endless")),
        ("v loop", v("of loop")),
        ("v group", v("group")),
    ]);
    let data = file(&[
        ("d", source(&[3], 0)),
        ("soft", Item::Soft("/d")),
        ("back", Item::External("master.h5", "real")),
        ("to loop", Item::External("master.h5", "/v loop")),
        ("loop", v("to loop")),
    ]);
    let path = dir.path().join("master.h5");
    std::fs::write(&path, master.bytes()).unwrap();
    std::fs::write(dir.path().join("data.h5"), data.bytes()).unwrap();
    let file = open(&path);
    for (name, first) in [("v ext", 0), ("v whole", 0), ("v back", 20)] {
        let all: Vec<u16> = (first..first + 3).collect();
        assert_eq!(shorts(&read(&file, name).unwrap()), all, "{name}");
    }
    for name in ["v missing", "v dangling", "v endless"] {
        assert_eq!(shorts(&read(&file, name).unwrap()), [99; 3], "{name}");
    }
    let e = read(&file, "v loop").unwrap_err();
    assert!(e.kind() == ErrorKind::Malformed && e.detail().contains("is its own source"), "{e}");
    let e = read(&file, "v group").unwrap_err();
    assert!(e.detail().starts_with("data.h5:/: ") && e.detail().contains("is a group"), "{e}");
}

#[test]
fn external_links_lead_only_where_the_caller_allows() {
    let dir = tempfile::tempdir().unwrap();
    let within = dir.path().join("within");
    std::fs::create_dir(&within).unwrap();
    let v = mapped(&[3], &[3], vec![mapping("ext", DataspaceSelection::All)]);
    let master = file(&[("ext", Item::External("../out.h5", "/d")), ("v", own(v, vec![]))]);
    let path = within.join("master.h5");
    std::fs::write(&path, master.bytes()).unwrap();
    std::fs::write(dir.path().join("out.h5"), file(&[("d", source(&[3], 5))]).bytes()).unwrap();
    let e = read(&open(&path), "v").unwrap_err();
    let allow = Remedy::AllowExternal(dir.path().canonicalize().unwrap());
    assert!(e.kind() == ErrorKind::LimitExceeded && e.remedies() == [allow], "{e}");
    let storage = FileStorage::open_allowing(&path, &[dir.path().to_owned()]).unwrap();
    let allowed = File::open(Box::new(storage), Limits::default()).unwrap();
    assert_eq!(shorts(&read(&allowed, "v").unwrap()), [5, 6, 7]);
    // Bytes in memory have no files beside them.
    assert_eq!(read(master.file(), "v").unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn sources_beyond_the_maximum_are_an_error() {
    let all = blocks(&[(0, 1, u64::MAX, 1), (0, 1, 1, 3)]);
    let along = || VirtualMapping { source_selection: all.clone(), ..mapping("six", all.clone()) };
    let file = file(&[
        ("six", source(&[6, 3], 0)),
        ("fits", own(mapped(&[1, 3], &[6, 3], vec![along()]), vec![])),
        ("beyond", own(mapped(&[1, 3], &[5, 3], vec![along()]), vec![])),
    ]);
    assert_eq!(shorts(&read(file.file(), "fits").unwrap()), (0..18).collect::<Vec<_>>());
    let e = read(file.file(), "beyond").unwrap_err();
    assert_eq!(
        (e.kind(), e.detail()),
        (
            ErrorKind::Malformed,
            "the sources of a virtual dataset give it the dimensions [6, 3], expected at most its maximum [5, 3]"
        )
    );
}

#[test]
fn integers_of_128_bits_are_those_of_the_source_in_any_byte_order() {
    let wide = |byte_order, signed| {
        let mut datatype = integer(16);
        if let DatatypeClass::FixedPoint(class) = &mut datatype.class {
            (class.byte_order, class.signed) = (byte_order, signed);
        }
        of_type(datatype)
    };
    let elements = [u128::MAX, 1 << 100, 1];
    let rows: Vec<u8> = elements.iter().flat_map(|element| element.to_ne_bytes()).collect();
    for signed in [false, true] {
        let stored = NewDataset {
            datatype: wide(ByteOrder::BigEndian, signed),
            ..numbers(3, 3, NewLayout::Contiguous, vec![])
        };
        let of = |datatype| NewDataset {
            datatype,
            fill: NewFill::Default,
            ..mapped(&[3], &[3], vec![mapping("source", DataspaceSelection::All)])
        };
        let file = file(&[
            ("source", own(stored, rows.clone())),
            ("v", own(of(wide(ByteOrder::LittleEndian, signed)), vec![])),
            ("small", own(of(of_type(integer(2))), vec![])),
        ]);
        assert_eq!(read(file.file(), "v").unwrap(), rows);
        // A value out of range becomes the nearest one, -1 of 128 bits signed is below all.
        match signed {
            true => assert_eq!(shorts(&read(file.file(), "small").unwrap()), [0, u16::MAX, 1]),
            false => assert_eq!(read(file.file(), "small").unwrap_err().kind(), ErrorKind::Unsupported),
        }
    }
}
