//! The remaining part of a box while fragments cover parts of it.

use super::fragment_grid::IndexBox;

/// Disjoint boxes of cells that no fragment has provided yet.
pub(crate) struct Left(Vec<IndexBox>);

impl Left {
    pub(crate) fn all(of: IndexBox) -> Left {
        Left(vec![of])
    }

    pub(crate) fn boxes(&self) -> &[IndexBox] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes and returns the part of it that is within a box.
    pub(crate) fn take(&mut self, other: &IndexBox) -> Vec<IndexBox> {
        let (mut taken, mut left) = (Vec::new(), Vec::with_capacity(self.0.len()));
        for mut rest in self.0.drain(..) {
            let Some(common) = rest.intersect(other) else {
                left.push(rest);
                continue;
            };
            // Along one dimension after another, the parts before and after the common part are cut off.
            for dimension in 0..common.first.len() {
                if let Some(before) = rest.cut_before(dimension, &common) {
                    left.push(before);
                }
                if let Some(behind) = rest.cut_behind(dimension, &common) {
                    left.push(behind);
                }
            }
            taken.push(common);
        }
        self.0 = left;
        taken
    }
}

impl IndexBox {
    /// The common part of both boxes. `None` if there is none.
    pub(crate) fn intersect(&self, other: &IndexBox) -> Option<IndexBox> {
        let first: Vec<u64> = self.first.iter().zip(&other.first).map(|(a, b)| *a.max(b)).collect();
        let last: Vec<u64> = self.last.iter().zip(&other.last).map(|(a, b)| *a.min(b)).collect();
        let is_there = first.iter().zip(&last).all(|(first, last)| first <= last);
        is_there.then_some(IndexBox { first, last })
    }

    /// The number of cells along each dimension.
    pub fn shape(&self) -> Vec<u64> {
        self.first
            .iter()
            .zip(&self.last)
            .map(|(first, last)| last.saturating_sub(*first).saturating_add(1))
            .collect()
    }

    fn cut_before(&mut self, dimension: usize, common: &IndexBox) -> Option<IndexBox> {
        let from = *common.first.get(dimension)?;
        let end = from.checked_sub(1)?;
        if *self.first.get(dimension)? > end {
            return None;
        }
        let mut before = self.clone();
        *before.last.get_mut(dimension)? = end;
        *self.first.get_mut(dimension)? = from;
        Some(before)
    }

    fn cut_behind(&mut self, dimension: usize, common: &IndexBox) -> Option<IndexBox> {
        let to = *common.last.get(dimension)?;
        let begin = to.checked_add(1)?;
        if *self.last.get(dimension)? < begin {
            return None;
        }
        let mut behind = self.clone();
        *behind.first.get_mut(dimension)? = begin;
        *self.last.get_mut(dimension)? = to;
        Some(behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn index_box() -> impl Strategy<Value = IndexBox> {
        prop::collection::vec((0..6_u64, 0..4_u64), 2).prop_map(|sides| IndexBox {
            first: sides.iter().map(|(first, _)| *first).collect(),
            last: sides.iter().map(|(first, more)| first + more).collect(),
        })
    }

    fn has(of: &IndexBox, x: u64, y: u64) -> bool {
        (of.first[0]..=of.last[0]).contains(&x) && (of.first[1]..=of.last[1]).contains(&y)
    }

    proptest! {
        #[test]
        fn each_cell_is_taken_once_by_the_first_box_that_has_it(
            all in index_box(),
            others in prop::collection::vec(index_box(), 0..5),
        ) {
            let mut left = Left::all(all.clone());
            let taken: Vec<Vec<IndexBox>> = others.iter().map(|other| left.take(other)).collect();
            for x in 0..10 {
                for y in 0..10 {
                    let first = others.iter().position(|other| has(other, x, y)).filter(|_| has(&all, x, y));
                    for (ordinal, boxes) in taken.iter().enumerate() {
                        let count = boxes.iter().filter(|of| has(of, x, y)).count();
                        prop_assert_eq!(count, usize::from(first == Some(ordinal)));
                    }
                    let count = left.boxes().iter().filter(|of| has(of, x, y)).count();
                    prop_assert_eq!(count, usize::from(has(&all, x, y) && first.is_none()));
                }
            }
        }
    }
}
