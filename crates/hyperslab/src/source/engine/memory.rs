//! How much memory an element takes: a slot is small, but the string behind it can have any length.

use crate::source::ArraySource;
use hyperslab_core::Result;
use hyperslab_core::nd::{Region, element_count};
use hyperslab_model::Values;

/// The memory of an element of `region` in bytes, with the targets of its slots. Their lengths are known only after
/// reading, so some elements are read, from at most one chunk in four.
pub(crate) fn element_memory<A: ArraySource + ?Sized>(array: &A, region: &Region) -> u64 {
    let row = array.datatype().row_size().unwrap_or(usize::MAX) as u64;
    if !array.datatype().has_slots() {
        return row;
    }
    let usual = row.saturating_mul(USUAL_TARGET);
    let count = region.len().unwrap_or(u64::MAX);
    if count <= FEW {
        return usual;
    }
    let chunk = element_count(array.chunk()).unwrap_or(u64::MAX).max(1);
    let samples = (count / chunk / 4).clamp(1, MAX_SAMPLES);
    // Unreadable elements are reported when they are needed.
    let sampled = (0..samples).filter_map(|sample| mean(array, &run(region, count / samples * sample)).ok());
    sampled.fold(usual, |most, mean| most.max(row.saturating_add(mean)))
}

/// The mean number of bytes behind an element.
fn mean<A: ArraySource + ?Sized>(array: &A, run: &Region) -> Result<u64> {
    let Values { heap, .. } = array.values(run)?;
    let bytes: u64 = heap.buffers.iter().map(|buffer| buffer.len() as u64).sum();
    Ok(bytes / run.len().unwrap_or(1).max(1))
}

/// Some consecutive elements of a region, starting at this number.
fn run(region: &Region, number: u64) -> Region {
    let (mut start, mut left) = (region.start.clone(), number);
    let dims = start.iter_mut().zip(&region.count).zip(&region.step);
    let mut room = 1;
    for (dimension, ((start, count), step)) in dims.enumerate().rev() {
        let index = left % (*count).max(1);
        left /= (*count).max(1);
        *start = start.saturating_add(index.saturating_mul(*step));
        if dimension + 1 == region.rank() {
            room = count.saturating_sub(index);
        }
    }
    let mut count = vec![1; region.rank()];
    if let Some(last) = count.last_mut() {
        *last = room.clamp(1, RUN);
    }
    Region { start, count, step: region.step.clone() }
}

/// Without samples, a slot and its targets are assumed to be together this many times as large as the slot.
const USUAL_TARGET: u64 = 8;

/// Fewer elements need no samples.
const FEW: u64 = 64;

/// The maximum number of places that are sampled, and of elements that are read at each.
const MAX_SAMPLES: u64 = 8;
const RUN: u64 = 16;
