//! Szip: the extended Rice algorithm; filter id 4 in the HDF5 registry.
//!
//! Spec: CCSDS 121.0-B-3
//!
//! A chunk is its length in four bytes and a stream. Its pixels lie in scanlines. Each scanline is a reference sample
//! interval of its own: it is filled up to whole blocks and begins with a pixel that is stored unchanged. Pixels of
//! 32 and 64 bits are coded as bytes: all first bytes, then all second bytes, and so on.

mod decode;
mod encode;

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::shuffle::Shuffle;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int, named};
use hyperslab_core::{Error, Result};

/// Szip with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Szip {
    bits_per_pixel: u8,
    pixels_per_block: u8,
    pixels_per_scanline: u32,
    nearest_neighbour: bool,
    most_significant_first: bool,
}

impl Szip {
    /// A codec of pixels of 1 to 24, 32 or 64 bits, in blocks of an even number of pixels up to 64.
    ///
    /// With `nearest_neighbour`, differences of neighbours are coded, otherwise the pixels themselves.
    /// `most_significant_first` is the byte order of pixels; it matters for pixels of 9 to 24 bits.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for parameters out of range.
    pub fn new(
        bits_per_pixel: u32,
        pixels_per_block: u32,
        pixels_per_scanline: u32,
        nearest_neighbour: bool,
        most_significant_first: bool,
    ) -> Result<Szip> {
        let bits = u8::try_from(bits_per_pixel).ok().filter(|bits| matches!(bits, 1..=24 | 32 | 64));
        let Some(bits_per_pixel) = bits else {
            let expected = "expected 1 to 24, 32 or 64";
            return Err(Error::invalid(format!("{bits_per_pixel} bits per pixel, {expected}")));
        };
        let block = u8::try_from(pixels_per_block).ok();
        let Some(pixels_per_block) = block.filter(|block| (2..=MAX_PIXELS).contains(block) && block % 2 == 0)
        else {
            let expected = "expected an even number from 2 to 64";
            return Err(Error::invalid(format!("{pixels_per_block} pixels per block, {expected}")));
        };
        let blocks = pixels_per_scanline.div_ceil(pixels_per_block.into());
        if !(1..=MAX_BLOCKS).contains(&blocks) {
            let expected = format!("expected 1 to {MAX_BLOCKS} blocks of {pixels_per_block}");
            return Err(Error::invalid(format!("{pixels_per_scanline} pixels per scanline, {expected}")));
        }
        Ok(Szip {
            bits_per_pixel,
            pixels_per_block,
            pixels_per_scanline,
            nearest_neighbour,
            most_significant_first,
        })
    }

    /// The number of bits of a pixel.
    pub fn bits_per_pixel(&self) -> u32 {
        self.bits_per_pixel.into()
    }

    /// The number of pixels in a block.
    pub fn pixels_per_block(&self) -> u32 {
        self.pixels_per_block.into()
    }

    /// The number of pixels in a scanline. Each scanline starts with a pixel that is stored unchanged.
    pub fn pixels_per_scanline(&self) -> u32 {
        self.pixels_per_scanline
    }

    /// Whether differences are coded.
    pub fn nearest_neighbour(&self) -> bool {
        self.nearest_neighbour
    }

    /// Whether pixels are big-endian.
    pub fn most_significant_first(&self) -> bool {
        self.most_significant_first
    }

    /// The size of a pixel in bytes, if its bytes are coded separately.
    fn interleaved(&self) -> Option<usize> {
        matches!(self.bits_per_pixel, 32 | 64).then_some(usize::from(self.bits_per_pixel / 8))
    }

    /// The number of bits of a sample.
    fn sample_bits(&self) -> u32 {
        if self.interleaved().is_some() { 8 } else { self.bits_per_pixel.into() }
    }

    /// The number of bytes of a sample.
    fn sample_size(&self) -> usize {
        match self.sample_bits() {
            0..=8 => 1,
            9..=16 => 2,
            _ => 4,
        }
    }

    /// The number of bits of the option identifier of a block.
    fn identifier_bits(&self) -> u32 {
        match self.sample_size() {
            1 => 3,
            2 => 4,
            _ => 5,
        }
    }

    fn blocks_per_scanline(&self) -> u32 {
        self.pixels_per_scanline.div_ceil(self.pixels_per_block.into())
    }

    fn check_len(&self, len: usize) -> Result<()> {
        let size = self.interleaved().unwrap_or(self.sample_size());
        if len.is_multiple_of(size) {
            return Ok(());
        }
        Err(Error::malformed(format!("{len} bytes for szip, expected a multiple of the pixel size {size}")))
    }
}

impl Transform for Szip {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.checked_sub(4)?.saturating_mul(MAX_RATIO)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        let Some((len, _)) = stored.split_first_chunk() else {
            return Err(Error::malformed(format!(
                "szip data of {} bytes, expected a length of 4",
                stored.len()
            )));
        };
        Ok(Some(usize::try_from(u32::from_le_bytes(*len)).unwrap_or(usize::MAX)))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        // At worst, each block is stored unchanged after its identifier, which has at most five bits for two pixels.
        let scanline = u64::from(self.blocks_per_scanline()) * u64::from(self.pixels_per_block);
        let pixels = (raw / self.sample_size()) as u64;
        let scanlines = pixels.div_ceil(self.pixels_per_scanline.into());
        let bits = scanlines.saturating_mul(scanline).saturating_mul(u64::from(self.sample_bits()) + 3);
        usize::try_from(bits / 8).unwrap_or(usize::MAX).saturating_add(5)
    }

    /// Bytes after the stream are ignored.
    fn decode(&self, stored: &[u8], out: &mut [u8], coders: &mut Coders) -> Result<usize> {
        let len = self.declared_size(stored)?.unwrap_or(0);
        let out = room(out, len)?;
        self.check_len(len)?;
        let stream = stored.get(4..).unwrap_or_default();
        match self.interleaved() {
            Some(element) => {
                let mut planes = std::mem::take(&mut coders.planes);
                if planes.len() < len {
                    planes = vec![0; len];
                }
                let (bytes, _) = planes.split_at_mut(len);
                decode::decode(self, stream, bytes)?;
                Shuffle { element }.decode(bytes, out, coders)?;
                coders.planes = planes;
            }
            None => decode::decode(self, stream, out)?,
        }
        Ok(len)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, coders: &mut Coders) -> Result<()> {
        let Ok(len) = u32::try_from(raw.len()) else {
            return Err(Error::invalid(format!("{} bytes for szip, expected less than 4 GiB", raw.len())));
        };
        self.check_len(raw.len()).map_err(|e| Error::invalid(e.detail().to_owned()))?;
        let mut stored = std::mem::take(out);
        stored.clear();
        stored.extend_from_slice(&len.to_le_bytes());
        *out = match self.interleaved() {
            Some(element) => {
                let mut bytes = Vec::new();
                Shuffle { element }.encode(raw, &mut bytes, coders)?;
                encode::encode(self, &bytes, stored)
            }
            None => encode::encode(self, raw, stored),
        };
        Ok(())
    }
}

/// HDF5 derives this codec from the datatype, the chunk and the parameters.
impl Vocabulary for Szip {
    const NAMES: &'static [&'static str] = &[];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Err(given.not_by_name())
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        let coding = if self.nearest_neighbour { "nn" } else { "ec" };
        named("szip", [("coding", coding.into()), ("pixels", int(self.pixels_per_block))])
    }
}

/// The maximum value of a sample.
fn greatest(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

/// The maximum number of zero blocks that are coded together.
const SEGMENT: u32 = 64;

/// The code for a run of zero blocks to the end of the segment or scanline; the codes of other runs skip it.
const REMAINDER_OF_SEGMENT: u32 = 4;

/// The maximum number of pixels in a block.
const MAX_PIXELS: u8 = 64;

/// The maximum number of blocks in a scanline.
const MAX_BLOCKS: u32 = 4096;

/// Above the maximum ratio of decoded to stored bytes: 64 blocks of 64 zeros of four bytes take eleven bits.
const MAX_RATIO: usize = 16384;

#[cfg(test)]
mod tests;
