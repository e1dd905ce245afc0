//! Bytes in memory.

use super::{ReadAt, Siblings, past_end, read_each};
use crate::Result;
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

impl ReadAt for Bytes {
    fn len(&self) -> Result<u64> {
        Ok(<[u8]>::len(self) as u64)
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        let whole = <[u8]>::len(self);
        match (usize::try_from(range.start), usize::try_from(range.end)) {
            (Ok(start), Ok(end)) if start <= end && end <= whole => Ok(self.slice(start..end)),
            _ => Err(past_end(range.start, range.end.saturating_sub(range.start), whole as u64)),
        }
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let len = out.len() as u64;
        let bytes = self.read_at(offset..offset.saturating_add(len))?;
        match bytes.get(..out.len()) {
            Some(bytes) => out.copy_from_slice(bytes),
            None => return Err(past_end(offset, len, <[u8]>::len(self) as u64)),
        }
        Ok(())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        read_each(self, ranges)
    }

    fn is_far(&self) -> bool {
        false
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        None
    }
}
