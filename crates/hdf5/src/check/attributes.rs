//! Checks attributes, in headers and in heaps.

use super::Checker;
use super::elements::Source;
use super::links::{Ids, RECORD};
use super::object_header::Header;
use super::objects::shown;
use super::reading::pointer;
use super::rule;
use crate::format::Structure;
use crate::format::infrastructure::btree_v2::{Record, RecordType};
use crate::format::message::MessageType;
use crate::format::message::attribute::Attribute;
use crate::format::message::attribute_info::AttributeInfo;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::shared::MaybeShared;
use crate::format::object_header::MessageFlags;
use hyperslab_core::Result;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::Hasher;
use std::rc::Rc;

/// The properties of the attributes of one object that are compared with each other.
#[derive(Default)]
struct Seen {
    names: FxHashSet<u64>,
    orders: Vec<(u32, u64)>,
}

impl Checker<'_> {
    pub(super) fn attributes(&mut self, header: &Header) -> Result<()> {
        let mut seen = Seen::default();
        let (tracked, _) = header.attribute_order();
        for message in
            header.messages().iter().filter(|message| message.message_type == MessageType::ATTRIBUTE)
        {
            let plain = !message.flags.any(MessageFlags::SHARED);
            if let Some(attribute) = self.message::<Attribute>(header, message)? {
                let body = plain.then_some(&message.body[..]);
                self.shared.is_repeated = !plain && !self.shared.is_first_use;
                self.attribute(&mut seen, &attribute, message.offset, body)?;
                self.shared.is_repeated = false;
            }
            if let Some(index) = message.creation_index.filter(|_| tracked) {
                seen.orders.push((index.into(), message.offset));
            }
        }
        if let Some((info, at)) = self.only::<AttributeInfo>(header)? {
            if !info.heap.is_undefined() {
                self.dense_attributes(&mut seen, &info, at)?;
            }
            let max = info.maximum_creation_index.map(u32::from);
            self.check_attribute_orders(seen.orders, max, at);
        }
        Ok(())
    }

    /// Checks an attribute whose message is at `byte`. `body` is its body, if it is stored at that place.
    fn attribute(
        &mut self,
        seen: &mut Seen,
        attribute: &Attribute,
        byte: u64,
        body: Option<&[u8]>,
    ) -> Result<()> {
        const NAME: &str = Attribute::NAME;
        let mut hasher = FxHasher::default();
        hasher.write(&attribute.name);
        if !seen.names.insert(hasher.finish()) {
            let message = format!("a second attribute of the name {}", shown(&attribute.name));
            self.report(&rule::DUPLICATE_NAME, NAME, byte, message);
        }
        let from = pointer(NAME, byte);
        let datatype = match &attribute.datatype {
            MaybeShared::Here(datatype) => Some(Rc::new(datatype.clone())),
            MaybeShared::Shared(shared) => self.resolve_datatype(shared, from)?,
        };
        let dataspace: Option<Dataspace> = match &attribute.dataspace {
            MaybeShared::Here(dataspace) => Some(dataspace.clone()),
            MaybeShared::Shared(shared) => self.resolve(shared, from)?,
        };
        let (Some(datatype), Some(dataspace)) = (datatype, dataspace) else {
            self.collections.is_whole = false;
            return Ok(());
        };
        self.check_datatype(&datatype, from);
        let value = match attribute.value(&datatype, &dataspace) {
            Ok(value) => value,
            Err(error) => return self.error_as(error, &rule::STORAGE_SIZE, Some(from)),
        };
        let at = body.map(|body| byte.saturating_add(value_at(body)));
        let source = Source { structure: NAME, byte: at.unwrap_or(byte), is_plain: at.is_some() };
        self.elements_of(&datatype, value, source)?;
        self.keep_dimension_scales(attribute, &datatype, value, byte);
        Ok(())
    }

    fn dense_attributes(&mut self, seen: &mut Seen, info: &AttributeInfo, at: u64) -> Result<()> {
        let offsets = u64::from(self.sizes().offsets);
        let first = at + 2 + if info.maximum_creation_index.is_some() { 2 } else { 0 };
        let field = |place: u64| pointer(AttributeInfo::NAME, first + place * offsets);
        let Some(mut heap) = self.open_heap(info.heap, field(0))? else {
            self.collections.is_whole = false;
            return Ok(());
        };
        let mut last = None;
        let mut ids = Ids::default();
        let types = [RecordType::AttributeName];
        let walked = self.btree_v2(info.name_index, field(1), &types, &mut |c, record, at| {
            let Record::AttributeName { heap_id, message_flags, creation_order, hash } = record else {
                return Ok(());
            };
            ids.add(heap_id);
            if info.maximum_creation_index.is_some() {
                seen.orders.push((*creation_order, at));
            }
            let from = pointer(RECORD, at);
            let shared = MessageFlags(*message_flags).is_shared();
            let found: Option<(Attribute, u64, Option<bytes::Bytes>)> = match shared {
                true => c.shared_from_heap(heap_id, from)?.map(|attribute| (attribute, at, None)),
                false => match c.heap_object(&mut heap, heap_id, from, true)? {
                    Some(object) => {
                        if object.is_plain {
                            c.part(Attribute::NAME, object.byte, object.bytes.len() as u64);
                        }
                        if MessageFlags(*message_flags).any(MessageFlags::SHAREABLE) {
                            c.keep_shareable(MessageType::ATTRIBUTE, &object.bytes);
                        }
                        match Attribute::decode(&mut object.decoder(Attribute::NAME), &c.sizes()) {
                            Ok(attribute) => {
                                let body = object.is_plain.then(|| object.bytes.clone());
                                Some((attribute, object.byte, body))
                            }
                            Err(error) => c.error(error).map(|()| None)?,
                        }
                    }
                    None => None,
                },
            };
            let Some((attribute, byte, body)) = found else {
                c.collections.is_whole = false;
                return Ok(());
            };
            c.check_hash(*hash, &attribute.name, at);
            c.check_name_order(&mut last, *hash, &attribute.name, at);
            c.shared.is_repeated = shared && !c.shared.is_first_use;
            let done = c.attribute(seen, &attribute, byte, body.as_deref());
            c.shared.is_repeated = false;
            done
        })?;
        let is_whole = walked.is_some_and(|walked| walked.is_whole);
        self.collections.is_whole &= is_whole;
        if let (Some(index), Some(names)) = (info.creation_order_index, walked.filter(|w| w.is_whole)) {
            let mut orders = Ids::default();
            let types = [RecordType::AttributeCreationOrder];
            let walked = self.btree_v2(index, field(2), &types, &mut |_, record, _| {
                if let Record::AttributeCreationOrder { heap_id, .. } = record {
                    orders.add(heap_id);
                }
                Ok(())
            })?;
            if let Some(walked) = walked.filter(|walked| walked.is_whole) {
                self.compare_indexes((&orders, walked), (&ids, names));
            }
        }
        self.close_heap(heap, is_whole)
    }

    fn check_attribute_orders(&mut self, mut orders: Vec<(u32, u64)>, max: Option<u32>, info_at: u64) {
        const NAME: &str = AttributeInfo::NAME;
        orders.sort_unstable();
        let Some(max) = max else { return };
        for [one, other] in orders.array_windows() {
            if one.0 == other.0 {
                let message = format!("two attributes have creation order {}", one.0);
                self.report(&rule::ATTRIBUTE_ORDER, Attribute::NAME, other.1, message);
            }
        }
        if let Some((order, at)) = orders.last().filter(|(order, _)| *order > max) {
            let message = format!(
                "creation order {order}, the object has given 0 to {max} (the attribute is at {at:#x})"
            );
            self.report(&rule::CREATION_ORDER, NAME, info_at + 2, message);
        }
    }
}

/// The offset of the elements in an attribute message.
fn value_at(body: &[u8]) -> u64 {
    let version = body.first().copied().unwrap_or(0);
    let len = |at: usize| {
        let field = body.get(at..).and_then(|rest| rest.first_chunk());
        u64::from(field.map_or(0, |field| u16::from_le_bytes(*field)))
    };
    let parts = [len(2), len(4), len(6)];
    match version {
        1 => 8 + parts.iter().map(|len| len.next_multiple_of(8)).sum::<u64>(),
        2 => 8 + parts.iter().sum::<u64>(),
        _ => 9 + parts.iter().sum::<u64>(),
    }
}
