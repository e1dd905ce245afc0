//! Records that were changed after they were written are read or rejected without a panic.

use super::contents::document;
use super::{converted, converted_with, open};
use crate::{description, path};
use hyperslab::describe::DescribeOptions;
use hyperslab::digest::lines;
use hyperslab::target::{OptionValue, TargetOptions};
use hyperslab::target_format;
use hyperslab::{NodePath, OpenOptions};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Every seventh change is tried. Seven and the number of [`replacements`] have no common divisor.
const STRIDE: u64 = 7;

/// Values with which a part of a record is replaced.
fn replacements() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(18_446_744_073_709_551_615_u64),
        json!(1e300),
        json!(""),
        json!("/"),
        json!("int8"),
        json!("/../.."),
        json!([]),
        json!([null, -1, "x", [], {}]),
        json!({}),
        json!({"compound": []}),
        json!({"array": {"base": "int8", "shape": [4_294_967_295_u64, 4_294_967_295_u64]}}),
        json!({"opaque": {"size": 9_223_372_036_854_775_807_u64}}),
        json!({"hard": "/"}),
        json!({"soft": ""}),
        json!({"size": null, "value": [1, 2, 3]}),
    ]
}

/// Calls `visit` with each copy of the value in which one part is replaced.
fn each_other(of: &Value, visit: &mut dyn FnMut(Value)) {
    for other in replacements() {
        visit(other);
    }
    match of {
        Value::Object(members) => {
            for (name, member) in members {
                let mut without = members.clone();
                without.remove(name);
                visit(Value::Object(without));
                each_other(member, &mut |changed| {
                    let mut members = members.clone();
                    members.insert(name.clone(), changed);
                    visit(Value::Object(members));
                });
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                let mut without = items.clone();
                without.remove(place);
                visit(Value::Array(without));
                each_other(item, &mut |changed| {
                    let mut items = items.clone();
                    items[place] = changed;
                    visit(Value::Array(items));
                });
            }
        }
        _ => {}
    }
}

/// Collects the metadata documents of nodes with a record.
fn recorded(at: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            recorded(&path, found);
        } else if path.file_name().is_some_and(|name| name == "zarr.json")
            && record_of(&read(&path)).is_some()
        {
            found.push(path);
        }
    }
}

/// The record of a Zarr v3 node, which is a member of an array's document or a string in the attributes of a group.
fn record_of(document: &Value) -> Option<Value> {
    match document["attributes"]["_nc_hyperslab"].as_str() {
        Some(text) => Some(serde_json::from_str(text).unwrap()),
        None => document.get("hyperslab").cloned(),
    }
}

fn read(document: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(document).unwrap()).unwrap()
}

#[test]
fn records_are_where_other_readers_do_not_show_them() {
    let source = "dimcoords:\n  never: {size: null, storage: {size: 0}}\nndarrays:\n  \
                  e: {shape: [], type: {enum: {base: int8, members: {a: 1}}}, value: a}\n";
    let folder = TempDir::new().unwrap();
    let source = document(&folder, source);
    let three = folder.path().join("three.zarr");
    converted(&source, target_format("zarr3").unwrap(), &three).unwrap();
    let array = read(&three.join("e/zarr.json"));
    assert_eq!(array["hyperslab"]["must_understand"], json!(false));
    assert!(array["hyperslab"]["type"].is_object() && array.get("attributes").is_none(), "{array}");
    let names = |of: &Value| -> Vec<String> { of.as_object().unwrap().keys().cloned().collect() };
    // xarray hides attributes with these names, and NetCDF files can store a string.
    let group = read(&three.join("zarr.json"));
    assert_eq!(names(&group["attributes"]), ["_nc_hyperslab"]);
    assert!(group["attributes"]["_nc_hyperslab"].is_string(), "{group}");
    let two = folder.path().join("two.zarr");
    converted(&source, target_format("zarr2").unwrap(), &two).unwrap();
    assert_eq!(names(&read(&two.join(".zattrs"))), ["_nc_hyperslab"]);
    assert_eq!(names(&read(&two.join("e/.zattrs"))), ["_ARRAY_DIMENSIONS", "_nc_hyperslab"]);
}

#[test]
fn the_option_record_none_writes_no_records_and_reports_what_is_lost() {
    for format in ["zarr3", "zarr2"] {
        let format = target_format(format).unwrap();
        let none = TargetOptions::default().with(format, "record", OptionValue::Word("none".into())).unwrap();
        let folder = TempDir::new().unwrap();
        let store = folder.path().join("x.zarr");
        let lost = converted_with(&path("datatypes.h5"), format, none, &store).unwrap();
        let kinds: BTreeSet<_> = lost.values().map(|kind| kind.name()).collect();
        for kind in ["labels", "links", "names", "types"] {
            assert!(kinds.contains(kind), "{kind} in {kinds:?}");
        }
        let mut left = vec![store];
        while let Some(at) = left.pop() {
            for entry in fs::read_dir(&at).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    left.push(path);
                } else if path.ends_with("zarr.json") || path.ends_with(".zattrs") {
                    let text = fs::read_to_string(&path).unwrap();
                    assert!(!text.contains("hyperslab\""), "{}: {text}", path.display());
                }
            }
        }
    }
}

#[test]
fn changed_records_are_read_or_rejected() {
    for (source, min) in [("datatypes.h5", 10), ("unlimited.nc", 3)] {
        records_of(source, min);
    }
}

/// Converts a source to a store with more than `min` records, and changes the records.
fn records_of(source: &str, min: usize) {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("x.zarr");
    converted(&path(source), target_format("zarr3").unwrap(), &store).unwrap();
    let mut documents = Vec::new();
    recorded(&store, &mut documents);
    assert!(documents.len() > min, "{documents:?}");
    let (mut made, mut tried, mut refused) = (0_u64, 0_u64, 0_u64);
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        let sound: Value = serde_json::from_str(&text).unwrap();
        let node = document.parent().unwrap();
        each_other(&record_of(&sound).unwrap(), &mut |record| {
            made += 1;
            if !made.is_multiple_of(STRIDE) {
                return;
            }
            let mut changed = sound.clone();
            match changed.get_mut("hyperslab") {
                Some(member) => *member = record,
                None => changed["attributes"]["_nc_hyperslab"] = record.to_string().into(),
            }
            fs::write(&document, changed.to_string()).unwrap();
            tried += 1;
            // Only the node is opened, as if it were a separate store.
            let Ok(source) = hyperslab::open(node, &OpenOptions::default()) else {
                refused += 1;
                return;
            };
            if node == store {
                let (_, errors) = description(&*source, "/", &DescribeOptions::default());
                refused += u64::from(!errors.is_empty());
            } else {
                let lines = lines(&*source, &NodePath::root());
                refused += u64::from(lines.map_or(true, |lines| lines.iter().any(|line| line.is_error())));
            }
        });
        fs::write(&document, text).unwrap();
    }
    assert!(tried > 40 && refused > tried / 10 && refused < tried, "{refused} of {tried} refused");
    assert!(lines(&*open(&store), &NodePath::root()).is_ok());
}
