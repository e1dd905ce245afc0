//! `cargo xtask bench`: speed and memory, side by side with other tools in one run.

mod read;

use crate::{oracles, run, workspace};
use std::path::PathBuf;

struct Table {
    name: &'static str,
    made_by: MadeBy,
}

enum MadeBy {
    /// A script of `xtask/oracles` that measures the command.
    Script(&'static str),
    /// [`read`].
    Read,
}

const TABLES: &[Table] = &[
    Table { name: "describe", made_by: MadeBy::Script("bench_describe.py") },
    Table { name: "ndl", made_by: MadeBy::Script("bench_ndl.py") },
    Table { name: "read", made_by: MadeBy::Read },
];

/// Makes all tables, or those named. Options are those of `read`.
pub(crate) fn main(args: &[&str]) -> Result<(), String> {
    let options = args.iter().position(|arg| arg.starts_with("--")).unwrap_or(args.len());
    let (names, options) = args.split_at(options);
    if let Some(unknown) = names.iter().find(|name| !TABLES.iter().any(|table| table.name == **name)) {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        return Err(format!("no table {unknown}; there are {}", names.join(", ")));
    }
    if !options.is_empty() && *names != ["read"] {
        return Err("options are for the table read alone".to_owned());
    }
    let options = read::Options::parse(options)?;
    oracles::tools().map_err(oracles::Missing::into_reason)?;
    let python = oracles::python().map_err(oracles::Missing::into_reason)?;
    for table in TABLES.iter().filter(|table| names.is_empty() || names.contains(&table.name)) {
        match table.made_by {
            MadeBy::Script(script) => measure_command(table.name, script, &python)?,
            MadeBy::Read => read::main(&options, &python)?,
        }
    }
    Ok(())
}

fn measure_command(table: &str, script: &str, python: &PathBuf) -> Result<(), String> {
    if !run::shown(run::cargo().args(["build", "--release"]))?.success {
        return Err("the optimised command does not build".to_owned());
    }
    let data = workspace::target().join("bench");
    std::fs::create_dir_all(&data).map_err(|error| format!("{}: {error}", data.display()))?;
    let mut script = oracles::script(python, script);
    if run::shown(script.arg(workspace::binary()).arg(&data).arg(status(table)))?.success {
        Ok(())
    } else {
        Err(format!("table {table} was not finished"))
    }
}

/// Where a table is written.
fn status(table: &str) -> PathBuf {
    workspace::root().join("docs/status").join(format!("bench-{table}.md"))
}
