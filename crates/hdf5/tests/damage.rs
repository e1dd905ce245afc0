//! Storage that fails and bytes that are wrong give errors.

use crate::bytes;
use hyperslab_core::nd::{Region, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{Fault, Faulty, ReadAt};
use hyperslab_core::{ErrorKind, Limits, Result};
use hyperslab_hdf5::{File, ObjectKind};
use std::collections::HashSet;
use std::sync::Arc;

/// Reads every link, attribute and element; gives the errors there were.
fn exhaust(storage: Arc<dyn ReadAt>) -> Vec<hyperslab_core::Error> {
    let file = match File::open(Box::new(storage), Limits::default()) {
        Ok(file) => file,
        Err(error) => return vec![error],
    };
    let mut errors = Vec::new();
    let mut pending = vec![file.root_address()];
    let mut met = HashSet::new();
    while let Some(address) = pending.pop() {
        if !met.insert(address) {
            continue;
        }
        let mut one = || -> Result<()> {
            let object = file.object(address)?;
            for (_, attribute) in object.attributes(&file)? {
                attribute?.read(&file)?;
            }
            match object.kind() {
                ObjectKind::Group => {
                    pending.extend(object.links(&file)?.iter().filter_map(hyperslab_hdf5::Link::address));
                }
                ObjectKind::Dataset => {
                    let dataset = object.dataset(&file)?;
                    dataset.fill(&file)?;
                    dataset.stored_bytes(&file)?;
                    let array = dataset.array(&file)?;
                    let Some(extents) = dataset.extents() else { return Ok(()) };
                    let count = element_count(extents).filter(|count| *count < 1 << 20).unwrap_or(0);
                    let mut rows = vec![0; usize::try_from(count).unwrap() * array.row_size()];
                    array.read(&file, &Region::all(extents), &mut rows, &mut Heap::default())?;
                }
                ObjectKind::NamedDatatype => drop(object.named_datatype(&file)?),
                ObjectKind::Unknown => {}
            }
            Ok(())
        };
        errors.extend(one().err());
    }
    errors
}

fn faulty(bytes: &[u8], fault: Fault) -> Arc<Faulty<bytes::Bytes>> {
    Arc::new(Faulty::new(bytes::Bytes::copy_from_slice(bytes), fault))
}

#[test]
fn a_read_that_fails_gives_an_error_wherever_it_is() {
    for name in ["datatypes.h5", "groups_old.h5", "chunk_indexes.h5"] {
        let bytes = bytes(name);
        let whole = faulty(&bytes, Fault::PastOffset(u64::MAX));
        assert!(exhaust(whole.clone()).is_empty(), "{name}");
        for number in 0..whole.reads() {
            let errors = exhaust(faulty(&bytes, Fault::FromRead(number)));
            assert!(!errors.is_empty(), "{name}: read {number} failed unseen");
            for error in errors {
                assert_eq!(error.kind(), ErrorKind::Io, "{name}: read {number}: {error}");
            }
        }
    }
}

#[test]
fn files_that_end_early_give_errors() {
    for name in ["groups_old.h5", "userblock.h5"] {
        let bytes = bytes(name);
        let len = u64::try_from(bytes.len()).unwrap();
        for cut in (0..len).step_by(61) {
            for fault in [Fault::Truncated(cut), Fault::Shrunk(cut)] {
                exhaust(faulty(&bytes, fault));
            }
        }
    }
}

#[test]
fn wrong_bytes_give_errors_and_no_panics() {
    for name in ["data/reading.h5", "data/links.h5", "userblock.h5"] {
        let mut bytes = bytes(name);
        for at in (0..bytes.len()).step_by(11) {
            let before = bytes[at];
            for wrong in [0, 0xFF, before ^ 1] {
                bytes[at] = wrong;
                exhaust(Arc::new(bytes::Bytes::copy_from_slice(&bytes)));
            }
            bytes[at] = before;
        }
    }
}
