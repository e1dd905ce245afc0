//! Huge objects, which are stored directly in the file.

use super::FractalHeap;
use crate::format::Address;
use crate::format::infrastructure::btree_v2::Record;
use crate::navigate::Reader;
use crate::navigate::btree_v2::BtreeV2;
use bytes::Bytes;
use hyperslab_core::{Error, Result};
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// The place of a huge object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Huge {
    pub(super) address: Address,
    /// The stored size in bytes.
    pub(super) len: u64,
    /// The filter mask, and the size of the object in bytes, if it is filtered.
    pub(super) filtered: Option<(u32, u64)>,
}

impl FractalHeap {
    pub(super) fn huge(&self, reader: &Reader, huge: Huge) -> Result<Bytes> {
        let stored = reader.raw(NAME, huge.address, huge.len)?;
        match huge.filtered {
            None => Ok(stored),
            Some((mask, size)) => {
                let _scratch = reader.budget().charge(size)?;
                self.unfilter(reader, NAME, huge.address, &stored, mask, size).map(Bytes::from)
            }
        }
    }

    /// The huge object with this key in the B-tree of the heap.
    pub(super) fn find_huge(&self, reader: &Reader, key: u64) -> Result<Huge> {
        let missing = || {
            let detail = format!("no huge object has the ID {key}");
            self.error(reader, Error::malformed(detail))
        };
        if self.header.huge_objects_btree.is_undefined() {
            return Err(missing());
        }
        let tree = BtreeV2::open(reader, self.header.huge_objects_btree)?;
        let compare = |record: &Record| match record {
            Record::HugeObject { id, .. } | Record::FilteredHugeObject { id, .. } => id.cmp(&key),
            _ => Ordering::Equal,
        };
        let mut found = None;
        tree.find(&compare, &mut |record| {
            found = match record {
                Record::HugeObject { address, length, .. } => {
                    Some(Huge { address, len: length, filtered: None })
                }
                Record::FilteredHugeObject { address, length, filter_mask, memory_size, .. } => {
                    Some(Huge { address, len: length, filtered: Some((filter_mask, memory_size)) })
                }
                _ => None,
            };
            Ok(ControlFlow::Break(()))
        })?;
        found.ok_or_else(missing)
    }
}

const NAME: &str = "huge object of a Fractal Heap";
