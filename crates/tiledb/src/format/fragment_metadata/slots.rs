//! Slots: the order in which fragment metadata lists attributes, dimensions and bookkeeping.
//!
//! Spec: TileDB format_spec, fragment.md "Footer", which does not mention the slot between attributes and dimensions

/// The meaning of the slots in all lists with an entry for each attribute and dimension.
///
/// Attributes come first, then a slot for coordinates in one file, as in versions before 5, then dimensions since
/// version 5, then the timestamps of cells, and two slots for deletes. Slots without a file contain zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// The format version of the fragment.
    pub version: u32,
    /// The number of attributes.
    pub attributes: usize,
    /// The number of dimensions.
    pub dimensions: usize,
    /// Whether the fragment has the timestamp of each cell.
    pub has_timestamps: bool,
    /// Whether the fragment has the deletion time of each cell, and the condition that deleted it.
    pub has_delete_metadata: bool,
}

impl Slots {
    /// The number of slots.
    pub fn count(&self) -> u64 {
        let deletes = 2 * u64::from(self.has_delete_metadata);
        let bookkeeping = u64::from(self.has_timestamps).saturating_add(deletes);
        self.before_bookkeeping().saturating_add(bookkeeping)
    }

    /// The number of slots in lists about data of variable size. Before version 5, they have no slot for coordinates.
    pub fn var_count(&self) -> u64 {
        match self.version < 5 {
            true => self.attributes as u64,
            false => self.count(),
        }
    }

    /// The slot of the coordinates in one file.
    pub fn coordinates(&self) -> u64 {
        self.attributes as u64
    }

    /// The slot of a dimension. `None` before version 5.
    pub fn dimension(&self, position: usize) -> Option<u64> {
        let is_there = self.version >= 5 && position < self.dimensions;
        is_there.then(|| self.coordinates().saturating_add(1).saturating_add(position as u64))
    }

    /// The slot of the timestamps of cells.
    pub fn timestamps(&self) -> Option<u64> {
        self.has_timestamps.then(|| self.before_bookkeeping())
    }

    /// The slot of the deletion times; the slot of the conditions is the next one.
    pub fn delete_timestamps(&self) -> Option<u64> {
        let before = self.before_bookkeeping().saturating_add(u64::from(self.has_timestamps));
        self.has_delete_metadata.then_some(before)
    }

    fn before_bookkeeping(&self) -> u64 {
        let dimensions = if self.version < 5 { 0 } else { self.dimensions as u64 };
        self.coordinates().saturating_add(1).saturating_add(dimensions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(version: u32, has_timestamps: bool, has_delete_metadata: bool) -> Slots {
        Slots { version, attributes: 3, dimensions: 2, has_timestamps, has_delete_metadata }
    }

    #[test]
    fn an_unused_slot_stands_between_attributes_and_dimensions() {
        let plain = slots(22, false, false);
        assert_eq!((plain.count(), plain.var_count()), (6, 6));
        assert_eq!((plain.dimension(0), plain.dimension(1), plain.dimension(2)), (Some(4), Some(5), None));
        assert_eq!((plain.timestamps(), plain.delete_timestamps()), (None, None));
    }

    #[test]
    fn bookkeeping_comes_last() {
        let both = slots(22, true, true);
        assert_eq!((both.count(), both.timestamps(), both.delete_timestamps()), (9, Some(6), Some(7)));
        let deletes = slots(22, false, true);
        assert_eq!((deletes.count(), deletes.delete_timestamps()), (8, Some(6)));
    }

    #[test]
    fn before_version_5_dimensions_share_a_slot() {
        let old = slots(4, false, false);
        assert_eq!((old.count(), old.var_count(), old.coordinates(), old.dimension(0)), (4, 3, 3, None));
    }
}
