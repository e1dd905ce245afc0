//! The structures of the specification: conversion between bytes and values, without I/O.
//!
//! A file is a page of the specification and has its name; a folder has the sections of a page. `decode` and `encode`
//! of a structure are in one `impl`, in field order, and are the only description of its layout.
//!
//! All numbers are little-endian. Names, keys and URIs are bytes: no version defines their encoding.

pub mod array_schema;
pub mod consolidated_commits;
pub mod consolidated_fragment_metadata;
pub mod data_file_name;
pub mod data_type;
pub mod delete_condition;
pub mod enumeration;
mod field;
pub mod filter_pipeline;
pub mod fragment_metadata;
pub mod generic_tile;
pub mod group;
pub mod ignore_file;
pub mod layout;
pub mod metadata;
pub mod tile;
pub mod timestamped_name;
pub mod update_condition;
pub mod uri_lines;
pub mod vacuum_file;
pub mod version;

#[cfg(test)]
mod structure_tests;

use hyperslab_core::{Decoder, Encoder, Result};

/// A structure of the specification.
///
/// `Context` is what the bytes alone do not determine: for many structures the format version, for those of fragments
/// also the content of the array schema.
///
/// Any bytes can be decoded: the result is a value or an error. `decode` never panics, and allocates at most a small
/// multiple of the length of the bytes.
pub trait Structure: Sized {
    /// What the layout depends on, apart from the bytes.
    type Context;

    /// The name in the specification, for errors.
    const NAME: &'static str;

    /// Decodes the structure at the cursor and moves the cursor to its end.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) if the bytes violate the specification,
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for versions and codes that it does not list.
    fn decode(d: &mut Decoder<'_>, context: &Self::Context) -> Result<Self>;

    /// Appends the bytes that [`Structure::decode`] reads.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a value does not fit its field, or the
    /// version has no field for it.
    fn encode(&self, e: &mut Encoder, context: &Self::Context) -> Result<()>;
}

/// Decodes a structure whose end must be the end of the bytes.
///
/// # Errors
/// As [`Structure::decode`]; [`Malformed`](hyperslab_core::ErrorKind::Malformed) if bytes remain.
pub fn decode_all<S: Structure>(d: Decoder<'_>, context: &S::Context) -> Result<S> {
    let mut d = d.named(S::NAME);
    let value = S::decode(&mut d, context)?;
    d.finish()?;
    Ok(value)
}

/// The bytes of a structure.
///
/// # Errors
/// As [`Structure::encode`].
pub fn encode_all<S: Structure>(value: &S, context: &S::Context) -> Result<Vec<u8>> {
    let mut e = Encoder::new();
    value.encode(&mut e, context)?;
    Ok(e.into_bytes())
}
