//! Numbers that rounding codecs leave unchanged: those that mark missing elements.

use crate::codec::Codec;

/// Up to four numbers, by the bits of their floating-point value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Spared([Option<u64>; 4]);

impl Spared {
    fn new(numbers: &[f64]) -> Spared {
        let mut spared = Spared::default();
        spared.0.iter_mut().zip(numbers).for_each(|(place, number)| *place = Some(number.to_bits()));
        spared
    }

    /// Whether there are none, in which case nothing needs to be compared.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.first() == Some(&None)
    }

    /// Whether a number is left unchanged. NaN always is, whatever its bits.
    pub(crate) fn has(&self, number: f64) -> bool {
        number.is_nan() || self.0.iter().flatten().any(|spared| f64::from_bits(*spared) == number)
    }
}

impl Codec {
    /// If the codec rounds numbers and decodes them as they are stored: the same codec, encoding up to four given
    /// numbers unchanged. A rounded fill value would no longer mark anything. Other codecs are returned unchanged.
    ///
    /// ```
    /// use hyperslab_codec::{BitRound, Codec, Number, NumberKind, Scratch, encode};
    ///
    /// let number = Number { kind: NumberKind::Float32, big_endian: false };
    /// let codec = Codec::from(BitRound::new(number, 2)?);
    /// let encoded = |codec: Codec| encode(&[codec], &1e20_f32.to_le_bytes(), &mut Scratch::default());
    /// assert_ne!(encoded(codec.clone())?, 1e20_f32.to_le_bytes());
    /// assert_eq!(encoded(codec.sparing(&[1e20_f32.into()]))?, 1e20_f32.to_le_bytes());
    /// # Ok::<(), hyperslab_core::Error>(())
    /// ```
    #[must_use]
    pub fn sparing(self, numbers: &[f64]) -> Codec {
        let spared = Spared::new(numbers);
        match self {
            Codec::BitRound(of) => of.sparing(spared).into(),
            Codec::Quantize(of) => of.sparing(spared).into(),
            other => other,
        }
    }
}
