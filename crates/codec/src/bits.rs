//! Reads and writes bits within bytes, the most significant bit first.

/// Reads bits from the front of bytes.
///
/// Rare paths take and return the reader by value: if its address is never taken, a loop keeps it in registers.
#[derive(Clone, Copy)]
pub(crate) struct BitReader<'a> {
    rest: &'a [u8],
    /// The next bits, the first one in the highest place. Below the `have` counted bits are zeros or bits that
    /// follow, so reading a byte twice changes nothing.
    next: u64,
    have: u32,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        BitReader { rest: bytes, next: 0, have: 0 }
    }

    /// Reads the next `count` bits, at most 56, as a number. Returns `None` at the end of the bytes.
    #[inline(always)]
    pub(crate) fn read(&mut self, count: u32) -> Option<u64> {
        if self.have < count {
            self.refill();
            if self.have < count {
                return None;
            }
        }
        // In two steps, since a shift by all 64 places is not defined.
        let value = self.next >> 1 >> (63 - count);
        self.next <<= count;
        self.have -= count;
        Some(value)
    }

    /// Reads the next `count` bits, at most 64.
    #[inline(always)]
    pub(crate) fn read_long(&mut self, count: u32) -> Option<u64> {
        if count <= 56 {
            return self.read(count);
        }
        let high = self.read(count - 32)?;
        Some(high << 32 | self.read(32)?)
    }

    /// Adds the next `count` bits, 1 to 32, to each of `values`.
    #[inline(always)]
    pub(crate) fn read_each(&mut self, count: u32, values: &mut [u32]) -> Option<()> {
        let group = 56 / count.clamp(1, 32);
        for values in values.chunks_mut(group as usize) {
            // Values that are read together do not depend on each other, so the processor computes them in parallel.
            let mut next = self.read(count * u32::try_from(values.len()).unwrap_or(group))?;
            for value in values.iter_mut().rev() {
                let [a, b, c, d, ..] = (next & ((1 << count) - 1)).to_le_bytes();
                *value = value.wrapping_add(u32::from_le_bytes([a, b, c, d]));
                next >>= count;
            }
        }
        Some(())
    }

    /// Reads zeros up to the next 1 bit, consumes that too, and returns the number of zeros. Returns `None` at the
    /// end of the bytes.
    #[inline(always)]
    pub(crate) fn zeros(&mut self) -> Option<u32> {
        if self.have < 32 {
            self.refill();
        }
        let zeros = self.next.leading_zeros();
        if zeros < self.have {
            self.next = self.next << zeros << 1;
            self.have -= zeros + 1;
            return Some(zeros);
        }
        let (reader, zeros) = self.many_zeros()?;
        *self = reader;
        Some(zeros)
    }

    /// For each of `values`: the number of zeros before the next 1 bit, shifted left.
    #[inline(always)]
    pub(crate) fn zeros_each(&mut self, shift: u32, values: &mut [u32]) -> Option<()> {
        let mut values = values.iter_mut();
        let mut passed = 0_u32;
        while values.len() > 0 {
            self.refill();
            if self.have == 0 {
                return None;
            }
            // Reversed, the first bit in the lowest place: there it takes one step to find a 1 bit and another to
            // clear it, and the first does not depend on the second.
            let counted = self.next & !(u64::MAX >> self.have);
            let mut ones = counted.reverse_bits();
            let mut from = 0;
            while ones != 0
                && let Some(value) = values.next()
            {
                let at = ones.trailing_zeros();
                *value = passed.wrapping_add(at - from) << shift;
                passed = 0;
                from = at + 1;
                ones &= ones - 1;
            }
            let taken = if ones == 0 && values.len() > 0 { self.have } else { from };
            passed = passed.wrapping_add(taken - from);
            self.next <<= taken;
            self.have -= taken;
        }
        Some(())
    }

    #[cold]
    fn many_zeros(mut self) -> Option<(Self, u32)> {
        let mut passed = 0_u32;
        loop {
            let zeros = self.next.leading_zeros();
            if zeros < self.have {
                self.next = self.next << zeros << 1;
                self.have -= zeros + 1;
                return Some((self, passed.checked_add(zeros)?));
            }
            passed = passed.checked_add(self.have)?;
            self.next <<= self.have;
            self.have = 0;
            self.refill();
            if self.have == 0 {
                return None;
            }
        }
    }

    /// Makes at least 56 bits available, if that many follow.
    #[inline(always)]
    fn refill(&mut self) {
        if let Some(bytes) = self.rest.first_chunk() {
            self.next |= u64::from_be_bytes(*bytes) >> self.have;
            let taken = (63 - self.have) / 8;
            self.rest = self.rest.get(taken as usize..).unwrap_or_default();
            self.have += taken * 8;
        } else {
            *self = self.refilled_slowly();
        }
    }

    #[cold]
    fn refilled_slowly(mut self) -> Self {
        while self.have < 56
            && let Some((byte, rest)) = self.rest.split_first()
        {
            self.next |= u64::from(*byte) << (56 - self.have);
            self.have += 8;
            self.rest = rest;
        }
        self
    }
}

/// Appends bits to bytes.
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// The bits that do not yet fill a word, the first one in the highest place.
    word: u64,
    have: u32,
}

impl BitWriter {
    /// A writer that appends to `bytes`.
    pub(crate) fn after(bytes: Vec<u8>) -> Self {
        BitWriter { bytes, word: 0, have: 0 }
    }

    /// Appends the lowest `count` bits of a number, at most 64. All higher bits must be 0.
    #[inline(always)]
    pub(crate) fn write(&mut self, count: u32, value: u64) {
        let room = 64 - self.have;
        if count < room {
            // With `count` 0 and a full room, a plain shift would be by a whole word.
            self.word |= value.wrapping_shl(room - count);
            self.have += count;
        } else {
            let left = count - room;
            self.bytes.extend_from_slice(&(self.word | value >> left).to_be_bytes());
            self.word = value.checked_shl(64 - left).unwrap_or(0);
            self.have = left;
        }
    }

    /// Appends `count` zeros and a 1 bit.
    pub(crate) fn write_zeros(&mut self, mut count: u32) {
        while count > 63 {
            self.write(63, 0);
            count -= 63;
        }
        self.write(count + 1, 1);
    }

    /// The bytes. The last byte is filled up with zeros.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let bytes = self.word.to_be_bytes();
        self.bytes.extend(bytes.iter().take(self.have.div_ceil(8) as usize));
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Piece {
        Number(u32, u64),
        Zeros(u32),
    }

    fn piece() -> impl Strategy<Value = Piece> {
        prop_oneof![
            (1..=64_u32, any::<u64>()).prop_map(|(count, value)| Piece::Number(count, value >> (64 - count))),
            (0..200_u32).prop_map(Piece::Zeros),
        ]
    }

    proptest! {
        #[test]
        fn reads_exactly_the_bits_that_were_written(pieces in prop::collection::vec(piece(), 0..100)) {
            let mut writer = BitWriter::after(vec![]);
            for piece in &pieces {
                match *piece {
                    Piece::Number(count, value) => writer.write(count, value),
                    Piece::Zeros(count) => writer.write_zeros(count),
                }
            }
            let bytes = writer.finish();
            let mut reader = BitReader::new(&bytes);
            for piece in &pieces {
                match *piece {
                    Piece::Number(count, value) => prop_assert_eq!(reader.read_long(count), Some(value)),
                    Piece::Zeros(count) => prop_assert_eq!(reader.zeros(), Some(count)),
                }
            }
            prop_assert_eq!(reader.zeros(), None);
            prop_assert_eq!(reader.read(8), None);
        }
    }

    #[test]
    fn reading_many_runs_equals_reading_them_one_by_one() {
        for (len, max) in [(1, 1), (40, 1), (64, 5), (30, 70), (5, 300)] {
            let run = |ordinal: u32| ordinal.wrapping_mul(7919) % max;
            let mut writer = BitWriter::after(vec![]);
            writer.write(3, 0b101);
            (0..len).for_each(|ordinal| writer.write_zeros(run(ordinal)));
            writer.write(5, 0b10011);
            let bytes = writer.finish();
            let mut reader = BitReader::new(&bytes);
            assert_eq!(reader.read(3), Some(0b101));
            let mut values = vec![0; len as usize];
            reader.zeros_each(2, &mut values).unwrap();
            assert_eq!(values, (0..len).map(|ordinal| run(ordinal) << 2).collect::<Vec<_>>());
            assert_eq!(reader.read(5), Some(0b10011));
            values.push(0);
            assert_eq!(BitReader::new(&[0b0100_0000; 2]).zeros_each(0, &mut [0; 3]), None);
            assert_eq!(BitReader::new(&[0; 20]).zeros_each(0, &mut [0; 1]), None);
        }
    }

    #[test]
    fn reading_many_numbers_equals_reading_them_one_by_one() {
        for count in 1..=32 {
            for len in 0..40_u32 {
                let mut writer = BitWriter::after(vec![]);
                let number = |ordinal: u32| 0x9e37_79b9_u32.wrapping_mul(ordinal) >> (32 - count);
                (0..len).for_each(|ordinal| writer.write(count, number(ordinal).into()));
                let bytes = writer.finish();
                let mut values = vec![7_u32; len as usize];
                BitReader::new(&bytes).read_each(count, &mut values).unwrap();
                let expected: Vec<u32> = (0..len).map(|ordinal| number(ordinal).wrapping_add(7)).collect();
                assert_eq!(values, expected);
                if let Some(bytes) = bytes.get(..bytes.len().saturating_sub(1)).filter(|_| len > 0) {
                    assert_eq!(BitReader::new(bytes).read_each(count, &mut values), None);
                }
            }
        }
    }

    #[test]
    fn reads_the_most_significant_bit_first() {
        let mut reader = BitReader::new(&[0b1010_0001, 0x80]);
        assert_eq!(reader.read(3), Some(0b101));
        assert_eq!(reader.zeros(), Some(4));
        assert_eq!(reader.read(0), Some(0));
        assert_eq!(reader.read(8), Some(0x80));
        assert_eq!(reader.read(1), None);
    }
}
