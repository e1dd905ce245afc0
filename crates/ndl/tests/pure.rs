//! Pure NDL 0.6.1: extensions are replaced by an equivalent, left out with a note, or rejected by name.

use crate::build::*;
use hyperslab_core::ErrorKind;
use hyperslab_core::nd::{Region, Selection};
use hyperslab_model::{
    Attribute, Attributes, BoxedStorage, Datatype, ElementStorage, Extent, Float, NamedDatatype, Ndarray,
    Node, Reference, Shape, Storage, TimeUnit,
};
use hyperslab_ndl::{Emitter, Format, Head, Options};
use std::sync::Arc;

const PURE: Options = Options {
    values: Some(u64::MAX),
    storage: hyperslab_ndl::StorageDetail::Brief,
    pure: true,
    texts_are_characters: false,
};

fn array(datatype: Datatype, shape: &[u64], values: hyperslab_model::Values) -> Node {
    Node::Ndarray(ndarray(datatype, shape, Some(values)))
}

#[test]
fn replaces_extensions_that_have_an_equivalent() {
    let pair = Datatype::Compound(vec![member("set", Datatype::Bool), member("n", INT8)]);
    let named = NamedDatatype {
        datatype: Arc::new(pair.clone()),
        attributes: words(&[]),
        storage: BoxedStorage::default(),
    };
    let seconds = Datatype::Datetime(TimeUnit { unit: "s".into(), duration: false });
    let time = Extent::Unlimited { current: 2 };
    let storage = Storage {
        element: ElementStorage { itemsize: Some(8), ..ElementStorage::default() },
        fill_time: Some(hyperslab_model::FillTime::Never),
        ..Storage::default()
    };
    let nodes = [
        ("/", group(attributes([("s", netcdf_string("text"))]))),
        ("/t", Node::Datatype(named)),
        ("/time", Node::DimCoord(dimcoord(time, None))),
        ("/x", Node::DimCoord(dimcoord(Extent::Fixed(2), Some(INT8)))),
        (
            "/pairs",
            Node::Ndarray(Ndarray {
                shape: along(&[(time, "/time")]),
                storage: storage.into(),
                ..ndarray(Datatype::Named(path("/t"), Arc::new(pair)), &[], Some(bytes(&[1, 5, 0, 6])))
            }),
        ),
        ("/z", array(Datatype::Complex(Float::Single), &[], numbers(&[1_f32, -2.0]))),
        ("/date", array(seconds, &[2], numbers(&[0, i64::MIN]))),
        ("/clock", array(Datatype::Time { bits: 32 }, &[1], numbers(&[7_u32]))),
        ("/bits", array(Datatype::Bitfield { size: 2 }, &[1], bytes(&[0x34, 0x12]))),
        ("/wide", array(Datatype::Bitfield { size: 3 }, &[1], bytes(&[1, 2, 3]))),
        ("/odd", array(Datatype::int(24, true), &[1], numbers(&[-7]))),
        ("/l", soft("/x")),
        ("/m", soft("/x")),
    ];
    let mut emitter = Emitter::new(Format::Yaml, PURE);
    emitter.declare_dimcoord(&path("/time"), false);
    for (place, node) in &nodes {
        emitter.node(&path(place), node).unwrap();
    }
    assert_eq!(
        emitter.notes(),
        [
            "/t: named datatypes are written out where they are used",
            "/time: dimensions without coordinates become plain sizes",
            "/pairs: booleans become an enumeration",
            "/z: complex numbers become compounds",
            "/date: dates become integers",
            "/clock: times become integers",
            "/bits and 1 more: bit fields become integers or opaque bytes",
            "/odd: integers of odd sizes become the next larger ones",
            "/l and 1 more: links are left out",
        ]
    );
    let mut out = Vec::new();
    let head = Head { location: "a.h5", format: "hdf5", title: "HDF5", version: "0.1.0" };
    emitter.finish(&head, &mut out).unwrap();
    let expected = "# NDL 0.6.1, described from a.h5 (HDF5) with --values

attributes:
  s: text

dimcoords:
  x:
    size: 2
    type: int8

ndarrays:
  pairs:
    shape: [null]
    type:
      compound:
        - set:
            enum:
              base: int8
              members: {\"FALSE\": 0, \"TRUE\": 1}
        - n: int8
    storage:
      shape: [2]
    value:
      - [\"TRUE\", 5]
      - [\"FALSE\", 6]

  z:
    shape: []
    type:
      compound:
        - r: float32
        - i: float32
    value: {r: 1.0, i: -2.0}

  date:
    shape: [2]
    type: int64
    value: [0, -9223372036854775808]

  clock:
    shape: [1]
    type: uint32
    value: [7]

  bits:
    shape: [1]
    type: uint16
    value: [4660]

  wide:
    shape: [1]
    type: {opaque: {size: 3}}
    value: [\"0x010203\"]

  odd:
    shape: [1]
    type: int32
    value: [-7]
";
    assert_text(std::str::from_utf8(&out).unwrap(), expected);
}

#[test]
fn rejects_extensions_by_name() {
    let null = Ndarray { shape: Shape::Null, ..ndarray(INT8, &[], None) };
    let nothing = Attribute { shape: None, ..attribute(INT8, &[], bytes(&[])) };
    let dangling = references(vec![Reference::Dangling(8)]);
    for (node, reason) in [
        (Node::Ndarray(null), "/x: a null dataspace is an extension, NDL 0.6.1 does not define it"),
        (
            group(attributes([("a", nothing)])),
            "/x: attribute a: a null dataspace is an extension, NDL 0.6.1 does not define it",
        ),
        (
            array(Datatype::Float(Float::Half), &[0], bytes(&[])),
            "/x: float16 is an extension, NDL 0.6.1 does not define it",
        ),
        (
            array(Datatype::int(128, false), &[0], bytes(&[])),
            "/x: uint128 is an extension, NDL 0.6.1 does not define it",
        ),
        (
            array(Datatype::Nullable(Box::new(INT8)), &[0], bytes(&[])),
            "/x: a nullable type is an extension, NDL 0.6.1 does not define it",
        ),
        (
            array(Datatype::ObjRef, &[], dangling),
            "/x: a reference to neither an object nor a region of this file is an extension, NDL 0.6.1 does not define it",
        ),
    ] {
        let mut emitter = Emitter::new(Format::Yaml, PURE);
        let e = emitter.node(&path("/x"), &node).unwrap_err();
        assert_eq!((e.kind(), e.to_string().as_str()), (ErrorKind::Unsupported, reason));
    }
}

#[test]
fn declares_the_kind_of_selection_of_regions() {
    let selection = |of: Vec<Selection>| {
        let regions = of.into_iter().map(|one| Reference::Region(path("/x"), Arc::new(one))).collect();
        let mut emitter = Emitter::new(Format::Yaml, PURE);
        let node = array(Datatype::Vlen(Box::new(Datatype::RegRef)), &[0], references(regions));
        let node = match node {
            Node::Ndarray(mut ndarray) => {
                // All references are in one heap; each sequence has its own slots.
                let value = ndarray.value.take().unwrap();
                Node::Ndarray(Ndarray {
                    value: Some(hyperslab_model::Values { rows: Default::default(), ..value }),
                    ..ndarray
                })
            }
            node => node,
        };
        emitter.node(&path("/g"), &group(Attributes::default())).unwrap();
        emitter.node(&path("/g/r"), &node).map(|()| {
            let mut out = Vec::new();
            let head = Head { location: "a.h5", format: "hdf5", title: "HDF5", version: "0.1.0" };
            emitter.finish(&head, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            text.split("selection: ").nth(1).unwrap().split('}').next().unwrap().to_string()
        })
    };
    let block = || Selection::Region(Region::new(vec![0], vec![1]));
    let points = || Selection::Points { rank: 1, coordinates: vec![0] };
    assert_eq!(selection(vec![block(), block()]).unwrap(), "block");
    assert_eq!(selection(vec![points()]).unwrap(), "element");
    assert_eq!(selection(vec![]).unwrap(), "block");
    selection(vec![block(), points()]).unwrap_err();
    selection(vec![Selection::All]).unwrap_err();
}
