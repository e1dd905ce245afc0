//! Running other programs.

use crate::tally::Tally;
use crate::workspace;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

/// A command that runs in the workspace.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace::root()).stdin(Stdio::null());
    command
}

/// The cargo that started this task.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Cargo sets these for us; with them a nested build would rebuild the same crates.
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

/// The exit status of a program and its whole output: standard error, then standard output.
pub(crate) struct Finished {
    pub(crate) success: bool,
    pub(crate) output: String,
    pub(crate) seconds: f64,
}

impl Finished {
    /// The last line that is not empty.
    pub(crate) fn last_line(&self) -> &str {
        self.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output").trim()
    }
}

/// Runs a program and shows its output as it comes.
pub(crate) fn shown(command: &mut Command) -> Result<Finished, String> {
    finish(command, true)
}

/// Runs a program without showing its output.
pub(crate) fn quietly(command: &mut Command) -> Result<Finished, String> {
    finish(command, false)
}

/// A program that counts its checks, for running in parallel with others.
pub(crate) struct Job {
    name: String,
    command: Command,
}

impl Job {
    pub(crate) fn new(name: &str, command: Command) -> Self {
        Job { name: name.to_owned(), command }
    }
}

/// Runs programs in parallel, one per core, and adds up their checks. Shows the output of each program after all have
/// ended.
pub(crate) fn counted(jobs: Vec<Job>) -> Result<Tally, String> {
    let mut total = Tally::default();
    for (name, done) in all(jobs)? {
        println!("{name} ({:.1} s)\n{}", done.seconds, done.output.trim_end());
        total += Tally::of_output(&done.output, done.success);
    }
    Ok(total)
}

/// Runs programs in parallel, one per core, and returns their results in the given order.
pub(crate) fn all(jobs: Vec<Job>) -> Result<Vec<(String, Finished)>, String> {
    let waiting = Mutex::new(jobs.into_iter().enumerate());
    let ended = Mutex::new(Vec::new());
    let work = || {
        while let Some((number, mut job)) = waiting.lock().ok().and_then(|mut jobs| jobs.next()) {
            let done = quietly(&mut job.command);
            if let Ok(mut ended) = ended.lock() {
                ended.push((number, job.name, done));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut ended = ended.into_inner().map_err(|_| "a thread panicked")?;
    ended.sort_by_key(|(number, ..)| *number);
    ended.into_iter().map(|(_, name, done)| done.map(|done| (name, done))).collect()
}

fn finish(command: &mut Command, show: bool) -> Result<Finished, String> {
    let start = Instant::now();
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
    Ok(Finished {
        success: status.success(),
        output: said + &printed,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn collect(source: Option<impl Read>, mut echo: Option<impl Write>) -> String {
    let mut all = String::new();
    let Some(source) = source else { return all };
    let mut source = BufReader::new(source);
    let mut line = Vec::new();
    while source.read_until(b'\n', &mut line).is_ok_and(|len| len > 0) {
        if let Some(echo) = &mut echo {
            // The program continues even if its output cannot be shown.
            let _ = echo.write_all(&line);
        }
        all.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    all
}
