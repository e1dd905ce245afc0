//! Exit codes.

use crate::interrupt;
use std::process::ExitCode;

/// The exit status of a command. With several locations, the worst applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Success: the answer is yes, or the task is done.
    Yes,
    /// The answer is no, or something could not be read.
    No,
    /// The command could not run: wrong usage, not found, malformed, or I/O error.
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
