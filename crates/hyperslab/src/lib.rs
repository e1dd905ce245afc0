//! Reads, describes, lists and digests scientific array files.
//!
//! * [`open`] finds the format of a file by its content and gives a [`Source`].
//! * One verb, one module: [`describe`], [`list`], [`show`], [`digest`], [`check`].
//! * [`location`] reads `STORE:/PATH@ATTRIBUTE` texts and patterns.
//! * Format adapters stand in `format/`; they alone know both a format and the content model.
//!
//! ```
//! use hyperslab::{OpenOptions, open};
//!
//! let source = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
//! for line in hyperslab::digest::lines(&*source, &hyperslab::NodePath::root())? {
//!     println!("{}", line.to_json());
//! }
//! # Ok::<(), hyperslab::Error>(())
//! ```

pub mod check;
pub mod create;
pub mod describe;
pub mod digest;
mod engine;
mod format;
pub mod list;
pub mod location;
mod pool;
pub mod select;
pub mod show;
mod source;
mod strings;
mod walk;

pub use format::{FORMATS, Format, OpenOptions, Probe, Recognition, Watch, open, open_storage, recognize};
pub use hyperslab_core::storage::{FileStorage, ReadAt};
pub use hyperslab_core::{Error, ErrorKind, Limits, Result, Severity};
pub use hyperslab_model::{self as model, NodePath};
pub use hyperslab_ndl as ndl;
pub use pool::Pool;
pub use source::{ArraySource, Entry, Handle, Item, Origin, Source, Stored};
pub use strings::Strings;
pub use walk::{Step, walk, walk_to};
