#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! An array is a folder: schemas define its structure, each write adds a fragment with a file of tiles for every
//! attribute and dimension, and commit files determine which fragments are complete.
//!
//! * [`format`](mod@format): every structure of the specification, decoded and encoded, in all versions.
//! * [`filter`]: the filters that tiles pass through on their way to a file and back.
//! * [`directory`]: the files of an array.
//! * [`opened`]: which of these files are visible at one moment.
//! * [`group_directory`]: the same for groups.
//! * [`array`](mod@array) and [`group`]: an array or a group as seen at one moment, with its metadata.
//! * [`read`]: the cells of an array.
//! * [`check`](mod@check): checks whether an array or a group is valid.
//! * [`history`]: the history of an array or a group.
//!
//! Start with [`array::Array`] to read, and with [`format::array_schema::ArraySchema`]; most structures are the body of a
//! [generic tile](format::generic_tile).

pub mod array;
pub mod check;
pub mod directory;
pub mod filter;
pub mod format;
pub mod group;
pub mod group_directory;
pub mod history;
pub mod metadata;
pub mod opened;
pub mod read;
mod summary;
pub mod write;
