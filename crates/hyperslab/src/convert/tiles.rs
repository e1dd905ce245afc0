//! Divides an array into boxes for copying: whole target chunks, each box read and written by one thread.

use crate::target::Sequence;
use hyperslab_core::nd::{Region, element_count};

/// The boxes of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tiling {
    /// The shape of the array.
    pub(super) extents: Vec<u64>,
    /// The shape of a box, a multiple of the target's chunk along each dimension.
    pub(super) tile: Vec<u64>,
    /// How often a source chunk is decoded on average; 1 if no source chunk is in several boxes.
    pub(super) redundancy: f64,
    /// The order of boxes by their numbers.
    order: Sequence,
}

impl Tiling {
    /// Boxes of at most about `max` bytes, with elements of `row` bytes, unless one target chunk is larger.
    /// Splits as few source chunks as possible. If none must be split, chooses the smallest boxes, which fit into
    /// fast caches.
    pub(super) fn new(extents: &[u64], source: &[u64], target: &[u64], row: u64, max: u64) -> Tiling {
        let dims = Dim::all(extents, source, target);
        let mut tile: Vec<u64> = dims.iter().map(|dim| dim.target).collect();
        let size = |tile: &[u64]| Dim::bytes(&dims, tile, row);
        // Each step takes the growth with the best ratio of saved decoding to additional memory.
        loop {
            let mut best: Option<(f64, usize, u64)> = None;
            for (at, (dim, now)) in dims.iter().zip(&tile).enumerate() {
                for next in dim.larger(*now) {
                    let mut tried = tile.clone();
                    if let Some(place) = tried.get_mut(at) {
                        *place = next;
                    }
                    let saved = dim.redundancy(*now) / dim.redundancy(next);
                    if size(&tried) > max || saved <= 1.0 {
                        continue;
                    }
                    let gain = saved.ln() / ratio(next, *now).ln().max(f64::MIN_POSITIVE);
                    if best.is_none_or(|(best_gain, ..)| gain > best_gain) {
                        best = Some((gain, at, next));
                    }
                }
            }
            let Some((_, at, next)) = best else { break };
            if let Some(place) = tile.get_mut(at) {
                *place = next;
            }
        }
        let redundancy = dims.iter().zip(&tile).map(|(dim, tile)| dim.redundancy(*tile)).product();
        // Several small chunks are copied together, along the last dimensions first, as they are adjacent in the
        // source.
        for (at, dim) in dims.iter().enumerate().rev() {
            while size(&tile) < MIN_TILE.min(max) {
                let Some(place) = tile.get_mut(at).filter(|now| **now < dim.extent) else { break };
                *place = place.saturating_mul(2).min(dim.whole());
            }
        }
        Tiling { extents: extents.to_vec(), tile, redundancy, order: Sequence::RowMajor }
    }

    /// Boxes that follow a sequence of chunks, if one is required.
    pub(super) fn of(
        sequence: Option<Sequence>,
        extents: &[u64],
        source: &[u64],
        target: &[u64],
        row: u64,
        max: u64,
    ) -> Tiling {
        match sequence {
            Some(order) => Tiling::in_sequence(order, extents, source, target, row, max),
            None => Tiling::new(extents, source, target, row, max),
        }
    }

    /// As [`Tiling::new`], with boxes that, one after the other, yield the chunks of the target in a sequence. They are
    /// whole along the dimensions that vary fastest, then several chunks long, then one chunk long.
    pub(super) fn in_sequence(
        order: Sequence,
        extents: &[u64],
        source: &[u64],
        target: &[u64],
        row: u64,
        max: u64,
    ) -> Tiling {
        let dims = Dim::all(extents, source, target);
        let mut tile: Vec<u64> = dims.iter().map(|dim| dim.target).collect();
        let size = |tile: &[u64]| Dim::bytes(&dims, tile, row);
        let fastest_first: Vec<usize> = match order {
            Sequence::RowMajor => (0..dims.len()).rev().collect(),
            Sequence::ColumnMajor => (0..dims.len()).collect(),
        };
        for at in fastest_first {
            let Some(dim) = dims.get(at) else { break };
            let mut tried = tile.clone();
            let mut set = |length: u64| {
                if let Some(place) = tried.get_mut(at) {
                    *place = length;
                }
                (size(&tried) <= max).then(|| tried.clone())
            };
            if let Some(whole) = set(dim.whole()) {
                tile = whole;
                continue;
            }
            // As many chunks as fit, and whole source chunks if possible.
            let one = size(&tile).max(1);
            let most = (max / one).max(1).saturating_mul(dim.target).min(dim.whole());
            let aligned = lcm(dim.source, dim.target);
            let length = if aligned <= most { most / aligned * aligned } else { most };
            tile = set(length).unwrap_or(tile);
            break;
        }
        let redundancy = dims.iter().zip(&tile).map(|(dim, tile)| dim.redundancy(*tile)).product();
        Tiling { extents: extents.to_vec(), tile, redundancy, order }
    }

    /// The dimensions from the slowest varying to the fastest.
    fn slowest_first(&self) -> Vec<usize> {
        match self.order {
            Sequence::RowMajor => (0..self.extents.len()).collect(),
            Sequence::ColumnMajor => (0..self.extents.len()).rev().collect(),
        }
    }

    /// One box for each chunk.
    pub(super) fn whole(extents: &[u64], chunk: &[u64]) -> Tiling {
        let tile = chunk.iter().map(|size| (*size).max(1)).collect();
        Tiling { extents: extents.to_vec(), tile, redundancy: 1.0, order: Sequence::RowMajor }
    }

    /// Two passes that decode less than these boxes, if there are any. The first reads the source in its own chunks
    /// and writes intermediate chunks; the second reads these in the order of the target.
    pub(super) fn two_passes(
        &self,
        source: &[u64],
        target: &[u64],
        row: u64,
        max: u64,
        sequence: Option<Sequence>,
    ) -> Option<[Pass; 2]> {
        if self.redundancy < WORTH_TWO_PASSES {
            return None;
        }
        let read = grown(&self.extents, source, target, row, max);
        let written = grown(&self.extents, target, source, row, max);
        let between: Vec<u64> = read.iter().zip(&written).map(|(one, other)| between(*one, *other)).collect();
        let first = Tiling::new(&self.extents, source, &between, row, max);
        let second = Tiling::of(sequence, &self.extents, &between, target, row, max);
        // Intermediate chunks are not compressed.
        let cost = first.redundancy + 0.5 + 0.3 * second.redundancy;
        (cost < self.redundancy).then(|| {
            [Pass { tiling: first, source: source.to_vec() }, Pass { tiling: second, source: between }]
        })
    }

    /// The number of boxes.
    pub(super) fn len(&self) -> u64 {
        let counts =
            self.extents.iter().zip(&self.tile).map(|(extent, tile)| extent.div_ceil((*tile).max(1)));
        counts.fold(1, u64::saturating_mul)
    }

    /// The box with this number.
    pub(super) fn region(&self, number: u64) -> Region {
        let rank = self.extents.len();
        let (mut start, mut count, mut rest) = (vec![0; rank], vec![0; rank], number);
        for at in self.slowest_first().into_iter().rev() {
            let (Some(extent), Some(tile)) = (self.extents.get(at), self.tile.get(at)) else { continue };
            let along = extent.div_ceil((*tile).max(1)).max(1);
            let first = (rest % along).saturating_mul(*tile);
            rest /= along;
            if let (Some(start), Some(count)) = (start.get_mut(at), count.get_mut(at)) {
                *start = first;
                *count = (*tile).min(extent.saturating_sub(first));
            }
        }
        Region::new(start, count)
    }

    /// Calls `visit` with the number of each box that has elements of the chunk at `start`, which has this shape.
    pub(super) fn numbers_in(&self, start: &[u64], chunk: &[u64], visit: &mut dyn FnMut(u64)) {
        let mut numbers = vec![0_u64];
        for at in self.slowest_first() {
            let dim = (self.extents.get(at), self.tile.get(at), start.get(at), chunk.get(at));
            let (Some(extent), Some(tile), Some(start), Some(size)) = dim else { continue };
            let tile = (*tile).max(1);
            let end = start.saturating_add(*size).min(*extent);
            let (first, last) = (start / tile, end.saturating_sub(1) / tile);
            let along = extent.div_ceil(tile).max(1);
            let next = |number: &u64| {
                let number = number.saturating_mul(along);
                (first..=last).map(move |at| number.saturating_add(at))
            };
            numbers = numbers.iter().flat_map(next).collect();
        }
        numbers.into_iter().for_each(visit);
    }

    /// The size of the largest box in bytes.
    pub(super) fn bytes(&self, row: u64) -> u64 {
        let within = self.tile.iter().zip(&self.extents).map(|(tile, extent)| (*tile).min(*extent));
        within.fold(row, u64::saturating_mul)
    }
}

/// One of two passes.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// Its boxes.
    pub(super) tiling: Tiling,
    /// The shape of the chunks that it reads.
    pub(super) source: Vec<u64>,
}

/// The largest box of whole chunks that fits into memory, grown along dimensions where the other chunks are longer.
fn grown(extents: &[u64], own: &[u64], other: &[u64], row: u64, max: u64) -> Vec<u64> {
    let mut grown: Vec<u64> =
        own.iter().zip(extents).map(|(own, extent)| (*own).clamp(1, (*extent).max(1))).collect();
    for ((at, extent), other) in extents.iter().enumerate().zip(other) {
        let size = element_count(&grown).unwrap_or(u64::MAX).saturating_mul(row.max(1));
        let Some(place) = grown.get_mut(at) else { break };
        let factor = (*other).min(*extent).max(*place) / *place;
        let max_factor = (max / size.max(1)).max(1);
        *place = place.saturating_mul(factor.min(max_factor)).min((*extent).max(1));
    }
    grown
}

/// The greatest common divisor of two lengths, unless it is much smaller than both; then the shorter length.
fn between(one: u64, other: u64) -> u64 {
    let (shorter, common) = (one.min(other), gcd(one, other));
    if common.saturating_mul(4) >= shorter { common } else { shorter }
}

/// One dimension.
struct Dim {
    extent: u64,
    source: u64,
    target: u64,
}

impl Dim {
    fn new(extent: u64, source: u64, target: u64) -> Dim {
        let extent = extent.max(1);
        Dim { extent, source: source.clamp(1, extent), target: target.max(1) }
    }

    /// The dimensions of an array.
    fn all(extents: &[u64], source: &[u64], target: &[u64]) -> Vec<Dim> {
        let sides = extents.iter().zip(source.iter().zip(target));
        sides.map(|(extent, (source, target))| Dim::new(*extent, *source, *target)).collect()
    }

    /// The size of a box with elements of `row` bytes. Parts beyond the array take no memory.
    fn bytes(dims: &[Dim], tile: &[u64], row: u64) -> u64 {
        let within = tile.iter().zip(dims).map(|(tile, dim)| (*tile).min(dim.extent));
        within.fold(row.max(1), u64::saturating_mul)
    }

    /// The smallest multiple of the target chunk that covers the dimension.
    fn whole(&self) -> u64 {
        self.extent.div_ceil(self.target).saturating_mul(self.target)
    }

    /// Larger boxes that may split fewer chunks: twice as large, as large as a source chunk needs, aligned with
    /// source chunks, the whole dimension.
    fn larger(&self, now: u64) -> impl Iterator<Item = u64> {
        let doubled = now.saturating_mul(2).min(self.whole());
        let covering = self.source.div_ceil(self.target).saturating_mul(self.target).min(self.whole());
        let aligned = lcm(self.source, self.target).min(self.whole());
        [doubled, covering, aligned].into_iter().filter(move |next| *next > now)
    }

    /// How often a source chunk is decoded on average if boxes have this length.
    fn redundancy(&self, tile: u64) -> f64 {
        if tile >= self.extent {
            return 1.0;
        }
        let split = self.source - gcd(tile, self.source);
        1.0 + ratio(split, tile)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rough measure is enough")]
fn ratio(of: u64, to: u64) -> f64 {
    of as f64 / to.max(1) as f64
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: u64, b: u64) -> u64 {
    (a / gcd(a, b).max(1)).saturating_mul(b)
}

/// From this redundancy on, a second pass with a temporary file is faster.
const WORTH_TWO_PASSES: f64 = 2.0;

/// For smaller boxes, distributing the work takes longer than copying.
const MIN_TILE: u64 = 512 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn splits_no_source_chunk_if_memory_allows() {
        let cut = |extents: &[u64], source: &[u64], target: &[u64], max| {
            let tiling = Tiling::new(extents, source, target, 4, max);
            (tiling.tile, tiling.redundancy)
        };
        let shape = [240, 1024, 1024];
        assert_eq!(cut(&shape, &[8, 256, 256], &[8, 256, 256], 64 << 20), (vec![8, 256, 256], 1.0));
        assert_eq!(cut(&shape, &[8, 256, 256], &[240, 64, 64], 80 << 20), (vec![240, 256, 256], 1.0));
        assert_eq!(cut(&shape, &[240, 64, 64], &[8, 256, 256], 80 << 20), (vec![240, 256, 256], 1.0));
        let (tile, redundancy) = cut(&shape, &[8, 256, 256], &[240, 64, 64], 8 << 20);
        assert!(redundancy > 1.5, "{tile:?} {redundancy}");
        assert!(tile.iter().product::<u64>() * 4 <= 8 << 20, "{tile:?}");
    }

    #[test]
    fn two_passes_decode_little_more_than_once() {
        // The source chunks are slices, the target chunks are columns, and memory is short for both.
        let (shape, source, target) = ([1000, 1000, 1000], [1, 1000, 1000], [1000, 10, 10]);
        let one = Tiling::new(&shape, &source, &target, 4, 16 << 20);
        assert!(one.redundancy > 5.0, "{one:?}");
        let [first, second] = one.two_passes(&source, &target, 4, 16 << 20, None).unwrap();
        assert!(first.tiling.redundancy < 1.5, "{first:?}");
        assert!(second.tiling.redundancy < 3.0, "{second:?}");
        assert!(first.tiling.bytes(4) <= 16 << 20 && second.tiling.bytes(4) <= 16 << 20);
        let fits = Tiling::new(&[240, 1024, 1024], &[8, 256, 256], &[240, 64, 64], 4, 80 << 20);
        assert!(fits.two_passes(&[8, 256, 256], &[240, 64, 64], 4, 80 << 20, None).is_none());
    }

    #[test]
    fn small_chunks_are_copied_together() {
        let tiling = Tiling::new(&[1000, 1000], &[10, 10], &[10, 10], 4, 64 << 20);
        assert!(tiling.bytes(4) >= MIN_TILE, "{tiling:?}");
        assert_eq!(Tiling::new(&[], &[], &[], 4, 64 << 20).len(), 1);
        assert_eq!(Tiling::new(&[0, 3], &[1, 1], &[1, 3], 4, 64 << 20).len(), 0);
    }

    proptest! {
        #[test]
        fn boxes_cover_each_element_once(
            axes in prop::collection::vec((0..40_u64, 1..12_u64, 1..12_u64), 0..4),
            max in 1..4096_u64,
        ) {
            let extents: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let source: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
            let target: Vec<u64> = axes.iter().map(|axis| axis.2).collect();
            let tiling = Tiling::new(&extents, &source, &target, 2, max);
            let mut covered = 0;
            for number in 0..tiling.len() {
                let region = tiling.region(number);
                prop_assert!(region.check(&extents).is_ok());
                for ((start, target), (count, extent)) in
                    region.start.iter().zip(&target).zip(region.count.iter().zip(&extents))
                {
                    prop_assert_eq!(start % target, 0);
                    prop_assert!(count % target == 0 || start + count == *extent);
                }
                covered += region.len().unwrap();
            }
            prop_assert_eq!(covered, extents.iter().product::<u64>());
            prop_assert!(tiling.redundancy >= 1.0);
        }
    }

    #[test]
    fn boxes_in_a_sequence_have_the_chunks_one_after_another() {
        for order in [Sequence::RowMajor, Sequence::ColumnMajor] {
            for (extents, target, max) in
                [([7, 9, 5], [2, 3, 2], 200), ([7, 9, 5], [2, 3, 2], 60), ([4, 4, 4], [4, 1, 1], 64)]
            {
                let tiling = Tiling::in_sequence(order, &extents, &[7, 1, 1], &target, 1, max);
                let mut chunks = Vec::new();
                for number in 0..tiling.len() {
                    let region = tiling.region(number);
                    let at = |n: usize| {
                        region.start[n] / target[n]..(region.start[n] + region.count[n]).div_ceil(target[n])
                    };
                    let mut own = Vec::new();
                    for x in at(0) {
                        for y in at(1) {
                            own.extend(at(2).map(|z| [x, y, z]));
                        }
                    }
                    if order == Sequence::ColumnMajor {
                        own.sort_by_key(|[x, y, z]| [*z, *y, *x]);
                    }
                    chunks.extend(own);
                    let mut numbers = Vec::new();
                    tiling.numbers_in(&region.start, &region.count, &mut |number| numbers.push(number));
                    assert_eq!(numbers, [number]);
                }
                let key = |chunk: &[u64; 3]| match order {
                    Sequence::RowMajor => *chunk,
                    Sequence::ColumnMajor => [chunk[2], chunk[1], chunk[0]],
                };
                assert!(chunks.is_sorted_by_key(key), "{order:?} {extents:?} {max}: {chunks:?}");
                let all: u64 = (0..3).map(|n| extents[n].div_ceil(target[n])).product();
                assert_eq!(chunks.len() as u64, all);
            }
        }
    }
}
