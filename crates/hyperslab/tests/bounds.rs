//! Files that ask for much are refused by name, and what is only large is read.

use crate::path;
use hyperslab::digest::{LineContent, lines};
use hyperslab::store::{Key, MemoryStore};
use hyperslab::{Limits, Location, NodePath, OpenOptions, Source, open, open_location};
use hyperslab_core::storage::ReadAt;
use std::sync::Arc;

fn options(allocation: u64) -> OpenOptions {
    OpenOptions { limits: Limits { allocation, ..Limits::default() }, ..OpenOptions::default() }
}

/// A store of version 3 with one array of int8 and no chunk.
fn unwritten(shape: u64, chunk: u64, allocation: u64) -> Arc<dyn Source> {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{shape}], "data_type": "int8", "fill_value": 7,
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{chunk}]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "codecs": [{{"name": "bytes"}}]}}"#
    );
    let mut store = MemoryStore::new();
    store.insert(&Key::new("zarr.json").unwrap(), document);
    open_location(Location::Store(Arc::new(store)), &options(allocation)).unwrap()
}

/// A document in memory.
fn document(text: &str) -> Arc<dyn Source> {
    let object: Box<dyn ReadAt> = Box::new(bytes::Bytes::from(text.to_owned()));
    open_location(Location::Object(object), &OpenOptions::default()).unwrap()
}

/// The reason why an array has no digest.
fn refused(source: &dyn Source) -> Option<String> {
    let lines = lines(source, &NodePath::root()).unwrap();
    lines.into_iter().find_map(|line| match line.content {
        LineContent::Error { reason, .. } => Some(reason),
        _ => None,
    })
}

#[test]
fn chunks_by_the_million_are_refused_in_a_store_of_few_bytes() {
    // A chunk costs as much as 256 bytes.
    let allocation = 256 * 1000;
    let found = refused(&*unwritten(1001, 1, allocation)).unwrap();
    assert!(found.starts_with("elements in 1001 chunks in a store of "), "{found}");
    assert_eq!(refused(&*unwritten(1000, 1, allocation)), None);
    assert_eq!(refused(&*unwritten(1001, 2, allocation)), None);
    assert_eq!(refused(&*unwritten(1001, 1, 256 * 1001)), None);
}

#[test]
fn elements_out_of_proportion_to_their_file_are_refused() {
    // A few hundred bytes of metadata explain about 300,000 elements.
    let found = refused(&*unwritten(4_000_001, 1 << 20, 1_000_000)).unwrap();
    assert!(found.starts_with("elements of 4000001 bytes in a file of "), "{found}");
    assert_eq!(refused(&*unwritten(4_000_000, 1 << 20, 1_000_000)), None);
    assert_eq!(refused(&*unwritten(250_000, 250_000, 50_000)), None);
    let found = refused(&*unwritten(u64::MAX, u64::MAX, 1 << 40)).unwrap();
    assert!(found.starts_with("elements of 18446744073709551615 bytes in a file of "), "{found}");
}

#[test]
fn attributes_are_read_to_a_share_of_the_limit() {
    let attribute = |allocation| {
        let source = open(&path("groups_new.h5"), &options(allocation)).unwrap();
        let object = source.find(&NodePath::new("/big_attribute").unwrap()).unwrap();
        let node = source.load(&object.handle).unwrap();
        let attribute = node.attributes().unwrap().get("table").unwrap();
        attribute.as_ref().map(|attribute| attribute.value.rows.len()).map_err(|e| format!("{e:?}"))
    };
    assert_eq!(attribute(32 * 12_000), Ok(12_000));
    let e = attribute(32 * 12_000 - 1).unwrap_err();
    assert!(e.contains("an attribute of 12000 bytes, at most 11999 are read"), "{e}");
    assert!(e.contains("raise the allocation limit"), "{e}");
}

#[test]
fn types_of_any_size_take_no_memory_before_their_elements_are_asked_for() {
    let of = |size: u64| {
        document(&format!(
            "ndarrays:\n  a: {{shape: [1], type: {{array: {{base: int8, shape: [{size}]}}}}}}\n"
        ))
    };
    assert_eq!(refused(&*of(1 << 20)), None);
    let found = refused(&*of(1 << 29)).unwrap();
    assert_eq!(
        found,
        "an element of 536870912 bytes, at most 33554432 are filled (raise the allocation limit)"
    );
}

#[test]
fn documents_are_read_to_a_share_of_the_limit() {
    let text = "attributes: {a: 1}\n".to_owned() + &"# ".repeat(1000);
    let len = text.len() as u64;
    let opened = |allocation| {
        let object: Box<dyn ReadAt> = Box::new(bytes::Bytes::from(text.clone()));
        open_location(Location::Object(object), &options(allocation)).err().map(|e| e.to_string())
    };
    assert_eq!(opened(16 * len), None);
    let e = opened(16 * len - 1).unwrap();
    assert!(e.contains(&format!("a text of {len} bytes, {} are allowed", len - 1)), "{e}");
    assert!(e.contains("raise the allocation limit"), "{e}");
}
