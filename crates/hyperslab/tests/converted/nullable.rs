//! Nullable arrays as pairs of arrays in formats without nullable types.

use super::{converted, digests, open, same};
use hyperslab::convert::{ConvertOptions, Parts, convert, plan};
use hyperslab::model::{Fill, Node};
use hyperslab::publish::Fingerprint;
use hyperslab::select::Select;
use hyperslab::target::{Fate, TargetFormat};
use hyperslab::{File, NodePath, OpenOptions, Source, target_format};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Nullable arrays of many types, next to an array with the name that a validity array would have.
const RICH: &str = r#"
attributes: {title: seen}
dimcoords:
  x: {size: 4, type: int32, value: [1, 2, 3, 4]}
ndarrays:
  quality: {shape: [x], type: {nullable: {base: uint8}}, value: [7, null, 0, 200], attributes: {units: "1"}}
  all: {shape: [x], type: {nullable: {base: int8}}, value: [-128, 127, null, 0]}
  t: {shape: [x], type: {nullable: {base: float32}}, value: [1.5, null, .nan, -0.0]}
  station: {shape: [x], type: {nullable: {base: string}}, value: [oslo, null, "", bergen]}
  quality_valid: {shape: [x], type: int8, value: [5, 6, 7, 8]}
  marked: {shape: [x], type: {nullable: {base: int16}}, value: [1, null, -9, 3], attributes: {_FillValue: {value: -9, type: int16}}}
/deep:
  ndarrays:
    n: {shape: [2, 3], type: {nullable: {base: int32}}, value: [[1, null, 3], [null, null, 2147483647]],
        storage: {chunk: [1, 2], filter: [{deflate: 1}]}}
"#;

fn source(folder: &TempDir) -> PathBuf {
    let path = folder.path().join("rich.yaml");
    fs::write(&path, RICH).unwrap();
    path
}

fn raw(store: &Path) -> Arc<dyn Source> {
    hyperslab::open(store, &OpenOptions { raw: true, ..OpenOptions::default() }).unwrap()
}

fn node(source: &dyn Source, path: &str) -> Node {
    source.load(&source.find(&NodePath::new(path).unwrap()).unwrap().handle).unwrap()
}

fn has_attribute(source: &dyn Source, path: &str, name: &str) -> bool {
    node(source, path).attributes().unwrap().contains_key(name)
}

fn format(name: &str) -> &'static dyn TargetFormat {
    target_format(name).unwrap()
}

#[test]
fn pairs_are_nullable_arrays_again() {
    let folder = TempDir::new().unwrap();
    let source = source(&folder);
    for name in ["zarr3", "zarr2", "netcdf4", "tiledb", "hdf5"] {
        let target = folder.path().join(name);
        let lost = converted(&source, format(name), &target).unwrap();
        assert!(lost.is_empty(), "{name}: {lost:?}");
        same(&source, &target, &lost).unwrap();
        // From there on to another format.
        for other in ["zarr3", "netcdf4"] {
            let second = folder.path().join(format!("{name}-{other}"));
            let lost = converted(&target, format(other), &second).unwrap();
            same(&source, &second, &lost).unwrap();
        }
    }
}

#[test]
fn nulls_are_what_readers_take_for_missing() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("a.zarr");
    converted(&source(&folder), format("zarr3"), &target).unwrap();
    let stored = raw(&target);
    let file = File::from(Arc::clone(&stored));
    let read = |path: &str| file.array(path).unwrap().cast::<i64>(&Select::all()).unwrap();
    assert_eq!(read("/quality"), [7, 255, 0, 200]);
    assert_eq!(read("/quality_valid"), [5, 6, 7, 8]);
    assert_eq!(read("/quality_valid_1"), [1, 0, 1, 1]);
    assert!(has_attribute(&*stored, "/quality", "_FillValue"));
    // The usual markers of missing values occur as valid values here.
    assert_eq!(read("/all"), [-128, 127, -127, 0]);
    assert!(has_attribute(&*stored, "/all", "_FillValue"));
    assert_eq!(read("/marked"), [1, -9, -9, 3]);
    assert_eq!(read("/marked_valid"), [1, 0, 1, 1]);
    assert_eq!(
        read("/deep/n"),
        [1, i64::from(i32::MIN), 3, i64::from(i32::MIN), i64::from(i32::MIN), 2_147_483_647]
    );
    let t = file.array("/t").unwrap().read::<f32>(&Select::all()).unwrap();
    assert!(t[1].is_nan() && t[2].is_nan());
    assert_eq!(read("/t_valid"), [1, 0, 1, 1]);
    // The validity array is stored like the values.
    let Node::Ndarray(flags) = node(&*stored, "/deep/n_valid") else { panic!("no array") };
    assert_eq!(flags.storage.chunk.as_deref(), Some(&[1, 2][..]));
    assert_eq!(flags.storage.filters.len(), 1);
    assert!(flags.shape == node(&*stored, "/deep/n").shape(&NodePath::root()).unwrap());
}

#[test]
fn the_report_names_the_arrays() {
    let folder = TempDir::new().unwrap();
    let opened = open(&source(&folder));
    let plan = plan(&*opened, &ConvertOptions::new(format("netcdf4"))).unwrap();
    let row = plan.report.rows().find(|row| row.becomes.contains(" n_valid,")).unwrap();
    assert_eq!((&*row.places, row.fate), (&["/deep/n".to_owned()][..], Fate::Restored));
    let row = plan.report.rows().find(|row| row.becomes.contains(" station_valid,")).unwrap();
    assert!(row.becomes.starts_with("values, zero or empty where they are null,"), "{}", row.becomes);
    // TileDB has nullable attributes, so it needs no such arrays.
    let plan = hyperslab::convert::plan(&*opened, &ConvertOptions::new(format("tiledb"))).unwrap();
    assert!(!plan.report.rows().any(|row| row.becomes.contains("_valid")));
}

#[test]
fn a_nullable_array_alone_is_converted_with_what_says_which_values_are_valid() {
    let folder = TempDir::new().unwrap();
    let (source, target) = (source(&folder), folder.path().join("part.zarr"));
    let opened = open(&source);
    let parts = Parts::new(&*opened, &[opened.find(&NodePath::new("/deep/n").unwrap()).unwrap()]).unwrap();
    let options = ConvertOptions { parts: Some(parts), ..ConvertOptions::new(format("zarr3")) };
    let plan = plan(&*opened, &options).unwrap();
    let made_from = Fingerprint::of_source(&source, "").unwrap();
    convert(&*opened, &made_from, &target, &plan, &options).unwrap();
    assert_eq!(digests(&target).get("/deep/n"), digests(&source).get("/deep/n"));
    assert!(raw(&target).find(&NodePath::new("/quality").unwrap()).is_err());
}

#[test]
fn arrays_that_do_not_fit_the_mark_are_shown_as_they_are() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("a.zarr");
    converted(&source(&folder), format("zarr3"), &target).unwrap();
    fs::remove_dir_all(target.join("quality_valid_1")).unwrap();
    let root = target.join("zarr.json");
    let mut document: Value = serde_json::from_str(&fs::read_to_string(&root).unwrap()).unwrap();
    document.as_object_mut().unwrap().remove("consolidated_metadata");
    fs::write(&root, document.to_string()).unwrap();
    let store = open(&target);
    let shown = node(&*store, "/quality");
    assert_eq!(shown.datatype().unwrap().to_string(), "uint8");
    assert!(has_attribute(&*store, "/", "hyperslab_valid"));
    // The other arrays are still nullable.
    assert_eq!(node(&*store, "/t").datatype().unwrap().to_string(), "nullable(float32)");
    assert!(matches!(node(&*store, "/t").storage().unwrap().fill, Fill::Value(_)));
}
