//! Datasets: type, dimensions, layout, filters, and reading of elements.

mod array;
mod chunked;
mod external;
mod mapped;
mod named;
mod places;

use crate::file::File;
use crate::format::Address;
use crate::format::Structure;
use crate::format::message::HeaderMessage;
use crate::format::message::data_layout::{DataLayout, LayoutClass};
use crate::format::message::dataspace::{Dataspace, Extent};
use crate::format::message::datatype::Datatype;
use crate::format::message::external_files::ExternalFiles;
use crate::format::message::fill_value::{Fill as FillMessage, FillValue};
use crate::format::message::fill_value_old::FillValueOld;
use crate::format::message::filter_pipeline::{Filter, FilterPipeline};
use crate::format::message::shared::{MessageLocation, SharedMessage};
use crate::navigate::Reader;
use crate::navigate::object_header::{ObjectHeader, StoredMessage};
use crate::reference::Reference;
use array::{ElementStorage, Elements};
use chunked::Chunks;
use external::External;
use hyperslab_core::rows::Heap;
use hyperslab_core::{Decoder, Error, Result};
use mapped::Mapped;
use std::sync::Arc;

pub use array::Array;
pub use external::ExternalSegment;
pub(crate) use mapped::Chain;
pub use mapped::SourceMapping;
pub(crate) use mapped::first_name;
pub use named::{MissingSource, NamedFor};

/// A dataset without its elements.
#[derive(Debug)]
pub struct Dataset {
    datatype: Datatype,
    committed: Option<Address>,
    dataspace: Dataspace,
    layout: DataLayout,
    filters: Vec<Filter>,
    /// Decoded on demand, as listing many datasets does not need it.
    fill: StoredFill,
    external: Option<StoredMessage>,
    mapped: Option<Arc<Mapped>>,
}

#[derive(Debug)]
enum StoredFill {
    None,
    Old(StoredMessage),
    New(StoredMessage),
}

/// The fill value: the value of elements that were never written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// One element as it is stored. `None` for zeros.
    pub value: Option<Vec<u8>>,
    /// Whether the writer left it undefined explicitly.
    pub undefined: bool,
    /// The Fill Value message, if the file has the newer kind.
    pub message: Option<FillValue>,
}

impl Dataset {
    /// The dataset with this header. `chain` has the virtual datasets that it is a source of.
    pub(crate) fn open(file: &File, header: &ObjectHeader, chain: Option<&Chain<'_>>) -> Result<Dataset> {
        let reader = file.reader();
        let datatype: Datatype = header.required(reader)?;
        let mut dataspace: Dataspace = header.required(reader)?;
        let layout = layout(header.required(reader)?, &datatype, &dataspace)?;
        let mut mapped = None;
        if let LayoutClass::Virtual { heap, index } = layout.class {
            let own = header.address();
            let found = Mapped::open(file, own, heap, index, dataspace.dimensions().len())?;
            if let Extent::Simple { dimensions, maximum, .. } = &mut dataspace.extent
                && found.is_derived()
            {
                let derived = file.derived(own, || found.derive(file, dimensions, chain))?;
                *dimensions = within(derived, maximum.as_deref())?;
            }
            mapped = Some(Arc::new(found));
        }
        let filters = header.message::<FilterPipeline>(reader)?.map(|pipeline| pipeline.filters);
        Ok(Dataset {
            committed: committed(reader, header)?,
            layout,
            filters: filters.unwrap_or_default(),
            fill: StoredFill::of(header),
            external: header.find(ExternalFiles::TYPE).cloned(),
            mapped,
            datatype,
            dataspace,
        })
    }

    /// The type of its elements.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// The committed datatype that it shares, if any.
    pub fn committed(&self) -> Option<Address> {
        self.committed
    }

    /// Its current dimensions. `None` for a null dataspace.
    pub fn extents(&self) -> Option<&[u64]> {
        self.dataspace.extents()
    }

    /// Its maximum dimensions, `u64::MAX` for an unlimited one. `None` for a null dataspace.
    pub fn max_extents(&self) -> Option<&[u64]> {
        self.extents().map(|_| self.dataspace.maximum())
    }

    /// The layout of its elements.
    pub fn layout(&self) -> &LayoutClass {
        &self.layout.class
    }

    /// The shape of a chunk. `None` if it is not chunked.
    pub fn chunk(&self) -> Option<&[u64]> {
        match &self.layout.class {
            LayoutClass::Chunked(chunked) => Some(&chunked.dimensions),
            _ => None,
        }
    }

    /// The filter pipeline of its chunks, in the order of writing.
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// The fill value.
    ///
    /// # Errors
    /// If the fill value message is invalid, or does not hold exactly one element.
    pub fn fill(&self, file: &File) -> Result<Fill> {
        Fill::decode(file.reader(), &self.fill, &self.datatype)
    }

    /// Whether partial chunks at the edge of the dataset are stored without filters.
    pub fn has_unfiltered_edges(&self) -> bool {
        matches!(&self.layout.class, LayoutClass::Chunked(chunked) if chunked.partial_edge_chunks_unfiltered)
    }

    /// Whether its elements are in external files of raw bytes.
    pub fn has_external_files(&self) -> bool {
        self.external.is_some()
    }

    /// The size of its elements in the file, in bytes.
    ///
    /// # Errors
    /// If its chunks cannot be listed.
    pub fn stored_bytes(&self, file: &File) -> Result<u64> {
        match &self.layout.class {
            LayoutClass::Compact { data, .. } => Ok(data.len() as u64),
            LayoutClass::Contiguous { address, .. } if address.is_undefined() || self.external.is_some() => {
                Ok(0)
            }
            LayoutClass::Contiguous { size, .. } => {
                Ok(size.unwrap_or_else(|| self.logical_bytes().unwrap_or(0)))
            }
            LayoutClass::Chunked(chunked) => {
                let table = chunked::table(file, chunked, &self.dataspace, !self.filters.is_empty())?;
                Ok(table.stored_bytes())
            }
            LayoutClass::Virtual { .. } => Ok(0),
        }
    }

    /// The size of all elements without filters, in bytes. `None` if it does not fit in a `u64`.
    pub fn logical_bytes(&self) -> Option<u64> {
        self.dataspace.element_count()?.checked_mul(u64::from(self.datatype.size))
    }

    /// The fill value as one element in memory. Zeros if the file has none.
    ///
    /// # Errors
    /// If the fill value cannot be converted.
    pub fn fill_row(&self, file: &File, heap: &mut Heap<Reference>) -> Result<Vec<u8>> {
        let converter = file.converter(&self.datatype)?;
        let mut row = vec![0; converter.row_size()];
        converter.convert(file.reader(), &self.fill_element(file)?, &mut row, heap)?;
        Ok(row)
    }

    /// Opens its elements for reading.
    ///
    /// # Errors
    /// If they cannot be located, or have filters that are not supported.
    pub fn array(&self, file: &File) -> Result<Array> {
        let reader = file.reader();
        let logical =
            || self.logical_bytes().ok_or_else(|| Error::malformed("more than 2^64 bytes of elements"));
        let place = match &self.layout.class {
            LayoutClass::Contiguous { .. } if let Some(message) = &self.external => {
                ElementStorage::External(External::open(file, &message.decode(reader)?)?)
            }
            LayoutClass::Compact { data, .. } => ElementStorage::Compact(data.clone()),
            LayoutClass::Contiguous { address, size, .. } => {
                ElementStorage::Contiguous { address: *address, size: size.map_or_else(logical, Ok)? }
            }
            LayoutClass::Chunked(chunked) => ElementStorage::Chunked(Box::new(Chunks::open(
                file,
                chunked,
                &self.dataspace,
                &self.filters,
            )?)),
            LayoutClass::Virtual { .. } => match &self.mapped {
                Some(mapped) => ElementStorage::Mapped(Arc::clone(mapped), Box::new(self.datatype.clone())),
                None => return Err(Error::invalid("a virtual dataset without its mappings")),
            },
        };
        let elements =
            Elements { converter: file.converter(&self.datatype)?, fill: self.fill_element(file)? };
        Ok(Array::new(self.extents().map(<[u64]>::to_vec), elements, place))
    }

    /// The fill value as one stored element.
    fn fill_element(&self, file: &File) -> Result<Vec<u8>> {
        let size = usize::try_from(self.datatype.size)
            .map_err(|_| Error::malformed("datatype size exceeds the address space"))?;
        if let Some(value) = self.fill(file)?.value {
            return Ok(value);
        }
        // This buffer is temporary, but a type of gigabytes whose elements were never written is refused here.
        let _charge = file.reader().budget().charge(u64::from(self.datatype.size))?;
        Ok(vec![0; size])
    }
}

/// Checks the dimensions of a virtual dataset that follow from its sources. Truncating them would hide elements, and
/// libhdf5 also refuses such a dataset.
fn within(derived: Vec<u64>, maximum: Option<&[u64]>) -> Result<Vec<u64>> {
    match maximum {
        Some(maximum) if derived.iter().zip(maximum).any(|(own, max)| own > max) => {
            Err(Error::malformed(format!(
                "the sources of a virtual dataset give it the dimensions {derived:?}, expected at most its maximum \
                 {maximum:?}"
            )))
        }
        _ => Ok(derived),
    }
}

/// Checks the layout against the type and the dimensions.
fn layout(layout: DataLayout, datatype: &Datatype, dataspace: &Dataspace) -> Result<DataLayout> {
    let LayoutClass::Chunked(chunked) = &layout.class else { return Ok(layout) };
    if chunked.element_size != u64::from(datatype.size) {
        return Err(Error::malformed(format!(
            "element size {} of the chunks, expected the datatype size {}",
            chunked.element_size, datatype.size
        )));
    }
    let (rank, own) = (dataspace.dimensions().len(), chunked.dimensions.len());
    if rank != own {
        return Err(Error::malformed(format!("{own} chunk dimensions, expected {rank} as in the dataspace")));
    }
    Ok(layout)
}

/// The committed datatype that the datatype message of a header is shared from.
fn committed(reader: &Reader, header: &ObjectHeader) -> Result<Option<Address>> {
    let Some(message) = header.find(Datatype::TYPE).filter(|message| message.flags.is_shared()) else {
        return Ok(None);
    };
    let mut d = Decoder::new(SharedMessage::NAME, message.offset, &message.body);
    match SharedMessage::decode(&mut d, reader.sizes())?.location {
        MessageLocation::Committed(address) => Ok(Some(address)),
        MessageLocation::Heap(_) => Ok(None),
    }
}

impl StoredFill {
    /// Files with the newer message often have the older one as well. The newer one has more information.
    fn of(header: &ObjectHeader) -> StoredFill {
        match (header.find(FillValue::TYPE), header.find(FillValueOld::TYPE)) {
            (Some(message), _) => StoredFill::New(message.clone()),
            (None, Some(message)) => StoredFill::Old(message.clone()),
            (None, None) => StoredFill::None,
        }
    }
}

impl Fill {
    fn decode(reader: &Reader, stored: &StoredFill, datatype: &Datatype) -> Result<Fill> {
        let (message, value): (Option<FillValue>, _) = match stored {
            StoredFill::None => return Ok(Fill::default()),
            StoredFill::Old(message) => {
                let old: FillValueOld = message.decode(reader)?;
                (None, Some(old.value).filter(|value| !value.is_empty()))
            }
            StoredFill::New(message) => {
                let message: FillValue = message.decode(reader)?;
                let value = match &message.value {
                    FillMessage::Value(value) => Some(value.clone()),
                    FillMessage::Undefined | FillMessage::Default => None,
                };
                (Some(message), value)
            }
        };
        if let Some(value) = &value
            && u64::try_from(value.len()) != Ok(u64::from(datatype.size))
        {
            return Err(Error::malformed(format!(
                "fill value of {} bytes, expected the element size {}",
                value.len(),
                datatype.size
            )));
        }
        let undefined = matches!(&message, Some(FillValue { value: FillMessage::Undefined, .. }));
        Ok(Fill { value, undefined, message })
    }
}
