//! Reads Blosc chunks of versions 1 and 2.
//!
//! A chunk is a header of 16 bytes, mostly 32 in version 2, then the offset of each block, then the blocks. The
//! header gives the size of a block. A block has passed filters and is one compressed stream, or one stream for each
//! byte of an element.
//!
//! Spec: Blosc Chunk Format

use super::filter::{Filter, Filters};
use super::stream::Format;
use crate::coders::Coders;
use crate::shuffle;
use hyperslab_core::{Error, Result};

/// A chunk whose header has been read.
pub(crate) struct Chunk<'a> {
    /// The decoded size of the chunk in bytes.
    pub(crate) size: usize,
    /// The decoded size of a block in bytes. The last block may be shorter.
    pub(crate) block: usize,
    /// All bytes of the chunk, without those that follow it.
    bytes: &'a [u8],
    header: usize,
    content: Content,
    /// Whether the chunk has the format of Blosc 1.
    first: bool,
    format: Option<Format>,
    split: bool,
    element: usize,
    filters: Filters,
    dictionary: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Blocks,
    /// The decoded bytes themselves.
    Copy,
    Zeros,
    NotANumbers,
    /// One repeated value, which follows the header.
    Value,
}

impl<'a> Chunk<'a> {
    /// Reads the header of the chunk at the start of `stored`.
    pub(crate) fn open(stored: &'a [u8]) -> Result<Chunk<'a>> {
        let fields = stored.split_first_chunk::<HEADER>().map(|(fields, _)| *fields);
        let Some([version, _, flags, element, sizes @ ..]) = fields else {
            return Err(Error::malformed(format!(
                "Blosc chunk of {} bytes, expected a header of {HEADER}",
                stored.len()
            )));
        };
        if !(1..=LAST_VERSION).contains(&version) {
            return Err(Error::unsupported(format!(
                "Blosc format version {version}, expected 1 to {LAST_VERSION}"
            )));
        }
        if element == 0 {
            return Err(Error::malformed("Blosc element size 0, expected 1 or more"));
        }
        let word = |at: usize| {
            let word =
                sizes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u32::from_le_bytes(*word));
            i32::try_from(word).ok().and_then(|word| usize::try_from(word).ok())
        };
        let (Some(size), Some(block), Some(len)) = (word(0), word(4), word(8)) else {
            return Err(Error::malformed("Blosc chunk of 2 GiB or more, expected less"));
        };
        let first = version <= 2;
        let extended = !first && flags & EXTENDED == EXTENDED;
        let header = if extended { EXTENDED_HEADER } else { HEADER };
        let bytes = stored.get(..len).filter(|bytes| bytes.len() >= header).ok_or_else(|| {
            let found = stored.len();
            Error::malformed(format!(
                "Blosc chunk of {len} bytes, expected {header} to the {found} that are stored"
            ))
        })?;
        let mut chunk = Chunk {
            size,
            block: block.min(size.max(1)),
            bytes,
            header,
            content: if flags & COPIED == 0 { Content::Blocks } else { Content::Copy },
            first,
            format: None,
            split: flags & NOT_SPLIT == 0,
            element: element.into(),
            filters: Filters::default(),
            dictionary: &[],
        };
        let (mut other_format, mut dictionary) = (0, false);
        match bytes.get(HEADER..).and_then(<[u8]>::first_chunk::<HEADER>) {
            Some([codes @ .., own, _, m0, m1, m2, m3, m4, m5, flags2, special]) if extended => {
                let metas = [*m0, *m1, *m2, *m3, *m4, *m5];
                if flags2 & VARIABLE_BLOCKS != 0 {
                    return Err(Error::unsupported("Blosc blocks of variable length, expected fixed length"));
                }
                chunk.content = match special >> 4 & 7 {
                    0 => chunk.content,
                    1 => Content::Zeros,
                    2 => Content::NotANumbers,
                    3 => Content::Value,
                    // Bytes that were never written read as zero, so that every read returns the same.
                    4 => Content::Zeros,
                    other => {
                        return Err(Error::malformed(format!(
                            "Blosc special value {other}, expected 0 to 4"
                        )));
                    }
                };
                if special & (LAZY | INSTRUMENTED) != 0 {
                    return Err(Error::unsupported(
                        "Blosc chunk that is lazy or instrumented, expected a regular chunk",
                    ));
                }
                if chunk.content == Content::Blocks || chunk.content == Content::Copy {
                    // The alpha versions of Blosc 2 initialized only five filters.
                    let known = if version == 3 { 5 } else { 6 };
                    chunk.filters = Filters::new(codes.iter().zip(metas).take(known), chunk.element)?;
                }
                (other_format, dictionary) = (*own, special & DICTIONARY != 0);
            }
            _ => chunk.filters = Filters::of_flags(flags, chunk.element, first),
        }
        chunk.check(flags, block, other_format, dictionary)?;
        Ok(chunk)
    }

    fn check(&mut self, flags: u8, block: usize, other_format: u8, dictionary: bool) -> Result<()> {
        match self.content {
            Content::Zeros | Content::NotANumbers | Content::Value => return Ok(()),
            Content::Copy if self.bytes.len() != self.size.saturating_add(self.header) => {
                return Err(Error::malformed(format!(
                    "Blosc chunk of {} bytes, expected {} uncompressed bytes after its header",
                    self.bytes.len(),
                    self.size
                )));
            }
            Content::Blocks if self.size > 0 => {
                if block == 0 {
                    return Err(Error::malformed("Blosc block size 0, expected 1 or more"));
                }
                self.format = Some(Format::new(flags >> 5, other_format)?);
                let blocks = self.size.div_ceil(self.block);
                let starts = blocks.saturating_mul(4).saturating_add(self.header);
                let Some(behind) = self.bytes.get(starts..) else {
                    return Err(Error::malformed(format!(
                        "Blosc chunk of {} bytes, expected the offsets of {blocks} blocks in it",
                        self.bytes.len()
                    )));
                };
                if dictionary {
                    let found = behind.split_first_chunk().and_then(|(len, rest)| {
                        rest.get(..usize::try_from(u32::from_le_bytes(*len)).ok()?)
                            .filter(|found| !found.is_empty())
                    });
                    self.dictionary =
                        found.ok_or_else(|| Error::malformed("Blosc chunk without its dictionary"))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Decodes the chunk to `out`, which has its decoded size.
    pub(crate) fn decode(&self, out: &mut [u8], coders: &mut Coders) -> Result<()> {
        let (first, others) = out.split_at_mut(self.block.min(self.size));
        if self.size > 0 {
            self.decode_block(0, &[], first, coders)?;
        }
        // An empty chunk may have a block size of 0.
        for (index, block) in others.chunks_mut(self.block.max(1)).enumerate() {
            self.decode_block(index + 1, first, block, coders)?;
        }
        Ok(())
    }

    /// Whether decoding another block needs the first block.
    pub(crate) fn refers_to_first(&self) -> bool {
        self.content == Content::Blocks && self.filters.has_delta()
    }

    /// Decodes one block to `out`, which has its decoded size. `first` is the first block, decoded, unless this is
    /// the first.
    pub(crate) fn decode_block(
        &self,
        index: usize,
        first: &[u8],
        out: &mut [u8],
        coders: &mut Coders,
    ) -> Result<()> {
        match self.content {
            Content::Zeros => out.fill(0),
            Content::NotANumbers => match self.element {
                4 => repeat(&f32::NAN.to_le_bytes(), out),
                8 => repeat(&f64::NAN.to_le_bytes(), out),
                other => {
                    return Err(Error::malformed(format!(
                        "Blosc chunk of NaNs of {other} bytes, expected 4 or 8"
                    )));
                }
            },
            Content::Value => {
                let value = self.bytes.get(self.header..).unwrap_or_default();
                if value.is_empty() || !self.block.is_multiple_of(value.len()) {
                    return Err(Error::malformed(format!(
                        "Blosc chunk of {} bytes, expected a header and one repeated value",
                        value.len()
                    )));
                }
                repeat(value, out);
            }
            Content::Copy => {
                let from = index.saturating_mul(self.block).saturating_add(self.header);
                let copy = self.bytes.get(from..).and_then(|rest| rest.get(..out.len()));
                out.copy_from_slice(copy.ok_or_else(|| self.no_block(index))?);
            }
            Content::Blocks => {
                let mut streams = std::mem::take(&mut coders.compressed);
                if self.filters.moving().is_empty() {
                    self.decode_streams(index, out, &mut [], coders)?;
                } else {
                    streams.resize(out.len(), 0);
                    let mut stored = [None; MAX_APART];
                    let stored = match self.filters.moving() {
                        [Filter::Shuffle { element: element @ (2 | 4 | 8) }] => {
                            stored.get_mut(..*element).unwrap_or_default()
                        }
                        _ => &mut [],
                    };
                    self.decode_streams(index, &mut streams, stored, coders)?;
                    if stored.iter().all(Option::is_none) || !shuffle::unshuffle_apart(&streams, stored, out)
                    {
                        self.filters.undo(&mut streams, out, coders)?;
                    }
                }
                coders.compressed = streams;
                if self.filters.has_delta() {
                    Filter::undo_delta(self.element, first, out);
                }
            }
        }
        Ok(())
    }

    /// Decodes the streams of a block one after another. If `stored` has as many places as there are streams,
    /// uncompressed streams are kept there as slices and not copied to `out`.
    fn decode_streams(
        &self,
        index: usize,
        out: &mut [u8],
        stored: &mut [Option<&'a [u8]>],
        coders: &mut Coders,
    ) -> Result<()> {
        let at = self.header.saturating_add(index.saturating_mul(4));
        let place = self.bytes.get(at..).and_then(<[u8]>::first_chunk);
        let place = place.and_then(|place| usize::try_from(u32::from_le_bytes(*place)).ok());
        let mut left = place
            .filter(|place| *place >= self.header)
            .and_then(|place| self.bytes.get(place..))
            .ok_or_else(|| self.no_block(index))?;
        let format = self.format.ok_or_else(|| self.no_block(index))?;
        // Before the flag existed, Blosc 1 split blocks under these conditions.
        let split = self.split
            && out.len() == self.block
            && (!self.first || self.element <= MAX_STREAMS && self.block / self.element >= MIN_STREAM);
        let streams = if split { self.element } else { 1 };
        if out.len() < streams || !out.len().is_multiple_of(streams) {
            return Err(Error::malformed(format!(
                "Blosc block of {} bytes, expected a multiple of its {streams} streams",
                out.len()
            )));
        }
        let stream_len = out.len() / streams;
        let stored = if stored.len() == streams { stored } else { &mut [] };
        for (number, stream) in out.chunks_exact_mut(stream_len.max(1)).enumerate() {
            let Some((len, rest)) = left.split_first_chunk() else { return Err(self.no_block(index)) };
            let len = i32::from_le_bytes(*len);
            left = rest;
            let Ok(len @ 1..) = usize::try_from(len) else {
                left = self
                    .decode_run(len, left, stream)
                    .ok_or_else(|| Error::malformed(format!("invalid length {len} of a Blosc stream")))?;
                continue;
            };
            let Some((data, rest)) = left.split_at_checked(len) else { return Err(self.no_block(index)) };
            if len == stream.len() {
                match stored.get_mut(number) {
                    Some(place) => *place = Some(data),
                    None => stream.copy_from_slice(data),
                }
            } else {
                format.decode(data, stream, self.dictionary, coders)?;
            }
            left = rest;
        }
        Ok(())
    }

    /// Fills a stream of one repeated byte. Blosc 2 stores it as a negative length.
    fn decode_run<'b>(&self, len: i32, left: &'b [u8], stream: &mut [u8]) -> Option<&'b [u8]> {
        if self.first {
            return None;
        }
        let byte = u8::try_from(len.checked_neg()?).ok()?;
        stream.fill(byte);
        if byte == 0 {
            return Some(left);
        }
        let (token, rest) = left.split_first()?;
        (token & 1 == 1).then_some(rest)
    }

    fn no_block(&self, index: usize) -> Error {
        Error::malformed(format!("block {index} of a Blosc chunk exceeds its {} bytes", self.bytes.len()))
    }
}

/// Fills `out` with a repeated value. The last repetition may be incomplete.
pub(crate) fn repeat(value: &[u8], out: &mut [u8]) {
    for to in out.chunks_mut(value.len().max(1)) {
        to.copy_from_slice(value.get(..to.len()).unwrap_or_default());
    }
}

pub(super) const HEADER: usize = 16;
pub(super) const EXTENDED_HEADER: usize = 32;
pub(super) const LAST_VERSION: u8 = 6;

// Flags in the header.
pub(super) const EXTENDED: u8 = 0x05;
pub(super) const COPIED: u8 = 0x02;
pub(super) const NOT_SPLIT: u8 = 0x10;

// Flags in the extended header.
const VARIABLE_BLOCKS: u8 = 0x01;
const DICTIONARY: u8 = 0x01;
const LAZY: u8 = 0x08;
const INSTRUMENTED: u8 = 0x80;

/// The maximum element size in bytes for which uncompressed streams are kept as slices.
const MAX_APART: usize = 8;

/// In Blosc 1: the maximum number of streams in a block, and the minimum size of each in bytes.
pub(super) const MAX_STREAMS: usize = 16;
pub(super) const MIN_STREAM: usize = 128;
