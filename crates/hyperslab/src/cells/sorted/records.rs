//! Records in memory.

use super::form::Form;
use crate::cells::scratch::broken;
use crate::pool::Pool;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::Cells;
use std::cmp::Ordering;
use std::ops::Range;

/// Records of cells: all of one size, or each preceded by its length and found through an index.
pub(super) struct Records {
    /// The size of all records.
    fixed: Option<usize>,
    bytes: Vec<u8>,
    /// The beginning of each record, as a number that sorts in the order of the records, and its place in `bytes`.
    /// Empty for records of one size.
    index: Vec<(u64, usize)>,
}

impl Records {
    pub(super) fn new(fixed: Option<usize>) -> Records {
        Records { fixed, bytes: Vec::new(), index: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.index.clear();
    }

    /// Releases the memory.
    pub(super) fn release(&mut self) {
        *self = Records::new(self.fixed);
    }

    /// Adds cells, starting at `from`: as many as fit in `room` bytes, but at least one if there is none yet. Returns
    /// the first one that was not added.
    pub(super) fn add(&mut self, form: &Form, cells: &Cells, from: usize, room: usize) -> Result<usize> {
        let count = cells.len();
        if let Some(size) = self.fixed {
            let least = usize::from(self.bytes.is_empty());
            let free = (room.saturating_sub(self.bytes.len()) / size.max(1)).max(least);
            let to = from.saturating_add(free).min(count);
            let bytes = (to - from).saturating_mul(size);
            grow(&mut self.bytes, bytes, room);
            form.encode_fixed(cells, from..to, size, &mut self.bytes)?;
            return Ok(to);
        }
        for cell in from..count {
            let held = self.bytes.len().saturating_add(self.index.len().saturating_mul(ENTRY));
            if held >= room && !self.bytes.is_empty() {
                return Ok(cell);
            }
            let start = self.bytes.len();
            grow(&mut self.bytes, 64, room);
            self.bytes.extend_from_slice(&[0; LENGTH]);
            form.encode(cells, cell, &mut self.bytes)?;
            let record = self.bytes.get_mut(start..).unwrap_or_default();
            let (length, content) = record.split_first_chunk_mut().ok_or_else(broken)?;
            *length = u32::try_from(content.len()).map_err(|_| too_long())?.to_ne_bytes();
            self.index.push((prefix(content), start));
        }
        Ok(count)
    }

    /// Sorts the records. Returns slices, each of them sorted; there are as many as threads that worked on them.
    pub(super) fn sort(&mut self, pool: &Pool) -> Result<Vec<Range<usize>>> {
        let count = self.len();
        if count == 0 {
            return Ok(Vec::new());
        }
        let slices = pool.threads().min(count / MIN_SLICE).max(1);
        let each = count.div_ceil(slices);
        match self.fixed {
            Some(size) => {
                let sort = sort_of_size(size).ok_or_else(broken)?;
                let slices = self.bytes.chunks_mut(each.saturating_mul(size));
                pool.each(slices, 0, |slice, _| {
                    sort(slice);
                    Ok(())
                })?;
            }
            None => {
                let bytes = &self.bytes;
                pool.each(self.index.chunks_mut(each), 0, |slice, _| {
                    slice.sort_unstable_by(|a, b| {
                        a.0.cmp(&b.0).then_with(|| content_at(bytes, a.1).cmp(content_at(bytes, b.1)))
                    });
                    Ok(())
                })?;
            }
        }
        Ok((0..count).step_by(each).map(|start| start..start.saturating_add(each).min(count)).collect())
    }

    /// The number of records.
    pub(super) fn len(&self) -> usize {
        match self.fixed {
            Some(size) => self.bytes.len() / size.max(1),
            None => self.index.len(),
        }
    }

    /// The record at a position, preceded by its length if it has one.
    pub(super) fn get(&self, position: usize) -> Option<&[u8]> {
        match self.fixed {
            Some(size) => {
                let start = position.checked_mul(size)?;
                self.bytes.get(start..start.checked_add(size)?)
            }
            None => {
                let (_, start) = *self.index.get(position)?;
                let record = self.bytes.get(start..)?;
                record.get(..LENGTH.checked_add(length(record)?)?)
            }
        }
    }

    /// Consecutive records as one block, if they are stored that way.
    pub(super) fn block(&self, positions: &Range<usize>) -> Option<&[u8]> {
        let size = self.fixed?;
        self.bytes.get(positions.start.checked_mul(size)?..positions.end.checked_mul(size)?)
    }

    pub(super) fn fixed(&self) -> Option<usize> {
        self.fixed
    }
}

/// The bytes of a record that are compared.
pub(super) fn key(record: &[u8], fixed: Option<usize>) -> &[u8] {
    match fixed {
        Some(_) => record,
        None => record.get(LENGTH..).unwrap_or_default(),
    }
}

/// The length at the beginning of a record.
pub(super) fn length(record: &[u8]) -> Option<usize> {
    usize::try_from(u32::from_ne_bytes(*record.first_chunk()?)).ok()
}

fn content_at(bytes: &[u8], start: usize) -> &[u8] {
    let record = bytes.get(start..).unwrap_or_default();
    let end = length(record).and_then(|length| length.checked_add(LENGTH));
    end.and_then(|end| record.get(LENGTH..end)).unwrap_or_default()
}

/// The first bytes, followed by zeros if there are fewer.
pub(super) fn first<const N: usize>(content: &[u8]) -> [u8; N] {
    content.first_chunk().copied().unwrap_or_else(|| {
        let mut first = [0; N];
        first.iter_mut().zip(content).for_each(|(to, from)| *to = *from);
        first
    })
}

/// The first eight bytes as a number that sorts in the same order.
fn prefix(content: &[u8]) -> u64 {
    u64::from_be_bytes(first(content))
}

/// Makes room for `more` bytes by doubling the capacity, but not far beyond what will ever be needed.
fn grow(bytes: &mut Vec<u8>, more: usize, room: usize) {
    if bytes.capacity() - bytes.len() < more {
        bytes.reserve_exact(more.max(bytes.len().min(room.saturating_sub(bytes.len()))));
    }
}

/// The function that sorts records of this size.
fn sort_of_size(size: usize) -> Option<fn(&mut [u8])> {
    Some(match size {
        8 => sort::<8>,
        16 => sort::<16>,
        24 => sort::<24>,
        32 => sort::<32>,
        40 => sort::<40>,
        48 => sort::<48>,
        56 => sort::<56>,
        64 => sort::<64>,
        _ => return None,
    })
}

/// Compares words, which is three times as fast as comparing bytes.
fn sort<const SIZE: usize>(records: &mut [u8]) {
    let words =
        |record: &[u8; SIZE], at: usize| record.as_chunks::<8>().0.get(at).map(|w| u64::from_be_bytes(*w));
    records.as_chunks_mut::<SIZE>().0.sort_unstable_by(|a, b| {
        for at in 0..SIZE / 8 {
            match words(a, at).cmp(&words(b, at)) {
                Ordering::Equal => {}
                order => return order,
            }
        }
        Ordering::Equal
    });
}

fn too_long() -> Error {
    Error::new(ErrorKind::LimitExceeded, "a cell of 4 GiB or more")
}

/// The maximum size of records of fixed size.
pub(super) const MAX_FIXED: usize = 64;
/// The size of the length of a record.
pub(super) const LENGTH: usize = size_of::<u32>();
/// The size of an entry of the index.
const ENTRY: usize = size_of::<(u64, usize)>();
/// The minimum number of records that makes another thread worthwhile.
const MIN_SLICE: usize = 1 << 14;
