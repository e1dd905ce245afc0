//! Filter pipeline: the filters of tiles with their options.
//!
//! Spec: TileDB format_spec, filter_pipeline.md and filters/. Files differ from it in two points: the byte in the
//! options of a compressor is not the type of the filter but a separate number, and WebP has the type 18.

use super::Structure;
use super::data_type::DataType;
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The filters of tiles, in the order in which they are applied when writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterPipeline {
    /// The maximum size in bytes of a chunk. Writers cut at 65,536 bytes regardless of it, unless it is 0: then a tile
    /// is one chunk.
    pub max_chunk_size: u32,
    /// The filters.
    pub filters: Vec<Filter>,
}

/// A filter with its options.
///
/// The levels of compressors affect only encoding, and -1 is the default of each. Compressors without levels also have
/// the field, but ignore it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Changes nothing.
    Noop,
    /// A zlib stream, not a gzip member.
    Gzip {
        /// 0 to 9.
        level: i32,
    },
    /// A Zstandard frame.
    Zstd {
        /// -7 to 22.
        level: i32,
    },
    /// An LZ4 block.
    Lz4 {
        /// Ignored.
        level: i32,
    },
    /// Runs of equal cells, or of equal strings.
    Rle {
        /// Ignored.
        level: i32,
    },
    /// A bzip2 stream.
    Bzip2 {
        /// 1 to 9.
        level: i32,
    },
    /// Differences of differences.
    DoubleDelta {
        /// Ignored.
        level: i32,
        /// The type as which values are interpreted, instead of their own. Stored since version 20.
        reinterpret: Option<DataType>,
    },
    /// Integers as differences from the smallest one, in as few bytes as a window needs.
    BitWidthReduction {
        /// The maximum size of a window in bytes.
        max_window: u32,
    },
    /// Bits of equal significance together.
    Bitshuffle,
    /// Bytes of equal significance together.
    Byteshuffle,
    /// Differences of values that do not decrease.
    PositiveDelta {
        /// The maximum size of a window in bytes.
        max_window: u32,
    },
    /// AES-256-GCM. It is not in the pipelines of a schema, but is added at their end if the array is encrypted.
    Encryption,
    /// MD5 digests.
    ChecksumMd5,
    /// SHA-256 digests.
    ChecksumSha256,
    /// Strings as numbers of the entries of a dictionary.
    Dictionary {
        /// Ignored.
        level: i32,
    },
    /// Floating-point numbers as integers.
    ScaleFloat(ScaleFloat),
    /// Each value combined with the previous one by exclusive or.
    Xor,
    /// An image in WebP format.
    Webp(Webp),
    /// Differences.
    Delta {
        /// Ignored.
        level: i32,
        /// The type as which values are interpreted, instead of their own.
        reinterpret: Option<DataType>,
    },
}

/// The options of the filter that scales floating-point numbers.
#[derive(Clone, Copy, Debug)]
pub struct ScaleFloat {
    /// The factor by which stored integers are multiplied.
    pub scale: f64,
    /// The number that is then added.
    pub offset: f64,
    /// The size of a stored integer in bytes: 1, 2, 4 or 8.
    pub byte_width: u64,
}

/// The options of the WebP filter.
#[derive(Clone, Copy, Debug)]
pub struct Webp {
    /// From 0 to 100, for lossy encoding.
    pub quality: f32,
    /// The order of colours in cells.
    pub format: WebpFormat,
    /// Whether images are encoded without loss.
    pub lossless: bool,
    /// The number of rows of a tile, which are also the rows of its image.
    pub y_extent: u16,
    /// The number of cells in a row of a tile: the pixels in a row of the image, times the colours of a pixel.
    pub x_extent: u16,
}

/// The order of the colours of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebpFormat {
    /// Not specified. A pipeline with this value cannot filter.
    None,
    /// Red, green, blue.
    Rgb,
    /// Blue, green, red.
    Bgr,
    /// Red, green, blue, opacity.
    Rgba,
    /// Blue, green, red, opacity.
    Bgra,
}

impl FilterPipeline {
    /// The pipeline of tiles of an encrypted array: the same filters, followed by encryption.
    #[must_use]
    pub fn encrypted(&self) -> FilterPipeline {
        let filters = self.filters.iter().copied().chain([Filter::Encryption]).collect();
        FilterPipeline { max_chunk_size: self.max_chunk_size, filters }
    }
}

impl Filter {
    /// The type of the filter as a number.
    pub fn id(&self) -> u8 {
        match self {
            Filter::Noop => 0,
            Filter::Gzip { .. } => 1,
            Filter::Zstd { .. } => 2,
            Filter::Lz4 { .. } => 3,
            Filter::Rle { .. } => 4,
            Filter::Bzip2 { .. } => 5,
            Filter::DoubleDelta { .. } => 6,
            Filter::BitWidthReduction { .. } => 7,
            Filter::Bitshuffle => 8,
            Filter::Byteshuffle => 9,
            Filter::PositiveDelta { .. } => 10,
            Filter::Encryption => 11,
            Filter::ChecksumMd5 => 12,
            Filter::ChecksumSha256 => 13,
            Filter::Dictionary { .. } => 14,
            Filter::ScaleFloat(_) => 15,
            Filter::Xor => 16,
            Filter::Webp(_) => 18,
            Filter::Delta { .. } => 19,
        }
    }

    /// The name of the filter in the C API, without `TILEDB_FILTER_`.
    pub fn name(&self) -> &'static str {
        match self {
            Filter::Noop => "NONE",
            Filter::Gzip { .. } => "GZIP",
            Filter::Zstd { .. } => "ZSTD",
            Filter::Lz4 { .. } => "LZ4",
            Filter::Rle { .. } => "RLE",
            Filter::Bzip2 { .. } => "BZIP2",
            Filter::DoubleDelta { .. } => "DOUBLE_DELTA",
            Filter::BitWidthReduction { .. } => "BIT_WIDTH_REDUCTION",
            Filter::Bitshuffle => "BITSHUFFLE",
            Filter::Byteshuffle => "BYTESHUFFLE",
            Filter::PositiveDelta { .. } => "POSITIVE_DELTA",
            Filter::Encryption => "AES_256_GCM",
            Filter::ChecksumMd5 => "CHECKSUM_MD5",
            Filter::ChecksumSha256 => "CHECKSUM_SHA256",
            Filter::Dictionary { .. } => "DICTIONARY",
            Filter::ScaleFloat(_) => "SCALE_FLOAT",
            Filter::Xor => "XOR",
            Filter::Webp(_) => "WEBP",
            Filter::Delta { .. } => "DELTA",
        }
    }

    fn decode(d: &mut Decoder<'_>, version: u32) -> Result<Self> {
        let at = d.clone();
        let id = d.u8()?;
        let len = u64::from(d.u32()?);
        let len = d.len_of(len)?;
        let mut options = d.sub("Filter Options", len)?;
        let filter = match id {
            0 => Filter::Noop,
            1 => Filter::Gzip { level: level(&mut options, 1)? },
            2 => Filter::Zstd { level: level(&mut options, 2)? },
            3 => Filter::Lz4 { level: level(&mut options, 3)? },
            4 => Filter::Rle { level: level(&mut options, 4)? },
            5 => Filter::Bzip2 { level: level(&mut options, 5)? },
            6 => Filter::DoubleDelta {
                level: level(&mut options, DOUBLE_DELTA)?,
                reinterpret: reinterpret(&mut options, version >= REINTERPRETS_DOUBLE_DELTA)?,
            },
            7 => Filter::BitWidthReduction { max_window: options.u32()? },
            8 => Filter::Bitshuffle,
            9 => Filter::Byteshuffle,
            10 => Filter::PositiveDelta { max_window: options.u32()? },
            11 => Filter::Encryption,
            12 => Filter::ChecksumMd5,
            13 => Filter::ChecksumSha256,
            14 => Filter::Dictionary { level: level(&mut options, DICTIONARY)? },
            15 => Filter::ScaleFloat(ScaleFloat::decode(&mut options)?),
            16 => Filter::Xor,
            17 => return Err(at.unsupported("filter type 17, which was removed from the format")),
            18 => Filter::Webp(Webp::decode(&mut options)?),
            19 => Filter::Delta {
                level: level(&mut options, DELTA)?,
                reinterpret: reinterpret(&mut options, version >= REINTERPRETS_DELTA)?,
            },
            _ => return Err(at.unsupported(format!("filter type {id}, expected 0 to 19"))),
        };
        options.finish()?;
        Ok(filter)
    }

    fn encode(&self, e: &mut Encoder, version: u32) -> Result<()> {
        e.u8(self.id());
        let len = e.reserve(4);
        let start = e.len();
        match *self {
            Filter::Noop
            | Filter::Bitshuffle
            | Filter::Byteshuffle
            | Filter::Encryption
            | Filter::ChecksumMd5
            | Filter::ChecksumSha256
            | Filter::Xor => {}
            Filter::Gzip { level } => put_level(e, 1, level),
            Filter::Zstd { level } => put_level(e, 2, level),
            Filter::Lz4 { level } => put_level(e, 3, level),
            Filter::Rle { level } => put_level(e, 4, level),
            Filter::Bzip2 { level } => put_level(e, 5, level),
            Filter::Dictionary { level } => put_level(e, DICTIONARY, level),
            Filter::DoubleDelta { level, reinterpret } => {
                put_level(e, DOUBLE_DELTA, level);
                put_reinterpret(e, reinterpret, version >= REINTERPRETS_DOUBLE_DELTA)?;
            }
            Filter::Delta { level, reinterpret } => {
                put_level(e, DELTA, level);
                put_reinterpret(e, reinterpret, version >= REINTERPRETS_DELTA)?;
            }
            Filter::BitWidthReduction { max_window } | Filter::PositiveDelta { max_window } => {
                e.u32(max_window);
            }
            Filter::ScaleFloat(scale) => scale.encode(e),
            Filter::Webp(webp) => webp.encode(e),
        }
        let written = e.len() - start;
        e.patch(len, written as u64)
    }
}

impl Structure for FilterPipeline {
    /// The format version.
    type Context = u32;
    const NAME: &'static str = "Filter Pipeline";

    fn decode(d: &mut Decoder<'_>, version: &u32) -> Result<Self> {
        let max_chunk_size = d.u32()?;
        let count = u64::from(d.u32()?);
        let count = d.count(count, MIN_FILTER)?;
        let filters = (0..count).map(|_| Filter::decode(d, *version)).collect::<Result<_>>()?;
        Ok(FilterPipeline { max_chunk_size, filters })
    }

    fn encode(&self, e: &mut Encoder, version: &u32) -> Result<()> {
        e.u32(self.max_chunk_size);
        e.len_as(4, self.filters.len())?;
        self.filters.iter().try_for_each(|filter| filter.encode(e, *version))
    }
}

impl ScaleFloat {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let scale = d.array().map(f64::from_le_bytes)?;
        let offset = d.array().map(f64::from_le_bytes)?;
        let byte_width = d.u64()?;
        Ok(ScaleFloat { scale, offset, byte_width })
    }

    fn encode(&self, e: &mut Encoder) {
        e.bytes(&self.scale.to_le_bytes());
        e.bytes(&self.offset.to_le_bytes());
        e.u64(self.byte_width);
    }
}

impl PartialEq for ScaleFloat {
    fn eq(&self, other: &Self) -> bool {
        let bits = |of: &Self| (of.scale.to_bits(), of.offset.to_bits(), of.byte_width);
        bits(self) == bits(other)
    }
}

impl Eq for ScaleFloat {}

impl Webp {
    fn decode(d: &mut Decoder<'_>) -> Result<Self> {
        let quality = d.array().map(f32::from_le_bytes)?;
        let at = d.clone();
        let format = match d.u8()? {
            0 => WebpFormat::None,
            1 => WebpFormat::Rgb,
            2 => WebpFormat::Bgr,
            3 => WebpFormat::Rgba,
            4 => WebpFormat::Bgra,
            other => return Err(at.malformed(format!("WebP input format {other}, expected 0 to 4"))),
        };
        let lossless = d.u8()? != 0;
        let (y_extent, x_extent) = (d.u16()?, d.u16()?);
        // The options are a C++ struct as laid out in memory, and this is its padding.
        d.reserved(2)?;
        Ok(Webp { quality, format, lossless, y_extent, x_extent })
    }

    fn encode(&self, e: &mut Encoder) {
        e.bytes(&self.quality.to_le_bytes());
        e.u8(match self.format {
            WebpFormat::None => 0,
            WebpFormat::Rgb => 1,
            WebpFormat::Bgr => 2,
            WebpFormat::Rgba => 3,
            WebpFormat::Bgra => 4,
        });
        e.u8(self.lossless.into());
        e.u16(self.y_extent);
        e.u16(self.x_extent);
        e.reserved(2);
    }
}

impl PartialEq for Webp {
    fn eq(&self, other: &Self) -> bool {
        let bits = |of: &Self| (of.quality.to_bits(), of.format, of.lossless, of.y_extent, of.x_extent);
        bits(self) == bits(other)
    }
}

impl Eq for Webp {}

/// Reads the number of a compressor, which must be `expected`, and the level.
fn level(d: &mut Decoder<'_>, expected: u8) -> Result<i32> {
    let at = d.clone();
    let compressor = d.u8()?;
    if compressor != expected {
        return Err(at.malformed(format!("compressor {compressor}, expected {expected}")));
    }
    d.array().map(i32::from_le_bytes)
}

fn put_level(e: &mut Encoder, compressor: u8, level: i32) {
    e.u8(compressor);
    e.bytes(&level.to_le_bytes());
}

/// Reads the type as which values are interpreted. Libraries also write it into schemas of older versions.
fn reinterpret(d: &mut Decoder<'_>, is_stored: bool) -> Result<Option<DataType>> {
    if !is_stored && d.is_empty() {
        return Ok(None);
    }
    let data_type = DataType::decode(d, &())?;
    Ok((data_type != DataType::Any).then_some(data_type))
}

fn put_reinterpret(e: &mut Encoder, reinterpret: Option<DataType>, is_stored: bool) -> Result<()> {
    match (reinterpret, is_stored) {
        (None, false) => Ok(()),
        (Some(data_type), false) => Err(Error::invalid(format!(
            "values taken for {} in a version of the format that cannot say it",
            data_type.name()
        ))),
        (_, true) => reinterpret.unwrap_or(DataType::Any).encode(e, &()),
    }
}

/// The size of a filter without options: its type and the length of its options.
const MIN_FILTER: usize = 5;

/// Numbers of compressors that differ from the type of their filter, and one that does not.
const DOUBLE_DELTA: u8 = 6;
const DICTIONARY: u8 = 7;
const DELTA: u8 = 8;

/// The versions from which on the options of filters end with the type as which values are interpreted.
const REINTERPRETS_DELTA: u32 = 19;
const REINTERPRETS_DOUBLE_DELTA: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};
    use hyperslab_core::ErrorKind;

    fn pipeline<const N: usize>(filters: [Filter; N]) -> FilterPipeline {
        FilterPipeline { max_chunk_size: 65_536, filters: filters.into() }
    }

    structure_tests!(FilterPipeline, context: 22,
    golden: [
        "00000100 01000000 01 05000000 01 01000000",
        "00000100 00000000",
    ],
    values: [
        FilterPipeline::default(),
        pipeline([
            Filter::Noop,
            Filter::Zstd { level: -1 },
            Filter::Lz4 { level: 3 },
            Filter::Rle { level: -1 },
            Filter::Bzip2 { level: 9 },
            Filter::DoubleDelta { level: -1, reinterpret: None },
            Filter::DoubleDelta { level: -1, reinterpret: Some(DataType::Int32) },
            Filter::BitWidthReduction { max_window: 256 },
            Filter::Bitshuffle,
            Filter::Byteshuffle,
            Filter::PositiveDelta { max_window: 1024 },
            Filter::Encryption,
            Filter::ChecksumMd5,
            Filter::ChecksumSha256,
            Filter::Dictionary { level: -1 },
            Filter::ScaleFloat(ScaleFloat { scale: 0.5, offset: f64::NAN, byte_width: 4 }),
            Filter::Xor,
            Filter::Webp(Webp {
                quality: 75.0,
                format: WebpFormat::Bgra,
                lossless: true,
                y_extent: 16,
                x_extent: 48,
            }),
            Filter::Delta { level: -1, reinterpret: Some(DataType::UInt8) },
        ]),
    ]);

    mod before_reinterpretation {
        use super::*;
        structure_tests!(FilterPipeline, context: 18,
            golden: ["00000100 01000000 06 05000000 06 ffffffff"],
            values: [pipeline([Filter::DoubleDelta { level: 2, reinterpret: None }])]);
    }

    fn refused(text: &str) -> hyperslab_core::Error {
        let bytes = hex(text);
        FilterPipeline::decode(&mut Decoder::new("Filter Pipeline", 0, &bytes), &22).unwrap_err()
    }

    #[test]
    fn names_the_filters_that_it_does_not_know() {
        let removed = refused("00000100 01000000 11 00000000");
        assert_eq!(removed.kind(), ErrorKind::Unsupported);
        assert_eq!(removed.detail(), "filter type 17, which was removed from the format");
        assert_eq!(
            refused("00000100 01000000 14 00000000").to_string(),
            "unsupported Filter Pipeline at byte 0x8: filter type 20, expected 0 to 19"
        );
    }

    #[test]
    fn the_number_of_a_compressor_is_its_own() {
        let e = refused("00000100 01000000 0e 05000000 0e ffffffff");
        assert_eq!(e.detail(), "compressor 14, expected 7");
    }

    #[test]
    fn a_type_is_read_from_older_versions_and_not_written_to_them() {
        let bytes = hex("00000100 01000000 06 06000000 06 ffffffff 00");
        let found = FilterPipeline::decode(&mut Decoder::new("t", 0, &bytes), &18).unwrap();
        let reinterpret = Some(DataType::Int32);
        assert_eq!(found, pipeline([Filter::DoubleDelta { level: -1, reinterpret }]));
        assert!(found.encode(&mut Encoder::new(), &18).is_err());
    }
}
