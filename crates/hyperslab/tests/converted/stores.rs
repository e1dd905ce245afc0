//! Conversions of handwritten stores like those that other programs write.

use super::{converted, digests, open, same, there_and_back, zarr_targets};
use crate::{description, located, targets};
use hyperslab::describe::DescribeOptions;
use hyperslab::target_format;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Writes keys and values to a directory, and returns its path.
fn store(folder: &TempDir, values: &[(&str, &[u8])]) -> PathBuf {
    let store = folder.path().join("store.zarr");
    for (key, value) in values {
        let path = store.join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value).unwrap();
    }
    store
}

/// Reads a store completely, converts it to all formats and back, and compares the content.
fn store_comes_back(values: &[(&str, &[u8])]) {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, values);
    assert!(!digests(&store).is_empty(), "nothing in {}", store.display());
    if let Err(why) = there_and_back(&store) {
        panic!("{why}");
    }
}

#[test]
fn converts_attributes_that_are_bare_words() {
    let attributes =
        r#"{"a":NaN,"b":[1.5,-Infinity],"c":{"d":[NaN,"NaN"]},"e":[1,Infinity],"_FillValue":NaN}"#;
    let group = format!(r#"{{"zarr_format":3,"node_type":"group","attributes":{attributes}}}"#);
    store_comes_back(&[("zarr.json", group.as_bytes())]);
    store_comes_back(&[(".zgroup", br#"{"zarr_format":2}"#), (".zattrs", attributes.as_bytes())]);
}

#[test]
fn converts_shards_that_extend_past_arrays_with_partial_chunks() {
    let array = r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"int8","fill_value":1,
        "chunk_key_encoding":{"name":"default"},"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[6]}},
        "codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[3],"codecs":["bytes"],
        "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},"crc32c"]}}]}"#;
    store_comes_back(&[("zarr.json", array.as_bytes())]);
}

#[test]
fn converts_objects_with_the_names_dot_and_dot_dot() {
    let group = br#"{"zarr_format":3,"node_type":"group"}"#;
    let named = |name: &str| {
        format!(r#"{{"zarr_format":3,"node_type":"group","attributes":{{"hyperslab":{{"name":"{name}"}}}}}}"#)
    };
    let [here, above] = [".", ".."].map(named);
    let values: &[(&str, &[u8])] = &[
        ("zarr.json", group),
        ("%2E/zarr.json", here.as_bytes()),
        ("%2E%2E/zarr.json", above.as_bytes()),
        ("%2E%2E/a/zarr.json", group),
    ];
    let folder = TempDir::new().unwrap();
    let store = store(&folder, values);
    assert_eq!(digests(&store).keys().collect::<Vec<_>>(), ["/", "/.", "/..", "/../a"]);
    for format in zarr_targets() {
        let target = folder.path().join(format.name());
        let lost = converted(&store, *format, &target).unwrap();
        assert!(lost.is_empty(), "{lost:?}");
        same(&store, &target, &lost).unwrap();
    }
    let source = open(&store);
    assert_eq!(located(&*source, "/../a"), ["/../a"]);
    assert!(targets(&*source, "/a/../b").unwrap_err().to_string().contains("has the component \"..\""));
    let (text, errors) = description(&*source, "/", &DescribeOptions::default());
    let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors[0].contains("a name that paths of NDL cannot have"), "{errors:?}");
    assert!(!text.contains(".."), "{text}");
}

#[test]
fn converts_string_lists_that_zarr_python_pads_with_zeros() {
    let array = br#"{"zarr_format":2,"shape":[3],"chunks":[2],"dtype":"|O","fill_value":0,"order":"C",
        "compressor":null,"filters":[{"id":"json2"}]}"#;
    let chunks: [&[u8]; 2] = [br#"["a","b","|O",[2]]"#, br#"["c",0,"|O",[2]]"#];
    store_comes_back(&[(".zarray", array), ("0", chunks[0]), ("1", chunks[1])]);
}

#[test]
fn what_xarray_takes_for_missing_in_version_2_is_what_an_attribute_says() {
    let array = |attributes: &str| {
        format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"int16","fill_value":0,
            "chunk_key_encoding":{{"name":"default"}},"chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[2]}}}},
            "codecs":[{{"name":"bytes","configuration":{{"endian":"little"}}}}],"attributes":{{{attributes}}}}}"#
        )
    };
    for (attributes, fill) in [("", "null"), (r#""_FillValue":-999"#, "-999"), (r#""_FillValue":0"#, "0")] {
        let folder = TempDir::new().unwrap();
        let store =
            store(&folder, &[("zarr.json", array(attributes).as_bytes()), ("c/0", &[0, 0, 0x19, 0xfc])]);
        let target = folder.path().join("target");
        let lost = converted(&store, target_format("zarr2").unwrap(), &target).unwrap();
        same(&store, &target, &lost).unwrap();
        let document: serde_json::Value =
            serde_json::from_slice(&fs::read(target.join(".zarray")).unwrap()).unwrap();
        assert_eq!(document["fill_value"].to_string(), fill);
        // Zeros do not count as missing values, so their chunk is stored.
        assert_eq!(target.join("1").exists(), fill != "0", "{fill}");
    }
    // Version 2 cannot represent this NaN as a fill value. The array is converted anyway.
    let odd =
        array("").replace("int16", "float32").replace("\"fill_value\":0", "\"fill_value\":\"0x7fffffff\"");
    store_comes_back(&[("zarr.json", odd.as_bytes())]);
}
