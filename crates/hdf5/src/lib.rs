//! The HDF5 file format, specification 4.0.
//!
//! Layers, each using only those above it:
//!
//! 1. [`format`]: bytes to structures and back; no I/O. Folders are chapters of the specification.
//! 2. `navigate`: walks structures over storage: headers, groups, heaps, chunk indexes.
//! 3. `element`: the file's representation of elements to rows in memory.
//! 4. The native API.

pub mod format;
pub mod navigate;
