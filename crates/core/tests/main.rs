//! Tests of the crate from outside.

#[cfg(target_os = "linux")]
mod races;
