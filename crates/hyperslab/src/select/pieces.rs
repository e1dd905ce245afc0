//! A selection in pieces that follow each other, row-major.

use super::{Axis, Selected};

impl Selected {
    /// The selection in pieces of at most so many elements, or of one. Selections with equal counts, but for those
    /// of 1, have pieces of equal counts.
    pub(crate) fn pieces(&self, most: u64) -> impl Iterator<Item = Selected> + '_ {
        // The outermost dimension of which one position fits; above it a piece has one position of each.
        let (mut cut, mut inner, mut all) = (self.axes.len().saturating_sub(1), 1_u64, 1_u64);
        for (dimension, count) in self.axes.iter().map(Axis::count).enumerate().rev() {
            if all > most {
                break;
            }
            (cut, inner) = (dimension, all);
            all = all.saturating_mul(count);
        }
        let step = (most / inner.max(1)).max(1);
        let mut next = (!self.counts().contains(&0)).then(|| vec![0_u64; self.axes.len().min(cut + 1)]);
        std::iter::from_fn(move || {
            let at = next.as_mut()?;
            let mut axes = self.axes.clone();
            for (dimension, (axis, at)) in axes.iter_mut().zip(at.iter()).enumerate() {
                let most = if dimension == cut { step } else { 1 };
                axis.picks = axis.picks.part(*at, most.min(axis.count().saturating_sub(*at)), 1);
            }
            let mut done = true;
            for (dimension, (at, axis)) in at.iter_mut().zip(&self.axes).enumerate().rev() {
                *at = at.saturating_add(if dimension == cut { step } else { 1 });
                if *at < axis.count() {
                    done = false;
                    break;
                }
                *at = 0;
            }
            if done {
                next = None;
            }
            Some(Selected { axes })
        })
    }

    /// Where the element number `index` of what is selected stands in the array.
    pub(crate) fn position(&self, index: u64) -> Vec<u64> {
        let mut rest = index;
        let mut position = vec![0; self.axes.len()];
        for (position, axis) in position.iter_mut().zip(&self.axes).rev() {
            let count = axis.count().max(1);
            *position = axis.picks.get(rest % count).unwrap_or(u64::MAX);
            rest /= count;
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use super::super::Picks;
    use super::*;

    fn selected(picks: Vec<Picks>) -> Selected {
        Selected { axes: picks.into_iter().map(|picks| Axis { picks, dropped: false }).collect() }
    }

    #[test]
    fn pieces_follow_each_other_and_lie_where_the_whole_has_them() {
        let whole = selected(vec![
            Picks::Range { start: 1, count: 3, step: 2 },
            Picks::List(vec![7, 2, 9, 4, 4]),
            Picks::Range { start: 0, count: 2, step: 1 },
        ]);
        let positions = |of: &Selected| {
            let count = of.counts().iter().product::<u64>();
            (0..count).map(|at| of.position(at)).collect::<Vec<_>>()
        };
        for most in 1..40 {
            let pieces: Vec<Selected> = whole.pieces(most).collect();
            let joined: Vec<_> = pieces.iter().flat_map(positions).collect();
            assert_eq!(joined, positions(&whole), "pieces of {most}");
            let largest = pieces.iter().map(|piece| piece.counts().iter().product::<u64>()).max();
            assert!(largest <= Some(most), "{largest:?} in pieces of {most}");
        }
        assert_eq!(selected(vec![]).pieces(5).count(), 1);
    }

    #[test]
    fn positions_that_were_dropped_change_no_piece() {
        let one = || Picks::Range { start: 3, count: 1, step: 1 };
        let many = |count| Picks::Range { start: 0, count, step: 1 };
        let (a, b) = (selected(vec![one(), many(10), many(20)]), selected(vec![many(10), one(), many(20)]));
        for most in [1, 7, 20, 50, 100, 199, 200, 500] {
            let sizes = |of: &Selected| {
                of.pieces(most).map(|piece| piece.counts().iter().product::<u64>()).collect::<Vec<_>>()
            };
            assert_eq!(sizes(&a), sizes(&b), "pieces of {most}");
        }
    }
}
