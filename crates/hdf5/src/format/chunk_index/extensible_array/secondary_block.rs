//! Secondary block of an extensible array.
//!
//! Spec: HDF5 VII.D The Extensible Array Index, Extensible Array Secondary Block

use super::decode_version;
use super::index_block::{decode_addresses, encode_addresses};
use crate::format::chunk_index::Client;
use crate::format::chunk_index::page::check_count;
use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Result};

/// The addresses of data blocks, and a bitmap of the pages that were ever written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensibleArraySecondaryBlock {
    /// The address of the header of the array.
    pub header: Address,
    /// The index of the first element, not counting those of the index block.
    pub block_offset: u64,
    /// A bit for each page that was ever written; see
    /// [`is_initialized`](crate::format::chunk_index::page::is_initialized).
    pub page_bitmap: Vec<u8>,
    /// The addresses of the data blocks.
    pub data_blocks: Vec<Address>,
}

/// The parameters that determine the layout of a secondary block.
#[derive(Clone, Copy, Debug)]
pub struct SecondaryBlockContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The client of the array.
    pub client: Client,
    /// The size of an index in bytes.
    pub offset_width: u8,
    /// The size of the page bitmap in bytes; 0 if data blocks have no pages.
    pub page_bitmap_len: u64,
    /// The number of data block addresses.
    pub data_blocks: u64,
}

impl SecondaryBlockContext {
    /// The size of a secondary block in bytes.
    pub fn stored_len(&self) -> u64 {
        let offsets = u64::from(self.sizes.offsets);
        (10 + offsets + u64::from(self.offset_width))
            .saturating_add(self.page_bitmap_len)
            .saturating_add(self.data_blocks.saturating_mul(offsets))
    }
}

impl Structure for ExtensibleArraySecondaryBlock {
    type Context = SecondaryBlockContext;
    const NAME: &'static str = "Extensible Array Secondary Block";

    fn decode(d: &mut Decoder<'_>, context: &SecondaryBlockContext) -> Result<Self> {
        let start = d.clone();
        d.signature(SIGNATURE)?;
        decode_version(d)?;
        context.client.decode_repeated(d)?;
        let header = context.sizes.address(d)?;
        let block_offset = d.uint(context.offset_width)?;
        let bitmap_len = d.len_of(context.page_bitmap_len)?;
        let page_bitmap = d.take(bitmap_len)?.to_vec();
        let data_blocks = decode_addresses(d, &context.sizes, context.data_blocks)?;
        verify_checksum(&start, d)?;
        Ok(ExtensibleArraySecondaryBlock { header, block_offset, page_bitmap, data_blocks })
    }

    fn encode(&self, e: &mut Encoder, context: &SecondaryBlockContext) -> Result<()> {
        let start = e.len();
        e.bytes(SIGNATURE);
        e.u8(0);
        e.u8(context.client.code());
        context.sizes.put_address(e, self.header)?;
        e.uint(context.offset_width, self.block_offset)?;
        check_count(&self.page_bitmap, context.page_bitmap_len)?;
        e.bytes(&self.page_bitmap);
        encode_addresses(e, &context.sizes, &self.data_blocks, context.data_blocks)?;
        append_checksum(e, start)
    }
}

const SIGNATURE: &[u8] = b"EASB";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    fn context(data_blocks: u64, page_bitmap_len: u64) -> SecondaryBlockContext {
        SecondaryBlockContext {
            sizes: Sizes::DEFAULT,
            client: Client::Unfiltered,
            offset_width: 4,
            page_bitmap_len,
            data_blocks,
        }
    }

    structure_tests!(ExtensibleArraySecondaryBlock, context: context(4, 0),
        golden: [include_str!("../../../../tests/golden/extensible_array_secondary_block.hex")],
        values: []);

    mod paged {
        use super::*;
        structure_tests!(ExtensibleArraySecondaryBlock, context: context(64, 64),
            golden: [include_str!("../../../../tests/golden/extensible_array_secondary_block_paged.hex")],
            values: []);
    }

    #[test]
    fn stored_len_is_the_number_of_encoded_bytes() {
        let bytes = hex(include_str!("../../../../tests/golden/extensible_array_secondary_block.hex"));
        assert_eq!(context(4, 0).stored_len(), bytes.len() as u64);
        let bytes = hex(include_str!("../../../../tests/golden/extensible_array_secondary_block_paged.hex"));
        assert_eq!(context(64, 64).stored_len(), bytes.len() as u64);
    }
}
