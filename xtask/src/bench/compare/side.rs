//! One side of a row: a process that does its job when told to.

use super::row::Side;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Nothing that is measured takes as long; what does hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// What one run took.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    /// Seconds.
    pub(super) wall: f64,
    /// Seconds of all threads.
    pub(super) cpu: f64,
    /// Most bytes resident at once.
    pub(super) peak: u64,
    /// Bytes of what the caller asked for.
    pub(super) output: u64,
    /// Bytes put into storage.
    pub(super) stored: u64,
    /// Hash of the output, if it was asked for and is comparable.
    pub(super) sum: Option<String>,
}

/// A side that is ready for runs.
pub(super) struct Running {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<String>,
}

impl Running {
    /// Starts a side. The inner error is why it does not do the job.
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

    /// Has the job done once. The error is why it was not.
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
        // It has nothing to lose, and one that hangs would not end by itself.
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
    fn answers_are_read_and_reasons_are_not_taken_for_them() {
        let taken = Taken { wall: 0.5, cpu: 0.75, peak: 100, output: 7, stored: 3, sum: None };
        assert_eq!(Taken::parse("wall=0.5 cpu=0.75 peak=100 output=7 stored=3 sum=-"), Some(taken.clone()));
        let summed = Taken { sum: Some("ab".into()), ..taken };
        assert_eq!(Taken::parse("wall=0.5 cpu=0.75 peak=100 output=7 stored=3 sum=ab"), Some(summed));
        assert_eq!(Taken::parse("cannot read"), None);
        assert_eq!(reason("cannot read"), "read");
    }
}
