//! The number of requests needed to read over a network.

use crate::{node_path, path};
use bytes::Bytes;
use hyperslab::store::{Durability, Key, MemoryStore, Store, WritableStore, ZipWriter};
use hyperslab::{
    CancelToken, Heap, Location, NodePath, OpenOptions, Pool, Region, Scratch, Watch, open_location,
};
use hyperslab_codec::Gzip;
use hyperslab_core::wrapper::Counted;
use hyperslab_zarr::data_type::DataType;
use hyperslab_zarr::write::{ArrayDefinition, GroupDefinition, HierarchyWriter, Version};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn chunks_are_read_in_one_request_also_with_progress_and_cancellation() {
    let content = Bytes::from(std::fs::read(path("chunk_indexes.h5")).unwrap());
    let told = Arc::new(AtomicU64::new(0));
    let adding = Arc::clone(&told);
    let watch = Watch::new(move |bytes| {
        adding.fetch_add(bytes, Ordering::Relaxed);
    });
    let plain = Pool::new(1, Pool::MEMORY);
    for (pool, watch) in [
        (plain.clone(), None),
        (plain.clone().with_cancel(CancelToken::new()), None),
        (plain.clone(), Some(watch.clone())),
        (plain.with_cancel(CancelToken::new()), Some(watch)),
    ] {
        let is_watched = watch.is_some();
        let options = OpenOptions { pool, watch, ..OpenOptions::default() };
        let storage = Arc::new(Counted::far(content.clone()));
        let source = open_location(Location::Object(Box::new(Arc::clone(&storage))), &options).unwrap();
        let entry = source.find(&node_path("/btree_v1_deep")).unwrap();
        let array = source.array(&entry.handle).unwrap();
        let all = Region::all(array.extents().unwrap());
        let before = (storage.requests(), told.swap(0, Ordering::Relaxed), storage.bytes());
        let values = array.values(&all).unwrap();
        assert_eq!(values.rows.len(), 600);
        assert_eq!(storage.requests() - before.0, 1);
        let read = storage.bytes() - before.2;
        assert_eq!(told.load(Ordering::Relaxed), if is_watched { read } else { 0 });
    }
}

/// Bytes or a store that count requests and report that they are remote.
enum Far {
    Object(Arc<Counted<Bytes>>),
    Store(Arc<Counted<MemoryStore>>),
}

impl Far {
    fn location(&self) -> Location {
        match self {
            Far::Object(object) => Location::Object(Box::new(Arc::clone(object))),
            Far::Store(store) => Location::Store(Arc::clone(store) as Arc<dyn Store>),
        }
    }

    fn requests(&self) -> u64 {
        match self {
            Far::Object(object) => object.requests(),
            Far::Store(store) => store.requests(),
        }
    }
}

fn file(name: &str) -> Far {
    Far::Object(Arc::new(Counted::far(std::fs::read(path(name)).unwrap().into())))
}

/// Writes the group `/arrays` with 64 arrays, and the arrays `/chunked` and `/sharded` with 64 chunks of 16 elements.
fn write(store: Arc<dyn WritableStore>, version: Version) {
    let hierarchy = HierarchyWriter::new(store, version).unwrap();
    let array = |parent: &Key, name: &str, definition: ArrayDefinition, shape: u64, chunk: u64| {
        let array = hierarchy.array(parent, name, definition).unwrap();
        for index in 0..shape / chunk {
            let values = (index * chunk..(index + 1) * chunk).map(|value| i32::try_from(value).unwrap() + 1);
            let rows: Vec<u8> = values.flat_map(i32::to_ne_bytes).collect();
            array.write_chunk(&[index], &rows, &Heap::<()>::default(), &mut Scratch::new()).unwrap();
        }
        array.finish().unwrap();
    };
    let int32 = || DataType::Integer { signed: true, bits: 32 };
    let group = hierarchy.group(&Key::root(), "arrays", GroupDefinition::default()).unwrap();
    for number in 0..64 {
        array(&group.path, &format!("a{number:02}"), ArrayDefinition::new(vec![4], int32()), 4, 4);
    }
    let gzip = |definition: ArrayDefinition| definition.codecs(vec![Gzip { level: 5 }.into()]);
    let definition = || gzip(ArrayDefinition::new(vec![64 * 16], int32()).chunks(vec![16]));
    array(&Key::root(), "chunked", definition(), 64 * 16, 16);
    if version == Version::V3 {
        array(&Key::root(), "sharded", definition().shards(vec![64 * 16]), 64 * 16, 64 * 16);
    }
    hierarchy.finish(false).unwrap();
}

fn zarr(version: Version) -> Far {
    let store = Arc::new(MemoryStore::new());
    write(store.clone(), version);
    Far::Store(Arc::new(Counted::far(Arc::try_unwrap(store).unwrap())))
}

fn zip() -> Far {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    write(Arc::new(ZipWriter::create(&path, Durability::Process).unwrap()), Version::V3);
    Far::Object(Arc::new(Counted::far(std::fs::read(path).unwrap().into())))
}

/// The numbers of requests for opening, listing `/arrays` (or the root if there is no such group), finding an array,
/// opening it, and reading it twice.
fn requests(far: &Far, array: &str) -> [u64; 6] {
    let options = OpenOptions { pool: Pool::new(1, Pool::MEMORY), ..OpenOptions::default() };
    let mut counts = [0; 6];
    let mut before = far.requests();
    let mut count = |step: usize| {
        counts[step] = far.requests() - before;
        before = far.requests();
    };
    let source = open_location(far.location(), &options).unwrap();
    count(0);
    let group = source.find(&node_path("/arrays")).or_else(|_| source.find(&NodePath::root())).unwrap();
    source.members(&group.handle).unwrap();
    count(1);
    let entry = source.find(&node_path(array)).unwrap();
    count(2);
    let opened = source.array(&entry.handle).unwrap();
    count(3);
    let all = Region::all(opened.extents().unwrap());
    opened.values(&all).unwrap();
    count(4);
    opened.values(&all).unwrap();
    count(5);
    counts
}

/// The number of requests for reading `count` elements.
fn part(far: &Far, array: &str, count: u64) -> u64 {
    let options = OpenOptions { pool: Pool::new(1, Pool::MEMORY), ..OpenOptions::default() };
    let source = open_location(far.location(), &options).unwrap();
    let array = source.array(&source.find(&node_path(array)).unwrap().handle).unwrap();
    let before = far.requests();
    let region = Region::new(vec![20], vec![count]);
    let values = array.values(&region).unwrap();
    assert_eq!(values.rows[..4], 21_i32.to_ne_bytes());
    far.requests() - before
}

#[test]
fn opening_listing_and_reading_take_the_expected_number_of_requests() {
    let (v2, v3) = (zarr(Version::V2), zarr(Version::V3));
    let (old, new, zip) = (file("own/far_old.h5"), file("own/far_new.h5"), zip());
    let (ocean, deep) = (file("ocean.nc"), file("chunk_indexes.h5"));
    // HDF5: Opening reads the first bytes with all possible offsets of the signature, the first of these offsets (once
    // to recognise a member of a split file, once for the file), the superblock, and the beginning of the file. For a
    // small file, this is all. For a larger file, opening also reads the nodes of the B-tree or heap and the headers of
    // the members, which show whether the NetCDF library wrote the file, together with the indexes of their chunks.
    // Listing reads further levels, each in one request. Reading takes one request for all chunks.
    // Zarr: Opening asks whether the root has a metadata document and reads it. For version 2, it also asks for the
    // documents that do not exist. Listing does the same for the group, lists the names of its members, and reads their
    // documents in one request. Finding reads the document. Reading takes one request for all chunks or for a shard.
    // Zip file of a Zarr store: Opening reads the first bytes, the signature of HDF5 at the first and then at all other
    // places, the signature of a zip file and its central directory to recognise it, the central directory again, and
    // the documents.
    for (number, (far, array, expected)) in [
        (&old, "/btree_v1", [7, 3, 0, 0, 1, 1]),
        (&new, "/fixed_array", [5, 0, 0, 0, 1, 1]),
        (&new, "/extensible_array", [5, 0, 0, 0, 1, 1]),
        (&new, "/btree_v2", [5, 0, 0, 0, 1, 1]),
        (&ocean, "/temperature", [5, 0, 0, 0, 1, 1]),
        (&deep, "/btree_v1_deep", [5, 0, 0, 0, 1, 1]),
        (&v3, "/chunked", [2, 3, 1, 0, 1, 1]),
        (&v3, "/sharded", [2, 3, 1, 0, 1, 1]),
        (&v2, "/chunked", [6, 5, 2, 0, 1, 1]),
        (&zip, "/chunked", [9, 2, 1, 0, 1, 1]),
        (&zip, "/sharded", [9, 2, 1, 0, 1, 1]),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(requests(far, array), expected, "{array} of row {number}");
    }
}

#[test]
fn a_small_part_of_a_shard_is_read_with_its_index_and_one_request() {
    // In a store, the first request asks whether the shard exists.
    for (far, array, expected) in [
        (zarr(Version::V3), "/sharded", 3),
        (zarr(Version::V3), "/chunked", 1),
        (zip(), "/sharded", 2),
        (zip(), "/chunked", 1),
    ] {
        assert_eq!(part(&far, array, 200), expected, "{array}");
    }
}

#[test]
fn counting_chunks_lists_them_without_a_request_per_chunk() {
    // The requests list the keys below the array and below its `c`. For a shard, they also ask whether it exists and
    // read its index.
    for (array, expected, written) in [("/chunked", 2, 64), ("/sharded", 4, 1)] {
        let far = zarr(Version::V3);
        let source = open_location(far.location(), &OpenOptions::default()).unwrap();
        let array = source.array(&source.find(&node_path(array)).unwrap().handle).unwrap();
        let before = far.requests();
        let counted = array.chunks().unwrap().unwrap();
        assert_eq!(counted.outer.written, written);
        assert_eq!(counted.inner.map_or(64, |inner| inner.written), 64);
        assert_eq!(far.requests() - before, expected);
        // Each size takes one request.
        let before = far.requests();
        assert!(array.stored().unwrap() > 0);
        assert_eq!(far.requests() - before, 2 + written);
    }
}
