//! Indexes, read back.

use super::*;
use crate::format::Sizes;
use crate::format::message::Message;
use crate::format::message::data_layout::LayoutClass;
use crate::format::message::filter_pipeline::{Filter, FilterPipeline, Version as PipelineVersion};
use crate::navigate::chunk_index::load;
use crate::write::LibraryVersion::{self, V1_8, V1_10, V2_0};
use crate::write::image::Image;
use crate::write::test_datasets::integers;
use crate::write::test_file::{Named, TestFile};

const NO: u64 = u64::MAX;

/// A dataset in files for one library, and which of its chunks are stored.
struct Case<'a> {
    low: LibraryVersion,
    sizes: Sizes,
    storage: ChunkedStorage,
    k: u16,
    chunks: &'a [Vec<u64>],
}

fn storage(dims: &[u64], max_dims: &[u64], chunk_dims: &[u64], filtered: bool) -> ChunkedStorage {
    ChunkedStorage {
        dims: dims.to_vec(),
        max_dims: max_dims.to_vec(),
        chunk_dims: chunk_dims.to_vec(),
        element_size: 2,
        filtered,
        partial_edge_chunks_unfiltered: false,
        early_allocation: false,
        length_size: 8,
    }
}

impl Case<'_> {
    /// The location of the chunk with this number according to the index. Indexes are read without chunks.
    fn entry(&self, number: usize) -> ChunkEntry {
        let number = number as u64;
        let bytes = self.storage.chunk_dims.iter().product::<u64>() * self.storage.element_size;
        let address = Address(100 + number * 7 % 60_000);
        match self.storage.filtered {
            true => ChunkEntry {
                address,
                size: 1 + number % bytes,
                filter_mask: u32::from(number.is_multiple_of(3)),
            },
            false => ChunkEntry { address, size: bytes, filter_mask: 0 },
        }
    }

    /// Builds the index, and asserts that it is read back.
    fn round_trip(&self) -> DataLayout {
        let choice = self.storage.choose(self.low, V2_0).unwrap();
        let empty = choice.empty_layout();
        let (image, layout) = Image::write_sparse(self.sizes, 48, &mut |sink| {
            let mut index = ChunkIndexBuilder::new(&self.storage, choice.clone(), &self.sizes)?;
            for (number, scaled) in self.chunks.iter().enumerate() {
                index.push(scaled, self.entry(number))?;
            }
            index.finish(sink, self.k)
        })
        .unwrap();
        let encoded = |layout: &DataLayout| {
            let mut e = hyperslab_core::Encoder::new();
            crate::format::Structure::encode(layout, &mut e, &self.sizes).unwrap();
            e.len()
        };
        assert_eq!(encoded(&empty), encoded(&layout), "the length of the message");
        let LayoutClass::Chunked(chunked) = &layout.class else { panic!("{layout:?}") };
        let kind = match &chunked.index {
            ChunkIndex::BtreeV1 => ChunkIndexKind::BtreeV1,
            ChunkIndex::SingleChunk { filtered } => ChunkIndexKind::SingleChunk {
                filtered: filtered.map(|chunk| (chunk.size, chunk.filter_mask)),
            },
            ChunkIndex::Implicit => ChunkIndexKind::Implicit,
            ChunkIndex::FixedArray { .. } => ChunkIndexKind::FixedArray,
            ChunkIndex::ExtensibleArray(_) => ChunkIndexKind::ExtensibleArray,
            ChunkIndex::BtreeV2 { .. } => ChunkIndexKind::BtreeV2,
        };
        let index = navigate::ChunkIndex {
            kind,
            address: chunked.address,
            dims: self.storage.dims.clone(),
            max_dims: self.storage.max_dims.clone(),
            chunk_dims: self.storage.chunk_dims.clone(),
            chunk_bytes: choice.chunk_bytes(),
            filtered: self.storage.filtered,
        };
        let table = load(&image.reader(), &index).unwrap();
        assert_eq!(table.len(), self.chunks.len() as u64);
        for (number, scaled) in self.chunks.iter().enumerate() {
            assert_eq!(table.find(scaled), Some(self.entry(number)), "{scaled:?}");
        }
        layout
    }
}

/// All positions of a grid, backwards.
fn all(counts: &[u64]) -> Vec<Vec<u64>> {
    let total = counts.iter().product::<u64>();
    (0..total)
        .rev()
        .map(|number| {
            let mut rest = number;
            let mut scaled: Vec<u64> = counts
                .iter()
                .rev()
                .map(|count| {
                    let at = rest % count;
                    rest /= count;
                    at
                })
                .collect();
            scaled.reverse();
            scaled
        })
        .collect()
}

#[test]
fn whole_datasets_are_read_back_from_every_index() {
    for sizes in [2, 4, 8].map(|width| Sizes { offsets: width, lengths: width }) {
        for filtered in [false, true] {
            for low in [V1_8, V1_10, V2_0] {
                // Dimensions after the first are partial at the edge, or may grow.
                for max in [[7, 9, 5], [7, 9, 6], [7, 12, 5], [NO, 9, 5], [7, NO, 6], [7, 9, NO], [NO, 9, NO]]
                {
                    let max = max.map(|max| if max == NO { NO } else { max * 2 });
                    let storage = storage(&[14, 17, 10], &max, &[2, 3, 4], filtered);
                    let chunks = all(&[7, 6, 3]);
                    Case { low, sizes, storage, k: 3, chunks: &chunks }.round_trip();
                }
                let storage = storage(&[4, 6], &[4, 6], &[4, 6], filtered);
                Case { low, sizes, storage, k: 3, chunks: &[vec![0, 0]] }.round_trip();
            }
        }
    }
}

#[test]
fn counts_around_the_ends_of_blocks_pages_and_nodes_are_read_back() {
    let sizes = Sizes::DEFAULT;
    for filtered in [false, true] {
        // Pages of fixed arrays; nodes of 2, 64, 64 * 64 children; blocks of extensible arrays, of which those from
        // number 132 are in secondary blocks; pages of data blocks with 2048 elements.
        for count in
            [1, 2, 3, 4, 5, 19, 20, 21, 64, 65, 66, 131, 132, 133, 1023, 1024, 1025, 2049, 4097, 9000]
        {
            let chunks = all(&[count]);
            for (low, max) in [(V1_8, count), (V1_10, count), (V1_10, NO), (V2_0, NO)] {
                let storage = storage(&[count * 3], &[max.saturating_mul(3)], &[3], filtered);
                Case { low, sizes, storage, k: 32, chunks: &chunks }.round_trip();
            }
        }
    }
}

#[test]
fn single_chunks_of_large_arrays_are_read_back() {
    let sizes = Sizes::DEFAULT;
    for filtered in [false, true] {
        for number in [0, 3, 4, 19, 131, 132, 1023, 1024, 2047, 2048, 100_000, 999_999] {
            for max in [1_000_000, NO] {
                let chunks: &[_] = &[vec![number]];
                let storage = storage(&[2_000_000], &[max.saturating_mul(2)], &[2], filtered);
                let layout = Case { low: V1_10, sizes, storage: storage.clone(), k: 32, chunks }.round_trip();
                assert_ne!(layout, storage.choose(V1_10, V2_0).unwrap().empty_layout());
            }
        }
    }
    // Only the tree of version 1 knows these positions.
    let far = storage(&[NO - 1, 1 << 40], &[NO, NO], &[1 << 30, 1], true);
    let chunks: &[_] = &[vec![(1 << 34) - 1, 3], vec![0, 1 << 10]];
    for low in [V1_8, V1_10] {
        let far = ChunkedStorage { dims: vec![1 << 62, 1 << 20], ..far.clone() };
        let chunks: &[_] = match low {
            V1_8 => &chunks[1..],
            _ => &[vec![(1 << 32) - 1, 3], vec![0, 1 << 10]],
        };
        Case { low, sizes, storage: far, k: 1, chunks }.round_trip();
    }
}

#[test]
fn a_million_chunks_are_read_back() {
    let chunks: Vec<Vec<u64>> = all(&[1000, 1000]).into_iter().rev().collect();
    for (low, max) in [(V1_8, [2000, 1000]), (V1_10, [2000, 1000]), (V1_10, [2000, NO]), (V1_10, [NO, NO])] {
        let storage = storage(&[2000, 1000], &max, &[2, 1], true);
        Case { low, sizes: Sizes::DEFAULT, storage, k: 32, chunks: &chunks }.round_trip();
    }
}

#[test]
fn datasets_without_chunks_have_no_index() {
    for max in [[4, 6], [8, 6], [NO, 6], [NO, NO]] {
        for low in [V1_8, V1_10] {
            let storage = storage(&[4, 6], &max, &[4, 6], true);
            let case = Case { low, sizes: Sizes::DEFAULT, storage: storage.clone(), k: 32, chunks: &[] };
            assert_eq!(case.round_trip(), storage.choose(low, V2_0).unwrap().empty_layout());
        }
    }
}

#[test]
fn chunks_that_an_index_cannot_hold_are_refused() {
    let build = |storage: &ChunkedStorage, chunks: &[(&[u64], u64)]| {
        let choice = storage.choose(V1_10, V1_10).unwrap();
        let result = Image::write_sparse(Sizes::DEFAULT, 48, &mut |sink| {
            let mut index = ChunkIndexBuilder::new(storage, choice.clone(), &Sizes::DEFAULT)?;
            for (scaled, size) in chunks {
                index.push(scaled, ChunkEntry { address: Address(64), size: *size, filter_mask: 0 })?;
            }
            index.finish(sink, 32)
        });
        result.unwrap_err().to_string()
    };
    let small = storage(&[8], &[8], &[2], true);
    assert_eq!(build(&small, &[(&[4], 1)]), "chunk [4] in an index of [4] chunks");
    assert_eq!(build(&small, &[(&[0, 0], 1)]), "chunk [0, 0] in an index of [4] chunks");
    assert_eq!(build(&small, &[(&[1], 1), (&[1], 1)]), "chunk 1 was stored twice");
    assert_eq!(
        build(&small, &[(&[1], 1 << 16)]),
        "chunk [1] has 65536 bytes after filters, its index stores sizes of 2 bytes"
    );
    assert_eq!(
        build(&storage(&[8], &[8], &[2], false), &[(&[1], 5)]),
        "chunk [1] of 5 bytes without filters, expected 4"
    );
    assert_eq!(
        build(&storage(&[1 << 40], &[NO], &[1], true), &[(&[1 << 32], 1)]),
        "chunk [4294967296] has number 4294967296, an extensible array ends at 2^32: use larger chunks"
    );
}

/// A dataset whose element at an index is the number of its chunk, in a file.
fn dataset(
    sink: &mut dyn Sink,
    name: &'static str,
    low: LibraryVersion,
    storage: &ChunkedStorage,
    chunks: &[Vec<u64>],
) -> Result<Named> {
    let choice = storage.choose(low, V2_0)?;
    let len = usize::try_from(choice.chunk_bytes()).unwrap();
    let mut index = ChunkIndexBuilder::new(storage, choice, &sink.sizes())?;
    index.allocate_block(sink)?;
    for (number, scaled) in chunks.iter().enumerate() {
        let address = match index.place_in_block(scaled) {
            Some(address) => address,
            None => sink.allocate(SpaceKind::Raw, len as u64)?,
        };
        let element = u16::try_from(number % 60_000).unwrap().to_le_bytes();
        sink.write(address, &element.repeat(len / 2))?;
        // The filter changes nothing.
        let filter_mask = if storage.filtered { u32::from(number.is_multiple_of(3)) } else { 0 };
        index.push(scaled, ChunkEntry { address, size: len as u64, filter_mask })?;
    }
    let layout = Message::DataLayout(index.finish(sink, 32)?);
    let mut messages = integers(&storage.dims, &storage.max_dims, 2, layout);
    if storage.filtered {
        let shuffle = Filter { id: 2, name: Vec::new(), optional: true, client_data: vec![1] };
        let pipeline = FilterPipeline { version: PipelineVersion::V2, filters: vec![shuffle] };
        messages.push(Message::FilterPipeline(pipeline));
    }
    Ok((name, messages))
}

#[test]
fn whole_files_pass_all_checks() {
    for filtered in [false, true] {
        for low in [V1_8, V1_10, V2_0] {
            let file = TestFile::write_datasets(&mut |sink| {
                let of = |dims: &[u64], max: &[u64], chunk: &[u64]| storage(dims, max, chunk, filtered);
                let single = of(&[4, 6], &[4, 6], &[4, 6]);
                let early = ChunkedStorage { early_allocation: true, ..of(&[4, 6], &[9, 6], &[2, 3]) };
                let early_chunks = all(&[5, 2]);
                // The block of an implicit index also has chunks past the dataset; other indexes have none.
                let inside: Vec<_> = early_chunks.iter().filter(|at| at[0] < 2).cloned().collect();
                let line = |max: u64| of(&[5000], &[max], &[2]);
                let grid = of(&[14, 17, 10], &[NO, 17, NO], &[2, 3, 4]);
                let sparse = [vec![0], vec![1030], vec![2499]];
                Ok(vec![
                    dataset(sink, "single", low, &single, &[vec![0, 0]])?,
                    dataset(sink, "early", low, &early, &inside)?,
                    dataset(sink, "fixed", low, &line(5000), &all(&[2500]))?,
                    dataset(sink, "fixed sparse", low, &line(9000), &sparse)?,
                    dataset(sink, "extensible", low, &line(NO), &all(&[2500]))?,
                    dataset(sink, "extensible sparse", low, &line(NO), &sparse)?,
                    dataset(
                        sink,
                        "middle",
                        low,
                        &of(&[14, 17, 10], &[14, NO, 12], &[2, 3, 4]),
                        &all(&[7, 6, 3]),
                    )?,
                    dataset(sink, "grid", low, &grid, &all(&[7, 6, 3]))?,
                    dataset(sink, "wide", low, &of(&[100, 60], &[NO, NO], &[1, 1]), &all(&[100, 60]))?,
                ])
            });
            file.check();
        }
    }
}
