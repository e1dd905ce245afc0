//! The elements of an array at some positions of its dimensions.

use super::super::Picks;
use super::super::read::gather;
use crate::source::engine::row_size;
use crate::source::{ArraySource, ArrayView};
use hyperslab_codec::Scratch;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_model::Reference;
use std::sync::Arc;

pub(super) struct NarrowedArray {
    array: Arc<dyn ArraySource>,
    picks: Vec<Picks>,
    extents: Vec<u64>,
    chunk: Vec<u64>,
}

impl NarrowedArray {
    pub(super) fn new(array: Arc<dyn ArraySource>, picks: Vec<Picks>) -> Self {
        let extents: Vec<u64> = picks.iter().map(Picks::count).collect();
        // The number of positions in a chunk, if they were evenly distributed.
        let chunk = picks.iter().zip(array.chunk()).map(|(picks, chunk)| {
            let within = u128::from(picks.count()) * u128::from(*chunk) / u128::from(picks.span().max(1));
            u64::try_from(within).unwrap_or(u64::MAX).clamp(1, *chunk)
        });
        let chunk = chunk.collect();
        NarrowedArray { array, picks, extents, chunk }
    }

    /// The positions in the array of a region of the narrowed array, for each dimension.
    fn picks_in(&self, region: &Region) -> Result<Vec<Picks>> {
        region.check(&self.extents)?;
        let dims = region.start.iter().zip(&region.count).zip(&region.step);
        Ok(self
            .picks
            .iter()
            .zip(dims)
            .map(|(picks, ((start, count), step))| picks.part(*start, *count, *step))
            .collect())
    }
}

impl ArrayView for NarrowedArray {
    fn viewed(&self) -> &dyn ArraySource {
        &*self.array
    }

    fn shown_extents(&self) -> Option<&[u64]> {
        Some(&self.extents)
    }

    fn shown_chunk(&self) -> &[u64] {
        &self.chunk
    }

    fn read_shown(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let picks = self.picks_in(region)?;
        if let Some(region) = region_of(&picks) {
            return self.array.read_part(&region, rows, heap, scratch);
        }
        let row = row_size(self)?;
        let picks: Vec<&Picks> = picks.iter().collect();
        gather(&picks, self.array.chunk(), row, rows, heap, &mut |region, rows, heap| {
            self.array.read_part(region, &mut Planes::whole(rows), heap, scratch)
        })
    }

    fn is_shown_unwritten_in(&self, region: &Region) -> Result<bool> {
        match region_of(&self.picks_in(region)?) {
            Some(region) => self.array.is_unwritten_in(&region),
            None => Ok(false),
        }
    }
}

/// The region with exactly these positions; `None` if they are not ranges.
fn region_of(picks: &[Picks]) -> Option<Region> {
    let mut region = Region { start: Vec::new(), count: Vec::new(), step: Vec::new() };
    for picks in picks {
        let Picks::Range { start, count, step } = picks else { return None };
        region.start.push(*start);
        region.count.push(*count);
        region.step.push(*step);
    }
    Some(region)
}

impl Picks {
    /// The positions below `extent`: arrays can be shorter than their dimensions.
    ///
    /// # Errors
    /// If a position beyond `extent` comes before one below it, so that the result would have gaps.
    pub(super) fn within(&self, extent: u64) -> Result<Picks> {
        Ok(match self {
            Picks::Range { start, count, step } => {
                let reached = extent.saturating_sub(*start).div_ceil((*step).max(1));
                Picks::Range { start: *start, count: (*count).min(reached), step: *step }
            }
            Picks::List(list) => {
                let kept: Vec<u64> = list.iter().copied().take_while(|at| *at < extent).collect();
                if list.iter().filter(|at| **at < extent).count() != kept.len() {
                    return Err(Error::unsupported(format!(
                        "the array has {extent} along it, and out-of-range positions precede valid ones"
                    )));
                }
                Picks::List(kept)
            }
        })
    }

    /// The number of positions from the lowest to the highest, including those that are not selected.
    fn span(&self) -> u64 {
        match self {
            Picks::Range { count, step, .. } => count.saturating_mul(*step),
            Picks::List(list) => {
                let (low, high) = (list.iter().min().copied(), list.iter().max().copied());
                low.zip(high).map_or(0, |(low, high)| high.saturating_sub(low).saturating_add(1))
            }
        }
    }

    /// `count` of these positions: number `first` and then every `every`-th. A range if their distance is constant.
    pub(in crate::select) fn part(&self, first: u64, count: u64, every: u64) -> Picks {
        let list = match self {
            Picks::Range { start, step, .. } => {
                let start = start.saturating_add(first.saturating_mul(*step));
                return Picks::Range { start, count, step: step.saturating_mul(every) };
            }
            Picks::List(list) => list,
        };
        let narrow = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let part = list.iter().copied().skip(narrow(first)).step_by(narrow(every.max(1))).take(narrow(count));
        let list: Vec<u64> = part.collect();
        let even = match list.as_slice() {
            [] => Some((0, 1)),
            [only] => Some((*only, 1)),
            [a, b, ..] => {
                let step = b.checked_sub(*a).filter(|step| *step > 0);
                let follows = |pair: &[u64]| matches!(pair, [a, b] if b.checked_sub(*a) == step);
                step.filter(|_| list.windows(2).all(follows)).map(|step| (*a, step))
            }
        };
        match even {
            Some((start, step)) => Picks::Range { start, count: list.len() as u64, step },
            None => Picks::List(list),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use crate::source::testing::Numbers;
    use proptest::prelude::*;

    fn picks(extent: u64) -> impl Strategy<Value = Picks> {
        let range = (0..extent, 1..4_u64, 0..=extent).prop_map(move |(start, step, count)| Picks::Range {
            start,
            count: count.min((extent - start).div_ceil(step)),
            step,
        });
        prop_oneof![range, prop::collection::vec(0..extent, 0..6).prop_map(Picks::List)]
    }

    proptest! {
        #[test]
        fn regions_of_a_narrowed_array_have_the_selected_elements(
            (extents, picks) in prop::collection::vec(1..9_u64, 1..4).prop_flat_map(|extents| {
                let picks: Vec<_> = extents.iter().map(|extent| picks(*extent)).collect();
                (Just(extents), picks)
            }),
            chunk in prop::collection::vec(1..5_u64, 3),
            part in prop::collection::vec((0..9_u64, 0..9_u64, 1..4_u64), 3),
            threads in 1..3_usize,
        ) {
            let numbers = Numbers::new(&extents, &chunk[..extents.len()], Pool::new(threads, Pool::MEMORY));
            let positions: Vec<Vec<u64>> =
                picks.iter().map(|picks| (0..picks.count()).map(|at| picks.get(at).unwrap()).collect()).collect();
            let narrowed = NarrowedArray::new(Arc::new(numbers), picks);
            let mut region = Region::all(narrowed.extents().unwrap());
            for (dimension, (start, count, step)) in part.into_iter().take(extents.len()).enumerate() {
                let extent = region.count[dimension];
                region.start[dimension] = start.min(extent);
                region.step[dimension] = step;
                region.count[dimension] = count.min((extent - start.min(extent)).div_ceil(step));
            }
            prop_assert!(narrowed.chunk().iter().zip(&chunk).all(|(own, chunk)| (1..=*chunk).contains(own)));
            let values = narrowed.values(&region).unwrap();
            let mut expected = vec![0_u64];
            for (dimension, (positions, extent)) in positions.iter().zip(&extents).enumerate() {
                let (start, step) = (region.start[dimension], region.step[dimension]);
                let selected: Vec<u64> = (0..region.count[dimension])
                    .map(|k| positions[usize::try_from(start + k * step).unwrap()])
                    .collect();
                expected = expected.iter().flat_map(|place| selected.iter().map(move |at| place * extent + at)).collect();
            }
            let expected: Vec<u8> = expected.into_iter().flat_map(u64::to_ne_bytes).collect();
            prop_assert!(values.rows == expected);
            prop_assert!(narrowed.read(&Region::all(&vec![99; extents.len()]), &mut [], &mut Heap::default()).is_err());
        }
    }

    #[test]
    fn positions_beyond_a_shorter_array_are_dropped() {
        let range = Picks::Range { start: 2, count: 5, step: 3 };
        let counts: Vec<_> = [0, 2, 3, 6, 15, 99].map(|extent| range.within(extent).unwrap().count()).into();
        assert_eq!(counts, [0, 0, 1, 2, 5, 5]);
        let list = Picks::List(vec![0, 3, 9]);
        assert_eq!(list.within(5).unwrap(), Picks::List(vec![0, 3]));
        assert!(Picks::List(vec![9, 0]).within(5).unwrap_err().to_string().contains("precede valid ones"));
    }

    #[test]
    fn positions_at_a_constant_distance_become_a_range() {
        let list = Picks::List(vec![9, 1, 4, 7, 8]);
        assert_eq!(list.part(1, 3, 1), Picks::Range { start: 1, count: 3, step: 3 });
        assert_eq!(list.part(0, 3, 2), Picks::List(vec![9, 4, 8]));
        assert_eq!(list.part(4, 1, 7), Picks::Range { start: 8, count: 1, step: 1 });
        assert_eq!(list.part(0, 2, 1), Picks::List(vec![9, 1]));
    }
}
