//! Consolidation and vacuum that are stopped at any write: the array reads as before or as after, and a second run finishes.

use super::arrays::{
    ALL_CELLS, Seen, assert_same, consolidate, dense_array, lost, seen, sparse_array_of, until, vacuum,
    write_sparse,
};
use crate::written::{Place, key, options};
use bytes::Bytes;
use hyperslab_core::store::{Entry, Key, MemoryStore, Store, Value, ValueWriter, WritableStore};
use hyperslab_core::{Error, ErrorKind, Limits, Result};
use hyperslab_tiledb::format::layout::Layout;
use hyperslab_tiledb::opened::Moment;
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::vacuum::VacuumOptions;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A store whose writer is killed: from one write or deletion on, nothing happens any more.
struct Killed {
    inner: Arc<MemoryStore>,
    left: AtomicU64,
}

impl Killed {
    fn act(&self) -> Result<()> {
        let before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        before.map(drop).map_err(|_| Error::new(ErrorKind::Io, "killed"))
    }
}

impl Store for Killed {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        self.inner.size(key)
    }

    fn read(&self, key: &Key, max_bytes: u64) -> Result<Option<Bytes>> {
        self.inner.read(key, max_bytes)
    }

    fn read_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        self.inner.read_ranges(key, ranges)
    }

    fn read_many(&self, keys: &[Key], max_bytes: u64) -> Vec<Result<Option<Bytes>>> {
        self.inner.read_many(keys, max_bytes)
    }

    fn is_far(&self) -> bool {
        false
    }

    fn find<'a>(&'a self, key: &'a Key) -> Result<Option<Box<dyn Value + 'a>>> {
        self.inner.find(key)
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        self.inner.list(prefix)
    }
}

impl WritableStore for Killed {
    fn put(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.act()?;
        self.inner.put(key, value)
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        self.act()?;
        self.inner.delete(key)
    }

    fn writer(self: Arc<Self>, key: &Key) -> Result<Box<dyn ValueWriter>> {
        self.act()?;
        let inner = Arc::clone(&self.inner).writer(key)?;
        Ok(Box::new(KilledValue { store: self, inner }))
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }
}

/// A value in parts of such a store.
struct KilledValue {
    store: Arc<Killed>,
    inner: Box<dyn ValueWriter>,
}

impl ValueWriter for KilledValue {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.store.act()?;
        self.inner.write_at(offset, bytes)
    }

    fn finish(&self, len: u64) -> Result<()> {
        self.store.act()?;
        self.inner.finish(len)
    }
}

/// What is done to an array, and stopped.
type Work = dyn Fn(&ArrayWriter) -> Result<()>;

/// The files of a store.
fn in_memory(store: &Arc<dyn Store>) -> MemoryStore {
    let (mut files, mut left) = (MemoryStore::new(), vec![Key::root()]);
    while let Some(prefix) = left.pop() {
        for entry in store.list(&prefix).unwrap() {
            let key = prefix.join(&entry.name).unwrap();
            match store.read(&key, u64::MAX).unwrap() {
                Some(value) => files.insert(&key, value),
                None => left.push(key),
            }
        }
    }
    files
}

/// Stops work at every write, and ends it then.
fn kill_everywhere(place: &Place, name: &str, lost: &[(u64, u64)], work: &Work) {
    let before = until(&place.readable(), &key(name));
    let files = in_memory(&place.readable());
    let mut count = 0;
    loop {
        let inner = Arc::new(files.clone());
        let killed = Arc::new(Killed { inner, left: AtomicU64::new(count) });
        let writer = |store: &Arc<Killed>| {
            let (writable, readable) = (Arc::clone(store) as Arc<dyn WritableStore>, Arc::clone(store));
            ArrayWriter::open(writable, readable, &key(name), Limits::default(), options()).unwrap()
        };
        let is_done = work(&writer(&killed)).is_ok();
        let store = Arc::clone(&killed) as Arc<dyn Store>;
        let what = format!("{name} after {count} writes");
        assert_same(&before, &until(&store, &key(name)), lost, &what);
        killed.left.store(u64::MAX, Ordering::Relaxed);
        let writer = writer(&killed);
        vacuum(&writer, &VacuumOptions { unfinished: true, ..VacuumOptions::ALL });
        work(&writer).unwrap();
        vacuum(&writer, &VacuumOptions { unfinished: true, ..VacuumOptions::ALL });
        assert_same(&before, &until(&store, &key(name)), lost, &format!("{what}, and again"));
        let again =
            writer.plan_vacuum(&VacuumOptions { unfinished: true, ..VacuumOptions::ALL }, &Limits::default());
        let again = again.unwrap();
        assert!(again.is_empty(), "{what}: {again:?}");
        if is_done {
            break;
        }
        count += 1;
    }
    assert!(count > 5, "{count}");
}

fn fragments(writer: &ArrayWriter) -> Result<()> {
    let consolidator = writer.consolidator(ALL_CELLS, &Limits::default())?;
    consolidator.run(&consolidator.plan()?, &mut |_| Ok(())).map(drop)
}

fn vacuum_all(writer: &ArrayWriter) -> Result<()> {
    writer.vacuum(&writer.plan_vacuum(&VacuumOptions::ALL, &Limits::default())?, &mut |_| Ok(()))
}

#[test]
fn consolidation_that_is_killed_changes_nothing() {
    let place = Place::new();
    dense_array(&place, "dense", Layout::RowMajor);
    kill_everywhere(&place, "dense", &[(2, 6)], &fragments);
    for allows_dups in [false, true] {
        let place = Place::new();
        sparse_array_of(&place, "sparse", Layout::RowMajor, allows_dups, 5);
        kill_everywhere(&place, "sparse", &[], &fragments);
    }
}

#[test]
fn vacuum_after_consolidation_that_is_killed_is_finished_later() {
    for is_dense in [true, false] {
        for commits in [false, true] {
            let place = Place::new();
            let (name, lost): (_, &[(u64, u64)]) =
                if is_dense { ("dense", &[(2, 6)]) } else { ("sparse", &[]) };
            let writer = match is_dense {
                true => dense_array(&place, name, Layout::RowMajor),
                false => sparse_array_of(&place, name, Layout::RowMajor, true, 5),
            };
            if commits {
                writer.consolidate_commits(&Limits::default()).unwrap();
            }
            consolidate(&writer, ALL_CELLS);
            if commits {
                writer.consolidate_commits(&Limits::default()).unwrap();
                writer.consolidate_metadata(&Limits::default()).unwrap();
            }
            kill_everywhere(&place, name, lost, &vacuum_all);
        }
    }
}

#[test]
fn consolidation_of_commits_and_metadata_that_is_killed_changes_nothing() {
    let place = Place::new();
    dense_array(&place, "dense", Layout::RowMajor);
    kill_everywhere(&place, "dense", &[(2, 6)], &|writer| {
        let limits = Limits::default();
        writer.consolidate_commits(&limits)?;
        writer.consolidate_metadata(&limits)?;
        writer.consolidate_footers(&limits)?;
        fragments(writer)?;
        vacuum_all(writer)
    });
}

#[test]
fn consolidation_of_consolidated_fragments_is_vacuumed_from_the_inside() {
    let place = Place::new();
    let writer = sparse_array_of(&place, "nested", Layout::RowMajor, true, 5);
    consolidate(&writer, ALL_CELLS);
    write_sparse(&writer, 10, (0..5).map(|n| (n, n)));
    consolidate(&writer, ALL_CELLS);
    let before: Seen = seen(&place.readable(), &key("nested"), Moment::ALL).unwrap();
    let plan = writer.plan_vacuum(&VacuumOptions::ALL, &Limits::default()).unwrap();
    // Seven fragments, each with a commit, and two vacuum files.
    assert_eq!((plan.removals.len(), lost(&plan)), (16, vec![]));
    kill_everywhere(&place, "nested", &[], &vacuum_all);
    assert_eq!(seen(&place.readable(), &key("nested"), Moment::ALL).unwrap(), before);
}
