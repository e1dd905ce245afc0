//! The links of an old-style group: symbol table nodes under a version 1 B-tree, with names in a local heap.
//!
//! Spec: HDF5 III.B Disk Format: Level 1B - Group Symbol Table Nodes, III.C Level 1C - Symbol Table Entry,
//! III.D Level 1D - Local Heaps

use super::Sink;
use crate::format::infrastructure::btree_v1::{BtreeV1Context, Keys, NodeType};
use crate::format::infrastructure::local_heap::{FreeBlock, LAST_FREE_BLOCK};
use crate::format::infrastructure::symbol_table_entry::Cache;
use crate::format::infrastructure::{BtreeV1Node, LocalHeapHeader, SymbolTableEntry, SymbolTableNode};
use crate::format::message::link::LinkTarget;
use crate::format::message::symbol_table::SymbolTable;
use crate::format::{Address, Sizes, Structure};
use crate::space::SpaceKind;
use hyperslab_core::{Encoder, Error, Result};

/// A link of an old-style group.
#[derive(Clone, Debug)]
pub(crate) struct SymbolTableLink {
    /// The name, which contains no NUL.
    pub(crate) name: Vec<u8>,
    /// A hard or soft link; no others are possible.
    pub(crate) target: LinkTarget,
    /// The symbol table of the object, if it is an old-style group itself. The entry caches it.
    pub(crate) table: Option<SymbolTable>,
}

/// The sizes of nodes, which the superblock defines for the whole file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SymbolTableNodes {
    /// Half the maximum number of entries of a symbol table node.
    pub(crate) leaf_k: u16,
    /// Half the maximum number of children of a B-tree node.
    pub(crate) internal_k: u16,
}

impl Default for SymbolTableNodes {
    fn default() -> Self {
        SymbolTableNodes { leaf_k: 4, internal_k: 16 }
    }
}

/// The entry of the root group in a superblock of version 0 or 1. If it has no cache, libhdf5 writes one when it opens
/// the file.
pub(crate) fn root_entry(object_header: Address, table: SymbolTable) -> SymbolTableEntry {
    let SymbolTable { btree, heap } = table;
    SymbolTableEntry { name_offset: EMPTY_NAME, object_header, cache: Cache::Group { btree, heap } }
}

/// Stores links. Returns the content of the message in the group's header.
///
/// # Errors
/// If two links have the same name, or a link is neither hard nor soft or contains NUL.
pub(crate) fn write_symbol_table(
    sink: &mut dyn Sink,
    mut links: Vec<SymbolTableLink>,
    nodes: SymbolTableNodes,
) -> Result<SymbolTable> {
    links.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    for [one, other] in links.array_windows() {
        if one.name == other.name {
            let name = String::from_utf8_lossy(&one.name);
            return Err(Error::invalid(format!("two links of a group have the name {name:?}")));
        }
    }
    let mut names = Names::default();
    names.add(b"")?;
    let entries = links.iter().map(|link| entry(&mut names, link)).collect::<Result<Vec<_>>>()?;
    let heap = names.write(sink)?;
    let btree = write_btree(sink, &entries, nodes)?;
    Ok(SymbolTable { btree, heap })
}

fn entry(names: &mut Names, link: &SymbolTableLink) -> Result<SymbolTableEntry> {
    let shown = || String::from_utf8_lossy(&link.name);
    if link.name.is_empty() {
        return Err(Error::invalid("link name is empty"));
    }
    let name_offset = names.add(&link.name)?;
    let (object_header, cache) = match (&link.target, link.table) {
        (LinkTarget::Hard(address), None) => (*address, Cache::Nothing),
        (LinkTarget::Hard(address), Some(SymbolTable { btree, heap })) => {
            (*address, Cache::Group { btree, heap })
        }
        (LinkTarget::Soft(path), _) => {
            let target_offset = u32::try_from(names.add(path)?).map_err(|_| {
                Error::invalid(format!("the path of the soft link {:?} lies past 4 GiB of names", shown()))
            })?;
            (Address::UNDEFINED, Cache::SoftLink { target_offset })
        }
        (LinkTarget::External(_), _) => return Err(no_such_link("external", &shown())),
        (LinkTarget::UserDefined { .. }, _) => return Err(no_such_link("user-defined", &shown())),
    };
    Ok(SymbolTableEntry { name_offset, object_header, cache })
}

fn no_such_link(kind: &str, name: &str) -> Error {
    Error::invalid(format!(
        "the {kind} link {name:?} in an old-style group, which has only hard and soft links: write with -O hdf5.libver=v1.8 or later"
    ))
}

/// The data segment of a local heap: strings that begin at multiples of 8.
#[derive(Default)]
struct Names {
    segment: Encoder,
}

impl Names {
    fn add(&mut self, text: &[u8]) -> Result<u64> {
        if text.contains(&0) {
            let text = String::from_utf8_lossy(text);
            return Err(Error::invalid(format!(
                "{text:?} contains NUL, which ends names of old-style groups"
            )));
        }
        let offset = self.segment.len() as u64;
        self.segment.bytes(text);
        self.segment.u8(0);
        self.segment.pad_to(0, ALIGNMENT);
        Ok(offset)
    }

    /// Writes the heap. If there are few names, it has as much room as libhdf5 gives to a new group.
    fn write(mut self, sink: &mut dyn Sink) -> Result<Address> {
        let sizes = sink.sizes();
        let used = self.segment.len();
        let free_block_len = (2 * usize::from(sizes.lengths)).next_multiple_of(ALIGNMENT);
        let initial = NAMES_OF_NEW_GROUP + free_block_len;
        let mut free_list_head = LAST_FREE_BLOCK;
        if used + free_block_len <= initial {
            free_list_head = used as u64;
            let size = (initial - used) as u64;
            FreeBlock { next: LAST_FREE_BLOCK, size }.encode(&mut self.segment, &sizes)?;
            self.segment.reserved(initial - self.segment.len());
        }
        let header = sink.allocate(SpaceKind::Metadata, LocalHeapHeader::len(&sizes))?;
        let data_segment_size = self.segment.len() as u64;
        let data_segment = sink.allocate(SpaceKind::Metadata, data_segment_size)?;
        sink.write(data_segment, self.segment.as_slice())?;
        let mut e = Encoder::new();
        LocalHeapHeader { data_segment_size, free_list_head, data_segment }.encode(&mut e, &sizes)?;
        sink.write(header, e.as_slice())?;
        Ok(header)
    }
}

/// A child of a B-tree node, and its largest name.
#[derive(Clone, Copy)]
struct Child {
    address: Address,
    greatest: u64,
}

fn write_btree(
    sink: &mut dyn Sink,
    entries: &[SymbolTableEntry],
    SymbolTableNodes { leaf_k, internal_k }: SymbolTableNodes,
) -> Result<Address> {
    let sizes = sink.sizes();
    let mut children = Vec::new();
    let capacity = 2 * usize::from(leaf_k.max(1));
    let node_len = SymbolTableNode::PREFIX_LEN + SymbolTableEntry::len(&sizes) * capacity as u64;
    for entries in entries.chunks(capacity) {
        let greatest = entries.last().map_or(EMPTY_NAME, |entry| entry.name_offset);
        let mut e = Encoder::new();
        SymbolTableNode { entries: entries.to_vec() }.encode(&mut e, &sizes)?;
        children.push(Child { address: put_padded(sink, e, node_len)?, greatest });
    }
    let capacity = 2 * usize::from(internal_k.max(1));
    for level in 0..=u8::MAX {
        children = write_level(sink, level, &children, capacity)?;
        if let [root] = children.as_slice() {
            return Ok(root.address);
        }
    }
    Err(Error::invalid(format!("{} links are too many for nodes of {capacity} children", entries.len())))
}

/// Writes the nodes of one level, at least one.
fn write_level(sink: &mut dyn Sink, level: u8, children: &[Child], capacity: usize) -> Result<Vec<Child>> {
    let sizes = sink.sizes();
    let len = node_len(&sizes, capacity as u64);
    let groups: Vec<&[Child]> = match children {
        [] => vec![&[]],
        children => children.chunks(capacity).collect(),
    };
    let addresses =
        groups.iter().map(|_| sink.allocate(SpaceKind::Metadata, len)).collect::<Result<Vec<_>>>()?;
    let sibling = |index: Option<usize>| {
        index.and_then(|index| addresses.get(index)).copied().unwrap_or(Address::UNDEFINED)
    };
    let mut nodes = Vec::with_capacity(groups.len());
    let mut before = EMPTY_NAME;
    for (index, (children, address)) in groups.iter().zip(&addresses).enumerate() {
        let mut keys = Vec::with_capacity(children.len() + 1);
        if !children.is_empty() {
            keys.push(before);
        }
        keys.extend(children.iter().map(|child| child.greatest));
        before = keys.last().copied().unwrap_or(EMPTY_NAME);
        let node = BtreeV1Node {
            level,
            left_sibling: sibling(index.checked_sub(1)),
            right_sibling: sibling(index.checked_add(1)),
            keys: Keys::Group(keys),
            children: children.iter().map(|child| child.address).collect(),
        };
        let mut e = Encoder::new();
        node.encode(&mut e, &BtreeV1Context { sizes, node_type: NodeType::Group })?;
        e.reserved(unused(&e, len));
        sink.write(*address, e.as_slice())?;
        nodes.push(Child { address: *address, greatest: before });
    }
    Ok(nodes)
}

/// The size of a B-tree node with room for `capacity` children in bytes.
fn node_len(sizes: &Sizes, capacity: u64) -> u64 {
    BtreeV1Node::prefix_len(sizes)
        + capacity * u64::from(sizes.offsets)
        + (capacity + 1) * u64::from(sizes.lengths)
}

/// Writes a structure in a larger allocated space.
fn put_padded(sink: &mut dyn Sink, mut e: Encoder, len: u64) -> Result<Address> {
    e.reserved(unused(&e, len));
    let address = sink.allocate(SpaceKind::Metadata, len)?;
    sink.write(address, e.as_slice())?;
    Ok(address)
}

fn unused(e: &Encoder, len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX).saturating_sub(e.len())
}

/// The offset of the empty name, which sorts before all others.
const EMPTY_NAME: u64 = 0;
const ALIGNMENT: usize = 8;
/// The empty name, and four names of eight letters.
const NAMES_OF_NEW_GROUP: usize = 8 + 4 * 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::message::Message;
    use crate::format::message::link::ExternalLink;
    use crate::write::test_file::{Form, TestFile, put_header};

    fn name(number: usize) -> Vec<u8> {
        format!("{}{}", "n".repeat(1 + number * 7 % 40), number).into_bytes()
    }

    fn links(count: usize, sink: &mut dyn Sink, nodes: SymbolTableNodes) -> Result<Vec<SymbolTableLink>> {
        let table = write_symbol_table(sink, Vec::new(), nodes)?;
        let object = put_header(sink, Form::V1, &[Message::SymbolTable(table)])?;
        let link = |number| SymbolTableLink {
            name: name(number),
            target: match number {
                0 => LinkTarget::Hard(object),
                _ => LinkTarget::Soft(vec![b's'; 1 + number % 20]),
            },
            table: (number == 0).then_some(table),
        };
        Ok((0..count).map(link).collect())
    }

    fn round_trip(sizes: Sizes, nodes: SymbolTableNodes, count: usize) -> TestFile {
        let file = TestFile::write(sizes, Form::V1, &mut |sink| {
            let links = links(count, sink, nodes)?;
            Ok(vec![Message::SymbolTable(write_symbol_table(sink, links, nodes)?)])
        })
        .unwrap();
        let mut expected: Vec<Vec<u8>> = (0..count).map(name).collect();
        expected.sort_unstable();
        let found: Vec<Vec<u8>> = file.links().into_iter().map(|link| link.name).collect();
        assert_eq!(found, expected);
        for number in (0..count).step_by(1 + count / 50) {
            let link = file.link(&name(number)).unwrap();
            match number {
                0 => assert!(matches!(link.target, LinkTarget::Hard(_))),
                _ => assert_eq!(link.target, LinkTarget::Soft(vec![b's'; 1 + number % 20])),
            }
        }
        assert!(file.link(b"nothing").is_none());
        file
    }

    #[test]
    fn links_are_found_around_every_boundary() {
        for count in [1, 2, 3, 7, 8, 9, 16, 17, 255, 256, 257, 8191, 8192, 8193] {
            round_trip(Sizes::DEFAULT, SymbolTableNodes::default(), count).check();
        }
    }

    #[test]
    fn a_hundred_thousand_links_are_found() {
        round_trip(Sizes::DEFAULT, SymbolTableNodes::default(), 100_000).check();
    }

    #[test]
    fn links_of_narrow_addresses_are_found() {
        for (offsets, lengths) in [(2, 2), (4, 4), (2, 8), (8, 2), (4, 8)] {
            for count in [1, 3, 100] {
                round_trip(Sizes { offsets, lengths }, SymbolTableNodes::default(), count).check();
            }
        }
    }

    #[test]
    fn nodes_have_the_sizes_of_the_superblock() {
        for (leaf_k, internal_k) in [(1, 1), (1, 2), (3, 100)] {
            for count in [1, 2, 5, 64, 300] {
                round_trip(Sizes::DEFAULT, SymbolTableNodes { leaf_k, internal_k }, count);
            }
        }
    }

    #[test]
    fn an_empty_group_has_room_for_names_as_in_libhdf5() {
        let file = TestFile::write(Sizes::DEFAULT, Form::V1, &mut |sink| {
            let table = write_symbol_table(sink, Vec::new(), SymbolTableNodes::default())?;
            Ok(vec![Message::SymbolTable(table)])
        });
        let file = file.unwrap();
        assert!(file.links().is_empty());
        file.check();
    }

    #[test]
    fn other_links_and_equal_names_are_refused() {
        let external = ExternalLink { file: b"f".to_vec(), path: b"/".to_vec() };
        let link = |name: &[u8], target| SymbolTableLink { name: name.to_vec(), target, table: None };
        let soft = || LinkTarget::Soft(b"/".to_vec());
        for (links, message) in [
            (vec![link(b"x", LinkTarget::External(external))], "the external link \"x\""),
            (
                vec![link(b"y", LinkTarget::UserDefined { code: 70, data: vec![] })],
                "the user-defined link \"y\"",
            ),
            (vec![link(b"a", soft()), link(b"b", soft()), link(b"a", soft())], "two links of a group have"),
            (vec![link(b"a\0b", soft())], "\"a\\0b\" contains NUL"),
            (vec![link(b"", soft())], "link name is empty"),
        ] {
            let error = TestFile::write(Sizes::DEFAULT, Form::V1, &mut |sink| {
                let table = write_symbol_table(sink, links.clone(), SymbolTableNodes::default())?;
                Ok(vec![Message::SymbolTable(table)])
            });
            let error = error.err().unwrap();
            assert!(error.detail().starts_with(message), "{error}");
        }
    }
}
