//! Conversion loops over numbers.

use crate::format::message::datatype::ByteOrder;
use hyperslab_core::{Error, Result};

/// Integers of any size and bit precision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Integer {
    /// The stored size in bytes, at most 16.
    pub(super) stored: usize,
    /// The row size in bytes: 1, 2, 4, 8 or 16.
    pub(super) row: usize,
    pub(super) byte_order: ByteOrder,
    pub(super) signed: bool,
    /// The bit offset: the position of the lowest significant bit.
    pub(super) offset: u32,
    /// The bit precision: the number of significant bits, at least 1.
    pub(super) precision: u32,
    /// Whether the padding bits below and above the significant bits are 1.
    pub(super) padding: (bool, bool),
}

/// Bit fields with unused bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    /// The size in bytes, stored and in rows.
    pub(super) size: usize,
    pub(super) byte_order: ByteOrder,
    /// The bit offset: the position of the lowest significant bit.
    pub(super) offset: usize,
    /// The bit precision: the number of significant bits.
    pub(super) precision: usize,
}

/// Reverses the bytes of each number of `size` bytes.
pub(super) fn reverse(size: usize, from: &[u8], to: &mut [u8]) {
    match size {
        2 => reverse_arrays::<2>(from, to),
        4 => reverse_arrays::<4>(from, to),
        8 => reverse_arrays::<8>(from, to),
        16 => reverse_arrays::<16>(from, to),
        _ => {
            for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
                from.iter().rev().zip(to).for_each(|(from, to)| *to = *from);
            }
        }
    }
}

fn reverse_arrays<const N: usize>(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
        reverse_array::<N>(from, to);
    }
}

/// Reverses the bytes of a number.
#[inline]
pub(super) fn reverse_array<const N: usize>(from: &[u8; N], to: &mut [u8; N]) {
    *to = *from;
    to.reverse();
}

/// Converts numbers of `size` bytes from VAX order to little-endian. In VAX order the most significant word is first,
/// and in each word the least significant byte.
pub(super) fn reverse_vax_words(size: usize, from: &[u8], to: &mut [u8]) {
    for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
        let words = from.as_chunks::<2>().0.iter().rev();
        words.zip(to.as_chunks_mut::<2>().0).for_each(|(from, to)| *to = *from);
    }
}

/// Extracts the significant bits of integers and extends them to rows.
pub(super) fn widen(integer: &Integer, from: &[u8], to: &mut [u8]) {
    let Integer { stored, row, byte_order, signed, offset, precision, .. } = *integer;
    match (stored, byte_order) {
        (1, _) => return widen_words::<1, 1, false>(integer, from, to),
        (2, ByteOrder::LittleEndian) => return widen_words::<2, 2, false>(integer, from, to),
        (2, ByteOrder::BigEndian) => return widen_words::<2, 2, true>(integer, from, to),
        (3, ByteOrder::LittleEndian) => return widen_words::<3, 4, false>(integer, from, to),
        (3, ByteOrder::BigEndian) => return widen_words::<3, 4, true>(integer, from, to),
        (4, ByteOrder::LittleEndian) => return widen_words::<4, 4, false>(integer, from, to),
        (4, ByteOrder::BigEndian) => return widen_words::<4, 4, true>(integer, from, to),
        (8, ByteOrder::LittleEndian) => return widen_words::<8, 8, false>(integer, from, to),
        (8, ByteOrder::BigEndian) => return widen_words::<8, 8, true>(integer, from, to),
        _ => {}
    }
    // Shifts the bits to the top and back down, which fills all others with zeros or the sign.
    let up = 128_u32.saturating_sub(offset.saturating_add(precision));
    let down = 128_u32.saturating_sub(precision);
    for (from, to) in from.chunks_exact(stored).zip(to.chunks_exact_mut(row)) {
        let mut bytes = [0; 16];
        match byte_order {
            ByteOrder::LittleEndian => from.iter().zip(&mut bytes).for_each(|(from, to)| *to = *from),
            ByteOrder::BigEndian => from.iter().rev().zip(&mut bytes).for_each(|(from, to)| *to = *from),
        }
        let top = u128::from_le_bytes(bytes).unbounded_shl(up);
        let value = match signed {
            true => top.cast_signed().unbounded_shr(down).cast_unsigned(),
            false => top.unbounded_shr(down),
        };
        match cfg!(target_endian = "little") {
            true => value.to_le_bytes().iter().zip(to).for_each(|(from, to)| *to = *from),
            false => {
                value.to_be_bytes().iter().rev().zip(to.iter_mut().rev()).for_each(|(from, to)| *to = *from)
            }
        }
    }
}

/// Writes rows as integers with padding bits: the inverse of [`widen`].
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for a value out of range of the
/// precision.
pub(super) fn narrow(integer: &Integer, rows: &[u8], stored: &mut [u8]) -> Result<()> {
    let Integer { stored: size, row, byte_order, signed, offset, precision, padding } = *integer;
    let unused = 128_u32.saturating_sub(precision);
    let mask = u128::MAX.unbounded_shr(unused);
    let low = if padding.0 { !u128::MAX.unbounded_shl(offset) } else { 0 };
    let high = if padding.1 { u128::MAX.unbounded_shl(offset.saturating_add(precision)) } else { 0 };
    for (from, to) in rows.chunks_exact(row).zip(stored.chunks_exact_mut(size)) {
        let value = of_row(from, signed);
        let kept = match signed {
            true => value.unbounded_shl(unused).cast_signed().unbounded_shr(unused).cast_unsigned(),
            false => value & mask,
        };
        if kept != value {
            let value = if signed { value.cast_signed().to_string() } else { value.to_string() };
            return Err(Error::invalid(format!("value {value} is out of range of {precision} bits")));
        }
        let bytes = ((value & mask).unbounded_shl(offset) | low | high).to_le_bytes();
        match byte_order {
            ByteOrder::LittleEndian => to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte),
            ByteOrder::BigEndian => to.iter_mut().rev().zip(bytes).for_each(|(to, byte)| *to = byte),
        }
    }
    Ok(())
}

/// Loads an integer from a row, in the byte order of this machine, extended to 128 bits.
fn of_row(row: &[u8], signed: bool) -> u128 {
    let mut bytes = [0; 16];
    match cfg!(target_endian = "little") {
        true => row.iter().zip(&mut bytes).for_each(|(from, to)| *to = *from),
        false => row.iter().rev().zip(&mut bytes).for_each(|(from, to)| *to = *from),
    }
    let unused = 128_u32.saturating_sub(u32::try_from(row.len()).unwrap_or(16).saturating_mul(8));
    let top = u128::from_le_bytes(bytes).unbounded_shl(unused);
    match signed {
        true => top.cast_signed().unbounded_shr(unused).cast_unsigned(),
        false => top.unbounded_shr(unused),
    }
}

/// [`widen`] for the usual sizes up to 8 bytes: the general loop takes 40 ns for each integer.
fn widen_words<const STORED: usize, const ROW: usize, const BIG: bool>(
    integer: &Integer,
    from: &[u8],
    to: &mut [u8],
) {
    let up = 64_u32.saturating_sub(integer.offset.saturating_add(integer.precision));
    let down = 64_u32.saturating_sub(integer.precision);
    for (from, to) in from.as_chunks::<STORED>().0.iter().zip(to.as_chunks_mut::<ROW>().0) {
        let mut bytes = [0; 8];
        for (index, byte) in from.iter().enumerate() {
            let place = if BIG { STORED - 1 - index } else { index };
            bytes.iter_mut().skip(place).take(1).for_each(|to| *to = *byte);
        }
        let top = u64::from_le_bytes(bytes).unbounded_shl(up);
        let value = match integer.signed {
            true => top.cast_signed().unbounded_shr(down).cast_unsigned(),
            false => top.unbounded_shr(down),
        };
        match cfg!(target_endian = "little") {
            true => value.to_le_bytes().iter().zip(to).for_each(|(from, to)| *to = *from),
            false => {
                value.to_be_bytes().iter().rev().zip(to.iter_mut().rev()).for_each(|(from, to)| *to = *from);
            }
        }
    }
}

/// Extracts the significant bits of bit fields and moves them to bit 0 of little-endian rows.
pub(super) fn extract_bits(bits: &Bits, from: &[u8], to: &mut [u8]) {
    let Bits { size, byte_order, offset, precision } = *bits;
    let (bytes, shift) = (offset / 8, offset % 8);
    for (from, to) in from.chunks_exact(size).zip(to.chunks_exact_mut(size)) {
        let byte = |index: usize| {
            let place = match byte_order {
                ByteOrder::LittleEndian => Some(index),
                ByteOrder::BigEndian => (size - 1).checked_sub(index),
            };
            u16::from(place.and_then(|place| from.get(place)).copied().unwrap_or(0))
        };
        for (index, to) in to.iter_mut().enumerate() {
            let both = byte(index + bytes) | byte(index + bytes + 1) << 8;
            let [low, _] = (both >> shift).to_le_bytes();
            let counting = precision.saturating_sub(8 * index).min(8);
            let [mask, _] = ((1_u16 << counting) - 1).to_le_bytes();
            *to = low & mask;
        }
    }
}

/// Writes little-endian rows as bit fields with padding bits, which become 0: the inverse of [`extract_bits`].
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if a bit above the precision is set.
pub(super) fn insert_bits(bits: &Bits, rows: &[u8], stored: &mut [u8]) -> Result<()> {
    let Bits { size, byte_order, offset, precision } = *bits;
    let (bytes, shift) = (offset / 8, offset % 8);
    for (row, to) in rows.chunks_exact(size).zip(stored.chunks_exact_mut(size)) {
        to.fill(0);
        for (index, byte) in row.iter().enumerate() {
            let counting = precision.saturating_sub(8 * index).min(8);
            if u16::from(*byte) >> counting != 0 {
                return Err(Error::invalid(format!("bit field value is out of range of {precision} bits")));
            }
            let [low, high] = (u16::from(*byte) << shift).to_le_bytes();
            for (at, part) in [(index + bytes, low), (index + bytes + 1, high)] {
                let place = match byte_order {
                    ByteOrder::LittleEndian => Some(at),
                    ByteOrder::BigEndian => (size - 1).checked_sub(at),
                };
                if let Some(to) = place.and_then(|place| to.get_mut(place)) {
                    *to |= part;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_values_out_of_range_of_the_precision() {
        let integer = |signed| Integer {
            stored: 3,
            row: 4,
            byte_order: ByteOrder::BigEndian,
            signed,
            offset: 2,
            precision: 12,
            padding: (false, true),
        };
        let narrowed = |signed, value: i32| {
            let mut stored = [0xaa; 3];
            narrow(&integer(signed), &value.to_ne_bytes(), &mut stored).map(|()| stored)
        };
        assert_eq!(narrowed(true, -2048).unwrap(), [0xff, 0xe0, 0x00]);
        assert_eq!(narrowed(false, 4095).unwrap(), [0xff, 0xff, 0xfc]);
        assert_eq!(narrowed(true, 2048).unwrap_err().to_string(), "value 2048 is out of range of 12 bits");
        assert_eq!(narrowed(true, -2049).unwrap_err().to_string(), "value -2049 is out of range of 12 bits");
        assert_eq!(narrowed(false, 4096).unwrap_err().to_string(), "value 4096 is out of range of 12 bits");
        let bits = Bits { size: 2, byte_order: ByteOrder::LittleEndian, offset: 3, precision: 5 };
        assert!(insert_bits(&bits, &[0x20, 0], &mut [0; 2]).is_err());
        assert!(insert_bits(&bits, &[0, 1], &mut [0; 2]).is_err());
    }

    fn widened(integer: &Integer, from: &[u8]) -> Vec<u8> {
        let mut to = vec![0xaa; from.len() / integer.stored * integer.row];
        widen(integer, from, &mut to);
        to
    }

    #[test]
    fn widens_integers_of_any_size_and_precision() {
        let three = Integer {
            stored: 3,
            row: 4,
            byte_order: ByteOrder::LittleEndian,
            signed: true,
            offset: 0,
            precision: 24,
            padding: (false, false),
        };
        assert_eq!(
            widened(&three, &[0xfe, 0xff, 0xff, 1, 2, 3]),
            [(-2_i32).to_ne_bytes(), 0x03_0201_i32.to_ne_bytes()].concat()
        );
        let big = Integer { byte_order: ByteOrder::BigEndian, signed: false, ..three.clone() };
        assert_eq!(widened(&big, &[0xff, 0xff, 0xfe]), 0xff_fffe_u32.to_ne_bytes());
        // The bits 0b1011 at bit offset 6.
        let middle = Integer { stored: 2, row: 2, offset: 6, precision: 4, ..three.clone() };
        assert_eq!(widened(&middle, &[0xff, 0xfe]), (-5_i16).to_ne_bytes());
        let unsigned = Integer { signed: false, ..middle };
        assert_eq!(widened(&unsigned, &[0xff, 0xfe]), 0b1011_u16.to_ne_bytes());
        let wide = Integer { stored: 16, row: 16, precision: 127, ..three };
        assert_eq!(widened(&wide, &[0xff; 16]), (-1_i128).to_ne_bytes());
    }

    #[test]
    fn the_loop_for_usual_sizes_equals_the_general_one() {
        let from: Vec<u8> = (0..48_u8).map(|byte| byte.wrapping_mul(89).wrapping_add(200)).collect();
        for (stored, row) in [(1, 1), (2, 2), (3, 4), (4, 4), (8, 8)] {
            for byte_order in [ByteOrder::LittleEndian, ByteOrder::BigEndian] {
                for (signed, offset) in [(false, 0), (true, 0), (true, 3), (false, 5)] {
                    for precision in 1..=8 * u32::try_from(stored).unwrap() - offset {
                        let usual = Integer {
                            stored,
                            row,
                            byte_order,
                            signed,
                            offset,
                            precision,
                            padding: (false, false),
                        };
                        // Stored in 16 bytes that contain the bytes of the usual size.
                        let any = Integer { stored: 16, row: 16, ..usual.clone() };
                        let want: Vec<u8> = from
                            .chunks_exact(stored)
                            .flat_map(|from| {
                                let mut wide = [0; 16];
                                match byte_order {
                                    ByteOrder::LittleEndian => wide[..stored].copy_from_slice(from),
                                    ByteOrder::BigEndian => wide[16 - stored..].copy_from_slice(from),
                                }
                                let value = u128::from_ne_bytes(widened(&any, &wide).try_into().unwrap());
                                value.to_le_bytes().into_iter().take(row)
                            })
                            .collect();
                        let mut got = widened(&usual, &from);
                        if cfg!(target_endian = "big") {
                            got.chunks_exact_mut(row).for_each(<[u8]>::reverse);
                        }
                        assert_eq!(got, want, "{usual:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn reverses_words_of_vax_numbers() {
        let mut to = [0; 8];
        reverse_vax_words(4, &[3, 4, 1, 2, 7, 8, 5, 6], &mut to);
        assert_eq!(to, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn reverses_numbers_of_odd_sizes() {
        let mut to = [0; 6];
        reverse(3, &[1, 2, 3, 4, 5, 6], &mut to);
        assert_eq!(to, [3, 2, 1, 6, 5, 4]);
    }

    #[test]
    fn moves_bit_fields_to_bit_0() {
        let bits = Bits { size: 3, byte_order: ByteOrder::LittleEndian, offset: 5, precision: 12 };
        let value: u32 = 0xabc << 5 | 0x1f | 0xe0_0000;
        let mut to = [0xff; 6];
        let le = value.to_le_bytes();
        extract_bits(&bits, &[&le[..3], &le[..3]].concat(), &mut to);
        assert_eq!(to, [0xbc, 0x0a, 0, 0xbc, 0x0a, 0]);
        let be = value.to_be_bytes();
        extract_bits(
            &Bits { byte_order: ByteOrder::BigEndian, ..bits },
            &[&be[1..], &be[1..]].concat(),
            &mut to,
        );
        assert_eq!(to, [0xbc, 0x0a, 0, 0xbc, 0x0a, 0]);
    }
}
