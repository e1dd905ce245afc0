//! Conversions with little memory write the same files as those with much memory.

use super::path;
use hyperslab::convert::layout::{Cut, Rule};
use hyperslab::convert::{ConvertOptions, convert, plan};
use hyperslab::publish::Fingerprint;
use hyperslab::target_format;
use hyperslab::{OpenOptions, Pool};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// All files in a folder with their content.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    drop(found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(path).unwrap()))
                }
            }
        }
    }
    found
}

#[test]
fn converts_shards_larger_than_memory() {
    let folder = TempDir::new().unwrap();
    let shards = |name: &str, memory: u64| {
        let file = path("ocean.nc");
        let pool = Pool::new(2, memory);
        let source =
            hyperslab::open(&file, &OpenOptions { pool: pool.clone(), ..OpenOptions::default() }).unwrap();
        let mut options = ConvertOptions { pool, ..ConvertOptions::new(target_format("zarr3").unwrap()) };
        // Elements are read across inner chunks and shards, some of which extend past the array.
        options.layout = std::mem::take(&mut options.layout)
            .with(Rule::chunk(Cut::Shape(vec![2, 2, 2, 3])).of("/salinity"))
            .with(Rule::shard(Cut::Shape(vec![4, 4, 4, 6])).of("/salinity"))
            .with(Rule::filter("zstd".parse().unwrap()).of("/salinity"));
        let planned = plan(&*source, &options).unwrap();
        let made_from = Fingerprint::of_source(&file, "").unwrap();
        let target = folder.path().join(name);
        convert(&*source, &made_from, &target, &planned, &options).unwrap();
        files(&target)
    };
    let (piecewise, whole) = (shards("piecewise", 1 << 10), shards("whole", 1 << 30));
    assert!(whole.len() > 8, "{:?}", whole.keys());
    assert!(piecewise == whole, "{:?}\n{:?}", piecewise.keys(), whole.keys());
}

#[test]
fn chunks_many_times_larger_than_their_array_are_cut_to_it_by_the_plan() {
    let folder = TempDir::new().unwrap();
    let document = folder.path().join("source.yaml");
    let text = "ndarrays:\n  d:\n    shape: [null]\n    type: int8\n    storage: {shape: [10], chunk: [207000000]}\n    \
                value: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n";
    fs::write(&document, text).unwrap();
    let source = hyperslab::open(&document, &OpenOptions::default()).unwrap();
    for (format, name) in [("zarr3", "zarr.json"), ("zarr2", ".zarray")] {
        let options = ConvertOptions::new(target_format(format).unwrap());
        let planned = plan(&*source, &options).unwrap();
        let is_said =
            planned.report.rows().any(|row| row.what == "chunks many times larger than their array");
        assert!(is_said, "{:?}", planned.report);
        let target = folder.path().join(format);
        let made_from = Fingerprint::of_source(&document, "").unwrap();
        convert(&*source, &made_from, &target, &planned, &options).unwrap();
        let stored = fs::read_to_string(target.join("d").join(name)).unwrap();
        // Only the record contains the chunk shape of the source.
        let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
        let grid = &stored["chunk_grid"]["configuration"]["chunk_shape"];
        let chunk = if format == "zarr3" { grid } else { &stored["chunks"] };
        assert_eq!(*chunk, serde_json::json!([10]), "{stored}");
    }
}
