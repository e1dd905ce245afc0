//! Merges neighbouring ranges into one read.

use crate::{Error, Result};
use bytes::Bytes;
use std::ops::Range;

/// The maximum gap in bytes between two ranges that are read together.
pub const NEAR: u64 = 4096;

/// The number of bytes in one request to remote storage at which its latency no longer matters much.
pub const FAR_REQUEST: u64 = 64 << 20;

/// The maximum number of bytes of ranges that are merged. A storage can transfer several ranges at the same time.
const MAX_MERGED: u64 = 8 << 20;

/// Reads several ranges in one request. Ranges that are less than [`NEAR`] apart are merged, up to 8 MiB: `read` receives
/// fewer, longer ranges in increasing order. The results of merged ranges share memory.
///
/// ```
/// use bytes::Bytes;
/// use hyperslab_core::storage::{ReadAt, read_merged};
/// use hyperslab_core::wrapper::Counted;
///
/// let storage = Counted::far(Bytes::from(vec![7; 20_000]));
/// let pieces = read_merged(&[10..12, 9_000..9_003, 0..5], |ranges| storage.read_ranges(ranges))?;
/// assert_eq!(pieces.iter().map(Bytes::len).collect::<Vec<_>>(), [2, 3, 5]);
/// assert_eq!((storage.requests(), storage.ranges(), storage.bytes()), (1, 2, 15));
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
///
/// # Errors
/// The error of `read`, or [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) for a range whose end is before its
/// start.
pub fn read_merged(
    ranges: &[Range<u64>],
    read: impl FnOnce(&[Range<u64>]) -> Result<Vec<Bytes>>,
) -> Result<Vec<Bytes>> {
    let mut sorted: Vec<&Range<u64>> = ranges.iter().collect();
    // Of those that begin at one place, the last one is found below; it contains the others.
    sorted.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        let is_one = |last: &&mut Range<u64>| {
            let is_near = range.start.saturating_sub(last.end) < NEAR;
            range.end <= last.end || is_near && range.end.saturating_sub(last.start) <= MAX_MERGED
        };
        match merged.last_mut().filter(is_one) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range.clone()),
        }
    }
    let read = read(&merged)?;
    let piece = |range: &Range<u64>| {
        let at = merged.partition_point(|whole| whole.start <= range.start).checked_sub(1)?;
        let (whole, bytes) = (merged.get(at)?, read.get(at)?);
        let start = usize::try_from(range.start.checked_sub(whole.start)?).ok()?;
        let end = usize::try_from(range.end.checked_sub(whole.start)?).ok()?;
        (start <= end && end <= bytes.len()).then(|| bytes.slice(start..end))
    };
    let missing = |range: &Range<u64>| {
        Error::malformed(format!("invalid byte range {:#x} to {:#x}", range.start, range.end))
    };
    ranges.iter().map(|range| piece(range).ok_or_else(|| missing(range))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::ReadAt;
    use crate::wrapper::Counted;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merged_reads_give_the_same_bytes_as_single_reads(
            pieces in prop::collection::vec((0..90_000_u64, 0..9_000_u64), 0..20),
        ) {
            let bytes: Bytes = (0..100_000_u32).map(|i| u8::try_from(i % 251).unwrap()).collect();
            let storage = Counted::far(bytes.clone());
            let ranges: Vec<_> = pieces.iter().map(|(start, len)| *start..start + len).collect();
            let read = read_merged(&ranges, |merged| {
                prop_assert_apart(merged);
                storage.read_ranges(merged)
            });
            for (range, piece) in ranges.iter().zip(read.unwrap()) {
                prop_assert_eq!(piece, bytes.read_at(range.clone()).unwrap());
            }
            prop_assert_eq!(storage.requests(), 1);
        }
    }

    fn prop_assert_apart(merged: &[Range<u64>]) {
        assert!(merged.windows(2).all(|pair| pair[1].start >= pair[0].end + NEAR), "{merged:?}");
    }

    #[test]
    fn merged_ranges_are_not_too_long() {
        let bytes: Bytes = (0..20_u32 << 20).map(|i| u8::try_from(i % 251).unwrap()).collect();
        let mega = |from: u64, to: u64| from << 20..to << 20;
        let consecutive: Vec<_> = (0..20).map(|at| mega(at, at + 1)).collect();
        let overlapping =
            [mega(0, 10), mega(0, 9), mega(0, 3), mega(4, 9), mega(2, 12), mega(11, 12), mega(4, 5)];
        for (ranges, count) in [(&consecutive[..], 3), (&overlapping, 4)] {
            let storage = Counted::far(bytes.clone());
            let read = read_merged(ranges, |merged| storage.read_ranges(merged)).unwrap();
            for (range, piece) in ranges.iter().zip(read) {
                assert!(piece == bytes.read_at(range.clone()).unwrap(), "{range:?}");
            }
            assert_eq!((storage.requests(), storage.ranges()), (1, count));
        }
    }

    #[test]
    fn rejects_invalid_ranges_and_missing_bytes() {
        let bytes = Bytes::from_static(b"0123456789");
        let read = |ranges: &[Range<u64>]| read_merged(ranges, |merged| bytes.read_ranges(merged));
        assert!(read(&[0..2, Range { start: 5, end: 4 }]).is_err());
        assert!(read(&[0..2, 9..11]).is_err());
        assert!(read_merged(&[0..2, 1..2], |_| Ok(Vec::new())).is_err());
        assert!(read_merged(&[0..1, 1..2], |_| Ok(vec![Bytes::from_static(b"0")])).is_err());
    }
}
