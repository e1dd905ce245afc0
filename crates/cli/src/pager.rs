//! The pager of the terminal: the program in `PAGER`, or `less`.

use std::io::{self, IsTerminal};
use std::process::{Child, Command, Stdio};

/// Starts the pager if standard output is a terminal. `None` if there is no pager.
pub(crate) fn start() -> Option<Child> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let pager = std::env::var_os("PAGER").unwrap_or_else(|| "less".into());
    if pager.is_empty() || pager == "cat" {
        return None;
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(&pager).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Short output stays on the terminal, colours are kept, and lines are not folded.
        shell.env("LESS", "FRSX");
    }
    shell.spawn().ok()
}
