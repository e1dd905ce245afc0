//! Consolidation and vacuum, interrupted at each write: the array reads as before or as after, and a second run
//! finishes.

use super::arrays::{
    ALL_CELLS, Seen, assert_same, consolidate, dense_array, lost, seen, sparse_array_of, until, vacuum,
    write_sparse,
};
use crate::killed::Killed;
use crate::written::{Place, key, options};
use hyperslab_core::store::{Key, MemoryStore, Store, WritableStore};
use hyperslab_core::{Limits, Result};
use hyperslab_tiledb::format::layout::Layout;
use hyperslab_tiledb::opened::Moment;
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::vacuum::VacuumOptions;
use std::sync::Arc;

/// The work on an array that is interrupted.
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

/// Interrupts the work at each write in turn, and then finishes it.
fn kill_everywhere(place: &Place, name: &str, lost: &[(u64, u64)], work: &Work) {
    let before = until(&place.readable(), &key(name));
    let files = in_memory(&place.readable());
    let mut count = 0;
    loop {
        let killed = Killed::after(count, Arc::new(files.clone()));
        let writer = |store: &Arc<Killed<MemoryStore>>| {
            let (writable, readable) = (Arc::clone(store) as Arc<dyn WritableStore>, Arc::clone(store));
            ArrayWriter::open(writable, readable, &key(name), Limits::default(), options()).unwrap()
        };
        let is_done = work(&writer(&killed)).is_ok();
        let store = Arc::clone(&killed) as Arc<dyn Store>;
        let what = format!("{name} after {count} writes");
        assert_same(&before, &until(&store, &key(name)), lost, &what);
        killed.revive();
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
