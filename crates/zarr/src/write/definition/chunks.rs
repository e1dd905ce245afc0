//! Default shapes of chunks.

/// Chunks of about 1 MiB: the longest dimension is halved until they are small enough.
pub(super) fn default_chunks(shape: &[u64], row: u64) -> Vec<u64> {
    let mut chunk: Vec<u64> = shape.iter().map(|len| (*len).max(1)).collect();
    loop {
        let size = chunk.iter().fold(row, |size, len| size.saturating_mul(*len));
        // The first of several longest dimensions, so that neighbours in memory stay together.
        let longest = chunk.iter_mut().rev().max_by_key(|len| **len);
        match longest {
            Some(len) if size > CHUNK_BYTES && *len > 1 => *len = len.div_ceil(2),
            _ => return chunk,
        }
    }
}

/// The largest chunks up to `chunks` that divide the shards evenly.
pub(super) fn fitting(chunks: Vec<u64>, shards: &[u64]) -> Vec<u64> {
    let largest = |(chunk, shard): (u64, &u64)| {
        let divisor = |count: u64| (count.saturating_mul(count) <= *shard).then_some(count);
        let divisors = (1..=SIEVE).map_while(divisor).filter(|count| shard.is_multiple_of(*count));
        divisors.flat_map(|count| [count, shard / count]).filter(|size| *size <= chunk).max().unwrap_or(1)
    };
    chunks.into_iter().zip(shards).map(largest).collect()
}

/// The target size of a chunk in bytes: large enough to compress well, small enough to read a few elements quickly.
const CHUNK_BYTES: u64 = 1 << 20;

/// The maximum divisor that is tried, so that the time is limited for shards of any size.
const SIEVE: u64 = 1 << 16;
