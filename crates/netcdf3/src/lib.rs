#![doc = include_str!("../README.md")]
//! ## Contents
//!
//! A file consists of a header and the elements of variables. A variable without records is one block of big-endian
//! elements. The elements of all other variables are interleaved: each record holds those at one index of the record
//! dimension.
//!
//! * [`Header`]: dimensions, attributes and variables, decoded and encoded.
//! * [`Layout`], [`Records`]: where the elements of a variable lie.
//! * [`File`]: reads the elements of regions.
//! * [`Definition`], [`Writer`]: files that are declared, then written by any number of threads.
//! * [`name`]: names that may be written.
//! * [`check`](mod@check): checks whether a file is valid.

pub mod check;
mod data_type;
mod file;
mod header;
mod layout;
pub mod name;
mod write;

pub use data_type::DataType;
pub use file::{File, to_big_endian, to_native};
pub use header::{Attribute, Decoded, Dimension, Header, MAGIC, Variable, Version};
pub use layout::{Layout, Records};
pub use write::{Definition, Writer};
