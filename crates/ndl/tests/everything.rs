//! An HDF5 file with one of everything.

use crate::build::*;
use half::{bf16, f16};
use hyperslab_core::nd::{Region, Selection};
use hyperslab_model::{
    Attribute, ByteOrder, CharacterSet, Datatype, Dimension, ElementStorage, Extent, Fill, Float, Layout,
    Length, Link, NamedDatatype, Ndarray, Node, Pad, Reference, Shape, Storage, Values,
};
use hyperslab_ndl::{Format, Head, Options, StorageDetail};
use std::sync::Arc;

fn array(datatype: Datatype, shape: &[u64], value: Values) -> Node {
    Node::Ndarray(ndarray(datatype, shape, Some(value)))
}

fn stored(datatype: Datatype, shape: &[u64], storage: Storage, value: Values) -> Node {
    Node::Ndarray(Ndarray { storage: storage.into(), ..ndarray(datatype, shape, Some(value)) })
}

fn elements(element: ElementStorage) -> Storage {
    Storage { element, ..Storage::default() }
}

fn big() -> ElementStorage {
    ElementStorage { endian: Some(ByteOrder::Big), ..ElementStorage::default() }
}

fn little() -> ElementStorage {
    ElementStorage { endian: Some(ByteOrder::Little), ..ElementStorage::default() }
}

fn fixed_text(charset: CharacterSet, len: u32, pad: Pad) -> ElementStorage {
    ElementStorage {
        charset: Some(charset),
        length: Some(Length::Fixed(len)),
        pad: Some(pad),
        ..ElementStorage::default()
    }
}

fn point() -> Datatype {
    Datatype::Compound(vec![member("x", SINGLE), member("y", INT32), member("label", fixed(4, Pad::Nul))])
}

fn point_storage() -> ElementStorage {
    ElementStorage {
        offsets: Some(vec![0, 8, 12]),
        itemsize: Some(16),
        members: vec![
            ("x".into(), little()),
            ("y".into(), big()),
            ("label".into(), fixed_text(CharacterSet::Ascii, 4, Pad::Nul)),
        ],
        ..ElementStorage::default()
    }
}

fn concat(parts: &[&[u8]]) -> Values {
    bytes(&parts.concat())
}

fn numeric() -> Vec<(&'static str, Node)> {
    let narrow = ElementStorage { precision: Some(12), offset: Some(2), ..little() };
    vec![
        ("/int8", array(INT8, &[3], numbers(&[-128_i8, 0, 127]))),
        ("/uint64", array(Datatype::int(64, false), &[2], numbers(&[0, u64::MAX]))),
        ("/int32_big", stored(INT32, &[3], elements(big()), numbers(&[1, -2, 3]))),
        ("/uint12", stored(Datatype::int(16, false), &[2], elements(narrow), numbers(&[4095_u16, 7]))),
        (
            "/float16",
            array(Datatype::Float(Float::Half), &[3], numbers(&[0.1, -2.0, 65504.0].map(f16::from_f64))),
        ),
        (
            "/float32",
            array(
                SINGLE,
                &[7],
                numbers(&[0.1, f32::INFINITY, -f32::INFINITY, f32::NAN, -0.0, 1e-45, 1.5e20]),
            ),
        ),
        ("/float64_big", stored(DOUBLE, &[2], elements(big()), numbers(&[0.1, 1e300]))),
        ("/bfloat16", array(Datatype::Float(Float::BFloat), &[2], numbers(&[1.0, -2.5].map(bf16::from_f64)))),
        ("/complex", array(Datatype::Complex(Float::Single), &[2], numbers(&[1.0_f32, 2.0, -0.0, -0.5]))),
        ("/time", array(Datatype::Time { bits: 32 }, &[1], numbers(&[1_767_225_600_u32]))),
        ("/bitfield", array(Datatype::Bitfield { size: 1 }, &[2], bytes(&[0xa5, 0x0f]))),
    ]
}

fn textual() -> Vec<(&'static str, Node)> {
    let strings = ["Ηελλο ωορλδ", "no", "", "two\nlines", "2026-02-03", "a: b, c"];
    let variable = ElementStorage {
        charset: Some(CharacterSet::Utf8),
        length: Some(Length::Variable),
        pad: Some(Pad::NulTerminated),
        ..ElementStorage::default()
    };
    vec![
        ("/string", stored(STRING, &[6], elements(variable), texts(&strings.map(str::as_bytes)))),
        (
            "/nullterm",
            stored(
                fixed(6, Pad::NulTerminated),
                &[],
                elements(fixed_text(CharacterSet::Ascii, 6, Pad::NulTerminated)),
                bytes(b"ab\0\0\0\0"),
            ),
        ),
        (
            "/nullpad",
            stored(
                fixed(6, Pad::Nul),
                &[],
                elements(fixed_text(CharacterSet::Utf8, 6, Pad::Nul)),
                bytes("å∂c".as_bytes()),
            ),
        ),
        (
            "/spacepad",
            stored(
                fixed(6, Pad::Space),
                &[2],
                elements(fixed_text(CharacterSet::Ascii, 6, Pad::Space)),
                bytes(b"ab    abcdef"),
            ),
        ),
        ("/opaque", array(Datatype::Opaque { size: 4, tag: "image/png".into() }, &[], bytes(b"\x89PNG"))),
    ]
}

fn composed() -> Vec<(&'static str, Node)> {
    let at = Datatype::Compound(vec![member("lat", DOUBLE), member("lon", DOUBLE)]);
    let rgb = Datatype::Array { base: Box::new(Datatype::int(8, false)), shape: vec![3] };
    let nested = Datatype::Compound(vec![
        member("at", at),
        member("rgb", rgb),
        member("ok", enumeration(&[("no", 0), ("yes", 1)])),
    ]);
    let points =
        [1.5_f32.row(), 2.row(), b"ab\0\0".to_vec(), (-1_f32).row(), 3.row(), b"cd\0\0".to_vec()].concat();
    let sequence = |numbers: &[i32]| numbers.iter().flat_map(Row::row).collect::<Vec<u8>>();
    vec![
        ("/bool", array(enumeration(&[("FALSE", 0), ("TRUE", 1)]), &[2], bytes(&[1, 0]))),
        (
            "/enum",
            array(
                enumeration(&[("UP", 0), ("DOWN", 25), ("CENTER", -120)]),
                &[4],
                numbers(&[0_i8, 25, -120, 7]),
            ),
        ),
        ("/points", array(Datatype::Named(path("/point_t"), Arc::new(point())), &[2], bytes(&points))),
        ("/nested", array(nested, &[], concat(&[&45.5_f64.row(), &(-150.25_f64).row(), &[1, 2, 3], &[1]]))),
        (
            "/vlen",
            array(
                Datatype::Vlen(Box::new(INT32)),
                &[3],
                sequences(4, &[sequence(&[1, 2]), sequence(&[]), sequence(&[3])]),
            ),
        ),
        (
            "/array",
            array(
                Datatype::Array { base: Box::new(SINGLE), shape: vec![2, 2] },
                &[2],
                numbers(&[1_f32, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
            ),
        ),
        ("/scalar", array(DOUBLE, &[], numbers(&[6.02214076e23]))),
        (
            "/compact",
            stored(
                INT16,
                &[2, 2],
                Storage { layout: Some(Layout::Compact), ..Storage::default() },
                numbers(&[1_i16, 2, 3, 4]),
            ),
        ),
        (
            "/unwritten",
            Node::Ndarray(Ndarray {
                storage: Storage { fill: Fill::Value(numbers(&[-1])), ..Storage::default() }.into(),
                ..ndarray(INT32, &[5], None)
            }),
        ),
        ("/zero", array(SINGLE, &[0, 3], bytes(&[]))),
    ]
}

fn referring() -> Vec<(&'static str, Node)> {
    let m = || path("/grid/m");
    let block = Selection::Region(Region::new(vec![0, 1], vec![2, 2]));
    let points = Selection::Points { rank: 2, coordinates: vec![0, 0, 2, 3] };
    vec![
        (
            "/objref",
            array(
                Datatype::ObjRef,
                &[3],
                references(vec![Reference::Object(m()), Reference::Object(path("/grid")), Reference::Null]),
            ),
        ),
        (
            "/regref",
            array(
                Datatype::RegRef,
                &[3],
                references(vec![
                    Reference::Region(m(), Arc::new(block)),
                    Reference::Region(m(), Arc::new(points)),
                    Reference::Null,
                ]),
            ),
        ),
    ]
}

fn grid() -> Vec<(&'static str, Node)> {
    let main = attribute(Datatype::ObjRef, &[], references(vec![Reference::Object(path("/grid/m"))]));
    let slash = attribute(INT16, &[2], numbers(&[1_i16, 2]));
    let filters = vec![filter("shuffle", &[]), filter("deflate", &[("level", 6)]), filter("fletcher32", &[])];
    let m = Ndarray {
        shape: Shape::Dims(vec![
            Dimension { extent: Extent::Unlimited { current: 3 }, coordinate: None },
            Dimension { extent: Extent::Fixed(4), coordinate: None },
        ]),
        storage: Storage {
            chunk: Some(vec![2, 4]),
            filters,
            fill: Fill::Value(numbers(&[65535_u16])),
            ..Storage::default()
        }
        .into(),
        ..ndarray(
            Datatype::int(16, false),
            &[],
            Some(numbers(&std::array::from_fn::<u16, 12, _>(|i| i as u16))),
        )
    };
    vec![
        ("/grid", group(attributes([("main", main), ("name/with/slash", slash)]))),
        ("/grid/m", Node::Ndarray(m)),
    ]
}

pub(crate) fn nodes() -> Vec<(&'static str, Node)> {
    let nothing = Attribute { shape: None, ..attribute(SINGLE, &[], bytes(&[])) };
    let named = NamedDatatype {
        datatype: Arc::new(point()),
        attributes: words(&[("origin", "lower left")]),
        storage: elements(point_storage()).into(),
    };
    let mut nodes = vec![
        ("/", group(attributes([("title", text("one of each")), ("nothing", nothing)]))),
        ("/point_t", Node::Datatype(named)),
    ];
    nodes.extend(numeric());
    nodes.extend(textual());
    nodes.extend(composed());
    nodes.extend(referring());
    nodes.extend(grid());
    nodes.push(("/empty", group(attributes([]))));
    nodes.push(("/links", group(attributes([]))));
    let link = |link| Node::Link(link);
    nodes.extend([
        ("/links/hard", link(Link::Hard(path("/grid/m")))),
        ("/links/soft", soft("/grid/m")),
        ("/links/dangling", soft("/no/such")),
        ("/links/external", link(Link::External { file: "other.h5".into(), path: "/data".into() })),
        ("/links/up", link(Link::Hard(path("/")))),
    ]);
    nodes
}

const HEAD: Head<'_> = Head { location: "everything.h5", format: "hdf5", title: "HDF5", version: "0.1.0" };
const VALUES: Options = Options {
    values: Some(u64::MAX),
    storage: StorageDetail::Brief,
    pure: false,
    texts_are_characters: false,
};

#[test]
fn yaml_is_the_golden_document() {
    assert_text(&emit(Format::Yaml, VALUES, &HEAD, &nodes()), include_str!("golden/everything.yaml"));
}

#[test]
fn json_is_the_golden_document() {
    assert_text(&emit(Format::Json, VALUES, &HEAD, &nodes()), include_str!("golden/everything.json"));
}

#[test]
fn full_storage_writes_defaults() {
    let full = emit(Format::Yaml, Options { storage: StorageDetail::Full, ..VALUES }, &HEAD, &nodes());
    assert!(full.contains("charset: utf-8\n        length: variable\n        pad: nullterm\n"), "{full}");
    assert!(full.contains("          x: {endian: little}\n"), "{full}");
    let none = emit(Format::Yaml, Options { storage: StorageDetail::None, ..VALUES }, &HEAD, &nodes());
    assert!(!none.contains("storage:"), "{none}");
}
