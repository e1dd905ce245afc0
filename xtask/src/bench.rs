//! `cargo xtask bench`: speed and memory compared with other tools in one run.

pub(crate) mod compare;
mod convert;
mod hdf5;
mod netcdf;
mod read;
mod zarr;

use crate::oracles::{CF_CHECKERS, Peers, TILEDB_CF};
use crate::{oracles, run, workspace};
use compare::{Comparison, Options};
use std::path::{Path, PathBuf};

struct Table {
    name: &'static str,
    made_by: MadeBy,
}

enum MadeBy {
    /// A script of `xtask/oracles` that measures the command.
    Script(&'static str),
    /// A script that also gets a Python with packages of its own, if they can be installed.
    WithPeers(&'static str, &'static Peers),
    /// A script of `xtask/python` that measures the Python package.
    Package(&'static str),
    /// Programs in `benches/`.
    Sides(&'static Comparison),
}

const TABLES: &[Table] = &[
    Table { name: "concat", made_by: MadeBy::Script("bench_concat.py") },
    Table { name: "conventions", made_by: MadeBy::WithPeers("bench_conventions.py", &CF_CHECKERS) },
    Table { name: "convert", made_by: MadeBy::Sides(&convert::COMPARISON) },
    Table { name: "create", made_by: MadeBy::Script("bench_create.py") },
    Table { name: "dataspaces", made_by: MadeBy::WithPeers("bench_dataspaces.py", &TILEDB_CF) },
    Table { name: "describe", made_by: MadeBy::Script("bench_describe.py") },
    Table { name: "diff", made_by: MadeBy::Script("bench_diff.py") },
    Table { name: "hdf5", made_by: MadeBy::Sides(&hdf5::COMPARISON) },
    Table { name: "many", made_by: MadeBy::Script("bench_many.py") },
    Table { name: "ndl", made_by: MadeBy::Script("bench_ndl.py") },
    Table { name: "netcdf", made_by: MadeBy::Sides(&netcdf::COMPARISON) },
    Table { name: "python", made_by: MadeBy::Package("bench_python.py") },
    Table { name: "read", made_by: MadeBy::Sides(&read::COMPARISON) },
    Table { name: "tables", made_by: MadeBy::Script("bench_tables.py") },
    Table { name: "tiledb", made_by: MadeBy::Script("bench_tiledb.py") },
    Table { name: "tiledb-written", made_by: MadeBy::Script("bench_tiledb_written.py") },
    Table { name: "zarr", made_by: MadeBy::Sides(&zarr::COMPARISON) },
];

/// Makes all tables, or those named. Options are for the tables with programs.
pub(crate) fn main(args: &[&str]) -> Result<(), String> {
    let options = args.iter().position(|arg| arg.starts_with("--")).unwrap_or(args.len());
    let (names, options) = args.split_at(options);
    if let Some(unknown) = names.iter().find(|name| !TABLES.iter().any(|table| table.name == **name)) {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        return Err(format!("unknown table {unknown}, expected one of {}", names.join(", ")));
    }
    let chosen = || TABLES.iter().filter(|table| names.is_empty() || names.contains(&table.name));
    if !options.is_empty() && !chosen().all(|table| matches!(table.made_by, MadeBy::Sides(_))) {
        return Err("options are only for the tables convert, hdf5, netcdf, read and zarr".to_owned());
    }
    let options = Options::parse(options)?;
    oracles::tools().map_err(oracles::Missing::into_reason)?;
    let python = oracles::python().map_err(oracles::Missing::into_reason)?;
    for table in chosen() {
        match table.made_by {
            MadeBy::Script(script) => measure_command(table.name, script, &python, None)?,
            MadeBy::WithPeers(script, peers) => measure_command(table.name, script, &python, Some(peers))?,
            MadeBy::Package(script) => crate::python::measure(script, &data()?, &status(table.name))?,
            MadeBy::Sides(comparison) if comparison.command => {
                build_command()?;
                compare::main(comparison, &options, &python)?;
            }
            MadeBy::Sides(comparison) => compare::main(comparison, &options, &python)?,
        }
    }
    Ok(())
}

fn measure_command(table: &str, script: &str, python: &Path, peers: Option<&Peers>) -> Result<(), String> {
    build_command()?;
    let data = data()?;
    let mut script = oracles::script(python, script);
    script.arg(workspace::released()).arg(&data).arg(status(table));
    match peers.map(Peers::python) {
        Some(Ok(peers)) => _ = script.arg(peers),
        Some(Err(missing)) => println!("without its peers: {}", missing.into_reason()),
        None => {}
    }
    if run::shown(&mut script)?.success { Ok(()) } else { Err(format!("table {table} was not finished")) }
}

/// The folder of the files that are measured.
fn data() -> Result<PathBuf, String> {
    let data = workspace::target().join("bench");
    std::fs::create_dir_all(&data).map_err(|error| format!("{}: {error}", data.display()))?;
    Ok(data)
}

fn build_command() -> Result<(), String> {
    match run::shown(run::cargo().args(["build", "--release"]))?.success {
        true => Ok(()),
        false => Err("the optimised command does not build".to_owned()),
    }
}

/// The file of a table.
fn status(table: &str) -> PathBuf {
    workspace::root().join("docs/status").join(format!("bench-{table}.md"))
}
