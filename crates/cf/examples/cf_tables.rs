//! Makes the embedded tables of the crate from the XML files that CF publishes. `cargo xtask cf-tables` runs it:
//!
//! ```sh
//! cf_tables FOLDER FILE…
//! ```

use hyperslab_cf::tables::published;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut paths = env::args_os().skip(1).map(PathBuf::from);
    let Some(folder) = paths.next() else {
        eprintln!("error: no folder, expected that of the tables and the files to make them from");
        return ExitCode::FAILURE;
    };
    for path in paths {
        match make(&folder, &path) {
            Ok(made) => println!("{made}"),
            Err(error) => {
                eprintln!("error: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Makes the table of one file.
fn make(folder: &Path, path: &Path) -> Result<String, String> {
    let xml = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let table = published::table(&xml).map_err(|error| error.in_file(path.display()).to_string())?;
    let to = folder.join(table.file);
    fs::write(&to, table.text).map_err(|error| format!("{}: {error}", to.display()))?;
    Ok(format!("{}: {}", to.display(), table.contents))
}
