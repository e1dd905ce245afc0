//! Dense arrays and groups written by the TileDB library, read whole, in parts, and with damaged files.

use crate::KEY;
use hyperslab_core::nd::{Planes, Region, advance};
use hyperslab_core::rows::Slot;
use hyperslab_core::storage::FileStorage;
use hyperslab_core::store::{Key, MemoryStore, Store, ZipStore};
use hyperslab_core::{ErrorKind, Limits, Result};
use hyperslab_tiledb::array::{Array, OpenOptions};
use hyperslab_tiledb::filter;
use hyperslab_tiledb::format::data_type::CellValNum;
use hyperslab_tiledb::format::group::ObjectType;
use hyperslab_tiledb::group::Group;
use hyperslab_tiledb::opened::Moment;
use proptest::prelude::*;

use std::path::Path;
use std::sync::Arc;

/// The arrays that `make_arrays.py` wrote with the TileDB library, and what the library read from them.
pub(crate) fn store() -> Arc<dyn Store> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("arrays").join("arrays.zip");
    Arc::new(ZipStore::open(Box::new(FileStorage::open(path).unwrap()), &Limits::default()).unwrap())
}

pub(crate) fn bytes(store: &dyn Store, key: &str) -> Vec<u8> {
    store.read(&Key::new(key).unwrap(), u64::MAX).unwrap().unwrap().to_vec()
}

fn options(name: &str, at: Moment) -> OpenOptions {
    let key = (name == "encrypted").then(|| filter::Key::new(KEY).unwrap());
    OpenOptions { at, key, ..OpenOptions::default() }
}

pub(crate) fn open(store: &Arc<dyn Store>, name: &str, at: Moment) -> Result<Array> {
    Array::open(Arc::clone(store), &Key::new(name).unwrap(), options(name, at))
}

/// What the TileDB library read from an array.
struct Reading {
    array: Array,
    name: String,
    attribute: usize,
    /// The region that was read, in indexes.
    region: Region,
    cells: Cells,
}

/// The bytes of each cell, and its validity.
#[derive(Clone, Debug, PartialEq)]
struct Cells(Vec<(Vec<u8>, u8)>);

fn readings() -> Vec<Reading> {
    let store = store();
    let index = String::from_utf8(bytes(&*store, "index.tsv")).unwrap();
    index.lines().map(|line| reading(&store, line)).collect()
}

fn reading(store: &Arc<dyn Store>, line: &str) -> Reading {
    let fields: Vec<&str> = line.split('\t').collect();
    let at = Moment { start: fields[2].parse().unwrap(), end: fields[3].parse().unwrap() };
    let array = open(store, fields[0], at).unwrap();
    let ends = [fields[4], fields[5]]
        .map(|ends| ends.split(',').map(|end| end.parse::<i128>().unwrap()).collect::<Vec<i128>>());
    let origin = array.dense_domain().unwrap().origin;
    let index = |coordinate: i128, origin: i128| u64::try_from(coordinate - origin).unwrap();
    let start: Vec<u64> = ends[0].iter().zip(&origin).map(|(first, origin)| index(*first, *origin)).collect();
    let count = ends[0].iter().zip(&ends[1]).map(|(first, last)| index(*last, *first) + 1).collect();
    let region = Region::new(start, count);
    let validity = bytes(&**store, &format!("expected/{}.validity", fields[6]));
    let stored = bytes(&**store, &format!("expected/{}", fields[6]));
    let cells: Vec<Vec<u8>> = match fields[7] {
        "var" => {
            let (lens, mut rest) = stored.split_at(4 * validity.len());
            let lens = lens.as_chunks().0.iter().map(|len| u32::from_le_bytes(*len) as usize);
            lens.map(|len| rest.split_off(..len).unwrap().to_vec()).collect()
        }
        _ => stored.chunks(stored.len() / validity.len()).map(<[u8]>::to_vec).collect(),
    };
    let attribute = array.attribute(fields[1].as_bytes()).unwrap();
    let cells = Cells(cells.into_iter().zip(validity).collect());
    Reading { array, name: line.to_owned(), attribute, region, cells }
}

fn read(array: &Array, attribute: usize, region: &Region) -> Result<Cells> {
    let own = &array.attributes()[attribute];
    let count = usize::try_from(region.len().unwrap()).unwrap();
    let (size, mut validity) = (own.data_type.size(), vec![7; count]);
    let cells: Vec<Vec<u8>> = match own.cell_val_num {
        CellValNum::Fixed(values) => {
            let row = size * values as usize;
            let mut rows = vec![0x77; row * count];
            array.read_dense(attribute, region, &mut Planes::whole(&mut rows), Some(&mut validity))?;
            rows.chunks(row).map(<[u8]>::to_vec).collect()
        }
        CellValNum::Var => {
            let found = array.read_dense_var(attribute, region, Some(&mut validity))?;
            let content = |slot: Slot| {
                let slot = Slot { count: slot.count * u32::try_from(size).unwrap(), ..slot };
                slot.content(&found.buffers).unwrap().to_vec()
            };
            Slot::each(&found.rows).map(content).collect()
        }
    };
    assert_eq!(cells.len(), count);
    Ok(Cells(cells.into_iter().zip(validity).collect()))
}

/// The cells of a reading that lie within a region.
fn part(of: &Reading, region: &Region) -> Cells {
    let mut cells = Vec::new();
    let mut place = vec![0; region.rank()];
    loop {
        let mut at = 0;
        for (dimension, place) in place.iter().enumerate() {
            let index = region.start[dimension] + place * region.step[dimension];
            at = at * of.region.count[dimension] + index - of.region.start[dimension];
        }
        cells.push(of.cells.0[usize::try_from(at).unwrap()].clone());
        if !advance(&mut place, &region.count) {
            break;
        }
    }
    Cells(cells)
}

#[test]
fn whole_arrays_are_what_the_library_reads() {
    let readings = readings();
    assert_eq!(readings.len(), 46);
    for of in &readings {
        let found = read(&of.array, of.attribute, &of.region).unwrap();
        assert!(found == of.cells, "{}\n{found:?}\n{:?}", of.name, of.cells);
    }
}

#[test]
fn parts_of_arrays_are_parts_of_what_the_library_reads() {
    let readings = readings();
    let strategy = (0..readings.len(), prop::collection::vec((any::<u16>(), any::<u16>(), 1..4_u64), 3));
    proptest!(ProptestConfig::with_cases(1000), |((reading, sides) in strategy)| {
        let of = &readings[reading];
        let mut region = of.region.clone();
        for (dimension, (first, count, step)) in sides.into_iter().take(region.rank()).enumerate() {
            let len = region.count[dimension];
            let first = u64::from(first) % len;
            region.start[dimension] += first;
            region.step[dimension] = step;
            region.count[dimension] = u64::from(count) % (len - first).div_ceil(step) + 1;
        }
        let found = read(&of.array, of.attribute, &region).unwrap();
        prop_assert!(found == part(of, &region), "{} {region:?}", of.name);
    });
}

#[test]
fn metadata_is_that_of_the_moment() {
    let store = store();
    let found = |end| {
        let array = open(&store, "time_travel", Moment::until(end)).unwrap();
        array
            .metadata()
            .unwrap()
            .into_iter()
            .map(|(key, value)| (String::from_utf8(key).unwrap(), value.bytes))
            .collect::<Vec<_>>()
    };
    let time = |time: u64| ("time".to_owned(), time.to_le_bytes().to_vec());
    let only = || ("only".to_owned(), b"until 30".to_vec());
    assert_eq!(found(5), []);
    assert_eq!(found(15), [time(10)]);
    assert_eq!(found(20), [only(), time(20)]);
    assert_eq!(found(u64::MAX), [time(30)]);
}

#[test]
fn groups_have_members_and_metadata() {
    let group = Group::open(store(), &Key::new("group").unwrap(), OpenOptions::default()).unwrap();
    let members = group.members().unwrap();
    let [elsewhere, within] = members.as_slice() else { panic!("{members:?}") };
    assert_eq!(elsewhere.name.as_deref(), Some(&b"elsewhere"[..]));
    assert_eq!((elsewhere.object_type, elsewhere.relative), (ObjectType::Array, false));
    assert_eq!((within.object_type, within.relative), (ObjectType::Group, true));
    assert_eq!(within.uri, b"inner");
    let metadata = group.metadata().unwrap();
    assert_eq!((metadata[0].0.as_slice(), metadata[0].1.bytes.as_slice()), (&b"title"[..], &b"a group"[..]));
}

#[test]
fn the_current_domain_is_part_of_the_domain() {
    let array = open(&store(), "current_domain", Moment::ALL).unwrap();
    assert_eq!(array.dense_domain().unwrap().shape, [1 << 63; 2]);
    let current = array.dense_current_domain().unwrap().unwrap();
    assert_eq!((current.first, current.last), (vec![0, 0], vec![9, 9]));
    let written = array.dense_non_empty_domain().unwrap().unwrap();
    assert_eq!((written.first, written.last), (vec![2, 0], vec![9, 5]));
}

#[test]
fn encrypted_arrays_need_their_key() {
    let store = store();
    let key = Key::new("encrypted").unwrap();
    let refused = Array::open(Arc::clone(&store), &key, OpenOptions::default()).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    assert!(refused.to_string().contains("no key is given"), "{refused}");
    let other = Some(filter::Key::new(&[1; 32]).unwrap());
    let refused =
        Array::open(store, &key, OpenOptions { key: other, ..OpenOptions::default() }).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{refused}");
    assert!(
        refused.to_string().contains("the given key is not the one that it was encrypted with"),
        "{refused}"
    );
}

#[test]
fn arguments_that_are_wrong_are_refused() {
    let array = open(&store(), "variable", Moment::ALL).unwrap();
    let region = Region::new(vec![0, 0], vec![2, 2]);
    let kinds = [
        array.read_dense(0, &region, &mut Planes::whole(&mut []), None).unwrap_err(),
        array.read_dense_var(9, &region, None).unwrap_err(),
        array.read_dense_var(0, &Region::new(vec![10, 0], vec![2, 1]), None).unwrap_err(),
        array.read_dense_var(0, &region, Some(&mut [0; 3])).unwrap_err(),
    ];
    assert!(kinds.iter().all(|e| e.kind() == ErrorKind::InvalidArgument), "{kinds:?}");
    let array = open(&store(), "signed_bytes", Moment::ALL).unwrap();
    let region = Region::new(vec![0], vec![2]);
    assert_eq!(
        array.read_dense(0, &region, &mut Planes::whole(&mut [0; 7]), None).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
    array.read_dense(0, &Region::new(vec![3], vec![0]), &mut Planes::whole(&mut []), None).unwrap();
}

/// The files of one array. In one of them, a byte is changed or the end is cut off.
pub(crate) fn damaged(
    files: &[(Key, Vec<u8>)],
    file: usize,
    at: usize,
    change: Option<u8>,
) -> Arc<dyn Store> {
    let mut store = MemoryStore::new();
    for (ordinal, (key, content)) in files.iter().enumerate() {
        let mut content = content.clone();
        if ordinal == file && !content.is_empty() {
            let at = at % content.len();
            match change {
                Some(change) => content[at] ^= change,
                None => content.truncate(at),
            }
        }
        store.insert(key, content);
    }
    Arc::new(store)
}

fn files(store: &dyn Store, folder: &Key, found: &mut Vec<(Key, Vec<u8>)>) {
    for entry in store.list(folder).unwrap() {
        let key = folder.join(&entry.name).unwrap();
        match store.read(&key, u64::MAX) {
            Ok(Some(content)) => found.push((key, content.to_vec())),
            _ => files(store, &key, found),
        }
    }
}

/// All files of an array.
pub(crate) fn files_of(store: &dyn Store, name: &str) -> Vec<(Key, Vec<u8>)> {
    let mut found = Vec::new();
    files(store, &Key::new(name).unwrap(), &mut found);
    found
}

#[test]
fn older_fragments_are_not_read_where_newer_ones_have_all_cells() {
    let found = files_of(&*store(), "time_travel");
    let mut without = MemoryStore::new();
    for (key, content) in found {
        if key.name() != "a0.tdb" || key.as_str().contains("/__30_30_") {
            without.insert(&key, content);
        }
    }
    let without: Arc<dyn Store> = Arc::new(without);
    let array = open(&without, "time_travel", Moment::ALL).unwrap();
    let newest = Region::new(vec![3, 0], vec![9, 3]);
    for (cell, _) in read(&array, 0, &newest).unwrap().0 {
        assert!(i32::from_le_bytes(cell.try_into().unwrap()) >= 30_000);
    }
    let refused = read(&array, 0, &Region::new(vec![2, 0], vec![10, 3])).unwrap_err();
    assert!(refused.to_string().contains("a0.tdb: the file is missing"), "{refused}");
}

#[test]
fn errors_name_the_file_and_the_tile() {
    let found = files_of(&*store(), "variable");
    let file = found.iter().position(|(key, _)| key.name() == "a3_var.tdb").unwrap();
    let damaged = damaged(&found, file, 8, Some(0xff));
    let array = open(&damaged, "variable", Moment::ALL).unwrap();
    let refused = read(&array, 3, &Region::new(vec![0, 0], vec![11, 8])).unwrap_err().to_string();
    assert!(refused.contains(found[file].0.as_str()) && refused.contains("tile 0: "), "{refused}");
    // The footer states the size of the file, so a file that is one byte shorter is rejected.
    let mut store = MemoryStore::new();
    for (ordinal, (key, mut content)) in found.iter().cloned().enumerate() {
        if ordinal == file {
            content.pop();
        }
        store.insert(&key, content);
    }
    let store: Arc<dyn Store> = Arc::new(store);
    let array = open(&store, "variable", Moment::ALL).unwrap();
    let refused = read(&array, 3, &Region::new(vec![0, 0], vec![11, 8])).unwrap_err().to_string();
    assert!(refused.contains("bytes, the footer says"), "{refused}");
}

#[test]
fn damaged_files_never_panic() {
    let store = store();
    let names = ["orders_row_col", "variable", "nullable", "evolution", "time_travel"];
    let all = names.map(|name| (name, files_of(&*store, name)));
    let limits = Limits { allocation: 16 << 20, ..Limits::default() };
    let strategy = (0..all.len(), any::<u16>(), any::<u16>(), prop::option::of(1..=255_u8));
    proptest!(ProptestConfig::with_cases(1500), |((array, file, at, change) in strategy)| {
        let (name, files) = &all[array];
        let store = damaged(files, usize::from(file) % files.len(), usize::from(at), change);
        let options = OpenOptions { limits, ..OpenOptions::default() };
        let Ok(array) = Array::open(store, &Key::new(name).unwrap(), options) else { return Ok(()) };
        let _ = array.metadata();
        let Ok(domain) = array.dense_domain() else { return Ok(()) };
        let region = Region::new(vec![0; domain.shape.len()], domain.shape.iter().map(|n| *n.min(&20)).collect());
        for attribute in 0..array.attributes().len() {
            let own = &array.attributes()[attribute];
            let values = match own.cell_val_num { CellValNum::Fixed(values) => values, CellValNum::Var => 1 };
            if values < 1000 {
                let _ = read(&array, attribute, &region);
            }
        }
    });
}
