//! Deflate blocks of literals and runs, for bytes in which a search for matches finds nothing.
//!
//! The low bytes of shuffled numbers are mostly noise, and masks and sparse arrays are runs of irregular lengths. A
//! compressor spends most of its time there on a search that finds nothing, or on matches that save nothing. These blocks
//! are as small or smaller, and take a fraction of the time.
//!
//! Spec: RFC 1951, 3.2.3 to 3.2.7

use super::bits::BitWriter;
use super::huffman::{code_lengths, codes};
use super::symbols::{CODE_LENGTHS, END, LENGTHS, ORDER, SYMBOLS};
use std::ops::Range;

/// Encodes the beginning of an input, and remembers earlier sequences.
pub(super) struct Literals {
    /// Sequences of bytes by their hash, with their positions.
    seen: Vec<(u64, u64)>,
    /// The position of the first byte. The positions of different inputs are so far apart that no sequence of an
    /// earlier input is found.
    base: u64,
    runs: Vec<Run>,
}

impl Default for Literals {
    fn default() -> Self {
        Literals { seen: vec![(0, 0); SLOTS], base: WINDOW + 1, runs: Vec::new() }
    }
}

/// The first bytes of `rest`, which become the next block. A run may be longer than any other block.
fn next_block(rest: &[u8]) -> &[u8] {
    let run = rest.iter().take_while(|byte| rest.first() == Some(*byte)).count();
    let len = if rest.len() <= MAX_BLOCK { rest.len() } else { BLOCK };
    rest.get(..len.max(run)).unwrap_or(rest)
}

/// Literals, then a number of bytes that repeat the last of them.
struct Run {
    literals: Range<usize>,
    repeats: usize,
}

/// How often each symbol occurs in a block.
struct Counts {
    /// Literals, the end of the block, and lengths.
    symbols: [u32; SYMBOLS],
    literals: usize,
    /// The entropy of the literals in bits for each of them.
    entropy: f64,
    /// The same if the position of a literal in a group of four is known; lower where numbers are not shuffled.
    entropy_in_place: f64,
    /// How many literals would equal the one before if their order were random.
    equal_by_chance: f64,
}

impl Literals {
    /// Appends blocks for the bytes at the beginning of `raw` that contain no matches worth a search, and returns their
    /// number. If these are all bytes, the last block ends the stream; otherwise it ends at a whole byte.
    pub(super) fn encode(&mut self, raw: &[u8], out: &mut Vec<u8>) -> usize {
        let mut done = 0;
        let before = out.len();
        let mut bits = BitWriter::new(out);
        while let Some(rest) = raw.get(done..).filter(|rest| !rest.is_empty()) {
            let block = next_block(rest);
            self.find_runs(block);
            let counts = self.count(block);
            if !self.is_worth_no_search(block, done as u64, &counts) {
                break;
            }
            done += block.len();
            bits.reserve(block.len().min(MAX_BLOCK) + MAX_HEADER);
            self.write(block, &counts, done == raw.len(), &mut bits);
        }
        self.base += raw.len() as u64 + WINDOW + 1;
        match done {
            0 => {
                bits.finish();
                out.truncate(before);
            }
            _ if done == raw.len() => bits.finish(),
            _ => {
                bits.reserve(8);
                // An empty stored block ends at a whole byte.
                bits.add(0, 3);
                bits.align();
                bits.bytes(&[0, 0, 0xff, 0xff]);
                bits.finish();
            }
        }
        done
    }

    /// Finds where, after the first block, blocks without matches worth a search begin, if there are enough of them to
    /// justify ending one stream before them and beginning another. Only some blocks are examined.
    pub(super) fn find(&mut self, raw: &[u8]) -> Option<usize> {
        let (mut first, mut found) = (None, None);
        for number in (1..raw.len() / BLOCK).step_by(STRIDE) {
            if !self.is_block_without_matches(raw, number) {
                first = None;
                continue;
            }
            let begin = *first.get_or_insert(number);
            if (number + STRIDE - begin) * SEARCHED >= begin {
                found = Some(begin);
                break;
            }
        }
        while let Some(before) = found.map(|first| first - 1).filter(|before| *before > 0) {
            if !self.is_block_without_matches(raw, before) {
                break;
            }
            found = Some(before);
        }
        self.base += raw.len() as u64 + WINDOW + 1;
        found.map(|first| first * BLOCK)
    }

    fn is_block_without_matches(&mut self, raw: &[u8], number: usize) -> bool {
        let Some(block) = raw.get(number * BLOCK..).and_then(|rest| rest.get(..BLOCK)) else { return false };
        self.find_runs(block);
        let counts = self.count(block);
        self.is_worth_no_search(block, (number * BLOCK) as u64, &counts)
    }

    /// Finds the runs of equal bytes that are long enough to be stored as such.
    fn find_runs(&mut self, block: &[u8]) {
        self.runs.clear();
        let mut literals = 0;
        let mut at = 0;
        // Each run of 15 bytes contains an aligned word of 8 equal bytes.
        while let Some(word) = block.get(at..).and_then(<[u8]>::first_chunk) {
            let word = u64::from_le_bytes(*word);
            if word != word.rotate_left(8) {
                at += 8;
                continue;
            }
            let byte = word.to_le_bytes()[0];
            let before = block.get(literals..at).unwrap_or_default();
            let start = at - before.iter().rev().take_while(|other| **other == byte).count();
            let after = block.get(at..).unwrap_or_default();
            let end = at + after.iter().take_while(|other| **other == byte).count();
            let whole = (end - start - 1) / MAX_MATCH * MAX_MATCH;
            let repeats = match end - start - 1 - whole {
                0..MIN_MATCH => whole,
                rest => whole + rest,
            };
            // Repeats too few for a match are stored as literals, before the matches.
            let first = end - repeats;
            self.runs.push(Run { literals: literals..first, repeats });
            literals = end;
            at = end;
        }
        self.runs.push(Run { literals: literals..block.len(), repeats: 0 });
    }

    fn count(&self, block: &[u8]) -> Counts {
        // With a single table, equal bytes in a row would wait for each other.
        let mut tables = [[0_u32; 256]; 4];
        let mut symbols = [0; SYMBOLS];
        let mut literals = 0;
        for run in &self.runs {
            let bytes = block.get(run.literals.clone()).unwrap_or_default();
            literals += bytes.len();
            let (fours, rest) = bytes.as_chunks::<4>();
            for four in fours {
                for (table, byte) in tables.iter_mut().zip(four) {
                    add_one(table, usize::from(*byte));
                }
            }
            for byte in rest {
                add_one(&mut tables[0], usize::from(*byte));
            }
            for (symbol, _, _) in matches(run.repeats) {
                add_one(&mut symbols, symbol);
            }
        }
        for table in &tables {
            symbols.iter_mut().zip(table).for_each(|(symbol, count)| *symbol += count);
        }
        let all = literals.max(1) as f64;
        let entropy = bits(symbols.get(..END).unwrap_or_default()) / all;
        let entropy_in_place = tables.iter().map(|table| bits(table)).sum::<f64>() / all;
        let squares = symbols.iter().take(END).map(|count| f64::from(*count).powi(2));
        let equal_by_chance = squares.sum::<f64>() / all;
        add_one(&mut symbols, END);
        Counts { symbols, literals, entropy, entropy_in_place, equal_by_chance }
    }

    /// Whether a search for matches would not make a block noticeably smaller, judged by samples of its bytes.
    fn is_worth_no_search(&mut self, block: &[u8], at: u64, counts: &Counts) -> bool {
        if counts.literals <= block.len() / FEW {
            return true;
        }
        if self.runs.len() > counts.literals / MIN_APART {
            return self.are_runs_worth_no_search(block, at, counts);
        }
        // A repeated sequence saves bits only from this length on.
        let fits = |bytes: &usize| *bytes as f64 * counts.entropy >= MATCH_BITS;
        let Some(bytes) = (MIN_SEQUENCE..=MAX_SEQUENCE).find(fits) else { return false };
        if counts.entropy_in_place < MIN_SAME * counts.entropy {
            return false;
        }
        // Bytes that equal the one before more often than by chance are short matches at the least distance.
        let literals = self.runs.iter().filter_map(|run| block.get(run.literals.clone()));
        let equal: usize =
            literals.map(|all| all.iter().zip(all.iter().skip(1)).filter(|(a, b)| a == b).count()).sum();
        if equal as f64 > counts.equal_by_chance + counts.literals as f64 / FEW_EQUAL {
            return false;
        }
        let mask = u64::MAX >> (64 - 8 * bytes.min(8));
        let (mut samples, mut found) = (0, 0);
        for (place, sequence) in (self.base + at..).zip(block.windows(bytes.max(8))) {
            let Some(word) = sequence.first_chunk().map(|word| u64::from_le_bytes(*word)) else { continue };
            let word = word & mask;
            // Samples are chosen by their content, so that the same sequences are chosen wherever they occur.
            if word.wrapping_mul(HASH) >> (64 - SAMPLED) != 0 {
                continue;
            }
            let is_run = word == word << 8 & mask | word & 0xff;
            let rest = sequence.get(8..bytes).unwrap_or_default();
            let sequence = rest.iter().fold(word, |hash, byte| mixed(hash, (*byte).into()));
            samples += usize::from(!is_run);
            found += usize::from(self.was_seen(sequence, place) && !is_run);
        }
        samples >= block.len() / MIN_SAMPLES && found <= samples / FEW_FOUND
    }

    /// Whether a sequence occurred at a distance that a match can have. Remembers it.
    fn was_seen(&mut self, sequence: u64, place: u64) -> bool {
        let slot = sequence.wrapping_mul(HASH) << SAMPLED >> (64 - SLOTS.trailing_zeros());
        let slot = usize::try_from(slot).ok().and_then(|slot| self.seen.get_mut(slot));
        slot.is_some_and(|slot| {
            let (before, at) = std::mem::replace(slot, (sequence, place));
            before == sequence && place.wrapping_sub(at) <= WINDOW
        })
    }

    /// The same for blocks with many runs. A match pays off if it covers several of them, with the literals in between.
    fn are_runs_worth_no_search(&mut self, block: &[u8], at: u64, counts: &Counts) -> bool {
        let runs = self.runs.iter().flat_map(|run| matches(run.repeats));
        // The distance takes one bit.
        let lengths: f64 = runs.map(|(_, _, extra)| f64::from(extra + 1)).sum();
        let each = (bits(&counts.symbols) + lengths) / self.runs.len() as f64;
        let Some(many) = (2..=MAX_RUNS).find(|many| *many as f64 * each >= 2.0 * MATCH_BITS) else {
            return false;
        };
        let all = std::mem::take(&mut self.runs);
        let mut found = 0;
        for runs in all.windows(many) {
            let hash = runs.iter().fold(0, |hash, run| {
                let literals = block.get(run.literals.clone()).unwrap_or_default();
                let literals = literals.iter().fold(hash, |hash, byte| mixed(hash, (*byte).into()));
                mixed(literals, run.repeats as u64)
            });
            let start = runs.first().map_or(0, |run| run.literals.start);
            let end = runs.last().map_or(0, |run| run.literals.end + run.repeats);
            let place = self.base + at + start as u64;
            found += usize::from(self.was_seen(hash, place) && end - start <= MAX_MATCH);
        }
        self.runs = all;
        found <= self.runs.len() / FEW_FOUND
    }

    fn write(&self, block: &[u8], counts: &Counts, is_last: bool, bits: &mut BitWriter<'_>) {
        let mut lengths = [0; SYMBOLS];
        code_lengths(&counts.symbols, MAX_LENGTH, &mut lengths);
        let extra: usize = self
            .runs
            .iter()
            .flat_map(|run| matches(run.repeats))
            .map(|(_, _, extra)| extra as usize + 1)
            .sum();
        let sizes =
            counts.symbols.iter().zip(&lengths).map(|(count, length)| *count as usize * usize::from(*length));
        let header = Header::new(&lengths);
        let coded = (header.bits() + sizes.sum::<usize>() + extra).div_ceil(8);
        bits.add(u64::from(is_last), 1);
        if coded >= block.len() {
            bits.add(0, 2);
            bits.align();
            let len = u16::try_from(block.len()).unwrap_or(u16::MAX);
            bits.bytes(&len.to_le_bytes());
            bits.bytes(&(!len).to_le_bytes());
            bits.bytes(block);
            return;
        }
        bits.add(2, 2);
        header.write(bits);
        let mut table = [(0_u64, 0_u32); SYMBOLS];
        for (entry, (code, length)) in table.iter_mut().zip(codes(&lengths)) {
            *entry = (code.into(), length.into());
        }
        let code = |symbol: usize| table.get(symbol).copied().unwrap_or_default();
        let Some(literals) = table.first_chunk::<256>() else { return };
        for run in &self.runs {
            write_literals(block.get(run.literals.clone()).unwrap_or_default(), literals, bits);
            for (symbol, value, extra) in matches(run.repeats) {
                let (code, length) = code(symbol);
                bits.add(code, length);
                bits.add(value, extra);
                // The distance 1 has the code 0, of one bit.
                bits.add(0, 1);
                bits.flush();
            }
        }
        let (end, length) = code(END);
        bits.add(end, length);
        bits.flush();
    }
}

#[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
fn write_literals(literals: &[u8], table: &[(u64, u32); 256], bits: &mut BitWriter<'_>) {
    let (fours, rest) = literals.as_chunks::<4>();
    for four in fours {
        for byte in four {
            let (code, length) = table[usize::from(*byte)];
            bits.add(code, length);
        }
        bits.flush();
    }
    for byte in rest {
        let (code, length) = table[usize::from(*byte)];
        bits.add(code, length);
        bits.flush();
    }
}

/// The size of symbols in bits, with codes as short as their counts allow.
fn bits(counts: &[u32]) -> f64 {
    let all = f64::from(counts.iter().sum::<u32>());
    let of_symbol = |count: f64| count * (all / count).log2();
    counts.iter().filter(|count| **count > 0).map(|count| of_symbol(f64::from(*count))).sum()
}

fn mixed(hash: u64, with: u64) -> u64 {
    (hash.rotate_left(5) ^ with).wrapping_mul(HASH)
}

#[inline(always)]
fn add_one(counts: &mut [u32], at: usize) {
    if let Some(count) = counts.get_mut(at) {
        *count += 1;
    }
}

/// The matches that repeat a byte this many times: the symbol of each length, its extra bits and their number.
fn matches(repeats: usize) -> impl Iterator<Item = (usize, u64, u32)> {
    let whole = repeats / MAX_MATCH;
    let rest = repeats % MAX_MATCH;
    let rest = (rest >= MIN_MATCH).then(|| {
        let (symbol, (base, extra)) = LENGTHS
            .iter()
            .enumerate()
            .rev()
            .find(|(_, (base, _))| *base <= rest)
            .unwrap_or((0, &(MIN_MATCH, 0)));
        (END + 1 + symbol, (rest - base) as u64, *extra)
    });
    std::iter::repeat_n((END + 1 + LENGTHS.len(), 0, 0), whole).chain(rest)
}

/// The description of the codes of a block: the lengths of the codes, which are themselves coded.
struct Header {
    /// Symbols of the code of code lengths, with their extra bits and the number of these.
    symbols: Vec<(usize, u64, u32)>,
    /// The codes of these symbols.
    lengths: [u8; CODE_LENGTHS],
    /// The number of lengths of literal codes and the number of lengths of code lengths.
    literals: usize,
    given: usize,
}

impl Header {
    /// The header for codes of literals and lengths. Distances have two codes of one bit, the first of which means 1.
    fn new(lengths: &[u8; SYMBOLS]) -> Header {
        let literals = lengths.iter().rposition(|length| *length > 0).map_or(0, |last| last + 1).max(END + 1);
        let all: Vec<u8> = lengths.iter().take(literals).copied().chain([1, 1]).collect();
        let mut symbols = Vec::new();
        for same in all.chunk_by(|a, b| a == b) {
            let length = same.first().copied().unwrap_or(0);
            let mut left = same.len();
            if length > 0 {
                symbols.push((length.into(), 0, 0));
                left -= 1;
            }
            while left > 0 {
                let (symbol, most, extra) = match (length, left) {
                    (_, 0..3) => (length.into(), 1, 0),
                    (0, 0..=10) => (17, 10, 3),
                    (0, _) => (18, 138, 7),
                    _ => (16, 6, 2),
                };
                let taken = left.min(most);
                symbols.push((symbol, taken.saturating_sub(if symbol == 18 { 11 } else { 3 }) as u64, extra));
                left -= taken;
            }
        }
        let mut counts = [0; CODE_LENGTHS];
        symbols.iter().for_each(|(symbol, _, _)| add_one(&mut counts, *symbol));
        let mut of_lengths = [0; CODE_LENGTHS];
        code_lengths(&counts, 7, &mut of_lengths);
        let is_given = |symbol: &usize| of_lengths.get(*symbol).is_some_and(|length| *length > 0);
        let given = ORDER.iter().rposition(is_given).map_or(0, |last| last + 1).max(4);
        Header { symbols, lengths: of_lengths, literals, given }
    }

    fn bits(&self) -> usize {
        let length = |symbol: usize| self.lengths.get(symbol).copied().unwrap_or(0);
        let of_symbol =
            |(symbol, _, extra): &(usize, u64, u32)| usize::from(length(*symbol)) + *extra as usize;
        3 + 14 + 3 * self.given + self.symbols.iter().map(of_symbol).sum::<usize>()
    }

    fn write(&self, bits: &mut BitWriter<'_>) {
        bits.add((self.literals - END - 1) as u64, 5);
        bits.add(1, 5);
        bits.add((self.given - 4) as u64, 4);
        bits.flush();
        for symbol in ORDER.iter().take(self.given) {
            bits.add(self.lengths.get(*symbol).copied().unwrap_or(0).into(), 3);
            bits.flush();
        }
        let codes: Vec<_> = codes(&self.lengths).collect();
        for (symbol, value, extra) in &self.symbols {
            let (code, length) = codes.get(*symbol).copied().unwrap_or_default();
            bits.add(code.into(), length.into());
            bits.add(*value, *extra);
            bits.flush();
        }
    }
}

/// The number of bytes of a block, and the maximum of the last one, which is that of a stored block.
const BLOCK: usize = 49_152;
const MAX_BLOCK: usize = 65_535;
/// Of this many blocks, one is examined to find where blocks without a search begin again. The blocks before them that
/// are searched may be at most this many times as many: continuing after a stream costs a walk along its codes.
const STRIDE: usize = 4;
const SEARCHED: usize = 8;
/// An upper bound of the bytes that a block takes in addition to its literals.
const MAX_HEADER: usize = 512;

/// Four codes of this length fit into the bits between two flushes.
const MAX_LENGTH: u8 = 14;

const MIN_MATCH: usize = 3;
const MAX_MATCH: usize = 258;

/// The maximum distance of a match.
const WINDOW: u64 = 32_768;
/// The logarithm of the share of sequences that are sampled, and the number of sequences that are remembered.
const SAMPLED: u32 = 4;
const SLOTS: usize = 4096;
const HASH: u64 = 0x9e37_79b9_7f4a_7c15;
/// The minimum number of literals for each run.
const MIN_APART: usize = 8;
/// The maximum number of runs in a sequence that is searched.
const MAX_RUNS: usize = 16;
/// The approximate size of a match in bits.
const MATCH_BITS: f64 = 28.0;
/// The lengths in bytes of the sequences that are sampled. Of literals that would need longer ones, a code with a whole
/// number of bits for each wastes too much.
const MIN_SEQUENCE: usize = 4;
const MAX_SEQUENCE: usize = 16;
/// The minimum number of samples is the number of bytes divided by this.
const MIN_SAMPLES: usize = 256;
/// The minimum ratio of the entropy by position to the whole entropy for literals whose distribution is the same in all
/// positions.
const MIN_SAME: f64 = 0.98;
/// The share of literals below which no search is needed, and the share of repeated samples above which it pays off.
const FEW: usize = 512;
const FEW_FOUND: usize = 64;
/// The share of literals that may equal the one before, in addition to those that do so by chance.
const FEW_EQUAL: f64 = 32.0;

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;
    use proptest::prelude::*;

    fn noise(seed: u64, len: usize, of: impl Fn(u8, u8) -> u8) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        };
        (0..len).map(|_| of(next(), next())).collect()
    }

    /// Bytes whose search finds long matches everywhere.
    fn repeated(len: usize) -> Vec<u8> {
        noise(2, 1_000, |byte, _| byte).into_iter().cycle().take(len).collect()
    }

    /// The number of bytes that were not searched. Checks that the encoded bytes decode to `raw`.
    fn unsearched(raw: &[u8]) -> usize {
        let (mut state, mut stored, mut out) = (State::default(), Vec::new(), vec![0; raw.len()]);
        state.encode(4, raw, &mut stored).unwrap();
        assert_eq!(state.decode(&stored, &mut out).unwrap(), raw.len());
        assert!(out == raw);
        Literals::default().encode(raw, &mut Vec::new())
    }

    #[test]
    fn noise_is_not_searched_and_what_comes_back_is() {
        let random = noise(1, 100_000, |byte, _| byte);
        assert_eq!(unsearched(&random), random.len());
        let skewed = noise(1, 100_000, |a, b| a % 40 + b % 40);
        assert_eq!(unsearched(&skewed), skewed.len());
        let again = [&random[..20_000], &random[..20_000], &random[..20_000]].concat();
        assert_eq!(unsearched(&again), 0);
        assert_eq!(unsearched(&[&random[..BLOCK], &again].concat()), BLOCK);
    }

    #[test]
    fn noise_between_what_is_searched_is_found() {
        let noisy = noise(1, 8 * BLOCK, |byte, _| byte);
        let repeated = repeated(20 * BLOCK);
        let raw = [&repeated[..], &noisy, &repeated, &noisy[..100], &repeated].concat();
        let mut literals = Literals::default();
        assert_eq!(literals.find(&raw), Some(repeated.len()));
        assert_eq!(literals.encode(&raw[repeated.len()..], &mut Vec::new()), noisy.len());
        assert_eq!(literals.find(&raw[repeated.len() + noisy.len()..]), None);
        let (mut state, mut stored, mut back) = (State::default(), Vec::new(), vec![0; raw.len()]);
        for level in [1, 4, 6, 9] {
            state.encode(level, &raw, &mut stored).unwrap();
            assert!(stored.len() < noisy.len() + 60_000, "{}", stored.len());
            assert_eq!(state.decode(&stored, &mut back).unwrap(), raw.len());
            assert!(back == raw);
        }
    }

    #[test]
    fn little_noise_behind_much_that_is_searched_is_searched() {
        let noisy = noise(1, 5 * BLOCK, |byte, _| byte);
        let repeated = repeated(200 * BLOCK);
        assert_eq!(Literals::default().find(&[&repeated[..], &noisy, &repeated[..9 * BLOCK]].concat()), None);
    }

    #[test]
    fn numbers_that_are_not_shuffled_are_searched() {
        let numbers: Vec<u8> = (0..50_000_u32).flat_map(|number| (number * 977).to_le_bytes()).collect();
        assert_eq!(unsearched(&numbers), 0);
    }

    #[test]
    fn masks_in_noise_are_runs() {
        let random = noise(1, 200_000, |byte, _| byte);
        let masked: Vec<u8> = [&random[..30_000], &[9; 100_000], &random[30_000..]].concat();
        assert_eq!(unsearched(&masked), masked.len());
        let mut stored = Vec::new();
        Literals::default().encode(&masked, &mut stored);
        assert!(stored.len() < random.len() + 1_000, "{}", stored.len());
    }

    #[test]
    fn runs_are_searched_if_they_repeat() {
        // As in masks and sparse arrays.
        let lengths = noise(1, 8_000, |byte, _| 16 + byte % 16);
        let runs = lengths.iter().zip((0..2).cycle());
        let runs: Vec<u8> = runs.flat_map(|(len, value)| std::iter::repeat_n(value, (*len).into())).collect();
        assert_eq!(unsearched(&runs), runs.len());
        assert_eq!(unsearched(&runs[..8_000].repeat(12)), 0);
    }

    #[test]
    fn short_repeats_are_searched() {
        let twice: Vec<u8> =
            noise(1, 50_000, |byte, _| byte).into_iter().flat_map(|byte| [byte; 2]).collect();
        assert_eq!(unsearched(&twice), 0);
    }

    #[test]
    fn few_values_in_random_order_are_not_searched() {
        let classes = noise(1, 100_000, |byte, _| byte % 8);
        assert_eq!(unsearched(&classes), classes.len());
        assert_eq!(unsearched(&classes[..20_000].repeat(5)), 0);
    }

    proptest! {
        #[test]
        fn blocks_return(
            pieces in prop::collection::vec((any::<u64>(), 0..60_000_usize, 1..=255_u8, 0..4_u8), 1..6),
        ) {
            let raw: Vec<u8> = pieces
                .into_iter()
                .flat_map(|(seed, len, few, kind)| noise(seed, len, move |a, b| match kind {
                    0 => few,
                    1 => a % few,
                    2 => a.min(b) % few,
                    _ => if a < 250 { few } else { b },
                }))
                .collect();
            let (mut state, mut out) = (State::default(), vec![0; raw.len()]);
            for level in [1, 6] {
                let mut stored = Vec::new();
                state.encode(level, &raw, &mut stored).unwrap();
                prop_assert_eq!(state.decode(&stored, &mut out).unwrap(), raw.len());
                prop_assert!(out == raw);
                prop_assert!(stored.len() <= raw.len() + raw.len() / 4096 + 64, "{} of {}", stored.len(), raw.len());
                state.encode_gzip(level, &raw, &mut stored).unwrap();
                prop_assert_eq!(state.decode_gzip(&stored, &mut out).unwrap(), raw.len());
                prop_assert!(out == raw);
            }
        }
    }
}
