//! Suggests better ways to store an array.

use super::ArrayStat;
use crate::size::human_bytes;
use hyperslab_core::nd::element_count;
use hyperslab_model::NodePath;
use std::fmt;

/// A property of the storage that wastes space or time, with a better way to store the array.
///
/// `Display` uses terms of the library. A command line or a binding can name its own options instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The array.
    pub path: NodePath,
    /// The reason, as a sentence that begins with the path of the array.
    pub reason: String,
    /// The improvements, which apply together.
    pub better: Vec<Better>,
}

/// A way to store an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Better {
    /// In chunks of this shape.
    Chunk(Vec<u64>),
    /// In chunks of about this number of bytes.
    ChunkBytes(u64),
    /// Through these filters, in the form that [`FilterRule`](crate::convert::layout::FilterRule) parses.
    Filters(&'static str),
    /// Without filters.
    NoFilters,
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let better: Vec<_> = self.better.iter().map(Better::to_string).collect();
        write!(f, "{}; better {}", self.reason, better.join(", "))
    }
}

impl fmt::Display for Better {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Better::Chunk(shape) => write!(f, "in chunks of {}", extents_label(shape)),
            Better::ChunkBytes(bytes) => write!(f, "in chunks of {}", human_bytes(*bytes)),
            Better::Filters(filters) => write!(f, "through {filters}"),
            Better::NoFilters => f.write_str("without filters"),
        }
    }
}

/// The advice for an array; empty if its storage wastes no space or time.
pub(super) fn of(path: &NodePath, stat: &ArrayStat) -> Vec<Advice> {
    let Some(logical) = stat.logical.filter(|logical| *logical > 0) else { return Vec::new() };
    let stored = stat.stored;
    let mut advice = Vec::new();
    let mut push = |reason: String, better: Vec<Better>| {
        let reason = format!("{path} {reason}");
        advice.push(Advice { path: path.clone(), reason, better });
    };
    let sizes = stat.decoded_chunks().zip(stat.each);
    let unfiltered = stat.filters.is_empty();
    if let Some((chunks, each)) = sizes {
        let extents = stat.shape.current().unwrap_or_default();
        let chunk = extents_label(&chunks.shape);
        let fitting = fitting(&extents, &chunks.shape);
        let used = element_count(&fitting).and_then(|used| used.checked_mul(2));
        let is_mostly_empty = used.zip(element_count(&chunks.shape)).is_some_and(|(used, all)| used <= all);
        if is_mostly_empty && stored / 2 >= logical && stored - logical >= MIN_WASTE {
            let which = match chunks.of {
                1 => format!("its chunk of {chunk} is mostly empty"),
                count => format!("its {count} chunks of {chunk} are mostly empty"),
            };
            let (stored, logical) = (human_bytes(stored), human_bytes(logical));
            push(format!("takes {stored} to store {logical}: {which}"), vec![Better::Chunk(fitting)]);
            return advice;
        }
        let better = || vec![Better::ChunkBytes(GOOD_CHUNK)];
        if each < SMALL_CHUNK && chunks.of >= MANY_CHUNKS {
            let (count, each) = (chunks.of, human_bytes(each));
            let reason = format!("is split into {count} chunks of {each}, each of which is read separately");
            push(reason, better());
        }
        if each > LARGE_CHUNK && !unfiltered {
            let each = human_bytes(each);
            push(
                format!("has chunks of {each}, each of which is decoded as a whole to read one value"),
                better(),
            );
        }
    }
    if unfiltered && logical >= LARGE_ARRAY && stored >= logical {
        let chunk = stat.chunks.is_none().then_some(Better::ChunkBytes(GOOD_CHUNK));
        let better = chunk.into_iter().chain([Better::Filters("shuffle,deflate=4")]).collect();
        push(format!("is stored without filters, {}", human_bytes(stored)), better);
    } else if !unfiltered && stored > logical && stored - logical >= MIN_WASTE {
        let (stored, logical) = (human_bytes(stored), human_bytes(logical));
        push(
            format!("is larger with its filters than without, {stored} for {logical} of values"),
            vec![Better::NoFilters],
        );
    }
    advice
}

/// The smallest chunk shape with the same number of chunks along each dimension.
fn fitting(extents: &[u64], chunk: &[u64]) -> Vec<u64> {
    let along =
        |(extent, chunk): (&u64, &u64)| extent.div_ceil(extent.div_ceil((*chunk).max(1)).max(1)).max(1);
    extents.iter().zip(chunk).map(along).collect()
}

fn extents_label(extents: &[u64]) -> String {
    let extents: Vec<_> = extents.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(", "))
}

/// The minimum number of wasted bytes that is reported.
const MIN_WASTE: u64 = 4 << 10;
/// The size in bytes below which a chunk costs more to find than to read.
const SMALL_CHUNK: u64 = 4 << 10;
const MANY_CHUNKS: u64 = 1000;
/// The size in bytes above which decoding a chunk for one value takes too long.
const LARGE_CHUNK: u64 = 64 << 20;
/// The size in bytes of a chunk that is neither too small nor too large.
const GOOD_CHUNK: u64 = 4 << 20;
/// The minimum size in bytes of an array that is worth compressing.
const LARGE_ARRAY: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{ChunkCount, Chunks, MissingSources};
    use hyperslab_model::Shape;

    fn advice(extents: &[u64], chunk: Option<&[u64]>, stored: u64, filters: &str) -> String {
        let logical = extents.iter().product::<u64>() * 8;
        let of = chunk.map_or(0, |chunk| {
            extents.iter().zip(chunk).map(|(extent, chunk)| extent.div_ceil(*chunk)).product()
        });
        let outer = |chunk: &[u64]| ChunkCount { shape: chunk.to_vec(), written: of, of };
        let stat = ArrayStat {
            datatype: "float64".into(),
            shape: Shape::fixed(extents),
            logical: Some(logical),
            stored,
            chunks: chunk.map(|chunk| Chunks { outer: outer(chunk), inner: None }),
            each: chunk.map(|chunk| chunk.iter().product::<u64>() * 8),
            filters: filters.into(),
            advice: Vec::new(),
            missing: MissingSources::default(),
        };
        of_path("/time_bnds", &stat)
    }

    fn of_path(path: &str, stat: &ArrayStat) -> String {
        let advice: Vec<_> = of(&NodePath::new(path).unwrap(), stat).iter().map(Advice::to_string).collect();
        advice.join("\n")
    }

    #[test]
    fn mostly_empty_chunks_are_reported_with_a_fitting_chunk_shape() {
        assert_eq!(
            advice(&[4, 2], Some(&[512, 2]), 8192, ""),
            "/time_bnds takes 8.0 KiB to store 64 B: its chunk of [512, 2] is mostly empty; better in chunks of [4, 2]"
        );
        assert_eq!(
            advice(&[12, 513], Some(&[512, 512]), 4 << 20, ""),
            "/time_bnds takes 4.0 MiB to store 48.0 KiB: its 2 chunks of [512, 512] are mostly empty; \
             better in chunks of [12, 257]"
        );
        assert_eq!(advice(&[12], Some(&[512]), 4096, ""), "", "too little to mind");
        assert_eq!(advice(&[4, 2], Some(&[512, 2]), 60, "deflate"), "", "compressed away");
    }

    #[test]
    fn wrong_chunk_sizes_and_missing_or_useless_filters_are_reported() {
        assert_eq!(
            advice(&[100_000], Some(&[10]), 800_000, ""),
            "/time_bnds is split into 10000 chunks of 80 B, each of which is read separately; \
             better in chunks of 4.0 MiB"
        );
        assert_eq!(
            advice(&[100, 2 << 20], Some(&[100, 2 << 20]), 1 << 20, "zstd"),
            "/time_bnds has chunks of 1.5 GiB, each of which is decoded as a whole to read one value; better in chunks of 4.0 MiB"
        );
        let large = advice(&[1 << 22], None, 1 << 25, "");
        assert!(
            large.ends_with("32.0 MiB; better in chunks of 4.0 MiB, through shuffle,deflate=4"),
            "{large}"
        );
        let larger = advice(&[4096], Some(&[1024]), 40_000, "deflate");
        assert!(larger.ends_with("39.0 KiB for 32.0 KiB of values; better without filters"), "{larger}");
    }
}
