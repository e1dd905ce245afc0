//! Index block of an extensible array.
//!
//! Spec: HDF5 VII.D The Extensible Array Index, Extensible Array Index Block

use super::decode_version;
use crate::format::chunk_index::page::check_count;
use crate::format::chunk_index::{Client, Element};
use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Result};

/// The first elements, and the addresses of data blocks and secondary blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensibleArrayIndexBlock {
    /// The address of the header of the array.
    pub header: Address,
    /// The first elements.
    pub elements: Vec<Element>,
    /// The addresses of the first data blocks.
    pub data_blocks: Vec<Address>,
    /// The addresses of the secondary blocks.
    pub secondary_blocks: Vec<Address>,
}

/// The parameters that determine the layout of an index block.
#[derive(Clone, Copy, Debug)]
pub struct IndexBlockContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The client of the array.
    pub client: Client,
    /// The number of elements.
    pub elements: u64,
    /// The number of data block addresses.
    pub data_blocks: u64,
    /// The number of secondary block addresses.
    pub secondary_blocks: u64,
}

impl IndexBlockContext {
    /// The size of an index block in bytes.
    pub fn stored_len(&self) -> u64 {
        let offsets = u64::from(self.sizes.offsets);
        10 + self.elements * u64::from(self.client.element_size(&self.sizes))
            + (1 + self.data_blocks + self.secondary_blocks) * offsets
    }
}

impl Structure for ExtensibleArrayIndexBlock {
    type Context = IndexBlockContext;
    const NAME: &'static str = "Extensible Array Index Block";

    fn decode(d: &mut Decoder<'_>, context: &IndexBlockContext) -> Result<Self> {
        let start = d.clone();
        d.signature(SIGNATURE)?;
        decode_version(d)?;
        context.client.decode_repeated(d)?;
        let header = context.sizes.address(d)?;
        let elements = context.client.decode_elements(d, &context.sizes, context.elements)?;
        let data_blocks = decode_addresses(d, &context.sizes, context.data_blocks)?;
        let secondary_blocks = decode_addresses(d, &context.sizes, context.secondary_blocks)?;
        verify_checksum(&start, d)?;
        Ok(ExtensibleArrayIndexBlock { header, elements, data_blocks, secondary_blocks })
    }

    fn encode(&self, e: &mut Encoder, context: &IndexBlockContext) -> Result<()> {
        let start = e.len();
        e.bytes(SIGNATURE);
        e.u8(0);
        e.u8(context.client.code());
        context.sizes.put_address(e, self.header)?;
        check_count(&self.elements, context.elements)?;
        context.client.encode_elements(e, &context.sizes, &self.elements)?;
        encode_addresses(e, &context.sizes, &self.data_blocks, context.data_blocks)?;
        encode_addresses(e, &context.sizes, &self.secondary_blocks, context.secondary_blocks)?;
        append_checksum(e, start)
    }
}

pub(super) fn decode_addresses(d: &mut Decoder<'_>, sizes: &Sizes, count: u64) -> Result<Vec<Address>> {
    (0..d.count(count, sizes.offsets.into())?).map(|_| sizes.address(d)).collect()
}

pub(super) fn encode_addresses(
    e: &mut Encoder,
    sizes: &Sizes,
    addresses: &[Address],
    count: u64,
) -> Result<()> {
    check_count(addresses, count)?;
    addresses.iter().try_for_each(|address| sizes.put_address(e, *address))
}

const SIGNATURE: &[u8] = b"EAIB";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    fn context(client: Client) -> IndexBlockContext {
        IndexBlockContext { sizes: Sizes::DEFAULT, client, elements: 4, data_blocks: 6, secondary_blocks: 25 }
    }

    structure_tests!(ExtensibleArrayIndexBlock, context: context(Client::Unfiltered),
        golden: [include_str!("../../../../tests/golden/extensible_array_index_block.hex")],
        values: []);

    mod filtered {
        use super::*;
        structure_tests!(ExtensibleArrayIndexBlock, context: context(Client::Filtered { size_width: 2 }),
            golden: [include_str!("../../../../tests/golden/extensible_array_index_block_filtered.hex")],
            values: []);
    }

    #[test]
    fn stored_len_is_the_number_of_encoded_bytes() {
        let bytes = hex(include_str!("../../../../tests/golden/extensible_array_index_block.hex"));
        assert_eq!(context(Client::Unfiltered).stored_len(), bytes.len() as u64);
    }
}
