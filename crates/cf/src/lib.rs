#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! * [`dataspace`]: dataspaces of TileDB-CF, and their conventions.
//! * [`units`]: units by the grammar of UDUNITS-2, their dimensions and conversions.
//! * [`tables`]: standard names, area types, regions.

pub mod dataspace;
mod edits;
pub mod tables;
pub mod units;
