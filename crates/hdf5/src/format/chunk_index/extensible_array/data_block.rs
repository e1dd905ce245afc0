//! Data block of an extensible array.
//!
//! Spec: HDF5 VII.D The Extensible Array Index, Extensible Array Data Block

use super::decode_version;
use crate::format::chunk_index::page::check_count;
use crate::format::chunk_index::{Client, Element};
use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Result};

/// Some elements, or what the pages follow that hold them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensibleArrayDataBlock {
    /// The header of the array.
    pub header: Address,
    /// The index of the first element, not counting those of the index block. libhdf5 stores something else
    /// in blocks that the index block points to, so nothing follows from it.
    pub block_offset: u64,
    /// The elements; none if there are pages.
    pub elements: Vec<Element>,
}

/// What the bytes of a data block depend on.
#[derive(Clone, Copy, Debug)]
pub struct DataBlockContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// What the elements are.
    pub client: Client,
    /// The bytes of an index.
    pub offset_width: u8,
    /// How many elements there are outside of pages.
    pub elements: u64,
}

impl DataBlockContext {
    /// The number of bytes of a data block, pages not included.
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
    fn length_is_that_of_the_bytes() {
        let bytes = hex(include_str!("../../../../tests/golden/extensible_array_data_block_filtered.hex"));
        assert_eq!(context(Client::Filtered { size_width: 2 }, 16).stored_len(), bytes.len() as u64);
    }
}
