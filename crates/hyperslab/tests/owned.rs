//! Opened arrays own everything that they need for reading.

use crate::{open, path};
use hyperslab::{ArraySource, ErrorKind, Item, NodePath, OpenOptions, Step, Watch, walk};
use hyperslab_core::nd::Region;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn arrays(name: &str) -> Vec<Arc<dyn ArraySource>> {
    let source = open(name);
    let mut arrays = Vec::new();
    let root = source.find(&NodePath::root()).unwrap();
    if !matches!(root.item, Item::Group) {
        return vec![source.array(&root.handle).unwrap()];
    }
    walk(&*source, &root.handle, &mut |step| {
        if let Step::Member(entry) = step
            && matches!(entry.item, Item::Array { datatype: Some(_), .. })
        {
            arrays.push(source.array(&entry.handle)?);
        }
        Ok(())
    })
    .unwrap();
    arrays
}

#[test]
fn an_opened_array_reads_after_its_source_is_dropped_in_any_format() {
    for name in ["ocean.nc", "datatypes.h5", "tides.zarr", "single.zarr.zip", "buoys.yaml"] {
        let mut read = 0;
        for array in arrays(name) {
            let Some(extents) = array.extents().map(<[u64]>::to_vec) else { continue };
            let values = match array.values(&Region::all(&extents)) {
                Ok(values) => values,
                // One example has an array with an unknown codec.
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
                    continue;
                }
            };
            let size = array.datatype().row_size().unwrap();
            assert_eq!(values.rows.len() as u64, extents.iter().product::<u64>() * size as u64, "{name}");
            read += 1;
        }
        assert!(read > 0, "{name} has no array");
    }
}

#[test]
fn an_opened_array_is_read_from_another_thread_than_the_one_that_opened_it() {
    let threads: Vec<_> = arrays("ocean.nc")
        .into_iter()
        .map(|array| {
            std::thread::spawn(move || {
                array.values(&Region::all(array.extents().unwrap_or(&[0]))).unwrap().rows.len()
            })
        })
        .collect();
    let bytes: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert!(bytes > 0);
}

#[test]
fn the_index_of_chunks_is_read_once_when_it_is_needed() {
    let reads = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&reads);
    let watch = Watch::new(move |_| {
        seen.fetch_add(1, Ordering::Relaxed);
    });
    let options = OpenOptions { watch: Some(watch), ..OpenOptions::default() };
    let source = hyperslab::open(&path("chunk_indexes.h5"), &options).unwrap();
    let handle = source.find(&NodePath::new("/btree_v1_deep").unwrap()).unwrap().handle;
    let before = reads.load(Ordering::Relaxed);
    let array = source.array(&handle).unwrap();
    drop(source);
    assert_eq!(reads.load(Ordering::Relaxed), before, "opening an array reads nothing");
    let chunks = array.chunks().unwrap().unwrap().outer;
    let before = reads.load(Ordering::Relaxed);
    assert!(array.stored().unwrap() > 0 && chunks.written > 50);
    let mut written = Vec::new();
    array
        .written(&mut |start| {
            written.push(start.to_vec());
            Ok(())
        })
        .unwrap();
    for start in &written {
        array.values(&Region::new(start.clone(), vec![1; start.len()])).unwrap();
    }
    assert_eq!(reads.load(Ordering::Relaxed) - before, written.len() as u64, "one read for each chunk");
}
