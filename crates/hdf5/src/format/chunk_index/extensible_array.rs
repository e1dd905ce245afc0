//! Extensible array: header, index block, secondary blocks and data blocks.
//!
//! Spec: HDF5 VII.D The Extensible Array Index

pub mod data_block;
pub mod geometry;
pub mod index_block;
pub mod secondary_block;

pub use data_block::ExtensibleArrayDataBlock;
pub use geometry::Geometry;
pub use index_block::ExtensibleArrayIndexBlock;
pub use secondary_block::ExtensibleArraySecondaryBlock;

use crate::format::chunk_index::Client;
use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Result};

/// The header of an extensible array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensibleArrayHeader {
    /// The client, which decides the layout of the elements.
    pub client: Client,
    /// The number of bits of the largest index.
    pub max_elements_bits: u8,
    /// The number of elements in the index block.
    pub index_block_elements: u8,
    /// The number of elements in the smallest data blocks.
    pub data_block_min_elements: u8,
    /// The number of data blocks of the smallest secondary block.
    pub secondary_block_min_data_blocks: u8,
    /// The binary logarithm of the maximum number of elements in a page.
    pub page_bits: u8,
    /// The numbers and sizes of blocks and elements.
    pub statistics: Statistics,
    /// The address of the index block; undefined in an array without elements.
    pub index_block: Address,
}

/// The numbers and sizes of blocks and elements, as the header stores them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of secondary blocks.
    pub secondary_blocks: u64,
    /// The size of all secondary blocks in bytes.
    pub secondary_block_bytes: u64,
    /// The number of data blocks.
    pub data_blocks: u64,
    /// The size of all data blocks in bytes.
    pub data_block_bytes: u64,
    /// One more than the largest index that was ever set.
    pub max_index_set: u64,
    /// The number of elements that the allocated blocks can hold.
    pub elements: u64,
}

impl ExtensibleArrayHeader {
    /// The size of a header in bytes.
    pub fn len(sizes: &Sizes) -> u64 {
        16 + 6 * u64::from(sizes.lengths) + u64::from(sizes.offsets)
    }

    /// The blocks that follow from the parameters of the header.
    ///
    /// # Errors
    /// If the parameters violate the rules of the specification.
    pub fn geometry(&self) -> Result<Geometry> {
        Geometry::new(self)
    }
}

impl Structure for ExtensibleArrayHeader {
    type Context = Sizes;
    const NAME: &'static str = "Extensible Array Header";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let start = d.clone();
        d.signature(SIGNATURE)?;
        decode_version(d)?;
        let client = Client::decode(d, sizes)?;
        let max_elements_bits = d.u8()?;
        let index_block_elements = d.u8()?;
        let data_block_min_elements = d.u8()?;
        let secondary_block_min_data_blocks = d.u8()?;
        let page_bits = d.u8()?;
        let statistics = Statistics {
            secondary_blocks: sizes.length(d)?,
            secondary_block_bytes: sizes.length(d)?,
            data_blocks: sizes.length(d)?,
            data_block_bytes: sizes.length(d)?,
            max_index_set: sizes.length(d)?,
            elements: sizes.length(d)?,
        };
        let index_block = sizes.address(d)?;
        verify_checksum(&start, d)?;
        Ok(ExtensibleArrayHeader {
            client,
            max_elements_bits,
            index_block_elements,
            data_block_min_elements,
            secondary_block_min_data_blocks,
            page_bits,
            statistics,
            index_block,
        })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let start = e.len();
        e.bytes(SIGNATURE);
        e.u8(0);
        self.client.encode(e, sizes);
        e.u8(self.max_elements_bits);
        e.u8(self.index_block_elements);
        e.u8(self.data_block_min_elements);
        e.u8(self.secondary_block_min_data_blocks);
        e.u8(self.page_bits);
        sizes.put_length(e, self.statistics.secondary_blocks)?;
        sizes.put_length(e, self.statistics.secondary_block_bytes)?;
        sizes.put_length(e, self.statistics.data_blocks)?;
        sizes.put_length(e, self.statistics.data_block_bytes)?;
        sizes.put_length(e, self.statistics.max_index_set)?;
        sizes.put_length(e, self.statistics.elements)?;
        sizes.put_address(e, self.index_block)?;
        append_checksum(e, start)
    }
}

fn decode_version(d: &mut Decoder<'_>) -> Result<()> {
    let at = d.clone();
    match d.u8()? {
        0 => Ok(()),
        other => Err(at.unsupported(format!("version {other}, expected 0"))),
    }
}

const SIGNATURE: &[u8] = b"EAHD";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::structure_tests;

    structure_tests!(ExtensibleArrayHeader, context: Sizes::DEFAULT,
        golden: [
            include_str!("../../../tests/golden/extensible_array_header.hex"),
            include_str!("../../../tests/golden/extensible_array_header_filtered.hex"),
            include_str!("../../../tests/golden/extensible_array_header_filtered_v5.hex"),
        ],
        values: []);
}
