//! NetCDF classic files written by the command: the version used, and the report on what no version can represent.

use crate::command::{Ran, examples, prepared, ran};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn run(folder: &Path, args: &[&str]) -> Ran {
    ran(prepared(args).current_dir(folder).output().unwrap())
}

fn version(folder: &Path, name: &str) -> u8 {
    let bytes = fs::read(folder.join(name)).unwrap();
    assert_eq!(&bytes[..3], b"CDF");
    bytes[3]
}

#[test]
fn the_version_follows_from_the_suffix_the_format_or_the_repacked_file() {
    let folder = TempDir::new().unwrap();
    let source = examples().join("classic.nc");
    let source = source.to_str().unwrap();
    for (args, target, expected) in [
        (&["convert", "-q"][..], "a.nc3", 1),
        (&["convert", "-q"], "a.cdf", 1),
        (&["convert", "-q", "--format", "classic"], "a.nc", 1),
        (&["convert", "-q", "--format", "cdf2"], "b.nc", 2),
        (&["convert", "-q", "--format", "64-bit-data"], "c.nc", 5),
    ] {
        let done = run(folder.path(), &[args, &[source, target]].concat());
        assert_eq!((done.code, done.messages.as_str()), (0, ""), "{target}");
        assert_eq!(version(folder.path(), target), expected);
        assert_eq!(run(folder.path(), &["diff", source, target]).code, 0);
        let again = format!("again-{target}");
        assert_eq!(run(folder.path(), &["repack", "-q", target, &again]).code, 0);
        assert!(
            fs::read(folder.path().join(target)).unwrap() == fs::read(folder.path().join(&again)).unwrap()
        );
    }
}

#[test]
fn documents_are_created_and_files_are_joined() {
    let folder = TempDir::new().unwrap();
    for (name, value) in [("one", 1), ("two", 2)] {
        let text = format!(
            "dimcoords:\n  t: {{size: null, type: int32, storage: {{size: 1}}, value: [{value}]}}\n\
             ndarrays:\n  x: {{shape: [t, 2], type: float32, storage: {{shape: [1, 2]}}, value: [[{value}, 0.5]]}}\n"
        );
        fs::write(folder.path().join(format!("{name}.yaml")), text).unwrap();
        let (text, file) = (format!("{name}.yaml"), format!("{name}.nc3"));
        let done = run(folder.path(), &["create", "-q", &text, &file]);
        assert_eq!((done.code, done.messages.as_str()), (0, ""));
        assert_eq!(run(folder.path(), &["check", "-q", &file]).code, 0);
    }
    let done = run(folder.path(), &["concat", "-q", "one.nc3", "two.nc3", "both.nc3"]);
    assert_eq!((done.code, done.messages.as_str()), (0, ""));
    assert_eq!(version(folder.path(), "both.nc3"), 1);
    let shown = run(folder.path(), &["show", "--as", "csv", "both.nc3:/x"]);
    assert!(shown.answer.contains("0.5") && shown.answer.contains('2'), "{}{}", shown.answer, shown.messages);
}

#[test]
fn what_a_version_does_not_hold_is_named_before_a_file_is_written() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("large.yaml"), "ndarrays:\n  a: {shape: [3000000000], type: int8}\n")
        .unwrap();
    let refused = run(folder.path(), &["create", "large.yaml", "large.nc3"]);
    assert_eq!(refused.code, 2, "{}{}", refused.answer, refused.messages);
    assert!(refused.messages.contains("in CDF-1 at most 2147483647"), "{}", refused.messages);
    assert!(refused.messages.contains("convert to netcdf3-64bit-data"), "{}", refused.messages);
    let source = examples().join("ocean.nc");
    let refused = run(folder.path(), &["convert", source.to_str().unwrap(), "ocean.nc3"]);
    assert_eq!(refused.code, 1, "{}{}", refused.answer, refused.messages);
    let said = format!("{}{}", refused.answer, refused.messages);
    assert!(said.contains("a group, which CDF-1 does not have") && said.contains("lost labels"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn filters_lead_to_a_format_that_has_them() {
    let folder = TempDir::new().unwrap();
    fs::copy(examples().join("classic.nc"), folder.path().join("classic.nc")).unwrap();
    for (verb, target) in [("repack", "a.nc"), ("convert", "b.nc3")] {
        let refused = run(folder.path(), &[verb, "-q", "classic.nc", target, "-f", "shuffle,deflate=4"]);
        assert_eq!(refused.code, 2, "{}", refused.messages);
        let line = format!("convert -q classic.nc {target} -f shuffle,deflate=4 --format netcdf4-classic");
        let help = format!("  help: `hyperslab {line}` writes a format that supports them\n");
        assert!(refused.messages.ends_with(&help), "{}", refused.messages);
        let done = run(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert_eq!((done.code, done.messages.as_str()), (0, ""));
    }
}

#[test]
fn a_type_that_classic_files_lack_is_not_said_to_be_lacking_in_netcdf() {
    let folder = TempDir::new().unwrap();
    let text = "ndarrays:\n  v: {shape: [1], type: {vlen: {base: int32}}, value: [[1]]}\n";
    fs::write(folder.path().join("v.yaml"), text).unwrap();
    let refused = run(folder.path(), &["create", "v.yaml", "v.nc3"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    let said = format!("{}{}", refused.answer, refused.messages);
    assert!(said.contains("vlen(int32), which CDF-1 does not have"), "{said}");
}
