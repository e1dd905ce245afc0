//! The number of requests when each request is a round trip over a network.

use crate::{bytes, dataset, read_region};
use bytes::Bytes;
use hyperslab_core::Limits;
use hyperslab_core::nd::Region;
use hyperslab_core::wrapper::Counted;
use hyperslab_hdf5::File;
use std::sync::Arc;

/// The rows of a whole dataset, and the number of requests for its chunks.
fn read(path: &str, is_far: bool) -> (Bytes, u64) {
    let content = Bytes::from(bytes("chunk_indexes.h5"));
    let storage = Arc::new(if is_far { Counted::far(content) } else { Counted::new(content) });
    let file = File::open(Box::new(Arc::clone(&storage)), Limits::default()).unwrap();
    let dataset = dataset(&file, path);
    let region = Region::all(dataset.extents().unwrap());
    // A second read finds the index in the cache.
    read_region(&file, &dataset, &region).unwrap();
    let before = storage.requests();
    let rows = read_region(&file, &dataset, &region).unwrap().rows;
    (rows, storage.requests() - before)
}

#[test]
fn far_chunks_take_one_request_together_and_near_chunks_one_each() {
    for (path, chunks) in [
        ("/btree_v1_deep", 74),
        ("/fixed_array", 6),
        ("/fixed_array_filtered", 6),
        ("/fixed_array_paged", 1099),
        ("/single_chunk_filtered", 1),
    ] {
        let (near, far) = (read(path, false), read(path, true));
        assert_eq!(near.0, far.0, "{path}");
        assert_eq!(near.1, chunks, "{path}");
        assert_eq!(far.1, chunks.div_ceil(1024), "{path}");
    }
}
