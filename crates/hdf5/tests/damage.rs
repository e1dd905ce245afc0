//! Failing storage and wrong bytes give errors, never panics.

use crate::bytes;
use hyperslab_core::nd::{Region, element_count};
use hyperslab_core::rows::Heap;
use hyperslab_core::storage::{Fault, Faulty, ReadAt};
use hyperslab_core::{ErrorKind, Limits, Result};
use hyperslab_hdf5::{File, ObjectKind};
use std::collections::HashSet;
use std::sync::Arc;

/// Reads every link, attribute and element. Returns all errors.
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
fn every_failing_read_gives_an_error() {
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

/// The end of the last byte needed to read the whole file.
fn last_byte_needed(bytes: &[u8]) -> u64 {
    let is_enough = |end: u64| exhaust(faulty(bytes, Fault::PastOffset(end))).is_empty();
    let (mut short, mut enough) = (0, u64::try_from(bytes.len()).unwrap());
    assert!(is_enough(enough));
    while enough - short > 1 {
        let middle = short + (enough - short) / 2;
        if is_enough(middle) { enough = middle } else { short = middle }
    }
    enough
}

#[test]
fn truncated_files_give_errors() {
    for name in ["groups_old.h5", "userblock.h5"] {
        let bytes = bytes(name);
        let needed = last_byte_needed(&bytes);
        for cut in (0..needed).step_by(61).chain([needed - 1]) {
            for fault in [Fault::Truncated(cut), Fault::Shrunk(cut)] {
                let errors = exhaust(faulty(&bytes, fault));
                assert!(!errors.is_empty(), "{name}: {fault:?} of {needed} bytes was not noticed");
                for error in errors {
                    assert_eq!(error.kind(), ErrorKind::Malformed, "{name}: {fault:?}: {error}");
                }
            }
        }
    }
}

/// Elements may have any value, so not every wrong byte is an error. The numbers are the minimum number of errors
/// detected per thousand wrong bytes.
#[test]
fn wrong_bytes_give_errors_and_never_panic() {
    for (name, min) in [("data/reading.h5", 900), ("data/links.h5", 400), ("userblock.h5", 130)] {
        let mut bytes = bytes(name);
        let (mut tried, mut noticed) = (0, 0);
        for at in (0..bytes.len()).step_by(11) {
            let before = bytes[at];
            for wrong in [0, 0xFF, before ^ 1].into_iter().filter(|wrong| *wrong != before) {
                bytes[at] = wrong;
                let errors = exhaust(Arc::new(bytes::Bytes::copy_from_slice(&bytes)));
                tried += 1;
                noticed += usize::from(!errors.is_empty());
                for error in errors {
                    assert!(is_about_the_file(&error), "{name}: {wrong:#04x} at {at:#x}: {error}");
                }
            }
            bytes[at] = before;
        }
        let share = noticed * 1000 / tried;
        println!("{name}: {noticed} of {tried} wrong bytes noticed, {share} of a thousand");
        assert!(share >= min, "{name}: {share} of a thousand wrong bytes noticed, expected at least {min}");
    }
}

fn is_about_the_file(error: &hyperslab_core::Error) -> bool {
    use ErrorKind::{Checksum, LimitExceeded, Malformed, NotFound, Unsupported};
    matches!(error.kind(), Malformed | Checksum | Unsupported | LimitExceeded | NotFound)
}
