//! Files that demand excessive resources are refused with a reason, and files that are merely large are read.

use crate::path;
use hyperslab::digest::{LineContent, lines};
use hyperslab::stat::{SummaryOptions, arrays, summary_with};
use hyperslab::store::{Key, MemoryStore};
use hyperslab::{
    Asked, ErrorKind, Limits, Location, NodePath, OpenOptions, Result, Source, open, open_location,
};
use hyperslab_core::storage::ReadAt;
use std::sync::Arc;

fn options(allocation: u64) -> OpenOptions {
    OpenOptions { limits: Limits { allocation, ..Limits::default() }, ..OpenOptions::default() }
}

/// A Zarr v3 store with one array of int8 and no stored chunk.
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
    within(text, &OpenOptions::default()).unwrap()
}

fn within(text: &str, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    let object: Box<dyn ReadAt> = Box::new(bytes::Bytes::from(text.to_owned()));
    open_location(Location::Object(object), options)
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
    // A chunk counts as 256 bytes.
    let allocation = 256 * 1000;
    let found = refused(&*unwritten(1001, 1, allocation)).unwrap();
    assert!(found.starts_with("elements in 1001 chunks in a store of "), "{found}");
    assert_eq!(refused(&*unwritten(1000, 1, allocation)), None);
    assert_eq!(refused(&*unwritten(1001, 2, allocation)), None);
    assert_eq!(refused(&*unwritten(1001, 1, 256 * 1001)), None);
}

#[test]
fn elements_out_of_proportion_to_their_file_are_refused() {
    // A few hundred bytes of metadata justify about 300,000 elements.
    let found = refused(&*unwritten(4_000_001, 1 << 20, 1_000_000)).unwrap();
    assert!(found.starts_with("elements of 4000001 bytes in a file of "), "{found}");
    assert_eq!(refused(&*unwritten(4_000_000, 1 << 20, 1_000_000)), None);
    assert_eq!(refused(&*unwritten(250_000, 250_000, 50_000)), None);
    let found = refused(&*unwritten(u64::MAX, u64::MAX, 1 << 40)).unwrap();
    assert!(found.starts_with("elements of 18446744073709551615 bytes in a file of "), "{found}");
}

#[test]
fn many_arrays_may_not_ask_for_what_one_may_not() {
    let array = |name: &str| format!("  {name}: {{shape: [3000000], type: int8}}\n");
    let text =
        format!("ndarrays:\n{}{}{}  d: {{shape: [9], type: int8}}\n", array("a"), array("b"), array("c"));
    let source = within(&text, &options(2_000_000)).unwrap();
    let found = lines(&*source, &NodePath::root()).unwrap();
    let errors = found.iter().filter_map(|line| match &line.content {
        LineContent::Error { reason, .. } => Some((line.path.as_str(), reason.as_str())),
        _ => None,
    });
    let size = text.len();
    let told =
        |of: &str| format!("elements of 3000000 bytes, after {of} of other arrays, in a file of {size}");
    let expected = [("/b", told("3000000")), ("/c", told("3000000"))];
    assert!(errors.clone().map(|(path, _)| path).eq(["/b", "/c"]), "{:?}", errors.collect::<Vec<_>>());
    for ((_, reason), (_, expected)) in errors.zip(&expected) {
        assert!(reason.contains(expected.as_str()), "{reason}");
    }
    // The same applies to summaries, and raising the limit helps.
    let refused = |allocation| {
        let (source, asked) = (within(&text, &options(allocation)).unwrap(), Asked::default());
        let mut refused = 0;
        arrays(&*source, &source.find(&NodePath::root()).unwrap(), &mut |entry| {
            let found = summary_with(&*source, entry, &SummaryOptions::default(), &asked);
            refused += u64::from(found.is_err());
            Ok(())
        })
        .unwrap();
        refused
    };
    assert_eq!((refused(2_000_000), refused(5_000_000)), (2, 0));
}

#[test]
fn arrays_in_other_files_are_in_proportion_to_these() {
    let at = path("own/nexus/master.nxs");
    let size = |name: &str| std::fs::metadata(at.with_file_name(name)).unwrap().len();
    let source = open(&at, &OpenOptions::default()).unwrap();
    assert_eq!(source.size().unwrap(), size("master.nxs"));
    let parts = ["master.nxs", "data_1.h5", "data_2.h5"].map(size).iter().sum::<u64>();
    assert_eq!(source.size_with_parts().unwrap(), parts);
}

#[test]
fn what_a_document_contains_takes_a_share_of_the_limit() {
    let text = (0..1000).fold("attributes:\n".to_owned(), |text, at| text + &format!("  a{at}: 1\n"));
    assert!(within(&text, &options(1 << 22)).is_ok());
    let e = within(&text, &options(1 << 20)).err().unwrap();
    assert_eq!(e.kind(), ErrorKind::LimitExceeded);
    let detail = "the objects and values of a text take more than 524288 bytes of memory";
    assert!(e.to_string().contains(detail), "{e}");
    assert!(e.to_string().contains("raise the allocation limit"), "{e}");
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
