//! What is measured: a row, its sides and what is wanted of them.

use std::path::PathBuf;

/// What several sides do.
pub(in crate::bench) struct Row {
    pub(in crate::bench) name: &'static str,
    pub(in crate::bench) what: String,
    pub(in crate::bench) sides: Vec<Side>,
    pub(in crate::bench) wanted: Vec<Wanted>,
    /// Measured once, as time is not what is asked for.
    pub(in crate::bench) once: bool,
}

/// Who does the job, and how.
pub(in crate::bench) struct Side {
    pub(in crate::bench) name: String,
    pub(in crate::bench) threads: usize,
    /// None where the question makes no sense.
    pub(in crate::bench) memory: Option<Memory>,
    pub(in crate::bench) program: PathBuf,
    pub(in crate::bench) args: Vec<String>,
}

/// Where output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bench) enum Memory {
    Reused,
    Fresh,
}

/// Names a side of a row.
pub(in crate::bench) type Name = (&'static str, Option<Memory>);

/// What is wanted of a row.
pub(in crate::bench) enum Wanted {
    /// One side's time over the other's is at most this; without a number it is only told.
    AtMost(Name, Name, Option<f64>),
    /// One side is at least so many times as fast as the other; without a number that is only told.
    AtLeast(Name, Name, Option<f64>),
    /// One side puts through at least so many times as many bytes in a second of a processor as the best of others.
    BestOfProcessor(Name, Vec<Name>, f64),
    /// One side is ahead of each of others.
    AheadOfEach(Name, Vec<Name>),
    /// No side of ours holds more megabytes beside its output.
    Beside(u64),
    /// Our side holds no more megabytes in all.
    InAll(u64),
}

/// How names of our sides begin.
pub(in crate::bench) const OURS: &str = "hyperslab";

/// Threads of every side that can be told how many.
pub(in crate::bench) const THREADS: usize = 2;

/// Megabytes beside the output, and of a whole process that streams.
pub(in crate::bench) const BESIDE: u64 = 64;
pub(in crate::bench) const STREAMING: u64 = 128;

impl Memory {
    /// As sides are told it.
    pub(in crate::bench) fn key(self) -> &'static str {
        match self {
            Memory::Reused => "reused",
            Memory::Fresh => "fresh",
        }
    }
}
