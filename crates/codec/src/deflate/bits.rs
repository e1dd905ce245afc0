//! Reads and writes bits of bytes, the least significant bit first, as in deflate.
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
    /// Appends to the bytes of `out`.
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        let len = out.len();
        BitWriter { out, len, next: 0, have: 0 }
    }

    /// Reserves space for more bytes. Must be called before they are written.
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
        debug_assert!(self.len + size_of::<u64>() <= self.out.len(), "no space is reserved");
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
        debug_assert!(self.len + bytes.len() <= self.out.len(), "no space is reserved");
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

/// Reads bits from bytes.
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The number of bytes that were read.
    at: usize,
    next: u64,
    have: u32,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        BitReader { bytes, at: 0, next: 0, have: 0 }
    }

    /// The number of bits before the next one.
    pub(super) fn position(&self) -> usize {
        self.at * 8 - self.have as usize
    }

    /// Makes at least 56 bits available. Bits past the end are 0.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        let word = match self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(word) => u64::from_le_bytes(*word),
            None => self.last_word(),
        };
        self.next |= word << self.have;
        let bytes = (63 - self.have) / 8;
        self.at += bytes as usize;
        self.have += bytes * 8;
    }

    #[cold]
    fn last_word(&self) -> u64 {
        let mut word = [0; 8];
        word.iter_mut()
            .zip(self.bytes.get(self.at..).unwrap_or_default())
            .for_each(|(place, byte)| *place = *byte);
        u64::from_le_bytes(word)
    }

    /// Whether bits past the end were taken.
    pub(super) fn is_past_end(&self) -> bool {
        self.position() > self.bytes.len() * 8
    }

    /// The next bits, as many as are available.
    #[inline(always)]
    pub(super) fn peek(&self) -> u64 {
        self.next
    }

    /// Skips bits, at most 56 since the last [`refill`](Self::refill).
    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        self.next >>= count;
        self.have = self.have.saturating_sub(count);
    }

    pub(super) fn take(&mut self, count: u32) -> u64 {
        let bits = self.next & !(u64::MAX << count);
        self.skip(count);
        bits
    }

    /// Skips the rest of the current byte, and discards what was read ahead.
    pub(super) fn align(&mut self) {
        self.at = self.position().div_ceil(8);
        (self.next, self.have) = (0, 0);
    }

    /// Skips bytes after [`align`](Self::align).
    pub(super) fn skip_bytes(&mut self, count: usize) {
        self.align();
        self.at = self.at.saturating_add(count);
    }
}
