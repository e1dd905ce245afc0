//! Written stores can be read, and only when they are complete.

use bytes::Bytes;
use hyperslab_codec::{Bzip2, Deflate, Gzip, Lz4Numcodecs, Scratch, Shuffle, Zstd};
use hyperslab_core::nd::{Region, element_count, gather};
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::storage::FileStorage;
use hyperslab_core::store::{
    DirectoryWriter, Durability, Key, MemoryStore, Store, WritableStore, ZipStore, ZipWriter,
};
use hyperslab_core::wrapper::Wrapper;
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use hyperslab_zarr::Array;
use hyperslab_zarr::check::{Options, check};
use hyperslab_zarr::data_type::{ByteOrder, DataType, Float, Struct};
use hyperslab_zarr::hierarchy::Hierarchy;
use hyperslab_zarr::json::{Json, Object};
use hyperslab_zarr::metadata::Edges;
use hyperslab_zarr::name::{Reason, recorded};
use hyperslab_zarr::write::{
    ArrayDefinition, ArrayWriter, GroupDefinition, HierarchyWriter, Version, WrittenCodec,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const BOTH: [Version; 2] = [Version::V2, Version::V3];

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

fn object(members: &[(&str, Json)]) -> Object {
    members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn int16() -> DataType {
    DataType::Integer { signed: true, bits: 16 }
}

/// Bytes for all elements of an array, in runs so that they compress.
fn values(shape: &[u64], row: usize) -> Vec<u8> {
    let len = usize::try_from(element_count(shape).unwrap()).unwrap() * row;
    (0..len).map(|at| u8::try_from((at / 3) % 100).unwrap()).collect()
}

/// Writes all chunks. Those at the end contain only the part inside the array.
fn write_all(array: &ArrayWriter, rows: &[u8], heap: &Heap<()>) {
    let mut scratch = Scratch::new();
    let all = Region::all(array.shape());
    let chunks: Vec<_> = array.grid().chunks_in(&all).unwrap().collect();
    for chunk in chunks {
        let ends = chunk.start.iter().zip(&chunk.shape).zip(array.shape());
        let within: Vec<u64> = ends.map(|((start, size), len)| (*size).min(len - start)).collect();
        let mut part = vec![0; usize::try_from(element_count(&within).unwrap()).unwrap() * array.row_size()];
        gather(rows, &all, &mut part, &chunk.start, &within, array.row_size()).unwrap();
        array.write_chunk(&chunk.index, &part, heap, &mut scratch).unwrap();
    }
}

fn open(store: Arc<dyn Store>, path: &str) -> Result<Array> {
    let limits = Limits::default();
    let node = Hierarchy::unconsolidated(store, limits).node(&key(path))?;
    Array::new(&node.ok_or_else(|| Error::not_found("no node"))?, &limits)
}

fn read_all(array: &Array, store: &dyn Store) -> (Vec<u8>, Heap<()>) {
    let count = usize::try_from(element_count(array.shape()).unwrap()).unwrap();
    let (mut rows, mut heap) = (vec![0; count * array.row_size()], Heap::default());
    array.read(store, &Region::all(array.shape()), &mut rows, &mut heap, &mut Scratch::new()).unwrap();
    (rows, heap)
}

fn definitions(data_type: &DataType) -> Vec<ArrayDefinition> {
    let size = usize::try_from(data_type.row_size()).unwrap();
    let new = |shape: &[u64]| ArrayDefinition::new(shape.to_vec(), data_type.clone());
    let codecs = |codec: WrittenCodec| new(&[7, 5]).chunks(vec![3, 2]).codecs(vec![codec]);
    vec![
        new(&[7, 5]),
        new(&[]),
        new(&[0, 3]),
        new(&[7, 5]).chunks(vec![3, 2]).byte_order(ByteOrder::Big),
        new(&[7, 5]).chunks(vec![3, 2]).transpose(vec![1, 0]).codecs(vec![]),
        new(&[4, 3, 5])
            .chunks(vec![3, 2, 2])
            .codecs(vec![Shuffle { element: size }.into(), Deflate { level: 4 }.into()]),
        codecs(Zstd { level: 1, checksum: true }.into()),
        codecs(Gzip { level: 1 }.into()),
        codecs(Bzip2 { level: 1 }.into()),
        codecs(Lz4Numcodecs { acceleration: 1 }.into()),
        new(&[7, 5]).chunks(vec![3, 1]).shards(vec![6, 5]),
        new(&[7, 5]).chunks(vec![2, 5]).shards(vec![8, 5]).transpose(vec![1, 0]),
        new(&[7, 5]).rectilinear(vec![Edges::Runs(vec![(1, 2), (5, 1)]), Edges::Step(2)]),
    ]
}

#[test]
fn written_arrays_can_be_read() {
    let fields = [("a".to_owned(), int16()), ("b".to_owned(), DataType::Raw { length: 3 })];
    let types = [
        DataType::Integer { signed: false, bits: 8 },
        int16(),
        DataType::Float(Float::Float64),
        DataType::Complex(Float::Float32),
        DataType::Struct(Struct::new(fields).unwrap()),
    ];
    let mut cells = 0;
    for data_type in &types {
        for (definition, version) in definitions(data_type).iter().flat_map(|d| BOTH.map(|v| (d, v))) {
            let store = Arc::new(MemoryStore::new());
            let writer = match ArrayWriter::create(store.clone(), &key("a/b"), version, definition) {
                Ok(writer) => writer,
                Err(e) => {
                    assert_eq!((version, e.kind()), (Version::V2, ErrorKind::Unsupported), "{e}");
                    continue;
                }
            };
            let rows = values(writer.shape(), writer.row_size());
            write_all(&writer, &rows, &Heap::default());
            writer.finish().unwrap();
            let array = open(store.clone(), "a/b").unwrap();
            assert_eq!(read_all(&array, &*store).0, rows, "{definition:?} {version:?}");
            cells += 1;
        }
    }
    assert_eq!(cells, 5 * (13 + 10));
}

#[test]
fn written_strings_can_be_read() {
    let mut heap = Heap::<()>::default();
    let texts = ["", "a", "ßü", "fill", "深海"];
    let mut rows = Vec::new();
    for at in 0..35 {
        let text = texts[at % 5];
        let buffer = heap.push(Bytes::from(format!("xx{text}"))).unwrap();
        let count = u32::try_from(text.len()).unwrap();
        rows.extend(Slot { buffer, count, offset: 2 }.to_bytes());
    }
    let mut arrays = 0;
    for data_type in [DataType::String, DataType::Bytes] {
        for (definition, version) in definitions(&data_type).iter().flat_map(|d| BOTH.map(|v| (d, v))) {
            let store = Arc::new(MemoryStore::new());
            let definition = definition.clone().fill(b"fill".to_vec());
            let Ok(writer) = ArrayWriter::create(store.clone(), &key("a"), version, &definition) else {
                continue;
            };
            if writer.shape() != [7, 5] {
                continue;
            }
            write_all(&writer, &rows, &heap);
            writer.finish().unwrap();
            let (found, found_heap) = read_all(&open(store.clone(), "a").unwrap(), &*store);
            for (at, row) in found.chunks(Slot::SIZE).enumerate() {
                let slot = Slot::get(row).unwrap();
                let text = found_heap.bytes(slot, usize::try_from(slot.count).unwrap()).unwrap();
                assert_eq!(text, texts[at % 5].as_bytes(), "{definition:?} {version:?}");
            }
            assert_eq!(found.len(), texts.len() * 7 * Slot::SIZE);
            arrays += 1;
        }
    }
    assert_eq!(arrays, 2 * (10 + 7));
}

#[test]
fn stores_chunks_of_the_fill_value_only_on_request() {
    let fill = (-9_i16).to_ne_bytes().to_vec();
    let definition = ArrayDefinition::new(vec![6], int16()).chunks(vec![4]).fill(fill.clone());
    let chunks = |definition: &ArrayDefinition, version| {
        let store = Arc::new(MemoryStore::new());
        let array = ArrayWriter::create(store.clone(), &Key::root(), version, definition).unwrap();
        let (heap, mut scratch) = (Heap::<()>::default(), Scratch::new());
        array.write_chunk(&[0], &fill.repeat(4), &heap, &mut scratch).unwrap();
        // The part of the chunk inside the array.
        array.write_chunk(&[1], &fill.repeat(2), &heap, &mut scratch).unwrap();
        [0, 1].map(|index| store.size(&array.chunk_key(&[index]).unwrap()).unwrap().is_some())
    };
    for version in BOTH {
        assert_eq!(chunks(&definition, version), [false; 2]);
        assert_eq!(chunks(&definition.clone().store_fill(), version), [true; 2]);
    }
    assert_eq!(chunks(&definition.clone().undefined_fill(), Version::V2), [true; 2]);
    let sharded = definition.chunks(vec![2]).shards(vec![4]);
    assert_eq!(chunks(&sharded, Version::V3), [false; 2]);

    let store = Arc::new(MemoryStore::new());
    let array = ArrayWriter::create(store.clone(), &Key::root(), Version::V3, &sharded).unwrap();
    let (heap, mut scratch) = (Heap::<()>::default(), Scratch::new());
    assert!(array.write_chunk(&[0], &[1; 8], &heap, &mut scratch).unwrap().is_some());
    assert_eq!(array.write_chunk(&[0], &fill.repeat(4), &heap, &mut scratch).unwrap(), None);
    assert_eq!(store.size(&key("c/0")).unwrap(), None);
}

#[test]
fn rejects_chunks_outside_the_array() {
    let store = Arc::new(MemoryStore::new());
    let definition = ArrayDefinition::new(vec![6, 4], int16()).chunks(vec![4, 4]);
    let array = ArrayWriter::create(store.clone(), &key("a"), Version::V3, &definition).unwrap();
    let (heap, mut scratch) = (Heap::<()>::default(), Scratch::new());
    let mut refused = |index: &[u64], len: usize| {
        let e = array.write_chunk(index, &vec![1; len], &heap, &mut scratch).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::InvalidArgument);
        e.to_string()
    };
    assert_eq!(refused(&[2, 0], 32), "chunk [2, 0] is outside the array of shape [6, 4]");
    assert_eq!(refused(&[0, u64::MAX], 32), "no chunk 18446744073709551615 along dimension 1");
    assert_eq!(refused(&[0], 32), "1 dimensions, the chunk grid has 2");
    assert_eq!(
        refused(&[0, 0], 31),
        "/a: chunk a/c/0/0: 31 bytes, expected a chunk of shape [4, 4] with 2 bytes per element"
    );
    assert_eq!(
        refused(&[0, 0], 16),
        "/a: chunk a/c/0/0: 16 bytes, expected a chunk of shape [4, 4] with 2 bytes per element"
    );
    assert!(array.store(&[0, 1], Some(&[0])).is_err());
    assert!(array.encode_inner(&[1, 1], &[0; 2], &heap, &mut scratch).is_err());
    assert!(array.encode_shard(&[0, 0], [Some(&[0][..])], Vec::new(), &mut scratch).is_err());
    assert_eq!(store.list(&Key::root()).unwrap(), []);
}

#[test]
fn refuses_chunks_far_larger_than_their_array_before_they_are_filled() {
    let store = Arc::new(MemoryStore::new());
    let (heap, mut scratch) = (Heap::<()>::default(), Scratch::new());
    let mut written = |path: &str, chunk: u64| {
        let definition = ArrayDefinition::new(vec![3], int16()).chunks(vec![chunk]);
        let array = ArrayWriter::create(store.clone(), &key(path), Version::V3, &definition).unwrap();
        array.write_chunk(&[0], &[1; 6], &heap, &mut scratch).map(|_| ())
    };
    written("a", 1000).unwrap();
    let e = written("b", 1 << 28).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::LimitExceeded);
    assert_eq!(
        e.to_string(),
        "a chunk of [268435456] elements takes 536870912 bytes, many times those of an array of [3]; choose smaller \
         chunks"
    );
}

#[test]
fn fills_partial_chunks() {
    let definition = ArrayDefinition::new(vec![6, 4], int16()).chunks(vec![4, 4]).fill(vec![7, 0]);
    let shards =
        ArrayDefinition::new(vec![6, 4], int16()).chunks(vec![2, 2]).shards(vec![4, 4]).fill(vec![7, 0]);
    for definition in [definition, shards] {
        let store = Arc::new(MemoryStore::new());
        let array = ArrayWriter::create(store.clone(), &key("a"), Version::V3, &definition).unwrap();
        let (heap, mut scratch) = (Heap::<()>::default(), Scratch::new());
        let rows: Vec<u8> = (1..=6_u16).flat_map(u16::to_ne_bytes).collect();
        let mut encode = |index: &[u64], given: &[u64], rows: &[u8]| {
            array.encode_part(index, given, rows, &heap, Vec::new(), &mut scratch)
        };
        let part = encode(&[0, 0], &[3, 2], &rows).unwrap();
        assert!(part.is_some());
        array.store(&[0, 0], part.as_deref()).unwrap();
        let fill = 7_u16.to_ne_bytes();
        assert_eq!(encode(&[1, 0], &[1, 1], &fill).unwrap(), None);
        for (index, given, len) in [([0, 0], [3, 2], 10), ([0, 0], [5, 1], 10), ([2, 0], [1, 1], 2)] {
            let wrong = encode(&index, &given, &vec![1; len]);
            assert_eq!(wrong.unwrap_err().kind(), ErrorKind::InvalidArgument, "{given:?}");
        }
        array.finish().unwrap();
        let (rows, _) = read_all(&open(store.clone(), "a").unwrap(), &*store);
        let read: Vec<_> = rows.chunks_exact(2).map(|row| u16::from_ne_bytes([row[0], row[1]])).collect();
        let expected = [[1, 2, 7, 7], [3, 4, 7, 7], [5, 6, 7, 7], [7; 4], [7; 4], [7; 4]];
        assert_eq!(read, expected.concat());
    }
}

#[test]
fn encode_chunk_gives_the_bytes_of_write_chunk() {
    let plain = ArrayDefinition::new(vec![7], int16()).chunks(vec![4]);
    let sharded = plain.clone().chunks(vec![2]).shards(vec![4]);
    let compressed = plain.clone().codecs(vec![Gzip { level: 5 }.into()]);
    for definition in [plain, sharded, compressed] {
        let written = |at_once: bool| {
            let store = Arc::new(MemoryStore::new());
            let array = ArrayWriter::create(store.clone(), &Key::root(), Version::V3, &definition).unwrap();
            let rows: Vec<u8> = [1, 2, 3, 4, 0, 0, 0_i16].into_iter().flat_map(i16::to_ne_bytes).collect();
            let (heap, mut scratch) = (Heap::<()>::default(), Scratch::new());
            if at_once {
                write_all(&array, &rows, &heap);
            } else {
                for (index, rows) in (0..).zip(rows.chunks(8)) {
                    let rows = Bytes::copy_from_slice(rows);
                    let chunk = array.encode_chunk(&[index], &rows, &heap, Vec::new(), &mut scratch).unwrap();
                    assert_eq!(store.list(&key("c")).unwrap().len(), usize::try_from(index).unwrap());
                    array.store(&[index], chunk.as_deref()).unwrap();
                }
            }
            ["c/0", "c/1"].map(|chunk| store.read(&key(chunk), 1000).unwrap())
        };
        let [whole, fill] = written(false);
        assert!(whole.is_some() && fill.is_none());
        assert_eq!([whole, fill], written(true));
    }
}

#[test]
fn assembled_shards_equal_encoded_shards() {
    let definition = ArrayDefinition::new(vec![7], int16()).chunks(vec![2]).shards(vec![6]);
    let written = |by_chunks: bool| {
        let store = Arc::new(MemoryStore::new());
        let array = ArrayWriter::create(store.clone(), &Key::root(), Version::V3, &definition).unwrap();
        let rows: Vec<u8> = (0..7_i16).flat_map(i16::to_ne_bytes).collect();
        let (heap, mut scratch) = (Heap::<()>::default(), Scratch::new());
        if by_chunks {
            assert_eq!(array.inner_shape(), Some(&[2][..]));
            let mut chunks: Vec<_> = rows
                .chunks(4)
                .map(|rows| array.encode_inner(&[rows.len() as u64 / 2], rows, &heap, &mut scratch).unwrap())
                .collect();
            chunks.resize(6, None);
            for (index, chunks) in (0..).zip(chunks.chunks(3)) {
                let shard = array.encode_shard(&[index], chunks.to_vec(), Vec::new(), &mut scratch).unwrap();
                array.store(&[index], shard.as_deref()).unwrap();
            }
            let e = array.encode_shard(&[0], [None::<Bytes>], Vec::new(), &mut scratch).unwrap_err();
            assert_eq!(e.to_string(), "/: chunk c/0: 1 inner chunks, expected 3");
        } else {
            write_all(&array, &rows, &heap);
        }
        array.finish().unwrap();
        assert_eq!(read_all(&open(store.clone(), "").unwrap(), &*store).0, rows);
        ["c/0", "c/1"].map(|shard| store.read(&key(shard), 1000).unwrap().unwrap())
    };
    assert_eq!(written(true), written(false));
}

#[test]
fn consolidated_metadata_gives_the_same_nodes() {
    for version in BOTH {
        let store = Arc::new(MemoryStore::new());
        let hierarchy = HierarchyWriter::new(store.clone(), version).unwrap();
        hierarchy.amend(&Key::root(), |root| *root = group_with("title", "root")).unwrap();
        let group = hierarchy.group(&Key::root(), "g", group_with("title", "group")).unwrap().path;
        hierarchy.group(&group, "empty", GroupDefinition::default()).unwrap();
        for name in ["b", "a"] {
            let definition =
                ArrayDefinition::new(vec![4], int16()).attributes(object(&[("units", "m".into())]));
            let array = hierarchy.array(&group, name, definition).unwrap();
            write_all(&array, &[1; 8], &Heap::default());
            array.finish().unwrap();
        }
        hierarchy.finish(true).unwrap();
        let limits = Limits::default();
        let nodes = |hierarchy: Hierarchy| -> Vec<_> {
            let root = Key::root();
            let nodes = hierarchy.walk(&root).map(|(path, node)| (path, node.unwrap()));
            nodes.map(|(path, node)| (path, node.attributes().cloned(), node.is_array())).collect()
        };
        let consolidated = Hierarchy::open(store.clone(), limits).unwrap();
        assert!(consolidated.is_consolidated());
        let found = nodes(consolidated);
        assert_eq!(found, nodes(Hierarchy::unconsolidated(store.clone(), limits)));
        let paths: Vec<_> = found.iter().map(|(path, ..)| path.as_str()).collect();
        assert_eq!(paths, ["", "g", "g/a", "g/b", "g/empty"]);
        assert_eq!(found[1].1, Some(object(&[("title", "group".into())])));
        let told = check(&*store, limits, &Options::default(), &mut |finding| panic!("{finding:?}"));
        assert_eq!((told.nodes, told.by_rule.len()), (5, 0));
    }
}

#[test]
fn reports_and_restores_names_that_are_not_allowed() {
    let names = ["", "..", "__init__", "zarr.json", ".zarray", "a/../../b", "c", "C", &"x".repeat(300)];
    for (version, distinguishes_case) in BOTH.into_iter().flat_map(|of| [(of, false), (of, true)]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let inner = DirectoryWriter::create(&path, Durability::Process).unwrap();
        let store = Arc::new(Cased { distinguishes_case, inner });
        let hierarchy = HierarchyWriter::new(store.clone(), version).unwrap();
        let mut reasons = Vec::new();
        for name in names {
            let group = hierarchy.group(&Key::root(), name, GroupDefinition::default()).unwrap();
            reasons.push(group.reason);
            let array = hierarchy.array(&group.path, name, ArrayDefinition::new(vec![2], int16())).unwrap();
            assert_eq!(array.reason().is_some(), group.reason.is_some() && name != "C");
            write_all(&array, &[1; 4], &Heap::default());
            array.finish().unwrap();
        }
        hierarchy.finish(false).unwrap();
        let clash = (!distinguishes_case).then_some(Reason::Clash);
        assert_eq!(reasons[6..], [None, clash, Some(Reason::TooLong)]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let read = Hierarchy::unconsolidated(store, Limits::default());
        let mut found: Vec<_> = read
            .walk(&Key::root())
            .skip(1)
            .map(|(path, node)| {
                let node = node.unwrap();
                let kept = recorded(&node);
                kept.unwrap_or_else(|| path.name().to_owned())
            })
            .collect();
        found.sort();
        let mut expected: Vec<_> = names.iter().chain(&names).map(|name| (*name).to_owned()).collect();
        expected.sort();
        assert_eq!(found, expected);
    }
}

#[test]
fn rejects_nodes_without_a_parent_group() {
    let store = Arc::new(MemoryStore::new());
    let hierarchy = HierarchyWriter::new(store.clone(), Version::V3).unwrap();
    let array = hierarchy.array(&Key::root(), "a", ArrayDefinition::new(vec![2], int16())).unwrap();
    let e = hierarchy.group(array.path(), "c", GroupDefinition::default()).unwrap_err();
    assert_eq!((e.kind(), e.to_string()), (ErrorKind::NotFound, "no group /a for the node \"c\"".to_owned()));
    let again = hierarchy.group(&Key::root(), "a", GroupDefinition::default()).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    assert_eq!(hierarchy.finish(false).unwrap_err().to_string(), "the array /a is not finished");
    array.finish().unwrap();
    // A rejected node leaves its name free.
    let wrong = ArrayDefinition::new(vec![2], int16()).chunks(vec![0]);
    assert!(hierarchy.array(&Key::root(), "b", wrong).is_err());
    hierarchy.group(&Key::root(), "b", GroupDefinition::default()).unwrap();
    hierarchy.finish(false).unwrap();
}

#[test]
fn writes_stores_in_zip_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.zip");
    let store = Arc::new(ZipWriter::create(&path, Durability::Process).unwrap());
    let rows = example(store, Version::V3).unwrap();
    let store =
        Arc::new(ZipStore::open(Box::new(FileStorage::open(&path).unwrap()), &Limits::default()).unwrap());
    assert_eq!(read_all(&open(store.clone(), "g/a").unwrap(), &*store).0, rows);
}

#[test]
fn many_threads_write_one_array() {
    for version in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(DirectoryWriter::open(folder.path(), Durability::Process).unwrap());
        let definition = ArrayDefinition::new(vec![64, 64], int16()).chunks(vec![5, 7]);
        let array = ArrayWriter::create(store.clone(), &key("a/b"), version, &definition).unwrap();
        let rows = values(&[64, 64], 2);
        let all = Region::all(array.shape());
        let chunks = std::sync::Mutex::new(array.grid().chunks_in(&all).unwrap());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut scratch = Scratch::new();
                    loop {
                        let Some(chunk) = chunks.lock().unwrap().next() else { break };
                        let ends = chunk.start.iter().zip(&chunk.shape);
                        let within: Vec<u64> = ends.map(|(start, size)| (*size).min(64 - start)).collect();
                        let mut part = vec![0; usize::try_from(within[0] * within[1]).unwrap() * 2];
                        gather(&rows, &all, &mut part, &chunk.start, &within, 2).unwrap();
                        array.write_chunk(&chunk.index, &part, &Heap::<()>::default(), &mut scratch).unwrap();
                    }
                });
            }
        });
        array.finish().unwrap();
        assert_eq!(read_all(&open(store.clone(), "a/b").unwrap(), &*store).0, rows);
        assert_eq!(store.remove_unfinished().unwrap(), 0);
    }
}

/// Two groups and an array of two chunks in the inner one.
fn group_with(name: &str, value: &str) -> GroupDefinition {
    GroupDefinition { attributes: object(&[(name, value.into())]), record: Object::new() }
}

fn example(store: Arc<dyn WritableStore>, version: Version) -> Result<Vec<u8>> {
    let hierarchy = HierarchyWriter::new(store, version)?;
    hierarchy.amend(&Key::root(), |root| *root = group_with("a", "b"))?;
    let group = hierarchy.group(&Key::root(), "g", group_with("a", "b"))?.path;
    let definition = ArrayDefinition::new(vec![6], int16()).chunks(vec![4]);
    let array = hierarchy.array(&group, "a", definition.attributes(object(&[("a", "b".into())])))?;
    let rows = values(&[6], 2);
    let (heap, mut scratch) = (Heap::<()>::default(), Scratch::new());
    array.write_chunk(&[0], &rows[..8], &heap, &mut scratch)?;
    array.write_chunk(&[1], &rows[8..], &heap, &mut scratch)?;
    array.finish()?;
    hierarchy.finish(true)?;
    Ok(rows)
}

/// A store that may or may not distinguish case.
struct Cased {
    distinguishes_case: bool,
    inner: DirectoryWriter,
}

impl Wrapper for Cased {
    type Inner = DirectoryWriter;

    fn wrapped(&self) -> &DirectoryWriter {
        &self.inner
    }
}

impl WritableStore for Cased {
    fn put(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.inner.put(key, value)
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.inner.delete(key)
    }

    fn distinguishes_case(&self) -> bool {
        self.distinguishes_case
    }

    fn finish(&self) -> Result<()> {
        self.inner.finish()
    }
}

/// A store that fails after a given number of values.
struct Full {
    inner: MemoryStore,
    left: AtomicU64,
}

impl Wrapper for Full {
    type Inner = MemoryStore;

    fn wrapped(&self) -> &MemoryStore {
        &self.inner
    }
}

impl WritableStore for Full {
    fn put(&self, key: &Key, value: &[u8]) -> Result<()> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map_err(|_| Error::new(ErrorKind::Io, "no space left on device"))?;
        self.inner.put(key, value)
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.inner.delete(key)
    }

    fn finish(&self) -> Result<()> {
        self.inner.finish()
    }
}

#[test]
fn incomplete_stores_cannot_be_opened() {
    for version in BOTH {
        // First into an empty store, then over a complete one.
        for old in [false, true] {
            let mut done = None;
            for most in 0..20 {
                let inner = MemoryStore::new();
                let store = Arc::new(Full { inner, left: AtomicU64::new(u64::MAX) });
                if old {
                    example(store.clone(), version).unwrap();
                }
                store.left.store(most, Ordering::Relaxed);
                let written = example(store.clone(), version);
                if let Err(e) = &written {
                    assert!(e.to_string().contains("no space left on device"), "{e}");
                    let hierarchy = Hierarchy::open(store.clone(), Limits::default()).unwrap();
                    // In version 2, the consolidated metadata comes last and is not required.
                    let root = hierarchy.node(&Key::root()).unwrap();
                    assert!(root.is_none() || version == Version::V2 && !hierarchy.is_consolidated());
                }
                if let Ok(array) = open(store.clone(), "g/a") {
                    assert_eq!(read_all(&array, &*store).0, values(&[6], 2), "{version:?} {most}");
                } else {
                    assert!(written.is_err());
                }
                if written.is_ok() {
                    done.get_or_insert(most);
                }
            }
            let documents = if version == Version::V2 { 7 } else { 3 };
            assert_eq!(done, Some(2 + documents));
        }
    }
}
