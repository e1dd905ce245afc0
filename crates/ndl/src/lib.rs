#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! The content of a file as text of the Ndarray Data Language, and back. An [`Emitter`] takes the objects of a file one
//! by one. Each object becomes a tree of NDL keys (`lower`), and the tree becomes text (`yaml`, `json`), so only the
//! text grows with the file. The head names the extensions that were used; it is produced last and written first.
//!
//! What NDL 0.6.1 cannot express is written with extensions, which the head names. Four of their forms are rare: a
//! float of a format without a keyword is written as its stored bytes, least significant first, in quoted hexadecimal;
//! a string that is not UTF-8 as `!!binary`, in JSON as `{"x-bytes": "0x…"}`; an integer of an unusual size as `int24`
//! or similar; a region that would need too many blocks as its `start`, `count` and `step`.
//!
//! [`parse`] reads a text in any style. It reports all findings at once, each with its place and often with a
//! correction, and returns the content that is valid. Time and memory are bounded by the length of the text.
//! [`Parsed::refusals`] explains why no file can be made from a valid text.
//!
//! ```
//! use hyperslab_model::{Node, NodePath};
//! use hyperslab_ndl::{ParseOptions, Source, parse};
//!
//! let text = b"dimcoords:\n  x: {size: 2, type: float32}\nndarrays:\n  z: {shape: [x, 3], typ: int8}\n";
//! let parsed = parse(text, &ParseOptions::default());
//! let Some(Node::Ndarray(z)) = parsed.content.nodes.get(&NodePath::new("/z")?) else { unreachable!() };
//! assert_eq!(z.shape.current(), Some(vec![2, 3]));
//! let source = Source::new("buoys.yaml", text);
//! let shown = source.render(parsed.diagnostics.last().expect("a misspelt key"), false);
//! assert!(shown.contains("did you mean type?"), "{shown}");
//! assert_eq!(parsed.refusals[0].message, "/z without a type");
//! # Ok::<(), hyperslab_core::Error>(())
//! ```
//!
//! The `examples/` of this crate check, build, normalise and measure documents.

mod diagnostic;
mod element;
mod emit;
mod extensions;
mod json;
mod lower;
mod number;
mod parse;
pub mod part;
mod quote;
mod schema;
mod time;
mod tree;
mod yaml;

pub use diagnostic::{Diagnostic, Source};
pub use element::{exact_json, json, plain};
pub use emit::{Emitter, Format, Head, Options, StorageDetail};
pub use hyperslab_core::Severity;
pub use parse::{
    GROUP_KEYS, Missing, ParseOptions, Parsed, Partial, TextPlace, attribute, elements_of_text, fill_value,
    filters, filters_for, ndarray, parse, parse_within,
};
pub use quote::is_hidden;
pub use schema::SCHEMA;
