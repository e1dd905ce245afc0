//! Units and tables of CF.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod dataspace;
mod tables;
mod units;
