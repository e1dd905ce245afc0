//! Byteshuffle and bitshuffle: group bytes or bits of equal significance.
//!
//! Spec: TileDB format_spec, filters/byteshuffle.md and filters/bitshuffle.md

use super::part::{Filtered, Output, Part, Transform, Work, len32, prepend, take_room};
use hyperslab_codec::{Bitshuffle as Bits, BitshuffleCodec, Codec, Shuffle as Bytes, decode, encode_to};
use hyperslab_core::Result;

/// A shuffle of either kind.
pub(crate) struct Shuffle {
    codec: [Codec; 1],
    name: &'static str,
    /// Only parts whose length is a multiple of this number of bytes are shuffled; 1 if all are.
    multiple: usize,
    /// The size of an element in bytes.
    element: usize,
}

impl Shuffle {
    /// Groups bytes.
    pub(crate) fn bytes(element: usize) -> Shuffle {
        Shuffle { codec: [Bytes { element }.into()], name: "Byteshuffle Filter", multiple: 1, element: 1 }
    }

    /// Groups bits, in blocks of 8 KiB.
    pub(crate) fn bits(element: usize) -> Shuffle {
        let codec = Bits { element, block: 0, codec: BitshuffleCodec::None };
        Shuffle { codec: [codec.into()], name: "Bitshuffle Filter", multiple: 8, element }
    }

    /// Whether a part of this length is shuffled. Others are copied.
    fn is_shuffled(&self, len: usize) -> bool {
        len.is_multiple_of(self.multiple) && len.is_multiple_of(self.element)
    }

    /// The data in parts: if only multiples of eight bytes are shuffled, the largest such part and the rest.
    fn parts<'a>(&self, data: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let whole = data.len() / self.multiple * self.multiple;
        let (whole, rest) = data.split_at_checked(whole).unwrap_or((data, &[]));
        [Some(whole), (!rest.is_empty()).then_some(rest)].into_iter().flatten()
    }
}

impl Transform for Shuffle {
    fn decode(&self, from: Part<'_>, out: Output<'_>, rest: &mut Vec<u8>, work: &mut Work) -> Result<()> {
        let mut d = from.decoder(self.name);
        let parts = from.cut(&mut d)?;
        let mut out = out.room(from.data.len(), work)?;
        for part in parts {
            let to = take_room(&mut out, part.len())?;
            match self.is_shuffled(part.len()) {
                true => decode(&self.codec, part, to, &mut work.codec)?,
                false => to.copy_from_slice(part),
            }
        }
        prepend(rest, &[], d.rest());
        Ok(())
    }

    fn encode(&self, from: Part<'_>, to: &mut Filtered, work: &mut Work) -> Result<()> {
        to.data.clear();
        to.metadata.clear();
        to.metadata.extend_from_slice(&len32(self.parts(from.data).count())?);
        for part in self.parts(from.data) {
            to.metadata.extend_from_slice(&len32(part.len())?);
            if !self.is_shuffled(part.len()) {
                to.data.extend_from_slice(part);
            } else if to.data.is_empty() {
                encode_to(&self.codec, part, &mut to.data, &mut work.codec)?;
            } else {
                encode_to(&self.codec, part, &mut work.buffer, &mut work.codec)?;
                to.data.extend_from_slice(&work.buffer);
            }
        }
        to.metadata.extend_from_slice(from.metadata);
        Ok(())
    }
}
