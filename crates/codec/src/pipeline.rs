//! A pipeline of codecs, applied one after another in bounded memory.

mod blocks;
mod unknown_length;

pub use blocks::Blocks;
pub use unknown_length::decode_within;

use crate::codec::Codec;
use crate::coders::Coders;
use hyperslab_core::memory::{check_memory, room};
use hyperslab_core::{CancelToken, Error, ErrorKind, Result};

/// Buffers and coder state that are reused from chunk to chunk. Each thread needs its own.
#[derive(Default)]
pub struct Scratch {
    coders: Coders,
    held: Vec<u8>,
    spare: Vec<u8>,
    /// Buffers for code that reads and converts chunks.
    pub buffers: Buffers,
    /// Stops the work: checked before each chunk.
    pub cancel: CancelToken,
}

/// Buffers for the forms of a chunk, named by their content.
#[derive(Default)]
pub struct Buffers {
    /// The stored bytes of the chunk.
    pub stored: Vec<u8>,
    /// The decoded bytes.
    pub decoded: Vec<u8>,
    /// The elements that were requested.
    pub wanted: Vec<u8>,
    /// These elements as rows.
    pub rows: Vec<u8>,
}

impl Scratch {
    /// An empty scratch; nothing is allocated yet.
    pub fn new() -> Self {
        Scratch::default()
    }

    /// The capacity of all buffers in bytes. A caller that keeps the scratch can drop it if that is too much.
    pub fn held(&self) -> usize {
        let Buffers { stored, decoded, wanted, rows } = &self.buffers;
        [&self.held, &self.spare, stored, decoded, wanted, rows].iter().map(|buffer| buffer.capacity()).sum()
    }
}

/// Checks whether `stored` can decode to exactly `len` bytes, by its length and by the sizes that frames declare.
/// Call it before allocating the output: a few bytes of a file may declare any size.
///
/// ```
/// use hyperslab_codec::{Deflate, Fletcher32, check_size};
///
/// let stored = [0; 1_000];
/// assert!(check_size(&[Deflate { level: 6 }.into()], &stored, 1_000_000).is_ok());
/// assert!(check_size(&[Deflate { level: 6 }.into()], &stored, 1 << 30).is_err());
/// assert!(check_size(&[Fletcher32.into()], &stored, 1_000).is_err());
/// ```
///
/// # Errors
/// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if it cannot decode to `len` bytes.
pub fn check_size(codecs: &[Codec], stored: &[u8], len: usize) -> Result<()> {
    if decoded_sizes(codecs, stored)?.is_some_and(|(min, max)| (min..=max).contains(&len)) {
        return Ok(());
    }
    Err(Error::malformed(format!("{} stored bytes cannot decode to {len}", stored.len())))
}

/// Whether `stored` itself declares that it decodes to exactly `len` bytes: its frame states its size, and the other
/// codecs change the size in a known way.
///
/// ```
/// use hyperslab_codec::{Deflate, Scratch, Zstd, declares_size, encode};
///
/// let raw = [0; 1_000];
/// for (codec, declares) in [(Zstd { level: 3, checksum: false }.into(), true), (Deflate { level: 6 }.into(), false)] {
///     let codecs = [codec];
///     let stored = encode(&codecs, &raw, &mut Scratch::new())?;
///     assert_eq!(declares_size(&codecs, &stored, 1_000)?, declares);
///     assert!(!declares_size(&codecs, &stored, 1_001)?);
/// }
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the frame cannot be read.
pub fn declares_size(codecs: &[Codec], stored: &[u8], len: usize) -> Result<bool> {
    Ok(decoded_sizes(codecs, stored)? == Some((len, len)))
}

/// The smallest and the largest size that `stored` may decode to. `None` if it cannot be decoded.
fn decoded_sizes(codecs: &[Codec], stored: &[u8]) -> Result<Option<(usize, usize)>> {
    // The sizes of the bytes decoded so far.
    let mut sizes = Some((stored.len(), stored.len()));
    let mut first = Some(stored);
    for codec in codecs.iter().rev() {
        let codec = codec.transform();
        let declared = match first {
            Some(stored) => codec.declared_size(stored)?,
            None => None,
        };
        first = None;
        sizes = sizes.and_then(|(min, max)| codec.decoded_sizes(min, max)).and_then(|(min, max)| {
            let Some(size) = declared else { return Some((min, max)) };
            (min..=max).contains(&size).then_some((size, size))
        });
    }
    Ok(sizes)
}

/// Decodes a chunk into `out`. `codecs` are in the order of encoding; `out` is as long as the decoded chunk.
///
/// For any input, the memory of intermediate results is bounded by the length of `out`.
///
/// # Errors
/// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the bytes cannot be decoded or decode to another
/// length; [`ErrorKind::Checksum`](hyperslab_core::ErrorKind::Checksum) if a checksum does not match;
/// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) if they use a feature that is not implemented.
pub fn decode(codecs: &[Codec], stored: &[u8], out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
    check_size(codecs, stored, out.len())?;
    let Scratch { coders, held, spare, .. } = scratch;
    let (mut left, mut undone) = (codecs, None);
    loop {
        let (rest, input) = cut(left, so_far(undone, held, stored))?;
        let Some((codec, before)) = rest.split_last() else {
            check_len(input.len(), out.len())?;
            out.copy_from_slice(input);
            return Ok(());
        };
        let codec = codec.transform();
        if before.iter().all(Codec::changes_nothing) {
            let found = codec.decode(input, out, coders).map_err(malformed)?;
            return check_len(found, out.len());
        }
        let size = size_after(before, out.len());
        let max = size.unwrap_or_else(|| max_size_after(before, out.len()));
        let possible = codec.decoded_sizes(input.len(), input.len());
        let max = possible.map_or(0, |(_, possible)| possible.min(max));
        check_memory(max)?;
        let len = codec.decode(input, room(spare, max), coders).map_err(malformed)?;
        if let Some(size) = size {
            check_len(len, size)?;
        }
        std::mem::swap(held, spare);
        (left, undone) = (before, Some(len));
    }
}

/// Undoes the last of `codecs` that only remove bytes, such as checksums. Returns the codecs that remain and the
/// bytes before them, so that uncompressed chunks need no copy.
///
/// # Errors
/// [`ErrorKind::Checksum`] if a removed checksum does not match.
pub fn cut<'c, 's>(codecs: &'c [Codec], stored: &'s [u8]) -> Result<(&'c [Codec], &'s [u8])> {
    let (mut left, mut bytes) = (codecs, stored);
    while let Some((codec, before)) = left.split_last() {
        let Some(cut) = codec.transform().cut(bytes)? else { break };
        (left, bytes) = (before, cut);
    }
    Ok((left, bytes))
}

/// Encodes a chunk with `codecs`, first to last.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for parameters that a codec does not
/// support.
pub fn encode(codecs: &[Codec], raw: &[u8], scratch: &mut Scratch) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    encode_to(codecs, raw, &mut out, scratch)?;
    Ok(out)
}

/// Encodes like [`encode`] and replaces the content of `out`, which saves an allocation.
///
/// # Errors
/// As [`encode`].
pub fn encode_to(codecs: &[Codec], raw: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> Result<()> {
    let Scratch { coders, held, spare, .. } = scratch;
    let mut in_held = false;
    let mut left = codecs;
    while let Some((codec, behind)) = left.split_first() {
        left = behind;
        if codec.changes_nothing() {
            continue;
        }
        let input = if in_held { held.as_slice() } else { raw };
        let codec = codec.transform();
        if behind.iter().all(Codec::changes_nothing) {
            return codec.encode(input, out, coders);
        }
        codec.encode(input, spare, coders)?;
        std::mem::swap(held, spare);
        in_held = true;
    }
    out.clear();
    out.extend_from_slice(if in_held { held } else { raw });
    Ok(())
}

impl Codec {
    /// Whether no codec changes the bytes.
    fn changes_nothing(&self) -> bool {
        matches!(self, Codec::Shuffle(shuffle) if shuffle.element <= 1)
    }
}

/// The bytes decoded so far: the first `undone` bytes of `held`, or `stored` before the first step that copies.
fn so_far<'a>(undone: Option<usize>, held: &'a [u8], stored: &'a [u8]) -> &'a [u8] {
    undone.map_or(stored, |len| held.get(..len).unwrap_or_default())
}

/// The encoded size of `raw` bytes, if it does not depend on their values.
fn size_after(codecs: &[Codec], raw: usize) -> Option<usize> {
    codecs.iter().try_fold(raw, |size, codec| codec.transform().encoded_size(size))
}

/// The upper bound of the encoded size of `raw` bytes.
pub fn max_size_after(codecs: &[Codec], raw: usize) -> usize {
    codecs.iter().fold(raw, |size, codec| codec.transform().max_encoded_size(size))
}

fn check_len(found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::malformed(format!("decodes to {found} bytes, expected {expected}")))
}

/// The output has exactly the expected length, so bytes that do not fit mean a malformed input.
fn malformed(e: Error) -> Error {
    match e.kind() {
        ErrorKind::LimitExceeded => Error::malformed(e.detail().to_owned()),
        _ => e,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AsType, Base64, BitRound, Bitshuffle, BitshuffleCodec, Blosc, Blosc2, BloscCodec, BloscShuffle,
        Bzip2, Checksum, ChecksumAlgorithm, Deflate, Delta, FixedScaleOffset, Fletcher32, Gzip, Lz4Block,
        Lz4Hdf5, Lz4Numcodecs, Lzf, Lzma, LzmaCheck, LzmaCoder, LzmaContainer, LzmaFilter, LzmaParameters,
        Number, NumberKind, PackBits, Quantize, Shuffle, Snappy, ZfpMode, ZfpNumber, ZfpStream, Zstd,
    };
    use proptest::prelude::*;

    fn codec() -> impl Strategy<Value = Codec> {
        prop_oneof![
            (0..=12_u8).prop_map(|level| Deflate { level }.into()),
            (0..20_usize).prop_map(|element| Shuffle { element }.into()),
            Just(Fletcher32.into()),
        ]
    }

    fn codecs() -> impl Strategy<Value = Vec<Codec>> {
        prop::collection::vec(codec(), 0..6)
    }

    fn number() -> impl Strategy<Value = Number> {
        let bytes = || prop_oneof![Just(1_u8), Just(2), Just(4), Just(8)];
        let kind = prop_oneof![
            Just(NumberKind::Bool),
            bytes().prop_map(|bytes| NumberKind::Signed { bytes }),
            bytes().prop_map(|bytes| NumberKind::Unsigned { bytes }),
            Just(NumberKind::Float16),
            Just(NumberKind::Float32),
            Just(NumberKind::Float64),
        ];
        (kind, any::<bool>()).prop_map(|(kind, big_endian)| Number { kind, big_endian })
    }

    /// Codecs that accept only some data or do not return it unchanged.
    fn number_codec() -> impl Strategy<Value = Codec> {
        let real = || number().prop_filter("a floating-point type", |number| number.is_real());
        prop_oneof![
            (number(), number()).prop_map(|(decoded, encoded)| Delta { decoded, encoded }.into()),
            (number(), number()).prop_map(|(decoded, encoded)| AsType { decoded, encoded }.into()),
            (number(), number(), any::<f64>(), any::<f64>())
                .prop_map(|(decoded, encoded, a, b)| FixedScaleOffset::new(decoded, encoded, a, b).into()),
            (real(), real(), -400..400)
                .prop_map(|(a, b, digits)| Quantize::new(a, b, digits).unwrap().into()),
            (real(), 0..=10_u8).prop_map(|(number, keep)| BitRound::new(number, keep).unwrap().into()),
            Just(PackBits.into()),
        ]
    }

    fn lzma() -> impl Strategy<Value = Codec> {
        let small = LzmaParameters { dictionary: 4096, ..LzmaParameters::preset(1).unwrap() };
        let xz = LzmaContainer::Xz { check: LzmaCheck::Crc32 };
        let filters = vec![LzmaFilter::Delta { distance: 3 }];
        let of = |container, filters: &[LzmaFilter], coder| {
            Just(Lzma::new(container, filters.to_vec(), coder).unwrap().into())
        };
        prop_oneof![
            of(xz, &filters, LzmaCoder::Lzma2(small)),
            of(LzmaContainer::Alone, &[], LzmaCoder::Lzma1(small)),
            of(LzmaContainer::Raw, &[], LzmaCoder::Lzma1(small)),
            of(LzmaContainer::Raw, &filters, LzmaCoder::Lzma2(small)),
        ]
    }

    fn zfp_stream() -> impl Strategy<Value = Codec> {
        let number = prop_oneof![Just(ZfpNumber::Float32), Just(ZfpNumber::Int64)];
        let mode = prop_oneof![Just(ZfpMode::Reversible), Just(ZfpMode::Precision(9))];
        (number, mode).prop_map(|(number, mode)| ZfpStream::new(number, mode, false).unwrap().into())
    }

    fn checksum() -> impl Strategy<Value = Codec> {
        let algorithm = prop_oneof![
            Just(ChecksumAlgorithm::Crc32),
            Just(ChecksumAlgorithm::Crc32c),
            Just(ChecksumAlgorithm::Adler32),
            any::<u32>().prop_map(|initial| ChecksumAlgorithm::Lookup3 { initial }),
        ];
        (algorithm, any::<bool>()).prop_map(|(algorithm, at_start)| Checksum { algorithm, at_start }.into())
    }

    /// Codecs of all kinds, except those that accept only some data.
    fn any_codec() -> impl Strategy<Value = Codec> {
        let element =
            || prop_oneof![Just(1_usize), Just(2), Just(3), Just(4), Just(8), Just(16), 1..300_usize];
        let shuffle =
            prop_oneof![Just(BloscShuffle::None), Just(BloscShuffle::Byte), Just(BloscShuffle::Bit)];
        let blosc_codec = prop_oneof![
            Just(BloscCodec::BloscLz),
            Just(BloscCodec::Lz4),
            Just(BloscCodec::Lz4Hc),
            Just(BloscCodec::Zlib),
            Just(BloscCodec::Zstd),
        ];
        let bitshuffle_codec = prop_oneof![
            Just(BitshuffleCodec::None),
            Just(BitshuffleCodec::Lz4),
            (-5..10).prop_map(|level| BitshuffleCodec::Zstd { level }),
        ];
        let block = prop_oneof![Just(0_u32), 1..600_u32];
        let blosc = (blosc_codec, 0..=9_u8, shuffle, element(), block.clone());
        prop_oneof![
            codec(),
            Just(Lzf.into()),
            Just(Snappy.into()),
            Just(Lz4Block.into()),
            Just(Lz4Numcodecs { acceleration: 1 }.into()),
            Just(Base64.into()),
            lzma(),
            any::<bool>().prop_map(|big_endian| {
                let number = Number { kind: NumberKind::Unsigned { bytes: 1 }, big_endian };
                Delta { decoded: number, encoded: number }.into()
            }),
            checksum(),
            (0..=12_u8).prop_map(|level| Gzip { level }.into()),
            (1..=9_u8).prop_map(|level| Bzip2 { level }.into()),
            (-9..=19, any::<bool>()).prop_map(|(level, checksum)| Zstd { level, checksum }.into()),
            block.prop_map(|block| Lz4Hdf5 { block }.into()),
            (element(), 0..20_usize, bitshuffle_codec).prop_map(|(element, block, codec)| Bitshuffle {
                element,
                block: block * 8,
                codec
            }
            .into()),
            (blosc, any::<bool>()).prop_map(
                |((codec, level, shuffle, element, block), second)| match second {
                    false => Blosc { codec, level, shuffle, element, block }.into(),
                    true => Blosc2 { codec, level, shuffle, element, block, shape: Vec::new() }.into(),
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn every_pipeline_returns_what_it_was_given(
            codecs in codecs(),
            raws in prop::collection::vec(prop::collection::vec(0..5_u8, 0..2000), 1..4),
        ) {
            let mut scratch = Scratch::new();
            for raw in raws {
                let stored = encode(&codecs, &raw, &mut scratch).unwrap();
                check_size(&codecs, &stored, raw.len()).unwrap();
                prop_assert_eq!(size_after(&codecs, raw.len()).unwrap_or(stored.len()), stored.len());
                prop_assert!(stored.len() <= max_size_after(&codecs, raw.len()));
                let mut out = vec![0xee; raw.len()];
                decode(&codecs, &stored, &mut out, &mut scratch).unwrap();
                prop_assert_eq!(&out, &raw);
                // Only several deflate codecs in a row could hide a chunk that is longer or shorter.
                for wrong in [raw.len() + 1, raw.len().saturating_sub(1)] {
                    let found = decode(&codecs, &stored, &mut vec![0; wrong], &mut scratch);
                    prop_assert!(wrong == raw.len() || found.unwrap_err().kind() == ErrorKind::Malformed);
                }
            }
        }

        #[test]
        fn every_codec_returns_what_it_was_given(
            codecs in prop::collection::vec(any_codec(), 1..4),
            (few, len) in (1..=255_u8, prop_oneof![0..20_usize, 0..3000_usize]),
            seed in any::<u64>(),
        ) {
            let mut scratch = Scratch::new();
            let mut state = seed;
            let mut raw = vec![0; len];
            for byte in &mut raw {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = state.to_be_bytes()[0] % few;
            }
            let stored = encode(&codecs, &raw, &mut scratch).unwrap();
            check_size(&codecs, &stored, raw.len()).unwrap();
            prop_assert!(stored.len() <= max_size_after(&codecs, raw.len()));
            let mut out = vec![0xee; raw.len()];
            decode(&codecs, &stored, &mut out, &mut scratch).unwrap();
            prop_assert_eq!(&out, &raw);
            prop_assert_eq!(&decode_within(&codecs, &stored, raw.len() + 9, &mut scratch).unwrap(), &raw);
            prop_assert_eq!(&decode_within(&codecs, &stored, raw.len(), &mut scratch).unwrap(), &raw);
            if let Some(less) = raw.len().checked_sub(1) {
                prop_assert!(decode_within(&codecs, &stored, less, &mut scratch).is_err());
            }
            for wrong in [raw.len() + 1, raw.len().saturating_sub(1)] {
                let found = decode(&codecs, &stored, &mut vec![0; wrong], &mut scratch);
                prop_assert!(wrong == raw.len() || found.unwrap_err().kind() == ErrorKind::Malformed);
            }
        }

        #[test]
        fn any_bytes_decode_or_fail(
            codecs in prop::collection::vec(prop_oneof![any_codec(), number_codec(), zfp_stream()], 1..3),
            stored in prop::collection::vec(any::<u8>(), 0..300),
            len in 0..600_usize,
        ) {
            let _ = decode(&codecs, &stored, &mut vec![0; len], &mut Scratch::new());
            if let Ok(raw) = decode_within(&codecs, &stored, len, &mut Scratch::new()) {
                prop_assert!(raw.len() <= len);
            }
        }

        #[test]
        fn any_numbers_are_stored_or_refused(
            codec in number_codec(),
            raw in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut scratch = Scratch::new();
            let codecs = [codec];
            let Ok(stored) = encode(&codecs, &raw, &mut scratch) else { return Ok(()) };
            prop_assert_eq!(size_after(&codecs, raw.len()), Some(stored.len()));
            prop_assert!(stored.len() <= max_size_after(&codecs, raw.len()));
            let _ = decode(&codecs, &stored, &mut vec![0; raw.len()], &mut scratch);
            if let Ok(back) = decode_within(&codecs, &stored, raw.len(), &mut scratch) {
                prop_assert_eq!(back.len(), raw.len());
            }
        }

        #[test]
        fn changed_bytes_decode_or_fail(
            codec in any_codec(),
            raw in prop::collection::vec(0..5_u8, 1..700),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut scratch = Scratch::new();
            let codecs = [codec];
            let mut stored = encode(&codecs, &raw, &mut scratch).unwrap();
            for (at, byte) in changes {
                *at.get_mut(&mut stored) = byte;
            }
            let _ = decode(&codecs, &stored, &mut vec![0; raw.len()], &mut scratch);
            let _ = decode_within(&codecs, &stored, 2 * raw.len(), &mut scratch);
        }

        #[test]
        fn damaged_streams_never_pass_as_whole(
            codecs in codecs(),
            raw in prop::collection::vec(0..5_u8, 1..500),
            at in any::<prop::sample::Index>(),
            // Fletcher-32 does not distinguish 0 and 0xff.
            flip in 1..255_u8,
        ) {
            let mut scratch = Scratch::new();
            let mut stored = encode(&codecs, &raw, &mut scratch).unwrap();
            *at.get_mut(&mut stored) ^= flip;
            let mut out = vec![0; raw.len()];
            if decode(&codecs, &stored, &mut out, &mut scratch).is_ok() && out != raw {
                // One byte of a deflate stream stands for several bytes, and nearby ones can have the same Adler-32.
                // Only those may pass the checksum.
                let sums = codecs.iter().position(|codec| !matches!(codec, Codec::Shuffle(_)));
                if let Some(at) = sums {
                    let (before, rest) = codecs.split_at(at);
                    let others = rest.iter().filter(|codec| !matches!(codec, Codec::Shuffle(_))).count() - 1;
                    prop_assert!(matches!(rest[0], Codec::Deflate(_)) && others == 0, "{codecs:?}");
                    let inflated = [&raw, &out].map(|bytes| encode(before, bytes, &mut scratch).unwrap());
                    prop_assert_eq!(adler32(&inflated[0]), adler32(&inflated[1]));
                }
            }
        }
    }

    /// Spec: RFC 1950, section 8.2
    fn adler32(bytes: &[u8]) -> (u32, u32) {
        bytes.iter().fold((1, 0), |(a, b), byte| {
            let a = (a + u32::from(*byte)) % 65_521;
            (a, (a + b) % 65_521)
        })
    }

    #[test]
    fn rejects_impossible_sizes_before_allocating() {
        let deflate = Codec::from(Deflate { level: 1 });
        let twice = [deflate.clone(), deflate.clone()];
        let possible = |codecs: &[Codec], stored, len| check_size(codecs, &vec![0x78; stored], len).is_ok();
        assert!(!possible(&twice[..1], 10, 10_321));
        assert!(possible(&twice[..1], 10, 10_320));
        assert!(possible(&twice, 10, 10_650_240));
        assert!(!possible(&[Shuffle { element: 2 }.into()], 10, 11));
        assert!(!possible(&[Fletcher32.into()], 3, 0));
        assert!(possible(&[Fletcher32.into()], 4, 0));
        assert!(!possible(&[Fletcher32.into(), deflate], 0, 0));
        let mut scratch = Scratch::new();
        let e = decode(&twice[..1], &[0x78; 10], &mut vec![0; 20_000], &mut scratch).unwrap_err();
        assert_eq!(e.to_string(), "10 stored bytes cannot decode to 20000");
    }

    #[test]
    fn nested_streams_grow_no_further_than_an_encoder_would_make_them() {
        let bomb = Codec::from(Deflate { level: 9 });
        let mut scratch = Scratch::new();
        // The inner stream should have 10 raw bytes, but has 50 million.
        let stored = encode(std::slice::from_ref(&bomb), &vec![0; 50_000_000], &mut scratch).unwrap();
        let mut scratch = Scratch::new();
        let e = decode(&[bomb.clone(), bomb], &stored, &mut [0; 10], &mut scratch).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Malformed);
        assert!(scratch.held.len() + scratch.spare.len() < 100_000);
    }

    #[test]
    fn scratch_serves_one_thread_after_another() {
        fn is_send<T: Send>() {}
        is_send::<Scratch>();
    }
}
