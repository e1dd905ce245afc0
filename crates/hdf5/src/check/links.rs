//! Checks groups that store links as messages, in the header or in a heap.

use super::Checker;
use super::btree_v2::Walked;
use super::fractal_heap::Heap;
use super::object_header::Header;
use super::objects::shown;
use super::reading::{Pointer, pointer};
use super::rule;
use crate::format::infrastructure::BtreeV2Header;
use crate::format::infrastructure::btree_v2::{Record, RecordType};
use crate::format::message::MessageType;
use crate::format::message::link::{Link, LinkTarget};
use crate::format::message::link_info::LinkInfo;
use crate::format::{Structure, checksum};
use hyperslab_core::Result;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::Hasher;

/// The properties of the links of one group that are compared with each other.
struct Links {
    info: LinkInfo,
    /// Hashes of names.
    names: FxHashSet<u64>,
    orders: Vec<(i64, u64)>,
    count: u64,
}

/// A link message: where it is, and how it begins.
struct Found<'b> {
    byte: u64,
    bytes: &'b [u8],
    is_plain: bool,
}

impl Checker<'_> {
    /// A group with a Link Info message.
    pub(super) fn new_group(&mut self, header: &Header) -> Result<()> {
        let Some((info, info_at)) = self.only::<LinkInfo>(header)? else {
            self.complete = false;
            return Ok(());
        };
        let mut links = Links { info, names: FxHashSet::default(), orders: Vec::new(), count: 0 };
        for message in header.messages().iter().filter(|message| message.message_type == MessageType::LINK) {
            match self.message::<Link>(header, message)? {
                Some(link) => {
                    let found = Found { byte: message.offset, bytes: &message.body, is_plain: true };
                    self.link(&mut links, &link, &found);
                }
                None => self.complete = false,
            }
        }
        if !info.heap.is_undefined() {
            self.dense_links(&mut links, info_at)?;
        } else if !info.name_index.is_undefined() {
            let message = format!("an index of names at {}, and no heap", info.name_index);
            self.report(&rule::MALFORMED, LinkInfo::NAME, info_at, message);
        }
        self.check_link_orders(links, info_at);
        Ok(())
    }

    fn link(&mut self, links: &mut Links, link: &Link, found: &Found<'_>) {
        links.count += 1;
        let (name, byte) = (link.name.as_slice(), found.byte);
        if name.contains(&b'/') || name.contains(&0) || name == b"." {
            let message = format!("the name {} cannot stand in a path", shown(name));
            self.report(&rule::LINK_NAME, Link::NAME, byte, message);
        }
        let mut hasher = FxHasher::default();
        hasher.write(name);
        if !links.names.insert(hasher.finish()) {
            let message = format!("a second link of the name {}", shown(name));
            self.report(&rule::DUPLICATE_NAME, Link::NAME, byte, message);
        }
        match (links.info.maximum_creation_index, link.creation_order) {
            (Some(_), Some(order)) => links.orders.push((order, byte)),
            (Some(_), None) => {
                let message = format!("the link {} has no creation order, the group tracks it", shown(name));
                self.report(&rule::CREATION_ORDER, Link::NAME, byte, message);
            }
            (None, _) => {}
        }
        let from =
            pointer(Link::NAME, if found.is_plain { byte + target_at(link, found.bytes) } else { byte });
        match &link.target {
            LinkTarget::Hard(address) => self.reach_by_link(name, *address, None, from),
            LinkTarget::Soft(path) => self.add_soft_link(name, path, from),
            LinkTarget::External(external) => {
                self.add_foreign_link(name);
                let message =
                    format!("leads to {} of the file {}", shown(&external.path), shown(&external.file));
                self.report(&rule::EXTERNAL_LINK, Link::NAME, byte, message);
            }
            LinkTarget::UserDefined { .. } => self.add_foreign_link(name),
        }
    }

    fn dense_links(&mut self, links: &mut Links, info_at: u64) -> Result<()> {
        let info = links.info;
        let fields = LinkInfoFields::of(&info, info_at, self.sizes().offsets.into());
        let Some(mut heap) = self.open_heap(info.heap, fields.heap)? else {
            self.complete = false;
            return Ok(());
        };
        let mut last: Option<(u32, Vec<u8>)> = None;
        let mut ids = Ids::default();
        let walked = self.btree_v2(
            info.name_index,
            fields.name_index,
            &[RecordType::LinkName],
            &mut |c, record, at| {
                let Record::LinkName { hash, heap_id } = record else { return Ok(()) };
                ids.add(heap_id);
                let Some(link) = c.dense_link(links, &mut heap, heap_id, at)? else {
                    c.complete = false;
                    return Ok(());
                };
                c.check_hash(*hash, &link.name, at);
                c.check_name_order(&mut last, *hash, &link.name, at);
                Ok(())
            },
        )?;
        let is_whole = walked.is_some_and(|walked| walked.is_whole);
        self.complete &= is_whole;
        if let (Some(index), Some(names)) = (info.creation_order_index, walked.filter(|w| w.is_whole)) {
            self.link_order_index(index, fields.order_index, &mut heap, &ids, names)?;
        }
        self.close_heap(heap, is_whole)
    }

    fn dense_link(&mut self, links: &mut Links, heap: &mut Heap, id: &[u8], at: u64) -> Result<Option<Link>> {
        let Some(object) = self.heap_object(heap, id, pointer(RECORD, at), true)? else { return Ok(None) };
        if object.is_plain {
            self.part(Link::NAME, object.byte, object.bytes.len() as u64);
        }
        let link = match Link::decode(&mut object.decoder(Link::NAME), &self.sizes()) {
            Ok(link) => link,
            Err(error) => return self.error(error).map(|()| None),
        };
        let found = Found { byte: object.byte, bytes: &object.bytes, is_plain: object.is_plain };
        self.link(links, &link, &found);
        Ok(Some(link))
    }

    /// Checks that the index by creation order has the links of the index by name, each under its own order.
    fn link_order_index(
        &mut self,
        index: crate::format::Address,
        from: Pointer,
        heap: &mut Heap,
        names: &Ids,
        of_names: Walked,
    ) -> Result<()> {
        let mut ids = Ids::default();
        let walked = self.btree_v2(index, from, &[RecordType::LinkCreationOrder], &mut |c, record, at| {
            let Record::LinkCreationOrder { creation_order, heap_id } = record else { return Ok(()) };
            ids.add(heap_id);
            let Some(object) = c.heap_object(heap, heap_id, pointer(RECORD, at), false)? else {
                return Ok(());
            };
            let Ok(link) = Link::decode(&mut object.decoder(Link::NAME), &c.sizes()) else { return Ok(()) };
            if link.creation_order != Some(*creation_order) {
                let message = format!(
                    "creation order {creation_order} leads to the link {}, which has {:?}",
                    shown(&link.name),
                    link.creation_order
                );
                c.report(&rule::INDEX_MISMATCH, RECORD, at, message);
            }
            Ok(())
        })?;
        if let Some(walked) = walked.filter(|walked| walked.is_whole) {
            self.compare_indexes((&ids, walked), (names, of_names));
        }
        Ok(())
    }

    /// Compares the records of an index by creation order with those by name.
    pub(super) fn compare_indexes(&mut self, orders: (&Ids, Walked), names: (&Ids, Walked)) {
        let ((orders, walked), (names, of_names)) = (orders, names);
        if walked.records != of_names.records {
            let message = format!("{} records, the index by name has {}", walked.records, of_names.records);
            self.report(&rule::INDEX_MISMATCH, BtreeV2Header::NAME, walked.byte, message);
        } else if orders != names {
            let message = "the heap IDs are not those of the index by name";
            self.report(&rule::INDEX_MISMATCH, BtreeV2Header::NAME, walked.byte, message);
        }
    }

    pub(super) fn check_hash(&mut self, hash: u32, name: &[u8], at: u64) {
        let computed = checksum::lookup3(name);
        if hash != computed {
            let message =
                format!("hash {hash:#010x} of the name {}, which has {computed:#010x}", shown(name));
            self.report(&rule::NAME_HASH, RECORD, at, message);
        }
    }

    /// Checks that names with the same hash are in order.
    pub(super) fn check_name_order(
        &mut self,
        last: &mut Option<(u32, Vec<u8>)>,
        hash: u32,
        name: &[u8],
        at: u64,
    ) {
        if let Some((before, last)) = last
            && *before == hash
            && last.as_slice() >= name
        {
            let message = format!("{} stands behind {}, which has the same hash", shown(name), shown(last));
            self.report(&rule::BTREE_ORDER, RECORD, at, message);
        }
        *last = Some((hash, name.to_vec()));
    }

    fn check_link_orders(&mut self, mut links: Links, info_at: u64) {
        links.orders.sort_unstable();
        for [one, other] in links.orders.array_windows() {
            if one.0 == other.0 {
                let message = format!("two links have creation order {}", one.0);
                self.report(&rule::CREATION_ORDER, Link::NAME, other.1, message);
            }
        }
        let Some(max) = links.info.maximum_creation_index else { return };
        let first = links.orders.first().filter(|(order, _)| *order < 0);
        if let Some((order, at)) = first.or(links.orders.last().filter(|(order, _)| *order > max)) {
            let message = format!("creation order {order}, the group has given 0 to {max}");
            self.report(
                &rule::CREATION_ORDER,
                LinkInfo::NAME,
                info_at + 2,
                format!("{message} (the link is at {at:#x})"),
            );
        }
    }
}

/// The heap IDs of an index, regardless of order.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Ids {
    count: u64,
    sum: u64,
    mixed: u64,
}

impl Ids {
    pub(super) fn add(&mut self, id: &[u8]) {
        let mut hasher = FxHasher::default();
        hasher.write(id);
        let hash = hasher.finish();
        self.count += 1;
        self.sum = self.sum.wrapping_add(hash);
        self.mixed ^= hash.rotate_left(17);
    }
}

struct LinkInfoFields {
    heap: Pointer,
    name_index: Pointer,
    order_index: Pointer,
}

impl LinkInfoFields {
    fn of(info: &LinkInfo, at: u64, offsets: u64) -> Self {
        let heap = at + 2 + if info.maximum_creation_index.is_some() { 8 } else { 0 };
        let field = |place: u64| pointer(LinkInfo::NAME, heap + place * offsets);
        LinkInfoFields { heap: field(0), name_index: field(1), order_index: field(2) }
    }
}

/// The offset of the target in a link message.
fn target_at(link: &Link, bytes: &[u8]) -> u64 {
    let flags = bytes.get(1).copied().unwrap_or(0);
    let bit = |bit: u8, len: u64| if flags & bit != 0 { len } else { 0 };
    2 + bit(0x08, 1) + bit(0x04, 8) + bit(0x10, 1) + (1 << (flags & 3)) + link.name.len() as u64
}

pub(super) const RECORD: &str = "Version 2 B-tree Record";
