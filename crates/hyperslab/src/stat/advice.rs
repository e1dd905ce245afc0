//! What would store an array better.

use super::ArrayStat;
use crate::size::human_bytes;
use hyperslab_core::nd::element_count;
use hyperslab_model::NodePath;

/// A line for each thing that costs space or time without need.
pub(super) fn of(path: &NodePath, told: &ArrayStat) -> Vec<String> {
    let Some(logical) = told.logical.filter(|logical| *logical > 0) else { return Vec::new() };
    let stored = told.stored;
    let mut advice = Vec::new();
    let sizes = told.decoded_chunks().zip(told.each);
    let unfiltered = told.filters.is_empty();
    if let Some((chunks, each)) = sizes {
        let extents = told.shape.current().unwrap_or_default();
        let chunk = extents_label(&chunks.shape);
        let fitting = fitting(&extents, &chunks.shape);
        let used = element_count(&fitting).and_then(|used| used.checked_mul(2));
        let is_mostly_empty = used.zip(element_count(&chunks.shape)).is_some_and(|(used, all)| used <= all);
        if is_mostly_empty && stored / 2 >= logical && stored - logical >= MIN_WASTE {
            let which = match chunks.of {
                1 => format!("its chunk of {chunk} is mostly empty"),
                count => format!("its {count} chunks of {chunk} are mostly empty"),
            };
            let better: Vec<_> = fitting.iter().map(u64::to_string).collect();
            advice.push(format!(
                "{path} is stored in {} for {}: {which}; repack with -c {}",
                human_bytes(stored),
                human_bytes(logical),
                shown(&format!("{path}:{}", better.join(",")))
            ));
            return advice;
        }
        let better = shown(&format!("{path}:4MiB"));
        if each < SMALL_CHUNK && chunks.of >= MANY_CHUNKS {
            let (count, each) = (chunks.of, human_bytes(each));
            advice.push(format!(
                "{path} is cut into {count} chunks of {each}, each of which takes a read of its own; repack with -c {better}"
            ));
        }
        if each > LARGE_CHUNK && !unfiltered {
            let each = human_bytes(each);
            advice.push(format!(
                "{path} has chunks of {each}, all of which is decoded for one value; repack with -c {better}"
            ));
        }
    }
    if unfiltered && logical >= LARGE_ARRAY && stored >= logical {
        let in_pieces = if told.chunks.is_some() {
            String::new()
        } else {
            format!("-c {} ", shown(&format!("{path}:4MiB")))
        };
        let filter = shown(&format!("{path}:shuffle,deflate=4"));
        advice.push(format!(
            "{path} is stored as it is, {}; repack with {in_pieces}-f {filter}",
            human_bytes(stored)
        ));
    } else if !unfiltered && stored > logical && stored - logical >= MIN_WASTE {
        advice.push(format!(
            "{path} is larger through its filters, {} for {}; repack with -f {}",
            human_bytes(stored),
            human_bytes(logical),
            shown(&format!("{path}:none"))
        ));
    }
    advice
}

/// The least chunk that cuts an array into as many pieces.
fn fitting(extents: &[u64], chunk: &[u64]) -> Vec<u64> {
    let along =
        |(extent, chunk): (&u64, &u64)| extent.div_ceil(extent.div_ceil((*chunk).max(1)).max(1)).max(1);
    extents.iter().zip(chunk).map(along).collect()
}

fn extents_label(extents: &[u64]) -> String {
    let extents: Vec<_> = extents.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(", "))
}

/// A word as a shell takes it.
fn shown(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/:,=._-+@%".contains(&byte);
    match word.bytes().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Bytes that are not worth a word.
const MIN_WASTE: u64 = 4 << 10;
/// Bytes of chunks whose number costs more than their elements.
const SMALL_CHUNK: u64 = 4 << 10;
const MANY_CHUNKS: u64 = 1000;
/// Bytes that take long to decode for little.
const LARGE_CHUNK: u64 = 64 << 20;
/// Bytes of an array that are worth compressing.
const LARGE_ARRAY: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{ChunkCount, Chunks};
    use hyperslab_model::Shape;

    fn advice(extents: &[u64], chunk: Option<&[u64]>, stored: u64, filters: &str) -> String {
        let logical = extents.iter().product::<u64>() * 8;
        let of = chunk.map_or(0, |chunk| {
            extents.iter().zip(chunk).map(|(extent, chunk)| extent.div_ceil(*chunk)).product()
        });
        let outer = |chunk: &[u64]| ChunkCount { shape: chunk.to_vec(), written: of, of };
        let told = ArrayStat {
            datatype: "float64".into(),
            shape: Shape::fixed(extents),
            logical: Some(logical),
            stored,
            chunks: chunk.map(|chunk| Chunks { outer: outer(chunk), inner: None }),
            each: chunk.map(|chunk| chunk.iter().product::<u64>() * 8),
            filters: filters.into(),
            advice: Vec::new(),
        };
        of_path("/time_bnds", &told)
    }

    fn of_path(path: &str, told: &ArrayStat) -> String {
        of(&NodePath::new(path).unwrap(), told).join("\n")
    }

    #[test]
    fn chunks_that_are_mostly_empty_are_told_with_those_that_would_fit() {
        assert_eq!(
            advice(&[4, 2], Some(&[512, 2]), 8192, ""),
            "/time_bnds is stored in 8.0 KiB for 64 B: its chunk of [512, 2] is mostly empty; repack with -c /time_bnds:4,2"
        );
        assert_eq!(
            advice(&[12, 513], Some(&[512, 512]), 4 << 20, ""),
            "/time_bnds is stored in 4.0 MiB for 48.0 KiB: its 2 chunks of [512, 512] are mostly empty; \
             repack with -c /time_bnds:12,257"
        );
        assert_eq!(advice(&[12], Some(&[512]), 4096, ""), "", "too little to mind");
        assert_eq!(advice(&[4, 2], Some(&[512, 2]), 60, "deflate"), "", "compressed away");
    }

    #[test]
    fn chunks_of_a_wrong_size_and_missing_or_useless_filters_are_told() {
        assert_eq!(
            advice(&[100_000], Some(&[10]), 800_000, ""),
            "/time_bnds is cut into 10000 chunks of 80 B, each of which takes a read of its own; \
             repack with -c /time_bnds:4MiB"
        );
        assert_eq!(
            advice(&[100, 2 << 20], Some(&[100, 2 << 20]), 1 << 20, "zstd"),
            "/time_bnds has chunks of 1.5 GiB, all of which is decoded for one value; repack with -c /time_bnds:4MiB"
        );
        let large = advice(&[1 << 22], None, 1 << 25, "");
        assert!(
            large.ends_with("32.0 MiB; repack with -c /time_bnds:4MiB -f /time_bnds:shuffle,deflate=4"),
            "{large}"
        );
        let larger = advice(&[4096], Some(&[1024]), 40_000, "deflate");
        assert!(larger.ends_with("39.0 KiB for 32.0 KiB; repack with -f /time_bnds:none"), "{larger}");
    }

    #[test]
    fn paths_are_quoted_for_a_shell() {
        assert_eq!(shown("/a b:4"), "'/a b:4'");
        assert_eq!(shown("/it's"), "'/it'\\''s'");
    }
}
