//! Zfp streams after their full header, as zfpy writes them. The header gives the type, the extents and the mode.

use super::{Number, Zfp, ZfpMode, ZfpNumber, words};
use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary};
use hyperslab_core::{Error, Result};
use zfp_rs::{ZfpBitStream, ZfpField, ZfpHeaderMask, ZfpScalarType};

/// A zfp stream after its full header. Encoding writes one dimension. A reader that knows the shape gets the same
/// numbers; more dimensions would compress better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ZfpStream {
    /// The parameters, for one number.
    model: Zfp,
}

impl ZfpStream {
    /// A codec for numbers of this type.
    ///
    /// # Errors
    /// As [`Zfp::new`].
    pub fn new(number: ZfpNumber, mode: ZfpMode, big_endian: bool) -> Result<ZfpStream> {
        Ok(ZfpStream { model: Zfp::new(number, &[1], mode, big_endian)? })
    }

    /// The compression mode for encoding.
    pub fn mode(&self) -> ZfpMode {
        self.model.mode()
    }

    /// The codec that the header of a stream describes.
    fn open(&self, stored: &[u8]) -> Result<Zfp> {
        let zfp = Zfp::from_header(stored, self.model.big_endian)?;
        match zfp.field.scalar_type == self.model.field.scalar_type {
            true => Ok(zfp),
            false => Err(Error::malformed("zfp stream of another number type than the array")),
        }
    }

    fn encode_numbers<T: Number>(&self, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let failed = |e: &dyn std::fmt::Display| Error::invalid(format!("zfp: {e}"));
        let numbers = T::load(raw, self.model.big_endian);
        let zfp = self.model.with_extents([numbers.len(), 0, 0, 0])?;
        let field = ZfpField::new(&numbers, zfp.field.dims).map_err(|e| failed(&e))?;
        let room = zfp.max_encoded_size(raw.len()).saturating_add(MAX_HEADER);
        let mut bits = ZfpBitStream::new(room).map_err(|e| failed(&e))?;
        bits.write_header(&zfp.limits, &zfp.field, ZfpHeaderMask::FULL).map_err(|e| failed(&e))?;
        bits.compress(&zfp.limits, &field).map_err(|e| failed(&e))?;
        out.clear();
        out.extend_from_slice(bits.as_bytes());
        // Readers read whole words.
        out.resize(out.len().next_multiple_of(8), 0);
        Ok(())
    }
}

impl Transform for ZfpStream {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        Some((0, max.saturating_mul(super::MAX_RATIO)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        self.open(stored).map(|zfp| Some(zfp.size()))
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        let count = raw / self.model.size();
        let zfp = self.model.with_extents([count.max(1), 0, 0, 0]);
        zfp.map_or(usize::MAX, |zfp| zfp.max_encoded_size(raw).saturating_add(MAX_HEADER))
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let zfp = self.open(stored)?;
        let out = room(out, zfp.size())?;
        let mut bits = words(stored)?;
        bits.read_header(ZfpHeaderMask::FULL).map_err(|_| Error::malformed("invalid zfp header"))?;
        let max = stored.len() as u64 * 8;
        zfp.decode_stream(bits, max, out)?;
        Ok(out.len())
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        if raw.is_empty() || !raw.len().is_multiple_of(self.model.size()) {
            return Err(Error::invalid(format!(
                "{} bytes for zfp, expected a multiple of the number size",
                raw.len()
            )));
        }
        match self.model.field.scalar_type {
            ZfpScalarType::I32 => self.encode_numbers::<i32>(raw, out),
            ZfpScalarType::I64 => self.encode_numbers::<i64>(raw, out),
            ZfpScalarType::F32 => self.encode_numbers::<f32>(raw, out),
            ZfpScalarType::F64 => self.encode_numbers::<f64>(raw, out),
        }
    }
}

/// Zarr derives this codec from the datatype and the parameters.
impl Vocabulary for ZfpStream {
    const NAMES: &'static [&'static str] = &[];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Err(given.not_by_name())
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        Some(self.mode().named())
    }
}

/// The maximum size of a header and of the padding of the last word.
const MAX_HEADER: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp() -> Vec<u8> {
        (0..1001_u16).flat_map(|i| (f32::from(i) / 7.0).to_le_bytes()).collect()
    }

    #[test]
    fn round_trips_streams_and_declares_their_size() {
        let zfp = ZfpStream::new(ZfpNumber::Float32, ZfpMode::Reversible, false).unwrap();
        let (mut stored, mut coders) = (Vec::new(), Coders::default());
        zfp.encode(&ramp(), &mut stored, &mut coders).unwrap();
        assert!(stored.len() <= zfp.max_encoded_size(ramp().len()) && stored.starts_with(b"zfp"));
        assert_eq!(zfp.declared_size(&stored).unwrap(), Some(4004));
        let mut out = vec![0; 4004];
        zfp.decode(&stored, &mut out, &mut coders).unwrap();
        assert_eq!(out, ramp());
        for len in [0, 5, 17, stored.len() / 2, stored.len() - 16] {
            assert!(zfp.decode(&stored[..len], &mut out, &mut coders).is_err(), "{len}");
        }
        let other = ZfpStream::new(ZfpNumber::Int32, ZfpMode::Reversible, false).unwrap();
        let e = other.decode(&stored, &mut out, &mut coders).unwrap_err();
        assert_eq!(e.to_string(), "zfp stream of another number type than the array");
    }

    #[test]
    fn keeps_the_accuracy() {
        let zfp = ZfpStream::new(ZfpNumber::Float32, ZfpMode::Accuracy(0.01), false).unwrap();
        let (mut stored, mut coders) = (Vec::new(), Coders::default());
        zfp.encode(&ramp(), &mut stored, &mut coders).unwrap();
        let mut out = vec![0; 4004];
        zfp.decode(&stored, &mut out, &mut coders).unwrap();
        for (a, b) in out.as_chunks().0.iter().zip(ramp().as_chunks().0) {
            assert!((f32::from_le_bytes(*a) - f32::from_le_bytes(*b)).abs() <= 0.01);
        }
    }
}
