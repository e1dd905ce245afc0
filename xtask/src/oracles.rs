//! The other readers that tests compare with: Debian's HDF5 and NetCDF tools, and Python packages in an
//! environment of our own.

use crate::bench::compare as bench;
use crate::run::{self, Finished};
use crate::tally::Tally;
use crate::workspace;
use std::fs;
use std::path::PathBuf;

const REQUIREMENTS: &str = include_str!("../oracles/requirements.txt");
const PACKAGES: &[&str] = &["hdf5-tools", "netcdf-bin"];
const TOOLS: &[&str] = &["h5dump", "ncdump"];

/// Why an oracle cannot be used.
#[derive(Debug)]
pub(crate) struct Missing {
    reason: String,
    /// The registry did not answer, which is nobody's fault here.
    unreachable: bool,
}

impl Missing {
    pub(crate) fn into_reason(self) -> String {
        self.reason
    }

    /// A check that is left out for want of an oracle: in CI that fails unless the registry was away.
    pub(crate) fn tally(self) -> Tally {
        if workspace::is_ci() && !self.unreachable {
            println!("FAILED {}", self.reason);
            Tally::of(false)
        } else {
            Tally::skip(self.reason)
        }
    }
}

/// Installs what is missing and says what is there.
pub(crate) fn main() -> Result<(), String> {
    let tools = tools().map(|()| println!("{} are installed", TOOLS.join(" and ")));
    let python = python().map(|python| println!("Python packages are installed: {}", python.display()));
    match tools.and(python) {
        Ok(()) => Ok(()),
        Err(missing) => Err(missing.into_reason()),
    }
}

/// Debian's command line tools, installed on first need where we may.
pub(crate) fn tools() -> Result<(), Missing> {
    let missing = || TOOLS.iter().any(|tool| !workspace::on_path(tool));
    if !missing() {
        return Ok(());
    }
    let line = format!("apt-get install -y {}", PACKAGES.join(" "));
    let by_hand = |reason: &str, unreachable| Missing {
        reason: format!("{} are not installed, {reason}: {line}", TOOLS.join(" and ")),
        unreachable,
    };
    if !workspace::on_path("apt-get") {
        return Err(by_hand("and there is no apt-get; on Debian", false));
    }
    if !is_root() {
        return Err(by_hand("run as root", false));
    }
    let apt = |args: &[&str]| {
        run::quietly(run::command("apt-get").args(args).env("DEBIAN_FRONTEND", "noninteractive"))
            .map_err(|error| by_hand(&error, false))
    };
    apt(&["update"])?;
    let install = [&["install", "-y", "--no-install-recommends"], PACKAGES].concat();
    let done = apt(&install)?;
    if done.success && !missing() {
        return Ok(());
    }
    Err(by_hand(done.last_line(), is_unreachable(&done)))
}

/// The Python that has the packages of `xtask/oracles/requirements.txt`.
pub(crate) fn python() -> Result<PathBuf, Missing> {
    let venv = workspace::target().join("oracles").join("venv");
    let bin = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = bin.join(format!("python{}", std::env::consts::EXE_SUFFIX));
    let stamp = venv.join("installed.txt");
    if python.is_file() && fs::read_to_string(&stamp).is_ok_and(|text| text == REQUIREMENTS) {
        return Ok(python);
    }
    let missing = |reason: String| Missing { reason, unreachable: false };
    let made =
        run::quietly(run::command("python3").args(["-m", "venv", "--clear"]).arg(&venv)).map_err(missing)?;
    if !made.success {
        return Err(missing(format!("python3 makes no virtual environment: {}", made.last_line())));
    }
    println!("installing the Python oracles into {}", venv.display());
    let pip = run::quietly(
        run::command(&python)
            .args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--retries", "2"])
            .args(["--timeout", "20", "--only-binary", ":all:", "--requirement"])
            .arg(workspace::root().join("xtask/oracles/requirements.txt")),
    )
    .map_err(missing)?;
    if !pip.success {
        let reason = format!("pip installs no oracles: {}", pip.last_line());
        return Err(Missing { reason, unreachable: is_unreachable(&pip) });
    }
    fs::write(&stamp, REQUIREMENTS).map_err(|error| missing(format!("{}: {error}", stamp.display())))?;
    Ok(python)
}

/// A command that runs one of the scripts beside the requirements.
pub(crate) fn script(python: &PathBuf, name: &str) -> std::process::Command {
    let mut command = run::command(python);
    command
        .arg(workspace::root().join("xtask").join("oracles").join(name))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Has other readers of Zarr read arrays of every kind that we write.
pub(crate) fn zarr_written(python: &PathBuf) -> Result<Tally, String> {
    let directory = workspace::target().join("zarr-matrix");
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    }
    let mut matrix = run::cargo();
    matrix.args(["run", "--release", "--package", "hyperslab-zarr", "--example", "matrix", "--"]);
    let made = run::quietly(matrix.arg(&directory))?;
    if !made.success {
        return Err(format!("no stores of Zarr: {}", made.last_line()));
    }
    let mut compare = script(python, "zarr_written.py");
    compare.arg(&directory);
    match zarrs()? {
        Ok(program) => drop(compare.arg(program)),
        Err(reason) => println!("{reason}"),
    }
    let done = run::shown(&mut compare)?;
    Ok(Tally::of_output(&done.output, done.success))
}

/// The program that has zarrs read a store, or why there is none.
fn zarrs() -> Result<Result<PathBuf, String>, String> {
    let name = "zarrs-elements";
    let (mut build, benches) = bench::build();
    let built = run::quietly(build.args(["--package", name]))?;
    Ok(match built.success {
        true => Ok(benches.join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))),
        false => Err(format!("skipped: {name} does not build: {}", built.last_line())),
    })
}

/// Whether a package client failed because nothing answered, rather than by its answer.
fn is_unreachable(finished: &Finished) -> bool {
    const SIGNS: &[&str] = &[
        "Could not resolve",
        "Temporary failure",
        "Failed to establish",
        "Connection refused",
        "Connection timed out",
        "Could not connect",
        "Max retries exceeded",
        "Network is unreachable",
        "No route to host",
        "ProxyError",
        "Read timed out",
        "Cannot connect to proxy",
    ];
    SIGNS.iter().any(|sign| finished.output.contains(sign))
}

fn is_root() -> bool {
    run::quietly(run::command("id").arg("-u")).is_ok_and(|id| id.output.trim() == "0")
}
