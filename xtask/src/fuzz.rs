//! Fuzzing: runs the targets in `fuzz/` with libFuzzer, on the stable compiler.

use crate::run::{self, Job};
use crate::tally::Tally;
use crate::workspace;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seconds of the smoke run for all targets together.
const SMOKE: u64 = 20;

/// The profile of `fuzz/Cargo.toml` for the smoke run.
const SMOKE_PROFILE: &str = "smoke";

/// The flags with which rustc instruments the code for libFuzzer. `cargo fuzz` passes the same flags, but building it
/// takes longer than the smoke run.
const FLAGS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cdebug-assertions",
    "--cfg=fuzzing",
];

/// The flags for finding the values that the code compares with. They increase the build time by half, so only long
/// runs use them.
const COMPARES: &str = "-Cllvm-args=-sanitizer-coverage-trace-compares";

/// The built fuzz targets.
pub(crate) struct Targets {
    programs: PathBuf,
    pub(crate) names: Vec<String>,
}

/// The stage `fuzz`: runs every target for its share of the time.
pub(crate) fn smoke() -> Result<Tally, String> {
    if !["c++", "g++", "clang++"].iter().any(|compiler| workspace::on_path(compiler)) {
        return Ok(Tally::skip("there is no C++ compiler, which libFuzzer needs"));
    }
    let targets = build(SMOKE_PROFILE)?;
    let each = targets.share(SMOKE);
    let mut jobs = Vec::new();
    for name in &targets.names {
        jobs.push(Job::new(name, targets.run(name, each)?));
    }
    let mut tally = Tally::default();
    for (name, done) in run::all(jobs)? {
        if !done.success {
            println!("{}", done.output);
        }
        let inputs = inputs(&done.output);
        let success = done.success && inputs > 0;
        tally.check(success, format_args!("fuzz target {name}: {inputs} inputs in {each} s"));
    }
    Ok(tally)
}

/// Builds all targets with a profile of `fuzz/Cargo.toml`.
pub(crate) fn build(profile: &str) -> Result<Targets, String> {
    let version = run::quietly(run::command("rustc").arg("-vV"))?.output;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let folder = folder();
    let mut cargo = run::cargo();
    cargo.args(["build", "--profile", profile, "--manifest-path", "fuzz/Cargo.toml"]);
    cargo.args(["--package", "hyperslab-fuzz"]);
    // With `--target`, the flags do not apply to build scripts.
    let compares = (profile != SMOKE_PROFILE).then_some(COMPARES);
    let flags: Vec<&str> = FLAGS.iter().copied().chain(compares).collect();
    cargo.args(["--bins", "--target", host, "--target-dir"]).arg(&folder).env("RUSTFLAGS", flags.join(" "));
    if !run::shown(&mut cargo)?.success {
        return Err("the fuzz targets do not build".to_owned());
    }
    Ok(Targets { programs: folder.join(host).join(profile), names: names()? })
}

impl Targets {
    /// The share of each target of this number of seconds; at least one second.
    pub(crate) fn share(&self, seconds: u64) -> u64 {
        (seconds / u64::try_from(self.names.len()).unwrap_or(1).max(1)).max(1)
    }

    /// The command that runs one target for this number of seconds. It starts with the corpus of the target, its
    /// regressions, and the golden structures, small files or stores.
    pub(crate) fn run(&self, name: &str, seconds: u64) -> Result<Command, String> {
        let root = workspace::root();
        let (own, artifacts) = (folder().join("corpus").join(name), folder().join("artifacts").join(name));
        for made in [&own, &artifacts] {
            fs::create_dir_all(made).map_err(|error| format!("{}: {error}", made.display()))?;
        }
        let seeds = [
            own,
            root.join("fuzz").join("regressions").join(name),
            match name {
                "check" | "open_and_read_all" => root.join("fuzz").join("seeds"),
                "netcdf3" => root.join("fuzz").join("classic"),
                "ndl" => root.join("crates/ndl/tests/golden"),
                zarr if zarr.starts_with("zarr_") => root.join("fuzz").join("stores").join(zarr),
                _ => golden(&folder())?,
            },
        ];
        let mut command = run::command(self.programs.join(format!("{name}{EXE_SUFFIX}")));
        command.args(seeds.iter().filter(|dir| dir.is_dir()));
        command.arg(format!("-max_total_time={seconds}"));
        command.arg(format!("-artifact_prefix={}/", artifacts.display()));
        command.args(["-seed=1", "-print_final_stats=1", "-rss_limit_mb=1024", "-timeout=10"]);
        Ok(command)
    }
}

/// The number of inputs of a run, by its final statistics.
fn inputs(output: &str) -> u64 {
    let line = output.lines().rev().find(|line| line.contains("stat::number_of_executed_units"));
    line.and_then(|line| line.split_whitespace().last()?.parse().ok()).unwrap_or(0)
}

/// The names of all targets.
fn names() -> Result<Vec<String>, String> {
    let dir = workspace::root().join("fuzz").join("fuzz_targets");
    let entries = fs::read_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.path().file_stem()?.to_str().map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}

fn folder() -> PathBuf {
    workspace::target().join("fuzz")
}

/// A folder with the golden structures as bytes, decoded from hexadecimal text.
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
        let bytes = bytes(&text).ok_or_else(|| format!("{} is not hexadecimal text", path.display()))?;
        fs::write(into.join(name), bytes).map_err(|error| io(&into, error))?;
    }
    Ok(into)
}

/// Reads pairs of hexadecimal digits. White space, and comments from `#` to the end of a line, are skipped.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_statistics_counts_no_inputs() {
        assert_eq!(inputs("stat::number_of_executed_units: 812\nstat::peak_rss_mb: 30\n"), 812);
        assert_eq!(inputs("killed"), 0);
    }

    #[test]
    fn decodes_golden_texts() {
        assert_eq!(bytes("01 fF # not 02\n7e\n"), Some(vec![1, 0xff, 0x7e]));
        assert_eq!(bytes("012"), None);
        assert_eq!(bytes("0x"), None);
    }
}
