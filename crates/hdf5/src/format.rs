//! The structures of the specification: conversion between bytes and values, without I/O.
//!
//! A folder is a chapter of the specification; a file is a section and has its name. `decode` and `encode` of a
//! structure are in one `impl`, in field order, and are the only description of its layout.

pub mod checksum;
pub mod chunk_index;
pub mod encoding;
pub mod infrastructure;
pub mod message;
pub mod metadata;
pub mod object_header;
pub mod sizes;

#[cfg(test)]
mod structure_tests;

pub use sizes::{Address, Sizes};

use hyperslab_core::{Decoder, Encoder, Error, ErrorKind, Result};

/// A structure of the specification.
///
/// `Context` is what the bytes alone do not determine: for most structures the [`Sizes`] of the file, for some also
/// fields of the structure that points to them.
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
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for versions after specification 4.0,
    /// [`Checksum`](hyperslab_core::ErrorKind::Checksum) if a stored checksum does not match.
    fn decode(d: &mut Decoder<'_>, context: &Self::Context) -> Result<Self>;

    /// Appends the bytes that [`Structure::decode`] reads.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a value does not fit its field.
    fn encode(&self, e: &mut Encoder, context: &Self::Context) -> Result<()>;
}

/// Decodes a structure from bytes at `offset` of the file. Bytes after its end are ignored, because more space is often
/// allocated than a structure takes.
pub fn decode_prefix<S: Structure>(offset: u64, bytes: &[u8], context: &S::Context) -> Result<S> {
    S::decode(&mut Decoder::new(S::NAME, offset, bytes), context)
}

/// Decodes a structure whose end must be the end of the bytes.
pub fn decode_all<S: Structure>(d: Decoder<'_>, context: &S::Context) -> Result<S> {
    let mut d = d.named(S::NAME);
    let value = S::decode(&mut d, context)?;
    d.finish()?;
    Ok(value)
}

/// Reads the checksum at the cursor and compares it with that of the bytes since `start`, a copy of the cursor at the
/// first checksummed byte.
pub fn verify_checksum(start: &Decoder<'_>, d: &mut Decoder<'_>) -> Result<()> {
    let len = start.remaining().saturating_sub(d.remaining());
    let computed = checksum::lookup3(start.clone().take(len)?);
    let at = d.clone();
    let stored = d.u32()?;
    if stored != computed {
        return Err(at.error(
            ErrorKind::Checksum,
            format!("checksum mismatch: stored {stored:#010x}, computed {computed:#010x}"),
        ));
    }
    Ok(())
}

/// Appends the checksum of the bytes since `start`.
pub fn append_checksum(e: &mut Encoder, start: usize) -> Result<()> {
    let covered = e.as_slice().get(start..).ok_or_else(|| Error::invalid("checksum begins past the end"))?;
    let sum = checksum::lookup3(covered);
    e.u32(sum);
    Ok(())
}
