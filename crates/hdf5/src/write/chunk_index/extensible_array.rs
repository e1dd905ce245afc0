//! Extensible arrays of chunks.
//!
//! Spec: HDF5 VII.D The Extensible Array Index

use super::records::Elements;
use crate::format::chunk_index::extensible_array::geometry::SecondaryBlock;
use crate::format::chunk_index::extensible_array::{
    ExtensibleArrayDataBlock, ExtensibleArrayIndexBlock, ExtensibleArraySecondaryBlock, Geometry, Statistics,
};
use crate::format::chunk_index::page::initialize;
use crate::format::chunk_index::{Client, DataBlockPage, Element, ExtensibleArrayHeader};
use crate::format::message::data_layout::ExtensibleArrayParameters;
use crate::format::{Address, Sizes};
use crate::space::SpaceKind;
use crate::write::sink::{Sink, put_at};
use hyperslab_core::{Error, Result};

/// Writes an array with the blocks that have chunks. Returns the address of its header.
pub(super) fn write(
    sink: &mut dyn Sink,
    client: Client,
    parameters: &ExtensibleArrayParameters,
    records: &mut dyn Iterator<Item = (u64, Element)>,
) -> Result<Address> {
    let sizes = sink.sizes();
    let mut header = ExtensibleArrayHeader {
        client,
        max_elements_bits: parameters.maximum_bits,
        index_block_elements: parameters.index_block_elements,
        data_block_min_elements: parameters.data_block_minimum_elements,
        secondary_block_min_data_blocks: parameters.super_block_minimum_data_pointers,
        page_bits: parameters.page_bits,
        statistics: Statistics::default(),
        index_block: Address::UNDEFINED,
    };
    let geometry = header.geometry()?;
    let context = geometry.index_block(&sizes);
    let owner = sink.allocate(SpaceKind::Metadata, ExtensibleArrayHeader::len(&sizes))?;
    header.index_block = sink.allocate(SpaceKind::Metadata, context.stored_len())?;

    let statistics = Statistics { elements: context.elements, ..Statistics::default() };
    let elements = Elements::new(records);
    let mut array = Array { sink, sizes, geometry, owner, statistics, elements };
    let first = array.elements.take(0, context.elements)?;
    let mut data_blocks = Vec::new();
    for secondary in geometry.implied_secondary_blocks() {
        let secondary = secondary?;
        for number in 0..secondary.data_blocks {
            data_blocks.push(array.data_block(&secondary, number, &mut [])?);
        }
    }
    let mut secondary_blocks = Vec::new();
    for place in 0..usize::try_from(context.secondary_blocks).unwrap_or(0) {
        let address = match array.elements.next() {
            Some(_) => array.secondary_block(&geometry.secondary_block(place)?)?,
            None => Address::UNDEFINED,
        };
        secondary_blocks.push(address);
    }
    if let Some(number) = array.elements.next() {
        return Err(Error::invalid(format!("chunk {number} lies past the end of an extensible array")));
    }

    header.statistics = Statistics { max_index_set: array.elements.end(), ..array.statistics };
    let block = ExtensibleArrayIndexBlock { header: owner, elements: first, data_blocks, secondary_blocks };
    put_at(sink, header.index_block, &block, &context)?;
    put_at(sink, owner, &header, &sizes)?;
    Ok(owner)
}

/// An array that is being written.
struct Array<'a> {
    sink: &'a mut dyn Sink,
    sizes: Sizes,
    geometry: Geometry,
    /// The address of the header, which all blocks repeat.
    owner: Address,
    statistics: Statistics,
    elements: Elements<'a>,
}

impl Array<'_> {
    /// Writes a secondary block and its data blocks; undefined if it has no chunks.
    fn secondary_block(&mut self, secondary: &SecondaryBlock) -> Result<Address> {
        // The geometry has shown that these do not overflow.
        if !self.elements.is_next_in(secondary.start, secondary.data_blocks * secondary.elements) {
            return Ok(Address::UNDEFINED);
        }
        let context = self.geometry.secondary_block_context(&self.sizes, secondary);
        let len = context.stored_len();
        let address = self.sink.allocate(SpaceKind::Metadata, len)?;
        self.statistics.secondary_blocks += 1;
        self.statistics.secondary_block_bytes += len;
        let bitmap_len = usize::try_from(context.page_bitmap_len);
        let mut page_bitmap =
            vec![0; bitmap_len.map_err(|_| Error::invalid("page bitmap of 2^32 bytes or more"))?];
        let data_blocks = (0..secondary.data_blocks)
            .map(|number| self.data_block(secondary, number, &mut page_bitmap))
            .collect::<Result<_>>()?;
        let block_offset = self.offset(secondary.start);
        let block =
            ExtensibleArraySecondaryBlock { header: self.owner, block_offset, page_bitmap, data_blocks };
        put_at(self.sink, address, &block, &context)?;
        Ok(address)
    }

    /// Writes a data block of a secondary block, and those of its pages that have chunks; undefined if none has.
    fn data_block(
        &mut self,
        secondary: &SecondaryBlock,
        number: u64,
        page_bitmap: &mut [u8],
    ) -> Result<Address> {
        let first = secondary.start + number * secondary.elements;
        if !self.elements.is_next_in(first, secondary.elements) {
            return Ok(Address::UNDEFINED);
        }
        let context = self.geometry.data_block_context(&self.sizes, secondary);
        let page = self.geometry.page_context(&self.sizes, secondary);
        let (len, pages) = (context.stored_len(), secondary.page_count());
        let whole_len = len.saturating_add(pages.saturating_mul(page.stored_len()));
        let address = self.sink.allocate(SpaceKind::Metadata, whole_len)?;
        self.statistics.data_blocks += 1;
        self.statistics.data_block_bytes += whole_len;
        self.statistics.elements += secondary.elements;
        let elements = self.elements.take(first, context.elements)?;
        let block =
            ExtensibleArrayDataBlock { header: self.owner, block_offset: self.offset(first), elements };
        put_at(self.sink, address, &block, &context)?;
        for at in 0..pages {
            let first = first + at * page.elements;
            if self.elements.is_next_in(first, page.elements) {
                let elements = self.elements.take(first, page.elements)?;
                let place = Address(address.0 + len + at * page.stored_len());
                put_at(self.sink, place, &DataBlockPage { elements }, &page)?;
                initialize(page_bitmap, number * pages + at);
            }
        }
        Ok(address)
    }

    /// Blocks count from the first element after those of the index block.
    fn offset(&self, first: u64) -> u64 {
        first.saturating_sub(self.geometry.index_block_elements())
    }
}
