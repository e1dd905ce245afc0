//! NetCDF classic files: their dimensions and variables in the model, and warnings about unusual ones.

use crate::{find, open, path};
use bytes::Bytes;
use hyperslab::convert::{ConvertOptions, plan};
use hyperslab::model::{DimCoord, Elements, Extent, Ndarray, Node, NodeKind};
use hyperslab::target::Fate;
use hyperslab::{Item, Limits, NodePath, OpenOptions, Region, Source, digest, ndl, target_format};
use hyperslab_netcdf3::{Attribute, DataType, Dimension, Header, Variable, Version};
use std::sync::Arc;

fn dimension(name: &str, length: u64) -> Dimension {
    Dimension { name: name.into(), length }
}

fn variable(name: &str, data_type: DataType, dimensions: &[u64]) -> Variable {
    let (dimensions, attributes) = (dimensions.to_vec(), Vec::new());
    Variable { name: name.into(), dimensions, attributes, data_type, size: 0, begin: 1000 }
}

/// A file with the given elements, which start at byte 1000.
fn source(dimensions: Vec<Dimension>, variables: Vec<Variable>, elements: &[u8]) -> Arc<dyn Source> {
    let attributes = Vec::new();
    let header = Header { version: Version::Offset64, records: Some(2), dimensions, attributes, variables };
    let mut bytes = header.encode().unwrap();
    bytes.resize(1000, 0);
    bytes.extend(elements);
    hyperslab::open_storage(Box::new(Bytes::from(bytes)), &OpenOptions::default()).unwrap()
}

fn ndarray(source: &dyn Source, path: &str) -> Ndarray {
    match source.load(&find(source, path).handle).unwrap() {
        Node::Ndarray(ndarray) => ndarray,
        other => panic!("{path} is a {:?}", other.kind()),
    }
}

fn dimcoord(source: &dyn Source, path: &str) -> DimCoord {
    match source.load(&find(source, path).handle).unwrap() {
        Node::DimCoord(dimcoord) => dimcoord,
        other => panic!("{path} is a {:?}", other.kind()),
    }
}

/// The names of an array's dimensions.
fn shape(source: &dyn Source, path: &str) -> Vec<String> {
    let dims = ndarray(source, path).shape;
    let name = |path: Option<&NodePath>| path.map_or("-".to_owned(), ToString::to_string);
    dims.dims().iter().map(|dimension| name(dimension.coordinate.as_ref())).collect()
}

fn names(source: &dyn Source) -> Vec<String> {
    let root = source.find(&NodePath::root()).unwrap().handle;
    source.members(&root).unwrap().into_iter().map(|entry| entry.handle.path.to_string()).collect()
}

#[test]
fn each_version_has_its_title() {
    assert_eq!(open("classic.nc").format(), "NetCDF-3 classic");
    assert_eq!(source(vec![], vec![], &[]).format(), "NetCDF-3 64-bit offset");
    assert_eq!(open("classic_data64.nc").format(), "NetCDF-3 64-bit data");
    for name in ["classic.nc", "classic_data64.nc"] {
        assert_eq!(hyperslab::recognize(&path(name)).unwrap().unwrap().name(), "netcdf3");
    }
}

#[test]
fn dimensions_are_listed_first_with_the_values_of_their_coordinates() {
    let source = open("classic.nc");
    let all = [
        "/time",
        "/station",
        "/name_len",
        "/unused",
        "/lat",
        "/name",
        "/level",
        "/flag",
        "/pressure",
        "/datum",
    ];
    assert_eq!(names(&*source), all);
    let time = dimcoord(&*source, "/time");
    assert_eq!((time.size, time.datatype.is_some()), (Extent::Unlimited { current: 3 }, true));
    let unused = dimcoord(&*source, "/unused");
    assert_eq!((unused.size, unused.datatype.is_none()), (Extent::Fixed(7), true));
    assert_eq!(shape(&*source, "/name"), ["/station", "/name_len"]);
    assert!(source.array(&find(&*source, "/unused").handle).is_err());
    assert!(source.find(&NodePath::new("/time/x").unwrap()).is_err());
    assert!(source.members(&find(&*source, "/time").handle).is_err());
}

#[test]
fn a_variable_that_only_has_the_name_of_a_dimension_is_an_array() {
    let dimensions = vec![dimension("station", 2), dimension("len", 3), dimension("x", 2)];
    let variables = vec![
        variable("station", DataType::Char, &[0, 1]),
        variable("x", DataType::Int, &[0]),
        variable("y", DataType::Int, &[2, 1]),
    ];
    let source = source(dimensions, variables, b"abcdef");
    assert_eq!(names(&*source), ["/len", "/station", "/x", "/y"]);
    // The dimension keeps its name although an array has the same name.
    assert_eq!(shape(&*source, "/station"), ["/station", "/len"]);
    assert_eq!(shape(&*source, "/x"), ["/station"]);
    assert_eq!(shape(&*source, "/y"), ["/x", "/len"]);
    assert_eq!(ndarray(&*source, "/station").dimension, Some(Extent::Fixed(2)));
    assert_eq!(ndarray(&*source, "/y").dimension, None);
    assert_eq!(source.warnings(), [""; 0]);
    let refused = source.find(&NodePath::new("/x").unwrap()).unwrap();
    assert!(matches!(refused.item, Item::Array { kind: NodeKind::Ndarray, .. }));
}

#[test]
fn attributes_without_elements_are_empty_texts_and_lists() {
    let attribute = |name: &str, data_type| Attribute { name: name.into(), data_type, values: Vec::new() };
    let attributes = vec![attribute("text", DataType::Char), attribute("list", DataType::Int)];
    let variable = Variable { attributes, ..variable("v", DataType::Byte, &[]) };
    let array = ndarray(&*source(vec![], vec![variable], &[7]), "/v");
    let attribute = |name: &str| array.attributes[name].as_ref().unwrap();
    let text = attribute("text");
    let elements: Vec<_> = Elements::new(&text.datatype, &text.value).map(ndl::plain).collect();
    assert_eq!((text.shape.as_deref(), elements.as_slice()), (Some(&[][..]), &[String::new()][..]));
    assert_eq!(attribute("list").shape.as_deref(), Some(&[0][..]));
}

#[test]
fn names_end_at_their_first_nul_as_in_the_netcdf_library() {
    let dimensions = vec![dimension("pp\0\0", 2), dimension("x", 2)];
    let variables = vec![variable("pp", DataType::Byte, &[0]), variable("yy\0", DataType::Byte, &[0, 1])];
    let source = source(dimensions, variables, &[0; 8]);
    assert_eq!(names(&*source), ["/pp", "/x", "/yy"]);
    assert!(dimcoord(&*source, "/pp").datatype.is_some());
    assert_eq!(shape(&*source, "/yy"), ["/pp", "/x"]);
    assert_eq!(source.warnings(), [""; 0]);
}

#[test]
fn reports_duplicate_names_and_names_with_a_slash() {
    let text =
        |value: &[u8]| Attribute { name: b"a".to_vec(), data_type: DataType::Char, values: value.to_vec() };
    let mut first = variable("a/b", DataType::Int, &[]);
    first.attributes = vec![text(b"one"), text(b"two")];
    let source = source(vec![dimension("", 3)], vec![first, variable("a/b", DataType::Byte, &[])], &[0; 4]);
    assert_eq!(names(&*source), ["/\u{fffd}", "/a\u{fffd}2fb"]);
    assert_eq!(
        source.warnings(),
        [
            "a second variable of the name \"a\u{fffd}2fb\" is not shown",
            "a second attribute /a\u{fffd}2fb@a is not shown"
        ]
    );
    let array = ndarray(&*source, "/a\u{fffd}2fb");
    assert_eq!(&array.attributes["a"].as_ref().unwrap().value.rows[..], b"one");
    let planned = plan(&*source, &ConvertOptions::new(target_format("zarr3").unwrap())).unwrap();
    let what = "name that is not UTF-8, or has a slash";
    let row = planned.report.rows().find(|row| row.what == what).unwrap();
    assert_eq!((row.places.as_slice(), row.fate), (["/a\u{fffd}2fb".to_owned()].as_slice(), Fate::Changed));
}

#[test]
fn a_second_attribute_of_the_root_is_named_by_its_path() {
    let text = || Attribute { name: b"a".to_vec(), data_type: DataType::Char, values: b"one".to_vec() };
    let (dimensions, variables, attributes) = (Vec::new(), Vec::new(), vec![text(), text()]);
    let header = Header { version: Version::Classic, records: Some(0), dimensions, attributes, variables };
    let bytes = Bytes::from(header.encode().unwrap());
    let source = hyperslab::open_storage(Box::new(bytes), &OpenOptions::default()).unwrap();
    assert_eq!(source.warnings(), ["a second attribute /@a is not shown"]);
}

#[test]
fn a_broken_variable_is_unreadable_and_the_others_are_read() {
    let variables = vec![variable("lost", DataType::Int, &[5]), variable("sound", DataType::Short, &[0])];
    let source = source(vec![dimension("x", 2)], variables, &[1, 2, 3, 4]);
    let Item::Unreadable(lost) = find(&*source, "/lost").item else { panic!("it is read") };
    assert!(lost.reason.contains("dimension 5 of 1 dimensions"), "{}", lost.reason);
    assert!(matches!(source.load(&find(&*source, "/lost").handle), Ok(Node::Unreadable(_))));
    let array = source.array(&find(&*source, "/sound").handle).unwrap();
    let rows = array.values(&Region::all(&[2])).unwrap().rows;
    assert_eq!(&rows[..], [0x0102_i16.to_ne_bytes(), 0x0304_i16.to_ne_bytes()].as_flattened());
}

#[test]
fn reads_the_intact_variables_of_truncated_files() {
    for name in ["classic.nc", "classic_data64.nc"] {
        let whole = std::fs::read(path(name)).unwrap();
        let header = hyperslab_netcdf3::File::open(Box::new(Bytes::from(whole.clone())), &Limits::default());
        let header = usize::try_from(header.unwrap().header_len()).unwrap();
        for len in 0..whole.len() {
            let bytes = Bytes::copy_from_slice(&whole[..len]);
            let opened = hyperslab::open_storage(Box::new(bytes), &OpenOptions::default());
            assert_eq!(opened.is_ok(), len >= header, "{name}: {len}");
            let Ok(source) = opened else { continue };
            let lines = digest::lines(&*source, &NodePath::root()).unwrap();
            let broken = lines.iter().filter(|line| line.is_error()).count();
            assert!(broken < lines.len() && (broken > 0 || len + 4 > whole.len()), "{name}: {len}");
        }
    }
}

#[test]
fn unwritten_elements_have_the_fill_value_of_the_attribute_or_the_library() {
    let mut own = variable("own", DataType::Short, &[]);
    let fill = |data_type, values: &[u8]| {
        vec![Attribute { name: b"_FillValue".to_vec(), data_type, values: values.to_vec() }]
    };
    own.attributes = fill(DataType::Short, &[0, 7]);
    let mut wrong = variable("wrong", DataType::Short, &[]);
    wrong.attributes = fill(DataType::Int, &[0, 0, 0, 7]);
    let source = source(vec![], vec![own, wrong, variable("text", DataType::Char, &[])], &[0; 8]);
    let fill = |path: &str| {
        let array = source.array(&find(&*source, path).handle).unwrap();
        array.fill().unwrap().map(|values| values.rows.to_vec())
    };
    assert_eq!(fill("/own"), Some(7_i16.to_ne_bytes().to_vec()));
    assert_eq!(fill("/wrong"), Some((-32767_i16).to_ne_bytes().to_vec()));
    assert_eq!(fill("/text"), None);
}

#[test]
fn records_are_the_same_with_one_and_many_threads() {
    let (records, width) = (300_u64, 2_000_u64);
    let dimensions = vec![dimension("t", 0), dimension("x", width)];
    let mut variables = vec![variable("a", DataType::Int, &[0, 1]), variable("b", DataType::Short, &[0, 1])];
    variables[1].begin += width * 4;
    let mut elements = Vec::new();
    for record in 0..records {
        elements.extend((0..width).flat_map(|x| u32::try_from(record * width + x).unwrap().to_be_bytes()));
        elements
            .extend((0..width).flat_map(|x| u16::try_from((record * 7 + x) % 65_536).unwrap().to_be_bytes()));
    }
    let attributes = Vec::new();
    let header = Header { version: Version::Data64, records: None, dimensions, attributes, variables };
    let mut bytes = header.encode().unwrap();
    bytes.resize(1000, 0);
    bytes.extend(elements);
    let source = hyperslab::open_storage(Box::new(Bytes::from(bytes)), &OpenOptions::default()).unwrap();
    let read = |path: &str| {
        let array = source.array(&find(&*source, path).handle).unwrap();
        array.values(&Region::all(&[records, width])).unwrap().rows
    };
    let a: Vec<u32> = read("/a").as_chunks().0.iter().map(|number| u32::from_ne_bytes(*number)).collect();
    assert!(a.into_iter().eq(0..u32::try_from(records * width).unwrap()));
    let b: Vec<u16> = read("/b").as_chunks().0.iter().map(|number| u16::from_ne_bytes(*number)).collect();
    let expected = (0..records).flat_map(|record| (0..width).map(move |x| (record * 7 + x) % 65_536));
    assert!(b.into_iter().map(u64::from).eq(expected));
}
