//! Size of offsets and size of lengths, and the type of addresses.
//!
//! Spec: HDF5 II.A Format Signature and Superblock, fields Size of Offsets and Size of Lengths

use hyperslab_core::{Decoder, Encoder, Error, Result};
use std::fmt;

/// The widths of addresses and lengths, defined by the superblock for the whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The size of an address in bytes: 2, 4, 8, 16 or 32. More than 8 are never used.
    pub offsets: u8,
    /// The size of a length in bytes: 2, 4, 8, 16 or 32.
    pub lengths: u8,
}

impl Sizes {
    /// The sizes of nearly every file.
    pub const DEFAULT: Sizes = Sizes { offsets: 8, lengths: 8 };

    /// Decodes an address. All bits set means [`Address::UNDEFINED`], at every width.
    #[inline]
    pub fn address(&self, d: &mut Decoder<'_>) -> Result<Address> {
        let (raw, all_ones) = uint(d, self.offsets)?;
        Ok(if all_ones { Address::UNDEFINED } else { Address(raw) })
    }

    /// Decodes a length.
    #[inline]
    pub fn length(&self, d: &mut Decoder<'_>) -> Result<u64> {
        if self.lengths <= 8 {
            return d.uint(self.lengths);
        }
        Ok(uint(d, self.lengths)?.0)
    }

    /// Decodes a length. All bits set means unlimited or undefined, and gives `u64::MAX`.
    #[inline]
    pub fn length_or_max(&self, d: &mut Decoder<'_>) -> Result<u64> {
        let (raw, all_ones) = uint(d, self.lengths)?;
        Ok(if all_ones { u64::MAX } else { raw })
    }

    /// Appends an address.
    pub fn put_address(&self, e: &mut Encoder, address: Address) -> Result<()> {
        match address.get() {
            Some(raw) if self.offsets <= 8 && raw == ones(self.offsets) => {
                Err(Error::invalid(format!("address {raw:#x} would be read as undefined")))
            }
            Some(raw) => put_uint(e, self.offsets, raw),
            None => {
                put_ones(e, self.offsets);
                Ok(())
            }
        }
    }

    /// Appends a length.
    pub fn put_length(&self, e: &mut Encoder, length: u64) -> Result<()> {
        put_uint(e, self.lengths, length)
    }

    /// Appends a length. `u64::MAX` becomes all bits set.
    pub fn put_length_or_max(&self, e: &mut Encoder, length: u64) -> Result<()> {
        match length {
            u64::MAX => {
                put_ones(e, self.lengths);
                Ok(())
            }
            length => put_uint(e, self.lengths, length),
        }
    }
}

/// Decodes a number of `width` bytes. Returns it and whether all its bits are set. Fails if it does not fit in 8
/// bytes.
#[inline]
fn uint(d: &mut Decoder<'_>, width: u8) -> Result<(u64, bool)> {
    let at = d.clone();
    let raw = d.uint(width.min(8))?;
    let mut all_ones = raw == ones(width.min(8));
    if width > 8 {
        let high = d.take(usize::from(width - 8))?;
        all_ones &= high.iter().all(|byte| *byte == 0xff);
        if !all_ones && high.iter().any(|byte| *byte != 0) {
            return Err(at.unsupported(format!("number of {width} bytes is 2^64 or more")));
        }
    }
    Ok((raw, all_ones))
}

fn put_uint(e: &mut Encoder, width: u8, value: u64) -> Result<()> {
    e.uint(width.min(8), value)?;
    e.reserved(usize::from(width.saturating_sub(8)));
    Ok(())
}

fn put_ones(e: &mut Encoder, width: u8) {
    (0..width).for_each(|_| e.u8(0xff));
}

/// The maximum value of `width` bytes.
const fn ones(width: u8) -> u64 {
    match width {
        0 => 0,
        1..8 => (1 << (8 * width)) - 1,
        _ => u64::MAX,
    }
}

/// An address in the file, relative to the base address of the superblock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

impl Address {
    /// The undefined address: all bits set.
    pub const UNDEFINED: Address = Address(u64::MAX);

    /// The address as a number; `None` if it is undefined.
    pub const fn get(self) -> Option<u64> {
        if self.is_undefined() { None } else { Some(self.0) }
    }

    /// Whether the address is undefined.
    pub const fn is_undefined(self) -> bool {
        self.0 == u64::MAX
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(raw) => write!(f, "{raw:#x}"),
            None => f.write_str("undefined"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_is_all_ones_at_every_width() {
        for width in [2, 4, 8, 16, 32] {
            let sizes = Sizes { offsets: width, lengths: width };
            let mut e = Encoder::new();
            sizes.put_address(&mut e, Address::UNDEFINED).unwrap();
            sizes.put_address(&mut e, Address(0x12)).unwrap();
            sizes.put_length_or_max(&mut e, u64::MAX).unwrap();
            let bytes = e.into_bytes();
            let mut d = Decoder::new("t", 0, &bytes);
            assert!(sizes.address(&mut d).unwrap().is_undefined());
            assert_eq!(sizes.address(&mut d).unwrap(), Address(0x12));
            assert_eq!(sizes.length_or_max(&mut d).unwrap(), u64::MAX);
        }
        let mut beyond = [0; 16];
        beyond[8] = 1;
        let wide = Sizes { offsets: 16, lengths: 16 };
        assert!(wide.address(&mut Decoder::new("t", 0, &beyond)).is_err());
        assert!(wide.length(&mut Decoder::new("t", 0, &beyond)).is_err());
        let narrow = Sizes { offsets: 2, lengths: 2 };
        assert!(narrow.put_address(&mut Encoder::new(), Address(0xffff)).is_err());
    }
}
