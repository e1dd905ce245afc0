//! Tests of whole stores: checking invalid ones, reading malicious ones, and writing.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod check;
mod hostile;
mod kill;
mod write;
mod zip;
