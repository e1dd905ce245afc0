//! Codecs one after another, within bounded memory.

use crate::{deflate, fletcher32, shuffle};
use hyperslab_core::{Error, Result};

/// One step of a pipeline with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Codec {
    /// A zlib stream.
    Deflate {
        /// 0 to 12, only for encoding; zlib's own levels end at 9.
        level: u8,
    },
    /// Bytes of equal significance side by side.
    Shuffle {
        /// Bytes of an element; 0 and 1 change nothing.
        element: usize,
    },
    /// A checksum of four bytes behind the data.
    Fletcher32,
}

/// Buffers and coder state that are reused from chunk to chunk; one for each thread.
#[derive(Default)]
pub struct Scratch {
    deflate: deflate::State,
    held: Buffer,
    spare: Buffer,
}

impl Scratch {
    /// Nothing allocated yet.
    pub fn new() -> Self {
        Scratch::default()
    }
}

/// Whether `stored_len` bytes can decode to exactly `out_len`. Ask before allocating the output: a few bytes
/// of file may claim any size.
///
/// ```
/// use hyperslab_codec::{Codec, plausible};
///
/// assert!(plausible(&[Codec::Deflate { level: 6 }], 1_000, 1_000_000));
/// assert!(!plausible(&[Codec::Deflate { level: 6 }], 1_000, 1 << 30));
/// assert!(!plausible(&[Codec::Fletcher32], 1_000, 1_000));
/// ```
pub fn plausible(codecs: &[Codec], stored_len: usize, out_len: usize) -> bool {
    // From the least to the most bytes that what is decoded so far may have.
    let mut sizes = Some((stored_len, stored_len));
    for codec in codecs.iter().rev() {
        sizes = sizes.and_then(|(least, most)| match codec {
            Codec::Deflate { .. } => Some((0, most.saturating_mul(deflate::MOST_RATIO))),
            Codec::Shuffle { .. } => Some((least, most)),
            Codec::Fletcher32 => Some((least.saturating_sub(4), most.checked_sub(4)?)),
        });
    }
    sizes.is_some_and(|(least, most)| (least..=most).contains(&out_len))
}

/// Decodes a chunk that was written through `codecs`, in that order, into `out`, which is exactly as long as
/// the decoded chunk.
///
/// Whatever the bytes, memory for what lies between the steps is bounded by the length of `out`.
///
/// # Errors
/// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if the bytes decode to another length or not
/// at all, [`ErrorKind::Checksum`](hyperslab_core::ErrorKind::Checksum) if they are not those that were written.
pub fn decode(codecs: &[Codec], stored: &[u8], out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
    if !plausible(codecs, stored.len(), out.len()) {
        return Err(Error::malformed(format!(
            "{} stored bytes cannot decode to {}",
            stored.len(),
            out.len()
        )));
    }
    let Scratch { deflate, held, spare } = scratch;
    // Undone so far: the first `len` bytes of `held`, before the first step that moves bytes those of `stored`.
    let (mut in_held, mut len) = (false, stored.len());
    let mut left = codecs;
    while let Some((codec, before)) = left.split_last() {
        left = before;
        let input = held.or(in_held, stored).get(..len).unwrap_or_default();
        if let Codec::Fletcher32 = codec {
            len = fletcher32::decode(input)?.len();
            continue;
        }
        if codec.keeps_bytes() {
            continue;
        }
        let last = before.iter().all(Codec::keeps_bytes);
        let size = if last { Some(out.len()) } else { size_after(before, out.len()) };
        len = match (codec, size) {
            (Codec::Shuffle { element }, _) => {
                let output = if last { &mut *out } else { spare.first(len) };
                check_len(len, output.len())?;
                shuffle::decode(*element, input, output);
                len
            }
            (_, Some(size)) => {
                deflate.decode(input, if last { &mut *out } else { spare.first(size) })?;
                size
            }
            (_, None) => deflate.decode_most(input, spare, most_after(before, out.len()))?,
        };
        if last {
            return Ok(());
        }
        std::mem::swap(held, spare);
        in_held = true;
    }
    let raw = held.or(in_held, stored).get(..len).unwrap_or_default();
    check_len(raw.len(), out.len())?;
    out.copy_from_slice(raw);
    Ok(())
}

/// Encodes a chunk through `codecs`, first to last.
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a level that does not exist.
pub fn encode(codecs: &[Codec], raw: &[u8], scratch: &mut Scratch) -> Result<Vec<u8>> {
    let Scratch { deflate, held, spare } = scratch;
    let (mut in_held, mut len) = (false, raw.len());
    for codec in codecs.iter().filter(|codec| !codec.keeps_bytes()) {
        let input = held.or(in_held, raw).get(..len).unwrap_or_default();
        len = match codec {
            Codec::Deflate { level } => deflate.encode(*level, input, spare)?,
            Codec::Shuffle { element } => {
                shuffle::encode(*element, input, spare.first(len));
                len
            }
            Codec::Fletcher32 => {
                fletcher32::encode(input, spare.first(len + 4));
                len + 4
            }
        };
        std::mem::swap(held, spare);
        in_held = true;
    }
    Ok(held.or(in_held, raw).get(..len).unwrap_or_default().to_vec())
}

impl Codec {
    /// Whether the stored bytes are the raw bytes.
    fn keeps_bytes(&self) -> bool {
        matches!(self, Codec::Shuffle { element: 0 | 1 })
    }
}

/// A buffer that grows but never shrinks, so that its bytes are zeroed once.
#[derive(Default)]
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    /// The first `len` bytes, whatever they hold.
    pub(crate) fn first(&mut self, len: usize) -> &mut [u8] {
        if self.0.len() < len {
            // The old bytes are not wanted: freeing them first keeps the peak at the larger of both.
            self.0 = Vec::new();
            self.0 = vec![0; len];
        }
        self.0.get_mut(..len).unwrap_or_default()
    }

    fn or<'a>(&'a self, this: bool, other: &'a [u8]) -> &'a [u8] {
        if this { &self.0 } else { other }
    }
}

/// The size of `raw` bytes encoded through `codecs`, if it does not depend on the bytes.
fn size_after(codecs: &[Codec], raw: usize) -> Option<usize> {
    codecs.iter().try_fold(raw, |size, codec| match codec {
        Codec::Deflate { .. } => None,
        Codec::Shuffle { .. } => Some(size),
        Codec::Fletcher32 => size.checked_add(4),
    })
}

/// The most bytes that an encoder makes of `raw` bytes.
fn most_after(codecs: &[Codec], raw: usize) -> usize {
    codecs.iter().fold(raw, |size, codec| match codec {
        Codec::Deflate { .. } => deflate::most_encoded(size),
        Codec::Shuffle { .. } => size,
        Codec::Fletcher32 => size.saturating_add(4),
    })
}

fn check_len(found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::malformed(format!("decodes to {found} bytes, expected {expected}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_core::ErrorKind;
    use proptest::prelude::*;

    fn codec() -> impl Strategy<Value = Codec> {
        prop_oneof![
            (0..=12_u8).prop_map(|level| Codec::Deflate { level }),
            (0..20_usize).prop_map(|element| Codec::Shuffle { element }),
            Just(Codec::Fletcher32),
        ]
    }

    fn codecs() -> impl Strategy<Value = Vec<Codec>> {
        prop::collection::vec(codec(), 0..6)
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
                prop_assert!(plausible(&codecs, stored.len(), raw.len()));
                prop_assert_eq!(size_after(&codecs, raw.len()).unwrap_or(stored.len()), stored.len());
                prop_assert!(stored.len() <= most_after(&codecs, raw.len()));
                let mut out = vec![0xee; raw.len()];
                decode(&codecs, &stored, &mut out, &mut scratch).unwrap();
                prop_assert_eq!(&out, &raw);
                // Only a list of one deflate after another could hide a longer or shorter chunk.
                for wrong in [raw.len() + 1, raw.len().saturating_sub(1)] {
                    let found = decode(&codecs, &stored, &mut vec![0; wrong], &mut scratch);
                    prop_assert!(wrong == raw.len() || found.unwrap_err().kind() == ErrorKind::Malformed);
                }
            }
        }

        #[test]
        fn any_bytes_decode_or_fail(
            codecs in codecs(),
            stored in prop::collection::vec(any::<u8>(), 0..300),
            len in 0..600_usize,
        ) {
            let _ = decode(&codecs, &stored, &mut vec![0; len], &mut Scratch::new());
        }

        #[test]
        fn damaged_streams_never_pass_as_whole(
            codecs in codecs(),
            raw in prop::collection::vec(0..5_u8, 1..500),
            at in any::<prop::sample::Index>(),
            // Between 0 and 0xff Fletcher's sums see no difference.
            flip in 1..255_u8,
        ) {
            let mut scratch = Scratch::new();
            let mut stored = encode(&codecs, &raw, &mut scratch).unwrap();
            *at.get_mut(&mut stored) ^= flip;
            let mut out = vec![0; raw.len()];
            if decode(&codecs, &stored, &mut out, &mut scratch).is_ok() && out != raw {
                let checked = |codec: &Codec| !matches!(codec, Codec::Shuffle { .. });
                prop_assert!(!codecs.iter().any(checked));
            }
        }
    }

    #[test]
    fn small_chunks_that_claim_much_are_refused_before_allocating() {
        let twice = [Codec::Deflate { level: 1 }, Codec::Deflate { level: 1 }];
        assert!(!plausible(&twice[..1], 10, 10_321));
        assert!(plausible(&twice[..1], 10, 10_320));
        assert!(plausible(&twice, 10, 10_650_240));
        assert!(!plausible(&[Codec::Shuffle { element: 2 }], 10, 11));
        assert!(!plausible(&[Codec::Fletcher32], 3, 0));
        assert!(plausible(&[Codec::Fletcher32], 4, 0));
        assert!(!plausible(&[Codec::Fletcher32, Codec::Deflate { level: 1 }], 0, 0));
        let mut scratch = Scratch::new();
        let e = decode(&twice[..1], &[0x78; 10], &mut vec![0; 20_000], &mut scratch).unwrap_err();
        assert_eq!(e.to_string(), "10 stored bytes cannot decode to 20000");
    }

    #[test]
    fn streams_within_streams_grow_no_further_than_an_encoder_would() {
        let bomb = Codec::Deflate { level: 9 };
        let mut scratch = Scratch::new();
        // The inner stream should have been of 10 raw bytes; it is of 50 million.
        let stored = encode(&[bomb], &vec![0; 50_000_000], &mut scratch).unwrap();
        let mut scratch = Scratch::new();
        let e = decode(&[bomb, bomb], &stored, &mut [0; 10], &mut scratch).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Malformed);
        assert!(scratch.held.0.len() + scratch.spare.0.len() < 100_000);
    }

    #[test]
    fn scratch_serves_one_thread_after_another() {
        fn is_send<T: Send>() {}
        is_send::<Scratch>();
    }
}
