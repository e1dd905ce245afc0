//! TileDB as a target.

use crate::interrupted::run;
use std::fs;
use tempfile::TempDir;

/// A dense array with a dimension label for its columns.
fn labelled(order: &str) -> String {
    format!(
        "dimcoords:
  y:
    size: 2
    type: uint64
    storage:
      domain: [0, 1]

  x:
    size: 3
    type: uint64
    storage:
      domain: [0, 2]

ndarrays:
  a:
    shape: [y, x]
    type: int16
    storage:
      chunk: [2, 2]
      fillvalue: -1
    value:
      - [1, 2, 3]
      - [4, 5, 6]

  lon:
    shape: [x]
    type: float64
    storage:
      tiledb: {{label: {order}}}
    value: [5.5, 4.25, 3.0]

  name:
    shape: [x]
    type: string
    storage:
      charset: ascii
      tiledb: {{label: increasing}}
    value: [a, bb, ccc]

storage:
  tiledb: {{array: dense, version: 22}}
"
    )
}

#[test]
fn labels_of_dimensions_are_written_and_read_again() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let text = labelled("decreasing");
    fs::write(folder.join("labels.yaml"), &text).unwrap();
    let made = run(folder, &["create", "-q", "labels.yaml", "labels.tdb"]);
    assert_eq!(made.code, 0, "{}", made.messages);
    let described = |store: &str| {
        let ran = run(folder, &["describe", "-q", "--values", store]);
        assert_eq!(ran.code, 0, "{}", ran.messages);
        ran.answer.split_once("\n\n").unwrap().1.to_owned()
    };
    assert_eq!(described("labels.tdb"), text);
    assert!(folder.join("labels.tdb/__labels/l1/__schema").is_dir());
    let check = run(folder, &["check", "labels.tdb"]);
    assert_eq!(check.code, 0, "{}", check.answer);
    assert_eq!(run(folder, &["convert", "-q", "labels.tdb", "again.tdb"]).code, 0);
    assert_eq!(described("again.tdb"), text);
    for target in ["verified.tdb", "verified.zarr", "verified.h5", "verified.nc"] {
        let verified = run(folder, &["convert", "labels.tdb", target, "--verify"]);
        assert_eq!(verified.code, 0, "{target}: {}", verified.messages);
    }
}

#[test]
fn labels_that_an_array_cannot_keep_are_named_as_lost() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("labels.yaml"), labelled("unordered")).unwrap();
    let refused = run(folder, &["create", "-q", "labels.yaml", "labels.tdb"]);
    assert_eq!(refused.code, 1);
    assert!(refused.messages.contains("--allow-loss labels"), "{}", refused.messages);
    assert!(!folder.join("labels.tdb").exists());
    let made = run(folder, &["create", "-q", "labels.yaml", "labels.tdb", "--allow-loss", "labels"]);
    assert_eq!(made.code, 0, "{}", made.messages);
    let described = run(folder, &["describe", "labels.tdb"]).answer;
    assert!(!described.contains("lon:") && described.contains("name:"), "{described}");
}
