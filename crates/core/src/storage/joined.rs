//! Several storages that form one file.

use super::{ReadAt, Siblings, past_end};
use crate::{Error, ErrorKind, Result};
use bytes::Bytes;
use std::ops::Range;
use std::sync::Arc;

/// A file in several parts, each with its own address range. If a part is too short, the missing bytes read as zeros,
/// like a hole in a file.
pub struct Joined {
    /// The parts by their start, without overlap.
    parts: Vec<Part>,
    end: u64,
}

/// A part of a [`Joined`] file.
pub struct Part {
    /// The first address.
    pub start: u64,
    /// The address after the last byte.
    pub end: u64,
    /// The bytes. If `None`, reads fail with an error that names the missing part.
    pub storage: Result<Box<dyn ReadAt>, String>,
}

impl Joined {
    /// The file that consists of these parts. It ends where the last part does.
    ///
    /// # Errors
    /// If parts overlap.
    pub fn new(mut parts: Vec<Part>) -> Result<Joined> {
        parts.sort_by_key(|part| part.start);
        let overlap = parts.iter().zip(parts.iter().skip(1)).any(|(part, next)| part.end > next.start);
        if overlap || parts.iter().any(|part| part.end < part.start) {
            return Err(Error::malformed("parts of a file overlap"));
        }
        let end = parts.last().map_or(0, |part| part.end);
        Ok(Joined { parts, end })
    }

    /// The parts by start.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The address ranges after the ends of short parts, which read as zeros.
    ///
    /// # Errors
    /// If the length of a part cannot be read.
    pub fn cut(&self) -> Result<Vec<Range<u64>>> {
        let mut cut = Vec::new();
        for part in &self.parts {
            let Ok(storage) = &part.storage else { continue };
            let stored = part.start.saturating_add(storage.len()?);
            if stored < part.end {
                cut.push(stored..part.end);
            }
        }
        Ok(cut)
    }

    /// The address ranges between the parts, up to the end.
    pub fn holes(&self) -> Vec<Range<u64>> {
        let starts = self.parts.iter().map(|part| part.start);
        let ends = std::iter::once(0).chain(self.parts.iter().map(|part| part.end));
        ends.zip(starts).map(|(end, start)| end..start).filter(|hole| !hole.is_empty()).collect()
    }
}

impl ReadAt for Joined {
    fn len(&self) -> Result<u64> {
        Ok(self.end)
    }

    fn read_at(&self, range: Range<u64>) -> Result<Bytes> {
        let len = range.end.saturating_sub(range.start);
        if range.end > self.end || range.start > range.end {
            return Err(past_end(range.start, len, self.end));
        }
        // The starts of parts can come from a file, so memory is allocated only for existing bytes.
        let there: Result<u64> =
            self.parts.iter().try_fold(0, |sum: u64, part| Ok(sum.saturating_add(part.there(&range)?)));
        if len.saturating_sub(there?) > MAX_ZEROS {
            return Err(Error::malformed(format!(
                "{len} bytes at {:#x} are outside all parts of the file",
                range.start
            )));
        }
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| past_end(range.start, len, self.end))?];
        self.read_into(range.start, &mut bytes)?;
        Ok(bytes.into())
    }

    fn read_into(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let len = out.len() as u64;
        if offset.checked_add(len).is_none_or(|end| end > self.end) {
            return Err(past_end(offset, len, self.end));
        }
        let (mut at, mut rest) = (offset, out);
        let first = self.parts.partition_point(|part| part.end <= offset);
        for part in self.parts.iter().skip(first) {
            if rest.is_empty() {
                break;
            }
            // Ranges between parts cannot be read.
            let gap = usize::try_from(part.start.saturating_sub(at)).unwrap_or(usize::MAX).min(rest.len());
            let (hole, behind) = rest.split_at_mut_checked(gap).unwrap_or_default();
            hole.fill(0);
            at = at.max(part.start);
            let here = usize::try_from(part.end - at).unwrap_or(usize::MAX).min(behind.len());
            let (now, later) = behind.split_at_mut_checked(here).unwrap_or_default();
            part.read(at - part.start, now)?;
            at = at.saturating_add(here as u64);
            rest = later;
        }
        Ok(())
    }

    /// Reads the ranges with one request per part.
    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut pieces: Vec<Option<Bytes>> = vec![None; ranges.len()];
        for part in &self.parts {
            let Ok(storage) = &part.storage else { continue };
            let len = storage.len()?;
            let (mut within, mut places) = (Vec::new(), Vec::new());
            for (range, piece) in ranges.iter().zip(&mut pieces) {
                if let Some(range) = part.whole(range, len) {
                    within.push(range);
                    places.push(piece);
                }
            }
            if !within.is_empty() {
                let read = storage.read_ranges(&within)?;
                places.into_iter().zip(read).for_each(|(piece, bytes)| *piece = Some(bytes));
            }
        }
        // The other ranges contain holes or span several parts.
        let read = |(range, piece): (&Range<u64>, Option<Bytes>)| {
            piece.map_or_else(|| self.read_at(range.clone()), Ok)
        };
        ranges.iter().zip(pieces).map(read).collect()
    }

    fn is_far(&self) -> bool {
        self.parts.iter().any(|part| part.storage.as_ref().is_ok_and(|storage| storage.is_far()))
    }

    /// Each part has its own siblings.
    fn siblings(&self) -> Option<Arc<dyn Siblings>> {
        None
    }
}

impl Part {
    /// The number of bytes of a range that this part contains.
    fn there(&self, range: &Range<u64>) -> Result<u64> {
        let len = match &self.storage {
            Ok(storage) => storage.len()?,
            Err(_) => 0,
        };
        let end = self.start.saturating_add(len).min(self.end).min(range.end);
        Ok(end.saturating_sub(self.start.max(range.start)))
    }

    /// A range of the file as a range in the storage of this part, whose length is `len`. `None` if bytes are missing.
    fn whole(&self, range: &Range<u64>, len: u64) -> Option<Range<u64>> {
        let (start, end) = (range.start.checked_sub(self.start)?, range.end.checked_sub(self.start)?);
        (range.end <= self.end && end <= len).then_some(start..end)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let storage =
            self.storage.as_ref().map_err(|missing| Error::new(ErrorKind::FileNotFound, missing.clone()))?;
        let left = usize::try_from(storage.len()?.saturating_sub(offset)).unwrap_or(usize::MAX);
        let (there, missing) = out.split_at_mut_checked(left.min(out.len())).unwrap_or_default();
        missing.fill(0);
        match there.is_empty() {
            true => Ok(()),
            false => storage.read_into(offset, there),
        }
    }
}

/// The maximum number of bytes of metadata that may be missing at the end of a part.
const MAX_ZEROS: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrapper::Counted;

    fn part(start: u64, end: u64, bytes: &'static [u8]) -> Part {
        Part { start, end, storage: Ok(Box::new(Bytes::from_static(bytes))) }
    }

    #[test]
    fn parts_are_read_as_one_with_zeros_after_short_parts() {
        let parts = vec![part(6, 8, b"gh"), part(0, 4, b"abc"), part(10, 14, b"klmn_")];
        let joined = Joined::new(parts).unwrap();
        assert_eq!(joined.len().unwrap(), 14);
        assert_eq!(joined.cut().unwrap(), vec![Range { start: 3, end: 4 }]);
        assert_eq!(&joined.read_at(0..14).unwrap()[..], b"abc\0\0\0gh\0\0klmn");
        for start in 0..14 {
            for end in start..=14 {
                let whole = joined.read_at(0..14).unwrap();
                let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
                assert_eq!(joined.read_at(start..end).unwrap(), whole[range.clone()]);
                let several = joined.read_ranges(&[start..end, 0..2, 10..14]).unwrap();
                assert_eq!(several, [&whole[range], &whole[0..2], &whole[10..14]]);
            }
        }
        for range in [0..15, 14..15, u64::MAX..u64::MAX] {
            assert!(joined.read_at(range).is_err());
        }
        assert!(joined.read_into(u64::MAX, &mut [0; 2]).is_err());
    }

    #[test]
    fn several_ranges_take_one_request_per_far_part() {
        let counted: Vec<_> =
            (0..2).map(|_| Arc::new(Counted::far(Bytes::from_static(b"0123456789")))).collect();
        let part = |at: u64, storage: &Arc<_>| Part {
            start: at * 10,
            end: at * 10 + 10,
            storage: Ok(Box::new(Arc::clone(storage))),
        };
        let parts = (0..).zip(&counted).map(|(at, storage)| part(at, storage)).collect();
        let joined = Joined::new(parts).unwrap();
        assert!(joined.is_far());
        assert_eq!(joined.read_ranges(&[11..13, 0..2, 4..9, 17..18]).unwrap(), ["12", "01", "45678", "7"]);
        assert_eq!(counted.iter().map(|part| part.requests()).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn a_missing_part_fails_only_where_it_is_read() {
        let missing = Part { start: 4, end: 8, storage: Err("no file b".into()) };
        let joined = Joined::new(vec![part(0, 4, b"abcd"), missing]).unwrap();
        assert_eq!(&joined.read_at(0..4).unwrap()[..], b"abcd");
        assert_eq!(joined.read_at(0..5).unwrap_err().to_string(), "no file b");
    }

    #[test]
    fn allocates_no_memory_for_missing_bytes() {
        let joined = Joined::new(vec![part(0, u64::MAX, b"abc")]).unwrap();
        assert!(joined.read_at(0..u64::MAX).is_err());
        assert_eq!(joined.read_at(0..MAX_ZEROS).unwrap().len() as u64, MAX_ZEROS);
    }

    #[test]
    fn rejects_overlapping_parts() {
        assert!(Joined::new(vec![part(0, 4, b""), part(3, 8, b"")]).is_err());
        assert!(Joined::new(vec![part(4, 3, b"")]).is_err());
    }
}
