#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! * [`File`] opens a file of any format; [`Array::read`] returns the numbers that a [`Select`](select::Select)
//!   selects. The guide is `docs/library.md`.
//! * [`open`] detects the format of a file from its content and returns a [`Source`], which all verbs read.
//! * One verb, one module: [`describe`], [`list`], [`show`], [`stat`], [`digest`], [`diff`](mod@diff), [`check`],
//!   [`convert`], [`repack`], [`create`], [`edit`], [`files`], [`history`].
//! * [`location`] parses `STORE:/PATH@ATTRIBUTE` locations and patterns.
//! * The format adapters are in `format/`; only they know both a format and the content model.

pub mod assemble;
mod build;
mod canonical;
pub mod cdl;
mod cell_table;
pub mod cells;
pub mod check;
pub mod convert;
pub mod create;
mod decode;
pub mod describe;
pub mod diff;
pub mod digest;
pub mod edit;
mod editor;
mod file;
pub mod files;
pub mod filter;
mod format;
mod formats;
pub mod history;
mod joined;
mod links;
pub mod list;
pub mod location;
mod meaning;
pub mod meant;
mod operation;
pub mod plot;
mod pool;
pub mod publish;
pub mod repack;
mod report;
pub mod select;
pub mod show;
pub mod size;
mod source;
pub mod stat;
mod strings;
pub mod tabular;
pub mod target;
mod validity;
mod walk;

pub use build::{ObjectBuilder, StoreBuilder};
pub use editor::{Dates, Editor};
pub use file::{Array, File, Group, Number};
pub use format::tiledb::tiledb_schema;
pub use format::{
    DataspaceView, Format, Head, Location, OpenOptions, Probe, Recognition, SecretKey, Times, Watch,
};
pub use formats::unpacked::Unpacked;
pub use formats::{
    FORMATS, TARGETS, in_group, open, open_location, open_storage, recognize, recognize_location, stem,
    target_format, target_format_of, with_target_option,
};
pub use hyperslab_codec::{self as codec, Codec, Scratch};
pub use hyperslab_core::check::Rule;
pub use hyperslab_core::nd::{Planes, Region, Selection};
pub use hyperslab_core::rows::{ElementLayout, ElementPart, Heap, Slot};
pub use hyperslab_core::storage::{ChunkPlace, ChunkPlacement, Container, FileStorage, ReadAt};
pub use hyperslab_core::wrapper::{Failures, Noting};
pub use hyperslab_core::{
    CancelToken, Charge, Error, ErrorKind, Limit, Limits, Place, Remedy, Result, Severity, Within, nd,
    storage, store,
};
pub use hyperslab_model::{self as model, NodePath};
pub use hyperslab_ndl as ndl;
pub use joined::{Along, Axis, JoinOptions, Joined};
pub use links::{Followed, follow};
pub use operation::Operation;
pub use pool::Pool;
pub use source::cache::{CachedChunks, ChunkCache};
pub use source::{
    ArraySource, Asked, ChunkCount, ChunkLevel, Chunks, ContentStorage, Declared, Dialect, Entry, Event,
    EventKind, FileRole, FoundFile, Handle, Item, MissingSources, NamedFile, NamedFiles, Origin, Source,
    Stored, StoredChunk, StoredFilter, StoredForm, UnfollowedLinks, Unshown,
};
pub use strings::{Strings, Utf8};
pub use walk::{Step, walk, walk_to};

/// The guide and the front page, whose code blocks are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
#[doc = include_str!("../../../README.md")]
mod guide {}
