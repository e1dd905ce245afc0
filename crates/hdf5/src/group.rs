//! The links of a group, in every form of storage.

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
use crate::navigate::{Reader, btree_v1, prefetch};
use hyperslab_core::{Decoder, Error, ErrorKind, Limit, Result};
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// A link: a name in a group that leads to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name in the encoding of the writer, nearly always UTF-8.
    pub name: Vec<u8>,
    /// Its target.
    pub target: LinkTarget,
    /// Its creation order within the group, if tracked.
    pub creation_order: Option<i64>,
}

/// The links of a group, and those that cannot be read.
#[derive(Debug, Default)]
pub struct Links {
    /// In creation order if the group tracks it, otherwise by name.
    pub links: Vec<Link>,
    /// The name and the error of each unreadable link. A name that cannot be read is `?` and a number.
    pub unreadable: Vec<(Vec<u8>, Error)>,
}

/// Reads all links. An unreadable one does not hide the others.
pub(crate) fn links(reader: &Reader, header: &ObjectHeader) -> Result<Links> {
    let mut found = Links::default();
    let mut unnamed = 0_u32;
    let mut question = || {
        unnamed += 1;
        if unnamed == 1 { b"?".to_vec() } else { format!("?{unnamed}").into_bytes() }
    };
    if let Some(table) = header.message::<SymbolTable>(reader)? {
        reader.fetch(&[table.heap, table.btree], HEAD);
        let heap = LocalHeap::open(reader, table.heap)?;
        // Several entries can share one long name in the heap.
        let mut room = reader.limits().allocation / 4;
        btree_v1::group_entries(reader, table.btree, &heap, &mut |name, entry| {
            let name = match name {
                Ok(name) => name,
                Err(e) if e.kind() == ErrorKind::Io => return Err(e),
                Err(e) => {
                    found.unreadable.push((question(), e));
                    return Ok(ControlFlow::Continue(()));
                }
            };
            let left = room.checked_sub(name.len() as u64);
            room = left.ok_or_else(|| {
                Error::limit_exceeded(Limit::Allocation, "link names of one group take too many megabytes")
            })?;
            match of_entry(name, entry, &heap) {
                Ok(link) => found.links.push(link),
                Err(e) if e.kind() == ErrorKind::Io => return Err(e),
                Err(e) => found.unreadable.push((name.to_vec(), e)),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        return Ok(found);
    }
    let info: LinkInfo = header.required(reader)?;
    for message in header.find_all(LinkMessage::TYPE) {
        match header.decode::<LinkMessage>(reader, message) {
            Ok(link) => found.links.push(link.into()),
            Err(e) if e.kind() == ErrorKind::Io => return Err(e),
            Err(e) => found.unreadable.push((question(), e)),
        }
    }
    if !info.heap.is_undefined() {
        prefetch::indexed(reader, info.heap, info.name_index);
        let heap = FractalHeap::open(reader, info.heap)?;
        BtreeV2::open(reader, info.name_index)?.records(&mut |record| {
            match of_record(reader, &heap, &record) {
                Ok(link) => found.links.push(link),
                Err(e) if e.kind() == ErrorKind::Io => return Err(e),
                Err(e) => found.unreadable.push((question(), e)),
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    let links = &mut found.links;
    let tracked = info.maximum_creation_index.is_some();
    match tracked && links.iter().all(|link| link.creation_order.is_some()) {
        true => links.sort_by_key(|link| link.creation_order),
        false => links.sort_by(|a, b| a.name.cmp(&b.name)),
    }
    Ok(found)
}

/// The link with this name. Reads only what leads to it.
pub(crate) fn link(reader: &Reader, header: &ObjectHeader, name: &[u8]) -> Result<Option<Link>> {
    if let Some(table) = header.message::<SymbolTable>(reader)? {
        reader.fetch(&[table.heap, table.btree], HEAD);
        let heap = LocalHeap::open(reader, table.heap)?;
        let entry = btree_v1::find_group_entry(reader, table.btree, &heap, name)?;
        return entry.map(|entry| of_entry(name, &entry, &heap)).transpose();
    }
    let info: LinkInfo = header.required(reader)?;
    for message in header.find_all(LinkMessage::TYPE) {
        // An unreadable link may have this name, but that is unknown.
        match header.decode::<LinkMessage>(reader, message) {
            Ok(link) if link.name == name => return Ok(Some(link.into())),
            Err(e) if e.kind() == ErrorKind::Io => return Err(e),
            Ok(_) | Err(_) => {}
        }
    }
    if info.heap.is_undefined() {
        return Ok(None);
    }
    prefetch::indexed(reader, info.heap, info.name_index);
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
        return Err(Error::malformed("link index of a group has records of another type"));
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

/// Whether the group tracks the creation order of its links.
pub(crate) fn tracks_creation_order(reader: &Reader, header: &ObjectHeader) -> Result<bool> {
    Ok(header.message::<LinkInfo>(reader)?.is_some_and(|info| info.maximum_creation_index.is_some()))
}

impl Link {
    /// The address of the object, for a hard link.
    pub fn address(&self) -> Option<Address> {
        match self.target {
            LinkTarget::Hard(address) => Some(address),
            _ => None,
        }
    }
}

/// The first bytes of a heap and of the root of a tree.
const HEAD: u64 = 1024;
