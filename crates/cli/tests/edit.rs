//! `edit`.

use crate::command::{Ran, examples, prepared, ran};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A copy of the TileDB store among the examples.
fn survey() -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let from = examples().join("survey.tdb");
    assert!(Command::new("cp").arg("-R").arg(from).arg(place.path()).status().unwrap().success());
    let path = place.path().join("survey.tdb");
    (place, path)
}

fn edit(path: &Path, args: &[&str]) -> Ran {
    let words = ["edit", path.to_str().unwrap()].into_iter().chain(args.iter().copied());
    ran(prepared(words).output().unwrap())
}

#[test]
fn changes_are_reported_and_made_in_their_order() {
    let (_place, path) = survey();
    let store = path.to_str().unwrap();
    let line = ["--set", "/@a=1", "--remove", "/@a", "--remove-cells", "/sightings:count < 3"];
    let planned = edit(&path, &[&line[..], &["-n", "--json"]].concat());
    assert_eq!((planned.code, planned.messages.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&planned.answer).unwrap();
    assert_eq!(report["written"], false);
    assert_eq!(report["changes"][2]["cells"], 1);
    let made = edit(&path, &[&line[..], &["--sync"]].concat());
    assert_eq!(made.code, 0, "{}", made.messages);
    assert_eq!(made.messages, format!("wrote {store}: 3 changes\n"));
    assert_eq!(
        made.answer,
        "CHANGE   OBJECT      CELLS  WHAT\n\
         added    /@a                1\n\
         removed  /@a\n\
         removed  /sightings      1  cells where count < 3\n"
    );
    let shown = ran(prepared(["history", store]).output().unwrap());
    assert!(shown.answer.contains("  count < 3"), "{}", shown.answer);
    let again = edit(&path, &["--remove-cells", "/sightings:count < 3"]);
    assert!(
        again.messages.contains("nothing is written, because no cell would be removed"),
        "{}",
        again.messages
    );
}

#[test]
fn changes_find_renamed_groups_by_their_new_names() {
    let (_place, path) = survey();
    let store = path.to_str().unwrap();
    let made =
        edit(&path, &["--rename", "/temperature=sst", "--set", "/sst@a=1", "--set", "/sst/celsius@b=2"]);
    assert_eq!(made.code, 0, "{}", made.messages);
    for (attribute, value) in [("/sst@a", "\n1\n"), ("/sst/celsius@b", "\n2\n")] {
        let shown = ran(prepared(["show", &format!("{store}:{attribute}")]).output().unwrap());
        assert!(shown.answer.ends_with(value), "{}{}", shown.answer, shown.messages);
    }
    // Later changes of the same command do not find other objects that it creates.
    let early = edit(&path, &["--add-attribute", "/sst/new=int32", "--set", "/sst/other@a=1"]);
    assert_eq!(early.code, 2);
    assert!(early.messages.contains("make this change in a separate command"), "{}", early.messages);
    let alone = edit(&path, &["--set", "/sst/other@a=1"]);
    assert!(!alone.messages.contains("separate command"), "{}", alone.messages);
}

#[test]
fn changes_that_cannot_be_made_leave_the_store_as_it_is() {
    let (_place, path) = survey();
    let store = path.to_str().unwrap();
    let before = ran(prepared(["history", store]).output().unwrap()).answer;
    for (args, message) in [
        (&["--set", "/@a=1", "--remove", "/@b"][..], "no such attribute"),
        (&["--remove-cells", "/sightings:cuont < 3"], "no attribute or dimension \"cuont\", at character 1"),
        (&["--remove-cells", "count < 3"], "is a group, expected an array"),
        (&["--set", "/x"], "\"/x\", expected PATH@NAME=VALUE"),
        (&["--append", "nothing.yaml"], "nothing.yaml"),
        (&[], "no change was given"),
    ] {
        let ran = edit(&path, args);
        assert_eq!((ran.code, ran.answer.as_str()), (2, ""), "{args:?}");
        assert!(ran.messages.contains(message), "{args:?}: {}", ran.messages);
    }
    assert_eq!(ran(prepared(["history", store]).output().unwrap()).answer, before);
    let other = ran(prepared(["edit", "ocean.nc", "--set", "/@a=1"]).output().unwrap());
    assert_eq!(other.code, 2);
    assert!(other.messages.contains("NetCDF-4 stores cannot be changed in place"), "{}", other.messages);
}

/// A TileDB group whose members are arrays of one variable each.
fn variables() -> (TempDir, PathBuf) {
    let place = TempDir::new().unwrap();
    let path = place.path().join("buoys.tdb");
    let made = ran(prepared(["create", "-q", "buoys.yaml", path.to_str().unwrap()]).output().unwrap());
    assert_eq!(made.code, 0, "{}", made.messages);
    (place, path)
}

#[test]
fn arrays_of_one_variable_are_members_that_are_renamed_and_removed() {
    let (_place, path) = variables();
    let list = || ran(prepared(["ls", "-1", path.to_str().unwrap()]).output().unwrap()).answer;
    assert!(list().contains("/height\n"), "{}", list());
    let renamed = edit(&path, &["--rename", "/height=swh"]);
    assert_eq!(renamed.code, 0, "{}", renamed.messages);
    assert!(list().contains("/swh\n") && !list().contains("/height\n"), "{}", list());
    let shown = ran(prepared(["show", &format!("{}:/swh", path.display())]).output().unwrap());
    assert_eq!(shown.code, 0, "{}", shown.messages);
    let removed = edit(&path, &["--remove-member", "/swh"]);
    assert_eq!(removed.code, 0, "{}", removed.messages);
    assert!(!list().contains("/swh\n"), "{}", list());
}

#[test]
fn dimensions_that_arrays_name_stay_members() {
    let (_place, path) = variables();
    for change in [["--rename", "/buoy=station"], ["--remove-member", "/buoy"]] {
        let refused = edit(&path, &change);
        assert_eq!(refused.code, 2, "{}", refused.answer);
        assert!(refused.messages.contains(":/buoy: is a dimension that /"), "{}", refused.messages);
    }
    let all = ["/height", "/quality", "/position", "/buoy"].map(|path| ["--remove-member", path]);
    let removed = edit(&path, &all.concat());
    assert_eq!(removed.code, 0, "{}", removed.messages);
}

#[test]
fn what_cannot_be_appended_to_says_so() {
    let (place, path) = (TempDir::new().unwrap(), "t.tdb");
    let text =
        "dimcoords:\n  time: {size: null}\nndarrays:\n  height: {shape: [time], type: int8, value: [1, 2]}\n";
    std::fs::write(place.path().join("t.yaml"), text).unwrap();
    let path = place.path().join(path);
    let store = path.to_str().unwrap();
    let document = place.path().join("t.yaml");
    let made = ran(prepared(["create", "-q", document.to_str().unwrap(), store]).output().unwrap());
    assert_eq!(made.code, 0, "{}", made.messages);
    for (location, expected) in [
        (store.to_owned(), "is a group whose arrays are separate TileDB arrays"),
        (format!("{store}:/height"), "is an array, expected a group"),
    ] {
        let refused = edit(Path::new(&location), &["--append", store]);
        assert_eq!(refused.code, 2);
        assert!(refused.messages.contains(expected), "{}", refused.messages);
        assert!(refused.messages.contains("help: concat joins both stores"), "{}", refused.messages);
    }
}
