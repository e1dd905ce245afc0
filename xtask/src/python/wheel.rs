//! `cargo xtask wheel`: the wheel and the source package, in `target/wheels`, which are then installed and tried.

use super::package;
use crate::missing::Missing;
use crate::tally::Tally;
use crate::venv::Venv;
use crate::{run, workspace};
use std::env::{self, consts::EXE_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tools that make wheels: maturin, and the linker for systems older than this one.
static VENV: Venv = Venv::of_file("maturin", "python/wheel.txt", include_str!("../../python/wheel.txt"));

/// The maximum size of a wheel in bytes.
const LARGEST: u64 = 5 << 20;

/// Interpreters without a global lock for which wheels are made, where they are installed.
const FREE_THREADED: &[&str] = &["python3.14t", "python3.15t"];

/// The code that runs after an installation: it reads an example with the package alone.
const TRIED: &str = "import hyperslab, sys; print(hyperslab.open(sys.argv[1]), hyperslab.__version__)";

/// Makes a wheel and a source package, and installs each into its own environment.
pub(crate) fn main() -> Result<(), String> {
    let python = VENV.python().map_err(Missing::into_reason)?;
    let folder = folder();
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut tally = Tally::default();
    let mut commands = vec![wheel(&python, &folder)];
    // Interpreters without a global lock need wheels of their own.
    for interpreter in FREE_THREADED.iter().filter(|name| workspace::on_path(name)) {
        let mut own = wheel(&python, &folder);
        own.args(["--interpreter", interpreter]);
        commands.push(own);
    }
    commands.push(maturin(&python, "sdist", &folder));
    for mut command in commands {
        let done = run::shown(&mut command)?;
        if !done.success {
            return Err(format!("maturin failed: {}", done.last_line()));
        }
    }
    for file in made(&folder)? {
        let size = fs::metadata(&file).map_or(0, |metadata| metadata.len());
        let is_wheel = file.extension().is_some_and(|extension| extension == "whl");
        let name = file.file_name().unwrap_or_default().display().to_string();
        if is_wheel {
            tally.check(size <= LARGEST, format_args!("{name} has at most {LARGEST} bytes, here {size}"));
        }
        // Wheels for interpreters without a global lock are not for this one.
        if !is_wheel || name.contains("-abi3-") {
            tally.check(installs(&python, &file)?, format_args!("{name} is installed and reads an example"));
        }
    }
    println!("\n{tally}");
    if tally.failed == 0 { Ok(()) } else { Err("what would be published is not sound".to_owned()) }
}

/// The wheel for most interpreters, if it has been made.
pub(super) fn usual() -> Option<PathBuf> {
    let files = made(&folder()).ok()?;
    files.into_iter().find(|file| file.display().to_string().contains("-abi3-"))
}

/// Makes a wheel, with the profile that `pyproject.toml` names.
fn wheel(python: &Path, folder: &Path) -> Command {
    let mut build = maturin(python, "build", folder);
    build.arg("--locked");
    if cfg!(target_os = "linux") {
        // This linker uses the symbols of an old C library, so that the wheel runs on every Linux since 2014.
        build.args(["--zig", "--compatibility", "manylinux2014"]);
    }
    build
}

/// A command of maturin that writes to a folder.
fn maturin(python: &Path, verb: &str, folder: &Path) -> Command {
    let mut command = run::command(python);
    // maturin asks the first Python in `PATH` for the linker.
    let own = python.parent().map(Path::to_path_buf);
    let others = env::var_os("PATH").unwrap_or_default();
    if let Ok(path) = env::join_paths(own.into_iter().chain(env::split_paths(&others))) {
        command.env("PATH", path);
    }
    command.args(["-m", "maturin", verb, "--manifest-path"]).arg(package().join("Cargo.toml"));
    command.arg("--out").arg(folder);
    command
}

/// The folder for wheels. The environment that makes them is elsewhere, because this folder is emptied.
fn folder() -> PathBuf {
    workspace::target().join("wheels")
}

fn made(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

/// Whether a package can be installed into a new environment and read an example there.
fn installs(python: &Path, file: &Path) -> Result<bool, String> {
    let venv = workspace::target().join("python").join("tried");
    let made = run::quietly(run::command(python).args(["-m", "venv", "--clear"]).arg(&venv))?;
    if !made.success {
        return Err(format!("no virtual environment: {}", made.last_line()));
    }
    let bin = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let own = bin.join(format!("python{EXE_SUFFIX}"));
    let pip = ["-m", "pip", "install", "--disable-pip-version-check", "--quiet"];
    if !run::shown(run::command(&own).args(pip).arg(file))?.success {
        return Ok(false);
    }
    let ocean = workspace::root().join("examples").join("ocean.nc");
    Ok(run::shown(run::command(&own).args(["-c", TRIED]).arg(ocean))?.success)
}
