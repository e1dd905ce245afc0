//! What the dense storage of links and of attributes in fractal heaps has in common.

use super::Sink;
use super::btree_v2::{BtreeV2Builder, BtreeV2Parameters};
use crate::format::infrastructure::btree_v2::{Record, RecordType};
use crate::format::{Address, checksum};
use hyperslab_core::{Error, Result};

/// Whether a group tracks the creation order of its links, or an object that of its attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CreationOrder {
    /// It is not tracked.
    #[default]
    Untracked,
    /// Each link or attribute has a number.
    Tracked,
    /// In dense storage, there is also an index by these numbers.
    Indexed,
}

impl CreationOrder {
    /// Whether each link or attribute has its number.
    pub fn is_tracked(self) -> bool {
        self != CreationOrder::Untracked
    }

    /// The address of an index, if there is one in dense storage.
    pub(super) fn index(self, address: Address) -> Option<Address> {
        (self == CreationOrder::Indexed).then_some(address)
    }
}

/// The hashes of names, with the index of each name, in the order of an index by name.
///
/// # Errors
/// If two names are equal.
pub(super) fn hash_order(names: &[&[u8]], what: &str) -> Result<Vec<(u32, usize)>> {
    let mut order: Vec<(u32, &[u8], usize)> =
        names.iter().enumerate().map(|(place, name)| (checksum::lookup3(name), *name, place)).collect();
    order.sort_unstable();
    for [one, other] in order.array_windows() {
        if one.1 == other.1 {
            let name = String::from_utf8_lossy(one.1);
            return Err(Error::invalid(format!("two {what} have the name {name:?}")));
        }
    }
    Ok(order.into_iter().map(|(hash, _, place)| (hash, place)).collect())
}

/// Writes an index of `count` records. They are only requested if the file is written.
pub(super) fn write_index<I: IntoIterator<Item = Result<Record>>>(
    sink: &mut dyn Sink,
    record_type: RecordType,
    count: usize,
    records: impl FnOnce() -> Result<I>,
) -> Result<Address> {
    let parameters = BtreeV2Parameters::of(record_type, &sink.sizes())?;
    let tree = BtreeV2Builder::allocate(sink, &parameters, count as u64)?;
    let address = tree.address();
    if !sink.is_measuring() {
        tree.write(sink, records()?)?;
    }
    Ok(address)
}

/// The value that belongs to the object at a place.
pub(super) fn at<T: Copy>(values: &[T], place: usize) -> Result<T> {
    values.get(place).copied().ok_or_else(|| Error::invalid(format!("no object {place} in a fractal heap")))
}

/// A message of this size or more does not fit in a header.
pub(super) const MAX_MESSAGE_SIZE: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_hash_are_in_the_order_of_their_bytes() {
        // Found by trying: the hashes of each pair are equal.
        let pairs = colliding_names();
        for [one, other] in &pairs {
            assert_eq!(checksum::lookup3(one), checksum::lookup3(other));
            let mut sorted = [one.as_slice(), other.as_slice()];
            let order = hash_order(&sorted, "links").unwrap();
            let found: Vec<&[u8]> = order.iter().map(|(_, place)| sorted[*place]).collect();
            sorted.sort_unstable();
            assert_eq!(found, sorted);
        }
        assert!(!pairs.is_empty());
    }

    /// Names with equal hashes, among 400,000.
    fn colliding_names() -> Vec<[Vec<u8>; 2]> {
        let mut names: Vec<(u32, Vec<u8>)> = (0..400_000_u32)
            .map(|number| format!("n{number}").into_bytes())
            .map(|name| (checksum::lookup3(&name), name))
            .collect();
        names.sort_unstable();
        let pairs = names.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        pairs.map(|pair| [pair[1].1.clone(), pair[0].1.clone()]).collect()
    }

    #[test]
    fn equal_names_are_refused() {
        let error = hash_order(&[b"a", b"b", b"a"], "links").unwrap_err();
        assert_eq!(error.detail(), "two links have the name \"a\"");
    }
}
