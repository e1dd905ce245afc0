//! Chunks whose decoded length nothing tells beforehand: strings, and shards that were compressed as a whole.

use super::{Scratch, check_len, cut, malformed, most_after, so_far};
use crate::codec::{Codec, Transform};
use crate::coders::Coders;
use hyperslab_core::memory::room;
use hyperslab_core::{Error, ErrorKind, Result};

/// Decodes a chunk that was written through `codecs`, in that order, to however many bytes it is, but no more than
/// `most`.
///
/// What a frame says of its size is only believed if as few bytes can hold as many; where it says nothing, memory
/// grows with what is decoded.
///
/// ```
/// use hyperslab_codec::{Gzip, Scratch, decode_within, encode};
///
/// let codecs = [Gzip { level: 1 }.into()];
/// let mut scratch = Scratch::new();
/// let stored = encode(&codecs, b"of any length", &mut scratch)?;
/// assert_eq!(decode_within(&codecs, &stored, 100, &mut scratch)?, b"of any length");
/// assert!(decode_within(&codecs, &stored, 10, &mut scratch).is_err());
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// As [`decode`](super::decode); [`ErrorKind::LimitExceeded`] beyond `most` bytes.
pub fn decode_within(codecs: &[Codec], stored: &[u8], most: usize, scratch: &mut Scratch) -> Result<Vec<u8>> {
    let Scratch { coders, held, spare, .. } = scratch;
    let (mut left, mut undone) = (codecs, None);
    loop {
        let (rest, input) = cut(left, so_far(undone, held, stored))?;
        let Some((codec, before)) = rest.split_last() else {
            return match input.len() > most {
                true => Err(too_much(most)),
                false => Ok(input.to_vec()),
            };
        };
        let codec = codec.transform();
        if before.iter().all(Codec::changes_nothing) {
            let mut out = Vec::new();
            let found = decode_growing(codec, input, most, &mut out, coders)?;
            out.truncate(found);
            return Ok(out);
        }
        let len = decode_growing(codec, input, most_after(before, most), spare, coders)?;
        std::mem::swap(held, spare);
        (left, undone) = (before, Some(len));
    }
}

/// Decodes to the beginning of `out` and tells how many bytes it was.
fn decode_growing(
    codec: &dyn Transform,
    stored: &[u8],
    most: usize,
    out: &mut Vec<u8>,
    coders: &mut Coders,
) -> Result<usize> {
    let cannot = || Error::malformed(format!("{} stored bytes cannot be decoded", stored.len()));
    let (least, possible) = codec.decoded_sizes(stored.len(), stored.len()).ok_or_else(cannot)?;
    let known = codec.declared_size(stored)?.or((least == possible).then_some(least));
    if let Some(size) = known {
        if !(least..=possible).contains(&size) {
            return Err(Error::malformed(format!("{} stored bytes cannot decode to {size}", stored.len())));
        }
        if size > most {
            return Err(too_much(most));
        }
        let found = codec.decode(stored, room(out, size), coders).map_err(malformed)?;
        check_len(found, size)?;
        return Ok(size);
    }
    let most_here = possible.min(most);
    let mut size = stored.len().saturating_mul(FIRST_RATIO).max(MIN_ROOM).min(most_here);
    loop {
        match codec.decode(stored, room(out, size), coders) {
            Err(e) if e.kind() == ErrorKind::LimitExceeded && size < most_here => {
                size = size.saturating_mul(GROWTH).min(most_here);
            }
            Err(e) if e.kind() == ErrorKind::LimitExceeded && most_here == most => {
                return Err(too_much(most));
            }
            other => return other.map_err(malformed),
        }
    }
}

fn too_much(most: usize) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("decodes to more than {most} bytes"))
}

/// How often larger than what is stored a buffer is at first, at least how large, and how it grows.
const FIRST_RATIO: usize = 4;
const MIN_ROOM: usize = 4096;
const GROWTH: usize = 4;
