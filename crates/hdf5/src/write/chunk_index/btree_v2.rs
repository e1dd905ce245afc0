//! Version 2 B-trees of chunks.
//!
//! Spec: HDF5 VII.E The Version 2 B-tree Index

use super::records::Records;
use crate::format::Address;
use crate::format::chunk_index::{Client, Element};
use crate::format::infrastructure::btree_v2::{Record, RecordLayout, RecordType};
use crate::navigate::chunk_index::grid::Order;
use crate::write::Sink;
use crate::write::btree_v2::{BtreeV2Builder, BtreeV2Parameters};
use hyperslab_core::{Error, Result};

/// The content of a tree.
pub(super) struct Tree<'a> {
    pub(super) client: Client,
    /// Gives the position of each chunk number.
    pub(super) order: &'a Order,
    /// The chunks, sorted.
    pub(super) records: &'a Records,
}

impl Tree<'_> {
    /// Writes the tree. Returns the address of its header.
    pub(super) fn write(
        &self,
        sink: &mut dyn Sink,
        node_size: u32,
        split_percent: u8,
        merge_percent: u8,
    ) -> Result<Address> {
        let sizes = sink.sizes();
        let record_type = match self.client {
            Client::Unfiltered => RecordType::Chunk,
            Client::Filtered { .. } => RecordType::FilteredChunk,
        };
        // Records are array elements with a position.
        let record_size = u16::try_from(8 * self.order.rank())
            .ok()
            .and_then(|len| len.checked_add(self.client.element_size(&sizes).into()))
            .ok_or_else(|| Error::invalid(format!("{} dimensions", self.order.rank())))?;
        let layout = RecordLayout::new(record_type, record_size, &sizes)?;
        let parameters = BtreeV2Parameters { layout, node_size, split_percent, merge_percent };
        let tree = BtreeV2Builder::allocate(sink, &parameters, self.records.len() as u64)?;
        let address = tree.address();
        tree.write(sink, self.records.iter().map(|(number, chunk)| Ok(self.record(number, chunk))))?;
        Ok(address)
    }

    fn record(&self, number: u64, chunk: Element) -> Record {
        let mut scaled = vec![0; self.order.rank()];
        self.order.position(number, &mut scaled);
        let Element { address, size, filter_mask } = chunk;
        match self.client {
            Client::Unfiltered => Record::Chunk { address, scaled },
            Client::Filtered { .. } => Record::FilteredChunk { address, size, filter_mask, scaled },
        }
    }
}
