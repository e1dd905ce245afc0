//! A sparse TileDB array: dimensions of strings and times, values as cells.

use crate::build::*;
use hyperslab_model::{
    Cells, CharacterSet, Column, Datatype, DimCoord, Directive, ElementStorage, Extent, Filter, Group,
    Ndarray, Node, Pad, Storage, Values,
};
use hyperslab_ndl::{Emitter, Format, Head, Options, StorageDetail};
use std::sync::Arc;

const STATION: (Extent, &str) = (Extent::Uncounted, "/station");
const TIME: (Extent, &str) = (Extent::Fixed(87_649), "/time");
const HEAD: Head<'_> =
    Head { location: "observations.tdb", format: "tiledb", title: "TileDB, sparse array", version: "0.1.0" };
const VALUES: Options = Options {
    values: Some(u64::MAX),
    storage: StorageDetail::Brief,
    pure: false,
    texts_are_characters: false,
};

/// Hours since 1970 at the beginning of 2020, at the end of 2029, and of the first observation.
const BEGIN: i64 = 438_288;
const END: i64 = 525_936;
const FIRST: i64 = 491_646;

fn filters(first: &[&str]) -> Vec<Filter> {
    let first = first.iter().map(|name| filter(name, &[]));
    first.chain([filter("zstd", &[("level", 3)])]).collect()
}

fn column(name: &str, datatype: Datatype, values: Values) -> Column {
    Column { name: name.into(), datatype: Arc::new(datatype), values }
}

fn sparse(columns: Vec<Column>) -> Group {
    Group { cells: Some(Cells { columns }), ..Group::default() }
}

fn nodes() -> Vec<(&'static str, Node)> {
    let array = [("array", word("sparse")), ("capacity", Directive::Int(1000))];
    let root = Group {
        attributes: words(&[("title", "surface observations")]),
        storage: Storage { native: native("tiledb", &array), ..Storage::default() }.into(),
        ..sparse(vec![
            column("station", STRING, texts(&[b"bergen", b"bergen", b"oslo"])),
            column("time", time("h"), numbers(&[FIRST, FIRST + 6, FIRST])),
            column("temperature", SINGLE, numbers(&[4.5_f32, 5.25, -3.0])),
            column("remark", STRING, texts(&[b"", b"gale, NW", b"no"])),
        ])
    };
    let ascii = ElementStorage { charset: Some(CharacterSet::Ascii), ..ElementStorage::default() };
    let station = Storage { filters: filters(&["dictionary"]), element: ascii, ..Storage::default() };
    let hours = Storage {
        filters: filters(&["doubledelta"]),
        domain: Some(numbers(&[BEGIN, END])),
        tile: Some(numbers(&[720_i64])),
        ..Storage::default()
    };
    let over = |datatype| Ndarray { shape: along(&[STATION, TIME]), ..ndarray(datatype, &[], None) };
    let temperature = Ndarray {
        attributes: words(&[("units", "degC")]),
        storage: Storage { filters: filters(&[]), ..Storage::default() }.into(),
        ..over(SINGLE)
    };
    vec![
        ("/", Node::Group(root)),
        (
            "/station",
            Node::DimCoord(DimCoord { storage: station.into(), ..dimcoord(STATION.0, Some(STRING)) }),
        ),
        ("/time", Node::DimCoord(DimCoord { storage: hours.into(), ..dimcoord(TIME.0, Some(time("h"))) })),
        ("/temperature", Node::Ndarray(temperature)),
        ("/remark", Node::Ndarray(over(STRING))),
    ]
}

#[test]
fn yaml_is_the_golden_document() {
    assert_text(&emit(Format::Yaml, VALUES, &HEAD, &nodes()), include_str!("golden/observations.yaml"));
}

#[test]
fn json_is_the_golden_document() {
    assert_text(&emit(Format::Json, VALUES, &HEAD, &nodes()), include_str!("golden/observations.json"));
}

#[test]
fn tiles_and_domains_of_numbers_are_numbers() {
    let storage = Storage {
        domain: Some(numbers(&[-180.0, 180.0])),
        tile: Some(numbers(&[0.25])),
        ..Storage::default()
    };
    let lon =
        Node::DimCoord(DimCoord { storage: storage.into(), ..dimcoord(Extent::Uncounted, Some(DOUBLE)) });
    let text = yaml(VALUES, &[("/lon", lon)]);
    assert!(text.starts_with("# extensions: domain\n"), "{text}");
    assert!(text.ends_with("    storage:\n      domain: [-180.0, 180.0]\n      tile: 0.25\n"), "{text}");
}

#[test]
fn an_array_without_cells_has_none() {
    let none = || vec![("/g", Node::Group(sparse(vec![column("x", DOUBLE, bytes(&[]))])))];
    let expected = "# extensions: cells\n\n/g:\n  cells:\n    columns: [x]\n    rows: []\n";
    assert_text(&yaml(VALUES, &none()), expected);
    let json = emit(Format::Json, VALUES, &HEAD, &none());
    assert!(json.contains("\"columns\": [\"x\"],\n      \"rows\": []\n    }"), "{json}");
}

#[test]
fn fills_lines_with_cells_of_any_type() {
    let pair = Datatype::Compound(vec![member("n", INT8), member("z", Datatype::Nullable(Box::new(INT8)))]);
    let long = "word ".repeat(25);
    let columns = vec![
        column("t", fixed(4, Pad::Nul), bytes(b"a\nb\0none")),
        column("long", STRING, texts(&[long.trim().as_bytes(), b""])),
        column("pair", pair, bytes(&[1, 0, 7, 2, 1, 8])),
    ];
    let text = yaml(VALUES, &[("/g", Node::Group(sparse(columns)))]);
    let expected = format!(
        "# extensions: cells\n\n/g:\n  cells:\n    columns: [t, long, pair]\n    rows:\n      - [\"a\\nb\",\n        {},\n        [1, null]]\n      - [none, \"\", [2, 8]]\n",
        long.trim()
    );
    assert_text(&text, &expected);
}

#[test]
fn columns_are_of_equal_length() {
    let columns = || vec![column("x", DOUBLE, numbers(&[1.0, 2.0])), column("v", INT8, numbers(&[1_i8]))];
    let mut emitter = Emitter::new(Format::Yaml, VALUES);
    let e = emitter.node(&path("/g"), &Node::Group(sparse(columns()))).unwrap_err();
    assert_eq!(e.to_string(), "/g: cells: 1 values of v, expected 2");
    let broken = vec![column("x", Datatype::Vlen(Box::new(INT8)), texts(&[b"ab"]))];
    let broken =
        sparse(broken.into_iter().map(|c| Column { datatype: Arc::new(Datatype::ObjRef), ..c }).collect());
    emitter.node(&path("/g"), &Node::Group(broken)).unwrap_err();
}

#[test]
fn rejects_cells_in_pure_mode() {
    let mut emitter = Emitter::new(Format::Yaml, Options { pure: true, ..VALUES });
    emitter.node(&path("/g"), &Node::Group(sparse(vec![column("x", DOUBLE, numbers(&[1.0]))]))).unwrap();
    assert_eq!(emitter.notes(), ["/g: values of sparse arrays are left out"]);
    let mut out = Vec::new();
    emitter.finish(&HEAD, &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().ends_with("\n\n/g: {}\n"));
}
