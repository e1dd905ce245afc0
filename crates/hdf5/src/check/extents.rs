//! The map of the file: which structure each byte belongs to.

use std::collections::HashMap;

/// A range of the file and its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) owner: Owner,
}

/// The owner of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// The index of an object in `Objects`.
    pub(super) object: u32,
    /// The index of the name of a structure, for [`Extents::name`].
    structure: u16,
    pub(super) hold: Hold,
}

/// The kind of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hold {
    /// The range is in use.
    Used,
    /// The range belongs to a free-space manager.
    Free,
    /// The range is allocated with a structure that does not use it.
    Spare,
}

/// A range with two claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overlap {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The owner of the range that begins first.
    pub(super) first: Owner,
    pub(super) second: Owner,
}

/// All claimed ranges, sorted and without overlap.
///
/// Claims are collected in a list, which is merged into the map when it reaches a quarter of the map's size. This makes
/// merging cheap, and the map takes 24 bytes for each range that cannot be joined with the next one.
#[derive(Default)]
pub(super) struct Extents {
    map: Vec<Claim>,
    pending: Vec<Claim>,
    names: Vec<&'static str>,
    numbers: HashMap<&'static str, u16>,
    overlaps: Vec<Overlap>,
    more_overlaps: u64,
    max: usize,
    full: bool,
}

impl Extents {
    /// An empty map of at most `max` ranges.
    pub(super) fn new(max: usize) -> Self {
        Extents { max, ..Extents::default() }
    }

    /// Claims a range. Returns false when there is no room for more; the map is then incomplete.
    pub(super) fn claim(
        &mut self,
        structure: &'static str,
        object: u32,
        hold: Hold,
        start: u64,
        end: u64,
    ) -> bool {
        if start >= end || self.full {
            return !self.full;
        }
        let next = u16::try_from(self.names.len()).unwrap_or(u16::MAX);
        let structure = *self.numbers.entry(structure).or_insert_with(|| {
            self.names.push(structure);
            next
        });
        let claim = Claim { start, end, owner: Owner { object, structure, hold } };
        // Ranges are mostly claimed in the order of the file.
        if let Some(last) = self.pending.last_mut()
            && last.end == start
            && last.owner == claim.owner
        {
            last.end = end;
            return true;
        }
        self.pending.push(claim);
        if self.pending.len() >= MIN_PENDING.max(self.map.len() / 4) {
            self.merge();
            if self.map.len() > self.max {
                self.full = true;
                self.map = Vec::new();
            }
        }
        !self.full
    }

    /// The index of the name of a structure.
    pub(super) fn name(&self, owner: Owner) -> &'static str {
        self.names.get(usize::from(owner.structure)).copied().unwrap_or("structure")
    }

    /// The overlaps so far, and the number of those that were not kept.
    pub(super) fn take_overlaps(&mut self) -> (Vec<Overlap>, u64) {
        self.merge();
        (std::mem::take(&mut self.overlaps), std::mem::take(&mut self.more_overlaps))
    }

    /// The unclaimed ranges between `start` and `end`. `None` if the map is incomplete.
    pub(super) fn gaps(&mut self, start: u64, end: u64) -> Option<Vec<(u64, u64)>> {
        self.merge();
        if self.full {
            return None;
        }
        let mut gaps = Vec::new();
        let mut at = start;
        for claim in &self.map {
            let from = claim.start.min(end);
            if from > at {
                gaps.push((at, from));
            }
            at = at.max(claim.end);
        }
        if at < end {
            gaps.push((at, end));
        }
        Some(gaps)
    }

    /// Merges the collected claims into the map and finds overlaps.
    fn merge(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        // At the same offset, a range in use comes before a spare one, which is then shortened.
        self.pending.sort_unstable_by_key(|claim| (claim.start, claim.owner.hold, claim.end));
        let old = std::mem::take(&mut self.map);
        let new = std::mem::take(&mut self.pending);
        let mut merged: Vec<Claim> = Vec::with_capacity(old.len() + new.len());
        let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
        loop {
            let take_old = match (old.peek(), new.peek()) {
                (Some(a), Some(b)) => (a.start, a.owner.hold) <= (b.start, b.owner.hold),
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => break,
            };
            let Some(claim) = (if take_old { old.next() } else { new.next() }) else { break };
            self.append(&mut merged, claim);
        }
        merged.shrink_to(merged.len() + merged.len() / 8);
        self.map = merged;
        self.pending = Vec::new();
    }

    /// Appends a claim that begins at or after the start of the last one.
    fn append(&mut self, merged: &mut Vec<Claim>, claim: Claim) {
        let Some(last) = merged.last_mut() else {
            merged.push(claim);
            return;
        };
        if claim.start < last.end {
            let end = claim.end.min(last.end);
            if self.overlaps.len() < MAX_OVERLAPS {
                let (first, second) = (last.owner, claim.owner);
                self.overlaps.push(Overlap { start: claim.start, end, first, second });
            } else {
                self.more_overlaps += 1;
            }
            if claim.end <= last.end {
                return;
            }
            // The rest of the second range begins at the end of the first.
            let rest = Claim { start: last.end, ..claim };
            merged.push(rest);
            return;
        }
        match last.end == claim.start && last.owner == claim.owner {
            true => last.end = claim.end,
            false => merged.push(claim),
        }
    }
}

const MIN_PENDING: usize = 1 << 14;
const MAX_OVERLAPS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn extents(claims: &[(&'static str, u64, u64)]) -> Extents {
        let mut extents = Extents::new(1 << 20);
        for (name, start, end) in claims {
            assert!(extents.claim(name, 0, Hold::Used, *start, *end));
        }
        extents
    }

    #[test]
    fn what_is_claimed_leaves_the_rest_as_gaps() {
        let mut map = extents(&[("b", 10, 20), ("a", 0, 5), ("a", 30, 40), ("b", 20, 22)]);
        assert_eq!(map.gaps(0, 50), Some(vec![(5, 10), (22, 30), (40, 50)]));
        assert_eq!(map.gaps(0, 35), Some(vec![(5, 10), (22, 30)]));
        assert_eq!(map.take_overlaps(), (vec![], 0));
    }

    #[test]
    fn overlaps_name_both_and_their_bytes() {
        let mut map = extents(&[("a", 0, 10), ("b", 6, 12), ("c", 11, 12)]);
        let (overlaps, more) = map.take_overlaps();
        let seen: Vec<_> =
            overlaps.iter().map(|o| (o.start, o.end, map.name(o.first), map.name(o.second))).collect();
        assert_eq!((seen, more), (vec![(6, 10, "a", "b"), (11, 12, "b", "c")], 0));
        assert_eq!(map.gaps(0, 12), Some(vec![]));
    }

    #[test]
    fn neighbours_of_one_owner_take_one_piece() {
        let mut map = extents(&[("a", 20, 30), ("a", 0, 10), ("a", 10, 20)]);
        map.merge();
        assert_eq!(map.map.len(), 1);
    }

    #[test]
    fn claims_made_late_are_compared_with_those_made_early() {
        let mut map = Extents::new(1 << 20);
        for at in 0..(3 * MIN_PENDING as u64) {
            assert!(map.claim("a", 0, Hold::Used, at * 4, at * 4 + 2));
        }
        assert!(map.claim("b", 0, Hold::Used, 40_001, 40_003));
        let (overlaps, _) = map.take_overlaps();
        assert_eq!(overlaps.len(), 1);
        assert_eq!((overlaps[0].start, overlaps[0].end), (40_001, 40_002));
    }

    #[test]
    fn a_map_without_room_says_so() {
        let mut map = Extents::new(10);
        let claimed =
            (0..(2 * MIN_PENDING as u64)).all(|at| map.claim("a", 0, Hold::Used, at * 4, at * 4 + 2));
        assert!(!claimed);
        assert_eq!(map.gaps(0, 100), None);
    }
}
