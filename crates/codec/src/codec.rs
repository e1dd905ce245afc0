//! The codecs there are, and what the pipeline asks of each.

use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary};
use hyperslab_core::{Error, ErrorKind, Result};

/// What one codec does; each is a type of its own with its parameters as fields.
pub(crate) trait Transform {
    /// The sizes that `least` to `most` stored bytes can decode to; `None` if they are too few for any.
    fn decoded_sizes(&self, least: usize, most: usize) -> Option<(usize, usize)>;

    /// The size that `stored` says it decodes to, where codecs of this kind say so.
    fn declared_size(&self, _stored: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    /// The size of `raw` bytes encoded, if it does not depend on what they are.
    fn encoded_size(&self, _raw: usize) -> Option<usize> {
        None
    }

    /// The most bytes that an encoder makes of `raw`.
    fn most_encoded(&self, raw: usize) -> usize;

    /// What `stored` decodes to, where decoding cuts and does not change it.
    fn cut<'a>(&self, _stored: &'a [u8]) -> Result<Option<&'a [u8]>> {
        Ok(None)
    }

    /// Decodes to the beginning of `out` and tells how many bytes. More than fit are an error of the kind
    /// [`ErrorKind::LimitExceeded`], which no other is of.
    fn decode(&self, stored: &[u8], out: &mut [u8], coders: &mut Coders) -> Result<usize>;

    /// Replaces what `out` holds by `raw` encoded.
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

            /// The codec in the words of the vocabulary, with all its parameters; `None` if the vocabulary has no
            /// name for it or lacks a parameter.
            pub fn named(&self, elements: &Elements) -> Option<Named> {
                match self {
                    $(Codec::$name(codec) => codec.named(elements),)*
                }
            }

            /// The first codec that has this name and takes these parameters.
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
    as_type::AsType: "Numbers stored as others.",
    base64::Base64: "Bytes as text.",
    bit_round::BitRound: "Floating-point numbers to so many bits.",
    bitshuffle::Bitshuffle: "Bits of equal significance side by side.",
    blosc::Blosc: "Shuffled blocks of compressed streams.",
    blosc2::Blosc2: "Chunks in a frame, plain or cut into blocks of several dimensions.",
    bzip2::Bzip2: "A bzip2 stream.",
    checksum::Checksum: "A checksum of four bytes before or behind the data.",
    deflate::Deflate: "A zlib stream.",
    delta::Delta: "Each number less the one before it.",
    fixed_scale_offset::FixedScaleOffset: "Numbers less an offset, scaled and rounded.",
    fletcher32::Fletcher32: "A checksum of four bytes behind the data.",
    gzip::Gzip: "A gzip member.",
    lz4::Lz4Hdf5: "LZ4 blocks in the frame of the HDF5 filter.",
    lz4::Lz4Numcodecs: "An LZ4 block behind its decoded size.",
    lzf::Lzf: "Literal runs and back references.",
    lzma::Lzma: "An LZMA stream.",
    nbit::Nbit: "Significant bits without padding.",
    pack_bits::PackBits: "Booleans as bits.",
    pcodec::Pcodec: "Numbers in bins, behind differences and modes.",
    quantize::Quantize: "Floating-point numbers to so many digits.",
    scale_offset::ScaleOffset: "Differences from the least number.",
    shuffle::Shuffle: "Bytes of equal significance side by side.",
    snappy::Snappy: "A Snappy block.",
    szip::Szip: "The extended Rice algorithm.",
    zfp::Zfp: "Blocks of numbers, cut to the bits that matter.",
    zfp::ZfpStream: "The same behind a header that tells all of it.",
    zstd::Zstd: "Zstandard frames.",
}

impl Codec {
    /// Whether what one encodes the other decodes: levels and what frames say of themselves do not matter.
    pub fn decodes_like(&self, other: &Codec) -> bool {
        match (self, other) {
            (Codec::Deflate(_), Codec::Deflate(_))
            | (Codec::Gzip(_), Codec::Gzip(_))
            | (Codec::Bzip2(_), Codec::Bzip2(_))
            | (Codec::Zstd(_), Codec::Zstd(_))
            | (Codec::Blosc(_), Codec::Blosc(_))
            | (Codec::Fletcher32(_), Codec::Fletcher32(_)) => true,
            (Codec::Pcodec(one), Codec::Pcodec(other)) => one.number() == other.number(),
            (one, other) => one == other,
        }
    }
}

/// The beginning of `out` that `len` decoded bytes go to.
pub(crate) fn room(out: &mut [u8], len: usize) -> Result<&mut [u8]> {
    let most = out.len();
    out.get_mut(..len).ok_or_else(|| too_long(len, most))
}

/// An error for `found` decoded bytes where there should be at most `most`.
pub(crate) fn too_long(found: usize, most: usize) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("decodes to {found} bytes, expected {most}"))
}
