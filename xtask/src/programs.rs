//! The programs of the workspace that checks run: the command itself, and examples that make data for other readers.

use crate::{run, workspace};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX};
use std::path::PathBuf;
use std::sync::OnceLock;

/// The profile of everything that `cargo xtask test` builds and runs, described in `Cargo.toml`.
pub(crate) const PROFILE: &str = "gate";

/// The path of the `hyperslab` command, built from the current sources.
pub(crate) fn command() -> Result<PathBuf, String> {
    built(&format!("hyperslab{EXE_SUFFIX}"))
}

/// The path of an example program, built from the current sources.
pub(crate) fn example(name: &str) -> Result<PathBuf, String> {
    built(&format!("examples/{name}{EXE_SUFFIX}"))
}

/// Builds all programs once per run of this task, and returns the path of one.
fn built(program: &str) -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<(), String>> = OnceLock::new();
    BUILT.get_or_init(build).clone()?;
    Ok(workspace::target().join(PROFILE).join(program))
}

fn build() -> Result<(), String> {
    let mut cargo = run::cargo();
    // With examples among the targets, crates get the same features as in tests and are built only once.
    cargo.args(["build", "--profile", PROFILE, "--workspace", "--bins", "--examples"]);
    match run::shown(&mut cargo)?.success {
        true => Ok(()),
        false => Err("the programs of the workspace do not build".to_owned()),
    }
}

/// The library that Python loads, optimised as releases are.
pub(crate) fn released_extension() -> Result<PathBuf, String> {
    let mut cargo = run::cargo();
    cargo.args(["build", "--release", "--package", "hyperslab-python"]);
    cargo.env("PYO3_BUILD_EXTENSION_MODULE", "1");
    match run::shown(&mut cargo)?.success {
        true => Ok(workspace::target().join("release").join(format!("{DLL_PREFIX}_hyperslab{DLL_SUFFIX}"))),
        false => Err("the optimised library for Python does not build".to_owned()),
    }
}

/// The library that Python loads as `hyperslab._hyperslab`, built from the current sources.
pub(crate) fn extension() -> Result<PathBuf, String> {
    let mut cargo = run::cargo();
    // The whole workspace, so that crates have the same features as in the other stages.
    cargo.args(["build", "--profile", PROFILE, "--workspace", "--lib", "--examples"]);
    // As maturin does it: the interpreter that loads the module provides the functions of Python, so none are linked.
    cargo.env("PYO3_BUILD_EXTENSION_MODULE", "1");
    match run::shown(&mut cargo)?.success {
        true => Ok(workspace::target().join(PROFILE).join(format!("{DLL_PREFIX}_hyperslab{DLL_SUFFIX}"))),
        false => Err("the library for Python does not build".to_owned()),
    }
}
