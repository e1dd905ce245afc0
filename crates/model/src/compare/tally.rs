//! How many elements differ, which come first, and by how much at most.

use super::{Gap, Rules};
use crate::Elements;

/// What came of comparing elements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// How many were compared.
    pub compared: u64,
    /// How many of them differ.
    pub differing: u64,
    /// The largest difference; none if nothing differs, or nothing by a number.
    pub largest: Option<Gap>,
    /// The first that differ, in their order.
    pub first: Vec<Pair>,
}

/// Two elements that differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Which ones, counted from the first that was compared.
    pub index: u64,
    /// The first's, as text.
    pub a: String,
    /// The second's.
    pub b: String,
    /// How they differ.
    pub by: Gap,
}

impl Tally {
    /// Compares elements one by one, as many as both have, of [comparable](crate::Datatype::is_comparable) types.
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
            if self.first.len() < rules.most {
                self.first.push(Pair { index, a: (rules.show)(x), b: (rules.show)(y), by: gap });
            }
        }
    }

    /// Adds what came of other elements, each of which has the number that `place` gives.
    pub fn add(&mut self, other: Tally, most: usize, place: impl Fn(u64) -> u64) {
        self.compared = self.compared.saturating_add(other.compared);
        self.differing = self.differing.saturating_add(other.differing);
        self.largest = match (self.largest, other.largest) {
            (Some(a), Some(b)) => Some(a.larger(b)),
            (a, b) => a.or(b),
        };
        self.first.extend(other.first.into_iter().map(|pair| Pair { index: place(pair.index), ..pair }));
        self.first.sort_by_key(|pair| pair.index);
        self.first.truncate(most);
    }
}

/// Bytes of rows that are looked at together.
const BLOCK: usize = 4096;
