//! Chunks from fixed and extensible arrays.
//!
//! Spec: HDF5 VII.C The Fixed Array Index and VII.D The Extensible Array Index

use super::grid::{Grid, Order};
use super::table::{ChunkEntry, Collector};
use super::{ChunkIndex, INDEX};
use crate::format::chunk_index::extensible_array::geometry::SecondaryBlock;
use crate::format::chunk_index::extensible_array::{
    ExtensibleArrayDataBlock, ExtensibleArrayIndexBlock, ExtensibleArraySecondaryBlock, Geometry,
};
use crate::format::chunk_index::fixed_array::Content;
use crate::format::chunk_index::page::{PageContext, is_initialized};
use crate::format::chunk_index::{
    Client, DataBlockPage, Element, ExtensibleArrayHeader, FixedArrayDataBlock, FixedArrayHeader,
};
use crate::format::{Address, Structure};
use crate::navigate::Reader;
use crate::navigate::visited::Visited;
use hyperslab_core::{Error, Result};

pub(super) fn fixed(
    reader: &Reader,
    index: &ChunkIndex,
    grid: &Grid,
    chunks: &mut Collector<'_>,
) -> Result<()> {
    let sizes = reader.sizes();
    let header: FixedArrayHeader = reader.structure(index.address, FixedArrayHeader::len(sizes), sizes)?;
    let offset = reader.offset(FixedArrayHeader::NAME, index.address)?;
    let at_header = |e: Error| e.at(FixedArrayHeader::NAME, offset);
    check_client(index, header.client).map_err(at_header)?;
    let order = grid.fixed().map_err(at_header)?;
    if order.count() != Some(header.max_entries) {
        return Err(at_header(Error::malformed(format!(
            "{} entries, expected {} chunks by the maximum dimensions",
            header.max_entries,
            order.count().map_or("too many".to_owned(), |count| count.to_string())
        ))));
    }
    if header.data_block.is_undefined() {
        return Ok(());
    }
    let mut array = Array::new(reader, index, order, chunks)?;
    let context = header.data_block(sizes);
    let len = context.stored_len();
    let block: FixedArrayDataBlock = array.block(header.data_block, len, &context)?;
    array.check_header::<FixedArrayDataBlock>(header.data_block, block.header)?;
    match block.content {
        Content::Elements(elements) => array.elements(0, &elements),
        Content::PageBitmap(bitmap) => {
            let mut first = 0;
            let mut address = Address(header.data_block.0.saturating_add(len));
            for page in 0..context.page_count() {
                let context = context.page(page);
                if is_initialized(&bitmap, page) {
                    array.page(first, address, &context)?;
                }
                first += context.elements;
                address = Address(address.0.saturating_add(context.stored_len()));
            }
            Ok(())
        }
    }
}

pub(super) fn extensible(
    reader: &Reader,
    index: &ChunkIndex,
    grid: &Grid,
    chunks: &mut Collector<'_>,
) -> Result<()> {
    let sizes = reader.sizes();
    let len = ExtensibleArrayHeader::len(sizes);
    let header: ExtensibleArrayHeader = reader.structure(index.address, len, sizes)?;
    let offset = reader.offset(ExtensibleArrayHeader::NAME, index.address)?;
    let at_header = |e: Error| e.at(ExtensibleArrayHeader::NAME, offset);
    check_client(index, header.client).map_err(at_header)?;
    let order = grid.extensible().map_err(at_header)?;
    let geometry = header.geometry().map_err(at_header)?;
    if header.index_block.is_undefined() {
        return Ok(());
    }
    let mut array = Array::new(reader, index, order, chunks)?;
    let context = geometry.index_block(sizes);
    let block: ExtensibleArrayIndexBlock = array.block(header.index_block, context.stored_len(), &context)?;
    array.check_header::<ExtensibleArrayIndexBlock>(header.index_block, block.header)?;
    array.elements(0, &block.elements)?;
    let known: Vec<_> = block.data_blocks.iter().chain(&block.secondary_blocks).copied().collect();
    reader.fetch(&known, USUAL_BLOCK);
    let mut data_blocks = block.data_blocks.iter();
    for secondary in geometry.implied_secondary_blocks() {
        let secondary = secondary.map_err(at_header)?;
        let mut first = secondary.start;
        for _ in 0..secondary.data_blocks {
            let Some(address) = data_blocks.next() else { break };
            if !address.is_undefined() {
                if secondary.page_elements.is_some() {
                    // It is unknown which pages were written, because the bitmaps are in secondary blocks.
                    return Err(at_header(Error::unsupported("pages in the data blocks of an index block")));
                }
                array.data_block(&geometry, &secondary, first, *address)?;
            }
            first += secondary.elements;
        }
    }
    for (place, address) in block.secondary_blocks.iter().enumerate() {
        if !address.is_undefined() {
            let secondary = geometry.secondary_block(place).map_err(at_header)?;
            array.secondary_block(&geometry, &secondary, *address)?;
        }
    }
    Ok(())
}

fn check_client(index: &ChunkIndex, client: Client) -> Result<()> {
    if index.filtered != matches!(client, Client::Filtered { .. }) {
        return Err(Error::malformed(format!(
            "client {}, expected {} by the filters of the dataset",
            client.code(),
            u8::from(index.filtered)
        )));
    }
    Ok(())
}

/// An array that is being read.
struct Array<'a, 'b> {
    reader: &'a Reader,
    index: &'a ChunkIndex,
    order: Order,
    visited: Visited,
    chunks: &'a mut Collector<'b>,
    scaled: Vec<u64>,
}

impl<'a, 'b> Array<'a, 'b> {
    fn new(
        reader: &'a Reader,
        index: &'a ChunkIndex,
        order: Order,
        chunks: &'a mut Collector<'b>,
    ) -> Result<Self> {
        let scaled = vec![0; index.dims.len()];
        Ok(Array { reader, index, order, visited: Visited::new(reader)?, chunks, scaled })
    }

    fn secondary_block(
        &mut self,
        geometry: &Geometry,
        secondary: &SecondaryBlock,
        address: Address,
    ) -> Result<()> {
        let context = geometry.secondary_block_context(self.reader.sizes(), secondary);
        let block: ExtensibleArraySecondaryBlock = self.block(address, context.stored_len(), &context)?;
        self.check_header::<ExtensibleArraySecondaryBlock>(address, block.header)?;
        self.reader.fetch(&block.data_blocks, USUAL_BLOCK);
        let mut first = secondary.start;
        let mut page = 0;
        for address in block.data_blocks {
            if !address.is_undefined() {
                let behind = self.data_block(geometry, secondary, first, address)?;
                self.pages(geometry, secondary, first, behind, &|at| {
                    is_initialized(&block.page_bitmap, page + at)
                })?;
            }
            first += secondary.elements;
            page += secondary.page_count();
        }
        Ok(())
    }

    /// Reads a data block without its pages. Returns the cursor after it.
    fn data_block(
        &mut self,
        geometry: &Geometry,
        secondary: &SecondaryBlock,
        first: u64,
        address: Address,
    ) -> Result<Address> {
        let context = geometry.data_block_context(self.reader.sizes(), secondary);
        let len = context.stored_len();
        let block: ExtensibleArrayDataBlock = self.block(address, len, &context)?;
        self.check_header::<ExtensibleArrayDataBlock>(address, block.header)?;
        self.elements(first, &block.elements)?;
        Ok(Address(address.0.saturating_add(len)))
    }

    fn pages(
        &mut self,
        geometry: &Geometry,
        secondary: &SecondaryBlock,
        first: u64,
        address: Address,
        is_initialized: &dyn Fn(u64) -> bool,
    ) -> Result<()> {
        let context = geometry.page_context(self.reader.sizes(), secondary);
        let (mut first, mut address) = (first, address);
        for page in 0..secondary.page_count() {
            if is_initialized(page) {
                self.page(first, address, &context)?;
            }
            first += context.elements;
            address = Address(address.0.saturating_add(context.stored_len()));
        }
        Ok(())
    }

    fn page(&mut self, first: u64, address: Address, context: &PageContext) -> Result<()> {
        let page: DataBlockPage = self.block(address, context.stored_len(), context)?;
        self.elements(first, &page.elements)
    }

    fn elements(&mut self, first: u64, elements: &[Element]) -> Result<()> {
        for (number, element) in (first..).zip(elements) {
            if element.address.is_undefined() {
                continue;
            }
            self.order.position(number, &mut self.scaled);
            let size = if self.index.filtered { element.size } else { self.index.chunk_bytes };
            let entry = ChunkEntry { address: element.address, size, filter_mask: element.filter_mask };
            self.chunks.push(&self.scaled, entry)?;
        }
        Ok(())
    }

    fn block<S: Structure>(&mut self, address: Address, len: u64, context: &S::Context) -> Result<S> {
        self.visited.enter(self.reader, S::NAME, address, len)?;
        self.reader.structure(address, len, context)
    }

    /// Checks the address of the owner in a block.
    fn check_header<S: Structure>(&self, address: Address, header: Address) -> Result<()> {
        if header != self.index.address {
            let offset = self.reader.offset(INDEX, address)?;
            return Err(Error::malformed(format!(
                "header address {header}, expected {}",
                self.index.address
            ))
            .at(S::NAME, offset));
        }
        Ok(())
    }
}

/// The number of bytes that are fetched of a block of the index.
const USUAL_BLOCK: u64 = 1024;
