//! LZ4 blocks, and how the HDF5 filter (id 32004 in its registry) and numcodecs frame them.
//!
//! The frame of numcodecs is the decoded size in four bytes, least significant first, and one block.
//!
//! The frame of the filter: the decoded size in eight bytes, the size of a block in four, both most significant byte first, then
//! the blocks, each behind its stored size in four. A block of as many stored bytes as decoded ones is not compressed.
//!
//! Spec: LZ4 Block Format

mod encode;

pub(crate) use encode::{DEFAULT, Effort, encode_block, encode_shorter};

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use hyperslab_core::{Error, Result};
use lz4_flex::block::{decompress_into, decompress_into_with_dict};

/// LZ4 blocks in the frame of the HDF5 filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lz4Hdf5 {
    /// Decoded bytes of a block, only for encoding; 0 for the filter's default of 1 GiB.
    pub block: u32,
}

impl Lz4Hdf5 {
    fn block(&self, raw: usize) -> usize {
        let block = if self.block == 0 { DEFAULT_BLOCK } else { self.block };
        usize::try_from(block).unwrap_or(usize::MAX).min(raw).max(1)
    }
}

impl Transform for Lz4Hdf5 {
    fn decoded_sizes(&self, _: usize, most: usize) -> Option<(usize, usize)> {
        Some((0, most.checked_sub(HEADER)?.saturating_mul(MAX_RATIO)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        let Some((size, _)) = stored.split_first_chunk() else {
            return Err(Error::malformed(format!(
                "{} bytes, an LZ4 frame begins with {HEADER}",
                stored.len()
            )));
        };
        Ok(Some(usize::try_from(u64::from_be_bytes(*size)).unwrap_or(usize::MAX)))
    }

    fn most_encoded(&self, raw: usize) -> usize {
        let sizes = raw.div_ceil(self.block(raw)).saturating_mul(4);
        raw.saturating_add(sizes).saturating_add(HEADER)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let size = self.declared_size(stored)?.unwrap_or(0);
        let out = room(out, size)?;
        let Some((block, mut left)) = stored.get(8..).and_then(<[u8]>::split_first_chunk) else {
            return Err(Error::malformed(format!(
                "{} bytes, an LZ4 frame begins with {HEADER}",
                stored.len()
            )));
        };
        let block = usize::try_from(u32::from_be_bytes(*block)).unwrap_or(usize::MAX);
        if block == 0 && size > 0 {
            return Err(Error::malformed("LZ4 blocks of 0 bytes"));
        }
        for piece in out.chunks_mut(block.max(1)) {
            let Some((len, rest)) = left.split_first_chunk() else { return Err(ends_early(stored)) };
            let len = usize::try_from(u32::from_be_bytes(*len)).unwrap_or(usize::MAX);
            let Some((data, rest)) = rest.split_at_checked(len) else { return Err(ends_early(stored)) };
            if len == piece.len() {
                piece.copy_from_slice(data);
            } else {
                decode_block(data, piece)?;
            }
            left = rest;
        }
        Ok(size)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        let block = self.block(raw.len());
        let Ok(block_field) = u32::try_from(block) else {
            return Err(Error::invalid(format!("LZ4 blocks of {block} bytes, expected less than 4 GiB")));
        };
        out.clear();
        out.extend_from_slice(&(raw.len() as u64).to_be_bytes());
        out.extend_from_slice(&block_field.to_be_bytes());
        for piece in raw.chunks(block) {
            let at = out.len();
            out.extend_from_slice(&[0; 4]);
            encode_block(piece, DEFAULT, out, coders)?;
            if out.len() - at - 4 >= piece.len() {
                out.truncate(at + 4);
                out.extend_from_slice(piece);
            }
            let len = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
            if let Some(field) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
                *field = len.to_be_bytes();
            }
        }
        Ok(())
    }
}

impl Vocabulary for Lz4Hdf5 {
    const NAMES: &'static [&'static str] = &["lz4"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        given.only_default("acceleration")?;
        given.only_default("level")?;
        Ok(Lz4Hdf5 { block: given.int("block")? })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("lz4", [("block", int(self.block))])
    }
}

/// An LZ4 block behind its decoded size, as numcodecs frames it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lz4Numcodecs {
    /// How fast to encode, only for encoding: 1 or more, of which more is faster and larger.
    pub acceleration: u32,
}

impl Transform for Lz4Numcodecs {
    fn decoded_sizes(&self, _: usize, most: usize) -> Option<(usize, usize)> {
        Some((0, most.checked_sub(SIZE)?.saturating_mul(MAX_RATIO)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        split_size(stored).map(|(size, _)| Some(size))
    }

    fn most_encoded(&self, raw: usize) -> usize {
        encode::bound(raw).saturating_add(SIZE)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let (size, block) = split_size(stored)?;
        decode_block(block, room(out, size)?)?;
        Ok(size)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        let size = i32::try_from(raw.len())
            .map_err(|_| Error::invalid(format!("{} bytes in one LZ4 block of at most 2 GiB", raw.len())))?;
        out.clear();
        out.extend_from_slice(&size.to_le_bytes());
        encode_block(raw, Effort::Acceleration(self.acceleration), out, coders)
    }
}

impl Vocabulary for Lz4Numcodecs {
    const NAMES: &'static [&'static str] = &["lz4"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        given.only_default("block")?;
        given.only_default("level")?;
        Ok(Lz4Numcodecs { acceleration: given.int("acceleration")? })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("lz4", [("acceleration", int(self.acceleration))])
    }
}

fn split_size(stored: &[u8]) -> Result<(usize, &[u8])> {
    let Some((size, block)) = stored.split_first_chunk() else {
        return Err(Error::malformed(format!("{} bytes, an LZ4 frame begins with {SIZE}", stored.len())));
    };
    let size = i32::from_le_bytes(*size);
    match usize::try_from(size) {
        Ok(size) => Ok((size, block)),
        Err(_) => Err(Error::malformed(format!("an LZ4 block of {size} bytes"))),
    }
}

/// Decodes one block that holds exactly as many bytes as `out`.
pub(crate) fn decode_block(stored: &[u8], out: &mut [u8]) -> Result<()> {
    match decompress_into(stored, out) {
        Ok(len) if len == out.len() => Ok(()),
        _ => Err(Error::malformed(format!("{} bytes are no LZ4 block of {}", stored.len(), out.len()))),
    }
}

/// The same for a block that may refer to what `dictionary` ends with.
pub(crate) fn decode_block_with(dictionary: &[u8], stored: &[u8], out: &mut [u8]) -> Result<()> {
    match decompress_into_with_dict(stored, out, dictionary) {
        Ok(len) if len == out.len() => Ok(()),
        _ => Err(Error::malformed(format!("{} bytes are no LZ4 block of {}", stored.len(), out.len()))),
    }
}

/// A byte of length stands for at most 255.
pub(crate) const MAX_RATIO: usize = 255;

const HEADER: usize = 12;
const SIZE: usize = 4;
const DEFAULT_BLOCK: u32 = 1 << 30;

fn ends_early(stored: &[u8]) -> Error {
    Error::malformed(format!("{} bytes end within an LZ4 frame", stored.len()))
}
