//! Stores written region by region.

use hyperslab::assemble::{Assembly, AssemblyOptions, Receipt};
use hyperslab::model::{
    Attributes, BoxedStorage, Datatype, DimCoord, Directive, Extent, Filter, Ndarray, Node, Shape, Storage,
    Text, Values,
};
use hyperslab::select::Select;
use hyperslab::target::{Loss, TargetOptions};
use hyperslab::{
    ErrorKind, File, Heap, NodePath, OpenOptions, Region, Source, StoreBuilder, Utf8, digest, open,
    with_target_option,
};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

fn numbers(values: impl IntoIterator<Item = i32>) -> Values {
    let rows: Vec<u8> = values.into_iter().flat_map(i32::to_ne_bytes).collect();
    Values { rows: rows.into(), ..Values::default() }
}

fn texts(texts: &[&str]) -> Values {
    let mut heap = Heap::default();
    let slots = texts.iter().map(|text| heap.push_bytes(text.as_bytes().to_vec().into()).unwrap().to_bytes());
    Values { rows: slots.collect::<Vec<_>>().concat().into(), heap }
}

/// An unlimited dimension of length 5, a coordinate of length 4, numbers and strings.
fn schema() -> StoreBuilder {
    let mut schema = StoreBuilder::new();
    let time = DimCoord {
        size: Extent::Unlimited { current: 5 },
        datatype: None,
        attributes: Attributes::default(),
        storage: BoxedStorage::default(),
        value: None,
    };
    schema.node("/time", Node::DimCoord(time)).unwrap();
    schema.coordinate("/x", &[0.5_f64, 1.5, 2.5, 3.5]).unwrap().attribute("units", "m");
    schema.declare::<i32>("/n", &["/time", "/x"]).unwrap().chunk(&[2, 3]).attribute("units", "K");
    let names = Ndarray {
        shape: Shape::fixed(&[3]),
        dimension: None,
        datatype: Some(Arc::new(Datatype::String(Text::Variable))),
        attributes: Attributes::default(),
        storage: BoxedStorage::default(),
        value: None,
    };
    schema.node("/g/names", Node::Ndarray(names)).unwrap();
    schema
}

fn path(path: &str) -> NodePath {
    NodePath::new(path).unwrap()
}

fn region(start: &[u64], count: &[u64]) -> Region {
    Region::new(start.to_vec(), count.to_vec())
}

fn begin(target: &Path) -> Assembly {
    Assembly::create(target, &*schema().build(), &AssemblyOptions::default()).unwrap()
}

/// Writes everything in four parts, each as a separate process would.
fn write_all(folder: &Path) -> Vec<Receipt> {
    let write = |array: &str, region: Region, values: &Values| {
        let there = Assembly::open(folder).unwrap();
        let receipt = there.write(&path(array), &region, values).unwrap();
        Receipt::of_json(&receipt.to_json()).unwrap()
    };
    let rows = |from: i32, count: i32| {
        numbers((from..from + count).flat_map(|row| (0..4).map(move |x| row * 4 + x)))
    };
    vec![
        write("/n", region(&[4, 0], &[1, 4]), &rows(4, 1)),
        write("/n", region(&[0, 0], &[2, 4]), &rows(0, 2)),
        write("/g/names", region(&[0], &[3]), &texts(&["one", "", "drei"])),
        write("/n", region(&[2, 0], &[2, 4]), &rows(2, 2)),
    ]
}

fn digests(source: &dyn Source) -> Vec<String> {
    let lines = digest::lines(source, &NodePath::root()).unwrap();
    let mut lines: Vec<String> = lines.iter().map(|line| line.columns().join(" ")).collect();
    lines.sort();
    lines
}

#[test]
fn regions_from_anywhere_become_one_store_of_any_format() {
    let folder = TempDir::new().unwrap();
    let mut all = Vec::new();
    for name in ["t.nc", "t.h5", "t.zarr", "t.tdb"] {
        let target = folder.path().join(name);
        let assembly = begin(&target);
        assert_eq!(assembly.waiting(), [path("/n"), path("/g/names")], "{name}");
        let mut receipts = write_all(assembly.folder());
        // A worker that was presumed lost writes the same again.
        receipts.extend(write_all(assembly.folder()));
        assert!(!target.exists());
        let hidden = assembly.folder().to_owned();
        assembly.finish(&receipts).unwrap();
        assert!(!hidden.exists());
        let file = File::open(&target).unwrap();
        let read = file.array("/n").unwrap().read::<i32>(&Select::all()).unwrap();
        assert_eq!(read, (0..20).collect::<Vec<_>>(), "{name}");
        let names = file.array("/g/names").unwrap().strings(&Select::all(), Utf8::Strict).unwrap();
        assert_eq!(names.iter().collect::<Vec<_>>(), ["one", "", "drei"], "{name}");
        assert_eq!(file.array("/n").unwrap().dimensions(), [Some("time"), Some("x")]);
        let source = open(&target, &OpenOptions::default()).unwrap();
        all.push(digests(&*source));
    }
    let [first, others @ ..] = all.as_slice() else { panic!() };
    assert!(others.iter().all(|other| other == first), "{all:#?}");
}

#[test]
fn regions_that_cut_chunks_are_refused_with_those_that_do_not() {
    let folder = TempDir::new().unwrap();
    let assembly = begin(&folder.path().join("t.nc"));
    let write =
        |region: Region, count: i32| assembly.write(&path("/n"), &region, &numbers(0..count)).unwrap_err();
    let cut = write(region(&[1, 0], &[2, 4]), 8);
    assert_eq!(cut.kind(), ErrorKind::InvalidArgument);
    assert!(cut.to_string().contains("1..3 along dimension 0, which cuts chunks of [2, 3]"), "{cut}");
    assert!(cut.to_string().contains("begin at a multiple of 2, and end at one or at 5"), "{cut}");
    assert!(write(region(&[0, 0], &[2, 2]), 4).to_string().contains("dimension 1"));
    assert!(write(region(&[4, 0], &[2, 4]), 8).kind() == ErrorKind::InvalidArgument);
    let few = write(region(&[0, 0], &[2, 3]), 5);
    assert!(few.to_string().contains("5 elements for a region of 6"), "{few}");
    let whole = assembly.write(&path("/x"), &region(&[0], &[4]), &Values::default()).unwrap_err();
    assert!(whole.to_string().contains("has all its elements already"), "{whole}");
    assert_eq!(assembly.unit(&path("/n")).unwrap(), [2, 3]);
}

#[test]
fn only_what_has_a_receipt_is_in_the_store() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("t.zarr");
    let assembly = begin(&target);
    let receipts = write_all(assembly.folder());
    let kept: Vec<Receipt> = receipts[1..].to_vec();
    assembly.finish(&kept).unwrap();
    let read = File::open(&target).unwrap().array("/n").unwrap().read::<i32>(&Select::all()).unwrap();
    assert_eq!(read[..16], (0..16).collect::<Vec<_>>());
    assert!(read[16..].iter().all(|value| *value == read[16] && !(16..20).contains(value)), "{read:?}");
    // A chunk has disappeared after it was written.
    let other = begin(&folder.path().join("u.nc"));
    let receipts = write_all(other.folder());
    std::fs::remove_file(other.folder().join("store/n/c/2/1")).unwrap();
    let error = other.finish(&receipts).unwrap_err();
    assert!(error.to_string().contains("chunk [2, 1] has a receipt but is not stored"), "{error}");
    assert!(!folder.path().join("u.nc").exists());
}

#[test]
fn chunks_that_were_encoded_where_they_were_written_become_those_of_the_store() {
    let folder = TempDir::new().unwrap();
    let deflate = ("level".to_owned(), Directive::Int(4));
    let filters = [("shuffle", vec![]), ("deflate", vec![deflate]), ("fletcher32", vec![])]
        .map(|(name, parameters)| Filter { name: name.to_owned(), main: !parameters.is_empty(), parameters });
    let storage = Storage { chunk: Some(vec![64, 64]), filters: filters.to_vec(), ..Storage::default() };
    let array = Ndarray {
        shape: Shape::fixed(&[128, 64]),
        dimension: None,
        datatype: Some(Arc::new(Datatype::int(32, true))),
        attributes: Attributes::default(),
        storage: storage.into(),
        value: None,
    };
    for name in ["t.nc", "t.h5", "t.zarr"] {
        let mut schema = StoreBuilder::new();
        schema.node("/n", Node::Ndarray(array.clone())).unwrap();
        let target = folder.path().join(name);
        let assembly = Assembly::create(&target, &*schema.build(), &AssemblyOptions::default()).unwrap();
        let values = numbers((0..64 * 64).map(|at| at * at));
        let mut receipts = Vec::new();
        for first in [0, 64] {
            let receipt = assembly.write(&path("/n"), &region(&[first, 0], &[64, 64]), &values).unwrap();
            receipts.push(receipt);
        }
        let encoded = std::fs::read(assembly.folder().join("store/n/c/1/0")).unwrap();
        assembly.finish(&receipts).unwrap();
        let stored = match target.is_dir() {
            true => std::fs::read(target.join("n/c/1/0")).unwrap(),
            false => std::fs::read(&target).unwrap(),
        };
        assert!(
            stored.windows(encoded.len()).any(|part| part == encoded),
            "{name}: chunks are encoded again"
        );
        let read = File::open(&target).unwrap().array("/n").unwrap().read::<i32>(&Select::all()).unwrap();
        assert_eq!(read[64 * 64 + 3], 9);
    }
}

#[test]
fn options_of_the_declaration_hold_wherever_the_store_is_finished() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("t.h5");
    let native = with_target_option(TargetOptions::default(), "hdf5.userblock", Some("1KiB"), "").unwrap();
    let allow = vec![Loss::Filters, Loss::Precision];
    let options = AssemblyOptions { native, allow, overwrite: true, ..AssemblyOptions::default() };
    begin(&target).finish(&[]).unwrap();
    let refused = Assembly::create(&target, &*schema().build(), &AssemblyOptions::default());
    assert_eq!(refused.err().unwrap().kind(), ErrorKind::AlreadyExists);
    let declared = Assembly::create(&target, &*schema().build(), &options).unwrap();
    let receipts = write_all(declared.folder());
    Assembly::open(declared.folder()).unwrap().finish(&receipts).unwrap();
    let bytes = std::fs::read(&target).unwrap();
    assert_eq!(bytes[1024..1028], *b"\x89HDF");
}

#[test]
fn one_process_declares_a_store_and_a_killed_one_leaves_nothing_at_the_target() {
    let folder = TempDir::new().unwrap();
    let target = folder.path().join("t.nc");
    let assembly = begin(&target);
    let second = Assembly::create(&target, &*schema().build(), &AssemblyOptions::default());
    assert_eq!(second.err().unwrap().kind(), ErrorKind::AlreadyExists);
    let hidden = assembly.folder().to_owned();
    write_all(&hidden);
    // As with a killed process, the lock is released and the folder remains.
    drop(assembly);
    assert!(hidden.is_dir() && !target.exists());
    let again = begin(&target);
    let receipts = write_all(again.folder());
    again.finish(&receipts).unwrap();
    assert!(target.is_file() && !hidden.exists());
    let taken = Assembly::create(&target, &*schema().build(), &AssemblyOptions::default());
    assert_eq!(taken.err().unwrap().kind(), ErrorKind::AlreadyExists);
    let replaced = AssemblyOptions { overwrite: true, ..AssemblyOptions::default() };
    let assembly = Assembly::create(&target, &*schema().build(), &replaced).unwrap();
    let abandoned = assembly.folder().to_owned();
    assembly.abandon().unwrap();
    assert!(target.is_file() && !abandoned.exists());
    assert!(Assembly::open(&abandoned).is_err());
}
