//! The Python package: its tests, its types, and (`wheel.rs`) its published form.

mod site;
pub(crate) mod wheel;

use crate::missing::Missing;
use crate::tally::Tally;
use crate::venv::Venv;
use crate::{bench, corpus, programs, run, workspace};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages that tests need, with their versions.
static VENV: Venv =
    Venv::of_file("python", "python/requirements.txt", include_str!("../python/requirements.txt"));

/// The interpreter with the packages of `xtask/python/requirements.txt`.
pub(crate) fn interpreter() -> Result<PathBuf, Missing> {
    VENV.python()
}

/// The stage `python`: the package is laid out as if it were installed, tested, and its types are checked.
pub(crate) fn stage() -> Result<Tally, String> {
    let python = match interpreter() {
        Ok(python) => python,
        Err(missing) => return Ok(missing.tally()),
    };
    let site = site::lay_out(&programs::extension()?)?;
    let mut tally = types(&python, &site)?;
    tally += tests(&python, &site)?;
    Ok(tally)
}

/// Writes a benchmark table: a script receives a folder for files, the page to write, a program that reads with the
/// engine alone, and the wheel if `cargo xtask wheel` has built one.
pub(crate) fn measure(script: &str, data: &Path, page: &Path) -> Result<(), String> {
    let python = interpreter().map_err(Missing::into_reason)?;
    let engine = bench::compare::program("bench-read")?;
    let site = site::lay_out(&programs::released_extension()?)?;
    let mut command = in_site(&python, &site);
    command.arg(workspace::root().join("xtask").join("python").join(script)).arg(data).arg(page).arg(engine);
    command.args(wheel::usual());
    if run::shown(&mut command)?.success { Ok(()) } else { Err(format!("{script} was not finished")) }
}

/// The tests of the package with all of xarray's own, and with more runs than in the stage.
pub(crate) fn all_tests() -> Result<Tally, String> {
    let python = interpreter().map_err(Missing::into_reason)?;
    let site = site::lay_out(&programs::extension()?)?;
    let mut pytest = pytest(&python, &site)?;
    pytest.env("HYPERSLAB_UPSTREAM_STEP", "1").env("HYPERSLAB_MANY_RUNS", MANY_RUNS.to_string());
    let done = run::shown(&mut pytest)?;
    Ok(Tally::of_output(&done.output, done.success))
}

/// The number of runs that open 300 files at the same time; the stage has a few.
const MANY_RUNS: u32 = 100;

/// The tests of the package.
fn tests(python: &Path, site: &Path) -> Result<Tally, String> {
    let mut pytest = pytest(python, site)?;
    // A tenth of xarray's own tests: all of them take ten minutes, and `cargo xtask soak python` runs them.
    if env::var_os("HYPERSLAB_UPSTREAM_STEP").is_none() {
        pytest.env("HYPERSLAB_UPSTREAM_STEP", "10");
    }
    let done = run::shown(&mut pytest)?;
    Ok(Tally::of_output(&done.output, done.success))
}

/// The command that runs the tests, some of which need the `hyperslab` command or the corpus.
fn pytest(python: &Path, site: &Path) -> Result<Command, String> {
    let mut pytest = in_site(python, site);
    // The test runner's own summary would be counted again.
    pytest.args(["-m", "pytest", "-qq", "-p", "no:cacheprovider", "-p", "counted", "--color=no"]);
    pytest.env("HYPERSLAB_COMMAND", programs::command()?);
    for (variable, root) in [
        ("HYPERSLAB_CORPUS_HDF5", corpus::unpacked(corpus::HDF5)?),
        ("HYPERSLAB_CORPUS_ZARR", corpus::unpacked(corpus::ZARR)?),
        ("HYPERSLAB_CORPUS_TILEDB", corpus::unpacked(corpus::TILEDB)?),
    ] {
        if let Some(root) = root {
            pytest.env(variable, root);
        }
    }
    Ok(pytest)
}

/// Type checks of the package's own files, and of the stubs against what they describe.
fn types(python: &Path, site: &Path) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let cache = workspace::target().join("python").join("mypy");
    let mut mypy = in_site(python, site);
    mypy.args(["-m", "mypy", "--cache-dir"]).arg(&cache);
    tally.check(run::shown(&mut mypy)?.success, "mypy finds no wrong type in the package");
    let mut pyright = in_site(python, site);
    pyright.args(["-m", "basedpyright", "--pythonpath"]).arg(python);
    tally.check(run::shown(&mut pyright)?.success, "pyright finds no wrong type in the package");
    let mut stubs = in_site(python, site);
    stubs.args(["-m", "mypy.stubtest", "hyperslab._hyperslab", "--mypy-config-file", "pyproject.toml"]);
    tally.check(run::shown(&mut stubs)?.success, "the stubs describe the compiled module");
    Ok(tally)
}

/// An interpreter that finds the package as if it were installed, in the folder of its sources.
fn in_site(python: &Path, site: &Path) -> Command {
    let mut command = run::command(python);
    let hypothesis = workspace::target().join("python").join("hypothesis");
    let plugins = workspace::root().join("xtask").join("python");
    let paths = env::join_paths([site, &plugins]).unwrap_or_else(|_| site.into());
    command.current_dir(package()).env("PYTHONPATH", paths).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("HYPOTHESIS_STORAGE_DIRECTORY", hypothesis);
    command
}

/// The folder of the package.
fn package() -> PathBuf {
    workspace::root().join("crates").join("python")
}
