//! The data that passes from filter to filter.

use hyperslab_core::memory::check_memory;
use hyperslab_core::{Decoder, Error, ErrorKind, Result};

/// One filter, for the datatype that reaches it.
pub(crate) trait Transform: Send + Sync {
    /// Decodes the data to `out`, and replaces the content of `rest` with the metadata of the filters before this one.
    fn decode(&self, from: Part<'_>, out: Output<'_>, rest: &mut Vec<u8>, work: &mut Work) -> Result<()>;

    /// Replaces the content of `to` with the metadata and data that this filter produces from `from`.
    fn encode(&self, from: Part<'_>, to: &mut Filtered, work: &mut Work) -> Result<()>;
}

/// A chunk between two filters.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// The metadata of the filters that the chunk has passed through.
    pub(crate) metadata: &'a [u8],
    pub(crate) data: &'a [u8],
    /// The file offset of the chunk, for errors.
    pub(crate) stored_at: u64,
}

impl<'a> Part<'a> {
    /// A cursor over the metadata, for the filter `name`.
    pub(crate) fn decoder(&self, name: &'static str) -> Decoder<'a> {
        Decoder::decoded(name, "chunk metadata", self.stored_at, self.metadata)
    }

    /// The data cut into parts, whose number and lengths are at the cursor.
    pub(crate) fn cut(&self, d: &mut Decoder<'_>) -> Result<Vec<&'a [u8]>> {
        let count = u64::from(d.u32()?);
        let count = d.count(count, 4)?;
        let mut parts = Vec::with_capacity(count);
        let mut left = self.data;
        for _ in 0..count {
            parts.push(take_part(d, &mut left)?);
        }
        all_taken(d, left)?;
        Ok(parts)
    }
}

/// Takes the number of bytes given by the length at the cursor from `left`.
fn take_part<'a>(d: &mut Decoder<'_>, left: &mut &'a [u8]) -> Result<&'a [u8]> {
    let at = d.clone();
    let len = d.u32()?;
    let parts = usize::try_from(len).ok().and_then(|len| left.split_at_checked(len));
    let Some((part, rest)) = parts else {
        return Err(at.malformed(format!("a part of {len} bytes, {} remain", left.len())));
    };
    *left = rest;
    Ok(part)
}

/// Checks that the parts cover all of the data.
pub(crate) fn all_taken(d: &Decoder<'_>, left: &[u8]) -> Result<()> {
    match left.is_empty() {
        true => Ok(()),
        false => Err(d.malformed(format!("{} bytes of data belong to no part", left.len()))),
    }
}

/// Metadata and data that a filter produced.
#[derive(Default)]
pub(crate) struct Filtered {
    pub(crate) metadata: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

/// The destination of decoded data.
pub(crate) enum Output<'o> {
    /// The place of the chunk in the tile, which the data must fill.
    Place(&'o mut [u8]),
    /// A buffer, for the next filter.
    Buffer(&'o mut Vec<u8>),
}

impl<'o> Output<'o> {
    /// Room for `len` bytes, which replace the previous content.
    ///
    /// # Errors
    /// If the place has another length, or a buffer would exceed the maximum.
    pub(crate) fn room(self, len: usize, work: &Work) -> Result<&'o mut [u8]> {
        match self {
            Output::Place(place) if place.len() == len => Ok(place),
            Output::Place(place) => {
                Err(Error::malformed(format!("decodes to {len} bytes, expected {}", place.len())))
            }
            Output::Buffer(buffer) => resized(buffer, len, work),
        }
    }
}

/// A buffer of `len` bytes.
///
/// # Errors
/// If that exceeds the maximum.
pub(crate) fn resized<'o>(buffer: &'o mut Vec<u8>, len: usize, work: &Work) -> Result<&'o mut [u8]> {
    if len > work.max {
        let detail = format!("decodes to {len} bytes, at most {} are expected", work.max);
        return Err(Error::new(ErrorKind::Malformed, detail));
    }
    check_memory(len)?;
    buffer.truncate(len);
    buffer.resize(len, 0);
    Ok(buffer)
}

/// What filters share, reused from chunk to chunk.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) codec: hyperslab_codec::Scratch,
    /// A buffer for bytes that are appended to others.
    pub(crate) buffer: Vec<u8>,
    /// The maximum number of decoded bytes between two filters.
    pub(crate) max: usize,
}

/// Replaces the content of `to` with `own` and the metadata of the filters before.
pub(crate) fn prepend(to: &mut Vec<u8>, own: &[u8], before: &[u8]) {
    to.clear();
    to.extend_from_slice(own);
    to.extend_from_slice(before);
}

/// A length in 32 bits, as files store it.
///
/// # Errors
/// If it does not fit.
pub(crate) fn len32(len: usize) -> Result<[u8; 4]> {
    match u32::try_from(len) {
        Ok(len) => Ok(len.to_le_bytes()),
        Err(_) => Err(Error::invalid(format!("{len} bytes in one chunk, expected less than 4 GiB"))),
    }
}

/// Takes the first `len` bytes of `out`.
pub(crate) fn take_room<'o>(out: &mut &'o mut [u8], len: usize) -> Result<&'o mut [u8]> {
    match std::mem::take(out).split_at_mut_checked(len) {
        Some((piece, rest)) => {
            *out = rest;
            Ok(piece)
        }
        None => Err(Error::malformed(format!("no room for {len} bytes"))),
    }
}
