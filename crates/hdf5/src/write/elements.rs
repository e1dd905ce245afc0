//! Encodes the elements of a dataset, piece by piece.
//!
//! Spec: HDF5 IV.B Disk Format: Level 2b - Data Object Data Storage

use super::dataset::{NewDataset, NewFill, NewLayout};
use super::file::Ranks;
use super::global_heap::{HeapObjects, RelocatableHeap};
use crate::element::Converter;
use crate::filter::codec;
use crate::format::message::filter_pipeline::Filter;
use crate::format::{Address, Sizes};
use crate::reference::Reference;
use bytes::Bytes;
use hyperslab_codec::{Codec, Scratch, encode_to};
use hyperslab_core::nd::{ChunkGrid, Region, element_bytes, fill_rows, gather};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use std::sync::Arc;

/// Encodes the pieces of a dataset: its chunks, or blocks of consecutive elements in storage without chunks.
///
/// An encoder does no I/O, and many threads may use it at the same time.
#[derive(Clone, Debug)]
pub struct ElementEncoder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    converter: Converter,
    extents: Vec<u64>,
    grid: ChunkGrid,
    piece: Vec<u64>,
    /// Whether pieces at the edges of the dataset also have their full shape.
    is_chunked: bool,
    /// One stored element, for the part of a chunk outside of the dataset. Empty for zeros.
    fill: Vec<u8>,
    filters: Filters,
    /// For references to all elements of datasets.
    ranks: Ranks,
}

/// The filters of chunks.
#[derive(Debug, Default)]
struct Filters {
    codecs: Vec<Codec>,
    /// The filter mask bit for a chunk that is stored without the last filter, because that filter makes it larger.
    skipped_last: Option<u32>,
    /// The reason why chunks cannot be encoded.
    missing: Option<Error>,
    /// Whether chunks that extend past the end of the dataset are stored without filters.
    skips_edges: bool,
}

/// An encoded piece.
#[derive(Debug)]
pub enum EncodedPiece {
    /// Its stored bytes and its filter mask.
    Bytes(Bytes, u32),
    /// A piece whose elements refer to global heap collections that are stored with it.
    Relocatable(RelocatablePiece),
}

/// A piece whose elements refer to global heap collections without addresses.
#[derive(Debug)]
pub struct RelocatablePiece {
    encoder: ElementEncoder,
    index: Vec<u64>,
    heap: RelocatableHeap,
    stored: Vec<u8>,
}

impl ElementEncoder {
    /// Encodes chunks of a shape, or without chunks. `fill` is one stored element.
    pub(super) fn new(
        converter: Converter,
        extents: &[u64],
        chunk: Option<&[u64]>,
        fill: &[u8],
        filters: &[Filter],
        skips_edges: bool,
        ranks: Ranks,
    ) -> Result<ElementEncoder> {
        let size = converter.stored_size();
        let piece = chunk.map_or_else(|| run_of(extents, size as u64), <[u64]>::to_vec);
        let has_fill = fill.iter().any(|byte| *byte != 0);
        Ok(ElementEncoder(Arc::new(Inner {
            grid: ChunkGrid::regular(&piece)?,
            extents: extents.to_vec(),
            piece,
            is_chunked: chunk.is_some(),
            fill: if has_fill { fill.to_vec() } else { Vec::new() },
            filters: Filters::new(filters, size, skips_edges),
            converter,
            ranks,
        })))
    }

    /// Encodes the elements of a dataset that is not written, without its filters. The elements must not refer to
    /// others, like numbers.
    ///
    /// # Errors
    /// If its datatype or its fill value cannot be stored.
    pub fn before_filters(dataset: &NewDataset, sizes: &Sizes) -> Result<ElementEncoder> {
        let converter = Converter::new(&dataset.datatype.datatype, sizes)?;
        let ranks = Ranks::default();
        let mut fill = Vec::new();
        if let NewFill::Value(value) = &dataset.fill {
            fill.resize(converter.stored_size(), 0);
            let mut put = |_: &[u8]| Err(Error::invalid("elements that refer to others, expected numbers"));
            let mut objects = HeapObjects { put: &mut put, ranks: &ranks };
            converter.store(&value.rows, &value.heap, &mut fill, &mut objects)?;
        }
        let chunk = match &dataset.layout {
            NewLayout::Chunked { shape, .. } => Some(shape.as_slice()),
            _ => None,
        };
        ElementEncoder::new(converter, dataset.extent.dimensions(), chunk, &fill, &[], false, ranks)
    }

    /// The shape of a piece in elements.
    pub fn piece(&self) -> &[u64] {
        &self.0.piece
    }

    /// The converter of elements.
    pub fn converter(&self) -> &Converter {
        &self.0.converter
    }

    /// Encodes the piece at `index`, its position in the grid of pieces. `rows` are its elements within the dataset, in
    /// row-major order. `out` is memory for the encoded bytes.
    ///
    /// # Errors
    /// If an element is out of range of the datatype, or a filter cannot encode or rejects the piece.
    pub fn encode(
        &self,
        index: &[u64],
        rows: &Bytes,
        heap: &Heap<Reference>,
        out: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<EncodedPiece> {
        let Inner { converter, ranks, .. } = &*self.0;
        if converter.is_identity() {
            let (bytes, mask) = self.finish(index, rows.clone(), out, scratch)?;
            return Ok(EncodedPiece::Bytes(bytes, mask));
        }
        let mut objects = RelocatableHeap::new(*converter.sizes());
        let count = rows.len().checked_div(converter.row_size()).unwrap_or(0);
        let len = count.checked_mul(converter.stored_size());
        let mut stored = vec![0; len.ok_or_else(|| Error::invalid("more elements than memory holds"))?];
        let mut put = |object: &[u8]| objects.put(object);
        converter.store(rows, heap, &mut stored, &mut HeapObjects { put: &mut put, ranks })?;
        if objects.collection_sizes().next().is_none() {
            let (bytes, mask) = self.finish(index, stored.into(), out, scratch)?;
            return Ok(EncodedPiece::Bytes(bytes, mask));
        }
        let (encoder, index) = (self.clone(), index.to_vec());
        Ok(EncodedPiece::Relocatable(RelocatablePiece { encoder, index, heap: objects, stored }))
    }

    /// Fills the part of a chunk outside of the dataset, and applies the filters.
    fn finish(
        &self,
        index: &[u64],
        stored: Bytes,
        out: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(Bytes, u32)> {
        let Inner { converter, extents, grid, is_chunked, fill, filters, .. } = &*self.0;
        let size = converter.stored_size();
        let chunk = grid.chunk(index)?;
        let dims = chunk.start.iter().zip(&chunk.shape).zip(extents);
        let within: Vec<u64> =
            dims.map(|((at, size), extent)| extent.saturating_sub(*at).min(*size)).collect();
        if stored.len() != element_bytes(&within, size)? {
            return Err(Error::invalid(format!(
                "{} bytes of elements, expected {within:?} elements of {size} bytes",
                stored.len()
            )));
        }
        let is_edge = within != chunk.shape;
        if !is_chunked || !is_edge {
            return filters.apply(stored, out, scratch);
        }
        let mut whole = vec![0; element_bytes(&chunk.shape, size)?];
        if !fill.is_empty() {
            fill_rows(fill, &mut whole)?;
        }
        let region = Region::new(chunk.start.clone(), within);
        gather(&stored, &region, &mut whole, &chunk.start, &chunk.shape, size)?;
        match filters.skips_edges {
            true => Ok((whole.into(), 0)),
            false => filters.apply(whole.into(), out, scratch),
        }
    }

    /// The offset in bytes of a piece of storage without chunks.
    pub(super) fn offset(&self, index: &[u64]) -> Result<u64> {
        let Inner { converter, extents, grid, .. } = &*self.0;
        let chunk = grid.chunk(index)?;
        let place = chunk
            .start
            .iter()
            .zip(extents)
            .try_fold(0_u64, |place, (at, extent)| place.checked_mul(*extent)?.checked_add(*at));
        let offset = place.and_then(|place| place.checked_mul(converter.stored_size() as u64));
        offset.ok_or_else(|| Error::invalid("more than 2^64 bytes of elements"))
    }

    /// The bytes of all elements of the dataset, with the fill value.
    pub(super) fn filled(&self) -> Result<Vec<u8>> {
        let Inner { converter, extents, fill, .. } = &*self.0;
        let mut stored = vec![0; element_bytes(extents, converter.stored_size())?];
        if !fill.is_empty() {
            fill_rows(fill, &mut stored)?;
        }
        Ok(stored)
    }
}

impl RelocatablePiece {
    /// The sizes of the collections in bytes.
    pub fn collection_sizes(&self) -> impl Iterator<Item = u64> {
        self.heap.collection_sizes()
    }

    /// Returns the bytes of the collections at these addresses, then the stored bytes of the piece and its filter mask.
    ///
    /// # Errors
    /// If the number of addresses is wrong; if a filter cannot encode or rejects the piece.
    pub fn place(
        self,
        addresses: &[Address],
        out: Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(Vec<Vec<u8>>, Bytes, u32)> {
        let RelocatablePiece { encoder, index, heap, mut stored } = self;
        let elements = encoder.converter().heap_elements();
        let elements = elements.ok_or_else(|| Error::invalid("elements without heap objects"))?;
        let collections = heap.place(addresses, &elements, &mut stored)?;
        let (bytes, mask) = encoder.finish(&index, stored.into(), out, scratch)?;
        Ok((collections, bytes, mask))
    }
}

impl Filters {
    fn new(filters: &[Filter], element: usize, skips_edges: bool) -> Filters {
        let mut own = Filters { skips_edges, ..Filters::default() };
        for filter in filters {
            match codec(filter, element) {
                Ok(Some(codec)) => own.codecs.push(codec),
                // With its parameters, the filter changes nothing; or it only rounds elements before they are stored,
                // which does not affect readers.
                Ok(None) => {}
                Err(error) => own.missing = Some(error),
            }
        }
        if let Some((last, others)) = filters.split_last()
            && last.optional
            && matches!(codec(last, element), Ok(Some(_)))
        {
            own.skipped_last = u32::try_from(others.len()).ok().and_then(|bit| 1_u32.checked_shl(bit));
        }
        own
    }

    /// Applies the filters. Also returns the filter mask.
    fn apply(&self, stored: Bytes, mut out: Vec<u8>, scratch: &mut Scratch) -> Result<(Bytes, u32)> {
        if let Some(error) = &self.missing {
            return Err(Error::new(error.kind(), error.detail().to_owned()));
        }
        let Some((_, others)) = self.codecs.split_last() else { return Ok((stored, 0)) };
        encode_to(&self.codecs, &stored, &mut out, scratch)?;
        // The last filter compresses, or adds a checksum, which is never optional.
        let Some(mask) = self.skipped_last.filter(|_| out.len() > stored.len()) else {
            return Ok((out.into(), 0));
        };
        encode_to(others, &stored, &mut out, scratch)?;
        Ok((out.into(), mask))
    }
}

/// The shape of a block of consecutive elements in storage without chunks, of about [`MAX_RUN`] bytes.
fn run_of(extents: &[u64], size: u64) -> Vec<u64> {
    let mut piece = vec![1; extents.len()];
    let mut bytes = size.max(1);
    for (count, extent) in piece.iter_mut().zip(extents).rev() {
        *count = (MAX_RUN / bytes).clamp(1, (*extent).max(1));
        bytes = bytes.saturating_mul(*count);
        if *count < *extent {
            break;
        }
    }
    piece
}

/// The size in bytes of pieces of storage without chunks.
const MAX_RUN: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{DEFLATE, NBIT};
    use crate::format::encoding::reference::{ReferenceBlock, ReferenceHeader, ReferenceType, Referent};
    use crate::format::infrastructure::GlobalHeapCollection;
    use crate::format::message::datatype::{self, Datatype, DatatypeClass};
    use crate::format::{Sizes, Structure};
    use hyperslab_core::Decoder;
    use hyperslab_core::nd::Selection;

    fn filter(id: u16, client_data: &[u32]) -> Filter {
        Filter { id, name: Vec::new(), optional: true, client_data: client_data.to_vec() }
    }

    #[test]
    fn a_filter_that_changes_nothing_keeps_its_bit_in_the_mask() {
        // 32-bit integers without unused bits.
        let nbit = filter(NBIT, &[8, 1, 4, 1, 4, 0, 32, 0]);
        let chunk = Bytes::from_static(b"a chunk, too");
        let apply = |filters: &[Filter]| {
            let filters = Filters::new(filters, 4, false);
            filters.apply(chunk.clone(), Vec::new(), &mut Scratch::default()).unwrap()
        };
        assert_eq!(apply(std::slice::from_ref(&nbit)), (chunk.clone(), 0));
        assert_eq!(apply(&[nbit.clone(), filter(DEFLATE, &[9])]), (chunk.clone(), 2));
        let (deflated, mask) = apply(&[filter(DEFLATE, &[9]), nbit]);
        assert!(mask == 0 && deflated.len() > chunk.len());
    }

    #[test]
    fn references_to_all_elements_store_the_rank_of_the_dataset() {
        let reference_type = datatype::ReferenceType::DatasetRegion2;
        let class = DatatypeClass::Reference(datatype::Reference { reference_type });
        let datatype = Datatype { version: datatype::Version::V4, size: 18, class };
        let sizes = Sizes::DEFAULT;
        let converter = Converter::new(&datatype, &sizes).unwrap();
        let dataset = Address(0x320);
        let ranks = Ranks::new([(dataset, 3)].into_iter().collect());
        let encoder = ElementEncoder::new(converter, &[1], None, &[], &[], false, ranks).unwrap();
        let mut heap = Heap::default();
        let slot = heap.push_reference(Reference::Region(dataset, Selection::All)).unwrap();
        let rows = Bytes::copy_from_slice(&slot.to_bytes());

        let mut scratch = Scratch::default();
        let encoded = encoder.encode(&[0], &rows, &heap, Vec::new(), &mut scratch).unwrap();
        let EncodedPiece::Relocatable(piece) = encoded else { panic!("no heap objects") };
        let (collections, ..) = piece.place(&[Address(0x1000)], Vec::new(), &mut scratch).unwrap();
        let mut d = Decoder::new("a collection", 0, &collections[0]);
        let collection = GlobalHeapCollection::decode(&mut d, &sizes).unwrap();
        let header = ReferenceHeader { reference_type: ReferenceType::Region, external: false };
        let mut d = Decoder::new("a reference", 0, &collection.objects[0].data);
        let block = ReferenceBlock::decode(&mut d, &header).unwrap();
        assert!(matches!(block.target, Referent::Region { rank: 3, .. }), "{block:?}");
    }
}
