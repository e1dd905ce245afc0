//! The header of a block with dynamic Huffman codes.
//!
//! Spec: RFC 1951, 3.2.7

use super::bits::BitWriter;
use super::huffman::{code_lengths, codes};
use super::symbols::{CODE_LENGTHS, END, ORDER, SYMBOLS};

/// The description of the codes of a block: the lengths of the codes, which are themselves coded.
pub(super) struct Header {
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
    pub(super) fn new(lengths: &[u8; SYMBOLS]) -> Header {
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
        for (symbol, _, _) in &symbols {
            if let Some(count) = counts.get_mut(*symbol) {
                *count += 1;
            }
        }
        let mut of_lengths = [0; CODE_LENGTHS];
        code_lengths(&counts, 7, &mut of_lengths);
        let is_given = |symbol: &usize| of_lengths.get(*symbol).is_some_and(|length| *length > 0);
        let given = ORDER.iter().rposition(is_given).map_or(0, |last| last + 1).max(4);
        Header { symbols, lengths: of_lengths, literals, given }
    }

    /// The size in bits, with the three bits before it that all blocks have.
    pub(super) fn bits(&self) -> usize {
        let length = |symbol: usize| self.lengths.get(symbol).copied().unwrap_or(0);
        let of_symbol =
            |(symbol, _, extra): &(usize, u64, u32)| usize::from(length(*symbol)) + *extra as usize;
        3 + 14 + 3 * self.given + self.symbols.iter().map(of_symbol).sum::<usize>()
    }

    pub(super) fn write(&self, bits: &mut BitWriter<'_>) {
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
