//! `cargo xtask bench`: speed and memory, side by side with other tools in one run.

use crate::{oracles, run, workspace};

struct Table {
    name: &'static str,
    script: &'static str,
}

const TABLES: &[Table] =
    &[Table { name: "describe", script: "bench_describe.py" }, Table { name: "ndl", script: "bench_ndl.py" }];

/// Runs all tables, or those named.
pub(crate) fn main(args: &[&str]) -> Result<(), String> {
    if let Some(unknown) = args.iter().find(|name| !TABLES.iter().any(|table| table.name == **name)) {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        return Err(format!("no table {unknown}; there are {}", names.join(", ")));
    }
    if !run::shown(run::cargo().args(["build", "--release"]))?.success {
        return Err("the optimised command does not build".to_owned());
    }
    oracles::tools().map_err(oracles::Missing::into_reason)?;
    let python = oracles::python().map_err(oracles::Missing::into_reason)?;
    let data = workspace::target().join("bench");
    std::fs::create_dir_all(&data).map_err(|error| format!("{}: {error}", data.display()))?;
    for table in TABLES.iter().filter(|table| args.is_empty() || args.contains(&table.name)) {
        let status = workspace::root().join("docs/status").join(format!("bench-{}.md", table.name));
        let mut script = oracles::script(&python, table.script);
        if !run::shown(script.arg(workspace::binary()).arg(&data).arg(status))?.success {
            return Err(format!("table {} was not finished", table.name));
        }
    }
    Ok(())
}
