//! Compares sides: programs that do the same job.
//!
//! Each side of a row is a process that does its job on request (`benches/`). Sides take turns; a figure is the
//! median of the runs. Output is hashed outside of the timed part, and must be equal on all sides.

mod report;
mod rounds;
pub(super) mod row;
mod side;

use crate::{run, workspace};
use report::Report;
use row::Row;
use std::collections::BTreeSet;
use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A comparison, and the file for its table.
pub(super) struct Comparison {
    /// The name of the table, and of the folder of its sides in `benches/`.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// A description of the common conditions of its rows, in addition to those of all comparisons.
    pub(super) about: &'static str,
    /// Whether the command itself is a side.
    pub(super) command: bool,
    pub(super) rows: fn(&Place<'_>) -> Vec<Row>,
}

/// The folders of programs, scripts and data.
pub(super) struct Place<'a> {
    pub(super) data: &'a Path,
    pub(super) python: &'a Path,
    programs: PathBuf,
}

impl Place<'_> {
    /// The program in a folder of `benches/`.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(format!("bench-{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// The Python script beside it.
    pub(super) fn script(&self, name: &str) -> PathBuf {
        scripts(name).join("side.py")
    }
}

/// The options of the command line.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::bench) struct Options {
    /// Prefixes of row names; all rows if empty.
    rows: Vec<String>,
    /// Prefixes of side names; all sides if empty.
    sides: Vec<String>,
    runs: usize,
    /// Uses a sixty-fourth of the data to test the harness; writes nothing to `docs/status`.
    small: bool,
}

/// The number of runs of each side.
const RUNS: usize = 7;

impl Options {
    pub(in crate::bench) fn parse(args: &[&str]) -> Result<Options, String> {
        let mut options = Options { rows: Vec::new(), sides: Vec::new(), runs: RUNS, small: false };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (name, value) = arg.split_once('=').map_or((*arg, None), |(name, value)| (name, Some(value)));
            let mut value = || value.or_else(|| args.next().copied()).ok_or(format!("{name} needs a value"));
            match name {
                "--rows" => options.rows.extend(value()?.split(',').map(str::to_owned)),
                "--sides" => options.sides.extend(value()?.split(',').map(str::to_owned)),
                "--runs" => {
                    let runs = value()?;
                    let count = runs.parse().ok().filter(|count| *count > 0);
                    options.runs = count.ok_or(format!("--runs {runs}, expected a number above 0"))?;
                }
                "--small" => options.small = true,
                _ => return Err(format!("unknown option {arg}")),
            }
        }
        Ok(options)
    }

    fn wants(&self, row: &Row) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|wanted| row.name.starts_with(wanted.as_str()))
    }
}

/// Makes missing data, measures, and writes the table.
pub(super) fn main(comparison: &Comparison, options: &Options, python: &Path) -> Result<(), String> {
    let name = comparison.name;
    let programs = programs()?;
    let data = workspace::target().join("bench");
    let data = data.join(if options.small { format!("{name}-small") } else { name.to_owned() });
    let mut rows = (comparison.rows)(&Place { data: &data, python, programs });
    if !options.sides.is_empty() {
        // Slow peers need not run again after each change of ours.
        let wanted = |name: &str| options.sides.iter().any(|side| name.starts_with(side.as_str()));
        rows.iter_mut().for_each(|row| row.sides.retain(|side| wanted(&side.name)));
    }
    if let Some(unknown) =
        options.rows.iter().find(|name| !rows.iter().any(|row| row.name.starts_with(*name)))
    {
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        return Err(format!("unknown row {unknown}, expected one of {}", names.join(", ")));
    }
    let mut make = run::command(python);
    make.arg(scripts(name).join("make.py")).arg(&data).arg(if options.small { "64" } else { "1" });
    if !options.rows.is_empty() {
        make.args(rows.iter().filter(|row| options.wants(row)).flat_map(|row| files(row, &data)));
    }
    if !run::shown(make.env("PYTHONDONTWRITEBYTECODE", "1"))?.success {
        return Err("the data of the benchmark cannot be made".to_owned());
    }
    let report = Report::new(&data, options)?;
    let mut broken = Vec::new();
    for row in rows.iter().filter(|row| options.wants(row)) {
        println!("\n== {}: {}", row.name, row.what);
        let measured = rounds::measure(row, options.runs)?;
        println!("{}", report.keep(row, &measured)?);
        if !measured.agrees {
            broken.push(row.name);
        }
    }
    let whole = report.text(comparison, &rows);
    let path = if options.small { data.join(format!("bench-{name}.md")) } else { super::status(name) };
    std::fs::write(&path, whole).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("wrote {}", path.display());
    match broken.as_slice() {
        [] => Ok(()),
        broken => Err(format!("sides have different results: {}", broken.join(", "))),
    }
}

/// The names in the folder of data that the sides of a row are given.
fn files(row: &Row, data: &Path) -> BTreeSet<PathBuf> {
    let values = row.sides.iter().flat_map(|side| &side.args).filter_map(|arg| arg.split_once('='));
    values.filter_map(|(_, value)| Path::new(value).strip_prefix(data).ok()).map(Path::to_owned).collect()
}

/// Builds the programs of `benches/` and returns their folder.
fn programs() -> Result<PathBuf, String> {
    let (mut build, programs) = build("release");
    match run::shown(&mut build)?.success {
        true => Ok(programs),
        false => Err("benches/ does not build".to_owned()),
    }
}

/// Builds one program of `benches/`.
pub(crate) fn program(name: &str) -> Result<PathBuf, String> {
    let (mut build, programs) = build("release");
    match run::shown(build.args(["--package", name]))?.success {
        true => Ok(programs.join(format!("{name}{EXE_SUFFIX}"))),
        false => Err(format!("{name} does not build")),
    }
}

/// The command that builds `benches/` with a profile of its manifest, and the folder of the resulting programs.
pub(crate) fn build(profile: &str) -> (Command, PathBuf) {
    let benches = workspace::target().join("benches");
    let mut build = run::cargo();
    build.args(["build", "--profile", profile, "--manifest-path", "benches/Cargo.toml", "--target-dir"]);
    build.arg(&benches);
    (build, benches.join(profile))
}

fn scripts(name: &str) -> PathBuf {
    workspace::root().join("benches").join(name).join("python")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_options_with_and_without_an_equals_sign() {
        let (rows, sides) = (vec!["raw".into(), "span".into()], vec!["limit".into()]);
        let expected = Options { rows, sides, runs: 9, small: true };
        let args = ["--rows", "raw,span", "--sides", "limit", "--runs=9", "--small"];
        assert_eq!(Options::parse(&args), Ok(expected));
        assert!(Options::parse(&["--runs", "0"]).is_err());
        assert!(Options::parse(&["--rows"]).is_err());
        assert!(Options::parse(&["--fast"]).is_err());
    }
}
