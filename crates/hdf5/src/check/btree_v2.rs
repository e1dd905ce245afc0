//! Checks version 2 B-trees of all record types.

use super::Checker;
use super::reading::{AtOffset, Pointer, pointer};
use super::rule;
use crate::format::infrastructure::btree_v2::{
    BtreeV2Context, ChildPointer, Level, Record, RecordLayout, RecordType,
};
use crate::format::infrastructure::{BtreeV2Header, BtreeV2InternalNode, BtreeV2LeafNode};
use crate::format::{Address, Structure};
use hyperslab_core::Result;
use std::cmp::Ordering;

/// The result of a walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walked {
    /// The number of records that were visited.
    pub(super) records: u64,
    /// Whether all records were visited.
    pub(super) is_whole: bool,
    /// The address of the header.
    pub(super) byte: u64,
}

/// Called with each record and its offset.
pub(super) type RecordVisitor<'v, 'a> = dyn FnMut(&mut Checker<'a>, &Record, u64) -> Result<()> + 'v;

impl<'a> Checker<'a> {
    /// Walks the tree whose header is at `address`. Its records must have one of these types.
    pub(super) fn btree_v2(
        &mut self,
        address: Address,
        from: Pointer,
        types: &[RecordType],
        visit: &mut RecordVisitor<'_, 'a>,
    ) -> Result<Option<Walked>> {
        const NAME: &str = BtreeV2Header::NAME;
        let sizes = self.sizes();
        let Some(AtOffset { value: header, byte }) =
            self.structure::<BtreeV2Header>(address, BtreeV2Header::len(&sizes), &sizes, from)?
        else {
            return Ok(None);
        };
        if !types.contains(&header.record_type) {
            let message = format!("records of type {}, expected {:?}", header.record_type.code(), types);
            self.report(&rule::RECORD_TYPE, NAME, byte + 5, message);
            return Ok(None);
        }
        let layout = match RecordLayout::new(header.record_type, header.record_size, &sizes) {
            Ok(layout) => layout,
            Err(error) => {
                self.error_as(error, &rule::RECORD_TYPE, Some(pointer(NAME, byte + 10)))?;
                return Ok(None);
            }
        };
        let levels = match header.levels(&sizes) {
            Ok(levels) => levels,
            Err(error) => {
                self.error_as(error, &rule::MALFORMED, Some(pointer(NAME, byte + 6)))?;
                return Ok(None);
            }
        };
        if !(1..=100).contains(&header.split_percent) || !(1..=100).contains(&header.merge_percent) {
            let (split, merge) = (header.split_percent, header.merge_percent);
            let message = format!("nodes split at {split} and merged at {merge} per cent, expected 1 to 100");
            self.report_bytes(&rule::MALFORMED, NAME, byte + 14, Some(2), message);
        }
        if header.root.is_undefined() {
            if header.total_records != 0 || header.root_records != 0 || header.depth != 0 {
                let message = format!("{} records in a tree without nodes", header.total_records);
                self.report(&rule::BTREE_COUNT, NAME, byte + 18 + u64::from(sizes.offsets), message);
            }
            return Ok(Some(Walked { records: 0, is_whole: true, byte }));
        }
        let mut walk = Walk {
            header: &header,
            byte,
            layout,
            levels,
            last: None,
            walked: 0,
            is_whole: true,
            stack: Vec::new(),
        };
        walk.run(self, visit)?;
        Ok(Some(Walked { records: walk.walked, is_whole: walk.is_whole, byte }))
    }
}

struct Walk<'h> {
    header: &'h BtreeV2Header,
    byte: u64,
    layout: RecordLayout,
    levels: Vec<Level>,
    /// The last record that was visited.
    last: Option<Record>,
    walked: u64,
    is_whole: bool,
    stack: Vec<Branch>,
}

/// An internal node above the current one.
struct Branch {
    records: Vec<Record>,
    children: Vec<ChildPointer>,
    /// The index of the next child.
    next: usize,
    byte: u64,
    /// The offset of its first child pointer, and the size of a pointer.
    pointers: (u64, u64),
    /// The number of records visited before it, and the number that its parent states for its subtree.
    before: u64,
    counted: u64,
    counted_at: Pointer,
}

impl Walk<'_> {
    fn run<'a>(&mut self, checker: &mut Checker<'a>, visit: &mut RecordVisitor<'_, 'a>) -> Result<()> {
        let sizes = checker.sizes();
        let root = ChildPointer {
            address: self.header.root,
            records: self.header.root_records.into(),
            total_records: self.header.total_records,
        };
        let root_at = pointer(BtreeV2Header::NAME, self.byte + 16);
        let total_at = pointer(BtreeV2Header::NAME, self.byte + 18 + u64::from(sizes.offsets));
        self.enter(checker, &root, root_at, total_at, visit)?;
        while let Some(branch) = self.stack.last_mut() {
            let at = branch.next;
            branch.next += 1;
            let behind = at.checked_sub(1).and_then(|at| {
                let place = at as u64 * u64::from(self.layout.record_size());
                Some((branch.records.get(at).cloned()?, branch.byte + NODE_PREFIX + place))
            });
            let Some(child) = branch.children.get(at).cloned() else {
                self.leave(checker);
                continue;
            };
            let (first, width) = branch.pointers;
            let from = pointer(BtreeV2InternalNode::NAME, first + at as u64 * width);
            if let Some((record, at)) = behind {
                self.record(checker, record, BtreeV2InternalNode::NAME, at, visit)?;
            }
            let count_at = pointer(BtreeV2InternalNode::NAME, from.byte + u64::from(sizes.offsets));
            self.enter(checker, &child, from, count_at, visit)?;
        }
        Ok(())
    }

    /// Enters a node. The records of a leaf are visited at once.
    fn enter<'a>(
        &mut self,
        checker: &mut Checker<'a>,
        child: &ChildPointer,
        from: Pointer,
        counted_at: Pointer,
        visit: &mut RecordVisitor<'_, 'a>,
    ) -> Result<()> {
        let sizes = checker.sizes();
        let level = usize::from(self.header.depth).saturating_sub(self.stack.len());
        let name = if level == 0 { BtreeV2LeafNode::NAME } else { BtreeV2InternalNode::NAME };
        let Some(bounds) = self.levels.get(level).copied() else {
            self.is_whole = false;
            return Ok(());
        };
        let records = u16::try_from(child.records).ok().filter(|count| u64::from(*count) <= bounds.capacity);
        let Some(records) = records else {
            self.is_whole = false;
            let at =
                if self.stack.is_empty() { from.byte + u64::from(sizes.offsets) } else { counted_at.byte };
            let message = format!("{} records in a node for {} at most", child.records, bounds.capacity);
            checker.report(&rule::BTREE_COUNT, from.structure, at, message);
            return Ok(());
        };
        let context = BtreeV2Context { sizes, layout: self.layout, records, level: bounds };
        let len = if level == 0 { context.leaf_len() } else { context.internal_len() };
        let Some((byte, bytes)) = checker.owned_bytes(name, child.address, len, from)? else {
            self.is_whole = false;
            return Ok(());
        };
        checker.claim_spare(name, byte + len, u64::from(self.header.node_size).saturating_sub(len));
        let before = self.walked;
        if level > 0 {
            let Some(node) = checker.decode::<BtreeV2InternalNode>(byte, &bytes, &context)? else {
                self.is_whole = false;
                return Ok(());
            };
            let width =
                u64::from(sizes.offsets) + u64::from(bounds.count_width) + u64::from(bounds.total_width);
            let first = byte + NODE_PREFIX + node.records.len() as u64 * u64::from(self.layout.record_size());
            self.stack.push(Branch {
                records: node.records,
                children: node.children,
                next: 0,
                byte,
                pointers: (first, width),
                before,
                counted: child.total_records,
                counted_at,
            });
            return Ok(());
        }
        let Some(node) = checker.decode::<BtreeV2LeafNode>(byte, &bytes, &context)? else {
            self.is_whole = false;
            return Ok(());
        };
        for (at, record) in (0_u64..).zip(node.records) {
            let at = byte + NODE_PREFIX + at * u64::from(self.layout.record_size());
            self.record(checker, record, name, at, visit)?;
        }
        if self.stack.is_empty() {
            self.compare(checker, before, child.total_records, counted_at);
        }
        Ok(())
    }

    fn leave(&mut self, checker: &mut Checker<'_>) {
        if let Some(branch) = self.stack.pop() {
            self.compare(checker, branch.before, branch.counted, branch.counted_at);
        }
    }

    /// Compares the number of records visited since `before` with the stated number.
    fn compare(&mut self, checker: &mut Checker<'_>, before: u64, counted: u64, at: Pointer) {
        let found = self.walked - before;
        if self.is_whole && found != counted {
            let message = format!("{counted} records are counted, there are {found}");
            checker.report(&rule::BTREE_COUNT, at.structure, at.byte, message);
        }
    }

    fn record<'a>(
        &mut self,
        checker: &mut Checker<'a>,
        record: Record,
        structure: &'static str,
        byte: u64,
        visit: &mut RecordVisitor<'_, 'a>,
    ) -> Result<()> {
        self.walked += 1;
        checker.part("Version 2 B-tree Record", byte, self.layout.record_size().into());
        if let Some(last) = &self.last
            && !in_order(last, &record)
        {
            let message = "the record is out of order after the preceding one";
            let len = Some(self.layout.record_size().into());
            checker.report_bytes(&rule::BTREE_ORDER, structure, byte, len, message);
        }
        visit(checker, &record, byte)?;
        self.last = Some(record);
        Ok(())
    }
}

/// Whether one record may come before the other. Records with equal hashes are ordered by names, which are stored
/// elsewhere.
fn in_order(one: &Record, other: &Record) -> bool {
    use Record::{
        AttributeCreationOrder, AttributeName, Chunk, DirectHugeObject, FilteredChunk,
        FilteredDirectHugeObject, FilteredHugeObject, HugeObject, LinkCreationOrder, LinkName, SharedMessage,
    };
    let order = match (one, other) {
        (HugeObject { id: a, .. }, HugeObject { id: b, .. })
        | (FilteredHugeObject { id: a, .. }, FilteredHugeObject { id: b, .. }) => a.cmp(b),
        (DirectHugeObject { address: a, .. }, DirectHugeObject { address: b, .. })
        | (FilteredDirectHugeObject { address: a, .. }, FilteredDirectHugeObject { address: b, .. }) => {
            a.cmp(b)
        }
        (LinkCreationOrder { creation_order: a, .. }, LinkCreationOrder { creation_order: b, .. }) => {
            a.cmp(b)
        }
        (
            AttributeCreationOrder { creation_order: a, .. },
            AttributeCreationOrder { creation_order: b, .. },
        ) => a.cmp(b),
        (Chunk { scaled: a, .. }, Chunk { scaled: b, .. })
        | (FilteredChunk { scaled: a, .. }, FilteredChunk { scaled: b, .. }) => a.cmp(b),
        (LinkName { hash: a, .. }, LinkName { hash: b, .. })
        | (AttributeName { hash: a, .. }, AttributeName { hash: b, .. }) => return a <= b,
        (SharedMessage(a), SharedMessage(b)) => return a.hash <= b.hash,
        _ => return true,
    };
    order == Ordering::Less
}

/// Signature, version and record type of a node.
const NODE_PREFIX: u64 = 6;
