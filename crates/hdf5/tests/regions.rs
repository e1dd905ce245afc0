//! Regions of datasets, compared with values computed here.

use crate::{bytes, dataset, integers, object, open, open_bytes, read, read_region};
use hyperslab_core::nd::Region;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, ErrorKind};
use hyperslab_hdf5::File;

/// The values of `region` in row-major order, where `value` computes the value at an index.
fn expected(region: &Region, value: &dyn Fn(&[u64]) -> i64) -> Vec<i64> {
    let mut positions = vec![Vec::new()];
    for ((start, count), step) in region.start.iter().zip(&region.count).zip(&region.step) {
        positions = positions
            .iter()
            .flat_map(|at| (0..*count).map(move |k| [at.as_slice(), &[start + k * step]].concat()))
            .collect();
    }
    positions.iter().map(|at| value(at)).collect()
}

/// Regions for chunks of any shape: all elements, none, the first, the last, and regions with steps.
fn regions(dims: &[u64]) -> Vec<Region> {
    let stepped = |step: u64| {
        let start: Vec<u64> = dims.iter().map(|dim| u64::from(*dim > 1)).collect();
        let count = dims.iter().zip(&start).map(|(dim, start)| (dim - start).div_ceil(step)).collect();
        Region { start, count, step: vec![step; dims.len()] }
    };
    let last: Vec<u64> = dims.iter().map(|dim| dim - 1).collect();
    vec![
        Region::all(dims),
        Region::new(vec![0; dims.len()], vec![0; dims.len()]),
        Region::new(vec![0; dims.len()], vec![1; dims.len()]),
        Region::new(last, vec![1; dims.len()]),
        stepped(1),
        stepped(2),
        stepped(3),
        stepped(7),
    ]
}

fn check(file: &File, path: &str, size: usize, value: &dyn Fn(&[u64]) -> i64) {
    let dataset = dataset(file, path);
    for region in regions(dataset.extents().unwrap()) {
        let rows = read_region(file, &dataset, &region).unwrap();
        assert_eq!(integers(&rows.rows, size), expected(&region, value), "{path} {region:?}");
    }
}

#[test]
fn reads_every_region_with_every_chunk_index() {
    let file = open("chunk_indexes.h5");
    let grid = |at: &[u64]| i64::try_from(at[0] * 10 + at[1]).unwrap();
    // Along each dimension with more than two chunks, the last chunk was never written.
    let unless_late = |limits: [u64; 2], value: i64, at: &[u64]| {
        if at.iter().zip(limits).any(|(at, limit)| *at >= limit) { -9 } else { value }
    };
    for name in ["btree_v1", "fixed_array", "extensible_array", "btree_v2"] {
        for path in [format!("/{name}"), format!("/{name}_filtered")] {
            check(&file, &path, 4, &|at| unless_late([5, 7], grid(at), at));
        }
    }
    for path in ["/single_chunk", "/single_chunk_filtered"] {
        check(&file, path, 4, &|at| i64::try_from(at[0] * 4 + at[1]).unwrap());
    }
    check(&file, "/implicit", 4, &|at| unless_late([3, 6], i64::try_from(at[0] * 6 + at[1]).unwrap(), at));
    check(&file, "/btree_v2_deep", 4, &|at| {
        unless_late([22, 18], i64::try_from(at[0] * 20 + at[1]).unwrap(), at)
    });
    for (name, written) in
        [("btree_v1_deep", 148), ("fixed_array_paged", 1099), ("extensible_array_long", 598)]
    {
        check(&file, &format!("/{name}"), 4, &|at| {
            if at[0] < written { i64::try_from(at[0]).unwrap() } else { -9 }
        });
    }
}

#[test]
fn reads_every_region_of_contiguous_and_compact_data() {
    let file = open("data/reading.h5");
    let value = |at: &[u64]| i64::try_from(at[0] * 30 + at[1] * 6 + at[2]).unwrap();
    check(&file, "/contiguous", 4, &value);
    check(&open("datatypes.h5"), "/layouts/compact", 2, &|at| i64::try_from(at[0] * 2 + at[1] + 1).unwrap());
    check(&open("groups_old.h5"), "/many/member_042", 2, &|_| 42);
}

#[test]
fn addresses_start_after_the_user_block() {
    let file = open("userblock.h5");
    assert_eq!(file.user_block(), 1024);
    check(&file, "/c", 2, &|at| i64::try_from(at[0] * 5 + at[1]).unwrap());
}

#[test]
fn reads_partial_edge_chunks_without_filters() {
    let file = open("data/reading.h5");
    check(&file, "/edges_unfiltered", 2, &|at| i64::try_from(at[0] * 7 + at[1]).unwrap());
}

#[test]
fn a_chunk_skips_the_filters_of_its_mask() {
    let file = open("data/reading.h5");
    check(&file, "/masked", 2, &|at| i64::try_from(at[0] * 4 + at[1]).unwrap());
}

#[test]
fn elements_beyond_a_reduced_extent_are_not_read() {
    let file = open("data/reading.h5");
    for path in ["/shrunk_array", "/shrunk_tree"] {
        assert_eq!(dataset(&file, path).extents(), Some(&[3, 5][..]));
        check(&file, path, 2, &|at| i64::try_from(at[0] * 7 + at[1]).unwrap());
    }
    assert_eq!(integers(&read(&file, "/regrown").unwrap().rows, 2), [0, 1, 2, -7, -7, -7]);
}

#[test]
fn elements_never_written_have_the_fill_value() {
    let file = open("data/reading.h5");
    check(&file, "/user_fill", 2, &|_| -7);
    assert_eq!(dataset(&file, "/user_fill").stored_bytes(&file).unwrap(), 0);
    let file = open("datatypes.h5");
    check(&file, "/layouts/unwritten", 4, &|_| -1);
    check(&file, "/layouts/no_fill", 4, &|_| 0);
    let unwritten = dataset(&file, "/layouts/unwritten");
    assert_eq!(unwritten.fill(&file).unwrap().value, Some((-1_i32).to_le_bytes().to_vec()));
    assert_eq!(dataset(&file, "/layouts/no_fill").fill(&file).unwrap().value, None);
    let big = open("big_endian.h5");
    check(&big, "/filled", 2, &|_| -300);
}

#[test]
fn empty_and_null_datasets_differ() {
    let file = open("datatypes.h5");
    let zero = dataset(&file, "/layouts/zero");
    assert_eq!(zero.extents(), Some(&[0, 3][..]));
    assert!(read(&file, "/layouts/zero").unwrap().rows.is_empty());
    let null = dataset(&file, "/layouts/null");
    assert_eq!((null.extents(), null.max_extents()), (None, None));
    let array = null.array(&file).unwrap();
    let error = array.read(&file, &Region::all(&[]), &mut [0; 4], &mut Heap::default()).unwrap_err();
    assert!(error.to_string().contains("null dataspace"), "{error}");
}

#[test]
fn rejects_regions_outside_of_the_extent_and_buffers_of_another_size() {
    let file = open("data/reading.h5");
    let array = dataset(&file, "/contiguous").array(&file).unwrap();
    let read =
        |region: &Region, len: usize| array.read(&file, region, &mut vec![0; len], &mut Heap::default());
    read(&Region::new(vec![3, 4, 5], vec![1, 1, 1]), 4).unwrap();
    for (region, len) in [
        (Region::new(vec![3, 4, 5], vec![1, 1, 1]), 3),
        (Region::new(vec![3, 4, 5], vec![1, 1, 2]), 8),
        (Region::new(vec![4, 0, 0], vec![1, 1, 1]), 4),
        (Region::new(vec![0, 0], vec![1, 1]), 4),
        (Region::new(vec![u64::MAX, 0, 0], vec![1, 1, 1]), 4),
        (Region { start: vec![0; 3], count: vec![2; 3], step: vec![u64::MAX; 3] }, 32),
    ] {
        assert_eq!(read(&region, len).unwrap_err().kind(), ErrorKind::InvalidArgument, "{region:?}");
    }
}

#[test]
fn a_checksum_error_names_the_chunk_and_its_byte() {
    let mut bytes = bytes("data/reading.h5");
    let stored: Vec<u8> = [10_i16, 20, 30, 40].iter().flat_map(|n| n.to_le_bytes()).collect();
    let at = bytes.windows(8).position(|window| window == stored).unwrap();
    bytes[at] = 11;
    let error = read(&open_bytes(bytes).unwrap(), "/checked").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Checksum);
    let place = error.place().unwrap();
    assert_eq!((place.structure, place.offset), ("chunk", u64::try_from(at).unwrap()));
}

#[test]
fn rejects_unreadable_datasets_by_name() {
    let file = open("data/reading.h5");
    let refused = |path: &str, part: &str| {
        let error: Error = read(&file, path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{path}");
        assert!(error.to_string().contains(part), "{path}: {error}");
    };
    refused("/unknown_filter", "filter 32007 (JPEG-XR)");
    // A file in memory has no files next to it.
    refused("/external", "needs the file");
    refused("/virtual", "needs the file");
    assert!(dataset(&file, "/external").has_external_files());
    assert!(object(&file, "/virtual").is_ok());
}
