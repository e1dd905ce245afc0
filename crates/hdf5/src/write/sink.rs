//! What builders of structures need from a file.

use crate::format::{Address, Sizes, Structure};
use crate::space::SpaceKind;
use hyperslab_core::{Encoder, Result};

/// A file that is being measured or written.
///
/// A builder allocates a block once it knows its length, and writes it once it knows its bytes, in any order. It makes
/// the same requests whether the file is being measured or written.
pub trait Sink {
    /// The widths of addresses and lengths.
    fn sizes(&self) -> Sizes;

    /// Allocates `len` bytes.
    ///
    /// # Errors
    /// If addresses of the file are too narrow for them.
    fn allocate(&mut self, kind: SpaceKind, len: u64) -> Result<Address>;

    /// Whether bytes are discarded, so that they need not be produced. Builders with large blocks check this.
    fn is_measuring(&self) -> bool;

    /// Writes allocated bytes.
    ///
    /// # Errors
    /// If the storage cannot be written.
    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<()>;
}

/// Encodes a structure, and allocates and writes its bytes.
pub(crate) fn put<S: Structure>(
    sink: &mut dyn Sink,
    kind: SpaceKind,
    structure: &S,
    context: &S::Context,
) -> Result<Address> {
    let mut e = Encoder::new();
    structure.encode(&mut e, context)?;
    let address = sink.allocate(kind, e.len() as u64)?;
    sink.write(address, e.as_slice())?;
    Ok(address)
}

/// Encodes a structure, and writes its bytes to an allocated place.
pub(crate) fn put_at<S: Structure>(
    sink: &mut dyn Sink,
    address: Address,
    structure: &S,
    context: &S::Context,
) -> Result<()> {
    let mut e = Encoder::new();
    structure.encode(&mut e, context)?;
    sink.write(address, e.as_slice())
}
