//! Storage that fails and bytes that are wrong give errors.

use crate::{description, open_storage, path};
use bytes::Bytes;
use hyperslab::describe::DescribeOptions;
use hyperslab::{NodePath, Source, digest};
use hyperslab_core::storage::{Fault, Faulty, ReadAt};
use std::sync::Arc;

fn bytes(name: &str) -> Bytes {
    std::fs::read(path(name)).unwrap().into()
}

/// Describes and digests everything; gives what could not be read.
fn exhaust(storage: impl ReadAt + 'static) -> Vec<String> {
    let source: Arc<dyn Source> = match open_storage(storage) {
        Ok(source) => source,
        Err(error) => return vec![error.to_string()],
    };
    let options = DescribeOptions { values: Some(1000), ..DescribeOptions::default() };
    let (_, errors) = description(&*source, "/", &options);
    let lines = digest::lines(&*source, &NodePath::root()).unwrap();
    let broken = lines.iter().filter(|line| line.is_error()).map(digest::Line::to_json);
    errors.iter().map(ToString::to_string).chain(broken).collect()
}

#[test]
fn a_read_that_fails_is_told_wherever_it_is() {
    for name in ["ocean.nc", "h5netcdf_style.h5", "groups_old.h5"] {
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
fn wrong_bytes_give_answers_and_no_panics() {
    for name in ["hdf5/links.h5", "own/odd.h5", "userblock.h5"] {
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
