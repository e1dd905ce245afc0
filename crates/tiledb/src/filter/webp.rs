//! WebP: a tile as an image with the same rows.
//!
//! Spec: TileDB format_spec, filters/webp.md

use super::part::{Filtered, Output, Part, Transform, Work, len32, take_room};
use crate::format::filter_pipeline::{Webp as Options, WebpFormat};
use hyperslab_core::memory::room;
use hyperslab_core::{Decoder, Error, Result};
use image_webp::{ColorType, WebPDecoder, WebPEncoder};
use std::io::Cursor;

/// An image.
pub(crate) struct Webp {
    options: Options,
    /// The number of bytes of a pixel: the number of colours in `format`.
    depth: usize,
    /// Whether the first colour is blue.
    is_blue_first: bool,
}

impl Webp {
    /// The filter with these options.
    ///
    /// # Errors
    /// If they do not define a pixel.
    pub(crate) fn new(options: &Options) -> Result<Webp> {
        let (depth, is_blue_first) = match options.format {
            WebpFormat::None => return Err(Error::malformed("no input format of WebP images")),
            WebpFormat::Rgb => (3, false),
            WebpFormat::Bgr => (3, true),
            WebpFormat::Rgba => (4, false),
            WebpFormat::Bgra => (4, true),
        };
        Ok(Webp { options: *options, depth, is_blue_first })
    }

    /// The number of bytes of an image in a tile.
    fn len(&self) -> usize {
        usize::from(self.options.x_extent) * usize::from(self.options.y_extent)
    }

    /// Decodes an image to all of `out`.
    fn decode_image(&self, stored: &[u8], out: &mut [u8], work: &mut Work) -> Result<()> {
        let broken = |e| Error::malformed(format!("{} bytes are not a WebP image: {e}", stored.len()));
        let mut decoder = WebPDecoder::new(Cursor::new(stored)).map_err(broken)?;
        let (width, height) = decoder.dimensions();
        let pixels = u64::from(width) * u64::from(height);
        if decoder.is_animated() || pixels.saturating_mul(self.depth as u64) != out.len() as u64 {
            return Err(Error::malformed(format!(
                "a WebP image of {width} times {height} pixels of {} bytes, expected {} bytes",
                self.depth,
                out.len()
            )));
        }
        // The decoder allocates memory for the frame before it compares the size of the frame with that of the image.
        if lossy_frame(stored)?.is_some_and(|frame| frame != (width, height)) {
            return Err(Error::malformed(format!(
                "a WebP frame of another size than {width} times {height}"
            )));
        }
        decoder.set_memory_limit(out.len().saturating_mul(4));
        let found = if decoder.has_alpha() { 4 } else { 3 };
        if found == self.depth {
            decoder.read_image(out).map_err(broken)?;
        } else {
            let max = out.len() / self.depth * found;
            let pixels = room(&mut work.buffer, max);
            decoder.read_image(pixels).map_err(broken)?;
            for (from, to) in pixels.chunks_exact(found).zip(out.chunks_exact_mut(self.depth)) {
                to.fill(0xff);
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
        }
        self.exchange(out);
        Ok(())
    }

    /// Exchanges red and blue if the first colour of tiles is blue.
    fn exchange(&self, pixels: &mut [u8]) {
        if self.is_blue_first {
            for pixel in pixels.chunks_exact_mut(self.depth) {
                if let [first, _, third, ..] = pixel {
                    std::mem::swap(first, third);
                }
            }
        }
    }
}

impl Transform for Webp {
    fn decode(&self, from: Part<'_>, out: Output<'_>, rest: &mut Vec<u8>, work: &mut Work) -> Result<()> {
        let mut d = from.decoder("WebP Filter");
        let images = from.cut(&mut d)?;
        let mut out = out.room(images.len().saturating_mul(self.len()), work)?;
        for image in images {
            let to = take_room(&mut out, self.len())?;
            self.decode_image(image, to, work)?;
        }
        rest.clear();
        rest.extend_from_slice(d.rest());
        Ok(())
    }

    fn encode(&self, from: Part<'_>, to: &mut Filtered, work: &mut Work) -> Result<()> {
        let Options { lossless, x_extent, y_extent, .. } = self.options;
        if !lossless {
            return Err(Error::unsupported("lossy WebP images are read, but not written"));
        }
        let row = usize::from(x_extent);
        if from.data.len() != self.len() || !row.is_multiple_of(self.depth) {
            return Err(Error::invalid(format!(
                "{} bytes for a WebP image of {y_extent} rows of {x_extent} bytes, {} for a pixel",
                from.data.len(),
                self.depth
            )));
        }
        work.buffer.clear();
        work.buffer.extend_from_slice(from.data);
        self.exchange(&mut work.buffer);
        let colours = if self.depth == 4 { ColorType::Rgba8 } else { ColorType::Rgb8 };
        let width = u32::try_from(row / self.depth).unwrap_or(u32::MAX);
        to.data.clear();
        let encoded = WebPEncoder::new(&mut to.data).encode(&work.buffer, width, y_extent.into(), colours);
        encoded.map_err(|e| Error::invalid(format!("a WebP image cannot be written: {e}")))?;
        to.metadata.clear();
        to.metadata.extend_from_slice(&1_u32.to_le_bytes());
        to.metadata.extend_from_slice(&len32(to.data.len())?);
        to.metadata.extend_from_slice(from.metadata);
        Ok(())
    }
}

/// The width and height of the first lossy frame of an image.
fn lossy_frame(stored: &[u8]) -> Result<Option<(u32, u32)>> {
    let mut d = Decoder::new("WebP Image", 0, stored);
    d.reserved(RIFF_HEADER)?;
    while d.remaining() >= 8 {
        let (name, len) = (d.array()?, d.u32()?);
        if &name == b"VP8 " {
            d.reserved(VP8_TAG)?;
            let [width, height] = [d.u16()?, d.u16()?].map(|size| u32::from(size & 0x3fff));
            return Ok(Some((width, height)));
        }
        let padded = usize::try_from(len).unwrap_or(usize::MAX).checked_next_multiple_of(2);
        d.reserved(padded.unwrap_or(usize::MAX).min(d.remaining()))?;
    }
    Ok(None)
}

/// The number of bytes before the first chunk of an image.
const RIFF_HEADER: usize = 12;
/// The number of bytes before the size of a lossy frame.
const VP8_TAG: usize = 6;
