//! Base64, the standard alphabet with padding, as in numcodecs.
//!
//! Spec: RFC 4648, section 4

use crate::codec::{Transform, room};
use crate::coders::Coders;
use crate::vocabulary::{Elements, Given, Named, Vocabulary};
use hyperslab_core::{Error, Result};

/// Stores bytes as Base64 text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Base64;

impl Transform for Base64 {
    fn decoded_sizes(&self, min: usize, max: usize) -> Option<(usize, usize)> {
        let bytes = |len: usize| (len / 4).saturating_mul(3);
        Some((bytes(min).saturating_sub(2), bytes(max)))
    }

    fn declared_size(&self, stored: &[u8]) -> Result<Option<usize>> {
        let padding = stored.iter().rev().take(2).take_while(|digit| **digit == b'=').count();
        match stored.len().is_multiple_of(4) {
            true => Ok(Some((stored.len() / 4 * 3).saturating_sub(padding))),
            false => Err(broken(stored)),
        }
    }

    fn encoded_size(&self, raw: usize) -> Option<usize> {
        raw.div_ceil(3).checked_mul(4)
    }

    fn max_encoded_size(&self, raw: usize) -> usize {
        raw.div_ceil(3).saturating_mul(4)
    }

    fn decode(&self, stored: &[u8], out: &mut [u8], _: &mut Coders) -> Result<usize> {
        let size = self.declared_size(stored)?.unwrap_or_default();
        let groups = stored.as_chunks::<4>().0.iter();
        for (group, to) in groups.zip(room(out, size)?.chunks_mut(3)) {
            let (digits, _) = group.split_at(to.len() + 1);
            let bits = digits.iter().try_fold(0_u32, |bits, digit| Some(bits << 6 | value(*digit)?));
            let bits = bits.ok_or_else(|| broken(stored))? << (6 * (3 - to.len()));
            let [_, bytes @ ..] = bits.to_be_bytes();
            to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
        }
        Ok(size)
    }

    fn encode(&self, raw: &[u8], out: &mut Vec<u8>, _: &mut Coders) -> Result<()> {
        out.clear();
        for group in raw.chunks(3) {
            let mut bytes = [0; 4];
            bytes.iter_mut().skip(1).zip(group).for_each(|(to, byte)| *to = *byte);
            let bits = u32::from_be_bytes(bytes);
            for (place, shift) in [18, 12, 6, 0].into_iter().enumerate() {
                let digit = usize::try_from(bits >> shift & 0x3f).ok().and_then(|at| ALPHABET.get(at));
                out.push(if place > group.len() { b'=' } else { digit.copied().unwrap_or(b'=') });
            }
        }
        Ok(())
    }
}

impl Vocabulary for Base64 {
    const NAMES: &'static [&'static str] = &[];

    fn of_parameters(given: &Given<'_>) -> Result<Self> {
        Err(given.not_by_name())
    }

    fn named(&self, _: &Elements) -> Option<Named> {
        None
    }
}

fn value(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

fn broken(stored: &[u8]) -> Error {
    Error::malformed(format!("{} bytes are not valid Base64", stored.len()))
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
