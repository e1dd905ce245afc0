//! Checks files, and those below directories: `check_hdf5 [--values] [--all] [--map] PATH…`.
//!
//! Prints errors, with `--all` warnings and notes too, and a line for each file; with `--map` what is where.

use hyperslab_core::storage::FileStorage;
use hyperslab_core::{Limits, Severity};
use hyperslab_hdf5::check::{Extent, Options, check_and_map};
use std::path::{Path, PathBuf};
use std::time::Instant;

fn main() {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let options = Options { values: has("--values"), ..Options::default() };
    let min = if has("--all") { Severity::Note } else { Severity::Error };
    for path in paths {
        visit(Path::new(&path), &mut |file| one(file, &options, min, has("--map")));
    }
}

fn visit(path: &Path, file: &mut dyn FnMut(&Path)) {
    let Ok(entries) = std::fs::read_dir(path) else { return file(path) };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries.iter().for_each(|entry| visit(entry, file));
}

fn one(path: &Path, options: &Options, min: Severity, map: bool) {
    let started = Instant::now();
    let mut extents: Vec<Extent> = Vec::new();
    let summary = FileStorage::open(path).and_then(|storage| {
        let mut extent = |extent| {
            if map {
                extents.push(extent);
            }
        };
        let mut found = |finding: hyperslab_hdf5::check::Finding| {
            if finding.severity <= min {
                let object = finding.object.as_deref().unwrap_or("");
                let byte = finding.byte.map_or(String::new(), |byte| format!(" byte {byte:#x}"));
                let (severity, rule) = (finding.severity, finding.rule);
                println!("  {severity} {rule}{byte} {object} [{}] {}", finding.structure, finding.message);
            }
        };
        check_and_map(Box::new(storage), Limits::default(), options, &mut found, &mut extent)
    });
    extents.sort_by_key(|extent| (extent.byte, extent.is_part));
    for Extent { structure, byte, len, object, is_part, is_spare } in extents {
        let (before, behind) = (if is_part { "  " } else { "" }, if is_spare { ", unused" } else { "" });
        println!("{byte:#8x} {len:6} {before}{structure}{behind} (object {object})");
    }
    let took = started.elapsed().as_millis();
    match summary {
        Ok(summary) => {
            let count = |severity| summary.count(severity);
            let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
            let unaccounted = summary.unaccounted.map_or("?".to_owned(), |bytes| bytes.to_string());
            println!(
                "{}: {errors} errors, {warnings} warnings, {} notes, {} objects, {unaccounted} bytes unaccounted, {took} ms",
                path.display(),
                count(Severity::Note),
                summary.objects,
            );
        }
        Err(error) => println!("{}: refused: {error}", path.display()),
    }
}
