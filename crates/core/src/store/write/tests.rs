use super::*;
use crate::ErrorKind;
use crate::store::tests::contract;
use crate::store::{DirectoryWriter, EntryKind, MemoryStore, ZipWriter};
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

fn directory(path: &Path) -> DirectoryWriter {
    DirectoryWriter::open(path, Durability::Process).unwrap()
}

#[test]
fn written_values_are_read_equally_from_all_stores() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let stores: [&dyn WritableStore; 4] = [
        &MemoryStore::new(),
        &DirectoryWriter::create(path("a"), Durability::Process).unwrap(),
        &DirectoryWriter::create(path("b"), Durability::Power).unwrap(),
        &ZipWriter::create(path("c.zip"), Durability::Process).unwrap(),
    ];
    for store in stores {
        store.put(&key("a/c/0"), &[b'x'; 500]).unwrap();
        store.put(&key("zarr.json"), b"an old value").unwrap();
        store.put(&key("zarr.json"), b"{}").unwrap();
        store.put(&key("a/zarr.json"), b"[]").unwrap();
        contract(store);
        store.put(&key("b/c/0"), b"").unwrap();
        assert_eq!(store.size(&key("b/c/0")).unwrap(), Some(0));
        assert!(store.delete(&key("b/c/0")).unwrap());
        for absent in ["b/c/0", "b/c", "d/e", "zarr.json/x"] {
            assert!(!store.delete(&key(absent)).unwrap(), "{absent}");
        }
        contract(store);
        assert_eq!(store.put(&Key::root(), b"").unwrap_err().kind(), ErrorKind::InvalidArgument);
        store.finish().unwrap();
    }
}

#[test]
fn values_in_parts_are_those_that_are_put_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let stores: [Arc<dyn WritableStore>; 3] = [
        Arc::new(MemoryStore::new()),
        Arc::new(DirectoryWriter::create(path("a"), Durability::Power).unwrap()),
        Arc::new(ZipWriter::create(path("b.zip"), Durability::Process).unwrap()),
    ];
    for store in stores {
        let value = Arc::clone(&store).writer(&key("a/b")).unwrap();
        value.write_at(4, b"efgh").unwrap();
        value.write_at(0, b"ab").unwrap();
        value.finish(6).unwrap();
        assert_eq!(store.read(&key("a/b"), 100).unwrap().unwrap(), &b"ab\0\0ef"[..]);
    }
    // An interrupted writer continues.
    let store = Arc::new(directory(&path("a")));
    let value = Arc::clone(&store).writer(&key("a/b")).unwrap();
    value.write_at(2, b"cd").unwrap();
    value.finish(5).unwrap();
    assert_eq!(store.read(&key("a/b"), 100).unwrap().unwrap(), &b"abcde"[..]);
    assert!(store.writer(&key("a")).is_err());
}

#[test]
fn creates_a_directory_only_if_it_is_missing_and_its_parent_exists() {
    let folder = tempfile::tempdir().unwrap();
    let again = DirectoryWriter::create(folder.path(), Durability::Process).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);
    let far = DirectoryWriter::create(folder.path().join("a/b"), Durability::Process).unwrap_err();
    assert_eq!(far.kind(), ErrorKind::FileNotFound);
}

#[test]
fn rejects_keys_below_a_value() {
    let folder = tempfile::tempdir().unwrap();
    let store = directory(folder.path());
    store.put(&key("a/b"), b"1").unwrap();
    let e = store.put(&key("a/b/c"), b"2").unwrap_err();
    assert_eq!(
        (e.kind(), e.to_string()),
        (ErrorKind::InvalidArgument, "a/b is a value, and has nothing below it".into())
    );
    let e = store.put(&key("a/b/c/d"), b"2").unwrap_err();
    assert_eq!(e.kind(), ErrorKind::InvalidArgument);
    let e = store.put(&key("a"), b"2").unwrap_err();
    assert_eq!((e.kind(), e.to_string()), (ErrorKind::InvalidArgument, "a has values below it".into()));
    assert_eq!(store.list(&Key::root()).unwrap().len(), 1);
    assert_eq!(store.read(&key("a/b"), 1).unwrap().unwrap(), &b"1"[..]);
}

#[test]
fn creates_removed_folders_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = directory(folder.path());
    store.put(&key("a/b/0"), b"1").unwrap();
    fs::remove_dir_all(folder.path().join("a")).unwrap();
    store.put(&key("a/b/1"), b"2").unwrap();
    assert_eq!(store.read(&key("a/b/1"), 1).unwrap().unwrap(), &b"2"[..]);
    fs::remove_dir_all(folder.path().join("a")).unwrap();
    store.put(&key("a/c/1"), b"3").unwrap();
    assert_eq!(store.read(&key("a/c/1"), 1).unwrap().unwrap(), &b"3"[..]);
}

#[test]
fn removes_unfinished_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = directory(folder.path());
    store.put(&key("a/b/0"), b"1").unwrap();
    for left in [".hyperslab-1-2.partial", "a/b/.hyperslab-77-0.partial"] {
        fs::write(folder.path().join(left), "half of someth").unwrap();
    }
    assert_eq!(store.remove_unfinished().unwrap(), 2);
    assert_eq!(store.remove_unfinished().unwrap(), 0);
    assert_eq!(store.list(&key("a/b")).unwrap().len(), 1);
}

#[test]
fn deletes_all_below_a_prefix_and_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let (directory, memory) = (directory(folder.path()), MemoryStore::new());
    for store in [&directory as &dyn WritableStore, &memory] {
        for name in ["a/b/0", "a/b/c/1", "a/b2", "a/d/0"] {
            store.put(&key(name), b"1").unwrap();
        }
        store.delete_below(&key("a/b")).unwrap();
        store.delete_below(&key("a/b")).unwrap();
        store.delete_below(&key("a/b2")).unwrap();
        store.delete_below(&key("x/y")).unwrap();
        let left = store.list(&key("a")).unwrap();
        assert_eq!(left.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["b2", "d"]);
    }
}

#[cfg(unix)]
#[test]
fn writes_nothing_outside_the_directory() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    let inside = folder.path().join("inside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("value"), "theirs").unwrap();
    fs::create_dir(&inside).unwrap();
    fs::create_dir(inside.join("real")).unwrap();
    symlink(&outside, inside.join("out")).unwrap();
    symlink(outside.join("value"), inside.join("value")).unwrap();
    symlink(folder.path().join("nowhere"), inside.join("dangling")).unwrap();
    symlink("circle", inside.join("circle")).unwrap();
    symlink("real", inside.join("alias")).unwrap();
    fs::create_dir(inside.join("real/inner")).unwrap();
    symlink(&outside, inside.join("real/inner/out")).unwrap();
    symlink("../..", inside.join("real/up")).unwrap();
    let store = directory(&inside);
    store.put(&key("alias/inner/a"), b"ours").unwrap();
    assert_eq!(fs::read(inside.join("real/inner/a")).unwrap(), b"ours");
    for refused in [
        "out/a",
        "out/value",
        "out/a/b",
        "dangling/a",
        "circle/a",
        "real/inner/out/a",
        "alias/inner/out/a/b",
        "alias/up/outside/a",
    ] {
        assert!(store.put(&key(refused), b"ours").is_err(), "{refused}");
    }
    assert!(store.delete(&key("out/value")).is_err());
    store.put(&key("value"), b"ours").unwrap();
    store.put(&key("alias/a"), b"ours").unwrap();
    assert_eq!(fs::read(inside.join("real/a")).unwrap(), b"ours");
    assert_eq!(fs::read(outside.join("value")).unwrap(), b"theirs");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert!(!folder.path().join("nowhere").exists());
    let kinds = store.list(&Key::root()).unwrap();
    let value = kinds.iter().find(|entry| entry.name == "value").unwrap();
    assert_eq!(value.kind, EntryKind::Value);
}

#[cfg(unix)]
#[test]
fn writes_nothing_where_a_link_was_put_in_the_place_of_a_folder() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("0"), "theirs").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = directory(folder.path());
    store.put(&key("a/b/0"), b"ours").unwrap();
    fs::rename(folder.path().join("a/b"), folder.path().join("a/moved")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("a/b")).unwrap();
    for name in ["a/b/0", "a/b/1", "a/b/c/1"] {
        let e = store.put(&key(name), b"ours").unwrap_err();
        assert!(e.to_string().ends_with("leads out of the store"), "{e}");
    }
    assert!(store.delete(&key("a/b/0")).is_err());
    assert_eq!(fs::read(outside.path().join("0")).unwrap(), b"theirs");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn opens_at_a_real_path_and_through_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    fs::create_dir_all(real.join("store/below")).unwrap();
    fs::write(real.join("theirs.zip"), "theirs").unwrap();
    std::os::unix::fs::symlink("store", real.join("link")).unwrap();
    std::os::unix::fs::symlink("theirs.zip", real.join("link.zip")).unwrap();
    DirectoryWriter::open_real(real.join("store/below"), Durability::Process).unwrap();
    for linked in ["link", "link/below"] {
        assert!(DirectoryWriter::open_real(real.join(linked), Durability::Process).is_err(), "{linked}");
    }
    let go_on =
        |path: &str| ZipWriter::go_on(real.join(path), Durability::Process, &crate::Limits::default());
    for linked in ["link.zip", "link/new.zip"] {
        assert!(go_on(linked).is_err(), "{linked}");
    }
    go_on("store/new.zip").unwrap();
    assert_eq!(fs::read(real.join("theirs.zip")).unwrap(), b"theirs");
}
