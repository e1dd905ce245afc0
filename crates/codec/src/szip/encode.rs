//! Encodes samples, each block with the option that makes it shortest.

use super::{REMAINDER_OF_SEGMENT, SEGMENT, Szip, greatest};
use crate::bits::BitWriter;

/// Appends the stream of `raw` to `stored`.
pub(super) fn encode(szip: &Szip, raw: &[u8], stored: Vec<u8>) -> Vec<u8> {
    let mut encoder = Encoder {
        bits: BitWriter::after(stored),
        identifier_bits: szip.identifier_bits(),
        sample_bits: szip.sample_bits(),
        split: 0,
    };
    let scanline = usize::try_from(szip.pixels_per_scanline).unwrap_or(usize::MAX);
    let block = usize::from(szip.pixels_per_block);
    let size = szip.sample_size();
    let mut samples = Vec::new();
    for line in raw.chunks(scanline.saturating_mul(size)) {
        samples.clear();
        samples.extend(line.chunks_exact(size).map(|bytes| sample(bytes, szip.most_significant_first)));
        // Every scanline is filled up, including the last, as in other encoders.
        let fill = if szip.nearest_neighbour { samples.last().copied().unwrap_or(0) } else { 0 };
        samples.resize(scanline.next_multiple_of(block), fill);
        if szip.nearest_neighbour {
            to_differences(&mut samples, greatest(szip.sample_bits()));
        }
        encoder.scanline(&samples, block, szip.nearest_neighbour);
    }
    encoder.bits.finish()
}

struct Encoder {
    bits: BitWriter,
    identifier_bits: u32,
    sample_bits: u32,
    /// The number of low bits that was best for the last block. The best for the next block is likely close.
    split: u32,
}

/// Zero blocks that are not written yet.
struct Run {
    blocks: u32,
    /// The reference sample at the start of the first block.
    reference: Option<u32>,
}

impl Encoder {
    fn scanline(&mut self, values: &[u32], block: usize, referenced: bool) {
        let mut run = Run { blocks: 0, reference: None };
        let blocks = values.chunks_exact(block);
        let count = blocks.len();
        for ((values, done), ordinal) in blocks.zip((1_u32..=SEGMENT).cycle()).zip(1..) {
            let split = if referenced && ordinal == 1 { values.split_first() } else { None };
            let (reference, differences) = match split {
                Some((reference, differences)) => (Some(*reference), differences),
                None => (None, values),
            };
            if differences.iter().any(|value| *value != 0) {
                self.run(&mut run, false);
                self.block(reference, differences);
                continue;
            }
            if run.blocks == 0 {
                run.reference = reference;
            }
            run.blocks += 1;
            if done == SEGMENT || ordinal == count {
                self.run(&mut run, true);
            }
        }
    }

    /// Writes a run of zero blocks.
    fn run(&mut self, run: &mut Run, remainder: bool) {
        if run.blocks == 0 {
            return;
        }
        self.bits.write(self.identifier_bits + 1, 0);
        self.reference(run.reference);
        self.bits.write_zeros(match run.blocks {
            blocks if blocks <= REMAINDER_OF_SEGMENT => blocks - 1,
            _ if remainder => REMAINDER_OF_SEGMENT,
            blocks => blocks,
        });
        *run = Run { blocks: 0, reference: None };
    }

    fn block(&mut self, reference: Option<u32>, values: &[u32]) {
        let as_is = values.len() as u64 * u64::from(self.sample_bits);
        let pairs = pairs_len(reference.is_some(), values).filter(|len| *len < as_is);
        let split = self.best_split(values);
        if split < as_is && pairs.is_none_or(|pairs| split < pairs) {
            self.bits.write(self.identifier_bits, u64::from(self.split) + 1);
            self.reference(reference);
            for value in values {
                self.bits.write_zeros(value >> self.split);
            }
            let low = (1 << self.split) - 1;
            for value in values {
                self.bits.write(self.split, (value & low).into());
            }
        } else if pairs.is_some() {
            self.bits.write(self.identifier_bits + 1, 1);
            self.reference(reference);
            for (first, second) in in_pairs(reference.is_some(), values) {
                let sum = first + second;
                self.bits.write_zeros(sum * (sum + 1) / 2 + second);
            }
        } else {
            self.bits.write(self.identifier_bits, (1 << self.identifier_bits) - 1);
            self.reference(reference);
            let mask = greatest(self.sample_bits);
            for value in values {
                self.bits.write(self.sample_bits, (value & mask).into());
            }
        }
    }

    fn reference(&mut self, reference: Option<u32>) {
        if let Some(sample) = reference {
            self.bits.write(self.sample_bits, (sample & greatest(self.sample_bits)).into());
        }
    }

    /// The length of a block with its best split, which is remembered. As a function of the number of low bits, the
    /// length falls and then rises.
    fn best_split(&mut self, values: &[u32]) -> u64 {
        let max = (1 << self.identifier_bits) - 3;
        let len = |split: u32| {
            let high: u64 = values.iter().map(|value| u64::from(value >> split)).sum();
            high + values.len() as u64 * u64::from(split + 1)
        };
        let mut best = len(self.split);
        let mut turned = false;
        while self.split < max {
            let next = len(self.split + 1);
            if next >= best {
                break;
            }
            (best, turned) = (next, true);
            self.split += 1;
        }
        while !turned && self.split > 0 {
            let next = len(self.split - 1);
            if next > best {
                break;
            }
            best = next;
            self.split -= 1;
        }
        best
    }
}

/// The length of a block coded in pairs. `None` if the sum of a pair has no code.
fn pairs_len(referenced: bool, values: &[u32]) -> Option<u64> {
    let len = in_pairs(referenced, values).try_fold(1, |len, (first, second)| {
        let sum = u64::from(first) + u64::from(second);
        (sum <= 12).then(|| len + sum * (sum + 1) / 2 + u64::from(second) + 1)
    })?;
    Some(len)
}

/// Values in pairs. The reference sample stands for a zero.
fn in_pairs(referenced: bool, values: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let (alone, rest) = if referenced { values.split_at(1) } else { values.split_at(0) };
    let pairs = rest.as_chunks().0.iter().map(|[first, second]| (*first, *second));
    alone.iter().map(|second| (0, *second)).chain(pairs)
}

/// Replaces all samples except the first by mapped differences from the sample before.
fn to_differences(samples: &mut [u32], greatest: u32) {
    let mut last = samples.first().copied().unwrap_or(0);
    for sample in samples.iter_mut().skip(1) {
        let this = std::mem::replace(sample, 0);
        *sample = if this >= last {
            let up = this - last;
            if up <= last { up.wrapping_mul(2) } else { this }
        } else {
            let down = last - this;
            if down <= greatest.wrapping_sub(last) {
                down.wrapping_mul(2).wrapping_sub(1)
            } else {
                greatest.wrapping_sub(this)
            }
        };
        last = this;
    }
}

fn sample(bytes: &[u8], most_significant_first: bool) -> u32 {
    let add = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
    if most_significant_first { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}
