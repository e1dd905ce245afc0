//! A block of literals and runs with its own Huffman code.
//!
//! Spec: RFC 1951, 3.2.3 to 3.2.7

use super::bits::BitWriter;
use super::header::Header;
use super::huffman::{code_lengths, codes};
use super::symbols::{END, LENGTHS, SYMBOLS};
use std::ops::Range;

/// The number of bytes of a block, and the maximum of the last one, which is that of a stored block.
pub(super) const BLOCK: usize = 49_152;
pub(super) const MAX_BLOCK: usize = 65_535;

/// The runs of equal bytes of a block that are long enough to be stored as such, and the literals between them.
#[derive(Default)]
pub(super) struct Runs(Vec<Run>);

/// Literals, then a number of bytes that repeat the last of them.
struct Run {
    literals: Range<usize>,
    repeats: usize,
}

/// How often each symbol occurs in a block.
pub(super) struct Counts {
    /// Literals, the end of the block, and lengths.
    symbols: [u32; SYMBOLS],
    pub(super) literals: usize,
    /// The entropy of the literals in bits for each of them.
    pub(super) entropy: f64,
    /// The same if the position of a literal in a group of four is known; lower where numbers are not shuffled.
    pub(super) entropy_in_place: f64,
    /// How many literals would equal the one before if their order were random.
    pub(super) equal_by_chance: f64,
}

impl Runs {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The literals before, between and after the runs.
    pub(super) fn literals<'b>(&self, block: &'b [u8]) -> impl Iterator<Item = &'b [u8]> {
        self.0.iter().filter_map(|run| block.get(run.literals.clone()))
    }

    /// Finds the runs of another block.
    pub(super) fn find(&mut self, block: &[u8]) {
        self.0.clear();
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
            self.0.push(Run { literals: literals..first, repeats });
            literals = end;
            at = end;
        }
        self.0.push(Run { literals: literals..block.len(), repeats: 0 });
    }

    /// Counts the symbols of the block whose runs these are.
    pub(super) fn count(&self, block: &[u8]) -> Counts {
        // With a single table, equal bytes in a row would wait for each other.
        let mut tables = [[0_u32; 256]; 4];
        let mut symbols = [0; SYMBOLS];
        let mut literals = 0;
        for run in &self.0 {
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

    /// Writes a block in this code, or as it is if the code makes it no smaller.
    pub(super) fn write(&self, block: &[u8], code: &Code, is_last: bool, bits: &mut BitWriter<'_>) {
        let Code { lengths, header, bits: size } = code;
        let size = size.div_ceil(8);
        bits.reserve(size.min(block.len()) + STORED);
        bits.add(u64::from(is_last), 1);
        if size >= block.len() {
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
        for (entry, (code, length)) in table.iter_mut().zip(codes(lengths)) {
            *entry = (code.into(), length.into());
        }
        let code = |symbol: usize| table.get(symbol).copied().unwrap_or_default();
        let Some(literals) = table.first_chunk::<256>() else { return };
        for run in &self.0 {
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

/// The code of a block.
pub(super) struct Code {
    /// The length of the code of each symbol.
    lengths: [u8; SYMBOLS],
    pub(super) header: Header,
    /// The size of the block, with the header.
    pub(super) bits: usize,
}

impl Code {
    pub(super) fn new(counts: &Counts, runs: &Runs) -> Code {
        let mut lengths = [0; SYMBOLS];
        code_lengths(&counts.symbols, MAX_LENGTH, &mut lengths);
        let header = Header::new(&lengths);
        let sizes =
            counts.symbols.iter().zip(&lengths).map(|(count, length)| *count as usize * usize::from(*length));
        // A distance takes one bit.
        let matches =
            runs.0.iter().flat_map(|run| matches(run.repeats)).map(|(_, _, extra)| extra as usize + 1);
        let bits = header.bits() + sizes.sum::<usize>() + matches.sum::<usize>();
        Code { lengths, header, bits }
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

/// The maximum number of bytes that a stored block takes in addition to its content.
const STORED: usize = 6;

/// Four codes of this length fit into the bits between two flushes.
const MAX_LENGTH: u8 = 14;
const MIN_MATCH: usize = 3;
const MAX_MATCH: usize = 258;
