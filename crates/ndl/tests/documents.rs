//! The layout of documents, and the short and long forms of their parts.

use crate::build::*;
use half::f16;
use hyperslab_core::nd::{Region, Selection};
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, Result};
use hyperslab_model::{
    Attribute, Attributes, BoxedStorage, Datatype, Directive, Extent, Fill, Filter, Float, FloatFormat,
    Layout, NamedDatatype, Ndarray, Node, NodeKind, Normalization, Reference, ReferencedPart, Storage,
    TimeUnit, Unreadable,
};
use hyperslab_ndl::{Emitter, Format, Head, Options, StorageDetail};
use proptest::prelude::*;
use std::sync::Arc;

fn default(nodes: &[(&str, Node)]) -> String {
    yaml(Options::default(), nodes)
}

/// The lines below the key of a single attribute of the root group.
fn one_attribute(attribute: Attribute) -> String {
    let text = default(&[("/", group(attributes([("a", attribute)])))]);
    text.rsplit_once("attributes:\n  a: ").unwrap_or_else(|| panic!("{text}")).1.trim_end().to_string()
}

/// The lines of a single array of the root group, without its name.
fn one_array(node: Node) -> String {
    let text = default(&[("/a", node)]);
    let body = text.rsplit_once("ndarrays:\n  a:\n").unwrap_or_else(|| panic!("{text}")).1;
    body.lines().map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect()
}

fn array(datatype: Datatype, shape: &[u64], values: hyperslab_model::Values) -> Node {
    Node::Ndarray(ndarray(datatype, shape, Some(values)))
}

fn unreadable(found: Option<NodeKind>, reason: &'static str) -> Node {
    Node::Unreadable(Unreadable::new(found, &Error::malformed(reason)))
}

#[test]
fn lists_are_filled_and_continued_one_level_deeper() {
    let numbers_ = numbers(&std::array::from_fn::<i32, 60, _>(|i| i as i32));
    let expected = "\
shape: [60]
type: int32
value: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
  24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46,
  47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59]
";
    assert_text(&one_array(array(INT32, &[60], numbers_)), expected);
}

#[test]
fn rows_longer_than_a_line_keep_their_columns() {
    let values: Vec<i32> = (0..80).map(|i| if i < 40 { i } else { 1000 }).collect();
    let text = one_array(array(INT32, &[2, 40], numbers(&values)));
    let lines: Vec<_> = text.lines().skip(3).collect();
    assert_eq!(lines.len(), 6);
    assert!(lines[0].starts_with("  - [   0,    1,"), "{text}");
    assert!(lines[3].starts_with("  - [1000, 1000,"), "{text}");
    for (above, below) in lines.iter().zip(&lines[3..]) {
        assert_eq!(above.len(), below.len());
        assert!(above.len() + 4 <= 100);
    }
}

#[test]
fn a_long_attribute_becomes_a_block() {
    let words: Vec<String> = (0..20).map(|i| format!("word{i}")).collect();
    let bytes: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let text = default(&[("/", group(attributes([("a", attribute(STRING, &[20], texts(&bytes)))])))]);
    let expected = "
attributes:
  a:
    shape: [20]
    type: string
    value: [word0, word1, word2, word3, word4, word5, word6, word7, word8, word9, word10, word11,
      word12, word13, word14, word15, word16, word17, word18, word19]
";
    assert_text(&text, expected);
}

#[test]
fn folds_text_only_without_loss() {
    let words = "many words ".repeat(12);
    let folded = one_attribute(text(words.trim_end()));
    assert!(folded.starts_with(">-\n    many words many"), "{folded}");
    assert!(one_attribute(text(&words)).starts_with("\"many words"));
    assert!(one_attribute(text(&format!("two  spaces {words}."))).starts_with("two  spaces"));
    assert!(one_attribute(text(&"x".repeat(120))).starts_with("xxx"));
}

#[test]
fn writes_lines_of_text_below_each_other() {
    assert_eq!(one_attribute(text("a\nb")), "|-\n    a\n    b");
    assert_eq!(one_attribute(text("a\n  b\n")), "|\n    a\n      b");
    assert_eq!(one_attribute(text("a\n\tb\n")), "|\n    a\n    \tb");
    assert_eq!(one_attribute(text("a: 1\n# b\n--- c")), "|-\n    a: 1\n    # b\n    --- c");
    for escaped in [" a\nb", "a \nb", "a\nb\t\n", "\n", "a\r\nb"] {
        assert!(one_attribute(text(escaped)).starts_with('"'), "{escaped:?}");
    }
}

#[test]
fn adds_no_empty_line_after_text_that_ends_in_one() {
    let nodes = |first: &str| {
        [("/", group(attributes([("a", text(first))]))), ("/x", Node::Ndarray(ndarray(INT8, &[], None)))]
    };
    let rest = "ndarrays:\n  x:\n    shape: []\n    type: int8\n";
    assert_text(&default(&nodes("a\n\n")), &format!("\nattributes:\n  a: |+\n    a\n\n{rest}"));
    assert_text(&default(&nodes("a\n")), &format!("\nattributes:\n  a: |\n    a\n\n{rest}"));
    let group = [("/g", group(attributes([("a", text("a\n\n"))]))), ("/h", group(Attributes::default()))];
    assert_text(&default(&group), "\n/g:\n  attributes:\n    a: |+\n      a\n\n/h: {}\n");
}

#[test]
fn writes_groups_that_no_other_key_implies() {
    let empty = || group(Attributes::default());
    let full = || group(words(&[("a", "b")]));
    let text = default(&[
        ("/", empty()),
        ("/a", empty()),
        ("/c", empty()),
        ("/a/b", empty()),
        ("/d", full()),
        ("/d/e", unreadable(Some(NodeKind::Group), "bad link")),
    ]);
    let expected = "\n/c: {}\n\n/a/b: {}\n\n/d:\n  attributes:\n    a: b\n\n/d/e: {x-error: bad link}\n";
    assert_text(&text, expected);
    assert_text(&default(&[("/", empty())]), "\n{}\n");
    assert_text(&default(&[("/", full())]), "\nattributes:\n  a: b\n");
    assert_text(&default(&[("/", unreadable(None, "no root"))]), "\n/: {x-error: no root}\n");
}

#[test]
fn an_unreadable_group_follows_its_parent() {
    let text = default(&[
        ("/", group(words(&[("a", "b")]))),
        ("/g", unreadable(Some(NodeKind::Group), "bad")),
        ("/x", Node::Ndarray(ndarray(INT8, &[], None))),
    ]);
    let root = "/:\n  attributes:\n    a: b\n\n  ndarrays:\n    x:\n      shape: []\n      type: int8\n";
    assert_text(&text, &format!("\n{root}\n/g: {{x-error: bad}}\n"));
}

#[test]
fn an_unreadable_group_keeps_its_readable_members() {
    let nodes = |place| {
        [
            ("/", group(words(&[]))),
            (place, unreadable(Some(NodeKind::Group), "bad attribute")),
            (if place == "/g" { "/g/x" } else { "/x" }, Node::Ndarray(ndarray(INT8, &[], None))),
        ]
    };
    let text = default(&nodes("/g"));
    let group = "  ndarrays:\n    x:\n      shape: []\n      type: int8\n";
    assert_text(&text, &format!("\n/g:\n  x-error: bad attribute\n\n{group}"));
    let root = "ndarrays:\n  x:\n    shape: []\n    type: int8\n";
    assert_text(&default(&nodes("/")[1..]), &format!("\nx-error: bad attribute\n\n{root}"));
    let head = Head { location: "a", format: "hdf5", title: "HDF5", version: "0" };
    let json = emit(Format::Json, Options::default(), &head, &nodes("/g"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["/g"]["x-error"], &json["/g"]["ndarrays"]["x"]["type"]),
        (&"bad attribute".into(), &"int8".into())
    );
}

#[test]
fn attributes_of_unreadable_objects_are_shown() {
    let Node::Unreadable(what) = unreadable(Some(NodeKind::Ndarray), "no layout") else { panic!() };
    let what = Unreadable { attributes: words(&[("units", "m")]), ..what };
    let expected = "
ndarrays:
  bad:
    x-error: no layout
    attributes:
      units: m
";
    assert_text(&default(&[("/bad", Node::Unreadable(what))]), expected);
}

#[test]
fn unreadable_objects_keep_their_place() {
    let text = default(&[
        (
            "/",
            group(Attributes::from_iter([(
                "a".to_string(),
                Err(Unreadable::new(None, &Error::malformed("b"))),
            )])),
        ),
        ("/d", unreadable(Some(NodeKind::DimCoord), "no size")),
        ("/t", unreadable(Some(NodeKind::Datatype), "class 12: unknown")),
        ("/l", unreadable(Some(NodeKind::Link), "no target")),
        ("/x", unreadable(None, REASON)),
    ]);
    let expected = "
attributes:
  a: {x-error: b}

datatypes:
  t: {x-error: \"class 12: unknown\"}

dimcoords:
  d: {x-error: no size}

ndarrays:
  x:
    x-error: >-
      a reason that is told in so many words that there is no room for it on one line of a hundred
      columns

links:
  l: {x-error: no target}
";
    assert_text(&text, expected);
}

const REASON: &str = "a reason that is told in so many words that there is no room for it on one line of a \
                      hundred columns";

#[test]
fn shapes_name_the_right_dimcoord() {
    let dimension = || Node::DimCoord(dimcoord(Extent::Fixed(3), Some(INT8)));
    let along_ = |of: &[&str]| {
        let dims: Vec<_> = of.iter().map(|path| (Extent::Fixed(3), *path)).collect();
        Node::Ndarray(Ndarray { shape: along(&dims), ..ndarray(INT8, &[], None) })
    };
    let text = default(&[
        ("/", group(Attributes::default())),
        ("/x", dimension()),
        ("/10", dimension()),
        ("/g", group(Attributes::default())),
        ("/g/a", along_(&["/x", "/g/x", "/g/y", "/h/z", "/10", "/no, really"])),
        ("/g/x", dimension()),
        ("/g/h", group(Attributes::default())),
        ("/g/h/a", along_(&["/x", "/g/x", "/g/y"])),
    ]);
    assert!(text.contains("shape: [/x, x, y, /h/z, /10, \"no, really\"]\n"), "{text}");
    assert!(text.contains("shape: [/x, x, y]\n"), "{text}");
}

#[test]
fn attributes_are_short_if_the_value_gives_their_type() {
    let unsigned = |bits| Datatype::int(bits, false);
    for (attribute, expected) in [
        (attribute(INT32, &[], numbers(&[7])), "7"),
        (attribute(INT32, &[1], numbers(&[7])), "{shape: [1], type: int32, value: [7]}"),
        (attribute(INT16, &[], numbers(&[7_i16])), "{shape: [], type: int16, value: 7}"),
        (attribute(Datatype::int(64, true), &[], numbers(&[7_i64])), "{shape: [], type: int64, value: 7}"),
        (attribute(Datatype::int(64, true), &[], numbers(&[1_i64 << 31])), "2147483648"),
        (
            attribute(unsigned(64), &[], numbers(&[1_u64 << 62])),
            "{shape: [], type: uint64, value: 4611686018427387904}",
        ),
        (attribute(unsigned(64), &[], numbers(&[u64::MAX])), "18446744073709551615"),
        (attribute(unsigned(32), &[], numbers(&[7_u32])), "{shape: [], type: uint32, value: 7}"),
        (attribute(DOUBLE, &[], numbers(&[1.0])), "1.0"),
        (attribute(DOUBLE, &[], numbers(&[f64::NEG_INFINITY])), "-.inf"),
        (attribute(SINGLE, &[], numbers(&[0.1_f32])), "{shape: [], type: float32, value: 0.1}"),
        (text("1"), "\"1\""),
        (text(""), "\"\""),
        (attribute(STRING, &[0], bytes(&[])), "{shape: [0], type: string, value: []}"),
        (attribute(STRING, &[2], texts(&[b"a,", b"b"])), "{shape: [2], type: string, value: [\"a,\", b]}"),
        (
            attribute(STRING, &[2, 1], texts(&[b"a", b"b"])),
            "{shape: [2, 1], type: string, value: [[a], [b]]}",
        ),
        (attribute(STRING, &[], texts(&[b"\xff"])), "{shape: [], type: string, value: !!binary \"/w==\"}"),
        (attribute(Datatype::Bool, &[], bytes(&[1])), "{shape: [], type: bool, value: true}"),
        (
            attribute(Datatype::int(128, true), &[], numbers(&[-1_i128])),
            "{shape: [], type: int128, value: -1}",
        ),
    ] {
        assert_eq!(one_attribute(attribute), expected);
    }
}

#[test]
fn writes_the_length_of_netcdf_strings() {
    let nodes = [("/", group(attributes([("a", netcdf_string("b"))])))];
    let expected = "# extensions: length

attributes:
  a:
    shape: []
    type: string
    storage:
      length: variable
    value: b
";
    let netcdf = Options { texts_are_characters: true, ..Options::default() };
    assert_text(&yaml(netcdf, &nodes), expected);
    let none = Options { storage: StorageDetail::None, ..netcdf };
    assert_text(&yaml(none, &nodes), "\nattributes:\n  a: b\n");
    // In other formats, the short form is read as a string of variable length.
    assert_text(&default(&nodes), "\nattributes:\n  a: b\n");
}

#[test]
fn references_have_a_target_and_a_selection() {
    let x = || path("/x");
    let region = |selection| Reference::Region(x(), Arc::new(selection));
    let stepped = Region { start: vec![0, 1], count: vec![2, 2], step: vec![1, 3] };
    let endless = Region { start: vec![0], count: vec![1 << 40], step: vec![2] };
    let all = vec![
        Reference::Null,
        Reference::Object(path("/a, b")),
        Reference::Attribute(x(), "units".into()),
        Reference::Dangling(800),
        Reference::External { file: "o.h5".into(), address: 96, part: ReferencedPart::Object },
        Reference::External {
            file: "o.h5".into(),
            address: 96,
            part: ReferencedPart::Region(Arc::new(Selection::Region(Region::new(vec![1], vec![2])))),
        },
        Reference::External {
            file: "o.h5".into(),
            address: 96,
            part: ReferencedPart::Attribute("units".into()),
        },
        region(Selection::All),
        region(Selection::None),
        region(Selection::Region(Region::new(vec![], vec![]))),
        region(Selection::Region(Region::new(vec![u64::MAX], vec![1]))),
        region(Selection::Region(stepped)),
        region(Selection::Region(endless)),
        region(Selection::Blocks(vec![Region::new(vec![1], vec![2]), Region::new(vec![5], vec![1])])),
        region(Selection::Points { rank: 1, coordinates: vec![4, 2] }),
    ];
    let expected = "\
shape: [15]
type: reference
value:
  - null
  - /a, b
  - {target: /x, attribute: units}
  - {address: 800}
  - {file: o.h5, address: 96}
  - {file: o.h5, address: 96, start: [1], opposite: [2]}
  - {file: o.h5, address: 96, attribute: units}
  - {target: /x, all: true}
  - {target: /x, none: true}
  - {target: /x, start: [], opposite: []}
  - {target: /x, start: [18446744073709551615], opposite: [18446744073709551615]}
  - {target: /x, blocks: [{start: [0, 1], opposite: [1, 1]}, {start: [0, 4], opposite: [1, 4]}]}
  - {target: /x, start: [0], count: [1099511627776], step: [2]}
  - {target: /x, blocks: [{start: [1], opposite: [2]}, {start: [5], opposite: [5]}]}
  - {target: /x, elements: [[4], [2]]}
";
    assert_text(&one_array(array(Datatype::Reference, &[15], references(all))), expected);
}

#[test]
fn writes_types_of_single_formats() {
    let format = FloatFormat {
        bits: 8,
        sign: 7,
        exponent: (3, 4),
        mantissa: (0, 3),
        bias: 7,
        normalization: Normalization::Implied,
    };
    let time = |unit: &str, duration| Datatype::Datetime(TimeUnit { unit: unit.into(), duration });
    let nullable = |of| Datatype::Nullable(Box::new(of));
    for (node, expected) in [
        (
            array(Datatype::Float(Float::Other(format)), &[1], bytes(&[0x38])),
            "type: {float: {bits: 8, sign: 7, exponent: [3, 4], mantissa: [0, 3], bias: 7}}\nvalue: [\"0x38\"]\n",
        ),
        (
            array(Datatype::Float(Float::Quad), &[1], numbers(&[1_i128.to_le()])),
            "type: float128\nvalue: [\"0x01000000000000000000000000000000\"]\n",
        ),
        (
            array(Datatype::Complex(Float::Half), &[1], numbers(&[1.0, 0.1].map(f16::from_f64))),
            "type: {complex: {base: float16}}\nvalue:\n  - [1.0, 0.1]\n",
        ),
        (
            array(time("ms", false), &[2], numbers(&[0, i64::MIN])),
            "type: {datetime: {unit: ms}}\nvalue: [\"1970-01-01T00:00:00.000\", NaT]\n",
        ),
        (
            array(time("s", true), &[2], numbers(&[90_i64, i64::MIN])),
            "type: {timedelta: {unit: s}}\nvalue: [90, NaT]\n",
        ),
        (
            array(nullable(INT16), &[2], bytes(&[&[1][..], &7_i16.row(), &[0, 0, 0]].concat())),
            "type: {nullable: {base: int16}}\nvalue: [7, null]\n",
        ),
        (
            array(nullable(SINGLE), &[1], bytes(&[&[1][..], &0.1_f32.row()].concat())),
            "type: {nullable: {base: float32}}\nvalue: [0.1]\n",
        ),
        (
            array(Datatype::Bitfield { size: 2 }, &[1], bytes(&[0x34, 0x12])),
            "type: {bitfield: {size: 2}}\nvalue: [0x1234]\n",
        ),
        (array(Datatype::int(24, false), &[1], numbers(&[7_u32])), "type: uint24\nvalue: [7]\n"),
    ] {
        let text = one_array(node);
        assert_eq!(text.split_once('\n').unwrap().1, expected);
    }
}

#[test]
fn writes_one_sequence_per_line() {
    let words = sequences(16, &[]);
    let strings = Datatype::Vlen(Box::new(STRING));
    assert_eq!(
        one_array(array(strings, &[0], words)),
        "shape: [0]\ntype: {vlen: {base: string}}\nvalue: []\n"
    );
    let pair = Datatype::Compound(vec![member("x", INT8), member("y", INT8)]);
    let pairs = Datatype::Vlen(Box::new(pair));
    let expected = "\
shape: [1, 2]
type:
  vlen:
    base:
      compound:
        - x: int8
        - y: int8
value:
  - - [[1, 2], [3, 4]]
    - []
";
    assert_text(&one_array(array(pairs, &[1, 2], sequences(2, &[vec![1, 2, 3, 4], vec![]]))), expected);
}

#[test]
fn empty_arrays_keep_their_outer_lists() {
    assert!(one_array(array(INT8, &[2, 0], bytes(&[]))).ends_with("value:\n  - []\n  - []\n"));
    assert!(one_array(array(INT8, &[0, 2], bytes(&[]))).ends_with("value: []\n"));
}

#[test]
fn filters_are_as_short_as_they_can_be() {
    let text = |value: &str| Directive::Text(value.into());
    let named = |name: &str, main, parameters: &[(&str, Directive)]| Filter {
        name: name.into(),
        main,
        parameters: parameters.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
    };
    let filters = vec![
        named("shuffle", false, &[]),
        named("deflate", true, &[("level", Directive::Int(6))]),
        named("zstd", true, &[("level", Directive::Int(3)), ("checksum", Directive::Bool(true))]),
        named("shuffle", false, &[("bytes", Directive::Int(4))]),
        named(
            "hdf5",
            false,
            &[
                ("id", Directive::Int(40000)),
                ("name", text("ours, theirs")),
                ("values", Directive::List(vec![Directive::Int(1), Directive::Int(2)])),
            ],
        ),
    ];
    let node = || {
        let storage = Storage {
            filters: filters.clone(),
            fill: Fill::Undefined,
            layout: Some(Layout::Virtual),
            native: vec![
                ("zarr", vec![("order".into(), text("F"))]),
                ("hdf5", vec![("mtime".into(), Directive::Int(1)), ("raw".into(), Directive::Map(vec![]))]),
            ],
            ..Storage::default()
        };
        Node::Ndarray(Ndarray { storage: storage.into(), ..ndarray(INT8, &[3], None) })
    };
    let expected = "\
shape: [3]
type: int8
storage:
  filter: [shuffle, {deflate: 6}, {zstd: {level: 3, checksum: true}}, {shuffle: {bytes: 4}},
    {hdf5: {id: 40000, name: \"ours, theirs\", values: [1, 2]}}]
  fillvalue: null
  layout: virtual
  hdf5: {mtime: 1, raw: {}}
  zarr: {order: F}
";
    assert_text(&one_array(node()), expected);
    let head = Head { location: "a", format: "hdf5", title: "HDF5", version: "0.1.0" };
    let json = emit(Format::Json, Options::default(), &head, &[("/a", node())]);
    assert!(json.contains("{\"shuffle\": {}}, {\"deflate\": {\"level\": 6}}, {\"zstd\": "), "{json}");
}

#[test]
fn named_types_may_be_keywords() {
    let named = |datatype, attributes| {
        Node::Datatype(NamedDatatype {
            datatype: Arc::new(datatype),
            attributes,
            storage: BoxedStorage::default(),
        })
    };
    let opaque = Datatype::Opaque { size: 4, tag: String::new() };
    let text = default(&[
        ("/plain", named(DOUBLE, words(&[]))),
        ("/noted", named(DOUBLE, words(&[("a", "b")]))),
        ("/blob", named(opaque, words(&[]))),
    ]);
    let expected = "# extensions: datatypes

datatypes:
  plain: float64

  noted:
    type: float64
    attributes:
      a: b

  blob:
    opaque: {size: 4}
";
    assert_text(&text, expected);
}

#[test]
fn json_writes_bytes_that_are_not_text() {
    let head = Head { location: "a \"b\"\n", format: "hdf5", title: "HDF5", version: "0.1.0" };
    let nodes = [
        ("/", group(attributes([("a", attribute(STRING, &[2], texts(&[b"\x01\"\\", b"\xff\x00"])))]))),
        ("/x", array(Datatype::Bitfield { size: 2 }, &[], bytes(&[0x34, 0x12]))),
    ];
    let text = emit(Format::Json, Options::default(), &head, &nodes);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["x-hyperslab"]["location"], "a \"b\"\n");
    let values = &json["/"]["attributes"]["a"]["value"];
    assert_eq!((&values[0], &values[1]["x-bytes"]), (&"\u{1}\"\\".into(), &"0xff00".into()));
    assert_eq!(json["/"]["ndarrays"]["x"]["value"], "0x1234");
    let comment = emit(Format::Yaml, Options::default(), &head, &nodes);
    assert!(comment.starts_with("# NDL 0.6.1, described from a \"b\"\u{fffd} (HDF5)\n"), "{comment}");
}

fn any_text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "word",
        "two words",
        ": ",
        "\n",
        "\n\n",
        "#",
        ",",
        "]",
        "?",
        "é",
        "\t",
        "12",
    ]);
    prop::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

fn finished(emitter: Emitter, format: Format) -> Result<String> {
    let head = Head { location: "a", format: "hdf5", title: "HDF5", version: "0" };
    let mut out = Vec::new();
    emitter.finish(&head, &mut out)?;
    let text = String::from_utf8(out).unwrap();
    Ok(match format {
        Format::Yaml => text.split_once("\n\n").unwrap().1.to_string(),
        Format::Json => text,
    })
}

proptest! {
    /// The root group is written before its indentation is known.
    #[test]
    fn moving_the_root_changes_nothing_but_indentation(
        given in prop::collection::vec((any_text(), any_text()), 0..6),
        rows in prop::collection::vec(any::<f32>(), 0..80),
    ) {
        let root = || {
            let of = given.iter().map(|(name, value)| (name.as_str(), text(value)));
            group(attributes(of))
        };
        let row = || array(SINGLE, &[rows.len() as u64], numbers(&rows));
        let other = || group(Attributes::default());
        let mut late = Emitter::new(Format::Yaml, Options::default());
        let mut early = Emitter::new(Format::Yaml, Options::default());
        for (place, node) in [("/", root()), ("/row", row()), ("/zz", other())] {
            late.node(&path(place), &node).unwrap();
        }
        // After a group that comes before the root, the root is written as a group with a path.
        for (place, node) in [("/zz", other()), ("/", root()), ("/row", row())] {
            early.node(&path(place), &node).unwrap();
        }
        let (late, early) = (finished(late, Format::Yaml).unwrap(), finished(early, Format::Yaml).unwrap());
        prop_assert_eq!(late.strip_suffix("\n/zz: {}\n"), early.strip_prefix("/zz: {}\n\n"));
    }

    #[test]
    fn lines_end_at_column_100(
        short in prop::collection::vec("[a-z,é]{1,20}", 1..60),
        wide in prop::collection::vec(any::<f64>(), 24),
        nested in any::<bool>(),
    ) {
        let bytes: Vec<&[u8]> = short.iter().map(|text| text.as_bytes()).collect();
        let count = short.len() as u64;
        let members = short.iter().map(|name| member(name, STRING)).collect();
        let sequence = sequences(16, &[texts(&bytes).rows.to_vec()]);
        let heap = texts(&bytes).heap;
        let sequence = hyperslab_model::Values {
            heap: Heap { buffers: [heap.buffers, sequence.heap.buffers].concat(), ..Heap::default() },
            rows: Slot { buffer: 1, count: short.len() as u32, offset: 0 }.to_bytes().to_vec().into(),
        };
        let words: Vec<&str> = short.iter().map(String::as_str).collect();
        let mut nodes = vec![
            ("/", group(attributes([
                ("list", attribute(STRING, &[count], texts(&bytes))),
                ("words", text(&words.join(" "))),
            ]))),
            ("/list", array(STRING, &[count], texts(&bytes))),
            ("/table", array(DOUBLE, &[2, 12], numbers(&wide))),
            ("/compound", array(Datatype::Compound(members), &[1], texts(&bytes))),
            ("/vlen", array(Datatype::Vlen(Box::new(STRING)), &[1], sequence)),
        ];
        if nested {
            nodes.push(("/group", group(Attributes::default())));
        }
        for line in default(&nodes).lines().filter(|line| !line.starts_with('#')) {
            prop_assert!(line.chars().count() <= 100 || !line.trim().contains(' '), "{}", line);
            prop_assert!(!line.ends_with(' '), "{}", line);
        }
    }

    #[test]
    fn json_holds_every_text(given in prop::collection::vec(any::<String>(), 0..6)) {
        let of = given.iter().map(|value| (value.as_str(), text(value)));
        let mut emitter = Emitter::new(Format::Json, Options::default());
        emitter.node(&path("/"), &group(attributes(of))).unwrap();
        let json: serde_json::Value = serde_json::from_str(&finished(emitter, Format::Json).unwrap()).unwrap();
        for value in &given {
            prop_assert_eq!(&json["/"]["attributes"][value]["value"], value);
        }
    }
}
