//! `history`: what was written to the objects of a store.

use crate::{open, path};
use bytes::Bytes;
use hyperslab::history::{Event, EventKind, history};
use hyperslab::store::{EntryKind, Key, MemoryStore, Store, ZipStore};
use hyperslab::{FileStorage, Limits, Location, NodePath, OpenOptions, Source, Times, open_location};
use std::sync::Arc;

/// One of the arrays or groups that the TileDB library wrote for the tests of the TileDB crate.
pub(crate) fn written(name: &str, at: Option<Times>) -> Arc<dyn Source> {
    changed(name, at, &|_, bytes| bytes)
}

/// Like [`written`], but `change` replaces the bytes of the files, which are identified by their keys.
pub(crate) fn changed(
    name: &str,
    at: Option<Times>,
    change: &dyn Fn(&str, Bytes) -> Bytes,
) -> Arc<dyn Source> {
    let zip = path("../crates/tiledb/tests/arrays/arrays.zip");
    let zip = ZipStore::open(Box::new(FileStorage::open(zip).unwrap()), &Limits::default()).unwrap();
    let (mut store, mut folders) = (MemoryStore::new(), vec![String::new()]);
    while let Some(folder) = folders.pop() {
        let of = |inner: &str| Key::new(format!("{name}/{inner}").trim_end_matches('/')).unwrap();
        for entry in zip.list(&of(&folder)).unwrap() {
            let inner = format!("{folder}/{}", entry.name).trim_start_matches('/').to_owned();
            match entry.kind {
                EntryKind::Prefix => folders.push(inner),
                _ => {
                    let bytes = change(&inner, zip.read(&of(&inner), u64::MAX).unwrap().unwrap());
                    store.insert(&Key::new(&inner).unwrap(), bytes);
                }
            }
        }
    }
    open_location(Location::Store(Arc::new(store)), &OpenOptions { at, ..OpenOptions::default() }).unwrap()
}

fn events(source: &dyn Source, at: &str) -> Vec<(String, Event)> {
    let mut found = Vec::new();
    let entry = source.find(&NodePath::new(at).unwrap()).unwrap();
    history(source, &entry, &mut |path, events| {
        found.extend(events?.into_iter().map(|event| (path.to_string(), event)));
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn a_group_has_the_histories_of_all_below_it_from_the_oldest_event_on() {
    let source = open("survey.tdb");
    let all = events(&*source, "/");
    let kinds: Vec<(&str, EventKind)> = all.iter().map(|(path, event)| (path.as_str(), event.kind)).collect();
    // The schemas of the example carry the time at which it was made.
    assert_eq!(
        kinds,
        [
            ("/", EventKind::Members),
            ("/", EventKind::Metadata),
            ("/sightings", EventKind::Fragment),
            ("/sightings", EventKind::Fragment),
            ("/sightings", EventKind::Delete),
            ("/sightings", EventKind::Schema),
            ("/temperature", EventKind::Metadata),
            ("/temperature", EventKind::Fragment),
            ("/temperature", EventKind::Fragment),
            ("/temperature", EventKind::Schema),
        ]
    );
    assert!(all.iter().all(|(_, event)| event.bytes > 0 && !event.name.is_empty()));
    let of_array: Vec<Event> =
        all.into_iter().filter(|(path, _)| path == "/sightings").map(|(_, event)| event).collect();
    let alone: Vec<Event> = events(&*source, "/sightings").into_iter().map(|(_, event)| event).collect();
    assert_eq!(alone, of_array);
}

#[test]
fn what_was_consolidated_can_be_vacuumed() {
    let fragments = |at| {
        let found = events(&*written("time_travel", at), "/");
        let fragments = found.into_iter().map(|(_, event)| event);
        fragments.filter(|event| event.kind == EventKind::Fragment).collect::<Vec<_>>()
    };
    let all = fragments(None);
    let times = |events: &[Event]| -> Vec<(u64, u64)> {
        events.iter().map(|event| event.at.clone().unwrap().into_inner()).collect()
    };
    assert_eq!(times(&all), [(10, 10), (10, 20), (20, 20), (30, 30)]);
    let consolidated = &all[1];
    assert!(consolidated.is_consolidated && consolidated.replaced_by.is_none());
    for replaced in [&all[0], &all[2]] {
        assert_eq!(replaced.replaced_by.as_ref(), Some(&consolidated.name));
    }
    assert_eq!((all[3].is_consolidated, &all[3].replaced_by), (false, &None));
    // Within a time range, there are only the fragments written then.
    assert_eq!(times(&fragments(Some(Times { start: 15, end: 29 }))), [(10, 20), (20, 20)]);
}

#[test]
fn schemas_say_what_changed_and_groups_what_came_and_went() {
    let what = |name: &str, kind| -> Vec<String> {
        let found = events(&*written(name, None), "/");
        found
            .into_iter()
            .filter(|(_, event)| event.kind == kind)
            .map(|(_, event)| event.what.join(", "))
            .collect()
    };
    let schemas = what("evolution", EventKind::Schema);
    assert_eq!(
        schemas,
        ["created", "attribute c added, attribute d added, attribute e added, attribute b removed"]
    );
    let deletes = what("deleted", EventKind::Delete);
    assert_eq!(deletes[0], "a < 30");
    assert!(!what("group", EventKind::Members).is_empty());
}

#[test]
fn objects_without_history_are_errors_that_say_what_to_do() {
    let message = |source: &dyn Source, at: &str| {
        let entry = source.find(&NodePath::new(at).unwrap()).unwrap();
        history(source, &entry, &mut |_, _| panic!("nothing has a history")).unwrap_err().to_string()
    };
    let none = message(&*open("groups_new.h5"), "/");
    assert!(none.contains("HDF5 does not store earlier states, only the current one"), "{none}");
    let part = message(&*open("survey.tdb"), "/temperature/celsius");
    assert!(part.contains("/temperature/celsius") && part.contains("has no history of its own"), "{part}");
}
