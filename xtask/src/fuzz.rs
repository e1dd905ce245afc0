//! Fuzzing: `cargo fuzz` over the targets in `fuzz/`, on the stable compiler.

use crate::run::{self, Finished};
use crate::tally::Tally;
use crate::workspace;
use std::fs;
use std::path::{Path, PathBuf};
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
    let built = build(&cargo_fuzz)?;
    if !built.success {
        println!("{}", built.output);
        return Err("the fuzz targets do not build".to_owned());
    }
    let mut tally = Tally::default();
    for name in &names {
        let done = run::quietly(&mut target(&cargo_fuzz, name, &format!("-max_total_time={each}"))?)?;
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

/// Builds all targets at once.
pub(crate) fn build(cargo_fuzz: &Path) -> Result<Finished, String> {
    let mut command = run::command(cargo_fuzz);
    run::quietly(
        command.args(["fuzz", "build", "-s", "none", "--target-dir"]).arg(workspace::target().join("fuzz")),
    )
}

/// A run of one target over its own corpus, its regressions, the golden structures and small files or stores.
pub(crate) fn target(cargo_fuzz: &Path, name: &str, limit: &str) -> Result<Command, String> {
    let root = workspace::root();
    let fuzz = workspace::target().join("fuzz");
    let own = fuzz.join("corpus").join(name);
    fs::create_dir_all(&own).map_err(|error| format!("{}: {error}", own.display()))?;
    let seeds = [
        own,
        root.join("fuzz").join("regressions").join(name),
        match name {
            "check" | "open_and_read_all" => root.join("fuzz").join("seeds"),
            "ndl" => root.join("crates/ndl/tests/golden"),
            zarr if zarr.starts_with("zarr_") => root.join("fuzz").join("stores").join(zarr),
            _ => golden(&fuzz)?,
        },
    ];
    let mut command = run::command(cargo_fuzz);
    command.args(["fuzz", "run", "-s", "none", "--target-dir"]).arg(&fuzz).arg(name);
    command.args(seeds.iter().filter(|dir| dir.is_dir()));
    command.args(["--", limit, "-seed=1", "-print_final_stats=1", "-rss_limit_mb=1024", "-timeout=10"]);
    Ok(command)
}

/// The golden structures as bytes, from their hexadecimal texts.
fn golden(fuzz: &Path) -> Result<PathBuf, String> {
    let io = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let into = fuzz.join("golden");
    fs::create_dir_all(&into).map_err(|error| io(&into, error))?;
    let from = workspace::root().join("crates/hdf5/tests/golden");
    for entry in fs::read_dir(&from).map_err(|error| io(&from, error))?.flatten() {
        let path = entry.path();
        let Some(name) = path.file_stem().filter(|_| path.extension().is_some_and(|e| e == "hex")) else {
            continue;
        };
        let text = fs::read_to_string(&path).map_err(|error| io(&path, error))?;
        let bytes = bytes(&text).ok_or_else(|| format!("{} is no hexadecimal text", path.display()))?;
        fs::write(into.join(name), bytes).map_err(|error| io(&into, error))?;
    }
    Ok(into)
}

/// Reads pairs of digits; white space and what follows a `#` are skipped.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let code = text.lines().flat_map(|line| line.split('#').next().unwrap_or_default().chars());
    let digits: Vec<u8> = code
        .filter(|c| !c.is_whitespace())
        .map(|c| u8::try_from(c.to_digit(16)?).ok())
        .collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    pairs
        .remainder()
        .is_empty()
        .then(|| pairs.map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_texts_become_bytes() {
        assert_eq!(bytes("01 fF # not 02\n7e\n"), Some(vec![1, 0xff, 0x7e]));
        assert_eq!(bytes("012"), None);
        assert_eq!(bytes("0x"), None);
    }
}
