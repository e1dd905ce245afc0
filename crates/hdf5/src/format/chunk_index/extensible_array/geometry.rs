//! Which block of an extensible array holds which elements.
//!
//! Spec: HDF5 VII.D The Extensible Array Index. The specification leaves the sizes of blocks out; they are
//! those of libhdf5.

use super::ExtensibleArrayHeader;
use super::data_block::DataBlockContext;
use super::index_block::IndexBlockContext;
use super::secondary_block::SecondaryBlockContext;
use crate::format::Sizes;
use crate::format::chunk_index::Client;
use crate::format::chunk_index::page::PageContext;
use hyperslab_core::{Error, Result};

/// The sizes of blocks that follow from the parameters in the header.
///
/// Behind the elements of the index block, the array is cut into secondary blocks. Secondary block `u` has
/// 2^⌊u/2⌋ data blocks of 2^⌈u/2⌉ times the least number of elements. The first secondary blocks do not exist:
/// the index block points to their data blocks itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    client: Client,
    offset_width: u8,
    index_block_elements: u64,
    data_block_min_elements: u64,
    /// How many secondary blocks the index block stands in for.
    implied: u32,
    /// How many secondary blocks there are, implied ones included.
    secondary_blocks: u32,
    page_elements: Option<u64>,
}

/// One secondary block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondaryBlock {
    /// The index of its first element.
    pub start: u64,
    /// How many data blocks it has.
    pub data_blocks: u64,
    /// How many elements each of them holds.
    pub elements: u64,
    /// How many elements a page holds, if its data blocks have pages.
    pub page_elements: Option<u64>,
}

impl Geometry {
    pub(super) fn new(header: &ExtensibleArrayHeader) -> Result<Self> {
        let least = header.data_block_min_elements;
        let pointers = header.secondary_block_min_data_blocks;
        if !least.is_power_of_two() {
            return Err(Error::malformed(format!(
                "data blocks of {least} elements, expected a power of two"
            )));
        }
        if !pointers.is_power_of_two() || pointers < 2 {
            return Err(Error::malformed(format!(
                "secondary blocks of {pointers} data blocks, expected a power of two from 2"
            )));
        }
        let bits = u32::from(header.max_elements_bits);
        let implied = 2 * pointers.ilog2();
        let secondary_blocks = (1 + bits).saturating_sub(least.ilog2());
        if bits > u64::BITS || secondary_blocks < implied {
            return Err(Error::malformed(format!(
                "indexes of {bits} bits for data blocks of {least} elements"
            )));
        }
        Ok(Geometry {
            client: header.client,
            offset_width: header.max_elements_bits.div_ceil(8),
            index_block_elements: header.index_block_elements.into(),
            data_block_min_elements: least.into(),
            implied,
            secondary_blocks,
            page_elements: 1_u64.checked_shl(header.page_bits.into()),
        })
    }

    /// How many elements the index block holds itself.
    pub fn index_block_elements(&self) -> u64 {
        self.index_block_elements
    }

    /// The secondary blocks whose data blocks the index block points to, in order.
    pub fn implied_secondary_blocks(&self) -> impl Iterator<Item = Result<SecondaryBlock>> {
        let geometry = *self;
        (0..self.implied).map(move |u| geometry.block(u))
    }

    /// The secondary block at a place among the addresses of the index block.
    ///
    /// # Errors
    /// If its elements have indexes past 2⁶⁴.
    pub fn secondary_block(&self, place: usize) -> Result<SecondaryBlock> {
        let u = u32::try_from(place).ok().and_then(|place| place.checked_add(self.implied));
        self.block(u.unwrap_or(u32::MAX))
    }

    fn block(&self, u: u32) -> Result<SecondaryBlock> {
        let block = || {
            let data_blocks = 1_u64.checked_shl(u / 2)?;
            let elements = self.data_block_min_elements.checked_mul(1_u64.checked_shl(u.div_ceil(2))?)?;
            let before = self.data_block_min_elements.checked_mul(1_u64.checked_shl(u)? - 1)?;
            let start = self.index_block_elements.checked_add(before)?;
            start.checked_add(data_blocks.checked_mul(elements)?)?;
            let page_elements = self.page_elements.filter(|most| elements > *most);
            Some(SecondaryBlock { start, data_blocks, elements, page_elements })
        };
        block().ok_or_else(|| Error::malformed(format!("secondary block {u} has indexes past 2^64")))
    }

    /// What the bytes of the index block depend on.
    pub fn index_block(&self, sizes: &Sizes) -> IndexBlockContext {
        IndexBlockContext {
            sizes: *sizes,
            client: self.client,
            elements: self.index_block_elements,
            data_blocks: 2 * ((1 << (self.implied / 2)) - 1),
            secondary_blocks: (self.secondary_blocks - self.implied).into(),
        }
    }

    /// What the bytes of a secondary block depend on.
    pub fn secondary_block_context(&self, sizes: &Sizes, block: &SecondaryBlock) -> SecondaryBlockContext {
        SecondaryBlockContext {
            sizes: *sizes,
            client: self.client,
            offset_width: self.offset_width,
            page_bitmap_len: block.data_blocks.saturating_mul(block.page_count().div_ceil(8)),
            data_blocks: block.data_blocks,
        }
    }

    /// What the bytes of the data blocks of a secondary block depend on.
    pub fn data_block_context(&self, sizes: &Sizes, block: &SecondaryBlock) -> DataBlockContext {
        DataBlockContext {
            sizes: *sizes,
            client: self.client,
            offset_width: self.offset_width,
            elements: if block.page_elements.is_some() { 0 } else { block.elements },
        }
    }

    /// What the bytes of the pages of a secondary block's data blocks depend on.
    pub fn page_context(&self, sizes: &Sizes, block: &SecondaryBlock) -> PageContext {
        PageContext { sizes: *sizes, client: self.client, elements: block.page_elements.unwrap_or(0) }
    }
}

impl SecondaryBlock {
    /// How many pages each data block has. The bits of one data block's pages follow those of the one
    /// before at once, although the bitmap is allocated in whole bytes for each.
    pub fn page_count(&self) -> u64 {
        self.page_elements.map_or(0, |most| self.elements / most)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Statistics;
    use super::*;
    use crate::format::Address;

    fn header() -> ExtensibleArrayHeader {
        ExtensibleArrayHeader {
            client: Client::Unfiltered,
            max_elements_bits: 32,
            index_block_elements: 4,
            data_block_min_elements: 16,
            secondary_block_min_data_blocks: 4,
            page_bits: 10,
            statistics: Statistics::default(),
            index_block: Address(0),
        }
    }

    #[test]
    fn blocks_follow_each_other_without_gaps() {
        let geometry = header().geometry().unwrap();
        let index = geometry.index_block(&Sizes::DEFAULT);
        assert_eq!((index.elements, index.data_blocks, index.secondary_blocks), (4, 6, 25));
        let mut next = 4;
        let mut implied = 0;
        let explicit = (0..25).map(|place| geometry.secondary_block(place));
        for (u, block) in geometry.implied_secondary_blocks().chain(explicit).enumerate() {
            let block = block.unwrap();
            assert_eq!(block.start, next, "{u}");
            assert_eq!(block.page_elements.is_some(), u >= 13, "{u}");
            next += block.data_blocks * block.elements;
            implied += if u < 4 { block.data_blocks } else { 0 };
        }
        assert_eq!(implied, index.data_blocks);
        assert_eq!(next, 4 + 16 * ((1 << 29) - 1));
    }

    #[test]
    fn rejects_parameters_that_are_no_powers_of_two_or_too_large() {
        for broken in [
            ExtensibleArrayHeader { data_block_min_elements: 0, ..header() },
            ExtensibleArrayHeader { data_block_min_elements: 12, ..header() },
            ExtensibleArrayHeader { secondary_block_min_data_blocks: 0, ..header() },
            ExtensibleArrayHeader { secondary_block_min_data_blocks: 1, ..header() },
            ExtensibleArrayHeader { secondary_block_min_data_blocks: 6, ..header() },
            ExtensibleArrayHeader { max_elements_bits: 65, ..header() },
            ExtensibleArrayHeader { max_elements_bits: 6, ..header() },
        ] {
            assert!(broken.geometry().is_err(), "{broken:?}");
        }
    }

    #[test]
    fn indexes_past_64_bits_are_refused() {
        let geometry = ExtensibleArrayHeader { max_elements_bits: 64, ..header() }.geometry().unwrap();
        let secondary = geometry.index_block(&Sizes::DEFAULT).secondary_blocks;
        assert_eq!(secondary, 57);
        assert!(geometry.secondary_block(54).is_ok());
        assert!(geometry.secondary_block(56).is_err());
        assert!(geometry.secondary_block(usize::MAX).is_err());
    }
}
