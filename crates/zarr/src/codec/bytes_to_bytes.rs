//! Codecs by their names in numcodecs, some of which version 3 registers.
//!
//! Spec: Zarr v3 "Codecs", zarr-extensions/codecs/zstd, numcodecs

use super::{elements, lzma};
use crate::json::{Json, Object, Spot};
use hyperslab_codec::{
    Base64, Blosc, BloscCodec, BloscShuffle, Bzip2, Checksum, ChecksumAlgorithm, Codec, Deflate, Fletcher32,
    Gzip, Lz4Numcodecs, Number, NumberKind, Shuffle, ZfpMode, ZfpNumber, ZfpStream, Zstd,
};
use hyperslab_core::Result;

/// What is known of what a codec gets.
pub(super) struct Passing {
    /// Bytes of an element; 1 behind a compressor.
    pub(super) element: usize,
    /// What the elements are numbers of, if they are.
    pub(super) number: Option<Number>,
    /// Bytes of an element for a shuffle that does not say it.
    pub(super) default_element: usize,
}

impl Passing {
    /// A codec by its name in numcodecs; none if it is none that is known.
    pub(super) fn parse(&self, id: &str, parameters: &Object, at: &Spot<'_>) -> Result<Option<Codec>> {
        let level = |default: u8| match parameters.get("level") {
            Some(json) => level(json, &at.name("level")),
            None => Ok(default),
        };
        Ok(Some(match id {
            "zlib" => Deflate { level: level(1)? }.into(),
            "gzip" => Gzip { level: level(1)? }.into(),
            "bz2" => Bzip2 { level: level(1)? }.into(),
            "zstd" => zstd(parameters, at)?.into(),
            "lz4" => Lz4Numcodecs.into(),
            "blosc" => self.blosc(parameters, at)?.into(),
            "shuffle" => {
                let element = match parameters.get("elementsize") {
                    None | Some(Json::Null) => self.default_element,
                    Some(json) => {
                        usize::try_from(json.unsigned(&at.name("elementsize"))?).unwrap_or(usize::MAX)
                    }
                };
                Shuffle { element }.into()
            }
            "fletcher32" => Fletcher32.into(),
            "crc32" => checksum(ChecksumAlgorithm::Crc32, true, parameters, at)?.into(),
            "adler32" => checksum(ChecksumAlgorithm::Adler32, true, parameters, at)?.into(),
            "crc32c" => checksum(ChecksumAlgorithm::Crc32c, false, parameters, at)?.into(),
            "jenkins_lookup3" => lookup3(parameters, at)?.into(),
            "base64" => Base64.into(),
            "lzma" => lzma::parse(parameters, at)?.into(),
            "zfpy" => self.zfp(parameters, at)?.into(),
            id => return elements::parse(id, parameters, self.number, at),
        }))
    }

    /// What the next codec gets.
    pub(super) fn follow(&mut self, codec: &Codec) {
        match elements::made(codec) {
            Some(number) => (self.element, self.number) = (number.size(), Some(number)),
            None if elements::is_of_elements(codec) => {}
            None => (self.element, self.number) = (1, None),
        }
    }

    fn zfp(&self, parameters: &Object, at: &Spot<'_>) -> Result<ZfpStream> {
        let number = match self.number.map(|number| number.kind) {
            Some(NumberKind::Signed { bytes: 4 }) => ZfpNumber::Int32,
            Some(NumberKind::Signed { bytes: 8 }) => ZfpNumber::Int64,
            Some(NumberKind::Float32) => ZfpNumber::Float32,
            Some(NumberKind::Float64) => ZfpNumber::Float64,
            _ => return Err(at.malformed("zfp of other numbers than int32, int64, float32 and float64")),
        };
        let real = |name: &str| match parameters.get(name) {
            Some(Json::Number(number)) => Some(number.as_f64()).filter(|number| *number >= 0.0),
            _ => None,
        };
        let mode =
            parameters.get("mode").map_or(Ok(FIXED_ACCURACY), |json| json.unsigned(&at.name("mode")))?;
        // What is not given, or negative, is to be kept as it is.
        let mode = match mode {
            FIXED_RATE => real("rate").map(ZfpMode::Rate),
            FIXED_PRECISION => {
                let json = parameters.get("precision").filter(|_| real("precision").is_some());
                let bits = json.map(|json| json.unsigned(&at.name("precision"))).transpose()?;
                bits.map(|bits| ZfpMode::Precision(u32::try_from(bits).unwrap_or(u32::MAX)))
            }
            FIXED_ACCURACY => real("tolerance").map(ZfpMode::Accuracy),
            _ => None,
        };
        let big_endian = self.number.is_some_and(|number| number.big_endian);
        let zfp = ZfpStream::new(number, mode.unwrap_or(ZfpMode::Reversible), big_endian);
        zfp.map_err(|e| at.malformed(e.detail()))
    }

    fn blosc(&self, parameters: &Object, at: &Spot<'_>) -> Result<Blosc> {
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
        let element = usize::try_from(number("typesize", self.element as u64)?).unwrap_or(usize::MAX);
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
}

fn zstd(parameters: &Object, at: &Spot<'_>) -> Result<Zstd> {
    let level = match parameters.get("level") {
        Some(Json::Number(level)) => level.as_integer().and_then(|level| level.try_into().ok()),
        _ => Some(0),
    };
    let level = level.ok_or_else(|| at.name("level").malformed("expected an integer"))?;
    Ok(Zstd { level, checksum: matches!(parameters.get("checksum"), Some(Json::Bool(true))) })
}

fn checksum(
    algorithm: ChecksumAlgorithm,
    at_start: bool,
    parameters: &Object,
    at: &Spot<'_>,
) -> Result<Checksum> {
    let here = at.name("location");
    let at_start = match parameters.get("location") {
        None | Some(Json::Null) => at_start,
        Some(json) => match json.text(&here)? {
            "start" => true,
            "end" => false,
            other => return Err(here.malformed(format!("{other:?}, expected \"start\" or \"end\""))),
        },
    };
    Ok(Checksum { algorithm, at_start })
}

fn lookup3(parameters: &Object, at: &Spot<'_>) -> Result<Checksum> {
    let here = at.name("initval");
    let initial = parameters.get("initval").map_or(Ok(0), |json| json.unsigned(&here))?;
    let initial =
        u32::try_from(initial).map_err(|_| here.malformed(format!("{initial}, at most 2^32 - 1")))?;
    if parameters.get("prefix").is_some_and(|prefix| *prefix != Json::Null) {
        return Err(at.name("prefix").unsupported("a prefix of what is summed"));
    }
    Ok(Checksum { algorithm: ChecksumAlgorithm::Lookup3 { initial }, at_start: false })
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

/// Modes of zfp by their numbers in zfpy.
const FIXED_RATE: u64 = 2;
const FIXED_PRECISION: u64 = 3;
const FIXED_ACCURACY: u64 = 4;
