use super::*;
use crate::wrapper::{Cancellable, Counted, Watched};
use crate::{CancelToken, ErrorKind, Limits};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn key(key: &str) -> Key {
    Key::new(key).unwrap()
}

fn names(entries: &[Entry]) -> Vec<(&str, EntryKind)> {
    entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect()
}

fn fixture(name: &str) -> Vec<u8> {
    let lines = include_str!("../../tests/fixtures/zips.txt").lines();
    let hex = lines.filter_map(|line| line.split_once(' ')).find(|(found, _)| *found == name).unwrap().1;
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn zip(bytes: Vec<u8>) -> Result<ZipStore> {
    ZipStore::open(Box::new(Bytes::from(bytes)), &Limits::default())
}

/// Checks a store with the values `zarr.json` (`{}`), `a/zarr.json` (`[]`) and `a/c/0` (500 times `x`).
pub(super) fn contract(store: &dyn Store) {
    assert_eq!(store.read(&key("zarr.json"), 100).unwrap().unwrap(), &b"{}"[..]);
    assert_eq!(store.size(&key("a/c/0")).unwrap(), Some(500));
    assert_eq!(store.read(&key("a/c/0"), 500).unwrap().unwrap(), vec![b'x'; 500]);
    assert_eq!(store.read(&key("a/c/0"), 499).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(store.read_range(&key("a/c/0"), 498..500).unwrap().unwrap(), &b"xx"[..]);
    assert_eq!(store.read_range(&key("a/c/0"), 500..500).unwrap().unwrap(), &b""[..]);
    for range in [498..501, 501..501, u64::MAX - 1..u64::MAX, 0..u64::MAX] {
        assert_eq!(store.read_range(&key("a/c/0"), range).unwrap_err().kind(), ErrorKind::Malformed);
    }
    let parts = store.read_ranges(&key("a/c/0"), &[498..500, 0..1]).unwrap().unwrap();
    assert_eq!(parts, [&b"xx"[..], b"x"]);
    assert!(store.read_ranges(&key("a/c/0"), &[0..1, 499..501]).is_err());
    let whole = key("a/c/0");
    let value = store.find(&whole).unwrap().unwrap();
    assert_eq!((value.size(), value.parts(&[0..500, 3..5]).unwrap()[1].len()), (500, 2));
    let mut out = [0; 3];
    value.read(497, &mut out).unwrap();
    assert!(&out == b"xxx" && value.read(498, &mut out).is_err());
    let keys = ["a/c/0", "nothing", "zarr.json", "a/c/0"].map(key);
    let lens = |max_bytes| {
        store.read_many(&keys, max_bytes).into_iter().map(|read| read.map(|of| of.map(|of| of.len())))
    };
    assert_eq!(lens(500).map(Result::unwrap).collect::<Vec<_>>(), [Some(500), None, Some(2), Some(500)]);
    let kinds: Vec<_> = lens(499).map(|read| read.map_err(|e| e.kind())).collect();
    let limit = Err(ErrorKind::LimitExceeded);
    assert_eq!(kinds, [limit, Ok(None), Ok(Some(2)), limit]);
    for absent in ["", "a", "a/c", "b/c", "zarr.json/x", "A/zarr.json"] {
        assert_eq!(store.read(&key(absent), 100).unwrap(), None, "{absent}");
        assert_eq!(store.read_range(&key(absent), 0..1).unwrap(), None, "{absent}");
        assert_eq!(store.size(&key(absent)).unwrap(), None, "{absent}");
    }
    let found = store.list(&key("a")).unwrap();
    assert_eq!(names(&found), [("c", EntryKind::Prefix), ("zarr.json", EntryKind::Value)]);
    assert_eq!(names(&store.list(&key("a/c")).unwrap()), [("0", EntryKind::Value)]);
    let root = store.list(&Key::root()).unwrap();
    assert!(names(&root).contains(&("a", EntryKind::Prefix)));
    assert!(names(&root).contains(&("zarr.json", EntryKind::Value)));
    assert_eq!(store.list(&key("nothing")).unwrap(), []);
    assert_eq!(store.list(&key("zarr.json")).unwrap(), []);
}

fn directory() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("a/c")).unwrap();
    fs::write(folder.path().join("zarr.json"), "{}").unwrap();
    fs::write(folder.path().join("a/zarr.json"), "[]").unwrap();
    fs::write(folder.path().join("a/c/0"), "x".repeat(500)).unwrap();
    folder
}

#[test]
fn all_stores_give_the_same_results() {
    let mut memory = MemoryStore::new();
    memory.insert(&key("zarr.json"), "{}");
    memory.insert(&key("a/zarr.json"), "[]");
    memory.insert(&key("a/c/0"), "x".repeat(500));
    contract(&memory);
    contract(&DirectoryStore::open(directory().path()).unwrap());
    contract(&zip(fixture("plain")).unwrap());
    contract(&far_zip(fixture("plain")).unwrap());
    contract(&Watched::new(memory.clone(), Arc::new(|_| {})));
    contract(&Cancellable::new(
        Arc::new(DirectoryStore::open(directory().path()).unwrap()),
        CancelToken::new(),
    ));
    contract(&Counted::far(Box::new(memory)));
}

fn far_zip(bytes: Vec<u8>) -> Result<ZipStore> {
    ZipStore::open(Box::new(Counted::far(Bytes::from(bytes))), &Limits::default())
}

#[test]
fn reads_of_a_store_are_reported_and_end_once_the_token_is_cancelled() {
    let (token, seen) = (CancelToken::new(), Arc::new(AtomicU64::new(0)));
    let folder = directory();
    let store = DirectoryStore::open(folder.path()).unwrap();
    let told = Arc::clone(&seen);
    let add = move |bytes| {
        told.fetch_add(bytes, Ordering::Relaxed);
    };
    let store = Cancellable::new(Watched::new(store, Arc::new(add)), token.clone());
    let (root, chunk) = (key("zarr.json"), key("a/c/0"));
    store.read(&root, 10).unwrap();
    store.read_ranges(&chunk, &[0..3, 1..2]).unwrap();
    store.read_many(&[root.clone(), key("nothing")], 10);
    let value = store.find(&chunk).unwrap().unwrap();
    value.read(0, &mut [0; 100]).unwrap();
    value.part(0..50).unwrap();
    store.list(&Key::root()).unwrap();
    assert_eq!(seen.load(Ordering::Relaxed), 2 + 3 + 1 + 2 + 100 + 50);
    token.cancel();
    let cancelled = |e: crate::Error| assert_eq!(e.kind(), ErrorKind::Cancelled);
    cancelled(store.size(&root).unwrap_err());
    cancelled(store.read(&root, 10).unwrap_err());
    cancelled(store.read_range(&root, 0..1).unwrap_err());
    store
        .read_many(&[root.clone(), chunk.clone()], 500)
        .into_iter()
        .for_each(|read| cancelled(read.unwrap_err()));
    cancelled(store.find(&root).err().unwrap());
    cancelled(store.list(&Key::root()).unwrap_err());
    cancelled(value.part(0..1).unwrap_err());
    cancelled(value.read(0, &mut [0]).unwrap_err());
}

#[test]
fn entries_of_a_far_zip_file_take_one_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let writer = ZipWriter::create(&path, Durability::Process).unwrap();
    let keys: Vec<Key> = (0..64).map(|number| key(&format!("c/{number}"))).collect();
    for (number, name) in (0..).zip(&keys) {
        writer.put(name, &[number; 10_000]).unwrap();
    }
    writer.finish().unwrap();
    let file = Arc::new(Counted::far(Bytes::from(fs::read(path).unwrap())));
    let store = ZipStore::open(Box::new(Arc::clone(&file)), &Limits::default()).unwrap();
    let requests = |work: &dyn Fn()| {
        let before = file.requests();
        work();
        file.requests() - before
    };
    assert_eq!(file.requests(), 1);
    assert_eq!(requests(&|| assert!(store.read_many(&keys, 10_000).iter().all(Result::is_ok))), 1);
    assert_eq!(requests(&|| assert_eq!(store.read(&keys[7], 10_000).unwrap().unwrap(), vec![7; 10_000])), 1);
    let parts = || store.read_ranges(&keys[9], &[9_999..10_000, 0..2]).unwrap().unwrap();
    assert_eq!(requests(&|| assert_eq!(parts(), [&[9][..], &[9, 9]])), 1);
}

#[test]
fn a_longer_local_header_takes_only_one_more_request() {
    // The second entry has an extra field of four bytes in its local header.
    let entry = |name: &[u8], extra: &[u8], at: u32| {
        let crc = [0xc2, 0x41, 0x24, 0x35];
        let start = [&b"\x14\0\0\0\0\0\0\0\0\0"[..], &crc, &[3, 0, 0, 0, 3, 0, 0, 0, 1, 0]].concat();
        let local =
            [b"PK\x03\x04", &start[..], &[u8::try_from(extra.len()).unwrap(), 0], name, extra, b"abc"]
                .concat();
        let central = [b"PK\x01\x02\x14\0", &start[..], &[0; 12], &at.to_le_bytes(), name].concat();
        (local, central)
    };
    let (first, in_directory) = entry(b"a", b"", 0);
    let (second, also) = entry(b"b", b"\x99\x99\0\0", u32::try_from(first.len()).unwrap());
    let (entries, directory) = ([first, second].concat(), [in_directory, also].concat());
    let [at, len] = [entries.len(), directory.len()].map(|n| u32::try_from(n).unwrap().to_le_bytes());
    let end = [&b"PK\x05\x06\0\0\0\0\x02\0\x02\0"[..], &len, &at, &[0, 0]].concat();
    let file = Arc::new(Counted::far(Bytes::from([entries, directory, end].concat())));
    let store = ZipStore::open(Box::new(Arc::clone(&file)), &Limits::default()).unwrap();
    for (name, requests) in [("a", 1), ("b", 2), ("b", 1), ("a", 1)] {
        let before = file.requests();
        assert_eq!(store.read(&key(name), 3).unwrap().unwrap(), "abc");
        assert_eq!(file.requests() - before, requests, "{name}");
    }
    for (name, requests) in [("b", 2), ("b", 1), ("a", 2)] {
        let before = file.requests();
        assert_eq!(store.read_range(&key(name), 1..3).unwrap().unwrap(), "bc");
        assert_eq!(file.requests() - before, requests, "{name}");
    }
}

#[test]
fn no_key_escapes_from_a_store() {
    for text in ["/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\0b"] {
        assert_eq!(Key::new(text).unwrap_err().kind(), ErrorKind::InvalidArgument, "{text:?}");
        assert!(key("a").join(text).is_err(), "{text:?}");
    }
    assert_eq!(key("a").join("b/c").unwrap(), key("a/b/c"));
    assert_eq!(Key::root().join("b").unwrap(), key("b"));
    assert_eq!(key("b").join("").unwrap(), key("b"));
    assert_eq!(key("...").name(), "...");
}

#[test]
fn lists_prefixes_once_between_names_that_sort_around_the_slash() {
    let mut memory = MemoryStore::new();
    for name in ["a-b", "a/1/2", "a/1/3", "a/2", "a0", "a", "a/1"] {
        memory.insert(&key(name), "");
    }
    let root = memory.list(&Key::root()).unwrap();
    assert_eq!(
        names(&root),
        [
            ("a", EntryKind::Value),
            ("a", EntryKind::Prefix),
            ("a-b", EntryKind::Value),
            ("a0", EntryKind::Value)
        ]
    );
    let below = memory.list(&key("a")).unwrap();
    assert_eq!(names(&below), [("1", EntryKind::Value), ("1", EntryKind::Prefix), ("2", EntryKind::Value)]);
}

#[test]
#[cfg(unix)]
fn links_are_followed_only_within_the_directory() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "s").unwrap();
    let folder = directory();
    let at = |name: &str| folder.path().join(name);
    symlink(outside.path().join("secret"), at("stolen")).unwrap();
    symlink(outside.path(), at("out")).unwrap();
    symlink("zarr.json", at("copy")).unwrap();
    symlink("..", at("a/up")).unwrap();
    symlink("self", at("self")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    let store = DirectoryStore::open(folder.path()).unwrap();
    for outside in ["stolen", "out/secret"] {
        let e = store.read(&key(outside), 10).unwrap_err();
        assert_eq!(
            (e.kind(), e.to_string()),
            (ErrorKind::Malformed, format!("{outside} leads out of the store"))
        );
        assert!(store.size(&key(outside)).is_err());
        assert!(store.read_range(&key(outside), 0..1).is_err());
    }
    assert!(store.list(&key("out")).is_err());
    assert_eq!(store.read(&key("copy"), 10).unwrap().unwrap(), &b"{}"[..]);
    assert_eq!(store.read(&key("a/up/a/up/zarr.json"), 10).unwrap().unwrap(), &b"{}"[..]);
    assert!(store.read(&key("self"), 10).is_err());
    assert_eq!(store.read(&key("dangling"), 10).unwrap(), None);
    let root = store.list(&Key::root()).unwrap();
    let kind = |name: &str| root.iter().find(|entry| entry.name == name).unwrap().kind;
    assert_eq!(kind("stolen"), EntryKind::Unfollowed("leads out of the store or in a circle"));
    assert_eq!(kind("self"), EntryKind::Unfollowed("leads out of the store or in a circle"));
    assert_eq!(kind("dangling"), EntryKind::Unfollowed("leads to nothing"));
    assert_eq!(kind("copy"), EntryKind::Value);
    assert!(names(&store.list(&key("a")).unwrap()).contains(&("up", EntryKind::Alias)));
    assert_eq!(store.resolve(&key("a/up/a/c/0")).unwrap(), Some(key("a/c/0")));
    assert_eq!(store.resolve(&key("a/up")).unwrap(), Some(Key::root()));
    assert_eq!(store.resolve(&key("dangling")).unwrap(), None);
}

#[test]
#[cfg(unix)]
fn a_link_put_in_the_place_of_a_folder_leads_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("0"), "outside").unwrap();
    let folder = directory();
    let store = DirectoryStore::open(folder.path()).unwrap();
    let inside = store.read(&key("a/c/0"), 1000).unwrap().unwrap();
    store.list(&key("a/c")).unwrap();
    fs::rename(folder.path().join("a/c"), folder.path().join("a/moved")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("a/c")).unwrap();
    let leads_out = |e: crate::Error| assert!(e.to_string().ends_with("leads out of the store"), "{e}");
    leads_out(store.read(&key("a/c/0"), 1000).unwrap_err());
    leads_out(store.read_range(&key("a/c/0"), 0..1).unwrap_err());
    leads_out(store.size(&key("a/c/0")).unwrap_err());
    leads_out(store.find(&key("a/c/0")).err().unwrap());
    leads_out(store.resolve(&key("a/c/0")).unwrap_err());
    leads_out(store.list(&key("a/c")).unwrap_err());
    assert_eq!(store.read(&key("a/c/no"), 1000).unwrap(), None);
    fs::remove_file(folder.path().join("a/c")).unwrap();
    std::os::unix::fs::symlink("moved", folder.path().join("a/c")).unwrap();
    assert_eq!(store.read(&key("a/c/0"), 1000).unwrap().unwrap(), inside);
}

#[test]
#[cfg(target_os = "linux")]
fn devices_and_pipes_are_not_opened() {
    let folder = directory();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    let socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    let store = DirectoryStore::open(folder.path()).unwrap();
    for name in ["pipe", "socket"] {
        let e = store.read(&key(name), 10).unwrap_err();
        assert_eq!(e.to_string(), format!("{name} is not a regular file"));
        let root = store.list(&Key::root()).unwrap();
        let entry = root.iter().find(|entry| entry.name == name).unwrap();
        assert_eq!(entry.kind, EntryKind::Refused("is not a regular file"));
    }
    drop(socket);
    assert_eq!(DirectoryStore::open("/dev/null").unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(DirectoryStore::open("/no such folder").unwrap_err().kind(), ErrorKind::FileNotFound);
}

#[test]
fn reads_or_rejects_zip_entries_of_every_kind() {
    let store = zip(fixture("plain")).unwrap();
    let refused = |name: &str| store.read(&key(name), 100).unwrap_err();
    assert_eq!(refused("b").to_string(), "b is packed by method 14");
    assert_eq!(refused("l").to_string(), "l is a symbolic link");
    assert!(store.read_range(&key("l"), 0..1).is_err());
    assert_eq!(store.read(&key("twice"), 3).unwrap().unwrap(), &b"new"[..]);
    let wide = zip(fixture("wide")).unwrap();
    assert_eq!(wide.read(&key("n/c/0"), 10).unwrap().unwrap(), &b"abcdef"[..]);
    assert_eq!(zip(fixture("empty")).unwrap().list(&Key::root()).unwrap(), []);
}

#[test]
fn deflated_entries_may_be_longer_than_their_inflated_bytes() {
    // One stored block in the deflate stream: its length, the inverted length, and the bytes.
    let stream = b"\x01\x03\0\xfc\xffabc";
    let crc = [0xc2, 0x41, 0x24, 0x35];
    let shared = [&b"\x14\0\0\0\x08\0\0\0\0\0"[..], &crc, &[8, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0]].concat();
    let local = [b"PK\x03\x04", &shared[..], b"a", stream].concat();
    let directory = [&b"PK\x01\x02\x14\0"[..], &shared, &[0; 10], &[0; 4], b"a"].concat();
    let [at, len] = [local.len(), directory.len()].map(|n| u32::try_from(n).unwrap().to_le_bytes());
    let end = [&b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..], &len, &at, &[0, 0]].concat();
    let store = zip([local, directory, end].concat()).unwrap();
    assert_eq!(store.read(&key("a"), 3).unwrap().unwrap(), &b"abc"[..]);
    assert_eq!(store.read_range(&key("a"), 1..3).unwrap().unwrap(), &b"bc"[..]);
    assert!(store.read(&key("a"), 2).is_err());
}

#[test]
fn rejects_zip_entries_with_names_outside_the_store() {
    for (name, what) in [("escape", "the name \"..\""), ("absolute", "an empty name")] {
        let Err(e) = zip(fixture(name)) else { panic!("{name}") };
        assert_eq!(e.kind(), ErrorKind::Malformed);
        assert!(e.to_string().contains(what), "{e}");
    }
    let Err(e) = zip(b"not a zip file at all".to_vec()) else { panic!() };
    assert_eq!(e.to_string(), "no end of central directory record, so this is not a zip file");
}

#[test]
fn reads_zip64_end_records() {
    let mut bytes = fixture("plain");
    // The same file with a zip64 end: record, locator, and an old record without values.
    let at = bytes.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
    let at = bytes[..at].windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
    let old = bytes.split_off(at);
    let (count, size, offset) = (&old[10..12], &old[12..16], &old[16..20]);
    let widened = |bytes: &[u8]| [bytes, &[0; 8][bytes.len()..]].concat();
    let mut record =
        [b"PK\x06\x06".to_vec(), 44_u64.to_le_bytes().to_vec(), vec![45, 0, 45, 0], vec![0; 8]].concat();
    for value in [count, count, size, offset] {
        record.extend(widened(value));
    }
    let locator =
        [b"PK\x06\x07".to_vec(), vec![0; 4], (at as u64).to_le_bytes().to_vec(), vec![1, 0, 0, 0]].concat();
    let end = [b"PK\x05\x06".to_vec(), vec![0xff; 16], vec![0, 0]].concat();
    contract(&zip([bytes.clone(), record.clone(), locator.clone(), end].concat()).unwrap());
    let elsewhere = [b"PK\x05\x06".to_vec(), vec![1; 16], vec![0, 0]].concat();
    let Err(e) = zip([bytes, elsewhere].concat()) else { panic!() };
    assert_eq!(e.kind(), ErrorKind::Unsupported);
}

#[test]
fn damage_in_a_zip_file_gives_errors_and_no_panics() {
    let whole = fixture("plain");
    // A remote file gives the same bytes and the same errors.
    let read_all = |store: &ZipStore| {
        let keys = ["zarr.json", "a/c/0", "a/zarr.json", "twice"].map(key);
        let mut all = store.read_many(&keys, 1 << 20);
        all.extend(keys.iter().map(|key| store.read(key, 1 << 20)));
        all.extend(keys.iter().map(|key| store.read_range(key, 0..1)));
        all.into_iter().map(|read| read.map_err(|e| e.to_string())).collect::<Vec<_>>()
    };
    for len in 0..whole.len() {
        assert!(zip(whole[..len].to_vec()).is_err(), "{len}");
    }
    for at in 0..whole.len() {
        for value in [0, 0xff, whole[at] ^ 1] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            let far = far_zip(bytes.clone());
            match zip(bytes) {
                Ok(store) => assert_eq!(read_all(&store), read_all(&far.unwrap()), "byte {at} is {value}"),
                Err(e) => assert_eq!(e.to_string(), far.err().unwrap().to_string()),
            }
        }
    }
    let mut bytes = whole.clone();
    let at = bytes.windows(2).position(|window| window == b"{}").unwrap();
    bytes[at] = b'[';
    let e = zip(bytes).unwrap().read(&key("zarr.json"), 10).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Checksum);
}
