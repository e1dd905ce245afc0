//! Converts files to Zarr. Only the losses that the report names are allowed.

use super::exceptions::{self, List};
use super::{HDF5, TILEDB, ZARR, each};
use crate::tally::Tally;
use crate::{programs, run, workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum time of a run.
const LONGEST: Duration = Duration::from_secs(300);

/// The interval between checks of whether a run has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// Tests convert every fourth file of the corpus, since all would take too long.
const STRIDE: usize = 4;

/// The examples and a part of the corpus: HDF5, Zarr and TileDB.
pub(crate) fn some() -> Result<Tally, String> {
    conversions(STRIDE)
}

/// The examples and the whole corpus.
pub(crate) fn all() -> Result<Tally, String> {
    conversions(1)
}

fn conversions(stride: usize) -> Result<Tally, String> {
    let mut tally = converted("examples", &workspace::root().join("examples"), 1)?;
    for name in [HDF5, ZARR, TILEDB] {
        tally += each(name, |root| converted(name, root, stride))?;
    }
    Ok(tally)
}

/// The result for a store.
enum Outcome {
    /// It has an unknown format, or nothing in it can be read.
    NotRead,
    /// It was converted and has the same digests.
    Same {
        /// The kinds of losses in the report, separated by commas.
        losses: String,
        /// Whether some elements were not compared because the source does not return them: they are in damaged
        /// chunks, which are copied unchanged, or too many were never written. The messages name them.
        in_part: bool,
    },
    Wrong(String),
}

/// Converts every `stride`-th store below a folder.
fn converted(name: &str, root: &Path, stride: usize) -> Result<Tally, String> {
    let mut stores = Vec::new();
    find(root, &mut stores)?;
    stores.sort();
    let command = programs::command()?;
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
            let outcome = one(&command, store, &target).unwrap_or_else(Outcome::Wrong);
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
    let names: Vec<String> =
        stores.iter().map(|store| store.strip_prefix(root).unwrap_or(store).display().to_string()).collect();
    let mut allowed = Allowed {
        refused: exceptions::list("refused", name),
        unconverted: exceptions::list("unconverted", name),
        losses: exceptions::losses(name),
        partly: exceptions::list("partly", name),
    };
    allowed.keep(&names);
    Ok(judge(name, &names, outcomes, &allowed))
}

/// The stores of an archive that are known to be converted only in part.
#[derive(Default)]
struct Allowed {
    refused: List,
    unconverted: List,
    losses: List,
    partly: List,
}

impl Allowed {
    /// Removes rows whose stores are not tried.
    fn keep(&mut self, names: &[String]) {
        for list in [&mut self.refused, &mut self.unconverted, &mut self.losses, &mut self.partly] {
            let is_tried = |row: &str| {
                names.iter().any(|name| name == row || row.ends_with('/') && name.starts_with(row))
            };
            list.retain(|row, _| is_tried(row));
        }
    }
}

fn judge(archive: &str, names: &[String], mut outcomes: Vec<(usize, Outcome)>, allowed: &Allowed) -> Tally {
    outcomes.sort_by_key(|(number, _)| *number);
    let mut tally = Tally::default();
    let (mut unread, mut lossy, mut partly) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut whole = 0_u64;
    for (number, outcome) in &outcomes {
        let name = names.get(*number).cloned().unwrap_or_default();
        let (same, why) = match outcome {
            Outcome::NotRead => {
                unread.insert(name, "exit code 2".to_owned());
                continue;
            }
            Outcome::Wrong(why) => (false, why.clone()),
            Outcome::Same { losses, in_part } => {
                let listed = allowed.losses.get(name.as_str()).copied().unwrap_or_default();
                if *in_part {
                    partly.insert(name.clone(), "elements that cannot be read in the source".to_owned());
                }
                match losses.is_empty() {
                    true => whole += 1,
                    false => drop(lossy.insert(name.clone(), losses.clone())),
                }
                (losses == listed, format!("loses [{losses}], expected [{listed}]"))
            }
        };
        tally += Tally::of(same);
        if !same {
            println!("FAILED {name}: {why}");
        }
    }
    tally.check(
        outcomes.len() == names.len() && whole > 0,
        format_args!(
            "{archive}: {} of {} stores tried, {whole} converted without a loss",
            outcomes.len(),
            names.len()
        ),
    );
    let known: List =
        allowed.refused.iter().chain(&allowed.unconverted).map(|(path, why)| (*path, *why)).collect();
    exceptions::compare(&mut tally, &format!("{archive}: stores that are not converted"), &unread, &known);
    exceptions::compare(
        &mut tally,
        &format!("{archive}: stores that lose something"),
        &lossy,
        &allowed.losses,
    );
    exceptions::compare(&mut tally, &format!("{archive}: stores compared in part"), &partly, &allowed.partly);
    tally
}

/// How folders are walked: the table `xtask/corpus/walked.tsv`, which the scripts in `xtask/oracles` read too.
const WALKED: &str = include_str!("../../corpus/walked.tsv");

/// The names in the rows of this kind.
fn walked(kind: &'static str) -> impl Iterator<Item = &'static str> {
    let rows = WALKED.lines().filter_map(|line| line.split_once('\t'));
    rows.filter(move |(own, _)| *own == kind).map(|(_, name)| name)
}

/// Finds files, and folders that are stores.
fn find(at: &Path, stores: &mut Vec<PathBuf>) -> Result<(), String> {
    let io = |error: std::io::Error| format!("{}: {error}", at.display());
    if walked("store").any(|name| at.join(name).exists()) {
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

/// Whether a file is documentation of the corpus and not data.
fn is_text(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    walked("text").any(|end| name.ends_with(end))
}

/// Makes a plan, converts with the losses of the plan allowed, and compares digests.
fn one(program: &Path, store: &Path, target: &Path) -> Result<Outcome, String> {
    let format = if store.join("zarr.json").is_file() { "zarr2" } else { "zarr3" };
    let command = |options: &[&str]| {
        let mut command = run::command(program);
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
        0 => Ok(Outcome::Same { losses: allowed, in_part: false }),
        1 if is_of_source(&said) => Ok(Outcome::Same { losses: allowed, in_part: true }),
        _ => Err(format!("ends with {code}, allowed [{allowed}]: {said}")),
    }
}

/// Whether all messages are about elements that cannot be read in the source.
fn is_of_source(said: &str) -> bool {
    let mut lines = said.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| line.contains(": cannot be read in the source: "))
}

/// The kinds of losses in a JSON report. Inside a JSON string the same words have backslashes before their quotes.
fn kinds(report: &str) -> BTreeSet<&str> {
    let kinds = report.split("\"kind\":\"").skip(1);
    kinds.filter_map(|rest| rest.split_once('"').map(|(kind, _)| kind)).collect()
}

/// Exit code, standard output and messages of a run. A run that takes too long is killed.
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
                    // Fails if the process has just ended.
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
    // Bytes read before an error are kept.
    let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_kinds_of_rows_and_not_of_texts() {
        let report =
            r#"{"report":[{"kind":"links","what":"a \"kind\":\"x\""},{"kind":null},{"kind":"types"}]}"#;
        assert_eq!(kinds(report), BTreeSet::from(["links", "types"]));
    }

    #[test]
    fn folders_are_walked_by_the_table() {
        assert!(walked("store").any(|name| name == "zarr.json") && walked("text").any(|end| end == ".md"));
        assert!(is_text(Path::new("a/README.md")) && !is_text(Path::new("a/md")));
        let kinds =
            |line: &str| line.starts_with('#') || line.starts_with("store\t") || line.starts_with("text\t");
        assert!(WALKED.lines().all(kinds));
    }

    #[test]
    fn only_elements_unreadable_in_the_source_are_not_compared() {
        let source = "error: a.zarr:/x: cannot be read in the source: damaged\n\n";
        let target = "error: a.zarr:/x: was written and cannot be read: damaged\n";
        assert!(is_of_source(source) && is_of_source(&source.repeat(2)));
        assert!(!is_of_source("") && !is_of_source(target) && !is_of_source(&format!("{source}{target}")));
    }

    fn failed(second: Outcome, allowed: &Allowed) -> u64 {
        let first = Outcome::Same { losses: String::new(), in_part: false };
        let names = ["a".to_owned(), "b".to_owned()];
        judge("x", &names, vec![(0, first), (1, second)], allowed).failed
    }

    #[test]
    fn one_wrong_store_fails() {
        assert_eq!(failed(Outcome::Same { losses: String::new(), in_part: false }, &Allowed::default()), 0);
        assert_eq!(failed(Outcome::Wrong("why".into()), &Allowed::default()), 1);
        assert_eq!(judge("x", &["a".into()], Vec::new(), &Allowed::default()).failed, 1);
    }

    #[test]
    fn unlisted_stores_must_not_be_refused_or_lose_anything() {
        let refused = Allowed { refused: List::from([("b", "text")]), ..Allowed::default() };
        assert_eq!(failed(Outcome::NotRead, &refused), 0);
        assert_eq!(failed(Outcome::NotRead, &Allowed::default()), 1);
        let lossy = Allowed { losses: List::from([("b", "links")]), ..Allowed::default() };
        let loses = |losses: &str| Outcome::Same { losses: losses.into(), in_part: false };
        assert_eq!(failed(loses("links"), &lossy), 0);
        assert_eq!(failed(loses("links,types"), &lossy), 1);
        assert_eq!(failed(loses("links"), &Allowed::default()), 2);
        assert_eq!(failed(Outcome::Same { losses: String::new(), in_part: true }, &Allowed::default()), 1);
    }

    #[test]
    fn listed_stores_must_still_be_exceptions() {
        let listed = || List::from([("b", "why")]);
        for allowed in [
            Allowed { refused: listed(), ..Allowed::default() },
            Allowed { unconverted: listed(), ..Allowed::default() },
            Allowed { partly: listed(), ..Allowed::default() },
        ] {
            assert_eq!(failed(Outcome::Same { losses: String::new(), in_part: false }, &allowed), 1);
        }
    }
}
