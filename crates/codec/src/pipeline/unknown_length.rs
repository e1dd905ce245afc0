//! Chunks of unknown decoded length: strings, and shards that were compressed as a whole.

use super::{Scratch, check_len, cut, malformed, max_size_after, so_far};
use crate::codec::{Codec, Transform};
use crate::coders::Coders;
use hyperslab_core::memory::room;
use hyperslab_core::{Error, ErrorKind, Result};

/// Decodes a chunk of any length up to `max` bytes. `codecs` are in the order of encoding.
///
/// The size that a frame declares is used only if the stored bytes can decode to it. Without a declared size, memory
/// grows with the decoded bytes.
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
/// As [`decode`](super::decode); [`ErrorKind::LimitExceeded`] if there are more than `max` bytes.
pub fn decode_within(codecs: &[Codec], stored: &[u8], max: usize, scratch: &mut Scratch) -> Result<Vec<u8>> {
    let Scratch { coders, held, spare, .. } = scratch;
    let (mut left, mut undone) = (codecs, None);
    loop {
        let (rest, input) = cut(left, so_far(undone, held, stored))?;
        let Some((codec, before)) = rest.split_last() else {
            return match input.len() > max {
                true => Err(too_much(max)),
                false => Ok(input.to_vec()),
            };
        };
        let codec = codec.transform();
        if before.iter().all(Codec::changes_nothing) {
            let mut out = Vec::new();
            let found = decode_growing(codec, input, max, &mut out, coders)?;
            out.truncate(found);
            return Ok(out);
        }
        let len = decode_growing(codec, input, max_size_after(before, max), spare, coders)?;
        std::mem::swap(held, spare);
        (left, undone) = (before, Some(len));
    }
}

/// Decodes to the beginning of `out`, which grows, and returns the number of bytes.
fn decode_growing(
    codec: &dyn Transform,
    stored: &[u8],
    max: usize,
    out: &mut Vec<u8>,
    coders: &mut Coders,
) -> Result<usize> {
    let cannot = || Error::malformed(format!("{} stored bytes cannot be decoded", stored.len()));
    let (min, possible) = codec.decoded_sizes(stored.len(), stored.len()).ok_or_else(cannot)?;
    let known = codec.declared_size(stored)?.or((min == possible).then_some(min));
    if let Some(size) = known {
        if !(min..=possible).contains(&size) {
            return Err(Error::malformed(format!("{} stored bytes cannot decode to {size}", stored.len())));
        }
        if size > max {
            return Err(too_much(max));
        }
        let found = codec.decode(stored, room(out, size), coders).map_err(malformed)?;
        check_len(found, size)?;
        return Ok(size);
    }
    let max_here = possible.min(max);
    let mut size = stored.len().saturating_mul(FIRST_RATIO).max(MIN_ROOM).min(max_here);
    loop {
        match codec.decode(stored, room(out, size), coders) {
            Err(e) if e.kind() == ErrorKind::LimitExceeded && size < max_here => {
                size = size.saturating_mul(GROWTH).min(max_here);
            }
            Err(e) if e.kind() == ErrorKind::LimitExceeded && max_here == max => {
                return Err(too_much(max));
            }
            other => return other.map_err(malformed),
        }
    }
}

fn too_much(max: usize) -> Error {
    Error::new(ErrorKind::LimitExceeded, format!("decodes to more than {max} bytes"))
}

/// The first size of the buffer as a multiple of the stored size, its minimum, and its growth factor.
const FIRST_RATIO: usize = 4;
const MIN_ROOM: usize = 4096;
const GROWTH: usize = 4;
