//! Decoding of binary structures.

use crate::{Error, ErrorKind, Place, Result, Within};
use std::borrow::Cow;

/// A bounds-checked cursor over bytes that knows their offset in the file.
///
/// Multi-byte values are little-endian. No input makes it panic.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    rest: &'a [u8],
    offset: u64,
    structure: &'static str,
    within: Within,
}

impl<'a> Decoder<'a> {
    /// A cursor over `bytes`, which begin at byte `offset` of the file and hold a `structure`.
    pub fn new(structure: &'static str, offset: u64, bytes: &'a [u8]) -> Self {
        Decoder { rest: bytes, offset, structure, within: Within::File }
    }

    /// A cursor over decoded bytes that are not stored in the file in this form. Offsets count from their beginning.
    pub fn decoded(structure: &'static str, name: &'static str, stored_at: u64, bytes: &'a [u8]) -> Self {
        Decoder { rest: bytes, offset: 0, structure, within: Within::Decoded { name, stored_at } }
    }

    /// The same bytes under the name of another structure, which errors then report.
    #[must_use]
    pub fn named(mut self, structure: &'static str) -> Self {
        self.structure = structure;
        self
    }

    /// Takes the next `len` bytes.
    #[inline]
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let Some((head, rest)) = self.rest.split_at_checked(len) else {
            return Err(self.short(len));
        };
        self.rest = rest;
        self.offset = self.offset.saturating_add(len as u64);
        Ok(head)
    }

    /// A cursor over the next `len` bytes.
    pub fn sub(&mut self, structure: &'static str, len: usize) -> Result<Decoder<'a>> {
        let (offset, within) = (self.offset, self.within);
        Ok(Decoder { rest: self.take(len)?, offset, structure, within })
    }

    /// Takes the next `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, rest)) => {
                self.rest = rest;
                self.offset = self.offset.saturating_add(N as u64);
                Ok(*head)
            }
            None => Err(self.short(N)),
        }
    }

    /// Takes an unsigned byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    /// Takes an unsigned 16-bit integer.
    #[inline]
    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Takes an unsigned 32-bit integer.
    #[inline]
    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Takes an unsigned 64-bit integer.
    #[inline]
    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Takes a signed 64-bit integer.
    #[inline]
    pub fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// Takes an unsigned integer of `width` bytes, at most 8.
    #[inline]
    pub fn uint(&mut self, width: u8) -> Result<u64> {
        if width == 8 {
            return self.u64();
        }
        let bytes = self.take(usize::from(width))?;
        let mut le = [0; 8];
        match le.get_mut(..bytes.len()) {
            Some(low) => low.copy_from_slice(bytes),
            None => return Err(self.malformed(format!("an integer of {width} bytes, at most 8 allowed"))),
        }
        Ok(u64::from_le_bytes(le))
    }

    /// Skips reserved bytes. Their value is not checked, because writers leave anything there.
    pub fn reserved(&mut self, len: usize) -> Result<()> {
        self.take(len).map(drop)
    }

    /// Whether the next bytes are `signature`, for structures that can be stored with or without one.
    #[inline]
    pub fn starts_with(&self, signature: &[u8]) -> bool {
        self.rest.starts_with(signature)
    }

    /// Takes the bytes `signature`, and fails if other bytes follow.
    pub fn signature(&mut self, signature: &[u8]) -> Result<()> {
        let found = self.clone().take(signature.len())?;
        if found != signature {
            return Err(self.malformed(format!(
                "signature {:?}, expected {:?}",
                String::from_utf8_lossy(found),
                String::from_utf8_lossy(signature)
            )));
        }
        self.reserved(signature.len())
    }

    /// Takes the bytes up to the next NUL and skips the NUL.
    pub fn until_nul(&mut self) -> Result<&'a [u8]> {
        let Some(len) = self.rest.iter().position(|byte| *byte == 0) else {
            return Err(self.malformed("text without its terminating NUL"));
        };
        let text = self.take(len)?;
        self.reserved(1)?;
        Ok(text)
    }

    /// Takes all remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = std::mem::take(&mut self.rest);
        self.offset = self.offset.saturating_add(rest.len() as u64);
        rest
    }

    /// Checks that `count` items of at least `min_size` bytes can follow, so that memory for them may be allocated.
    pub fn count(&self, count: u64, min_size: usize) -> Result<usize> {
        match usize::try_from(count) {
            Ok(n) if n.checked_mul(min_size).is_some_and(|len| len <= self.rest.len()) => Ok(n),
            _ => Err(self.malformed(format!("{count} items do not fit in {} bytes", self.rest.len()))),
        }
    }

    /// Checks that `len` bytes can follow.
    pub fn len_of(&self, len: u64) -> Result<usize> {
        self.count(len, 1)
    }

    /// The offset of the next byte in the file or in the decoded bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of remaining bytes.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Whether no bytes remain.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The place of the next byte, for errors.
    pub fn place(&self) -> Place {
        Place { structure: self.structure, offset: self.offset, within: self.within }
    }

    /// An error at this place: the bytes violate the specification.
    #[cold]
    pub fn malformed(&self, detail: impl Into<Cow<'static, str>>) -> Error {
        self.error(ErrorKind::Malformed, detail)
    }

    /// An error at this place: the bytes may be valid, but are not supported.
    #[cold]
    pub fn unsupported(&self, detail: impl Into<Cow<'static, str>>) -> Error {
        self.error(ErrorKind::Unsupported, detail)
    }

    /// An error of any kind at this place.
    #[cold]
    pub fn error(&self, kind: ErrorKind, detail: impl Into<Cow<'static, str>>) -> Error {
        Error::new(kind, detail).at_place(self.place())
    }

    /// Checks that no bytes remain.
    pub fn finish(self) -> Result<()> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(self.malformed(format!("{} bytes after the end", self.rest.len())))
    }

    #[cold]
    fn short(&self, len: usize) -> Error {
        self.malformed(format!("needs {len} bytes, {} remain", self.rest.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_little_endian_of_every_width() {
        for width in 0..=8_u8 {
            let bytes: Vec<u8> = (1..=width).collect();
            let want = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            assert_eq!(Decoder::new("t", 0, &bytes).uint(width).unwrap(), want);
        }
        assert!(Decoder::new("t", 0, &[0; 9]).uint(9).is_err());
    }

    #[test]
    fn errors_name_structure_and_byte() {
        let mut d = Decoder::new("thing", 0x10, &[1, 2, 3]);
        d.u8().unwrap();
        let e = d.u32().unwrap_err();
        assert_eq!(e.to_string(), "malformed thing at byte 0x11: needs 4 bytes, 2 remain");
        let e = Decoder::decoded("thing", "heap object", 0x99, &[]).u8().unwrap_err();
        assert!(e.to_string().contains("at byte 0x0 of the heap object stored at 0x99"), "{e}");
    }

    #[test]
    fn rejects_counts_larger_than_the_remaining_bytes() {
        let d = Decoder::new("t", 0, &[0; 8]);
        assert_eq!(d.count(2, 4).unwrap(), 2);
        assert!(d.count(3, 4).is_err());
        assert!(d.count(u64::MAX, 4).is_err());
    }

    #[test]
    fn reads_signatures_and_text() {
        let mut d = Decoder::new("t", 0, b"TREEab\0c");
        d.signature(b"TREE").unwrap();
        assert_eq!(d.until_nul().unwrap(), b"ab");
        assert!(d.clone().until_nul().is_err());
        assert!(d.signature(b"X").is_err());
        assert_eq!(d.rest(), b"c");
        d.finish().unwrap();
    }
}
