//! Storage that keeps only what was written, for files of many GiB.

use bytes::Bytes;
use hyperslab_core::storage::{ReadAt, Siblings, WriteAt, read_each};
use hyperslab_core::{Error, Result};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Bytes by their offset; all others are zero.
#[derive(Debug, Default)]
pub(crate) struct Sparse(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    bytes: BTreeMap<u64, u8>,
    len: u64,
}

impl ReadAt for Sparse {
    fn len(&self) -> Result<u64> {
        Ok(self.0.lock().unwrap().len)
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        let mut out = vec![0; usize::try_from(range.end - range.start).unwrap()];
        self.read_into(range.start, &mut out)?;
        Ok(out.into())
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let state = self.0.lock().unwrap();
        let end = offset + out.len() as u64;
        if end > state.len {
            return Err(Error::malformed(format!("{end} is past the end")));
        }
        out.fill(0);
        for (at, byte) in state.bytes.range(offset..end) {
            out[usize::try_from(at - offset).unwrap()] = *byte;
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

impl WriteAt for Sparse {
    fn write_some(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        let mut state = self.0.lock().unwrap();
        for (at, byte) in (offset..).zip(bytes) {
            state.bytes.insert(at, *byte);
        }
        state.len = state.len.max(offset + bytes.len() as u64);
        Ok(bytes.len())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let mut state = self.0.lock().unwrap();
        state.bytes.split_off(&len);
        state.len = len;
        Ok(())
    }

    fn allocate(&self, range: Range<u64>) -> Result<()> {
        let mut state = self.0.lock().unwrap();
        state.len = state.len.max(range.end);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
