//! Encoding of binary structures.

use crate::{Error, ErrorKind, Result};

/// A buffer for little-endian bytes. A value that does not fit its field is an error, never truncated.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// An empty buffer.
    pub fn new() -> Self {
        Encoder::default()
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
    fn lengths_are_refused_rather_than_cut() {
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
}
