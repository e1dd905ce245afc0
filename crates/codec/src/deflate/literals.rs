//! Deflate blocks of literals and runs, for bytes in which a search for matches finds nothing.
//!
//! The low bytes of shuffled numbers are mostly noise, and masks and sparse arrays are runs of irregular lengths. A
//! compressor spends most of its time there on a search that finds nothing, or on matches that save nothing. These
//! blocks are as small or smaller, and take a fraction of the time.
//!
//! Spec: RFC 1951, 3.2.3 to 3.2.7

use super::bits::BitWriter;
use super::block::{BLOCK, Code, Counts, MAX_BLOCK, Runs};
use super::trials::{Kind, Trials};
use libdeflater::Compressor;

/// Encodes the beginning of an input, and remembers earlier sequences.
pub(super) struct Literals {
    /// Sequences of bytes by their hash, with their positions.
    seen: Vec<(u64, u64)>,
    /// The position of the first byte. The positions of different inputs are so far apart that no sequence of an
    /// earlier input is found.
    base: u64,
    runs: Runs,
    trials: Trials,
}

impl Default for Literals {
    fn default() -> Self {
        Literals {
            seen: vec![(0, 0); SLOTS],
            base: WINDOW + 1,
            runs: Runs::default(),
            trials: Trials::default(),
        }
    }
}

/// The first bytes of `rest`, which become the next block. A run may be longer than any other block.
fn next_block(rest: &[u8]) -> &[u8] {
    let run = rest.iter().take_while(|byte| rest.first() == Some(*byte)).count();
    let len = if rest.len() <= MAX_BLOCK { rest.len() } else { BLOCK };
    rest.get(..len.max(run)).unwrap_or(rest)
}

impl Literals {
    /// Begins an input of `len` bytes, which [`Self::encode`] and [`Self::find`] get in parts.
    pub(super) fn begin(&mut self, len: usize) {
        self.trials.begin(len);
    }

    /// Appends blocks for the bytes at the beginning of `raw` that contain no matches worth a search, and returns their
    /// number. If these are all bytes, the last block ends the stream; otherwise it ends at a whole byte.
    pub(super) fn encode(&mut self, raw: &[u8], compressor: &mut Compressor, out: &mut Vec<u8>) -> usize {
        let mut done = 0;
        let before = out.len();
        let mut bits = BitWriter::new(out);
        while let Some(rest) = raw.get(done..).filter(|rest| !rest.is_empty()) {
            let block = next_block(rest);
            self.runs.find(block);
            let counts = self.runs.count(block);
            let code = Code::new(&counts, &self.runs);
            if self.is_search_worth(block, done as u64, (&counts, &code), compressor) {
                break;
            }
            done += block.len();
            self.runs.write(block, &code, done == raw.len(), &mut bits);
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
    pub(super) fn find(&mut self, raw: &[u8], compressor: &mut Compressor) -> Option<usize> {
        let (mut first, mut found) = (None, None);
        for number in (1..raw.len() / BLOCK).step_by(STRIDE) {
            if !self.is_block_without_matches(raw, number, compressor) {
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
            if !self.is_block_without_matches(raw, before, compressor) {
                break;
            }
            found = Some(before);
        }
        self.base += raw.len() as u64 + WINDOW + 1;
        found.map(|first| first * BLOCK)
    }

    fn is_block_without_matches(&mut self, raw: &[u8], number: usize, compressor: &mut Compressor) -> bool {
        let Some(block) = raw.get(number * BLOCK..).and_then(|rest| rest.get(..BLOCK)) else { return false };
        self.runs.find(block);
        let counts = self.runs.count(block);
        let code = Code::new(&counts, &self.runs);
        !self.is_search_worth(block, (number * BLOCK) as u64, (&counts, &code), compressor)
    }

    /// Whether a search for matches would make a block noticeably smaller, judged by samples of its bytes, and by
    /// trials where these do not tell.
    fn is_search_worth(
        &mut self,
        block: &[u8],
        at: u64,
        (counts, code): (&Counts, &Code),
        compressor: &mut Compressor,
    ) -> bool {
        let has_few_runs = self.runs.len() <= FEW_RUNS;
        if counts.literals <= block.len() / FEW && has_few_runs {
            return false;
        }
        let kind = Kind::new(code, &self.runs, block.len());
        if self.runs.len() > counts.literals / MIN_APART && !has_few_runs {
            return self.trials.is_search_worth(kind, block, compressor);
        }
        if counts.entropy_in_place < MIN_SAME * counts.entropy {
            return true;
        }
        // Bytes that equal the one before more often than by chance are short matches at the least distance.
        let literals = self.runs.literals(block);
        let equal: usize = literals
            .map(|all| all.iter().zip(all.get(1..).unwrap_or_default()).filter(|(a, b)| a == b).count())
            .sum();
        if equal as f64 > counts.equal_by_chance + counts.literals as f64 / FEW_EQUAL {
            return true;
        }
        // A repeated sequence saves bits only from this length on.
        let fits = |bytes: &usize| *bytes as f64 * counts.entropy >= MATCH_BITS;
        match (MIN_SEQUENCE..=MAX_SEQUENCE).find(fits) {
            Some(bytes) => self.has_repeats(block, at, bytes),
            // A code with a whole number of bits for each literal may waste too much.
            None => self.trials.is_search_worth(kind, block, compressor),
        }
    }

    /// Whether sequences of this many bytes occur again, or too few can be sampled.
    fn has_repeats(&mut self, block: &[u8], at: u64, bytes: usize) -> bool {
        let mask = u64::MAX >> (64 - 8 * bytes.min(8));
        let (mut samples, mut found) = (0, 0);
        for (number, sequence) in block.windows(bytes.max(8)).enumerate() {
            let Some(word) = sequence.first_chunk().map(|word| u64::from_le_bytes(*word)) else { continue };
            let word = word & mask;
            // Samples are chosen by their content, so that the same sequences are chosen wherever they occur. Where few
            // different ones come back all the time, possibly none is chosen; the first are therefore all samples.
            if word.wrapping_mul(HASH) >> (64 - SAMPLED) != 0 && number >= ALL_SAMPLED {
                continue;
            }
            let is_run = word == word << 8 & mask | word & 0xff;
            let rest = sequence.get(8..bytes).unwrap_or_default();
            let sequence = rest.iter().fold(word, |hash, byte| mixed(hash, *byte));
            samples += usize::from(!is_run);
            found += usize::from(self.was_seen(sequence, self.base + at + number as u64) && !is_run);
        }
        samples < block.len() / MIN_SAMPLES || found > samples / FEW_FOUND
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
}

fn mixed(hash: u64, with: u8) -> u64 {
    (hash.rotate_left(5) ^ u64::from(with)).wrapping_mul(HASH)
}

/// Of this many blocks, one is examined to find where blocks without a search begin again. The blocks before them that
/// are searched may be at most this many times as many: continuing after a stream costs a walk along its codes.
const STRIDE: usize = 4;
const SEARCHED: usize = 8;

/// The maximum distance of a match.
const WINDOW: u64 = 32_768;
/// The logarithm of the share of sequences that are sampled, and the number of sequences that are remembered.
const SAMPLED: u32 = 5;
const SLOTS: usize = 4096;
const HASH: u64 = 0x9e37_79b9_7f4a_7c15;
/// The number of sequences at the beginning of a block that are all sampled.
const ALL_SAMPLED: usize = 512;
/// The number of literals for each run below which literals do not tell whether a search pays off.
const MIN_APART: usize = 8;
/// The number of runs up to which they hardly take bytes.
const FEW_RUNS: usize = 8;
/// The approximate size of a match in bits.
const MATCH_BITS: f64 = 28.0;
/// The lengths in bytes of the sequences that are sampled.
const MIN_SEQUENCE: usize = 4;
const MAX_SEQUENCE: usize = 16;
/// The minimum number of samples is the number of bytes divided by this.
const MIN_SAMPLES: usize = 256;
/// The minimum ratio of the entropy by position to the whole entropy for literals whose distribution is the same in all
/// positions.
const MIN_SAME: f64 = 0.98;
/// The share of literals up to which they hardly take bytes, and the share of repeated samples above which a search
/// pays off.
const FEW: usize = 512;
const FEW_FOUND: usize = 64;
/// The share of literals that may equal the one before, in addition to those that do so by chance.
const FEW_EQUAL: f64 = 32.0;

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;
    use libdeflater::CompressionLvl;
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
        encoded(raw).0
    }

    /// The number of bytes that were not searched, and their blocks.
    fn encoded(raw: &[u8]) -> (usize, Vec<u8>) {
        let (mut literals, mut out) = (Literals::default(), Vec::new());
        literals.begin(raw.len());
        (literals.encode(raw, &mut compressor(4), &mut out), out)
    }

    fn found(raw: &[u8]) -> Option<usize> {
        let mut literals = Literals::default();
        literals.begin(raw.len());
        literals.find(raw, &mut compressor(4))
    }

    fn compressor(level: i32) -> Compressor {
        Compressor::new(CompressionLvl::new(level).unwrap())
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
        assert_eq!(found(&raw), Some(repeated.len()));
        assert_eq!(encoded(&raw[repeated.len()..]).0, noisy.len());
        assert_eq!(found(&raw[repeated.len() + noisy.len()..]), None);
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
        assert_eq!(found(&[&repeated[..], &noisy, &repeated[..9 * BLOCK]].concat()), None);
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
        let (_, stored) = encoded(&masked);
        assert!(stored.len() < random.len() + 1_000, "{}", stored.len());
    }

    /// Runs of irregular lengths, as in masks and sparse arrays.
    fn runs(len: usize) -> Vec<u8> {
        let lengths = noise(1, len / 16, |byte, _| 16 + byte % 16);
        let runs = lengths.iter().zip((0..2).cycle());
        runs.flat_map(|(len, value)| std::iter::repeat_n(value, (*len).into())).take(len).collect()
    }

    #[test]
    fn runs_are_searched_if_that_makes_them_smaller() {
        let (runs, sparse) = (runs(20 * BLOCK), sparse(20 * BLOCK));
        assert_eq!(unsearched(&runs), runs.len());
        assert_eq!(unsearched(&sparse), 0);
    }

    #[test]
    fn runs_in_inputs_too_short_for_a_trial_are_searched() {
        assert_eq!(unsearched(&runs(4 * BLOCK)), 0);
    }

    /// Zeros, and now and then a number of few.
    fn sparse(len: usize) -> Vec<u8> {
        let values =
            noise(1, len / 16, |byte, _| byte).into_iter().zip(noise(2, len / 16, |byte, _| byte % 16));
        let bytes = values.flat_map(|(zeros, value)| {
            let number = f32::from(value) / 10.0;
            std::iter::repeat_n(0, 4 * usize::from(zeros % 16)).chain(number.to_le_bytes())
        });
        bytes.take(len).collect()
    }

    #[test]
    fn what_is_not_searched_is_not_larger() {
        let len = 24 * BLOCK;
        let skewed = noise(1, len, |a, b| if a < 240 { 0 } else { b % 4 });
        let rows: Vec<u8> =
            noise(1, len / 1024 + 1, |byte, _| byte).into_iter().flat_map(|byte| [byte; 1024]).collect();
        for raw in [
            runs(len),
            runs(8_000).repeat(100),
            sparse(len),
            skewed,
            rows,
            [runs(len), sparse(len), repeated(len)].concat(),
        ] {
            for level in [1, 4, 6] {
                let (mut state, mut stored) = (State::default(), Vec::new());
                state.encode(level, &raw, &mut stored).unwrap();
                let mut compressor = compressor(level.into());
                let mut searched = vec![0; compressor.zlib_compress_bound(raw.len())];
                let searched = compressor.zlib_compress(&raw, &mut searched).unwrap();
                assert!(stored.len() * 100 <= searched * 102, "{} of {searched}", stored.len());
                let mut back = vec![0; raw.len()];
                assert_eq!(state.decode(&stored, &mut back).unwrap(), raw.len());
                assert!(back == raw);
            }
        }
    }

    #[test]
    fn what_is_encoded_does_not_depend_on_earlier_inputs() {
        let (before, raw) = (runs(20 * BLOCK), runs(8_000).repeat(100));
        let (mut first, mut second) = (Vec::new(), Vec::new());
        State::default().encode(4, &raw, &mut first).unwrap();
        let mut state = State::default();
        for input in [&before, &raw] {
            state.encode(4, input, &mut second).unwrap();
        }
        assert!(first == second);
    }

    #[test]
    fn a_block_may_be_a_run_of_any_length() {
        let mut raw = vec![0; 80_000_000];
        raw.extend_from_slice(b"end");
        let (mut state, mut stored, mut back) = (State::default(), Vec::new(), vec![1; raw.len()]);
        state.encode(4, &raw, &mut stored).unwrap();
        assert_eq!(state.decode(&stored, &mut back).unwrap(), raw.len());
        assert!(back == raw);
    }

    #[test]
    fn records_of_an_odd_size_are_searched() {
        for seed in 1..20 {
            let constant = noise(seed, 17, |byte, _| byte);
            let records = noise(seed + 1, 100_000, |byte, _| byte);
            let records: Vec<u8> =
                records.chunks(16).flat_map(|noise| [&constant[..], noise].concat()).collect();
            assert_eq!(unsearched(&records), 0);
        }
    }

    #[test]
    fn short_repeats_are_searched() {
        let twice: Vec<u8> =
            noise(1, 50_000, |byte, _| byte).into_iter().flat_map(|byte| [byte; 2]).collect();
        assert_eq!(unsearched(&twice), 0);
    }

    #[test]
    fn fewer_values_in_random_order_are_not_searched_if_that_makes_them_smaller() {
        let value = |byte| match byte {
            0..140 => 0,
            140..205 => 1,
            205..230 => 2,
            _ => 3,
        };
        let classes = noise(1, 20 * BLOCK, |byte, _| value(byte));
        assert_eq!(unsearched(&classes), classes.len());
        assert_eq!(unsearched(&classes[..20_000].repeat(50)), 0);
        // Two values and the end of the block take three codes, of up to two bits.
        assert_eq!(unsearched(&noise(1, 20 * BLOCK, |byte, _| byte % 2)), 0);
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
