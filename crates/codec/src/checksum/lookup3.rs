//! Jenkins' hash lookup3.
//!
//! Spec: lookup3.c, May 2006, Bob Jenkins

/// The hash `hashlittle` with an initial value.
///
/// ```
/// assert_eq!(hyperslab_codec::lookup3(b"Four score and seven years ago", 1), 0xcd62_8161);
/// ```
pub fn lookup3(bytes: &[u8], initial: u32) -> u32 {
    let len = u32::try_from(bytes.len() & 0xffff_ffff).unwrap_or(0);
    let start = 0xdead_beef_u32.wrapping_add(len).wrapping_add(initial);
    let mut s = State { a: start, b: start, c: start };
    let (mut blocks, mut tail) = bytes.as_chunks::<12>();
    // The last block is mixed differently, even if it is complete.
    if tail.is_empty()
        && let Some((last, before)) = blocks.split_last()
    {
        (blocks, tail) = (before, last);
    }
    for block in blocks {
        s.add(block);
        s.mix();
    }
    if tail.is_empty() {
        return s.c;
    }
    let mut last = [0; 12];
    last.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    s.add(&last);
    s.finish()
}

struct State {
    a: u32,
    b: u32,
    c: u32,
}

impl State {
    #[inline]
    fn add(&mut self, block: &[u8; 12]) {
        let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = *block;
        self.a = self.a.wrapping_add(u32::from_le_bytes([a0, a1, a2, a3]));
        self.b = self.b.wrapping_add(u32::from_le_bytes([b0, b1, b2, b3]));
        self.c = self.c.wrapping_add(u32::from_le_bytes([c0, c1, c2, c3]));
    }

    #[inline]
    fn mix(&mut self) {
        let State { mut a, mut b, mut c } = *self;
        a = a.wrapping_sub(c) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
        a = a.wrapping_sub(c) ^ c.rotate_left(16);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(19);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(4);
        b = b.wrapping_add(a);
        *self = State { a, b, c };
    }

    #[inline]
    fn finish(self) -> u32 {
        let State { mut a, mut b, mut c } = self;
        c = (c ^ b).wrapping_sub(b.rotate_left(14));
        a = (a ^ c).wrapping_sub(c.rotate_left(11));
        b = (b ^ a).wrapping_sub(a.rotate_left(25));
        c = (c ^ b).wrapping_sub(b.rotate_left(16));
        a = (a ^ c).wrapping_sub(c.rotate_left(4));
        b = (b ^ a).wrapping_sub(a.rotate_left(14));
        (c ^ b).wrapping_sub(b.rotate_left(24))
    }
}

#[cfg(test)]
mod tests {
    use super::lookup3;

    #[test]
    fn agrees_with_the_published_driver() {
        assert_eq!(lookup3(b"", 0), 0xdead_beef);
        assert_eq!(lookup3(b"", 0xdead_beef), 0xbd5b_7dde);
        assert_eq!(lookup3(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(lookup3(b"Four score and seven years ago", 1), 0xcd62_8161);
    }
}
