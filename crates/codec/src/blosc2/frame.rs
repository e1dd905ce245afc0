//! Blosc 2 frames: a header with metalayers, the chunks, a chunk with their offsets, and a trailer.
//!
//! Numbers are encoded as in MessagePack, big-endian. The offsets of chunks are little-endian.
//!
//! Spec: Blosc2 Contiguous Frame Format

use super::array::Array;
use crate::blosc::chunk::Chunk;
use crate::blosc::write::Writer;
use crate::coders::Coders;
use crate::{BloscCodec, BloscShuffle};
use hyperslab_core::{Error, Result};

/// A frame whose header has been read.
pub(super) struct Frame<'a> {
    /// The decoded size of all chunks in bytes.
    pub(super) size: usize,
    /// The decoded size of a chunk in bytes. The last chunk may be shorter.
    pub(super) chunk: usize,
    /// The size of an element in bytes.
    pub(super) element: usize,
    bytes: &'a [u8],
    /// The header, and after it all chunks except the chunk of offsets.
    header: &'a [u8],
    chunks: &'a [u8],
    /// The end of the header and the chunks.
    places_at: usize,
}

impl<'a> Frame<'a> {
    /// Reads the header of the frame at the start of `stored`. Returns `None` if there is no frame.
    pub(super) fn open(stored: &'a [u8]) -> Result<Option<Frame<'a>>> {
        if stored.get(1..MAGIC.len() + 1) != Some(&MAGIC[..]) {
            return Ok(None);
        }
        let (Some(header_len), Some(len)) = (size::<4>(stored, HEADER_LEN), size::<8>(stored, FRAME_LEN))
        else {
            return Err(short(stored));
        };
        let bytes = stored.get(..len).ok_or_else(|| short(stored))?;
        let header = bytes.get(..header_len).filter(|header| header.len() >= MIN_HEADER);
        let header = header.ok_or_else(|| {
            Error::malformed(format!(
                "Blosc frame of {len} bytes, expected more than its header of {header_len}"
            ))
        })?;
        let byte = |at: usize| header.get(at).copied().unwrap_or(0);
        let (flags, kind) = (byte(FLAGS), byte(KIND));
        if flags & 0x0f > LAST_VERSION {
            let found = flags & 0x0f;
            return Err(Error::unsupported(format!(
                "Blosc frame version {found}, expected 0 to {LAST_VERSION}"
            )));
        }
        if flags & (VARIABLE_CHUNKS | VARIABLE_BLOCKS) != 0 {
            return Err(Error::unsupported(
                "Blosc frame with chunks or blocks of variable length, expected fixed length",
            ));
        }
        if kind != 0 {
            return Err(Error::unsupported(format!("Blosc frame type {kind}, expected 0 (contiguous)")));
        }
        let (Some(size), Some(chunks_len)) = (size::<8>(header, SIZE), size::<8>(header, CHUNKS_LEN)) else {
            return Err(Error::malformed("negative decoded size of a Blosc frame"));
        };
        let (Some(element), Some(chunk)) = (self::size::<4>(header, ELEMENT), self::size::<4>(header, CHUNK))
        else {
            return Err(Error::malformed("negative element or chunk size of a Blosc frame"));
        };
        if element == 0 || chunk == 0 && size > 0 {
            return Err(Error::malformed(format!(
                "Blosc frame with element size {element} and chunk size {chunk}"
            )));
        }
        let places_at = header_len.saturating_add(chunks_len);
        let chunks = bytes.get(header_len..places_at).ok_or_else(|| {
            Error::malformed(format!("Blosc frame of {len} bytes, too short for its chunks of {chunks_len}"))
        })?;
        Ok(Some(Frame { size, chunk, element, bytes, header, chunks, places_at }))
    }

    /// The content of the metalayer with this name.
    pub(super) fn metalayer(&self, name: &[u8]) -> Result<Option<&'a [u8]>> {
        let broken = || Error::malformed("invalid metalayers in a Blosc frame");
        // The type byte of the list, its size, and the number of entries of the map.
        let at = MIN_HEADER + 4;
        let (count, mut left) = match self.header.get(at..).and_then(<[u8]>::split_first_chunk) {
            Some(([0xde, high, low], left)) => (u16::from_be_bytes([*high, *low]), left),
            _ => return Err(broken()),
        };
        for _ in 0..count {
            let (marker, rest) = left.split_first().ok_or_else(broken)?;
            if marker & 0xe0 != 0xa0 {
                return Err(broken());
            }
            let (found, rest) = rest.split_at_checked(usize::from(marker & 0x1f)).ok_or_else(broken)?;
            let (place, rest) = rest.split_first_chunk::<5>().ok_or_else(broken)?;
            left = rest;
            if found != name {
                continue;
            }
            let content = size::<4>(place, 1).and_then(|at| {
                let content = self.header.get(at..)?;
                let len = size::<4>(content, 1)?;
                content.get(5..)?.get(..len)
            });
            return content.map(Some).ok_or_else(broken);
        }
        Ok(None)
    }

    /// The offsets of the chunks, for a frame that decodes to `out` bytes.
    pub(super) fn places(&self, out: usize, coders: &mut Coders) -> Result<Vec<i64>> {
        let count = self.size.div_ceil(self.chunk.max(1));
        if count == 0 {
            return Ok(Vec::new());
        }
        let chunk = Chunk::open(self.bytes.get(self.places_at..).unwrap_or_default())?;
        if chunk.size != count.saturating_mul(8) || count > out.saturating_add(1) {
            return Err(Error::malformed(format!(
                "{} bytes of chunk offsets in a Blosc frame, expected 8 for each of {count} chunks ({out} bytes decoded)",
                chunk.size
            )));
        }
        let mut places = vec![0; chunk.size];
        chunk.decode(&mut places, coders)?;
        Ok(places.as_chunks().0.iter().map(|place| i64::from_le_bytes(*place)).collect())
    }

    /// The chunk at an offset.
    pub(super) fn chunk_at(&self, place: i64) -> Result<FrameChunk<'a>> {
        if let Ok(at) = usize::try_from(place) {
            let Some(bytes) = self.chunks.get(at..) else {
                return Err(Error::malformed(format!(
                    "chunk at offset {at} of a Blosc frame, expected an offset within its {} bytes",
                    self.chunks.len()
                )));
            };
            return Chunk::open(bytes).map(FrameChunk::Stored);
        }
        // The high byte of an offset marks a chunk without stored bytes, and its special value.
        let special = (place.cast_unsigned() >> 56) & 0x7f;
        Ok(FrameChunk::Repeated(match (special, self.element) {
            (special, _) if special & (ZEROS | UNINITIALIZED) != 0 => &[0],
            (special, 4) if special & NOT_A_NUMBER != 0 => &[0, 0, 0xc0, 0x7f],
            (special, 8) if special & NOT_A_NUMBER != 0 => &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
            _ => {
                return Err(Error::malformed(format!("special value {special} of a chunk in a Blosc frame")));
            }
        }))
    }
}

/// A chunk of a frame.
pub(super) enum FrameChunk<'a> {
    Stored(Chunk<'a>),
    /// A chunk of one repeated value, of which nothing is stored.
    Repeated(&'static [u8]),
}

/// Appends a frame of one chunk.
pub(super) fn append(
    raw: &[u8],
    writer: &Writer,
    array: Option<&Array>,
    out: &mut Vec<u8>,
    coders: &mut Coders,
) -> Result<()> {
    let mut chunk = Vec::new();
    writer.append(raw, &mut chunk, coders)?;
    let mut places = Vec::new();
    if !raw.is_empty() {
        let copier = Writer {
            second: true,
            codec: BloscCodec::BloscLz,
            level: 0,
            shuffle: BloscShuffle::None,
            element: 8,
            block: 0,
        };
        copier.append(&[0; 8], &mut places, coders)?;
    }
    let metalayers = metalayers(array);
    let header_len = MIN_HEADER + metalayers.len();
    let chunks_len = if raw.is_empty() { 0 } else { chunk.len() };
    let len = header_len + chunks_len + places.len() + TRAILER.len();
    let block = chunk.get(8..).and_then(<[u8]>::first_chunk).map_or(0, |block| u32::from_le_bytes(*block));
    out.push(0x9e);
    out.extend_from_slice(MAGIC);
    put_u32(0xd2, header_len, out);
    put_u64(0xcf, len, out);
    let codec = match writer.codec {
        BloscCodec::BloscLz => 0,
        BloscCodec::Lz4 | BloscCodec::Lz4Hc => 1,
        BloscCodec::Snappy => 2,
        BloscCodec::Zlib => 3,
        BloscCodec::Zstd => 4,
    };
    // Version 2 with offsets of 64 bits; contiguous; codec and level; blocks split as in earlier versions.
    out.extend([0xa4, 0x12, 0, writer.level << 4 | codec, 3]);
    put_u64(0xd3, raw.len(), out);
    put_u64(0xd3, chunks_len, out);
    put_u32(0xd2, writer.element, out);
    put_u32(0xd2, usize::try_from(block).unwrap_or(0), out);
    put_u32(0xd2, raw.len(), out);
    // Number of threads for writing and reading; no metalayers in the trailer.
    out.extend([0xd1, 0, 1, 0xd1, 0, 1, 0xc2]);
    let filter = match writer.shuffle {
        BloscShuffle::None => 0,
        BloscShuffle::Byte => 1,
        BloscShuffle::Bit => 2,
    };
    // Six filters and two spare places, which hold the codec, and their parameters.
    out.extend([0xd8, 6, 0, 0, 0, 0, 0, filter, codec, 0]);
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&metalayers);
    out.extend_from_slice(chunk.get(..chunks_len).unwrap_or_default());
    out.extend_from_slice(&places);
    out.extend_from_slice(&TRAILER);
    Ok(())
}

fn metalayers(array: Option<&Array>) -> Vec<u8> {
    let Some(array) = array else {
        return vec![0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0];
    };
    let mut out = vec![0x93, 0xcd, 0, 17, 0xde, 0, 1, 0xa4];
    out.extend_from_slice(ARRAY);
    let content_at = MIN_HEADER + out.len() + 5 + 3;
    put_u32(0xd2, content_at, &mut out);
    out.extend([0xdc, 0, 1]);
    let content = array.metalayer();
    put_u32(0xc6, content.len(), &mut out);
    out.extend(content);
    out
}

pub(super) fn put_u32(marker: u8, value: usize, out: &mut Vec<u8>) {
    out.push(marker);
    out.extend_from_slice(&u32::try_from(value).unwrap_or(u32::MAX).to_be_bytes());
}

pub(super) fn put_u64(marker: u8, value: usize, out: &mut Vec<u8>) {
    out.push(marker);
    out.extend_from_slice(&(value as u64).to_be_bytes());
}

/// The number of `N` bytes at `at`. `None` if it is negative.
pub(super) fn size<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let field: &[u8; N] = bytes.get(at..)?.first_chunk()?;
    let value = field.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    if field.first().is_some_and(|first| *first >= 0x80) {
        return None;
    }
    usize::try_from(value).ok()
}

fn short(stored: &[u8]) -> Error {
    Error::malformed(format!("Blosc frame is longer than the {} stored bytes", stored.len()))
}

/// The magic bytes after the first byte, which is the number of fields.
const MAGIC: &[u8; 9] = b"\xa8b2frame\0";

/// The name of the metalayer with the dimensions of the array.
pub(super) const ARRAY: &[u8] = b"b2nd";

// Offsets of fields.
const HEADER_LEN: usize = 11;
const FRAME_LEN: usize = 16;
const FLAGS: usize = 25;
const KIND: usize = 26;
const SIZE: usize = 30;
const CHUNKS_LEN: usize = 39;
const ELEMENT: usize = 48;
const CHUNK: usize = 58;
const MIN_HEADER: usize = 87;

const LAST_VERSION: u8 = 3;
const VARIABLE_CHUNKS: u8 = 1 << 6;
const VARIABLE_BLOCKS: u8 = 1 << 7;

// Special values.
const ZEROS: u64 = 1;
const NOT_A_NUMBER: u64 = 2;
const UNINITIALIZED: u64 = 4;

/// The version, no metalayers, the length of the trailer, and no fingerprint.
const TRAILER: [u8; 35] = [
    0x94, 1, 0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0, 0xce, 0, 0, 0, 35, 0xd8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0,
];
