//! Float scaling: floating-point numbers as integers, (x - offset) / scale rounded to the nearest.
//!
//! Spec: TileDB format_spec, filters/float_scale.md

use super::number::{Integer, Number};
use super::part::{Filtered, Output, Part, Transform, Work, len32, take_room};
use crate::format::filter_pipeline::ScaleFloat as Options;
use hyperslab_core::{Error, Result};

/// The scale and offset, the integer type, and whether numbers have double precision.
pub(crate) struct ScaleFloat {
    pub(crate) scale: f64,
    pub(crate) offset: f64,
    pub(crate) integer: Integer,
    pub(crate) is_double: bool,
}

/// Calls a function for the types of numbers and integers.
macro_rules! with_types {
    ($self:expr, $function:ident, $($argument:expr),*) => {
        match ($self.is_double, $self.integer) {
            (false, Integer::I8 | Integer::U8) => $function::<f32, 4, i8, 1>($($argument),*),
            (false, Integer::I16 | Integer::U16) => $function::<f32, 4, i16, 2>($($argument),*),
            (false, Integer::I32 | Integer::U32) => $function::<f32, 4, i32, 4>($($argument),*),
            (false, Integer::I64 | Integer::U64) => $function::<f32, 4, i64, 8>($($argument),*),
            (true, Integer::I8 | Integer::U8) => $function::<f64, 8, i8, 1>($($argument),*),
            (true, Integer::I16 | Integer::U16) => $function::<f64, 8, i16, 2>($($argument),*),
            (true, Integer::I32 | Integer::U32) => $function::<f64, 8, i32, 4>($($argument),*),
            (true, Integer::I64 | Integer::U64) => $function::<f64, 8, i64, 8>($($argument),*),
        }
    };
}

impl ScaleFloat {
    /// The filter for numbers of `size` bytes.
    ///
    /// # Errors
    /// For sizes of numbers and integers that do not exist.
    pub(crate) fn new(options: &Options, size: usize) -> Result<ScaleFloat> {
        let Options { scale, offset, byte_width } = *options;
        let Some(integer) = Integer::signed(byte_width) else {
            return Err(Error::malformed(format!("integers of {byte_width} bytes, expected 1, 2, 4 or 8")));
        };
        match size {
            4 | 8 => Ok(ScaleFloat { scale, offset, integer, is_double: size == 8 }),
            _ => Err(Error::malformed(format!("floating-point numbers of {size} bytes, expected 4 or 8"))),
        }
    }

    /// Whether the filter can encode a number.
    pub(crate) fn encodes(&self, number: &[u8]) -> bool {
        let mut to = vec![0; self.integer.size()];
        number.len() == self.size() && with_types!(self, to_integers, self, number, &mut to).is_ok()
    }

    /// The number that is encoded as 0.
    pub(crate) fn zero(&self) -> Vec<u8> {
        #[expect(clippy::cast_possible_truncation, reason = "the format says to compute in single precision")]
        match self.is_double {
            true => self.offset.to_le_bytes().to_vec(),
            false => (self.offset as f32).to_le_bytes().to_vec(),
        }
    }

    fn size(&self) -> usize {
        if self.is_double { 8 } else { 4 }
    }
}

impl Transform for ScaleFloat {
    fn decode(&self, from: Part<'_>, out: Output<'_>, rest: &mut Vec<u8>, work: &mut Work) -> Result<()> {
        let mut d = from.decoder("Float Scaling Filter");
        let parts = from.cut(&mut d)?;
        let width = self.integer.size();
        if let Some(part) = parts.iter().find(|part| !part.len().is_multiple_of(width)) {
            return Err(d.malformed(format!("a part of {} bytes, expected integers of {width}", part.len())));
        }
        let decoded = |stored: usize| (stored / width).saturating_mul(self.size());
        let mut out = out.room(decoded(from.data.len()), work)?;
        for part in parts {
            let to = take_room(&mut out, decoded(part.len()))?;
            with_types!(self, to_real, self, part, to);
        }
        rest.clear();
        rest.extend_from_slice(d.rest());
        Ok(())
    }

    fn encode(&self, from: Part<'_>, to: &mut Filtered, _: &mut Work) -> Result<()> {
        let size = self.size();
        if !from.data.len().is_multiple_of(size) {
            return Err(Error::invalid(format!("{} bytes, expected numbers of {size}", from.data.len())));
        }
        let len = from.data.len() / size * self.integer.size();
        to.metadata.clear();
        to.metadata.extend_from_slice(&1_u32.to_le_bytes());
        to.metadata.extend_from_slice(&len32(len)?);
        to.metadata.extend_from_slice(from.metadata);
        to.data.clear();
        to.data.resize(len, 0);
        with_types!(self, to_integers, self, from.data, &mut to.data)
    }
}

fn to_real<R: Real<S>, const S: usize, T: Number<N>, const N: usize>(
    filter: &ScaleFloat,
    from: &[u8],
    to: &mut [u8],
) {
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        *to = R::scaled(T::of(*from).wide(), filter.scale, filter.offset).bytes();
    }
}

fn to_integers<R: Real<S>, const S: usize, T: Number<N>, const N: usize>(
    filter: &ScaleFloat,
    from: &[u8],
    to: &mut [u8],
) -> Result<()> {
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        let value = R::of(*from);
        let integer = value.unscaled(filter.scale, filter.offset).and_then(integer);
        let narrow = integer.map(T::narrow).filter(|narrow| Some(narrow.wide()) == integer);
        let Some(integer) = narrow else {
            let (value, scale, offset) = (value.double(), filter.scale, filter.offset);
            return Err(Error::invalid(format!(
                "{value:e} scaled by {scale:e} with offset {offset:e} is not an integer of {N} bytes"
            )));
        };
        *to = integer.bytes();
    }
    Ok(())
}

/// A whole number as an integer. `None` if it exceeds 64 bits.
fn integer(whole: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the bounds are checked, and the number is whole")]
    (-LIMIT..LIMIT).contains(&whole).then_some(whole as i64)
}

/// 2 to the power of 63.
const LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// A floating-point number of `S` bytes.
trait Real<const S: usize>: Copy {
    fn of(bytes: [u8; S]) -> Self;
    fn bytes(self) -> [u8; S];
    fn double(self) -> f64;
    /// Converts an integer to a number: scaled in double precision, then rounded.
    fn scaled(integer: i64, scale: f64, offset: f64) -> Self;
    /// The whole number to store, computed in the precision of the type. `None` for numbers that TileDB refuses:
    /// infinite and subnormal numbers, and NaN.
    fn unscaled(self, scale: f64, offset: f64) -> Option<f64>;
}

impl Real<4> for f32 {
    fn of(bytes: [u8; 4]) -> Self {
        f32::from_le_bytes(bytes)
    }

    fn bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }

    fn double(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the format says to round to single precision")]
    fn scaled(integer: i64, scale: f64, offset: f64) -> Self {
        (scale * f64::from(integer as f32) + offset) as f32
    }

    #[expect(clippy::cast_possible_truncation, reason = "the format says to compute in single precision")]
    fn unscaled(self, scale: f64, offset: f64) -> Option<f64> {
        let whole = || f64::from(((self - offset as f32) / scale as f32).round());
        (self.is_normal() || self == 0.0).then(whole)
    }
}

impl Real<8> for f64 {
    fn of(bytes: [u8; 8]) -> Self {
        f64::from_le_bytes(bytes)
    }

    fn bytes(self) -> [u8; 8] {
        self.to_le_bytes()
    }

    fn double(self) -> f64 {
        self
    }

    #[inline(always)]
    fn scaled(integer: i64, scale: f64, offset: f64) -> Self {
        scale * (integer as f64) + offset
    }

    fn unscaled(self, scale: f64, offset: f64) -> Option<f64> {
        (self.is_normal() || self == 0.0).then(|| ((self - offset) / scale).round())
    }
}
