//! Python storages with values under keys: folders of fsspec and obstore, mappings, and stores of zarr-python.

use crate::error::raised_by_storage;
use bytes::Bytes;
use hyperslab::store::{self, EntryKind, Key, Store};
use hyperslab::{Error, ErrorKind, Limit, Result};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An object with the methods of `hyperslab._folders.Keyed`.
pub(crate) struct Keyed {
    storage: Py<PyAny>,
    is_far: bool,
    /// The entries of remote prefixes, so that none is listed twice. An open store is assumed not to change.
    listed: Mutex<FxHashMap<Key, Vec<store::Entry>>>,
}

impl Keyed {
    pub(crate) fn new(storage: &Bound<'_, PyAny>) -> PyResult<Keyed> {
        let is_far = storage.getattr("is_far")?.extract()?;
        Ok(Keyed { storage: storage.clone().unbind(), is_far, listed: Mutex::default() })
    }

    /// Makes one call to the storage.
    fn ask<T>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        Python::attach(|py| ask(self.storage.bind(py))).map_err(raised_by_storage)
    }

    fn listed(&self) -> MutexGuard<'_, FxHashMap<Key, Vec<store::Entry>>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the prefix of a key was listed, and did not contain the key.
    fn is_unlisted(&self, key: &Key) -> bool {
        let prefix = key.as_str().rsplit_once('/').map_or(Ok(Key::root()), |(prefix, _)| Key::new(prefix));
        let listed = self.listed();
        let Some(entries) = prefix.ok().and_then(|prefix| listed.get(&prefix)) else { return false };
        entries.binary_search_by(|entry| entry.name.as_str().cmp(key.name())).is_err()
    }

    /// Requests the entries of a prefix, sorted by name.
    fn ask_entries(&self, prefix: &Key) -> Result<Vec<store::Entry>> {
        let found: Vec<(String, bool)> = self.ask(|storage| {
            let entries = storage.call_method1("entries", (prefix.as_str(),))?;
            entries.try_iter()?.map(|entry| entry?.extract()).collect()
        })?;
        let entry = |(name, is_prefix): (String, bool)| {
            let kind = match Key::new(&name) {
                Ok(_) if is_prefix => EntryKind::Prefix,
                Ok(_) => EntryKind::Value,
                Err(_) => EntryKind::Refused("its name cannot be a part of a key"),
            };
            store::Entry { name, kind }
        };
        let mut entries: Vec<store::Entry> = found.into_iter().map(entry).collect();
        // An empty value may stand for a folder, so a prefix precedes a value of the same name.
        let order = |entry: &store::Entry| (entry.name.clone(), entry.kind != EntryKind::Prefix);
        entries.sort_by_cached_key(order);
        entries.dedup_by(|one, other| one.name == other.name);
        Ok(entries)
    }
}

fn other_bytes(key: &Key) -> Error {
    let detail = format!("the storage did not return the requested bytes of {key}");
    Error::new(ErrorKind::Io, detail)
}

impl Store for Keyed {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        if self.is_unlisted(key) {
            return Ok(None);
        }
        self.ask(|storage| storage.call_method1("size_of", (key.as_str(),))?.extract())
    }

    fn read(&self, key: &Key, max_bytes: u64) -> Result<Option<Bytes>> {
        self.read_many(std::slice::from_ref(key), max_bytes).pop().unwrap_or_else(|| Err(other_bytes(key)))
    }

    fn read_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        let asked: Vec<(u64, u64)> = ranges.iter().map(|range| (range.start, range.end)).collect();
        let read: Option<Vec<PyBackedBytes>> =
            self.ask(|storage| storage.call_method1("ranges_of", (key.as_str(), asked))?.extract())?;
        let Some(read) = read else { return Ok(None) };
        if read.len() != ranges.len() {
            return Err(other_bytes(key));
        }
        let mut parts = Vec::with_capacity(read.len());
        for (part, range) in read.into_iter().zip(ranges) {
            let len = range.end.saturating_sub(range.start);
            match part.len() as u64 {
                found if found == len => parts.push(Bytes::from_owner(part)),
                found if found < len => {
                    let at = range.start;
                    let detail = format!("{key} ends {found} bytes after byte {at}, expected {len} bytes");
                    return Err(Error::malformed(detail));
                }
                _ => return Err(other_bytes(key)),
            }
        }
        Ok(Some(parts))
    }

    fn read_many(&self, keys: &[Key], max_bytes: u64) -> Vec<Result<Option<Bytes>>> {
        let value = |found: &Bound<'_, PyAny>, key: &Key| {
            if found.is_none() {
                return Ok(None);
            }
            if found.is_instance_of::<PyException>() {
                return Err(raised_by_storage(PyErr::from_value(found.clone())));
            }
            let value: PyBackedBytes =
                found.extract().map_err(|error| raised_by_storage(PyErr::from(error)))?;
            let len = value.len() as u64;
            if len > max_bytes {
                let detail = format!("{key} has {len} bytes, but at most {max_bytes} may be read");
                return Err(Error::limit_exceeded(Limit::Allocation, detail));
            }
            Ok(Some(Bytes::from_owner(value)))
        };
        let read = self.ask(|storage| {
            let asked: Vec<&str> = keys.iter().map(Key::as_str).collect();
            let found: Vec<Bound<'_, PyAny>> = storage.call_method1("values_of", (asked,))?.extract()?;
            Ok(match found.len() == keys.len() {
                true => found.iter().zip(keys).map(|(found, key)| value(found, key)).collect(),
                false => keys.iter().map(|key| Err(other_bytes(key))).collect(),
            })
        });
        // If the whole request fails, its error applies to each key.
        read.unwrap_or_else(|error| {
            let detail = error.to_string();
            let mut first = Some(error);
            let mut failed = || first.take().unwrap_or_else(|| Error::new(ErrorKind::Io, detail.clone()));
            keys.iter().map(|_| Err(failed())).collect()
        })
    }

    fn is_far(&self) -> bool {
        self.is_far
    }

    fn list(&self, prefix: &Key) -> Result<Vec<store::Entry>> {
        if let Some(known) = self.listed().get(prefix) {
            return Ok(known.clone());
        }
        let entries = self.ask_entries(prefix)?;
        if self.is_far {
            self.listed().insert(prefix.clone(), entries.clone());
        }
        Ok(entries)
    }
}
