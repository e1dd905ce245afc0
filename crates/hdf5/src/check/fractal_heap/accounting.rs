//! Compares the totals of a heap with its content.

use super::{Field, Heap};
use crate::check::Checker;
use crate::check::free_space::FreeSpace;
use crate::check::reading::pointer;
use crate::check::{Rule, rule};
use crate::format::Structure;
use crate::format::infrastructure::FractalHeapHeader;
use crate::format::infrastructure::free_space_manager::Client;
use crate::format::infrastructure::free_space_manager::section_list::SectionKind;
use hyperslab_core::Result;

impl Checker<'_> {
    /// Compares the totals in the header with the objects that were read. `is_whole` means that these are all objects.
    pub(in crate::check) fn close_heap(&mut self, mut heap: Heap, is_whole: bool) -> Result<()> {
        heap.managed.sort_unstable();
        heap.managed.dedup();
        let overlaps = heap.managed.array_windows().filter(|[one, other]| one.0 + one.1 > other.0);
        for [one, other] in overlaps.take(MAX_OVERLAPS) {
            let message = format!(
                "the objects at {:#x} and {:#x} of the heap overlap, the first has {} bytes",
                one.0, other.0, one.1
            );
            let at = heap.block(other.0).map_or(heap.byte, |block| {
                self.base.saturating_add(block.entry.address.0).saturating_add(other.0 - block.offset)
            });
            self.report(&rule::HEAP_OVERLAP, "Fractal Heap Direct Block", at, message);
        }
        let is_whole = is_whole && heap.is_whole;
        let sections = self.heap_free_space(&heap)?;
        if let Some(sections) = &sections {
            self.free_single_sections(&heap, sections);
        }
        self.heap_sizes(&heap, is_whole);
        if is_whole {
            self.heap_counts(&heap);
        }
        Ok(())
    }

    fn heap_field<T: PartialEq + std::fmt::Display>(
        &mut self,
        heap: &Heap,
        rule: &'static Rule,
        field: Field,
        (what, stored, found): (&str, T, T),
    ) {
        if stored != found {
            let at = heap.field(field, self.sizes());
            let len = Some(u64::from(self.sizes().lengths));
            let message = format!("counts {stored} {what}, there are {found}");
            self.report_bytes(rule, FractalHeapHeader::NAME, at, len, message);
        }
    }

    fn heap_counts(&mut self, heap: &Heap) {
        let header = &heap.header;
        let rule = &rule::HEAP_COUNT;
        let managed = heap.managed.len() as u64;
        self.heap_field(
            heap,
            rule,
            Field::ManagedCount,
            ("managed objects", header.managed_object_count, managed),
        );
        self.heap_field(
            heap,
            rule,
            Field::HugeCount,
            ("huge objects", header.huge_object_count, heap.huge_used.0),
        );
        self.heap_field(
            heap,
            rule,
            Field::HugeSize,
            ("bytes of huge objects", header.huge_object_size, heap.huge_used.1),
        );
        self.heap_field(
            heap,
            rule,
            Field::TinyCount,
            ("tiny objects", header.tiny_object_count, heap.tiny.0),
        );
        self.heap_field(
            heap,
            rule,
            Field::TinySize,
            ("bytes of tiny objects", header.tiny_object_size, heap.tiny.1),
        );
        if heap.huge.len() as u64 != heap.huge_used.0 {
            let at = heap.field(Field::HugeBtree, self.sizes());
            let message = format!(
                "{} huge objects in the B-tree, {} are referred to",
                heap.huge.len(),
                heap.huge_used.0
            );
            self.report(&rule::HEAP_COUNT, FractalHeapHeader::NAME, at, message);
        }
    }

    fn heap_sizes(&mut self, heap: &Heap, is_whole: bool) {
        let header = &heap.header;
        let table = &header.table;
        let rows = u32::from(table.current_root_rows);
        let (space, free) = match (table.root_block.is_undefined(), rows) {
            (true, _) => (0, 0),
            (false, 0) => (table.starting_block_size.into(), self.free_of_row(heap, 0)),
            (false, _) => {
                let width = u128::from(table.width);
                let of_row = |row| u128::from(heap.geometry.block_size(row).unwrap_or(0));
                let space = (0..rows).fold(0, |sum: u128, row| sum.saturating_add(of_row(row) * width));
                let free = self
                    .free_by_row(heap, rows)
                    .iter()
                    .fold(0, |sum: u128, free| sum.saturating_add(free * width));
                (space, free)
            }
        };
        let rule = &rule::HEAP_SIZE;
        let managed = u128::from(header.managed_space);
        self.heap_field(heap, rule, Field::ManagedSpace, ("bytes of heap space", managed, space));
        if header.direct_block_iterator > header.managed_space {
            let at = heap.field(Field::Iterator, self.sizes());
            let message = format!(
                "the next block goes to {:#x}, past the {} bytes of the heap",
                header.direct_block_iterator, header.managed_space
            );
            self.report(rule, FractalHeapHeader::NAME, at, message);
        }
        if !heap.is_whole {
            return;
        }
        let allocated = heap.blocks.iter().fold(0_u64, |sum, block| sum.saturating_add(block.size));
        self.heap_field(
            heap,
            rule,
            Field::AllocatedSpace,
            ("bytes of direct blocks", header.allocated_managed_space, allocated),
        );
        if is_whole {
            let used = heap.managed.iter().fold(0_u128, |sum, (_, len)| sum + u128::from(*len));
            let free = free.saturating_sub(used);
            let counted = u128::from(header.managed_free_space);
            self.heap_field(heap, rule, Field::ManagedFree, ("free bytes", counted, free));
        }
    }

    /// The bytes for objects in a block of this row.
    fn free_of_row(&self, heap: &Heap, row: u32) -> u128 {
        let prefix = heap.header.direct_block_context(&self.sizes()).prefix_len();
        heap.geometry.block_size(row).unwrap_or(0).saturating_sub(prefix).into()
    }

    /// The bytes for objects in one block of each row, including rows of indirect blocks.
    fn free_by_row(&self, heap: &Heap, rows: u32) -> Vec<u128> {
        let width = u128::from(heap.header.table.width);
        let mut free: Vec<u128> = Vec::new();
        for row in 0..rows {
            let of_row = if row < heap.geometry.max_direct_rows() {
                self.free_of_row(heap, row)
            } else {
                let below =
                    heap.geometry.block_size(row).and_then(|size| heap.geometry.rows_of(size)).unwrap_or(0);
                let below = usize::try_from(below).unwrap_or(usize::MAX);
                free.iter()
                    .take(below)
                    .fold(0, |sum: u128, free| sum.saturating_add(free.saturating_mul(width)))
            };
            free.push(of_row);
        }
        free
    }

    fn heap_free_space(&mut self, heap: &Heap) -> Result<Option<FreeSpace>> {
        let address = heap.header.free_space_manager;
        if address.is_undefined() {
            return Ok(None);
        }
        let at = heap.field(Field::FreeSpaceManager, self.sizes());
        self.free_space(address, pointer(FractalHeapHeader::NAME, at), Client::FractalHeap)
    }

    /// Checks that sections of direct blocks are within them, and do not overlap objects.
    fn free_single_sections(&mut self, heap: &Heap, free: &FreeSpace) {
        let prefix = heap.header.direct_block_context(&self.sizes()).prefix_len();
        for section in free.sections.iter().filter(|section| section.kind == SectionKind::Single) {
            let end = section.offset.saturating_add(section.size);
            let inside = heap.block(section.offset).is_some_and(|block| {
                section.offset - block.offset >= prefix && end <= block.offset.saturating_add(block.size)
            });
            if !inside && heap.is_whole {
                let message =
                    format!("{} bytes at {:#x} are in no block of the heap", section.size, section.offset);
                self.report(&rule::FREE_SPACE_SECTION, FreeSpace::LIST, section.byte, message);
                continue;
            }
            let at = heap.managed.partition_point(|(offset, _)| *offset < end);
            let before = at.checked_sub(1).and_then(|at| heap.managed.get(at));
            if let Some((offset, len)) = before.filter(|(offset, len)| offset + len > section.offset) {
                let message = format!(
                    "{} bytes at {:#x} are free, the object at {offset:#x} has {len} bytes",
                    section.size, section.offset
                );
                self.report(&rule::FREE_SPACE_OVERLAP, FreeSpace::LIST, section.byte, message);
            }
        }
    }
}

const MAX_OVERLAPS: usize = 1000;
