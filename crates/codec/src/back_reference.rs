//! Back references of the Lempel-Ziv formats: bytes that are copied from what was decoded before.

/// Copies `len` bytes to `at` from `distance` bytes before, which may overlap; `None` if there are none or no room.
#[inline]
pub(crate) fn copy(out: &mut [u8], at: usize, distance: usize, len: usize) -> Option<usize> {
    let from = at.checked_sub(distance)?;
    let end = at.checked_add(len).filter(|end| *end <= out.len())?;
    if len <= SHORT && distance >= SHORT {
        // Writes behind the end too, which the next copy overwrites: most copies are short.
        if let Some((before, after)) = out.split_at_mut_checked(at)
            && let Some(to) = after.first_chunk_mut::<SHORT>()
            && let Some(piece) = before.get(from..).and_then(<[u8]>::first_chunk::<SHORT>)
        {
            *to = *piece;
            return Some(end);
        }
    }
    if distance == 0 {
        return None;
    }
    if distance == 1 {
        let byte = *out.get(from)?;
        out.get_mut(at..end)?.fill(byte);
        return Some(end);
    }
    // Each round doubles the period that can be copied at once.
    let mut at = at;
    while at < end {
        let piece = (at - from).min(end - at);
        out.copy_within(from..from + piece, at);
        at += piece;
    }
    Some(end)
}

/// Finds bytes that stood before, by the first few of them.
pub(crate) struct Finder<'a> {
    raw: &'a [u8],
    /// Where bytes of each hash stood last, plus one; 0 where there were none.
    places: Vec<u32>,
    /// The bytes that are hashed, of four.
    hashed: u32,
}

impl<'a> Finder<'a> {
    /// A finder of at least `least` equal bytes, which is 3 or 4.
    pub(crate) fn new(raw: &'a [u8], least: u32) -> Self {
        Finder { raw, places: vec![0; 1 << HASH_BITS], hashed: u32::MAX >> (32 - 8 * least.min(4)) }
    }

    /// How far before `at` the same bytes stood, at most `distance`, and how many of them, at most `len`.
    /// Remembers `at`.
    pub(crate) fn find(&mut self, at: usize, distance: usize, len: usize) -> Option<(usize, usize)> {
        let rest = self.raw.get(at..)?;
        let hash = (u32::from_le_bytes(*rest.first_chunk()?) & self.hashed).wrapping_mul(0x9e37_79b1);
        let place = self.places.get_mut(usize::try_from(hash >> (32 - HASH_BITS)).ok()?)?;
        // What lies beyond 4 GiB is not found again.
        let before = std::mem::replace(place, u32::try_from(at + 1).unwrap_or(0));
        let before = usize::try_from(before).ok()?.checked_sub(1)?;
        let found = at.checked_sub(before).filter(|found| (1..=distance).contains(found))?;
        let equal = common(self.raw.get(before..)?, rest).min(len);
        (equal >= if self.hashed == u32::MAX { 4 } else { 3 }).then_some((found, equal))
    }
}

/// How many bytes two slices begin with in common.
fn common(a: &[u8], b: &[u8]) -> usize {
    let ((words_a, rest_a), (words_b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let words = words_a.iter().zip(words_b);
    for (i, (a, b)) in words.enumerate() {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return i * 8 + usize::try_from(differ.trailing_zeros() / 8).unwrap_or(0);
        }
    }
    let whole = words_a.len().min(words_b.len()) * 8;
    let (rest_a, rest_b) = match words_a.len() == words_b.len() {
        true => (rest_a, rest_b),
        false => (a.get(whole..).unwrap_or_default(), b.get(whole..).unwrap_or_default()),
    };
    whole + rest_a.iter().zip(rest_b).take_while(|(a, b)| a == b).count()
}

const HASH_BITS: u32 = 14;
const SHORT: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_as_if_byte_by_byte() {
        for len in 0..70 {
            for distance in 1..40 {
                for room in [0, 1, 20] {
                    let mut expected: Vec<u8> = (0..40).collect();
                    (0..len).for_each(|i| expected.push(expected[40 + i - distance]));
                    let mut out = expected[..40].to_vec();
                    out.resize(40 + len + room, 0);
                    assert_eq!(copy(&mut out, 40, distance, len), Some(40 + len));
                    assert_eq!(out[..40 + len], expected);
                }
            }
        }
    }

    #[test]
    fn finds_what_stood_before() {
        let raw = b"abcdefgh-abcdefghijklm-abcd";
        let mut finder = Finder::new(raw, 4);
        let found: Vec<_> = (0..raw.len()).filter_map(|at| Some((at, finder.find(at, 20, 7)?))).collect();
        assert_eq!(found.first(), Some(&(9, (9, 7))));
        assert_eq!(found.last(), Some(&(23, (14, 4))));
        assert_eq!(common(b"abcdefghijkl", b"abcdefghij"), 10);
        assert_eq!(common(b"abcdefghijkl", b"abcdeXghij"), 5);
        assert_eq!(common(b"abcdefghijklmnopqr", b"abcdefgh"), 8);
    }

    #[test]
    fn rejects_what_is_not_there_or_does_not_fit() {
        let mut out = [0; 40];
        assert_eq!(copy(&mut out, 5, 6, 1), None);
        assert_eq!(copy(&mut out, 5, 0, 1), None);
        assert_eq!(copy(&mut out, 5, 2, 36), None);
        assert_eq!(copy(&mut out, 5, 2, usize::MAX), None);
    }
}
