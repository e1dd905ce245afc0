//! Version 2 B-trees, loaded from sorted records.
//!
//! Leaves are full. On each level, the last two nodes share their records evenly, so that no node has fewer than
//! libhdf5 needs to insert and remove records.
//!
//! Spec: HDF5 III.A.2 Disk Format: Level 1A2 - Version 2 B-trees

use super::Sink;
use crate::format::infrastructure::btree_v2::{
    BtreeV2Context, ChildPointer, Level, Record, RecordLayout, RecordType,
};
use crate::format::infrastructure::{BtreeV2Header, BtreeV2InternalNode, BtreeV2LeafNode};
use crate::format::{Address, Sizes, Structure};
use crate::space::SpaceKind;
use hyperslab_core::{Encoder, Error, Result};

/// The parameters of a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BtreeV2Parameters {
    /// The layout of the records.
    pub(crate) layout: RecordLayout,
    /// The size of each node in bytes.
    pub(crate) node_size: u32,
    /// The fullness of a node, in percent, above which libhdf5 splits it.
    pub(crate) split_percent: u8,
    /// The fullness of a node, in percent, below which libhdf5 merges it. At most 50.
    pub(crate) merge_percent: u8,
}

/// A tree that is allocated for a number of records, and not yet written.
#[derive(Debug)]
pub(crate) struct BtreeV2Builder {
    address: Address,
    layout: RecordLayout,
    header: BtreeV2Header,
    /// From the leaves to the root; none in a tree without records.
    rows: Vec<Row>,
}

/// The nodes of one level.
#[derive(Debug)]
struct Row {
    level: Level,
    /// The number of records, including those between nodes, which go to the next level.
    records: u64,
    nodes: Vec<Address>,
    /// The index of the open node.
    current: usize,
    open: Open,
}

/// A node that is being filled.
#[derive(Debug, Default)]
struct Open {
    records: Vec<Record>,
    children: Vec<ChildPointer>,
}

impl BtreeV2Parameters {
    /// The parameters that libhdf5 uses for trees of links, attributes, shared messages and huge objects.
    pub(crate) fn of(record_type: RecordType, sizes: &Sizes) -> Result<Self> {
        let layout = RecordLayout::of(record_type, sizes)?;
        Ok(BtreeV2Parameters { layout, node_size: 512, split_percent: 100, merge_percent: 40 })
    }
}

impl BtreeV2Builder {
    /// Allocates a tree of `count` records: its header, then its nodes from the root down to the leaves.
    ///
    /// # Errors
    /// If a node has no room for two records, or addresses of the file are too narrow.
    pub(crate) fn allocate(
        sink: &mut dyn Sink,
        parameters: &BtreeV2Parameters,
        count: u64,
    ) -> Result<BtreeV2Builder> {
        let BtreeV2Parameters { layout, node_size, split_percent, merge_percent } = *parameters;
        let sizes = sink.sizes();
        let mut header = BtreeV2Header {
            record_type: layout.record_type(),
            node_size,
            record_size: layout.record_size(),
            depth: 0,
            split_percent,
            merge_percent,
            root: Address::UNDEFINED,
            root_records: 0,
            total_records: count,
        };
        let mut rows = rows(&mut header, &sizes)?;
        let address = sink.allocate(SpaceKind::Metadata, BtreeV2Header::len(&sizes))?;
        for row in rows.iter_mut().rev() {
            for node in &mut row.nodes {
                *node = sink.allocate(SpaceKind::Metadata, node_size.into())?;
            }
        }
        if let Some(root) = rows.last() {
            header.root = root.nodes.first().copied().unwrap_or(Address::UNDEFINED);
            header.root_records = count_field(root.records)?;
        }
        Ok(BtreeV2Builder { address, layout, header, rows })
    }

    /// The address of the header.
    pub(crate) fn address(&self) -> Address {
        self.address
    }

    /// Writes the tree. If the file is being measured, requests no records.
    ///
    /// # Errors
    /// If the number of records is not the allocated one, or a record has another type.
    pub(crate) fn write(
        mut self,
        sink: &mut dyn Sink,
        records: impl IntoIterator<Item = Result<Record>>,
    ) -> Result<()> {
        if sink.is_measuring() {
            return Ok(());
        }
        let mut count = 0_u64;
        for record in records {
            count += 1;
            self.push(sink, record?)?;
        }
        if count != self.header.total_records {
            return Err(self.wrong_count(count));
        }
        for level in 0..self.rows.len() {
            self.close(sink, level)?;
        }
        let mut e = Encoder::new();
        self.header.encode(&mut e, &sink.sizes())?;
        sink.write(self.address, e.as_slice())
    }

    /// Appends a record. The first level whose node has room takes it; the nodes below are full and end before it.
    fn push(&mut self, sink: &mut dyn Sink, record: Record) -> Result<()> {
        for level in 0..self.rows.len() {
            let Some(row) = self.rows.get_mut(level) else { break };
            if (row.open.records.len() as u64) < row.records_of(row.current) {
                row.open.records.push(record);
                return Ok(());
            }
            self.close(sink, level)?;
        }
        Err(self.wrong_count(self.header.total_records.saturating_add(1)))
    }

    /// Writes the open node of a level, and adds its pointer to the node above.
    fn close(&mut self, sink: &mut dyn Sink, level: usize) -> Result<()> {
        let Some(row) = self.rows.get_mut(level) else { return Ok(()) };
        let Some(address) = row.nodes.get(row.current).copied() else {
            return Err(self.wrong_count(self.header.total_records.saturating_add(1)));
        };
        let Open { records, children } = std::mem::take(&mut row.open);
        let context = BtreeV2Context {
            sizes: sink.sizes(),
            layout: self.layout,
            records: count_field(row.records_of(row.current))?,
            level: row.level,
        };
        row.current += 1;
        let own = records.len() as u64;
        let total_records = children.iter().fold(own, |sum, child| sum.saturating_add(child.total_records));
        let mut e = Encoder::new();
        match level {
            0 => BtreeV2LeafNode { records }.encode(&mut e, &context)?,
            _ => BtreeV2InternalNode { records, children }.encode(&mut e, &context)?,
        }
        e.pad_to(0, usize::try_from(self.header.node_size).unwrap_or(usize::MAX));
        sink.write(address, e.as_slice())?;
        if let Some(above) = self.rows.get_mut(level + 1) {
            above.open.children.push(ChildPointer { address, records: own, total_records });
        }
        Ok(())
    }

    fn wrong_count(&self, found: u64) -> Error {
        Error::invalid(format!(
            "{found} records for a version 2 B-tree, expected {}",
            self.header.total_records
        ))
    }
}

impl Row {
    /// The number of records in a node. The last two nodes share theirs evenly.
    fn records_of(&self, node: usize) -> u64 {
        let (nodes, node) = (self.nodes.len() as u64, node as u64);
        // Each node except the last is followed by one record.
        let room = self.level.capacity + 1;
        let shared = (self.records + 1).saturating_sub(nodes.saturating_sub(2) * room);
        let taken = match nodes.saturating_sub(node) {
            0 => 1,
            1 if nodes == 1 => shared,
            1 => shared / 2,
            2 => shared.div_ceil(2),
            _ => room,
        };
        taken.saturating_sub(1)
    }
}

/// The levels of a tree, from the leaves to the root. Also sets its depth in the header. The records between the nodes
/// of one level are the records of the next.
fn rows(header: &mut BtreeV2Header, sizes: &Sizes) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut records = header.total_records;
    while records > 0 {
        header.depth = count_field(rows.len() as u64)?;
        let levels = header.levels(sizes).map_err(|e| Error::invalid(e.detail().to_owned()))?;
        let Some(level) = levels.last().copied().filter(|level| level.capacity > 1) else {
            return Err(Error::invalid(format!(
                "nodes of {} bytes, expected room for two records of {} bytes",
                header.node_size, header.record_size
            )));
        };
        let nodes = (records + 1).div_ceil(level.capacity + 1);
        let addresses = vec![Address::UNDEFINED; usize::try_from(nodes).unwrap_or(usize::MAX)];
        rows.push(Row { level, records, nodes: addresses, current: 0, open: Open::default() });
        records = nodes - 1;
    }
    Ok(rows)
}

fn count_field(count: u64) -> Result<u16> {
    u16::try_from(count).map_err(|_| Error::invalid(format!("{count} does not fit in 2 bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::navigate::btree_v2;
    use crate::write::image::Image;
    use std::ops::ControlFlow;

    fn chunk(number: u64, layout: &RecordLayout) -> Record {
        let scaled = (0..layout.rank()).map(|_| number).collect();
        match layout.record_type() {
            RecordType::Chunk => Record::Chunk { address: Address(number), scaled },
            _ => Record::FilteredChunk { address: Address(number), size: 7, filter_mask: 0, scaled },
        }
    }

    fn link(number: u64) -> Record {
        let hash = u32::try_from(number).unwrap();
        Record::LinkName { hash, heap_id: [1; 7] }
    }

    /// Writes a tree, and compares what is read with what was written. Returns the depth.
    fn round_trip(
        sizes: Sizes,
        parameters: &BtreeV2Parameters,
        count: u64,
        record: &dyn Fn(u64) -> Record,
    ) -> u16 {
        let (image, address) = Image::write(sizes, &mut |sink| {
            let tree = BtreeV2Builder::allocate(sink, parameters, count)?;
            let address = tree.address();
            tree.write(sink, (0..count).map(|number| Ok(record(number))))?;
            Ok(address)
        })
        .unwrap();
        let reader = image.reader();
        let mut next = 0;
        btree_v2::records(&reader, address, &mut |found| {
            assert_eq!(found, record(next), "{count}");
            next += 1;
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        assert_eq!(next, count);
        btree_v2::BtreeV2::open(&reader, address).unwrap().header().depth
    }

    #[test]
    fn trees_of_any_number_of_records_are_read_back() {
        let small = BtreeV2Parameters { node_size: 100, ..of(RecordType::LinkName) };
        for count in 0..=700 {
            round_trip(Sizes::DEFAULT, &small, count, &link);
        }
        assert_eq!(round_trip(Sizes::DEFAULT, &small, 20_000, &link), 6);
    }

    #[test]
    fn a_tree_grows_a_level_when_it_is_full() {
        let links = of(RecordType::LinkName);
        // 45 records in a leaf, 24 and 22 in the nodes above.
        let full = [45, 25 * 45 + 24, 23 * (25 * 45 + 24) + 22];
        for (depth, count) in (0..).zip(full) {
            assert_eq!(round_trip(Sizes::DEFAULT, &links, count, &link), depth);
            assert_eq!(round_trip(Sizes::DEFAULT, &links, count + 1, &link), depth + 1);
        }
        round_trip(Sizes::DEFAULT, &links, 100_000, &link);
    }

    #[test]
    fn no_node_but_the_root_has_fewer_records_than_are_merged() {
        for node_size in [80, 100, 512] {
            let mut header = header(node_size);
            for count in 1..3000 {
                header.total_records = count;
                let rows = rows(&mut header, &Sizes::DEFAULT).unwrap();
                let mut above = 0;
                for row in rows.iter().rev() {
                    assert_eq!(row.nodes.len() as u64, above + 1);
                    let taken: Vec<u64> = (0..row.nodes.len()).map(|node| row.records_of(node)).collect();
                    above += taken.iter().sum::<u64>();
                    assert_eq!(above, row.records);
                    let merged = if taken.len() == 1 { 1 } else { (row.level.capacity * 40 / 100).max(1) };
                    assert!(taken.iter().all(|taken| (merged..=row.level.capacity).contains(taken)));
                }
                assert_eq!(above, count);
            }
        }
    }

    #[test]
    fn records_of_all_widths_fit() {
        for sizes in [2, 4, 8].map(|width| Sizes { offsets: width, lengths: width }) {
            for (record_type, fields) in [(RecordType::Chunk, 0), (RecordType::FilteredChunk, 4 + 3)] {
                let record_size = u16::from(sizes.offsets) + fields + 3 * 8;
                let layout = RecordLayout::new(record_type, record_size, &sizes).unwrap();
                let parameters =
                    BtreeV2Parameters { layout, node_size: 2048, split_percent: 100, merge_percent: 40 };
                for count in [0, 1, 80, 1000] {
                    round_trip(sizes, &parameters, count, &|number| chunk(number, &layout));
                }
            }
        }
    }

    #[test]
    fn a_million_chunks_are_read_back() {
        let layout = RecordLayout::new(RecordType::Chunk, 24, &Sizes::DEFAULT).unwrap();
        let parameters = BtreeV2Parameters { layout, node_size: 2048, split_percent: 100, merge_percent: 40 };
        assert_eq!(round_trip(Sizes::DEFAULT, &parameters, 1_000_000, &|number| chunk(number, &layout)), 3);
    }

    #[test]
    fn a_wrong_number_of_records_and_narrow_nodes_are_refused() {
        for found in [9, 11, 60] {
            let error = Image::write(Sizes::DEFAULT, &mut |sink| {
                let tree = BtreeV2Builder::allocate(sink, &of(RecordType::LinkName), 10)?;
                tree.write(sink, (0..found).map(|number| Ok(link(number))))
            })
            .unwrap_err();
            assert!(error.detail().ends_with("for a version 2 B-tree, expected 10"), "{error}");
        }
        let narrow = BtreeV2Parameters { node_size: 30, ..of(RecordType::LinkName) };
        let error = Image::write(Sizes::DEFAULT, &mut |sink| BtreeV2Builder::allocate(sink, &narrow, 1));
        assert_eq!(
            error.unwrap_err().detail(),
            "nodes of 30 bytes, expected room for two records of 11 bytes"
        );
    }

    fn of(record_type: RecordType) -> BtreeV2Parameters {
        BtreeV2Parameters::of(record_type, &Sizes::DEFAULT).unwrap()
    }

    fn header(node_size: u32) -> BtreeV2Header {
        BtreeV2Header {
            record_type: RecordType::LinkName,
            node_size,
            record_size: 11,
            depth: 0,
            split_percent: 100,
            merge_percent: 40,
            root: Address::UNDEFINED,
            root_records: 0,
            total_records: 0,
        }
    }
}
