//! Back references of the Lempel-Ziv formats, which copy bytes that were decoded earlier.

/// Copies `len` bytes to position `at` from `distance` bytes before it. Source and target may overlap. Returns `None`
/// if the source begins before byte 0 or the target ends after `out`.
#[inline]
pub(crate) fn copy(out: &mut [u8], at: usize, distance: usize, len: usize) -> Option<usize> {
    let from = at.checked_sub(distance)?;
    let end = at.checked_add(len).filter(|end| *end <= out.len())?;
    if len <= SHORT && distance >= SHORT {
        // May write past the end of the copy; the next copy overwrites that. Most copies are short.
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
    // Each round doubles the count of bytes that can be copied at once.
    let mut at = at;
    while at < end {
        let piece = (at - from).min(end - at);
        out.copy_within(from..from + piece, at);
        at += piece;
    }
    Some(end)
}

/// Finds earlier occurrences of bytes, with a hash of the first few of them.
pub(crate) struct Finder<'a> {
    raw: &'a [u8],
    /// For each hash: the last position with this hash, plus one; 0 if there was none.
    places: Vec<u32>,
    /// Mask of the bytes that are hashed, out of four.
    hashed: u32,
}

impl<'a> Finder<'a> {
    /// Finds matches of at least `min` bytes, 3 or 4.
    pub(crate) fn new(raw: &'a [u8], min: u32) -> Self {
        Finder { raw, places: vec![0; 1 << HASH_BITS], hashed: u32::MAX >> (32 - 8 * min.min(4)) }
    }

    /// Looks for an earlier occurrence of the bytes at `at`. Returns its distance, at most `distance`, and the length
    /// of the match, at most `len`. Records `at` for later searches.
    pub(crate) fn find(&mut self, at: usize, distance: usize, len: usize) -> Option<(usize, usize)> {
        let rest = self.raw.get(at..)?;
        let hash = (u32::from_le_bytes(*rest.first_chunk()?) & self.hashed).wrapping_mul(0x9e37_79b1);
        let place = self.places.get_mut(usize::try_from(hash >> (32 - HASH_BITS)).ok()?)?;
        // Positions from 4 GiB on are not recorded.
        let before = std::mem::replace(place, u32::try_from(at + 1).unwrap_or(0));
        let before = usize::try_from(before).ok()?.checked_sub(1)?;
        let found = at.checked_sub(before).filter(|found| (1..=distance).contains(found))?;
        let equal = common(self.raw.get(before..)?, rest).min(len);
        (equal >= if self.hashed == u32::MAX { 4 } else { 3 }).then_some((found, equal))
    }
}

/// The length of the common prefix of two slices.
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
    fn overlapping_copies_equal_a_copy_byte_by_byte() {
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
    fn finds_earlier_occurrences() {
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
    fn rejects_a_source_before_the_start_or_a_target_past_the_end() {
        let mut out = [0; 40];
        assert_eq!(copy(&mut out, 5, 6, 1), None);
        assert_eq!(copy(&mut out, 5, 0, 1), None);
        assert_eq!(copy(&mut out, 5, 2, 36), None);
        assert_eq!(copy(&mut out, 5, 2, usize::MAX), None);
    }
}
