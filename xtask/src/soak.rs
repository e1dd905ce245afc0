//! `cargo xtask soak`: long trials with invalid input, by the library in `fuzz/trials`, and with interruptions.

use crate::{corpus, fuzz, oracles, programs, python, run, workspace};
use std::path::PathBuf;

const TRIALS: &[&str] = &[
    "documents",
    "truncation",
    "mutation",
    "classic",
    "stores",
    "arrays",
    "ndl",
    "reads",
    "races",
    "hostile",
    "kills",
    "conversions",
    "written",
    "returns",
    "netcdf",
    "cdl",
    "readers",
    "tiledb",
    "histories",
    "upkeep",
    "matrix",
    "python",
    "fuzz",
];

/// Minutes of fuzzing for all targets together.
const FUZZ_MINUTES: u64 = 30;

/// How long folders are swapped for links while files in them are opened.
const RACE_SECONDS: u32 = 300;

/// How often a conversion is killed, each time at a different moment.
const KILLS: u32 = 200;

/// The number of random documents for each property, and for other parsers.
const DOCUMENTS: u32 = 10_000;

/// The number of HDF5 files that other libraries read; `cargo xtask test` has fewer.
const WRITTEN: u32 = 1_500;

/// The number of NetCDF-4 files that other libraries read and continue; `cargo xtask test` has fewer.
const NETCDF: u32 = 300;

/// The number of TileDB arrays that tiledb-py writes and reads; `cargo xtask test` has fewer.
const TILEDB: u32 = 1_000;

/// The number of histories of TileDB arrays that tiledb-py and `edit` write together; `cargo xtask test` has fewer.
const HISTORIES: u32 = 500;

/// The number of TileDB arrays that tiledb-py and `edit` maintain in all orders; `cargo xtask test` has fewer.
const UPKEPT: u32 = 40;

/// Runs all trials, or those named.
pub(crate) fn main(args: &[&str]) -> Result<(), String> {
    if let Some(unknown) = args.iter().find(|name| !TRIALS.contains(name)) {
        return Err(format!("unknown trial {unknown}, expected one of {}", TRIALS.join(", ")));
    }
    let wanted = |name: &str| args.is_empty() || args.contains(&name);
    let mut failed = Vec::new();
    for &name in TRIALS.iter().filter(|name| wanted(name)) {
        println!("\n== {name}");
        let good = match name {
            "fuzz" => long_fuzz()?,
            "documents" => documents()?,
            "reads" => script("failing_reads.py", [workspace::root().join("examples"), "all".into()])?,
            "hostile" => script("hostile.py", [workspace::target().join("hostile")])?,
            "races" => races()?,
            "kills" => kills()?,
            "conversions" => conversions()?,
            "returns" => returns()?,
            "cdl" => cdl()?,
            "readers" => readers()?,
            "netcdf" => script(
                "netcdf_written.py",
                [workspace::root().join("examples"), "--seeds".into(), NETCDF.to_string().into()],
            )?,
            "histories" => script("tiledb_histories.py", [HISTORIES.to_string().into()])?,
            "upkeep" => script("tiledb_upkeep.py", [UPKEPT.to_string().into()])?,
            "python" => python()?,
            "matrix" => script("tiledb_matrix.py", [workspace::wheels()])?,
            "tiledb" => script("tiledb_seeded.py", [TILEDB.to_string().into()])?,
            "written" => script("hdf5_written.py", [WRITTEN.to_string().into()])?,
            _ => trial(name)?,
        };
        if !good {
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn trial(name: &str) -> Result<bool, String> {
    let mut command = run::cargo();
    command.args([
        "run",
        "--release",
        "--quiet",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--package",
        "trials",
    ]);
    command.arg("--target-dir").arg(workspace::target().join("fuzz")).args(["--", name]);
    Ok(run::shown(&mut command)?.success)
}

/// Properties of NDL and of conversions, with more documents than in `cargo xtask test`.
fn documents() -> Result<bool, String> {
    let mut good = true;
    for (package, tests) in [("hyperslab-ndl", "properties"), ("hyperslab", "converted::random")] {
        let mut command = run::cargo();
        command.args(["test", "--release", "--package", package, "--test", "main", tests]);
        good &= run::shown(command.env("HYPERSLAB_TRIALS", DOCUMENTS.to_string()))?.success;
    }
    let read = oracles::compare::documents(DOCUMENTS)?;
    println!("{read}");
    Ok(good && read.failed == 0)
}

/// A script of `xtask/oracles` that runs the command.
fn script(name: &str, args: impl IntoIterator<Item = PathBuf>) -> Result<bool, String> {
    let python = oracles::python_and_tools().map_err(oracles::Missing::into_reason)?;
    let mut command = oracles::script(&python, name);
    Ok(run::shown(command.arg(programs::command()?).args(args))?.success)
}

/// Files swapped for links while they are opened, for longer than in `cargo xtask test`.
fn races() -> Result<bool, String> {
    let mut command = run::cargo();
    command.args([
        "test",
        "--release",
        "--package",
        "hyperslab-core",
        "--test",
        "main",
        "races",
        "--",
        "--nocapture",
    ]);
    Ok(run::shown(command.env("HYPERSLAB_RACES", RACE_SECONDS.to_string()))?.success)
}

/// Interrupted conversions, with more kills and a larger source than in `cargo xtask test`.
fn kills() -> Result<bool, String> {
    let source = workspace::target().join("kills.h5");
    let python = oracles::python().map_err(oracles::Missing::into_reason)?;
    let made = run::quietly(oracles::script(&python, "kills_source.py").arg(&source))?;
    if !made.success {
        return Err(format!("the source cannot be made: {}", made.last_line()));
    }
    let mut command = run::cargo();
    command.args([
        "test",
        "--release",
        "--package",
        "hyperslab-cli",
        "--test",
        "main",
        "killed",
        "--",
        "--nocapture",
    ]);
    command.env("HYPERSLAB_KILLS", KILLS.to_string()).env("HYPERSLAB_KILLS_SOURCE", &source);
    Ok(run::shown(&mut command)?.success)
}

/// Converts the whole corpus; `cargo xtask test` converts a quarter.
fn conversions() -> Result<bool, String> {
    let tally = corpus::conversions::all()?;
    println!("{tally}");
    Ok(tally.failed == 0)
}

/// Writes all HDF5 files of the corpus again; `cargo xtask test` takes every fifth.
fn returns() -> Result<bool, String> {
    let tally = corpus::returns()?;
    println!("{tally}");
    Ok(tally.failed == 0)
}

/// All tests of the Python package, and 100 runs with 300 files; `cargo xtask test` has fewer of both.
fn python() -> Result<bool, String> {
    let tally = python::all_tests()?;
    println!("{tally}");
    Ok(tally.failed == 0)
}

/// Converts the whole corpus for other readers; `cargo xtask test` converts fewer files to NetCDF-4 and to tables.
fn readers() -> Result<bool, String> {
    let tally = corpus::readers()?;
    println!("{tally}");
    Ok(tally.failed == 0)
}

/// Describes the whole corpus as CDL; `cargo xtask test` takes every fourth file.
fn cdl() -> Result<bool, String> {
    let tally = corpus::cdl()?;
    println!("{tally}");
    Ok(tally.failed == 0)
}

/// Every fuzz target, one after another, for its share of the time.
fn long_fuzz() -> Result<bool, String> {
    let targets = fuzz::build("release")?;
    let each = targets.share(FUZZ_MINUTES * 60);
    let mut good = true;
    for name in &targets.names {
        println!("{name}: {each} seconds");
        let done = run::quietly(&mut targets.run(name, each)?)?;
        println!("{}", if done.success { done.last_line() } else { &done.output });
        good &= done.success;
    }
    Ok(good)
}
