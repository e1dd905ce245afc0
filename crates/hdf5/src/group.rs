//! The links of a group, however it stores them.

use crate::format::infrastructure::SymbolTableEntry;
use crate::format::infrastructure::btree_v2::Record;
use crate::format::infrastructure::symbol_table_entry::Cache;
use crate::format::message::HeaderMessage;
use crate::format::message::link::{Link as LinkMessage, LinkTarget};
use crate::format::message::link_info::LinkInfo;
use crate::format::message::symbol_table::SymbolTable;
use crate::format::{Address, Structure, checksum};
use crate::navigate::btree_v2::BtreeV2;
use crate::navigate::fractal_heap::FractalHeap;
use crate::navigate::local_heap::LocalHeap;
use crate::navigate::object_header::ObjectHeader;
use crate::navigate::{Reader, btree_v1};
use hyperslab_core::{Decoder, Error, ErrorKind, Result};
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// A named way from a group to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name, in whatever encoding the writer used; nearly always UTF-8.
    pub name: Vec<u8>,
    /// Where it leads.
    pub target: LinkTarget,
    /// When it was created among the links of the group, where tracked.
    pub creation_order: Option<i64>,
}

/// All links: in order of creation where the group tracks it, else by name.
pub(crate) fn links(reader: &Reader, header: &ObjectHeader) -> Result<Vec<Link>> {
    let mut links = Vec::new();
    if let Some(table) = header.message::<SymbolTable>(reader)? {
        let heap = LocalHeap::open(reader, table.heap)?;
        // Entries may share one name of the heap, however long it is.
        let mut room = reader.limits().allocation / 4;
        btree_v1::group_entries(reader, table.btree, &heap, &mut |name, entry| {
            let left = room.checked_sub(name.len() as u64);
            room = left.ok_or_else(|| {
                let detail = "names of many megabytes in one group (raise with --limit allocation=N)";
                Error::new(ErrorKind::LimitExceeded, detail)
            })?;
            links.push(of_entry(name, entry, &heap)?);
            Ok(ControlFlow::Continue(()))
        })?;
        return Ok(links);
    }
    let info: LinkInfo = header.required(reader)?;
    for message in header.find_all(LinkMessage::TYPE) {
        links.push(header.decode::<LinkMessage>(reader, message)?.into());
    }
    if !info.heap.is_undefined() {
        let heap = FractalHeap::open(reader, info.heap)?;
        BtreeV2::open(reader, info.name_index)?.records(&mut |record| {
            links.push(of_record(reader, &heap, &record)?);
            Ok(ControlFlow::Continue(()))
        })?;
    }
    let tracked = info.maximum_creation_index.is_some();
    match tracked && links.iter().all(|link| link.creation_order.is_some()) {
        true => links.sort_by_key(|link| link.creation_order),
        false => links.sort_by(|a, b| a.name.cmp(&b.name)),
    }
    Ok(links)
}

/// The link of one name; reads only what leads to it.
pub(crate) fn link(reader: &Reader, header: &ObjectHeader, name: &[u8]) -> Result<Option<Link>> {
    if let Some(table) = header.message::<SymbolTable>(reader)? {
        let heap = LocalHeap::open(reader, table.heap)?;
        let entry = btree_v1::find_group_entry(reader, table.btree, &heap, name)?;
        return entry.map(|entry| of_entry(name, &entry, &heap)).transpose();
    }
    let info: LinkInfo = header.required(reader)?;
    for message in header.find_all(LinkMessage::TYPE) {
        let link: LinkMessage = header.decode(reader, message)?;
        if link.name == name {
            return Ok(Some(link.into()));
        }
    }
    if info.heap.is_undefined() {
        return Ok(None);
    }
    let heap = FractalHeap::open(reader, info.heap)?;
    let wanted = checksum::lookup3(name);
    let mut found = None;
    let compare = |record: &Record| match record {
        Record::LinkName { hash, .. } => hash.cmp(&wanted),
        _ => Ordering::Equal,
    };
    BtreeV2::open(reader, info.name_index)?.find(&compare, &mut |record| {
        let link = of_record(reader, &heap, &record)?;
        if link.name != name {
            return Ok(ControlFlow::Continue(()));
        }
        found = Some(link);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

fn of_entry(name: &[u8], entry: &SymbolTableEntry, heap: &LocalHeap) -> Result<Link> {
    let target = match &entry.cache {
        Cache::SoftLink { target_offset } => LinkTarget::Soft(heap.name(u64::from(*target_offset))?.to_vec()),
        Cache::Nothing | Cache::Group { .. } => LinkTarget::Hard(entry.object_header),
    };
    Ok(Link { name: name.to_vec(), target, creation_order: None })
}

fn of_record(reader: &Reader, heap: &FractalHeap, record: &Record) -> Result<Link> {
    let (Record::LinkName { heap_id, .. } | Record::LinkCreationOrder { heap_id, .. }) = record else {
        return Err(Error::malformed("records that are not of links in the index of a group"));
    };
    let message = heap.object(reader, heap_id)?;
    let mut d = Decoder::decoded(LinkMessage::NAME, "fractal heap object", heap.address().0, &message);
    Ok(LinkMessage::decode(&mut d, reader.sizes())?.into())
}

impl From<LinkMessage> for Link {
    fn from(message: LinkMessage) -> Link {
        Link { name: message.name, target: message.target, creation_order: message.creation_order }
    }
}

/// Whether a group tracks the order in which its links were created.
pub(crate) fn tracks_creation_order(reader: &Reader, header: &ObjectHeader) -> Result<bool> {
    Ok(header.message::<LinkInfo>(reader)?.is_some_and(|info| info.maximum_creation_index.is_some()))
}

impl Link {
    /// The object, if the link is hard.
    pub fn address(&self) -> Option<Address> {
        match self.target {
            LinkTarget::Hard(address) => Some(address),
            _ => None,
        }
    }
}
