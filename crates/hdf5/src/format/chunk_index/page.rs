//! Pages of data blocks, and the bitmaps of the pages that were ever written.
//!
//! Spec: HDF5 VII.C The Fixed Array Index and VII.D The Extensible Array Index, Data Block Page

use crate::format::chunk_index::{Client, Element};
use crate::format::{Sizes, Structure, append_checksum, verify_checksum};
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A part of a large data block, with its own checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataBlockPage {
    /// The elements.
    pub elements: Vec<Element>,
}

/// The parameters that determine the layout of a page.
#[derive(Clone, Copy, Debug)]
pub struct PageContext {
    /// The widths of addresses and lengths.
    pub sizes: Sizes,
    /// The client of the array.
    pub client: Client,
    /// The number of elements.
    pub elements: u64,
}

impl PageContext {
    /// The size of a page in bytes.
    pub fn stored_len(&self) -> u64 {
        self.elements.saturating_mul(self.client.element_size(&self.sizes).into()).saturating_add(4)
    }
}

impl Structure for DataBlockPage {
    type Context = PageContext;
    const NAME: &'static str = "Data Block Page";

    fn decode(d: &mut Decoder<'_>, context: &PageContext) -> Result<Self> {
        let start = d.clone();
        let elements = context.client.decode_elements(d, &context.sizes, context.elements)?;
        verify_checksum(&start, d)?;
        Ok(DataBlockPage { elements })
    }

    fn encode(&self, e: &mut Encoder, context: &PageContext) -> Result<()> {
        let start = e.len();
        check_count(&self.elements, context.elements)?;
        context.client.encode_elements(e, &context.sizes, &self.elements)?;
        append_checksum(e, start)
    }
}

/// Whether the bit of a page is set. The first page has the highest bit of the first byte; the specification does not
/// define the order.
pub fn is_initialized(bitmap: &[u8], page: u64) -> bool {
    let byte = usize::try_from(page / 8).ok().and_then(|at| bitmap.get(at));
    byte.is_some_and(|byte| byte & (0x80 >> (page % 8)) != 0)
}

/// Sets the bit of a page; see [`is_initialized`].
pub fn initialize(bitmap: &mut [u8], page: u64) {
    if let Some(byte) = usize::try_from(page / 8).ok().and_then(|at| bitmap.get_mut(at)) {
        *byte |= 0x80 >> (page % 8);
    }
}

pub(super) fn check_count<T>(items: &[T], expected: u64) -> Result<()> {
    if items.len() as u64 != expected {
        return Err(Error::invalid(format!("{} items, expected {expected}", items.len())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Address;
    use crate::format::structure_tests::structure_tests;

    const FILTERED: PageContext =
        PageContext { sizes: Sizes::DEFAULT, client: Client::Filtered { size_width: 2 }, elements: 2 };

    structure_tests!(DataBlockPage, context: FILTERED,
    golden: [],
    values: [DataBlockPage {
        elements: vec![
            Element { address: Address(0x800), size: 0xffff, filter_mask: 1 },
            Element { address: Address::UNDEFINED, size: 0, filter_mask: 0 },
        ],
    }]);

    #[test]
    fn the_first_page_has_the_highest_bit() {
        let bitmap = [0b1000_0001, 0b0100_0000];
        let set: Vec<u64> = (0..20).filter(|page| is_initialized(&bitmap, *page)).collect();
        assert_eq!(set, [0, 7, 9]);
        let mut same = [0; 2];
        set.iter().for_each(|page| initialize(&mut same, *page));
        assert_eq!(same, bitmap);
    }

    #[test]
    fn rejects_sizes_that_do_not_fit() {
        let element = Element { address: Address(1), size: 0x1_0000, filter_mask: 0 };
        let page = DataBlockPage { elements: vec![element; 2] };
        assert!(page.encode(&mut Encoder::new(), &FILTERED).is_err());
        let page = DataBlockPage { elements: vec![] };
        assert!(page.encode(&mut Encoder::new(), &FILTERED).is_err());
    }
}
