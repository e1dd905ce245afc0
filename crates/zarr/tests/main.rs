//! Whole stores: what is told of broken ones, what is read of those that were made to harm, and what is written.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod check;
mod hostile;
mod kill;
mod write;
mod zip;
