//! Datasets: their headers, and their elements on the way to storage.
//!
//! Spec: HDF5 IV.A.2.i Data Layout Message

use super::LibraryVersion;
use super::attribute::NewDatatype;
use super::chunk_index::{ChunkIndexBuilder, ChunkedStorage};
use super::elements::ElementEncoder;
use super::external_files::{ExternalSegment, external_files};
use super::file::{FileWriter, Raw};
use super::object::NewObject;
use super::object_header::ObjectHeader;
use super::virtual_dataset::{VirtualMapping, virtual_layout};
use crate::element::Converter;
use crate::format::message::HeaderMessage;
use crate::format::message::data_layout::{DataLayout, LayoutClass, Version as LayoutVersion};
use crate::format::message::dataspace::{Dataspace, Extent};
use crate::format::message::datatype::Datatype;
use crate::format::message::fill_value::{AllocationTime, Fill, FillValue, WriteTime};
use crate::format::message::fill_value_old::FillValueOld;
use crate::format::message::filter_pipeline::{Filter, FilterPipeline};
use crate::format::object_header::MessageFlags;
use crate::format::{Address, Sizes};
use crate::navigate::chunk_index::ChunkEntry;
use crate::reference::Reference;
use crate::space::SpaceKind;
use hyperslab_core::rows::Rows;
use hyperslab_core::{Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A dataset to be written, without its elements.
#[derive(Clone, Debug)]
pub struct NewDataset {
    /// What all objects have in common.
    pub object: NewObject,
    /// The type of its elements.
    pub datatype: NewDatatype,
    /// Its dimensions.
    pub extent: Extent,
    /// Where its elements are.
    pub layout: NewLayout,
    /// The filters of its chunks, in the order of writing.
    pub filters: Vec<Filter>,
    /// The value of elements that are never written.
    pub fill: NewFill,
    /// When space is allocated.
    pub allocation_time: AllocationTime,
    /// When the fill value is written to allocated space.
    pub write_time: WriteTime,
}

/// The value of elements that are never written.
#[derive(Clone, Debug)]
pub enum NewFill {
    /// Zeros.
    Default,
    /// Undefined.
    Undefined,
    /// One element, as [`Converter`] decodes it.
    Value(Rows<Reference>),
}

/// Where the elements of a dataset are.
#[derive(Clone, Debug)]
pub enum NewLayout {
    /// In the header.
    Compact,
    /// In one block of the file.
    Contiguous,
    /// In chunks.
    Chunked {
        /// The shape of a chunk in elements.
        shape: Vec<u64>,
        /// Whether chunks that extend past the end of the dataset are stored without filters.
        unfiltered_edges: bool,
    },
    /// In files of raw bytes.
    External(Vec<ExternalSegment>),
    /// In other datasets.
    Virtual(Vec<VirtualMapping>),
}

impl NewLayout {
    /// Whether elements are stored with the dataset. Otherwise they are elsewhere, and it only refers to them.
    pub fn has_elements(&self) -> bool {
        !matches!(self, NewLayout::External(_) | NewLayout::Virtual(_))
    }
}

/// A dataset whose elements are being written.
#[derive(Debug)]
pub struct DatasetWriter {
    address: Address,
    header: ObjectHeader,
    encoder: ElementEncoder,
    raw: Arc<Raw>,
    storage: Storage,
}

/// Where elements go.
#[derive(Debug)]
enum Storage {
    /// Nowhere: there are none, or they are elsewhere.
    Elsewhere,
    /// To the header.
    Compact(Mutex<Vec<u8>>),
    /// To one block of this size in the file.
    Contiguous(u64, Mutex<Address>),
    /// To chunks.
    Chunked(Mutex<ChunkIndexBuilder>, u16),
}

/// What is known about a dataset before its header has an address.
struct Declared {
    header: ObjectHeader,
    converter: Converter,
    /// One stored element with the fill value; empty if there is none.
    fill: Vec<u8>,
    storage: Storage,
}

impl FileWriter {
    /// Measures a dataset in the first pass. Returns the address of its header.
    ///
    /// # Errors
    /// If it cannot be stored with the options of the file.
    pub fn measure_dataset(&mut self, dataset: &NewDataset) -> Result<Address> {
        let len = self.declare(dataset)?.header.len()?;
        self.allocate_header(len)
    }

    /// Begins the elements of a dataset in the second pass. The next object may be created before they are written.
    ///
    /// # Errors
    /// As [`FileWriter::measure_dataset`]; if this is the first pass.
    pub fn begin_dataset(&mut self, dataset: &NewDataset) -> Result<DatasetWriter> {
        let Declared { header, converter, fill, mut storage } = self.declare(dataset)?;
        let len = header.len()?;
        let address = self.allocate_header(len)?;
        let (chunk, skips_edges) = match &dataset.layout {
            NewLayout::Chunked { shape, unfiltered_edges } => (Some(shape.as_slice()), *unfiltered_edges),
            _ => (None, false),
        };
        let extents = dataset.extent.dimensions();
        let ranks = Arc::clone(&self.ranks);
        let filters = &dataset.filters;
        let encoder = ElementEncoder::new(converter, extents, chunk, &fill, filters, skips_edges, ranks)?;
        let raw = self.raw()?;
        match &mut storage {
            Storage::Compact(data) => *lock(data) = encoder.filled()?,
            Storage::Chunked(index, _) => lock(index).allocate_block(&mut raw.sink())?,
            Storage::Elsewhere | Storage::Contiguous(..) => {}
        }
        Ok(DatasetWriter { address, header, encoder, raw, storage })
    }

    fn declare(&mut self, dataset: &NewDataset) -> Result<Declared> {
        let NewDataset { object, datatype, extent, layout, filters, fill, allocation_time, write_time } =
            dataset;
        let (low, high, sizes) = (self.options().low, self.options().high, self.options().sizes);
        dataset.check_rank()?;
        let converter = Converter::new(&datatype.datatype, &sizes)?;
        let value = match fill {
            NewFill::Default => Fill::Default,
            NewFill::Undefined => Fill::Undefined,
            NewFill::Value(rows) => Fill::Value(self.stored(&converter, rows, 1)?),
        };
        let mut header = ObjectHeader::new(&object.header, low, sizes)?;
        let dataspace = Dataspace { version: low.dataspace(extent), extent: extent.clone() };
        self.push_shareable(&mut header, &dataspace, 0)?;
        match datatype.shared() {
            Some(shared) => header.push_shared(Datatype::TYPE, &shared, MessageFlags::CONSTANT)?,
            None => self.push_shareable(&mut header, &datatype.datatype, MessageFlags::CONSTANT)?,
        }
        let stored_fill = match &value {
            Fill::Value(stored) => stored.clone(),
            _ => Vec::new(),
        };
        let fill = FillValue {
            version: low.fill_value(),
            allocation_time: *allocation_time,
            write_time: *write_time,
            value,
        };
        self.push_shareable(&mut header, &fill, MessageFlags::CONSTANT)?;
        if low == LibraryVersion::Earliest && !stored_fill.is_empty() {
            header.push(&FillValueOld { value: stored_fill.clone() }, MessageFlags::CONSTANT)?;
        }
        let bytes = || dataset.bytes().ok_or_else(|| Error::invalid("more than 2^64 bytes of elements"));
        let plain = |class| DataLayout { version: layout_version(low), class };
        let contiguous = |size| LayoutClass::Contiguous {
            address: Address::UNDEFINED,
            size: Some(size),
            dimensions: Vec::new(),
        };
        let (message, storage) = match layout {
            NewLayout::Compact => {
                let len = dataset.compact_len(dataset.bytes())?;
                let class = LayoutClass::Compact { data: vec![0; len], dimensions: Vec::new() };
                (plain(class), Storage::Compact(Mutex::default()))
            }
            NewLayout::Contiguous => {
                let size = bytes()?;
                (plain(contiguous(size)), Storage::Contiguous(size, Mutex::new(Address::UNDEFINED)))
            }
            NewLayout::External(_) => (plain(contiguous(bytes()?)), Storage::Elsewhere),
            NewLayout::Chunked { .. } => {
                let storage =
                    dataset.chunked(&sizes).ok_or_else(|| Error::invalid("a dataset without chunks"))?;
                let choice = storage.choose(low, high)?;
                let message = choice.empty_layout();
                let index = ChunkIndexBuilder::new(&storage, choice, &sizes)?;
                (
                    message,
                    Storage::Chunked(Mutex::new(index), self.options().btree_k.indexed_storage_internal),
                )
            }
            NewLayout::Virtual(mappings) => {
                let (mut metadata, heap) = self.metadata();
                let message = virtual_layout(&mut metadata, heap, mappings, low, high)?;
                (message, Storage::Elsewhere)
            }
        };
        header.push(&message, 0)?;
        if !filters.is_empty() {
            let pipeline = FilterPipeline { version: low.filter_pipeline(), filters: filters.clone() };
            self.push_shareable(&mut header, &pipeline, MessageFlags::CONSTANT)?;
        }
        if let NewLayout::External(files) = layout {
            let message = external_files(&mut self.metadata().0, files)?;
            header.push(&message, MessageFlags::CONSTANT)?;
        }
        self.write_object(&mut header, object)?;
        Ok(Declared { header, converter, fill: stored_fill, storage })
    }
}

impl DatasetWriter {
    /// The address of its header.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The encoder of its pieces.
    pub fn encoder(&self) -> &ElementEncoder {
        &self.encoder
    }

    /// Whether the bytes of the file depend on the order in which pieces are stored.
    pub fn is_ordered(&self) -> bool {
        // Each piece allocates the collections of its heap objects.
        let has_heap = self.encoder.converter().heap_elements().is_some();
        match &self.storage {
            Storage::Elsewhere => false,
            Storage::Compact(_) | Storage::Contiguous(..) => has_heap,
            Storage::Chunked(index, _) => has_heap || !lock(index).is_block(),
        }
    }

    /// Allocates the block of storage without chunks. Otherwise, this happens with the first piece.
    ///
    /// # Errors
    /// If addresses of the file are too narrow for it; any error of the storage.
    pub fn allocate_block(&self) -> Result<()> {
        match &self.storage {
            Storage::Contiguous(len, address) => self.block(*len, address).map(drop),
            _ => Ok(()),
        }
    }

    /// Allocates space for a global heap collection or a chunk.
    ///
    /// # Errors
    /// If addresses of the file are too narrow for it.
    pub fn allocate(&self, len: u64) -> Result<Address> {
        self.raw.space().allocate(SpaceKind::Raw, len)
    }

    /// Writes a global heap collection.
    ///
    /// # Errors
    /// Any error of the storage.
    pub fn write(&self, address: Address, bytes: &[u8]) -> Result<()> {
        self.raw.output.write_raw(address, bytes)
    }

    /// Stores an encoded piece. If a chunk was allocated for it, returns the chunk's location.
    ///
    /// # Errors
    /// If addresses of the file are too narrow for it; any error of the storage.
    pub fn store(&self, index: &[u64], bytes: &[u8], filter_mask: u32) -> Result<Option<ChunkEntry>> {
        match &self.storage {
            Storage::Elsewhere => Err(Error::invalid("elements of a dataset without elements of its own")),
            Storage::Compact(data) => {
                let offset = usize::try_from(self.encoder.offset(index)?).ok();
                let mut data = lock(data);
                let end = offset.and_then(|offset| offset.checked_add(bytes.len()));
                let part = offset.zip(end).and_then(|(offset, end)| data.get_mut(offset..end));
                part.ok_or_else(|| Error::invalid("elements past the end of a dataset"))?
                    .copy_from_slice(bytes);
                Ok(None)
            }
            Storage::Contiguous(len, address) => {
                let address = self.block(*len, address)?;
                let offset = self.encoder.offset(index)?;
                self.raw.output.write_raw(Address(address.0.saturating_add(offset)), bytes)?;
                Ok(None)
            }
            Storage::Chunked(chunks, _) => {
                let mut chunks = lock(chunks);
                let size = bytes.len() as u64;
                if let Some(address) = chunks.place_in_block(index) {
                    chunks.push(index, ChunkEntry { address, size, filter_mask })?;
                    drop(chunks);
                    self.raw.output.write_now(address, bytes)?;
                    return Ok(None);
                }
                let address = self.allocate(size)?;
                let entry = ChunkEntry { address, size, filter_mask };
                chunks.push(index, entry)?;
                self.raw.output.write_raw(address, bytes)?;
                Ok(Some(entry))
            }
        }
    }

    /// Allocates what an earlier run allocated and stored, in the same order: a global heap collection, or the chunk at
    /// `index`.
    ///
    /// # Errors
    /// If it does not get the same location, or there is no such chunk.
    pub fn resume(&self, index: Option<&[u64]>, entry: ChunkEntry) -> Result<()> {
        let address = self.allocate(entry.size)?;
        if address != entry.address {
            let found = entry.address;
            return Err(Error::invalid(format!(
                "an earlier run has stored data at {found}, expected {address}"
            )));
        }
        match (&self.storage, index) {
            (_, None) => Ok(()),
            (Storage::Chunked(chunks, _), Some(index)) => lock(chunks).push(index, entry),
            (_, Some(_)) => Err(Error::invalid("chunk of a dataset without chunks")),
        }
    }

    /// Writes what is buffered in memory, so that the stored pieces survive the end of the process.
    ///
    /// # Errors
    /// Any error of the storage.
    pub fn flush(&self) -> Result<()> {
        self.raw.output.flush()
    }

    /// Writes the chunk index and the header.
    ///
    /// # Errors
    /// Any error of the storage.
    pub fn finish(self) -> Result<()> {
        let DatasetWriter { address, mut header, raw, storage, .. } = self;
        match storage {
            Storage::Elsewhere => {}
            Storage::Compact(data) => {
                let data = data.into_inner().unwrap_or_else(PoisonError::into_inner);
                header.change::<DataLayout>(|layout| {
                    layout.class = LayoutClass::Compact { data, dimensions: Vec::new() };
                })?;
            }
            Storage::Contiguous(_, place) => {
                let place = place.into_inner().unwrap_or_else(PoisonError::into_inner);
                header.change::<DataLayout>(|layout| {
                    if let LayoutClass::Contiguous { address, .. } = &mut layout.class {
                        *address = place;
                    }
                })?;
            }
            Storage::Chunked(index, k) => {
                let index = index.into_inner().unwrap_or_else(PoisonError::into_inner);
                let layout = index.finish(&mut raw.sink(), k)?;
                header.change::<DataLayout>(|own| *own = layout)?;
            }
        }
        raw.output.write_metadata(address, &header.encode()?)
    }

    /// The address of the block of storage without chunks.
    fn block(&self, len: u64, address: &Mutex<Address>) -> Result<Address> {
        let mut address = lock(address);
        if address.is_undefined() && len > 0 {
            *address = self.allocate(len)?;
            self.raw.output.reserve(*address, len)?;
        }
        Ok(*address)
    }
}

/// The version of layout messages without chunks.
fn layout_version(low: LibraryVersion) -> LayoutVersion {
    if low >= LibraryVersion::V1_10 { LayoutVersion::V4 } else { LayoutVersion::V3 }
}

impl NewDataset {
    pub(super) fn check_rank(&self) -> Result<()> {
        match self.extent.dimensions().len() {
            rank if rank > MAX_RANK => {
                Err(Error::invalid(format!("{rank} dimensions, expected at most {MAX_RANK}")))
            }
            _ => Ok(()),
        }
    }

    /// The size of all elements in bytes; `None` if it does not fit in 64 bits.
    pub fn bytes(&self) -> Option<u64> {
        self.extent.element_count()?.checked_mul(self.datatype.datatype.size.into())
    }

    /// The size in bytes of the elements of a compact dataset.
    pub(super) fn compact_len(&self, bytes: Option<u64>) -> Result<usize> {
        let len = bytes.and_then(|bytes| usize::try_from(bytes).ok()).filter(|len| *len <= MAX_COMPACT);
        len.ok_or_else(|| Error::invalid(format!("compact dataset of more than {MAX_COMPACT} bytes")))
    }

    /// The properties that determine the chunk index; `None` without chunks.
    pub(super) fn chunked(&self, sizes: &Sizes) -> Option<ChunkedStorage> {
        let NewLayout::Chunked { shape, unfiltered_edges } = &self.layout else { return None };
        let dims = self.extent.dimensions().to_vec();
        let max_dims = match &self.extent {
            Extent::Simple { maximum: Some(maximum), .. } => maximum.clone(),
            _ => dims.clone(),
        };
        Some(ChunkedStorage {
            dims,
            max_dims,
            chunk_dims: shape.clone(),
            element_size: self.datatype.datatype.size.into(),
            filtered: !self.filters.is_empty(),
            partial_edge_chunks_unfiltered: *unfiltered_edges,
            early_allocation: self.allocation_time == AllocationTime::Early,
            length_size: sizes.lengths,
        })
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The maximum number of dimensions of a dataset.
const MAX_RANK: usize = 32;

/// The maximum size of the elements of a compact dataset in bytes: a message has at most 65,535 bytes, including its
/// other fields.
const MAX_COMPACT: usize = 65_520;

#[cfg(test)]
mod tests;
