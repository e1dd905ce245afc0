//! The other readers that tests compare with: the HDF5 and NetCDF tools of Debian, and Python packages in a virtual
//! environment below `target/`.

pub(crate) mod compare;

use crate::run::{self, Finished};
use crate::tally::Tally;
use crate::tools::CARGO_DENY;
use crate::workspace;
use std::fs;
use std::path::{Path, PathBuf};

/// The Python packages with their versions.
const REQUIREMENTS: &str = include_str!("../oracles/requirements.txt");
/// The Debian packages; `TOOLS` are the programs of them that are used.
const PACKAGES: &[&str] = &["hdf5-tools", "netcdf-bin"];
const TOOLS: &[&str] = &["h5dump", "ncdump"];

/// The reason why an oracle cannot be used.
#[derive(Debug)]
pub(crate) struct Missing {
    reason: String,
    /// Whether the registry did not answer.
    unreachable: bool,
}

/// The start of the skip message if a registry did not answer.
pub(crate) const UNREACHABLE: &str = "a registry does not answer";

impl Missing {
    pub(crate) fn into_reason(self) -> String {
        self.reason
    }

    /// The checks of a missing oracle, as one skip.
    pub(crate) fn tally(self) -> Tally {
        match self.unreachable {
            true => Tally::skip(format!("{UNREACHABLE}: {}", self.reason)),
            false => Tally::skip(self.reason),
        }
    }
}

/// `cargo xtask oracles`: installs what is missing and prints what is installed.
pub(crate) fn main() -> Result<(), String> {
    let tools = tools().map(|()| println!("{} are installed", TOOLS.join(" and ")));
    let python = python().map(|python| println!("Python packages are installed: {}", python.display()));
    let deny =
        CARGO_DENY.installed().map(|path| println!("{} is installed: {}", CARGO_DENY.name, path.display()));
    tools.and(python).map_err(Missing::into_reason).and(deny)
}

/// The command line tools of Debian. Installs them if they are missing and the user is root.
pub(crate) fn tools() -> Result<(), Missing> {
    let missing = || TOOLS.iter().any(|tool| !workspace::on_path(tool));
    if !missing() {
        return Ok(());
    }
    let line = format!("apt-get install -y {}", PACKAGES.join(" "));
    let by_hand = |reason: &str, unreachable| Missing {
        reason: format!("{} are not installed; {reason}: {line}", TOOLS.join(" and ")),
        unreachable,
    };
    if !workspace::on_path("apt-get") {
        return Err(by_hand("there is no apt-get here; on Debian", false));
    }
    if !is_root() {
        return Err(by_hand("as root, run", false));
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

/// The Python interpreter with the packages of `xtask/oracles/requirements.txt`. Installs them if the file has
/// changed.
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

/// Whether a package manager failed because its registry did not answer.
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
