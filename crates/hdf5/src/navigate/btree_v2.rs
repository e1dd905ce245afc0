//! Walks version 2 B-trees.
//!
//! Spec: HDF5 III.A.2 Disk Format: Level 1A2 - Version 2 B-trees

use crate::format::infrastructure::btree_v2::{BtreeV2Context, ChildPointer, Level, Record, RecordLayout};
use crate::format::infrastructure::{BtreeV2Header, BtreeV2InternalNode, BtreeV2LeafNode};
use crate::format::{Address, Structure};
use crate::navigate::Reader;
use crate::navigate::visited::Visited;
use hyperslab_core::{Error, Result};
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::vec;

/// A version 2 B-tree.
pub struct BtreeV2<'a> {
    reader: &'a Reader,
    offset: u64,
    header: BtreeV2Header,
    layout: RecordLayout,
    levels: Vec<Level>,
}

/// Calls `visit` with each record of the tree whose header is at `address`, in order, until it returns `Break`.
///
/// # Errors
/// If the tree is invalid, and the errors of `visit`.
pub fn records(
    reader: &Reader,
    address: Address,
    visit: &mut dyn FnMut(Record) -> Result<ControlFlow<()>>,
) -> Result<()> {
    BtreeV2::open(reader, address)?.records(visit)
}

impl<'a> BtreeV2<'a> {
    /// Reads the header at `address`.
    pub fn open(reader: &'a Reader, address: Address) -> Result<Self> {
        const NAME: &str = BtreeV2Header::NAME;
        let sizes = reader.sizes();
        let offset = reader.offset(NAME, address)?;
        let header: BtreeV2Header = reader.structure(address, BtreeV2Header::len(sizes), sizes)?;
        let layout = RecordLayout::new(header.record_type, header.record_size, sizes)
            .map_err(|e| e.at(NAME, offset))?;
        let levels = header.levels(sizes).map_err(|e| e.at(NAME, offset))?;
        Ok(BtreeV2 { reader, offset, header, layout, levels })
    }

    /// The header.
    pub fn header(&self) -> &BtreeV2Header {
        &self.header
    }

    /// The layout of records.
    pub fn layout(&self) -> &RecordLayout {
        &self.layout
    }

    /// Calls `visit` with each record, in order, until it returns `Break`.
    pub fn records(&self, visit: &mut dyn FnMut(Record) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut count = 0_u64;
        let mut counted = |record| {
            count += 1;
            visit(record)
        };
        if self.walk(&|_| Ordering::Equal, &mut counted)?.is_break() {
            return Ok(());
        }
        if count != self.header.total_records {
            return Err(self.malformed(format!(
                "total number of records {}, but the nodes have {count}",
                self.header.total_records
            )));
        }
        Ok(())
    }

    /// Calls `visit` with the records for which `compare` returns `Equal`, until it returns `Break`. Reads only nodes
    /// that can contain them. `compare` orders a record relative to the one that is searched for, and must follow the
    /// order of the tree: names are ordered by their hash first.
    pub fn find(
        &self,
        compare: &dyn Fn(&Record) -> Ordering,
        visit: &mut dyn FnMut(Record) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.walk(compare, visit).map(drop)
    }

    fn walk(
        &self,
        compare: &dyn Fn(&Record) -> Ordering,
        visit: &mut dyn FnMut(Record) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        if self.header.root.is_undefined() {
            return Ok(ControlFlow::Continue(()));
        }
        let mut visited = Visited::new(self.reader)?;
        let root = ChildPointer {
            address: self.header.root,
            records: self.header.root_records.into(),
            total_records: self.header.total_records,
        };
        let mut stack: Vec<Branch> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(child) = next.take() {
                let level = usize::from(self.header.depth) - stack.len();
                let context = self.context(&child, level)?;
                if level > 0 {
                    stack.push(self.branch(&mut visited, &child, &context)?);
                } else {
                    for record in self.leaf(&mut visited, &child, &context)?.records {
                        match compare(&record) {
                            Ordering::Less => {}
                            Ordering::Equal if visit(record)?.is_continue() => {}
                            _ => return Ok(ControlFlow::Break(())),
                        }
                    }
                }
            }
            let Some(branch) = stack.last_mut() else { return Ok(ControlFlow::Continue(())) };
            if let Some(record) = branch.behind_child.take() {
                match compare(&record) {
                    Ordering::Less => {}
                    Ordering::Equal if visit(record)?.is_continue() => {}
                    _ => return Ok(ControlFlow::Break(())),
                }
                continue;
            }
            match branch.children.next() {
                Some(child) => {
                    branch.behind_child = branch.records.next();
                    // All records of the child come before the record after it.
                    let skip = branch.behind_child.take_if(|record| compare(record) == Ordering::Less);
                    next = if skip.is_some() { None } else { Some(child) };
                }
                None => drop(stack.pop()),
            }
        }
    }

    fn context(&self, child: &ChildPointer, level: usize) -> Result<BtreeV2Context> {
        let bounds = self
            .levels
            .get(level)
            .ok_or_else(|| self.malformed("is deeper than the depth in its header".to_owned()))?;
        let records = u16::try_from(child.records).ok().filter(|count| u64::from(*count) <= bounds.capacity);
        let records = records.ok_or_else(|| {
            let name = if level > 0 { BtreeV2InternalNode::NAME } else { BtreeV2LeafNode::NAME };
            let offset = self.reader.offset(name, child.address).unwrap_or(self.offset);
            let detail = format!(
                "number of records {} in the parent, expected at most {}",
                child.records, bounds.capacity
            );
            Error::malformed(detail).at(name, offset)
        })?;
        Ok(BtreeV2Context { sizes: *self.reader.sizes(), layout: self.layout, records, level: *bounds })
    }

    fn branch(
        &self,
        visited: &mut Visited,
        child: &ChildPointer,
        context: &BtreeV2Context,
    ) -> Result<Branch> {
        let len = context.internal_len();
        visited.enter(self.reader, BtreeV2InternalNode::NAME, child.address, len)?;
        let node: BtreeV2InternalNode = self.reader.structure(child.address, len, context)?;
        Ok(Branch {
            children: node.children.into_iter(),
            records: node.records.into_iter(),
            behind_child: None,
        })
    }

    fn leaf(
        &self,
        visited: &mut Visited,
        child: &ChildPointer,
        context: &BtreeV2Context,
    ) -> Result<BtreeV2LeafNode> {
        let len = context.leaf_len();
        visited.enter(self.reader, BtreeV2LeafNode::NAME, child.address, len)?;
        self.reader.structure(child.address, len, context)
    }

    fn malformed(&self, detail: String) -> Error {
        Error::malformed(detail).at(BtreeV2Header::NAME, self.offset)
    }
}

/// The rest of an internal node.
struct Branch {
    children: vec::IntoIter<ChildPointer>,
    records: vec::IntoIter<Record>,
    /// The record after the child that was entered last.
    behind_child: Option<Record>,
}

#[cfg(test)]
mod tests;
