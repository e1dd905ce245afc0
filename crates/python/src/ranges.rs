//! Python storages that are read by byte ranges: files of fsspec and obstore, and objects with `seek` and `read`.

use crate::error::raised_by_storage;
use bytes::Bytes;
use hyperslab::{Error, ErrorKind, ReadAt, Result, storage};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// An object with the method `ranges(list of (start, stop)) -> list of bytes`, as created by `hyperslab._storage`.
pub(crate) struct Ranges {
    storage: Py<PyAny>,
    size: u64,
    is_far: bool,
    /// The first bytes, which are requested repeatedly while a store is opened.
    head: OnceLock<Bytes>,
}

impl Ranges {
    pub(crate) fn new(storage: &Bound<'_, PyAny>) -> PyResult<Ranges> {
        let size = storage.call_method0("size")?.extract()?;
        let is_far = storage.getattr("is_far")?.extract()?;
        Ok(Ranges { storage: storage.clone().unbind(), size, is_far, head: OnceLock::new() })
    }

    fn check(&self, range: &Range<u64>) -> Result<()> {
        if range.start <= range.end && range.end <= self.size {
            return Ok(());
        }
        let (from, len) = (range.start, range.end.saturating_sub(range.start));
        Err(Error::malformed(format!(
            "{len} bytes at {from:#x} extend past the end of the file, which has {} bytes",
            self.size
        )))
    }
}

impl ReadAt for Ranges {
    fn len(&self) -> Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        self.read_ranges(&[range])?.pop().ok_or_else(|| Error::invalid("the storage returned nothing"))
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let end = offset.saturating_add(out.len() as u64);
        out.copy_from_slice(&self.read_at(offset..end)?);
        Ok(())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().try_for_each(|range| self.check(range))?;
        if !self.is_far {
            return self.ask(ranges);
        }
        let end = self.size.min(HEAD);
        let is_behind = |range: &Range<u64>| range.end > end;
        let mut asked: Vec<Range<u64>> = ranges.iter().filter(|range| is_behind(range)).cloned().collect();
        let needs_head = asked.len() < ranges.len() && self.head.get().is_none();
        if needs_head {
            asked.push(0..end);
        }
        let mut read = if asked.is_empty() { Vec::new() } else { self.ask(&asked)? };
        if needs_head && let Some(head) = read.pop() {
            self.head.get_or_init(|| head);
        }
        let mut read = read.into_iter();
        let part = |range: &Range<u64>| {
            if is_behind(range) {
                return read.next();
            }
            let (from, to) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
            let head = self.head.get()?;
            head.get(from..to)?;
            Some(head.slice(from..to))
        };
        let parts: Option<Vec<Bytes>> = ranges.iter().map(part).collect();
        parts.ok_or_else(|| Error::invalid("the storage returned nothing"))
    }

    fn is_far(&self) -> bool {
        self.is_far
    }

    fn siblings(&self) -> Option<Arc<dyn storage::Siblings>> {
        None
    }
}

impl Ranges {
    /// Requests all ranges from the storage, with one call.
    fn ask(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let read = Python::attach(|py| -> PyResult<Vec<PyBackedBytes>> {
            let asked: Vec<(u64, u64)> = ranges.iter().map(|range| (range.start, range.end)).collect();
            self.storage.bind(py).call_method1("ranges", (asked,))?.extract()
        });
        let read = read.map_err(raised_by_storage)?;
        let is_whole = |(bytes, range): (&PyBackedBytes, &Range<u64>)| {
            bytes.len() as u64 == range.end.saturating_sub(range.start)
        };
        if read.len() != ranges.len() || !read.iter().zip(ranges).all(is_whole) {
            return Err(Error::new(ErrorKind::Io, "the storage did not return the requested bytes"));
        }
        Ok(read.into_iter().map(Bytes::from_owner).collect())
    }
}

/// How much is requested from the beginning of a remote storage.
const HEAD: u64 = 64 << 10;
