//! Reads entries of a remote file, each with its local header in one request.

use super::{LOCAL_HEADER, Located, ZipStore, local_lengths, other_name, unpack};
use crate::Result;
use crate::storage::read_merged;
use crate::store::Key;
use bytes::Bytes;
use std::ops::Range;
use std::sync::atomic::Ordering;

impl ZipStore {
    /// The offset of the bytes of an entry, if its local header is as long as the last one.
    fn likely_start(&self, entry: &Located, key: &Key) -> u64 {
        let name = key.as_str().len() as u64;
        let extra = self.extra.load(Ordering::Relaxed);
        entry.header.saturating_add(LOCAL_HEADER).saturating_add(name).saturating_add(extra)
    }

    /// As [`ZipStore::start`], with the first bytes of the local header in memory.
    fn start_by(&self, head: &[u8], entry: &Located, key: &Key) -> Result<u64> {
        let (name, extra) = local_lengths(head, entry)?;
        let from = usize::try_from(LOCAL_HEADER).unwrap_or(usize::MAX);
        let stored = head.get(from..).and_then(|rest| rest.get(..usize::try_from(name).ok()?));
        if stored != Some(key.as_str().as_bytes()) {
            return Err(other_name(entry, key));
        }
        self.extra.store(extra, Ordering::Relaxed);
        Ok(entry.header.saturating_add(LOCAL_HEADER).saturating_add(name).saturating_add(extra))
    }

    /// Reads several whole entries of a remote file in one request, with their local headers. If a header is longer
    /// than the previous one, the rest of the entry is read separately. Returns nothing if the request fails.
    pub(super) fn inflate_together(&self, wanted: &[(&Located, &Key)]) -> Vec<Result<Bytes>> {
        let Ok(len) = self.file.len() else { return Vec::new() };
        let range = |(entry, key): &(&Located, &Key)| {
            entry.header..self.likely_start(entry, key).saturating_add(entry.stored).min(len)
        };
        let ranges: Vec<_> = wanted.iter().map(range).collect();
        let Ok(read) = read_merged(&ranges, |merged| self.file.read_ranges(merged)) else {
            return Vec::new();
        };
        let inflate = |((entry, key), bytes): (&(&Located, &Key), Bytes)| {
            let start = self.start_by(&bytes, entry, key)?;
            let from = usize::try_from(start.saturating_sub(entry.header)).ok();
            let to =
                from.zip(usize::try_from(entry.stored).ok()).and_then(|(from, len)| from.checked_add(len));
            let stored = match from.zip(to).filter(|(from, to)| from <= to && *to <= bytes.len()) {
                Some((from, to)) => bytes.slice(from..to),
                None => self.file.read_at(start..start.saturating_add(entry.stored))?,
            };
            unpack(entry, key, start, stored)
        };
        wanted.iter().zip(read).map(inflate).collect()
    }

    /// Reads parts of a stored entry of a remote file in one request, if its local header is as long as the previous
    /// one.
    pub(super) fn parts_together(
        &self,
        entry: &Located,
        key: &Key,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>> {
        let likely = self.likely_start(entry, key);
        let at = |start: u64| {
            ranges.iter().map(move |range| start.saturating_add(range.start)..start.saturating_add(range.end))
        };
        let head = std::iter::once(entry.header..likely);
        let mut pieces =
            read_merged(&head.chain(at(likely)).collect::<Vec<_>>(), |merged| self.file.read_ranges(merged))?
                .into_iter();
        let start = self.start_by(&pieces.next().unwrap_or_default(), entry, key)?;
        match start == likely {
            true => Ok(pieces.collect()),
            false => read_merged(&at(start).collect::<Vec<_>>(), |merged| self.file.read_ranges(merged)),
        }
    }
}
