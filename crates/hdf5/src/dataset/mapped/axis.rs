//! Where the indexes of a selection and those of a region meet, along one dimension.

use super::indexes::Indexes;
use hyperslab_core::nd::Region;

/// The indexes of a region along a dimension, at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    start: u64,
    /// At least 1.
    step: u64,
    count: u64,
}

impl Axis {
    /// The indexes along each dimension.
    pub(super) fn all(region: &Region) -> impl DoubleEndedIterator<Item = Axis> + ExactSizeIterator {
        let of = |((start, count), step): ((&u64, &u64), &u64)| Axis {
            start: *start,
            step: (*step).max(1),
            count: *count,
        };
        region.start.iter().zip(&region.count).zip(&region.step).map(of)
    }

    /// The index of a row.
    pub(super) fn at(&self, row: u64) -> Option<u64> {
        let row = Some(row).filter(|row| *row < self.count)?;
        row.checked_mul(self.step)?.checked_add(self.start)
    }

    /// The first row whose index is not below `index`.
    pub(super) fn row_from(&self, index: u64) -> u64 {
        index.saturating_sub(self.start).div_ceil(self.step)
    }

    /// Whether it has an index from `first` to before `end`.
    pub(super) fn meets(&self, first: u64, end: u64) -> bool {
        self.at(self.row_from(first)).is_some_and(|index| index < end)
    }

    /// The first row from `row` on whose index is not below the next index in `indexes`, and whether it has that index.
    /// No row in between has an index in `indexes`. `None` if there is no such row.
    pub(super) fn towards(&self, row: u64, indexes: &Indexes) -> Option<(u64, bool)> {
        let index = indexes.at(indexes.before(self.at(row)?))?;
        let row = self.row_from(index);
        Some((row, self.at(row)? == index))
    }

    /// Whether an index may be in `indexes`. False only if none of them is.
    pub(super) fn may_meet(&self, indexes: &Indexes) -> bool {
        let mut row = 0;
        for _ in 0..MAX_STEPS {
            match self.towards(row, indexes) {
                None => return false,
                Some((_, true)) => return true,
                Some((later, false)) => row = later,
            }
        }
        true
    }
}

/// The maximum number of gaps that are examined: blocks and steps of unlucky sizes meet late, or never.
const MAX_STEPS: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::encoding::selection::hyperslab::Dimension;

    #[test]
    fn indexes_meet_where_both_are() {
        for (block, stride) in [(1, 1), (1, 4), (2, 5), (3, 7)] {
            let own = Dimension { start: 2, stride, count: 6, block };
            let indexes = Indexes::of(&own).unwrap();
            let all: Vec<u64> = (0..indexes.len()).map(|place| indexes.at(place).unwrap()).collect();
            for (start, step, count) in [(0, 1, 50), (0, 4, 3), (5, 9, 4), (9, 1, 0), (49, 1, 1), (4, 1, 1)] {
                let axis = Axis { start, step, count };
                let rows: Vec<u64> = (0..count).filter(|row| all.contains(&axis.at(*row).unwrap())).collect();
                assert_eq!(axis.may_meet(&indexes), !rows.is_empty(), "{own:?} {axis:?}");
                let mut met = Vec::new();
                let mut row = 0;
                while let Some((later, is_met)) = axis.towards(row, &indexes) {
                    assert!(later >= row);
                    met.extend(is_met.then_some(later));
                    row = if is_met { later + 1 } else { later };
                }
                assert_eq!(met, rows, "{own:?} {axis:?}");
            }
        }
        assert!(Axis { start: 3, step: 4, count: 3 }.meets(10, 12));
        assert!(!Axis { start: 3, step: 4, count: 3 }.meets(12, 99));
    }

    #[test]
    fn far_indexes_are_found_without_those_between() {
        let far = Axis { start: 0, step: 1 << 39, count: 2 };
        let all = Indexes::of(&Dimension { start: 0, stride: 1, count: u64::MAX, block: 1 }).unwrap();
        assert_eq!(far.towards(1, &all), Some((1, true)));
        assert_eq!(far.towards(2, &all), None);
        // Odd indexes among even ones: still undecided after a while, so they may meet.
        let odd = Indexes::of(&Dimension { start: 1, stride: 2, count: 1 << 40, block: 1 }).unwrap();
        assert!(Axis { start: 0, step: 2, count: 1 << 30 }.may_meet(&odd));
    }
}
