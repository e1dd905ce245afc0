//! Stores in memory, without a file or directory.

use hyperslab::check::{CheckOptions, check_location};
use hyperslab::store::{Key, MemoryStore};
use hyperslab::{
    ErrorKind, Location, NodePath, OpenOptions, Severity, digest, open_location, recognize_location,
};
use std::sync::Arc;

/// A Zarr group of version 3 with the array `/t`: 1, 2, 3.
fn in_memory() -> Location {
    let mut store = MemoryStore::new();
    let group = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"title": "memory"}}"#;
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}], "fill_value": 0}"#;
    for (key, value) in [("zarr.json", group.as_bytes()), ("t/zarr.json", array.as_bytes())] {
        store.insert(&Key::new(key).unwrap(), value.to_vec());
    }
    for (key, value) in [("t/c/0", [1, 2]), ("t/c/1", [3, 0])] {
        store.insert(&Key::new(key).unwrap(), value.to_vec());
    }
    Location::Store(Arc::new(store))
}

#[test]
fn a_store_in_memory_is_recognised_opened_read_and_checked() {
    assert_eq!(recognize_location(&in_memory()).unwrap().unwrap().name(), "zarr");
    let source = open_location(in_memory(), &OpenOptions::default()).unwrap();
    assert_eq!(source.format(), "Zarr v3");
    let entry = source.find(&NodePath::new("/t").unwrap()).unwrap();
    let array = source.array(&entry.handle).unwrap();
    let values = array.values(&hyperslab_core::nd::Region::all(&[3])).unwrap();
    assert_eq!(values.rows, &[1, 2, 3][..]);
    let lines = digest::lines(&*source, &NodePath::root()).unwrap();
    assert_eq!(lines.len(), 3, "the root, the array, and both together");
    let report = check_location(in_memory(), &OpenOptions::default(), &CheckOptions::default()).unwrap();
    assert_eq!(report.count(Severity::Error), 0, "{:?}", report.findings);
}

#[test]
fn rejects_a_store_without_nodes_as_unknown_format() {
    let empty = Location::Store(Arc::new(MemoryStore::new()));
    assert!(recognize_location(&empty).unwrap().is_none());
    let e = open_location(empty, &OpenOptions::default()).err().unwrap();
    assert_eq!(e.kind(), ErrorKind::InvalidArgument);
    let as_file = OpenOptions { format: Some("hdf5".to_owned()), ..OpenOptions::default() };
    let e = open_location(in_memory(), &as_file).err().unwrap();
    assert_eq!(e.to_string(), "is a store of many values, expected a single hdf5 file");
}
