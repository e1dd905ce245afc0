//! Long trials with malformed input: `trials truncation`, `trials mutation`, `trials classic`, `trials stores`, `trials
//! arrays`, `trials ndl`.
//!
//! Every case must end in a description or an error: without a panic, within [`SECONDS`], and with the whole process
//! below [`MEBIBYTES`]. Files come from `examples/`, `fuzz/seeds/` and `fuzz/regressions/`, stores from the tests of
//! `crates/zarr`, arrays from those of `crates/tiledb`; documents come from the whole project and are generated at
//! random. If the name of a case follows that of the trial, only that case runs, and a document is printed.

mod arrays;
mod documents;
#[allow(dead_code, reason = "the tests of NDL use more of it")]
#[path = "../../../crates/ndl/tests/properties/generator.rs"]
mod generator;
#[allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the tests of TileDB use more of it"
)]
#[path = "../../../crates/tiledb/tests/handmade.rs"]
mod handmade;
mod mutate;
mod stores;
mod text;
mod watch;
#[path = "../../../crates/zarr/tests/zip.rs"]
mod zip;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use trials::Outcome;
use watch::Watch;

/// The maximum time of a single case.
const SECONDS: u64 = 5;

/// The maximum peak memory of the process.
const MEBIBYTES: u64 = 256;

/// The number of mutants of HDF5 files with damaged structures whose checksums are repaired, unless `HYPERSLAB_MUTANTS`
/// specifies another number. For half as many additional mutants, checksums are not repaired.
const FILES: usize = 50_000;

/// The number of mutants of NetCDF classic files, unless `HYPERSLAB_MUTANTS` specifies another number.
const CLASSIC: usize = 20_000;

/// The number of mutants each of Zarr stores, TileDB arrays and NDL documents, unless `HYPERSLAB_MUTANTS` specifies
/// another.
const STORES: usize = 20_000;
const ARRAYS: usize = 20_000;
const DOCUMENTS: usize = 20_000;

fn wanted(usual: usize) -> usize {
    let asked = std::env::var("HYPERSLAB_MUTANTS").ok().and_then(|number| number.parse().ok());
    asked.unwrap_or(usual)
}

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    let cases: fn(&[File]) -> Vec<Case> = match name.as_str() {
        "truncation" => truncations,
        "mutation" => mutants,
        "classic" => {
            let files = classic_files();
            let cases = [truncations(&files), classic_mutants(&files)].concat();
            println!("{} files, {} cases", files.len(), cases.len());
            return run(&cases, |case| case.name(&files), |case| trials::everything(case.bytes(&files)));
        }
        "stores" => {
            let bases = stores::bases();
            let cases = stores::cases(&bases, wanted(STORES));
            println!("{} stores, {} cases", bases.len(), cases.len());
            return run(&cases, |case| case.name(&bases), |case| case.run(&bases));
        }
        "arrays" => {
            let bases = arrays::bases();
            let cases = arrays::cases(&bases, wanted(ARRAYS));
            println!("{} arrays and groups, {} cases", bases.len(), cases.len());
            return run(&cases, |case| case.name(&bases), |case| case.run(&bases));
        }
        "ndl" => {
            let bases = documents::bases();
            let cases = documents::cases(&bases, wanted(DOCUMENTS));
            println!("{} documents, {} cases", bases.len(), cases.len());
            let asked = std::env::args().nth(2);
            if let Some(case) = cases.iter().find(|case| asked.as_ref() == Some(&case.name(&bases))) {
                println!("{}", String::from_utf8_lossy(&case.text(&bases)));
            }
            let folder = std::env::temp_dir().join(format!("hyperslab-trials-{}", std::process::id()));
            let code = run(&cases, |case| case.name(&bases), |case| case.run(&bases, &folder));
            if let Err(e) = fs::remove_dir_all(&folder) {
                eprintln!("{} remains: {e}", folder.display());
            }
            return code;
        }
        _ => {
            eprintln!("error: name a trial: truncation, mutation, classic, stores, arrays or ndl");
            return ExitCode::from(2);
        }
    };
    let files = files();
    let cases = cases(&files);
    println!("{} files, {} cases", files.len(), cases.len());
    let repaired = cases.iter().filter(|case| case.is_repaired()).count();
    if repaired > 0 {
        println!("{repaired} mutants with repaired checksums, {} as they are", cases.len() - repaired);
    }
    run(&cases, |case| case.name(&files), |case| trials::everything(case.bytes(&files)))
}

struct File {
    name: String,
    bytes: Vec<u8>,
    checksums: Vec<mutate::Checksum>,
}

#[derive(Clone, Copy)]
struct Case {
    file: usize,
    change: Change,
}

#[derive(Clone, Copy)]
enum Change {
    CutAt(usize),
    Mutant { seed: u64, repaired: bool },
}

impl Case {
    fn is_repaired(&self) -> bool {
        matches!(self.change, Change::Mutant { repaired: true, .. })
    }

    fn name(&self, files: &[File]) -> String {
        let file = &files[self.file].name;
        match self.change {
            Change::CutAt(len) => format!("{file} cut at byte {len}"),
            Change::Mutant { seed, repaired: false } => format!("{file} mutant {seed}"),
            Change::Mutant { seed, repaired: true } => {
                format!("{file} mutant {seed} with repaired checksums")
            }
        }
    }

    fn bytes(&self, files: &[File]) -> Vec<u8> {
        let file = &files[self.file];
        match self.change {
            Change::CutAt(len) => file.bytes[..len].to_vec(),
            Change::Mutant { seed, repaired: false } => mutate::mutant(&file.bytes, seed),
            Change::Mutant { seed, repaired: true } => {
                mutate::mutant_with_right_checksums(&file.bytes, &file.checksums, seed)
                    .expect("a mutant is damaged where a checksum reaches")
            }
        }
    }
}

fn files() -> Vec<File> {
    files_in(&["examples", "fuzz/seeds", "fuzz/regressions/open_and_read_all", "crates/hdf5/tests/data"])
}

/// NetCDF classic files: headers, elements of fixed-size variables, and records.
fn classic_files() -> Vec<File> {
    let mut files = files_in(&["examples", "fuzz/classic"]);
    files.retain(|file| file.bytes.starts_with(b"CDF"));
    files
}

fn files_in(folders: &[&str]) -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("..");
    let mut paths = Vec::new();
    for dir in folders {
        let entries = fs::read_dir(root.join(dir)).into_iter().flatten().flatten();
        paths.extend(entries.map(|entry| entry.path()).filter(|path| is_data(path)));
    }
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).ok()?;
        let checksums = mutate::checksums(&bytes);
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        Some(File { name, bytes, checksums })
    };
    paths.into_iter().filter_map(read).collect()
}

fn is_data(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "h5" || extension == "nc")
}

fn truncations(files: &[File]) -> Vec<Case> {
    let lengths = |(file, of): (usize, &File)| {
        (0..of.bytes.len()).map(move |len| Case { file, change: Change::CutAt(len) })
    };
    files.iter().enumerate().flat_map(lengths).collect()
}

fn mutants(files: &[File]) -> Vec<Case> {
    let all: Vec<usize> = (0..files.len()).collect();
    let with_checksums: Vec<usize> =
        all.iter().copied().filter(|file| !files[*file].checksums.is_empty()).collect();
    let mutants = |of: &[usize], count: usize, repaired: bool| -> Vec<Case> {
        let mutant = |index: usize| Case {
            file: of[index % of.len()],
            change: Change::Mutant { seed: index as u64, repaired },
        };
        (0..count).map(mutant).collect()
    };
    let count = wanted(FILES);
    [mutants(&with_checksums, count, true), mutants(&all, count / 2, false)].concat()
}

fn classic_mutants(files: &[File]) -> Vec<Case> {
    let mutant = |index: usize| Case {
        file: index % files.len(),
        change: Change::Mutant { seed: index as u64, repaired: false },
    };
    (0..wanted(CLASSIC)).map(mutant).collect()
}

fn run<C: Sync>(
    cases: &[C],
    name: impl Fn(&C) -> String + Sync,
    outcome: impl Fn(&C) -> Outcome + Sync,
) -> ExitCode {
    let asked = std::env::args().nth(2);
    let cases: Vec<&C> =
        cases.iter().filter(|case| asked.as_ref().is_none_or(|asked| *asked == name(case))).collect();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let watch = Watch::new(workers, SECONDS, MEBIBYTES);
    let next = AtomicUsize::new(0);
    let [described, refused, failed] = [const { AtomicUsize::new(0) }; 3];
    thread::scope(|scope| {
        for worker in 0..workers {
            let (watch, next, described, refused, failed) = (&watch, &next, &described, &refused, &failed);
            let (cases, name, outcome) = (&cases, &name, &outcome);
            scope.spawn(move || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = || name(case);
                    let counter = match watch.guard(worker, name, || outcome(case)) {
                        Ok(Outcome::Described) => described,
                        Ok(Outcome::Refused) => refused,
                        Err(reason) => {
                            println!("FAILED {}: {reason}", name());
                            failed
                        }
                    };
                    counter.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let [described, refused, failed] = [described, refused, failed].map(AtomicUsize::into_inner);
    println!(
        "{described} described, {refused} refused, {failed} failed; slowest {:.3} s: {}; peak memory {} MiB",
        watch.slowest().0,
        watch.slowest().1,
        watch::peak_mebibytes().map_or("?".to_owned(), |peak| peak.to_string()),
    );
    println!("{} passed, {failed} failed, 0 skipped", described + refused);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
