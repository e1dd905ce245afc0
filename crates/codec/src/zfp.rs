//! Zfp: blocks of four numbers along each dimension, transformed and truncated to the significant bits; filter id
//! 32013 in the HDF5 registry.
//!
//! Spec: the header of zfp, and the plugin H5Z-ZFP, which stores the header separately from the stream.

mod stream;

pub use stream::ZfpStream;

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary, int};
use hyperslab_core::filter::Value;
use hyperslab_core::{Error, Result};
use zfp_rs::codec::block::decode_block;
use zfp_rs::{ZfpBitStream, ZfpConfig, ZfpDimensionality, ZfpField, ZfpFieldMetadata, ZfpHeaderMask};
use zfp_rs::{ZfpHeaderError, ZfpScalar, ZfpScalarType, ZfpStreamAlignment};

/// A zfp stream without header, as zfp writes it with words of eight bits or on little-endian machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Zfp {
    field: ZfpFieldMetadata,
    limits: ZfpConfig,
    big_endian: bool,
}

/// The type of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZfpNumber {
    /// The type `int32`.
    Int32,
    /// The type `int64`.
    Int64,
    /// The type `float32`.
    Float32,
    /// The type `float64`.
    Float64,
}

/// The compression mode: the loss that is accepted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ZfpMode {
    /// Fixed rate: the number of bits for each number.
    Rate(f64),
    /// Fixed precision: the number of bits of each transformed number.
    Precision(u32),
    /// Fixed accuracy: the maximum absolute error. Only for floating-point numbers.
    Accuracy(f64),
    /// Reversible: lossless.
    Reversible,
    /// Expert: all of these limits apply.
    Expert {
        /// The minimum number of bits of a block.
        min_bits: u32,
        /// The maximum number of bits of a block.
        max_bits: u32,
        /// The maximum number of bits of each transformed number, at most 64.
        max_precision: u32,
        /// The exponent of two of the smallest bit plane that is stored.
        min_exponent: i32,
    },
}

impl Zfp {
    /// A codec of arrays with one to four extents, the fastest varying last.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for extents that a header cannot
    /// hold, and for limits that exclude each other.
    pub fn new(number: ZfpNumber, extents: &[usize], mode: ZfpMode, big_endian: bool) -> Result<Zfp> {
        let scalar_type = match number {
            ZfpNumber::Int32 => ZfpScalarType::I32,
            ZfpNumber::Int64 => ZfpScalarType::I64,
            ZfpNumber::Float32 => ZfpScalarType::F32,
            ZfpNumber::Float64 => ZfpScalarType::F64,
        };
        let rank = u32::try_from(extents.len()).ok().and_then(|rank| ZfpDimensionality::try_from(rank).ok());
        let Some(rank) = rank else {
            return Err(Error::invalid(format!("{} dimensions for zfp, expected 1 to 4", extents.len())));
        };
        let mut dims = [0; 4];
        dims.iter_mut().zip(extents.iter().rev()).for_each(|(to, extent)| *to = *extent);
        let field = ZfpFieldMetadata { scalar_type, dims };
        field.to_bits().map_err(|e| {
            Error::invalid(format!(
                "zfp extents {extents:?}, expected 1 or more each and a product that a header can hold"
            ))
            .caused_by(e)
        })?;
        let limits = match mode {
            ZfpMode::Rate(rate) => {
                ZfpConfig::fixed_rate(rate, scalar_type, rank, ZfpStreamAlignment::Unaligned)
            }
            ZfpMode::Precision(bits) => Ok(ZfpConfig::fixed_precision(bits)),
            ZfpMode::Accuracy(error) => Ok(ZfpConfig::fixed_accuracy(error)),
            ZfpMode::Reversible => Ok(ZfpConfig::reversible()),
            ZfpMode::Expert { min_bits, max_bits, max_precision, min_exponent } => {
                ZfpConfig::expert(min_bits, max_bits, max_precision, min_exponent)
            }
        };
        let limits = limits.and_then(|limits| limits.checked_mode_bits().map(|_| limits));
        let limits = limits.map_err(|e| {
            Error::invalid(format!("zfp mode {mode:?}, expected limits that do not exclude each other"))
                .caused_by(e)
        })?;
        Zfp { field, limits, big_endian }.checked()
    }

    /// The compression mode.
    pub fn mode(&self) -> ZfpMode {
        let limits = &self.limits;
        let rank = self.field.dims.iter().filter(|extent| **extent > 0).count();
        let rank = u32::try_from(rank).ok().and_then(|rank| ZfpDimensionality::try_from(rank).ok());
        if let Some(rate) = rank.and_then(|rank| limits.rate(rank)) {
            ZfpMode::Rate(rate)
        } else if let Some(bits) = limits.precision() {
            ZfpMode::Precision(bits)
        } else if let Some(error) = limits.accuracy() {
            ZfpMode::Accuracy(error)
        } else if limits.mode() == zfp_rs::ZfpMode::Reversible {
            ZfpMode::Reversible
        } else {
            ZfpMode::Expert {
                min_bits: limits.min_bits(),
                max_bits: limits.max_bits(),
                max_precision: limits.max_prec(),
                min_exponent: limits.min_exp(),
            }
        }
    }

    /// The codec that a full header describes. Bytes after the header are ignored.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](hyperslab_core::ErrorKind::Malformed) if `header` is not a zfp header;
    /// [`ErrorKind::Unsupported`](hyperslab_core::ErrorKind::Unsupported) if it has another version.
    pub fn from_header(header: &[u8], big_endian: bool) -> Result<Zfp> {
        match header.strip_prefix(b"zfp") {
            Some([VERSION, ..]) => {}
            Some([version, ..]) => {
                return Err(Error::unsupported(format!("zfp stream version {version}, expected {VERSION}")));
            }
            _ => return Err(Error::malformed("zfp header without the signature \"zfp\"")),
        }
        let parsed = words(header)?.read_header(ZfpHeaderMask::FULL).map_err(|e| {
            let what = match e {
                ZfpHeaderError::InvalidMode => "with limits that exclude each other",
                _ => "with invalid extents",
            };
            Error::malformed(format!("zfp header {what}"))
        })?;
        match (parsed.metadata, parsed.config) {
            (Some(field), Some(limits)) if parsed.bits_read.div_ceil(8) <= header.len() => {
                let zfp = Zfp { field, limits, big_endian };
                zfp.checked().map_err(|e| Error::malformed(e.detail().to_owned()))
            }
            _ => Err(Error::malformed(format!("zfp header ends early, after {} bytes", header.len()))),
        }
    }

    /// The full header, 12 or 19 bytes, filled up to whole words of four bytes.
    pub fn header(&self) -> Vec<u8> {
        let header = ZfpBitStream::new(24).ok().and_then(|mut bits| {
            let written = bits.write_header(&self.limits, &self.field, ZfpHeaderMask::FULL).ok()?;
            bits.flush();
            bits.as_bytes().get(..written.div_ceil(32) * 4).map(<[u8]>::to_vec)
        });
        header.expect("constructors check that a header can hold all parameters")
    }

    /// Whether decoded numbers are big-endian.
    pub fn big_endian(&self) -> bool {
        self.big_endian
    }

    fn checked(self) -> Result<Zfp> {
        let [x, y, z, w] = self.extents();
        let size = x.checked_mul(y).and_then(|n| n.checked_mul(z)).and_then(|n| n.checked_mul(w));
        match size.and_then(|n| n.checked_mul(self.field.scalar_type.size())) {
            Some(_) => Ok(self),
            None => Err(Error::invalid(format!("zfp extents {:?} are too large", self.field.dims))),
        }
    }

    /// Four extents, the fastest varying first.
    fn extents(&self) -> [usize; 4] {
        self.field.dims.map(|extent| extent.max(1))
    }

    fn rank(&self) -> ZfpDimensionality {
        match self.field.dims {
            [_, 0, ..] => ZfpDimensionality::D1,
            [_, _, 0, _] => ZfpDimensionality::D2,
            [_, _, _, 0] => ZfpDimensionality::D3,
            _ => ZfpDimensionality::D4,
        }
    }

    /// The decoded size of all numbers in bytes.
    fn size(&self) -> usize {
        self.extents().iter().product::<usize>() * self.field.scalar_type.size()
    }

    /// The same codec with other extents, the fastest varying first.
    fn with_extents(&self, dims: [usize; 4]) -> Result<Zfp> {
        let field = ZfpFieldMetadata { dims, ..self.field };
        field.to_bits().map_err(|e| {
            Error::invalid(format!(
                "zfp extents {dims:?}, expected 1 or more each and a product that a header can hold"
            ))
            .caused_by(e)
        })?;
        Zfp { field, ..*self }.checked()
    }

    /// Decodes the rest of a stream, of which `max` bits are stored.
    fn decode_stream(&self, bits: ZfpBitStream, max: u64, out: &mut [u8]) -> Result<()> {
        match self.field.scalar_type {
            ZfpScalarType::I32 => self.decode_numbers::<i32>(bits, max, out),
            ZfpScalarType::I64 => self.decode_numbers::<i64>(bits, max, out),
            ZfpScalarType::F32 => self.decode_numbers::<f32>(bits, max, out),
            ZfpScalarType::F64 => self.decode_numbers::<f64>(bits, max, out),
        }
    }

    fn decode_numbers<T: Number>(&self, mut bits: ZfpBitStream, max: u64, out: &mut [u8]) -> Result<()> {
        let rank = self.rank();
        let [x, y, z, w] = self.extents();
        let mut block = [T::default(); 256];
        let (block, _) = block.split_at_mut(rank.block_size());
        for w in steps(w) {
            for z in steps(z) {
                for y in steps(y) {
                    for x in steps(x) {
                        // The block has the expected count of numbers, which is the only condition that can fail.
                        let _ = decode_block(&mut bits, &self.limits, block, rank);
                        if bits.read_pos() > max {
                            let len = max / 8;
                            return Err(Error::malformed(format!(
                                "zfp stream ends early, after {len} bytes"
                            )));
                        }
                        self.store(block, [x, y, z, w], out);
                    }
                }
            }
        }
        Ok(())
    }

    /// Moves the numbers of a block that lie within the array to their place.
    #[inline(always)]
    fn store<T: Number>(&self, block: &[T], [x, y, z, w]: [Step; 4], out: &mut [u8]) {
        let [width, height, depth, _] = self.extents();
        for (row, ordinal) in block.as_chunks().0.iter().zip(0..) {
            let (dy, dz, dw) = (ordinal % 4, ordinal / 4 % 4, ordinal / 16);
            if dy < y.len && dz < z.len && dw < w.len {
                let at = (((w.at + dw) * depth + z.at + dz) * height + y.at + dy) * width + x.at;
                T::store_row(row, x.len, at, self.big_endian, out);
            }
        }
    }

    fn encode_numbers<T: Number>(&self, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let numbers = T::load(raw, self.big_endian);
        let failed = |e: &dyn std::fmt::Display| Error::invalid(format!("zfp: {e}"));
        let field = ZfpField::new(&numbers, self.field.dims).map_err(|e| failed(&e))?;
        let mut bits = ZfpBitStream::new(self.max_encoded_size(raw.len())).map_err(|e| failed(&e))?;
        bits.compress(&self.limits, &field).map_err(|e| failed(&e))?;
        out.clear();
        out.extend_from_slice(bits.as_bytes());
        Ok(())
    }
}

impl Transform for Zfp {
    fn decoded_sizes(&self, _: usize, max: usize) -> Option<(usize, usize)> {
        let size = self.size();
        (max.saturating_mul(MAX_RATIO) >= size).then_some((size, size))
    }

    fn max_encoded_size(&self, _: usize) -> usize {
        let max = self.limits.maximum_size(self.field.scalar_type, self.field.dims);
        max.unwrap_or(usize::MAX)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let size = self.size();
        let out = room(out, size)?;
        self.decode_stream(words(stored)?, stored.len() as u64 * 8, out)?;
        Ok(size)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        if raw.len() != self.size() {
            return Err(Error::invalid(format!("{} bytes for zfp, expected {}", raw.len(), self.size())));
        }
        match self.field.scalar_type {
            ZfpScalarType::I32 => self.encode_numbers::<i32>(raw, out),
            ZfpScalarType::I64 => self.encode_numbers::<i64>(raw, out),
            ZfpScalarType::F32 => self.encode_numbers::<f32>(raw, out),
            ZfpScalarType::F64 => self.encode_numbers::<f64>(raw, out),
        }
    }
}

/// HDF5 derives this codec from the datatype, the chunk and the parameters.
impl Vocabulary for Zfp {
    const NAMES: &'static [&'static str] = &[];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Err(given.not_by_name())
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        Some(self.mode().named())
    }
}

impl ZfpMode {
    /// The name of the mode with its parameters.
    fn named(self) -> Named {
        let (mode, numbers) = match self {
            ZfpMode::Rate(rate) => ("rate", vec![("rate", Value::Real(rate))]),
            ZfpMode::Precision(bits) => ("precision", vec![("precision", int(bits))]),
            ZfpMode::Accuracy(error) => ("accuracy", vec![("accuracy", Value::Real(error))]),
            ZfpMode::Reversible => ("reversible", Vec::new()),
            ZfpMode::Expert { min_bits, max_bits, max_precision, min_exponent } => {
                let numbers = [
                    ("minbits", int(min_bits)),
                    ("maxbits", int(max_bits)),
                    ("maxprec", int(max_precision)),
                    ("minexp", int(min_exponent)),
                ];
                ("expert", numbers.into())
            }
        };
        let mut parameters = vec![("mode", mode.into())];
        parameters.extend(numbers);
        Named { name: "zfp", parameters }
    }
}

/// The start of a block along one dimension, and the count of its numbers within the array.
#[derive(Clone, Copy)]
struct Step {
    at: usize,
    len: usize,
}

fn steps(extent: usize) -> impl Iterator<Item = Step> {
    (0..extent).step_by(4).map(move |at| Step { at, len: (extent - at).min(4) })
}

fn words(bytes: &[u8]) -> Result<ZfpBitStream> {
    ZfpBitStream::from_bytes(bytes)
        .map_err(|e| Error::invalid(format!("no memory for {} bytes of zfp", bytes.len())).caused_by(e))
}

trait Number: ZfpScalar {
    /// Stores the first `len` numbers of a row from index `at` on.
    fn store_row(row: &[Self; 4], len: usize, at: usize, big_endian: bool, out: &mut [u8]);

    fn load(raw: &[u8], big_endian: bool) -> Vec<Self>;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Number for $number {
            #[inline(always)]
            fn store_row(row: &[Self; 4], len: usize, at: usize, big_endian: bool, out: &mut [u8]) {
                let (numbers, _) = out.as_chunks_mut();
                let to = numbers.get_mut(at..).unwrap_or_default();
                for (to, number) in to.iter_mut().zip(row).take(len) {
                    *to = if big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
                }
            }

            fn load(raw: &[u8], big_endian: bool) -> Vec<Self> {
                let bytes = raw.as_chunks().0.iter().copied();
                bytes.map(if big_endian { <$number>::from_be_bytes } else { <$number>::from_le_bytes }).collect()
            }
        }
    )*};
}

numbers!(i32, i64, f32, f64);

/// The stream version in headers.
const VERSION: u8 = 5;

/// Above the maximum ratio of decoded to stored bytes: each block, of at most 256 numbers of eight bytes, takes a
/// bit.
const MAX_RATIO: usize = 16384;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scratch;
    use hyperslab_core::ErrorKind;
    use proptest::prelude::*;

    fn stored(zfp: Zfp, raw: &[u8]) -> Vec<u8> {
        crate::encode(&[zfp.into()], raw, &mut Scratch::new()).unwrap()
    }

    fn decoded(zfp: Zfp, stored: &[u8]) -> Result<Vec<u8>> {
        let mut out = vec![0xee; zfp.size()];
        crate::decode(&[zfp.into()], stored, &mut out, &mut Scratch::new())?;
        Ok(out)
    }

    fn number() -> impl Strategy<Value = ZfpNumber> {
        use ZfpNumber::{Float32, Float64, Int32, Int64};
        prop::sample::select(vec![Int32, Int64, Float32, Float64])
    }

    fn extents() -> impl Strategy<Value = Vec<usize>> {
        prop::collection::vec(1..7_usize, 1..=4)
    }

    fn mode() -> impl Strategy<Value = ZfpMode> {
        prop_oneof![
            (1..30_u32).prop_map(|rate| ZfpMode::Rate(f64::from(rate))),
            (1..=64_u32).prop_map(ZfpMode::Precision),
            (-20..20).prop_map(|exponent| ZfpMode::Accuracy(2_f64.powi(exponent))),
            Just(ZfpMode::Reversible),
            (1..400_u32, 400..4000_u32, 1..=64_u32, -1074..50).prop_map(
                |(min_bits, max_bits, max_precision, min_exponent)| ZfpMode::Expert {
                    min_bits,
                    max_bits,
                    max_precision,
                    min_exponent
                }
            ),
        ]
    }

    fn zfp() -> impl Strategy<Value = Zfp> {
        (number(), extents(), mode(), any::<bool>())
            .prop_map(|(number, extents, mode, big)| Zfp::new(number, &extents, mode, big).unwrap())
    }

    proptest! {
        #[test]
        fn reversible_streams_return_any_bytes(
            number in number(),
            extents in extents(),
            big_endian in any::<bool>(),
            seed in prop::collection::vec(any::<u8>(), 1..500),
        ) {
            let zfp = Zfp::new(number, &extents, ZfpMode::Reversible, big_endian).unwrap();
            let raw: Vec<u8> = seed.iter().cycle().take(zfp.size()).copied().collect();
            let stored = stored(zfp, &raw);
            prop_assert!(stored.len() <= zfp.max_encoded_size(raw.len()));
            prop_assert_eq!(decoded(zfp, &stored).unwrap(), raw);
        }

        #[test]
        fn accurate_streams_err_by_no_more_than_they_may(
            extents in extents(),
            exponent in -10..4,
            seed in prop::collection::vec(-1e3..1e3_f32, 1..500),
        ) {
            let error = 2_f64.powi(exponent);
            let zfp = Zfp::new(ZfpNumber::Float32, &extents, ZfpMode::Accuracy(error), true).unwrap();
            let numbers: Vec<f32> = seed.iter().cycle().take(zfp.size() / 4).copied().collect();
            let raw: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
            let out = decoded(zfp, &stored(zfp, &raw)).unwrap();
            for (out, number) in out.as_chunks().0.iter().zip(numbers) {
                prop_assert!(f64::from((f32::from_be_bytes(*out) - number).abs()) <= error);
            }
        }

        #[test]
        fn headers_return_what_they_were_made_of(zfp in zfp()) {
            let header = zfp.header();
            prop_assert_eq!(Zfp::from_header(&header, zfp.big_endian).unwrap(), zfp);
            for len in 0..header.len() - 3 {
                let e = Zfp::from_header(&header[..len], false).unwrap_err();
                prop_assert_eq!(e.kind(), ErrorKind::Malformed);
            }
        }

        #[test]
        fn any_bytes_decode_or_are_malformed(zfp in zfp(), stored in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Err(e) = decoded(zfp, &stored) {
                prop_assert_eq!(e.kind(), ErrorKind::Malformed);
            }
        }

        #[test]
        fn any_header_is_one_or_is_refused(rest in prop::collection::vec(any::<u8>(), 0..20)) {
            if let Ok(zfp) = Zfp::from_header(&[b"zfp\x05", rest.as_slice()].concat(), false) {
                prop_assert_eq!(Zfp::from_header(&zfp.header(), false).unwrap(), zfp);
            }
        }

        #[test]
        fn rejects_streams_without_their_end(zfp in zfp(), seed in prop::collection::vec(any::<u8>(), 1..500)) {
            let raw: Vec<u8> = seed.iter().cycle().take(zfp.size()).copied().collect();
            let whole = stored(zfp, &raw);
            let out = decoded(zfp, &whole).unwrap();
            // Up to eight bytes only fill up the last word.
            let step = whole.len() / 30 + 1;
            for len in (0..whole.len().saturating_sub(7)).step_by(step) {
                prop_assert_eq!(decoded(zfp, &whole[..len]).unwrap_err().kind(), ErrorKind::Malformed);
            }
            for len in whole.len().saturating_sub(7)..whole.len() {
                if let Ok(found) = decoded(zfp, &whole[..len]) {
                    prop_assert_eq!(&found, &out);
                }
            }
        }
    }

    #[test]
    fn rejects_invalid_parameters() {
        let refused = |extents: &[usize], mode| {
            Zfp::new(ZfpNumber::Int32, extents, mode, false).unwrap_err().to_string()
        };
        let extents = |found: &str| {
            format!("zfp extents {found}, expected 1 or more each and a product that a header can hold")
        };
        assert_eq!(refused(&[], ZfpMode::Reversible), "0 dimensions for zfp, expected 1 to 4");
        assert_eq!(refused(&[1; 5], ZfpMode::Reversible), "5 dimensions for zfp, expected 1 to 4");
        assert_eq!(refused(&[3, 0], ZfpMode::Reversible), extents("[3, 0]"));
        assert_eq!(refused(&[5000; 4], ZfpMode::Reversible), extents("[5000, 5000, 5000, 5000]"));
        assert_eq!(
            refused(&[3], ZfpMode::Rate(f64::NAN)),
            "zfp mode Rate(NaN), expected limits that do not exclude each other"
        );
        let header = |bytes: &[u8]| Zfp::from_header(bytes, false).unwrap_err().to_string();
        assert_eq!(header(b"zip\x05"), "zfp header without the signature \"zfp\"");
        assert_eq!(header(b"zfp\x04"), "zfp stream version 4, expected 5");
        assert_eq!(header(b"zfp\x05"), "zfp header ends early, after 4 bytes");
    }

    #[test]
    fn modes_are_returned_as_given() {
        let expert = ZfpMode::Expert { min_bits: 16, max_bits: 400, max_precision: 20, min_exponent: -30 };
        let modes = [
            ZfpMode::Rate(8.0),
            ZfpMode::Precision(12),
            ZfpMode::Accuracy(0.125),
            ZfpMode::Reversible,
            expert,
        ];
        for mode in modes {
            let zfp = Zfp::new(ZfpNumber::Float64, &[20, 30], mode, false).unwrap();
            assert_eq!(zfp.mode(), mode);
            assert_eq!(Zfp::from_header(&zfp.header(), false).unwrap().mode(), mode);
        }
    }
}
