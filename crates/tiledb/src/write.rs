//! Writes arrays and groups, in versions 7 to 22 of the format.
//!
//! Nothing that is written is seen before it is committed: a fragment by its [commit file](commit), a schema, metadata or
//! members of a group by one file that appears whole. A writer that is killed leaves the old or the new, and perhaps
//! files that nobody sees.
//!
//! * [`names`]: names of what is written, from a clock and a source of random numbers.
//! * [`array`](mod@array): a new array, or one that is written to; its metadata.
//! * [`field`]: cells of a field to the bytes of a tile, which many threads do at once.
//! * [`fragment`]: the files of a fragment, its tiles placed one after another.
//! * [`dense`]: fragments of dense arrays. [`sparse`]: cells of sparse arrays, which [`order`] sorts.
//! * [`commit`]: what makes fragments seen.
//! * [`delete`]: deletes of cells. [`evolve`]: new schemas of arrays that exist.
//! * [`group`]: groups and their members.
//! * [`consolidate`]: many fragments, commits, footers or files of metadata become one. [`vacuum`]: what they were goes.

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
