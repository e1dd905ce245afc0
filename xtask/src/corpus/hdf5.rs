//! HDF5 files, with what libhdf5 reads in them.

use super::{EQUAL_FILES, EQUAL_OBJECTS, comparison, enough, told};
use crate::run;
use crate::tally::Tally;
use crate::workspace;
use std::path::Path;

/// Compares the digest of every object with the expected one.
pub(super) fn digests(root: &Path) -> Result<Tally, String> {
    let mut compare = comparison("compare_hdf5.py");
    compare
        .arg(workspace::corpus().join("hdf5.expected.jsonl.gz"))
        .arg(format!("'{}' digest --json {{file}}", workspace::binary().display()))
        .arg("--root")
        .arg(root)
        .args(["--jobs", "2", "--list", "1000000", "--out"])
        .arg(workspace::target().join("corpus").join("report.json"));
    let done = run::quietly(&mut compare)?;
    told("report.txt", &done, 3)?;
    Ok(judge(&done.output))
}

/// Reads the comparison's summary.
fn judge(output: &str) -> Tally {
    let number = |label: &str| -> Option<u64> {
        let (_, after) = output.rsplit_once(label)?;
        after.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let mut tally = Tally::default();
    let unexplained = unexplained(output);
    for place in &unexplained {
        println!("       {place}");
    }
    tally.check(
        unexplained.is_empty() && number("missing").is_some(),
        format_args!("objects left out without an error above them: {}", unexplained.len()),
    );
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
    none("different", "objects that differ");
    none("extra", "objects that are not there");
    none("unsorted", "outputs out of order");
    none("exitcode", "exit codes that hide an error");
    let equal = number("objects: equal").unwrap_or(0) + number(", alt").unwrap_or(0);
    let errors = number(", error").unwrap_or(u64::MAX / 200) + number("missing").unwrap_or(0);
    tally.check(
        enough(equal, errors, EQUAL_OBJECTS),
        format_args!("{equal} objects equal, {errors} refused; at least {EQUAL_OBJECTS} ‰ must be equal"),
    );
    let (whole, partly) = (number("fully equal:").unwrap_or(0), number("with differences:"));
    let partly = partly.unwrap_or(u64::MAX / 2000);
    tally.check(
        enough(whole, partly, EQUAL_FILES),
        format_args!("{whole} files wholly equal, {partly} not; at least {EQUAL_FILES} ‰ must be"),
    );
    tally
}

/// Objects that were left out although nothing that leads to them could not be read.
///
/// A file's reasons stand indented below its name: `error KIND PATH: TEXT` and `missing KIND PATH`.
fn unexplained(output: &str) -> Vec<String> {
    let mut file = "";
    let mut errors: Vec<&str> = Vec::new();
    let mut missing: Vec<(&str, &str)> = Vec::new();
    let mut found = Vec::new();
    let leads_to = |error: &str, path: &str| {
        let below = path.strip_prefix(error.trim_end_matches('/'));
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '@']))
    };
    let mut close = |errors: &mut Vec<&str>, missing: &mut Vec<(&str, &str)>| {
        for (file, path) in missing.drain(..) {
            if !errors.iter().any(|error| leads_to(error, path)) {
                found.push(format!("{file}: {path}"));
            }
        }
        errors.clear();
    };
    for line in output.lines() {
        let Some(reason) = line.strip_prefix("         ") else {
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
            _ => {}
        }
    }
    close(&mut errors, &mut missing);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_an_error_is_explained() {
        let below = "bad      a.h5\n         error group /g: unsupported\n         missing array /g/x\n         missing attribute /g@y\n";
        assert!(unexplained(below).is_empty());
        let beside = "bad      a.h5\n         error group /g: unsupported\nbad      b.h5\n         missing array /g/x\n";
        assert_eq!(unexplained(beside), ["b.h5: /g/x"]);
        let longer_name = "bad      a.h5\n         error group /g: unsupported\n         missing array /gx\n";
        assert_eq!(unexplained(longer_name), ["a.h5: /gx"]);
    }

    const GOOD: &str = "files: 862  fully equal: 790  with differences: 10  panics: 0  timeouts: 0\n\
        unopenable for libhdf5: refused cleanly 10, read more than libhdf5 2, not refused 0; not judged 0\n\
        objects: equal 900, alt 5, different 0, missing 0, extra 0, error 4, sameerror 3, more 4, ignored 5, unsorted 0, exitcode 0\n";

    #[test]
    fn a_good_summary_passes_every_check() {
        let tally = judge(GOOD);
        assert_eq!((tally.passed, tally.failed), (10, 0));
    }

    #[test]
    fn one_different_object_fails() {
        assert_eq!(judge(&GOOD.replace("different 0", "different 1")).failed, 1);
    }

    #[test]
    fn too_few_equal_objects_fail() {
        assert_eq!(judge(&GOOD.replace("error 4", "error 6")).failed, 1);
    }

    #[test]
    fn too_few_whole_files_fail() {
        assert_eq!(judge(&GOOD.replace("fully equal: 790", "fully equal: 480")).failed, 1);
    }

    #[test]
    fn no_summary_fails() {
        assert_eq!(judge("Traceback").passed, 0);
    }
}
