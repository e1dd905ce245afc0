//! The NetCDF view of HDF5 files: dimensions, types, fill values and hidden bookkeeping attributes.

use crate::{description, find, open, open_raw, open_storage};
use hyperslab::describe::DescribeOptions;
use hyperslab::digest::lines;
use hyperslab::list::{shape_label, type_label};
use hyperslab::model::{Attributes, DimCoord, Extent, Fill, Ndarray, Node, NodeKind};
use hyperslab::{Item, NodePath, OpenOptions, Source};
use std::fs;
use tempfile::TempDir;

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

/// The shape of an array as the paths of its dimensions.
fn shape(source: &dyn Source, path: &str) -> Vec<String> {
    let shape = ndarray(source, path).shape;
    let of = |path: Option<&hyperslab::NodePath>| path.map_or("-".to_owned(), ToString::to_string);
    shape.dims().iter().map(|dimension| of(dimension.coordinate.as_ref())).collect()
}

fn label(source: &dyn Source, path: &str) -> (String, String) {
    let Item::Array { shape, .. } = find(source, path).item else { panic!("{path} is not an array") };
    let mut text = String::new();
    shape_label(&shape, &mut text);
    (type_label(&find(source, path).item).into_owned(), text)
}

fn names(attributes: &Attributes) -> Vec<&str> {
    attributes.keys().map(String::as_str).collect()
}

#[test]
fn scales_are_dimension_coordinates() {
    let source = open("ocean.nc");
    assert_eq!(source.format(), "NetCDF-4");
    let lat = dimcoord(&*source, "/lat");
    assert_eq!((lat.size, lat.datatype.is_some()), (Extent::Fixed(3), true));
    let bound = dimcoord(&*source, "/bound");
    assert_eq!((bound.size, bound.datatype.is_none()), (Extent::Fixed(2), true));
    assert!(bound.attributes.is_empty() && bound.storage.layout.is_none());
    assert_eq!(shape(&*source, "/temperature"), ["/time", "/depth", "/lat", "/lon"]);
    assert_eq!(shape(&*source, "/waves/buoys/position"), ["/waves/buoys/buoy", "/bound"]);
}

#[test]
fn variables_have_the_dimensions_in_scope_of_their_group() {
    let source = open("nested_groups.nc");
    assert_eq!(shape(&*source, "/inner/own_x"), ["/inner/x"]);
    assert_eq!(shape(&*source, "/beside/root_x"), ["/x", "/y"]);
    assert_eq!(shape(&*source, "/inner/deep/both"), ["/inner/deep/z", "/inner/x"]);
    // The variable has the name of a dimension of the parent group, but a different dimension.
    assert_eq!(shape(&*source, "/inner/deep/x"), ["/inner/deep/z"]);
}

#[test]
fn unlimited_dimensions_are_as_long_as_their_longest_variable() {
    let source = open("unlimited.nc");
    for (path, current) in [("/time", 5), ("/profile", 4), ("/level", 3), ("/never", 0)] {
        assert_eq!(dimcoord(&*source, path).size, Extent::Unlimited { current }, "{path}");
    }
    assert_eq!(label(&*source, "/profile").1, "[4/inf]");
    assert_eq!(label(&*source, "/cube").1, "[time=3/inf, fixed=2, level=3/inf]");
    assert_eq!(label(&*source, "/short"), ("float32".into(), "[time=2/inf]".into()));
}

#[test]
fn scales_of_other_software_also_name_dimensions() {
    let source = open("h5netcdf_style.h5");
    assert_eq!(source.format(), "HDF5");
    assert_eq!(shape(&*source, "/both"), ["/lat", "/lon"]);
    assert_eq!(shape(&*source, "/only_first"), ["/lat", "-"]);
    assert_eq!(shape(&*source, "/group/above"), ["/lon"]);
    // A scale with two dimensions is not the coordinate of one dimension.
    assert_eq!(find(&*source, "/surface").handle.path.name(), "surface");
    assert_eq!(ndarray(&*source, "/surface").shape.dims().len(), 2);
}

#[test]
fn user_types_are_named_where_they_are_used() {
    let source = open("nested_groups.nc");
    for (path, datatype) in [
        ("/home", "/place_t"),
        ("/tracks", "/track_t"),
        ("/paint", "/colour_t"),
        ("/inner/deep/zone", "/inner/deep/depth_t"),
    ] {
        assert_eq!(label(&*source, path).0, datatype);
    }
    assert_eq!(label(&*open("ocean.nc"), "/temperature_flag").0, "/flag_t");
}

#[test]
fn bookkeeping_attributes_are_hidden_except_in_raw_mode() {
    let source = open("ocean.nc");
    let folded = ndarray(&*source, "/waves/energy");
    assert_eq!(names(&folded.attributes), ["units"]);
    assert!(
        !names(source.load(&find(&*source, "/").handle).unwrap().attributes().unwrap())
            .contains(&"_NCProperties")
    );
    let raw = open_raw("ocean.nc");
    assert_eq!(raw.format(), "HDF5");
    let root = raw.load(&find(&*raw, "/").handle).unwrap();
    assert!(root.attributes().unwrap().contains_key("_NCProperties"));
    let energy = ndarray(&*raw, "/waves/energy");
    assert!(energy.attributes.contains_key("DIMENSION_LIST") && energy.attributes.contains_key("units"));
    let lat = ndarray(&*raw, "/lat");
    for name in ["CLASS", "NAME", "REFERENCE_LIST", "_Netcdf4Dimid"] {
        assert!(lat.attributes.contains_key(name), "{name}");
    }
    assert_eq!(shape(&*raw, "/temperature"), ["-", "-", "-", "-"]);
}

#[test]
fn fill_values_are_described_once() {
    let source = open("ocean.nc");
    for path in ["/temperature", "/salinity", "/crs", "/remark", "/waves/height"] {
        assert!(matches!(ndarray(&*source, path).storage.fill, Fill::Default), "{path}");
    }
    let temperature = ndarray(&*source, "/temperature");
    assert!(temperature.attributes.contains_key("_FillValue"));
    assert!(matches!(ndarray(&*open_raw("ocean.nc"), "/temperature").storage.fill, Fill::Value(_)));
    let source = open("datatypes.h5");
    assert!(matches!(ndarray(&*source, "/layouts/unwritten").storage.fill, Fill::Value(_)));
}

#[test]
fn texts_stay_strings_or_characters_as_written() {
    let (text, errors) = description(&*open("strings.nc"), "/", &DescribeOptions::default());
    assert!(errors.is_empty());
    assert!(text.contains("one_string"), "{text}");
    let source = open("strings.nc");
    assert_eq!(shape(&*source, "/chars"), ["/row", "/width"]);
    let root = source.load(&find(&*source, "/").handle).unwrap();
    let attribute = |name: &str| root.attributes().unwrap()[name].as_ref().unwrap().clone();
    assert_eq!(attribute("plain").shape, Some(vec![]));
    assert_eq!(attribute("one_string").shape, Some(vec![]));
    assert_eq!(attribute("many_strings").shape, Some(vec![4]));
}

#[test]
fn attributes_that_only_have_names_of_bookkeeping_are_kept() {
    let source = open("own/odd.h5");
    assert_eq!(names(&ndarray(&*source, "/lists_numbers").attributes), ["DIMENSION_LIST"]);
    assert_eq!(names(&ndarray(&*source, "/labels").attributes), ["DIMENSION_LABELS"]);
    let mut half = ndarray(&*source, "/half_a_scale").attributes;
    half.sort_keys();
    assert_eq!(names(&half), ["CLASS", "NAME"]);
    assert_eq!(shape(&*source, "/grid/grid"), ["/grid/lat"]);
    assert!(ndarray(&*source, "/grid/grid").attributes.is_empty());
}

#[test]
fn an_array_outlives_its_list_of_dimensions() {
    let mut bytes = std::fs::read(crate::path("own/odd.h5")).unwrap();
    let at = bytes.windows(4).position(|window| window == b"GCOL").unwrap();
    bytes[at] = b'X';
    let source = open_storage(bytes::Bytes::from(bytes)).unwrap();
    let found = find(&*source, "/grid/grid");
    assert!(matches!(found.item, Item::Array { kind: NodeKind::Ndarray, .. }), "{:?}", found.item);
    let grid = ndarray(&*source, "/grid/grid");
    assert_eq!(shape(&*source, "/grid/grid"), ["-"]);
    assert!(grid.attributes["DIMENSION_LIST"].is_err());
    let (_, errors) = description(&*source, "/grid", &DescribeOptions::default());
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].object(), Some("/grid/grid@DIMENSION_LIST"));
}

#[test]
fn zero_fill_values_that_are_not_the_netcdf_default_are_described() {
    let source = open("own/zeros.nc");
    assert_eq!(source.format(), "NetCDF-4");
    let is_said = |path: &str| matches!(ndarray(&*source, path).storage.fill, Fill::Value(_));
    assert_eq!(["/plain", "/never"].map(is_said), [true, false]);
    let options = DescribeOptions { values: Some(10), ..DescribeOptions::default() };
    let (text, errors) = description(&*source, "/", &options);
    assert!(errors.is_empty(), "{errors:?}");
    let folder = TempDir::new().unwrap();
    let document = folder.path().join("zeros.yaml");
    fs::write(&document, text).unwrap();
    let digests = |source: &dyn Source| {
        let lines = lines(source, &NodePath::root()).unwrap();
        lines.iter().map(|line| line.to_json()).collect::<Vec<_>>()
    };
    assert_eq!(digests(&*hyperslab::open(&document, &OpenOptions::default()).unwrap()), digests(&*source));
}

#[test]
fn dimensions_keep_their_names_beside_variables_that_are_not_their_coordinates() {
    let source = open("own/dimensions.nc");
    let members = |path: &str| {
        let members = source.members(&find(&*source, path).handle).unwrap();
        members.iter().map(|entry| entry.handle.path.name().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(members("/"), ["lat", "lon", "strlen", "height", "time", "t", "at_height", "child"]);
    assert_eq!(members("/child"), ["station", "value"]);
    for (path, dims, dimension) in [
        ("/lat", &["/lat", "/lon"][..], Some(Extent::Fixed(2))),
        ("/lon", &["/lat", "/lon"], Some(Extent::Fixed(3))),
        ("/strlen", &["/lon"], Some(Extent::Fixed(4))),
        ("/height", &[], Some(Extent::Fixed(5))),
        ("/time", &["/time", "/strlen"], Some(Extent::Unlimited { current: 3 })),
        ("/t", &["/time", "/lat", "/lon"], None),
        ("/at_height", &["/height"], None),
        ("/child/station", &["/child/station", "/strlen"], Some(Extent::Fixed(2))),
        ("/child/value", &["/child/station", "/lon"], None),
    ] {
        assert_eq!(shape(&*source, path), dims, "{path}");
        assert_eq!(ndarray(&*source, path).dimension, dimension, "{path}");
    }
    // The raw view shows the names stored in the file.
    let raw = open_raw("own/dimensions.nc");
    assert!(raw.find(&NodePath::new("/_nc4_non_coord_lon").unwrap()).is_ok());
}

#[test]
fn a_dimension_and_an_array_of_one_name_survive_a_document() {
    let source = open("own/dimensions.nc");
    let options = DescribeOptions { values: Some(100), ..DescribeOptions::default() };
    let (text, errors) = description(&*source, "/", &options);
    assert!(errors.is_empty(), "{errors:?}");
    assert!(text.contains("    lat:\n      size: 2\n"), "{text}");
    let folder = TempDir::new().unwrap();
    let document = folder.path().join("dimensions.yaml");
    fs::write(&document, &text).unwrap();
    let again = hyperslab::open(&document, &OpenOptions::default()).unwrap();
    for path in ["/lat", "/lon", "/strlen", "/height", "/time", "/t", "/child/station"] {
        assert_eq!(ndarray(&*again, path).shape, ndarray(&*source, path).shape, "{path}");
        assert_eq!(ndarray(&*again, path).dimension, ndarray(&*source, path).dimension, "{path}");
    }
    let digests = |source: &dyn Source| {
        let lines = lines(source, &NodePath::root()).unwrap();
        let mut lines: Vec<_> = lines.iter().map(|line| line.to_json()).collect();
        lines.sort();
        lines
    };
    assert_eq!(digests(&*again), digests(&*source));
}

#[test]
fn attributes_without_elements_are_empty_texts_and_lists() {
    let source = open("own/dimensions.nc");
    let root = source.load(&find(&*source, "/").handle).unwrap();
    let shape = |name: &str| root.attributes().unwrap()[name].as_ref().unwrap().shape.clone();
    assert_eq!(shape("empty_text"), Some(vec![]));
    assert_eq!(shape("empty_list"), Some(vec![0]));
    let raw = open_raw("own/dimensions.nc");
    let root = raw.load(&find(&*raw, "/").handle).unwrap();
    assert_eq!(root.attributes().unwrap()["empty_text"].as_ref().unwrap().shape, None);
}

#[test]
fn files_of_old_libraries_are_recognised_by_their_scales() {
    let source = open("own/old.nc");
    assert_eq!(source.format(), "NetCDF-4");
    // As in files with the marks of the NetCDF library, the fill value is the NetCDF default.
    assert!(matches!(ndarray(&*source, "/v").storage.fill, Fill::Default));
    assert_eq!(ndarray(&*source, "/v").attributes["_FillValue"].as_ref().unwrap().shape, Some(vec![]));
}
