//! `cargo xtask bench read`: the reading engine beside other readers and beside what the machine allows.
//!
//! Each side of a row is a process that does its job when told to (`benches/read`). Sides take turns; a figure is
//! the median of the runs. What a side reads is hashed outside of what is timed, and must be the same on all.

mod report;
mod rounds;
mod rows;
mod side;

use crate::{run, workspace};
use report::Report;
use rows::{Place, Row};
use std::path::Path;

/// What the command line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Names of rows, or how they begin; all if empty.
    rows: Vec<String>,
    /// How names of sides begin; all if empty.
    sides: Vec<String>,
    runs: usize,
    /// A sixty-fourth of the data, to try the harness: nothing is written to `docs/status`.
    small: bool,
}

/// Runs of each side.
const RUNS: usize = 7;

impl Options {
    pub(crate) fn parse(args: &[&str]) -> Result<Options, String> {
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

/// Makes what is missing, measures and writes the table.
pub(crate) fn main(options: &Options, python: &Path) -> Result<(), String> {
    let target = workspace::target();
    let benches = target.join("benches");
    let mut build = run::cargo();
    build.args(["build", "--release", "--manifest-path", "benches/Cargo.toml", "--target-dir"]).arg(&benches);
    if !run::shown(&mut build)?.success {
        return Err("benches/ does not build".to_owned());
    }
    let data = target.join("bench").join(if options.small { "read-small" } else { "read" });
    let scripts = workspace::root().join("benches/read/python");
    let mut make = run::command(python);
    make.arg(scripts.join("make.py")).arg(&data).arg(if options.small { "64" } else { "1" });
    if !run::shown(make.env("PYTHONDONTWRITEBYTECODE", "1"))?.success {
        return Err("the data of the bench cannot be made".to_owned());
    }
    let place = Place {
        data: &data,
        driver: &benches.join("release").join(format!("bench-read{}", std::env::consts::EXE_SUFFIX)),
        python,
        script: &scripts.join("side.py"),
    };
    let mut rows = rows::rows(&place);
    if !options.sides.is_empty() {
        // Slow peers need not run again each time that ours changes.
        let wanted = |name: &str| options.sides.iter().any(|side| name.starts_with(side.as_str()));
        rows.iter_mut().for_each(|row| row.sides.retain(|side| wanted(&side.name)));
    }
    if let Some(unknown) =
        options.rows.iter().find(|name| !rows.iter().any(|row| row.name.starts_with(*name)))
    {
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        return Err(format!("no row {unknown}; there are {}", names.join(", ")));
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
    let whole = report.text(&rows)?;
    let path = if options.small { data.join("bench-read.md") } else { super::status("read") };
    std::fs::write(&path, whole).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("wrote {}", path.display());
    if broken.is_empty() { Ok(()) } else { Err(format!("sides do not read the same: {}", broken.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_with_and_without_an_equals_sign() {
        let (rows, sides) = (vec!["raw".into(), "span".into()], vec!["limit".into()]);
        let expected = Options { rows, sides, runs: 9, small: true };
        let args = ["--rows", "raw,span", "--sides", "limit", "--runs=9", "--small"];
        assert_eq!(Options::parse(&args), Ok(expected));
        assert!(Options::parse(&["--runs", "0"]).is_err());
        assert!(Options::parse(&["--rows"]).is_err());
        assert!(Options::parse(&["--fast"]).is_err());
    }
}
