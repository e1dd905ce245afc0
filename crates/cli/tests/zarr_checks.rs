//! `check` of Zarr stores.

use crate::command::{hyperslab, prepared, ran};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

const ARRAY: &str = r#"{
  "zarr_format": 3, "node_type": "array", "shape": [6], "data_type": "uint8",
  "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
  "chunk_key_encoding": "default", "codecs": ["bytes"],
  "fill_value": 300
}"#;

/// A group with an array whose fill value and second chunk are invalid.
fn damaged() -> TempDir {
    let dir = TempDir::new().unwrap();
    let array = dir.path().join("d.zarr/sst");
    fs::create_dir_all(array.join("c")).unwrap();
    fs::write(dir.path().join("d.zarr/zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
    fs::write(array.join("zarr.json"), ARRAY).unwrap();
    fs::write(array.join("c/0"), b"0123").unwrap();
    fs::write(array.join("c/1"), b"45").unwrap();
    dir
}

fn check(dir: &TempDir, more: &[&str]) -> (i32, String) {
    let args = ["check", "d.zarr"].iter().chain(more);
    let ran = ran(prepared(args).current_dir(dir.path()).output().unwrap());
    assert_eq!(ran.messages, "");
    (ran.code, ran.answer)
}

#[test]
fn example_stores_have_no_errors() {
    for store in ["tides.zarr", "floats.zarr", "single.zarr.zip"] {
        let ran = hyperslab(["check", store]);
        assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{}", ran.answer);
        assert!(!ran.answer.contains("  error  "), "{}", ran.answer);
    }
}

#[test]
fn a_finding_names_node_key_and_place() {
    let expected = "d.zarr:/sst sst/zarr.json:5:17  error  zarr/fill-value  300, expected 0 to 255
d.zarr:/sst sst/c/1 byte 0x0  error  zarr/chunk-size  2 bytes, expected 4
2 errors in 1 location
";
    assert_eq!(check(&damaged(), &[]), (1, expected.to_owned()));
    assert_eq!(check(&damaged(), &["--quick"]), (1, expected.to_owned()));
}

#[test]
fn json_findings_have_the_same_content() {
    let (code, answer) = check(&damaged(), &["--json"]);
    let findings: Vec<Value> = answer.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, findings.len()), (1, 2));
    let [first, second] = [&findings[0], &findings[1]];
    assert_eq!((&first["object"], &first["key"]), (&"/sst".into(), &"sst/zarr.json".into()));
    assert_eq!((&first["line"], &first["column"], &first["end_column"]), (&5.into(), &17.into(), &20.into()));
    assert_eq!(
        (&second["key"], &second["byte"], &second["length"]),
        (&"sst/c/1".into(), &0.into(), &2.into())
    );
}

#[test]
fn sarif_findings_name_the_files_of_the_store() {
    let (_, answer) = check(&damaged(), &["--as", "sarif"]);
    let log: Value = serde_json::from_str(&answer).unwrap();
    let result = &log["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "d.zarr/sst/zarr.json");
    assert_eq!(place["region"]["startLine"], 5);
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["shortDescription"]["text"].is_string()), "{rules:?}");
}
