//! A hierarchy whose groups share the dimcoords of the root, with storage directives of one format.

use crate::build::*;
use hyperslab_model::{
    Attributes, Datatype, Directive, Extent, Fill, Filter, Group, Ndarray, Node, Storage, Values,
};
use hyperslab_ndl::{Format, Head, Options, StorageDetail};

const TIME: (Extent, &str) = (Extent::Limited { current: 3, max: 10_000 }, "/time");
const BUOY: (Extent, &str) = (Extent::Fixed(2), "/buoy");

fn filters() -> Vec<Filter> {
    vec![filter("shuffle", &[]), filter("zstd", &[("level", 5)])]
}

fn tiledb(name: &str, value: &str) -> Vec<(&'static str, Vec<(String, Directive)>)> {
    vec![("tiledb", vec![(name.to_string(), Directive::Text(value.into()))])]
}

fn coordinate(size: Extent, datatype: Datatype, attributes: Attributes, value: Values, chunk: u64) -> Node {
    let name = if chunk == 2 { "buoy.data" } else { "time.data" };
    let storage = Storage {
        chunk: Some(vec![chunk]),
        filters: filters(),
        native: tiledb("attribute", name),
        ..Storage::default()
    };
    Node::DimCoord(hyperslab_model::DimCoord {
        attributes,
        storage: storage.into(),
        value: Some(value),
        ..dimcoord(size, Some(datatype))
    })
}

fn data(dims: &[(Extent, &str)], chunk: &[u64], attributes: Attributes, value: Values) -> Node {
    let storage = Storage {
        chunk: Some(chunk.to_vec()),
        filters: filters(),
        fill: Fill::Value(numbers(&[-999_f32])),
        ..Storage::default()
    };
    Node::Ndarray(Ndarray {
        shape: along(dims),
        attributes,
        storage: storage.into(),
        ..ndarray(SINGLE, &[], Some(value))
    })
}

#[test]
fn yaml_is_the_golden_document() {
    let valid_min = attribute(SINGLE, &[], numbers(&[-2_f32]));
    let root = Group {
        attributes: words(&[("title", "two moored buoys"), ("Conventions", "CF-1.11")]),
        storage: Storage { native: tiledb("dataspace", "0.3.0"), ..Storage::default() }.into(),
        ..Group::default()
    };
    let frequency = (Extent::Fixed(3), "/waves/frequency");
    let spectrum: [f32; 18] = std::array::from_fn(|i| i as f32);
    let nodes = vec![
        ("/", Node::Group(root)),
        (
            "/time",
            coordinate(
                TIME.0,
                DOUBLE,
                words(&[("units", "hours since 2026-02-01"), ("calendar", "standard")]),
                numbers(&[0.0, 6.0, 12.0]),
                1000,
            ),
        ),
        (
            "/buoy",
            coordinate(BUOY.0, INT32, words(&[("long_name", "WMO number")]), numbers(&[46001, 46035]), 2),
        ),
        (
            "/sst",
            data(
                &[TIME, BUOY],
                &[1000, 2],
                attributes([("units", text("degC")), ("valid_min", valid_min)]),
                numbers(&[5.5_f32, 6.0, 5.25, 6.5, 5.0, 6.25]),
            ),
        ),
        ("/waves", group(words(&[("instrument", "motion sensor")]))),
        ("/waves/frequency", Node::DimCoord(dimcoord(frequency.0, None))),
        (
            "/waves/height",
            data(
                &[TIME, BUOY],
                &[1000, 2],
                words(&[("units", "m"), ("standard_name", "sea_surface_wave_significant_height")]),
                numbers(&[1.5_f32, 2.0, 1.75, 2.5, 3.0, 4.5]),
            ),
        ),
        (
            "/waves/spectrum",
            data(&[TIME, BUOY, frequency], &[1000, 2, 3], words(&[("units", "m2 s")]), numbers(&spectrum)),
        ),
    ];
    let head = Head {
        location: "buoys.tdb",
        format: "tiledb",
        title: "TileDB-CF dataspace 0.3.0",
        version: "0.1.0",
    };
    let options = Options {
        values: Some(u64::MAX),
        storage: StorageDetail::Brief,
        pure: false,
        texts_are_characters: false,
    };
    assert_text(&emit(Format::Yaml, options, &head, &nodes), include_str!("golden/buoys.yaml"));
}
