//! Tests the command as users run it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod abbreviated;
mod against;
mod answers;
mod bad_input;
mod cdl;
mod checks;
mod command;
mod completed;
mod concat;
mod conventions;
mod dataspace;
mod decoded;
mod diff;
mod edit;
mod edit_interrupted;
mod files;
mod golden;
mod hdf5_targets;
mod help;
mod history;
mod interrupted;
mod layouts;
mod links;
mod lists;
mod netcdf3_targets;
mod netcdf4_targets;
mod outputs;
mod package;
#[cfg(unix)]
mod pages;
#[cfg(target_os = "linux")]
mod picture;
mod plots;
mod stat;
#[cfg(unix)]
mod suggestions;
#[cfg(unix)]
mod tasks;
#[cfg(target_os = "linux")]
mod terminal;
mod texts;
mod tiledb_targets;
mod typos;
mod writing;
mod zarr;
mod zarr_checks;
