//! Round trips of documents: text to content, and back to the same text.

use crate::build::*;
use hyperslab_model::{Content, Node, compare};
use hyperslab_ndl::{Format, Head, Options, ParseOptions, Parsed, Severity, StorageDetail, parse};

/// Reads a text that must have no errors.
fn clean(text: &str) -> Parsed {
    let parsed = parse(text.as_bytes(), &ParseOptions::default());
    let shown: Vec<String> =
        parsed.diagnostics.iter().map(|one| one.render("text", text.as_bytes(), false)).collect();
    assert!(shown.is_empty(), "{}", shown.concat());
    parsed
}

/// The objects that were read, in the order of the document.
fn nodes(parsed: &Parsed) -> Vec<(&str, Node)> {
    parsed.order.iter().map(|path| (path.as_str(), parsed.content.nodes.get(path).unwrap().clone())).collect()
}

/// Reads a golden document and writes it again with the same head.
fn returns(text: &str, head: &Head<'_>, values: bool, texts_are_characters: bool) {
    let parsed = clean(text);
    assert_eq!(parsed.order.len(), parsed.content.nodes.len());
    let options = Options {
        values: values.then_some(u64::MAX),
        storage: StorageDetail::Brief,
        pure: false,
        texts_are_characters,
    };
    assert_text(&emit(Format::Yaml, options, head, &nodes(&parsed)), text);
}

fn head<'a>(location: &'a str, format: &'a str, title: &'a str) -> Head<'a> {
    Head { location, format, title, version: "0.1.0" }
}

#[test]
fn everything_is_read_as_it_was_built() {
    let parsed = clean(include_str!("golden/everything.yaml"));
    let built = crate::everything::nodes().into_iter().map(|(at, node)| (path(at), node)).collect();
    let shown: Vec<String> =
        compare(&Content { nodes: built }, &parsed.content).iter().map(ToString::to_string).collect();
    assert_eq!(shown, Vec::<String>::new());
}

#[test]
fn everything_round_trips() {
    returns(include_str!("golden/everything.yaml"), &head("everything.h5", "hdf5", "HDF5"), true, false);
}

#[test]
fn ocean_round_trips() {
    returns(include_str!("golden/ocean.yaml"), &head("ocean.nc", "netcdf4", "NetCDF-4"), false, true);
}

#[test]
fn buoys_round_trip() {
    returns(
        include_str!("golden/buoys.yaml"),
        &head("buoys.tdb", "tiledb", "TileDB-CF dataspace 0.3.0"),
        true,
        false,
    );
}

#[test]
fn grid_round_trips() {
    returns(
        include_str!("golden/grid.yaml"),
        &head("grid.tdb", "tiledb", "TileDB, dense array"),
        true,
        false,
    );
}

#[test]
fn observations_round_trip() {
    let head = head("observations.tdb", "tiledb", "TileDB, sparse array");
    returns(include_str!("golden/observations.yaml"), &head, true, false);
}

#[test]
fn sharded_round_trips() {
    returns(include_str!("golden/sharded.yaml"), &head("sharded.zarr", "zarr3", "Zarr v3"), true, false);
}

#[test]
fn json_is_the_same_document() {
    for (yaml, json) in [
        (include_str!("golden/everything.yaml"), include_str!("golden/everything.json")),
        (include_str!("golden/ocean.yaml"), include_str!("golden/ocean.json")),
    ] {
        let (yaml, json) = (clean(yaml), clean(json));
        let shown: Vec<String> =
            compare(&yaml.content, &json.content).iter().map(ToString::to_string).collect();
        assert_eq!(shown, Vec::<String>::new());
        assert_eq!(yaml.order, json.order);
    }
}

/// The documents of the language's author are not part of this repository. In CI they must be present.
#[test]
fn the_authors_documents_are_read() {
    let folder = std::env::var("HYPERSLAB_NDL_EXAMPLES")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/spec/examples").into());
    if !std::path::Path::new(&folder).join("cf.yaml").exists() {
        assert!(
            !std::env::var("CI").is_ok_and(|value| value == "true"),
            "{folder} holds no cf.yaml; HYPERSLAB_NDL_EXAMPLES names the folder"
        );
        return;
    }
    let read = |name: &str| std::fs::read_to_string(std::path::Path::new(&folder).join(name)).unwrap();
    clean(&read("cf.yaml"));
    clean(&read("hdf-eos5.yaml"));
    let jpss = read("jpss.yaml");
    let parsed = parse(jpss.as_bytes(), &ParseOptions::default());
    let errors = parsed.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let found: Vec<_> = errors.map(|one| (one.line, one.rule)).collect();
    let shown: Vec<String> =
        parsed.diagnostics.iter().map(|one| one.render("jpss.yaml", jpss.as_bytes(), false)).collect();
    assert_eq!(found, [(222, "ndl/value-shape"), (504, "ndl/value-shape")], "{}", shown.concat());
    assert_eq!(found.len(), parsed.diagnostics.len(), "{}", shown.concat());
}

/// Reads every construct of the specification of the language, section by section.
#[test]
fn every_construct_of_the_specification_is_read() {
    let types = [
        "string",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float32",
        "float64",
        "objref",
        "\n        opaque:\n          size: 512\n          tag: image/jpeg",
        "\n        enum:\n          base: int16\n          members:\n            EAST: 0\n            WEST: 300\n            NORTH: -7",
        "\n        enum:\n          members:\n            NO: 0\n            YES: 1\n            UNKNOWN: 254",
        "\n        regref:\n          selection: block",
        "\n        regref:\n          selection: element",
        "\n        compound:\n          - lat: float32\n          - n: int16\n          - lon: float64",
        "\n        vlen:\n          base: int16",
        "\n        array:\n          base: float64\n          shape: [2, 4]",
    ];
    for datatype in types {
        for shape in ["[4, 5]", "\n        - 4\n        - 5", "[null, 5]", "[]"] {
            let text = format!("ndarrays:\n  a:\n    shape: {shape}\n    type: {datatype}\n");
            assert_eq!(clean(&text).order.len(), 2, "{text}");
        }
    }
    clean(
        "attributes:\n\n  long:\n    shape: []\n    type: string\n    value: Grüße\n\n  n:\n    shape: []\n    type: int32\n    value: 7\n\n  short: Grüße\n\n  m: 7\n\n  list:\n    shape: [2]\n    type: string\n    value: [switched on, failure]\n",
    );
    clean(
        "dimcoords:\n\n  t:\n    size: null\n    type: float64\n\n    attributes:\n      long_name: time\n\n  h:\n    size: 3\n    type: float32\n    value: [0.5, 1.0, 1.5]\n\n    attributes:\n      long_name: height\n",
    );
    clean(
        "ndarrays:\n\n  wind:\n    shape:\n      - 5\n      - 6\n    type:\n      compound:\n        - u: float32\n        - v: float32\n\n    attributes:\n        what: wind\n",
    );
    let groups = "/:\n  attributes:\n    a: of the root\n\n  dimcoords:\n    y:\n      size: 15\n      type: float32\n\n  ndarrays:\n    m:\n      shape: [19, 4]\n      type: float64\n\n/one:\n  dimcoords:\n    x:\n      size: null\n      type: float32\n\n/two/inner:\n  attributes:\n    b: of the inner\n\n  ndarrays:\n    k:\n      shape:\n        - /one/x\n        - /y\n      type: int8\n      storage:\n        shape: [7, 15]\n        chunk: [7, 5]\n        filter: [shuffle, deflate]\n        endian: big\n        fillvalue: -1\n";
    let parsed = clean(groups);
    let paths: Vec<&str> = parsed.order.iter().map(|path| path.as_str()).collect();
    assert_eq!(paths, ["/", "/y", "/m", "/one", "/one/x", "/two", "/two/inner", "/two/inner/k"]);
}
