//! Tests the public interface on the example files.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod against;
mod anywhere;
mod api;
mod assembled;
mod bounds;
mod cancelled;
mod cells;
mod converted;
mod damage;
mod decoded;
mod described;
mod digested;
mod edited;
mod examples;
mod failing;
mod far;
mod files;
mod followed;
mod history;
mod interrupted;
mod joined;
mod located;
mod names;
mod ndarrays;
mod netcdf;
mod netcdf3;
mod netcdf3_targets;
mod new_dimension;
mod opened;
mod owned;
mod placed;
mod plotted;
mod protocol;
mod selected;
mod shown;
mod stored;
mod tables;
mod tiledb_schemas;
mod traps;
mod unpacked;
mod virtual_arrays;
mod walked;

use hyperslab::describe::{DescribeOptions, describe};
use hyperslab::location::{LocatedObject, Locator};
use hyperslab::{Entry, Error, FORMATS, NodePath, OpenOptions, Result, Source};
use hyperslab_core::storage::ReadAt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The path of an example file, or of a data file of these tests or of the HDF5 crate's tests if `name` starts with
/// `own/` or `hdf5/`.
fn path(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    match name.split_once('/') {
        Some(("own", name)) => here.join("tests/data").join(name),
        Some(("hdf5", name)) => here.join("../hdf5/tests/data").join(name),
        _ => here.join("../../examples").join(name),
    }
}

fn open(name: &str) -> Arc<dyn Source> {
    hyperslab::open(&path(name), &OpenOptions::default()).unwrap()
}

fn open_raw(name: &str) -> Arc<dyn Source> {
    hyperslab::open(&path(name), &OpenOptions { raw: true, ..OpenOptions::default() }).unwrap()
}

fn open_storage(storage: impl ReadAt + 'static) -> Result<Arc<dyn Source>> {
    FORMATS[0].open(hyperslab::Location::Object(Box::new(storage)), &OpenOptions::default())
}

fn node_path(path: &str) -> NodePath {
    NodePath::new(path).unwrap()
}

fn find(source: &dyn Source, path: &str) -> Entry {
    source.find(&node_path(path)).unwrap()
}

/// The objects that the location `FILE:path` names.
fn targets(source: &dyn Source, path: &str) -> Result<Vec<LocatedObject>> {
    Locator::parse(&format!("FILE:{path}")).targets(source)
}

/// The paths of the objects that the location `FILE:path` names.
fn located(source: &dyn Source, path: &str) -> Vec<String> {
    let found = targets(source, path).unwrap();
    found.iter().map(|target| target.entry.handle.path.to_string()).collect()
}

/// The description of the objects at `path`, and its errors.
fn description(source: &dyn Source, path: &str, options: &DescribeOptions) -> (String, Vec<Error>) {
    let mut out = Vec::new();
    let done = describe(source, "FILE", &targets(source, path).unwrap(), options, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), done.errors)
}
