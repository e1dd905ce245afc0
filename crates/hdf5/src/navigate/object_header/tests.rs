use super::*;
use crate::format::Sizes;
use crate::format::message::attribute::Attribute;
use crate::format::message::comment::Comment;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::{Datatype, DatatypeClass};
use crate::format::message::fill_value::FillValue;
use hyperslab_core::wrapper::Counted;
use hyperslab_core::{ErrorKind, Limits};
use std::sync::Arc;

const V1: (&[u8], &str) = (
    include_bytes!("../../../tests/data/objects_v1.h5"),
    include_str!("../../../tests/data/objects_v1.addresses"),
);
const V2: (&[u8], &str) = (
    include_bytes!("../../../tests/data/objects_v2.h5"),
    include_str!("../../../tests/data/objects_v2.addresses"),
);

fn reader(bytes: &[u8]) -> Reader {
    let storage = Box::new(Bytes::copy_from_slice(bytes));
    Reader::new(storage, 0, Sizes::DEFAULT, Limits::default())
}

fn address(file: (&[u8], &str), name: &str) -> Address {
    let address = file.1.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    Address(address.expect("a name of the file").parse().unwrap())
}

fn read(file: (&[u8], &str), name: &str) -> (Reader, ObjectHeader) {
    let reader = reader(file.0);
    let header = ObjectHeader::read(&reader, address(file, name)).unwrap();
    (reader, header)
}

/// Reads the header of an object from a file that `change` has damaged; `change` gets the intact header.
fn damaged(
    file: (&[u8], &str),
    name: &str,
    change: impl FnOnce(&mut [u8], &ObjectHeader),
) -> Result<ObjectHeader> {
    let (_, header) = read(file, name);
    let mut bytes = file.0.to_vec();
    change(&mut bytes, &header);
    ObjectHeader::read(&reader(&bytes), header.address())
}

fn at(message: &StoredMessage) -> usize {
    usize::try_from(message.offset).unwrap()
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

#[test]
fn objects_are_known_by_their_messages() {
    for file in [V1, V2] {
        for (name, kind) in [
            ("/", ObjectKind::Group),
            ("/continued", ObjectKind::Group),
            ("/dataset", ObjectKind::Dataset),
            ("/committed", ObjectKind::Dataset),
            ("/type", ObjectKind::NamedDatatype),
        ] {
            assert_eq!(read(file, name).1.kind(), kind, "{name}");
        }
    }
    let (_, header) = read(V1, "/dataset");
    assert!(!header.is_version_2());
    assert!(read(V2, "/dataset").1.is_version_2());
}

#[test]
fn objects_without_telling_messages_are_unknown() {
    let header = damaged(V1, "/type", |bytes, header| {
        let datatype = header.find(MessageType::DATATYPE).unwrap();
        put(bytes, at(datatype) - 8, &[0x55, 0]);
    });
    assert_eq!(header.unwrap().kind(), ObjectKind::Unknown);
}

#[test]
fn continuation_blocks_follow_in_order() {
    for file in [V1, V2] {
        let (reader, header) = read(file, "/continued");
        assert!(header.find_all(MessageType::CONTINUATION).count() > 1);
        let names: Vec<_> = header
            .find_all(MessageType::ATTRIBUTE)
            .map(|message| header.decode::<Attribute>(&reader, message).unwrap().name)
            .collect();
        let mut sorted = names.clone();
        sorted.sort();
        assert_eq!(sorted, (0..6).map(|i| format!("attribute {i}").into_bytes()).collect::<Vec<_>>());
    }
}

#[test]
fn bodies_longer_than_the_first_read_are_whole() {
    for file in [V1, V2] {
        let (reader, header) = read(file, "/long");
        let long: Attribute = header.required(&reader).unwrap();
        assert_eq!(long.data.len(), 2000);
    }
}

#[test]
fn reference_counts_come_from_prefix_or_message() {
    for file in [V1, V2] {
        assert_eq!(read(file, "/linked").1.reference_count(), 2);
        assert_eq!(read(file, "/dataset").1.reference_count(), 1);
    }
}

#[test]
fn prefixes_of_version_2_tell_times_order_and_phase_change() {
    let (_, tracked) = read(V2, "/tracked");
    assert!(tracked.attribute_creation_order_tracked());
    let change = AttributePhaseChange { maximum_compact: 20, minimum_dense: 10 };
    assert_eq!(tracked.attribute_phase_change(), Some(change));
    let indexes: Vec<_> = tracked.find_all(MessageType::ATTRIBUTE).map(|m| m.creation_index).collect();
    assert_eq!(indexes, [Some(0), Some(1), Some(2)]);

    let (_, timed) = read(V2, "/timed");
    let times = timed.times().unwrap();
    assert!(times.birth > 0 && times.birth == times.modification);
    assert_eq!(timed.attribute_phase_change(), Some(AttributePhaseChange::default()));
    assert!(timed.messages().iter().all(|message| message.creation_index.is_none()));

    let (_, old) = read(V1, "/timed");
    assert_eq!((old.times(), old.attribute_phase_change()), (None, None));
    assert!(!old.attribute_creation_order_tracked());
}

#[test]
fn messages_are_decoded_on_demand() {
    for file in [V1, V2] {
        let (reader, header) = read(file, "/dataset");
        let space: Dataspace = header.required(&reader).unwrap();
        assert_eq!(space.dimensions(), [3]);
        assert!(header.message::<FillValue>(&reader).unwrap().is_some());
        assert!(header.message::<Comment>(&reader).unwrap().is_none());
        let e = header.required::<Comment>(&reader).unwrap_err();
        assert_eq!(e.detail(), "no Object Comment message");
        let comment: Comment = read(file, "/linked").1.required(&reader).unwrap();
        assert_eq!(comment.text, b"hello there");
    }
}

#[test]
fn committed_datatypes_are_found() {
    for file in [V1, V2] {
        let (reader, header) = read(file, "/committed");
        assert!(header.find(MessageType::DATATYPE).unwrap().flags.is_shared());
        let datatype: Datatype = header.required(&reader).unwrap();
        assert!(matches!(datatype.class, DatatypeClass::FixedPoint(_)) && datatype.size == 4);
        let (_, named) = read(file, "/type");
        let own: Attribute = named.required(&reader).unwrap();
        let datatype = resolve_part(&reader, own.datatype.clone()).unwrap();
        assert_eq!(own.value(&datatype, own.dataspace.here().unwrap()).unwrap(), [7, 0, 0, 0]);
    }
}

#[test]
fn messages_shared_from_objects_that_have_none_are_refused() {
    let shared_from = |name| {
        let header = damaged(V1, "/committed", |bytes, header| {
            let shared = header.find(MessageType::DATATYPE).unwrap();
            put(bytes, at(shared) + 2, &address(V1, name).0.to_le_bytes());
        });
        header.unwrap().required::<Datatype>(&reader(V1.0)).unwrap_err()
    };
    assert!(shared_from("/linked").detail().ends_with("which has no message of this type"));
    assert_eq!(shared_from("/committed").detail(), "shared message refers to another shared message");
}

#[test]
fn messages_in_heaps_that_the_file_does_not_have_are_malformed() {
    let shared = SharedMessage {
        version: crate::format::message::shared::Version::V3,
        location: MessageLocation::Heap([0; 8]),
    };
    let e = resolve::<Datatype>(&reader(V1.0), &shared).unwrap_err();
    let expected = "message is shared in a heap, but the file has no shared message table";
    assert_eq!((e.kind(), e.detail()), (ErrorKind::Malformed, expected));
}

#[test]
fn unknown_messages_are_kept_unless_flagged() {
    let with_flags = |flags: u8| {
        damaged(V1, "/linked", |bytes, header| {
            let comment = header.find(MessageType::COMMENT).unwrap();
            put(bytes, at(comment) - 8, &[0x19, 0]);
            bytes[at(comment) - 4] = flags;
        })
    };
    let header = with_flags(MessageFlags::FAIL_IF_UNKNOWN_AND_WRITING).unwrap();
    assert!(header.find(MessageType(0x19)).unwrap().body.starts_with(b"hello there\0"));
    let e = with_flags(MessageFlags::FAIL_IF_UNKNOWN).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Unsupported);
    assert_eq!(e.detail(), "type 0x0019 is unknown and flagged to fail if unknown");
}

#[test]
fn message_counts_may_be_too_great_but_not_too_small() {
    let with_count = |change: fn(usize) -> usize| {
        damaged(V1, "/dataset", |bytes, header| {
            let count = u16::try_from(change(header.messages().len())).unwrap();
            put(bytes, usize::try_from(header.address().0).unwrap() + 2, &count.to_le_bytes());
        })
    };
    with_count(|count| count).unwrap();
    with_count(|count| count + 7).unwrap();
    assert_eq!(with_count(|count| count - 1).unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn messages_past_their_chunk_are_refused() {
    let e = damaged(V1, "/dataset", |bytes, header| {
        let last = header.messages().last().unwrap();
        put(bytes, at(last) - 6, &u16::try_from(last.body.len() + 8).unwrap().to_le_bytes());
    });
    assert_eq!(e.unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn continuation_loops_end() {
    let second = |header: &ObjectHeader| {
        let mut all = header.find_all(MessageType::CONTINUATION);
        (at(all.next().unwrap()), at(all.next().unwrap()))
    };
    let twice = damaged(V1, "/continued", |bytes, header| {
        let (first, second) = second(header);
        bytes.copy_within(first..first + 16, second);
    });
    assert!(twice.unwrap_err().detail().starts_with("two messages refer to the continuation block at"));
    let endless = damaged(V1, "/continued", |bytes, header| {
        let (first, _) = second(header);
        put(bytes, first + 8, &(V1.0.len() as u64 + 1).to_le_bytes());
    });
    assert!(endless.unwrap_err().detail().starts_with("continuation blocks are longer than the file"));
}

#[test]
fn reference_count_messages_need_version_2() {
    let e = damaged(V1, "/linked", |bytes, header| {
        put(bytes, at(header.find(MessageType::COMMENT).unwrap()) - 8, &[0x16, 0]);
    });
    assert_eq!(e.unwrap_err().place().unwrap().structure, ReferenceCount::NAME);
}

#[test]
fn damage_of_version_2_is_seen_in_every_chunk() {
    for message in [0, 1000] {
        let e = damaged(V2, "/continued", |bytes, header| {
            let last = header.messages().len() - 1;
            bytes[at(&header.messages()[message.min(last)]) - 1] ^= 0x10;
        });
        assert_eq!(e.unwrap_err().kind(), ErrorKind::Checksum);
    }
}

#[test]
fn many_unused_bits_are_refused_without_checksum() {
    for (file, refused) in [(V1, true), (V2, false)] {
        let (_, header) = read(file, "/dataset");
        let message = header.find(MessageType::DATATYPE).unwrap();
        let mut body = message.body.to_vec();
        assert_eq!(body[10], 16);
        body[10] = 5;
        let message = StoredMessage { body: body.into(), ..message.clone() };
        assert_eq!(header.decode::<Datatype>(&reader(file.0), &message).is_err(), refused);
    }
}

#[test]
fn any_bytes_end_in_a_header_or_an_error() {
    for file in [V1, V2] {
        for line in file.1.lines() {
            let (name, _) = line.split_once(' ').unwrap();
            let start = usize::try_from(address(file, name).0).unwrap();
            for offset in 0..200.min(file.0.len() - start) {
                for value in [0, 1, 0x7f, 0xff] {
                    let mut bytes = file.0.to_vec();
                    bytes[start + offset] = value;
                    let _ = ObjectHeader::read(&reader(&bytes), address(file, name));
                }
            }
            let _ = ObjectHeader::read(&reader(&file.0[..start + 20]), address(file, name));
        }
        assert!(ObjectHeader::read(&reader(file.0), Address::UNDEFINED).is_err());
        assert!(ObjectHeader::read(&reader(file.0), Address(1 << 60)).is_err());
    }
}

#[test]
fn headers_of_usual_datasets_are_read_at_once() {
    for file in [V1, V2] {
        let storage = Arc::new(Counted::new(Bytes::copy_from_slice(file.0)));
        let reader = Reader::new(Box::new(Arc::clone(&storage)), 0, Sizes::DEFAULT, Limits::default());
        ObjectHeader::read(&reader, address(file, "/dataset")).unwrap();
        assert_eq!(storage.requests(), 1);
    }
}
