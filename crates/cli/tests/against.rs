//! `check --against`.

use crate::command::{examples, hyperslab};
use crate::golden::holds;
use std::fs;
use tempfile::TempDir;

const CONTRACT: &str = "\
/:
  dimcoords:
    time: {size: null, type: float64}
    lat: {size: 4}
    depth: {size: 5}
    lon: {size: 8}
  ndarrays:
    salinity:
      shape: [time, depth, lat, lon]
      type: float64
      attributes: {units: \"2\", nothing: 1}
      storage: {filter: [shuffle, {deflate: 9}]}
    sst: {type: float32}
/wavy:
  ndarrays: {a: {type: int8}}
";

fn contract(text: &str) -> (TempDir, String) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("contract.yaml");
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

#[test]
fn findings_name_the_object_and_the_statement_of_the_document() {
    let (_dir, path) = contract(CONTRACT);
    let ran = hyperslab(["check", "ocean.nc", "--against", &path]);
    assert_eq!((ran.code, ran.messages.as_str()), (1, ""));
    holds("against_text.txt", &ran.answer);
    let ran = hyperslab(["check", "ocean.nc", "--against", &path, "--json", "-v"]);
    assert_eq!(ran.code, 1);
    holds("against_json.jsonl", &ran.answer);
    let ran = hyperslab(["check", "ocean.nc", "--against", &path, "--as", "sarif"]);
    let log: serde_json::Value = serde_json::from_str(&ran.answer).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|result| result["ruleId"] == "against/type").unwrap();
    assert_eq!(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "/salinity");
    let said = &result["relatedLocations"][0]["physicalLocation"];
    assert_eq!(said["region"]["startLine"], 8, "{said}");
    assert!(said["artifactLocation"]["uri"].as_str().unwrap().ends_with("contract.yaml"), "{said}");
    assert!(log["runs"][0]["tool"]["driver"]["rules"][0]["shortDescription"]["text"].is_string());
}

#[test]
fn accepts_data_that_agree_with_the_document() {
    let text = hyperslab(["describe", "--values", "ocean.nc"]).answer;
    let (_dir, path) = contract(&text);
    let ran = hyperslab(["check", "ocean.nc", "--against", &path]);
    assert_eq!((ran.code, ran.answer.as_str()), (0, "no findings in 1 location\n"));
    let ran = hyperslab(["check", "ocean.nc", "unlimited.nc", "--against", &path]);
    assert_eq!(ran.code, 1);
    assert!(ran.answer.contains("unlimited.nc:/"), "{}", ran.answer);
    assert!(!ran.answer.contains("ocean.nc:/"), "{}", ran.answer);
}

#[test]
fn rejects_a_document_with_errors_or_of_another_kind() {
    let (_dir, path) = contract("ndarrays:\n  x: {shape: [2], type: int99}\n");
    let ran = hyperslab(["check", "ocean.nc", "--against", &path]);
    assert_eq!((ran.code, ran.answer.as_str()), (2, ""));
    assert!(
        ran.messages.contains("the contract document has 1 error\n  help: `hyperslab check "),
        "{}",
        ran.messages
    );
    let nc = examples().join("ocean.nc");
    let ran = hyperslab(["check", "ocean.nc", "--against", nc.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert_eq!(hyperslab(["check", "ocean.nc", "--against", "nowhere.yaml"]).code, 2);
    let (_dir, path) = contract("");
    assert_eq!(hyperslab(["check", "nowhere.nc", "--against", &path]).code, 2);
}

#[test]
fn missing_values_have_the_type_of_their_array_as_create_gives_it() {
    let text = "ndarrays:\n  t: {shape: [2], type: int16, value: [1, -999], attributes: {_FillValue: -999, missing_value: -998}}\n";
    let (dir, path) = contract(text);
    let store = dir.path().join("t.nc");
    let store = store.to_str().unwrap();
    assert_eq!(hyperslab(["create", "-q", &path, store]).code, 0);
    let ran = hyperslab(["check", store, "--against", &path]);
    assert_eq!((ran.code, ran.answer.as_str()), (0, "no findings in 1 location\n"));
    fs::write(&path, text.replace("_FillValue: -999", "_FillValue: -1")).unwrap();
    let other = hyperslab(["check", store, "--against", &path]);
    assert_eq!(other.code, 1);
    assert!(other.answer.contains("-999, the contract says -1"), "{}", other.answer);
    fs::write(&path, text.replace("_FillValue: -999", "_FillValue: 99999")).unwrap();
    let none = hyperslab(["check", store, "--against", &path]);
    assert!(none.answer.contains("int16, the contract says int32"), "{}", none.answer);
}
