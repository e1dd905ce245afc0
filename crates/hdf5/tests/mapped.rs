//! Virtual datasets and datasets in external files.

use super::{dataset, integers, object, path, read, read_region};
use hyperslab_core::nd::{Region, scatter};
use hyperslab_core::storage::FileStorage;
use hyperslab_core::{Encoder, ErrorKind, Limits, Remedy, Result};
use hyperslab_hdf5::File;
use hyperslab_hdf5::format::encoding::DataspaceSelection;
use hyperslab_hdf5::format::encoding::selection::hyperslab::{Blocks, Dimension, HyperslabVersion};
use hyperslab_hdf5::format::encoding::selection::points::PointVersion;
use hyperslab_hdf5::format::encoding::selection::{HyperslabSelection, PointSelection};
use hyperslab_hdf5::format::infrastructure::VirtualDatasetBlock;
use hyperslab_hdf5::format::infrastructure::virtual_dataset_block::{
    Mapping, SourceFile, SourceName, Version,
};
use hyperslab_hdf5::format::message::MessageType;
use hyperslab_hdf5::format::{Sizes, Structure};
use std::path::Path;

fn open(name: &str) -> File {
    open_path(&path(name)).unwrap()
}

fn open_path(path: &Path) -> Result<File> {
    File::open(Box::new(FileStorage::open(path)?), Limits::default())
}

/// The file, dataset, extent and rows of every virtual dataset, as read by libhdf5.
fn expected() -> Vec<(String, String, Vec<u64>, Vec<u8>)> {
    let text = std::fs::read_to_string(path("data/virtual/expected.txt")).unwrap();
    let line = |line: &str| {
        let [file, name, extents, rows] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let extents = extents.split(',').map(|size| size.parse().unwrap()).collect();
        let hex: Vec<char> = rows.chars().collect();
        let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        (file.to_owned(), name.to_owned(), extents, hex.chunks_exact(2).map(byte).collect())
    };
    text.lines().map(line).collect()
}

#[cfg(target_endian = "little")]
#[test]
fn virtual_datasets_equal_those_of_libhdf5() {
    for (name, path, extents, rows) in expected() {
        let file = open(&format!("data/virtual/{name}"));
        assert_eq!(dataset(&file, &path).extents(), Some(&*extents), "{name} {path}");
        assert_eq!(read(&file, &path).unwrap().rows, rows, "{name} {path}");
    }
}

#[cfg(target_endian = "little")]
#[test]
fn regions_of_a_virtual_dataset_equal_those_of_the_whole() {
    for (name, path, extents, rows) in expected() {
        let file = open(&format!("data/virtual/{name}"));
        let dataset = dataset(&file, &path);
        if rows.is_empty() {
            continue;
        }
        let row = dataset.array(&file).unwrap().row_size();
        for (first, step) in [(0, 2), (1, 1), (1, 3), (2, 1)] {
            let start: Vec<u64> = extents.iter().map(|size| first.min(size - 1)).collect();
            let count =
                extents.iter().zip(&start).map(|(size, start)| (size - start).div_ceil(step)).collect();
            let region = Region { start, count, step: vec![step; extents.len()] };
            let mut want = vec![0; usize::try_from(region.len().unwrap()).unwrap() * row];
            scatter(&rows, &vec![0; extents.len()], &extents, &region, &mut want, row).unwrap();
            let got = read_region(&file, &dataset, &region).unwrap().rows;
            assert_eq!(got, want, "{name} {path} {region:?}");
        }
    }
}

#[test]
fn reads_strings_from_the_heap_of_the_source() {
    for name in ["vds_v110.h5", "vds_latest.h5"] {
        let file = open(&format!("data/virtual/{name}"));
        let read = read(&file, "words").unwrap();
        let slots = read.rows.chunks_exact(16).map(|row| hyperslab_core::rows::Slot::get(row).unwrap());
        let texts: Vec<&[u8]> =
            slots.map(|slot| read.heap.bytes(slot, usize::try_from(slot.count).unwrap()).unwrap()).collect();
        assert_eq!(texts, [&b""[..], b"one", b"two", b"three"]);
    }
}

#[test]
fn rejects_endless_nesting() {
    let file = open("data/virtual/cycle.h5");
    for (name, over) in [("own", ""), ("here", "cycle_b.h5:/there: cycle.h5:/here: ")] {
        let e = read(&file, name).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Malformed);
        let what = "virtual dataset is its own source, directly or through other virtual datasets";
        assert_eq!(e.detail(), format!("{over}{what}"));
    }
    // Numbered sources are counted up to the first missing one, not up to the extent of the dataspace.
    assert_eq!(dataset(&file, "endless").extents(), Some(&[0][..]));
    assert_eq!(integers(&read(&file, "level 4").unwrap().rows, 4), [0, 1]);
    for name in ["level 29", "all missing"] {
        let e = read(&file, name).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::LimitExceeded, "{name}");
    }
}

#[test]
fn errors_in_a_source_file_name_that_file() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("a_earliest.h5");
    std::fs::copy(path("data/virtual/vds_v110.h5"), dir.path().join("opened.h5")).unwrap();
    let original = std::fs::read(path("data/virtual/a_earliest.h5")).unwrap();
    let wrong = |bytes: &[u8]| {
        std::fs::write(&source, bytes).unwrap();
        let e = read(&open_path(&dir.path().join("opened.h5")).unwrap(), "gap").unwrap_err();
        assert_eq!((e.file(), e.place()), (None, None));
        e.detail().to_owned()
    };
    let e = wrong(b"no HDF5 file");
    assert!(e.starts_with("a_earliest.h5: "), "{e}");
    // The elements of x, 0 to 23, and the root group.
    let elements: Vec<u8> = (0..24_i32).flat_map(i32::to_le_bytes).collect();
    let at = original.windows(elements.len()).position(|bytes| bytes == elements).unwrap();
    let e = wrong(&original[..at]);
    assert!(e.starts_with("a_earliest.h5:/x: ") || e.starts_with("a_earliest.h5: "), "{e}");
}

#[test]
fn rejects_a_source_with_another_number_of_elements() {
    let file = open("data/virtual/cycle.h5");
    let e = read(&file, "counts").unwrap_err();
    assert_eq!(
        (e.kind(), e.detail()),
        (ErrorKind::Malformed, "virtual selection has 2 elements, the source selection has 3 of /three")
    );
}

#[test]
fn rejects_files_outside_of_the_folder_by_name() {
    // Only the folder `within` may be read.
    let dir = tempfile::tempdir().unwrap();
    let within = dir.path().join("within");
    std::fs::create_dir(&within).unwrap();
    let outside = dir.path().join("elements_that_are_outside");
    std::fs::write(&outside, [0; 64]).unwrap();
    for name in ["virtual/cycle.h5", "external/external.h5"] {
        let path = within.join("opened.h5");
        std::fs::copy(super::path(&format!("data/{name}")), &path).unwrap();
        let file = open_path(&path).unwrap();
        let e = read(&file, "outside").unwrap_err();
        assert_eq!(e.kind(), ErrorKind::LimitExceeded);
        let allow = Remedy::AllowExternal(dir.path().canonicalize().unwrap());
        assert!(e.detail().contains("elements_that_are_outside") && e.remedies() == [allow], "{e}");
        let storage = FileStorage::open_allowing(&path, &[dir.path().to_owned()]).unwrap();
        let file = File::open(Box::new(storage), Limits::default()).unwrap();
        let read = read(&file, "outside");
        match name {
            "external/external.h5" => assert_eq!(integers(&read.unwrap().rows, 4), [0, 0]),
            _ => assert_eq!(read.unwrap_err().kind(), ErrorKind::Malformed, "it is no HDF5 file"),
        }
    }
}

#[test]
fn files_in_memory_read_sources_of_the_same_file_only() {
    let file = super::open("data/virtual/vds_v110.h5");
    assert_eq!(read(&file, "own twice").unwrap().rows.len(), 40);
    assert_eq!(read(&file, "gap").unwrap_err().kind(), ErrorKind::Unsupported);
    // A region without a source needs no file.
    let between = Region::new(vec![0, 6], vec![4, 2]);
    let rows = read_region(&file, &dataset(&file, "gap"), &between).unwrap().rows;
    assert_eq!(integers(&rows, 8), [-1; 8]);
    let file = super::open("data/external/external.h5");
    assert_eq!(read(&file, "two").unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn reads_several_external_files() {
    let file = open("data/external/external.h5");
    assert_eq!(integers(&read(&file, "two").unwrap().rows, 4), [0, 1, 2, 3, 4, 5, 7, 8, 9, 0, 0, 0]);
    assert_eq!(integers(&read(&file, "endless").unwrap().rows, 4), [0, 1, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0]);
    assert_eq!(integers(&read(&file, "swapped").unwrap().rows, 4), [6 << 24, 7 << 24]);
    let two = dataset(&file, "two");
    let column = Region { start: vec![0, 1], count: vec![3, 2], step: vec![1, 2] };
    assert_eq!(integers(&read_region(&file, &two, &column).unwrap().rows, 4), [1, 3, 5, 8, 0, 0]);
    assert!(two.has_external_files());
}

#[test]
fn a_missing_external_file_is_an_error_only_where_it_is_read() {
    let file = open("data/external/external.h5");
    let missing = dataset(&file, "missing");
    let e = read(&file, "missing").unwrap_err();
    assert_eq!((e.kind(), e.detail()), (ErrorKind::FileNotFound, "its external data file no.raw is missing"));
    let there = Region::new(vec![0], vec![2]);
    assert_eq!(integers(&read_region(&file, &missing, &there).unwrap().rows, 4), [0, 1]);
}

#[cfg(unix)]
#[test]
fn rejects_a_fifo_as_external_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("external.h5");
    std::fs::copy(super::path("data/external/external.h5"), &path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(dir.path().join("b.raw")).status().unwrap();
    assert!(made.success());
    let e = read(&open_path(&path).unwrap(), "swapped").unwrap_err();
    assert_eq!(e.kind(), ErrorKind::InvalidArgument);
    assert!(e.detail().ends_with("b.raw: is not a regular file"), "{e}");
}

#[test]
fn any_member_opens_the_whole_set() {
    let members = [
        ("old_", vec!["old_0.h5", "old_1.h5", "old_10.h5"]),
        ("new-", vec!["new-000.h5", "new-004.h5", "new-008.h5"]),
        ("split-", vec!["split-m.h5", "split-r.h5"]),
        ("splitn-", vec!["splitn-m.h5", "splitn-r.h5"]),
        ("multi-", vec!["multi-s.h5", "multi-b.h5", "multi-r.h5", "multi-l.h5", "multi-o.h5"]),
    ];
    for (set, names) in members {
        for name in names {
            let file = open(&format!("data/sets/{name}"));
            assert_eq!(integers(&read(&file, "x").unwrap().rows, 4), (0..300).collect::<Vec<_>>(), "{name}");
            assert_eq!(integers(&read(&file, "c").unwrap().rows, 2), (0..400).collect::<Vec<_>>(), "{name}");
            let units = object(&file, "x").unwrap().attribute(&file, b"units").unwrap().unwrap();
            assert_eq!(units.text(&file).unwrap().unwrap(), b"m", "{name}");
            assert!(file.warnings().is_empty(), "{name} {:?}", file.warnings());
        }
        // First only the first member is present, then all members but the last.
        let dir = tempfile::tempdir().unwrap();
        let folder = path("data/sets");
        let mut all: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with(set))
            .collect();
        all.sort();
        let first = all.iter().find(|name| name.contains("-m.") || name.contains("-s.")).unwrap_or(&all[0]);
        std::fs::copy(folder.join(first), dir.path().join(first)).unwrap();
        let e = open_path(&dir.path().join(first)).err().unwrap();
        assert_eq!(e.kind(), ErrorKind::Unsupported, "{e}");
        let next = match set {
            "old_" => "old_1.h5 is missing",
            "new-" => "new-001.h5 is missing",
            _ => "missing",
        };
        assert!(e.detail().contains(next), "{e}");
        for name in
            all.iter().filter(|name| *name != first && !name.ends_with("8.h5") && !name.contains("-r."))
        {
            std::fs::copy(folder.join(name), dir.path().join(name)).unwrap();
        }
        let e = open_path(&dir.path().join(first)).err().unwrap();
        let missing = match set {
            "old_" => "old_8.h5".to_owned(),
            "new-" => "new-008.h5".to_owned(),
            set => format!("{set}r.h5"),
        };
        assert!(e.detail().contains(&format!("{missing} is missing")), "{e}");
    }
    assert_eq!(File::first_member("new-%03d.h5").as_deref(), Some("new-000.h5"));
}

#[test]
fn warns_of_truncated_members() {
    for (set, member, bytes) in [("new-", "new-004.h5", 1000), ("multi-", "multi-r.h5", 6096)] {
        let dir = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(path("data/sets")).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name().to_str().unwrap().starts_with(set) {
                std::fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
            }
        }
        assert_eq!(std::fs::metadata(dir.path().join(member)).unwrap().len(), bytes);
        std::fs::OpenOptions::new().write(true).open(dir.path().join(member)).unwrap().set_len(10).unwrap();
        let first = if set == "new-" { "new-000.h5" } else { "multi-s.h5" };
        let warnings = open_path(&dir.path().join(first)).unwrap().warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(&format!("truncated: {} missing bytes", bytes - 10)), "{warnings:?}");
    }
}

#[test]
fn rejects_revision_files_and_subfiles_by_name() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes, driver) in [
        ("x.h5.onion", &b"OHDH\x01\0\0\0 ..............."[..], "onion"),
        ("x.h5", b"ONIONEOF", "onion"),
        ("y.h5.subfile_17_1_of_4", b"raw bytes of some kind", "subfiling"),
    ] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let storage = FileStorage::open(&path).unwrap();
        assert!(File::is_part(&storage).unwrap());
        let e = File::open(Box::new(storage), Limits::default()).err().unwrap();
        assert_eq!(e.kind(), ErrorKind::Unsupported);
        assert!(e.detail().contains(driver), "{e}");
    }
    let other = dir.path().join("other-x.bin");
    std::fs::write(&other, b"no member of anything").unwrap();
    assert!(!File::is_part(&FileStorage::open(&other).unwrap()).unwrap());
}

/// Replaces the sources of the virtual dataset `name`, which has two integers, with those of `block`.
fn with_sources(mut bytes: Vec<u8>, name: &str, block: &VirtualDatasetBlock) -> Vec<u8> {
    let mut e = Encoder::new();
    block.encode(&mut e, &Sizes::DEFAULT).unwrap();
    let data = e.into_bytes();
    let heap = bytes.len() as u64;
    bytes.extend(b"GCOL\x01\0\0\0");
    let size = data.len().next_multiple_of(8) as u64 + 32;
    bytes.extend(size.to_le_bytes());
    bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend((data.len() as u64).to_le_bytes());
    bytes.extend(data);
    bytes.resize(usize::try_from(heap + size).unwrap(), 0);
    let file = super::open_bytes(bytes.clone()).unwrap();
    let layout = object(&file, name).unwrap().header().find(MessageType::DATA_LAYOUT).unwrap().offset;
    let place = usize::try_from(layout).unwrap() + 2;
    let address = heap.to_le_bytes().into_iter().chain([1, 0, 0, 0]);
    address.enumerate().fold(bytes, |bytes, (at, byte)| super::with_byte(bytes, place + at, byte))
}

fn mapping(source: &str) -> Mapping {
    Mapping {
        source_file: SourceFile::Named(SourceName::Here(b".".to_vec())),
        source_dataset: SourceName::Here(source.as_bytes().to_vec()),
        source_selection: DataspaceSelection::All,
        virtual_selection: DataspaceSelection::All,
    }
}

#[test]
fn reads_ten_thousand_sources() {
    let mut mappings = vec![mapping("/level 0"); 9_999];
    mappings.push(mapping("/level 1"));
    let block = VirtualDatasetBlock { version: Version::V0, mappings };
    let bytes = with_sources(super::bytes("data/virtual/cycle.h5"), "own", &block);
    let file = super::open_bytes(bytes).unwrap();
    assert_eq!(integers(&read(&file, "own").unwrap().rows, 4), [0, 1]);
}

#[test]
fn maps_points_in_their_order() {
    let points = |coordinates: Vec<u64>| {
        DataspaceSelection::Points(PointSelection { version: PointVersion::V1, rank: 1, coordinates })
    };
    let crossed = Mapping {
        virtual_selection: points(vec![1, 0]),
        source_selection: points(vec![0, 1]),
        ..mapping("/level 0")
    };
    let block = VirtualDatasetBlock { version: Version::V0, mappings: vec![crossed] };
    let bytes = with_sources(super::bytes("data/virtual/cycle.h5"), "own", &block);
    let file = super::open_bytes(bytes).unwrap();
    assert_eq!(integers(&read(&file, "own").unwrap().rows, 4), [1, 0]);
    let outside = Mapping {
        virtual_selection: points(vec![1, 2]),
        source_selection: points(vec![0, 1]),
        ..mapping("/level 0")
    };
    let block = VirtualDatasetBlock { version: Version::V0, mappings: vec![outside] };
    let bytes = with_sources(super::bytes("data/virtual/cycle.h5"), "own", &block);
    let file = super::open_bytes(bytes).unwrap();
    assert_eq!(read(&file, "own").unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn rejects_endless_numbered_sources() {
    let dir = tempfile::tempdir().unwrap();
    let blocks = |count, block| {
        let dimension = Dimension { start: 0, stride: block, count, block };
        let (version, blocks) = (HyperslabVersion::V2, Blocks::Regular(vec![dimension]));
        DataspaceSelection::Hyperslab(HyperslabSelection { version, blocks })
    };
    let endless = Mapping {
        source_file: SourceFile::Named(SourceName::Here(b"/no/such/folder/%b/beside.h5".to_vec())),
        virtual_selection: blocks(u64::MAX, 2),
        source_selection: blocks(1, 2),
        ..mapping("/level 0")
    };
    let block = VirtualDatasetBlock { version: Version::V0, mappings: vec![endless] };
    // The file is found by the last component of its path, whatever the number.
    std::fs::copy(path("data/virtual/cycle.h5"), dir.path().join("beside.h5")).unwrap();
    let opened = dir.path().join("opened.h5");
    let bytes = with_sources(super::bytes("data/virtual/cycle.h5"), "own", &block);
    std::fs::write(&opened, bytes).unwrap();
    let file = open_path(&opened).unwrap();
    let e = object(&file, "own").unwrap().dataset(&file).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::LimitExceeded, "{e}");
}
