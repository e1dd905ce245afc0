//! Reads elements in external files of raw bytes.
//!
//! Spec: HDF5 IV.A.2.h

use super::Dataset;
use super::named::MissingSource;
use crate::file::File;
use crate::format::message::external_files::ExternalFiles;
use crate::navigate::local_heap::LocalHeap;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Error, ErrorKind, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// A segment of an external file of raw bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalSegment {
    /// The name of the file.
    pub file: String,
    /// The offset of the segment in the file.
    pub offset: u64,
    /// Its size in bytes; `u64::MAX` for unlimited.
    pub len: u64,
}

impl Dataset {
    /// The segments of external files that hold the elements, one after another; none for other datasets.
    ///
    /// # Errors
    /// If the names of the files cannot be read.
    pub fn external_segments(&self, file: &File) -> Result<Vec<ExternalSegment>> {
        let Some(message) = &self.external else { return Ok(Vec::new()) };
        let external = External::open(file, &message.decode(file.reader())?)?;
        let segment = |slot: &Slot| {
            let len = if slot.end == u64::MAX { u64::MAX } else { slot.end.saturating_sub(slot.start) };
            Ok(ExternalSegment { file: external.name(slot)?.to_owned(), offset: slot.offset, len })
        };
        external.slots.iter().map(segment).collect()
    }
}

/// The segments of external files that form a contiguous dataset.
pub(super) struct External {
    /// The heap with the names of the files. Many slots can share one long name.
    names: LocalHeap,
    slots: Vec<Slot>,
    /// The file that was read last. Most reads continue where the one before ended.
    open: Mutex<Option<(usize, Arc<dyn ReadAt>)>>,
}

#[derive(Debug)]
struct Slot {
    /// The offset of the file name in the heap.
    name_offset: u64,
    /// The offset of the segment in its file.
    offset: u64,
    /// The byte range of the dataset that it holds.
    start: u64,
    end: u64,
}

impl std::fmt::Debug for External {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.slots).finish()
    }
}

impl External {
    /// Reads the heap with the names of the files.
    pub(super) fn open(file: &File, message: &ExternalFiles) -> Result<External> {
        let names = LocalHeap::open(file.reader(), message.heap)?;
        let mut slots = Vec::with_capacity(message.slots.len());
        let mut start = 0_u64;
        for slot in &message.slots {
            let end = start.saturating_add(slot.len);
            slots.push(Slot { name_offset: slot.name_offset, offset: slot.offset, start, end });
            start = end;
        }
        Ok(External { names, slots, open: Mutex::default() })
    }

    /// Calls `visit` with the name of the file of each segment.
    ///
    /// # Errors
    /// If a name is invalid; the errors of `visit`.
    pub(super) fn names(&self, visit: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        self.slots.iter().try_for_each(|slot| visit(self.name(slot)?))
    }

    /// Calls `visit` for each segment of the first `len` bytes of the dataset: the file name, the offset in the file,
    /// the number of bytes, and the number of bytes in the segments before.
    ///
    /// # Errors
    /// If a name is invalid, or the segments are too short; the errors of `visit`.
    pub(super) fn segments(
        &self,
        len: u64,
        visit: &mut dyn FnMut(&str, u64, u64, u64) -> Result<()>,
    ) -> Result<()> {
        for slot in self.slots.iter().take_while(|slot| slot.start < len) {
            let here = slot.end.min(len).saturating_sub(slot.start);
            if here > 0 {
                visit(self.name(slot)?, slot.offset, here, slot.start)?;
            }
        }
        match self.slots.last().map_or(0, |slot| slot.end) {
            end if end < len => Err(too_short(end)),
            _ => Ok(()),
        }
    }

    /// Calls `visit` with each segment of the first `len` bytes of the dataset that its file does not completely
    /// contain.
    ///
    /// # Errors
    /// If a file does not exist or cannot be opened; the errors of `visit`.
    pub(super) fn short(
        &self,
        file: &File,
        len: u64,
        visit: &mut dyn FnMut(MissingSource<'_>) -> Result<()>,
    ) -> Result<()> {
        for (index, slot) in self.slots.iter().enumerate().take_while(|(_, slot)| slot.start < len) {
            let expected = slot.end.min(len).saturating_sub(slot.start);
            let found = self.storage(file, index, slot)?.len()?.saturating_sub(slot.offset);
            if found < expected {
                visit(MissingSource::Bytes { file: self.name(slot)?, found, expected })?;
            }
        }
        Ok(())
    }

    /// Reads from byte `offset` of the dataset into `out`. Bytes past the end of a file are zeros.
    pub(super) fn read(&self, file: &File, offset: u64, out: &mut [u8]) -> Result<()> {
        let (mut at, mut rest) = (offset, out);
        let first = self.slots.partition_point(|slot| slot.end <= offset);
        for (index, slot) in self.slots.iter().enumerate().skip(first) {
            if rest.is_empty() {
                return Ok(());
            }
            let len = usize::try_from(slot.end.saturating_sub(at)).unwrap_or(usize::MAX).min(rest.len());
            let (now, later) = rest.split_at_mut_checked(len).unwrap_or_default();
            self.read_slot(file, index, slot, at.saturating_sub(slot.start), now)?;
            at = at.saturating_add(len as u64);
            rest = later;
        }
        match rest.is_empty() {
            true => Ok(()),
            false => Err(too_short(at)),
        }
    }

    fn read_slot(&self, file: &File, index: usize, slot: &Slot, within: u64, out: &mut [u8]) -> Result<()> {
        let storage = self.storage(file, index, slot)?;
        let begin = slot.offset.checked_add(within);
        let begin =
            begin.ok_or_else(|| Error::malformed("offset in an external data file is 2^64 or more"))?;
        let there = usize::try_from(storage.len()?.saturating_sub(begin)).unwrap_or(usize::MAX);
        let (there, missing) = out.split_at_mut_checked(there.min(out.len())).unwrap_or_default();
        missing.fill(0);
        match there.is_empty() {
            true => Ok(()),
            false => {
                let named = |e: Error| Ok::<_, Error>(e.of_another(self.name(slot)?));
                storage.read_into(begin, there).or_else(|e| Err(named(e)?))
            }
        }
    }

    fn name(&self, slot: &Slot) -> Result<&str> {
        let name = self.names.name(slot.name_offset)?;
        if name.len() > LONGEST {
            let detail = format!("name of an external data file has {} bytes, which is too long", name.len());
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
        str::from_utf8(name).map_err(|_| Error::unsupported("name of an external data file is not UTF-8"))
    }

    fn storage(&self, file: &File, index: usize, slot: &Slot) -> Result<Arc<dyn ReadAt>> {
        let kept = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, storage)) = kept().as_ref().filter(|(own, _)| *own == index) {
            return Ok(Arc::clone(storage));
        }
        let name = self.name(slot)?;
        let found = file.siblings().open(name)?;
        let missing =
            || Error::new(ErrorKind::FileNotFound, format!("its external data file {name} is missing"));
        let storage: Arc<dyn ReadAt> = found.ok_or_else(missing)?.into();
        *kept() = Some((index, Arc::clone(&storage)));
        Ok(storage)
    }
}

fn too_short(bytes: u64) -> Error {
    Error::malformed(format!("external data files hold {bytes} bytes, expected more"))
}

/// The maximum length of a file name.
const LONGEST: usize = 1 << 16;
