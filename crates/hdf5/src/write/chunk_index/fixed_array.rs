//! Fixed arrays of chunks.
//!
//! Spec: HDF5 VII.C The Fixed Array Index

use super::records::Elements;
use crate::format::Address;
use crate::format::chunk_index::fixed_array::Content;
use crate::format::chunk_index::page::initialize;
use crate::format::chunk_index::{Client, DataBlockPage, Element, FixedArrayDataBlock, FixedArrayHeader};
use crate::space::SpaceKind;
use crate::write::sink::{Sink, put_at};
use hyperslab_core::{Error, Result};

/// Writes an array of `count` elements. Returns the address of its header.
///
/// All pages are allocated; those without chunks stay unwritten.
pub(super) fn write(
    sink: &mut dyn Sink,
    client: Client,
    page_bits: u8,
    count: u64,
    records: &mut dyn Iterator<Item = (u64, Element)>,
) -> Result<Address> {
    let sizes = sink.sizes();
    let address = sink.allocate(SpaceKind::Metadata, FixedArrayHeader::len(&sizes))?;
    let mut header =
        FixedArrayHeader { client, page_bits, max_entries: count, data_block: Address::UNDEFINED };
    let context = header.data_block(&sizes);
    let pages = context.page_count();
    let page_len = context.page(0).stored_len();
    let pages_len = match pages.checked_sub(1) {
        Some(last) => page_len.saturating_mul(last).saturating_add(context.page(last).stored_len()),
        None => 0,
    };
    let len = context.stored_len();
    header.data_block = sink.allocate(SpaceKind::Metadata, len.saturating_add(pages_len))?;
    put_at(sink, address, &header, &sizes)?;

    let mut elements = Elements::new(records);
    let content = match context.page_elements {
        None => Content::Elements(elements.take(0, count)?),
        Some(page_elements) => {
            let bitmap_len = usize::try_from(pages.div_ceil(8));
            let mut bitmap =
                vec![0; bitmap_len.map_err(|_| Error::invalid(format!("fixed array of {pages} pages")))?];
            while let Some(number) = elements.next().filter(|number| *number < count) {
                let page = number.checked_div(page_elements).unwrap_or(0);
                let context = context.page(page);
                let first = page.saturating_mul(page_elements);
                // The allocation has shown that this does not overflow.
                let at = header.data_block.0 + len + page * page_len;
                let page_of = DataBlockPage { elements: elements.take(first, context.elements)? };
                put_at(sink, Address(at), &page_of, &context)?;
                initialize(&mut bitmap, page);
            }
            Content::PageBitmap(bitmap)
        }
    };
    put_at(sink, header.data_block, &FixedArrayDataBlock { header: address, content }, &context)?;
    Ok(address)
}
