//! The blocks of an extensible array, and the elements that each of them holds.
//!
//! Spec: HDF5 VII.D The Extensible Array Index. The specification does not give the sizes of blocks; these are the
//! sizes in libhdf5.

use super::ExtensibleArrayHeader;
use super::data_block::DataBlockContext;
use super::index_block::IndexBlockContext;
use super::secondary_block::SecondaryBlockContext;
use crate::format::Sizes;
use crate::format::chunk_index::Client;
use crate::format::chunk_index::page::PageContext;
use hyperslab_core::{Error, Result};

/// The blocks that follow from the parameters in the header.
///
/// The elements after those of the index block are divided into secondary blocks. Secondary block `u` has 2^⌊u/2⌋
/// data blocks. Each has 2^⌈u/2⌉ times the minimum number of elements. The first secondary blocks are not stored: the
/// index block points to their data blocks directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    client: Client,
    offset_width: u8,
    index_block_elements: u64,
    data_block_min_elements: u64,
    /// The number of secondary blocks that are not stored.
    implied: u32,
    /// The number of secondary blocks, including those that are not stored.
    secondary_blocks: u32,
    page_elements: Option<u64>,
}

/// One secondary block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondaryBlock {
    /// The index of its first element, not counting those of the index block.
    pub start: u64,
    /// The number of its data blocks.
    pub data_blocks: u64,
    /// The number of elements in each of its data blocks.
    pub elements: u64,
    /// The number of elements in a page, if its data blocks have pages.
    pub page_elements: Option<u64>,
}

impl Geometry {
    pub(super) fn new(header: &ExtensibleArrayHeader) -> Result<Self> {
        let min = header.data_block_min_elements;
        let pointers = header.secondary_block_min_data_blocks;
        if !min.is_power_of_two() {
            return Err(Error::malformed(format!(
                "data block minimum elements {min}, expected a power of two"
            )));
        }
        if !pointers.is_power_of_two() || pointers < 2 {
            return Err(Error::malformed(format!(
                "secondary block minimum data pointers {pointers}, expected a power of two from 2"
            )));
        }
        let bits = u32::from(header.max_elements_bits);
        let implied = 2 * pointers.ilog2();
        let secondary_blocks = (1 + bits).saturating_sub(min.ilog2());
        if bits > u64::BITS || secondary_blocks < implied {
            return Err(Error::malformed(format!(
                "max number of elements bits {bits} do not fit data block minimum elements {min}"
            )));
        }
        Ok(Geometry {
            client: header.client,
            offset_width: header.max_elements_bits.div_ceil(8),
            index_block_elements: header.index_block_elements.into(),
            data_block_min_elements: min.into(),
            implied,
            secondary_blocks,
            page_elements: 1_u64.checked_shl(header.page_bits.into()),
        })
    }

    /// The number of elements in the index block.
    pub fn index_block_elements(&self) -> u64 {
        self.index_block_elements
    }

    /// The secondary blocks that are not stored, in order. The index block points to their data blocks.
    pub fn implied_secondary_blocks(&self) -> impl Iterator<Item = Result<SecondaryBlock>> {
        let geometry = *self;
        (0..self.implied).map(move |u| geometry.block(u))
    }

    /// The secondary block with index `place` among the addresses in the index block.
    ///
    /// # Errors
    /// If its elements have indexes of 2⁶⁴ or more.
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
            let page_elements = self.page_elements.filter(|max| elements > *max);
            Some(SecondaryBlock { start, data_blocks, elements, page_elements })
        };
        block().ok_or_else(|| Error::malformed(format!("secondary block {u} has indexes of 2^64 or more")))
    }

    /// The parameters that determine the layout of the index block.
    pub fn index_block(&self, sizes: &Sizes) -> IndexBlockContext {
        IndexBlockContext {
            sizes: *sizes,
            client: self.client,
            elements: self.index_block_elements,
            data_blocks: 2 * ((1 << (self.implied / 2)) - 1),
            secondary_blocks: (self.secondary_blocks - self.implied).into(),
        }
    }

    /// The parameters that determine the layout of a secondary block.
    pub fn secondary_block_context(&self, sizes: &Sizes, block: &SecondaryBlock) -> SecondaryBlockContext {
        SecondaryBlockContext {
            sizes: *sizes,
            client: self.client,
            offset_width: self.offset_width,
            page_bitmap_len: block.data_blocks.saturating_mul(block.page_count().div_ceil(8)),
            data_blocks: block.data_blocks,
        }
    }

    /// The parameters that determine the layout of the data blocks of a secondary block.
    pub fn data_block_context(&self, sizes: &Sizes, block: &SecondaryBlock) -> DataBlockContext {
        DataBlockContext {
            sizes: *sizes,
            client: self.client,
            offset_width: self.offset_width,
            elements: if block.page_elements.is_some() { 0 } else { block.elements },
        }
    }

    /// The parameters that determine the layout of the pages in a secondary block's data blocks.
    pub fn page_context(&self, sizes: &Sizes, block: &SecondaryBlock) -> PageContext {
        PageContext { sizes: *sizes, client: self.client, elements: block.page_elements.unwrap_or(0) }
    }
}

impl SecondaryBlock {
    /// The number of pages in each data block. In the bitmap, the bits of consecutive data blocks follow each other
    /// without gap, although whole bytes are allocated for each data block.
    pub fn page_count(&self) -> u64 {
        self.page_elements.map_or(0, |max| self.elements / max)
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
    fn blocks_have_no_gaps_between_them() {
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
    fn rejects_parameters_that_are_not_powers_of_two_or_too_large() {
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
    fn rejects_indexes_of_more_than_64_bits() {
        let geometry = ExtensibleArrayHeader { max_elements_bits: 64, ..header() }.geometry().unwrap();
        let secondary = geometry.index_block(&Sizes::DEFAULT).secondary_blocks;
        assert_eq!(secondary, 57);
        assert!(geometry.secondary_block(54).is_ok());
        assert!(geometry.secondary_block(56).is_err());
        assert!(geometry.secondary_block(usize::MAX).is_err());
    }
}
