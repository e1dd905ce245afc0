//! Double delta: the differences of differences, in as many bits as the largest one needs.
//!
//! The encoding consists of the number of bits of a difference in one byte, the number of values in 64 bits, the first
//! two values, and for each further value a sign bit and the bits of the difference. Bits fill little-endian words of
//! 64 bits, from the highest bit down. If a difference would need as many bits as a value, values are stored unchanged.
//!
//! Spec: TileDB format_spec, filters/double_delta.md

use super::number::{Integer, Number, with_integer};
use hyperslab_core::{Error, Result};

/// Decodes to all of `out`.
pub(crate) fn decode(integer: Integer, stored: &[u8], out: &mut [u8]) -> Result<()> {
    with_integer!(integer, decode_as, stored, out)
}

/// Appends `raw` encoded to `out`.
pub(crate) fn encode(integer: Integer, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
    with_integer!(integer, encode_as, raw, out)
}

/// Checks that `stored` can decode to `len` bytes.
pub(crate) fn check(integer: Integer, stored: &[u8], len: usize) -> Result<()> {
    let (_, body) = header(integer.size(), stored, len)?;
    // Each value takes at least its sign bit.
    match len / integer.size() <= body.len().saturating_mul(8) {
        true => Ok(()),
        false => Err(cannot(stored, len)),
    }
}

/// The number of bits of a difference, and the bytes after the header.
fn header(size: usize, stored: &[u8], len: usize) -> Result<(u32, &[u8])> {
    let parts = stored.split_first();
    let parts = parts.and_then(|(bits, rest)| Some((bits, rest.split_first_chunk()?)));
    let Some((bits, (count, body))) = parts else {
        return Err(Error::malformed(format!(
            "double differences in {} bytes, expected at least 9",
            stored.len()
        )));
    };
    let count = u64::from_le_bytes(*count);
    if count.checked_mul(size as u64) != Some(len as u64) {
        return Err(Error::malformed(format!(
            "{count} values of {size} bytes, expected {len} bytes of them"
        )));
    }
    Ok((u32::from(*bits), body))
}

fn decode_as<T: Number<N>, const N: usize>(stored: &[u8], out: &mut [u8]) -> Result<()> {
    let len = out.len();
    let cannot = || cannot(stored, len);
    let (bits, body) = header(N, stored, len)?;
    if bits >= T::BITS - 1 {
        if body.len() != len {
            return Err(cannot());
        }
        out.copy_from_slice(body);
        return Ok(());
    }
    // The first two values are stored unchanged.
    let raw = len.min(2 * N);
    let (Some((first, words)), Some((begin, rest))) =
        (body.split_at_checked(raw), out.split_at_mut_checked(raw))
    else {
        return Err(cannot());
    };
    begin.copy_from_slice(first);
    let (values, _) = rest.as_chunks_mut::<N>();
    let (words, tail) = words.as_chunks::<8>();
    let needed = (values.len() as u64).saturating_mul(u64::from(bits) + 1).div_ceil(64);
    if needed != words.len() as u64 || !tail.is_empty() {
        return Err(cannot());
    }
    let ([before, last], _) = first.as_chunks::<N>() else { return Ok(()) };
    let (mut before, mut last) = (T::of(*before).wide(), T::of(*last).wide());
    let mut reader = Reader { words: words.iter(), word: 0, have: 0 };
    for to in values {
        let signed = reader.take(bits + 1);
        let magnitude = (signed & !(u64::MAX << bits)).cast_signed();
        let is_negative = signed >> bits == 1;
        let change = if is_negative { magnitude.wrapping_neg() } else { magnitude };
        let next = T::narrow(last.wrapping_sub(before).wrapping_add(last).wrapping_add(change));
        *to = next.bytes();
        (before, last) = (last, next.wide());
    }
    Ok(())
}

fn encode_as<T: Number<N>, const N: usize>(raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let (values, tail) = raw.as_chunks::<N>();
    if !tail.is_empty() {
        return Err(Error::invalid(format!("{} bytes, expected values of {N}", raw.len())));
    }
    let bits = bits_of_largest::<T, N>(values).unwrap_or(T::BITS - 1);
    let [bits_field, ..] = bits.to_le_bytes();
    out.push(bits_field);
    out.extend_from_slice(&(values.len() as u64).to_le_bytes());
    if bits >= T::BITS - 1 {
        out.extend_from_slice(raw);
        return Ok(());
    }
    let (first, _) = raw.split_at_checked(2 * N).unwrap_or((raw, &[]));
    out.extend_from_slice(first);
    let [before, last, rest @ ..] = values else { return Ok(()) };
    let mut last_difference = T::of(*last).wide().wrapping_sub(T::of(*before).wide());
    let mut last = T::of(*last).wide();
    let words = (rest.len() as u64).saturating_mul(u64::from(bits) + 1).div_ceil(64);
    out.reserve(usize::try_from(words).unwrap_or(0).saturating_mul(8));
    let mut writer = Writer { out, word: 0, room: 64 };
    for value in rest {
        // No difference exceeds 64 bits; otherwise values would be stored unchanged.
        let value = T::of(*value).wide();
        let difference = value.wrapping_sub(last);
        let change = difference.wrapping_sub(last_difference);
        writer.put(bits + 1, u64::from(change < 0) << bits | change.unsigned_abs());
        (last, last_difference) = (value, difference);
    }
    writer.finish();
    Ok(())
}

/// The number of bits that the largest change of the difference takes, at least 1; 0 without any change. `None` if a
/// difference exceeds 64 bits. TileDB counts the first difference as a change.
fn bits_of_largest<T: Number<N>, const N: usize>(values: &[[u8; N]]) -> Option<u32> {
    let [first, second, rest @ ..] = values else { return Some(0) };
    if rest.is_empty() {
        return Some(0);
    }
    let mut last = T::of(*second);
    let mut last_difference = last.above(T::of(*first))?;
    let mut all = last_difference.unsigned_abs();
    for value in rest {
        let value = T::of(*value);
        let difference = value.above(last)?;
        all |= difference.checked_sub(last_difference)?.unsigned_abs();
        (last, last_difference) = (value, difference);
    }
    Some((64 - all.leading_zeros()).max(1))
}

/// Takes bits from words, the highest first.
struct Reader<'a> {
    words: std::slice::Iter<'a, [u8; 8]>,
    /// The next bits in the highest places, with zeros below.
    word: u64,
    have: u32,
}

impl Reader<'_> {
    /// Takes the next 1 to 63 bits. After the last word, bits are 0.
    #[inline(always)]
    fn take(&mut self, count: u32) -> u64 {
        let high = self.word >> (64 - count);
        if count <= self.have {
            self.word <<= count;
            self.have -= count;
            return high;
        }
        let next = self.words.next().map_or(0, |word| u64::from_le_bytes(*word));
        let more = count - self.have;
        self.word = next << more;
        self.have = 64 - more;
        high | next >> (64 - more)
    }
}

/// Appends words of bits, the highest first.
struct Writer<'o> {
    out: &'o mut Vec<u8>,
    word: u64,
    /// The number of free bits at the low end of the word, 1 to 64.
    room: u32,
}

impl Writer<'_> {
    /// Puts the lowest `count` bits of a number, 1 to 63. All higher bits must be 0.
    #[inline(always)]
    fn put(&mut self, count: u32, value: u64) {
        if count < self.room {
            self.room -= count;
            self.word |= value << self.room;
            return;
        }
        let left = count - self.room;
        self.out.extend_from_slice(&(self.word | value >> left).to_le_bytes());
        self.word = if left == 0 { 0 } else { value << (64 - left) };
        self.room = 64 - left;
    }

    fn finish(self) {
        if self.room < 64 {
            self.out.extend_from_slice(&self.word.to_le_bytes());
        }
    }
}

fn cannot(stored: &[u8], len: usize) -> Error {
    Error::malformed(format!("{} bytes are not double differences that decode to {len}", stored.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(integer: Integer, raw: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(integer, raw, &mut out).unwrap();
        out
    }

    fn again(integer: Integer, raw: &[u8]) {
        let stored = encoded(integer, raw);
        check(integer, &stored, raw.len()).unwrap();
        let mut out = vec![0xee; raw.len()];
        decode(integer, &stored, &mut out).unwrap();
        assert_eq!(out, raw, "{stored:02x?}");
    }

    proptest! {
        #[test]
        fn values_return(values in prop::collection::vec(any::<i64>(), 0..80), shift in 0..64_u32) {
            let values: Vec<i64> = values.iter().map(|value| value >> shift).collect();
            let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            for integer in [Integer::I8, Integer::U8, Integer::U16, Integer::I32, Integer::I64, Integer::U64] {
                again(integer, &raw);
            }
        }
    }

    #[test]
    fn bits_fill_words_from_the_highest_down() {
        // Differences 1, 3, 2: the changes are 2 and -1, in a sign bit and two bits each.
        let raw = [10_i32, 11, 14, 16].map(i32::to_le_bytes);
        let stored = encoded(Integer::I32, raw.as_flattened());
        let mut expected = vec![2, 4, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 11, 0, 0, 0];
        expected.extend_from_slice(&(0b010_101_u64 << 58).to_le_bytes());
        assert_eq!(stored, expected);
    }

    #[test]
    fn differences_of_more_than_64_bits_are_stored_as_values() {
        let raw = [i64::MIN, i64::MAX, i64::MIN, 0].map(i64::to_le_bytes);
        assert_eq!(encoded(Integer::I64, raw.as_flattened()).first(), Some(&63));
        again(Integer::I64, raw.as_flattened());
    }
}
