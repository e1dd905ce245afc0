//! Decodes streams to samples.

use super::{MAX_PIXELS, REMAINDER_OF_SEGMENT, SEGMENT, Szip, greatest};
use crate::bits::BitReader;
use hyperslab_core::{Error, Result};

/// Fills `out` with samples.
pub(super) fn decode(szip: &Szip, stream: &[u8], out: &mut [u8]) -> Result<()> {
    let decoded = match (szip.sample_size(), szip.most_significant_first) {
        (1, _) => decode_scanlines(szip, stream, out, |value| [low(value)]),
        (2, false) => decode_scanlines(szip, stream, out, |value| {
            let [a, b, ..] = value.to_le_bytes();
            [a, b]
        }),
        (2, true) => decode_scanlines(szip, stream, out, |value| {
            let [.., a, b] = value.to_be_bytes();
            [a, b]
        }),
        (_, false) => decode_scanlines(szip, stream, out, u32::to_le_bytes),
        (_, true) => decode_scanlines(szip, stream, out, u32::to_be_bytes),
    };
    decoded.map_err(|broken| {
        Error::malformed(match broken {
            Broken::Ends => format!("szip stream ends early, after {} bytes", stream.len()),
            Broken::Run(blocks) => {
                format!("szip stream with {blocks} blocks of zeros, more than the rest of a scanline")
            }
            Broken::Pair(code) => {
                format!("szip stream with second extension code {code}, expected at most 90")
            }
        })
    })
}

/// The defects of a stream. Messages are formatted outside of the loops.
enum Broken {
    Ends,
    Run(u32),
    Pair(u32),
}

fn decode_scanlines<const SIZE: usize>(
    szip: &Szip,
    stream: &[u8],
    out: &mut [u8],
    bytes: impl Fn(u32) -> [u8; SIZE],
) -> Result<(), Broken> {
    let mut bits = BitReader::new(stream);
    let scanline = usize::try_from(szip.pixels_per_scanline).unwrap_or(usize::MAX);
    let (samples, _) = out.as_chunks_mut();
    for samples in samples.chunks_mut(scanline) {
        decode_scanline(szip, &mut bits, samples, &bytes)?;
    }
    Ok(())
}

fn decode_scanline<const SIZE: usize>(
    szip: &Szip,
    reader: &mut BitReader<'_>,
    mut left: &mut [[u8; SIZE]],
    bytes: &impl Fn(u32) -> [u8; SIZE],
) -> Result<(), Broken> {
    let mut bits = *reader;
    let identifier_bits = szip.identifier_bits();
    let as_is = (1 << identifier_bits) - 1;
    let sample_bits = szip.sample_bits();
    let greatest = greatest(sample_bits);
    let blocks = szip.blocks_per_scanline();
    let len = usize::from(szip.pixels_per_block);
    let mut block = [0; MAX_PIXELS as usize];
    let (block, _) = block.split_at_mut(len);
    let mut done = 0;
    let mut sample = 0;
    while !left.is_empty() {
        let identifier = bits.read(identifier_bits).ok_or(Broken::Ends)?;
        // The first sample of the first block is stored unchanged.
        let first = usize::from(szip.nearest_neighbour && done == 0);
        let (reference, rest) = block.split_at_mut(first);
        let mut run = 1;
        if identifier == as_is {
            read_samples(&mut bits, sample_bits, reference)?;
            read_samples(&mut bits, sample_bits, rest)?;
        } else if identifier > 0 {
            read_samples(&mut bits, sample_bits, reference)?;
            read_split(&mut bits, identifier - 1, rest)?;
        } else {
            let second_extension = bits.read(1).ok_or(Broken::Ends)? == 1;
            read_samples(&mut bits, sample_bits, reference)?;
            if second_extension {
                read_pairs(&mut bits, first, block)?;
            } else {
                rest.fill(0);
                run = read_run(&mut bits, done, blocks)?;
            }
        }
        done += run;
        let (now, later) = left.split_at_mut(len.min(left.len()));
        if szip.nearest_neighbour {
            let (reference, rest) = block.split_at(first);
            let (now_first, now) = now.split_at_mut(first);
            for (to, value) in now_first.iter_mut().zip(reference) {
                sample = *value;
                *to = bytes(sample);
            }
            if stays_inside(sample, rest, greatest) {
                for (to, difference) in now.iter_mut().zip(rest) {
                    sample = step(sample, *difference);
                    *to = bytes(sample);
                }
            } else {
                for (to, difference) in now.iter_mut().zip(rest) {
                    sample = neighbour(sample, *difference, greatest);
                    *to = bytes(sample);
                }
            }
        } else {
            for (to, value) in now.iter_mut().zip(&*block) {
                *to = bytes(*value);
            }
        }
        // The other blocks of a run repeat the last sample or are zeros.
        let more = len.saturating_mul(usize::try_from(run - 1).unwrap_or(usize::MAX));
        let (now, later) = later.split_at_mut(more.min(later.len()));
        now.fill(bytes(sample));
        left = later;
    }
    *reader = bits;
    Ok(())
}

/// Reads samples that are stored unchanged.
#[inline(always)]
fn read_samples(bits: &mut BitReader<'_>, sample_bits: u32, samples: &mut [u32]) -> Result<(), Broken> {
    samples.fill(0);
    bits.read_each(sample_bits, samples).ok_or(Broken::Ends)
}

/// Reads the high parts of all samples, each as zeros before a 1 bit, then their low parts.
#[inline(always)]
fn read_split(bits: &mut BitReader<'_>, low_bits: u64, values: &mut [u32]) -> Result<(), Broken> {
    // At most 29: identifiers have five bits, and the largest identifier is another option.
    let low_bits = word(low_bits) & 31;
    bits.zeros_each(low_bits, values).ok_or(Broken::Ends)?;
    if low_bits > 0 {
        bits.read_each(low_bits, values).ok_or(Broken::Ends)?;
    }
    Ok(())
}

/// Reads pairs of values, each pair as one code. Codes are ordered by the sum of the pair.
#[inline(always)]
fn read_pairs(bits: &mut BitReader<'_>, first: usize, block: &mut [u32]) -> Result<(), Broken> {
    let mut skip = first;
    for pair in block.chunks_exact_mut(2) {
        let code = bits.zeros().ok_or(Broken::Ends)?;
        let Some(values) = usize::try_from(code).ok().and_then(|code| PAIRS.get(code)) else {
            return Err(Broken::Pair(code));
        };
        // The reference sample takes the place of the first value of its pair.
        for (to, value) in pair.iter_mut().zip(values).skip(skip) {
            *to = *value;
        }
        skip = 0;
    }
    Ok(())
}

/// The pair of values of each code.
#[expect(clippy::indexing_slicing, reason = "code counts up to 91, and evaluation stops the build otherwise")]
const PAIRS: [[u32; 2]; 91] = {
    let mut pairs = [[0; 2]; 91];
    let (mut code, mut sum) = (0, 0);
    while sum <= 12 {
        let mut second = 0;
        while second <= sum {
            pairs[code] = [sum - second, second];
            code += 1;
            second += 1;
        }
        sum += 1;
    }
    pairs
};

/// The number of zero blocks that follow the `done` blocks of a scanline.
#[inline(always)]
fn read_run(bits: &mut BitReader<'_>, done: u32, blocks: u32) -> Result<u32, Broken> {
    let left = blocks.saturating_sub(done);
    let run = match bits.zeros().ok_or(Broken::Ends)? {
        REMAINDER_OF_SEGMENT => left.min(SEGMENT - done % SEGMENT),
        code if code < REMAINDER_OF_SEGMENT => code + 1,
        code => code,
    };
    if run > left { Err(Broken::Run(run)) } else { Ok(run) }
}

/// The sample that a mapped difference from `sample` gives. Small differences alternate in sign; larger ones all go
/// in the direction with more room.
///
/// Without branches, since the direction is unpredictable in noise.
#[inline(always)]
fn neighbour(sample: u32, difference: u32, greatest: u32) -> u32 {
    let flip = flip(sample, greatest);
    let inside = u32::from(half(difference) <= sample ^ flip).wrapping_neg();
    (step(sample, difference) & inside) | ((difference ^ flip) & !inside)
}

/// Whether no difference of a block can exceed the room on either side, so that each is a plain step.
#[inline(always)]
fn stays_inside(sample: u32, differences: &[u32], greatest: u32) -> bool {
    let (mut reach, mut all) = (0_u32, 0);
    for difference in differences {
        reach = reach.wrapping_add(half(*difference));
        all |= difference;
    }
    // Samples have at most 24 bits, so sums over blocks of 64 do not overflow.
    all <= greatest && reach <= sample ^ flip(sample, greatest)
}

/// The mask that mirrors samples of the upper half, so that samples at both ends become the smallest. The room on the
/// nearer side is the mirrored sample.
#[inline(always)]
fn flip(sample: u32, greatest: u32) -> u32 {
    // The highest bit distinguishes the halves; with all bits below it, it is the maximum sample.
    let upper = sample & (greatest / 2 + 1);
    upper | upper.wrapping_sub(upper >> greatest.count_ones().wrapping_sub(1))
}

#[inline(always)]
fn half(difference: u32) -> u32 {
    difference / 2 + difference % 2
}

/// Adds half of an even difference, or subtracts half of an odd one: the latter inverts all bits.
#[inline(always)]
fn step(sample: u32, difference: u32) -> u32 {
    sample.wrapping_add((difference / 2) ^ (difference % 2).wrapping_neg())
}

#[inline(always)]
fn word(bits: u64) -> u32 {
    let [a, b, c, d, ..] = bits.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[inline(always)]
fn low(value: u32) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low
}
