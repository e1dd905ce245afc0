//! The compressors of the streams within a block.

use super::{BloscCodec, blosclz};
use crate::coders::Coders;
use crate::lz4::Effort;
use crate::zstd::Zstd;
use crate::{lz4, snappy};
use hyperslab_core::{Error, Result};

/// The compressed format that the header of a chunk names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    BloscLz = 0,
    Lz4 = 1,
    Snappy = 2,
    Zlib = 3,
    Zstd = 4,
}

impl Format {
    /// The format with this number. For a user-defined codec, `other` is its number.
    pub(super) fn new(number: u8, other: u8) -> Result<Format> {
        Ok(match number {
            0 => Format::BloscLz,
            1 => Format::Lz4,
            2 => Format::Snappy,
            3 => Format::Zlib,
            4 => Format::Zstd,
            6 => return Err(Error::unsupported(format!("Blosc codec {other}{}", name(other)))),
            _ => return Err(Error::unsupported(format!("Blosc codec format {number}, expected 0 to 4"))),
        })
    }

    pub(super) fn of(codec: BloscCodec) -> Format {
        match codec {
            BloscCodec::BloscLz => Format::BloscLz,
            BloscCodec::Lz4 | BloscCodec::Lz4Hc => Format::Lz4,
            BloscCodec::Snappy => Format::Snappy,
            BloscCodec::Zlib => Format::Zlib,
            BloscCodec::Zstd => Format::Zstd,
        }
    }

    /// Decodes a stream of exactly as many bytes as `out`.
    pub(super) fn decode(
        self,
        stored: &[u8],
        out: &mut [u8],
        dictionary: &[u8],
        coders: &mut Coders,
    ) -> Result<()> {
        let found = match (self, dictionary) {
            (Format::BloscLz, _) => return blosclz::decode(stored, out),
            (Format::Lz4, []) => return lz4::decode_block(stored, out),
            (Format::Lz4, dictionary) => return lz4::decode_block_with(dictionary, stored, out),
            (Format::Snappy, _) => snappy::decode(stored, out)?,
            (Format::Zlib, _) => coders.deflate.decode(stored, out)?,
            (Format::Zstd, []) => coders.zstd.decode(stored, out)?,
            (Format::Zstd, dictionary) => coders.zstd.decode_with(dictionary, stored, out)?,
        };
        if found == out.len() {
            return Ok(());
        }
        Err(Error::malformed(format!("Blosc stream decodes to {found} bytes, expected {}", out.len())))
    }
}

/// Appends `raw` as a stream. Returns false if it would not be shorter than `raw`.
pub(super) fn encode(
    codec: BloscCodec,
    level: u8,
    raw: &[u8],
    out: &mut Vec<u8>,
    coders: &mut Coders,
) -> Result<bool> {
    match codec {
        BloscCodec::BloscLz => blosclz::encode(raw, out),
        BloscCodec::Lz4 => {
            return lz4::encode_shorter(raw, Effort::Acceleration((10 - level.min(9)).into()), out, coders);
        }
        BloscCodec::Lz4Hc => return lz4::encode_shorter(raw, Effort::Level(level), out, coders),
        BloscCodec::Snappy => snappy::append(raw, out)?,
        BloscCodec::Zlib => {
            let mut stream = std::mem::take(&mut coders.stream);
            coders.deflate.encode(level, raw, &mut stream)?;
            out.extend_from_slice(&stream);
            coders.stream = stream;
        }
        BloscCodec::Zstd => {
            let level = if level >= 9 { 22 } else { i32::from(level) * 2 - 1 };
            coders.zstd.encode(&Zstd { level, checksum: false }, raw, out)?;
        }
    }
    Ok(true)
}

fn name(other: u8) -> &'static str {
    match other {
        32 => " (ndlz)",
        33 => " (zfp, fixed accuracy)",
        34 => " (zfp, fixed precision)",
        35 => " (zfp, fixed rate)",
        36 => " (openhtj2k)",
        37 => " (grok)",
        38 => " (openzl)",
        39 => " (j2k)",
        40 => " (htj2k)",
        _ => "",
    }
}
