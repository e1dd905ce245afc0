//! What other readers see of converted content. `xtask/oracles/identical.py` asks those readers.

use super::contents::{comes_back, document};
use super::converted;
use hyperslab::target_format;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// A document of a store that was converted from an NDL text.
fn stored(text: &str, format: &str, document_name: &str) -> Value {
    let folder = TempDir::new().unwrap();
    let source = document(&folder, text);
    let store = folder.path().join("x.zarr");
    converted(&source, target_format(format).unwrap(), &store).unwrap();
    serde_json::from_str(&fs::read_to_string(store.join(document_name)).unwrap()).unwrap()
}

#[test]
fn numbers_of_single_precision_have_the_digits_of_a_double() {
    let text = "attributes:\n  one: {type: float32, value: 0.1}\n  \
                range: {shape: [2], type: float32, value: [-1.5, 322.1]}\n  double: 0.1\n";
    // The doubles that NumPy makes of the numbers, as xarray writes them.
    let attributes =
        json!({"one": 0.100_000_001_490_116_12, "range": [-1.5, 322.100_006_103_515_6], "double": 0.1});
    for (format, name, key) in [("zarr3", "zarr.json", Some("attributes")), ("zarr2", ".zattrs", None)] {
        let document = stored(text, format, name);
        let mut found = key.map_or(&document, |key| &document[key]).clone();
        found.as_object_mut().unwrap().remove("_nc_hyperslab");
        assert_eq!(found, attributes);
    }
    comes_back(text);
}

#[test]
fn texts_that_are_not_unicode_have_replacement_characters() {
    let text = "attributes:\n  broken: {type: string, value: !!binary gEE=}\n";
    assert_eq!(stored(text, "zarr3", "zarr.json")["attributes"]["broken"], json!("\u{fffd}A"));
    comes_back(text);
}

#[test]
fn objects_of_json_stay_objects() {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("source.zarr");
    fs::create_dir(&source).unwrap();
    let attributes = json!({"nested": {"a": [1, null]}});
    let root = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
    fs::write(source.join("zarr.json"), root.to_string()).unwrap();
    let store = folder.path().join("x.zarr");
    converted(&source, target_format("zarr3").unwrap(), &store).unwrap();
    let root: Value = serde_json::from_str(&fs::read_to_string(store.join("zarr.json")).unwrap()).unwrap();
    assert_eq!(root["attributes"], attributes);
}

/// zarr-python opens no store whose consolidated metadata has a type that it does not know.
#[test]
fn stores_with_types_that_zarr_python_does_not_read_have_no_consolidated_metadata() {
    let array = |kind: &str, value: &str| {
        format!(
            "ndarrays:\n  a: {{shape: [], type: {kind}, value: {value}}}\n  b: {{shape: [], type: int8, value: 1}}\n"
        )
    };
    let known = [("int32", "1"), ("string", "a"), ("{complex: {base: float32}}", "[1, 2]")];
    let unknown =
        [("{opaque: {size: 2}}", "!!binary AAA="), ("{compound: [x: int8]}", "[1]"), ("bfloat16", "1")];
    for (kind, value) in known {
        let root = stored(&array(kind, value), "zarr3", "zarr.json");
        assert!(root.get("consolidated_metadata").is_some(), "{kind}");
    }
    for (kind, value) in unknown {
        let root = stored(&array(kind, value), "zarr3", "zarr.json");
        assert!(root.get("consolidated_metadata").is_none(), "{kind}");
    }
}

#[test]
fn checksums_of_version_2_come_after_shuffles_that_numcodecs_could_not_decode() {
    let array = |kind: &str| {
        format!(
            "ndarrays:\n  a: {{shape: [4], type: {kind}, storage: {{chunk: [4], \
             filter: [fletcher32, shuffle, {{deflate: 4}}]}}, value: [1, 2, 3, 4]}}\n"
        )
    };
    for (kind, expected) in [("float64", ["shuffle", "fletcher32"]), ("float32", ["fletcher32", "shuffle"])] {
        let document = stored(&array(kind), "zarr2", "a/.zarray");
        let names: Vec<_> = document["filters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|filter| filter["id"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected, "{kind}");
    }
}
