//! The structures of the specification: pure bytes to values and back, no I/O.
//!
//! A folder is a chapter, a file is a section and bears its name. `decode` and `encode` of a structure stand
//! in one `impl`, in field order, and are the only description of its layout.

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
/// `Context` is what the bytes do not say themselves: for most structures the [`Sizes`] of the file, for
/// some also facts of the structure that points to them.
///
/// Promise: any bytes may be decoded. The result is a value or an error; there is no panic, and no
/// allocation larger than a small multiple of the bytes at hand.
pub trait Structure: Sized {
    /// What the layout depends on beyond the bytes.
    type Context;

    /// The name in the specification, for errors.
    const NAME: &'static str;

    /// Decodes what begins at the cursor and leaves the cursor behind it.
    ///
    /// # Errors
    /// [`Malformed`](hyperslab_core::ErrorKind::Malformed) where the bytes break the specification,
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for versions beyond 4.0,
    /// [`Checksum`](hyperslab_core::ErrorKind::Checksum) where a stored checksum is not that of the bytes.
    fn decode(d: &mut Decoder<'_>, context: &Self::Context) -> Result<Self>;

    /// Appends the bytes that [`Structure::decode`] reads.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a value does not fit its field.
    fn encode(&self, e: &mut Encoder, context: &Self::Context) -> Result<()>;
}

/// Decodes a whole structure from bytes at `offset` of the file; bytes behind it are allowed, as
/// structures in files are often allocated longer than they are.
pub fn decode_prefix<S: Structure>(offset: u64, bytes: &[u8], context: &S::Context) -> Result<S> {
    S::decode(&mut Decoder::new(S::NAME, offset, bytes), context)
}

/// Decodes a whole structure that must end with the bytes.
pub fn decode_all<S: Structure>(d: Decoder<'_>, context: &S::Context) -> Result<S> {
    let mut d = d.named(S::NAME);
    let value = S::decode(&mut d, context)?;
    d.finish()?;
    Ok(value)
}

/// Reads the checksum at the cursor and compares it with that of everything since `start`, which is the
/// cursor as it stood at the first checksummed byte.
pub fn verify_checksum(start: &Decoder<'_>, d: &mut Decoder<'_>) -> Result<()> {
    let len = start.remaining().saturating_sub(d.remaining());
    let computed = checksum::lookup3(start.clone().take(len)?);
    let at = d.clone();
    let stored = d.u32()?;
    if stored != computed {
        return Err(at.error(
            ErrorKind::Checksum,
            format!("checksum {stored:#010x} is stored, the bytes give {computed:#010x}"),
        ));
    }
    Ok(())
}

/// Appends the checksum of everything written since `start`.
pub fn append_checksum(e: &mut Encoder, start: usize) -> Result<()> {
    let covered = e.as_slice().get(start..).ok_or_else(|| Error::invalid("checksum begins past the end"))?;
    let sum = checksum::lookup3(covered);
    e.u32(sum);
    Ok(())
}
