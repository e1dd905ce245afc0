//! The elements of a dataset that is being written.

use super::log::{ArrayLog, Stored};
use super::references::{self, Addresses};
use crate::format::hdf5::storage::stored_filter;
use crate::source::StoredForm;
use crate::target::{ArrayTarget, ChunkBytes, Encoded, Encoder, Placed};
use bytes::Bytes;
use hyperslab_codec::Scratch;
use hyperslab_core::nd::ChunkGrid;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::navigate::chunk_index::ChunkEntry;
use hyperslab_hdf5::write::{DatasetWriter, ElementEncoder, EncodedPiece, NewDataset, NewLayout};
use hyperslab_model::Values;
use std::sync::{Arc, Mutex, PoisonError};

/// A dataset whose elements are being written.
pub(super) struct Hdf5ArrayTarget {
    /// `None` when it is finished.
    writer: Mutex<Option<Arc<DatasetWriter>>>,
    encoder: Hdf5Encoder,
    is_ordered: bool,
    has_elements: bool,
    is_recorded: bool,
    /// The number of chunks along each dimension.
    along: Vec<u64>,
    log: ArrayLog,
}

/// The encoder of pieces of the dataset.
struct Hdf5Encoder {
    elements: ElementEncoder,
    addresses: Arc<Addresses>,
    /// The stored form of chunks; `None` without chunks.
    raw: Option<StoredForm>,
    /// Whether the user requested the filters.
    is_asked: bool,
    /// Whether the source may have unwritten chunks, which are written here.
    needs_unwritten: bool,
}

/// The form of stored chunks; `None` without chunks.
pub(super) fn stored_form(dataset: &NewDataset, elements: &ElementEncoder) -> Option<StoredForm> {
    let NewLayout::Chunked { shape, .. } = &dataset.layout else { return None };
    let size = elements.converter().stored_size();
    Some(StoredForm {
        chunk: shape.clone(),
        element: elements.converter().layout(),
        native: dataset.datatype.datatype.portable_bytes(),
        filters: dataset.filters.iter().map(|filter| stored_filter(filter, size)).collect(),
    })
}

impl Hdf5ArrayTarget {
    pub(super) fn new(
        writer: DatasetWriter,
        dataset: &NewDataset,
        (needs_unwritten, is_asked): (bool, bool),
        addresses: Arc<Addresses>,
        log: ArrayLog,
    ) -> Result<Hdf5ArrayTarget> {
        let elements = writer.encoder().clone();
        let extents = dataset.extent.dimensions();
        let along = ChunkGrid::regular(elements.piece())?.chunks_along(extents)?;
        let raw = stored_form(dataset, &elements);
        let is_ordered = writer.is_ordered();
        let has_elements = dataset.layout.has_elements();
        // The elements of a compact dataset are in its header, which is written last.
        let is_compact = matches!(dataset.layout, NewLayout::Compact);
        let is_recorded = !is_compact && dataset.bytes().is_none_or(|bytes| bytes >= MIN_RECORDED);
        let encoder = Hdf5Encoder { elements, addresses, raw, is_asked, needs_unwritten };
        Ok(Hdf5ArrayTarget {
            writer: Mutex::new(Some(Arc::new(writer))),
            encoder,
            is_ordered,
            has_elements,
            is_recorded,
            along,
            log,
        })
    }

    fn writer(&self) -> Result<Arc<DatasetWriter>> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.clone().ok_or_else(|| Error::invalid("the dataset is finished"))
    }

    /// The index of a chunk in row-major order.
    fn number(&self, index: &[u64]) -> u64 {
        index.iter().zip(&self.along).fold(0, |number, (at, count)| number * count + at)
    }

    /// The position of the chunk with a given row-major index.
    fn index(&self, mut number: u64) -> Vec<u64> {
        let mut index = vec![0; self.along.len()];
        for (at, count) in index.iter_mut().zip(&self.along).rev() {
            *at = number % (*count).max(1);
            number /= (*count).max(1);
        }
        index
    }

    fn take_up(&self, stored: Vec<Stored>) -> Result<()> {
        let writer = self.writer()?;
        for Stored { chunk, address, size, filter_mask } in stored {
            let index = chunk.map(|number| self.index(number));
            writer.resume(index.as_deref(), ChunkEntry { address, size, filter_mask })?;
        }
        Ok(())
    }
}

impl ArrayTarget for Hdf5ArrayTarget {
    fn encoder(&self) -> &dyn Encoder {
        &self.encoder
    }

    fn has_elements(&self) -> bool {
        self.has_elements
    }

    fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    fn allocate(&self, size: u64) -> Result<u64> {
        let writer = self.writer()?;
        // This comes before the collections of the first piece, as in a resumed run.
        writer.allocate_block()?;
        let address = writer.allocate(size)?;
        self.log.note(Stored { chunk: None, address, size, filter_mask: 0 });
        Ok(address.0)
    }

    fn place(&self, address: u64, data: &[u8]) -> Result<()> {
        self.writer()?.write(Address(address), data)
    }

    fn store(&self, index: &[u64], chunk: Option<&ChunkBytes>) -> Result<()> {
        let Some(ChunkBytes { bytes, filter_mask }) = chunk else { return Ok(()) };
        if let Some(ChunkEntry { address, size, filter_mask }) =
            self.writer()?.store(index, bytes, *filter_mask)?
        {
            self.log.note(Stored { chunk: Some(self.number(index)), address, size, filter_mask });
        }
        Ok(())
    }

    fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    fn settle(&self, number: u64) -> Result<()> {
        self.writer()?.flush()?;
        match self.is_ordered {
            true => self.log.settle(number),
            false => Ok(()),
        }
    }

    fn resume(&self, number: u64) -> Result<()> {
        self.writer()?.allocate_block()?;
        match self.is_ordered {
            true => self.take_up(self.log.resume(number)?),
            false => Ok(()),
        }
    }

    fn resume_all(&self) -> Result<()> {
        self.writer()?.allocate_block()?;
        match self.is_ordered {
            true => self.take_up(self.log.resume_all()),
            false => Ok(()),
        }
    }

    fn finish(&self) -> Result<()> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let writer = writer.and_then(Arc::into_inner);
        writer.ok_or_else(|| Error::invalid("the dataset is finished"))?.finish()
    }

    fn abandon(&self) -> Result<()> {
        Err(Error::unsupported("an HDF5 file without an array that was declared"))
    }
}

impl Encoder for Hdf5Encoder {
    fn chunk(&self) -> &[u64] {
        self.elements.piece()
    }

    fn encode(&self, index: &[u64], values: &Values, out: Vec<u8>, scratch: &mut Scratch) -> Result<Encoded> {
        let none = Heap::default();
        let own;
        let heap = match self.elements.converter().is_identity() {
            true => &none,
            false => {
                own = references::heap(&values.heap, &|path| self.addresses.get(path));
                &own
            }
        };
        match self.elements.encode(index, &values.rows, heap, out, scratch)? {
            EncodedPiece::Bytes(bytes, filter_mask) => Ok(Encoded::Bytes(ChunkBytes { bytes, filter_mask })),
            EncodedPiece::Relocatable(piece) => {
                let sizes = piece.collection_sizes().collect();
                let make = move |addresses: &[u64], scratch: &mut Scratch| {
                    let addresses: Vec<_> = addresses.iter().copied().map(Address).collect();
                    let (data, bytes, filter_mask) = piece.place(&addresses, Vec::new(), scratch)?;
                    let data = data.into_iter().map(Bytes::from).collect();
                    Ok((data, ChunkBytes { bytes, filter_mask }))
                };
                Ok(Encoded::Placed(Placed { sizes, make: Box::new(make) }))
            }
        }
    }

    fn can_copy_raw(&self, form: &StoredForm) -> bool {
        self.raw.as_ref().is_some_and(|own| own.can_take(form, self.is_asked))
    }

    fn can_copy_masks(&self, form: &StoredForm) -> bool {
        self.raw.as_ref().is_some_and(|own| own.filters.len() == form.filters.len())
    }

    fn needs_unwritten(&self) -> bool {
        self.needs_unwritten
    }
}

/// The minimum size in bytes of an array whose boxes are recorded: smaller arrays are stored in less time than
/// recording them would take.
pub(in crate::format) const MIN_RECORDED: u64 = 128 << 10;
