//! An opened HDF5 file.

use crate::element::Converter;
use crate::format::message::MessageType;
use crate::format::message::datatype::Datatype;
use crate::format::message::driver_info::DriverInfo as DriverInfoMessage;
use crate::format::message::metadata_cache_image::MetadataCacheImage;
use crate::format::metadata::Superblock;
use crate::format::metadata::driver_info::{DriverInfo, DriverInfoBlock};
use crate::format::{Address, Structure};
use crate::navigate::cache_image::Imaged;
use crate::navigate::global_heap::GlobalHeap;
use crate::navigate::object_header::ObjectHeader;
use crate::navigate::shared_message::SharedMessages;
use crate::navigate::{Reader, superblock};
use crate::object::Object;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Decoder, Error, Limits, Result};
use std::sync::Arc;

/// An opened HDF5 file. Everything is read through `&self`, from as many threads as there are.
///
/// ```no_run
/// use hyperslab_core::{Limits, storage::FileStorage};
/// use hyperslab_hdf5::File;
///
/// let file = File::open(Box::new(FileStorage::open("ocean.nc")?), Limits::default())?;
/// for link in file.root()?.links(&file)? {
///     println!("{}", String::from_utf8_lossy(&link.name));
/// }
/// # Ok::<(), hyperslab_core::Error>(())
/// ```
pub struct File {
    reader: Reader,
    superblock: Superblock,
    /// Shared by all converters, as variables next to each other keep their text in the same collections.
    global_heap: Arc<GlobalHeap>,
}

impl File {
    /// Finds and reads the superblock.
    ///
    /// # Errors
    /// If there is none, or it cannot be understood; also for members of a file that is split over several.
    pub fn open(storage: Box<dyn ReadAt>, limits: Limits) -> Result<File> {
        let (superblock, base) = superblock::read(&*storage)?;
        let storage: Arc<dyn ReadAt> = storage.into();
        let reader = Reader::new(Box::new(Arc::clone(&storage)), base, superblock.sizes, limits);
        refuse_split(&reader, &superblock)?;
        let reader = match superblock.extension().is_undefined() {
            true => reader,
            false => extended(reader, superblock.extension(), storage)?,
        };
        Ok(File { reader, superblock, global_heap: Arc::default() })
    }

    /// The superblock.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// Bytes before the superblock that are not HDF5's.
    pub fn user_block(&self) -> u64 {
        self.superblock.base_address.get().unwrap_or(0)
    }

    /// The bytes of the file, by address.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The root group.
    ///
    /// # Errors
    /// If its header cannot be read.
    pub fn root(&self) -> Result<Object> {
        self.object(self.root_address())
    }

    /// Where the root group is.
    pub fn root_address(&self) -> Address {
        self.superblock.root_object_header()
    }

    /// The object at `address`.
    ///
    /// # Errors
    /// If there is none that can be understood.
    pub fn object(&self, address: Address) -> Result<Object> {
        Object::open(self, address)
    }

    /// A converter for elements of `datatype`.
    ///
    /// # Errors
    /// As [`Converter::new`].
    pub fn converter(&self, datatype: &Datatype) -> Result<Converter> {
        Converter::with_global_heap(datatype, self.reader.sizes(), Arc::clone(&self.global_heap))
    }
}

/// Reads what the superblock extension says of how the rest is read.
fn extended(reader: Reader, extension: Address, storage: Arc<dyn ReadAt>) -> Result<Reader> {
    let header = ObjectHeader::read(&reader, extension)?;
    if let Some(message) = header.find(MessageType::DRIVER_INFO) {
        let DriverInfoMessage { identification, information } = message.decode(&reader)?;
        let d = Decoder::new(DriverInfoMessage::NAME, message.offset, &information);
        refuse_driver(&DriverInfo::decode(identification, d))
            .map_err(|e| e.at(DriverInfoMessage::NAME, message.offset))?;
    }
    let mut reader = reader;
    if let Some(image) = header.message::<MetadataCacheImage>(&reader)?
        && !image.address.is_undefined()
    {
        let imaged = Imaged::read(&reader, storage, &image)?;
        reader = reader.with_storage(Box::new(imaged));
    }
    if let Some(table) = header.message(&reader)? {
        reader = reader.with_shared_messages(SharedMessages::new(table));
    }
    Ok(reader)
}

/// Refuses files that the driver information block of superblocks 0 and 1 says are split.
fn refuse_split(reader: &Reader, superblock: &Superblock) -> Result<()> {
    let address = superblock.driver_info();
    if address.is_undefined() {
        return Ok(());
    }
    let block: DriverInfoBlock = reader.structure_up_to(address, MOST_DRIVER_INFO, reader.sizes())?;
    let offset = reader.offset(DriverInfoBlock::NAME, address)?;
    refuse_driver(&block.info).map_err(|e| e.at(DriverInfoBlock::NAME, offset))
}

/// A file that drivers spread over several holds only a part of itself here.
fn refuse_driver(info: &DriverInfo) -> Result<()> {
    let driver = match info {
        DriverInfo::Multi(_) => "multi",
        DriverInfo::Family { .. } => "family",
        DriverInfo::Unknown { .. } => return Ok(()),
    };
    Err(Error::unsupported(format!("one member of a file that the {driver} driver split over several")))
}

/// More than any driver writes.
const MOST_DRIVER_INFO: u64 = 4096;

#[cfg(test)]
mod tests;
