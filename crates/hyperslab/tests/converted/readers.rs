//! How other readers see converted content. `xtask/oracles/identical.py` runs those readers.

use super::contents::{comes_back, document};
use super::{converted, converted_with};
use hyperslab::target::{OptionValue, TargetOptions};
use hyperslab::target_format;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// A metadata document of a store converted from an NDL document.
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
    // The doubles that NumPy converts the numbers to, as written by xarray.
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

/// zarr-python cannot open a store whose consolidated metadata contain a type that it does not know.
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

/// The metadata document of an array converted from a Zarr v2 array with the given metadata.
fn from_version_2(metadata: Value, options: TargetOptions, chunk: &[u8]) -> Value {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("source.zarr");
    fs::create_dir_all(source.join("a")).unwrap();
    fs::write(source.join(".zgroup"), json!({"zarr_format": 2}).to_string()).unwrap();
    fs::write(source.join("a/.zarray"), metadata.to_string()).unwrap();
    fs::write(source.join("a/0"), chunk).unwrap();
    let store = folder.path().join("x.zarr");
    converted_with(&source, target_format("zarr3").unwrap(), options, &store).unwrap();
    let document = fs::read_to_string(store.join("a/zarr.json")).unwrap();
    serde_json::from_str(&document).unwrap()
}

/// In version 3, zarr-python mistakes the type of `delta` for that of the elements and decodes wrong numbers.
#[test]
fn big_endian_differences_become_plain_numbers() {
    let metadata = json!({"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": ">i4", "fill_value": 0, "order": "C",
        "compressor": null, "filters": [{"id": "delta", "dtype": ">i4"}]});
    let differences = [1, 299, -295, 69_995].map(i32::to_be_bytes).concat();
    let array = from_version_2(metadata, TargetOptions::default(), &differences);
    let names: Vec<_> = array["codecs"].as_array().unwrap().iter().map(|codec| &codec["name"]).collect();
    assert_eq!(names, ["bytes", "blosc"]);
}

/// zarr-python 3.1 assumes that the members of structs in the old form are little-endian.
#[test]
fn members_of_old_structs_are_little_endian() {
    let metadata = json!({"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": [["x", ">i4"], ["y", ">f8"]],
        "fill_value": null, "order": "C", "compressor": null, "filters": null});
    let format = target_format("zarr3").unwrap();
    let options =
        TargetOptions::default().with(format, "struct", OptionValue::Word("legacy".into())).unwrap();
    let row = [1_i32.to_be_bytes().as_slice(), &2.5_f64.to_be_bytes()].concat();
    let array = from_version_2(metadata, options, &row);
    assert_eq!(array["data_type"]["configuration"]["fields"], json!([["x", "int32"], ["y", "float64"]]));
    assert_eq!(array["codecs"][0], json!({"name": "bytes", "configuration": {"endian": "little"}}));
}

/// The Blosc library in numcodecs does not support Snappy.
#[test]
fn blosc_with_snappy_becomes_blosc_with_lz4() {
    let array = |version: &str, name: &str| {
        let text = "ndarrays:\n  a: {shape: [4], type: int32, storage: {chunk: [4], \
                    filter: [{blosc: {codec: snappy, level: 5}}]}, value: [1, 2, 3, 4]}\n";
        stored(text, version, name)
    };
    assert_eq!(array("zarr3", "a/zarr.json")["codecs"][1]["configuration"]["cname"], "lz4");
    assert_eq!(array("zarr2", "a/.zarray")["compressor"]["cname"], "lz4");
}

/// Like NumPy's `<U3` and `>U3`, including as members, so readers see strings and not bytes.
#[test]
fn texts_in_utf32_stay_texts_of_characters() {
    let folder = tempfile::TempDir::new().unwrap();
    let text = "ndarrays:\n  \
        a: {shape: [2], type: string, storage: {charset: utf-32, length: 12, pad: nullpad, fillvalue: n/a}, value: [aé😀, z]}\n  \
        b: {shape: [1], type: string, storage: {endian: big, charset: utf-32, length: 12, pad: nullpad}, value: [abc]}\n  \
        c:\n    shape: [1]\n    type: {compound: [name: string, x: int8]}\n    \
        storage: {members: {name: {charset: utf-32, length: 12, pad: nullpad}}}\n    value: [[åäö, 1]]\n";
    let source = super::contents::document(&folder, text);
    let member = |document: &Value| document["data_type"]["configuration"]["fields"][0]["data_type"].clone();
    for (format, name) in [("zarr3", "zarr.json"), ("zarr2", ".zarray")] {
        let at = folder.path().join(format);
        assert_eq!(super::converted(&source, target_format(format).unwrap(), &at), Ok(Default::default()));
        super::same(&source, &at, &Default::default()).unwrap();
        let of = |array: &str| -> Value {
            serde_json::from_slice(&fs::read(at.join(array).join(name)).unwrap()).unwrap()
        };
        let utf32 = json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}});
        match format {
            "zarr3" => {
                assert_eq!((&of("a")["data_type"], &of("a")["fill_value"]), (&utf32, &json!("n/a")));
                assert_eq!(
                    of("b")["codecs"][0],
                    json!({"name": "bytes", "configuration": {"endian": "big"}})
                );
                assert_eq!(member(&of("c")), utf32);
            }
            _ => {
                assert_eq!((&of("a")["dtype"], &of("b")["dtype"]), (&json!("<U3"), &json!(">U3")));
                assert_eq!(of("c")["dtype"][0], json!(["name", "<U3"]));
            }
        }
        let again = folder.path().join(format!("again.{format}"));
        assert_eq!(super::converted(&at, target_format("zarr3").unwrap(), &again), Ok(Default::default()));
        super::same(&source, &again, &Default::default()).unwrap();
        let described = super::described(&again, hyperslab::ndl::StorageDetail::Brief);
        assert!(described.contains("charset: utf-32\n      length: 12"), "{described}");
        assert!(described.contains("name: {charset: utf-32, length: 12, pad: nullpad}"), "{described}");
        assert!(!described.contains("fixed_length"), "{described}");
    }
}
