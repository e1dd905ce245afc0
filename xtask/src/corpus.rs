//! The corpus: files of many writers, stored outside of the project, with the expected digests.

pub(crate) mod conversions;
mod exceptions;
mod hdf5;
mod stores;

use crate::oracles;
use crate::run::{self, Finished, Job};
use crate::tally::Tally;
use crate::{programs, workspace};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tested archives.
pub(crate) const HDF5: &str = "hdf5";
pub(crate) const ZARR: &str = "zarr";
pub(crate) const TILEDB: &str = "tiledb";

/// Compares the digest of every object with the expected one.
pub(crate) fn digests() -> Result<Tally, String> {
    let mut tally = each(HDF5, hdf5::digests)?;
    tally += each(ZARR, stores::zarr)?;
    tally += each(TILEDB, stores::tiledb)?;
    Ok(tally)
}

/// Describes every file. Two YAML parsers must read the same in each description.
pub(crate) fn descriptions() -> Result<Tally, String> {
    judged_in_python("yaml_agrees.py", &[])
}

/// Checks every file. Only files that were broken on purpose may have errors.
pub(crate) fn checks() -> Result<Tally, String> {
    each(HDF5, |root| judged_by(oracles::script(Path::new("python3"), "check_corpus.py"), root, &[]))
}

/// Describes every file and reads the description back. Content and description must be unchanged.
pub(crate) fn texts() -> Result<Tally, String> {
    let returned =
        |root: &Path| judged_by(oracles::script(Path::new("python3"), "texts_return.py"), root, &[]);
    let mut tally = each(HDF5, returned)?;
    tally += each(ZARR, returned)?;
    tally += each(TILEDB, returned)?;
    Ok(tally)
}

/// Converts the NetCDF files to Zarr and NetCDF-4, and Zarr stores to NetCDF-4. xarray must find the results identical
/// to the sources, unpack the same numbers, and make the same tables of variables as hyperslab. ncdump must print the
/// same CDL for every fourth file. tiledb-py must read the same cells of parts of TileDB arrays, open what was
/// converted to TileDB, and print the same schemas for arrays created from descriptions as for their sources. TileDB
/// must be unchanged after conversion to other formats and back, and NetCDF after conversion to TileDB and back in each
/// convention of TileDB-CF.
pub(crate) fn readers() -> Result<Tally, String> {
    readers_of(&[], &[])
}

/// As [`readers`], with every other file converted to NetCDF-4 and tables of fifty: all of them take minutes.
pub(crate) fn some_readers() -> Result<Tally, String> {
    readers_of(&["--every", "2"], &["50"])
}

fn readers_of(netcdf: &[&str], tables: &[&str]) -> Result<Tally, String> {
    let python = match oracles::python_and_tools() {
        Ok(python) => python,
        Err(missing) => return Ok(missing.tally()),
    };
    // The longest jobs first, so that no core is idle at the end.
    let scripts: [(&str, &str, &[&str]); 13] = [
        ("netcdf_written.py", HDF5, netcdf),
        ("tidy.py", HDF5, tables),
        ("identical.py", HDF5, &[]),
        ("tiledb_written.py", HDF5, &["8"]),
        ("tiledb_schemas.py", TILEDB, &[]),
        ("tiledb_written.py", TILEDB, &["6"]),
        ("tiledb_read.py", TILEDB, &[]),
        ("tiledb_dataspaces.py", HDF5, &["3"]),
        ("tiledb_returned.py", TILEDB, &["5"]),
        ("cdl.py", HDF5, &["4"]),
        ("tiledb_written.py", ZARR, &["8"]),
        ("unpacked.py", HDF5, &[]),
        ("netcdf_written.py", ZARR, &["--zarr"]),
    ];
    let mut tally = Tally::default();
    let mut jobs = Vec::new();
    for (name, archive, options) in scripts {
        let Some(root) = unpacked(archive)? else {
            tally += without(archive);
            continue;
        };
        let script = on_files(oracles::script(&python, name), &root, options)?;
        jobs.push(Job::new(&format!("{name} {archive}"), script));
    }
    tally += run::counted(jobs)?;
    Ok(tally)
}

/// Describes all files as CDL. ncdump must print the same.
pub(crate) fn cdl() -> Result<Tally, String> {
    judged_in_python("cdl.py", &[])
}

/// Converts all files. Reports must be true of what h5py reads in the files and zarr-python in the stores.
pub(crate) fn reports() -> Result<Tally, String> {
    judged_in_python("reported.py", &[])
}

/// Writes HDF5 files again: repacked, via Zarr and from their own description. h5py must find the same content.
pub(crate) fn returns() -> Result<Tally, String> {
    judged_in_python("hdf5_returned.py", &[])
}

/// As [`returns`], for every fifth file: all of them take minutes.
pub(crate) fn some_returns() -> Result<Tally, String> {
    judged_in_python("hdf5_returned.py", &["5"])
}

/// The counts of a script that needs the Python oracles.
fn judged_in_python(name: &str, options: &[&str]) -> Result<Tally, String> {
    match oracles::python_and_tools() {
        Ok(python) => each(HDF5, |root| judged_by(oracles::script(&python, name), root, options)),
        Err(missing) => Ok(missing.tally()),
    }
}

/// The folder with the unpacked files of an archive, unpacked if the archive is newer. `None` if there is no archive.
pub(crate) fn unpacked(name: &str) -> Result<Option<PathBuf>, String> {
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

/// Runs a check on the files of an archive. A missing archive counts as a skip, which fails in CI.
fn each(name: &str, what: impl FnOnce(&Path) -> Result<Tally, String>) -> Result<Tally, String> {
    match unpacked(name)? {
        Some(root) => what(&root),
        None => Ok(without(name)),
    }
}

/// The skip of a check that needs a missing archive.
fn without(archive: &str) -> Tally {
    Tally::skip(format!("no corpus: HYPERSLAB_CORPUS names no folder that holds {archive}.tar.gz"))
}

/// A script that checks the files below a folder with our command.
fn on_files(mut script: Command, root: &Path, options: &[&str]) -> Result<Command, String> {
    script.arg(programs::command()?).arg(root).args(options);
    Ok(script)
}

/// The counts of such a script.
fn judged_by(script: Command, root: &Path, options: &[&str]) -> Result<Tally, String> {
    let done = run::shown(&mut on_files(script, root, options)?)?;
    Ok(Tally::of_output(&done.output, done.success))
}

/// The script that compares the digests of an archive.
fn comparison(name: &str) -> Command {
    let mut compare = run::command("python3");
    compare.env("PYTHONDONTWRITEBYTECODE", "1").arg(workspace::corpus().join(name));
    compare
}

/// Writes the whole output of a comparison to a file below `target/` and prints its last lines.
fn keep_report(name: &str, done: &Finished, lines: usize) -> Result<(), String> {
    let report = workspace::target().join("corpus").join(name);
    fs::write(&report, &done.output).map_err(|error| format!("{}: {error}", report.display()))?;
    println!("every difference: {}", report.display());
    let summary: Vec<&str> = done.output.lines().rev().take(lines).collect();
    for line in summary.iter().rev() {
        println!("{line}");
    }
    Ok(())
}
