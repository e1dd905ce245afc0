//! One side of a comparison of `cargo xtask bench`: repeats a job on commands from standard input, and prints the time
//! and memory of each run.
//!
//! ```text
//! PROGRAM SIDE JOB KEY=VALUE…
//! ```
//!
//! A side answers `ready`, or `cannot` with a reason; then a line `wall=S cpu=S peak=BYTES output=BYTES
//! stored=BYTES sum=HASH` for each line `run` or `check` that it reads. Only `check` computes the hash of the output,
//! outside of the timed part. The keys are those of [`Job`].

mod job;
mod measure;
pub mod memory;
pub mod total;
mod written;

pub use job::{Job, Memory, Work};
pub use written::{Side, Written};

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// The reason why a side cannot do a job.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Serves the commands on standard input. `begin` creates the work for the name of a side and its job.
pub fn main(begin: impl FnOnce(&str, &Job) -> Result<Box<dyn Work>, Failure>) -> ExitCode {
    match serve(begin) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let reason = failure.to_string();
            println!("cannot {}", reason.split_whitespace().collect::<Vec<_>>().join(" "));
            ExitCode::FAILURE
        }
    }
}

fn serve(begin: impl FnOnce(&str, &Job) -> Result<Box<dyn Work>, Failure>) -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [side, name, keys @ ..] = words.as_slice() else {
        return Err("usage: PROGRAM SIDE JOB KEY=VALUE…".into());
    };
    let job = Job::parse(name, keys)?;
    let mut work = begin(side, &job)?;
    let fresh = job.memory == Memory::Fresh;
    say("ready")?;
    for line in io::stdin().lock().lines() {
        say(&once(&mut *work, line? == "check", fresh)?)?;
    }
    Ok(())
}

fn once(work: &mut dyn Work, checked: bool, fresh: bool) -> Result<String, Failure> {
    work.prepare()?;
    if fresh {
        memory::touch_and_free(work.output_len())?;
    }
    let taken = measure::measure(|| work.run())?;
    let stored = work.stored()?;
    let sum = if checked { work.total()? } else { None };
    let answer = format!(
        "wall={} cpu={} peak={} output={} stored={stored} sum={}",
        taken.wall.as_secs_f64(),
        taken.cpu.as_secs_f64(),
        taken.peak,
        work.output_len(),
        sum.as_deref().unwrap_or("-")
    );
    work.release();
    Ok(answer)
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
