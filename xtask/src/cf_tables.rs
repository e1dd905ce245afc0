//! `cargo xtask cf-tables FILE…`: regenerates the tables that `hyperslab-cf` embeds from the XML files that CF
//! publishes.
//!
//! The crate itself reads the files, in its example `cf_tables`, so that user-supplied and embedded tables are read by
//! the same code, and the tasks need no XML library.

use crate::{run, workspace};
use std::path::{self, PathBuf};

/// Writes the table of each file to the folder `data` of the crate.
pub(crate) fn main(files: &[&str]) -> Result<(), String> {
    if files.is_empty() {
        return Err("no file, expected cf-standard-name-table.xml, area-type-table.xml or \
                    standardized-region-list.xml of https://cfconventions.org"
            .to_owned());
    }
    // The example runs in the workspace, not in the caller's folder.
    let files: Vec<PathBuf> = files
        .iter()
        .map(|file| path::absolute(file).map_err(|error| format!("{file}: {error}")))
        .collect::<Result<_, _>>()?;
    let mut cargo = run::cargo();
    cargo.args(["run", "--quiet", "--package", "hyperslab-cf", "--example", "cf_tables", "--"]);
    cargo.arg(workspace::root().join("crates/cf/data")).args(files);
    match run::shown(&mut cargo)?.success {
        true => Ok(()),
        false => Err("not all tables were made".to_owned()),
    }
}
