//! NetCDF-4 files written by the command contain what their sources contain, expressed in NetCDF's terms.

use crate::command::{Ran, examples, prepared, ran};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn run(folder: &Path, args: &[&str]) -> Ran {
    ran(prepared(args).current_dir(folder).output().unwrap())
}

/// Writes a document as `doc.yaml`.
fn document(folder: &Path, text: &str) {
    fs::write(folder.join("doc.yaml"), text).unwrap();
}

#[test]
fn netcdf_files_return_with_the_same_content_whatever_the_threads() {
    let folder = TempDir::new().unwrap();
    let mut written = 0;
    for entry in fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.ends_with(".nc") {
            continue;
        }
        let source = path.to_str().unwrap();
        for (threads, target) in [("1", "one.nc"), ("2", "two.nc")] {
            let _ = fs::remove_file(folder.path().join(target));
            let done = run(folder.path(), &["convert", "-q", "-j", threads, source, target]);
            assert_eq!((done.code, done.messages.as_str()), (0, ""), "{name}");
        }
        let read = |target: &str| fs::read(folder.path().join(target)).unwrap();
        assert!(read("one.nc") == read("two.nc"), "{name}");
        let diff = run(folder.path(), &["diff", source, "one.nc"]);
        assert_eq!((diff.code, diff.answer.as_str()), (0, ""), "{name}");
        let digest = |of: &str| run(folder.path(), &["digest", of]).answer;
        let last =
            |of: &str| digest(of).lines().last().map(|line| line.split(' ').next().unwrap().to_owned());
        assert_eq!(last(source), last("one.nc"), "{name}");
        let checked = run(folder.path(), &["check", "one.nc"]);
        assert_eq!((checked.code, checked.answer.as_str()), (0, "no findings in 1 location\n"), "{name}");
        written += 1;
    }
    assert!(written >= 7, "{written}");
}

#[test]
fn types_that_netcdf_lacks_become_those_that_a_person_would_take() {
    let folder = TempDir::new().unwrap();
    document(
        folder.path(),
        "
dimcoords:
  x: {size: 2}
ndarrays:
  yes: {shape: [x], type: bool, value: [true, false]}
  half: {shape: [x], type: float16, value: [0.5, -2.0]}
  when: {shape: [x], type: {datetime: {unit: s}}, value: ['2024-03-01T00:00:00', '2024-03-02T00:00:00']}
  odd: {shape: [x], type: int24, value: [-3, 8388607]}
  name: {shape: [x], type: string, storage: {length: 4}, value: [ab, abcd]}
  pair: {shape: [x], type: {array: {base: int16, shape: [3]}}, value: [[1, 2, 3], [4, 5, 6]]}
  level: {shape: [], type: {enum: {base: uint8, members: {low: 0, high: 1}}}, value: high}
  bare: {shape: [5, 5, null], type: int32}
",
    );
    let done = run(folder.path(), &["create", "-q", "doc.yaml", "a.nc"]);
    assert_eq!((done.code, done.messages.as_str()), (0, ""), "{}", done.answer);
    let listed = run(folder.path(), &["ls", "a.nc"]).answer;
    for line in ["yes", "half", "when", "odd", "name", "pair", "level", "bare"] {
        assert!(listed.contains(line), "{line} in {listed}");
    }
    let described = run(folder.path(), &["describe", "--values", "a.nc"]).answer;
    for part in [
        "dtype: bool",
        "units: seconds since 1970-01-01",
        "calendar: proleptic_gregorian",
        "level_t:",
        "string4:\n    size: 4",
        "dim_5_2:\n    size: 5",
        "shape: [x, string4]",
        "shape: [x, dim_3]",
        "shape: [dim_5, dim_5_2, unlimited_0]",
        "type: /level_t",
        "value: [-3, 8388607]",
        "value: [0.5, -2.0]",
    ] {
        assert!(described.contains(part), "{part} in {described}");
    }
    let checked = run(folder.path(), &["check", "a.nc"]);
    assert_eq!(checked.answer, "no findings in 1 location\n");
}

#[test]
fn what_netcdf_cannot_hold_is_named_before_a_file_is_written() {
    let folder = TempDir::new().unwrap();
    document(
        folder.path(),
        "
ndarrays:
  to: {shape: [], type: objref, value: /x}
  x: {shape: [], type: int32, attributes: {CLASS: IMAGE}, value: 1}
links:
  y: {soft: /x}
",
    );
    let refused = run(folder.path(), &["create", "doc.yaml", "a.nc"]);
    assert_eq!(refused.code, 1, "{}{}", refused.answer, refused.messages);
    for row in ["lost types", "lost attributes", "lost links", "/to", "/x@CLASS", "/y"] {
        assert!(refused.answer.contains(row), "{row} in {}", refused.answer);
    }
    assert!(!folder.path().join("a.nc").exists());
    let done =
        run(folder.path(), &["create", "-q", "--allow-loss", "types,attributes,links", "doc.yaml", "a.nc"]);
    assert_eq!(done.code, 0, "{}", done.messages);
    assert_eq!(run(folder.path(), &["show", "-q", "a.nc:/x"]).answer.lines().last(), Some("1"));
}

#[test]
fn the_classic_model_has_no_groups_and_few_types() {
    let folder = TempDir::new().unwrap();
    let source = examples().join("nested_groups.nc");
    let args = ["convert", "--format", "netcdf4-classic", source.to_str().unwrap(), "a.nc"];
    let refused = run(folder.path(), &args);
    assert_eq!(refused.code, 1, "{}", refused.messages);
    assert!(refused.answer.contains("which the classic model does not have"), "{}", refused.answer);
    let source = examples().join("classic.nc");
    let done = run(folder.path(), &["convert", "-q", "--format", "nc7", source.to_str().unwrap(), "a.nc"]);
    assert_eq!((done.code, done.messages.as_str()), (0, ""));
    let raw = run(folder.path(), &["describe", "--raw", "a.nc"]).answer;
    assert!(raw.contains("_nc3_strict"), "{raw}");
    // Writing the file again stays within the classic model.
    assert_eq!(run(folder.path(), &["convert", "-q", "a.nc", "b.nc"]).code, 0);
    assert!(run(folder.path(), &["describe", "--raw", "b.nc"]).answer.contains("_nc3_strict"));
}

/// Names that NetCDF forbids, for all kinds of objects.
const FORBIDDEN: &str = r#"
/:
  attributes:
    "@x": 1
    "a/b": 2
    plain: 3
  dimcoords:
    "@time": {size: 2}
    "last ": {size: 2, type: int32, value: [7, 8]}
  ndarrays:
    "@a": {shape: ["@time"], type: int32, value: [1, 2], attributes: {"e\u0301": 5, ok: 6}}
    "tab\there": {shape: ["last "], type: int16, value: [3, 4]}
    "_40b": {shape: [], type: int32, value: 9}
"#;

const FORBIDDEN_IN_GROUPS: &str = r#"
/@g:
  datatypes:
    "@point":
      compound:
        - "@x": int32
        - "y ": int8
  dimcoords:
    "@time": {size: 3}
  ndarrays:
    "@time_of_array": {shape: ["@time"], type: int32, value: [1, 2, 3]}
    named: {shape: [], type: "/@g/@point", value: {"@x": 1, "y ": 2}}
"#;

/// The lines of `digest`, each without the padding between columns.
fn digests(folder: &Path, of: &str) -> Vec<String> {
    let answer = run(folder, &["digest", of]).answer;
    answer.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn names_that_netcdf_forbids_are_restored() {
    for (format, groups) in
        [("netcdf4", FORBIDDEN_IN_GROUPS), ("netcdf4-classic", ""), ("cdf1", ""), ("cdf5", "")]
    {
        let folder = TempDir::new().unwrap();
        document(folder.path(), &format!("{FORBIDDEN}{groups}"));
        let words = ["convert", "doc.yaml", "a.nc", "--format", format];
        let done = run(folder.path(), &words);
        assert_eq!(done.code, 0, "{format}: {}", done.messages);
        let fates: Vec<_> = done.answer.lines().filter(|line| line.contains("  name ")).collect();
        let are_restored = fates.len() == 2 && fates.iter().all(|row| row.ends_with("restored"));
        assert!(are_restored, "{format}: {}", done.answer);
        let source = digests(folder.path(), "doc.yaml");
        assert!(source.len() > 8, "{source:?}");
        assert_eq!(digests(folder.path(), "a.nc"), source, "{format}");
        let diff = run(folder.path(), &["diff", "doc.yaml", "a.nc"]);
        assert_eq!((diff.code, diff.answer.as_str()), (0, ""), "{format}");
        // The file contains other names, and a record to restore the original ones.
        let raw = run(folder.path(), &["ls", "-r", "--raw", "a.nc"]).answer;
        assert!(raw.contains("_40a") && !raw.contains("@a"), "{format}: {raw}");
        let raw = run(folder.path(), &["describe", "--raw", "a.nc"]).answer;
        assert!(raw.contains("_hyperslab_names"), "{format}: {raw}");
        let shown = run(folder.path(), &["describe", "a.nc"]).answer;
        assert!(!shown.contains("_hyperslab_names") && shown.contains("\"@a\""), "{format}: {shown}");
        let found = run(folder.path(), &["show", "-q", "a.nc:/tab\there"]);
        assert!(found.code == 0 && found.answer.contains('4'), "{format}: {}", found.messages);
        let again = run(folder.path(), &["repack", "-q", "a.nc", "b.nc"]);
        assert_eq!((again.code, again.messages.as_str()), (0, ""), "{format}");
        assert_eq!(digests(folder.path(), "b.nc"), source, "{format}");
    }
}

#[test]
fn files_without_forbidden_names_have_no_record() {
    let folder = TempDir::new().unwrap();
    document(
        folder.path(),
        "ndarrays:\n  x: {shape: [2], type: int32, value: [1, 2], attributes: {units: m}}\n",
    );
    let done = run(folder.path(), &["convert", "-q", "doc.yaml", "a.nc"]);
    assert_eq!((done.code, done.messages.as_str()), (0, ""));
    let raw = run(folder.path(), &["describe", "--raw", "a.nc"]).answer;
    assert!(raw.contains("_NCProperties") && !raw.contains("_hyperslab"), "{raw}");
}
