//! Zarr stores and TileDB arrays and groups, with the digests of the content that zarr-python with numcodecs, and
//! TileDB-Py read.

use super::exceptions::{self, List};
use super::{TILEDB, ZARR, comparison, keep_report};
use crate::run::{self, Finished};
use crate::tally::Tally;
use crate::{programs, workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Compares the digests of Zarr stores.
pub(super) fn zarr(root: &Path) -> Result<Tally, String> {
    let archive = Archive { name: ZARR, expected: ZARR, options: String::new(), root };
    let mut tally = archive.judged()?;
    let structs = archive.compared(STRUCTS)?;
    let (passed, count) = (structs.success, sum(&structs.output, "roots:", &[]));
    tally.check(
        passed && count > 0,
        format_args!("{count} stores of structs are read or refused, as each must be"),
    );
    Ok(tally)
}

/// Compares the digests of TileDB arrays and groups, in their current and earlier states, and that of the encrypted
/// array with its key.
pub(super) fn tiledb(root: &Path) -> Result<Tally, String> {
    let mut tally = Archive { name: TILEDB, expected: TILEDB, options: String::new(), root }.judged()?;
    let options = "--at {timestamp}".to_owned();
    let earlier = Archive { name: EARLIER, expected: EARLIER, options, root };
    tally += earlier.judged()?;
    let key = workspace::target().join("corpus").join("tiledb.key");
    fs::write(&key, KEY).map_err(|error| format!("{}: {error}", key.display()))?;
    let mut digest = run::command(programs::command()?);
    digest.args(["digest", "--json", "--key-file"]).arg(&key).arg(root.join(ENCRYPTED));
    let done = run::quietly(&mut digest)?;
    tally.check(
        done.success && done.output.contains(ENCRYPTED_DIGEST),
        "an encrypted array is read with its key",
    );
    tally += structures(root)?;
    Ok(tally)
}

/// Decodes and encodes every structure of TileDB arrays and groups, and recreates the schemas of arrays from their
/// descriptions.
fn structures(root: &Path) -> Result<Tally, String> {
    let mut tests = run::cargo();
    // With the whole workspace, as in the stage `tests`, so that nothing is built again.
    tests.args(["test", "--profile", programs::PROFILE, "--workspace", "--test", "main", "--"]);
    let done = run::shown(tests.args(CORPUS_TESTS).env("HYPERSLAB_TILEDB_CORPUS", root))?;
    Ok(Tally::of_output(&done.output, done.success))
}

/// The tests that read the unpacked corpus.
const CORPUS_TESTS: [&str; 2] = ["structures_of_a_corpus", "schemas_of_a_corpus"];

/// Stores of structs in all forms, including invalid ones.
const STRUCTS: &str = "gen/struct-hand";

/// The expected digests at earlier times.
const EARLIER: &str = "tiledb-timetravel";

/// The encrypted array, its key, and the digest of its attribute.
const ENCRYPTED: &str = "gen/arrays/dense_encrypted";
const KEY: &str = "0123456789abcdeF0123456789abcdeF";
const ENCRYPTED_DIGEST: &str = "96c98ac0b9496dcb10327e18ecc42f82e6d4b5d86f2fac676d628632c458be5f";

/// An archive of stores with a file of expected digests.
struct Archive<'a> {
    name: &'static str,
    expected: &'static str,
    /// Options of the command.
    options: String,
    root: &'a Path,
}

impl Archive<'_> {
    /// Compares all stores.
    fn judged(&self) -> Result<Tally, String> {
        let done = self.compared("")?;
        keep_report(&format!("report-{}.txt", self.name), &done, 3)?;
        let lists = ["unread", "unlisted"].map(|list| exceptions::list(list, self.name));
        Ok(judge(&done.output, &lists[0], &lists[1]))
    }

    /// Compares the stores whose name contains `part`.
    fn compared(&self, part: &str) -> Result<Finished, String> {
        let mut compare = comparison("compare_zarr_tiledb.py");
        let command = programs::command()?;
        compare
            .arg("--expected")
            .arg(workspace::corpus().join(format!("{}.expected.jsonl.gz", self.expected)))
            .arg("--cmd")
            .arg(format!("'{}' digest {} --json {{root}}", command.display(), self.options))
            .arg("--base")
            .arg(self.root)
            .args(["--parallel", "2", "--show", "1000000", "--only", part]);
        run::quietly(&mut compare)
    }
}

/// Reads the summary of the comparison. `unread` lists the objects that may be refused, `unlisted` those that the
/// reference does not list.
fn judge(output: &str, unread: &List, unlisted: &List) -> Tally {
    let mut tally = Tally::default();
    let roots = |names: &[&str]| sum(output, "roots:", names);
    let objects = |names: &[&str]| sum(output, "objects:", names);
    for (found, what) in [
        (roots(&["panic", "crash"]), "panics"),
        (roots(&["timeout"]), "timeouts"),
        (roots(&["opens-unexpectedly"]) + objects(&["accepted"]), "what must be refused and was not"),
        (objects(&["different"]), "objects that differ"),
        (objects(&["missing"]), "objects left out"),
        (
            output.matches("'note: ").count() as u64,
            "outputs out of order, or with an exit code that hides an error",
        ),
    ] {
        tally.check(found == 0, format_args!("{what}: {found}"));
    }
    exceptions::compare(&mut tally, "objects that are not there", &named(output, "extra"), unlisted);
    let equal = objects(&["equal", "alt"]);
    let right = roots(&["ok", "rejected-as-expected", "tolerated"]);
    tally.check(
        equal > 0 && right > 0,
        format_args!("{equal} objects equal, {right} stores wholly as expected"),
    );
    exceptions::compare(&mut tally, "objects that are refused", &named(output, "error"), unread);
    let (errors, listed) = (objects(&["error"]), u64::try_from(unread.len()).unwrap_or(u64::MAX));
    tally.check(errors == listed, format_args!("{errors} errors, expected {listed}"));
    let others = sum(output, "roots:", &[]).saturating_sub(right);
    let listed = unread.keys().chain(unlisted.keys());
    let stores = listed.filter_map(|object| object.split_once(":/").map(|(store, _)| store));
    let expected = stores.collect::<BTreeSet<_>>().len();
    tally.check(
        others == u64::try_from(expected).unwrap_or(u64::MAX),
        format_args!("{others} stores not wholly as expected, {expected} listed"),
    );
    tally
}

/// The objects of a kind of difference, as `STORE:OBJECT` with the message.
///
/// A store name follows its state; its reasons follow, indented: `error PATH MESSAGE`.
fn named(output: &str, kind: &str) -> BTreeMap<String, String> {
    let (mut store, mut found) = ("", BTreeMap::new());
    for line in output.lines() {
        match line.strip_prefix("      ").and_then(|line| line.strip_prefix(kind)?.strip_prefix(' ')) {
            Some(reason) => {
                let (path, message) = reason.split_once(' ').unwrap_or((reason, ""));
                found.insert(format!("{store}:{path}"), message.to_owned());
            }
            None if !line.starts_with(' ') => store = line.split_whitespace().nth(1).unwrap_or(line),
            None => {}
        }
    }
    found
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
        judge(output, &List::from([("a/b:/x", "pcodec")]), &List::new()).failed
    }

    #[test]
    fn a_good_summary_passes_every_check() {
        let tally = judge(GOOD, &List::from([("a/b:/x", "pcodec")]), &List::new());
        assert_eq!((tally.passed, tally.failed), (13, 0));
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
        assert_eq!(judge(GOOD, &List::new(), &List::new()).failed, 3);
        let beyond = GOOD.replace("roots:", "      extra /y array\nroots:");
        assert_eq!(failed(&beyond), 1);
        assert!(failed("Traceback") >= 3);
    }
}
