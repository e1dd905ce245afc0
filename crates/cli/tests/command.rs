//! Runs the command.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) answer: String,
    pub(crate) messages: String,
}

/// Runs the command in the folder of the example files.
pub(crate) fn hyperslab(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Ran {
    ran(prepared(args).output().expect("the command starts"))
}

/// The prepared command, independent of the caller's terminal.
pub(crate) fn prepared(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hyperslab"));
    command
        .args(args)
        .current_dir(examples())
        .stdin(Stdio::null())
        .env("COLUMNS", "100")
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1");
    command.env_remove("CLICOLOR_FORCE");
    command
}

pub(crate) fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().expect("the command ends by itself"),
        answer: String::from_utf8(output.stdout).expect("the answer is UTF-8"),
        messages: String::from_utf8(output.stderr).expect("messages are UTF-8"),
    }
}

pub(crate) fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}
