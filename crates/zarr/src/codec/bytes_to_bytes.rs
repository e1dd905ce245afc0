//! Codecs from bytes to bytes, by the names of both versions.
//!
//! Spec: Zarr v3 "Codecs", zarr-extensions/codecs/zstd, numcodecs

use super::{boolean, crc32c};
use crate::json::{Json, Object, Spot};
use crate::metadata::Extension;
use bytes::Bytes;
use hyperslab_codec::{
    Blosc, BloscCodec, BloscShuffle, Bzip2, Codec, Deflate, Gzip, Scratch, Zstd, check_size, decode,
};
use hyperslab_core::{Error, Result};

/// What bytes pass, first to last.
#[derive(Clone, Debug, Default)]
pub(super) struct Stages(Vec<Stage>);

#[derive(Clone, Debug)]
enum Stage {
    Codecs(Vec<Codec>),
    Crc32c,
}

impl Stages {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push_codec(&mut self, codec: impl Into<Codec>) {
        match self.0.last_mut() {
            Some(Stage::Codecs(codecs)) => codecs.push(codec.into()),
            _ => self.0.push(Stage::Codecs(vec![codec.into()])),
        }
    }

    /// Adds a codec of version 3; false if it is none that is known.
    pub(super) fn push_registered(&mut self, codec: &Extension, at: &Spot<'_>) -> Result<bool> {
        let empty = Object::new();
        let parameters = codec.configuration.as_ref().unwrap_or(&empty);
        let inner = at.name("configuration");
        match codec.name.as_str() {
            "crc32c" => self.0.push(Stage::Crc32c),
            "gzip" | "zstd" | "blosc" => return self.push_numcodecs(&codec.name, parameters, &inner),
            name => match name.strip_prefix("numcodecs.") {
                Some(id) => return self.push_numcodecs(id, parameters, &inner),
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    /// Adds a codec by its name in numcodecs; false if it is none that is known.
    pub(super) fn push_numcodecs(&mut self, id: &str, parameters: &Object, at: &Spot<'_>) -> Result<bool> {
        let level = |default: u8| match parameters.get("level") {
            Some(json) => level(json, &at.name("level")),
            None => Ok(default),
        };
        match id {
            "zlib" => self.push_codec(Deflate { level: level(1)? }),
            "gzip" => self.push_codec(Gzip { level: level(1)? }),
            "bz2" => self.push_codec(Bzip2 { level: level(1)? }),
            "zstd" => {
                let level = match parameters.get("level") {
                    Some(Json::Number(level)) => level.as_integer().and_then(|level| level.try_into().ok()),
                    _ => Some(0),
                };
                let level = level.ok_or_else(|| at.name("level").malformed("expected an integer"))?;
                self.push_codec(Zstd { level, checksum: boolean(parameters.get("checksum")) });
            }
            "blosc" => self.push_codec(blosc(parameters, at)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Undoes all of it; `len` bytes are to come out.
    pub(super) fn decode(&self, stored: Bytes, len: usize, scratch: &mut Scratch) -> Result<Bytes> {
        let mut bytes = stored;
        let mut left = self.0.as_slice();
        while let Some((stage, before)) = left.split_last() {
            left = before;
            bytes = match stage {
                Stage::Crc32c => crc32c::undo(&bytes)?,
                Stage::Codecs(codecs) => {
                    // A checksum adds four bytes; what a compressor adds, nobody knows.
                    let sums = before.iter().filter(|stage| matches!(stage, Stage::Crc32c)).count();
                    if sums < before.len() {
                        return Err(Error::unsupported("a compressor of what is compressed and checksummed"));
                    }
                    let len = sums.checked_mul(4).and_then(|sums| sums.checked_add(len));
                    let len = len.ok_or_else(|| Error::malformed("a chunk beyond all memory"))?;
                    check_size(codecs, &bytes, len)?;
                    let mut out = vec![0; len];
                    decode(codecs, &bytes, &mut out, scratch)?;
                    out.into()
                }
            };
        }
        match bytes.len() == len {
            true => Ok(bytes),
            false => Err(Error::malformed(format!("a chunk of {} bytes, expected {len}", bytes.len()))),
        }
    }

    /// Undoes it where the length is not known, which only checksums allow.
    pub(super) fn undo_checksums(&self, stored: Bytes) -> Result<Bytes> {
        self.0.iter().rev().try_fold(stored, |bytes, stage| match stage {
            Stage::Crc32c => crc32c::undo(&bytes),
            Stage::Codecs(_) => Err(Error::unsupported("a compressor of whole shards")),
        })
    }
}

fn blosc(parameters: &Object, at: &Spot<'_>) -> Result<Blosc> {
    let number = |name: &str, default: u64| match parameters.get(name) {
        Some(json) => json.unsigned(&at.name(name)),
        None => Ok(default),
    };
    let here = at.name("cname");
    let codec = match parameters.get("cname").map_or(Ok("lz4"), |json| json.text(&here))? {
        "blosclz" => BloscCodec::BloscLz,
        "lz4" => BloscCodec::Lz4,
        "lz4hc" => BloscCodec::Lz4Hc,
        "snappy" => BloscCodec::Snappy,
        "zlib" => BloscCodec::Zlib,
        "zstd" => BloscCodec::Zstd,
        other => return Err(here.malformed(format!("{other:?}, expected a compressor of Blosc"))),
    };
    let element = usize::try_from(number("typesize", 1)?).unwrap_or(usize::MAX);
    let here = at.name("shuffle");
    let shuffle = match parameters.get("shuffle") {
        None => BloscShuffle::Byte,
        Some(Json::String(name)) => match name.as_str() {
            "noshuffle" => BloscShuffle::None,
            "shuffle" => BloscShuffle::Byte,
            "bitshuffle" => BloscShuffle::Bit,
            other => return Err(here.malformed(format!("{other:?}, expected a shuffle of Blosc"))),
        },
        // Version 2 has numbers; -1 leaves the choice to Blosc.
        Some(Json::Number(number)) => match (number.as_integer(), element) {
            (Some(0), _) => BloscShuffle::None,
            (Some(1), _) => BloscShuffle::Byte,
            (Some(2), _) | (Some(-1), 1) => BloscShuffle::Bit,
            (Some(-1), _) => BloscShuffle::Byte,
            _ => return Err(here.malformed(format!("{number}, expected -1 to 2"))),
        },
        Some(other) => return Err(other.is_not("a shuffle of Blosc", &here)),
    };
    let here = at.name("clevel");
    let level = u8::try_from(number("clevel", 5)?).map_err(|_| here.malformed("expected 0 to 9"))?;
    let block = u32::try_from(number("blocksize", 0)?).unwrap_or_default();
    Ok(Blosc { codec, level, shuffle, element, block })
}

fn level(json: &Json, at: &Spot<'_>) -> Result<u8> {
    let Json::Number(number) = json else { return Err(json.is_not("an integer", at)) };
    match number.as_integer() {
        // zlib's own choice, which is what 6 means.
        Some(-1) => Ok(6),
        Some(level) => u8::try_from(level).map_err(|_| at.malformed(format!("{level}, expected -1 to 9"))),
        None => Err(at.malformed(format!("{number}, expected an integer"))),
    }
}
