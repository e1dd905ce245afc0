//! A heap of the sources of a merge, by their ordinals: which of them has the next cell.

/// The first has the next cell, and each is before the two below it.
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

    /// Removes the first source. Another one takes its place, which [`settle`](Self::settle) makes right.
    pub(crate) fn remove_first(&mut self) {
        if !self.sources.is_empty() {
            self.sources.swap_remove(0);
        }
    }

    /// Gives the first source its place, after its next cell became another one.
    pub(crate) fn settle(&mut self, is_before: impl Fn(usize, usize) -> bool) {
        self.sift(0, &is_before);
    }

    /// The least key of the sources other than the first. `None` if there is no other.
    pub(crate) fn limit<'k>(&self, key: impl Fn(usize) -> Option<&'k [u8]>) -> Option<&'k [u8]> {
        let of = |place: usize| self.sources.get(place).and_then(|source| key(*source));
        match (of(1), of(2)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Of fragments all over the array, the next cell of the one that just had its turn is often behind those of most
    /// others: so it sinks to the end, and rises as far as it must.
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

    /// Which of the two places below one has the source that is before the other.
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
        // The next key of each is its last; sources without one are behind all others.
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
