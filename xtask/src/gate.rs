//! The conditions for a stage to pass: no check failed, no skip without permission, and enough checks ran.

pub(crate) mod skips;

use crate::tally::Tally;
use skips::AllowedSkip;
use std::fmt::Write as _;

/// The result of a stage.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) name: &'static str,
    /// The minimum number of checks in a full run of this stage.
    pub(crate) min_checks: u64,
    pub(crate) tally: Tally,
    pub(crate) seconds: f64,
}

impl Report {
    /// The number of checks that ran, passed or failed.
    fn ran(&self) -> u64 {
        self.tally.passed + self.tally.failed
    }

    /// The reasons why this stage fails; empty if it passes.
    ///
    /// In CI, every skip must be in the table of allowed skips. Elsewhere a skip is only shown, and explains a lower
    /// number of checks.
    pub(crate) fn problems(&self, is_ci: bool, allowed: &[AllowedSkip]) -> Vec<String> {
        let mut problems = Vec::new();
        if self.tally.failed > 0 {
            problems.push(format!("{} of {} checks failed", self.tally.failed, self.ran()));
        }
        let (mut replaced, mut without_leave) = (0, false);
        for skip in &self.tally.skipped {
            match leave(self.name, skip, allowed) {
                Some(row) => replaced += row.checks,
                None if is_ci => problems.push(format!("skipped, and not allowed to be in CI: {skip}")),
                None => without_leave = true,
            }
        }
        if !without_leave && self.ran() + replaced < self.min_checks {
            problems.push(format!(
                "{} checks ran, expected at least {}",
                self.ran(),
                self.min_checks - replaced
            ));
        }
        problems
    }
}

/// The row that allows a skip.
fn leave<'a>(stage: &str, skip: &str, allowed: &'a [AllowedSkip]) -> Option<&'a AllowedSkip> {
    allowed.iter().find(|row| row.stage == stage && skip.starts_with(row.skip))
}

/// The reason why a skip is allowed, for printing after it.
pub(crate) fn reason(stage: &str, skip: &str, allowed: &[AllowedSkip]) -> String {
    leave(stage, skip, allowed).map_or(String::new(), |row| format!(" (allowed: {})", row.reason))
}

/// A table of all stages: number of checks, minimum, skips and seconds.
pub(crate) fn table(reports: &[Report], is_ci: bool, allowed: &[AllowedSkip]) -> String {
    let mut table =
        format!("{:<14} {:>8} {:>8} {:>8} {:>9}\n", "stage", "checks", "minimum", "skipped", "seconds");
    for report in reports {
        let failed = !report.problems(is_ci, allowed).is_empty();
        let _ = writeln!(
            table,
            "{:<14} {:>8} {:>8} {:>8} {:>9.1}{}",
            report.name,
            report.ran(),
            report.min_checks,
            report.tally.skipped.len(),
            report.seconds,
            if failed { "  FAILED" } else { "" }
        );
    }
    let checks: u64 = reports.iter().map(Report::ran).sum();
    let min_checks: u64 = reports.iter().map(|report| report.min_checks).sum();
    let skipped: usize = reports.iter().map(|report| report.tally.skipped.len()).sum();
    let seconds: f64 = reports.iter().map(|report| report.seconds).sum();
    let _ = writeln!(table, "{:<14} {checks:>8} {min_checks:>8} {skipped:>8} {seconds:>9.1}", "all");
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: &[AllowedSkip] =
        &[AllowedSkip { stage: "oracles", skip: "GDAL is not installed", checks: 15, reason: "large" }];

    fn report(passed: u64, skipped: &[&str]) -> Report {
        let skipped = skipped.iter().map(|skip| (*skip).to_owned()).collect();
        let tally = Tally { passed, failed: 0, skipped };
        Report { name: "oracles", min_checks: 100, tally, seconds: 1.0 }
    }

    fn problems(report: &Report, is_ci: bool) -> Vec<String> {
        report.problems(is_ci, ALLOWED)
    }

    #[test]
    fn a_stage_with_too_few_checks_fails() {
        for is_ci in [false, true] {
            assert_eq!(problems(&report(99, &[]), is_ci), ["99 checks ran, expected at least 100"]);
            assert!(problems(&report(100, &[]), is_ci).is_empty());
        }
        assert_eq!(problems(&report(0, &[]), true).len(), 1);
    }

    #[test]
    fn an_unlisted_skip_fails_only_in_ci() {
        let report = report(100, &["no corpus"]);
        assert_eq!(problems(&report, true), ["skipped, and not allowed to be in CI: no corpus"]);
        assert!(problems(&report, false).is_empty());
    }

    #[test]
    fn a_listed_skip_replaces_only_its_own_checks() {
        let skip = ["GDAL is not installed: apt-get install gdal-bin"];
        assert!(problems(&report(85, &skip), true).is_empty());
        assert_eq!(problems(&report(84, &skip), true), ["84 checks ran, expected at least 85"]);
    }

    #[test]
    fn a_skip_is_allowed_for_one_stage_only() {
        let other = Report { name: "corpus", ..report(100, &["GDAL is not installed"]) };
        assert_eq!(problems(&other, true).len(), 1);
    }

    #[test]
    fn a_stage_without_corpus_passes_outside_of_ci() {
        assert!(problems(&report(0, &["no corpus"]), false).is_empty());
    }

    #[test]
    fn one_failed_check_fails_the_stage() {
        let mut report = report(1000, &[]);
        report.tally.failed = 1;
        assert_eq!(problems(&report, true), ["1 of 1001 checks failed"]);
        assert!(table(&[report], true, ALLOWED).contains("FAILED"));
    }

    #[test]
    fn the_table_shows_checks_minimum_and_seconds() {
        let table = table(&[report(120, &[])], true, ALLOWED);
        let words: Vec<&str> = table.lines().nth(1).unwrap_or_default().split_whitespace().collect();
        assert_eq!(words, ["oracles", "120", "100", "0", "1.0"]);
    }
}
