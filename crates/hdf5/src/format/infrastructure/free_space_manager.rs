//! Free-space Manager Header.
//!
//! Spec: HDF5 III.H Disk Format: Level 1H - Free-space Manager

pub mod section_list;

pub use section_list::FreeSpaceSectionList;

use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Result};
use section_list::SectionListContext;

/// The header of a free-space manager, for a fractal heap or for the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeSpaceManagerHeader {
    /// The client whose space is managed.
    pub client: Client,
    /// The number of free bytes.
    pub total_space: u64,
    /// The number of free sections.
    pub section_count: u64,
    /// The number of sections in the section list.
    pub serialized_section_count: u64,
    /// The number of sections that are not in the section list.
    pub unserialized_section_count: u64,
    /// The number of section types of the client.
    pub section_class_count: u16,
    /// The percentage by which the section list shrinks.
    pub shrink_percent: u16,
    /// The percentage by which the section list grows.
    pub expand_percent: u16,
    /// The number of bits of an offset in the client's address space.
    pub address_space_size: u16,
    /// The size of the largest section in bytes.
    pub max_section_size: u64,
    /// The address of the section list.
    pub section_list: Address,
    /// The used size of the section list in bytes.
    pub section_list_used: u64,
    /// The allocated size of the section list in bytes.
    pub section_list_allocated: u64,
}

/// The client of a free-space manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// A fractal heap.
    FractalHeap,
    /// The file.
    File,
}

impl FreeSpaceManagerHeader {
    /// The size of the header in bytes.
    pub fn header_len(sizes: &Sizes) -> u64 {
        18 + 7 * u64::from(sizes.lengths) + u64::from(sizes.offsets)
    }

    /// The parameters that determine the layout of the section list.
    pub fn section_list_context(&self, sizes: &Sizes) -> SectionListContext {
        SectionListContext {
            sizes: *sizes,
            client: self.client,
            len: self.section_list_used,
            section_count: self.serialized_section_count,
            count_width: width_of(self.serialized_section_count),
            size_width: width_of(self.max_section_size),
            offset_width: u8::try_from(self.address_space_size.div_ceil(8)).unwrap_or(u8::MAX),
        }
    }
}

impl Structure for FreeSpaceManagerHeader {
    type Context = Sizes;
    const NAME: &'static str = "Free-space Manager Header";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let start = d.clone();
        d.signature(SIGNATURE)?;
        match d.u8()? {
            0 => {}
            other => return Err(d.unsupported(format!("version {other}, expected 0"))),
        }
        let client = match d.u8()? {
            0 => Client::FractalHeap,
            1 => Client::File,
            other => return Err(d.unsupported(format!("client {other}, expected 0 or 1"))),
        };
        let header = FreeSpaceManagerHeader {
            client,
            total_space: sizes.length(d)?,
            section_count: sizes.length(d)?,
            serialized_section_count: sizes.length(d)?,
            unserialized_section_count: sizes.length(d)?,
            section_class_count: d.u16()?,
            shrink_percent: d.u16()?,
            expand_percent: d.u16()?,
            address_space_size: d.u16()?,
            max_section_size: sizes.length(d)?,
            section_list: sizes.address(d)?,
            section_list_used: sizes.length(d)?,
            section_list_allocated: sizes.length(d)?,
        };
        verify_checksum(&start, d)?;
        Ok(header)
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let start = e.len();
        e.bytes(SIGNATURE);
        e.u8(0);
        e.u8(match self.client {
            Client::FractalHeap => 0,
            Client::File => 1,
        });
        sizes.put_length(e, self.total_space)?;
        sizes.put_length(e, self.section_count)?;
        sizes.put_length(e, self.serialized_section_count)?;
        sizes.put_length(e, self.unserialized_section_count)?;
        e.u16(self.section_class_count);
        e.u16(self.shrink_percent);
        e.u16(self.expand_percent);
        e.u16(self.address_space_size);
        sizes.put_length(e, self.max_section_size)?;
        sizes.put_address(e, self.section_list)?;
        sizes.put_length(e, self.section_list_used)?;
        sizes.put_length(e, self.section_list_allocated)?;
        append_checksum(e, start)
    }
}

/// The number of bytes that `number` needs.
fn width_of(number: u64) -> u8 {
    u8::try_from(number.checked_ilog2().unwrap_or(0) / 8 + 1).unwrap_or(8)
}

const SIGNATURE: &[u8] = b"FSHD";

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    pub(super) const HEAP: &str = include_str!("../../../tests/golden/free_space_header_heap.hex");
    pub(super) const FILE: &str = include_str!("../../../tests/golden/free_space_header_file.hex");

    structure_tests!(FreeSpaceManagerHeader, context: Sizes::DEFAULT, golden: [HEAP, FILE], values: []);

    pub(super) fn decode(text: &str) -> FreeSpaceManagerHeader {
        let bytes = hex(text);
        assert_eq!(bytes.len() as u64, FreeSpaceManagerHeader::header_len(&Sizes::DEFAULT));
        FreeSpaceManagerHeader::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap()
    }

    #[test]
    fn golden_headers_have_the_expected_clients() {
        assert_eq!(decode(HEAP).client, Client::FractalHeap);
        assert_eq!(decode(FILE).client, Client::File);
        assert!(decode(FILE).serialized_section_count > 1);
    }
}
