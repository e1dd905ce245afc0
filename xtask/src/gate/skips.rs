//! Checks that CI may skip, each with the reason.

use crate::oracles::UNREACHABLE;

/// A check that CI may skip.
#[derive(Debug)]
pub(crate) struct AllowedSkip {
    pub(crate) stage: &'static str,
    /// The start of the skip message.
    pub(crate) skip: &'static str,
    /// The number of checks that it removes from the minimum of the stage.
    pub(crate) checks: u64,
    pub(crate) reason: &'static str,
}

/// All allowed skips. Any other skip fails in CI.
pub(crate) const ALLOWED: &[AllowedSkip] = &[
    AllowedSkip {
        stage: "tests",
        skip: "parse_hostile::reads_the_text_it_is_given",
        checks: 0,
        reason: "a process that parse_hostile::limits_memory_by_the_length_of_the_text starts",
    },
    AllowedSkip {
        stage: "tests",
        skip: "kill::writes_until_killed",
        checks: 0,
        reason: "a process that kill::values_of_a_killed_writer_are_complete starts and kills",
    },
    AllowedSkip {
        stage: "oracles",
        skip: "GDAL is not installed",
        checks: 0,
        reason: "Debian's package brings 200 MB of libraries; four other readers read the same stores",
    },
    AllowedSkip {
        stage: "oracles",
        skip: "no Python 3.",
        checks: 24,
        reason: "old libraries need an old Python, which few systems have; the corpus holds what they wrote",
    },
    AllowedSkip { stage: "oracles", skip: UNREACHABLE, checks: 100_000, reason: NO_ANSWER },
    AllowedSkip { stage: "descriptions", skip: UNREACHABLE, checks: 100_000, reason: NO_ANSWER },
    AllowedSkip { stage: "python", skip: UNREACHABLE, checks: 100_000, reason: NO_ANSWER },
    AllowedSkip {
        stage: "dist",
        skip: "cargo-deb is not installed",
        checks: 14,
        reason: "it takes two minutes to build on two cores; `cargo xtask oracles` installs it once",
    },
    AllowedSkip {
        stage: "deny",
        skip: "cargo-deny is not installed",
        checks: 1,
        reason: "it takes five minutes to build on two cores; `cargo xtask oracles` installs it once",
    },
];

/// The reason why a change may land while a package registry is unavailable. The skip is in the summary of the run.
const NO_ANSWER: &str = "the outage of a registry must not stop all work";
