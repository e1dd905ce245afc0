//! Builds content for tests.

use bytes::Bytes;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_model::{
    Attribute, Attributes, BoxedStorage, Datatype, DimCoord, Dimension, Directive, ElementStorage, Extent,
    Filter, Float, Group, Length, Link, Member, Ndarray, Node, NodePath, Pad, Reference, Shape, Text,
    TimeUnit, Values,
};
use hyperslab_ndl::{Emitter, Format, Head, Options};
use std::sync::Arc;

pub(crate) const SINGLE: Datatype = Datatype::Float(Float::Single);
pub(crate) const DOUBLE: Datatype = Datatype::Float(Float::Double);
pub(crate) const STRING: Datatype = Datatype::String(Text::Variable);
pub(crate) const INT8: Datatype = Datatype::int(8, true);
pub(crate) const INT16: Datatype = Datatype::int(16, true);
pub(crate) const INT32: Datatype = Datatype::int(32, true);

pub(crate) fn path(text: &str) -> NodePath {
    NodePath::new(text).unwrap()
}

/// A number that can be stored as a row.
pub(crate) trait Row {
    fn row(&self) -> Vec<u8>;
}

macro_rules! rows {
    ($($number:ty),*) => {$(
        impl Row for $number {
            fn row(&self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }
        }
    )*};
}

rows!(i8, u8, i16, u16, i32, u32, i64, u64, i128, f32, f64, half::f16, half::bf16);

pub(crate) fn numbers<T: Row>(numbers: &[T]) -> Values {
    bytes(&numbers.iter().flat_map(Row::row).collect::<Vec<_>>())
}

pub(crate) fn bytes(rows: &[u8]) -> Values {
    Values { rows: Bytes::copy_from_slice(rows), heap: Heap::default() }
}

pub(crate) fn texts(texts: &[&[u8]]) -> Values {
    let (mut rows, mut buffer) = (Vec::new(), Vec::new());
    for text in texts {
        let count = u32::try_from(text.len()).unwrap();
        rows.extend(Slot { buffer: 0, count, offset: buffer.len() as u64 }.to_bytes());
        buffer.extend(*text);
    }
    let mut heap = Heap::default();
    heap.push(buffer.into()).unwrap();
    Values { rows: rows.into(), heap }
}

/// Sequences of rows of `size` bytes.
pub(crate) fn sequences(size: usize, sequences: &[Vec<u8>]) -> Values {
    let all: Vec<_> = sequences.iter().map(Vec::as_slice).collect();
    let mut values = texts(&all);
    let mut rows = Vec::new();
    for (row, bytes) in values.rows.chunks(Slot::SIZE).zip(sequences) {
        let count = u32::try_from(bytes.len() / size).unwrap();
        rows.extend(Slot { count, ..Slot::get(row).unwrap() }.to_bytes());
    }
    values.rows = rows.into();
    values
}

pub(crate) fn references(references: Vec<Reference>) -> Values {
    let mut heap = Heap::default();
    let rows: Vec<u8> =
        references.into_iter().flat_map(|one| heap.push_reference(one).unwrap().to_bytes()).collect();
    Values { rows: rows.into(), heap }
}

pub(crate) fn fixed(len: u32, pad: Pad) -> Datatype {
    Datatype::String(Text::Fixed { len, pad })
}

pub(crate) fn member(name: &str, datatype: Datatype) -> Member {
    Member { name: name.into(), datatype }
}

pub(crate) fn enumeration(members: &[(&str, i128)]) -> Datatype {
    let members = members.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    Datatype::Enum { base: Box::new(INT8), members }
}

pub(crate) fn attribute(datatype: Datatype, shape: &[u64], value: Values) -> Attribute {
    Attribute {
        shape: Some(shape.to_vec()),
        datatype: Arc::new(datatype),
        value,
        storage: ElementStorage::default(),
        native: Vec::new(),
    }
}

pub(crate) fn text(text: &str) -> Attribute {
    attribute(STRING, &[], texts(&[text.as_bytes()]))
}

/// A NetCDF string: text of variable length, in contrast to an array of characters.
pub(crate) fn netcdf_string(value: &str) -> Attribute {
    let storage = ElementStorage { length: Some(Length::Variable), ..ElementStorage::default() };
    Attribute { storage, ..text(value) }
}

pub(crate) fn attributes<'a>(of: impl IntoIterator<Item = (&'a str, Attribute)>) -> Attributes {
    of.into_iter().map(|(name, attribute)| (name.to_string(), Ok(attribute))).collect()
}

pub(crate) fn words(of: &[(&str, &str)]) -> Attributes {
    attributes(of.iter().map(|(name, value)| (*name, text(value))))
}

pub(crate) fn group(attributes: Attributes) -> Node {
    Node::Group(Group { attributes, ..Group::default() })
}

pub(crate) fn soft(target: &str) -> Node {
    Node::Link(Link::Soft(target.into()))
}

pub(crate) fn ndarray(datatype: Datatype, shape: &[u64], value: Option<Values>) -> Ndarray {
    Ndarray {
        shape: Shape::fixed(shape),
        dimension: None,
        datatype: Some(Arc::new(datatype)),
        attributes: Attributes::default(),
        storage: BoxedStorage::default(),
        value,
    }
}

pub(crate) fn dimcoord(size: Extent, datatype: Option<Datatype>) -> DimCoord {
    DimCoord {
        size,
        datatype: datatype.map(Arc::new),
        attributes: Attributes::default(),
        storage: BoxedStorage::default(),
        value: None,
    }
}

/// A shape whose dimensions are named dimcoords.
pub(crate) fn along(dims: &[(Extent, &str)]) -> Shape {
    Shape::Dims(
        dims.iter()
            .map(|(extent, coordinate)| Dimension { extent: *extent, coordinate: Some(path(coordinate)) })
            .collect(),
    )
}

pub(crate) fn filter(name: &str, parameters: &[(&str, i128)]) -> Filter {
    let parameters =
        parameters.iter().map(|(name, value)| (name.to_string(), Directive::Int(*value))).collect::<Vec<_>>();
    Filter { name: name.into(), main: !parameters.is_empty(), parameters }
}

/// Storage with directives of one format.
pub(crate) fn native(
    format: &'static str,
    directives: &[(&str, Directive)],
) -> Vec<(&'static str, Vec<(String, Directive)>)> {
    vec![(format, directives.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())]
}

pub(crate) fn word(text: &str) -> Directive {
    Directive::Text(text.into())
}

pub(crate) fn time(unit: &str) -> Datatype {
    Datatype::Datetime(TimeUnit { unit: unit.into(), duration: false })
}

pub(crate) fn emit(format: Format, options: Options, head: &Head<'_>, nodes: &[(&str, Node)]) -> String {
    let mut emitter = Emitter::new(format, options);
    for (place, node) in nodes {
        if let Node::DimCoord(dimcoord) = node {
            emitter.declare_dimcoord(&path(place), dimcoord.datatype.is_some());
        }
    }
    for (place, node) in nodes {
        emitter.node(&path(place), node).unwrap();
    }
    let mut out = Vec::new();
    emitter.finish(head, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The document without its first line.
pub(crate) fn yaml(options: Options, nodes: &[(&str, Node)]) -> String {
    let head = Head { location: "a.h5", format: "hdf5", title: "HDF5", version: "0.1.0" };
    let text = emit(Format::Yaml, options, &head, nodes);
    text.split_once('\n').unwrap().1.to_string()
}

/// Compares line by line, so that a failure shows the lines that differ.
pub(crate) fn assert_text(actual: &str, expected: &str) {
    for (number, (a, b)) in actual.lines().zip(expected.lines()).enumerate() {
        assert_eq!(a, b, "line {}", number + 1);
    }
    assert_eq!(actual.len(), expected.len());
}
