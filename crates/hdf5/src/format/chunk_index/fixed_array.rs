//! Fixed array: header and data block.
//!
//! Spec: HDF5 VII.C The Fixed Array Index

use crate::format::chunk_index::page::{PageContext, check_count};
use crate::format::chunk_index::{Client, Element};
use crate::format::{Address, Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// The header of a fixed array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedArrayHeader {
    /// The client, which decides the layout of the elements.
    pub client: Client,
    /// The binary logarithm of the maximum number of elements in a page.
    pub page_bits: u8,
    /// The number of elements: one for each chunk that the maximum dimensions allow.
    pub max_entries: u64,
    /// The address of the data block.
    pub data_block: Address,
}

/// The data block: the elements, or a bitmap of the pages that hold them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedArrayDataBlock {
    /// The address of the header of the array.
    pub header: Address,
    /// The elements or the page bitmap.
    pub content: Content,
}

/// The content of a data block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// All elements.
    Elements(Vec<Element>),
    /// A bit for each page that was ever written; see [`is_initialized`](super::page::is_initialized). The pages
    /// follow the data block.
    PageBitmap(Vec<u8>),
}

/// The parameters that determine the layout of a data block.
#[derive(Clone, Copy, Debug)]
pub struct DataBlockContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The client of the array.
    pub client: Client,
    /// The number of elements.
    pub elements: u64,
    /// The number of elements in a page, if there are pages.
    pub page_elements: Option<u64>,
}

impl FixedArrayHeader {
    /// The size of a header in bytes.
    pub fn len(sizes: &Sizes) -> u64 {
        12 + u64::from(sizes.lengths) + u64::from(sizes.offsets)
    }

    /// The parameters that determine the layout of the data block.
    pub fn data_block(&self, sizes: &Sizes) -> DataBlockContext {
        // There are pages only if one page is not enough.
        let page_elements = 1_u64.checked_shl(self.page_bits.into()).filter(|max| self.max_entries > *max);
        DataBlockContext { sizes: *sizes, client: self.client, elements: self.max_entries, page_elements }
    }
}

impl DataBlockContext {
    /// The size of the data block in bytes, without its pages.
    pub fn stored_len(&self) -> u64 {
        let content = match self.page_elements {
            Some(_) => self.page_count().div_ceil(8),
            None => self.elements.saturating_mul(self.client.element_size(&self.sizes).into()),
        };
        content.saturating_add(10 + u64::from(self.sizes.offsets))
    }

    /// The number of pages that follow the data block.
    pub fn page_count(&self) -> u64 {
        self.page_elements.map_or(0, |max| self.elements.div_ceil(max))
    }

    /// The parameters that determine the layout of a page. The last page may hold fewer elements.
    pub fn page(&self, page: u64) -> PageContext {
        let max = self.page_elements.unwrap_or(0);
        let elements = self.elements.saturating_sub(page.saturating_mul(max)).min(max);
        PageContext { sizes: self.sizes, client: self.client, elements }
    }
}

impl Structure for FixedArrayHeader {
    type Context = Sizes;
    const NAME: &'static str = "Fixed Array Header";

    fn decode(d: &mut Decoder<'_>, sizes: &Sizes) -> Result<Self> {
        let start = d.clone();
        d.signature(HEADER)?;
        decode_version(d)?;
        let client = Client::decode(d, sizes)?;
        let page_bits = d.u8()?;
        let max_entries = sizes.length(d)?;
        let data_block = sizes.address(d)?;
        verify_checksum(&start, d)?;
        Ok(FixedArrayHeader { client, page_bits, max_entries, data_block })
    }

    fn encode(&self, e: &mut Encoder, sizes: &Sizes) -> Result<()> {
        let start = e.len();
        e.bytes(HEADER);
        e.u8(0);
        self.client.encode(e, sizes);
        e.u8(self.page_bits);
        sizes.put_length(e, self.max_entries)?;
        sizes.put_address(e, self.data_block)?;
        append_checksum(e, start)
    }
}

impl Structure for FixedArrayDataBlock {
    type Context = DataBlockContext;
    const NAME: &'static str = "Fixed Array Data Block";

    fn decode(d: &mut Decoder<'_>, context: &DataBlockContext) -> Result<Self> {
        let start = d.clone();
        d.signature(DATA_BLOCK)?;
        decode_version(d)?;
        context.client.decode_repeated(d)?;
        let header = context.sizes.address(d)?;
        let content = match context.page_elements {
            Some(_) => {
                let len = d.len_of(context.page_count().div_ceil(8))?;
                Content::PageBitmap(d.take(len)?.to_vec())
            }
            None => Content::Elements(context.client.decode_elements(d, &context.sizes, context.elements)?),
        };
        verify_checksum(&start, d)?;
        Ok(FixedArrayDataBlock { header, content })
    }

    fn encode(&self, e: &mut Encoder, context: &DataBlockContext) -> Result<()> {
        let start = e.len();
        e.bytes(DATA_BLOCK);
        e.u8(0);
        e.u8(context.client.code());
        context.sizes.put_address(e, self.header)?;
        match (&self.content, context.page_elements) {
            (Content::PageBitmap(bitmap), Some(_)) => {
                check_count(bitmap, context.page_count().div_ceil(8))?;
                e.bytes(bitmap);
            }
            (Content::Elements(elements), None) => {
                check_count(elements, context.elements)?;
                context.client.encode_elements(e, &context.sizes, elements)?;
            }
            _ => {
                return Err(Error::invalid(
                    "data block content does not match: elements need a block without pages, a bitmap needs pages",
                ));
            }
        }
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

const HEADER: &[u8] = b"FAHD";
const DATA_BLOCK: &[u8] = b"FADB";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};

    structure_tests!(FixedArrayHeader, context: Sizes::DEFAULT,
        golden: [
            include_str!("../../../tests/golden/fixed_array_header.hex"),
            include_str!("../../../tests/golden/fixed_array_header_filtered.hex"),
            include_str!("../../../tests/golden/fixed_array_header_filtered_v5.hex"),
        ],
        values: []);

    fn header(text: &str) -> FixedArrayHeader {
        let bytes = hex(text);
        FixedArrayHeader::decode(&mut Decoder::new("t", 0, &bytes), &Sizes::DEFAULT).unwrap()
    }

    fn plain() -> DataBlockContext {
        header(include_str!("../../../tests/golden/fixed_array_header.hex")).data_block(&Sizes::DEFAULT)
    }

    fn filtered() -> DataBlockContext {
        header(include_str!("../../../tests/golden/fixed_array_header_filtered.hex"))
            .data_block(&Sizes::DEFAULT)
    }

    fn paged() -> DataBlockContext {
        header(include_str!("../../../tests/golden/fixed_array_header_paged.hex")).data_block(&Sizes::DEFAULT)
    }

    mod data_block {
        use super::*;
        structure_tests!(FixedArrayDataBlock, context: plain(),
            golden: [include_str!("../../../tests/golden/fixed_array_data_block.hex")], values: []);
    }

    mod filtered_data_block {
        use super::*;
        structure_tests!(FixedArrayDataBlock, context: filtered(),
            golden: [include_str!("../../../tests/golden/fixed_array_data_block_filtered.hex")], values: []);
    }

    mod paged_data_block {
        use super::*;
        structure_tests!(FixedArrayDataBlock, context: paged(),
            golden: [include_str!("../../../tests/golden/fixed_array_data_block_paged.hex")], values: []);
    }

    mod last_page {
        use super::*;
        use crate::format::chunk_index::DataBlockPage;
        structure_tests!(DataBlockPage, context: paged().page(2),
            golden: [include_str!("../../../tests/golden/fixed_array_page.hex")], values: []);
    }

    #[test]
    fn lengths_are_the_numbers_of_encoded_bytes() {
        for (context, text) in [
            (plain(), include_str!("../../../tests/golden/fixed_array_data_block.hex")),
            (filtered(), include_str!("../../../tests/golden/fixed_array_data_block_filtered.hex")),
            (paged(), include_str!("../../../tests/golden/fixed_array_data_block_paged.hex")),
        ] {
            assert_eq!(context.stored_len(), hex(text).len() as u64);
        }
        let page = hex(include_str!("../../../tests/golden/fixed_array_page.hex"));
        assert_eq!(paged().page(2).stored_len(), page.len() as u64);
        assert_eq!(paged().page_count(), 3);
    }

    #[test]
    fn lengths_of_huge_arrays_do_not_overflow() {
        for page_bits in [0, 10, 63, 255] {
            let header = FixedArrayHeader {
                client: Client::Filtered { size_width: 8 },
                page_bits,
                max_entries: u64::MAX,
                data_block: Address(0),
            };
            let context = header.data_block(&Sizes::DEFAULT);
            assert!(context.stored_len() > 1);
            let _ = context.page(u64::MAX);
        }
    }
}
