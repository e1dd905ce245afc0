#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! Layers, each of which uses only those before it:
//!
//! 1. [`mod@format`]: conversion between bytes and structures, without I/O. Folders are chapters of the
//!    specification.
//! 2. [`navigate`]: reads structures from storage: headers, groups, heaps, chunk indexes.
//! 3. [`element`]: converts stored elements to rows in memory.
//! 4. The native API: [`File`], [`Object`], [`Link`], [`Attribute`], [`Dataset`], [`Array`].
//!
//! 5. [`mod@write`]: builds files from these structures, in the [`space`] that it allocates.
//!
//! [`mod@check`] checks whether a file is valid. It uses only the first two layers.

mod attribute;
pub mod check;
mod dataset;
pub mod element;
mod file;
pub mod filter;
pub mod format;
mod group;
pub mod navigate;
mod object;
mod reference;
pub mod space;
pub mod write;

pub use attribute::Attribute;
pub use dataset::{Array, Dataset, ExternalSegment, Fill, MissingSource, NamedFor, SourceMapping};
pub use file::{File, Located};
pub use group::{Link, Links};
pub use object::{Object, ObjectKind};
pub use reference::Reference;
