//! What the NetCDF library reserves, and the defaults that it chooses.
//!
//! Spec: NetCDF-4 file format specification, "Appendix C.3: The NetCDF-4 Format"; `netcdf.h`

use crate::name;

/// Whether the library hides attributes with this name, on any object.
pub fn is_reserved(attribute: &str) -> bool {
    RESERVED.contains(&attribute)
}

const RESERVED: [&str; 13] = [
    name::CLASS,
    name::DIMENSION_LIST,
    name::NAME,
    name::REFERENCE_LIST,
    name::DIMENSION_LABELS,
    name::PROPERTIES,
    name::COORDINATES,
    name::DIMENSION_ID,
    name::CLASSIC_MODEL,
    "_Format",
    "_IsNetcdf4",
    "_NCCOPIER",
    "_SuperblockVersion",
];

/// The value of [`name::PROPERTIES`] in files that this program writes.
pub fn properties() -> String {
    format!("version=2,hyperslab={}", env!("CARGO_PKG_VERSION"))
}

/// The default chunk shape for elements of `size` bytes: 1 along unlimited dimensions, and about equal parts of the
/// others. If the only dimension is unlimited, 4 KiB along it.
pub fn default_chunk(extents: &[u64], unlimited: &[bool], size: u64) -> Vec<u64> {
    let size = size.max(1);
    let growing = unlimited.iter().filter(|is| **is).count();
    if growing == extents.len() {
        let side = match extents.len() {
            1 => MAX_ALONE / size,
            rank => side_of(MAX_CHUNK / size, rank),
        };
        return vec![side.max(1); extents.len()];
    }
    let mut chunk: Vec<u64> =
        extents.iter().zip(unlimited).map(|(extent, is)| if *is { 1 } else { (*extent).max(1) }).collect();
    // The longest sides are cut, so that short dimensions stay whole.
    while chunk.iter().fold(size, |bytes, side| bytes.saturating_mul(*side)) > MAX_CHUNK {
        let Some(longest) = chunk.iter_mut().max().filter(|side| **side > 1) else { break };
        *longest = longest.div_ceil(2);
    }
    chunk
}

/// The side of a cube with this number of elements.
fn side_of(elements: u64, rank: usize) -> u64 {
    let power = u32::try_from(rank).unwrap_or(u32::MAX);
    (1..)
        .take_while(|side: &u64| side.checked_pow(power).is_some_and(|all| all <= elements))
        .last()
        .unwrap_or(1)
}

/// The size of a chunk in bytes if the only dimension is unlimited (`DEFAULT_1D_UNLIM_SIZE`), and of any other chunk
/// (`DEFAULT_CHUNK_SIZE` before version 4.9).
const MAX_ALONE: u64 = 4096;
const MAX_CHUNK: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_one_record_long_and_at_most_4_mib() {
        assert_eq!(default_chunk(&[0], &[true], 8), [512]);
        assert_eq!(default_chunk(&[7, 100, 200], &[true, false, false], 4), [1, 100, 200]);
        assert_eq!(default_chunk(&[7, 10_000, 200], &[true, false, false], 4), [1, 5_000, 200]);
        assert_eq!(default_chunk(&[0, 0], &[true, true], 4), [1024, 1024]);
        assert_eq!(default_chunk(&[0, 0], &[false, false], 4), [1, 1]);
    }
}
