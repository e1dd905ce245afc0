//! A killed writer leaves complete values, old or new, and no partial value.

use hyperslab_core::storage::FileStorage;
use hyperslab_core::store::{
    DirectoryStore, DirectoryWriter, Durability, Key, Store, WritableStore, ZipStore, ZipWriter,
};
use hyperslab_core::{ErrorKind, Limits};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "HYPERSLAB_TEST_KILLED_IN";
const KEYS: [&str; 4] = ["a/c/0/0", "a/c/0/1", "b/c/0", "zarr.json"];

/// Large enough that the kill probably happens during a write. The length shows whether a value is complete.
fn value(generation: u8) -> Vec<u8> {
    vec![generation; 500_000 + 10_000 * usize::from(generation)]
}

#[test]
fn values_of_a_killed_writer_are_complete() {
    let program = std::env::current_exe().unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..12_u64 {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(&program)
            .args(["kill::writes_until_killed", "--exact", "--ignored", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Wait until there are values to replace, even on a slow machine.
        for _ in 0..30_000 {
            if std::fs::read(folder.path().join("store/zarr.json"))
                .is_ok_and(|value| value.first() >= Some(&2))
            {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_micros(round * 1_700));
        child.kill().unwrap();
        child.wait().unwrap();

        let store = DirectoryStore::open(folder.path().join("store")).unwrap();
        for key in KEYS {
            let found = store.read(&Key::new(key).unwrap(), 1 << 30).unwrap();
            let Some(found) = found else { continue };
            let generation = *found.first().unwrap_or(&0);
            assert!(found == value(generation), "{key} of {} bytes", found.len());
            seen.insert(generation);
        }
        let writer = DirectoryWriter::open(folder.path().join("store"), Durability::Process).unwrap();
        assert!(writer.remove_unfinished().unwrap() <= 1);
        check_zip(&folder.path().join("store.zip"));
    }
    assert!(seen.iter().any(|generation| *generation >= 2), "{seen:?}");
}

/// Checks that a value does not exist or is complete.
fn check_zip(path: &Path) {
    let file = match FileStorage::open(path) {
        Ok(file) => file,
        Err(e) => return assert_eq!(e.kind(), ErrorKind::FileNotFound),
    };
    let store = ZipStore::open(Box::new(file), &Limits::default()).unwrap();
    let values = KEYS.map(|key| store.read(&Key::new(key).unwrap(), 1 << 30).unwrap().unwrap());
    for found in &values {
        assert!(*found == value(*values[0].first().unwrap()), "{} bytes", found.len());
    }
}

#[test]
#[ignore = "only for the test that kills it"]
fn writes_until_killed() {
    let folder = std::env::var_os(FOLDER).unwrap();
    let folder = Path::new(&folder);
    let store = DirectoryWriter::create(folder.join("store"), Durability::Process).unwrap();
    for generation in (1..=50).cycle() {
        let zip = ZipWriter::create(folder.join("store.zip"), Durability::Process).unwrap();
        for key in KEYS {
            store.put(&Key::new(key).unwrap(), &value(generation)).unwrap();
            zip.put(&Key::new(key).unwrap(), &value(generation)).unwrap();
        }
        zip.finish().unwrap();
    }
}
