//! The Ndarray Data Language: the content of a file as YAML or JSON text.
//!
//! An [`Emitter`] takes the objects of a file one by one and keeps their text; its head, which names the
//! extensions used, is written last and stands first. Within, an object becomes a tree of what NDL calls its
//! keys (`lower`), the tree becomes text (`yaml`, `json`), and the next object follows: nothing grows with the
//! file but the text.
//!
//! NDL 0.6.1 lacks much that files hold; what it lacks is an extension, which the head names. Of those, four
//! forms are seldom seen: a float of a format without a keyword is its stored bytes, least significant first, as
//! quoted hex; text that is not UTF-8 is `!!binary`, in JSON `{"x-bytes": "0x…"}`; an integer of another size is
//! `int24` and the like; a region too finely divided for a list of blocks is its `start`, `count` and `step`.
//!
//! ```
//! use hyperslab_model::{Group, Node, NodePath};
//! use hyperslab_ndl::{Emitter, Format, Head, Options};
//!
//! let mut emitter = Emitter::new(Format::Yaml, Options::default());
//! emitter.node(&NodePath::new("/waves")?, &Node::Group(Group::default()))?;
//! let mut text = Vec::new();
//! let head = Head { location: "buoys.h5", format: "hdf5", title: "HDF5", version: "0.1.0" };
//! emitter.finish(&head, &mut text)?;
//! assert_eq!(text, b"# NDL 0.6.1, described from buoys.h5 (HDF5)\n\n/waves: {}\n");
//! # Ok::<(), hyperslab_core::Error>(())
//! ```

mod diagnostic;
mod element;
mod emit;
mod extensions;
mod json;
mod lower;
mod number;
mod parse;
mod quote;
mod schema;
mod time;
mod tree;
mod yaml;

pub use diagnostic::{Diagnostic, Source};
pub use element::{json, plain};
pub use emit::{Emitter, Format, Head, Options, StorageDetail};
pub use hyperslab_core::Severity;
pub use parse::{GROUP_KEYS, Missing, ParseOptions, Parsed, Partial, parse};
pub use schema::SCHEMA;
