//! The huge objects of a heap, which are stored directly in the file.

use super::FractalHeapBuilder;
use crate::format::infrastructure::btree_v2::{Record, RecordType};
use crate::format::infrastructure::fractal_heap::HeapId;
use crate::space::SpaceKind;
use crate::write::Sink;
use crate::write::btree_v2::{BtreeV2Builder, BtreeV2Parameters};
use hyperslab_core::Result;

impl<const N: usize> FractalHeapBuilder<N> {
    /// Writes the huge objects and their B-tree, and sets the IDs that depend on their addresses.
    pub(super) fn write_huge_objects(&mut self, sink: &mut dyn Sink) -> Result<()> {
        if self.huge.is_empty() {
            return Ok(());
        }
        let is_direct = self.header.heap_id_context(&self.sizes).huge_is_direct();
        let record_type = match (is_direct, self.pipeline.is_some()) {
            (false, false) => RecordType::HugeObject,
            (false, true) => RecordType::FilteredHugeObject,
            (true, false) => RecordType::DirectHugeObject,
            (true, true) => RecordType::FilteredDirectHugeObject,
        };
        let mut records = Vec::with_capacity(self.huge.len());
        for ((place, object), id) in std::mem::take(&mut self.huge).into_iter().zip(1_u64..) {
            let memory_size = object.len() as u64;
            let (stored, mask) = self.filter(object)?;
            let length = stored.len() as u64;
            let address = sink.allocate(SpaceKind::Raw, length)?;
            sink.write(address, &stored)?;
            let record = match (is_direct, mask) {
                (false, None) => Record::HugeObject { address, length, id },
                (false, Some(filter_mask)) => {
                    Record::FilteredHugeObject { address, length, filter_mask, memory_size, id }
                }
                (true, None) => Record::DirectHugeObject { address, length },
                (true, Some(filter_mask)) => {
                    Record::FilteredDirectHugeObject { address, length, filter_mask, memory_size }
                }
            };
            records.push((if is_direct { address.0 } else { id }, record));
            let heap_id = match mask {
                _ if !is_direct => continue,
                None => HeapId::HugeDirect { address, len: length },
                Some(filter_mask) => HeapId::HugeFiltered { address, len: length, filter_mask, memory_size },
            };
            let heap_id = self.encoded(&heap_id)?;
            if let Some(place) = self.ids.get_mut(place) {
                *place = heap_id;
            }
        }
        records.sort_by_key(|(key, _)| *key);
        let parameters = BtreeV2Parameters::of(record_type, &self.sizes)?;
        let tree = BtreeV2Builder::allocate(sink, &parameters, records.len() as u64)?;
        self.header.huge_objects_btree = tree.address();
        tree.write(sink, records.into_iter().map(|(_, record)| Ok(record)))
    }
}
