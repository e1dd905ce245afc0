//! Writes arrays and groups, in versions 7 to 22 of the format.
//!
//! Nothing that is written is visible before it is committed: a fragment by its [commit file](commit); a schema,
//! metadata or members of a group by one file that appears as a whole. If a writer is killed, either the old or the new
//! state remains, and perhaps files that nobody sees.
//!
//! * [`names`]: names of what is written, generated from a clock and a source of random numbers.
//! * [`array`](mod@array): new arrays, arrays that are written to, and their metadata.
//! * [`field`]: encodes cells of a field to the bytes of a tile, in many threads at once.
//! * [`fragment`]: the files of a fragment, with its tiles one after another.
//! * [`dense`]: fragments of dense arrays. [`sparse`]: cells of sparse arrays, which [`order`] sorts.
//! * [`commit`]: makes fragments visible.
//! * [`delete`]: deletes cells. [`evolve`]: new schemas of existing arrays.
//! * [`group`]: groups and their members.
//! * [`consolidate`]: merges many fragments, commits, footers or metadata files into one. [`vacuum`]: removes the
//!   originals.

pub mod array;
pub mod commit;
mod commit_files;
pub mod consolidate;
pub mod delete;
pub mod dense;
pub mod evolve;
pub mod field;
pub mod fragment;
mod generic_tile;
pub mod group;
pub mod names;
pub mod order;
mod r_tree;
mod schema;
pub mod sparse;
pub mod vacuum;
