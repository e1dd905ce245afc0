//! Cargo plugins that checks need, built below `target/tools`.

use crate::{run, workspace};
use std::env::consts::EXE_SUFFIX;
use std::path::PathBuf;

/// A program from crates.io.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Options of `cargo install`.
    options: &'static [&'static str],
}

pub(crate) const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2", options: &[] };
pub(crate) const CARGO_DEB: Tool = Tool { name: "cargo-deb", version: "3.8.0", options: &[] };
/// Without its server, which accounts for most of it.
pub(crate) const MDBOOK: Tool =
    Tool { name: "mdbook", version: "0.5.4", options: &["--no-default-features", "--features", "search"] };

impl Tool {
    /// The path of the program if it is installed, below `target/tools` or in `PATH`.
    pub(crate) fn found(&self) -> Option<PathBuf> {
        let own = self.path();
        match own.is_file() {
            true => Some(own),
            false => workspace::on_path(self.name).then(|| self.name.into()),
        }
    }

    /// The path of the program. Builds it if it is not installed.
    pub(crate) fn installed(&self) -> Result<PathBuf, String> {
        if let Some(program) = self.found() {
            return Ok(program);
        }
        let folder = folder();
        println!("installing {} {} into {}", self.name, self.version, folder.display());
        let mut install = run::cargo();
        install.args(["install", self.name, "--locked", "--quiet", "--version", self.version, "--root"]);
        install.arg(&folder).args(self.options);
        // It has its own target folder: in ours, cargo would mix its artifacts with ours.
        install.env("CARGO_TARGET_DIR", folder.join("build"));
        let done = run::shown(&mut install)?;
        match done.success {
            true => Ok(self.path()),
            false => Err(format!("{} cannot be installed: {}", self.name, done.last_line())),
        }
    }

    fn path(&self) -> PathBuf {
        folder().join("bin").join(format!("{}{EXE_SUFFIX}", self.name))
    }
}

fn folder() -> PathBuf {
    workspace::target().join("tools")
}
