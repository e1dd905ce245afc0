//! The stored form of chunks, and chunks that are copied without being decoded.

use crate::path;
use hyperslab::convert::layout::Rule;
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::digest::lines;
use hyperslab::publish::Fingerprint;
use hyperslab::store::{Key, MemoryStore};
use hyperslab::{
    Codec, ElementPart, File, Location, NodePath, OpenOptions, Source, StoredChunk, StoredFilter, model,
    open_location, target_format,
};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// A zlib stream of one stored block. No compressor writes this, so encoding the bytes again would change it.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let len = u16::try_from(bytes.len()).unwrap();
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    let head = [&[0x78, 0x01, 0x01][..], &len.to_le_bytes(), &(!len).to_le_bytes()].concat();
    [&head, bytes, &(b << 16 | a).to_be_bytes()].concat()
}

/// A Zarr v2 store with the array `/x` in one chunk.
fn version_2(dtype: &str, count: usize, chunk: Vec<u8>) -> Arc<dyn Source> {
    let mut store = MemoryStore::new();
    let array = format!(
        r#"{{"zarr_format": 2, "shape": [{count}], "chunks": [{count}], "dtype": {dtype}, "fill_value": null,
            "order": "C", "compressor": {{"id": "zlib", "level": 1}}, "filters": null}}"#
    );
    for (key, value) in
        [(".zgroup", br#"{"zarr_format": 2}"#.to_vec()), ("x/.zarray", array.into_bytes()), ("x/0", chunk)]
    {
        store.insert(&Key::new(key).unwrap(), value);
    }
    open_location(Location::Store(Arc::new(store)), &OpenOptions::default()).unwrap()
}

fn written(source: &dyn Source, target: &Path, rule: Option<Rule>) -> Arc<dyn Source> {
    let mut options = ConvertOptions::new(target_format("zarr2").unwrap());
    options.layout = rule.into_iter().fold(options.layout, |layout, rule| layout.with(rule));
    let mut planned = plan(source, &options).unwrap();
    options.allow = planned.report.losses().into_iter().collect();
    planned = plan(source, &options).unwrap();
    convert(source, &Fingerprint::default(), target, &planned, &options).unwrap();
    hyperslab::open(target, &OpenOptions::default()).unwrap()
}

/// The digest of the elements of an array.
fn digest(source: &dyn Source, array: &str) -> String {
    let lines = lines(source, &NodePath::new(array).unwrap()).unwrap();
    lines.iter().map(|line| line.to_json().to_string()).collect()
}

#[test]
fn chunks_in_any_byte_order_and_of_compounds_are_copied_without_decoding() {
    let folder = TempDir::new().unwrap();
    let bytes: Vec<u8> = (0..96_u8).map(|n| n / 3).collect();
    for (number, (dtype, size)) in [
        (r#"">f8""#, 8),
        (r#""<f8""#, 8),
        (r#"">i2""#, 2),
        (r#"">c16""#, 16),
        (r#"[["a", ">i4"], ["b", ">f8"]]"#, 12),
        (r#"[["a", "|u1"], ["b", ">u2"], ["c", "|i1"]]"#, 4),
    ]
    .into_iter()
    .enumerate()
    {
        let chunk = zlib(&bytes);
        let source = version_2(dtype, bytes.len() / size, chunk.clone());
        let target = folder.path().join(format!("{number}.zarr"));
        let copied = written(&*source, &target, None);
        assert!(fs::read(target.join("x/0")).unwrap() == chunk, "{dtype}: decoded and encoded again");
        assert_eq!(digest(&*source, "/x"), digest(&*copied, "/x"), "{dtype}");
    }
}

#[test]
fn chunks_are_encoded_again_if_the_target_has_another_byte_order() {
    let folder = TempDir::new().unwrap();
    let chunk = zlib(&(0..96).collect::<Vec<u8>>());
    let source = version_2(r#"">f8""#, 12, chunk.clone());
    let target = folder.path().join("little.zarr");
    let copied = written(&*source, &target, Some(Rule::byte_order(Some(model::ByteOrder::Little))));
    assert!(fs::read(target.join("x/0")).unwrap() != chunk);
    assert_eq!(digest(&*source, "/x"), digest(&*copied, "/x"));
}

#[test]
fn chunks_of_hdf5_in_the_other_byte_order_are_copied_as_they_are() {
    let folder = TempDir::new().unwrap();
    let name = "big_endian.h5";
    let source = hyperslab::open(&path(name), &OpenOptions::default()).unwrap();
    let copied = written(&*source, &folder.path().join("x.zarr"), None);
    let file = fs::read(path(name)).unwrap();
    let array = |source: &Arc<dyn Source>| File::from(Arc::clone(source)).array("/deflated").unwrap();
    let mut count = 0;
    array(&source)
        .chunk_places(hyperslab::ChunkLevel::Outer, |place| {
            let mut stored = Vec::new();
            let found = array(&copied).elements().stored_chunk(place.start, &mut stored)?;
            assert!(matches!(found, StoredChunk::Here { filter_mask: 0, .. }), "{found:?}");
            let from = usize::try_from(place.offset).unwrap();
            assert!(file[from..from + usize::try_from(place.len).unwrap()] == stored, "{place:?}");
            count += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(count, 4);
    assert_eq!(digest(&*source, "/deflated"), digest(&*copied, "/deflated"));
}

#[test]
fn the_stored_form_has_byte_order_padding_filters_and_masks() {
    let form = |name: &str, array: &str| {
        File::open(path(name)).unwrap().array(array).unwrap().elements().stored_form().unwrap()
    };
    let deflated = form("big_endian.h5", "/deflated");
    let element = deflated.element.unwrap();
    let unit = if cfg!(target_endian = "little") { element.size() } else { 1 };
    assert_eq!(element.parts(), [ElementPart { offset: 0, len: element.size(), unit }]);
    assert!(deflated.filters.iter().any(|filter| matches!(filter, StoredFilter::Codec(Codec::Deflate(_)))));

    let array = File::open(path("hdf5/filters.h5")).unwrap().array("/second_skipped").unwrap();
    assert_eq!(array.elements().stored_form().unwrap().filters.len(), 2);
    let stored = array.elements().stored_chunk(&[0, 0], &mut Vec::new()).unwrap();
    assert!(matches!(stored, StoredChunk::Here { filter_mask: 0b10, .. }), "{stored:?}");
}

#[test]
fn unknown_filters_are_named_with_their_parameters() {
    let mut store = MemoryStore::new();
    let array = r#"{"zarr_format": 2, "shape": [3], "chunks": [2], "dtype": "<i4", "fill_value": 0, "order": "C",
        "compressor": {"id": "of.tomorrow", "effort": 3}, "filters": [{"id": "delta", "dtype": "<i4"}]}"#;
    store.insert(&Key::new(".zgroup").unwrap(), br#"{"zarr_format": 2}"#.to_vec());
    store.insert(&Key::new("x/.zarray").unwrap(), array.as_bytes().to_vec());
    let source = open_location(Location::Store(Arc::new(store)), &OpenOptions::default()).unwrap();
    let form = File::from(source).array("/x").unwrap().elements().stored_form().unwrap();
    let named = |name: &str, configuration: &str| StoredFilter::Named {
        name: name.into(),
        configuration: configuration.into(),
    };
    assert_eq!(form.filters, [named("delta", r#"{"dtype":"<i4"}"#), named("of.tomorrow", r#"{"effort":3}"#)]);
    assert_eq!(form.codecs(), None);
    assert!(!form.is_like(&form), "bytes of a filter that is not known prove nothing");
}
