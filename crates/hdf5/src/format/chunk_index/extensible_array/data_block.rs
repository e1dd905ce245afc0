//! Data block of an extensible array.
//!
//! Spec: HDF5 VII.D The Extensible Array Index, Extensible Array Data Block

use super::decode_version;
use crate::format::chunk_index::page::check_count;
use crate::format::chunk_index::{Client, Element};
use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Result};

/// A block of elements. If it has pages, they follow it and hold the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensibleArrayDataBlock {
    /// The address of the header of the array.
    pub header: Address,
    /// The index of the first element, not counting those of the index block. libhdf5 stores another number in blocks
    /// that the index block points to, so readers cannot rely on it.
    pub block_offset: u64,
    /// The elements; empty if there are pages.
    pub elements: Vec<Element>,
}

/// The parameters that determine the layout of a data block.
#[derive(Clone, Copy, Debug)]
pub struct DataBlockContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The client of the array.
    pub client: Client,
    /// The size of an index in bytes.
    pub offset_width: u8,
    /// The number of elements in the block itself; 0 if there are pages.
    pub elements: u64,
}

impl DataBlockContext {
    /// The size of a data block in bytes, without its pages.
    pub fn stored_len(&self) -> u64 {
        let prefix = 10 + u64::from(self.sizes.offsets) + u64::from(self.offset_width);
        self.elements.saturating_mul(self.client.element_size(&self.sizes).into()).saturating_add(prefix)
    }
}

impl Structure for ExtensibleArrayDataBlock {
    type Context = DataBlockContext;
    const NAME: &'static str = "Extensible Array Data Block";

    fn decode(d: &mut Decoder<'_>, context: &DataBlockContext) -> Result<Self> {
        let start = d.clone();
        d.signature(SIGNATURE)?;
        decode_version(d)?;
        context.client.decode_repeated(d)?;
        let header = context.sizes.address(d)?;
        let block_offset = d.uint(context.offset_width)?;
        let elements = context.client.decode_elements(d, &context.sizes, context.elements)?;
        verify_checksum(&start, d)?;
        Ok(ExtensibleArrayDataBlock { header, block_offset, elements })
    }

    fn encode(&self, e: &mut Encoder, context: &DataBlockContext) -> Result<()> {
        let start = e.len();
        e.bytes(SIGNATURE);
        e.u8(0);
        e.u8(context.client.code());
        context.sizes.put_address(e, self.header)?;
        e.uint(context.offset_width, self.block_offset)?;
        check_count(&self.elements, context.elements)?;
        context.client.encode_elements(e, &context.sizes, &self.elements)?;
        append_checksum(e, start)
    }
}

const SIGNATURE: &[u8] = b"EADB";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    fn context(client: Client, elements: u64) -> DataBlockContext {
        DataBlockContext { sizes: Sizes::DEFAULT, client, offset_width: 4, elements }
    }

    structure_tests!(ExtensibleArrayDataBlock, context: context(Client::Unfiltered, 16),
        golden: [include_str!("../../../../tests/golden/extensible_array_data_block.hex")],
        values: []);

    mod filtered {
        use super::*;
        structure_tests!(ExtensibleArrayDataBlock, context: context(Client::Filtered { size_width: 2 }, 16),
            golden: [include_str!("../../../../tests/golden/extensible_array_data_block_filtered.hex")],
            values: []);
    }

    mod paged {
        use super::*;
        structure_tests!(ExtensibleArrayDataBlock, context: context(Client::Unfiltered, 0),
            golden: [include_str!("../../../../tests/golden/extensible_array_data_block_paged.hex")],
            values: []);
    }

    #[test]
    fn stored_len_is_the_number_of_encoded_bytes() {
        let bytes = hex(include_str!("../../../../tests/golden/extensible_array_data_block_filtered.hex"));
        assert_eq!(context(Client::Filtered { size_width: 2 }, 16).stored_len(), bytes.len() as u64);
    }
}
