//! Failing storage and wrong bytes give errors, not panics.

use crate::{description, path};
use bytes::Bytes;
use hyperslab::describe::DescribeOptions;
use hyperslab::{NodePath, OpenOptions, Source, digest};
use hyperslab_core::storage::{Fault, Faulty, ReadAt};
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn bytes(name: &str) -> Bytes {
    std::fs::read(path(name)).unwrap().into()
}

/// Describes and digests everything and returns the errors.
fn exhaust(storage: impl ReadAt + 'static) -> Vec<String> {
    match hyperslab::open_storage(Box::new(storage), &OpenOptions::default()) {
        Ok(source) => exhausted(&source),
        Err(error) => vec![error.to_string()],
    }
}

fn exhausted(source: &Arc<dyn Source>) -> Vec<String> {
    let options = DescribeOptions { values: Some(1000), ..DescribeOptions::default() };
    let (_, errors) = description(&**source, "/", &options);
    let lines = digest::lines(&**source, &NodePath::root()).unwrap();
    let broken = lines.iter().filter(|line| line.is_error()).map(digest::Line::to_json);
    errors.iter().map(ToString::to_string).chain(broken).collect()
}

#[test]
fn every_failed_read_is_reported() {
    for name in ["ocean.nc", "h5netcdf_style.h5", "groups_old.h5", "classic.nc"] {
        let bytes = bytes(name);
        let whole = Arc::new(Faulty::new(bytes.clone(), Fault::PastOffset(u64::MAX)));
        let told = exhaust(Arc::clone(&whole));
        assert!(told.is_empty(), "{name}: {told:?}");
        for number in 0..whole.reads() {
            let told = exhaust(Faulty::new(bytes.clone(), Fault::FromRead(number)));
            assert!(!told.is_empty(), "{name}: read {number} failed unseen");
        }
    }
}

#[test]
fn wrong_bytes_give_results_or_errors_and_no_panics() {
    for name in ["hdf5/links.h5", "own/odd.h5", "userblock.h5", "classic.nc", "classic_data64.nc"] {
        let whole = bytes(name);
        for at in (0..whole.len()).step_by(13) {
            for wrong in [0xFF, whole[at] ^ 1] {
                let mut damaged = whole.to_vec();
                damaged[at] = wrong;
                exhaust(Bytes::from(damaged));
            }
        }
    }
}

/// Copies every file below `from` to the same path below `to`, and collects the paths of the copies.
fn copied(from: &Path, to: &Path, found: &mut Vec<std::path::PathBuf>) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &place, found);
        } else {
            fs::copy(entry.path(), &place).unwrap();
            found.push(place);
        }
    }
}

#[test]
fn wrong_bytes_in_zarr_stores_give_results_or_errors_and_no_panics() {
    let options = OpenOptions::default();
    for (name, step) in [("floats.zarr", 83), ("tides.zarr", 197)] {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Vec::new();
        copied(&path(name), folder.path(), &mut files);
        for file in files {
            let whole = fs::read(&file).unwrap();
            for at in (0..whole.len()).step_by(step) {
                for wrong in [b'9', b'"', whole[at] ^ 1] {
                    let mut damaged = whole.clone();
                    damaged[at] = wrong;
                    fs::write(&file, damaged).unwrap();
                    if let Ok(source) = hyperslab::open(folder.path(), &options) {
                        exhausted(&source);
                    }
                }
            }
            fs::write(&file, whole).unwrap();
        }
        assert!(hyperslab::open(folder.path(), &options).is_ok());
    }
    let whole = bytes("single.zarr.zip");
    for at in (0..whole.len()).step_by(3) {
        let mut damaged = whole.to_vec();
        damaged[at] ^= 1;
        if let Ok(source) = hyperslab::open_storage(Box::new(Bytes::from(damaged)), &options) {
            exhausted(&source);
        }
    }
}
