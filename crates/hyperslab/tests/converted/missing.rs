//! Fill values that mark missing values. For readers of Zarr v2, every fill value in the metadata does so.

use super::{converted, described, open, same};
use hyperslab::model::NodePath;
use hyperslab::ndl::StorageDetail;
use hyperslab::target_format;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn document(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Writes a Zarr v2 store with one array in one chunk.
fn version_2(at: &Path, dtype: &str, fill: &Value, bytes: &[u8]) {
    fs::create_dir_all(at.join("a")).unwrap();
    fs::write(at.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let array = json!({
        "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": dtype, "compressor": null,
        "fill_value": fill, "order": "C", "filters": null,
    });
    fs::write(at.join("a/.zarray"), array.to_string()).unwrap();
    fs::write(at.join("a/.zattrs"), r#"{"_ARRAY_DIMENSIONS": ["x"]}"#).unwrap();
    fs::write(at.join("a/0"), bytes).unwrap();
}

#[test]
fn a_fill_value_of_version_2_stays_what_readers_take_for_missing() {
    let integers: Vec<u8> = [1, -999, 3, 4_i32].into_iter().flat_map(i32::to_le_bytes).collect();
    let floats: Vec<u8> = [1.0, -999.0, 3.0, 4.0_f64].into_iter().flat_map(f64::to_le_bytes).collect();
    let zeros = [0; 16];
    for (dtype, fill, coded, bytes) in [
        ("<i4", json!(-999), json!(-999), &integers[..]),
        // In version 3, xarray expects a base64-encoded double.
        ("<f8", json!(-999.0), json!("AAAAAAA4j8A="), &floats),
        ("<i4", json!(0), json!(0), &zeros),
    ] {
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        version_2(&at("source"), dtype, &fill, bytes);
        for (from, to, format) in [
            ("source", "two", "zarr2"),
            ("two", "three", "zarr3"),
            ("three", "three_again", "zarr3"),
            ("three_again", "back", "zarr2"),
        ] {
            let lost = converted(&at(from), target_format(format).unwrap(), &at(to)).unwrap();
            same(&at("source"), &at(to), &lost).unwrap();
        }
        for of_2 in ["two", "back"] {
            assert_eq!(document(&at(of_2).join("a/.zarray"))["fill_value"], fill, "{of_2}");
        }
        for of_3 in ["three", "three_again"] {
            let array = document(&at(of_3).join("a/zarr.json"));
            assert_eq!(array["attributes"]["_FillValue"], coded, "{of_3}");
            assert_eq!(array["fill_value"], fill, "{of_3}");
        }
    }
}

#[test]
fn fill_values_in_the_form_of_xarray_get_the_type_of_the_elements() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let group = |name: &str, document: &Value| {
        fs::create_dir_all(at("source").join(name)).unwrap();
        fs::write(at("source").join(name).join("zarr.json"), document.to_string()).unwrap();
    };
    group("", &json!({"zarr_format": 3, "node_type": "group"}));
    let arrays = [
        ("real", "float32", json!("AAAAAAA4j8A="), "float32"),
        ("pair", "complex64", json!(["AAAAAAAA8D8=", "AAAAAAAAAEA="]), "complex64"),
        ("count", "int16", json!(-999), "int16"),
        // This value matches no element and is kept unchanged.
        ("text", "float64", json!("none"), "string"),
    ];
    for (name, data_type, fill, _) in &arrays {
        let zero = if *name == "pair" { json!([0.0, 0.0]) } else { json!(0) };
        group(
            name,
            &json!({
                "zarr_format": 3, "node_type": "array", "shape": [2], "data_type": data_type, "fill_value": zero,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
                "chunk_key_encoding": {"name": "default"},
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
                "attributes": {"_FillValue": fill},
            }),
        );
    }
    for format in ["netcdf4", "hdf5", "tiledb", "zarr2", "zarr3"] {
        let lost = converted(&at("source"), target_format(format).unwrap(), &at(format)).unwrap();
        assert!(lost.is_empty(), "{format}");
        let target = open(&at(format));
        for (name, _, fill, expected) in &arrays {
            let path = NodePath::root().child(name);
            let node = target.load(&target.find(&path).unwrap().handle).unwrap();
            let found = node.attributes().unwrap().get("_FillValue").unwrap().as_ref().unwrap();
            if format == "zarr3" {
                // The target keeps the form of the source, except that xarray would not open a store with the string.
                let array = document(&at(format).join(name).join("zarr.json"));
                let expected = if *name == "text" { &Value::Null } else { fill };
                assert_eq!(array["attributes"]["_FillValue"], *expected, "{name}");
                continue;
            }
            let expected = match (*name, format) {
                ("pair", "netcdf4" | "hdf5") => "compound(r:float32;i:float32)",
                // JSON does not record the type of an integer, in either version.
                ("count", "zarr2") => "int32",
                _ => expected,
            };
            assert_eq!(found.datatype.resolved().to_string(), expected, "{format} {name}");
        }
    }
}

#[test]
fn a_fill_value_that_is_a_list_of_one_element_reaches_readers_and_returns() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let flag = "{enum: {base: int8, members: {good: 0, bad: 7}}}";
    let attribute =
        |datatype: &str, value: &str| format!("{{shape: [1], type: {datatype}, value: [{value}]}}");
    let arrays = [
        ("whole", "int16", "-9", json!(-9)),
        ("real", "float32", "-9.0", json!("AAAAAAAAIsA=")),
        ("none", "float64", ".nan", json!("AAAAAAAA+H8=")),
        ("flags", flag, "bad", json!(7)),
    ];
    let text: String = arrays.iter().fold("ndarrays:\n".to_owned(), |text, (name, datatype, value, _)| {
        let fill = attribute(datatype, value);
        text + &format!("  {name}: {{shape: [1], type: {datatype}, attributes: {{_FillValue: {fill}}}, value: [{value}]}}\n")
    });
    fs::write(at("source.yaml"), text).unwrap();
    for format in ["zarr3", "zarr2"] {
        let lost = converted(&at("source.yaml"), target_format(format).unwrap(), &at(format)).unwrap();
        same(&at("source.yaml"), &at(format), &lost).unwrap();
        let again = at(&format!("{format}_again"));
        let lost = converted(&at(format), target_format("zarr3").unwrap(), &again).unwrap();
        same(&at("source.yaml"), &again, &lost).unwrap();
        for (name, _, _, coded) in &arrays {
            let array = document(&again.join(name).join("zarr.json"));
            assert_eq!(array["attributes"]["_FillValue"], *coded, "{name} by {format}");
        }
    }
}

#[test]
fn the_bits_of_a_nan_that_marks_missing_values_return() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    // As in descriptions, the bytes of the numbers are given with the least significant byte first.
    let arrays = [
        ("single", "float32", "AADA/w==", "0xffc00000", "AAAAAAAA+P8="),
        ("double", "float64", "AQAAAAAA+H8=", "0x7ff8000000000001", "AQAAAAAA+H8="),
    ];
    let mut text = "ndarrays:\n".to_owned();
    for (name, datatype, bits, ..) in &arrays {
        let nan = format!("!!binary \"{bits}\"");
        text +=
            &format!("  {name}:\n    shape: [2]\n    type: {datatype}\n    storage: {{fillvalue: {nan}}}\n");
        text += &format!("    attributes: {{_FillValue: {{shape: [], type: {datatype}, value: {nan}}}}}\n");
        text += "    value: [1.0, .nan]\n";
    }
    fs::write(at("source.yaml"), text).unwrap();
    for (format, document_name) in [("zarr2", ".zarray"), ("zarr3", "zarr.json")] {
        let lost = converted(&at("source.yaml"), target_format(format).unwrap(), &at(format)).unwrap();
        same(&at("source.yaml"), &at(format), &lost).unwrap();
        let described = described(&at(format), StorageDetail::Full);
        for (name, _, bits, word, coded) in &arrays {
            // Once in the fill value and once in the attribute.
            assert_eq!(described.matches(&format!("!!binary \"{bits}\"")).count(), 2, "{described}");
            let array = document(&at(format).join(name).join(document_name));
            match format {
                // Version 2 has no other notation.
                "zarr2" => assert_eq!(array["fill_value"], "NaN", "{name}"),
                _ => {
                    assert_eq!(array["fill_value"], *word, "{name}");
                    assert_eq!(array["attributes"]["_FillValue"], *coded, "{name}");
                }
            }
        }
    }
}

#[test]
fn a_nan_that_another_program_wrote_without_its_bits_stays_as_recorded() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let nan = "!!binary \"AADA/w==\"";
    let attribute = format!("{{_FillValue: {{shape: [], type: float32, value: {nan}}}}}");
    let text =
        format!("ndarrays:\n  a: {{shape: [1], type: float32, attributes: {attribute}, value: [1.0]}}\n");
    fs::write(at("source.yaml"), text).unwrap();
    converted(&at("source.yaml"), target_format("zarr3").unwrap(), &at("store")).unwrap();
    let path = at("store").join("a/zarr.json");
    let written = fs::read_to_string(&path).unwrap();
    for (coded, is_kept) in [("AAAAAAAA+H8=", true), ("AAAAAAAAIsA=", false)] {
        fs::write(&path, written.replace("AAAAAAAA+P8=", coded)).unwrap();
        // The root document contains a copy of the array's document.
        let root = at("store").join("zarr.json");
        let copies = fs::read_to_string(&root).unwrap();
        fs::write(&root, copies.replace("AAAAAAAA+P8=", coded).replace("AAAAAAAA+H8=", coded)).unwrap();
        let described = described(&at("store"), StorageDetail::None);
        assert_eq!(described.contains(nan), is_kept, "{described}");
        assert!(!described.contains(coded), "{described}");
    }
}
