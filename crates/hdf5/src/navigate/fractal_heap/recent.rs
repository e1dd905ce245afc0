//! A cache of the most recently read values, bounded in bytes.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Values by address. The oldest ones are dropped first.
pub(super) struct Recent<T> {
    values: FxHashMap<u64, (T, usize)>,
    order: VecDeque<u64>,
    bytes: usize,
    max: usize,
}

impl<T> Recent<T> {
    pub(super) fn new(max: usize) -> Self {
        Recent { values: FxHashMap::default(), order: VecDeque::new(), bytes: 0, max }
    }

    pub(super) fn get(&self, key: u64) -> Option<&T> {
        self.values.get(&key).map(|(value, _)| value)
    }

    /// Keeps a value of `bytes`, unless it is larger than the cache.
    pub(super) fn insert(&mut self, key: u64, value: T, bytes: usize) {
        if bytes > self.max || self.values.contains_key(&key) {
            return;
        }
        while self.bytes > self.max - bytes {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.values.remove(&oldest).map_or(0, |(_, bytes)| bytes);
        }
        self.bytes += bytes;
        self.order.push_back(key);
        self.values.insert(key, (value, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_holds_more_than_its_bound() {
        let mut recent = Recent::new(10);
        for key in 0..5 {
            recent.insert(key, key, 4);
        }
        recent.insert(9, 9, 11);
        let held: Vec<u64> = (0..10).filter(|key| recent.get(*key).is_some()).collect();
        assert_eq!(held, [3, 4]);
        recent.insert(5, 5, 10);
        assert_eq!((recent.get(4), recent.get(5)), (None, Some(&5)));
    }
}
