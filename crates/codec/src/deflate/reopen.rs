//! Reopens a deflate stream that a compressor has ended, so that more blocks can follow.
//!
//! A compressor marks the final block of a stream. Finding where that block begins, and at which bit it ends, requires
//! a walk along all codes, which takes a fraction of the time of compressing.
//!
//! Spec: RFC 1951, 3.2.3 to 3.2.7

use super::bits::BitReader;
use super::huffman::codes;
use super::symbols::{CODE_LENGTHS, END, LENGTHS, ORDER, distance_extra};

/// Clears the final mark of the last block of the stream after the first `start` bytes of `out`, and ends the block at
/// a whole byte. Returns whether this was a stream; if not, `out` is unchanged.
#[must_use]
pub(super) fn reopen(out: &mut Vec<u8>, start: usize) -> bool {
    let Some(last) = out.get(start..).and_then(last_block) else { return false };
    let Some(flag) = out.get_mut(start + last.begin / 8) else { return false };
    *flag &= !(1 << (last.begin % 8));
    out.truncate(start + last.end.div_ceil(8));
    // An empty stored block begins with three bits. They are 0, like the bits that pad the last byte.
    if out.len() * 8 - (start * 8 + last.end) < 3 {
        out.push(0);
    }
    out.extend_from_slice(&[0, 0, 0xff, 0xff]);
    true
}

/// Where a block begins and ends, in bits.
struct Place {
    begin: usize,
    end: usize,
}

fn last_block(stream: &[u8]) -> Option<Place> {
    let mut bits = BitReader::new(stream);
    let (mut literals, mut distances) = (Table::default(), Table::default());
    loop {
        let begin = bits.position();
        bits.refill();
        let is_last = bits.take(1) == 1;
        match bits.take(2) {
            0 => skip_stored(&mut bits)?,
            1 => {
                literals.set(&fixed_lengths(), literal_entry);
                distances.set(&[5; 30], distance_entry);
                skip_codes(&mut bits, &literals, &distances)?;
            }
            2 => {
                let (lengths, of_literals) = read_lengths(&mut bits)?;
                literals.set(lengths.get(..of_literals)?, literal_entry);
                distances.set(lengths.get(of_literals..)?, distance_entry);
                skip_codes(&mut bits, &literals, &distances)?;
            }
            _ => return None,
        }
        let end = bits.position();
        if end > stream.len() * 8 {
            return None;
        }
        if is_last {
            return Some(Place { begin, end });
        }
    }
}

fn skip_stored(bits: &mut BitReader<'_>) -> Option<()> {
    bits.align();
    bits.refill();
    let (len, not) = (bits.take(16), bits.take(16));
    (len ^ not == 0xffff).then(|| bits.skip_bytes(usize::try_from(len).unwrap_or(usize::MAX)))
}

/// The lengths of the literal codes followed by those of the distance codes; and the number of the former.
fn read_lengths(bits: &mut BitReader<'_>) -> Option<(Vec<u8>, usize)> {
    let literals = usize::try_from(bits.take(5)).ok()? + END + 1;
    let distances = usize::try_from(bits.take(5)).ok()? + 1;
    let given = usize::try_from(bits.take(4)).ok()? + 4;
    let mut of_lengths = [0; CODE_LENGTHS];
    for symbol in ORDER.iter().take(given) {
        bits.refill();
        *of_lengths.get_mut(*symbol)? = u8::try_from(bits.take(3)).ok()?;
    }
    let mut table = Table::default();
    table.set(&of_lengths, |symbol| u16::try_from(symbol).unwrap_or(0) << SYMBOL);
    let mut lengths = Vec::with_capacity(literals + distances);
    while lengths.len() < literals + distances {
        bits.refill();
        let entry = table.entry(bits);
        bits.skip(entry.bits()?);
        let (length, repeats) = match entry.0 >> SYMBOL {
            16 => (*lengths.last()?, 3 + bits.take(2)),
            17 => (0, 3 + bits.take(3)),
            18 => (0, 11 + bits.take(7)),
            length => (u8::try_from(length).ok()?, 1),
        };
        lengths.extend(std::iter::repeat_n(length, usize::try_from(repeats).ok()?));
    }
    Some((lengths, literals))
}

/// Skips literals and matches to the end of the block.
fn skip_codes(bits: &mut BitReader<'_>, literals: &Table, distances: &Table) -> Option<()> {
    while !bits.is_past_end() {
        bits.refill();
        // Three literals and a length fit into the available bits.
        let mut entry = literals.entry(bits);
        for _ in 0..2 {
            if entry.0 & !LENGTH == 0 && entry.0 != 0 {
                bits.skip(entry.0.into());
                entry = literals.entry(bits);
            }
        }
        bits.skip(entry.bits()?);
        match entry.0 & !LENGTH {
            0 => {}
            IS_MATCH => {
                bits.refill();
                bits.skip(distances.entry(bits).bits()?);
            }
            _ => return Some(()),
        }
    }
    None
}

/// A lookup of codes by the next bits, as many of them as the longest code has.
#[derive(Default)]
struct Table {
    entries: Vec<Entry>,
    mask: u64,
}

/// The number of bits of a code and of the extra bits after it, and the kind of its symbol; 0 if there is no such code.
#[derive(Clone, Copy, Default)]
struct Entry(u16);

impl Entry {
    fn bits(self) -> Option<u32> {
        (self.0 & LENGTH > 0).then_some((self.0 & LENGTH).into())
    }
}

impl Table {
    /// `entry` gives the number of extra bits of a symbol, and its kind.
    fn set(&mut self, lengths: &[u8], entry: impl Fn(usize) -> u16) {
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let size = 1_usize << longest;
        self.mask = size as u64 - 1;
        self.entries.clear();
        self.entries.resize(size, Entry::default());
        for (symbol, (code, length)) in codes(lengths).enumerate().filter(|(_, (_, length))| *length > 0) {
            let own = Entry(entry(symbol) + u16::from(length));
            self.entries.iter_mut().skip(code.into()).step_by(1 << length).for_each(|place| *place = own);
        }
    }

    #[inline(always)]
    fn entry(&self, bits: &BitReader<'_>) -> Entry {
        let at = usize::try_from(bits.peek() & self.mask).unwrap_or(0);
        self.entries.get(at).copied().unwrap_or_default()
    }
}

fn literal_entry(symbol: usize) -> u16 {
    match symbol.checked_sub(END) {
        None => 0,
        Some(0) => IS_END,
        // The longest length has a symbol without extra bits.
        Some(length) => {
            let extra = LENGTHS.get(length - 1).map_or(0, |(_, extra)| *extra);
            IS_MATCH + u16::try_from(extra).unwrap_or(0)
        }
    }
}

fn distance_entry(symbol: usize) -> u16 {
    u16::try_from(distance_extra(symbol)).unwrap_or(0)
}

/// The lengths of the fixed codes of literals and lengths.
fn fixed_lengths() -> [u8; 288] {
    std::array::from_fn(|symbol| match symbol {
        144..=255 => 9,
        256..=279 => 7,
        _ => 8,
    })
}

/// The bits of an entry that count bits, and those that give its kind.
const LENGTH: u16 = 31;
const IS_MATCH: u16 = 1 << 5;
const IS_END: u16 = 1 << 6;
/// Where an entry holds the symbol of a code length.
const SYMBOL: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use libdeflater::{CompressionLvl, Compressor, Decompressor};
    use proptest::prelude::*;

    fn append(level: i32, raw: &[u8], out: &mut Vec<u8>) {
        let mut compressor = Compressor::new(CompressionLvl::new(level).unwrap());
        let before = out.len();
        out.resize(before + compressor.deflate_compress_bound(raw.len()), 0);
        let len = compressor.deflate_compress(raw, &mut out[before..]).unwrap();
        out.truncate(before + len);
    }

    /// Bytes of several kinds, which lead to blocks of all kinds.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..3_000),
            prop::collection::vec(0..4_u8, 0..30_000),
            (any::<u8>(), 0..100_000_usize).prop_map(|(byte, len)| vec![byte; len]),
            (0..20_000_u32).prop_map(|len| (0..len).flat_map(|at| (at * at / 7).to_le_bytes()).collect()),
        ];
        prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn streams_go_on(parts in prop::collection::vec((bytes(), 0..=12), 1..5), before in 0..9_usize) {
            let mut out = vec![0xa5; before];
            for (at, (raw, level)) in parts.iter().enumerate() {
                let start = out.len();
                append(*level, raw, &mut out);
                let last = last_block(&out[start..]).unwrap();
                prop_assert_eq!(start + last.end.div_ceil(8), out.len());
                prop_assert!(at + 1 == parts.len() || reopen(&mut out, start));
            }
            let raw: Vec<u8> = parts.into_iter().flat_map(|(raw, _)| raw).collect();
            let mut back = vec![0; raw.len()];
            let len = Decompressor::new().deflate_decompress(&out[before..], &mut back).unwrap();
            prop_assert_eq!(len, raw.len());
            prop_assert!(back == raw);
        }

        #[test]
        fn what_is_no_stream_stays(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in any::<prop::sample::Index>()) {
            let mut out = Vec::new();
            append(6, &bytes, &mut out);
            out.truncate(cut.index(out.len()));
            let before = out.clone();
            prop_assert!(!reopen(&mut out, 0));
            prop_assert_eq!(out, before);
            // The walk ends, whatever the bytes are.
            let _ = last_block(&bytes);
        }
    }
}
