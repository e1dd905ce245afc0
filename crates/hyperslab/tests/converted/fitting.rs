//! Attributes that only look like records, and records that do not match their node.

use super::{converted, open, same};
use hyperslab::check::{CheckOptions, check, rules};
use hyperslab::target_format;
use hyperslab::{NodePath, OpenOptions};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A store with an array `a` of four integers and the attributes `u` and `_FillValue`.
fn store(folder: &TempDir, group: Value, mut array: Value) -> PathBuf {
    let at = folder.path().join("x.zarr");
    let _ = fs::remove_dir_all(&at);
    fs::create_dir_all(at.join("a")).unwrap();
    let write =
        |path: &str, json: Value| fs::write(at.join(path).join("zarr.json"), json.to_string()).unwrap();
    write("", json!({"zarr_format": 3, "node_type": "group", "attributes": group}));
    let attributes = array.as_object_mut().unwrap();
    let kind = attributes.remove("data_type").unwrap_or(json!("int32"));
    let shape = attributes.remove("shape").unwrap_or(json!([4]));
    write(
        "a",
        json!({
            "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": kind, "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
            "chunk_key_encoding": {"name": "default"},
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "attributes": attributes
        }),
    );
    at
}

/// The findings of a check.
fn told(store: &Path) -> Vec<String> {
    let report = check(store, &OpenOptions::default(), &CheckOptions::default()).unwrap();
    report.findings.iter().map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

#[test]
fn a_record_that_does_not_match_its_array_makes_it_unreadable_and_is_reported() {
    let folder = TempDir::new().unwrap();
    for (record, expected) in [
        (json!({"shape": null}), "member \"shape\": null, but the array has the shape [4]"),
        (json!({"shape": [4]}), "member \"shape\": an array, expected null"),
        (json!({"maximum": [1]}), "member \"maximum\": 1, but the array has the shape [4]"),
        (json!({"maximum": [null, null]}), "member \"maximum\": 2 items, but the array has 1 dimensions"),
        (json!({"maximum": ["x"]}), "member \"maximum\": expected non-negative integers or null"),
        (json!({"maximum": 4}), "member \"maximum\": a number, expected an array"),
        (
            json!({"dimensions": ["/x", "/y"]}),
            "member \"dimensions\": 2 items, but the array has 1 dimensions",
        ),
        (json!({"dimensions": ["x y/"]}), "member \"dimensions\": expected paths or null"),
        (json!({"kind": "bogus"}), "member \"kind\": \"bogus\", expected dimcoord or ndarray"),
        (json!({"name": "../x"}), "member \"name\": \"../x\", expected a name that an object can have"),
        (json!({"type": "float32"}), "member \"type\": float32, which is not stored as int32"),
        (json!({"type": "int8"}), "member \"type\": int8, which is not stored as int32"),
        (json!({"type": {"vlen": {"base": "int32"}}}), "which is not stored as int32"),
        (json!({"domain": [1]}), "member \"domain\": expected 2 of int32"),
        (json!({"tile": "x"}), "member \"tile\": expected 1 of int32"),
        (json!({"type": 1}), "member \"type\": "),
        (json!({"named": "/t"}), "member \"named\" without \"type\""),
        (json!({"kind": "ndarray", "unit": 1}), "member \"unit\", which no record has"),
        (json!({"links": {"b": {"soft": "/a"}}}), "member \"links\" of an array, which only groups have"),
        (
            json!({"attributes": {"u": {"shape": [3], "type": "int8", "value": [1]}}}),
            "member \"attributes\": attribute \"u\": ",
        ),
    ] {
        let store = store(&folder, json!({}), json!({"hyperslab": record, "u": [1]}));
        let source = open(&store);
        let found = source.find(&NodePath::new("/a").unwrap()).unwrap();
        let error = source.load(&found.handle).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(expected), "{record}: {error}");
        let told = told(&store);
        assert!(
            matches!(&told[..], [one] if one.starts_with("zarr/record: ") && one.contains(expected)),
            "{told:?}"
        );
    }
}

#[test]
fn an_attribute_with_the_name_of_a_record_stays_an_attribute() {
    let folder = TempDir::new().unwrap();
    for own in [json!({"operator": "me", "n": 3}), json!({}), json!("mine"), json!([1, 2])] {
        let store = store(&folder, json!({"hyperslab": own}), json!({"hyperslab": own}));
        assert_eq!(told(&store), [""; 0]);
        for path in ["/", "/a"] {
            let source = open(&store);
            let handle = source.find(&NodePath::new(path).unwrap()).unwrap().handle;
            assert!(source.load(&handle).unwrap().attributes().unwrap().contains_key("hyperslab"), "{own}");
        }
        for format in ["zarr2", "zarr3"] {
            let target = folder.path().join(format);
            let _ = fs::remove_dir_all(&target);
            let lost = converted(&store, target_format(format).unwrap(), &target).unwrap();
            assert!(lost.is_empty(), "{lost:?}");
            same(&store, &target, &lost).unwrap();
        }
    }
}

#[test]
fn attributes_changed_by_another_program_have_the_changed_value() {
    let folder = TempDir::new().unwrap();
    // 2.5, 3.5 and NaN as base64-encoded doubles.
    let (was, is, nan) = ("AAAAAAAABEA=", "AAAAAAAADEA=", "AAAAAAAA+H8=");
    let fill = json!({"shape": [], "type": "float32", "value": 2.5});
    let text = json!({"shape": [], "type": "int8"});
    let (two, three) = ("AAAAAAAAAEA=", "AAAAAAAACEA=");
    let whole = json!({"shape": [], "type": "uint16", "value": 2});
    let none = json!({"shape": null, "type": "string"});
    for (record, attributes, expected, finding) in [
        (json!({"_FillValue": fill}), json!({"_FillValue": was}), "_FillValue float32 2.5", None),
        (json!({"_FillValue": fill}), json!({"_FillValue": is}), "_FillValue float32 3.5", None),
        (json!({"_FillValue": fill}), json!({"_FillValue": nan}), "_FillValue float32 \"NaN\"", None),
        (json!({"_FillValue": fill}), json!({"_FillValue": 7}), "_FillValue int32 7", Some("_FillValue")),
        (json!({"_FillValue": fill}), json!({}), "", Some("_FillValue")),
        (json!({"_FillValue": whole}), json!({"_FillValue": two}), "_FillValue uint16 2", None),
        (json!({"_FillValue": whole}), json!({"_FillValue": three}), "_FillValue uint16 3", None),
        (
            json!({"_FillValue": whole}),
            json!({"_FillValue": is}),
            "_FillValue string \"AAAAAAAADEA=\"",
            Some("_FillValue"),
        ),
        (json!({"_FillValue": none}), json!({}), "_FillValue string ", None),
        (json!({"_FillValue": none}), json!({"_FillValue": 7}), "_FillValue int32 7", Some("_FillValue")),
        (json!({"u": text}), json!({"u": 3}), "u int8 3", None),
        (json!({"u": text}), json!({"u": 300}), "u int32 300", Some("u")),
        (json!({"u": text}), json!({"u": "K"}), "u string \"K\"", Some("u")),
        (json!({"u": text}), json!({}), "", Some("u")),
        (json!({"u": {"shape": null, "type": "int8"}}), json!({"u": 1}), "u int32 1", Some("u")),
    ] {
        let mut members = attributes.clone();
        members["hyperslab"] = json!({"attributes": record});
        members["data_type"] = json!("float32");
        let store = store(&folder, json!({}), members);
        let source = open(&store);
        let handle = source.find(&NodePath::new("/a").unwrap()).unwrap().handle;
        let node = source.load(&handle).unwrap();
        let said: Vec<_> = node
            .attributes()
            .unwrap()
            .iter()
            .map(|(name, attribute)| {
                let attribute = attribute.as_ref().unwrap();
                let mut elements = hyperslab::model::Elements::new(&attribute.datatype, &attribute.value);
                let value = elements.next().map_or_else(String::new, |one| hyperslab::ndl::json(one));
                format!("{name} {} {value}", attribute.datatype)
            })
            .collect();
        assert_eq!(said.join(", "), expected, "{record} {attributes}");
        let finding =
            finding.map(|name| format!("zarr/record-attribute: attribute {name:?} differs from its record"));
        assert_eq!(told(&store), Vec::from_iter(finding), "{record} {attributes}");
    }
}

#[test]
fn rules_about_records_are_documented() {
    let text = fs::read_to_string(crate::path("../docs/check-zarr.md")).unwrap();
    for rule in rules().filter(|rule| rule.name.starts_with("zarr/record")) {
        let line = format!("`{}`, {}: {}", rule.name, rule.severity, rule.explanation);
        assert!(text.contains(&line), "{line}");
    }
}
