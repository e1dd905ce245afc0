//! Free-space Section List.
//!
//! Spec: HDF5 III.H Disk Format: Level 1H - Free-space Manager, "Layout: Free-space Section List"

use super::Client;
use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// Free sections, grouped by size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeSpaceSectionList {
    /// The address of the header of the manager.
    pub header: Address,
    /// The groups of sections of equal size.
    pub sets: Vec<SectionSet>,
}

/// Free sections of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionSet {
    /// The size of each section in bytes.
    pub size: u64,
    /// The sections.
    pub sections: Vec<Section>,
}

/// A free section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The offset in the client's address space.
    pub offset: u64,
    /// The type of the section.
    pub kind: SectionKind,
}

/// The type of a free section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// Bytes of the file. The number is the section type: 0 without paging, 1 within a page, 2 whole pages.
    File(u8),
    /// Type 0 of a heap: bytes in a direct block.
    Single,
    /// Type 1 of a heap: the first row of an indirect section.
    FirstRow(IndirectSection),
    /// Type 2 of a heap: a later row of an indirect section.
    NormalRow,
    /// Type 3 of a heap: blocks of an indirect block that do not exist.
    Indirect(IndirectSection),
}

/// Blocks of an indirect block that do not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndirectSection {
    /// The offset of the indirect block in the address space of the heap.
    pub block_offset: u64,
    /// The row of the first block.
    pub start_row: u16,
    /// The column of the first block.
    pub start_column: u16,
    /// The number of blocks.
    pub block_count: u16,
}

/// The parameters that determine the layout of a section list.
#[derive(Clone, Copy, Debug)]
pub struct SectionListContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The client of the manager.
    pub client: Client,
    /// The used size of the list in bytes.
    pub len: u64,
    /// The number of sections.
    pub section_count: u64,
    /// The size in bytes of a number of sections.
    pub count_width: u8,
    /// The size in bytes of the size of a section.
    pub size_width: u8,
    /// The size in bytes of an offset in the client's address space.
    pub offset_width: u8,
}

impl SectionListContext {
    /// The used size in bytes of a list of these sections.
    pub fn list_len(&self, sets: &[SectionSet]) -> u64 {
        let offset = u64::from(self.offset_width);
        let of_section = |section: &Section| match section.kind {
            SectionKind::FirstRow(_) | SectionKind::Indirect(_) => 2 * offset + 7,
            SectionKind::File(_) | SectionKind::Single | SectionKind::NormalRow => offset + 1,
        };
        let sections = sets.iter().flat_map(|set| &set.sections).map(of_section).sum::<u64>();
        let fields = u64::from(self.count_width) + u64::from(self.size_width);
        5 + u64::from(self.sizes.offsets) + fields * sets.len() as u64 + sections + CHECKSUM_LEN as u64
    }
}

impl Structure for FreeSpaceSectionList {
    type Context = SectionListContext;
    const NAME: &'static str = "Free-space Section List";

    fn decode(d: &mut Decoder<'_>, context: &SectionListContext) -> Result<Self> {
        let start = d.clone();
        d.signature(SIGNATURE)?;
        match d.u8()? {
            0 => {}
            other => return Err(d.unsupported(format!("version {other}, expected 0"))),
        }
        let header = context.sizes.address(d)?;
        let read = start.remaining() - d.remaining() + CHECKSUM_LEN;
        let rest = context.len.checked_sub(read as u64).ok_or_else(|| {
            d.malformed(format!("section list of {} bytes, expected at least {read}", context.len))
        })?;
        let mut body = d.sub(Self::NAME, d.len_of(rest)?)?;
        let mut sets = Vec::new();
        let mut left = context.section_count;
        while left > 0 {
            let set = SectionSet::decode(&mut body, context, left)?;
            left -= set.sections.len() as u64;
            sets.push(set);
        }
        verify_checksum(&start, d)?;
        Ok(FreeSpaceSectionList { header, sets })
    }

    fn encode(&self, e: &mut Encoder, context: &SectionListContext) -> Result<()> {
        let start = e.len();
        e.bytes(SIGNATURE);
        e.u8(0);
        context.sizes.put_address(e, self.header)?;
        let count: usize = self.sets.iter().map(|set| set.sections.len()).sum();
        if count as u64 != context.section_count {
            return Err(Error::invalid(format!("{count} sections, expected {}", context.section_count)));
        }
        self.sets.iter().try_for_each(|set| set.encode(e, context))?;
        // There may be a gap before the checksum.
        let written = e.len() - start + CHECKSUM_LEN;
        let gap = context.len.checked_sub(written as u64).and_then(|gap| usize::try_from(gap).ok());
        e.reserved(gap.ok_or_else(|| {
            Error::invalid(format!("{written} bytes do not fit in a section list of {}", context.len))
        })?);
        append_checksum(e, start)
    }
}

impl SectionSet {
    fn decode(d: &mut Decoder<'_>, context: &SectionListContext, left: u64) -> Result<Self> {
        let at = d.clone();
        let count = d.uint(context.count_width)?;
        if count == 0 || count > left {
            return Err(at.malformed(format!("{count} sections of one size, expected 1 to {left}")));
        }
        let size = d.uint(context.size_width)?;
        let sections = (0..d.count(count, usize::from(context.offset_width) + 1)?)
            .map(|_| Section::decode(d, context))
            .collect::<Result<_>>()?;
        Ok(SectionSet { size, sections })
    }

    fn encode(&self, e: &mut Encoder, context: &SectionListContext) -> Result<()> {
        e.len_as(context.count_width, self.sections.len())?;
        e.uint(context.size_width, self.size)?;
        self.sections.iter().try_for_each(|section| section.encode(e, context))
    }
}

impl Section {
    fn decode(d: &mut Decoder<'_>, context: &SectionListContext) -> Result<Self> {
        let offset = d.uint(context.offset_width)?;
        let at = d.clone();
        let kind = match (context.client, d.u8()?) {
            (Client::File, section_type @ 0..=2) => SectionKind::File(section_type),
            (Client::File, other) => {
                return Err(at.unsupported(format!("section type {other}, expected 0 to 2")));
            }
            (Client::FractalHeap, 0) => SectionKind::Single,
            (Client::FractalHeap, 1) => SectionKind::FirstRow(IndirectSection::decode(d, context)?),
            (Client::FractalHeap, 2) => SectionKind::NormalRow,
            (Client::FractalHeap, 3) => SectionKind::Indirect(IndirectSection::decode(d, context)?),
            (Client::FractalHeap, other) => {
                return Err(at.unsupported(format!("section type {other}, expected 0 to 3")));
            }
        };
        Ok(Section { offset, kind })
    }

    fn encode(&self, e: &mut Encoder, context: &SectionListContext) -> Result<()> {
        e.uint(context.offset_width, self.offset)?;
        let (client, section_type, indirect) = match &self.kind {
            SectionKind::File(section_type) => (Client::File, *section_type, None),
            SectionKind::Single => (Client::FractalHeap, 0, None),
            SectionKind::FirstRow(indirect) => (Client::FractalHeap, 1, Some(indirect)),
            SectionKind::NormalRow => (Client::FractalHeap, 2, None),
            SectionKind::Indirect(indirect) => (Client::FractalHeap, 3, Some(indirect)),
        };
        if client != context.client {
            return Err(Error::invalid(format!(
                "section of client {client:?} in a list of client {:?}",
                context.client
            )));
        }
        e.u8(section_type);
        indirect.map_or(Ok(()), |indirect| indirect.encode(e, context))
    }
}

impl IndirectSection {
    fn decode(d: &mut Decoder<'_>, context: &SectionListContext) -> Result<Self> {
        Ok(IndirectSection {
            block_offset: d.uint(context.offset_width)?,
            start_row: d.u16()?,
            start_column: d.u16()?,
            block_count: d.u16()?,
        })
    }

    fn encode(&self, e: &mut Encoder, context: &SectionListContext) -> Result<()> {
        e.uint(context.offset_width, self.block_offset)?;
        e.u16(self.start_row);
        e.u16(self.start_column);
        e.u16(self.block_count);
        Ok(())
    }
}

const SIGNATURE: &[u8] = b"FSSE";
const CHECKSUM_LEN: usize = 4;

#[cfg(test)]
mod tests {
    use super::super::tests::{FILE, HEAP, decode};
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    const HEAP_SECTIONS: &str = include_str!("../../../../tests/golden/free_space_sections_heap.hex");
    const FILE_SECTIONS: &str = include_str!("../../../../tests/golden/free_space_sections_file.hex");

    fn context(header: &str) -> SectionListContext {
        decode(header).section_list_context(&Sizes::DEFAULT)
    }

    mod heap {
        use super::*;
        structure_tests!(FreeSpaceSectionList, context: context(HEAP), golden: [HEAP_SECTIONS], values: []);
    }

    mod file {
        use super::*;
        structure_tests!(FreeSpaceSectionList, context: context(FILE), golden: [FILE_SECTIONS], values: []);
    }

    #[test]
    fn lengths_of_golden_lists_follow_from_their_sections() {
        for (header, sections) in [(HEAP, HEAP_SECTIONS), (FILE, FILE_SECTIONS)] {
            let bytes = hex(sections);
            let context = context(header);
            let list = FreeSpaceSectionList::decode(&mut Decoder::new("t", 0, &bytes), &context).unwrap();
            assert_eq!(context.list_len(&list.sets), bytes.len() as u64);
        }
    }

    #[test]
    fn sections_of_golden_lists_add_up_to_the_free_space() {
        for (header, sections) in [(HEAP, HEAP_SECTIONS), (FILE, FILE_SECTIONS)] {
            let bytes = hex(sections);
            let mut d = Decoder::new("t", 0, &bytes);
            let list = FreeSpaceSectionList::decode(&mut d, &context(header)).unwrap();
            let sum: u64 = list.sets.iter().map(|set| set.size * set.sections.len() as u64).sum();
            // Blocks that do not exist count by the data that they can hold.
            assert!(sum >= decode(header).total_space, "{list:?}");
        }
    }
}
