//! LZ4 blocks, encoded: matches by a table of hashes, and ever longer steps where there are none.
//!
//! Spec: LZ4 Block Format

/// What encoding reuses from block to block.
#[derive(Default)]
pub(crate) struct Table {
    /// Where bytes of a hash stood last.
    places: Vec<u32>,
    /// The block, and behind it bytes that short copies may spill into.
    room: Vec<u8>,
}

/// Appends `raw` as one block. With an acceleration of more than 1, steps are as long from the first: it takes less
/// time, and fewer matches are found.
pub(crate) fn append(raw: &[u8], acceleration: usize, out: &mut Vec<u8>, table: &mut Table) {
    let len = encode(raw, acceleration, usize::MAX, table).expect("there is room for the longest block");
    out.extend_from_slice(table.room.get(..len).unwrap_or_default());
}

/// The same if the block is shorter than `raw`; otherwise tells that it is not, and appends nothing.
pub(crate) fn append_if_shorter(
    raw: &[u8],
    acceleration: usize,
    out: &mut Vec<u8>,
    table: &mut Table,
) -> bool {
    let block = encode(raw, acceleration, raw.len(), table).and_then(|len| table.room.get(..len));
    if let Some(block) = block {
        out.extend_from_slice(block);
    }
    block.is_some()
}

/// Encodes to the room of the table, unless that takes as many bytes as `most`.
fn encode(raw: &[u8], acceleration: usize, most: usize, table: &mut Table) -> Option<usize> {
    let Table { places, room } = table;
    places.clear();
    places.resize(PLACES, 0);
    let longest = bound(raw.len()) + SPILL;
    if room.len() < longest {
        *room = vec![0; longest];
    }
    let mut block = Block { raw, room, len: 0, anchor: 0 };
    // What is left is literals, also if positions do not fit into the table.
    if let (Some(places), Ok(_)) = (places.first_chunk_mut(), u32::try_from(raw.len())) {
        let _ = block.find_matches(places, acceleration);
    }
    let left = raw.len() - block.anchor;
    if block.len + left + left / 255 >= most {
        return None;
    }
    block.put_literals(raw.len(), 0)?;
    (block.len < most).then_some(block.len)
}

/// The most bytes of a block of `raw` bytes.
pub(crate) fn bound(raw: usize) -> usize {
    raw.saturating_add(raw / 255).saturating_add(16)
}

struct Block<'a> {
    raw: &'a [u8],
    room: &'a mut [u8],
    /// Bytes of the block so far.
    len: usize,
    /// The first byte that is not in the block yet.
    anchor: usize,
}

impl Block<'_> {
    /// Puts all matches and the literals before them; ends with none where the end is near.
    fn find_matches(&mut self, places: &mut [u32; PLACES], acceleration: usize) -> Option<()> {
        let raw = self.raw;
        let last = raw.len().checked_sub(LAST_MATCH)?;
        let end = raw.get(..raw.len().checked_sub(LAST_LITERALS)?)?;
        let mut at = 1;
        loop {
            let (mut step, mut tried) = (1, acceleration << STEP_BITS);
            let mut before = loop {
                if at > last {
                    return None;
                }
                let found = find(raw, places, at)?;
                if let Some(before) = found {
                    break before;
                }
                at += step;
                step = tried >> STEP_BITS;
                tried += 1;
            };
            while at > self.anchor && before > 0 && raw.get(at - 1)? == raw.get(before - 1)? {
                (at, before) = (at - 1, before - 1);
            }
            let mut literals = at;
            loop {
                let more = common(end.get(at + LEAST_MATCH..)?, end.get(before + LEAST_MATCH..)?);
                self.put_literals(literals, more.min(LONG))?;
                let distance = u16::try_from(at - before).ok()?.to_le_bytes();
                *self.room.get_mut(self.len..)?.first_chunk_mut()? = distance;
                self.len += 2;
                if more >= LONG {
                    self.put_length(more - LONG)?;
                }
                at += LEAST_MATCH + more;
                self.anchor = at;
                if at > last {
                    return None;
                }
                remember(raw, places, at - 2)?;
                match find(raw, places, at)? {
                    Some(found) => (before, literals) = (found, at),
                    None => break,
                }
            }
            at += 1;
        }
    }

    /// Puts the literals up to `to`, behind a token that ends with the length of a match.
    fn put_literals(&mut self, to: usize, matched: usize) -> Option<()> {
        let count = to - self.anchor;
        let token = u8::try_from(count.min(LONG) << 4 | matched).ok()?;
        *self.room.get_mut(self.len)? = token;
        self.len += 1;
        if count >= LONG {
            self.put_length(count - LONG)?;
        }
        let from = self.raw.get(self.anchor..)?;
        let into = self.room.get_mut(self.len..)?;
        match (from.first_chunk::<SPILL>(), into.first_chunk_mut::<SPILL>()) {
            (Some(from), Some(into)) if count <= SPILL => *into = *from,
            _ => into.get_mut(..count)?.copy_from_slice(from.get(..count)?),
        }
        self.len += count;
        Some(())
    }

    /// Puts what of a length is beyond a token.
    fn put_length(&mut self, rest: usize) -> Option<()> {
        let full = rest / 255;
        let into = self.room.get_mut(self.len..)?;
        into.get_mut(..full)?.fill(255);
        *into.get_mut(full)? = u8::try_from(rest % 255).ok()?;
        self.len += full + 1;
        Some(())
    }
}

/// Where the four bytes at `at` stood before, near enough to be referred to; remembers `at`.
#[inline(always)]
fn find(raw: &[u8], places: &mut [u32; PLACES], at: usize) -> Option<Option<usize>> {
    let word = u64::from_le_bytes(*raw.get(at..)?.first_chunk()?);
    let place = places.get_mut(hash(word))?;
    let before = usize::try_from(std::mem::replace(place, u32::try_from(at).ok()?)).ok()?;
    let old: u32 = u32::from_le_bytes(*raw.get(before..)?.first_chunk()?);
    let same = u64::from(old) == word & u64::from(u32::MAX);
    Some((same && at - before <= FARTHEST).then_some(before))
}

fn remember(raw: &[u8], places: &mut [u32; PLACES], at: usize) -> Option<()> {
    let word = u64::from_le_bytes(*raw.get(at..)?.first_chunk()?);
    *places.get_mut(hash(word))? = u32::try_from(at).ok()?;
    Some(())
}

/// Of five bytes, so that fewer are found whose first four are common.
#[inline(always)]
fn hash(word: u64) -> usize {
    let hash = (word << 24).wrapping_mul(889_523_592_379) >> (64 - HASH_BITS);
    usize::try_from(hash).unwrap_or_default()
}

/// How many bytes two slices begin with in common.
#[inline(always)]
fn common(a: &[u8], b: &[u8]) -> usize {
    let mut equal = 0;
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return equal + usize::try_from(differ.trailing_zeros() / 8).unwrap_or_default();
        }
        equal += 8;
    }
    let (a, b) = (a.get(equal..).unwrap_or_default(), b.get(equal..).unwrap_or_default());
    equal + a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

const HASH_BITS: u32 = 12;
const PLACES: usize = 1 << HASH_BITS;
/// Steps grow after as many tries as these bits can count.
const STEP_BITS: u32 = 6;
/// A length that a token cannot hold.
const LONG: usize = 15;
const LEAST_MATCH: usize = 4;
/// The last match begins at least as far before the end, and the last bytes are literals.
const LAST_MATCH: usize = 12;
const LAST_LITERALS: usize = 5;
const FARTHEST: usize = 65_535;
/// Literals are copied as many at once if they are not more.
const SPILL: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(raw: &[u8], acceleration: usize) -> Vec<u8> {
        let mut out = b"before".to_vec();
        append(raw, acceleration, &mut out, &mut Table::default());
        assert!(out.starts_with(b"before") && out.len() <= bound(raw.len()) + 6);
        out.split_off(6)
    }

    fn decoded(block: &[u8], len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        super::super::decode_block(block, &mut out).unwrap();
        out
    }

    proptest! {
        #[test]
        fn blocks_return(
            (few, len) in (1..=255_u8, prop_oneof![0..40_usize, 0..5000_usize]),
            (seed, acceleration) in (any::<u64>(), 1..=10_usize),
            repeat in 1..300_usize,
        ) {
            let mut state = seed;
            let mut raw = vec![0; len];
            for byte in &mut raw {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte = state.to_be_bytes()[0] % few;
            }
            for at in repeat..len {
                if at / repeat % 3 > 0 {
                    raw[at] = raw[at - repeat];
                }
            }
            prop_assert_eq!(decoded(&encoded(&raw, acceleration), len), raw);
        }
    }

    #[test]
    fn long_runs_and_far_repeats_return() {
        let mut raw = vec![7; 70_000];
        raw.extend((0..200_000_u32).flat_map(|i| i.wrapping_mul(i).to_le_bytes()));
        raw.extend_from_within(100..66_000);
        raw.extend(vec![9; 300]);
        for acceleration in [1, 5] {
            let block = encoded(&raw, acceleration);
            assert_eq!(decoded(&block, raw.len()), raw);
            let mut again = Vec::new();
            assert!(append_if_shorter(&raw, acceleration, &mut again, &mut Table::default()));
            assert_eq!(again, block);
        }
        let mut state = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        })
        .take(20_000)
        .collect();
        let mut nothing = Vec::new();
        assert!(!append_if_shorter(&noise, 1, &mut nothing, &mut Table::default()) && nothing.is_empty());
        assert!(encoded(&raw[..70_000], 1).len() < 300);
    }

    /// Spec: LZ4 Block Format, "End of block conditions"
    #[test]
    fn the_end_of_a_block_is_literals() {
        for len in 0..40 {
            let raw = vec![3; len];
            let block = encoded(&raw, 1);
            assert_eq!(decoded(&block, len), raw);
            let literals = &block[block.len() - len.min(LAST_LITERALS)..];
            assert!(literals.iter().all(|byte| *byte == 3), "{block:?}");
            assert!(len > LAST_MATCH || block.len() == len + 1, "{block:?}");
        }
    }

    #[test]
    fn one_table_serves_block_after_block() {
        let mut table = Table::default();
        for raw in [&b"abcdefgh abcdefgh abcdefgh abcdefgh"[..], &[1; 5000], b"", b"abcdefgh abcdefgh"] {
            let mut out = Vec::new();
            append(raw, 1, &mut out, &mut table);
            assert_eq!(decoded(&out, raw.len()), raw);
        }
    }
}
