#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! * [`format`](mod@format): the structures of the specification, decoded and encoded.
//! * [`filter`]: what tiles go through on their way to a file and back.

pub mod filter;
pub mod format;
