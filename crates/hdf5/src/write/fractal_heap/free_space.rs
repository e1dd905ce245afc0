//! The free-space manager of a heap.
//!
//! Spec: HDF5 III.H Disk Format: Level 1H - Free-space Manager

use super::{FractalHeapBuilder, Skipped, WIDTH};
use crate::format::infrastructure::free_space_manager::Client;
use crate::format::infrastructure::free_space_manager::section_list::{Section, SectionKind, SectionSet};
use crate::format::infrastructure::{FreeSpaceManagerHeader, FreeSpaceSectionList};
use crate::format::{Address, Structure};
use crate::space::SpaceKind;
use crate::write::{Sink, put};
use hyperslab_core::{Encoder, Error, Result};
use std::collections::BTreeMap;

/// The free sections of a heap. Only the first row of skipped blocks is in the list, and stands for the others.
#[derive(Default)]
struct Sections {
    /// By size.
    listed: BTreeMap<u64, Vec<Section>>,
    listed_count: u64,
    unlisted_count: u64,
    bytes: u64,
}

impl Sections {
    fn list(&mut self, size: u64, section: Section) {
        self.listed.entry(size).or_default().push(section);
        self.listed_count += 1;
        self.bytes += size;
    }
}

impl<const N: usize> FractalHeapBuilder<N> {
    /// Writes the manager, if anything is free.
    pub(super) fn write_free_space(&mut self, sink: &mut dyn Sink) -> Result<()> {
        let sections = self.sections()?;
        if sections.listed_count == 0 {
            return Ok(());
        }
        let mut sets: Vec<SectionSet> = Vec::with_capacity(sections.listed.len());
        for (size, mut sections) in sections.listed {
            sections.sort_by_key(|section| section.offset);
            sets.push(SectionSet { size, sections });
        }
        let mut header = FreeSpaceManagerHeader {
            client: Client::FractalHeap,
            total_space: sections.bytes,
            section_count: sections.listed_count + sections.unlisted_count,
            serialized_section_count: sections.listed_count,
            unserialized_section_count: sections.unlisted_count,
            section_class_count: SECTION_CLASSES,
            shrink_percent: SHRINK_PERCENT,
            expand_percent: EXPAND_PERCENT,
            address_space_size: self.header.table.max_heap_size,
            max_section_size: self.header.table.max_direct_block_size,
            section_list: Address::UNDEFINED,
            section_list_used: 0,
            section_list_allocated: 0,
        };
        let len = header.section_list_context(&self.sizes).list_len(&sets);
        header.section_list_used = len;
        header.section_list_allocated = len;
        header.section_list = sink.allocate(SpaceKind::Metadata, len)?;
        let context = header.section_list_context(&self.sizes);
        let address = put(sink, SpaceKind::Metadata, &header, &self.sizes)?;
        let list = FreeSpaceSectionList { header: address, sets };
        let mut e = Encoder::new();
        list.encode(&mut e, &context)?;
        sink.write(header.section_list, e.as_slice())?;
        self.header.free_space_manager = address;
        Ok(())
    }

    fn sections(&self) -> Result<Sections> {
        let mut sections = Sections::default();
        for (free, index) in &self.rests {
            let block = self.blocks.get(*index).ok_or_else(|| Error::invalid("free bytes in no block"))?;
            let offset = block.offset + block.size - free;
            sections.list(*free, Section { offset, kind: SectionKind::Single });
        }
        for Skipped { offset, blocks } in &self.skipped {
            let first = u64::from(blocks.start_row) * u64::from(WIDTH) + u64::from(blocks.start_column);
            let end_row = (first + u64::from(blocks.block_count)).div_ceil(WIDTH.into());
            for row in u64::from(blocks.start_row)..end_row {
                let size = u32::try_from(row).ok().and_then(|row| self.geometry.block_size(row));
                let size = size.and_then(|size| size.checked_sub(self.prefix_len));
                let size = size.ok_or_else(|| Error::invalid(format!("no block in row {row}")))?;
                if row == blocks.start_row.into() {
                    let kind = SectionKind::FirstRow(blocks.clone());
                    sections.list(size, Section { offset: *offset, kind });
                } else {
                    sections.unlisted_count += 1;
                    sections.bytes += size;
                }
            }
        }
        Ok(sections)
    }
}

// As in libhdf5.
const SECTION_CLASSES: u16 = 4;
const SHRINK_PERCENT: u16 = 80;
const EXPAND_PERCENT: u16 = 120;
