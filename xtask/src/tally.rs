//! Counts checks: passed, failed and skipped.

use std::fmt;
use std::ops::AddAssign;

/// The numbers of passed and failed checks, and the reasons of skipped ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: Vec<String>,
}

impl Tally {
    pub(crate) fn of(success: bool) -> Self {
        Tally { passed: success.into(), failed: (!success).into(), skipped: Vec::new() }
    }

    pub(crate) fn skip(reason: impl Into<String>) -> Self {
        Tally { skipped: vec![reason.into()], ..Tally::default() }
    }

    /// Prints a check with its result and counts it.
    pub(crate) fn check(&mut self, success: bool, what: impl fmt::Display) {
        println!("{} {what}", if success { "ok    " } else { "FAILED" });
        *self += Tally::of(success);
    }

    /// Reads the counts from the output of a test runner.
    ///
    /// Three kinds of summary lines are known: `N passed, N failed, N skipped` of the scripts in `xtask/oracles`,
    /// `test result:` of cargo, and `Summary` of nextest. Several lines are added up. A runner fails by its exit
    /// code, if it prints no summary, or if its summary counts no check.
    pub(crate) fn of_output(output: &str, success: bool) -> Self {
        let mut tally = Tally::default();
        let mut unnamed = 0;
        for counts in output.lines().filter_map(Counts::of) {
            tally.passed += counts.passed;
            tally.failed += counts.failed;
            unnamed += counts.skipped;
        }
        tally.skipped = output.lines().filter_map(skipped_check).collect();
        for _ in u64::try_from(tally.skipped.len()).unwrap_or(u64::MAX)..unnamed {
            tally.skipped.push("a check that its runner does not name".to_owned());
        }
        if tally == Tally::default() {
            println!("FAILED the runner printed no summary of its checks");
            tally.failed = 1;
        } else if !success && tally.failed == 0 {
            println!("FAILED the runner counted no failure, but its exit code says that it failed");
            tally.failed = 1;
        }
        tally
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped.extend(other.skipped);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped.len())
    }
}

/// The numbers in one summary line.
struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Counts {
    fn of(line: &str) -> Option<Counts> {
        let line = without_colour(line);
        let line = line.trim();
        let is_summary = line.starts_with("test result:")
            || line.starts_with("Summary [")
            || line.starts_with(|c: char| c.is_ascii_digit());
        let passed = is_summary.then(|| number_before(line, "passed"))??;
        Some(Counts {
            passed,
            failed: number_before(line, "failed").unwrap_or(0)
                + number_before(line, "timed out").unwrap_or(0),
            skipped: number_before(line, "ignored").or_else(|| number_before(line, "skipped")).unwrap_or(0),
        })
    }
}

/// The check that a line reports as skipped: `skipped: REASON` of our scripts, `SKIP [ ] (n/m) CRATE TEST` of
/// nextest, `test TEST ... ignored` of cargo.
fn skipped_check(line: &str) -> Option<String> {
    let line = without_colour(line);
    let line = line.trim();
    if let Some(reason) = line.strip_prefix("skipped: ") {
        return Some(reason.to_owned());
    }
    if let Some(rest) = line.strip_prefix("SKIP [") {
        return Some(rest.split_whitespace().next_back()?.to_owned());
    }
    let (test, ignored) = line.strip_prefix("test ")?.split_once(" ... ")?;
    ignored.starts_with("ignored").then(|| test.to_owned())
}

/// The number before a word.
fn number_before(line: &str, word: &str) -> Option<u64> {
    let (front, _) = line.split_once(word)?;
    front.split_whitespace().next_back()?.parse().ok()
}

fn without_colour(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((text, code)) = rest.split_once("\u{1b}[") {
        plain.push_str(text);
        rest = code.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_counts_of_every_runner() {
        let output = "     Summary [   1.4s] 12 tests run: 11 passed, 1 failed, 2 skipped\n\
             test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.2s\n\
             40 passed, 0 failed, 0 skipped\n";
        let tally = Tally::of_output(output, false);
        assert_eq!((tally.passed, tally.failed, tally.skipped.len()), (54, 1, 3));
    }

    #[test]
    fn a_runner_that_crashes_without_counts_fails() {
        assert_eq!(Tally::of_output("error: could not compile", false).failed, 1);
        assert_eq!(Tally::of_output("9 passed, 0 failed, 0 skipped\nkilled", false).failed, 1);
    }

    #[test]
    fn a_runner_without_summary_fails_in_spite_of_exit_code_0() {
        for output in ["", "all good", "0 passed, 0 failed, 0 skipped", "test result: ok. 0 passed; 0 failed"]
        {
            assert_eq!(Tally::of_output(output, true).failed, 1, "{output:?}");
        }
    }

    #[test]
    fn skipped_checks_keep_their_names_and_reasons() {
        let output = "        SKIP [         ] (  3/120) hyperslab-zarr::main kill::writes_until_killed\n\
             test hostile::reads_a_text ... ignored, started by another test\n\
             skipped: GDAL is not installed\n\
             9 passed, 0 failed, 4 skipped\n";
        let tally = Tally::of_output(output, true);
        assert_eq!(
            tally.skipped,
            [
                "kill::writes_until_killed",
                "hostile::reads_a_text",
                "GDAL is not installed",
                "a check that its runner does not name"
            ]
        );
    }

    #[test]
    fn reads_counts_with_colour_codes() {
        let line = "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m5\u{1b}[0m tests run: \u{1b}[1m5\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, 0 skipped";
        assert_eq!(Tally::of_output(line, true).passed, 5);
    }
}
