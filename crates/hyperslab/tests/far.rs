//! How many requests reading takes where each is a way over the network.

use crate::{node_path, path};
use bytes::Bytes;
use hyperslab::{CancelToken, Location, OpenOptions, Pool, Region, Watch, open_location};
use hyperslab_core::wrapper::Counted;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn chunks_come_in_one_request_whoever_watches_and_whatever_may_stop_it() {
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
