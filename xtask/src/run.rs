//! Running other programs.

use crate::workspace;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

/// A command that runs in the workspace.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace::root()).stdin(Stdio::null());
    command
}

/// The cargo that started us.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Set for us by cargo, these would make a nested build of the same crates start anew.
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// How a program ended and all that it printed.
pub(crate) struct Finished {
    pub(crate) success: bool,
    pub(crate) output: String,
}

impl Finished {
    /// The last line that is not empty.
    pub(crate) fn last_line(&self) -> &str {
        self.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").trim()
    }
}

/// Runs a program, showing its output as it comes.
pub(crate) fn shown(command: &mut Command) -> Result<Finished, String> {
    finish(command, true)
}

/// Runs a program without showing what it prints.
pub(crate) fn quietly(command: &mut Command) -> Result<Finished, String> {
    finish(command, false)
}

fn finish(command: &mut Command, show: bool) -> Result<Finished, String> {
    let failed =
        |error: io::Error, command: &Command| format!("{}: {error}", command.get_program().to_string_lossy());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error, command))?;
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let (printed, said) = thread::scope(|scope| {
        let said = scope.spawn(|| collect(stderr, show.then(io::stderr)));
        (collect(stdout, show.then(io::stdout)), said.join().unwrap_or_default())
    });
    let status = child.wait().map_err(|error| failed(error, command))?;
    Ok(Finished { success: status.success(), output: said + &printed })
}

fn collect(source: Option<impl Read>, mut echo: Option<impl Write>) -> String {
    let mut all = String::new();
    let Some(source) = source else { return all };
    let mut source = BufReader::new(source);
    let mut line = Vec::new();
    while source.read_until(b'\n', &mut line).is_ok_and(|len| len > 0) {
        if let Some(echo) = &mut echo {
            // Nobody left to read it is no reason to stop the program.
            let _ = echo.write_all(&line);
        }
        all.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    all
}
