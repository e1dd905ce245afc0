//! The locations of the stored bytes of chunks.

use crate::path;
use hyperslab::select::Select;
use hyperslab::store::{Key, MemoryStore};
use hyperslab::{
    Array, CancelToken, ChunkLevel, ChunkPlacement, Container, Error, ErrorKind, File, Location, OpenOptions,
    Pool, StoredChunk, open_location,
};
use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

/// An owned copy of a chunk place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owned {
    start: Vec<u64>,
    /// The name of the file; empty for the opened file.
    container: String,
    before: u64,
    offset: u64,
    len: u64,
    filter_mask: u32,
}

fn places(array: &Array, level: ChunkLevel) -> Result<(ChunkPlacement, Vec<Owned>), Error> {
    let mut found = Vec::new();
    let placed = array.chunk_places(level, |place| {
        let container = match place.container {
            Container::Opened => String::new(),
            Container::Named(name) => name.to_owned(),
            Container::Value(key) => key.to_string(),
        };
        found.push(Owned {
            start: place.start.to_vec(),
            container,
            before: place.before,
            offset: place.offset,
            len: place.len,
            filter_mask: place.filter_mask,
        });
        Ok(())
    })?;
    Ok((placed, found))
}

fn all(name: &str, array: &str) -> Vec<Owned> {
    let (placed, found) =
        places(&File::open(path(name)).unwrap().array(array).unwrap(), ChunkLevel::Inner).unwrap();
    assert_eq!(placed, ChunkPlacement::All, "{name}{array}");
    found
}

/// The concatenated bytes at the places. Other files are in the folder of `name`.
fn bytes_at(name: &str, places: &[Owned]) -> Vec<u8> {
    let opened = path(name);
    let read = |place: &Owned| {
        let file = match place.container.as_str() {
            "" => opened.clone(),
            beside if opened.is_dir() => opened.join(beside),
            beside => opened.parent().unwrap().join(beside),
        };
        let mut bytes = fs::read(file).unwrap();
        let from = usize::try_from(place.offset).unwrap();
        let end = from + usize::try_from(place.len).unwrap();
        // Bytes past the end of an external file are zero.
        bytes.resize(bytes.len().max(end), 0);
        bytes[from..end].to_vec()
    };
    places.iter().flat_map(read).collect()
}

#[test]
fn chunks_lie_where_h5py_says() {
    let table = include_str!("data/chunk_places.tsv");
    let mut compared = 0;
    for line in table.lines() {
        let [name, dataset, count, number, start, offset, len, mask] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let places = all(name, dataset);
        assert_eq!(places.len().to_string(), count, "{line}");
        let expected = Owned {
            start: start.split(',').filter(|at| !at.is_empty()).map(|at| at.parse().unwrap()).collect(),
            container: String::new(),
            before: 0,
            offset: offset.parse().unwrap(),
            len: len.parse().unwrap(),
            filter_mask: mask.parse().unwrap(),
        };
        assert_eq!(places[number.parse::<usize>().unwrap()], expected, "{line}");
        compared += 1;
    }
    assert!(compared > 100);
}

#[test]
fn the_bytes_at_a_place_are_the_stored_chunk() {
    let mut compared = 0;
    for (name, array) in [
        ("userblock.h5", "/c"),
        ("ocean.nc", "/salinity"),
        ("chunk_indexes.h5", "/btree_v2_filtered"),
        ("tides.zarr", "/time"),
        ("tides.zarr", "/harmonics/phasor"),
        ("floats.zarr", "/temperature"),
    ] {
        let array = File::open(path(name)).unwrap().array(array).unwrap();
        for place in places(&array, ChunkLevel::Outer).unwrap().1 {
            let mut stored = Vec::new();
            let found = array.elements().stored_chunk(&place.start, &mut stored).unwrap();
            let StoredChunk::Here { len, .. } = found else { panic!("{name} {place:?}: {found:?}") };
            assert_eq!(bytes_at(name, &[place]), &stored[..len]);
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}

#[test]
fn a_dataset_in_several_files_has_a_place_for_each_piece() {
    for (name, array, files) in [
        ("hdf5/external/external.h5", "/two", 2),
        ("hdf5/sets/new-000.h5", "/c", 2),
        ("hdf5/sets/old_0.h5", "/c", 2),
    ] {
        let places = all(name, array);
        let containers: BTreeSet<_> = places.iter().map(|place| &place.container).collect();
        assert!(containers.len() >= files, "{name}: {containers:?}");
        let values = File::open(path(name)).unwrap().array(array).unwrap().values(&Select::all()).unwrap();
        assert_eq!(bytes_at(name, &places), values.rows, "{name}");
        let mut within = 0;
        for place in &places {
            assert!(place.before == 0 || place.before == within, "{name}: {place:?}");
            within = place.before + place.len;
        }
        assert!(places.iter().any(|place| place.before > 0), "{name}: no chunk in several pieces");
    }
}

#[test]
fn records_of_the_classic_formats_are_chunks() {
    let mut apart = 0;
    for name in ["classic.nc", "classic_data64.nc"] {
        for array in File::open(path(name)).unwrap().root().unwrap().arrays().unwrap() {
            let array = array.unwrap();
            let (_, found) = places(&array, ChunkLevel::Outer).unwrap();
            let mut rows = array.values(&Select::all()).unwrap().rows.to_vec();
            let size = array.datatype().row_size().unwrap();
            if cfg!(target_endian = "little") {
                rows.chunks_mut(size).for_each(<[u8]>::reverse);
            }
            assert_eq!(bytes_at(name, &found), rows, "{name}{}", array.path());
            apart += usize::from(found.len() > 1);
        }
    }
    assert!(apart > 0, "no array of several records");
}

#[test]
fn shards_and_inner_chunks_have_places_at_their_level() {
    let name = "tides.zarr";
    let array = File::open(path(name)).unwrap().array("/level").unwrap();
    let (_, outer) = places(&array, ChunkLevel::Outer).unwrap();
    assert_eq!(outer.len(), 1);
    let file = fs::read(path("tides.zarr/level/c/0/0")).unwrap();
    assert_eq!((outer[0].container.as_str(), outer[0].len), ("level/c/0/0", file.len() as u64));

    let (_, inner) = places(&array, ChunkLevel::Inner).unwrap();
    assert_eq!(inner.len() as u64, array.elements().chunks().unwrap().unwrap().inner.unwrap().written);
    // The index at the end of the shard has an offset and a length for each of the four inner chunks, and a checksum.
    let index = &file[file.len() - 4 * 16 - 4..file.len() - 4];
    let entries = index.as_chunks::<16>().0.iter().zip([[0, 0], [0, 1], [24, 0], [24, 1]]);
    let listed = entries.filter_map(|(entry, start)| {
        let [offset, len] = [0, 8].map(|at| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap()));
        (offset != u64::MAX).then_some((start.to_vec(), offset, len))
    });
    let found = inner.iter().map(|place| (place.start.clone(), place.offset, place.len));
    assert_eq!(found.collect::<Vec<_>>(), listed.collect::<Vec<_>>());
}

#[test]
fn arrays_without_chunk_places_give_the_reason() {
    for (name, group, expected) in [
        ("hdf5/virtual/vds_latest.h5", "/", ChunkPlacement::InOtherArrays),
        ("buoys.yaml", "/", ChunkPlacement::Nowhere),
        ("datatypes.h5", "/layouts", ChunkPlacement::InMetadata),
    ] {
        let arrays = File::open(path(name)).unwrap().group(group).unwrap().arrays().unwrap();
        let placed = arrays.into_iter().filter_map(Result::ok);
        let placed: Vec<_> = placed.map(|array| places(&array, ChunkLevel::Outer).unwrap()).collect();
        assert!(placed.contains(&(expected, Vec::new())), "{name}: {placed:?}");
    }
}

#[test]
fn chunks_with_unknown_codecs_have_places() {
    let mut store = MemoryStore::new();
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}, {"name": "of.tomorrow"}], "fill_value": 0}"#;
    let group = br#"{"zarr_format": 3, "node_type": "group"}"#;
    store.insert(&Key::new("zarr.json").unwrap(), group.to_vec());
    store.insert(&Key::new("t/zarr.json").unwrap(), array.as_bytes().to_vec());
    store.insert(&Key::new("t/c/1").unwrap(), vec![7; 9]);
    // A chunk that is left over from before the array was shortened.
    store.insert(&Key::new("t/c/2").unwrap(), vec![7; 9]);
    let source = open_location(Location::Store(Arc::new(store)), &OpenOptions::default()).unwrap();
    let array = File::from(source).array("/t").unwrap();
    let (placed, found) = places(&array, ChunkLevel::Outer).unwrap();
    let expected =
        Owned { start: vec![2], container: "t/c/1".into(), before: 0, offset: 0, len: 9, filter_mask: 0 };
    assert_eq!((placed, found), (ChunkPlacement::All, vec![expected]));
    let within = places(&array, ChunkLevel::Inner).unwrap_err();
    assert_eq!(within.kind(), ErrorKind::Unsupported);
}

#[test]
fn a_visit_ends_when_it_is_cancelled_or_the_visitor_fails() {
    let token = CancelToken::new();
    let pool = Pool::default().with_cancel(token.clone());
    let options = OpenOptions { pool, ..OpenOptions::default() };
    let file = File::open_with(path("chunk_indexes.h5"), &options).unwrap();
    let array = file.array("/fixed_array_paged").unwrap();
    let mut visited = 0;
    let stopped = array.chunk_places(ChunkLevel::Outer, |_| {
        visited += 1;
        if visited == 10 { Err(Error::invalid("enough")) } else { Ok(()) }
    });
    assert_eq!((visited, stopped.unwrap_err().detail()), (10, "enough"));
    let cancelled = array.chunk_places(ChunkLevel::Outer, |_| {
        visited += 1;
        token.cancel();
        Ok(())
    });
    assert_eq!((visited, cancelled.unwrap_err().kind()), (11, ErrorKind::Cancelled));
}
