//! Checks chunk indexes that are arrays, and chunks without an index.

use super::Checker;
use super::chunks::{CHUNK, Chunk, Chunks};
use super::reading::{AtOffset, Pointer, pointer};
use super::rule;
use crate::format::chunk_index::extensible_array::geometry::SecondaryBlock;
use crate::format::chunk_index::extensible_array::{
    ExtensibleArrayDataBlock, ExtensibleArrayIndexBlock, ExtensibleArraySecondaryBlock, Geometry, Statistics,
};
use crate::format::chunk_index::fixed_array::Content;
use crate::format::chunk_index::page::{PageContext, is_initialized};
use crate::format::chunk_index::{
    Client, DataBlockPage, Element, ExtensibleArrayHeader, FixedArrayDataBlock, FixedArrayHeader,
};
use crate::format::message::data_layout::ExtensibleArrayParameters;
use crate::format::{Address, Structure};
use hyperslab_core::Result;

/// The order of chunk numbers: for each dimension its index and its number of chunks, slowest dimension first.
struct Order(Vec<(usize, u64)>);

impl Order {
    /// For arrays of all chunks that the maximum dimensions allow.
    fn fixed(chunks: &Chunks<'_>) -> Option<Order> {
        let max = chunks.max_dims.iter().zip(&chunks.chunk_dims).enumerate();
        max.map(|(dim, (max, chunk))| (*max != u64::MAX && *chunk > 0).then(|| (dim, max.div_ceil(*chunk))))
            .collect::<Option<_>>()
            .map(Order)
    }

    /// For arrays that grow along their only unlimited dimension, which becomes the slowest one.
    fn extensible(chunks: &Chunks<'_>) -> Option<Order> {
        let mut dims: Vec<(usize, u64)> = Vec::new();
        let mut unlimited = 0;
        for (dim, (max, chunk)) in chunks.max_dims.iter().zip(&chunks.chunk_dims).enumerate() {
            if *max == u64::MAX {
                unlimited += 1;
                dims.insert(0, (dim, u64::MAX));
            } else {
                dims.push((dim, max.div_ceil((*chunk).max(1))));
            }
        }
        (unlimited == 1).then_some(Order(dims))
    }

    fn count(&self) -> Option<u64> {
        self.0.iter().try_fold(1_u64, |product, (_, count)| product.checked_mul(*count))
    }

    fn position(&self, number: u64, scaled: &mut [u64]) {
        let mut rest = number;
        for (place, (dim, count)) in self.0.iter().enumerate().rev() {
            let Some(scaled) = scaled.get_mut(*dim) else { continue };
            *scaled = if place == 0 { rest } else { rest.checked_rem(*count).unwrap_or(0) };
            rest = rest.checked_div(*count).unwrap_or(0);
        }
    }
}

/// An array that is being checked.
struct Array<'c, 'd> {
    chunks: &'c mut Chunks<'d>,
    /// The address of the header, which all blocks must repeat.
    owner: Address,
    order: Order,
    scaled: Vec<u64>,
    found: Statistics,
}

impl Checker<'_> {
    /// Chunks that follow each other.
    pub(super) fn implicit_chunks(
        &mut self,
        chunks: &mut Chunks<'_>,
        address: Address,
        from: Pointer,
    ) -> Result<()> {
        let order = Order::fixed(chunks);
        let len =
            order.as_ref().and_then(Order::count).and_then(|count| count.checked_mul(chunks.chunk_bytes));
        let (Some(order), Some(len)) = (order, len) else {
            let message = "an implicit index of unlimited dimensions";
            self.report(&rule::CHUNK_INDEX, from.structure, from.byte, message);
            return Ok(());
        };
        let Some(byte) = self.locate(CHUNK, address, len, from) else { return Ok(()) };
        if !chunks.has_plan() {
            self.claim(CHUNK, byte, len);
            return Ok(());
        }
        let mut scaled = vec![0; chunks.dims.len()];
        for number in 0..len.checked_div(chunks.chunk_bytes).unwrap_or(0) {
            order.position(number, &mut scaled);
            let place = number * chunks.chunk_bytes;
            let inside = scaled.iter().zip(&chunks.dims).zip(&chunks.chunk_dims);
            if inside.into_iter().any(|((scaled, dim), chunk)| *scaled >= dim.div_ceil(*chunk)) {
                self.claim(CHUNK, byte + place, chunks.chunk_bytes);
                continue;
            }
            let size = chunks.chunk_bytes;
            let address = Address(address.0 + place);
            let fields = [from.byte; 3];
            self.chunk(chunks, &Chunk { scaled: &scaled, address, size, filter_mask: 0, from, fields })?;
        }
        Ok(())
    }

    pub(super) fn fixed_array(
        &mut self,
        chunks: &mut Chunks<'_>,
        address: Address,
        page_bits: u8,
        from: Pointer,
    ) -> Result<()> {
        const NAME: &str = FixedArrayHeader::NAME;
        let sizes = self.sizes();
        let header =
            self.structure::<FixedArrayHeader>(address, FixedArrayHeader::len(&sizes), &sizes, from)?;
        let Some(AtOffset { value: header, byte }) = header else {
            self.collections.is_whole &= !chunks.has_plan();
            return Ok(());
        };
        let order = Order::fixed(chunks);
        let count = order.as_ref().and_then(Order::count);
        let (Some(order), true) = (order, self.check_client(chunks, NAME, byte, header.client)) else {
            let message = "a fixed array for unlimited dimensions";
            if count.is_none() {
                self.report(&rule::CHUNK_INDEX, from.structure, from.byte, message);
            }
            return Ok(());
        };
        if header.page_bits != page_bits {
            let message = format!("pages of {} bits, the data layout has {page_bits}", header.page_bits);
            self.report(&rule::CHUNK_INDEX, NAME, byte + 7, message);
        }
        if count != Some(header.max_entries) {
            let message = format!(
                "{} entries, expected {} chunks by the maximum dimensions",
                header.max_entries,
                count.map_or("too many".to_owned(), |count| count.to_string())
            );
            self.report(&rule::CHUNK_INDEX, NAME, byte + 8, message);
            return Ok(());
        }
        if header.data_block.is_undefined() {
            return Ok(());
        }
        let context = header.data_block(&sizes);
        let from = pointer(NAME, byte + 8 + u64::from(sizes.lengths));
        let mut array = Array::new(chunks, address, order);
        let len = context.stored_len();
        let block = self.structure::<FixedArrayDataBlock>(header.data_block, len, &context, from)?;
        let Some(AtOffset { value: block, byte }) = block else {
            self.collections.is_whole &= !array.chunks.has_plan();
            return Ok(());
        };
        self.array_owner(FixedArrayDataBlock::NAME, byte, block.header, address);
        match block.content {
            Content::Elements(elements) => {
                let first = byte + 6 + u64::from(sizes.offsets);
                self.array_elements(&mut array, header.client, 0, &elements, FixedArrayDataBlock::NAME, first)
            }
            Content::PageBitmap(bitmap) => {
                let mut first = 0;
                let mut at = Address(header.data_block.0.saturating_add(len));
                for page in 0..context.page_count() {
                    let context = context.page(page);
                    let from = pointer(FixedArrayDataBlock::NAME, byte);
                    let initialized = is_initialized(&bitmap, page);
                    if !self.array_page(&mut array, first, at, &context, initialized, from)? {
                        return Ok(());
                    }
                    first += context.elements;
                    at = Address(at.0.saturating_add(context.stored_len()));
                }
                Ok(())
            }
        }
    }

    pub(super) fn extensible_array(
        &mut self,
        chunks: &mut Chunks<'_>,
        address: Address,
        parameters: &ExtensibleArrayParameters,
        from: Pointer,
    ) -> Result<()> {
        const NAME: &str = ExtensibleArrayHeader::NAME;
        let sizes = self.sizes();
        let len = ExtensibleArrayHeader::len(&sizes);
        let Some(AtOffset { value: header, byte }) =
            self.structure::<ExtensibleArrayHeader>(address, len, &sizes, from)?
        else {
            self.collections.is_whole &= !chunks.has_plan();
            return Ok(());
        };
        let Some(order) = Order::extensible(chunks) else {
            let message = "an extensible array, which needs one unlimited dimension";
            self.report(&rule::CHUNK_INDEX, from.structure, from.byte, message);
            return Ok(());
        };
        if !self.check_client(chunks, NAME, byte, header.client) {
            return Ok(());
        }
        let own = ExtensibleArrayParameters {
            maximum_bits: header.max_elements_bits,
            index_block_elements: header.index_block_elements,
            super_block_minimum_data_pointers: header.secondary_block_min_data_blocks,
            data_block_minimum_elements: header.data_block_min_elements,
            page_bits: header.page_bits,
        };
        if own != *parameters {
            let message = "parameters that differ from those of the data layout";
            self.report_bytes(&rule::CHUNK_INDEX, NAME, byte + 7, Some(5), message);
        }
        let geometry = match header.geometry() {
            Ok(geometry) => geometry,
            Err(error) => return self.error_as(error, &rule::CHUNK_INDEX, Some(pointer(NAME, byte + 7))),
        };
        if header.index_block.is_undefined() {
            return Ok(());
        }
        let mut array = Array::new(chunks, address, order);
        let from = pointer(NAME, byte + 12 + 6 * u64::from(sizes.lengths));
        let is_whole = self.index_block(&mut array, &header, &geometry, from)?;
        self.collections.is_whole &= is_whole || !array.chunks.has_plan();
        if is_whole {
            self.array_statistics(&header.statistics, &array.found, byte + 12);
        }
        Ok(())
    }

    fn array_statistics(&mut self, stored: &Statistics, found: &Statistics, byte: u64) {
        let lengths = u64::from(self.sizes().lengths);
        let fields = [
            ("secondary blocks", stored.secondary_blocks, found.secondary_blocks),
            ("bytes of secondary blocks", stored.secondary_block_bytes, found.secondary_block_bytes),
            ("data blocks", stored.data_blocks, found.data_blocks),
            ("bytes of data blocks", stored.data_block_bytes, found.data_block_bytes),
            ("indexes that were set", stored.max_index_set, stored.max_index_set.max(found.max_index_set)),
            ("elements", stored.elements, found.elements),
        ];
        for (number, (what, stored, found)) in (0_u64..).zip(fields) {
            if stored != found {
                let message = format!("counts {stored} {what}, there are {found}");
                let at = byte + number * lengths;
                self.report_bytes(
                    &rule::ARRAY_STATISTICS,
                    ExtensibleArrayHeader::NAME,
                    at,
                    Some(lengths),
                    message,
                );
            }
        }
    }

    /// Checks the index block and what it points to. Returns whether all of it could be read.
    fn index_block(
        &mut self,
        array: &mut Array<'_, '_>,
        header: &ExtensibleArrayHeader,
        geometry: &Geometry,
        from: Pointer,
    ) -> Result<bool> {
        const NAME: &str = ExtensibleArrayIndexBlock::NAME;
        let sizes = self.sizes();
        let context = geometry.index_block(&sizes);
        let block = self.structure::<ExtensibleArrayIndexBlock>(
            header.index_block,
            context.stored_len(),
            &context,
            from,
        )?;
        let Some(AtOffset { value: block, byte }) = block else { return Ok(false) };
        self.array_owner(NAME, byte, block.header, array.owner);
        let offsets = u64::from(sizes.offsets);
        let first = byte + 6 + offsets;
        array.found.elements += block.elements.len() as u64;
        self.array_elements(array, header.client, 0, &block.elements, NAME, first)?;
        let mut at = first + context.elements * u64::from(header.client.element_size(&sizes));
        let mut is_whole = true;
        let mut data_blocks = block.data_blocks.iter();
        for secondary in geometry.implied_secondary_blocks() {
            let Ok(secondary) = secondary else { return Ok(false) };
            let mut first = secondary.start;
            for _ in 0..secondary.data_blocks {
                let Some(address) = data_blocks.next() else { break };
                if !address.is_undefined() {
                    let all = |_| true;
                    is_whole &= self.data_block(
                        array,
                        geometry,
                        &secondary,
                        first,
                        *address,
                        &all,
                        pointer(NAME, at),
                    )?;
                }
                first += secondary.elements;
                at += offsets;
            }
        }
        for (place, address) in block.secondary_blocks.iter().enumerate() {
            if !address.is_undefined() {
                is_whole &= match geometry.secondary_block(place) {
                    Ok(secondary) => {
                        self.secondary_block(array, geometry, &secondary, *address, pointer(NAME, at))?
                    }
                    Err(error) => {
                        self.error_as(error, &rule::CHUNK_INDEX, Some(pointer(NAME, at)))?;
                        false
                    }
                };
            }
            at += offsets;
        }
        Ok(is_whole)
    }

    fn secondary_block(
        &mut self,
        array: &mut Array<'_, '_>,
        geometry: &Geometry,
        secondary: &SecondaryBlock,
        address: Address,
        from: Pointer,
    ) -> Result<bool> {
        const NAME: &str = ExtensibleArraySecondaryBlock::NAME;
        let context = geometry.secondary_block_context(&self.sizes(), secondary);
        let len = context.stored_len();
        let block = self.structure::<ExtensibleArraySecondaryBlock>(address, len, &context, from)?;
        let Some(AtOffset { value: block, byte }) = block else { return Ok(false) };
        array.found.secondary_blocks += 1;
        array.found.secondary_block_bytes += len;
        self.array_owner(NAME, byte, block.header, array.owner);
        let offsets = u64::from(context.sizes.offsets);
        let expected = secondary.start - geometry.index_block_elements();
        if block.block_offset != expected {
            let message =
                format!("says that it begins with element {}, expected {expected}", block.block_offset);
            self.report(&rule::OWNER, NAME, byte + 6 + offsets, message);
        }
        let mut at = byte + 6 + offsets + u64::from(context.offset_width) + context.page_bitmap_len;
        let (mut first, mut page) = (secondary.start, 0);
        let mut is_whole = true;
        for address in &block.data_blocks {
            if !address.is_undefined() {
                let set = |number: u64| is_initialized(&block.page_bitmap, page + number);
                is_whole &=
                    self.data_block(array, geometry, secondary, first, *address, &set, pointer(NAME, at))?;
            }
            first += secondary.elements;
            page += secondary.page_count();
            at += offsets;
        }
        Ok(is_whole)
    }

    #[expect(clippy::too_many_arguments, reason = "a block is known by all of these")]
    fn data_block(
        &mut self,
        array: &mut Array<'_, '_>,
        geometry: &Geometry,
        secondary: &SecondaryBlock,
        first: u64,
        address: Address,
        is_set: &dyn Fn(u64) -> bool,
        from: Pointer,
    ) -> Result<bool> {
        const NAME: &str = ExtensibleArrayDataBlock::NAME;
        let sizes = self.sizes();
        let context = geometry.data_block_context(&sizes, secondary);
        let len = context.stored_len();
        let block = self.structure::<ExtensibleArrayDataBlock>(address, len, &context, from)?;
        let Some(AtOffset { value: block, byte }) = block else { return Ok(false) };
        array.found.data_blocks += 1;
        array.found.data_block_bytes += len;
        array.found.elements += secondary.elements;
        self.array_owner(NAME, byte, block.header, array.owner);
        let elements_at = byte + 6 + u64::from(sizes.offsets) + u64::from(context.offset_width);
        self.array_elements(array, context.client, first, &block.elements, NAME, elements_at)?;
        let page_context = geometry.page_context(&sizes, secondary);
        let mut at = Address(address.0.saturating_add(len));
        let mut first = first;
        for page in 0..secondary.page_count() {
            array.found.data_block_bytes += page_context.stored_len();
            if !self.array_page(array, first, at, &page_context, is_set(page), pointer(NAME, byte))? {
                return Ok(false);
            }
            first += page_context.elements;
            at = Address(at.0.saturating_add(page_context.stored_len()));
        }
        Ok(true)
    }

    /// Checks a page. Its bytes exist even if it was never written; returns false if they do not.
    fn array_page(
        &mut self,
        array: &mut Array<'_, '_>,
        first: u64,
        address: Address,
        context: &PageContext,
        is_set: bool,
        from: Pointer,
    ) -> Result<bool> {
        const NAME: &str = DataBlockPage::NAME;
        let len = context.stored_len();
        if !is_set {
            let Some(byte) = self.locate(NAME, address, len, from) else { return Ok(false) };
            self.claim_spare(NAME, byte, len);
            return Ok(true);
        }
        match self.structure::<DataBlockPage>(address, len, context, from)? {
            Some(AtOffset { value, byte }) => {
                self.array_elements(array, context.client, first, &value.elements, NAME, byte)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn array_elements(
        &mut self,
        array: &mut Array<'_, '_>,
        client: Client,
        first: u64,
        elements: &[Element],
        structure: &'static str,
        byte: u64,
    ) -> Result<()> {
        let width = u64::from(client.element_size(&self.sizes()));
        for (at, element) in (0_u64..).zip(elements) {
            if element.address.is_undefined() {
                continue;
            }
            let number = first.saturating_add(at);
            array.found.max_index_set = array.found.max_index_set.max(number.saturating_add(1));
            array.order.position(number, &mut array.scaled);
            let filtered = matches!(client, Client::Filtered { .. });
            let size = if filtered { element.size } else { array.chunks.chunk_bytes };
            let from = pointer(structure, byte + at * width);
            let filter_mask = element.filter_mask;
            let size_at = from.byte + u64::from(self.sizes().offsets);
            let fields = [from.byte, size_at, from.byte + width - 4];
            let chunk =
                Chunk { scaled: &array.scaled, address: element.address, size, filter_mask, from, fields };
            self.chunk(array.chunks, &chunk)?;
        }
        Ok(())
    }

    /// Checks that the header has elements for filtered chunks if and only if there are filters.
    fn check_client(
        &mut self,
        chunks: &Chunks<'_>,
        structure: &'static str,
        byte: u64,
        client: Client,
    ) -> bool {
        if chunks.filtered == matches!(client, Client::Filtered { .. }) {
            return true;
        }
        let expected = u8::from(chunks.filtered);
        let message = format!("client {}, expected {expected} by the filters of the dataset", client.code());
        self.report_bytes(&rule::CHUNK_INDEX, structure, byte + 5, Some(1), message);
        false
    }

    /// Checks the address of the owner in a block.
    fn array_owner(&mut self, structure: &'static str, byte: u64, owner: Address, expected: Address) {
        if owner != expected {
            let message = format!("header address {owner}, expected {expected}");
            self.report(&rule::OWNER, structure, byte + 6, message);
        }
    }
}

impl<'c, 'd> Array<'c, 'd> {
    fn new(chunks: &'c mut Chunks<'d>, owner: Address, order: Order) -> Self {
        let scaled = vec![0; chunks.dims.len()];
        Array { chunks, owner, order, scaled, found: Statistics::default() }
    }
}
