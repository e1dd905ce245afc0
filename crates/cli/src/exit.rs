//! Exit codes.

use crate::interrupt;
use std::process::ExitCode;

/// How a command ended; with several locations the worst counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Yes, done, same, clean.
    Yes,
    /// The answer is no: something could not be read.
    No,
    /// Could not: usage, not found, malformed, I/O.
    Trouble,
    /// Ctrl-C.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::Trouble => 2,
            Exit::Interrupted => interrupt::EXIT_CODE,
        })
    }
}
