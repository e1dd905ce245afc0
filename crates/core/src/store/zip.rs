//! A zip file: keys are names of entries, stored or deflated.
//!
//! Spec: APPNOTE.TXT 4.3 (zip), 4.5.3 (zip64)

mod central_directory;
mod write;

pub use write::ZipWriter;

use super::{Entry, Key, Store, below, check_most, memory};
use crate::storage::ReadAt;
use crate::{Decoder, Error, Limits, Result};
use bytes::Bytes;
use central_directory::{Located, Method};
use libdeflater::{Crc, Decompressor};
use std::collections::BTreeMap;
use std::ops::Range;

/// The entries of a zip file. Of entries with one name the last one is meant, as others have it.
pub struct ZipStore {
    file: Box<dyn ReadAt>,
    entries: BTreeMap<String, Located>,
    most: u64,
}

impl ZipStore {
    /// Reads the central directory.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) for what is no zip file, and for one with
    /// names that lead out of it; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for one in
    /// several parts.
    pub fn open(file: Box<dyn ReadAt>, limits: &Limits) -> Result<ZipStore> {
        let entries = central_directory::read(&*file, limits)?;
        Ok(ZipStore { file, entries, most: limits.allocation })
    }

    /// Whether a file is a zip file with an entry of one of these names, wherever it lies; false also for what is
    /// no zip file.
    ///
    /// # Errors
    /// If it begins as one and is not, as [`ZipStore::open`].
    pub fn has(file: &dyn ReadAt, names: &[&str], limits: &Limits) -> Result<bool> {
        let head = file.read_at(0..file.len()?.min(4))?;
        if !SIGNATURES.iter().any(|signature| **signature == *head) {
            return Ok(false);
        }
        let entries = central_directory::read(file, limits)?;
        Ok(entries.keys().any(|key| names.contains(&key.rsplit('/').next().unwrap_or_default())))
    }

    /// Where the bytes of an entry begin, behind its local header.
    fn start(&self, entry: &Located, key: &Key) -> Result<u64> {
        let end = entry.header.saturating_add(LOCAL_HEADER);
        let bytes = self.file.read_at(entry.header..end)?;
        let mut d = Decoder::new("local file header", entry.header, &bytes);
        d.signature(b"PK\x03\x04")?;
        d.reserved(22)?;
        let name = d.u16()?;
        let extra = d.u16()?;
        let name_end = end.saturating_add(name.into());
        if *self.file.read_at(end..name_end)? != *key.as_str().as_bytes() {
            return Err(d.malformed(format!("another name than the central directory's {key:?}")));
        }
        Ok(name_end.saturating_add(extra.into()))
    }

    fn inflate(&self, entry: &Located, key: &Key) -> Result<Bytes> {
        let start = self.start(entry, key)?;
        let stored = self.file.read_at(start..start.saturating_add(entry.stored))?;
        let broken = |what: &str| Error::malformed(format!("{what} in {key}")).at("zip entry", start);
        let bytes = match entry.method {
            Method::Stored if entry.size == entry.stored => stored,
            Method::Stored => return Err(broken("stored bytes of another length")),
            Method::Deflated => {
                // No stream is denser, so nobody can ask for more than a multiple of the file.
                if entry.size > entry.stored.saturating_mul(MAX_RATIO) {
                    return Err(broken("more bytes than the stream can hold"));
                }
                let len = usize::try_from(entry.size).map_err(|_| broken("too many bytes"))?;
                let mut out = vec![0; len];
                let found = Decompressor::new().deflate_decompress(&stored, &mut out);
                if found != Ok(len) {
                    return Err(broken("no deflate stream of the length it should have"));
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
}

impl Store for ZipStore {
    fn size(&self, key: &Key) -> Result<Option<u64>> {
        Ok(self.entries.get(key.as_str()).map(|entry| entry.size))
    }

    fn read(&self, key: &Key, most: u64) -> Result<Option<Bytes>> {
        let Some(entry) = self.entries.get(key.as_str()) else { return Ok(None) };
        check_both(entry, most, key)?;
        self.inflate(entry, key).map(Some)
    }

    /// Parts of stored entries come without a look at their checksum, which is of the whole.
    fn read_range(&self, key: &Key, range: Range<u64>) -> Result<Option<Bytes>> {
        let Some(entry) = self.entries.get(key.as_str()) else { return Ok(None) };
        if entry.method != Method::Stored {
            check_both(entry, self.most, key)?;
            return memory::slice(&self.inflate(entry, key)?, &range, key).map(Some);
        }
        if range.start > range.end || range.end > entry.size.min(entry.stored) {
            return Err(super::past_end(&range, entry.size, key));
        }
        let start = self.start(entry, key)?;
        let part = start.saturating_add(range.start)..start.saturating_add(range.end);
        self.file.read_at(part).map(Some)
    }

    fn list(&self, prefix: &Key) -> Result<Vec<Entry>> {
        Ok(below(&self.entries, prefix))
    }
}

/// What is stored may be a little more than what it inflates to.
fn check_both(entry: &Located, most: u64, key: &Key) -> Result<()> {
    check_most(entry.size, most, key)?;
    check_most(entry.stored, most.saturating_add(most / 8).saturating_add(SLACK), key)
}

/// What files with entries and without begin with.
const SIGNATURES: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

const LOCAL_HEADER: u64 = 30;

/// Bytes that a deflate stream may have beyond its literals of at most nine bits each.
const SLACK: u64 = 64;

/// A match of 258 bytes takes at least two bits.
const MAX_RATIO: u64 = 1032;
