//! The chunks that were stored, in the order of an index.

use crate::format::Address;
use crate::format::chunk_index::Element;
use hyperslab_core::{Error, Result};
use std::collections::BTreeMap;

/// The place of each stored chunk. Takes 24 bytes for each, however many chunks the dataset may have.
#[derive(Debug, Default)]
pub(super) struct Records {
    list: Vec<Record>,
    /// The sizes of 4 GiB and more, by number.
    large: BTreeMap<u64, u64>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    number: u64,
    address: u64,
    /// `u32::MAX` if the size is in `large`.
    size: u32,
    filter_mask: u32,
}

impl Records {
    pub(super) fn push(&mut self, number: u64, element: Element) {
        let size = u32::try_from(element.size).unwrap_or(u32::MAX);
        if size == u32::MAX {
            self.large.insert(number, element.size);
        }
        let Element { address, filter_mask, .. } = element;
        self.list.push(Record { number, address: address.0, size, filter_mask });
    }

    /// Sorts the chunks by number.
    ///
    /// # Errors
    /// If two chunks have the same number.
    pub(super) fn sort(&mut self) -> Result<()> {
        if !self.list.is_sorted_by_key(|record| record.number) {
            self.list.sort_unstable_by_key(|record| record.number);
        }
        match self.list.array_windows().find(|[one, next]| one.number == next.number) {
            Some([one, _]) => Err(Error::invalid(format!("chunk {} was stored twice", one.number))),
            None => Ok(()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The chunk with this index in the list.
    pub(super) fn get(&self, at: usize) -> Option<(u64, Element)> {
        self.list.get(at).map(|record| self.element(record))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, Element)> {
        self.list.iter().map(|record| self.element(record))
    }

    fn element(&self, record: &Record) -> (u64, Element) {
        let size = match record.size {
            u32::MAX => self.large.get(&record.number).copied().unwrap_or(u32::MAX.into()),
            size => size.into(),
        };
        let Record { number, address, filter_mask, .. } = *record;
        (number, Element { address: Address(address), size, filter_mask })
    }
}

/// Sorted chunks, taken as runs of elements by the blocks and pages of an array.
pub(super) struct Elements<'a> {
    rest: std::iter::Peekable<&'a mut dyn Iterator<Item = (u64, Element)>>,
    /// One more than the largest number so far.
    end: u64,
}

impl<'a> Elements<'a> {
    pub(super) fn new(records: &'a mut dyn Iterator<Item = (u64, Element)>) -> Self {
        Elements { rest: records.peekable(), end: 0 }
    }

    /// The number of the next chunk.
    pub(super) fn next(&mut self) -> Option<u64> {
        self.rest.peek().map(|(number, _)| *number)
    }

    /// Whether the next chunk is one of the `len` from number `first`.
    pub(super) fn is_next_in(&mut self, first: u64, len: u64) -> bool {
        self.next().is_some_and(|next| next.checked_sub(first).is_some_and(|at| at < len))
    }

    /// One more than the largest number so far.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The elements of the `len` chunks from number `first`. Chunks that were not stored have elements without address.
    pub(super) fn take(&mut self, first: u64, len: u64) -> Result<Vec<Element>> {
        let none = Element { address: Address::UNDEFINED, size: 0, filter_mask: 0 };
        let len = usize::try_from(len).map_err(|_| Error::invalid(format!("{len} elements in a block")))?;
        let mut elements = vec![none; len];
        while let Some((number, element)) =
            self.rest.next_if(|(number, _)| number.checked_sub(first).is_some_and(|at| at < len as u64))
        {
            let place = usize::try_from(number.saturating_sub(first)).ok();
            if let Some(place) = place.and_then(|at| elements.get_mut(at)) {
                *place = element;
            }
            self.end = number.saturating_add(1);
        }
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(size: u64) -> Element {
        Element { address: Address(size), size, filter_mask: 1 }
    }

    #[test]
    fn records_keep_sizes_of_any_width_in_24_bytes() {
        assert_eq!(size_of::<Record>(), 24);
        let mut records = Records::default();
        let sizes = [7, u64::from(u32::MAX) - 1, u32::MAX.into(), 1 << 32, 1 << 60];
        for number in [4_u8, 2, 0, 1, 3] {
            records.push(number.into(), element(sizes[usize::from(number)]));
        }
        records.sort().unwrap();
        let found: Vec<_> = records.iter().collect();
        assert_eq!(found, (0..).zip(sizes.map(element)).collect::<Vec<_>>());
        assert_eq!(records.get(3), Some((3, element(1 << 32))));
        records.push(1, element(1));
        assert_eq!(records.sort().unwrap_err().to_string(), "chunk 1 was stored twice");
    }

    #[test]
    fn elements_are_taken_in_runs() {
        let mut records = [(1, element(1)), (6, element(6))].into_iter();
        let mut elements = Elements::new(&mut records);
        assert!(elements.is_next_in(0, 2) && !elements.is_next_in(0, 1) && !elements.is_next_in(2, 9));
        let run = elements.take(0, 3).unwrap();
        assert_eq!((run.len(), run[1]), (3, element(1)));
        assert!(run[0].address.is_undefined() && run[2].address.is_undefined());
        assert_eq!((elements.next(), elements.end()), (Some(6), 2));
        assert_eq!(elements.take(6, 1).unwrap(), [element(6)]);
        assert_eq!((elements.next(), elements.end()), (None, 7));
    }
}
