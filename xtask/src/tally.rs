//! Counting what passed.

use std::fmt;
use std::ops::AddAssign;

/// Checks that passed and failed, and why others were left out.
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

    /// Prints a check with its verdict and counts it.
    pub(crate) fn check(&mut self, success: bool, what: impl fmt::Display) {
        println!("{} {what}", if success { "ok    " } else { "FAILED" });
        *self += Tally::of(success);
    }

    /// Sums the lines `N passed, N failed, N skipped`, cargo's `test result:` and nextest's `Summary` of an
    /// output; a program that failed without counting a failure counts as one.
    pub(crate) fn of_output(output: &str, success: bool) -> Self {
        let mut tally = output.lines().filter_map(counts).fold(Tally::default(), |mut sum, line| {
            sum += line;
            sum
        });
        if !success && tally.failed == 0 {
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

fn counts(line: &str) -> Option<Tally> {
    let line = without_colour(line);
    let line = line.trim();
    let known = line.starts_with("test result:")
        || line.starts_with("Summary [")
        || line.starts_with(|c: char| c.is_ascii_digit());
    let passed = known.then(|| before(line, "passed"))??;
    let failed = before(line, "failed").unwrap_or(0) + before(line, "timed out").unwrap_or(0);
    let left_out = before(line, "ignored").or_else(|| before(line, "skipped")).unwrap_or(0);
    let skipped = (0..left_out).map(|_| "left out by the test itself, see above".to_owned()).collect();
    Some(Tally { passed, failed, skipped })
}

/// The number in front of a word.
fn before(line: &str, word: &str) -> Option<u64> {
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
    fn counts_of_every_runner_are_read() {
        let output = "     Summary [   1.4s] 12 tests run: 11 passed, 1 failed, 2 skipped\n\
             test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.2s\n\
             40 passed, 0 failed, 0 skipped\n";
        let tally = Tally::of_output(output, false);
        assert_eq!((tally.passed, tally.failed, tally.skipped.len()), (54, 1, 3));
    }

    #[test]
    fn a_runner_that_dies_without_a_count_fails() {
        assert_eq!(Tally::of_output("error: could not compile", false).failed, 1);
    }

    #[test]
    fn colour_does_not_hide_a_count() {
        let line = "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m5\u{1b}[0m tests run: \u{1b}[1m5\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, 0 skipped";
        assert_eq!(Tally::of_output(line, true).passed, 5);
    }
}
