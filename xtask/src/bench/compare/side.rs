//! One side of a row: a process that does its job on request.

use super::row::Side;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The maximum time of a run; a longer one hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// The measurements of one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    /// Elapsed seconds.
    pub(super) wall: f64,
    /// Processor seconds of all threads.
    pub(super) cpu: f64,
    /// Maximum resident memory in bytes.
    pub(super) peak: u64,
    /// The size of the requested output in bytes.
    pub(super) output: u64,
    /// The number of bytes written to storage.
    pub(super) stored: u64,
    /// The hash of the output, if it was requested and can be compared.
    pub(super) sum: Option<String>,
}

/// A running process that waits for requests.
pub(super) struct Running {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<String>,
}

impl Running {
    /// Starts a side. The inner error is the reason why it cannot do the job.
    pub(super) fn start(side: &Side) -> Result<Result<Running, String>, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", side.program.display());
        let mut command = Command::new(&side.program);
        command.args(&side.args).env("RAYON_NUM_THREADS", side.threads.to_string());
        command.env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (Some(commands), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("{} has no pipes", side.program.display()));
        };
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(answers).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let running = Running { child, commands, answers: receive };
        Ok(match running.answer().as_deref() {
            Ok("ready") => Ok(running),
            Ok(other) => Err(reason(other)),
            Err(error) => Err(error.clone()),
        })
    }

    /// Runs the job once. The error is the reason why that failed.
    pub(super) fn run(&mut self, checked: bool) -> Result<Taken, String> {
        let command = if checked { "check\n" } else { "run\n" };
        self.commands.write_all(command.as_bytes()).map_err(|_| "ended")?;
        let answer = self.answer()?;
        Taken::parse(&answer).ok_or_else(|| reason(&answer))
    }

    fn answer(&self) -> Result<String, String> {
        self.answers.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("takes more than {} s", PATIENCE.as_secs()),
            RecvTimeoutError::Disconnected => "ended without an answer".to_owned(),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process has nothing to save, and would not end on its own if it hangs.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn reason(answer: &str) -> String {
    answer.strip_prefix("cannot ").unwrap_or(answer).to_owned()
}

impl Taken {
    fn parse(answer: &str) -> Option<Taken> {
        let value = |key: &str| {
            answer
                .split(' ')
                .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
                .filter(|v| !v.is_empty())
        };
        Some(Taken {
            wall: value("wall")?.parse().ok()?,
            cpu: value("cpu")?.parse().ok()?,
            peak: value("peak")?.parse().ok()?,
            output: value("output")?.parse().ok()?,
            stored: value("stored")?.parse().ok()?,
            sum: value("sum").filter(|sum| *sum != "-").map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_answers_and_distinguishes_reasons() {
        let taken = Taken { wall: 0.5, cpu: 0.75, peak: 100, output: 7, stored: 3, sum: None };
        assert_eq!(Taken::parse("wall=0.5 cpu=0.75 peak=100 output=7 stored=3 sum=-"), Some(taken.clone()));
        let summed = Taken { sum: Some("ab".into()), ..taken };
        assert_eq!(Taken::parse("wall=0.5 cpu=0.75 peak=100 output=7 stored=3 sum=ab"), Some(summed));
        assert_eq!(Taken::parse("cannot read"), None);
        assert_eq!(reason("cannot read"), "read");
    }
}
