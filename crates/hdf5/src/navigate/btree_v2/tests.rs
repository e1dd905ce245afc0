//! Trees of several levels in small nodes, and trees that no library writes.

use super::*;
use crate::format::Sizes;
use crate::format::infrastructure::btree_v2::RecordType;
use bytes::Bytes;
use hyperslab_core::{Encoder, ErrorKind, Limits};

/// A file with a tree, as it is being built: the header comes first, then nodes.
struct Builder {
    header: BtreeV2Header,
    levels: Vec<Level>,
    bytes: Vec<u8>,
}

const HEADER: usize = 40;

fn record(hash: u32, number: u8) -> Record {
    Record::LinkName { hash, heap_id: [number; 7] }
}

impl Builder {
    fn new(depth: u16) -> Self {
        let header = BtreeV2Header {
            record_type: RecordType::LinkName,
            node_size: 100,
            record_size: 11,
            depth,
            split_percent: 100,
            merge_percent: 40,
            root: Address::UNDEFINED,
            root_records: 0,
            total_records: 0,
        };
        let levels = header.levels(&Sizes::DEFAULT).unwrap();
        Builder { header, levels, bytes: vec![0; HEADER] }
    }

    fn context(&self, level: usize, records: usize) -> BtreeV2Context {
        BtreeV2Context {
            sizes: Sizes::DEFAULT,
            layout: RecordLayout::new(RecordType::LinkName, 11, &Sizes::DEFAULT).unwrap(),
            records: u16::try_from(records).unwrap(),
            level: self.levels[level],
        }
    }

    fn place(&mut self, node: Encoder) -> Address {
        let address = self.bytes.len();
        self.bytes.extend(node.into_bytes());
        self.bytes.resize(address + 100, 0);
        Address(address as u64)
    }

    /// A subtree of all `records`, in nodes that are as full as necessary.
    fn subtree(&mut self, level: usize, records: &[Record]) -> ChildPointer {
        let mut e = Encoder::new();
        let total_records = records.len() as u64;
        if level == 0 {
            let context = self.context(0, records.len());
            BtreeV2LeafNode { records: records.to_vec() }.encode(&mut e, &context).unwrap();
            return ChildPointer { address: self.place(e), records: total_records, total_records };
        }
        let max = self.levels[..level].iter().fold(0, |below, level| match below {
            0 => level.capacity,
            _ => (level.capacity + 1) * below + level.capacity,
        });
        let children = (records.len() + 1).div_ceil(usize::try_from(max).unwrap() + 1).max(2);
        let (mut own, mut pointers) = (Vec::new(), Vec::new());
        let mut rest = records;
        for child in 0..children {
            let left = children - child;
            let take = (rest.len() + 1 - left) / left;
            pointers.push(self.subtree(level - 1, &rest[..take]));
            rest = &rest[take..];
            if let Some((separator, behind)) = rest.split_first() {
                own.push(separator.clone());
                rest = behind;
            }
        }
        let context = self.context(level, own.len());
        let records = own.len() as u64;
        BtreeV2InternalNode { records: own, children: pointers }.encode(&mut e, &context).unwrap();
        ChildPointer { address: self.place(e), records, total_records }
    }

    fn finish(mut self, root: &ChildPointer, total_records: u64) -> Vec<u8> {
        self.header.root = root.address;
        self.header.root_records = u16::try_from(root.records).unwrap();
        self.header.total_records = total_records;
        let mut e = Encoder::new();
        self.header.encode(&mut e, &Sizes::DEFAULT).unwrap();
        self.bytes[..e.len()].copy_from_slice(e.as_slice());
        self.bytes
    }
}

fn tree(depth: u16, records: &[Record]) -> Vec<u8> {
    let mut builder = Builder::new(depth);
    let root = builder.subtree(depth.into(), records);
    builder.finish(&root, records.len() as u64)
}

fn reader(bytes: Vec<u8>) -> Reader {
    Reader::new(Box::new(Bytes::from(bytes)), 0, Sizes::DEFAULT, Limits::default())
}

fn all(reader: &Reader) -> Result<Vec<Record>> {
    let mut found = Vec::new();
    records(reader, Address(0), &mut |record| {
        found.push(record);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Hashes in order, some of which occur many times.
fn sample(count: u8) -> Vec<Record> {
    (0..count).map(|n| record(u32::from(n) / 7 * 10, n)).collect()
}

#[test]
fn records_come_in_order_from_trees_of_any_depth() {
    for (depth, count) in [(0, 0), (0, 8), (1, 9), (1, 40), (2, 41), (2, 150), (3, 250)] {
        let records = sample(count);
        assert_eq!(all(&reader(tree(depth, &records))).unwrap(), records, "{depth} {count}");
    }
}

#[test]
fn an_empty_tree_has_no_root() {
    let builder = Builder::new(0);
    let none = ChildPointer { address: Address::UNDEFINED, records: 0, total_records: 0 };
    assert_eq!(all(&reader(builder.finish(&none, 0))).unwrap(), []);
}

#[test]
fn a_search_finds_all_records_of_a_hash_in_order() {
    let records = sample(250);
    let reader = reader(tree(3, &records));
    let tree = BtreeV2::open(&reader, Address(0)).unwrap();
    for wanted in (0..400).step_by(5) {
        let hash = |record: &Record| match record {
            Record::LinkName { hash, .. } => *hash,
            _ => panic!("{record:?}"),
        };
        let mut found = Vec::new();
        tree.find(&|record| hash(record).cmp(&wanted), &mut |record| {
            found.push(record);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        let expected: Vec<_> = records.iter().filter(|record| hash(record) == wanted).cloned().collect();
        assert_eq!(found, expected, "{wanted}");
    }
}

#[test]
fn a_search_reads_only_the_nodes_on_its_way() {
    let records: Vec<Record> = (0..250).map(|n| record(n, 0)).collect();
    let bytes = tree(3, &records);
    let leaves: Vec<usize> =
        (HEADER..bytes.len()).step_by(100).filter(|at| &bytes[*at..*at + 4] == b"BTLF").collect();
    assert!(leaves.len() >= 30, "{}", leaves.len());
    for kept in leaves.iter().copied() {
        let mut damaged = bytes.clone();
        for other in leaves.iter().filter(|leaf| **leaf != kept) {
            damaged[*other] = 0;
        }
        let wanted = u32::from_le_bytes(bytes[kept + 6..kept + 10].try_into().unwrap());
        let reader = reader(damaged);
        let mut found = Vec::new();
        BtreeV2::open(&reader, Address(0))
            .unwrap()
            .find(
                &|record| match record {
                    Record::LinkName { hash, .. } => hash.cmp(&wanted),
                    _ => panic!("{record:?}"),
                },
                &mut |record| {
                    found.push(record);
                    Ok(ControlFlow::Continue(()))
                },
            )
            .unwrap();
        assert_eq!(found, [record(wanted, 0)]);
        assert!(all(&reader).is_err());
    }
}

#[test]
fn a_walk_ends_where_the_visitor_breaks() {
    let reader = reader(tree(2, &sample(100)));
    for max in [1, 7, 8, 9, 50, 100] {
        let mut count = 0;
        records(&reader, Address(0), &mut |_| {
            count += 1;
            Ok(if count == max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .unwrap();
        assert_eq!(count, max);
    }
}

#[test]
fn wrong_totals_shared_nodes_and_overfull_nodes_are_malformed() {
    let records = sample(40);
    let mut builder = Builder::new(1);
    let root = builder.subtree(1, &records);
    let e = all(&reader(builder.finish(&root, 39))).unwrap_err();
    assert_eq!(e.detail(), "total number of records 39, but the nodes have 40");

    let mut builder = Builder::new(1);
    let leaf = builder.subtree(0, &records[..3]);
    let mut e = Encoder::new();
    let context = builder.context(1, 1);
    let children = vec![leaf.clone(), leaf.clone()];
    BtreeV2InternalNode { records: records[3..4].to_vec(), children }.encode(&mut e, &context).unwrap();
    let address = builder.place(e);
    let root = ChildPointer { address, records: 1, total_records: 7 };
    let e = all(&reader(builder.finish(&root, 7))).unwrap_err();
    assert_eq!(e.detail(), "two nodes refer to it, expected a tree");

    let builder = Builder::new(0);
    let root = ChildPointer { address: Address(40), records: 9, total_records: 9 };
    let e = all(&reader(builder.finish(&root, 9))).unwrap_err();
    assert_eq!(
        (e.kind(), e.detail()),
        (ErrorKind::Malformed, "number of records 9 in the parent, expected at most 8")
    );
}

#[test]
fn damage_anywhere_never_panics() {
    let bytes = tree(2, &sample(60));
    for at in 0..bytes.len() {
        for value in [0, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let _ = all(&reader(damaged));
        }
    }
}
