//! `check --conventions`: the conventions of TileDB-CF.

use crate::command::{Ran, examples};
use crate::interrupted::run;
use std::path::Path;
use tempfile::TempDir;

fn checked(folder: &Path, store: &str, words: &[&str]) -> Ran {
    run(folder, &[&["check", store], words].concat())
}

#[test]
fn what_is_converted_from_netcdf_is_checked_by_each_convention() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let ocean = examples().join("ocean.nc");
    let made = run(folder, &["convert", "-q", ocean.to_str().unwrap(), "ocean.tdb"]);
    assert_eq!(made.code, 0, "{}", made.messages);
    let simple = checked(folder, "ocean.tdb", &["--conventions", "simple-0.3.0,cf-0.3.0"]);
    assert_eq!(
        (simple.code, simple.answer.as_str()),
        (0, "no findings in 1 location\n"),
        "{}",
        simple.messages
    );
    let old = checked(folder, "ocean.tdb", &["--conventions", "cf-0.2.0", "--json"]);
    assert_eq!(old.code, 1, "{}", old.answer);
    assert!(old.answer.contains(r#""rule":"tiledb-cf/group-metadata-array""#), "{}", old.answer);
    let all = checked(folder, "ocean.tdb", &["--conventions", "tiledb-cf"]);
    assert_eq!(all.code, 0, "{}", all.answer);
    assert!(all.answer.contains("holds: cf-0.3.0, simple-0.3.0"), "{}", all.answer);
    assert!(
        all.answer.contains("not cf-0.1.0, indexable-0.1.0, cf-0.2.0, simple-0.2.0: 9 metadata"),
        "{}",
        all.answer
    );
}

#[test]
fn conventions_of_other_formats_and_unknown_words_are_refused() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let ocean = examples().join("ocean.nc");
    let ocean = ocean.to_str().unwrap();
    let other = checked(folder, ocean, &["--conventions", "cf-0.3.0"]);
    assert_eq!(other.code, 2);
    assert!(
        other.messages.contains("the conventions of TileDB-CF are those of TileDB groups"),
        "{}",
        other.messages
    );
    let unknown = checked(folder, ocean, &["--conventions", "simple-0.3"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.messages.contains("did you mean simple-0.3.0?"), "{}", unknown.messages);
    let made = run(folder, &["convert", "-q", ocean, "ocean.tdb"]);
    assert_eq!(made.code, 0, "{}", made.messages);
    let array = checked(folder, "ocean.tdb/depth", &["--conventions", "cf-0.3.0"]);
    assert_eq!(array.code, 2);
    assert!(array.messages.contains("put the array into a group"), "{}", array.messages);
}
