//! Writes a store in a zip file, with uncompressed entries one after the other.
//!
//! Spec: APPNOTE.TXT 4.3 (zip), 4.5.3 (zip64)

use super::central_directory::{Located, Method, encode, encode_local_header, read_local};
use crate::real_path::RealFolder;
use crate::storage::WritableFile;
use crate::store::value::only;
use crate::store::{Durability, Entry, Key, Store, WritableStore, below, check_size, past_end, read_each};
use crate::{Error, ErrorKind, Limits, Result};
use bytes::Bytes;
use libdeflater::Crc;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Writes a zip file. It can be read only after it is finished, because the central directory is written last.
///
/// Values that are replaced or deleted leave their bytes in the file.
#[derive(Debug)]
pub struct ZipWriter {
    path: PathBuf,
    /// The temporary name until the file is finished, if it has one.
    temporary: Option<PathBuf>,
    durability: Durability,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// The offset of the next entry. Bytes after it have no meaning.
    end: u64,
    entries: BTreeMap<String, Located>,
    is_finished: bool,
}

impl ZipWriter {
    /// Begins a file for `path`. It has a temporary name until it is finished, and is removed if it is dropped before
    /// then. An existing file at `path` is replaced only at the end.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn create(path: impl AsRef<Path>, durability: Durability) -> Result<ZipWriter> {
        let path = path.as_ref().to_path_buf();
        let Some(name) = path.file_name() else { return Err(Error::invalid("is not the path of a file")) };
        let name = name.to_string_lossy();
        let mut number = 0_u64;
        let (file, temporary) = loop {
            let beside = path.with_file_name(format!(".{name}-{}-{number}.partial", std::process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&beside) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => number += 1,
                file => break (file?, beside),
            }
        };
        let state = State { file, end: 0, entries: BTreeMap::new(), is_finished: false };
        Ok(ZipWriter { path, temporary: Some(temporary), durability, state: Mutex::new(state) })
    }

    /// Begins a file directly at the real path `path`, or continues one that was begun in this way, finished or not.
    /// The file is kept when it is dropped: the caller must ensure that no other program treats it as complete.
    ///
    /// All values that were written completely are kept, including deleted ones. The content of a file of another program
    /// is discarded.
    ///
    /// # Errors
    /// Errors of the system; [`ErrorKind::LimitExceeded`] if the names exceed the memory limit.
    pub fn go_on(path: impl AsRef<Path>, durability: Durability, limits: &Limits) -> Result<ZipWriter> {
        let path = path.as_ref().to_path_buf();
        let (folder, name) = RealFolder::around(&path)?;
        let file = folder.open_file(name)?;
        if !file.metadata()?.is_file() {
            return Err(Error::invalid("is not a regular file"));
        }
        let (entries, end) = read_local(&WritableFile::from(file.try_clone()?), limits.allocation / 4)?;
        file.set_len(end)?;
        let state = State { file, end, entries, is_finished: false };
        Ok(ZipWriter { path, temporary: None, durability, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads parts of a value. `ranges` computes them from its size.
    fn read_parts(
        &self,
        key: &Key,
        ranges: impl FnOnce(u64) -> Result<Vec<Range<u64>>>,
    ) -> Result<Option<Vec<Bytes>>> {
        let mut state = self.state();
        let Some(Located { size, header, .. }) = state.entries.get(key.as_str()).cloned() else {
            return Ok(None);
        };
        let ranges = ranges(size)?;
        // Entries have no extra field, except values of 4 GiB or more.
        let extra = if size >= u32::MAX.into() { 20 } else { 0 };
        let start = header + super::LOCAL_HEADER + key.as_str().len() as u64 + extra;
        let part = |range: Range<u64>| -> Result<Bytes> {
            let len = range.end.saturating_sub(range.start);
            let len =
                usize::try_from(len).map_err(|_| Error::malformed(format!("a value of {len} bytes")))?;
            let mut bytes = vec![0; len];
            state.file.seek(SeekFrom::Start(start + range.start))?;
            state.file.read_exact(&mut bytes)?;
            Ok(bytes.into())
        };
        ranges.into_iter().map(part).collect::<Result<_>>().map(Some)
    }
}

impl WritableStore for ZipWriter {
    fn put(&self, key: &Key, value: &[u8]) -> Result<()> {
        if key.is_root() {
            return Err(Error::invalid("the root, which has no value"));
        }
        let mut crc = Crc::new();
        crc.update(value);
        let (crc, size) = (crc.sum(), value.len() as u64);
        let header = encode_local_header(key.as_str(), crc, size)?;
        let mut state = self.state();
        state.check_open()?;
        let start = state.end;
        state.file.seek(SeekFrom::Start(start))?;
        if let Err(e) = state.file.write_all(header.as_slice()).and_then(|()| state.file.write_all(value)) {
            // Old bytes after the next entry must not look like another entry.
            let _ = state.file.set_len(start);
            return Err(e.into());
        }
        state.end = start.saturating_add(header.len() as u64).saturating_add(size);
        let located = Located { method: Method::Stored, crc, stored: size, size, header: start };
        state.entries.insert(key.as_str().to_owned(), located);
        Ok(())
    }

    fn delete(&self, key: &Key) -> Result<bool> {
        let mut state = self.state();
        state.check_open()?;
        Ok(state.entries.remove(key.as_str()).is_some())
    }

    fn finish(&self) -> Result<()> {
        let mut state = self.state();
        state.check_open()?;
        let directory = encode(&state.entries, state.end)?;
        let start = state.end;
        state.file.seek(SeekFrom::Start(start))?;
        state.file.write_all(directory.as_slice())?;
        state.file.set_len(start.saturating_add(directory.len() as u64))?;
        if self.durability == Durability::Power {
            state.file.sync_all()?;
        }
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
        }
        state.is_finished = true;
        match (self.durability, self.path.parent()) {
            (Durability::Power, Some(folder)) if cfg!(unix) => Ok(sync_folder(folder)?),
            _ => Ok(()),
        }
    }
}

impl Store for ZipWriter {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        Ok(self.state().entries.get(key.as_str()).map(|entry| entry.size))
    }

    fn read(&self, key: &Key, max_bytes: u64) -> Result<Option<Bytes>> {
        let parts = self.read_parts(key, |size| {
            check_size(size, max_bytes, key).map(|()| std::iter::once(0..size).collect())
        })?;
        Ok(parts.map(only))
    }

    fn read_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        self.read_parts(key, |size| {
            let is_there = |range: &&Range<u64>| range.start <= range.end && range.end <= size;
            match ranges.iter().find(|range| !is_there(range)) {
                None => Ok(ranges.to_vec()),
                Some(range) => Err(past_end(range, size, key)),
            }
        })
    }

    fn read_many(&self, keys: &[Key], max_bytes: u64) -> Vec<Result<Option<Bytes>>> {
        read_each(self, keys, max_bytes)
    }

    fn is_far(&self) -> bool {
        false
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        Ok(below(&self.state().entries, prefix))
    }
}

impl Drop for ZipWriter {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.as_ref().filter(|_| !self.state().is_finished) {
            // An error cannot be returned from `drop`.
            let _ = fs::remove_file(temporary);
        }
    }
}

impl State {
    fn check_open(&self) -> Result<()> {
        match self.is_finished {
            true => Err(Error::new(ErrorKind::InvalidArgument, "the zip file is finished")),
            false => Ok(()),
        }
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ZipStore;

    fn key(key: &str) -> Key {
        Key::new(key).unwrap()
    }

    fn open(path: &Path) -> ZipStore {
        ZipStore::open(Box::new(crate::storage::FileStorage::open(path).unwrap()), &Limits::default())
            .unwrap()
    }

    #[test]
    fn a_file_appears_only_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let writer = ZipWriter::create(&path, Durability::Power).unwrap();
        writer.put(&key("a/b"), b"once").unwrap();
        writer.put(&key("a/b"), b"again").unwrap();
        writer.put(&key("c"), b"gone").unwrap();
        assert!(writer.delete(&key("c")).unwrap());
        assert!(!writer.delete(&key("c")).unwrap());
        assert!(!path.exists());
        writer.finish().unwrap();
        assert_eq!(writer.put(&key("d"), b"late").unwrap_err().to_string(), "the zip file is finished");
        drop(writer);
        let store = open(&path);
        assert_eq!(store.read(&key("a/b"), 5).unwrap().unwrap(), &b"again"[..]);
        assert_eq!(store.list(&Key::root()).unwrap().len(), 1);

        drop(ZipWriter::create(&path, Durability::Process).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(open(&path).read(&key("a/b"), 5).unwrap().unwrap(), &b"again"[..]);
    }

    #[test]
    fn a_file_truncated_at_any_byte_is_resumed_with_its_complete_values() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, cut) = (folder.path().join("whole"), folder.path().join("cut"));
        let go_on = |path: &Path| ZipWriter::go_on(path, Durability::Process, &Limits::default()).unwrap();
        let values =
            ["", "b", "PK\x03\x04", "again", "d/e"].map(|value| (value, key(&format!("c/{value}x"))));
        let writer = go_on(&whole);
        let mut ends = Vec::new();
        for (value, key) in &values {
            writer.put(key, b"first").unwrap();
            writer.put(key, value.as_bytes()).unwrap();
            ends.push(writer.state().end);
        }
        drop(writer);
        for is_finished in [false, true] {
            if is_finished {
                let writer = go_on(&whole);
                writer.finish().unwrap();
            }
            let bytes = fs::read(&whole).unwrap();
            for len in 0..=bytes.len() {
                fs::write(&cut, &bytes[..len]).unwrap();
                let writer = go_on(&cut);
                let kept = ends.iter().take_while(|end| **end <= len as u64).count();
                for (value, key) in &values[..kept] {
                    assert_eq!(writer.read(key, 9).unwrap().unwrap(), value.as_bytes(), "{len}");
                }
                assert!(kept == values.len() || len as u64 >= writer.state().end);
                for (value, key) in &values[kept..] {
                    writer.put(key, value.as_bytes()).unwrap();
                }
                writer.finish().unwrap();
                drop(writer);
                let store = open(&cut);
                for (value, key) in &values {
                    assert_eq!(store.read(key, 9).unwrap().unwrap(), value.as_bytes(), "{len}");
                }
                assert_eq!(store.list(&key("c")).unwrap().len(), values.len());
            }
        }
    }

    #[test]
    fn files_with_a_foreign_header_are_started_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut header = encode_local_header("c/0", 0, 1).unwrap().into_bytes();
        header.push(7);
        for damage in 0..30 {
            let mut bytes = header.clone();
            bytes[damage] ^= 0x41;
            fs::write(&path, &bytes).unwrap();
            let writer = ZipWriter::go_on(&path, Durability::Process, &Limits::default()).unwrap();
            // The checksum is verified when the bytes are read.
            let is_crc = (14..18).contains(&damage);
            assert_eq!(writer.size(&key("c/0")).unwrap().is_some(), is_crc, "{damage}");
            assert_eq!(fs::metadata(&path).unwrap().len() > 0, is_crc, "{damage}");
        }
    }

    #[test]
    fn offsets_and_counts_that_need_zip64_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        for (path, first, count) in [("far.zip", 5 << 30, 3_u32), ("many.zip", 0, 70_000)] {
            let path = folder.path().join(path);
            let writer = ZipWriter::create(&path, Durability::Process).unwrap();
            // A hole in the file, which takes no space.
            writer.state().end = first;
            for number in 0..count {
                writer.put(&key(&format!("c/{number}")), &number.to_le_bytes()).unwrap();
            }
            writer.finish().unwrap();
            let store = open(&path);
            assert_eq!(store.list(&key("c")).unwrap().len(), usize::try_from(count).unwrap());
            for number in [0, 1, count - 1] {
                let found = store.read(&key(&format!("c/{number}")), 4).unwrap().unwrap();
                assert_eq!(found, &number.to_le_bytes()[..]);
            }
        }
    }
}
