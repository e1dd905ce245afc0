//! The other readers that tests compare with: the HDF5 and NetCDF tools of Debian, and Python packages in a virtual
//! environment below `target/`.

pub(crate) mod compare;

use crate::debian::{self, Program};
pub(crate) use crate::missing::{Missing, UNREACHABLE};
use crate::tools::{CARGO_DEB, CARGO_DENY, MDBOOK, Tool};
use crate::venv::Venv;
use crate::{python, run, workspace};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;

/// The Python packages with their versions.
static VENV: Venv =
    Venv::of_file("oracles", "oracles/requirements.txt", include_str!("../oracles/requirements.txt"));
/// The tools of Debian that are used.
const TOOLS: &[Program] =
    &[Program { name: "h5dump", package: "hdf5-tools" }, Program { name: "ncdump", package: "netcdf-bin" }];

/// `cargo xtask oracles`: installs what is missing and prints what is installed.
pub(crate) fn main() -> Result<(), String> {
    let tools = tools().map(|()| println!("the tools of HDF5 and NetCDF are installed"));
    let python = python().map(|python| println!("Python packages are installed: {}", python.display()));
    let package = python::interpreter();
    let package = package.map(|python| println!("the package can be tested: {}", python.display()));
    let mut all = tools.and(python).and(package).map_err(Missing::into_reason);
    for tool in [CARGO_DENY, CARGO_DEB, MDBOOK] {
        let Tool { name, .. } = tool;
        all = all.and(tool.installed().map(|path| println!("{name} is installed: {}", path.display())));
    }
    all
}

/// Installs the other readers while other work goes on. The first check that needs them waits until this is done.
pub(crate) fn install_ahead() {
    thread::spawn(|| {
        // Missing readers are reported by the checks that need them.
        let _ = (tools(), python(), python::interpreter());
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
    VENV.python()
}

/// As [`python()`], including the [`tools()`] that its scripts start.
pub(crate) fn python_and_tools() -> Result<PathBuf, Missing> {
    tools().and_then(|()| python())
}

/// Packages that only `cargo xtask bench` needs, in versions that conflict with the others, and their Debian
/// dependencies.
pub(crate) struct Peers {
    venv: Venv,
    tools: &'static [Program],
}

/// The checkers of the CF conventions.
pub(crate) static CF_CHECKERS: Peers = Peers {
    venv: Venv::of_file("cf-checkers", "oracles/cf_checkers.txt", include_str!("../oracles/cf_checkers.txt")),
    // The UDUNITS-2 library, which cfchecks loads, comes with it.
    tools: &[Program { name: "udunits2", package: "udunits-bin" }],
};
/// tiledb-cf, which needs an older tiledb-py.
pub(crate) static TILEDB_CF: Peers = Peers {
    venv: Venv::of_file("tiledb-cf", "oracles/tiledb_cf.txt", include_str!("../oracles/tiledb_cf.txt")),
    tools: &[],
};

impl Peers {
    /// The Python interpreter that has these packages.
    pub(crate) fn python(&self) -> Result<PathBuf, Missing> {
        debian::installed(self.tools)?;
        self.venv.python()
    }
}

/// A command that runs a script of `xtask/oracles`.
pub(crate) fn script(python: &Path, name: &str) -> std::process::Command {
    let mut command = run::command(python);
    command
        .arg(workspace::root().join("xtask").join("oracles").join(name))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}
