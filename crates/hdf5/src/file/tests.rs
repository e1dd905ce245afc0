//! Files whose superblock extension determines how the rest is read.

use super::*;
use crate::format::checksum::lookup3;
use crate::format::message::shared::MessageLocation;
use crate::format::message::shared::SharedMessage;
use crate::object::ObjectKind;
use bytes::Bytes;
use hyperslab_core::nd::Region;
use hyperslab_core::rows::{Heap, Slot};
use hyperslab_core::{Error, ErrorKind};
use std::fmt::Write;

const SHARED_MESSAGES: &[u8] = include_bytes!("../../tests/data/shared_messages.h5");
const CACHE_IMAGE: &[u8] = include_bytes!("../../tests/data/cache_image.h5");
const FAMILY: &[u8] = include_bytes!("../../tests/data/family_v2.h5");
const SPLIT: &[u8] = include_bytes!("../../tests/data/split_v2.h5");

fn open(bytes: &[u8]) -> Result<File> {
    File::open(Box::new(Bytes::copy_from_slice(bytes)), Limits::default())
}

/// All that the root group leads to, as text, with errors in place.
fn contents(file: &File) -> Result<String> {
    let mut text = String::new();
    let root = file.root()?;
    put_attributes(&mut text, file, "/", &root);
    for link in root.links(file)? {
        let name = String::from_utf8_lossy(&link.name).into_owned();
        let Some(address) = link.address() else { continue };
        match file.object(address) {
            Ok(object) => {
                if object.kind() == ObjectKind::Dataset {
                    let rows = rows(file, &object);
                    writeln!(text, "{name} = {rows:?}").unwrap();
                }
                put_attributes(&mut text, file, &name, &object);
            }
            Err(e) => writeln!(text, "{name}: {e}").unwrap(),
        }
    }
    Ok(text)
}

fn put_attributes(text: &mut String, file: &File, path: &str, object: &Object) {
    match object.attributes(file) {
        Ok(attributes) => {
            for (name, attribute) in attributes {
                let rows = attribute.and_then(|attribute| attribute.read(file)).map(|read| read.rows);
                writeln!(text, "{path}@{} = {rows:?}", String::from_utf8_lossy(&name)).unwrap();
            }
        }
        Err(e) => writeln!(text, "{path}@: {e}").unwrap(),
    }
}

fn rows(file: &File, object: &Object) -> Result<Vec<u8>> {
    let dataset = object.dataset(file)?;
    let extents = dataset.extents().unwrap_or_default().to_vec();
    let array = dataset.array(file)?;
    let count = extents.iter().try_fold(1_usize, |n, d| n.checked_mul(usize::try_from(*d).ok()?));
    let len = count.and_then(|count| count.checked_mul(array.row_size())).filter(|len| *len < 1 << 16);
    let len = len.ok_or_else(|| Error::malformed("more elements than the file has"))?;
    let mut rows = vec![0; len];
    array.read(file, &Region::new(vec![0; extents.len()], extents), &mut rows, &mut Heap::default())?;
    Ok(rows)
}

fn find<'a>(file: &'a File, path: &[u8]) -> (&'a File, Object) {
    let link = file.root().unwrap().link(file, path).unwrap().expect("the file has it");
    (file, file.object(link.address().unwrap()).unwrap())
}

fn position(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|window| window == what).expect("the file has it")
}

/// The file with `change` applied to the `len` bytes from `at`, and the checksum after them corrected.
fn changed(bytes: &[u8], at: usize, len: usize, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    change(&mut bytes[at..at + len]);
    let sum = lookup3(&bytes[at..at + len]);
    bytes[at + len..at + len + 4].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn messages_shared_in_heaps_are_those_that_were_written() {
    let file = open(SHARED_MESSAGES).unwrap();
    for name in ["a", "b", "c"] {
        let (file, object) = find(&file, name.as_bytes());
        let in_heap = |message_type| {
            object.header().find_all(message_type).any(|message| {
                message.flags.is_shared() && {
                    let mut d = Decoder::new("t", 0, &message.body);
                    let shared = SharedMessage::decode(&mut d, file.reader().sizes()).unwrap();
                    matches!(shared.location, MessageLocation::Heap(_))
                }
            })
        };
        for shared in [
            MessageType::DATASPACE,
            MessageType::DATATYPE,
            MessageType::FILL_VALUE,
            MessageType::FILTER_PIPELINE,
            MessageType::ATTRIBUTE,
        ] {
            // The one header that had a message first may keep it.
            assert!(name == "a" || in_heap(shared), "{name} {shared}");
        }
        let rows = rows(file, &object).unwrap();
        assert_eq!(rows, [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
        let units = object.attribute(file, b"units").unwrap().unwrap();
        assert_eq!(units.text(file).unwrap().unwrap(), b"a unit that all three have");
        assert_eq!(object.dataset(file).unwrap().committed(), None);
    }
}

#[test]
fn dense_attributes_shared_in_heaps_are_found_by_name_and_listed() {
    let file = open(SHARED_MESSAGES).unwrap();
    for name in ["dense 1", "dense 2"] {
        let (file, object) = find(&file, name.as_bytes());
        assert!(object.header().find(MessageType::ATTRIBUTE).is_none());
        let listed = object.attributes(file).unwrap();
        assert_eq!(listed.len(), 9);
        for (i, (name, attribute)) in (0_u8..).zip(listed) {
            assert_eq!(name, format!("attribute {i}").into_bytes());
            let read = attribute.unwrap().read(file).unwrap();
            assert_eq!(read.rows, [i, 0, 0, 0].repeat(3));
            let found = object.attribute(file, &name).unwrap().unwrap();
            assert_eq!(found.read(file).unwrap().rows, read.rows);
        }
    }
}

#[test]
fn a_shared_message_that_no_index_has_is_malformed() {
    let at = position(SHARED_MESSAGES, b"SMTB");
    let bytes = changed(SHARED_MESSAGES, at, 4 + 3 * 30, |table| table[4 + 2..4 + 4].fill(0));
    let file = open(&bytes).unwrap();
    let (file, object) = find(&file, b"c");
    let e = object.attributes(file).unwrap().pop().unwrap().1.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Malformed);
    assert_eq!(e.detail(), "no index for shared messages of type 0x000c");
    assert!(rows(file, &object).is_ok());
}

#[test]
fn a_damaged_table_hurts_only_what_is_shared() {
    let mut bytes = SHARED_MESSAGES.to_vec();
    bytes[position(SHARED_MESSAGES, b"SMTB") + 8] ^= 1;
    let file = open(&bytes).unwrap();
    assert_eq!(file.root().unwrap().links(&file).unwrap().len(), 5);
    let (file, object) = find(&file, b"c");
    assert_eq!(rows(file, &object).unwrap_err().kind(), ErrorKind::Checksum);
}

#[test]
fn metadata_in_a_cache_image_is_that_of_the_file() {
    let file = open(CACHE_IMAGE).unwrap();
    let at = usize::try_from(file.root_address().0).unwrap();
    assert_eq!(CACHE_IMAGE[at..at + 4], [0; 4], "the root group is in the image alone");
    let attributes = file.root().unwrap().attributes(&file).unwrap();
    assert_eq!(attributes.len(), 9);
    for (i, (name, attribute)) in (0_u8..).zip(attributes) {
        assert_eq!(name, format!("attribute {i}").into_bytes());
        assert_eq!(attribute.unwrap().read(&file).unwrap().rows, [i, 0, 0, 0, 0, 0, 0, 0][..]);
    }
    let (file, object) = find(&file, b"chunked");
    assert_eq!(rows(file, &object).unwrap(), (0..40_i32).flat_map(i32::to_le_bytes).collect::<Vec<_>>());
    let (file, object) = find(file, b"text");
    assert_eq!(rows(file, &object).unwrap().len(), 2 * size_of::<Slot>());
}

#[test]
fn a_file_with_a_damaged_cache_image_does_not_open() {
    let image = position(CACHE_IMAGE, b"MDCI");
    for (at, kind) in [(image, ErrorKind::Malformed), (image + 200, ErrorKind::Checksum)] {
        let mut bytes = CACHE_IMAGE.to_vec();
        bytes[at] ^= 1;
        let e = open(&bytes).err().unwrap();
        assert_eq!(e.kind(), kind);
        assert_eq!(e.place().unwrap().structure, "Metadata Cache Image");
    }
}

#[test]
fn lone_members_of_sets_are_refused_by_name() {
    let e = open(SPLIT).err().unwrap();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    assert!(e.detail().contains("multi driver") && e.detail().ends_with("the others are missing"), "{e}");
    // This family has all in its first member.
    assert!(open(FAMILY).is_ok());
}

#[test]
fn damage_and_truncation_never_panic() {
    for (bytes, signatures) in
        [(SHARED_MESSAGES, &[b"SMTB", b"FRHP", b"FHDB", b"OHDR"][..]), (CACHE_IMAGE, &[b"MDCI", b"OHDR"])]
    {
        let mut places: Vec<usize> = (0..bytes.len()).step_by(53).collect();
        for signature in signatures {
            let at = position(bytes, *signature);
            places.extend(at..at + 64);
        }
        for at in places {
            for value in [0, 0xff] {
                let mut damaged = bytes.to_vec();
                damaged[at] = value;
                let _ = open(&damaged).map(|file| contents(&file));
            }
        }
        for end in (0..bytes.len()).step_by(97) {
            let _ = open(&bytes[..end]).map(|file| contents(&file));
        }
    }
}
