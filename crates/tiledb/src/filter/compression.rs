//! Compressors: metadata and data in parts, each compressed separately.
//!
//! The metadata contains the size of each part before and after compression, those of metadata first. The metadata that
//! filters before a compressor produced becomes data.
//!
//! Spec: TileDB format_spec, filters/compression.md

use super::number::Integer;
use super::part::{Filtered, Output, Part, Transform, Work, all_taken, len32, resized, take_room};
use super::{delta, double_delta, rle};
use crate::format::data_type::DataType;
use crate::format::filter_pipeline::Filter;
use hyperslab_codec::{Bzip2, Codec, Deflate, Lz4Block, Zstd, check_size, decode, encode_to};
use hyperslab_core::{Decoder, Error, Result};

/// A compressor of parts.
pub(crate) struct Compression {
    name: &'static str,
    compressor: Compressor,
}

enum Compressor {
    /// A codec of bytes.
    Codec([Codec; 1]),
    /// Runs of cells of this size in bytes.
    Rle(usize),
    DoubleDelta(Integer),
    Delta(Integer),
}

impl Compression {
    /// The compressor of a filter that receives values of `data_type`, in cells of `cell` bytes. `None` if the filter
    /// is not a compressor.
    ///
    /// # Errors
    /// For datatypes without differences.
    pub(crate) fn new(filter: &Filter, data_type: DataType, cell: u64) -> Result<Option<Compression>> {
        let codec = |codec: Codec| Compressor::Codec([codec]);
        let (name, compressor) = match *filter {
            Filter::Gzip { level } => {
                ("GZIP Filter", codec(Deflate { level: level_or(level, 0, 6)? }.into()))
            }
            Filter::Zstd { level } => {
                // TileDB's minimum level is -7.
                let level = if level < -7 { 3 } else { level };
                ("ZSTD Filter", codec(Zstd { level, checksum: false }.into()))
            }
            Filter::Lz4 { .. } => ("LZ4 Filter", codec(Lz4Block.into())),
            Filter::Bzip2 { level } => {
                ("BZIP2 Filter", codec(Bzip2 { level: level_or(level, 1, 1)? }.into()))
            }
            Filter::Rle { .. } => {
                ("RLE Filter", Compressor::Rle(usize::try_from(cell).unwrap_or(usize::MAX)))
            }
            Filter::DoubleDelta { reinterpret, .. } => {
                ("Double Delta Filter", Compressor::DoubleDelta(differences(reinterpret, data_type)?))
            }
            Filter::Delta { reinterpret, .. } => {
                ("Delta Filter", Compressor::Delta(differences(reinterpret, data_type)?))
            }
            _ => return Ok(None),
        };
        Ok(Some(Compression { name, compressor }))
    }

    /// Checks that a part can decode to `len` bytes, before they are allocated.
    fn check(&self, stored: &[u8], len: usize) -> Result<()> {
        match &self.compressor {
            Compressor::Codec(codec) => check_size(codec, stored, len),
            Compressor::Rle(cell) => rle::check(*cell, stored, len),
            Compressor::DoubleDelta(integer) => double_delta::check(*integer, stored, len),
            Compressor::Delta(integer) => delta::check(*integer, stored, len).map(drop),
        }
    }

    fn decode_part(&self, stored: &[u8], out: &mut [u8], work: &mut Work) -> Result<()> {
        match &self.compressor {
            Compressor::Codec(codec) => decode(codec, stored, out, &mut work.codec),
            Compressor::Rle(cell) => rle::decode(*cell, stored, out),
            Compressor::DoubleDelta(integer) => double_delta::decode(*integer, stored, out),
            Compressor::Delta(integer) => delta::decode(*integer, stored, out),
        }
    }

    /// The codec for bytes. `None` if the compressor encodes numbers.
    pub(super) fn codec(&self) -> Option<&Codec> {
        match &self.compressor {
            Compressor::Codec([codec]) => Some(codec),
            _ => None,
        }
    }

    /// Appends an encoded part to the data, and its sizes to the metadata.
    pub(super) fn encode_part(&self, raw: &[u8], to: &mut Filtered, work: &mut Work) -> Result<()> {
        let at = to.data.len();
        match &self.compressor {
            Compressor::Codec(codec) if at == 0 => encode_to(codec, raw, &mut to.data, &mut work.codec)?,
            Compressor::Codec(codec) => {
                encode_to(codec, raw, &mut work.buffer, &mut work.codec)?;
                to.data.extend_from_slice(&work.buffer);
            }
            Compressor::Rle(cell) => rle::encode(*cell, raw, &mut to.data)?,
            Compressor::DoubleDelta(integer) => double_delta::encode(*integer, raw, &mut to.data)?,
            Compressor::Delta(integer) => delta::encode(*integer, raw, &mut to.data)?,
        }
        to.metadata.extend_from_slice(&len32(raw.len())?);
        to.metadata.extend_from_slice(&len32(to.data.len() - at)?);
        Ok(())
    }
}

impl Transform for Compression {
    fn decode(&self, from: Part<'_>, out: Output<'_>, rest: &mut Vec<u8>, work: &mut Work) -> Result<()> {
        let mut d = from.decoder(self.name);
        let counts = [d.u32()?, d.u32()?].map(u64::from);
        d.count(counts.iter().sum(), 8)?;
        // All sizes are known and valid before anything is allocated.
        let (mut sizes, mut left, mut lens) = (d.clone(), from.data, [0_usize; 2]);
        for (len, count) in lens.iter_mut().zip(counts) {
            for _ in 0..count {
                let (raw, stored) = part(&mut sizes, &mut left)?;
                self.check(stored, raw)?;
                *len = len.saturating_add(raw);
            }
        }
        all_taken(&sizes, left)?;
        sizes.finish()?;
        let [of_metadata, of_data] = counts;
        let [metadata_len, data_len] = lens;
        let mut left = from.data;
        let mut metadata = resized(rest, metadata_len, work)?;
        for _ in 0..of_metadata {
            let (raw, stored) = part(&mut d, &mut left)?;
            self.decode_part(stored, take_room(&mut metadata, raw)?, work)?;
        }
        let mut data = out.room(data_len, work)?;
        for _ in 0..of_data {
            let (raw, stored) = part(&mut d, &mut left)?;
            self.decode_part(stored, take_room(&mut data, raw)?, work)?;
        }
        Ok(())
    }

    fn encode(&self, from: Part<'_>, to: &mut Filtered, work: &mut Work) -> Result<()> {
        to.metadata.clear();
        to.data.clear();
        let has_metadata = !from.metadata.is_empty();
        to.metadata.extend_from_slice(&u32::from(has_metadata).to_le_bytes());
        to.metadata.extend_from_slice(&1_u32.to_le_bytes());
        if has_metadata {
            self.encode_part(from.metadata, to, work)?;
        }
        self.encode_part(from.data, to, work)
    }
}

/// Takes the sizes of a part, and its bytes from `left`. Returns them with the decoded size.
fn part<'a>(d: &mut Decoder<'_>, left: &mut &'a [u8]) -> Result<(usize, &'a [u8])> {
    let at = d.clone();
    let (raw, len) = (d.u32()?, d.u32()?);
    let parts = usize::try_from(len).ok().and_then(|len| left.split_at_checked(len));
    let Some((stored, rest)) = parts else {
        return Err(at.malformed(format!("a part of {len} bytes, {} remain", left.len())));
    };
    *left = rest;
    Ok((usize::try_from(raw).unwrap_or(usize::MAX), stored))
}

/// A level, or the default if it is below the minimum.
fn level_or(level: i32, least: i32, default: u8) -> Result<u8> {
    if level < least {
        return Ok(default);
    }
    u8::try_from(level).map_err(|_| Error::malformed(format!("level {level}, expected at most 9")))
}

/// The integer type whose differences are taken.
fn differences(reinterpret: Option<DataType>, data_type: DataType) -> Result<Integer> {
    let data_type = reinterpret.unwrap_or(data_type);
    match data_type {
        DataType::Float32 | DataType::Float64 => {
            Err(Error::malformed(format!("differences of {}, expected integers", data_type.name())))
        }
        // Text is treated as bytes, whatever the size of its code units.
        DataType::Char => Ok(Integer::I8),
        _ => Ok(Integer::of_number(data_type).unwrap_or(Integer::U8)),
    }
}
