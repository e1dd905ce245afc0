//! Counts elements that differ, and keeps the first ones and the largest difference.

use super::{Gap, Rules};
use crate::Elements;

/// The result of comparing elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// The number of elements that were compared.
    pub compared: u64,
    /// The number of elements that differ.
    pub differing: u64,
    /// The largest difference. `None` if nothing differs, or if only elements that are not numbers differ.
    pub largest: Option<Gap>,
    /// The first elements that differ, in order. At most [`Rules::max_reported`].
    pub first: Vec<Pair>,
}

/// Two elements that differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The index of the pair, from 0 in the order of comparison.
    pub index: u64,
    /// The first element as text.
    pub a: String,
    /// The second element as text.
    pub b: String,
    /// How they differ.
    pub by: Gap,
}

impl Tally {
    /// Compares elements pair by pair until either iterator ends. Their types must be
    /// [comparable](crate::Datatype::is_comparable).
    pub fn of(mut a: Elements<'_>, mut b: Elements<'_>, rules: &Rules) -> Tally {
        let mut tally = Tally::default();
        let plain = a.datatype().has_rows_of(b.datatype());
        let block = (BLOCK / a.row_size().max(1)).max(1);
        while a.len() > 0 && b.len() > 0 {
            let (x, y) = (a.split(block), b.split(block));
            let count = x.len().min(y.len()) as u64;
            if !plain || x.rows() != y.rows() {
                tally.block(x, y, plain, rules);
            }
            tally.compared += count;
        }
        tally
    }

    fn block(&mut self, a: Elements<'_>, b: Elements<'_>, plain: bool, rules: &Rules) {
        for (index, (x, y)) in (self.compared..).zip(a.zip(b)) {
            if plain && x.row() == y.row() {
                continue;
            }
            let Some(gap) = x.gap(y, rules) else { continue };
            self.differing += 1;
            if gap != Gap::Unlike {
                self.largest = Some(self.largest.map_or(gap, |largest| largest.larger(gap)));
            }
            if self.first.len() < rules.max_reported {
                self.first.push(Pair { index, a: (rules.show)(x), b: (rules.show)(y), by: gap });
            }
        }
    }

    /// Adds the result for other elements. `place` maps an index in `other` to its index in the whole array.
    pub fn add(&mut self, other: Tally, max_reported: usize, place: impl Fn(u64) -> u64) {
        self.compared = self.compared.saturating_add(other.compared);
        self.differing = self.differing.saturating_add(other.differing);
        self.largest = match (self.largest, other.largest) {
            (Some(a), Some(b)) => Some(a.larger(b)),
            (a, b) => a.or(b),
        };
        self.first.extend(other.first.into_iter().map(|pair| Pair { index: place(pair.index), ..pair }));
        self.first.sort_by_key(|pair| pair.index);
        self.first.truncate(max_reported);
    }
}

/// The number of bytes of rows that are compared at once.
const BLOCK: usize = 4096;
