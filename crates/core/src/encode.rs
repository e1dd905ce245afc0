//! Encoding of binary structures.

use crate::{Error, ErrorKind, Result};

/// A buffer for little-endian bytes. A value that does not fit its field is an error, never truncated.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

/// Bytes in an [`Encoder`] that are reserved for a number written later.
#[derive(Debug)]
#[must_use = "bytes that are reserved and not patched stay zero"]
pub struct Reserved {
    start: usize,
    width: u8,
}

impl Encoder {
    /// An empty buffer.
    pub fn new() -> Self {
        Encoder::default()
    }

    /// An empty buffer with room for `len` bytes.
    pub fn with_capacity(len: usize) -> Self {
        Encoder { bytes: Vec::with_capacity(len) }
    }

    /// Appends bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends an unsigned byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Appends an unsigned 16-bit integer.
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends an unsigned 32-bit integer.
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends an unsigned 64-bit integer.
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends a signed 64-bit integer.
    pub fn i64(&mut self, value: i64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends an unsigned integer of `width` bytes.
    ///
    /// # Errors
    /// If the value does not fit, or the width exceeds 8.
    pub fn uint(&mut self, width: u8, value: u64) -> Result<()> {
        let le = value.to_le_bytes();
        match le.split_at_checked(usize::from(width)) {
            Some((low, high)) if high.iter().all(|byte| *byte == 0) => {
                self.bytes(low);
                Ok(())
            }
            _ => {
                Err(Error::new(ErrorKind::InvalidArgument, format!("{value} does not fit in {width} bytes")))
            }
        }
    }

    /// Appends a length or count in `width` bytes.
    ///
    /// # Errors
    /// If it does not fit.
    pub fn len_as(&mut self, width: u8, len: usize) -> Result<()> {
        self.uint(width, len as u64)
    }

    /// Appends `len` zero bytes.
    pub fn reserved(&mut self, len: usize) {
        self.bytes.resize(self.bytes.len() + len, 0);
    }

    /// Appends `width` zero bytes, 8 at most, for a number that is known only later: a length that precedes what it
    /// counts, an address, a checksum. [`Encoder::patch`] fills it in.
    pub fn reserve(&mut self, width: u8) -> Reserved {
        let start = self.bytes.len();
        self.reserved(usize::from(width));
        Reserved { start, width }
    }

    /// Writes a number into the bytes that were reserved for it.
    ///
    /// # Errors
    /// If the value does not fit, or the width exceeds 8. The bytes then stay zero.
    pub fn patch(&mut self, place: Reserved, value: u64) -> Result<()> {
        let mut number = Encoder::new();
        number.uint(place.width, value)?;
        let end = place.start.saturating_add(number.len());
        match self.bytes.get_mut(place.start..end) {
            Some(bytes) => bytes.copy_from_slice(number.as_slice()),
            None => return Err(Error::new(ErrorKind::InvalidArgument, "bytes reserved in another encoder")),
        }
        Ok(())
    }

    /// Appends zero bytes until the number of bytes since `start` is a multiple of `alignment`.
    pub fn pad_to(&mut self, start: usize, alignment: usize) {
        let written = self.bytes.len() - start;
        self.reserved(written.next_multiple_of(alignment) - written);
    }

    /// The number of bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes so far.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Converts the buffer into its bytes without copying.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_lengths_that_do_not_fit_instead_of_truncating() {
        let mut e = Encoder::new();
        e.uint(2, 0xffff).unwrap();
        assert!(e.uint(2, 0x1_0000).is_err());
        assert!(e.uint(9, 0).is_err());
        e.uint(8, u64::MAX).unwrap();
        e.uint(0, 0).unwrap();
        assert_eq!(e.len(), 10);
        e.pad_to(0, 8);
        assert_eq!(e.len(), 16);
    }

    #[test]
    fn reserved_bytes_are_filled_with_the_number_later() {
        let mut e = Encoder::new();
        e.u8(7);
        let len = e.reserve(2);
        let address = e.reserve(8);
        let start = e.len();
        e.bytes(b"abc");
        let written = e.len() - start;
        e.patch(len, written as u64).unwrap();
        e.patch(address, 0x0102).unwrap();
        assert_eq!(e.as_slice(), b"\x07\x03\0\x02\x01\0\0\0\0\0\0abc");
    }

    #[test]
    fn a_reserved_number_that_does_not_fit_leaves_zeros() {
        let mut e = Encoder::new();
        let place = e.reserve(1);
        assert_eq!(e.patch(place, 256).unwrap_err().to_string(), "256 does not fit in 1 bytes");
        let place = e.reserve(9);
        assert!(e.patch(place, 1).is_err());
        let place = e.reserve(2);
        assert_eq!(e.as_slice(), [0; 12]);
        assert!(Encoder::new().patch(place, 1).is_err());
    }
}
