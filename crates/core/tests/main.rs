//! Tests against a file system that changes in the meantime.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

#[cfg(target_os = "linux")]
mod races;
