//! Reads elements of a dataset in any layout.

use super::chunked::Chunks;
use super::external::External;
use super::mapped::{Chain, Mapped};
use crate::element::Converter;
use crate::file::File;
use crate::format::Address;
use crate::format::message::datatype::Datatype;
use crate::navigate::Reader;
use crate::reference::Reference;
use hyperslab_codec::Scratch;
use hyperslab_core::memory::room;
use hyperslab_core::nd::{Planes, Region, bands, element_count, fill_rows, read_contiguous, scatter};
use hyperslab_core::rows::{ElementLayout, Heap};
use hyperslab_core::{Error, Result};
use std::sync::Arc;

/// The elements of a dataset. Many threads can read at the same time without waiting for each other.
#[derive(Debug)]
pub struct Array {
    dims: Option<Vec<u64>>,
    elements: Elements,
    place: ElementStorage,
}

/// The type of elements, in every layout.
#[derive(Debug)]
pub(super) struct Elements {
    pub(super) converter: Converter,
    /// The fill value as one stored element.
    pub(super) fill: Vec<u8>,
}

#[derive(Debug)]
pub(super) enum ElementStorage {
    Compact(Vec<u8>),
    Contiguous { address: Address, size: u64 },
    Chunked(Box<Chunks>),
    External(External),
    Mapped(Arc<Mapped>, Box<Datatype>),
}

impl Array {
    pub(super) fn new(dims: Option<Vec<u64>>, elements: Elements, place: ElementStorage) -> Array {
        Array { dims, elements, place }
    }

    pub(super) fn extents(&self) -> Option<&[u64]> {
        self.dims.as_deref()
    }

    pub(super) fn place(&self) -> &ElementStorage {
        &self.place
    }

    /// The stored size of all elements, without filters.
    pub(super) fn logical_bytes(&self) -> Result<u64> {
        let count = self.dims.as_deref().map_or(Some(0), element_count);
        let bytes = count.and_then(|count| count.checked_mul(self.elements.converter.stored_size() as u64));
        bytes.ok_or_else(|| Error::malformed("more than 2^64 bytes of elements"))
    }

    /// The size of one element in memory, in bytes.
    pub fn row_size(&self) -> usize {
        self.elements.converter.row_size()
    }

    /// Whether reading in parts costs little more than reading at once: elements are in the file itself. For virtual
    /// datasets, the sources must be found again for each part.
    pub fn is_stored_here(&self) -> bool {
        !matches!(self.place, ElementStorage::External(_) | ElementStorage::Mapped(..))
    }

    /// The size of the elements in this file, in bytes. 0 if they are in other files or datasets.
    pub fn stored_bytes(&self) -> u64 {
        match &self.place {
            ElementStorage::Compact(bytes) => bytes.len() as u64,
            ElementStorage::Contiguous { address, .. } if address.is_undefined() => 0,
            ElementStorage::Contiguous { size, .. } => *size,
            ElementStorage::Chunked(chunks) => chunks.stored_bytes(),
            ElementStorage::External(_) | ElementStorage::Mapped(..) => 0,
        }
    }

    /// Whether no element was ever written, because there is no chunk or no address. If there are elements but their
    /// storage has zero bytes, the file is damaged, which reading detects.
    pub fn is_wholly_unwritten(&self) -> bool {
        match &self.place {
            ElementStorage::External(_) | ElementStorage::Mapped(..) => false,
            ElementStorage::Contiguous { address, .. } if address.is_undefined() => true,
            ElementStorage::Chunked(chunks) if chunks.len() == 0 => true,
            _ => self.dims.as_deref().is_none_or(|dims| dims.contains(&0)),
        }
    }

    /// The number of chunks that were written. `None` if the dataset is not chunked.
    pub fn written_chunks(&self) -> Option<u64> {
        match &self.place {
            ElementStorage::Chunked(chunks) => Some(chunks.len()),
            _ => None,
        }
    }

    /// Where the bytes of a row lie in a stored element. `None` if elements are converted in any other way.
    pub fn element_layout(&self) -> Option<ElementLayout> {
        self.elements.converter.layout()
    }

    /// Reads the stored bytes of the chunk that begins at `start` into the beginning of `out`, which grows if
    /// necessary. Returns their number, and the mask of the filters that were not applied. `None` if the chunk was
    /// never written.
    ///
    /// # Errors
    /// If the dataset is not chunked, or the chunk cannot be read.
    pub fn stored_chunk(
        &self,
        file: &File,
        start: &[u64],
        out: &mut Vec<u8>,
    ) -> Result<Option<(usize, u32)>> {
        match &self.place {
            ElementStorage::Chunked(chunks) => chunks.stored(file.reader(), start, out),
            _ => Err(Error::invalid("dataset without chunks, expected chunked storage")),
        }
    }

    /// Whether no chunk with elements of `region` was written.
    ///
    /// # Errors
    /// If the region has another rank.
    pub fn is_unwritten(&self, region: &Region) -> Result<bool> {
        match &self.place {
            ElementStorage::Chunked(chunks) => chunks.is_unwritten(region),
            _ => Ok(false),
        }
    }

    /// Calls `visit` with the start of each chunk that was written. Returns whether the dataset is chunked.
    ///
    /// # Errors
    /// The errors of `visit`.
    pub fn written(&self, visit: &mut dyn FnMut(&[u64]) -> Result<()>) -> Result<bool> {
        match &self.place {
            ElementStorage::Chunked(chunks) => chunks.written(visit).map(|()| true),
            _ => Ok(false),
        }
    }

    /// Reads the elements of `region` into `rows`, in row-major order. What they point to is added to `heap`.
    ///
    /// # Errors
    /// If the length of `rows` is not that of the region, or elements cannot be read.
    pub fn read(
        &self,
        file: &File,
        region: &Region,
        rows: &mut [u8],
        heap: &mut Heap<Reference>,
    ) -> Result<()> {
        self.read_part(file, region, &mut Planes::whole(rows), heap, &mut Scratch::new())
    }

    /// As [`Array::read`], for one thread of several: fills its part of the output, with its own buffers.
    ///
    /// # Errors
    /// As [`Array::read`].
    pub fn read_part(
        &self,
        file: &File,
        region: &Region,
        out: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.read_after(Means { file, heap, scratch, chain: None }, region, out)
    }

    /// As [`Array::read_part`], as a source of the virtual datasets in `chain`.
    pub(super) fn read_after(
        &self,
        mut means: Means<'_>,
        region: &Region,
        out: &mut Planes<'_>,
    ) -> Result<()> {
        let dims = self.dims.as_deref().ok_or_else(|| Error::invalid("a null dataspace has no elements"))?;
        region.check(dims)?;
        let len = out.len();
        if region.bytes(self.row_size()).ok() != Some(len) {
            return Err(Error::invalid(format!("{len} bytes for a region of {:?} elements", region.count)));
        }
        match &self.place {
            ElementStorage::Chunked(chunks) => {
                let Means { file, heap, scratch, .. } = means;
                chunks.read(file.reader(), &self.elements, region, out, heap, scratch)
            }
            _ => {
                out.slices(region).try_for_each(|(part, rows)| self.read_rows(&mut means, dims, &part, rows))
            }
        }
    }

    /// Reads elements that are not chunked.
    fn read_rows(&self, means: &mut Means<'_>, dims: &[u64], region: &Region, rows: &mut [u8]) -> Result<()> {
        if let ElementStorage::Mapped(mapped, datatype) = &self.place {
            let fill = self.elements.fill_row(means.file.reader(), means.heap)?;
            fill_rows(&fill, rows)?;
            return mapped.read(means, datatype, dims, region, &fill, rows);
        }
        let Means { file, heap, scratch, .. } = means;
        let Elements { converter, .. } = &self.elements;
        let reader = file.reader();
        if converter.is_identity() {
            return self.read_stored(file, dims, region, rows);
        }
        let mut rest = rows;
        let (size, row) = (converter.stored_size(), converter.row_size());
        for band in bands(region, &vec![1; region.rank()], size, BAND)? {
            let now = band.take_rows(&mut rest, row)?;
            scratch.cancel.check()?;
            let len = band.bytes(size)?;
            let _charge = reader.budget().charge(len as u64)?;
            let stored = room(&mut scratch.buffers.stored, len);
            self.read_stored(file, dims, &band, stored)?;
            converter.convert(reader, stored, now, heap)?;
        }
        Ok(())
    }

    /// Reads the stored elements of `region` into `out`.
    fn read_stored(&self, file: &File, dims: &[u64], region: &Region, out: &mut [u8]) -> Result<()> {
        let size = self.elements.converter.stored_size();
        match &self.place {
            ElementStorage::Compact(bytes) => {
                let whole = Region::all(dims);
                let len = whole.bytes(size).ok();
                let bytes = len
                    .and_then(|len| bytes.get(..len))
                    .ok_or_else(|| short(dims, size, bytes.len() as u64))?;
                scatter(bytes, &whole.start, dims, region, out, size)
            }
            ElementStorage::Contiguous { address, .. } if address.is_undefined() => {
                fill_rows(&self.elements.fill, out)
            }
            ElementStorage::Contiguous { address, size: stored } => {
                let wanted = Region::all(dims).len().and_then(|n| n.checked_mul(size as u64));
                if wanted.is_none_or(|wanted| wanted > *stored) {
                    return Err(short(dims, size, *stored));
                }
                let read = |offset: u64, out: &mut [u8]| {
                    file.reader().raw_into("raw data", Address(address.0.saturating_add(offset)), out)
                };
                read_contiguous(&read, dims, region, size, out)
            }
            ElementStorage::External(external) => {
                read_contiguous(&|offset, out| external.read(file, offset, out), dims, region, size, out)
            }
            ElementStorage::Chunked(_) | ElementStorage::Mapped(..) => {
                Err(Error::invalid("elements are not contiguous, expected contiguous or compact storage"))
            }
        }
    }
}

/// What a read needs: the file, the heap for variable-length elements, the buffers of the thread, and the virtual
/// datasets on whose behalf it reads.
pub(super) struct Means<'a> {
    pub(super) file: &'a File,
    pub(super) heap: &'a mut Heap<Reference>,
    pub(super) scratch: &'a mut Scratch,
    pub(super) chain: Option<&'a Chain<'a>>,
}

impl Elements {
    /// The fill value as one element in memory.
    pub(super) fn fill_row(&self, reader: &Reader, heap: &mut Heap<Reference>) -> Result<Vec<u8>> {
        let mut row = vec![0; self.converter.row_size()];
        self.converter.convert(reader, &self.fill, &mut row, heap)?;
        Ok(row)
    }
}

fn short(dims: &[u64], size: usize, stored: u64) -> Error {
    Error::malformed(format!("{stored} stored bytes, expected {dims:?} elements of {size} bytes"))
}

/// The number of stored bytes that are converted at once. They should fit in a fast CPU cache.
const BAND: u64 = 256 << 10;
