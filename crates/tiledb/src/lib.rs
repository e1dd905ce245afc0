#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! An array is a folder: schemas say what it is made of, each write adds a fragment with a file of tiles for every
//! attribute and dimension, and commit files say which fragments are complete.
//!
//! * [`format`](mod@format): every structure of the specification, decoded and encoded, in all versions.
//! * [`filter`]: what tiles go through on their way to a file and back.
//! * [`directory`]: which files an array has.
//! * [`opened`]: which of them one moment sees.
//! * [`group_directory`]: the same for groups.
//! * [`array`](mod@array) and [`group`]: an array or a group as one moment sees it, with its metadata.
//! * [`read`]: the cells of an array.
//! * [`check`](mod@check): whether an array or a group is sound.
//! * [`history`]: what happened to an array or a group.
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
