//! One side of a comparison of `cargo xtask bench read`: does a job again and again as it is told on standard
//! input, and answers with what it took.
//!
//! ```text
//! bench-read SIDE JOB KEY=VALUE…
//! ```
//!
//! A side answers `ready`, or `cannot` with a reason; then a line `wall=S cpu=S peak=BYTES output=BYTES
//! sum=HASH` for each line `run` or `check` that it reads. Only `check` computes the hash of the output, outside
//! what is timed. The keys are those of [`job::Job`].

mod job;
mod limits;
mod measure;
mod memory;
mod ours;
mod peers;
mod total;

use job::{Job, Memory, Work};
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// Why a side does not do a job.
type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let reason = failure.to_string();
            println!("cannot {}", reason.split_whitespace().collect::<Vec<_>>().join(" "));
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [side, name, keys @ ..] = words.as_slice() else {
        return Err("usage: bench-read SIDE JOB KEY=VALUE…".into());
    };
    let job = Job::parse(name, keys)?;
    let mut work = match side.as_str() {
        "ours" => ours::work(&job),
        "limit" => limits::work(&job),
        peer => peers::work(peer, &job),
    }?;
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
        memory::touch_and_free(work.output_len());
    }
    let taken = measure::measure(|| work.run())?;
    let sum = if checked { work.total()? } else { None };
    let answer = format!(
        "wall={} cpu={} peak={} output={} sum={}",
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
