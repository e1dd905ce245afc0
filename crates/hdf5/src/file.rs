//! An opened HDF5 file.

use crate::element::Converter;
use crate::format::Address;
use crate::format::Structure;
use crate::format::message::datatype::Datatype;
use crate::format::metadata::Superblock;
use crate::format::metadata::driver_info::{DriverInfo, DriverInfoBlock};
use crate::format::metadata::superblock::Version;
use crate::navigate::global_heap::GlobalHeap;
use crate::navigate::{Reader, superblock};
use crate::object::Object;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Error, Limits, Result};
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
        let reader = Reader::new(storage, base, superblock.sizes, limits);
        let file = File { reader, superblock, global_heap: Arc::default() };
        file.refuse_split()?;
        Ok(file)
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

    /// A file that drivers spread over several holds only a part of itself here.
    fn refuse_split(&self) -> Result<()> {
        let (Version::V0(root) | Version::V1 { root, .. }) = &self.superblock.version else { return Ok(()) };
        if root.driver_info.is_undefined() {
            return Ok(());
        }
        let block: DriverInfoBlock =
            self.reader.structure_up_to(root.driver_info, MOST_DRIVER_INFO, self.reader.sizes())?;
        let driver = match &block.info {
            DriverInfo::Multi(_) => "multi",
            DriverInfo::Family { .. } => "family",
            DriverInfo::Unknown { .. } => return Ok(()),
        };
        Err(Error::unsupported(format!("one member of a file that the {driver} driver split over several"))
            .at(DriverInfoBlock::NAME, self.reader.offset(DriverInfoBlock::NAME, root.driver_info)?))
    }
}

/// More than any driver writes.
const MOST_DRIVER_INFO: u64 = 4096;
