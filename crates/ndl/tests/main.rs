//! Whole documents, as a program that describes files sees them.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "tests may panic, and their numbers are small"
)]

mod build;
mod buoys;
mod documents;
mod everything;
mod grid;
mod hostile;
mod json;
mod mistakes;
mod observations;
mod ocean;
mod parse;
mod parse_hostile;
mod parse_readings;
mod properties;
mod pure;
mod schema;
mod sharded;
