//! The attributes of an object: messages of its header, or objects of a fractal heap with indexes.
//!
//! Spec: HDF5 IV.A.2.v The Attribute Info Message

use super::Sink;
use super::dense_storage::{CreationOrder, MAX_MESSAGE_SIZE, at, hash_order, write_index};
use super::fractal_heap::{FractalHeapBuilder, FractalHeapParameters};
use crate::format::infrastructure::btree_v2::{Record, RecordType};
#[cfg(test)]
use crate::format::message::Message;
use crate::format::message::attribute::Attribute;
use crate::format::message::attribute_info::AttributeInfo;
use crate::format::object_header::MessageFlags;
use crate::format::object_header::prefix_v2::AttributePhaseChange;
use crate::format::{Address, Structure};
use hyperslab_core::{Encoder, Error, Result};

/// How the attributes of an object are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AttributeOptions {
    /// In a version 1 header, which holds all of them.
    HeaderV1,
    /// In a version 2 header, or outside of it.
    HeaderV2 {
        /// Whether the creation order is tracked and indexed.
        creation_order: CreationOrder,
        /// The numbers of attributes at which storage becomes dense or compact.
        phase_change: AttributePhaseChange,
    },
}

/// An attribute, and its location if it is itself a shared message.
#[derive(Clone, Debug)]
pub(crate) struct AttributeToStore {
    /// The attribute.
    pub(crate) attribute: Attribute,
    /// Its heap ID among the shared messages of the file.
    pub(crate) shared: Option<[u8; 8]>,
}

impl From<Attribute> for AttributeToStore {
    fn from(attribute: Attribute) -> Self {
        AttributeToStore { attribute, shared: None }
    }
}

/// The part of the attributes that is stored in the header.
#[derive(Clone, Debug)]
pub(crate) struct StoredAttributes {
    /// The Attribute Info message; none in version 1 headers and for objects without attributes.
    pub(crate) info: Option<AttributeInfo>,
    /// The attributes that are messages, in creation order: all or none.
    pub(crate) compact: Vec<AttributeToStore>,
}

impl StoredAttributes {
    /// The messages of the header, if none of them is shared.
    #[cfg(test)]
    pub(crate) fn into_messages(self) -> Vec<Message> {
        let info = self.info.map(Message::AttributeInfo);
        let compact = self.compact.into_iter().map(|stored| Message::Attribute(stored.attribute));
        info.into_iter().chain(compact).collect()
    }
}

/// Stores attributes, which are given in creation order.
///
/// # Errors
/// If two attributes have the same name, one cannot be encoded or does not fit in a version 1 header, or there are more
/// attributes than creation order can number.
pub(crate) fn write_attributes(
    sink: &mut dyn Sink,
    attributes: Vec<AttributeToStore>,
    options: AttributeOptions,
) -> Result<StoredAttributes> {
    let alignment = match options {
        AttributeOptions::HeaderV1 => 8,
        AttributeOptions::HeaderV2 { .. } => 1,
    };
    let large = find_large(sink, &attributes, alignment)?;
    let AttributeOptions::HeaderV2 { creation_order, phase_change } = options else {
        hash_order(&names(&attributes), ATTRIBUTES)?;
        return match large {
            None => Ok(StoredAttributes { info: None, compact: attributes }),
            Some((name, len)) => Err(Error::invalid(format!(
                "the attribute {name:?} of {len} bytes does not fit in an object header of version 1: write with -O hdf5.libver=v1.8 or later"
            ))),
        };
    };
    if attributes.is_empty() {
        return Ok(StoredAttributes { info: None, compact: attributes });
    }
    let maximum_creation_index = match creation_order.is_tracked() {
        false => None,
        true => Some(u16::try_from(attributes.len()).map_err(|_| {
            Error::invalid(format!(
                "{} attributes of an object that tracks their order, expected at most 65535",
                attributes.len()
            ))
        })?),
    };
    let mut info = AttributeInfo {
        maximum_creation_index,
        heap: Address::UNDEFINED,
        name_index: Address::UNDEFINED,
        creation_order_index: creation_order.index(Address::UNDEFINED),
    };
    if large.is_none() && attributes.len() <= usize::from(phase_change.maximum_compact) {
        hash_order(&names(&attributes), ATTRIBUTES)?;
        return Ok(StoredAttributes { info: Some(info), compact: attributes });
    }
    write_dense(sink, &attributes, &mut info)?;
    Ok(StoredAttributes { info: Some(info), compact: Vec::new() })
}

/// The name and the length of the first attribute that does not fit in a header.
fn find_large(
    sink: &dyn Sink,
    attributes: &[AttributeToStore],
    alignment: usize,
) -> Result<Option<(String, usize)>> {
    for stored in attributes.iter().filter(|stored| stored.shared.is_none()) {
        let len = encoded(sink, &stored.attribute)?.len();
        if len.next_multiple_of(alignment) >= MAX_MESSAGE_SIZE {
            return Ok(Some((String::from_utf8_lossy(&stored.attribute.name).into_owned(), len)));
        }
    }
    Ok(None)
}

fn write_dense(sink: &mut dyn Sink, attributes: &[AttributeToStore], info: &mut AttributeInfo) -> Result<()> {
    let sizes = sink.sizes();
    let mut heap = FractalHeapBuilder::new(sizes, FractalHeapParameters::ATTRIBUTES, None)?;
    for stored in attributes.iter().filter(|stored| stored.shared.is_none()) {
        heap.insert(encoded(sink, &stored.attribute)?.as_slice())?;
    }
    let (address, ids) = heap.write(sink)?;
    info.heap = address;
    let mut own = ids.into_iter();
    let mut places = Vec::with_capacity(attributes.len());
    for (stored, number) in attributes.iter().zip(0_u32..) {
        let (heap_id, message_flags) = match stored.shared {
            Some(shared) => (shared, MessageFlags::SHARED),
            None => (own.next().ok_or_else(|| Error::invalid("an attribute without heap ID"))?, 0),
        };
        let creation_order = if info.maximum_creation_index.is_some() { number } else { NO_ORDER };
        places.push((heap_id, message_flags, creation_order));
    }
    info.name_index = write_index(sink, RecordType::AttributeName, places.len(), || {
        let order = hash_order(&names(attributes), ATTRIBUTES)?;
        Ok(order.into_iter().map(|(hash, place)| {
            let (heap_id, message_flags, creation_order) = at(&places, place)?;
            Ok(Record::AttributeName { heap_id, message_flags, creation_order, hash })
        }))
    })?;
    if info.creation_order_index.is_some() {
        let records = || {
            Ok(places.iter().map(|(heap_id, message_flags, creation_order)| {
                Ok(Record::AttributeCreationOrder {
                    heap_id: *heap_id,
                    message_flags: *message_flags,
                    creation_order: *creation_order,
                })
            }))
        };
        let index = write_index(sink, RecordType::AttributeCreationOrder, places.len(), records)?;
        info.creation_order_index = Some(index);
    }
    Ok(())
}

fn encoded(sink: &dyn Sink, attribute: &Attribute) -> Result<Encoder> {
    let mut e = Encoder::new();
    attribute.encode(&mut e, &sink.sizes())?;
    Ok(e)
}

fn names(attributes: &[AttributeToStore]) -> Vec<&[u8]> {
    attributes.iter().map(|stored| stored.attribute.name.as_slice()).collect()
}

const ATTRIBUTES: &str = "attributes of an object";

/// The value that libhdf5 writes as the creation order of an attribute if the object does not track it.
const NO_ORDER: u32 = 0xffff;

#[cfg(test)]
mod tests;
