//! Chunks whose blocks can be decoded independently.

use super::{Scratch, malformed};
use crate::blosc::chunk::Chunk;
use crate::codec::Codec;
use hyperslab_core::{Error, Result};

/// The blocks of a chunk, for callers that need only a few of them, or that copy each block elsewhere while it is in a
/// fast cache.
pub struct Blocks<'a>(Chunk<'a>);

impl<'a> Blocks<'a> {
    /// The blocks of a chunk that was encoded with `codecs`. `None` if the codecs have no blocks, or their blocks
    /// depend on others.
    ///
    /// # Errors
    /// As [`decode`](super::decode).
    pub fn open(codecs: &[Codec], stored: &'a [u8]) -> Result<Option<Blocks<'a>>> {
        let [Codec::Blosc(_)] = codecs else { return Ok(None) };
        let chunk = Chunk::open(stored).map_err(malformed)?;
        Ok((chunk.block > 0 && !chunk.refers_to_first()).then_some(Blocks(chunk)))
    }

    /// The decoded size of the chunk in bytes.
    pub fn size(&self) -> usize {
        self.0.size
    }

    /// The decoded size of a block in bytes, at least 1. The last block may be shorter.
    pub fn block(&self) -> usize {
        self.0.block
    }

    /// Decodes whole blocks to `out`, which has their decoded size. `from` is the byte offset of the first of them in
    /// the chunk.
    ///
    /// # Errors
    /// As [`decode`](super::decode), and [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument)
    /// if the range does not consist of whole blocks.
    pub fn decode(&self, from: usize, out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let (size, block) = (self.0.size, self.0.block);
        let end = from.checked_add(out.len()).filter(|end| *end <= size);
        if !from.is_multiple_of(block) || !end.is_some_and(|end| end == size || end.is_multiple_of(block)) {
            let len = out.len();
            return Err(Error::invalid(format!(
                "{len} bytes from offset {from} of a chunk of {size}, expected whole blocks of {block}"
            )));
        }
        for (index, part) in (from / block..).zip(out.chunks_mut(block)) {
            self.0.decode_block(index, &[], part, &mut scratch.coders).map_err(malformed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Blosc, BloscCodec, BloscShuffle, Gzip, decode, encode};

    fn blosc(codec: BloscCodec, shuffle: BloscShuffle) -> Codec {
        Blosc { codec, level: 5, shuffle, element: 4, block: 4096 }.into()
    }

    #[test]
    fn blocks_equal_the_decoded_chunk() {
        let raw: Vec<u8> = (0..50_000_u32).flat_map(|i| (i * i / 7).to_le_bytes()).collect();
        let mut scratch = Scratch::new();
        for codec in [BloscCodec::Lz4, BloscCodec::Zstd, BloscCodec::BloscLz] {
            for shuffle in [BloscShuffle::None, BloscShuffle::Byte, BloscShuffle::Bit] {
                let codecs = [blosc(codec, shuffle)];
                let stored = encode(&codecs, &raw, &mut scratch).unwrap();
                let blocks = Blocks::open(&codecs, &stored).unwrap().unwrap();
                assert_eq!((blocks.size(), blocks.block()), (raw.len(), 4096));
                let mut whole = vec![0; raw.len()];
                decode(&codecs, &stored, &mut whole, &mut scratch).unwrap();
                assert_eq!(whole, raw);
                for blocks_at_once in [1, 3] {
                    let step = 4096 * blocks_at_once;
                    let mut out = vec![0; raw.len()];
                    for (index, part) in out.chunks_mut(step).enumerate() {
                        blocks.decode(index * step, part, &mut scratch).unwrap();
                    }
                    assert_eq!(out, raw);
                }
            }
        }
    }

    #[test]
    fn rejects_parts_of_blocks_and_blocks_past_the_end() {
        let codecs = [blosc(BloscCodec::Lz4, BloscShuffle::Byte)];
        let mut scratch = Scratch::new();
        let stored = encode(&codecs, &[7; 10_000], &mut scratch).unwrap();
        let blocks = Blocks::open(&codecs, &stored).unwrap().unwrap();
        let mut out = vec![0; 20_000];
        for (from, len) in [(0, 4000), (4, 4096), (8192, 4096), (4096, 10_000), (usize::MAX, 4096)] {
            let e = blocks.decode(from, &mut out[..len], &mut scratch).unwrap_err();
            assert_eq!(e.kind(), hyperslab_core::ErrorKind::InvalidArgument, "{from} {len}");
        }
        assert!(blocks.decode(8192, &mut out[..1808], &mut scratch).is_ok());
        assert!(Blocks::open(&[Gzip { level: 1 }.into()], &stored).unwrap().is_none());
        assert!(Blocks::open(&codecs, &stored[..20]).is_err());
    }
}
