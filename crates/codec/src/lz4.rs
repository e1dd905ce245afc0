//! LZ4 blocks, alone as in TileDB, and their frames in the HDF5 filter (id 32004 in its registry) and in numcodecs.
//!
//! The frame of numcodecs is the decoded size in four bytes, little-endian, and one block.
//!
//! The frame of the HDF5 filter is the decoded size in eight bytes and the decoded size of a block in four, both
//! big-endian, then the blocks. Each block follows its stored size in four bytes. If the stored size equals the
//! decoded size, the block is not compressed.
//!
//! Spec: LZ4 Block Format

mod encode;

pub(crate) use encode::{DEFAULT, Effort, encode_block, encode_shorter};

use crate::codec::{Transform, room, too_long};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use hyperslab_core::{Error, Result};
use lz4_flex::block::{DecompressError, decompress_into, decompress_into_with_dict};

/// One LZ4 block without a frame: its decoded size must be stored elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lz4Block;

impl Transform for Lz4Block {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.saturating_mul(MAX_RATIO)))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        encode::bound(raw)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let max = out.len();
        decompress_into(stored, out).map_err(|e| match e {
            DecompressError::OutputTooSmall { expected, .. } => too_long(expected, max),
            _ => Error::malformed(format!("{} bytes are not an LZ4 block", stored.len())),
        })
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        out.clear();
        encode_block(raw, DEFAULT, out, coders)
    }
}

impl Vocabulary for Lz4Block {
    // The name lz4 stands for the frames, whose decoded size is in the chunk.
    const NAMES: &'static [&'static str] = &[];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Err(given.not_by_name())
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        named("lz4", [])
    }
}

/// LZ4 blocks in the frame of the HDF5 filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lz4Hdf5 {
    /// The decoded size of a block in bytes, for encoding only. 0 for the default of the filter, 1 GiB.
    pub block: u32,
}

impl Lz4Hdf5 {
    fn block(&self, raw: usize) -> usize {
        let block = if self.block == 0 { DEFAULT_BLOCK } else { self.block };
        usize::try_from(block).unwrap_or(usize::MAX).min(raw).max(1)
    }
}

impl Transform for Lz4Hdf5 {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.checked_sub(HEADER)?.saturating_mul(MAX_RATIO)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        let Some((size, _)) = stored.split_first_chunk() else {
            return Err(Error::malformed(format!(
                "LZ4 frame of {} bytes, expected a header of {HEADER}",
                stored.len()
            )));
        };
        Ok(Some(usize::try_from(u64::from_be_bytes(*size)).unwrap_or(usize::MAX)))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        let sizes = raw.div_ceil(self.block(raw)).saturating_mul(4);
        raw.saturating_add(sizes).saturating_add(HEADER)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let size = self.declared_size(stored)?.unwrap_or(0);
        let out = room(out, size)?;
        let Some((block, mut left)) = stored.get(8..).and_then(<[u8]>::split_first_chunk) else {
            return Err(Error::malformed(format!(
                "LZ4 frame of {} bytes, expected a header of {HEADER}",
                stored.len()
            )));
        };
        let block = usize::try_from(u32::from_be_bytes(*block)).unwrap_or(usize::MAX);
        if block == 0 && size > 0 {
            return Err(Error::malformed("LZ4 block size 0, expected 1 or more"));
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
            return Err(Error::invalid(format!("LZ4 block size {block}, expected less than 4 GiB")));
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

/// An LZ4 block preceded by its decoded size, the frame of numcodecs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lz4Numcodecs {
    /// The acceleration of encoding, 1 or more, for encoding only. A higher value is faster and compresses less.
    pub acceleration: u32,
}

impl Transform for Lz4Numcodecs {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.checked_sub(SIZE)?.saturating_mul(MAX_RATIO)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        split_size(stored).map(|(size, _)| Some(size))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        encode::bound(raw).saturating_add(SIZE)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let (size, block) = split_size(stored)?;
        decode_block(block, room(out, size)?)?;
        Ok(size)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        let size = i32::try_from(raw.len()).map_err(|_| {
            Error::invalid(format!("{} bytes for one LZ4 block, expected less than 2 GiB", raw.len()))
        })?;
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
        return Err(Error::malformed(format!(
            "LZ4 frame of {} bytes, expected a header of {SIZE}",
            stored.len()
        )));
    };
    let size = i32::from_le_bytes(*size);
    match usize::try_from(size) {
        Ok(size) => Ok((size, block)),
        Err(_) => Err(Error::malformed(format!("negative size {size} of an LZ4 block"))),
    }
}

/// Decodes one block, which must hold exactly as many bytes as `out`.
pub(crate) fn decode_block(stored: &[u8], out: &mut [u8]) -> Result<()> {
    match decompress_into(stored, out) {
        Ok(len) if len == out.len() => Ok(()),
        _ => Err(Error::malformed(format!(
            "{} bytes are not an LZ4 block that decodes to {}",
            stored.len(),
            out.len()
        ))),
    }
}

/// Decodes one block that may refer back to the end of `dictionary`.
pub(crate) fn decode_block_with(dictionary: &[u8], stored: &[u8], out: &mut [u8]) -> Result<()> {
    match decompress_into_with_dict(stored, out, dictionary) {
        Ok(len) if len == out.len() => Ok(()),
        _ => Err(Error::malformed(format!(
            "{} bytes are not an LZ4 block that decodes to {}",
            stored.len(),
            out.len()
        ))),
    }
}

/// The maximum ratio of decoded to stored bytes: a length byte stands for at most 255.
pub(crate) const MAX_RATIO: usize = 255;

const HEADER: usize = 12;
const SIZE: usize = 4;
const DEFAULT_BLOCK: u32 = 1 << 30;

fn ends_early(stored: &[u8]) -> Error {
    Error::malformed(format!("LZ4 frame ends early, after {} bytes", stored.len()))
}
