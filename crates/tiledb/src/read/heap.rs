//! A heap of the sources of a merge, by their ordinals, which finds the source with the next cell.

/// The first source has the next cell, and each is before the two below it.
#[derive(Default)]
pub(crate) struct SourceHeap {
    sources: Vec<usize>,
}

impl SourceHeap {
    /// Sources from 0 on.
    pub(crate) fn of(count: usize, is_before: impl Fn(usize, usize) -> bool) -> SourceHeap {
        let mut heap = SourceHeap { sources: (0..count).collect() };
        for place in (0..count / 2).rev() {
            heap.sift(place, &is_before);
        }
        heap
    }

    /// The source that has the next cell.
    pub(crate) fn first(&self) -> Option<usize> {
        self.sources.first().copied()
    }

    /// Removes the first source. Another one takes its place; [`settle`](Self::settle) then moves it to the right
    /// position.
    pub(crate) fn remove_first(&mut self) {
        if !self.sources.is_empty() {
            self.sources.swap_remove(0);
        }
    }

    /// Moves the first source to the right position after its next cell has changed.
    pub(crate) fn settle(&mut self, is_before: impl Fn(usize, usize) -> bool) {
        self.sift(0, &is_before);
    }

    /// The smallest key of the sources other than the first. `None` if there is no other.
    pub(crate) fn limit<'k>(&self, key: impl Fn(usize) -> Option<&'k [u8]>) -> Option<&'k [u8]> {
        let of = |place: usize| self.sources.get(place).and_then(|source| key(*source));
        match (of(1), of(2)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// If fragments cover the whole array, the next cell of the source that was just used is often after those of most
    /// others. So the source first sinks to the end, then rises as far as necessary.
    fn sift(&mut self, top: usize, is_before: &impl Fn(usize, usize) -> bool) {
        let mut place = top;
        while let Some(below) = self.least_below(place, is_before) {
            self.sources.swap(place, below);
            place = below;
        }
        while place > top {
            let above = place.saturating_sub(1) / 2;
            if !self.is_before(place, above, is_before) {
                return;
            }
            self.sources.swap(place, above);
            place = above;
        }
    }

    /// Which of the two places below one has the source that comes first.
    fn least_below(&self, place: usize, is_before: &impl Fn(usize, usize) -> bool) -> Option<usize> {
        let left = place.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        match (left < self.sources.len(), right < self.sources.len()) {
            (false, _) => None,
            (true, true) if self.is_before(right, left, is_before) => Some(right),
            (true, _) => Some(left),
        }
    }

    fn is_before(&self, a: usize, b: usize, is_before: &impl Fn(usize, usize) -> bool) -> bool {
        matches!((self.sources.get(a), self.sources.get(b)), (Some(a), Some(b)) if is_before(*a, *b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_their_turn_in_the_order_of_their_keys() {
        let mut left: Vec<Vec<u8>> = vec![vec![9, 4, 1], vec![3, 2], vec![8, 5], vec![], vec![7]];
        // The next key of each source is its last; sources without a key come after all others.
        let key = |left: &[Vec<u8>], source: usize| left[source].last().copied().map_or(u8::MAX, |key| key);
        let mut heap = SourceHeap::of(left.len(), |a, b| key(&left, a) < key(&left, b));
        let mut found = Vec::new();
        while let Some(first) = heap.first() {
            let limit = heap.limit(|source| left[source].last().map(std::slice::from_ref));
            match left[first].last().copied() {
                Some(next) => {
                    assert!(limit.is_none_or(|limit| limit[0] >= next));
                    found.push(next);
                    left[first].pop();
                }
                None => heap.remove_first(),
            }
            heap.settle(|a, b| key(&left, a) < key(&left, b));
        }
        assert_eq!(found, [1, 2, 3, 4, 5, 7, 8, 9]);
    }
}
