//! Output of selected values.

use crate::{open, targets};
use hyperslab::model::Element;
use hyperslab::select::{FullLength, Select};
use hyperslab::show::{Shown, show};
use hyperslab::{ErrorKind, File, Result, Source, ndl};

fn shown(source: &dyn Source, path: &str, selections: &[&str]) -> Result<Shown> {
    let selections = selections.iter().map(|text| text.parse()).collect::<Result<Vec<_>>>()?;
    show(source, &targets(source, path)?[0], &selections)
}

fn values(name: &str, path: &str, selections: &[&str]) -> String {
    let shown = shown(&*open(name), path, selections).unwrap();
    shown.elements().map(ndl::plain).collect::<Vec<_>>().join(" ")
}

fn axes(shown: &Shown) -> Vec<(String, Vec<String>)> {
    shown.axes.iter().map(|axis| (axis.name.clone(), axis.labels().collect())).collect()
}

#[test]
fn positions_ranges_and_lists_select_along_their_dimension() {
    let temperature = |t: i64, z: i64, y: i64, x: i64| (600 + 45 * t - 70 * z + 20 * y - 9 * x).to_string();
    let all = |picks: &[[i64; 4]]| {
        picks.iter().map(|[t, z, y, x]| temperature(*t, *z, *y, *x)).collect::<Vec<_>>().join(" ")
    };
    let of = |selections: &[&str]| values("ocean.nc", "/temperature", selections);
    assert_eq!(of(&["8,0,-1,7"]), all(&[[8, 0, 2, 7]]));
    assert_eq!(of(&["::4,0,0,1"]), all(&[[0, 0, 0, 1], [4, 0, 0, 1], [8, 0, 0, 1]]));
    assert_eq!(of(&["time=1,lon=-2:", "depth=2", "lat=0"]), all(&[[1, 2, 0, 6], [1, 2, 0, 7]]));
    // A list keeps its order and may repeat positions.
    let listed = all(&[[2, 0, 1, 5], [2, 0, 1, 0], [2, 0, 1, 5]]);
    assert_eq!(of(&["time=2,depth=0,lat=1,lon=[5,0,-3]"]), listed);
    let crossed = [[0, 1, 0, 3], [0, 1, 2, 3], [8, 1, 0, 3], [8, 1, 2, 3]];
    assert_eq!(of(&["time=[0,8],depth=1,lat=[0,2],lon=3"]), all(&crossed));
    assert_eq!(of(&["...,2:2"]), "");
}

#[test]
fn lists_of_positions_also_select_texts_and_references() {
    assert_eq!(values("ocean.nc", "/remark", &["[4,1]"]), "Ålesund buoy lost no");
    let picked = values("datatypes.h5", "/references/object", &["[2,0]"]);
    let whole = values("datatypes.h5", "/references/object", &[]);
    let whole: Vec<_> = whole.split(' ').collect();
    assert_eq!(picked.split(' ').collect::<Vec<_>>(), [whole[2], whole[0]]);
}

#[test]
fn remaining_and_dropped_dimensions_are_labelled() {
    let source = open("ocean.nc");
    let found = shown(&*source, "/temperature", &["time=2,lat=1,lon=[3,0]"]).unwrap();
    let depths: Vec<String> = ["0.0", "10.0", "25.0", "60.0", "150.0"].map(str::to_owned).to_vec();
    let expected = [("depth".to_owned(), depths), ("lon".to_owned(), vec!["8.75".into(), "8.0".into()])];
    assert_eq!(axes(&found), expected);
    let fixed: Vec<_> = found.fixed.iter().map(|axis| (axis.name.as_str(), axis.label(0).unwrap())).collect();
    assert_eq!(fixed, [("time", "336.0".to_owned()), ("lat", "58.0".to_owned())]);
    assert_eq!(found.extents(), [5, 2]);
    let found = shown(&*source, "/temperature", &["time=2,lat=1,lon=[3,0],depth=1::3"]).unwrap();
    assert_eq!(axes(&found)[0].1, ["10.0", "150.0"]);
}

#[test]
fn dimensions_without_coordinates_are_labelled_by_position() {
    let found = shown(&*open("unlimited.nc"), "/grid", &["1:,-1"]).unwrap();
    assert_eq!(axes(&found), [("profile".to_owned(), vec!["1".into(), "2".into(), "3".into()])]);
    let found = shown(&*open("h5netcdf_style.h5"), "/bare", &["0,3:"]).unwrap();
    assert_eq!(axes(&found), [("[1]".to_owned(), vec!["3".into(), "4".into()])]);
}

#[test]
fn attributes_are_shown_completely() {
    let source = open("ocean.nc");
    let found = shown(&*source, "/temperature@valid_range", &[]).unwrap();
    assert_eq!(found.elements().map(ndl::plain).collect::<Vec<_>>(), ["-700", "2600"]);
    assert_eq!(found.name, "/temperature@valid_range");
    let error = shown(&*source, "/temperature@unit", &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("did you mean /temperature@units?"), "{error}");
    let error = shown(&*source, "/temperature@units", &["0"]).unwrap_err();
    assert!(error.to_string().contains("a part of an attribute cannot be selected"), "{error}");
}

#[test]
fn objects_without_values_give_an_error() {
    for (name, path, part) in [
        ("ocean.nc", "/waves", "a group has no values"),
        ("ocean.nc", "/flag_t", "a datatype has no values"),
        ("ocean.nc", "/waves/direction", "a dimension without values"),
        ("datatypes.h5", "/links/soft", "a link has no values of its own"),
        ("hdf5/reading.h5", "/external", "its external data file elsewhere.raw is missing"),
        ("hdf5/reading.h5", "/unknown_filter", "filter 32007 (JPEG-XR)"),
    ] {
        let error = shown(&*open(name), path, &[]).unwrap_err();
        assert!(error.to_string().contains(part), "{path}: {error}");
    }
}

#[test]
fn a_null_dataspace_is_shown_as_nothing() {
    let source = open("datatypes.h5");
    let found = shown(&*source, "/layouts/null", &[]).unwrap();
    assert!(found.is_null && found.axes.is_empty() && found.elements().len() == 0);
    let error = shown(&*source, "/layouts/null", &["0"]).unwrap_err();
    assert!(error.to_string().contains("a part of a null dataspace cannot be selected"), "{error}");
}

#[test]
fn enumerations_show_their_names() {
    let source = open("nested_groups.nc");
    let found = shown(&*source, "/inner/deep/zone", &["2"]).unwrap();
    let name = found.elements().map(|element| match element.get() {
        Element::Enum(value, name) => (value, name.map(str::to_owned)),
        other => panic!("{other:?}"),
    });
    assert_eq!(name.collect::<Vec<_>>(), [(1000, Some("abyss".to_owned()))]);
}

#[test]
fn rejects_arrays_much_larger_than_their_file_but_shows_parts_of_them() {
    let source = crate::open("own/odd.h5");
    for path in ["/vast_empty", "/vast_unwritten", "/@vast_empty"] {
        let error = shown(&*source, path, &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{path}: {error}");
    }
    assert_eq!(values("own/odd.h5", "/vast_unwritten", &["-3:"]), "0.0 0.0 0.0");
    assert_eq!(shown(&*source, "/vast_empty", &["5:9"]).unwrap().extents(), [4, 0]);
    assert_eq!(shown(&*source, "/small_empty", &[]).unwrap().extents(), [3, 0]);
}

#[test]
fn dimensions_without_coordinates_are_labelled_with_positions() {
    // The scale of `fixed` stores zeros, and the array `lat` is not the coordinate of its dimension.
    let source = open("unlimited.nc");
    let found = shown(&*source, "/cube", &["0,:,0"]).unwrap();
    assert_eq!(axes(&found), [("fixed".to_owned(), vec!["0".to_owned(), "1".to_owned()])]);
    let source = open("own/dimensions.nc");
    let found = shown(&*source, "/t", &["0,0,:"]).unwrap();
    assert_eq!(axes(&found), [("lon".to_owned(), ["0", "1", "2"].map(str::to_owned).to_vec())]);
    let error = shown(&*source, "/at_height", &["height==2"]).unwrap_err();
    assert!(error.to_string().contains("have 0 dimensions, expected 1"), "{error}");
}

/// netCDF4 shows the same, which `xtask/oracles/dimensions.py` verifies.
#[test]
fn arrays_at_full_length_have_fill_values_behind_their_records() {
    let source = open("unlimited.nc");
    assert!(source.dialect().fills_to_length);
    let of = |source: &dyn Source, selections: &[&str]| {
        let shown = shown(source, "/short", selections).unwrap();
        shown.elements().map(ndl::plain).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of(&*source, &[]), "1.5 2.5");
    let full = FullLength::shared(source.clone());
    assert_eq!(of(&*full, &[]), "1.5 2.5 -1.0 -1.0 -1.0");
    assert_eq!(of(&*full, &["time=-1"]), "-1.0");
    assert_eq!(of(&*full, &["time=[4,0]"]), "-1.0 1.5");
    // Other arrays are unchanged, and so is this array in the underlying source.
    let file = File::from(full);
    assert_eq!(file.array("/grid").unwrap().shape(), [4, 3]);
    assert_eq!(file.array("/cube").unwrap().shape(), [5, 2, 3]);
    let cube = file.array("/cube").unwrap().read::<u8>(&Select::all()).unwrap();
    assert_eq!(cube[..18], (0..18).collect::<Vec<_>>());
    assert_eq!(cube[18..], [255; 12]);
    assert_eq!(File::from(source).array("/short").unwrap().shape(), [2]);
}

#[test]
fn a_store_of_one_array_has_its_dimension_names() {
    let source = open("tides.zarr/level");
    let shown = shown(&*source, "/", &["time=0"]).unwrap();
    assert_eq!(shown.fixed.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>(), ["time"]);
    assert_eq!(shown.axes.len(), 1);
}
