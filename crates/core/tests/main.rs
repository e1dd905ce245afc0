//! Trials against a file system that changes meanwhile.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

#[cfg(target_os = "linux")]
mod races;
