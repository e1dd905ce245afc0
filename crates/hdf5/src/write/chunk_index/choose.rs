//! The choice of the chunk index of a dataset, and of the version of its Data Layout message.
//!
//! Spec: HDF5 IV.A.2.i Data Layout Message. The choice is that of libhdf5.

use crate::format::chunk_index::Client;
use crate::format::message::data_layout::{
    ChunkIndex, Chunked, DataLayout, ExtensibleArrayParameters, FilteredChunk, LayoutClass, Version,
};
use crate::format::{Address, Sizes};
use crate::write::LibraryVersion;
use hyperslab_core::{Error, Result};

/// The properties that determine the chunk index of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkedStorage {
    /// The current dimensions.
    pub dims: Vec<u64>,
    /// The maximum dimensions; `u64::MAX` for unlimited ones.
    pub max_dims: Vec<u64>,
    /// The dimensions of a chunk.
    pub chunk_dims: Vec<u64>,
    /// The size of a stored element in bytes.
    pub element_size: u64,
    /// Whether there are filters.
    pub filtered: bool,
    /// Whether chunks that extend past the dataset are stored without filters.
    pub partial_edge_chunks_unfiltered: bool,
    /// Whether space is allocated when the dataset is created.
    pub early_allocation: bool,
    /// The size of lengths in the file in bytes.
    pub length_size: u8,
}

/// A chosen chunk index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexChoice {
    version: Version,
    chunked: Chunked,
    chunk_bytes: u64,
    filtered: bool,
}

impl ChunkedStorage {
    /// The index that libhdf5 chooses for files that `low` and later can read.
    ///
    /// # Errors
    /// If the storage needs a later version than `high`, or its dimensions do not fit together.
    pub fn choose(&self, low: LibraryVersion, high: LibraryVersion) -> Result<IndexChoice> {
        let chunk_bytes = self.chunk_bytes()?;
        let (version, what, needed) = self.version(chunk_bytes, low);
        high.allow(needed, what)?;
        let index = match version {
            Version::V1 | Version::V2 | Version::V3 => ChunkIndex::BtreeV1,
            Version::V4 | Version::V5 => self.index(),
        };
        let widest = self.chunk_dims.iter().copied().fold(self.element_size, u64::max);
        let chunked = Chunked {
            dimensions: self.chunk_dims.clone(),
            element_size: self.element_size,
            dimension_width: width_of(widest),
            partial_edge_chunks_unfiltered: self.partial_edge_chunks_unfiltered,
            index,
            address: Address::UNDEFINED,
        };
        Ok(IndexChoice { version, chunked, chunk_bytes, filtered: self.filtered })
    }

    /// The size of a chunk before filters. Also checks what all indexes require of the dimensions.
    fn chunk_bytes(&self) -> Result<u64> {
        let rank = self.dims.len();
        if rank == 0 || self.max_dims.len() != rank || self.chunk_dims.len() != rank {
            return Err(Error::invalid(format!(
                "chunks of {} dimensions, expected those of the dataset, {rank}, and at least 1",
                self.chunk_dims.len()
            )));
        }
        for (dim, (max, chunk)) in self.dims.iter().zip(self.max_dims.iter().zip(&self.chunk_dims)) {
            // libhdf5 also refuses larger chunks, except in datasets that are still empty.
            if *chunk == 0 || dim > max || *dim != 0 && chunk > max {
                return Err(Error::invalid(format!(
                    "chunk dimensions {:?} of a dataset of {:?}, expected 1 to the maximum dimensions {:?}",
                    self.chunk_dims, self.dims, self.max_dims
                )));
            }
        }
        let bytes = self.chunk_dims.iter().try_fold(self.element_size, |len, dim| len.checked_mul(*dim));
        bytes.filter(|bytes| *bytes > 0).ok_or_else(|| {
            Error::invalid(format!(
                "chunks of {:?} elements of {} bytes, expected 1 to 2^64-1 bytes",
                self.chunk_dims, self.element_size
            ))
        })
    }

    /// The version of the message, and the library version that it needs, with the reason.
    fn version(&self, chunk_bytes: u64, low: LibraryVersion) -> (Version, &'static str, LibraryVersion) {
        if chunk_bytes > u32::MAX.into() {
            (Version::V5, "chunks of 4 GiB or more", LibraryVersion::V2_0)
        } else if low >= LibraryVersion::V2_0 && self.filtered {
            (Version::V5, "sizes of filtered chunks in full width", LibraryVersion::V2_0)
        } else if self.partial_edge_chunks_unfiltered {
            (Version::V4, "partial edge chunks without filters", LibraryVersion::V1_10)
        } else if low >= LibraryVersion::V1_10 {
            (Version::V4, "chunk indexes", LibraryVersion::V1_10)
        } else {
            (Version::V3, "chunks", LibraryVersion::Earliest)
        }
    }

    fn index(&self) -> ChunkIndex {
        match self.max_dims.iter().filter(|max| **max == u64::MAX).count() {
            0 if self.dims == self.max_dims && self.dims == self.chunk_dims => {
                let none = FilteredChunk { size: 0, filter_mask: 0 };
                ChunkIndex::SingleChunk { filtered: self.filtered.then_some(none) }
            }
            0 if self.early_allocation && !self.filtered => ChunkIndex::Implicit,
            0 => ChunkIndex::FixedArray { page_bits: PAGE_BITS },
            // If lengths are narrower, libhdf5 mistakes unlimited dimensions for limited ones, and then opens no
            // extensible array.
            1 if self.length_size >= 8 => ChunkIndex::ExtensibleArray(EXTENSIBLE_ARRAY),
            _ => BTREE_V2,
        }
    }
}

impl IndexChoice {
    /// The type of the index and its parameters.
    pub fn index(&self) -> &ChunkIndex {
        &self.chunked.index
    }

    /// The size of a chunk before filters in bytes.
    pub fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// The message of a dataset without chunks. It has the length of the final one.
    pub fn empty_layout(&self) -> DataLayout {
        DataLayout { version: self.version, class: LayoutClass::Chunked(self.chunked.clone()) }
    }

    /// The message of a dataset with this index, or whose chunks begin at this address.
    pub(super) fn layout(self, address: Address, single: Option<FilteredChunk>) -> DataLayout {
        let index = match single {
            Some(_) => ChunkIndex::SingleChunk { filtered: single },
            None => self.chunked.index,
        };
        let chunked = Chunked { index, address, ..self.chunked };
        DataLayout { version: self.version, class: LayoutClass::Chunked(chunked) }
    }

    pub(super) fn chunked(&self) -> &Chunked {
        &self.chunked
    }

    /// The size in bytes of the field with the stored size of a chunk; `None` without filters. libhdf5 makes the field
    /// one byte larger than the size of a chunk before filters needs; since version 5, it is as wide as a length.
    pub(super) fn size_width(&self, sizes: &Sizes) -> Option<u8> {
        let width = match (&self.chunked.index, self.version) {
            (ChunkIndex::BtreeV1, _) => 4,
            (ChunkIndex::SingleChunk { .. }, _) | (_, Version::V5) => sizes.lengths.min(8),
            _ => width_of(self.chunk_bytes).saturating_add(1).min(8),
        };
        self.filtered.then_some(width)
    }

    pub(super) fn client(&self, sizes: &Sizes) -> Client {
        match self.size_width(sizes) {
            Some(size_width) => Client::Filtered { size_width },
            None => Client::Unfiltered,
        }
    }
}

/// The number of bytes that a number needs; 1 for 0.
fn width_of(value: u64) -> u8 {
    (1..8).find(|width| value >> (8 * u32::from(*width)) == 0).unwrap_or(8)
}

/// The number of elements in a page of a fixed array, as a binary logarithm.
const PAGE_BITS: u8 = 10;
const EXTENSIBLE_ARRAY: ExtensibleArrayParameters = ExtensibleArrayParameters {
    maximum_bits: 32,
    index_block_elements: 4,
    super_block_minimum_data_pointers: 4,
    data_block_minimum_elements: 16,
    page_bits: 10,
};
const BTREE_V2: ChunkIndex = ChunkIndex::BtreeV2 { node_size: 2048, split_percent: 100, merge_percent: 40 };

#[cfg(test)]
mod tests {
    use super::LibraryVersion::{Earliest, V1_8, V1_10, V1_12, V1_14, V2_0};
    use super::*;

    const NO: u64 = u64::MAX;

    fn storage(dims: &[u64], max_dims: &[u64], chunk_dims: &[u64]) -> ChunkedStorage {
        ChunkedStorage {
            dims: dims.to_vec(),
            max_dims: max_dims.to_vec(),
            chunk_dims: chunk_dims.to_vec(),
            element_size: 8,
            filtered: false,
            partial_edge_chunks_unfiltered: false,
            early_allocation: false,
            length_size: 8,
        }
    }

    #[test]
    fn indexes_are_those_of_libhdf5() {
        let single = |filtered: bool| ChunkIndex::SingleChunk {
            filtered: filtered.then_some(FilteredChunk { size: 0, filter_mask: 0 }),
        };
        let fixed = ChunkIndex::FixedArray { page_bits: 10 };
        let extensible = ChunkIndex::ExtensibleArray(EXTENSIBLE_ARRAY);
        for (dims, max, chunk, filtered, early, expected) in [
            ([4, 6], [4, 6], [4, 6], false, false, single(false)),
            ([4, 6], [4, 6], [4, 6], true, true, single(true)),
            ([4, 6], [4, 7], [4, 6], false, false, fixed.clone()),
            ([4, 6], [4, 6], [4, 3], false, false, fixed.clone()),
            ([4, 6], [4, 6], [4, 3], true, true, fixed.clone()),
            ([4, 6], [4, 7], [4, 3], false, true, ChunkIndex::Implicit),
            ([4, 6], [NO, 6], [4, 6], false, true, extensible.clone()),
            ([4, 6], [4, NO], [4, 6], true, false, extensible.clone()),
            ([4, 6], [NO, NO], [4, 6], true, false, BTREE_V2),
            ([0, 0], [NO, NO], [4, 6], false, false, BTREE_V2),
        ] {
            let storage =
                ChunkedStorage { filtered, early_allocation: early, ..storage(&dims, &max, &chunk) };
            for low in [V1_10, V1_12, V1_14, V2_0] {
                let choice = storage.choose(low, V2_0).unwrap();
                assert_eq!(choice.index(), &expected, "{storage:?}");
                let version = if low == V2_0 && filtered { Version::V5 } else { Version::V4 };
                assert_eq!(choice.version, version, "{storage:?} {low}");
            }
            for low in [Earliest, V1_8] {
                let choice = storage.choose(low, V1_8).unwrap();
                assert_eq!((choice.index(), choice.version), (&ChunkIndex::BtreeV1, Version::V3));
            }
        }
    }

    #[test]
    fn extensible_arrays_need_lengths_of_8_bytes() {
        for (length_size, expected) in
            [(8, ChunkIndex::ExtensibleArray(EXTENSIBLE_ARRAY)), (4, BTREE_V2), (2, BTREE_V2)]
        {
            let storage = ChunkedStorage { length_size, ..storage(&[4, 6], &[NO, 6], &[2, 3]) };
            assert_eq!(storage.choose(V1_10, V2_0).unwrap().index(), &expected, "{length_size}");
        }
    }

    #[test]
    fn what_needs_a_later_library_is_refused_by_name() {
        let huge = ChunkedStorage { element_size: 1, ..storage(&[1 << 34], &[1 << 34], &[1 << 32]) };
        assert_eq!(
            huge.choose(V1_8, V1_14).unwrap_err().to_string(),
            "chunks of 4 GiB or more need HDF5 v2.0, expected at most v1.14"
        );
        let choice = huge.choose(Earliest, V2_0).unwrap();
        assert_eq!((choice.version, choice.chunked.dimension_width), (Version::V5, 5));
        let largest = ChunkedStorage { chunk_dims: vec![(1 << 32) - 1], ..huge };
        assert_eq!(largest.choose(V1_8, V1_8).unwrap().version, Version::V3);
        let edges = ChunkedStorage { partial_edge_chunks_unfiltered: true, ..storage(&[9], &[9], &[4]) };
        assert!(edges.choose(V1_8, V1_8).is_err());
        let choice = edges.choose(V1_8, V1_10).unwrap();
        assert_eq!(
            (choice.index(), choice.version),
            (&ChunkIndex::FixedArray { page_bits: 10 }, Version::V4)
        );
    }

    #[test]
    fn dimensions_have_the_least_width() {
        for (chunk, element_size, width) in
            [(255, 1, 1), (256, 1, 2), (7, 300, 2), (1 << 16, 1, 3), (1 << 24, 1, 4), (1 << 40, 1, 6)]
        {
            let storage = ChunkedStorage { element_size, ..storage(&[chunk], &[NO], &[chunk]) };
            assert_eq!(storage.choose(V1_10, V2_0).unwrap().chunked.dimension_width, width, "{chunk}");
        }
    }

    #[test]
    fn sizes_of_filtered_chunks_have_a_spare_byte_before_version_5() {
        for (bytes, v4) in [(1, 2), (255, 2), (256, 3), (65_535, 3), (65_536, 4), (u32::MAX.into(), 5)] {
            let storage =
                ChunkedStorage { element_size: 1, filtered: true, ..storage(&[NO - 1], &[NO], &[bytes]) };
            let width = |low, sizes| storage.choose(low, V2_0).unwrap().size_width(&sizes);
            assert_eq!(width(V1_10, Sizes::DEFAULT), Some(v4), "{bytes}");
            assert_eq!(width(V2_0, Sizes::DEFAULT), Some(8));
            assert_eq!(width(V2_0, Sizes { offsets: 4, lengths: 4 }), Some(4));
            assert_eq!(width(V1_8, Sizes::DEFAULT), Some(4));
        }
    }

    #[test]
    fn dimensions_that_do_not_fit_together_are_refused() {
        for (dims, max, chunk) in [
            (vec![], vec![], vec![]),
            (vec![4], vec![4], vec![2, 2]),
            (vec![4], vec![4, 4], vec![2]),
            (vec![4], vec![4], vec![0]),
            (vec![4], vec![4], vec![5]),
            (vec![5], vec![4], vec![2]),
            (vec![NO - 1, 9], vec![NO, 9], vec![1 << 63, 8]),
        ] {
            assert!(storage(&dims, &max, &chunk).choose(V1_8, V2_0).is_err(), "{chunk:?}");
        }
        assert!(storage(&[0], &[4], &[5]).choose(V1_8, V2_0).is_ok());
        assert!(ChunkedStorage { element_size: 0, ..storage(&[4], &[4], &[2]) }.choose(V1_8, V2_0).is_err());
    }
}
