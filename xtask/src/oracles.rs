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
    INSTALLED.get_or_init(|| install_python("venv", "requirements.txt", REQUIREMENTS)).clone()
}

/// Packages that `cargo xtask bench` alone needs, of versions that do not fit the others, and what they need of Debian.
pub(crate) struct Peers {
    name: &'static str,
    /// The name of the file of packages, and what it holds.
    file: &'static str,
    requirements: &'static str,
    tools: &'static [Program],
}

/// The checkers of the CF conventions.
pub(crate) const CF_CHECKERS: Peers = Peers {
    name: "cf-checkers",
    file: "cf_checkers.txt",
    requirements: include_str!("../oracles/cf_checkers.txt"),
    // It brings the library of UDUNITS-2, which cfchecks loads.
    tools: &[Program { name: "udunits2", package: "udunits-bin" }],
};
/// tiledb-cf, which needs an older tiledb-py.
pub(crate) const TILEDB_CF: Peers = Peers {
    name: "tiledb-cf",
    file: "tiledb_cf.txt",
    requirements: include_str!("../oracles/tiledb_cf.txt"),
    tools: &[],
};

impl Peers {
    /// The Python interpreter that has these packages.
    pub(crate) fn python(&self) -> Result<PathBuf, Missing> {
        debian::installed(self.tools)?;
        install_python(self.name, self.file, self.requirements)
    }
}

/// Makes a virtual environment below `target/oracles` with the packages of a file of `xtask/oracles`.
fn install_python(name: &str, file: &str, requirements: &str) -> Result<PathBuf, Missing> {
    let venv = workspace::target().join("oracles").join(name);
    let bin = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = bin.join(format!("python{}", std::env::consts::EXE_SUFFIX));
    let stamp = venv.join("installed.txt");
    if python.is_file() && fs::read_to_string(&stamp).is_ok_and(|text| text == requirements) {
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
            .arg(workspace::root().join("xtask/oracles").join(file)),
    )
    .map_err(missing)?;
    if !pip.success {
        let reason = format!("pip cannot install the oracles: {}", pip.last_line());
        return Err(Missing { reason, unreachable: is_unreachable(&pip) });
    }
    fs::write(&stamp, requirements).map_err(|error| missing(format!("{}: {error}", stamp.display())))?;
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
