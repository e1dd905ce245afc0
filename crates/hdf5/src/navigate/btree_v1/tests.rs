//! Groups that HDF5 wrote, and trees that no library writes.

use super::*;
use crate::format::Sizes;
use crate::format::infrastructure::symbol_table_entry::Cache;
use crate::navigate::superblock;
use bytes::Bytes;
use hyperslab_core::{Encoder, ErrorKind, Limits};

/// The reader of a group of 152 links, its B-tree and its heap.
fn group() -> (Reader, Address, LocalHeap) {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/symbol_table.h5")).unwrap();
    let bytes = Bytes::from(bytes);
    let (superblock, base) = superblock::read(&bytes).unwrap();
    let reader = Reader::new(Box::new(bytes), base, superblock.sizes, Limits::default());
    let crate::format::metadata::superblock::Version::V0(root) = superblock.version else { panic!() };
    let Cache::Group { btree, heap } = root.entry.cache else { panic!() };
    let heap = LocalHeap::open(&reader, heap).unwrap();
    let entry = find_group_entry(&reader, btree, &heap, b"g").unwrap().unwrap();
    let Cache::Group { btree, heap } = entry.cache else { panic!() };
    let heap = LocalHeap::open(&reader, heap).unwrap();
    (reader, btree, heap)
}

fn names() -> Vec<String> {
    (0..150).map(|i| format!("{i:03}")).chain(["a longer name", "soft"].map(str::to_owned)).collect()
}

#[test]
fn all_links_come_in_order_of_names() {
    let (reader, btree, heap) = group();
    let mut found = Vec::new();
    let mut targets = Vec::new();
    group_entries(&reader, btree, &heap, &mut |name, entry| {
        found.push(String::from_utf8(name?.to_vec()).unwrap());
        if let Cache::SoftLink { target_offset } = entry.cache {
            targets.push(heap.name(target_offset.into())?.to_vec());
        }
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!(found, names());
    assert_eq!(targets, [&b"nowhere"[..], b"/g/007"]);
}

#[test]
fn a_walk_ends_where_the_visitor_breaks_or_fails() {
    let (reader, btree, heap) = group();
    let mut count = 0;
    let mut stop_at = |max: u32, how: Result<ControlFlow<()>>| {
        count = 0;
        let mut how = Some(how);
        group_entries(&reader, btree, &heap, &mut |_, _| {
            count += 1;
            if count < max { Ok(ControlFlow::Continue(())) } else { how.take().unwrap() }
        })
        .map(|()| count)
    };
    assert_eq!(stop_at(60, Ok(ControlFlow::Break(()))).unwrap(), 60);
    assert_eq!(stop_at(60, Err(Error::not_found("enough"))).unwrap_err().detail(), "enough");
}

#[test]
fn each_link_is_found_by_name_and_no_other() {
    let (reader, btree, heap) = group();
    for name in names() {
        let entry = find_group_entry(&reader, btree, &heap, name.as_bytes()).unwrap().expect(&name);
        assert_eq!(heap.name(entry.name_offset).unwrap(), name.as_bytes());
    }
    for name in ["", "0", "0000", "0005", "150", "soft ", "zzz", "\u{ff}"] {
        assert_eq!(find_group_entry(&reader, btree, &heap, name.as_bytes()).unwrap(), None, "{name}");
    }
}

/// A file of nodes of type 1 and rank 1: levels and children, each node 200 bytes.
fn chunk_nodes(nodes: &[(u8, &[u64])]) -> Reader {
    let context = BtreeV1Context { sizes: Sizes::DEFAULT, node_type: NodeType::Chunks { rank: 1 } };
    let mut e = Encoder::new();
    for (level, children) in nodes {
        let start = e.len();
        let keys = if children.is_empty() { 0 } else { children.len() + 1 };
        BtreeV1Node {
            level: *level,
            left_sibling: Address::UNDEFINED,
            right_sibling: Address::UNDEFINED,
            keys: Keys::Chunks(ChunkKeys { rank: 1, stored: vec![(1, 0); keys], offsets: vec![0; 2 * keys] }),
            children: children.iter().map(|child| Address(*child)).collect(),
        }
        .encode(&mut e, &context)
        .unwrap();
        e.pad_to(start, 200);
    }
    Reader::new(Box::new(Bytes::from(e.into_bytes())), 0, Sizes::DEFAULT, Limits::default())
}

fn chunk_children(reader: &Reader) -> Result<Vec<u64>> {
    let mut found = Vec::new();
    chunk_leaves(reader, Address(0), 1, |_, children, _| {
        found.extend(children.iter().map(|child| child.0));
        Ok(())
    })?;
    Ok(found)
}

#[test]
fn leaves_come_from_left_to_right() {
    let reader = chunk_nodes(&[
        (2, &[200, 800]),
        (1, &[400, 600]),
        (0, &[1, 2]),
        (0, &[3]),
        (1, &[1000]),
        (0, &[4, 5]),
    ]);
    assert_eq!(chunk_children(&reader).unwrap(), [1, 2, 3, 4, 5]);
}

#[test]
fn circles_shared_nodes_and_wrong_levels_are_malformed() {
    for (nodes, detail) in [
        (&[(1, &[0][..])][..], Some("two nodes refer to it, expected a tree")),
        (&[(1, &[200]), (1, &[200])], Some("level 1, expected 0")),
        (&[(2, &[200]), (0, &[1])], Some("level 0, expected 1")),
        (&[(1, &[200, 200]), (0, &[1])], Some("two nodes refer to it, expected a tree")),
        // Past the end, as reported by the storage.
        (&[(1, &[600]), (0, &[1])], None),
        (&[(1, &[u64::MAX - 1])], None),
    ] {
        let e = chunk_children(&chunk_nodes(nodes)).unwrap_err();
        assert_eq!((e.kind(), e.place().unwrap().structure), (ErrorKind::Malformed, BtreeV1Node::NAME));
        assert!(detail.is_none_or(|detail| e.detail() == detail), "{e}");
    }
}

#[test]
fn nodes_within_nodes_cost_no_more_than_the_file() {
    // Each leaf begins inside the previous one and claims everything that follows: quadratic work if there were no
    // bound.
    let leaf_entries = 1000_u16;
    let mut bytes = Vec::new();
    let children: Vec<u64> = (0..100).map(|i| 8192 + i * 24).collect();
    bytes.extend(b"TREE\x01\x01\x64\x00");
    bytes.extend([0xff; 16]);
    for child in &children {
        bytes.extend([0; 24]);
        bytes.extend(child.to_le_bytes());
    }
    bytes.resize(8192, 0);
    for _ in &children {
        bytes.extend(b"TREE\x01\x00");
        bytes.extend(leaf_entries.to_le_bytes());
        bytes.extend([0; 16]);
    }
    bytes.resize(8192 + 100 * 24 + usize::from(leaf_entries) * 32 + 100, 0);
    let reader = Reader::new(Box::new(Bytes::from(bytes)), 0, Sizes::DEFAULT, Limits::default());
    let e = chunk_children(&reader).unwrap_err();
    assert_eq!(e.detail(), "the nodes on the way here take more bytes than the file has");
}
