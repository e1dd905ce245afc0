#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! * [`dataset`]: groups, dimensions and variables, and how they relate to each other.
//! * [`rules`]: the rules of CF by version, and their checks.
//! * [`dataspace`]: dataspaces of TileDB-CF, and their conventions.
//! * [`meaning`]: the meaning of stored values according to the attributes of their variable: missing values, packing,
//!   flags.
//! * [`time`]: conversion of counts of time to dates in the calendars of CF, and back.
//! * [`units`]: units by the grammar of UDUNITS-2, their dimensions and conversions.
//! * [`tables`]: standard names, area types, regions.

mod brief;
pub mod dataset;
pub mod dataspace;
mod edits;
mod finding;
pub mod meaning;
mod number;
pub mod rules;
pub mod tables;
pub mod time;
pub mod units;

pub use finding::Finding;
