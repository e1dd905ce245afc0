//! Properties of a document that Zarr cannot represent but that are kept in a store created from it.

use super::{converted, described, open, same, zarr_targets};
use hyperslab::check::{AgainstOptions, against};
use hyperslab::diff::{DiffOptions, Side, diff};
use hyperslab::location::LocatedObject;
use hyperslab::ndl::StorageDetail;
use hyperslab::target_format;
use hyperslab::{NodePath, Source};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

fn document(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let at = folder.path().join(name);
    fs::write(&at, text).unwrap();
    at
}

/// The findings about where a store does not satisfy a document.
fn broken(store: &Path, contract: &Path) -> Vec<String> {
    let report = against(&*open(store), &*open(contract), &AgainstOptions::default()).unwrap();
    report.findings.iter().map(|finding| format!("{:?} {}", finding.place, finding.message)).collect()
}

/// The differences between two stores, including storage.
fn differences(a: &Path, b: &Path) -> Vec<String> {
    let target = |source: &Arc<dyn Source>| {
        let entry = source.find(&NodePath::root()).unwrap();
        LocatedObject { entry, attribute: None }
    };
    let (x, y) = (open(a), open(b));
    let (s, t) = (target(&x), target(&y));
    let mut found = Vec::new();
    let sides = (Side { source: &*x, target: &s }, Side { source: &*y, target: &t });
    let options = DiffOptions { storage: true, ..DiffOptions::default() };
    diff(sides.0, sides.1, &options, &mut |_, _| {}, &mut |one| {
        found.push(format!("{} {}: {} to {}", one.path, one.what, one.a, one.b));
        Ok(())
    })
    .unwrap();
    found
}

/// The elements of an array of 32-bit integers.
fn ints(store: &Path, path: &str) -> Vec<i32> {
    let source = open(store);
    let handle = source.find(&NodePath::new(path).unwrap()).unwrap().handle;
    let array = source.array(&handle).unwrap();
    let rows = array.values(&hyperslab_core::nd::Region::all(array.extents().unwrap())).unwrap().rows;
    rows.as_chunks::<4>().0.iter().map(|row| i32::from_ne_bytes(*row)).collect()
}

#[test]
fn a_store_agrees_with_the_contract_it_was_created_from() {
    let folder = TempDir::new().unwrap();
    for (name, text) in [
        // The coordinates are given by the domain.
        (
            "domain.yaml",
            "dimcoords:\n  row: {size: 4, type: int32, storage: {domain: [1, 4]}}\n  \
             hour: {size: 3, type: {datetime: {unit: h}}, storage: {domain: [\"2020-01-01T00\", \"2020-01-01T02\"], tile: 6}}\n\
             ndarrays:\n  h: {shape: [row], type: int8, value: [1, 2, 3, 4]}\n",
        ),
        // Chunks may be longer than the array, up to its maximum length.
        (
            "growing.yaml",
            "ndarrays:\n  a: {shape: [10000], type: int8, storage: {shape: [3], chunk: [1000]}, value: [1, 2, 3]}\n  \
             b: {shape: [null, 2], type: int8, storage: {shape: [1, 2], chunk: [64, 2]}, value: [[1, 2]]}\n",
        ),
        (
            "null.yaml",
            "ndarrays:\n  a: {shape: null, type: int32}\n  b: {shape: [], type: int32, value: 1}\n",
        ),
    ] {
        let contract = document(&folder, name, text);
        for format in zarr_targets() {
            let store = folder.path().join(format!("{name}.{}", format.name()));
            let lost = converted(&contract, *format, &store).unwrap();
            assert!(lost.is_empty(), "{lost:?}");
            same(&contract, &store, &lost).unwrap();
            assert_eq!(broken(&store, &contract), [""; 0], "{name} {}", format.name());
            let described = document(&folder, "again.yaml", &described(&store, StorageDetail::Full));
            assert_eq!(broken(&store, &described), [""; 0], "{name} {}", format.name());
        }
    }
    assert_eq!(ints(&folder.path().join("domain.yaml.zarr3"), "/row"), [1, 2, 3, 4]);
}

#[test]
fn a_changed_domain_is_a_difference_in_storage() {
    let folder = TempDir::new().unwrap();
    let with = |name: &str, storage: &str| {
        let text = format!("dimcoords:\n  row: {{size: 4, type: int32{storage}, value: [1, 2, 3, 4]}}\n");
        let store = folder.path().join(format!("{name}.zarr"));
        converted(
            &document(&folder, &format!("{name}.yaml"), &text),
            target_format("zarr3").unwrap(),
            &store,
        )
        .unwrap();
        store
    };
    let one = with("one", ", storage: {domain: [1, 4]}");
    assert_eq!(differences(&one, &with("two", ", storage: {domain: [1, 4]}")), [""; 0]);
    assert_eq!(
        differences(&one, &with("three", ", storage: {domain: [2, 5]}")),
        ["/row domain: 1 to 4 to 2 to 5"]
    );
    assert_eq!(differences(&one, &with("four", "")), ["/row domain: 1 to 4 to none"]);
}

#[test]
fn cells_of_sparse_arrays_cannot_be_read_as_elements() {
    let folder = TempDir::new().unwrap();
    let text = "dimcoords:\n  station: {size: null, type: string}\n  hour: {size: 24, type: int32, storage: {domain: [0, 23]}}\n\
                ndarrays:\n  t: {shape: [station, hour], type: float32}\n  other: {shape: [2], type: int8, value: [1, 2]}\n\
                cells:\n  columns: [station, hour, t]\n  rows:\n    - [oslo, 6, -3.0]\n\
                storage:\n  tiledb: {array: sparse}\n";
    let contract = document(&folder, "sparse.yaml", text);
    let source = open(&contract);
    for path in ["/station", "/hour", "/t"] {
        let handle = source.find(&NodePath::new(path).unwrap()).unwrap().handle;
        let array = source.array(&handle).unwrap();
        let all = hyperslab_core::nd::Region::all(array.extents().unwrap());
        let read = array.values(&all);
        // Nothing is read from an array without elements, so reading it does not fail.
        if !all.is_empty() {
            assert!(read.unwrap_err().to_string().contains("a column of a sparse array"), "{path}");
        }
    }
    let root = source.find(&NodePath::root()).unwrap().handle;
    assert!(source.cells(&root).unwrap().is_some());
    assert_eq!(differences(&contract, &contract), [""; 0]);
    let store = folder.path().join("sparse.zarr");
    let lost = converted(&contract, target_format("zarr3").unwrap(), &store).unwrap();
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(differences(&contract, &store), ["/other chunk: none to [2]"]);
    assert!(open(&store).find(&NodePath::new("/other").unwrap()).is_ok());
}

/// xarray 2026.7 cannot open a store if an array of strings has a fill value in its metadata.
#[test]
fn fill_values_of_texts_are_stored_only_in_the_record() {
    let folder = TempDir::new().unwrap();
    let contract = document(
        &folder,
        "texts.yaml",
        "ndarrays:\n  a: {shape: [2], type: string, attributes: {_FillValue: none}, value: [x, none]}\n",
    );
    let store = folder.path().join("texts.zarr");
    let lost = converted(&contract, target_format("zarr3").unwrap(), &store).unwrap();
    let document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(store.join("a/zarr.json")).unwrap()).unwrap();
    assert_eq!(document["attributes"].get("_FillValue"), None);
    same(&contract, &store, &lost).unwrap();
}

#[test]
fn an_unlimited_array_along_a_fixed_dimension_keeps_its_description() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("grows.zarr");
    let array = |name: &str, shape: &[u64], names: &[&str], attributes: serde_json::Value| {
        let text = serde_json::json!({
            "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "int32", "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
            "chunk_key_encoding": {"name": "default"}, "dimension_names": names,
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": attributes
        });
        fs::create_dir_all(store.join(name)).unwrap();
        fs::write(store.join(name).join("zarr.json"), text.to_string()).unwrap();
    };
    array("y", &[3], &["y"], serde_json::json!({}));
    array("sst", &[3, 4], &["y", "x"], serde_json::json!({"hyperslab": {"maximum": [null, 4]}}));
    fs::write(store.join("zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
    let contract = document(&folder, "grows.yaml", &described(&store, StorageDetail::Full));
    assert_eq!(broken(&store, &contract), [""; 0]);
}
