//! Zarr stores, with what zarr-python and numcodecs read in them.

use super::{EQUAL_FILES, EQUAL_OBJECTS, comparison, enough, told};
use crate::run::{self, Finished};
use crate::tally::Tally;
use crate::workspace;
use std::path::Path;

/// Compares the digest of every object with the expected one.
pub(super) fn digests(root: &Path) -> Result<Tally, String> {
    let done = compared(root, "")?;
    told("report-zarr.txt", &done, 3)?;
    let mut tally = judge(&done.output);
    let structs = compared(root, STRUCTS)?;
    let (passed, count) = (structs.success, sum(&structs.output, "roots:", &[]));
    tally.check(
        passed && count > 0,
        format_args!("{count} stores of structs are read or refused, as each must be"),
    );
    Ok(tally)
}

/// Stores of structs in all their forms, those included that nobody may read.
const STRUCTS: &str = "gen/struct-hand";

/// Compares roots whose name has `part` in it.
fn compared(root: &Path, part: &str) -> Result<Finished, String> {
    let mut compare = comparison("compare_zarr_tiledb.py");
    compare
        .arg("--expected")
        .arg(workspace::corpus().join("zarr.expected.jsonl.gz"))
        .arg("--cmd")
        .arg(format!("'{}' digest --json {{root}}", workspace::binary().display()))
        .arg("--base")
        .arg(root)
        .args(["--parallel", "2", "--show", "1000000", "--only", part]);
    run::quietly(&mut compare)
}

/// Reads the comparison's summary.
fn judge(output: &str) -> Tally {
    let mut tally = Tally::default();
    let roots = |names: &[&str]| sum(output, "roots:", names);
    let objects = |names: &[&str]| sum(output, "objects:", names);
    for (found, what) in [
        (roots(&["panic", "crash"]), "panics"),
        (roots(&["timeout"]), "timeouts"),
        (roots(&["opens-unexpectedly"]) + objects(&["accepted"]), "what must be refused and was not"),
        (objects(&["different"]), "objects that differ"),
        (objects(&["missing"]), "objects left out"),
        (objects(&["extra"]), "objects that are not there"),
        (
            output.matches("'note: ").count() as u64,
            "outputs out of order, or with an exit code that hides an error",
        ),
    ] {
        tally.check(found == 0, format_args!("{what}: {found}"));
    }
    let (equal, refused) = (objects(&["equal", "alt"]), objects(&["error"]));
    tally.check(
        enough(equal, refused, EQUAL_OBJECTS),
        format_args!("{equal} objects equal, {refused} refused; at least {EQUAL_OBJECTS} ‰ must be equal"),
    );
    let right = roots(&["ok", "rejected-as-expected", "tolerated"]);
    let others = sum(output, "roots:", &[]).saturating_sub(right);
    tally.check(
        enough(right, others, EQUAL_FILES),
        format_args!("{right} stores wholly as expected, {others} not; at least {EQUAL_FILES} ‰ must be"),
    );
    tally
}

/// The numbers that a line of the summary, `LABEL 3 {'NAME': 2, 'NAME': 1}`, gives these names, together; without
/// names the one in front of them.
fn sum(output: &str, label: &str, names: &[&str]) -> u64 {
    let line = output.lines().rev().find_map(|line| line.strip_prefix(label)).unwrap_or_default();
    let number = |text: &str| {
        let digits = text.trim_start().split(|c: char| !c.is_ascii_digit()).next();
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    };
    let of = |name: &&str| line.split_once(&format!("'{name}':")).map_or(0, |(_, after)| number(after));
    match names {
        [] => number(line),
        names => names.iter().map(of).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "bad          a/b {'error': 1, 'equal': 1}\n\
        roots: 487 {'ok': 480, 'tolerated': 4, 'bad': 3}\n\
        objects: {'equal': 800, 'alt': 6, 'rejected': 5, 'tolerated': 2, 'error': 3}\n\
        slowest: [(1.0, 'a')]\n";

    #[test]
    fn a_good_summary_passes_every_check() {
        let tally = judge(GOOD);
        assert_eq!((tally.passed, tally.failed), (9, 0));
        assert_eq!(sum(GOOD, "roots:", &[]), 487);
    }

    #[test]
    fn what_is_wrong_fails() {
        for (from, to) in [
            ("'rejected'", "'different'"),
            ("'rejected'", "'accepted'"),
            ("'rejected'", "'missing'"),
            ("'tolerated': 4", "'panic': 4"),
            ("'error': 3", "'error': 5"),
            ("'ok': 480", "'ok': 400"),
            ("slowest", "also: {'note: a path twice': 1}\nslowest"),
        ] {
            assert_eq!(judge(&GOOD.replace(from, to)).failed, 1, "{from} {to}");
        }
        assert_eq!(judge("Traceback").failed, 2);
    }
}
