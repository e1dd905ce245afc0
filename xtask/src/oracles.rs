//! The other readers that tests compare with: the HDF5 and NetCDF tools of Debian, and Python packages in a virtual
//! environment below `target/`.

pub(crate) mod compare;

use crate::debian::{self, Program};
use crate::missing::is_unreachable;
pub(crate) use crate::missing::{Missing, UNREACHABLE};
use crate::tools::{CARGO_DEB, CARGO_DENY, MDBOOK, Tool};
use crate::{run, workspace};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;

/// The Python packages with their versions.
const REQUIREMENTS: &str = include_str!("../oracles/requirements.txt");
/// The tools of Debian that are used.
const TOOLS: &[Program] =
    &[Program { name: "h5dump", package: "hdf5-tools" }, Program { name: "ncdump", package: "netcdf-bin" }];

/// `cargo xtask oracles`: installs what is missing and prints what is installed.
pub(crate) fn main() -> Result<(), String> {
    let tools = tools().map(|()| println!("the tools of HDF5 and NetCDF are installed"));
    let python = python().map(|python| println!("Python packages are installed: {}", python.display()));
    let mut all = tools.and(python).map_err(Missing::into_reason);
    for tool in [CARGO_DENY, CARGO_DEB, MDBOOK] {
        let Tool { name, .. } = tool;
        all = all.and(tool.installed().map(|path| println!("{name} is installed: {}", path.display())));
    }
    all
}

/// Installs the other readers while other work goes on. Who needs them first waits for the rest.
pub(crate) fn install_ahead() {
    thread::spawn(|| {
        // What is missing is reported by those who need it.
        let _ = (tools(), python());
    });
}

/// The command line tools of Debian.
pub(crate) fn tools() -> Result<(), Missing> {
    static INSTALLED: OnceLock<Result<(), Missing>> = OnceLock::new();
    INSTALLED.get_or_init(|| debian::installed(TOOLS)).clone()
}

/// The Python interpreter with the packages of `xtask/oracles/requirements.txt`. Installs them if the file has
/// changed.
pub(crate) fn python() -> Result<PathBuf, Missing> {
    static INSTALLED: OnceLock<Result<PathBuf, Missing>> = OnceLock::new();
    INSTALLED.get_or_init(install_python).clone()
}

fn install_python() -> Result<PathBuf, Missing> {
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
        return Err(missing(format!("python3 cannot create a virtual environment: {}", made.last_line())));
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
        let reason = format!("pip cannot install the oracles: {}", pip.last_line());
        return Err(Missing { reason, unreachable: is_unreachable(&pip) });
    }
    fs::write(&stamp, REQUIREMENTS).map_err(|error| missing(format!("{}: {error}", stamp.display())))?;
    Ok(python)
}

/// A command that runs a script of `xtask/oracles`.
pub(crate) fn script(python: &Path, name: &str) -> std::process::Command {
    let mut command = run::command(python);
    command
        .arg(workspace::root().join("xtask").join("oracles").join(name))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}
