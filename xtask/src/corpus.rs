//! The corpus: files of many writers, kept outside the project, with the digests they must have.

pub(crate) mod conversions;
mod hdf5;
mod zarr;

use crate::oracles;
use crate::run::{self, Finished};
use crate::tally::Tally;
use crate::workspace;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Archives of files, each with the digests that they must have.
const HDF5: &str = "hdf5";
const ZARR: &str = "zarr";

/// Least share of objects, in thousandths, that must be read as the reference reads them;
/// docs/status tells of the others.
const EQUAL_OBJECTS: u64 = 995;

/// Least share of files, in thousandths, of which every object must be.
const EQUAL_FILES: u64 = 980;

/// Compares the digest of every object with the expected one.
pub(crate) fn digests() -> Result<Tally, String> {
    let mut tally = each(HDF5, hdf5::digests)?;
    tally += each(ZARR, zarr::digests)?;
    Ok(tally)
}

/// Has every file described and the text read by two YAML parsers, which must agree.
pub(crate) fn descriptions() -> Result<Tally, String> {
    let python = match oracles::python() {
        Ok(python) => python,
        Err(missing) => return Ok(missing.tally()),
    };
    each(HDF5, |root| judged_by(oracles::script(&python, "yaml_agrees.py"), root))
}

/// Has every file checked: only those that were broken on purpose may have errors.
pub(crate) fn checks() -> Result<Tally, String> {
    each(HDF5, |root| judged_by(oracles::script(&PathBuf::from("python3"), "check_corpus.py"), root))
}

/// Has every file described and the text read again, which must mean the same content and come back as it was.
pub(crate) fn texts() -> Result<Tally, String> {
    let returned =
        |root: &Path| judged_by(oracles::script(&PathBuf::from("python3"), "texts_return.py"), root);
    let mut tally = each(HDF5, returned)?;
    tally += each(ZARR, returned)?;
    Ok(tally)
}

/// The folder with the files, unpacked when the archive is new; nothing where there is no archive.
fn unpacked(name: &str) -> Result<Option<PathBuf>, String> {
    let archive = workspace::corpus().join(format!("{name}.tar.gz"));
    let Ok(about) = fs::metadata(&archive) else { return Ok(None) };
    let dir = workspace::target().join("corpus");
    let files = dir.join(name);
    let stamp = dir.join(format!("{name}.unpacked"));
    let state = format!("{} {:?}", about.len(), about.modified().ok());
    if fs::read_to_string(&stamp).is_ok_and(|text| text == state) {
        return Ok(Some(files));
    }
    let io = |error: std::io::Error| format!("{}: {error}", files.display());
    if files.exists() {
        fs::remove_dir_all(&files).map_err(io)?;
    }
    fs::create_dir_all(&files).map_err(io)?;
    let done = run::quietly(run::command("tar").arg("-xzf").arg(&archive).arg("-C").arg(&files))?;
    if !done.success {
        return Err(format!("{} does not unpack: {}", archive.display(), done.last_line()));
    }
    fs::write(&stamp, state).map_err(io)?;
    Ok(Some(files))
}

/// Does what is to be done with the files of an archive, if there is one.
fn each(name: &str, what: impl FnOnce(&Path) -> Result<Tally, String>) -> Result<Tally, String> {
    match unpacked(name)? {
        Some(root) => what(&root),
        None => {
            Ok(Tally::skip(format!("no corpus: HYPERSLAB_CORPUS names no folder that holds {name}.tar.gz")))
        }
    }
}

/// What a script says of the files below a folder.
fn judged_by(mut script: Command, root: &Path) -> Result<Tally, String> {
    let done = run::shown(script.arg(workspace::binary()).arg(root))?;
    Ok(Tally::of_output(&done.output, done.success))
}

/// The script that compares an archive's digests.
fn comparison(name: &str) -> Command {
    let mut compare = run::command("python3");
    compare.env("PYTHONDONTWRITEBYTECODE", "1").arg(workspace::corpus().join(name));
    compare
}

/// Keeps all that a comparison says in a file, and prints the last lines.
fn told(name: &str, done: &Finished, lines: usize) -> Result<(), String> {
    let log = workspace::target().join("corpus").join(name);
    fs::write(&log, &done.output).map_err(|error| format!("{}: {error}", log.display()))?;
    println!("every difference: {}", log.display());
    let summary: Vec<&str> = done.output.lines().rev().take(lines).collect();
    for line in summary.iter().rev() {
        println!("{line}");
    }
    Ok(())
}

/// Whether so many of all are enough, in thousandths.
fn enough(equal: u64, others: u64, least: u64) -> bool {
    equal > 0 && equal * 1000 >= (equal + others) * least
}
