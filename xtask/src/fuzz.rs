//! Fuzzing: `cargo fuzz` over the targets in `fuzz/`, on the stable compiler.

use crate::run;
use crate::tally::Tally;
use crate::workspace;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const VERSION: &str = "0.13.2";

/// Seconds of the smoke run, all targets together.
const SMOKE: u64 = 20;

/// Runs every target for its part of the smoke run's time.
pub(crate) fn smoke() -> Result<Tally, String> {
    let names = targets()?;
    let each = (SMOKE / u64::try_from(names.len()).unwrap_or(1).max(1)).max(1);
    if !workspace::on_path("c++") && !workspace::on_path("g++") && !workspace::on_path("clang++") {
        return Ok(Tally::skip("fuzz smoke: libFuzzer needs a C++ compiler"));
    }
    let cargo_fuzz = match cargo_fuzz() {
        Ok(program) => program,
        Err(reason) if workspace::is_ci() => return Err(reason),
        Err(reason) => return Ok(Tally::skip(reason)),
    };
    let mut tally = Tally::default();
    for name in &names {
        let done = run::quietly(&mut target(&cargo_fuzz, name, &format!("-max_total_time={each}")))?;
        let executed = done.output.lines().rev().find(|line| line.contains("stat::number_of_executed_units"));
        if !done.success {
            println!("{}", done.output);
        }
        let runs = executed.and_then(|line| line.split_whitespace().last()).unwrap_or("no");
        tally.check(done.success, format_args!("fuzz target {name}: {runs} inputs in {each} s"));
    }
    Ok(tally)
}

/// The names of all targets.
pub(crate) fn targets() -> Result<Vec<String>, String> {
    let dir = workspace::root().join("fuzz").join("fuzz_targets");
    let entries = fs::read_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.path().file_stem()?.to_str().map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}

/// A run of one target over its own corpus, its regressions and the example files.
pub(crate) fn target(cargo_fuzz: &PathBuf, name: &str, limit: &str) -> Command {
    let root = workspace::root();
    let own = workspace::target().join("fuzz").join("corpus").join(name);
    // libFuzzer refuses a folder that is not there; the run itself says so if this fails.
    let _ = fs::create_dir_all(&own);
    let mut command = run::command(cargo_fuzz);
    command
        .args(["fuzz", "run", "-s", "none", "--target-dir"])
        .arg(workspace::target().join("fuzz"))
        .arg(name);
    command.arg(own);
    for seeds in [
        root.join("fuzz").join("regressions").join(name),
        root.join("fuzz").join("seeds").join(name),
        root.join("examples"),
    ] {
        if seeds.is_dir() {
            command.arg(seeds);
        }
    }
    command.args([
        "--",
        limit,
        "-seed=1",
        "-print_final_stats=1",
        "-rss_limit_mb=1024",
        "-timeout=10",
        "-max_len=65536",
    ]);
    command
}

/// The program, built into the target folder when it is not there.
pub(crate) fn cargo_fuzz() -> Result<PathBuf, String> {
    let tools = workspace::target().join("tools");
    let program = tools.join("bin").join(format!("cargo-fuzz{}", std::env::consts::EXE_SUFFIX));
    if program.is_file() {
        return Ok(program);
    }
    println!("installing cargo-fuzz {VERSION} into {}", tools.display());
    let mut install = run::cargo();
    install
        .args(["install", "cargo-fuzz", "--locked", "--quiet", "--version", VERSION, "--root"])
        .arg(&tools);
    // Its build stays apart: cargo would otherwise mix its units with ours.
    install.env("CARGO_TARGET_DIR", tools.join("build"));
    let done = run::shown(&mut install)?;
    if done.success {
        Ok(program)
    } else {
        Err(format!("cargo-fuzz cannot be installed: {}", done.last_line()))
    }
}
