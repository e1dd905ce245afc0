//! Shared messages that are read back.

use super::*;
use crate::format::message::Message;
use crate::format::message::attribute::{Attribute, Version as AttributeVersion};
use crate::format::message::character_set::CharacterSet;
use crate::format::message::data_layout::{DataLayout, LayoutClass, Version as LayoutVersion};
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::Datatype;
use crate::format::message::fill_value::{
    AllocationTime, Fill, FillValue, Version as FillVersion, WriteTime,
};
use crate::format::message::link::{Link, LinkTarget};
use crate::format::message::shared::MaybeShared;
use crate::format::object_header::{MessageFlags, OwnedMessage};
use crate::write::attributes::{AttributeOptions, AttributeToStore, write_attributes};
use crate::write::dense_storage::CreationOrder;
use crate::write::links::{LinkOptions, write_links};
use crate::write::test_file::{Form, TestFile, plain, put_header, put_messages};
use crate::{Object, ObjectKind};
use hyperslab_core::Decoder;

const FORM: Form = Form::V2(CreationOrder::Untracked);

fn options(list_cutoff: u16) -> SharedMessageOptions {
    let bit = |message_type: MessageType| 1 << message_type.0;
    let parts = bit(MessageType::DATASPACE) | bit(MessageType::DATATYPE) | bit(MessageType::FILL_VALUE);
    SharedMessageOptions {
        indexes: vec![
            SharedIndexOptions { message_types: parts, min_message_size: 8 },
            SharedIndexOptions { message_types: bit(MessageType::ATTRIBUTE), min_message_size: 20 },
        ],
        list_cutoff,
        btree_cutoff: list_cutoff.saturating_sub(1),
    }
}

fn decode<S: Structure<Context = Sizes>>(bytes: &[u8]) -> S {
    S::decode(&mut Decoder::new("t", 0, bytes), &Sizes::DEFAULT).unwrap()
}

/// Bytes with this number of significant bits.
fn datatype(bits: u8) -> Datatype {
    decode(&[0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, bits, 0])
}

fn dataspace(len: u64) -> Dataspace {
    let mut bytes = vec![2, 1, 0, 1];
    bytes.extend(len.to_le_bytes());
    decode(&bytes)
}

fn attribute(number: u64) -> Attribute {
    Attribute {
        version: AttributeVersion::V3 { character_set: CharacterSet::Ascii },
        name: format!("attribute {number}").into_bytes(),
        datatype: MaybeShared::Here(datatype(8)),
        dataspace: MaybeShared::Here(dataspace(3)),
        data: vec![1, 2, u8::try_from(number % 8).unwrap()],
    }
}

/// A message of a header, shared if it can be.
fn shared(
    messages: &mut SharedMessages,
    sink: &dyn Sink,
    message: &Message,
    at: Address,
) -> Result<OwnedMessage> {
    let mut plain = plain(sink, message)?;
    match messages.share(plain.message_type, &plain.body, Some(at))? {
        Sharing::No => {}
        Sharing::First => plain.flags = MessageFlags(MessageFlags::SHAREABLE),
        Sharing::Reference(reference) => {
            let mut e = Encoder::new();
            reference.encode(&mut e, &sink.sizes())?;
            plain.body = e.into_bytes();
            plain.flags = MessageFlags(MessageFlags::SHARED);
        }
    }
    Ok(plain)
}

/// A dataset of `number % 5` bytes, with an attribute; `attributes` has more for dense storage.
fn dataset(
    sink: &mut dyn Sink,
    messages: &mut SharedMessages,
    number: u64,
    attributes: u64,
    at: Address,
) -> Result<Address> {
    let len = number % 5;
    let datatype = Message::Datatype(datatype(u8::try_from(1 + number % 3).unwrap()));
    let fill = FillValue {
        version: FillVersion::V3,
        allocation_time: AllocationTime::Early,
        write_time: WriteTime::IfSet,
        value: Fill::Default,
    };
    let data = vec![1; usize::try_from(len).unwrap()];
    let layout = DataLayout {
        version: LayoutVersion::V3,
        class: LayoutClass::Compact { data, dimensions: Vec::new() },
    };
    let mut header = vec![
        shared(messages, sink, &Message::Dataspace(dataspace(len)), at)?,
        shared(messages, sink, &datatype, at)?,
        shared(messages, sink, &Message::FillValue(fill), at)?,
        plain(sink, &Message::DataLayout(layout))?,
    ];
    let mut own = Vec::new();
    for number in 0..attributes {
        let mut attribute = attribute(number);
        let shared = match messages.share_attribute(&mut attribute)? {
            Sharing::Reference(Reference { location: MessageLocation::Heap(id), .. }) => Some(id),
            _ => None,
        };
        own.push(AttributeToStore { attribute, shared });
    }
    let phase_change = crate::format::object_header::prefix_v2::AttributePhaseChange::default();
    let creation_order = CreationOrder::Untracked;
    let stored = write_attributes(sink, own, AttributeOptions::HeaderV2 { creation_order, phase_change })?;
    header.extend(stored.info.map(|info| plain(sink, &Message::AttributeInfo(info))).transpose()?);
    for stored in stored.compact {
        let Some(id) = stored.shared else { panic!("{stored:?}") };
        let reference = Reference { version: Version::V3, location: MessageLocation::Heap(id) };
        let mut e = Encoder::new();
        reference.encode(&mut e, &sink.sizes())?;
        let flags = MessageFlags(MessageFlags::SHARED);
        let body = e.into_bytes();
        header.push(OwnedMessage { message_type: MessageType::ATTRIBUTE, flags, creation_index: None, body });
    }
    put_messages(sink, FORM, header)
}

/// A file of `count` datasets with `attributes` attributes each.
fn file(list_cutoff: u16, count: u64, attributes: u64) -> TestFile {
    // The first pass finds out where headers lie.
    let mut known: Vec<Address> = Vec::new();
    TestFile::write_extended(Sizes::DEFAULT, FORM, &mut |sink| {
        let mut messages = SharedMessages::new(Sizes::DEFAULT, options(list_cutoff))?;
        let mut addresses = Vec::new();
        for number in 0..count {
            let at = known.get(addresses.len()).copied().unwrap_or(Address(0));
            addresses.push(dataset(sink, &mut messages, number, attributes, at)?);
        }
        known.clone_from(&addresses);
        let table = messages.write(sink)?;
        let extension = put_header(sink, FORM, &[Message::SharedMessageTable(table)])?;
        let link = |(address, number)| Link {
            name: format!("dataset {number}").into_bytes(),
            character_set: None,
            creation_order: None,
            target: LinkTarget::Hard(address),
        };
        let links = addresses.into_iter().zip(0..count).map(link).collect();
        Ok((write_links(sink, links, &LinkOptions::default())?, extension))
    })
    .unwrap()
}

#[test]
fn shared_messages_are_read_and_counted() {
    for (list_cutoff, count, attributes) in
        [(50, 0, 0), (50, 1, 0), (50, 1, 1), (50, 20, 3), (0, 20, 3), (4, 20, 3), (10, 300, 12), (10, 2, 60)]
    {
        let written = file(list_cutoff, count, attributes);
        written.check();
        assert_eq!(written.has(b"SMLI"), count > 0 && list_cutoff > 0);
        assert_eq!(written.has(b"BTHD\0\x07"), list_cutoff < 50);
        for link in written.links() {
            let object = Object::open(written.file(), link.address().unwrap()).unwrap();
            assert_eq!(object.kind(), ObjectKind::Dataset);
            let found = object.attributes(written.file()).unwrap();
            assert_eq!(found.len() as u64, attributes);
            for (_, attribute) in found {
                let value = attribute.unwrap().read(written.file()).unwrap().rows;
                assert_eq!(value[..2], [1, 2]);
            }
        }
    }
}

#[test]
fn the_first_of_its_content_stays_in_its_header() {
    let mut messages = SharedMessages::new(Sizes::DEFAULT, options(50)).unwrap();
    let mut share = |message_type, body: &[u8], header: Option<Address>| {
        messages.share(message_type, body, header).unwrap()
    };
    let at = Some(Address(0x100));
    assert_eq!(share(MessageType::DATASPACE, &[1; 8], at), Sharing::First);
    assert_eq!(share(MessageType::DATATYPE, &[1; 8], at), Sharing::First, "of another type");
    let second = share(MessageType::DATASPACE, &[1; 8], at);
    assert!(matches!(second, Sharing::Reference(_)));
    assert_eq!(share(MessageType::DATASPACE, &[1; 8], None), second);
    assert_eq!(share(MessageType::DATASPACE, &[1; 7], at), Sharing::No, "too small");
    assert_eq!(share(MessageType::FILTER_PIPELINE, &[1; 80], at), Sharing::No, "in no index");
    assert!(matches!(share(MessageType::ATTRIBUTE, &[1; 20], at), Sharing::Reference(_)));
    assert_eq!(share(MessageType::FILL_VALUE_OLD, &[1; 20], at), Sharing::First);
    assert_eq!(share(MessageType::FILL_VALUE, &[1; 20], at), Sharing::First);
}

#[test]
fn a_type_in_two_indexes_and_more_than_eight_are_refused() {
    let index = |message_types| SharedIndexOptions { message_types, min_message_size: 0 };
    for indexes in [vec![index(3), index(2)], (0..9).map(|bit| index(1 << bit)).collect()] {
        let options = SharedMessageOptions { indexes, list_cutoff: 50, btree_cutoff: 40 };
        assert!(SharedMessages::new(Sizes::DEFAULT, options).is_err());
    }
}
