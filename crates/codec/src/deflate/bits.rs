//! Writes bits into bytes, the least significant bit first, as deflate has them.
//!
//! Spec: RFC 1951, 3.1.1

/// Writes bits at the end of bytes.
pub(super) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// The number of whole bytes written; `out` is longer.
    len: usize,
    next: u64,
    have: u32,
}

impl<'a> BitWriter<'a> {
    /// Writes behind the bytes of `out`.
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        let len = out.len();
        BitWriter { out, len, next: 0, have: 0 }
    }

    /// Takes room for more bytes, which must be done before they are written.
    pub(super) fn reserve(&mut self, bytes: usize) {
        let wanted = self.len + bytes + size_of::<u64>();
        if self.out.len() < wanted {
            self.out.resize(wanted, 0);
        }
    }

    /// Adds the lowest `count` bits of `bits`, whose other bits are 0. At most 56 bits may be added before a
    /// [`flush`](Self::flush).
    #[inline(always)]
    pub(super) fn add(&mut self, bits: u64, count: u32) {
        self.next |= bits << self.have;
        self.have += count;
        debug_assert!(self.have < u64::BITS);
    }

    /// Moves whole bytes to the output.
    #[inline(always)]
    pub(super) fn flush(&mut self) {
        if let Some(place) = self.out.get_mut(self.len..).and_then(<[u8]>::first_chunk_mut) {
            *place = self.next.to_le_bytes();
        }
        let bytes = self.have / 8;
        self.len += bytes as usize;
        self.next >>= bytes * 8;
        self.have %= 8;
    }

    /// Fills up the last byte with zeros.
    pub(super) fn align(&mut self) {
        self.flush();
        self.have = self.have.next_multiple_of(8);
        self.flush();
    }

    /// Adds bytes, after [`align`](Self::align).
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        if let Some(place) = self.out.get_mut(self.len..self.len + bytes.len()) {
            place.copy_from_slice(bytes);
        }
        self.len += bytes.len();
    }

    /// Ends at a whole byte.
    pub(super) fn finish(mut self) {
        self.reserve(1);
        self.align();
        self.out.truncate(self.len);
    }
}
