//! Bitshuffle: within a block of elements, groups the bits of equal significance; filter id 32008 in the HDF5
//! registry.
//!
//! A block holds a multiple of eight elements. Up to seven elements after the last block are stored unchanged.
//! Compressed blocks are preceded by a header: the decoded size in eight bytes and the decoded size of a block in
//! four bytes. Each block follows its stored size in four bytes. All these numbers are big-endian.

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int};
use crate::zstd::Zstd;
use crate::{lz4, shuffle, zstd};
use hyperslab_core::{Error, Result};
use multiversion::multiversion;

/// Groups the bits of equal significance of each block of elements, and compresses each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bitshuffle {
    /// The size of an element in bytes, at least 1.
    pub element: usize,
    /// The number of elements of a block, a multiple of 8. 0 for as many elements as 8 KiB hold, but at least 128.
    pub block: usize,
    /// The compressor of the blocks.
    pub codec: BitshuffleCodec,
}

/// The compressor of bitshuffled blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitshuffleCodec {
    /// No compression.
    None,
    /// LZ4 blocks.
    Lz4,
    /// Zstandard frames.
    Zstd {
        /// The compression level, for encoding only.
        level: i32,
    },
}

impl Bitshuffle {
    /// The size of an element and of a block, in bytes.
    fn sizes(&self) -> Result<(usize, usize)> {
        if self.element == 0 {
            return Err(Error::invalid("bitshuffle elements of 0 bytes, expected 1 or more"));
        }
        if !self.block.is_multiple_of(MULTIPLE) {
            return Err(Error::invalid(format!(
                "bitshuffle block of {} elements, expected a multiple of {MULTIPLE}",
                self.block
            )));
        }
        let block = match self.block {
            0 => (DEFAULT_BLOCK_BYTES / self.element / MULTIPLE * MULTIPLE).max(MIN_DEFAULT_BLOCK),
            block => block,
        };
        Ok((self.element, block.saturating_mul(self.element)))
    }

    fn decode_compressed(&self, stored: &[u8], out: &mut [u8], coders: &mut Coders) -> Result<usize> {
        let (element, _) = self.sizes()?;
        let (size, block, mut left) = header(stored)?;
        let out = room(out, size)?;
        if !block.is_multiple_of(element.saturating_mul(MULTIPLE)) || block == 0 && size > 0 {
            return Err(Error::malformed(format!(
                "bitshuffle block of {block} bytes, expected a multiple of {MULTIPLE} elements of {element} bytes"
            )));
        }
        let (blocks, tail) = out.split_at_mut(whole(size, element));
        let mut compressed = std::mem::take(&mut coders.compressed);
        let mut planes = std::mem::take(&mut coders.planes);
        for piece in blocks.chunks_mut(block.max(1)) {
            let Some((len, rest)) = left.split_first_chunk() else { return Err(ends_early(stored)) };
            let len = usize::try_from(u32::from_be_bytes(*len)).unwrap_or(usize::MAX);
            let Some((data, rest)) = rest.split_at_checked(len) else { return Err(ends_early(stored)) };
            compressed.resize(piece.len(), 0);
            match self.codec {
                BitshuffleCodec::Zstd { .. } => {
                    let found = coders.zstd.decode(data, &mut compressed)?;
                    if found != piece.len() {
                        return Err(Error::malformed(format!(
                            "bitshuffle block decodes to {found} bytes, expected {}",
                            piece.len()
                        )));
                    }
                }
                _ => lz4::decode_block(data, &mut compressed)?,
            }
            unshuffle_bits(element, &compressed, piece, &mut planes);
            left = rest;
        }
        (coders.compressed, coders.planes) = (compressed, planes);
        match left.get(..tail.len()) {
            Some(rest) => tail.copy_from_slice(rest),
            None => return Err(ends_early(stored)),
        }
        Ok(size)
    }
}

impl Transform for Bitshuffle {
    fn decoded_sizes(&self, min: usize, max: usize) -> Option<(usize, usize)> {
        let ratio = match self.codec {
            BitshuffleCodec::None => return Some((min, max)),
            BitshuffleCodec::Lz4 => lz4::MAX_RATIO,
            BitshuffleCodec::Zstd { .. } => zstd::MAX_RATIO,
        };
        Some((0, max.checked_sub(HEADER)?.saturating_mul(ratio)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        match self.codec {
            BitshuffleCodec::None => Ok(None),
            _ => header(stored).map(|(size, ..)| Some(size)),
        }
    }

    fn encoded_size(&self, raw: usize) -> Option<usize> {
        (self.codec == BitshuffleCodec::None).then_some(raw)
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        let blocks = self.sizes().map_or(raw, |(_, block)| raw.div_ceil(block));
        match self.codec {
            BitshuffleCodec::None => raw,
            // With either compressor, a block grows by at most a 128th and a few bytes; each block is preceded by its
            // size.
            _ => raw
                .saturating_add(raw / 128)
                .saturating_add(blocks.saturating_mul(132))
                .saturating_add(HEADER),
        }
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], coders: &mut Coders) -> Result<usize> {
        if self.codec != BitshuffleCodec::None {
            return self.decode_compressed(stored, out, coders);
        }
        let (element, block) = self.sizes()?;
        let out = room(out, stored.len())?;
        let (blocks, tail) = stored.split_at(whole(stored.len(), element));
        let (to_blocks, to_tail) = out.split_at_mut(blocks.len());
        for (from, to) in blocks.chunks(block).zip(to_blocks.chunks_mut(block)) {
            unshuffle_bits(element, from, to, &mut coders.planes);
        }
        to_tail.copy_from_slice(tail);
        Ok(stored.len())
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        let (element, block) = self.sizes()?;
        out.clear();
        if self.codec != BitshuffleCodec::None {
            let Ok(block_field) = u32::try_from(block) else {
                return Err(Error::invalid(format!(
                    "bitshuffle block of {block} bytes, expected less than 4 GiB"
                )));
            };
            out.extend_from_slice(&(raw.len() as u64).to_be_bytes());
            out.extend_from_slice(&block_field.to_be_bytes());
        }
        let (blocks, tail) = raw.split_at(whole(raw.len(), element));
        let mut shuffled = std::mem::take(&mut coders.compressed);
        for piece in blocks.chunks(block) {
            shuffled.resize(piece.len(), 0);
            shuffle_bits(element, piece, &mut shuffled, &mut coders.planes);
            let at = out.len();
            match self.codec {
                BitshuffleCodec::None => {
                    out.extend_from_slice(&shuffled);
                    continue;
                }
                BitshuffleCodec::Lz4 => {
                    out.extend_from_slice(&[0; 4]);
                    lz4::encode_block(&shuffled, lz4::DEFAULT, out, coders)?;
                }
                BitshuffleCodec::Zstd { level } => {
                    out.extend_from_slice(&[0; 4]);
                    coders.zstd.encode(&Zstd { level, checksum: false }, &shuffled, out)?;
                }
            }
            let len = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
            if let Some(field) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
                *field = len.to_be_bytes();
            }
        }
        coders.compressed = shuffled;
        out.extend_from_slice(tail);
        Ok(())
    }
}

impl Vocabulary for Bitshuffle {
    const NAMES: &'static [&'static str] = &["bitshuffle"];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        let codec = match given.word("codec")? {
            "lz4" => BitshuffleCodec::Lz4,
            "zstd" => BitshuffleCodec::Zstd {
                level: given.value("level").map_or(Ok(DEFAULT_LEVEL), |_| given.int("level"))?,
            },
            _ => BitshuffleCodec::None,
        };
        Ok(Bitshuffle { element: given.int("bytes")?, block: given.int("block")?, codec })
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        let (codec, level) = match self.codec {
            BitshuffleCodec::None => ("none", None),
            BitshuffleCodec::Lz4 => ("lz4", None),
            BitshuffleCodec::Zstd { level } => ("zstd", Some(level)),
        };
        let mut parameters = vec![("codec", codec.into())];
        parameters.extend(level.map(|level| ("level", int(level))));
        parameters.extend([("block", int(self.block)), ("bytes", int(self.element))]);
        Some(Named { name: "bitshuffle", parameters })
    }
}

/// The level of Zstandard if a chunk does not state one.
const DEFAULT_LEVEL: i32 = 3;

/// Groups the bits of equal significance of elements, whose number is a multiple of eight: for each byte of an
/// element and each of its bits, the bits of all elements. All slices except `planes` have the same length.
pub(crate) fn shuffle_bits(element: usize, raw: &[u8], out: &mut [u8], planes: &mut Vec<u8>) {
    planes.resize(raw.len(), 0);
    shuffle::shuffle_to(element, raw, planes);
    transpose_bits(planes);
    let plane = raw.len() / element.max(1);
    for (from, to) in planes.chunks_exact(plane.max(1)).zip(out.chunks_exact_mut(plane.max(1))) {
        // Eight bits of eight elements make a word; each of its bytes goes to its own row.
        shuffle::shuffle_to(WORD, from, to);
    }
}

/// The reverse of [`shuffle_bits`].
pub(crate) fn unshuffle_bits(element: usize, stored: &[u8], out: &mut [u8], planes: &mut Vec<u8>) {
    planes.resize(stored.len(), 0);
    let plane = stored.len() / element.max(1);
    for (from, to) in stored.chunks_exact(plane.max(1)).zip(planes.chunks_exact_mut(plane.max(1))) {
        shuffle::unshuffle_to(WORD, from, to);
    }
    transpose_bits(planes);
    shuffle::unshuffle_to(element, planes, out);
}

/// In each word of eight bytes, exchanges bit `j` of byte `i` with bit `i` of byte `j`.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512dq+avx2+bmi2",
    "x86_64+avx2+bmi1+bmi2",
    "aarch64+neon"
))]
fn transpose_bits(bytes: &mut [u8]) {
    let (words, _) = bytes.as_chunks_mut::<WORD>();
    for bytes in words {
        let mut word = u64::from_le_bytes(*bytes);
        let mut swap = (word ^ (word >> 7)) & 0x00aa_00aa_00aa_00aa;
        word ^= swap ^ (swap << 7);
        swap = (word ^ (word >> 14)) & 0x0000_cccc_0000_cccc;
        word ^= swap ^ (swap << 14);
        swap = (word ^ (word >> 28)) & 0x0000_0000_f0f0_f0f0;
        word ^= swap ^ (swap << 28);
        *bytes = word.to_le_bytes();
    }
}

/// The size of the largest multiple of eight elements within `len` bytes.
fn whole(len: usize, element: usize) -> usize {
    len / element / MULTIPLE * MULTIPLE * element
}

/// The decoded size, the decoded size of a block, and the bytes after the header.
fn header(stored: &[u8]) -> Result<(usize, usize, &[u8])> {
    let size = stored.split_first_chunk();
    let fields =
        size.and_then(|(size, rest)| rest.split_first_chunk().map(|(block, rest)| (size, block, rest)));
    let Some((size, block, rest)) = fields else {
        return Err(Error::malformed(format!(
            "bitshuffle data of {} bytes, expected a header of {HEADER}",
            stored.len()
        )));
    };
    let size = usize::try_from(u64::from_be_bytes(*size)).unwrap_or(usize::MAX);
    Ok((size, usize::try_from(u32::from_be_bytes(*block)).unwrap_or(usize::MAX), rest))
}

fn ends_early(stored: &[u8]) -> Error {
    Error::malformed(format!("bitshuffle data of {} bytes ends within a block", stored.len()))
}

const MULTIPLE: usize = 8;
const WORD: usize = 8;
const HEADER: usize = 12;
const DEFAULT_BLOCK_BYTES: usize = 8192;
const MIN_DEFAULT_BLOCK: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The result by the definition, bit by bit.
    fn defined(element: usize, raw: &[u8]) -> Vec<u8> {
        let elements = raw.len() / element;
        let mut out = vec![0; raw.len()];
        for (i, byte) in raw.iter().enumerate() {
            for bit in 0..8 {
                let row = i % element * 8 + bit;
                let column = i / element;
                out[row * elements / 8 + column / 8] |= (byte >> bit & 1) << (column % 8);
            }
        }
        out
    }

    proptest! {
        #[test]
        fn bits_go_where_the_definition_puts_them(
            element in 1..20_usize,
            raw in prop::collection::vec(any::<u8>(), 0..3000),
        ) {
            let raw = &raw[..whole(raw.len(), element)];
            let (mut stored, mut planes) = (vec![0; raw.len()], Vec::new());
            shuffle_bits(element, raw, &mut stored, &mut planes);
            prop_assert_eq!(&stored, &defined(element, raw));
            let mut back = vec![0; raw.len()];
            unshuffle_bits(element, &stored, &mut back, &mut planes);
            prop_assert_eq!(back, raw);
        }
    }

    #[test]
    fn blocks_are_multiples_of_eight_elements() {
        let bitshuffle = Bitshuffle { element: 2, block: 12, codec: BitshuffleCodec::None };
        let e = bitshuffle.encode(&[0; 48], &mut Vec::new(), &mut Coders::default()).unwrap_err();
        assert_eq!(e.to_string(), "bitshuffle block of 12 elements, expected a multiple of 8");
        let lying = Bitshuffle { element: 2, block: 0, codec: BitshuffleCodec::Lz4 };
        let stored = [0, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 17, 0, 0, 0, 0];
        let e = lying.decode(&stored, &mut [0; 32], &mut Coders::default()).unwrap_err();
        assert_eq!(
            e.to_string(),
            "bitshuffle block of 17 bytes, expected a multiple of 8 elements of 2 bytes"
        );
    }
}
