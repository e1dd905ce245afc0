//! `check` of HDF5 files.

use crate::command::{examples, hyperslab};
use std::fs;
use tempfile::TempDir;

/// An example file with changed bytes, and its path.
fn damaged(name: &str, damage: impl FnOnce(&mut Vec<u8>)) -> (TempDir, String) {
    let dir = TempDir::new().unwrap();
    let mut bytes = fs::read(examples().join(name)).unwrap();
    damage(&mut bytes);
    let path = dir.path().join("damaged.h5");
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

#[test]
fn example_files_have_no_errors() {
    let mut checked = 0;
    for entry in fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if !path.extension().is_some_and(|suffix| suffix == "h5" || suffix == "nc") {
            continue;
        }
        let ran = hyperslab(["check", path.to_str().unwrap()]);
        assert_eq!((ran.code, ran.messages.as_str()), (0, ""), "{}", ran.answer);
        assert!(!ran.answer.contains("error"), "{}", ran.answer);
        checked += 1;
    }
    assert!(checked >= 10);
}

#[test]
fn unused_space_in_sound_files_is_told_only_on_request() {
    let mut told = 0;
    for entry in fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|suffix| suffix != "nc") {
            continue;
        }
        let path = path.to_str().unwrap();
        let ran = hyperslab(["check", path]);
        assert_eq!((ran.code, ran.answer.as_str()), (0, "no findings in 1 location\n"), "{path}");
        // All findings are shown to people who ask for them and to programs.
        let all = hyperslab(["check", "-v", path]).answer;
        let count = all.matches("hdf5/unaccounted").count() + all.matches("hdf5/unreferenced").count();
        assert_eq!(hyperslab(["check", "--json", path]).answer.lines().count(), count, "{path}");
        told += count;
    }
    assert!(told > 20);
}

#[test]
fn much_unused_space_is_always_told() {
    let (_dir, path) = damaged("groups_old.h5", |bytes| {
        assert_eq!(bytes[8], 0, "version of the superblock");
        bytes.resize(bytes.len() + 100_000, 0);
        let end = bytes.len() as u64;
        bytes[40..48].copy_from_slice(&end.to_le_bytes());
    });
    let ran = hyperslab(["check", &path]);
    assert_eq!(ran.code, 0, "{}", ran.answer);
    let told: Vec<_> = ran.answer.lines().filter(|line| line.contains("hdf5/unaccounted")).collect();
    assert!(
        matches!(told.as_slice(), [one] if one.contains(" bytes belong to no structure")),
        "{}",
        ran.answer
    );
}

#[test]
fn finds_a_damaged_chunk_unless_chunks_are_not_decoded() {
    let (_dir, path) = damaged("userblock.h5", |bytes| {
        // The first chunk of /c begins with the zlib header for level 1.
        let chunk = bytes.windows(2).position(|pair| pair == [0x78, 0x01]).unwrap();
        bytes[chunk + 2..chunk + 8].fill(0xff);
    });
    let ran = hyperslab(["check", path.as_str()]);
    assert_eq!(ran.code, 1, "{}", ran.answer);
    assert!(ran.answer.contains("damaged.h5:/c "), "{}", ran.answer);
    assert!(ran.answer.contains("  error  hdf5/"), "{}", ran.answer);
    assert!(ran.answer.ends_with(" in 1 location\n"), "{}", ran.answer);
    assert_eq!(hyperslab(["check", "--quick", path.as_str()]).code, 0);
}

#[test]
fn a_finding_names_rule_object_structure_and_byte() {
    let mut header = 0;
    let (_dir, path) = damaged("userblock.h5", |bytes| {
        header = bytes.windows(4).rposition(|word| word == b"OHDR").unwrap();
        bytes[header + 20] ^= 0xff;
    });
    let ran = hyperslab(["check", "--json", path.as_str()]);
    assert_eq!(ran.code, 1, "{}", ran.answer);
    let findings = ran.answer.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let findings: Vec<_> = findings.filter(|finding| finding["severity"] == "error").collect();
    let first = &findings[0];
    assert_eq!(first["rule"], "hdf5/checksum", "{first}");
    assert!(first["structure"].as_str().unwrap().contains("Object Header"), "{first}");
    let byte = usize::try_from(first["byte"].as_u64().unwrap()).unwrap();
    assert!((header..header + 4096).contains(&byte), "{first} is not near {header}");

    let ran = hyperslab(["check", "--as", "sarif", path.as_str()]);
    let log: serde_json::Value = serde_json::from_str(&ran.answer).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|result| result["ruleId"] == "hdf5/checksum").unwrap();
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["byteOffset"], first["byte"]);
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["shortDescription"]["text"].is_string()), "{rules:?}");
}

#[test]
fn reports_a_truncated_file() {
    let (_dir, path) = damaged("big_endian.h5", |bytes| bytes.truncate(bytes.len() - 100));
    let ran = hyperslab(["check", path.as_str()]);
    assert_eq!(ran.code, 1);
    assert!(ran.answer.contains("hdf5/truncated"), "{}", ran.answer);
    assert!(ran.answer.contains("\n  help: the file was cut"), "{}", ran.answer);
}

#[test]
fn rejects_objects_inside_a_file() {
    let ran = hyperslab(["check", "ocean.nc:/waves"]);
    assert_eq!(ran.code, 2);
    assert!(ran.messages.contains("whole files"), "{}", ran.messages);
}
