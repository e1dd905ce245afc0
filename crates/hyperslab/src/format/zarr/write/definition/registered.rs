//! Codecs supported by every version 3 reader, as replacements for filters that few readers support.
//!
//! Version 3 registers gzip, Zstandard, Blosc and CRC32C, and all its readers support them. Other filters are numcodecs
//! codecs, which tensorstore and neuroglancer do not read. docs/design/008-filters.md contains the size measurements
//! behind this table.

use super::super::lowerings::{BLOSC, BLOSC_LZ4, BLOSC_ZLIB, BLOSC_ZSTD, FILTERS, GZIP, UNFILTERED};
use crate::filter;
use crate::target::Lowered;
use hyperslab_codec::{
    BitshuffleCodec, Blosc, BloscCodec, BloscShuffle, Checksum, ChecksumAlgorithm, Codec, Elements, Gzip,
    Shuffle, Zstd,
};
use hyperslab_core::filter::find;
use hyperslab_model::Filter;
use hyperslab_zarr::write::WrittenCodec;

/// Version 3 codecs that replace filters.
pub(super) struct Registered {
    pub(super) codecs: Vec<WrittenCodec>,
    /// How the replacement of the filters, apart from a checksum, is reported.
    pub(super) lowered: &'static Lowered,
    /// The checksum that is replaced by CRC32C.
    pub(super) checksum: Option<String>,
}

/// The effect of filters on the bytes of a chunk.
#[derive(Default)]
struct Effect {
    shuffle: Option<(BloscShuffle, usize)>,
    compressor: Option<Compressor>,
    checksum: Option<String>,
}

/// A compression that version 3 can express.
enum Compressor {
    /// Deflate with this level.
    Deflate(u8),
    /// Zstandard with this level.
    Zstd(i32),
    Lz4,
    Blosc(Blosc),
}

impl Registered {
    /// The codecs that replace filters of such elements. `chunk` is the size of a decoded chunk in bytes.
    pub(super) fn new(filters: &[Filter], elements: &Elements, chunk: u64) -> Registered {
        let mut effect = Effect::default();
        filters.iter().for_each(|filter| effect.add(filter, elements));
        let Effect { shuffle, compressor, checksum } = effect;
        let shuffle =
            shuffle.filter(|(_, element)| (2..=MAX_ELEMENT).contains(element) && chunk <= MAX_CHUNK);
        let blosc = |codec, level| {
            let (shuffle, element) = shuffle.unwrap_or((BloscShuffle::None, 1));
            Codec::from(Blosc { codec, level, shuffle, element, block: 0 })
        };
        let (codec, lowered): (Option<Codec>, _) = match (compressor, shuffle) {
            (None, _) => (None, &UNFILTERED),
            (Some(Compressor::Blosc(of)), _) if of.codec == BloscCodec::Snappy => {
                (Some(Blosc { codec: BloscCodec::Lz4, ..of }.into()), &BLOSC_LZ4)
            }
            (Some(Compressor::Blosc(of)), _) => (Some(of.into()), &BLOSC),
            (Some(Compressor::Lz4), _) if chunk <= MAX_CHUNK => {
                (Some(blosc(BloscCodec::Lz4, MAX_LEVEL)), &BLOSC_LZ4)
            }
            (Some(Compressor::Lz4), _) => (Some(zstd(DEFAULT_LEVEL)), &FILTERS),
            (Some(Compressor::Deflate(level)), None) => (Some(Gzip { level }.into()), &GZIP),
            (Some(Compressor::Deflate(level)), Some(_)) => {
                (Some(blosc(BloscCodec::Zlib, level)), &BLOSC_ZLIB)
            }
            (Some(Compressor::Zstd(level)), None) => (Some(zstd(level)), &FILTERS),
            (Some(Compressor::Zstd(level)), Some(_)) => {
                (Some(blosc(BloscCodec::Zstd, blosc_level(level))), &BLOSC_ZSTD)
            }
        };
        let sum = Checksum { algorithm: ChecksumAlgorithm::Crc32c, at_start: false };
        let codecs = codec.into_iter().chain(checksum.is_some().then(|| sum.into()));
        Registered { codecs: codecs.map(WrittenCodec::Codec).collect(), lowered, checksum }
    }
}

impl Effect {
    fn add(&mut self, filter: &Filter, elements: &Elements) {
        let size = elements.size.and_then(|size| usize::try_from(size).ok()).unwrap_or(1);
        match filter::codec(filter, elements) {
            Ok(Codec::Shuffle(Shuffle { element })) => self.shuffle = Some((BloscShuffle::Byte, element)),
            Ok(Codec::Bitshuffle(of)) => {
                self.shuffle = Some((BloscShuffle::Bit, of.element));
                match of.codec {
                    BitshuffleCodec::None => {}
                    BitshuffleCodec::Lz4 => self.compressor = Some(Compressor::Lz4),
                    BitshuffleCodec::Zstd { level } => self.compressor = Some(Compressor::Zstd(level)),
                }
            }
            Ok(Codec::Deflate(of)) => self.compressor = Some(Compressor::Deflate(of.level)),
            Ok(Codec::Gzip(of)) => self.compressor = Some(Compressor::Deflate(of.level)),
            Ok(Codec::Zstd(of)) => self.compressor = Some(Compressor::Zstd(of.level)),
            Ok(Codec::Lz4Hdf5(_) | Codec::Lz4Numcodecs(_)) => self.compressor = Some(Compressor::Lz4),
            Ok(Codec::Blosc(of)) => self.compressor = Some(Compressor::Blosc(of)),
            Ok(Codec::Blosc2(of)) => {
                let block = of.block;
                let (codec, level, shuffle, element) = (of.codec, of.level, of.shuffle, of.element);
                self.compressor = Some(Compressor::Blosc(Blosc { codec, level, shuffle, element, block }));
            }
            Ok(Codec::Fletcher32(_) | Codec::Checksum(_)) => self.checksum = Some(filter.name.clone()),
            Ok(Codec::Bzip2(_) | Codec::Lzma(_)) => self.compressor = Some(Compressor::Zstd(STRONG_LEVEL)),
            // Number filters place bytes of equal significance next to each other, as a shuffle does.
            _ if OF_NUMBERS.contains(&filter.name.as_str())
                || find(&filter.name).is_some_and(|filter| filter.converts_numbers) =>
            {
                self.shuffle.get_or_insert((BloscShuffle::Byte, size));
                self.compressor.get_or_insert(Compressor::Zstd(STRONG_LEVEL));
            }
            _ if filter.name == TRANSPOSE => {}
            _ => drop(self.compressor.get_or_insert(Compressor::Zstd(DEFAULT_LEVEL))),
        }
    }
}

/// Whether a codec is Blosc with Snappy. Version 3 registers it, but the Blosc library is nearly always built without
/// Snappy, as in numcodecs.
pub(super) fn is_snappy(codec: &WrittenCodec) -> bool {
    matches!(codec, WrittenCodec::Codec(Codec::Blosc(Blosc { codec: BloscCodec::Snappy, .. })))
}

fn zstd(level: i32) -> Codec {
    Zstd { level, checksum: false }.into()
}

/// The Blosc level that requests at least this level from Zstandard.
fn blosc_level(level: i32) -> u8 {
    match level {
        ..=1 => 1,
        16.. => MAX_LEVEL,
        // Blosc compresses blocks, for which it uses twice its level.
        level => u8::try_from(level / 2 + 1).unwrap_or(MAX_LEVEL),
    }
}

/// Number filters that do not represent a different number type.
const OF_NUMBERS: [&str; 7] =
    ["nbit", "scaleoffset", "szip", "zfp", "pcodec", "bitround", "granularbitround"];
const TRANSPOSE: &str = "transpose";
const DEFAULT_LEVEL: i32 = 3;
/// The Zstandard level that replaces filters that compress better than Deflate.
const STRONG_LEVEL: i32 = 9;
const MAX_LEVEL: u8 = 9;
/// The largest element that Blosc can shuffle, in bytes.
const MAX_ELEMENT: usize = 255;
/// The largest chunk that Blosc can store, in bytes.
const MAX_CHUNK: u64 = 0x7fff_ffff - 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(filters: &str, size: u64, chunk: u64) -> String {
        let filters = hyperslab_ndl::filters(filters, None).unwrap();
        let of = Registered::new(&filters, &Elements { size: Some(size), number: None }, chunk);
        let codecs = of.codecs.iter().map(|codec| codec.registered().unwrap().emit().emit_compact());
        format!("{}: {}", of.lowered.becomes, codecs.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn filters_become_registered_codecs_of_the_same_effect() {
        let shuffled = |codec: &str, level: u8, shuffle: &str, size: u8| {
            format!(
                r#"{{"name":"blosc","configuration":{{"cname":"{codec}","clevel":{level},"shuffle":"{shuffle}","typesize":{size},"blocksize":0}}}}"#
            )
        };
        let crc = r#"{"name":"crc32c"}"#;
        for (filters, expected) in [
            ("[deflate: 4]", r#"gzip: {"name":"gzip","configuration":{"level":4}}"#.to_owned()),
            ("[shuffle, deflate: 4]", format!("Blosc with zlib: {}", shuffled("zlib", 4, "shuffle", 4))),
            (
                "[shuffle, deflate: 1, fletcher32]",
                format!("Blosc with zlib: {} {crc}", shuffled("zlib", 1, "shuffle", 4)),
            ),
            ("[{bitshuffle: lz4}]", format!("Blosc with LZ4: {}", shuffled("lz4", 9, "bitshuffle", 4))),
            ("[shuffle, zstd: 5]", format!("Blosc with Zstandard: {}", shuffled("zstd", 3, "shuffle", 4))),
            (
                "[{blosc: {codec: snappy, level: 5, shuffle: byte, bytes: 4}}]",
                format!("Blosc with LZ4: {}", shuffled("lz4", 5, "shuffle", 4)),
            ),
            ("[shuffle]", "no filter: ".to_owned()),
            ("[fletcher32]", format!("no filter: {crc}")),
        ] {
            assert_eq!(shown(filters, 4, 1 << 20), expected, "{filters}");
        }
    }

    #[test]
    fn chunks_and_elements_too_large_for_blosc_are_not_shuffled() {
        assert_eq!(shown("[shuffle, deflate: 4]", 300, 1 << 20), shown("[deflate: 4]", 300, 1 << 20));
        assert_eq!(shown("[shuffle, deflate: 4]", 4, 1 << 31), shown("[deflate: 4]", 4, 1 << 31));
        assert_eq!(shown("[lz4]", 4, 1 << 31), shown("[lzf]", 4, 1 << 31));
    }
}
