//! `cargo xtask soak`: long trials of bad input, run through the library in `fuzz/trials`.

use crate::{fuzz, run, workspace};

const TRIALS: &[&str] = &["truncation", "mutation", "fuzz"];

/// Minutes that each fuzz target runs.
const FUZZ_MINUTES: u32 = 5;

/// Runs all trials, or those named.
pub(crate) fn main(args: &[&str]) -> Result<(), String> {
    if let Some(unknown) = args.iter().find(|name| !TRIALS.contains(name)) {
        return Err(format!("no trial {unknown}; there are {}", TRIALS.join(", ")));
    }
    let wanted = |name: &str| args.is_empty() || args.contains(&name);
    let mut failed = Vec::new();
    for &name in TRIALS.iter().filter(|name| wanted(name)) {
        println!("\n== {name}");
        let good = if name == "fuzz" { long_fuzz()? } else { trial(name)? };
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

fn long_fuzz() -> Result<bool, String> {
    let cargo_fuzz = fuzz::cargo_fuzz()?;
    let mut good = true;
    for name in fuzz::targets()? {
        println!("{name}: {FUZZ_MINUTES} minutes");
        let limit = format!("-max_total_time={}", FUZZ_MINUTES * 60);
        let done = run::quietly(&mut fuzz::target(&cargo_fuzz, &name, &limit)?)?;
        println!("{}", if done.success { done.last_line() } else { &done.output });
        good &= done.success;
    }
    Ok(good)
}
