//! `cargo xtask test`: every check, in stages. A failed stage does not stop the others.

use crate::gate::skips::ALLOWED;
use crate::gate::{self, Report};
use crate::tally::Tally;
use crate::{corpus, deny, direction, dist, fuzz, invariants, oracles, programs, python, run, workspace};
use std::process::Command;
use std::time::Instant;

struct Stage {
    name: &'static str,
    what: &'static str,
    /// The minimum number of checks in a full run, slightly below the number when it was last raised.
    min_checks: u64,
    run: fn() -> Result<Tally, String>,
}

const STAGES: &[Stage] = &[
    Stage { name: "format", what: "the sources are formatted", min_checks: 3, run: format },
    Stage { name: "clippy", what: "no lint warns", min_checks: 3, run: clippy },
    Stage { name: "docs", what: "the documentation builds without a warning", min_checks: 1, run: docs },
    Stage {
        name: "direction",
        what: "crates use only the crates below them",
        min_checks: 10,
        run: direction::check,
    },
    Stage {
        name: "invariants",
        what: "the sources keep the invariants of ARCHITECTURE.md",
        min_checks: 9,
        run: invariants::check,
    },
    Stage {
        name: "tests",
        what: "unit, golden, property and command line tests",
        min_checks: 1_950,
        run: tests,
    },
    Stage { name: "doctests", what: "the examples in the documentation run", min_checks: 60, run: doctests },
    Stage { name: "command", what: "the command builds", min_checks: 1, run: command },
    Stage {
        name: "oracles",
        what: "other readers find the same content",
        min_checks: 34_000,
        run: oracles::compare::stage,
    },
    Stage {
        name: "corpus",
        what: "digests of other people's files are as expected, and the structures of TileDB arrays return",
        min_checks: 27,
        run: corpus::digests,
    },
    Stage {
        name: "checks",
        what: "`check` finds no error in sound files",
        min_checks: 850,
        run: corpus::checks,
    },
    Stage {
        name: "descriptions",
        what: "two YAML parsers read the same in every description",
        min_checks: 1_600,
        run: corpus::descriptions,
    },
    Stage {
        name: "texts",
        what: "every description is read back as the same content",
        min_checks: 2_650,
        run: corpus::texts,
    },
    Stage {
        name: "conversions",
        what: "the examples and a quarter of the corpus become Zarr, and lose only what the report names",
        min_checks: 430,
        run: corpus::conversions::some,
    },
    Stage {
        name: "readers",
        what: "xarray finds what NetCDF files and Zarr stores of the corpus become identical, ncdump prints the same CDL, and tiledb-py reads the same parts, what was converted to TileDB, and schemas made of descriptions",
        min_checks: 2_800,
        run: corpus::some_readers,
    },
    Stage {
        name: "reports",
        what: "reports of conversions are true of what h5py and zarr-python read",
        min_checks: 80_000,
        run: corpus::reports,
    },
    Stage {
        name: "returns",
        what: "a fifth of the HDF5 files of the corpus return from repack, Zarr and their own description as they were",
        min_checks: 500,
        run: corpus::some_returns,
    },
    Stage { name: "fuzz", what: "20 seconds of fuzzing find nothing", min_checks: 12, run: fuzz::smoke },
    Stage {
        name: "python",
        what: "the Python package reads what other libraries read, also in threads and processes, and its types are right",
        min_checks: 850,
        run: python::stage,
    },
    Stage {
        name: "dist",
        what: "a release is made twice with the same bytes, installed, run and removed",
        min_checks: 19,
        run: dist::stage,
    },
    Stage {
        name: "deny",
        what: "licences and sources of dependencies are allowed",
        min_checks: 1,
        run: deny::check,
    },
];

/// Runs all stages, or those named with `--only`, and prints a table of what they did.
pub(crate) fn main(args: &[&str]) -> Result<(), String> {
    let only = chosen(args)?;
    let is_ci = workspace::is_ci();
    if only.is_empty() {
        // Downloads continue while crates are built.
        oracles::install_ahead();
    }
    let mut reports = Vec::new();
    for stage in STAGES.iter().filter(|stage| only.is_empty() || only.contains(&stage.name)) {
        println!("\n== {}: {}", stage.name, stage.what);
        let start = Instant::now();
        let tally = (stage.run)().unwrap_or_else(|message| {
            println!("FAILED {message}");
            Tally::of(false)
        });
        let seconds = start.elapsed().as_secs_f64();
        println!("-- {}: {tally} in {seconds:.1} s", stage.name);
        reports.push(Report { name: stage.name, min_checks: stage.min_checks, tally, seconds });
    }
    println!("\n{}", gate::table(&reports, is_ci, ALLOWED));
    let mut failed = Vec::new();
    for report in &reports {
        for skip in &report.tally.skipped {
            println!("skipped: {}: {skip}{}", report.name, gate::reason(report.name, skip, ALLOWED));
        }
    }
    for report in &reports {
        let problems = report.problems(is_ci, ALLOWED);
        for problem in &problems {
            println!("FAILED {}: {problem}", report.name);
        }
        if !problems.is_empty() {
            failed.push(report.name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed stages: {}", failed.join(", "))) }
}

fn chosen<'a>(args: &[&'a str]) -> Result<Vec<&'a str>, String> {
    let mut only = Vec::new();
    let mut args = args.iter();
    while let Some(&arg) = args.next() {
        let name = match arg {
            "--only" => args.next().copied().ok_or("--only needs the name of a stage")?,
            _ => arg.strip_prefix("--only=").ok_or_else(|| format!("unknown option {arg}"))?,
        };
        if !STAGES.iter().any(|stage| stage.name == name) {
            let names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
            return Err(format!("unknown stage {name}, expected one of {}", names.join(", ")));
        }
        only.push(name);
    }
    Ok(only)
}

fn one(command: &mut Command) -> Result<Tally, String> {
    run::shown(command).map(|done| Tally::of(done.success))
}

fn counted(command: &mut Command) -> Result<Tally, String> {
    run::shown(command).map(|done| Tally::of_output(&done.output, done.success))
}

fn format() -> Result<Tally, String> {
    let mut tally = one(run::cargo().args(["fmt", "--all", "--check"]))?;
    for manifest in ["fuzz/Cargo.toml", "benches/Cargo.toml"] {
        tally += one(run::cargo().args(["fmt", "--all", "--check", "--manifest-path", manifest]))?;
    }
    Ok(tally)
}

fn clippy() -> Result<Tally, String> {
    // With the profile of the tests, so that macros and build scripts are built once for both.
    let profile = ["--profile", programs::PROFILE];
    let mut all = run::cargo();
    all.args(["clippy", "--workspace", "--all-targets"]).args(profile);
    let mut tally = one(all.args(["--", "-D", "warnings"]))?;
    // The fuzz targets need a C++ compiler. If there is one, the stage `fuzz` builds them. Running in the workspace
    // folder, crates that both workspaces use are checked only once.
    for (manifest, packages) in
        [("fuzz/Cargo.toml", "--package=trials"), ("benches/Cargo.toml", "--workspace")]
    {
        let mut command = run::cargo();
        command.args(["clippy", "--manifest-path", manifest, packages]).args(profile).arg("--target-dir");
        tally += one(command.arg(workspace::target()).args(["--", "-D", "warnings"]))?;
    }
    Ok(tally)
}

fn docs() -> Result<Tally, String> {
    let mut doc = run::cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--profile", programs::PROFILE]);
    one(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

fn tests() -> Result<Tally, String> {
    let mut command = run::cargo();
    if workspace::on_path("cargo-nextest") {
        command.args([
            "nextest",
            "run",
            "--cargo-profile",
            programs::PROFILE,
            "--workspace",
            "--no-fail-fast",
        ]);
        // Names the skipped tests, but not the passed ones.
        command.args(["--status-level", "fail", "--final-status-level", "skip"]);
    } else {
        command.args([
            "test",
            "--profile",
            programs::PROFILE,
            "--workspace",
            "--all-targets",
            "--no-fail-fast",
        ]);
    }
    counted(&mut command)
}

fn doctests() -> Result<Tally, String> {
    let profile = ["test", "--profile", programs::PROFILE, "--workspace"];
    counted(run::cargo().args(profile).args(["--doc", "--no-fail-fast", "--quiet"]))
}

fn command() -> Result<Tally, String> {
    programs::command().map(|_| Tally::of(true))
}
