//! Records that were changed after they were written: they are read or rejected, without a panic.

use super::{converted, open};
use crate::{description, path};
use hyperslab::describe::DescribeOptions;
use hyperslab::digest::lines;
use hyperslab::target_format;
use hyperslab::{NodePath, OpenOptions};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Every seventh change is tried. The number has no common divisor with the number of [`replacements`].
const STRIDE: u64 = 7;

/// Values that replace a part of a record.
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
            && fs::read_to_string(&path).unwrap().contains("\"hyperslab\"")
        {
            found.push(path);
        }
    }
}

#[test]
fn changed_records_are_read_or_rejected() {
    for (source, min) in [("datatypes.h5", 10), ("unlimited.nc", 3)] {
        records_of(source, min);
    }
}

/// Changes the records of a converted source, which has more than `min` records.
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
        each_other(&sound["attributes"]["hyperslab"], &mut |record| {
            made += 1;
            if !made.is_multiple_of(STRIDE) {
                return;
            }
            let mut changed = sound.clone();
            changed["attributes"]["hyperslab"] = record;
            fs::write(&document, changed.to_string()).unwrap();
            tried += 1;
            // Only the node is opened, as a separate store.
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
