//! Divides a selection into pieces that are consecutive in row-major order.

use super::{Axis, Selected};

impl Selected {
    /// Divides the selection into pieces of at most `max` elements and at least one. Two selections whose counts are
    /// equal, ignoring counts of 1, have pieces with the same numbers of elements.
    pub(crate) fn pieces(&self, max: u64) -> impl Iterator<Item = Selected> + '_ {
        // The outermost dimension of which a single position fits. A piece has one position of each dimension before
        // it.
        let (mut cut, mut inner, mut all) = (self.axes.len().saturating_sub(1), 1_u64, 1_u64);
        for (dimension, count) in self.axes.iter().map(Axis::count).enumerate().rev() {
            if all > max {
                break;
            }
            (cut, inner) = (dimension, all);
            all = all.saturating_mul(count);
        }
        let step = (max / inner.max(1)).max(1);
        let mut next = (!self.counts().contains(&0)).then(|| vec![0_u64; self.axes.len().min(cut + 1)]);
        std::iter::from_fn(move || {
            let at = next.as_mut()?;
            let mut axes = self.axes.clone();
            for (dimension, (axis, at)) in axes.iter_mut().zip(at.iter()).enumerate() {
                let limit = if dimension == cut { step } else { 1 };
                axis.picks = axis.picks.part(*at, limit.min(axis.count().saturating_sub(*at)), 1);
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

    /// The position in the array of the selected element number `index`.
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
    fn pieces_join_to_the_whole_selection_in_order() {
        let whole = selected(vec![
            Picks::Range { start: 1, count: 3, step: 2 },
            Picks::List(vec![7, 2, 9, 4, 4]),
            Picks::Range { start: 0, count: 2, step: 1 },
        ]);
        let positions = |of: &Selected| {
            let count = of.counts().iter().product::<u64>();
            (0..count).map(|at| of.position(at)).collect::<Vec<_>>()
        };
        for max in 1..40 {
            let pieces: Vec<Selected> = whole.pieces(max).collect();
            let joined: Vec<_> = pieces.iter().flat_map(positions).collect();
            assert_eq!(joined, positions(&whole), "pieces of {max}");
            let largest = pieces.iter().map(|piece| piece.counts().iter().product::<u64>()).max();
            assert!(largest <= Some(max), "{largest:?} in pieces of {max}");
        }
        assert_eq!(selected(vec![]).pieces(5).count(), 1);
    }

    #[test]
    fn dropped_dimensions_do_not_change_the_pieces() {
        let one = || Picks::Range { start: 3, count: 1, step: 1 };
        let many = |count| Picks::Range { start: 0, count, step: 1 };
        let (a, b) = (selected(vec![one(), many(10), many(20)]), selected(vec![many(10), one(), many(20)]));
        for max in [1, 7, 20, 50, 100, 199, 200, 500] {
            let sizes = |of: &Selected| {
                of.pieces(max).map(|piece| piece.counts().iter().product::<u64>()).collect::<Vec<_>>()
            };
            assert_eq!(sizes(&a), sizes(&b), "pieces of {max}");
        }
    }
}
