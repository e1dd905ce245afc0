//! Codecs by the names and parameters of either version.
//!
//! Spec: Zarr v3 "Codecs", zarr-extensions/codecs, numcodecs

use super::Version;
use crate::json::{Json, Number, Object};
use crate::metadata::Extension;
use crate::metadata::v2::CodecConfiguration;
use hyperslab_codec::{Blosc, BloscCodec, BloscShuffle, Checksum, ChecksumAlgorithm, Codec};
use hyperslab_core::{Error, Result};

/// One codec that chunks pass.
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenCodec {
    /// A codec that other formats have as well.
    Codec(Codec),
    /// Any codec of numcodecs, by its `id` there and its parameters.
    Numcodecs {
        /// The name.
        id: String,
        /// All that stands beside the name.
        parameters: Object,
    },
}

impl<T: Into<Codec>> From<T> for WrittenCodec {
    fn from(codec: T) -> WrittenCodec {
        WrittenCodec::Codec(codec.into())
    }
}

impl WrittenCodec {
    /// As version 3 has it: registered where it is, else with the prefix `numcodecs.`.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) for codecs that Zarr has no name for.
    pub fn registered(&self) -> Result<Extension> {
        let (id, parameters) = self.numcodecs(Version::V3)?;
        Ok(match id.as_str() {
            "crc32c" if parameters.is_empty() => Extension::new(id, None),
            "gzip" | "blosc" | "zstd" => Extension::new(id, Some(parameters)),
            _ => Extension::new(format!("numcodecs.{id}"), Some(parameters)),
        })
    }

    /// As version 2 has it.
    ///
    /// # Errors
    /// As [`WrittenCodec::registered`].
    pub fn configuration(&self) -> Result<CodecConfiguration> {
        let (id, parameters) = self.numcodecs(Version::V2)?;
        Ok(CodecConfiguration { id, parameters })
    }

    /// Whether it takes and gives arrays, and not bytes.
    pub fn is_of_arrays(&self) -> bool {
        matches!(self, WrittenCodec::Numcodecs { id, .. } if OF_ARRAYS.contains(&id.as_str()))
    }

    /// Whether version 2 calls it a filter even where it is the last.
    pub(super) fn is_filter(&self) -> bool {
        let by_name = |id: &str| FILTERS.contains(&id);
        match self {
            WrittenCodec::Codec(codec) => {
                matches!(codec, Codec::Shuffle(_) | Codec::Fletcher32(_) | Codec::Checksum(_))
            }
            WrittenCodec::Numcodecs { id, .. } => by_name(id) || self.is_of_arrays(),
        }
    }

    fn numcodecs(&self, version: Version) -> Result<(String, Object)> {
        let codec = match self {
            WrittenCodec::Numcodecs { id, parameters } => return Ok((id.clone(), parameters.clone())),
            WrittenCodec::Codec(codec) => codec,
        };
        let level = |level: u8| vec![("level", Json::from(u64::from(level.min(9))))];
        let (id, parameters) = match codec {
            Codec::Deflate(deflate) => ("zlib", level(deflate.level)),
            Codec::Gzip(gzip) => ("gzip", level(gzip.level)),
            Codec::Bzip2(bzip2) => ("bz2", level(bzip2.level)),
            Codec::Zstd(zstd) => {
                let mut parameters = vec![("level", Json::Number(Number::integer(zstd.level)))];
                // Older readers of version 2 know no such parameter.
                if version == Version::V3 || zstd.checksum {
                    parameters.push(("checksum", Json::Bool(zstd.checksum)));
                }
                ("zstd", parameters)
            }
            Codec::Blosc(parameters) => ("blosc", blosc(parameters, version)),
            Codec::Shuffle(shuffle) => ("shuffle", vec![("elementsize", (shuffle.element as u64).into())]),
            Codec::Fletcher32(_) => ("fletcher32", Vec::new()),
            Codec::Lz4Numcodecs(_) => ("lz4", vec![("acceleration", 1_u64.into())]),
            Codec::Checksum(sum) => checksum(sum)?,
            other => {
                let told = format!("{other:?}");
                let name = told.split(['(', ' ']).next().unwrap_or_default();
                return Err(Error::unsupported(format!("the codec {name}, which Zarr does not have")));
            }
        };
        Ok((id.to_owned(), parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
    }
}

fn checksum(sum: &Checksum) -> Result<(&'static str, Vec<(&'static str, Json)>)> {
    let (name, usual) = match sum.algorithm {
        ChecksumAlgorithm::Crc32 => ("crc32", true),
        ChecksumAlgorithm::Adler32 => ("adler32", true),
        ChecksumAlgorithm::Crc32c => ("crc32c", false),
        ChecksumAlgorithm::Lookup3 { initial } if !sum.at_start => {
            return Ok((
                "jenkins_lookup3",
                vec![("initval", u64::from(initial).into()), ("prefix", Json::Null)],
            ));
        }
        ChecksumAlgorithm::Lookup3 { .. } => {
            return Err(Error::unsupported("a lookup3 before the data, which Zarr has no codec for"));
        }
    };
    let location = if sum.at_start { "start" } else { "end" };
    Ok((name, if sum.at_start == usual { Vec::new() } else { vec![("location", location.into())] }))
}

fn blosc(blosc: &Blosc, version: Version) -> Vec<(&'static str, Json)> {
    let name = match blosc.codec {
        BloscCodec::BloscLz => "blosclz",
        BloscCodec::Lz4 => "lz4",
        BloscCodec::Lz4Hc => "lz4hc",
        BloscCodec::Snappy => "snappy",
        BloscCodec::Zlib => "zlib",
        BloscCodec::Zstd => "zstd",
    };
    let (word, number) = match blosc.shuffle {
        BloscShuffle::None => ("noshuffle", 0_u64),
        BloscShuffle::Byte => ("shuffle", 1),
        BloscShuffle::Bit => ("bitshuffle", 2),
    };
    let mut parameters = vec![("cname", name.into()), ("clevel", u64::from(blosc.level).into())];
    match version {
        Version::V3 => {
            parameters.push(("shuffle", word.into()));
            parameters.push(("typesize", (blosc.element.max(1) as u64).into()));
        }
        // Elements are as large as the dtype says.
        Version::V2 => parameters.push(("shuffle", number.into())),
    }
    parameters.push(("blocksize", u64::from(blosc.block).into()));
    parameters
}

const OF_ARRAYS: [&str; 6] = ["astype", "bitround", "delta", "fixedscaleoffset", "packbits", "quantize"];

const FILTERS: [&str; 6] = ["adler32", "crc32", "crc32c", "fletcher32", "jenkins_lookup3", "shuffle"];
