//! The history of arrays and groups that the TileDB library wrote.

use crate::arrays::store;
use hyperslab_core::store::Key;
use hyperslab_tiledb::array::OpenOptions;
use hyperslab_tiledb::history::{ArrayHistory, GroupHistory, SchemaChange};

fn history(name: &str) -> ArrayHistory {
    ArrayHistory::read(store(), &Key::new(name).unwrap(), OpenOptions::default()).unwrap()
}

#[test]
fn schemas_tell_what_evolved() {
    let found = history("evolution");
    assert_eq!(found.schemas[0].changes, [SchemaChange::Created]);
    let added = |name: &str| SchemaChange::AttributeAdded(name.to_owned());
    let dropped = SchemaChange::AttributeDropped("b".to_owned());
    assert_eq!(found.schemas[1].changes, [added("c"), added("d"), added("e"), dropped]);
    assert_eq!(found.fragments.len(), 2);
    let domain = found.fragments[0].non_empty_domain.as_ref().unwrap();
    assert_eq!(
        (domain[0].dimension.as_str(), domain[0].min.as_str(), domain[0].max.as_str()),
        ("d0", "0", "7")
    );
    assert_eq!(found.fragments[0].cells, 8);
}

#[test]
fn fragments_tell_what_replaces_them() {
    let found = history("time_travel");
    let times: Vec<(u64, u64, bool, bool)> = found
        .fragments
        .iter()
        .map(|fragment| {
            let written = &fragment.written;
            (
                written.start.unwrap(),
                written.end.unwrap(),
                fragment.is_consolidated,
                written.replaced_by.is_some(),
            )
        })
        .collect();
    let expected =
        [(10, 10, false, true), (10, 20, true, false), (20, 20, false, true), (30, 30, false, false)];
    let mut sorted = times.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    let keys: Vec<Vec<String>> = found
        .metadata
        .iter()
        .map(|file| file.entries.iter().map(|entry| String::from_utf8(entry.key.clone()).unwrap()).collect())
        .collect();
    assert_eq!(keys.len(), 3);
    assert!(keys[1].contains(&"only".to_owned()));
}

#[test]
fn deletes_say_what_they_delete() {
    let conditions: Vec<String> =
        history("deleted").deletes.into_iter().map(|delete| delete.condition).collect();
    let expected =
        ["a < 30", "(f < 20) and (x > 10)", "s == \"tex\" or a in [50, 51, 52, 53, 54, 55, 56]", "x >= 90"];
    let without: Vec<String> = expected.iter().map(|text| text.replace(['(', ')'], "")).collect();
    assert_eq!(conditions, without);
    let found = history("deleted_consolidated");
    let consolidated = found.fragments.iter().find(|fragment| fragment.is_consolidated).unwrap();
    assert!(consolidated.has_timestamps && consolidated.cells > 0 && consolidated.written.bytes > 0);
}

#[test]
fn groups_tell_their_members() {
    let found = GroupHistory::read(store(), &Key::new("group").unwrap(), OpenOptions::default()).unwrap();
    assert_eq!(found.details.last().unwrap().members.len(), 2);
    assert_eq!(found.metadata.len(), 1);
    assert!(found.details.iter().all(|event| event.written.bytes > 0));
}
