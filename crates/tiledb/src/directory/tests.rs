use super::*;
use crate::format::consolidated_commits::ConsolidatedCommit;
use crate::format::encode_all;
use hyperslab_core::store::MemoryStore;

pub(crate) fn name(start: u64, end: u64, version: u32) -> String {
    format!("__{start}_{end}_0123456789abcdef0123456789abcdef_{version}")
}

pub(crate) fn store(files: &[(&str, &str)]) -> MemoryStore {
    let mut store = MemoryStore::new();
    for (key, value) in files {
        store.insert(&Key::new(key).unwrap(), value.as_bytes().to_vec());
    }
    store
}

pub(crate) fn read(files: &[(&str, &str)]) -> ArrayDirectory {
    ArrayDirectory::read(&store(files), &Key::root(), &Limits::default()).unwrap()
}

fn keys(directory: &ArrayDirectory) -> Vec<&str> {
    directory.fragments.iter().map(|fragment| fragment.key.as_str()).collect()
}

const UUID: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn fragments_of_all_generations_are_found() {
    let first = format!("__{UUID}_1");
    let third = format!("__3_3_{UUID}");
    let (fifth, new, incomplete) = (name(5, 5, 5), name(12, 12, 12), name(6, 6, 11));
    let directory = read(&[
        ("__array_schema.tdb", ""),
        ("__lock.tdb", ""),
        (&format!("{first}/__fragment_metadata.tdb"), "x"),
        (&format!("{third}/__fragment_metadata.tdb"), "x"),
        (&format!("__4_4_{UUID}/a.tdb"), "no metadata file"),
        (&format!("{fifth}/__fragment_metadata.tdb"), "x"),
        (&format!("{fifth}.ok"), ""),
        (&format!("{incomplete}/__fragment_metadata.tdb"), "no commit"),
        (&format!("__commits/{new}.wrt"), ""),
        ("README", "of somebody"),
    ]);
    assert_eq!(keys(&directory), [&first, &third, &fifth, &format!("__fragments/{new}")]);
    let ignored: Vec<&str> = directory.ignored.iter().map(Key::as_str).collect();
    assert_eq!(ignored, ["README", &format!("__4_4_{UUID}"), &incomplete]);
}

#[test]
fn consolidated_commits_count_unless_they_are_ignored() {
    let (old, kept, gone) = (name(1, 1, 10), name(2, 2, 22), name(3, 3, 22));
    let commits = format!("__commits/{old}.ok\n__commits/{kept}.wrt\n__commits/{gone}.wrt\n");
    let directory = read(&[
        ("__array_schema.tdb", ""),
        (&format!("{old}/__fragment_metadata.tdb"), "x"),
        (&format!("__commits/{}.con", name(1, 3, 22)), &commits),
        (&format!("__commits/{}.ign", name(3, 3, 22)), &format!("__commits/{gone}.wrt\n")),
        (&format!("__commits/{kept}.wrt"), ""),
    ]);
    assert_eq!(keys(&directory), [&old, &format!("__fragments/{kept}")]);
    assert!(directory.ignored.is_empty());
}

#[test]
fn deletes_of_consolidated_commits_have_their_bytes() {
    let (own, other) = (name(2, 2, 22), name(1, 1, 22));
    let bytes = |text: &str| format!("__commits/{text}.del\n\x04\0\0\0\0\0\0\0tile");
    let directory = read(&[
        ("__array_schema.tdb", ""),
        (&format!("__commits/{}.con", name(1, 2, 22)), &[bytes(&other), bytes(&own)].concat()),
        (&format!("__commits/{own}.del"), "tile"),
    ]);
    let [first, second] = directory.deletes.as_slice() else { panic!("{:?}", directory.deletes) };
    assert_eq!(first.place, DeletePlace::Consolidated(b"tile".to_vec()));
    assert!(matches!(&second.place, DeletePlace::File(key) if key.name() == format!("{own}.del")));
}

#[test]
fn absolute_uris_of_old_vacuum_files_count_by_their_last_name() {
    let part = name(1, 1, 8);
    let whole = name(1, 2, 8);
    let directory = read(&[
        ("__array_schema.tdb", ""),
        (&format!("{whole}.vac"), &format!("file:///somewhere/else/{part}\n")),
        (&format!("__fragment_meta/{}.meta", name(1, 2, 22)), ""),
        (&format!("{}.meta", name(1, 2, 8)), ""),
    ]);
    let [vacuum] = directory.fragment_vacuums.as_slice() else { panic!("one vacuum file") };
    assert_eq!(vacuum.replaced.iter().collect::<Vec<_>>(), [&part]);
    assert_eq!(directory.consolidated_footers.len(), 2);
}

#[test]
fn folders_without_schema_are_no_arrays() {
    let store =
        store(&[("a/__schema/__1_1_x", ""), ("b/__array_schema.tdb", ""), ("g/__tiledb_group.tdb", "")]);
    let found = ["a", "b", "g", "none"].map(|key| is_array(&store, &Key::new(key).unwrap()).unwrap());
    assert_eq!(found, [true, true, false, false]);
    let e = ArrayDirectory::read(&store, &Key::new("g").unwrap(), &Limits::default()).unwrap_err();
    assert_eq!(e.to_string(), "g: no array schema");
}

#[test]
fn consolidated_deletes_count_once() {
    let [own, both, twice] = [1, 2, 3].map(|time| format!("{}.del", name(time, time, 22)));
    let commit = |file: &String| {
        let uri = format!("__commits/{file}").into_bytes();
        ConsolidatedCommit { uri, delete: Some(vec![7]) }
    };
    let mut store = store(&[("__array_schema.tdb", "")]);
    for file in [&own, &both] {
        store.insert(&Key::new(&format!("__commits/{file}")).unwrap(), vec![7]);
    }
    let consolidated = ConsolidatedCommits { commits: [&both, &twice, &twice].map(commit).to_vec() };
    let key = Key::new(&format!("__commits/{}.con", name(2, 3, 22))).unwrap();
    store.insert(&key, encode_all(&consolidated, &()).unwrap());
    let directory = ArrayDirectory::read(&store, &Key::root(), &Limits::default()).unwrap();
    let has_file = |of: &DeleteCommit| matches!(of.place, DeletePlace::File(_));
    let found: Vec<(u64, bool)> = directory.deletes.iter().map(|of| (of.name.start, has_file(of))).collect();
    assert_eq!(found, [(1, true), (2, true), (3, false)]);
}

#[test]
fn malformed_commit_files_are_errors_that_name_the_file() {
    let key = format!("__commits/{}.con", name(1, 2, 22));
    let store = store(&[("__array_schema.tdb", ""), (&key, "a line that was cut")]);
    let e = ArrayDirectory::read(&store, &Key::root(), &Limits::default()).unwrap_err();
    assert!(e.to_string().starts_with(&key), "{e}");
}

#[test]
fn temporary_files_of_metadata_are_ignored() {
    let directory = read(&[("__array_schema.tdb", ""), (&format!("__meta/__1_1_{UUID}.tmp"), "half")]);
    assert!(directory.metadata.is_empty());
    assert_eq!(directory.ignored.len(), 1);
}
