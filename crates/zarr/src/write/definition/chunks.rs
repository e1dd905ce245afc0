//! Shapes of chunks where none is told.

/// Whole chunks of about a mebibyte: the longest dimension is halved until they are small enough.
pub(super) fn default_chunks(shape: &[u64], row: u64) -> Vec<u64> {
    let mut chunk: Vec<u64> = shape.iter().map(|len| (*len).max(1)).collect();
    loop {
        let size = chunk.iter().fold(row, |size, len| size.saturating_mul(*len));
        // The first of the longest: what is near in memory stays together.
        let longest = chunk.iter_mut().rev().max_by_key(|len| **len);
        match longest {
            Some(len) if size > CHUNK_BYTES && *len > 1 => *len = len.div_ceil(2),
            _ => return chunk,
        }
    }
}

/// The largest chunks, no larger than these, that fill shards.
pub(super) fn fitting(chunks: Vec<u64>, shards: &[u64]) -> Vec<u64> {
    let largest = |(chunk, shard): (u64, &u64)| {
        let divisor = |count: u64| (count.saturating_mul(count) <= *shard).then_some(count);
        let divisors = (1..=SIEVE).map_while(divisor).filter(|count| shard.is_multiple_of(*count));
        divisors.flat_map(|count| [count, shard / count]).filter(|size| *size <= chunk).max().unwrap_or(1)
    };
    chunks.into_iter().zip(shards).map(largest).collect()
}

/// Compresses and is read well, and a region of a few elements does not cost much.
const CHUNK_BYTES: u64 = 1 << 20;

/// Divisors are looked for up to here, so that a shard of any size takes no time.
const SIEVE: u64 = 1 << 16;
