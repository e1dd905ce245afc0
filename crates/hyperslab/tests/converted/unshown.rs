//! A conversion names content that is not where it should be, and converts what is sound.

use super::{converted, open, same};
use crate::{description, path};
use hyperslab::convert::{ConvertOptions, plan};
use hyperslab::describe::DescribeOptions;
use hyperslab::digest::lines;
use hyperslab::target::{Fate, Loss, OptionValue, TargetOptions};
use hyperslab::{NodePath, target_format};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The report rows for unreadable content of a file: what is lost, and what takes its place.
fn unreadable(source: &Path) -> Vec<(String, String)> {
    let planned = plan(&*open(source), &ConvertOptions::new(target_format("zarr3").unwrap())).unwrap();
    let rows = planned.report.rows().filter(|row| row.fate == Fate::Lost(Loss::Unreadable));
    rows.map(|row| (row.what.clone(), row.becomes.clone())).collect()
}

#[test]
fn zeros_of_truncated_members_are_lost() {
    let folder = TempDir::new().unwrap();
    for number in 0..11 {
        let name = format!("hdf5/sets/old_{number}.h5");
        fs::copy(path(&name), folder.path().join(format!("old_{number}.h5"))).unwrap();
    }
    let whole = folder.path().join("old_0.h5");
    assert_eq!(unreadable(&whole), []);
    // The last bytes of elements in a member file are cut off.
    let middle = folder.path().join("old_4.h5");
    let stored = fs::read(&middle).unwrap();
    fs::write(&middle, &stored[..stored.len() - 8]).unwrap();
    let [(what, becomes)] = unreadable(&whole).try_into().unwrap();
    assert_eq!(becomes, "zeros");
    assert!(what.starts_with("member files are truncated: 8 missing bytes, the first at 0x"), "{what}");
}

/// A NetCDF classic file with two variables of one int each.
fn two_variables(folder: &TempDir, names: [&[u8; 4]; 2]) -> PathBuf {
    let variable = |name: &[u8]| {
        let mut stored = vec![0, 0, 0, 4];
        stored.extend(name);
        // There are no dimensions or attributes. The value is a 4-byte int at byte 96.
        stored.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 96]);
        stored
    };
    let head = b"CDF\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0b\0\0\0\x02";
    let [one, other] = names.map(|name| variable(name));
    let file = folder.path().join("two.nc");
    fs::write(&file, [head.as_slice(), &one, &other, &[0, 0, 0, 7]].concat()).unwrap();
    file
}

#[test]
fn a_second_object_of_netcdf_classic_with_the_same_name_is_lost() {
    let folder = TempDir::new().unwrap();
    let [(what, becomes)] = unreadable(&two_variables(&folder, [b"same", b"same"])).try_into().unwrap();
    assert_eq!(
        (what.as_str(), becomes.as_str()),
        ("a second variable of the name \"same\" is not shown", "nothing")
    );
    // Names that are not UTF-8 stay different.
    let different = two_variables(&folder, [b"a\xffbc", b"a\xfebc"]);
    assert_eq!(unreadable(&different), []);
    let paths: Vec<String> =
        lines(&*open(&different), &NodePath::root()).unwrap().iter().map(|line| line.path.clone()).collect();
    assert_eq!(paths, ["/", "/a\u{fffd}febc", "/a\u{fffd}ffbc"]);
}

/// Names of links, attributes, members and enumeration values that differ only in bytes that are not UTF-8.
#[test]
fn names_that_are_not_utf8_stay_different() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/short/names.h5");
    let described = |store: &Path| {
        let (text, errors) = description(&*open(store), "/", &DescribeOptions::default());
        assert!(errors.is_empty(), "{errors:?}");
        text
    };
    let text = described(&source);
    for name in ["link", "attribute", "member", "value"] {
        for byte in ["e4", "f6"] {
            let shown = format!("{name}\u{fffd}{byte}");
            assert!(text.contains(&shown), "{shown:?} in {text}");
        }
    }
    let folder = TempDir::new().unwrap();
    for format in ["zarr2", "zarr3"] {
        let target = folder.path().join(format);
        let lost = converted(&source, target_format(format).unwrap(), &target).unwrap();
        assert!(lost.is_empty(), "{lost:?}");
        same(&source, &target, &lost).unwrap();
    }
}

/// Content that only HDF5 can represent is kept in records, and is reported as lost where there are no records.
#[test]
fn content_that_only_hdf5_has_comes_back() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/short/facts.h5");
    let native = |store: &Path, path: &str| {
        let from = open(store);
        let node = from.load(&from.find(&NodePath::new(path).unwrap()).unwrap().handle).unwrap();
        let native = &node.storage().unwrap().native;
        let of_hdf5 = native.iter().find(|(format, _)| *format == "hdf5").map(|(_, directives)| directives);
        let is_content = |key: &str| !key.ends_with("time");
        let mut texts: Vec<String> = of_hdf5
            .into_iter()
            .flatten()
            .filter(|(key, _)| is_content(key))
            .map(|(key, value)| format!("{key}: {value:?}"))
            .collect();
        texts.sort_unstable();
        texts.join("\n")
    };
    let scales = "[List([Text(\"/lat\")]), List([Text(\"/x\"), Text(\"/other\")])]";
    let expected = [
        (
            "/data",
            format!(
                "comment: Text(\"measured twice\")\nlabels: List([Text(\"row\"), Text(\"\")])\nscales: List({scales})"
            ),
        ),
        ("/x", "scale: Text(\"longitude\")".to_owned()),
        (
            "/",
            "user_block: Map([(\"size\", Int(512)), (\"bytes\", Text(\"0x4d41544c414220372e33\"))])"
                .to_owned(),
        ),
    ];
    for (path, expected) in &expected {
        assert_eq!(native(&source, path), *expected);
    }
    let folder = TempDir::new().unwrap();
    for format in ["zarr2", "zarr3"] {
        let (one, other) = (folder.path().join(format), folder.path().join(format!("again_{format}")));
        let lost = converted(&source, target_format(format).unwrap(), &one).unwrap();
        assert!(lost.is_empty(), "{lost:?}");
        converted(&one, target_format(format).unwrap(), &other).unwrap();
        for (path, expected) in &expected {
            assert_eq!((native(&one, path), native(&other, path)), (expected.clone(), expected.clone()));
        }
        let native = TargetOptions::default().with(
            target_format(format).unwrap(),
            "record",
            OptionValue::Word("none".to_owned()),
        );
        let options =
            ConvertOptions { native: native.unwrap(), ..ConvertOptions::new(target_format(format).unwrap()) };
        let planned = plan(&*open(&source), &options).unwrap();
        let lost: BTreeSet<String> = planned
            .report
            .rows()
            .filter(|row| row.fate == Fate::Lost(Loss::Attributes))
            .map(|row| row.what.clone())
            .collect();
        let keys = ["comment", "labels", "scale", "scales", "user_block"];
        assert_eq!(lost, keys.iter().map(|key| format!("hdf5 directive {key}")).collect());
    }
}

/// A group whose attributes cannot be read is left out together with everything in it.
#[test]
fn nothing_is_written_below_a_group_that_is_left_out() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/short/deep.h5");
    let folder = TempDir::new().unwrap();
    for format in ["zarr2", "zarr3"] {
        let target = folder.path().join(format);
        let lost = converted(&source, target_format(format).unwrap(), &target).unwrap();
        assert_eq!(lost.get("/g"), Some(&Loss::Unreadable), "{lost:?}");
        let written: Vec<String> =
            lines(&*open(&target), &NodePath::root()).unwrap().iter().map(|line| line.path.clone()).collect();
        assert_eq!(written, ["/", "/y"]);
        assert!(!target.join("g").exists());
    }
}
