//! The list of codecs, and the trait that the pipeline calls.

use crate::blosc::BloscCodec;
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary};
use hyperslab_core::{Error, ErrorKind, Result};

/// The operations of a codec. Each codec is a type of its own; its fields are its parameters.
pub(crate) trait Transform {
    /// The smallest and the largest size in bytes that `min` to `max` stored bytes can decode to. `None` if they
    /// are too few for any output.
    fn decoded_sizes(&self, min: usize, max: usize) -> Option<(usize, usize)>;

    /// The decoded size in bytes that `stored` declares, for formats that declare it.
    fn declared_size(&self, _stored: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    /// The size of `raw` bytes encoded, if it does not depend on their values.
    fn encoded_size(&self, _raw: usize) -> Option<usize> {
        None
    }

    /// The upper bound of the encoded size of `raw` bytes.
    fn max_encoded_size(&self, raw: usize) -> usize;

    /// The decoded bytes, if decoding only removes bytes and changes none.
    fn cut<'a>(&self, _stored: &'a [u8]) -> Result<Option<&'a [u8]>> {
        Ok(None)
    }

    /// Decodes to the beginning of `out` and returns the number of bytes. If they do not fit, fails with
    /// [`ErrorKind::LimitExceeded`], which no other failure has.
    fn decode(&self, stored: &[u8], out: &mut [u8], coders: &mut Coders) -> Result<usize>;

    /// Replaces the content of `out` by `raw` encoded.
    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()>;
}

macro_rules! codecs {
    ($($module:ident::$name:ident: $what:literal,)*) => {
        /// One step of a pipeline with its parameters.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Codec {
            $(#[doc = $what] $name(crate::$module::$name),)*
        }

        $(impl From<crate::$module::$name> for Codec {
            fn from(codec: crate::$module::$name) -> Codec {
                Codec::$name(codec)
            }
        })*

        impl Codec {
            pub(crate) fn transform(&self) -> &dyn Transform {
                match self {
                    $(Codec::$name(codec) => codec,)*
                }
            }

            /// The codec by its name in the vocabulary, with all its parameters. `None` if the vocabulary has no name
            /// for it or does not have one of its parameters.
            pub fn named(&self, elements: &Elements) -> Option<Named> {
                match self {
                    $(Codec::$name(codec) => codec.named(elements),)*
                }
            }

            /// The first codec with this name that accepts these parameters.
            pub(crate) fn of_given(given: &Given<'_>) -> Result<Codec> {
                let mut refused = None;
                $(if crate::$module::$name::NAMES.contains(&given.filter.name) {
                    match crate::$module::$name::of_parameters(given) {
                        Ok(codec) => return Ok(codec.into()),
                        Err(e) => refused = Some(refused.unwrap_or(e)),
                    }
                })*
                Err(refused.unwrap_or_else(|| given.not_by_name()))
            }
        }
    };
}

codecs! {
    as_type::AsType: "Stores numbers as another type.",
    base64::Base64: "Stores bytes as Base64 text.",
    bit_round::BitRound: "Rounds numbers to a number of bits.",
    bitshuffle::Bitshuffle: "Groups the bits of equal significance.",
    blosc::Blosc: "Blosc 1: shuffled blocks of compressed streams.",
    blosc2::Blosc2: "Blosc 2: chunks in a frame, plain or divided into blocks of several dimensions.",
    bzip2::Bzip2: "A bzip2 stream.",
    checksum::Checksum: "A checksum of four bytes before or after the data.",
    deflate::Deflate: "A zlib stream.",
    delta::Delta: "Differences of consecutive numbers.",
    fixed_scale_offset::FixedScaleOffset: "Subtracts an offset, multiplies by a scale and rounds.",
    fletcher32::Fletcher32: "A Fletcher-32 checksum of four bytes after the data.",
    gzip::Gzip: "A gzip member.",
    lz4::Lz4Block: "One LZ4 block without a frame.",
    lz4::Lz4Hdf5: "LZ4 blocks in the frame of the HDF5 filter.",
    lz4::Lz4Numcodecs: "An LZ4 block preceded by its decoded size.",
    lzf::Lzf: "LZF: literal runs and back references.",
    lzma::Lzma: "An LZMA stream.",
    nbit::Nbit: "Significant bits without padding.",
    pack_bits::PackBits: "Packs booleans into bits.",
    pcodec::Pcodec: "Pcodec: modes, differences and bins of numbers.",
    quantize::Quantize: "Rounds floating-point numbers to a number of decimal digits.",
    scale_offset::ScaleOffset: "Differences from the minimum, in few bits.",
    shuffle::Shuffle: "Groups the bytes of equal significance.",
    snappy::Snappy: "A Snappy block.",
    szip::Szip: "Szip: the extended Rice algorithm.",
    zfp::Zfp: "A zfp stream without header: transformed blocks of numbers.",
    zfp::ZfpStream: "A zfp stream after its full header.",
    zstd::Zstd: "Zstandard frames.",
}

impl Codec {
    /// Whether this codec decodes everything that the other encodes. Parameters that only affect encoding, and those
    /// that the stored bytes declare, are ignored.
    pub fn decodes_like(&self, other: &Codec) -> bool {
        match (self, other) {
            (Codec::Deflate(_), Codec::Deflate(_))
            | (Codec::Gzip(_), Codec::Gzip(_))
            | (Codec::Bzip2(_), Codec::Bzip2(_))
            | (Codec::Zstd(_), Codec::Zstd(_))
            | (Codec::Fletcher32(_), Codec::Fletcher32(_)) => true,
            // Other libraries decode any Blosc chunk except those with Snappy, which most builds do not include.
            (Codec::Blosc(one), Codec::Blosc(other)) => {
                (one.codec == BloscCodec::Snappy) == (other.codec == BloscCodec::Snappy)
            }
            (Codec::Pcodec(one), Codec::Pcodec(other)) => one.number() == other.number(),
            (one, other) => one == other,
        }
    }
}

/// The first `len` bytes of `out`, for decoded bytes.
pub(crate) fn room(out: &mut [u8], len: usize) -> Result<&mut [u8]> {
    let max = out.len();
    out.get_mut(..len).ok_or_else(|| too_long(len, max))
}

/// The error for `found` decoded bytes where at most `max` are expected.
pub(crate) fn too_long(found: usize, max: usize) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("decodes to {found} bytes, expected {max}"))
}
