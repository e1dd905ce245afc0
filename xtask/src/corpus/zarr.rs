//! Zarr stores, with the digests of the content that zarr-python and numcodecs read.

use super::exceptions::{self, List};
use super::{ZARR, comparison, keep_report};
use crate::run::{self, Finished};
use crate::tally::Tally;
use crate::{programs, workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Compares the digest of every object with the expected one.
pub(super) fn digests(root: &Path) -> Result<Tally, String> {
    let done = compared(root, "")?;
    keep_report("report-zarr.txt", &done, 3)?;
    let mut tally = judge(&done.output, &exceptions::list("unread", ZARR));
    let structs = compared(root, STRUCTS)?;
    let (passed, count) = (structs.success, sum(&structs.output, "roots:", &[]));
    tally.check(
        passed && count > 0,
        format_args!("{count} stores of structs are read or refused, as each must be"),
    );
    Ok(tally)
}

/// Stores of structs in all forms, including invalid ones.
const STRUCTS: &str = "gen/struct-hand";

/// Compares the stores whose name contains `part`.
fn compared(root: &Path, part: &str) -> Result<Finished, String> {
    let mut compare = comparison("compare_zarr_tiledb.py");
    compare
        .arg("--expected")
        .arg(workspace::corpus().join("zarr.expected.jsonl.gz"))
        .arg("--cmd")
        .arg(format!("'{}' digest --json {{root}}", programs::command()?.display()))
        .arg("--base")
        .arg(root)
        .args(["--parallel", "2", "--show", "1000000", "--only", part]);
    run::quietly(&mut compare)
}

/// Reads the summary of the comparison. `unread` lists the objects that may be refused.
fn judge(output: &str, unread: &List) -> Tally {
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
    let equal = objects(&["equal", "alt"]);
    let right = roots(&["ok", "rejected-as-expected", "tolerated"]);
    tally.check(
        equal > 0 && right > 0,
        format_args!("{equal} objects equal, {right} stores wholly as expected"),
    );
    exceptions::compare(&mut tally, "objects that are refused", &refused(output), unread);
    let (errors, listed) = (objects(&["error"]), u64::try_from(unread.len()).unwrap_or(u64::MAX));
    tally.check(errors == listed, format_args!("{errors} errors, expected {listed}"));
    let others = sum(output, "roots:", &[]).saturating_sub(right);
    let stores: BTreeSet<_> = unread.keys().filter_map(|object| object.split_once(":/")).collect();
    let expected = stores.iter().map(|(store, _)| store).collect::<BTreeSet<_>>().len();
    tally.check(
        others == u64::try_from(expected).unwrap_or(u64::MAX),
        format_args!("{others} stores not wholly as expected, {expected} listed"),
    );
    tally
}

/// Objects that the reference reads and we refuse, as `STORE:OBJECT` with the message.
///
/// A store name follows its state; its reasons follow, indented: `error PATH MESSAGE`.
fn refused(output: &str) -> BTreeMap<String, String> {
    let (mut store, mut refused) = ("", BTreeMap::new());
    for line in output.lines() {
        match line.strip_prefix("      error ") {
            Some(reason) => {
                let (path, message) = reason.split_once(' ').unwrap_or((reason, ""));
                refused.insert(format!("{store}:{path}"), message.to_owned());
            }
            None if !line.starts_with(' ') => store = line.split_whitespace().nth(1).unwrap_or(line),
            None => {}
        }
    }
    refused
}

/// The sum of the numbers with these names in a line of the summary, `LABEL 3 {'NAME': 2, 'NAME': 1}`; without names,
/// the first number.
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

    const GOOD: &str = "bad          a/b {'error': 1, 'equal': 1}\n      error /x codec \"pcodec\"\n\
        roots: 487 {'ok': 480, 'tolerated': 6, 'bad': 1}\n\
        objects: {'equal': 800, 'alt': 6, 'rejected': 5, 'tolerated': 2, 'error': 1}\n\
        slowest: [(1.0, 'a')]\n";

    fn failed(output: &str) -> u64 {
        judge(output, &List::from([("a/b:/x", "pcodec")])).failed
    }

    #[test]
    fn a_good_summary_passes_every_check() {
        let tally = judge(GOOD, &List::from([("a/b:/x", "pcodec")]));
        assert_eq!((tally.passed, tally.failed), (12, 0));
        assert_eq!(sum(GOOD, "roots:", &[]), 487);
    }

    #[test]
    fn each_kind_of_difference_fails() {
        for (from, to) in [
            ("'rejected'", "'different'"),
            ("'rejected'", "'accepted'"),
            ("'rejected'", "'missing'"),
            ("'error': 1}\n", "'error': 2}\n"),
            ("'ok': 480", "'ok': 479"),
            ("slowest", "also: {'note: a path twice': 1}\nslowest"),
        ] {
            assert_eq!(failed(&GOOD.replace(from, to)), 1, "{from} {to}");
        }
        assert_eq!(failed(&GOOD.replace("error /x", "error /y")), 2);
        assert_eq!(judge(GOOD, &List::new()).failed, 3);
        assert!(failed("Traceback") >= 3);
    }
}
