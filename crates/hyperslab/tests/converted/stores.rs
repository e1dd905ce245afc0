//! Stores as other programs write them, here by hand.

use super::{digests, there_and_back};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A store of these values under keys, in a directory.
fn store(folder: &TempDir, values: &[(&str, &[u8])]) -> PathBuf {
    let store = folder.path().join("store.zarr");
    for (key, value) in values {
        let path = store.join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value).unwrap();
    }
    store
}

/// Whether all of it can be read and goes everywhere and back.
fn store_comes_back(values: &[(&str, &[u8])]) {
    let folder = TempDir::new().unwrap();
    let store = store(&folder, values);
    assert!(!digests(&store).is_empty(), "nothing in {}", store.display());
    if let Err(why) = there_and_back(&store) {
        panic!("{why}");
    }
}

#[test]
fn attributes_that_are_bare_words() {
    let attributes =
        r#"{"a":NaN,"b":[1.5,-Infinity],"c":{"d":[NaN,"NaN"]},"e":[1,Infinity],"_FillValue":NaN}"#;
    let group = format!(r#"{{"zarr_format":3,"node_type":"group","attributes":{attributes}}}"#);
    store_comes_back(&[("zarr.json", group.as_bytes())]);
    store_comes_back(&[(".zgroup", br#"{"zarr_format":2}"#), (".zattrs", attributes.as_bytes())]);
}

#[test]
fn shards_that_reach_past_arrays_of_broken_chunks() {
    let array = r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"int8","fill_value":1,
        "chunk_key_encoding":{"name":"default"},"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[6]}},
        "codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[3],"codecs":["bytes"],
        "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},"crc32c"]}}]}"#;
    store_comes_back(&[("zarr.json", array.as_bytes())]);
}
