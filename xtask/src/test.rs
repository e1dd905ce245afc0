//! `cargo xtask test`: every check, one stage after the other, none left out because another failed.

use crate::tally::Tally;
use crate::{corpus, direction, fuzz, invariants, oracles, run, workspace};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

struct Stage {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<Tally, String>,
}

const STAGES: &[Stage] = &[
    Stage { name: "format", what: "sources are formatted", run: format },
    Stage { name: "clippy", what: "no lint of the workspace warns", run: clippy },
    Stage { name: "docs", what: "documentation builds without a warning", run: docs },
    Stage { name: "direction", what: "crates use only what is below them", run: direction::check },
    Stage {
        name: "invariants",
        what: "ARCHITECTURE.md's invariants hold in the sources",
        run: invariants::check,
    },
    Stage { name: "tests", what: "unit, golden, property and command line tests", run: tests },
    Stage { name: "doctests", what: "examples in the documentation run", run: doctests },
    Stage { name: "release", what: "the optimised command builds", run: release },
    Stage { name: "oracles", what: "other readers see the same content", run: compare },
    Stage { name: "corpus", what: "digests of the corpus are as expected", run: corpus::digests },
    Stage { name: "checks", what: "sound files of the corpus have no errors", run: corpus::checks },
    Stage {
        name: "descriptions",
        what: "descriptions of the corpus parse alike in two YAML parsers",
        run: corpus::descriptions,
    },
    Stage {
        name: "texts",
        what: "descriptions of the corpus are read back as the same content",
        run: corpus::texts,
    },
    Stage {
        name: "conversions",
        what: "examples and a quarter of the corpus are the same as Zarr, but for what is named as lost",
        run: corpus::conversions::some,
    },
    Stage { name: "fuzz", what: "20 seconds of fuzzing find nothing", run: fuzz::smoke },
    Stage { name: "deny", what: "licences and sources of dependencies are allowed", run: deny },
];

/// Runs all stages, or those named with `--only`.
pub(crate) fn main(args: &[&str]) -> Result<(), String> {
    let only = chosen(args)?;
    let mut total = Tally::default();
    let mut seconds = Vec::new();
    for stage in STAGES.iter().filter(|stage| only.is_empty() || only.contains(&stage.name)) {
        println!("\n== {}: {}", stage.name, stage.what);
        let start = Instant::now();
        let tally = (stage.run)().unwrap_or_else(|message| {
            println!("FAILED {message}");
            Tally::of(false)
        });
        let took = start.elapsed().as_secs_f64();
        println!("-- {}: {tally} in {took:.1} s", stage.name);
        seconds.push((stage.name, took, tally.failed));
        total += tally;
    }
    println!("\nstage          seconds");
    for (name, took, failed) in &seconds {
        println!("{name:<14} {took:>7.1}{}", if *failed > 0 { "  FAILED" } else { "" });
    }
    println!();
    for reason in &total.skipped {
        println!("skipped: {reason}");
    }
    println!("{total}");
    if total.failed == 0 { Ok(()) } else { Err("some checks failed".to_owned()) }
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
            return Err(format!("no stage {name}; there are {}", names.join(", ")));
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
    let fuzz =
        ["fmt", "--check", "--manifest-path", "fuzz/Cargo.toml", "-p", "hyperslab-fuzz", "-p", "trials"];
    tally += one(run::cargo().args(fuzz))?;
    let benches = ["fmt", "--check", "--manifest-path", "benches/Cargo.toml", "-p", "bench-read"];
    tally += one(run::cargo().args(benches))?;
    Ok(tally)
}

fn clippy() -> Result<Tally, String> {
    let mut tally =
        one(run::cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    // The targets themselves need a C++ compiler; the fuzz stage builds them where there is one.
    let fuzz = ["clippy", "--manifest-path", "fuzz/Cargo.toml", "--package", "trials", "--target-dir"];
    let mut command = run::cargo();
    command.args(fuzz).arg(workspace::target().join("fuzz")).args(["--", "-D", "warnings"]);
    tally += one(&mut command)?;
    let benches = ["clippy", "--manifest-path", "benches/Cargo.toml", "--target-dir"];
    let mut command = run::cargo();
    command.args(benches).arg(workspace::target().join("benches")).args(["--", "-D", "warnings"]);
    tally += one(&mut command)?;
    Ok(tally)
}

fn docs() -> Result<Tally, String> {
    one(run::cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}

fn tests() -> Result<Tally, String> {
    if workspace::on_path("cargo-nextest") {
        counted(run::cargo().args([
            "nextest",
            "run",
            "--workspace",
            "--no-fail-fast",
            "--status-level",
            "fail",
        ]))
    } else {
        counted(run::cargo().args(["test", "--workspace", "--all-targets", "--no-fail-fast", "--quiet"]))
    }
}

fn doctests() -> Result<Tally, String> {
    counted(run::cargo().args(["test", "--workspace", "--doc", "--no-fail-fast", "--quiet"]))
}

fn release() -> Result<Tally, String> {
    one(run::cargo().args(["build", "--release"]))
}

fn compare() -> Result<Tally, String> {
    let mut tally = Tally::default();
    match oracles::tools() {
        Ok(()) => tally.check(true, "h5dump and ncdump are installed"),
        Err(missing) => tally += missing.tally(),
    }
    match oracles::python() {
        Ok(python) => {
            for script in ["content.py", "netcdf.py", "yaml_agrees.py", "conversions.py"] {
                println!("{script}");
                let mut command = oracles::script(&python, script);
                command.arg(workspace::binary()).arg(workspace::root().join("examples"));
                tally += counted(&mut command)?;
            }
            println!("differences.py");
            tally += counted(oracles::script(&python, "differences.py").arg(workspace::binary()))?;
            println!("schema.py");
            let mut command = oracles::script(&python, "schema.py");
            for document in ["schema/ndl.schema.json", "schema/good", "tests/golden"] {
                command.arg(workspace::root().join("crates/ndl").join(document));
            }
            for document in ["crates/cli/tests/golden", "docs/ndl.md", "crates/ndl/schema/bad.yaml"] {
                command.arg(workspace::root().join(document));
            }
            tally += counted(&mut command)?;
            println!("ndl_trees.py");
            tally += trees(&python, DOCUMENTS)?;
            println!("zarr_written.py");
            tally += oracles::zarr_written(&python)?;
        }
        Err(missing) => tally += missing.tally(),
    }
    Ok(tally)
}

/// Random documents that other parsers read.
const DOCUMENTS: u64 = 10_000;

/// Has PyYAML, ruamel.yaml and JSON read so many random documents.
fn trees(python: &PathBuf, count: u64) -> Result<Tally, String> {
    let directory = workspace::target().join("documents");
    let mut generate = run::cargo();
    generate.args(["run", "--release", "--package", "hyperslab-ndl", "--example", "generate", "--"]);
    let made = run::quietly(generate.arg(&directory).arg(count.to_string()))?;
    if !made.success {
        return Err(format!("no documents: {}", made.last_line()));
    }
    counted(oracles::script(python, "ndl_trees.py").arg(&directory))
}

fn deny() -> Result<Tally, String> {
    if !workspace::on_path("cargo-deny") {
        return Ok(Tally::skip("cargo-deny is not installed: cargo install cargo-deny --locked"));
    }
    // Advisories need a database from the network; the rest is decided by what is here.
    one(run::cargo().args(["deny", "--offline", "check", "bans", "licenses", "sources"]))
}
