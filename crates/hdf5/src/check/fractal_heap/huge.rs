//! Checks huge objects, which are stored directly in the file.

use super::{Field, Heap, HeapObject};
use crate::check::Checker;
use crate::check::reading::{Pointer, pointer};
use crate::check::rule;
use crate::format::Address;
use crate::format::Structure;
use crate::format::infrastructure::FractalHeapHeader;
use crate::format::infrastructure::btree_v2::{Record, RecordType};
use crate::format::infrastructure::fractal_heap::HeapId;
use hyperslab_core::Result;

/// A huge object in the B-tree of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Huge {
    /// Its ID, or its address if heap IDs contain that.
    key: u64,
    address: Address,
    len: u64,
    /// The filter mask and the size of the object in bytes, if it is filtered.
    filtered: Option<(u32, u64)>,
}

impl Checker<'_> {
    /// Walks the B-tree of huge objects and claims them.
    pub(super) fn huge_objects(&mut self, heap: &mut Heap) -> Result<()> {
        let sizes = self.sizes();
        if heap.header.huge_objects_btree.is_undefined() {
            return Ok(());
        }
        let from = pointer(FractalHeapHeader::NAME, heap.field(Field::HugeBtree, sizes));
        let direct = heap.header.heap_id_context(&sizes).huge_is_direct();
        let types = match (direct, heap.header.filters.is_some()) {
            (false, false) => [RecordType::HugeObject],
            (false, true) => [RecordType::FilteredHugeObject],
            (true, false) => [RecordType::DirectHugeObject],
            (true, true) => [RecordType::FilteredDirectHugeObject],
        };
        let mut found = Vec::new();
        let walked =
            self.btree_v2(heap.header.huge_objects_btree, from, &types, &mut |checker, record, byte| {
                let huge = match *record {
                    Record::HugeObject { address, length, id } => {
                        Huge { key: id, address, len: length, filtered: None }
                    }
                    Record::FilteredHugeObject { address, length, filter_mask, memory_size, id } => {
                        Huge { key: id, address, len: length, filtered: Some((filter_mask, memory_size)) }
                    }
                    Record::DirectHugeObject { address, length } => {
                        Huge { key: address.0, address, len: length, filtered: None }
                    }
                    Record::FilteredDirectHugeObject { address, length, filter_mask, memory_size } => Huge {
                        key: address.0,
                        address,
                        len: length,
                        filtered: Some((filter_mask, memory_size)),
                    },
                    _ => return Ok(()),
                };
                let from = pointer("Version 2 B-tree Record", byte);
                if let Some(byte) = checker.locate(NAME, huge.address, huge.len, from)
                    && checker.enter(NAME, huge.address, from)
                {
                    checker.claim(NAME, byte, huge.len);
                }
                found.push(huge);
                Ok(())
            })?;
        heap.is_whole &= walked.is_some_and(|walked| walked.is_whole);
        found.sort_unstable_by_key(|huge| huge.key);
        if let Some(last) = found.last()
            && !direct
            && last.key > heap.header.next_huge_object_id
        {
            let at = heap.field(Field::NextHugeId, sizes);
            let message = format!(
                "the next huge object follows ID {}, there is ID {}",
                heap.header.next_huge_object_id, last.key
            );
            self.report(&rule::HEAP_COUNT, FractalHeapHeader::NAME, at, message);
        }
        heap.huge = found;
        Ok(())
    }

    pub(super) fn huge_object(
        &mut self,
        heap: &mut Heap,
        id: &HeapId,
        from: Pointer,
        count: bool,
    ) -> Result<Option<HeapObject>> {
        let key = match *id {
            HeapId::HugeIndirect { key } => key,
            HeapId::HugeDirect { address, .. } | HeapId::HugeFiltered { address, .. } => address.0,
            HeapId::Managed { .. } | HeapId::Tiny(_) => return Ok(None),
        };
        let place = heap.huge.binary_search_by_key(&key, |huge| huge.key);
        let Some(huge) = place.ok().and_then(|place| heap.huge.get(place)).copied() else {
            let message = format!("a heap ID of huge object {key:#x}, which the heap does not have");
            self.report(&rule::HEAP_OBJECT, from.structure, from.byte, message);
            return Ok(None);
        };
        let same = match *id {
            HeapId::HugeDirect { len, .. } => (len, None) == (huge.len, huge.filtered),
            HeapId::HugeFiltered { len, filter_mask, memory_size, .. } => {
                (len, Some((filter_mask, memory_size))) == (huge.len, huge.filtered)
            }
            _ => true,
        };
        if !same {
            let message =
                format!("the heap ID gives the object at {} another size than the heap", huge.address);
            self.report(&rule::HEAP_OBJECT, from.structure, from.byte, message);
        }
        if count {
            heap.huge_used.0 += 1;
            heap.huge_used.1 += huge.filtered.map_or(huge.len, |(_, size)| size);
        }
        let Some(byte) = self.locate(NAME, huge.address, huge.len, from) else { return Ok(None) };
        if !self.spend_raw(huge.len, NAME, byte) {
            return Ok(None);
        }
        let stored = match self.reader.raw(NAME, huge.address, huge.len) {
            Ok(stored) => stored,
            Err(error) => return self.error(error).map(|()| None),
        };
        let Some((mask, size)) = huge.filtered else {
            return Ok(Some(HeapObject { bytes: stored, byte, is_plain: true }));
        };
        let decoded = self.unfilter(heap, NAME, byte, &stored, mask, size)?;
        Ok(decoded.map(|bytes| HeapObject { bytes: bytes.into(), byte, is_plain: false }))
    }
}

const NAME: &str = "huge object of a Fractal Heap";
