//! Checks and reads a store of one document and one chunk. The first bytes choose the version and separate the two.
#![no_main]

use hyperslab_core::store::{Key, MemoryStore};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|bytes: &[u8]| {
    let [kind, low, high, rest @ ..] = bytes else { return };
    let at = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
    let (document, chunk) = rest.split_at(at);
    let (name, keys): (_, &[&str]) = match kind % 2 {
        0 => ("zarr.json", &["c", "c/0", "c/0/0", "c/0.0", "c/1"]),
        _ => (".zarray", &["0", "0.0", "0/0", "1"]),
    };
    let mut store = MemoryStore::new();
    let mut insert = |key: &str, value: &[u8]| store.insert(&Key::new(key).expect("a key"), value.to_vec());
    insert(name, document);
    keys.iter().for_each(|key| insert(key, chunk));
    trials::zarr::everything(Arc::new(store));
});
