//! The stage `oracles`: other readers must find the same content as we do in our example files, in files generated
//! from seeds, and in the files that we write.

use super::{Missing, python, script, tools};
use crate::run::{self, Job};
use crate::tally::Tally;
use crate::{bench, programs, workspace};
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number of random documents for other parsers; `cargo xtask soak` has more.
const DOCUMENTS: u32 = 1_500;

/// The number of HDF5 files that other libraries read; `cargo xtask soak` has more.
const WRITTEN: u32 = 100;

/// The number of NetCDF-4 files from seeds that other libraries read and continue; `cargo xtask soak` has more.
const NETCDF: &str = "30";

/// The number of TileDB arrays from seeds that tiledb-py writes and reads; `cargo xtask soak` has more.
const TILEDB: &str = "40";

/// The number of histories that tiledb-py and `edit` write together; `cargo xtask soak` has more.
const HISTORIES: &str = "16";

/// The number of TileDB arrays that are maintained in all orders, and the first one; `cargo xtask soak` has more.
const UPKEPT: [&str; 2] = ["3", "1"];

/// One in this many kinds of attributes is read by several versions of tiledb-py; `cargo xtask soak` reads all.
const MATRIX: &str = "4";

/// Runs every script of `xtask/oracles` that needs no corpus.
pub(crate) fn stage() -> Result<Tally, String> {
    let mut tally = Tally::default();
    match tools() {
        Ok(()) => tally.check(true, "h5dump and ncdump are installed"),
        Err(missing) => tally += missing.tally(),
    }
    let python = match python() {
        Ok(python) => python,
        Err(missing) => {
            tally += missing.tally();
            return Ok(tally);
        }
    };
    // The longest jobs first, so that no core is idle at the end.
    let jobs = vec![
        random_documents(&python, DOCUMENTS)?,
        with_samples(&python, "netcdf_written.py", &["--seeds", NETCDF])?,
        tiledb_of_versions(&python, "tiledb_wheels.py", &[])?,
        on_command(&python, "cf_faults.py")?,
        examples(&python, "decoded.py")?,
        hdf5_written(&python)?,
        on_command(&python, "classic.py")?,
        tiledb_of_versions(&python, "tiledb_matrix.py", &[MATRIX])?,
        zarr_written(&python, &mut tally)?,
        identical(&python)?,
        on_command(&python, "tiledb_deletes.py")?,
        examples(&python, "content.py")?,
        classic_written(&python)?,
        examples(&python, "tables.py")?,
        tiledb_upkeep(&python)?,
        with_samples(&python, "classic_converted.py", &[])?,
        tiledb_seeded(&python)?,
        examples(&python, "conversions.py")?,
        on_command(&python, "tiledb_netcdf.py")?,
        on_command(&python, "tiledb_kept.py")?,
        tiledb_histories(&python)?,
        on_command(&python, "zarr_opened.py")?,
        on_command(&python, "missing.py")?,
        on_command(&python, "nullable.py")?,
        on_command(&python, "ecosystems.py")?,
        on_command(&python, "unlike_netcdf.py")?,
        on_command(&python, "left_by_writers.py")?,
        on_command(&python, "concat.py")?,
        examples(&python, "unpacked.py")?,
        on_command(&python, "filters_read.py")?,
        on_command(&python, "differences.py")?,
        schema(&python),
        examples(&python, "netcdf.py")?,
        examples(&python, "failing_reads.py")?,
        examples(&python, "reported.py")?,
        on_command(&python, "cell_tables.py")?,
        examples(&python, "yaml_agrees.py")?,
        page(&python, "docs/xarray.md")?,
        on_command(&python, "tiledb_cf.py")?,
        encoded(&python)?,
        on_command(&python, "beside.py")?,
        examples(&python, "cdl.py")?,
    ];
    tally += run::counted(jobs)?;
    Ok(tally)
}

fn with(mut command: Command, args: impl IntoIterator<Item = PathBuf>) -> Command {
    command.args(args);
    command
}

/// A script that makes its own files for the command.
fn on_command(python: &Path, name: &str) -> Result<Job, String> {
    Ok(Job::new(name, with(script(python, name), [programs::command()?])))
}

/// A script that compares the content of the example files with the output of the command.
fn examples(python: &Path, name: &str) -> Result<Job, String> {
    Ok(Job::new(name, with(script(python, name), [programs::command()?, workspace::root().join("examples")])))
}

/// The commands and the Python code of a documentation page.
fn page(python: &Path, name: &str) -> Result<Job, String> {
    let root = workspace::root();
    let words = [programs::command()?, root.join("examples"), root.join(name)];
    Ok(Job::new(name, with(script(python, "page.py"), words)))
}

/// Converted NetCDF files, which xarray must find identical to their sources.
fn identical(python: &Path) -> Result<Job, String> {
    let mut compare = script(python, "identical.py");
    compare.arg(programs::command()?).arg(workspace::root().join("examples")).arg("--samples");
    Ok(Job::new("identical.py", compare))
}

/// Documents that the JSON Schema of NDL must accept or reject.
fn schema(python: &Path) -> Job {
    let documents = [
        "crates/ndl/schema/ndl.schema.json",
        "crates/ndl/schema/good",
        "crates/ndl/tests/golden",
        "crates/cli/tests/golden",
        "docs/ndl.md",
        "crates/ndl/schema/bad.yaml",
    ];
    let paths = documents.map(|document| workspace::root().join(document));
    Job::new("schema.py", with(script(python, "schema.py"), paths))
}

/// Random documents, read by PyYAML, ruamel.yaml and Python's JSON.
fn random_documents(python: &Path, count: u32) -> Result<Job, String> {
    let folder = empty_folder("documents")?;
    let mut generate = run::command(programs::example("generate")?);
    make("random documents", generate.arg(&folder).arg(count.to_string()))?;
    Ok(Job::new("ndl_trees.py", with(script(python, "ndl_trees.py"), [folder])))
}

/// The same with this number of documents.
pub(crate) fn documents(count: u32) -> Result<Tally, String> {
    let python = python().map_err(Missing::into_reason)?;
    run::counted(vec![random_documents(&python, count)?])
}

/// Arrays of every kind that we write to Zarr, read by other Zarr readers.
fn zarr_written(python: &Path, tally: &mut Tally) -> Result<Job, String> {
    let folder = empty_folder("zarr-matrix")?;
    make("stores of Zarr", run::command(programs::example("matrix")?).arg(&folder))?;
    let mut compare = script(python, "zarr_written.py");
    compare.arg(&folder);
    let name = "zarrs-elements";
    let (mut build, built) = bench::compare::build("oracle");
    let done = run::quietly(build.args(["--package", name]))?;
    match done.success {
        true => drop(compare.arg(built.join(format!("{name}{EXE_SUFFIX}")))),
        false => *tally += Tally::skip(format!("{name} does not build: {}", done.last_line())),
    }
    Ok(Job::new("zarr_written.py", compare))
}

/// HDF5 files that we write from random documents, read and edited by other libraries.
fn hdf5_written(python: &Path) -> Result<Job, String> {
    let mut compare = script(python, "hdf5_written.py");
    compare.arg(programs::command()?).arg(WRITTEN.to_string());
    Ok(Job::new("hdf5_written.py", compare))
}

/// Chunks that our codecs encode, decoded by HDF5 filters and by the original libraries.
fn encoded(python: &Path) -> Result<Job, String> {
    let file = workspace::target().join("oracles").join("encoded.txt");
    let _ = fs::remove_file(&file);
    make("encoded chunks", one_test("encodes_chunks_for_other_libraries").env("HYPERSLAB_ENCODED", &file))?;
    let script_path = workspace::root().join("crates/codec/tests/foreign.py");
    let mut compare = run::command(python);
    compare.arg(script_path).arg(file).env("PYTHONDONTWRITEBYTECODE", "1");
    compare.env("PYTHONPATH", workspace::root().join("xtask").join("oracles"));
    Ok(Job::new("foreign.py", compare))
}

/// TileDB arrays that tiledb-py writes in many steps, and reads.
fn tiledb_seeded(python: &Path) -> Result<Job, String> {
    let mut compare = script(python, "tiledb_seeded.py");
    compare.arg(programs::command()?).arg(TILEDB);
    Ok(Job::new("tiledb_seeded.py", compare))
}

/// TileDB arrays for which tiledb-py makes some steps, and `edit` the others.
fn tiledb_histories(python: &Path) -> Result<Job, String> {
    let mut compare = script(python, "tiledb_histories.py");
    compare.arg(programs::command()?).arg(HISTORIES);
    Ok(Job::new("tiledb_histories.py", compare))
}

/// TileDB arrays that `edit` and tiledb-py consolidate and vacuum in all orders.
fn tiledb_upkeep(python: &Path) -> Result<Job, String> {
    let mut compare = script(python, "tiledb_upkeep.py");
    compare.arg(programs::command()?).args(UPKEPT);
    Ok(Job::new("tiledb_upkeep.py", compare))
}

/// TileDB arrays that other versions of the library write or read. Their packages stay below `target/`.
fn tiledb_of_versions(python: &Path, name: &str, options: &[&str]) -> Result<Job, String> {
    let mut compare = with(script(python, name), [programs::command()?, workspace::wheels()]);
    compare.args(options);
    Ok(Job::new(name, compare))
}

/// NetCDF classic files that we write, read and continued by other libraries.
fn classic_written(python: &Path) -> Result<Job, String> {
    let folder = empty_folder("classic-written")?;
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut test = one_test("written::writes_files_for_other_libraries");
    make("NetCDF classic files", test.env("HYPERSLAB_CLASSIC_WRITTEN", &folder))?;
    Ok(Job::new("classic_written.py", with(script(python, "classic_written.py"), [folder])))
}

/// The examples and the files of netcdf_samples.py, converted. Other programs must find the same content in them as in
/// the sources.
fn with_samples(python: &Path, name: &str, more: &[&str]) -> Result<Job, String> {
    let mut compare = script(python, name);
    compare.arg(programs::command()?).arg(workspace::root().join("examples")).arg("--samples").args(more);
    Ok(Job::new(name, compare))
}

/// A test that writes what other libraries read, by its name. It is selected from all tests, so that nothing is built
/// again.
fn one_test(name: &str) -> Command {
    let mut test = run::cargo();
    test.args(["test", "--profile", programs::PROFILE, "--workspace", "--test", "main", "--quiet", "--"]);
    test.args(["--exact", name]);
    test
}

/// Runs a program that writes the input of a script.
fn make(what: &str, command: &mut Command) -> Result<(), String> {
    let done = run::quietly(command)?;
    match done.success {
        true => Ok(()),
        false => Err(format!("no {what}: {}", done.last_line())),
    }
}

/// An empty folder below `target/`.
fn empty_folder(name: &str) -> Result<PathBuf, String> {
    let folder = workspace::target().join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    Ok(folder)
}
