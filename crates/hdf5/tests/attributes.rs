//! Attributes in compact and dense storage.

use crate::{bytes, integers, object, open, open_bytes};
use hyperslab_hdf5::{File, Object};

fn names(file: &File, object: &Object) -> Vec<String> {
    let found = object.attributes(file).unwrap();
    found.into_iter().map(|(name, _)| String::from_utf8(name).unwrap()).collect()
}

#[test]
fn compact_attributes_are_in_order_of_creation() {
    let file = open("datatypes.h5");
    let group = object(&file, "/attributes").unwrap();
    let expected = [
        "compact",
        "name/with/slash",
        "nothing",
        "matrix",
        "committed",
        "shared_type",
        "main",
        "corner",
        "rows",
    ];
    let mut found = names(&file, &group);
    if !group.header().attribute_creation_order_tracked() {
        found.sort_by_key(|name| expected.iter().position(|own| own == name));
    }
    assert_eq!(found, expected);
}

#[test]
fn attributes_have_their_values() {
    let file = open("datatypes.h5");
    let group = object(&file, "/attributes").unwrap();
    let get = |name: &str| group.attribute(&file, name.as_bytes()).unwrap().unwrap();
    assert_eq!(integers(&get("compact").read(&file).unwrap().rows, 2), [1, 2]);
    assert_eq!(get("matrix").extents(), Some(&[2, 2][..]));
    assert_eq!(integers(&get("matrix").read(&file).unwrap().rows, 4), [1, 0, 0, 1]);
    assert_eq!(get("nothing").extents(), None);
    assert!(get("nothing").read(&file).unwrap().rows.is_empty());
    let shared = get("shared_type");
    assert_eq!(shared.committed(), Some(object(&file, "/text_t").unwrap().address()));
    assert_eq!(shared.text(&file).unwrap().as_deref(), Some(&b"by name"[..]));
    assert_eq!(get("compact").text(&file).unwrap(), None);
    assert!(group.attribute(&file, b"absent").unwrap().is_none());
}

#[test]
fn dense_attributes_are_listed_and_found() {
    for (name, path, count) in
        [("datatypes.h5", "/attributes/many", 40), ("groups_new.h5", "/attributes", 30)]
    {
        let file = open(name);
        let owner = object(&file, path).unwrap();
        let found = names(&file, &owner);
        assert_eq!(found.len(), count);
        for (n, name) in found.iter().enumerate() {
            assert!(name.ends_with(&format!("{n:02}")), "{name} is number {n}");
            assert_eq!(owner.attribute(&file, name.as_bytes()).unwrap().unwrap().name(), name.as_bytes());
        }
        assert!(owner.attribute(&file, b"absent").unwrap().is_none());
        assert!(owner.has_attributes(&file).unwrap());
    }
    let file = open("datatypes.h5");
    let last = object(&file, "/attributes/many").unwrap().attribute(&file, b"a39").unwrap().unwrap();
    assert_eq!(integers(&last.read(&file).unwrap().rows, 4), [39 * 39]);
}

#[test]
fn attributes_of_version_1_headers_are_in_name_order() {
    let file = open("groups_old.h5");
    let owner = object(&file, "/a/b/c/d/data").unwrap();
    let mut expected: Vec<_> = (0..12).map(|n| format!("attribute {n}")).collect();
    expected.push("units".into());
    expected.sort();
    assert_eq!(names(&file, &owner), expected);
    let units = owner.attribute(&file, b"units").unwrap().unwrap();
    assert_eq!(units.text(&file).unwrap().as_deref(), Some(&b"counts"[..]));
}

#[test]
fn an_attribute_larger_than_a_heap_block_is_read() {
    let file = open("groups_new.h5");
    let table = object(&file, "/big_attribute").unwrap().attribute(&file, b"table").unwrap().unwrap();
    let values = integers(&table.read(&file).unwrap().rows, 2);
    assert_eq!(values, (0..6000).collect::<Vec<_>>());
}

#[test]
fn a_damaged_attribute_does_not_hide_the_others() {
    let mut bytes = bytes("groups_old.h5");
    // Version 1 headers have no checksum. The version of the message is stored 8 bytes before the name.
    let name = b"attribute 7\0";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at - 8] = 9;
    let file = open_bytes(bytes).unwrap();
    let owner = object(&file, "/a/b/c/d/data").unwrap();
    let found = owner.attributes(&file).unwrap();
    assert_eq!(found.len(), 13);
    let broken: Vec<_> =
        found.iter().filter_map(|(name, found)| found.as_ref().err().map(|e| (name, e))).collect();
    let [(_, error)] = broken.as_slice() else { panic!("{broken:?}") };
    assert!(error.to_string().contains("version 9, expected 1 to 3"), "{error}");
    assert!(owner.attribute(&file, b"attribute 6").unwrap().is_some());
    let error = owner.attribute(&file, b"attribute 7").unwrap_err();
    assert!(error.to_string().contains("version 9"), "{error}");
}
