//! The command as its users meet it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod answers;
mod bad_input;
mod checks;
mod command;
mod golden;
mod help;
mod readme;
mod texts;
mod zarr;
mod zarr_checks;
