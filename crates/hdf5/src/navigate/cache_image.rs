//! A file under its metadata cache image.
//!
//! Spec: none; see [`MetadataCacheImage`].

use super::Reader;
use crate::format::Structure;
use crate::format::infrastructure::MetadataCacheImageBlock;
use crate::format::message::metadata_cache_image::MetadataCacheImage;
use bytes::Bytes;
use hyperslab_core::storage::{ReadAt, Siblings};
use hyperslab_core::{Charge, Error, Result};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A file whose metadata is replaced by that of the cache image.
pub struct Imaged<R> {
    storage: R,
    /// Entries by file offset, without overlap.
    entries: BTreeMap<u64, Bytes>,
    _charge: Charge,
}

impl<R: ReadAt> Imaged<R> {
    /// Reads the image of the file of `reader`, and lays it over `storage`, which is the same file.
    ///
    /// # Errors
    /// If the image is damaged, or two of its entries overlap.
    pub fn read(reader: &Reader, storage: R, image: &MetadataCacheImage) -> Result<Self> {
        const NAME: &str = MetadataCacheImageBlock::NAME;
        let _scratch = reader.budget().charge(image.len.saturating_mul(MAX_GROWTH))?;
        let block: MetadataCacheImageBlock = reader.structure(image.address, image.len, reader.sizes())?;
        let kept = block.entries.iter().map(|entry| (entry.bytes.len() + ENTRY_SIZE) as u64).sum();
        let charge = reader.budget().charge(kept)?;
        let offset = reader.offset(NAME, image.address)?;
        let mut entries = BTreeMap::new();
        let twice =
            |address| Error::malformed(format!("the entry at {address} overlaps another")).at(NAME, offset);
        for entry in block.entries {
            let start = reader.offset(NAME, entry.address)?;
            if entries.insert(start, (entry.address, Bytes::from(entry.bytes))).is_some() {
                return Err(twice(entry.address));
            }
        }
        let mut end = 0;
        for (start, (address, bytes)) in &entries {
            if *start < end {
                return Err(twice(*address));
            }
            end = start.saturating_add(bytes.len() as u64);
        }
        let entries = entries.into_iter().map(|(start, (_, bytes))| (start, bytes)).collect();
        Ok(Imaged { storage, entries, _charge: charge })
    }

    /// Entries that overlap `range`, last first.
    fn overlapping(&self, range: &Range<u64>) -> impl Iterator<Item = (u64, &Bytes)> {
        let start = range.start;
        self.entries
            .range(..range.end)
            .rev()
            .map(|(offset, bytes)| (*offset, bytes))
            .take_while(move |(offset, bytes)| offset.saturating_add(bytes.len() as u64) > start)
    }
}

impl<R: ReadAt> ReadAt for Imaged<R> {
    fn len(&self) -> Result<u64> {
        self.storage.len()
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        let Some((offset, bytes)) = self.overlapping(&range).last() else {
            return self.storage.read_at(range);
        };
        if let Some(whole) = part(offset, bytes, &range) {
            return Ok(bytes.slice(whole));
        }
        let mut out = self.storage.read_at(range.clone())?.to_vec();
        self.lay_over(range.start, &mut out);
        Ok(out.into())
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        self.storage.read_into(offset, out)?;
        self.lay_over(offset, out);
        Ok(())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let untouched = |range: &&Range<u64>| self.overlapping(range).next().is_none();
        let stored: Vec<_> = ranges.iter().filter(untouched).cloned().collect();
        let mut stored = match stored.is_empty() {
            true => Vec::new(),
            false => self.storage.read_ranges(&stored)?,
        }
        .into_iter();
        // Entries are in memory, and few ranges overlap one only partly.
        let piece = |range: &Range<u64>| match untouched(&range) {
            true => stored.next().map_or_else(|| self.storage.read_at(range.clone()), Ok),
            false => self.read_at(range.clone()),
        };
        ranges.iter().map(piece).collect()
    }

    fn is_far(&self) -> bool {
        self.storage.is_far()
    }

    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        self.storage.siblings()
    }
}

impl<R: ReadAt> Imaged<R> {
    /// Replaces the bytes of entries in `out`, which was read from offset `start`.
    fn lay_over(&self, start: u64, out: &mut [u8]) {
        let range = start..start.saturating_add(out.len() as u64);
        for (offset, bytes) in self.overlapping(&range) {
            let end = offset.saturating_add(bytes.len() as u64);
            let common = offset.max(range.start)..end.min(range.end);
            let to = part(range.start, out, &common).and_then(|to| out.get_mut(to));
            let from = part(offset, bytes, &common).and_then(|from| bytes.get(from));
            if let (Some(to), Some(from)) = (to, from) {
                to.copy_from_slice(from);
            }
        }
    }
}

/// The place of `range` in `bytes` from `offset`, if it is within them.
fn part(offset: u64, bytes: &[u8], range: &Range<u64>) -> Option<Range<usize>> {
    let start = usize::try_from(range.start.checked_sub(offset)?).ok()?;
    let end = usize::try_from(range.end.checked_sub(offset)?).ok()?;
    (start <= end && end <= bytes.len()).then_some(start..end)
}

/// While the image is decoded, an entry takes less than this many times its size.
const MAX_GROWTH: u64 = 8;

/// The memory for an entry in addition to its bytes.
const ENTRY_SIZE: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::infrastructure::metadata_cache_image::Entry;
    use crate::format::{Address, Sizes};
    use hyperslab_core::{Encoder, ErrorKind, Limits};

    const BASE: u64 = 8;
    const LEN: u64 = 64;

    /// A file of its own offsets, under an image with `entries` of address and length, filled with 0xff.
    fn imaged(entries: &[(u64, usize)], limits: Limits) -> Result<Imaged<Bytes>> {
        let entry = |&(address, len): &(u64, usize)| Entry {
            client: 0,
            flags: 0,
            ring: 1,
            age: 0,
            child_count: 0,
            dirty_child_count: 0,
            lru_rank: -1,
            address: Address(address),
            parents: vec![],
            bytes: vec![0xff; len],
        };
        let mut e = Encoder::new();
        (0..LEN).for_each(|offset| e.u8(u8::try_from(offset).unwrap()));
        let block = MetadataCacheImageBlock { entries: entries.iter().map(entry).collect() };
        block.encode(&mut e, &Sizes::DEFAULT).unwrap();
        let file = Bytes::from(e.into_bytes());
        let image = MetadataCacheImage { address: Address(LEN - BASE), len: file.len() as u64 - LEN };
        let reader = Reader::new(Box::new(file.clone()), BASE, Sizes::DEFAULT, limits);
        Imaged::read(&reader, file, &image)
    }

    #[test]
    fn every_read_sees_the_entries_over_the_file() {
        let imaged = imaged(&[(20, 5), (2, 3), (5, 4)], Limits::default()).unwrap();
        let mut expected: Vec<u8> = (0..64).collect();
        expected[10..17].fill(0xff);
        expected[28..33].fill(0xff);
        for start in 0..LEN {
            for end in start..=LEN {
                let want = &expected[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
                assert_eq!(imaged.read_at(start..end).unwrap(), want, "{start}..{end}");
                let mut out = vec![0; want.len()];
                imaged.read_into(start, &mut out).unwrap();
                assert_eq!(out, want, "{start}..{end}");
                let several = imaged.read_ranges(&[0..3, start..end, 40..60]).unwrap();
                assert_eq!(several, [&expected[0..3], want, &expected[40..60]], "{start}..{end}");
            }
        }
    }

    #[test]
    fn reads_past_the_end_fail_as_without_an_image() {
        let imaged = imaged(&[(2, 3)], Limits::default()).unwrap();
        let len = imaged.len().unwrap();
        for start in [10, 0, len] {
            assert_eq!(imaged.read_at(start..len + 1).unwrap_err().kind(), ErrorKind::Malformed);
        }
        assert!(imaged.read_at(u64::MAX - 1..u64::MAX).is_err());
    }

    #[test]
    fn entries_that_overlap_are_malformed() {
        for entries in [[(8, 3), (6, 3)], [(8, 3), (8, 1)]] {
            let e = imaged(&entries, Limits::default()).err().unwrap();
            assert_eq!((e.kind(), e.detail()), (ErrorKind::Malformed, "the entry at 0x8 overlaps another"));
        }
        assert!(imaged(&[(8, 3), (6, 2)], Limits::default()).is_ok());
    }

    #[test]
    fn an_image_beyond_the_limit_is_refused() {
        let limits = Limits { allocation: 300, ..Limits::default() };
        assert_eq!(imaged(&[(2, 3)], limits).err().unwrap().kind(), ErrorKind::LimitExceeded);
    }
}
