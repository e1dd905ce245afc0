//! Indexes that HDF5 wrote, compared with where it wrote the chunks.

use super::*;
use crate::format::Sizes;
use crate::navigate::superblock;
use bytes::Bytes;
use hyperslab_core::Limits;
use std::path::{Path, PathBuf};

/// What the generator reports about a file.
struct Example {
    file: Bytes,
    sizes: Sizes,
    base: u64,
    index: ChunkIndex,
    chunks: Vec<(Vec<u64>, ChunkEntry)>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/chunk_index")
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".h5").map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn example(name: &str) -> Example {
    let text = std::fs::read_to_string(folder().join(name).with_extension("txt")).unwrap();
    let values = |key: &str| -> Option<Vec<u64>> {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?;
        Some(line.split(' ').map(|number| number.parse().unwrap()).collect())
    };
    let kind = text.lines().find_map(|line| line.strip_prefix("index ")).unwrap();
    let sizes = values("sizes").unwrap().iter().map(|n| u8::try_from(*n).unwrap()).collect::<Vec<_>>();
    let (base, chunk_dims) = (values("base").unwrap()[0], values("chunk_dims").unwrap());
    let index = ChunkIndex {
        kind: match kind {
            "btree_v1" => ChunkIndexKind::BtreeV1,
            "single_chunk" => ChunkIndexKind::SingleChunk {
                filtered: values("single").map(|single| (single[0], u32::try_from(single[1]).unwrap())),
            },
            "implicit" => ChunkIndexKind::Implicit,
            "fixed_array" => ChunkIndexKind::FixedArray,
            "extensible_array" => ChunkIndexKind::ExtensibleArray,
            "btree_v2" => ChunkIndexKind::BtreeV2,
            other => panic!("{other}"),
        },
        address: Address(values("address").unwrap()[0]),
        dims: values("dims").unwrap(),
        max_dims: values("max_dims").unwrap(),
        chunk_bytes: 4 * chunk_dims.iter().product::<u64>(),
        chunk_dims,
        filtered: values("filtered").unwrap() == [1],
    };
    let chunks = text.lines().filter_map(|line| line.strip_prefix("chunk ")).map(|line| {
        let (scaled, rest) = line.split_once(" at ").unwrap();
        let rest: Vec<u64> = rest.split(' ').map(|number| number.parse().unwrap()).collect();
        let entry = ChunkEntry {
            address: Address(rest[0] - base),
            size: rest[1],
            filter_mask: u32::try_from(rest[2]).unwrap(),
        };
        (scaled.split(' ').map(|number| number.parse().unwrap()).collect(), entry)
    });
    Example {
        sizes: Sizes { offsets: sizes[0], lengths: sizes[1] },
        base,
        chunks: chunks.collect(),
        index,
        file: std::fs::read(folder().join(name).with_extension("h5")).unwrap().into(),
    }
}

fn reader(file: Bytes, example: &Example) -> Reader {
    Reader::new(Box::new(file), example.base, example.sizes, Limits::default())
}

#[test]
fn chunks_are_where_hdf5_wrote_them() {
    let names = names();
    assert!(names.len() >= 30);
    for name in names {
        let example = example(&name);
        let (found, at) = superblock::read(&example.file).unwrap();
        assert_eq!((found.sizes, at), (example.sizes, example.base), "{name}");
        let table = load(&reader(example.file.clone(), &example), &example.index).unwrap();
        let listed: Vec<_> = table.iter().map(|record| (record.scaled.to_vec(), record.entry)).collect();
        assert_eq!(listed, example.chunks, "{name}");
        assert_eq!(table.len(), example.chunks.len() as u64, "{name}");
        for (scaled, entry) in &example.chunks {
            assert_eq!(table.find(scaled), Some(*entry), "{name} {scaled:?}");
        }
        assert_eq!(table.find(&vec![u64::MAX; table.rank()]), None, "{name}");
        assert_eq!(table.find(&[]), None, "{name}");
    }
}

#[test]
fn absent_chunks_are_not_found() {
    for name in ["btree_v1_sparse", "fixed_array_paged", "extensible_array_secondary", "btree_v2_sparse"] {
        let example = example(name);
        let table = load(&reader(example.file.clone(), &example), &example.index).unwrap();
        let mut next = example.chunks[0].0.clone();
        *next.last_mut().unwrap() += 1;
        assert_eq!(table.find(&next), None, "{name}");
    }
}

#[test]
fn an_index_that_was_never_written_has_no_chunks() {
    for name in names() {
        let mut example = example(&name);
        example.index.address = Address::UNDEFINED;
        let table = load(&reader(example.file.clone(), &example), &example.index).unwrap();
        assert!(table.is_empty(), "{name}");
        assert_eq!(table.iter().count(), 0, "{name}");
    }
}

#[test]
fn damage_anywhere_never_panics() {
    for name in names() {
        let example = example(&name);
        // Bytes of the first structure, and some of what it points to.
        let start = usize::try_from(example.index.address.get().unwrap_or(0) + example.base).unwrap();
        let step = (example.file.len() / 50).max(1);
        let places = (start..example.file.len()).take(50).chain((0..example.file.len()).step_by(step));
        for at in places {
            for value in [0, 1, 0xff] {
                let mut damaged = example.file.to_vec();
                damaged[at] = value;
                let _ = load(&reader(damaged.into(), &example), &example.index);
            }
        }
    }
}

#[test]
fn truncation_anywhere_is_an_error_or_costs_nothing_that_is_indexed() {
    for name in names() {
        let example = example(&name);
        for end in (0..example.file.len()).step_by(97) {
            let file = example.file.slice(..end);
            if let Ok(table) = load(&reader(file, &example), &example.index) {
                assert_eq!(table.len(), example.chunks.len() as u64, "{name} {end}");
            }
        }
    }
}

#[test]
fn contradictions_between_index_and_dataset_are_refused() {
    for name in ["fixed_array", "fixed_array_filtered", "extensible_array", "btree_v2", "btree_v2_filtered"] {
        let example = example(name);
        let mut index = example.index.clone();
        index.filtered = !index.filtered;
        assert!(load(&reader(example.file.clone(), &example), &index).is_err(), "{name}");
    }
    let example = example("fixed_array");
    let mut index = example.index.clone();
    index.max_dims = vec![7, 7];
    let e = load(&reader(example.file.clone(), &example), &index).unwrap_err();
    assert_eq!(e.detail(), "9 entries, expected 12 chunks by the maximum dimensions");
}
