//! A zip file as a store: keys are names of entries, stored or deflated.
//!
//! Spec: APPNOTE.TXT 4.3 (zip), 4.5.3 (zip64)

mod central_directory;
mod far;
mod write;

pub use write::ZipWriter;

use super::{Entry, Key, Store, below, check_size, memory, read_each};
use crate::storage::ReadAt;
use crate::{Decoder, Error, Limits, Result};
use bytes::Bytes;
use central_directory::{Located, Method};
use libdeflater::{Crc, Decompressor};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

/// The entries of a zip file. If several entries have the same name, the last one counts, as in other readers.
pub struct ZipStore {
    file: Box<dyn ReadAt>,
    entries: BTreeMap<String, Located>,
    /// The maximum size in bytes of a value that is inflated to read a part of it.
    max_bytes: u64,
    /// The length of the extra field in the last local header. Other headers of the file usually have the same length.
    extra: AtomicU64,
}

impl ZipStore {
    /// Reads the central directory.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if the file is not a zip file or has
    /// names that lead out of the store; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for a
    /// multi-volume archive.
    pub fn open(file: Box<dyn ReadAt>, limits: &Limits) -> Result<ZipStore> {
        let entries = central_directory::read(&*file, limits)?;
        Ok(ZipStore { file, entries, max_bytes: limits.allocation, extra: AtomicU64::new(0) })
    }

    /// Whether a file is a zip file with an entry of one of these names, in any folder. False if it is not a zip file.
    ///
    /// # Errors
    /// As [`ZipStore::open`], if the file begins like a zip file but is malformed.
    pub fn has(file: &dyn ReadAt, names: &[&str], limits: &Limits) -> Result<bool> {
        let head = file.read_at(0..file.len()?.min(4))?;
        if !SIGNATURES.iter().any(|signature| **signature == *head) {
            return Ok(false);
        }
        let entries = central_directory::read(file, limits)?;
        Ok(entries.keys().any(|key| names.contains(&key.rsplit('/').next().unwrap_or_default())))
    }

    /// The offset of the bytes of an entry, after its local header.
    fn start(&self, entry: &Located, key: &Key) -> Result<u64> {
        let end = entry.header.saturating_add(LOCAL_HEADER);
        let bytes = self.file.read_at(entry.header..end)?;
        let (name, extra) = local_lengths(&bytes, entry)?;
        let name_end = end.saturating_add(name);
        if *self.file.read_at(end..name_end)? != *key.as_str().as_bytes() {
            return Err(other_name(entry, key));
        }
        Ok(name_end.saturating_add(extra))
    }

    fn inflate(&self, entry: &Located, key: &Key) -> Result<Bytes> {
        // Errors have the same messages as for a local file.
        if self.is_far()
            && let Some(Ok(bytes)) = self.inflate_together(&[(entry, key)]).pop()
        {
            return Ok(bytes);
        }
        let start = self.start(entry, key)?;
        let stored = self.file.read_at(start..start.saturating_add(entry.stored))?;
        unpack(entry, key, start, stored)
    }
}

/// The lengths of the name and of the extra field in a local header.
fn local_lengths(header: &[u8], entry: &Located) -> Result<(u64, u64)> {
    let mut d = Decoder::new(LOCAL_NAME, entry.header, header);
    d.signature(b"PK\x03\x04")?;
    d.reserved(22)?;
    Ok((d.u16()?.into(), d.u16()?.into()))
}

fn other_name(entry: &Located, key: &Key) -> Error {
    let end = entry.header.saturating_add(LOCAL_HEADER);
    Error::malformed(format!("a name different from {key:?} in the central directory")).at(LOCAL_NAME, end)
}

/// Decodes the bytes of an entry from `start` on. `stored` are its stored bytes.
fn unpack(entry: &Located, key: &Key, start: u64, stored: Bytes) -> Result<Bytes> {
    let broken = |what: &str| Error::malformed(format!("{what} in {key}")).at("zip entry", start);
    let bytes = match entry.method {
        Method::Stored if entry.size == entry.stored => stored,
        Method::Stored => return Err(broken("stored bytes of another length")),
        Method::Deflated => {
            // No deflate stream has a higher ratio, so the memory is limited to a multiple of the file size.
            if entry.size > entry.stored.saturating_mul(MAX_RATIO) {
                return Err(broken("more bytes than the stream can hold"));
            }
            let len = usize::try_from(entry.size).map_err(|_| broken("too many bytes"))?;
            let mut out = vec![0; len];
            let found = Decompressor::new().deflate_decompress(&stored, &mut out);
            if found != Ok(len) {
                return Err(broken("not a deflate stream of the expected length"));
            }
            out.into()
        }
        Method::Other(method) => {
            return Err(Error::unsupported(format!("{key} is packed by method {method}")));
        }
        Method::Encrypted => return Err(Error::unsupported(format!("{key} is encrypted"))),
        Method::Link => return Err(Error::unsupported(format!("{key} is a symbolic link"))),
    };
    let mut crc = Crc::new();
    crc.update(&bytes);
    match crc.sum() == entry.crc {
        true => Ok(bytes),
        false => Err(Error::new(
            crate::ErrorKind::Checksum,
            format!("{key} has the CRC-32 {:#010x}, expected {:#010x}", crc.sum(), entry.crc),
        )),
    }
}

impl Store for ZipStore {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        Ok(self.entries.get(key.as_str()).map(|entry| entry.size))
    }

    fn read(&self, key: &Key, max_bytes: u64) -> Result<Option<Bytes>> {
        let Some(entry) = self.entries.get(key.as_str()) else { return Ok(None) };
        check_both(entry, max_bytes, key)?;
        self.inflate(entry, key).map(Some)
    }

    /// Parts of stored entries are not verified, because the checksum covers the whole entry.
    fn read_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        let Some(entry) = self.entries.get(key.as_str()) else { return Ok(None) };
        if entry.method != Method::Stored {
            let whole = self.read(key, self.max_bytes)?.unwrap_or_default();
            return memory::slices(&whole, ranges, key).map(Some);
        }
        let size = entry.size.min(entry.stored);
        if let Some(range) = ranges.iter().find(|range| range.start > range.end || range.end > size) {
            return Err(super::past_end(range, entry.size, key));
        }
        if self.is_far()
            && let Ok(parts) = self.parts_together(entry, key, ranges)
        {
            return Ok(Some(parts));
        }
        let start = self.start(entry, key)?;
        let part = |range: &Range<u64>| {
            self.file.read_at(start.saturating_add(range.start)..start.saturating_add(range.end))
        };
        ranges.iter().map(part).collect::<Result<_>>().map(Some)
    }

    fn read_many(&self, keys: &[Key], max_bytes: u64) -> Vec<Result<Option<Bytes>>> {
        let located = keys.iter().map(|key| (self.entries.get(key.as_str()), key));
        let wanted: Vec<_> = located
            .filter_map(|(entry, key)| Some((entry?, key)))
            .filter(|(entry, key)| check_both(entry, max_bytes, key).is_ok())
            .collect();
        if !self.is_far() || wanted.is_empty() {
            return read_each(self, keys, max_bytes);
        }
        let read = self.inflate_together(&wanted);
        let mut read: FxHashMap<&Key, _> = wanted.into_iter().map(|(_, key)| key).zip(read).collect();
        let answer = |key| match read.remove(key) {
            Some(Ok(bytes)) => Ok(Some(bytes)),
            _ => self.read(key, max_bytes),
        };
        keys.iter().map(answer).collect()
    }

    fn is_far(&self) -> bool {
        self.file.is_far()
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        Ok(below(&self.entries, prefix))
    }
}

/// The stored bytes may be slightly more than the inflated bytes.
fn check_both(entry: &Located, max_bytes: u64, key: &Key) -> Result<()> {
    check_size(entry.size, max_bytes, key)?;
    check_size(entry.stored, max_bytes.saturating_add(max_bytes / 8).saturating_add(SLACK), key)
}

/// The first bytes of zip files with and without entries.
const SIGNATURES: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The length of a local header before the name.
const LOCAL_HEADER: u64 = 30;
const LOCAL_NAME: &str = "local file header";

/// The maximum number of bytes of a deflate stream beyond its literals, which have at most nine bits each.
const SLACK: u64 = 64;

/// The maximum compression ratio of deflate: a match of 258 bytes takes at least two bits.
const MAX_RATIO: u64 = 1032;
