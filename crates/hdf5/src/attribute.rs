//! The attributes of an object, in every form of storage.

use crate::file::File;
use crate::format::infrastructure::btree_v2::Record;
use crate::format::message::HeaderMessage;
use crate::format::message::attribute::Attribute as AttributeMessage;
use crate::format::message::attribute_info::AttributeInfo;
use crate::format::message::dataspace::Dataspace;
use crate::format::message::datatype::{Datatype, DatatypeClass, VariableLengthKind};
use crate::format::message::shared::{MaybeShared, MessageLocation};
use crate::format::{Address, Structure, checksum};
use crate::navigate::btree_v2::BtreeV2;
use crate::navigate::fractal_heap::FractalHeap;
use crate::navigate::object_header::{ObjectHeader, StoredMessage, resolve_part};
use crate::navigate::{Reader, prefetch};
use crate::reference::Reference;
use bytes::Bytes;
use hyperslab_core::rows::{Heap, Rows, Slot};
use hyperslab_core::{Decoder, Error, Limit, Result};
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// An attribute: a small array with a name, attached to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    message: AttributeMessage,
    datatype: Datatype,
    committed: Option<Address>,
    dataspace: Dataspace,
}

impl Attribute {
    fn resolve(reader: &Reader, message: AttributeMessage) -> Result<Attribute> {
        let committed = match &message.datatype {
            MaybeShared::Shared(shared) => match shared.location {
                MessageLocation::Committed(address) => Some(address),
                MessageLocation::Heap(_) => None,
            },
            MaybeShared::Here(_) => None,
        };
        let datatype = resolve_part(reader, message.datatype.clone())?;
        let dataspace = resolve_part(reader, message.dataspace.clone())?;
        Ok(Attribute { message, datatype, committed, dataspace })
    }

    /// Its name in the encoding of the writer, nearly always UTF-8.
    pub fn name(&self) -> &[u8] {
        &self.message.name
    }

    /// The type of its elements.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// The committed datatype that it shares, if any.
    pub fn committed(&self) -> Option<Address> {
        self.committed
    }

    /// Its dimensions. `None` for a null dataspace.
    pub fn extents(&self) -> Option<&[u64]> {
        self.dataspace.extents()
    }

    /// The size of one element in memory, in bytes.
    ///
    /// # Errors
    /// If the type cannot be converted.
    pub fn row_size(&self, file: &File) -> Result<usize> {
        Ok(file.converter(&self.datatype)?.row_size())
    }

    /// Reads its elements.
    ///
    /// # Errors
    /// If elements are missing, or objects that they refer to.
    pub fn read(&self, file: &File) -> Result<Rows<Reference>> {
        let mut heap = Heap::default();
        let rows = self.read_into(file, &mut heap)?;
        Ok(Rows { rows, heap })
    }

    /// Reads its elements, and adds to `heap` what they point to.
    ///
    /// # Errors
    /// As [`Attribute::read`].
    pub fn read_into(&self, file: &File, heap: &mut Heap<Reference>) -> Result<Bytes> {
        let reader = file.reader();
        if self.extents().is_none() {
            return Ok(Bytes::new());
        }
        let stored = self.message.value(&self.datatype, &self.dataspace)?;
        let converter = file.converter(&self.datatype)?;
        let count = stored.len().checked_div(converter.stored_size()).unwrap_or(0);
        let len = count.checked_mul(converter.row_size());
        let len = len.ok_or_else(|| Error::malformed(format!("{count} elements do not fit in memory")))?;
        let limits = reader.limits();
        let most = limits.allocation / SHARE;
        if len as u64 > most {
            let detail = format!("an attribute of {len} bytes, at most {most} are read");
            return Err(Error::limit_exceeded(Limit::Allocation, detail));
        }
        let _charge = reader.budget().charge(len as u64)?;
        let mut rows = vec![0; len];
        heap.content.most = heap.content.most.min(heap.content.bytes.saturating_add(most));
        converter.convert(reader, stored, &mut rows, heap)?;
        Ok(rows.into())
    }

    /// The text of an attribute that is one string, without padding. `None` for any other attribute.
    ///
    /// # Errors
    /// As [`Attribute::read`].
    pub fn text(&self, file: &File) -> Result<Option<Vec<u8>>> {
        if self.extents().and_then(|dims| dims.iter().try_fold(1_u64, |n, d| n.checked_mul(*d))) != Some(1) {
            return Ok(None);
        }
        let text = match &self.datatype.class {
            DatatypeClass::String(_) => self.read(file)?.rows.to_vec(),
            DatatypeClass::VariableLength(class) if class.kind != VariableLengthKind::Sequence => {
                let rows = self.read(file)?;
                let slot = Slot::get(&rows.rows).unwrap_or_default();
                rows.heap.content(slot).unwrap_or_default().to_vec()
            }
            _ => return Ok(None),
        };
        // All kinds of padding are removed: names of classes and dimensions have no NULs and do not end in spaces.
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(Some(text.trim_ascii_end().to_vec()))
    }
}

/// All attributes, in creation order if the object tracks it, otherwise by name.
pub(crate) fn attributes(
    reader: &Reader,
    header: &ObjectHeader,
) -> Result<Vec<(Vec<u8>, Result<Attribute>)>> {
    let mut found = as_stored(reader, header)?;
    match tracks_order(header, &found) {
        true => found.sort_by_key(|(order, _)| *order),
        false => found.sort_by(|(_, (a, _)), (_, (b, _))| a.cmp(b)),
    }
    // Attributes whose name cannot be read are numbered.
    let mut unnamed = 0_u32;
    let numbered = |(name, attribute): (Option<Vec<u8>>, Result<Attribute>)| match name {
        Some(name) => (name, attribute),
        None => {
            unnamed += 1;
            let name = if unnamed == 1 { "?".to_owned() } else { format!("?{unnamed}") };
            (name.into_bytes(), attribute)
        }
    };
    Ok(found.into_iter().map(|(_, named)| named).map(numbered).collect())
}

/// The names of all attributes in the order in which they are stored: that of messages in the header, or of hashes in
/// the index. `None` if the object tracks creation order.
pub(crate) fn stored_order(reader: &Reader, header: &ObjectHeader) -> Result<Option<Vec<Vec<u8>>>> {
    let found = as_stored(reader, header)?;
    let names = |found: Vec<Stored>| found.into_iter().filter_map(|(_, (name, _))| name).collect();
    Ok((!tracks_order(header, &found)).then(|| names(found)))
}

fn tracks_order(header: &ObjectHeader, found: &[Stored]) -> bool {
    header.attribute_creation_order_tracked() && found.iter().all(|(order, _)| order.is_some())
}

/// An attribute with its place in creation order, and its name if that can be read.
type Stored = (Option<u32>, (Option<Vec<u8>>, Result<Attribute>));

fn as_stored(reader: &Reader, header: &ObjectHeader) -> Result<Vec<Stored>> {
    let mut found = Vec::new();
    for message in header.find_all(AttributeMessage::TYPE) {
        let order = message.creation_index.map(u32::from);
        let mut d = Decoder::new(AttributeMessage::NAME, message.offset, &message.body);
        let name = || match message.flags.is_shared() {
            true => None,
            false => AttributeMessage::decode_name(&mut d).ok(),
        };
        found.push((order, named(reader, compact(reader, header, message), name)));
    }
    if let Some(info) = header.message::<AttributeInfo>(reader)?.filter(|info| !info.heap.is_undefined()) {
        prefetch::indexed(reader, info.heap, info.name_index);
        let heap = FractalHeap::open(reader, info.heap)?;
        BtreeV2::open(reader, info.name_index)?.records(&mut |record| {
            let order = match &record {
                Record::AttributeName { creation_order, .. } => Some(*creation_order),
                _ => None,
            };
            let name = || {
                let message = heap.object(reader, heap_id(&record)?).ok()?;
                let mut d = Decoder::new(AttributeMessage::NAME, 0, &message);
                AttributeMessage::decode_name(&mut d).ok()
            };
            found.push((order, named(reader, dense(reader, &heap, &record), name)));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

/// The attribute with this name. Decodes as few others as possible.
pub(crate) fn find(reader: &Reader, header: &ObjectHeader, name: &[u8]) -> Result<Option<Attribute>> {
    for message in header.find_all(AttributeMessage::TYPE) {
        if !AttributeMessage::may_be_named(&message.body, name) && !message.flags.is_shared() {
            continue;
        }
        match compact(reader, header, message) {
            Ok(attribute) if attribute.name == name => {
                return Attribute::resolve(reader, attribute).map(Some);
            }
            // The body of a shared message does not show whether the broken one is the wanted one.
            Err(error) if !message.flags.is_shared() => return Err(error),
            _ => {}
        }
    }
    let Some(info) = header.message::<AttributeInfo>(reader)?.filter(|info| !info.heap.is_undefined()) else {
        return Ok(None);
    };
    prefetch::indexed(reader, info.heap, info.name_index);
    let heap = FractalHeap::open(reader, info.heap)?;
    let wanted = checksum::lookup3(name);
    let mut found = None;
    let compare = |record: &Record| match record {
        Record::AttributeName { hash, .. } => hash.cmp(&wanted),
        _ => Ordering::Equal,
    };
    BtreeV2::open(reader, info.name_index)?.find(&compare, &mut |record| {
        let message = dense(reader, &heap, &record)?;
        if message.name != name {
            return Ok(ControlFlow::Continue(()));
        }
        found = Some(Attribute::resolve(reader, message)?);
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// Whether the object has attributes. Decodes none of them.
pub(crate) fn has_any(reader: &Reader, header: &ObjectHeader) -> Result<bool> {
    Ok(header.find(AttributeMessage::TYPE).is_some()
        || header.message::<AttributeInfo>(reader)?.is_some_and(|info| !info.heap.is_undefined()))
}

fn compact(reader: &Reader, header: &ObjectHeader, message: &StoredMessage) -> Result<AttributeMessage> {
    header.decode(reader, message)
}

fn dense(reader: &Reader, heap: &FractalHeap, record: &Record) -> Result<AttributeMessage> {
    let (Record::AttributeName { heap_id, message_flags, .. }
    | Record::AttributeCreationOrder { heap_id, message_flags, .. }) = record
    else {
        return Err(Error::malformed("attribute index of an object has records of another type"));
    };
    if message_flags & SHARED != 0 {
        return reader.shared_messages()?.message(reader, heap_id);
    }
    let message = heap.object(reader, heap_id)?;
    let mut d = Decoder::decoded(AttributeMessage::NAME, "fractal heap object", heap.address().0, &message);
    AttributeMessage::decode(&mut d, reader.sizes())
}

/// Bit 1 of message flags.
const SHARED: u8 = 2;

/// An attribute and its name. `name` gives the name of one that cannot be decoded, if it can be found.
fn named(
    reader: &Reader,
    message: Result<AttributeMessage>,
    name: impl FnOnce() -> Option<Vec<u8>>,
) -> (Option<Vec<u8>>, Result<Attribute>) {
    match message {
        Ok(message) => (Some(message.name.clone()), Attribute::resolve(reader, message)),
        Err(error) => (name(), Err(error)),
    }
}

/// The place of an attribute in the fractal heap of its object, unless its message is shared.
fn heap_id(record: &Record) -> Option<&[u8]> {
    match record {
        Record::AttributeName { heap_id, message_flags, .. }
        | Record::AttributeCreationOrder { heap_id, message_flags, .. }
            if message_flags & SHARED == 0 =>
        {
            Some(heap_id)
        }
        _ => None,
    }
}

/// An attribute may take at most this fraction of the allocation limit: other forms of it, such as text, take many
/// times more.
const SHARE: u64 = 32;
