//! Units, tables and rules of CF.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod cdl;
mod dataspace;
mod rules;
mod tables;
mod units;
