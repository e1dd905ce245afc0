//! Rows of a table: the job, its sides and its goals.

use std::path::PathBuf;

/// A job that several sides do.
pub(in crate::bench) struct Row {
    pub(in crate::bench) name: &'static str,
    pub(in crate::bench) what: String,
    pub(in crate::bench) sides: Vec<Side>,
    pub(in crate::bench) wanted: Vec<Wanted>,
    /// Measured only once, since its time is not a goal.
    pub(in crate::bench) once: bool,
}

/// A program that does the job, and its options.
pub(in crate::bench) struct Side {
    pub(in crate::bench) name: String,
    pub(in crate::bench) threads: usize,
    /// Where output is stored; `None` if that does not apply.
    pub(in crate::bench) memory: Option<Memory>,
    pub(in crate::bench) program: PathBuf,
    pub(in crate::bench) args: Vec<String>,
}

/// The memory for the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bench) enum Memory {
    Reused,
    Fresh,
}

/// The name of a side of a row.
pub(in crate::bench) type Name = (&'static str, Option<Memory>);

/// A goal of a row.
pub(in crate::bench) enum Wanted {
    /// The ratio of two times is at most this number; without a number it is only reported.
    AtMost(Name, Name, Option<f64>),
    /// One side is at least this many times as fast as the other; without a number it is only reported.
    AtLeast(Name, Name, Option<f64>),
    /// The throughput per processor second is at least this fraction of the best of the others.
    BestOfProcessor(Name, Vec<Name>, f64),
    /// One side is faster than each of the others.
    AheadOfEach(Name, Vec<Name>),
    /// One side stores at most this many times the bytes of the other.
    Stored(Name, Name, f64),
    /// No side of ours uses more megabytes in addition to its output.
    Beside(u64),
    /// Our side uses no more megabytes in total.
    InAll(u64),
}

/// The prefix of the names of our sides.
pub(in crate::bench) const OURS: &str = "hyperslab";

/// The number of threads of every side whose number of threads can be set.
pub(in crate::bench) const THREADS: usize = 2;

/// The limit in megabytes in addition to the output, and of a whole process that streams.
pub(in crate::bench) const BESIDE: u64 = 64;
pub(in crate::bench) const STREAMING: u64 = 128;

impl Memory {
    /// The value of the option for sides.
    pub(in crate::bench) fn key(self) -> &'static str {
        match self {
            Memory::Reused => "reused",
            Memory::Fresh => "fresh",
        }
    }
}
