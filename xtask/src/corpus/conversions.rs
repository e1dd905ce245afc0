//! Every file converted to Zarr, with no other losses allowed than those that its report names.

use super::{HDF5, ZARR, each};
use crate::run;
use crate::tally::Tally;
use crate::workspace;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Least share of HDF5 files, in thousandths, that lose nothing.
const WITHOUT_LOSS: u64 = 850;

/// How long a run may take.
const LONGEST: Duration = Duration::from_secs(300);

/// Between looks whether a run has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// Of the corpus every so many-th file, which a test has the time for.
const STRIDE: usize = 4;

/// The examples and a part of the corpus.
pub(crate) fn some() -> Result<Tally, String> {
    conversions(STRIDE)
}

/// The examples and the whole corpus.
pub(crate) fn all() -> Result<Tally, String> {
    conversions(1)
}

fn conversions(stride: usize) -> Result<Tally, String> {
    let mut tally = converted("examples", &workspace::root().join("examples"), 1)?;
    for name in [HDF5, ZARR] {
        tally += each(name, |root| converted(name, root, stride))?;
    }
    Ok(tally)
}

/// What became of one store.
enum Outcome {
    /// It opens in no format, or has nothing in it that can be read.
    NotRead,
    /// It was converted and has the same digests.
    Same {
        /// Whether something was lost, which was said.
        loses: bool,
        /// Whether there are elements that nobody could compare, as the source does not give them, which was said:
        /// damaged chunks that are passed as they are, and more of what was never written than a digest may take.
        in_part: bool,
    },
    Wrong(String),
}

/// Converts every `stride`-th store below a folder.
fn converted(name: &str, root: &Path, stride: usize) -> Result<Tally, String> {
    let mut stores = Vec::new();
    find(root, &mut stores)?;
    stores.sort();
    let stores: Vec<PathBuf> = stores.into_iter().step_by(stride).collect();
    let folder = workspace::target().join("conversions").join(name);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(store) = stores.get(number) else { break };
            let target = folder.join(format!("{number}.zarr"));
            let outcome = one(store, &target).unwrap_or_else(Outcome::Wrong);
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes.push((number, outcome));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let outcomes = outcomes.into_inner().map_err(|_| "a thread ended too early")?;
    Ok(judge(name, &stores, outcomes))
}

fn judge(name: &str, stores: &[PathBuf], mut outcomes: Vec<(usize, Outcome)>) -> Tally {
    outcomes.sort_by_key(|(number, _)| *number);
    let (mut read, mut whole, mut unread, mut wrong, mut partly) = (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
    for (number, outcome) in &outcomes {
        match outcome {
            Outcome::NotRead => unread += 1,
            Outcome::Same { loses, in_part } => {
                read += 1;
                whole += u64::from(!loses);
                partly += u64::from(*in_part);
            }
            Outcome::Wrong(why) => {
                (read, wrong) = (read + 1, wrong + 1);
                let store = stores.get(*number).map(|store| store.display().to_string()).unwrap_or_default();
                println!("       {store}: {why}");
            }
        }
    }
    let mut tally = Tally { passed: read - wrong, ..Tally::default() };
    tally.check(
        wrong == 0 && read > 0 && outcomes.len() == stores.len(),
        format_args!(
            "{name}: {read} stores converted and compared, {whole} of them without a loss, {partly} as far as they can be read; wrong: {wrong}, not read at all: {unread}"
        ),
    );
    if name == HDF5 {
        tally.check(
            whole * 1000 >= read * WITHOUT_LOSS,
            format_args!("{name}: {whole} of {read} lose nothing; at least {WITHOUT_LOSS} ‰ must"),
        );
    }
    tally
}

/// Files, and folders that are a store as a whole.
fn find(at: &Path, stores: &mut Vec<PathBuf>) -> Result<(), String> {
    let io = |error: std::io::Error| format!("{}: {error}", at.display());
    if ["zarr.json", ".zarray", ".zgroup"].iter().any(|name| at.join(name).is_file()) {
        stores.push(at.to_path_buf());
        return Ok(());
    }
    for entry in fs::read_dir(at).map_err(io)? {
        let entry = entry.map_err(io)?;
        match entry.file_type().map_err(io)? {
            kind if kind.is_dir() => find(&entry.path(), stores)?,
            kind if kind.is_file() && !is_text(&entry.path()) => stores.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// Whether a file is about the others.
fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| ["md", "py", "txt", "jsonl"].iter().any(|of| suffix == *of))
}

/// Asks for the plan, then converts and compares digests, with what the plan loses allowed.
fn one(store: &Path, target: &Path) -> Result<Outcome, String> {
    let format = if store.join("zarr.json").is_file() { "zarr2" } else { "zarr3" };
    let command = |options: &[&str]| {
        let mut command = run::command(workspace::binary());
        command.args(["convert", "--json", "--quiet", "--format", format]).args(options);
        command.arg(store).arg(target);
        command
    };
    let planned = ended(&mut command(&["--dry-run"]))?;
    if target.exists() {
        return Err("a dry run has written something".to_owned());
    }
    let (code, report, said) = planned;
    let kinds = kinds(&report);
    match code {
        2 if report.is_empty() && !said.trim().is_empty() => return Ok(Outcome::NotRead),
        0 if kinds.is_empty() => {}
        1 if !kinds.is_empty() => {}
        _ => return Err(format!("the plan ends with {code} and losses {kinds:?}: {said}")),
    }
    let allowed = kinds.iter().copied().collect::<Vec<_>>().join(",");
    let mut options = vec!["--verify", "--overwrite"];
    if !kinds.is_empty() {
        let (code, ..) = ended(&mut command(&[]))?;
        if code != 1 || target.exists() {
            return Err(format!("a run without --allow-loss ends with {code}, or has written something"));
        }
        options.extend(["--allow-loss", &allowed]);
    }
    let (code, _, said) = ended(&mut command(&options))?;
    let _ = match target.is_dir() {
        true => fs::remove_dir_all(target),
        false => fs::remove_file(target),
    };
    match code {
        0 => Ok(Outcome::Same { loses: !kinds.is_empty(), in_part: false }),
        1 if is_of_source(&said) => Ok(Outcome::Same { loses: !kinds.is_empty(), in_part: true }),
        _ => Err(format!("ends with {code}, allowed [{allowed}]: {said}")),
    }
}

/// Whether nothing is said but what cannot be read in the source.
fn is_of_source(said: &str) -> bool {
    let mut lines = said.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| line.contains(": cannot be read in the source: "))
}

/// The kinds of losses that a report in JSON names. In a text within it the quotes would have backslashes.
fn kinds(report: &str) -> BTreeSet<&str> {
    let kinds = report.split("\"kind\":\"").skip(1);
    kinds.filter_map(|rest| rest.split_once('"').map(|(kind, _)| kind)).collect()
}

/// Exit code, answer and messages of a run, which is ended if it takes too long.
fn ended(command: &mut Command) -> Result<(i32, String, String), String> {
    let io = |error: std::io::Error| error.to_string();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(io)?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let end = Instant::now() + LONGEST;
    let (status, answer, said) = thread::scope(|scope| {
        let answer = scope.spawn(|| text(stdout));
        let said = scope.spawn(|| text(stderr));
        let status = loop {
            match child.try_wait() {
                Ok(None) if Instant::now() < end => thread::sleep(PAUSE),
                Ok(None) => {
                    // Its own end may have come first.
                    let _ = child.kill();
                    break child.wait();
                }
                Ok(Some(status)) => break Ok(status),
                Err(error) => break Err(error),
            }
        };
        (status, answer.join().unwrap_or_default(), said.join().unwrap_or_default())
    });
    if Instant::now() >= end {
        return Err(format!("takes more than {} s", LONGEST.as_secs()));
    }
    match status.map_err(io)?.code() {
        Some(code @ 0..=2) => Ok((code, answer, said)),
        code => Err(format!("dies with {code:?}: {said}")),
    }
}

fn text(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What came before an error is told.
    let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_rows_and_not_of_texts() {
        let report =
            r#"{"report":[{"kind":"links","what":"a \"kind\":\"x\""},{"kind":null},{"kind":"types"}]}"#;
        assert_eq!(kinds(report), BTreeSet::from(["links", "types"]));
    }

    #[test]
    fn only_what_the_source_does_not_give_is_left_uncompared() {
        let source = "error: a.zarr:/x: cannot be read in the source: damaged\n\n";
        let target = "error: a.zarr:/x: was written and cannot be read: damaged\n";
        assert!(is_of_source(source) && is_of_source(&source.repeat(2)));
        assert!(!is_of_source("") && !is_of_source(target) && !is_of_source(&format!("{source}{target}")));
    }

    #[test]
    fn one_wrong_store_fails() {
        let stores = [PathBuf::from("a"), PathBuf::from("b")];
        let good = || (0, Outcome::Same { loses: false, in_part: false });
        assert_eq!(judge("x", &stores, vec![good(), (1, Outcome::NotRead)]).failed, 0);
        assert_eq!(judge("x", &stores, vec![good(), (1, Outcome::Wrong("why".into()))]).failed, 1);
        assert_eq!(
            judge(HDF5, &stores, vec![good(), (1, Outcome::Same { loses: true, in_part: false })]).failed,
            1
        );
        assert_eq!(judge("x", &stores, vec![good()]).failed, 1);
    }
}
