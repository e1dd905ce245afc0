//! HDF5 files, with the digests of the content that libhdf5 reads.

use super::exceptions::{self, List};
use super::{HDF5, comparison, keep_report};
use crate::tally::Tally;
use crate::{programs, run, workspace};
use std::collections::BTreeMap;
use std::path::Path;

/// Compares the digest of every object with the expected one.
pub(super) fn digests(root: &Path) -> Result<Tally, String> {
    let mut compare = comparison("compare_hdf5.py");
    compare
        .arg(workspace::corpus().join("hdf5.expected.jsonl.gz"))
        .arg(format!("'{}' digest --json {{file}}", programs::command()?.display()))
        .arg("--root")
        .arg(root)
        .args(["--jobs", "2", "--list", "1000000", "--out"])
        .arg(workspace::target().join("corpus").join("report.json"));
    let done = run::quietly(&mut compare)?;
    keep_report("report.txt", &done, 3)?;
    Ok(judge(&done.output, &exceptions::list("unread", HDF5), &exceptions::list("viewed", HDF5)))
}

/// Reads the summary of the comparison. `unread` lists the objects that may be refused, `viewed` those that the NetCDF
/// view shows differently from HDF5.
fn judge(output: &str, unread: &List, viewed: &List) -> Tally {
    let number = |label: &str| -> Option<u64> {
        let (_, after) = output.rsplit_once(label)?;
        after.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let mut tally = Tally::default();
    exceptions::compare(&mut tally, "objects that differ or are left out", &otherwise(output), viewed);
    let mut none = |label: &str, what: &str| {
        let found = number(label);
        tally.check(
            found == Some(0),
            format_args!("{what}: {}", found.map_or("?".to_owned(), |n| n.to_string())),
        );
    };
    none("panics:", "panics");
    none("timeouts:", "timeouts");
    none("not refused", "broken files not refused");
    none("extra", "objects that are not there");
    none("unsorted", "outputs out of order");
    none("exitcode", "exit codes that hide an error");
    let lines = output.lines().filter(|line| line.trim_start().starts_with("different ")).count();
    let different = number("different");
    tally.check(
        different == u64::try_from(lines).ok() && number("missing").is_some(),
        format_args!("objects that differ: {different:?} counted, {lines} named"),
    );
    let (equal, whole) = (number("objects: equal").unwrap_or(0), number("fully equal:").unwrap_or(0));
    tally.check(equal > 0 && whole > 0, format_args!("{equal} objects equal, in {whole} files wholly equal"));
    exceptions::compare(&mut tally, "objects that are refused", &refused(output), unread);
    // Every error is at an object that was compared.
    let errors = number(", error").unwrap_or(u64::MAX);
    let listed = u64::try_from(unread.len()).unwrap_or(u64::MAX);
    tally.check(errors == listed, format_args!("{errors} errors, expected {listed}"));
    // Files without error, files with a listed object, and files that libhdf5 does not open: each file must be one of
    // them.
    let with_errors: std::collections::BTreeSet<_> = unread
        .keys()
        .chain(viewed.keys())
        .filter_map(|object| object.split_once(":/").map(|(file, _)| file))
        .collect();
    let partly = number("with differences:").unwrap_or(u64::MAX);
    tally.check(
        partly == u64::try_from(with_errors.len()).unwrap_or(0),
        format_args!("{partly} files not wholly equal, expected {}", with_errors.len()),
    );
    tally
}

/// Objects that the reference reads and we refuse, as `FILE:OBJECT` with the message.
///
/// A file name follows its state; its reasons follow, indented: `error KIND PATH: TEXT`.
fn refused(output: &str) -> BTreeMap<String, String> {
    let (mut file, mut refused) = ("", BTreeMap::new());
    for line in output.lines() {
        let Some(reason) = line.strip_prefix(INDENT) else {
            file = line.split_whitespace().nth(1).unwrap_or(line);
            continue;
        };
        let Some(error) = reason.trim_start_matches("extra ").strip_prefix("error ") else { continue };
        let (object, message) = error.split_once(": ").unwrap_or((error, ""));
        let path = object.split_once(' ').map_or(object, |(_, path)| path);
        refused.insert(format!("{file}:{path}"), message.to_owned());
    }
    refused
}

/// The indentation of a reason.
const INDENT: &str = "         ";

/// Objects that differ, and those that are missing although everything on their path could be read, as `FILE:OBJECT`
/// with the reason.
///
/// A file's reasons follow its name, indented: `error KIND PATH: TEXT`, `different KIND PATH (PARTS): TEXT` and
/// `missing KIND PATH`.
fn otherwise(output: &str) -> BTreeMap<String, String> {
    let mut file = "";
    let mut errors: Vec<&str> = Vec::new();
    let mut missing: Vec<(&str, &str)> = Vec::new();
    let mut found = BTreeMap::new();
    let mut different = Vec::new();
    let leads_to = |error: &str, path: &str| {
        let below = path.strip_prefix(error.trim_end_matches('/'));
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
    };
    let mut close = |errors: &mut Vec<&str>, missing: &mut Vec<(&str, &str)>| {
        for (file, path) in missing.drain(..) {
            if !errors.iter().any(|error| leads_to(error, path)) {
                found.insert(format!("{file}:{path}"), "left out".to_owned());
            }
        }
        errors.clear();
    };
    for line in output.lines() {
        let Some(reason) = line.strip_prefix(INDENT) else {
            close(&mut errors, &mut missing);
            file = line.split_whitespace().nth(1).unwrap_or(line);
            continue;
        };
        let mut words = reason.trim_start_matches("extra ").splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some("error"), Some(_), Some(rest)) => {
                errors.push(rest.split_once(": ").map_or(rest, |(path, _)| path))
            }
            (Some("missing"), Some(_), Some(path)) => missing.push((file, path)),
            (Some("different"), Some(_), Some(rest)) => {
                let (path, how) = rest.split_once(" (").unwrap_or((rest, ""));
                different.push((format!("{file}:{path}"), how.to_owned()));
            }
            _ => {}
        }
    }
    close(&mut errors, &mut missing);
    found.extend(different);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_below_an_error_are_explained() {
        let below = "bad      a.h5\n         error group /g: unsupported\n         missing array /g/x\n         missing attribute /g@y\n";
        assert!(otherwise(below).is_empty());
        let beside = "bad      a.h5\n         error group /g: unsupported\nbad      b.h5\n         missing array /g/x\n";
        assert_eq!(otherwise(beside).into_keys().collect::<Vec<_>>(), ["b.h5:/g/x"]);
        let longer_name = "bad      a.h5\n         error group /g: unsupported\n         missing array /gx\n";
        assert_eq!(otherwise(longer_name).into_keys().collect::<Vec<_>>(), ["a.h5:/gx"]);
        let other = "bad      a.h5\n         different attribute /b@c (digest): want None got [0]\n";
        assert_eq!(otherwise(other).into_keys().collect::<Vec<_>>(), ["a.h5:/b@c"]);
    }

    const GOOD: &str = "bad      a.h5\n         error array /x: unsupported chunk: filter 32017 (SZ)\n\n\
        files: 862  fully equal: 790  with differences: 1  panics: 0  timeouts: 0\n\
        unopenable for libhdf5: refused cleanly 10, read more than libhdf5 2, not refused 0; not judged 0\n\
        objects: equal 900, alt 5, different 0, missing 0, extra 0, error 1, sameerror 3, more 4, ignored 5, unsorted 0, exitcode 0\n";

    fn failed(output: &str) -> u64 {
        judge(output, &List::from([("a.h5:/x", "SZ")]), &List::new()).failed
    }

    #[test]
    fn a_good_summary_passes_every_check() {
        let tally = judge(GOOD, &List::from([("a.h5:/x", "SZ")]), &List::new());
        assert_eq!((tally.passed, tally.failed), (14, 0));
    }

    #[test]
    fn one_different_object_fails() {
        assert_eq!(failed(&GOOD.replace("different 0", "different 1")), 1);
    }

    #[test]
    fn a_refused_object_that_is_not_listed_fails() {
        assert_eq!(failed(&GOOD.replace("array /x", "array /y")), 2);
        assert_eq!(judge(GOOD, &List::new(), &List::new()).failed, 3);
    }

    #[test]
    fn a_listed_object_that_is_read_fails() {
        let read = GOOD.replace("error array /x", "note").replace("error 1", "error 0");
        assert_eq!(failed(&read.replace("with differences: 1", "with differences: 0")), 3);
    }

    #[test]
    fn no_summary_fails() {
        assert!(failed("Traceback") >= 10);
    }
}
