//! Malicious stores: reading and checking reject each of them with a message.

use crate::check::{ARRAY, ARRAY_2, GROUP, INDEX, shard, sharded, store, tell, told_of, with};
use crate::zip::zip;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Heap;
use hyperslab_core::store::{DirectoryStore, Key, Store, ZipStore};
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use hyperslab_zarr::Array;
use hyperslab_zarr::check::{Options, check, check_zip};
use hyperslab_zarr::hierarchy::Hierarchy;
use std::sync::Arc;

const LIMITS: Limits = Limits { allocation: 1 << 20, nesting: 32, rank: 64, filters: 32 };

/// Opens the root of a store and reads all elements of a small array.
fn read(store: Arc<dyn Store>) -> Result<Vec<u8>> {
    let hierarchy = Hierarchy::open(store.clone(), LIMITS)?;
    let node = hierarchy.node(&Key::root())?.ok_or_else(|| Error::not_found("no node"))?;
    let array = Array::new(&node, &LIMITS)?;
    let region = Region::all(array.shape());
    let len = region.len().and_then(|len| usize::try_from(len).ok()).unwrap_or(usize::MAX);
    let len = len.checked_mul(array.row_size()).filter(|len| *len <= 1 << 20);
    let mut rows = vec![0; len.ok_or_else(|| Error::invalid("more elements than this test reads"))?];
    array.read(&*store, &region, &mut rows, &mut Heap::<()>::default(), &mut Scratch::new())?;
    Ok(rows)
}

/// The error of reading a store, followed by the findings of a check.
fn refused(values: &[(&str, &[u8])]) -> Vec<String> {
    let store = store(values);
    let mut lines = told_of(&store);
    lines.insert(0, read(Arc::new(store)).map_or_else(|e| e.to_string(), |rows| format!("reads {rows:?}")));
    lines
}

fn of_document(document: &str) -> Vec<String> {
    refused(&[("zarr.json", document.as_bytes())])
}

fn of_array(members: &str) -> Vec<String> {
    of_document(&with(ARRAY, members))
}

fn of_array_2(members: &str) -> Vec<String> {
    refused(&[(".zarray", with(ARRAY_2, members).as_bytes())])
}

fn of_chunk(codec: &str, chunk: &[u8]) -> Vec<String> {
    let document = with(ARRAY, &format!(r#""shape":[4],"codecs":["bytes",{codec}]"#));
    refused(&[("zarr.json", document.as_bytes()), ("c/0", chunk)])
}

#[test]
fn rejects_chunk_shapes_of_zero() {
    assert_eq!(
        of_array(r#""chunk_grid":{"name":"regular","configuration":{"chunk_shape":[0]}}"#),
        [
            "/: zarr.json#/chunk_grid/configuration/chunk_shape/0: 0, expected 1 or more",
            "zarr/chunk-grid / zarr.json 9:23-24: 0, expected 1 or more"
        ]
    );
    assert_eq!(
        of_array_2(r#""chunks":[0,2]"#),
        [
            "/: .zarray#/chunks/0: 0, expected 1 or more",
            "zarr/chunk-grid / .zarray 4:14-15: 0, expected 1 or more"
        ]
    );
    assert_eq!(
        of_document(&sharded(INDEX).replace("[2]", "[0]")),
        [
            "/: zarr.json#/codecs/0/configuration/chunk_shape/0: 0, expected 1 or more",
            "zarr/codecs / zarr.json 18:25-26: 0, expected 1 or more"
        ]
    );
    assert_eq!(
        of_array(
            r#""chunk_grid":{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[6,0]]}}"#
        ),
        [
            "/: zarr.json#/chunk_grid/configuration/chunk_shapes/0/1: 0, expected 1 or more",
            "zarr/chunk-grid / zarr.json 11:13-14: 0, expected 1 or more"
        ]
    );
}

#[test]
fn rejects_sizes_beyond_64_bits() {
    assert_eq!(
        of_array(r#""shape":[18446744073709551616]"#),
        [
            "/: zarr.json#/shape/0: 18446744073709551616, expected an integer from 0 to 2^64 - 1",
            "zarr/shape / zarr.json 4:13-33: 18446744073709551616, expected an integer from 0 to 2^64 - 1"
        ]
    );
    assert_eq!(
        of_array_2(r#""shape":[1e30,2]"#),
        [
            "/: .zarray#/shape/0: 1e30, expected an integer from 0 to 2^64 - 1",
            "zarr/shape / .zarray 3:13-17: 1e30, expected an integer from 0 to 2^64 - 1"
        ]
    );
    assert_eq!(
        of_array_2(r#""chunks":[4294967296,4294967296]"#),
        [
            "/: chunks of [4294967296, 4294967296] elements of 2 bytes, expected less than 2^63 bytes",
            "zarr/size / .zarray 4:13-37: chunks of [4294967296, 4294967296] elements, expected less than 2^63 bytes"
        ]
    );
    assert_eq!(of_array(r#""shape":[18446744073709551615]"#), ["more elements than this test reads"]);
    assert_eq!(
        of_array(r#""data_type":"r18446744073709551608""#),
        [
            "/: zarr.json#/data_type: elements of 2305843009213693951 bytes, expected at most 16777216",
            "zarr/limit / zarr.json 5:16-39: elements of 2305843009213693951 bytes, expected at most 16777216"
        ]
    );
    let grid = r#""chunk_grid":{"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[[1,18446744073709551615]]]}}"#;
    assert_eq!(
        of_array(&format!(r#""shape":[18446744073709551615],{grid}"#)),
        [
            "/: more than 16384 chunks along the dimensions of a grid (raise the allocation limit)",
            "zarr/limit / zarr.json 6:17-18: more than 16384 chunks along the dimensions of a grid (raise the allocation limit)"
        ]
    );
}

#[test]
fn rejects_duplicate_names() {
    let twice = GROUP.replace("\"group\"", r#""array","node_type":"group""#);
    assert_eq!(
        of_document(&twice),
        [
            r#"malformed zarr.json at byte 0x25: duplicate name "node_type""#,
            r#"zarr/duplicate-name / zarr.json 1:38-39: duplicate name "node_type""#
        ]
    );
    let values: [(&str, &[u8]); 2] = [(".zarray", ARRAY_2.as_bytes()), (".zattrs", br#"{"a":1,"\u0061":2}"#)];
    assert_eq!(
        refused(&values),
        [
            r#"/: malformed .zattrs at byte 0x7: duplicate name "a""#,
            r#"zarr/duplicate-name / .zattrs 1:8-9: duplicate name "a""#
        ]
    );
}

#[test]
fn rejects_invalid_numbers() {
    assert_eq!(
        of_document(&ARRAY.replace("\"fill_value\":0", "\"fill_value\":NaN")),
        [
            "malformed zarr.json at byte 0xb9: NaN, expected a value",
            "zarr/not-finite / zarr.json 3:15-18: a bare NaN, expected a number or a string"
        ]
    );
    assert_eq!(
        of_document(&ARRAY.replace("\"fill_value\":0", "\"fill_value\":-Infinity")),
        [
            "malformed zarr.json at byte 0xba: Infinity, expected a digit",
            "zarr/not-finite / zarr.json 3:15-24: a bare -Infinity, expected a number or a string"
        ]
    );
}

/// Would take minutes if each error caused a pass over the whole document.
#[test]
fn checks_documents_with_many_errors_in_limited_time() {
    let count = |key: &str, document: &str, members: &str| {
        let text = document.replacen('{', &format!("{{{members},"), 1);
        let store = store(&[(key, text.as_bytes())]);
        let mut given = 0;
        let summary = check(&store, Limits::default(), &Options::default(), &mut |_| given += 1);
        (given, summary.by_rule.iter().map(|(rule, count)| (rule.name, *count)).collect::<Vec<_>>())
    };
    let unknown: Vec<_> = (0..20_000).map(|number| format!(r#""unknown{number}":0"#)).collect();
    let found = count(".zarray", ARRAY_2, &unknown.join(","));
    assert_eq!(found, (100, vec![("zarr/unknown-member", 20_000)]));
    let numbers = format!(r#""attributes":{{"a":[{}0]}}"#, "NaN,".repeat(40_000));
    assert_eq!(count("zarr.json", GROUP, &numbers), (100, vec![("zarr/not-finite-attribute", 40_000)]));
    let name = format!(r#""{}":0"#, ": #/".repeat(20_000));
    assert_eq!(count("zarr.json", GROUP, &name).0, 1);
}

#[test]
fn rejects_shard_indexes_with_invalid_ranges() {
    let of = |bytes: &[u8]| refused(&[("zarr.json", sharded(INDEX).as_bytes()), ("c/0", bytes)]);
    assert_eq!(
        of(&shard(b"0123", &[[0, 2], [u64::MAX - 1, 4]])),
        [
            "chunk c/0: inner chunk 1 of 4 bytes at byte 0xfffffffffffffffe ends after the shard of 36 bytes",
            "zarr/shard-range / c/0 20+16: inner chunk [1] of 4 bytes at byte 0xfffffffffffffffe, expected a range from 0x0 to 0x4",
            "zarr/shard-unreferenced / c/0 0+36: 2 of 4 bytes do not belong to an inner chunk"
        ]
    );
    assert_eq!(
        of(&shard(b"0123", &[[0, 2], [35, 2]])),
        [
            "chunk c/0: inner chunk 1 of 2 bytes at byte 0x23 ends after the shard of 36 bytes",
            "zarr/shard-range / c/0 20+16: inner chunk [1] of 2 bytes at byte 0x23, expected a range from 0x0 to 0x4",
            "zarr/shard-unreferenced / c/0 0+36: 2 of 4 bytes do not belong to an inner chunk"
        ]
    );
    assert_eq!(
        of(&shard(b"0123", &[[0, 2], [1, 2]])),
        [
            "reads [48, 49, 49, 50]",
            "zarr/shard-overlap / c/0 1+1: inner chunk [0] ends at byte 0x2, inner chunk [1] begins at 0x1",
            "zarr/shard-unreferenced / c/0 0+36: 1 of 4 bytes do not belong to an inner chunk"
        ]
    );
    assert_eq!(
        of(b"0123"),
        [
            "chunk c/0: a shard of 4 bytes, too short for an index of [2] chunks",
            "zarr/shard-index / c/0 0+4: 4 bytes, expected 32 for the index alone"
        ]
    );
}

#[test]
fn rejects_frames_with_a_false_size() {
    let blosc =
        r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":5,"shuffle":"noshuffle","blocksize":0}}"#;
    let header = |sizes: [u32; 3]| {
        let mut frame = vec![2, 1, 2, 1];
        sizes.iter().for_each(|size| frame.extend(size.to_le_bytes()));
        frame.extend(b"0123");
        frame
    };
    assert_eq!(of_chunk(blosc, &header([4, 4, 20])), ["reads [48, 49, 50, 51]"]);
    assert_eq!(
        of_chunk(blosc, &header([u32::MAX, 4, 20])),
        [
            "chunk c/0: Blosc chunk of 2 GiB or more, expected less",
            "zarr/chunk-data / c/0 0+20: Blosc chunk of 2 GiB or more, expected less"
        ]
    );
    assert_eq!(
        of_chunk(blosc, &header([4, u32::MAX, 20])),
        [
            "chunk c/0: Blosc chunk of 2 GiB or more, expected less",
            "zarr/chunk-data / c/0 0+20: Blosc chunk of 2 GiB or more, expected less"
        ]
    );
    assert_eq!(
        of_chunk(blosc, &header([4, 4, u32::MAX])),
        [
            "chunk c/0: Blosc chunk of 2 GiB or more, expected less",
            "zarr/chunk-data / c/0 0+20: Blosc chunk of 2 GiB or more, expected less"
        ]
    );
    let zstd = r#"{"name":"zstd","configuration":{"level":0,"checksum":false}}"#;
    let frame = |head: &[u8]| [&[0x28, 0xb5, 0x2f, 0xfd], head, &[0x21, 0, 0], b"0123"].concat();
    assert_eq!(of_chunk(zstd, &frame(&[0x20, 4])), ["reads [48, 49, 50, 51]"]);
    // A window size of 3.75 TiB and a content size of 2^62 bytes.
    assert_eq!(
        of_chunk(zstd, &frame(&[0, 0xff])),
        [
            "chunk c/0: zstd failed on 13 bytes: frame requires too much memory for decoding",
            "zarr/chunk-data / c/0 0+13: zstd failed on 13 bytes: frame requires too much memory for decoding"
        ]
    );
    assert_eq!(
        of_chunk(zstd, &frame(&[0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40])),
        [
            "chunk c/0: 20 stored bytes cannot decode to 4",
            "zarr/chunk-data / c/0 0+20: 20 stored bytes cannot decode to 4"
        ]
    );
    let lz4 = |size: u32| [&size.to_le_bytes()[..], b"\x40\x30\x31\x32\x33"].concat();
    let of_lz4 =
        |chunk: &[u8]| of_chunk(r#"{"name":"numcodecs.lz4","configuration":{"acceleration":1}}"#, chunk);
    assert_eq!(of_lz4(&lz4(4)), ["reads [48, 49, 50, 51]"]);
    assert_eq!(
        of_lz4(&lz4(0x7fff_ffff)),
        [
            "chunk c/0: 9 stored bytes cannot decode to 4",
            "zarr/chunk-data / c/0 0+9: 9 stored bytes cannot decode to 4"
        ]
    );
    assert_eq!(
        of_lz4(&lz4(3)),
        [
            "chunk c/0: 9 stored bytes cannot decode to 4",
            "zarr/chunk-data / c/0 0+9: 9 stored bytes cannot decode to 4"
        ]
    );
}

/// The first error of reading a store, which must be an exceeded limit.
fn over(values: &[(&str, &[u8])]) -> String {
    let e = read(Arc::new(store(values))).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::LimitExceeded, "{e}");
    e.to_string()
}

#[test]
fn rejects_long_lists_of_codecs_before_memory_is_allocated_for_them() {
    let gzip = r#",{"name":"gzip","configuration":{"level":5}}"#;
    let document = with(ARRAY, &format!(r#""codecs":["bytes"{}]"#, gzip.repeat(40)));
    assert_eq!(
        over(&[("zarr.json", document.as_bytes()), ("c/0", b"x")]),
        "/: zarr.json#/codecs: 41 codecs, expected at most 32 (raise the filters limit)"
    );
    let filters = vec![r#"{"id":"shuffle"}"#; 40].join(",");
    let document = with(ARRAY_2, &format!(r#""filters":[{filters}]"#));
    assert_eq!(
        over(&[(".zarray", document.as_bytes())]),
        "/: .zarray#/filters: 40 codecs, expected at most 32 (raise the filters limit)"
    );
}

#[test]
fn rejects_chunks_longer_than_any_encoding_before_they_are_read() {
    let document =
        with(ARRAY, r#""shape":[4],"codecs":["bytes",{"name":"gzip","configuration":{"level":5}}]"#);
    let long = vec![0; 2 << 20];
    let e = read(Arc::new(store(&[("zarr.json", document.as_bytes()), ("c/0", &long)]))).unwrap_err();
    assert!(e.to_string().contains("chunk c/0: 2097152 stored bytes, expected at most 10"), "{e}");
}

#[test]
fn rejects_chunks_that_take_memory_out_of_proportion_to_their_stored_bytes() {
    let document =
        with(ARRAY, r#""shape":[65000],"data_type":"string","fill_value":"","codecs":["vlen-utf8"]"#);
    let document =
        with(&document, r#""chunk_grid":{"name":"regular","configuration":{"chunk_shape":[65000]}}"#);
    assert_eq!(
        over(&[("zarr.json", document.as_bytes()), ("c/0", b"few")]),
        "chunk c/0: 3 stored bytes of a chunk take 1040000 in memory (raise the allocation limit)"
    );
}

#[test]
fn rejects_documents_whose_values_take_too_much_memory() {
    let attributes: Vec<String> = (0..20_000).map(|number| format!(r#""k{number}":[1,2,"x"]"#)).collect();
    let attributes = attributes.join(",");
    let document = format!(r#"{{"zarr_format":3,"node_type":"group","attributes":{{{attributes}}}}}"#);
    let message = over(&[("zarr.json", document.as_bytes())]);
    assert!(message.contains("raise the allocation limit"), "{message}");
}

#[test]
fn rejects_zip_files_with_names_outside_the_store() {
    for name in ["../zarr.json", "/zarr.json", "a//zarr.json", "a/../zarr.json", "./zarr.json"] {
        let bytes = zip([(name, GROUP.as_bytes())]);
        let e =
            ZipStore::open(Box::new(bytes::Bytes::from(bytes.clone())), &LIMITS).err().expect("is refused");
        assert!(e.detail().contains("in the key"), "{name}: {e}");
        let told = told_of_zip(bytes);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with("zarr/zip ") && told[0].contains("malformed central directory"),
            "{told:?}"
        );
    }
}

#[test]
#[cfg(unix)]
fn rejects_links_out_of_the_store_and_cycles() {
    let told = told_of_links();
    assert_eq!(
        told,
        [
            "zarr/link / away: leads out of the store or in a circle, which is not followed",
            "zarr/link / nowhere: leads to nothing, which is not followed",
            "zarr/link /a a/self: leads out of the store or in a circle, which is not followed",
            "zarr/alias /a/up: a symbolic link to another folder of the store",
            "zarr/link /b b/zarr.json: leads out of the store or in a circle, which is not followed"
        ]
    );
}

/// The errors and findings that only directories and zip files can have.
pub(crate) fn told_of_folders_and_zip_files() -> Vec<String> {
    let mut told = told_of_zip(zip([("../zarr.json", &[][..])]));
    let mut damaged = zip([("zarr.json", GROUP.as_bytes())]);
    damaged[40] ^= 1;
    told.extend(told_of_zip(damaged));
    #[cfg(unix)]
    told.extend(told_of_links());
    #[cfg(not(unix))]
    told.extend(["zarr/link".to_owned(), "zarr/alias".to_owned()]);
    told
}

#[cfg(unix)]
fn told_of_links() -> Vec<String> {
    use std::fs;
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("zarr.json"), GROUP).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("zarr.json"), GROUP).unwrap();
    fs::create_dir(at("a")).unwrap();
    fs::write(at("a/zarr.json"), GROUP).unwrap();
    symlink("..", at("a/up")).unwrap();
    symlink("self", at("a/self")).unwrap();
    symlink(outside.path(), at("away")).unwrap();
    symlink("nothing", at("nowhere")).unwrap();
    fs::create_dir(at("b")).unwrap();
    symlink(outside.path().join("zarr.json"), at("b/zarr.json")).unwrap();
    let store = DirectoryStore::open(folder.path()).unwrap();
    let hierarchy = Hierarchy::unconsolidated(Arc::new(store.clone()), LIMITS);
    assert!(hierarchy.walk(&Key::root()).count() < 10, "a walk comes to an end");
    told_of(&store)
}

fn told_of_zip(bytes: Vec<u8>) -> Vec<String> {
    let mut told = Vec::new();
    let options = Options { values: true, ..Options::default() };
    let summary = check_zip(Box::new(bytes::Bytes::from(bytes)), LIMITS, &options, &mut |finding| {
        told.push(tell(finding))
    });
    summary.unwrap();
    told
}
