//! Writes Blosc chunks of versions 1 and 2.
//!
//! Spec: Blosc Chunk Format

use super::chunk::{COPIED, EXTENDED, EXTENDED_HEADER, HEADER, MAX_STREAMS, MIN_STREAM, NOT_SPLIT};
use super::filter::Filter;
use super::stream::{Format, encode};
use super::{BloscCodec, BloscShuffle};
use crate::coders::Coders;
use hyperslab_core::{Error, Result};

/// The settings for writing chunks.
pub(crate) struct Writer {
    /// Whether to write the header of Blosc 2.
    pub(crate) second: bool,
    pub(crate) codec: BloscCodec,
    pub(crate) level: u8,
    pub(crate) shuffle: BloscShuffle,
    pub(crate) element: usize,
    /// The size of a block in bytes; 0 chooses a size.
    pub(crate) block: u32,
}

impl Writer {
    /// Appends `raw` as a chunk, which is longer than `raw` by at most the header.
    pub(crate) fn append(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        if self.level > MAX_LEVEL {
            return Err(Error::invalid(format!("Blosc level {}, expected 0 to {MAX_LEVEL}", self.level)));
        }
        if self.second && self.codec == BloscCodec::Snappy {
            return Err(Error::invalid("snappy in Blosc 2, expected another compressor"));
        }
        let block = self.block(raw.len());
        let start = out.len();
        out.reserve(raw.len().saturating_add(EXTENDED_HEADER + 4));
        self.put_header(raw, block, out)?;
        let header = out.len() - start;
        if self.level > 0 && !raw.is_empty() {
            self.put_blocks(raw, block, start, out, coders)?;
        }
        if self.level == 0 || out.len() - start >= raw.len() + header {
            out.truncate(start + header);
            out.extend_from_slice(raw);
            if let (Some(flags), false) = (out.get_mut(start + 2), raw.is_empty()) {
                *flags |= COPIED;
            }
        }
        let len = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
        put(out, start + 12, len);
        Ok(())
    }

    fn put_header(&self, raw: &[u8], block: usize, out: &mut Vec<u8>) -> Result<()> {
        let (Ok(size @ 0..=MAX_SIZE), Ok(block)) = (u32::try_from(raw.len()), u32::try_from(block)) else {
            return Err(Error::invalid(format!("{} bytes for Blosc, expected less than 2 GiB", raw.len())));
        };
        let split = if self.splits(self.block(raw.len())) { 0 } else { NOT_SPLIT };
        let (shuffle, code) = match self.shuffle {
            BloscShuffle::None => (0, 0),
            BloscShuffle::Byte => (1, 1),
            BloscShuffle::Bit => (4, 2),
        };
        let flags =
            (Format::of(self.codec) as u8) << 5 | split | if self.second { EXTENDED } else { shuffle };
        let element = u8::try_from(self.element()).unwrap_or(1);
        out.extend([
            if self.second { SECOND_VERSION } else { FIRST_VERSION },
            STREAM_VERSION,
            flags,
            element,
        ]);
        out.extend_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&block.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        if self.second {
            // The last of six filters; no user-defined codec, parameters or flags.
            out.extend_from_slice(&[0, 0, 0, 0, 0, code]);
            out.resize(out.len() + EXTENDED_HEADER - HEADER - 6, 0);
        }
        Ok(())
    }

    fn put_blocks(
        &self,
        raw: &[u8],
        block: usize,
        start: usize,
        out: &mut Vec<u8>,
        coders: &mut Coders,
    ) -> Result<()> {
        let places = out.len();
        out.resize(places + raw.len().div_ceil(block) * 4, 0);
        let filter = match self.shuffle {
            BloscShuffle::Byte if self.element() > 1 => Some(Filter::Shuffle { element: self.element() }),
            BloscShuffle::Bit => Some(Filter::Bitshuffle { element: self.element(), all: !self.second }),
            _ => None,
        };
        let mut filtered = std::mem::take(&mut coders.compressed);
        for (index, piece) in raw.chunks(block).enumerate() {
            let place = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
            put(out, places + index * 4, place);
            let bytes = match filter {
                Some(filter) => {
                    filtered.resize(piece.len(), 0);
                    filter.apply(piece, &mut filtered, coders);
                    filtered.as_slice()
                }
                None => piece,
            };
            let streams = if piece.len() == block && self.splits(block) { self.element() } else { 1 };
            for stream in bytes.chunks(bytes.len() / streams) {
                self.put_stream(stream, out, coders)?;
            }
            if out.len() - start >= raw.len() + (places - start) {
                break;
            }
        }
        coders.compressed = filtered;
        Ok(())
    }

    fn put_stream(&self, stream: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        if let Some((first, others)) = stream.split_first()
            && self.second
            && others.iter().all(|byte| byte == first)
        {
            out.extend_from_slice(&(-i32::from(*first)).to_le_bytes());
            if *first != 0 {
                out.push(1);
            }
            return Ok(());
        }
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        let is_packed = encode(self.codec, self.level, stream, out, coders)?;
        if !is_packed || out.len() - at - 4 >= stream.len() {
            out.truncate(at + 4);
            out.extend_from_slice(stream);
        }
        let len = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
        put(out, at, len);
        Ok(())
    }

    fn element(&self) -> usize {
        if (1..=255).contains(&self.element) { self.element } else { 1 }
    }

    /// Whether a block has one stream for each byte of an element.
    fn splits(&self, block: usize) -> bool {
        let element = self.element();
        if !self.second {
            let long_enough = element <= MAX_STREAMS && block / element >= MIN_STREAM;
            return self.codec != BloscCodec::Zstd && long_enough && block.is_multiple_of(element);
        }
        let fast = match self.codec {
            BloscCodec::BloscLz | BloscCodec::Lz4 => true,
            BloscCodec::Zstd => self.level <= 5,
            _ => false,
        };
        let long_enough = element <= MAX_STREAMS && block / element >= MIN_SECOND_STREAM;
        fast && self.shuffle == BloscShuffle::Byte && long_enough && block.is_multiple_of(element)
    }

    /// The size of a block in bytes: whole elements that fit into a fast cache; higher levels use larger blocks.
    fn block(&self, raw: usize) -> usize {
        let element = self.element();
        let block = match usize::try_from(self.block) {
            Ok(block @ 1..) => block.max(MIN_BLOCK),
            _ if raw < CACHE => raw,
            _ => {
                let thorough = matches!(self.codec, BloscCodec::Lz4Hc | BloscCodec::Zlib | BloscCodec::Zstd);
                let cache = if thorough { 2 * CACHE } else { CACHE };
                let block = match self.level {
                    0 | 1 => cache / 2,
                    2 => cache,
                    3 => cache * 2,
                    4 | 5 => cache * 4,
                    6..=8 => cache * 8,
                    _ if thorough => cache * 16,
                    _ => cache * 8,
                };
                match self.splits(block / element * element) {
                    true => block.min(1 << 18).saturating_mul(element).clamp(1 << 16, 1 << 20),
                    false => block,
                }
            }
        };
        let block = block.min(raw).max(1);
        if block > element { block / element * element } else { block }
    }
}

fn put(out: &mut [u8], at: usize, value: u32) {
    if let Some(field) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *field = value.to_le_bytes();
    }
}

const FIRST_VERSION: u8 = 2;
const SECOND_VERSION: u8 = 5;
const STREAM_VERSION: u8 = 1;
const MAX_LEVEL: u8 = 9;
const MAX_SIZE: u32 = 0x7fff_ffff - 32;
const CACHE: usize = 1 << 15;
const MIN_BLOCK: usize = 128;
const MIN_SECOND_STREAM: usize = 32;
