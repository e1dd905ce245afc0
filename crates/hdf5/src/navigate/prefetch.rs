//! Fetches from remote storage what will be read soon, as soon as its location is known: each level in one request.
//!
//! Local files are not touched. Read errors are ignored here: whoever needs the bytes reads them again and reports the
//! error.

use super::Reader;
use super::btree_v2::BtreeV2;
use super::fractal_heap::FractalHeap;
use super::object_header::{StoredMessage, messages_at_hand};
use crate::format::chunk_index::extensible_array::ExtensibleArrayHeader;
use crate::format::chunk_index::fixed_array::FixedArrayHeader;
use crate::format::infrastructure::GlobalHeapId;
use crate::format::message::attribute::Attribute;
use crate::format::message::attribute_info::AttributeInfo;
use crate::format::message::data_layout::{ChunkIndex, Chunked, DataLayout, LayoutClass};
use crate::format::message::datatype::DatatypeClass;
use crate::format::message::link_info::LinkInfo;
use crate::format::message::shared::MaybeShared;
use crate::format::message::symbol_table::SymbolTable;
use crate::format::message::{HeaderMessage, MessageType};
use crate::format::{Address, Structure};
use hyperslab_core::Decoder;

/// Fetches the headers of objects, and what opening them leads to: continuation blocks, attributes, the links of groups,
/// the indexes of chunks, and a few elements such as those of coordinates.
pub(crate) fn objects(reader: &Reader, addresses: &[Address]) {
    let around = if addresses.len() <= FEW { AROUND } else { 0 };
    in_levels(reader, around, &|places| addresses.iter().for_each(|address| places.object(*address)));
}

/// Fetches a heap of links or attributes, and the index of their names.
pub(crate) fn indexed(reader: &Reader, heap: Address, index: Address) {
    in_levels(reader, AROUND, &|places| places.indexed(heap, index));
}

/// Fetches the places that `follow` finds, until it finds no more. It continues from what is in the cache.
fn in_levels(reader: &Reader, around: u64, follow: &dyn Fn(&mut Places<'_>)) {
    if !reader.is_far() {
        return;
    }
    for _ in 0..LEVELS {
        let mut places = Places { reader, pieces: Vec::new(), around };
        follow(&mut places);
        if places.pieces.is_empty() {
            return;
        }
        reader.fetch_pieces(&places.pieces);
    }
}

/// Places that are fetched together.
struct Places<'a> {
    reader: &'a Reader,
    pieces: Vec<(Address, u64)>,
    /// The number of bytes before and after each piece that are also fetched: related structures are often written
    /// together.
    around: u64,
}

impl Places<'_> {
    /// Adds a place, unless it is undefined or in the cache. Returns whether it is in the cache.
    fn add(&mut self, address: Address, len: u64) -> bool {
        let Some(at) = address.get() else { return false };
        if self.reader.is_at_hand(address, len) {
            return true;
        }
        let start = at.saturating_sub(self.around);
        self.pieces.push((Address(start), (at - start).saturating_add(len).saturating_add(self.around)));
        false
    }

    fn object(&mut self, address: Address) {
        if !self.add(address, HEADER) {
            return;
        }
        let Ok((messages, elsewhere)) = messages_at_hand(self.reader, address) else { return };
        for block in elsewhere {
            self.add(block.address, block.len);
        }
        messages.iter().for_each(|message| self.message(message));
    }

    /// What a message points to.
    fn message(&mut self, message: &StoredMessage) {
        match message.message_type {
            MessageType::DATA_LAYOUT => {
                match self.decoded::<DataLayout>(message).map(|layout| layout.class) {
                    Some(LayoutClass::Chunked(chunked)) => self.chunks(&chunked),
                    Some(LayoutClass::Contiguous { address, size: Some(size), .. }) if size <= SMALL => {
                        self.add(address, size);
                    }
                    _ => {}
                }
            }
            MessageType::ATTRIBUTE => self.attribute(message),
            MessageType::ATTRIBUTE_INFO => {
                if let Some(info) = self.decoded::<AttributeInfo>(message) {
                    self.indexed(info.heap, info.name_index);
                }
            }
            MessageType::LINK_INFO => {
                if let Some(info) = self.decoded::<LinkInfo>(message) {
                    self.indexed(info.heap, info.name_index);
                }
            }
            MessageType::SYMBOL_TABLE => {
                if let Some(table) = self.decoded::<SymbolTable>(message) {
                    self.add(table.heap, NODE);
                    self.add(table.btree, NODE);
                }
            }
            _ => {}
        }
    }

    /// The chunk index.
    fn chunks(&mut self, chunked: &Chunked) {
        let (at, reader, sizes) = (chunked.address, self.reader, self.reader.sizes());
        if matches!(chunked.index, ChunkIndex::SingleChunk { .. } | ChunkIndex::Implicit)
            || !self.add(at, INDEX)
        {
            return;
        }
        let next = match chunked.index {
            ChunkIndex::FixedArray { .. } => reader
                .structure::<FixedArrayHeader>(at, FixedArrayHeader::len(sizes), sizes)
                .map(|header| header.data_block),
            ChunkIndex::ExtensibleArray(_) => reader
                .structure::<ExtensibleArrayHeader>(at, ExtensibleArrayHeader::len(sizes), sizes)
                .map(|header| header.index_block),
            ChunkIndex::BtreeV2 { .. } => BtreeV2::open(reader, at).map(|tree| tree.header().root),
            // The root node has more than was requested.
            ChunkIndex::BtreeV1 | ChunkIndex::SingleChunk { .. } | ChunkIndex::Implicit => Ok(at),
        };
        self.add(next.unwrap_or(Address::UNDEFINED), NODE);
    }

    /// A heap and the index of its names, and the first blocks of both.
    fn indexed(&mut self, heap: Address, index: Address) {
        if self.add(heap, INDEX)
            && let Ok(heap) = FractalHeap::open(self.reader, heap)
        {
            self.add(heap.header().table.root_block, NODE);
        }
        if self.add(index, INDEX)
            && let Ok(tree) = BtreeV2::open(self.reader, index)
        {
            self.add(tree.header().root, tree.header().node_size.into());
        }
    }

    /// The collections with the elements of an attribute of variable length.
    fn attribute(&mut self, message: &StoredMessage) {
        let Some(attribute) = self.decoded::<Attribute>(message) else { return };
        let MaybeShared::Here(datatype) = &attribute.datatype else { return };
        if !matches!(datatype.class, DatatypeClass::VariableLength(_)) {
            return;
        }
        let mut d = Decoder::new(Attribute::NAME, message.offset, &attribute.data);
        let mut before = Address::UNDEFINED;
        for _ in 0..MAX_ELEMENTS {
            let (Ok(_), Ok(id)) = (d.u32(), GlobalHeapId::decode(&mut d, self.reader.sizes())) else {
                return;
            };
            // Elements that are written together are in one collection.
            if id.collection != before && id.collection.0 != 0 {
                self.add(id.collection, NODE);
            }
            before = id.collection;
        }
    }

    /// A message that is stored in its header.
    fn decoded<S: HeaderMessage>(&self, message: &StoredMessage) -> Option<S> {
        if message.flags.is_shared() { None } else { message.decode(self.reader).ok() }
    }
}

/// The first bytes of an object header.
const HEADER: u64 = 512;
/// The header of an index or of a heap.
const INDEX: u64 = 256;
/// The maximum number of bytes that are fetched of a node, a heap block or a collection.
const NODE: u64 = 4096;
/// The maximum number of bytes of elements that are fetched before they are requested.
const SMALL: u64 = 8 << 10;
/// The maximum number of elements of an attribute that are examined.
const MAX_ELEMENTS: usize = 32;
/// The number of requests after which the rest is read only when it is needed.
const LEVELS: usize = 4;
/// The maximum number of objects for which the bytes around each piece are also fetched.
const FEW: usize = 64;
/// The number of these bytes on each side.
const AROUND: u64 = 8 << 10;
