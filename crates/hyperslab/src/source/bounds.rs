//! Limits on what an array may claim, in proportion to its store. A few bytes can claim any number of elements, and
//! many elements can refer to the same bytes.

use super::{ArraySource, ContentStorage, Source};
use hyperslab_core::nd::element_count;
use hyperslab_core::{Error, Limit, Result};
use std::sync::atomic::{AtomicU64, Ordering};

/// Rejects arrays whose size is out of proportion to their file: reading exabytes of fill values that were never
/// written would never end.
///
/// # Errors
/// [`LimitExceeded`](hyperslab_core::ErrorKind::LimitExceeded), with the option that raises the limit.
pub(crate) fn check_size(source: &dyn Source, array: &dyn ArraySource) -> Result<()> {
    check_counts(source, array, array.extents().unwrap_or_default())
}

/// As [`check_size`], for this number of elements along each dimension.
///
/// # Errors
/// As [`check_size`].
pub(crate) fn check_counts(source: &dyn Source, array: &dyn ArraySource, counts: &[u64]) -> Result<()> {
    check_chunk_count(source, array, counts)?;
    let bytes = size_of(array, counts);
    check_bytes(source, bytes, FREE_IN_AN_ARRAY, &|size| {
        let bytes = bytes.map_or("more than 2^64".into(), |bytes| bytes.to_string());
        format!("elements of {bytes} bytes in a file of {size}")
    })
}

/// The elements of all arrays that one run of a verb reads. All arrays together are limited as one array is, since each
/// of many small arrays can claim as much as its file allows.
#[derive(Debug, Default)]
pub struct Asked(AtomicU64);

impl Asked {
    /// As [`check_counts`], for this array together with those before it.
    ///
    /// # Errors
    /// As [`check_counts`]. The array is then not counted for those after it.
    pub(crate) fn check(&self, source: &dyn Source, array: &dyn ArraySource, counts: &[u64]) -> Result<()> {
        check_counts(source, array, counts)?;
        let bytes = size_of(array, counts).unwrap_or(u64::MAX);
        let before = self.0.load(Ordering::Relaxed);
        if before > 0 {
            check_bytes(source, before.checked_add(bytes), FREE_IN_A_RUN, &|size| {
                format!("elements of {bytes} bytes, after {before} of other arrays, in a file of {size}")
            })?;
        }
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// The size of this many elements in bytes; `None` if it exceeds 2^64.
fn size_of(array: &dyn ArraySource, counts: &[u64]) -> Option<u64> {
    let row = array.datatype().row_size().unwrap_or(usize::MAX) as u64;
    element_count(counts).and_then(|count| count.checked_mul(row))
}

fn check_bytes(
    source: &dyn Source,
    bytes: Option<u64>,
    free: u64,
    detail: &dyn Fn(u64) -> String,
) -> Result<()> {
    let is_within = |most: u64| bytes.is_some_and(|bytes| bytes <= most);
    // Sizes are computed only if they are needed: that of a store of many files requires a walk.
    if is_within(source.limits().allocation.saturating_mul(free))
        || is_within(source.size()?.saturating_mul(MAX_RATIO))
    {
        return Ok(());
    }
    let size = source.size_with_parts()?;
    match is_within(size.saturating_mul(MAX_RATIO)) {
        true => Ok(()),
        false => Err(Error::limit_exceeded(Limit::Allocation, detail(size))),
    }
}

/// Rejects arrays with many times more chunks than their store has bytes: looking up each of them would never end.
fn check_chunk_count(source: &dyn Source, array: &dyn ArraySource, counts: &[u64]) -> Result<()> {
    let along = counts.iter().zip(array.chunk()).map(|(count, chunk)| count.div_ceil((*chunk).max(1)));
    let is_chunked =
        array.chunk().iter().any(|size| *size != 1) || array.chunks().is_ok_and(|of| of.is_some());
    let chunks = along.fold(1_u64, u64::saturating_mul);
    if source.is_text() || !is_chunked || chunks <= source.limits().allocation / CHUNK_COST {
        return Ok(());
    }
    if chunks <= source.size()? {
        return Ok(());
    }
    let size = source.size_with_parts()?;
    match chunks <= size {
        true => Ok(()),
        false => {
            let detail = format!("elements in {chunks} chunks in a store of {size} bytes");
            Err(Error::limit_exceeded(Limit::Allocation, detail))
        }
    }
}

/// Looking up a chunk takes as long as reading this number of bytes.
const CHUNK_COST: u64 = 256;

/// The maximum number of bytes that the elements of an array may refer to; bytes referred to several times count each
/// time.
///
/// # Errors
/// If the size of the store cannot be read.
pub(crate) fn most_content(source: &dyn Source, array: &dyn ArraySource) -> Result<u64> {
    let plain = source.limits().allocation / 4;
    let row = array.datatype().row_size().unwrap_or(usize::MAX) as u64;
    let rows = element_count(array.extents().unwrap_or_default()).unwrap_or(u64::MAX).saturating_mul(row);
    // Only arrays that are scattered over other files need the sizes of those files, which require a walk.
    let size = if array.is_divisible() { source.size()? } else { source.size_with_parts()? };
    Ok(source.dialect().content.most(size, rows).max(plain))
}

impl ContentStorage {
    /// The maximum number of bytes that elements may refer to in a store of `size` bytes. `rows` is the size of the
    /// elements in memory in bytes, without what they refer to.
    fn most(self, size: u64, rows: u64) -> u64 {
        match self {
            ContentStorage::InChunks => size.saturating_mul(MAX_CHUNK_CONTENT),
            ContentStorage::Apart => {
                let shared = rows.saturating_mul(SHARED).min(size.saturating_mul(MAX_RATIO));
                size.saturating_mul(NAMED).max(shared)
            }
        }
    }
}

/// How many times the allocation limit may be read from an array, and from all arrays in a run, whatever the size of
/// the file.
const FREE_IN_AN_ARRAY: u64 = 4;
const FREE_IN_A_RUN: u64 = 2;
/// Above the maximum ratio of deflate.
const MAX_RATIO: u64 = 1100;
/// The ratio that Zstandard reaches for repeated strings.
const MAX_CHUNK_CONTENT: u64 = 1 << 16;
/// Content that belongs to one element alone takes more than an eighth of what is counted for it: its stored bytes, the
/// slot that refers to it and the cost of following the reference.
const NAMED: u64 = 8;
/// Short strings may be shared by any number of elements, whose slots may be compressed: up to this number of bytes for
/// each byte of a slot.
const SHARED: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn content_apart_is_stored_for_each_element_unless_it_is_short() {
        let apart = |size, elements: u64| ContentStorage::Apart.most(size, elements * 16);
        // Sixteen thousand elements that all refer to the same mebibyte.
        assert!(apart(2 * MIB, 1 << 14) < 1 << 34);
        assert_eq!(apart(2 * MIB, 1 << 14), 16 * MIB);
        // Unshared strings of 20 bytes take 60 bytes of a heap and a chunk, and count as 84.
        assert!(apart(1_000_000 * 60, 1_000_000) >= 1_000_000 * 84);
        // The same if all elements share one string, in chunks that deflate made a thousand times smaller.
        assert!(apart(10_000_000 * 16 / 1000, 10_000_000) >= 10_000_000 * 17);
        assert!(apart(10_000_000 * 16, 10_000_000) >= 10_000_000 * 84);
        assert_eq!(apart(u64::MAX, u64::MAX / 16), u64::MAX);
    }

    #[test]
    fn content_in_chunks_may_be_compressed_to_almost_nothing() {
        assert_eq!(ContentStorage::InChunks.most(MIB, 16), MIB << 16);
        assert_eq!(ContentStorage::InChunks.most(u64::MAX, 16), u64::MAX);
    }
}
