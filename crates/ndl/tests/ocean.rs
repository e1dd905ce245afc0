//! A NetCDF-4 file: dimensions with and without coordinates, packing, characters and strings.

use crate::build::*;
use hyperslab_model::{
    Attribute, BoxedStorage, CharacterSet, Datatype, ElementStorage, Extent, Length, NamedDatatype, Node,
    Pad, Storage,
};
use hyperslab_ndl::{Format, Head, Options};
use std::sync::Arc;

const TIME: (Extent, &str) = (Extent::Unlimited { current: 4 }, "/time");
const DEPTH: (Extent, &str) = (Extent::Fixed(3), "/depth");
const LAT: (Extent, &str) = (Extent::Fixed(4), "/lat");
const LON: (Extent, &str) = (Extent::Fixed(6), "/lon");

fn quality() -> Datatype {
    let values = enumeration(&[("good", 0), ("suspect", 1), ("bad", 2), ("missing", 9)]);
    Datatype::Named(path("/qc_t"), Arc::new(values))
}

fn short(value: i16) -> Attribute {
    attribute(INT16, &[], numbers(&[value]))
}

fn single(value: f32) -> Attribute {
    attribute(SINGLE, &[], numbers(&[value]))
}

fn double(value: f64) -> Attribute {
    attribute(DOUBLE, &[], numbers(&[value]))
}

fn variable(
    datatype: Datatype,
    dims: &[(Extent, &str)],
    attributes: hyperslab_model::Attributes,
    storage: Storage,
) -> Node {
    Node::Ndarray(hyperslab_model::Ndarray {
        shape: along(dims),
        attributes,
        storage: storage.into(),
        ..ndarray(datatype, &[], None)
    })
}

fn chunked(chunk: &[u64]) -> Storage {
    Storage { chunk: Some(chunk.to_vec()), ..Storage::default() }
}

fn dimension(size: Extent, datatype: Option<Datatype>, of: &[(&str, &str)], storage: Storage) -> Node {
    Node::DimCoord(hyperslab_model::DimCoord {
        attributes: words(of),
        storage: storage.into(),
        ..dimcoord(size, datatype)
    })
}

pub(crate) fn nodes() -> Vec<(&'static str, Node)> {
    let deflated = |chunk: &[u64], checksum: bool| {
        let mut filters = vec![filter("shuffle", &[]), filter("deflate", &[("level", 4)])];
        filters.extend(checksum.then(|| filter("fletcher32", &[])));
        Storage { filters, ..chunked(chunk) }
    };
    let root = attributes([
        ("title", text("Gulf of Alaska, ten-day mean")),
        ("Conventions", text("CF-1.11")),
        ("history", text("2026-02-01 regridded\n2026-02-03 packed to int16\n")),
        (
            "summary",
            text(
                "Temperature and salinity of the upper 200 m, averaged over ten days and gridded at one \
                 degree. Made as an example; the numbers follow a formula and mean nothing.",
            ),
        ),
        ("release", short(3)),
        ("date_created", text("2026-02-03")),
    ]);
    let named = NamedDatatype {
        datatype: Arc::new(quality().resolved().clone()),
        attributes: attributes([]),
        storage: BoxedStorage::default(),
    };
    let temperature = attributes([
        ("_FillValue", short(-32768)),
        ("standard_name", text("sea_water_temperature")),
        ("units", text("degC")),
        ("scale_factor", single(0.01)),
        ("add_offset", single(5.0)),
        ("valid_range", attribute(INT16, &[2], numbers(&[-700_i16, 3000]))),
        ("grid_mapping", text("crs")),
        ("ancillary_variables", text("quality")),
    ]);
    let salinity = attributes([
        ("_FillValue", single(f32::NAN)),
        ("standard_name", text("sea_water_salinity")),
        ("units", text("1")),
    ]);
    let crs = attributes([
        ("grid_mapping_name", text("latitude_longitude")),
        ("semi_major_axis", double(6_378_137.0)),
        ("inverse_flattening", double(298.257223563)),
    ]);
    let characters = ElementStorage {
        charset: Some(CharacterSet::Ascii),
        length: Some(Length::Fixed(1)),
        ..ElementStorage::default()
    };
    vec![
        ("/", group(root)),
        ("/qc_t", Node::Datatype(named)),
        (
            "/time",
            dimension(
                TIME.0,
                Some(DOUBLE),
                &[
                    ("units", "days since 2026-01-01"),
                    ("calendar", "standard"),
                    ("bounds", "time_bnds"),
                    ("axis", "T"),
                ],
                chunked(&[512]),
            ),
        ),
        (
            "/depth",
            dimension(
                DEPTH.0,
                Some(SINGLE),
                &[("units", "m"), ("positive", "down"), ("axis", "Z")],
                Storage::default(),
            ),
        ),
        (
            "/lat",
            dimension(LAT.0, Some(SINGLE), &[("units", "degrees_north"), ("axis", "Y")], Storage::default()),
        ),
        (
            "/lon",
            dimension(LON.0, Some(SINGLE), &[("units", "degrees_east"), ("axis", "X")], Storage::default()),
        ),
        ("/nv", dimension(Extent::Fixed(2), None, &[], Storage::default())),
        ("/strlen", dimension(Extent::Fixed(8), None, &[], Storage::default())),
        ("/time_bnds", variable(DOUBLE, &[TIME, (Extent::Fixed(2), "/nv")], words(&[]), chunked(&[512, 2]))),
        (
            "/temperature",
            variable(INT16, &[TIME, DEPTH, LAT, LON], temperature, deflated(&[1, 3, 4, 6], true)),
        ),
        ("/salinity", variable(SINGLE, &[TIME, DEPTH, LAT, LON], salinity, deflated(&[2, 3, 4, 6], false))),
        (
            "/quality",
            variable(
                quality(),
                &[LAT, LON],
                words(&[("long_name", "quality of the profile")]),
                Storage::default(),
            ),
        ),
        ("/crs", variable(INT32, &[], crs, Storage::default())),
        (
            "/basin",
            variable(
                fixed(1, Pad::NulTerminated),
                &[LAT, (Extent::Fixed(8), "/strlen")],
                words(&[]),
                Storage { element: characters, ..Storage::default() },
            ),
        ),
        ("/ship", variable(STRING, &[TIME], words(&[]), chunked(&[1024]))),
    ]
}

pub(crate) const HEAD: Head<'_> =
    Head { location: "ocean.nc", format: "netcdf4", title: "NetCDF-4", version: "0.1.0" };

#[test]
fn yaml_is_the_golden_document() {
    assert_text(&emit(Format::Yaml, Options::default(), &HEAD, &nodes()), include_str!("golden/ocean.yaml"));
}

#[test]
fn json_is_the_golden_document() {
    let text = emit(Format::Json, Options::default(), &HEAD, &nodes());
    assert_text(&text, include_str!("golden/ocean.json"));
}
