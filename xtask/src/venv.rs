//! Virtual environments of Python below `target/`, with packages of pinned versions.

use crate::missing::{Missing, is_unreachable};
use crate::{run, workspace};
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// An environment with the packages of a file, in `target/NAME/venv`.
pub(crate) struct Venv {
    name: &'static str,
    /// The file below `xtask`, and its content.
    file: &'static str,
    requirements: &'static str,
    installed: OnceLock<Result<PathBuf, Missing>>,
}

impl Venv {
    /// An environment that is created when it is first requested.
    pub(crate) const fn of_file(name: &'static str, file: &'static str, requirements: &'static str) -> Venv {
        Venv { name, file, requirements, installed: OnceLock::new() }
    }

    /// Its interpreter. Installs the packages if the list has changed.
    pub(crate) fn python(&self) -> Result<PathBuf, Missing> {
        self.installed.get_or_init(|| self.install()).clone()
    }

    fn install(&self) -> Result<PathBuf, Missing> {
        let (name, file) = (self.name, self.file);
        let venv = workspace::target().join(name).join("venv");
        let bin = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
        let python = bin.join(format!("python{}", std::env::consts::EXE_SUFFIX));
        let stamp = venv.join("installed.txt");
        if python.is_file() && fs::read_to_string(&stamp).is_ok_and(|text| text == self.requirements) {
            return Ok(python);
        }
        let made = run::quietly(run::command("python3").args(["-m", "venv", "--clear"]).arg(&venv));
        let made = made.map_err(Missing::of)?;
        if !made.success {
            let reason = format!("python3 cannot create a virtual environment: {}", made.last_line());
            return Err(Missing::of(reason));
        }
        println!("installing the Python packages of xtask/{file} into {}", venv.display());
        let mut pip = run::command(&python);
        pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--retries", "2"]);
        pip.args(["--timeout", "20", "--only-binary", ":all:", "--requirement"]);
        pip.arg(workspace::root().join("xtask").join(file));
        let pip = run::quietly(&mut pip).map_err(Missing::of)?;
        if !pip.success {
            let reason = format!("pip cannot install the packages of xtask/{file}: {}", pip.last_line());
            return Err(Missing { reason, unreachable: is_unreachable(&pip) });
        }
        fs::write(&stamp, self.requirements)
            .map_err(|error| Missing::of(format!("{}: {error}", stamp.display())))?;
        Ok(python)
    }
}
