//! An opened HDF5 file.

mod find;
mod located;
mod others;
mod set;

pub(crate) use find::Elsewhere;
pub use located::Located;

use crate::element::Converter;
use crate::format::message::MessageType;
use crate::format::message::datatype::Datatype;
use crate::format::message::driver_info::DriverInfo as DriverInfoMessage;
use crate::format::message::metadata_cache_image::MetadataCacheImage;
use crate::format::metadata::Superblock;
use crate::format::metadata::driver_info::{DriverInfo, DriverInfoBlock};
use crate::format::{Address, Structure};
use crate::navigate::cache_image::Imaged;
use crate::navigate::chunk_index::RecentTables;
use crate::navigate::global_heap::GlobalHeap;
use crate::navigate::object_header::ObjectHeader;
use crate::navigate::shared_message::SharedMessages;
use crate::navigate::{Reader, prefetch, superblock};
use crate::object::Object;
use hyperslab_core::storage::{Joined, Lonely, ReadAt, Siblings};
use hyperslab_core::{Budget, Decoder, Limits, Result, valid};
use others::Others;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// An open HDF5 file. All methods take `&self` and can be called from many threads.
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
    /// Shared by all converters, because neighbouring variables often keep their text in the same global heap
    /// collections.
    global_heap: Arc<GlobalHeap>,
    siblings: Arc<dyn Siblings>,
    others: Others,
    chunk_tables: RecentTables,
    /// The ranges that are missing because members of a split file are too short.
    cut: Ranges,
    /// The members of a split file, in order of their start. None for a single file.
    members: Vec<Member>,
    /// Dimensions of virtual datasets that depend on their sources. To find them, many files must be opened.
    derived: Mutex<FxHashMap<Address, Vec<u64>>>,
}

impl File {
    /// Finds and reads the superblock. For a file that is split over several, any member can be given if it was
    /// opened by its path.
    ///
    /// # Errors
    /// If there is no superblock or it is invalid; for a member of a split file, if other members are missing.
    pub fn open(storage: Box<dyn ReadAt>, limits: Limits) -> Result<File> {
        File::open_among(storage, limits, Budget::new(&limits), Others::default())
    }

    /// Whether a file without a superblock belongs to a set that has one, or to a kind of set that is not supported:
    /// a member of a set, a file of revisions, a subfile.
    ///
    /// # Errors
    /// If searching the other files fails.
    pub fn is_part(storage: &dyn ReadAt) -> Result<bool> {
        set::is_part(storage)
    }

    /// The name of the first member of a family, given a pattern with `%d`. `None` if the name is not a pattern.
    pub fn first_member(name: &str) -> Option<String> {
        set::first_of_pattern(name)
    }

    fn open_among(storage: Box<dyn ReadAt>, limits: Limits, budget: Budget, others: Others) -> Result<File> {
        let (storage, siblings) = leading(storage)?;
        let (superblock, base) = superblock::read(&*storage)?;
        let reader = |storage: &Arc<dyn ReadAt>| {
            Reader::new(Box::new(Arc::clone(storage)), base, superblock.sizes, limits)
                .with_budget(budget.clone())
        };
        let (storage, assembly) = joined(storage, &*siblings, &superblock, base, &reader)?;
        let reader = match superblock.extension().is_undefined() {
            true => reader(&storage),
            false => extended(reader(&storage), superblock.extension(), storage)?,
        };
        // Most of what is read first is there.
        reader.fetch(&[Address(0)], BEGINNING);
        Ok(File {
            reader,
            superblock,
            global_heap: Arc::default(),
            chunk_tables: RecentTables::new(&limits),
            siblings,
            others,
            cut: assembly.cut,
            members: assembly.members,
            derived: Mutex::default(),
        })
    }

    /// Another file that this one names, opened with the same options and budget. `None` if there is no file of that
    /// name.
    ///
    /// # Errors
    /// If the options do not allow following the name, or it is not an HDF5 file.
    pub(crate) fn other(&self, name: &str) -> Result<Option<Arc<File>>> {
        let Some(storage) = self.siblings.open(name)? else { return Ok(None) };
        let identity = storage.siblings().and_then(|siblings| Some(siblings.identity()?.to_owned()));
        let open = || {
            let (limits, budget) = (*self.reader.limits(), self.reader.budget().clone());
            File::open_among(storage, limits, budget, self.others.of_another())
        };
        self.others.get(identity, open).map(Some).map_err(|e| e.of_another(name))
    }

    /// The directory of this file.
    pub(crate) fn siblings(&self) -> &dyn Siblings {
        &*self.siblings
    }

    /// The identity of the file, if it was opened by a path.
    pub(crate) fn identity(&self) -> Option<&Path> {
        self.siblings.identity()
    }

    /// The members of a split file, in order of their start. None for a single file.
    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// The global heap.
    pub(crate) fn global_heap(&self) -> &GlobalHeap {
        &self.global_heap
    }

    /// The chunk indexes of the datasets that were opened last.
    pub(crate) fn chunk_tables(&self) -> &RecentTables {
        &self.chunk_tables
    }

    /// The dimensions of the virtual dataset at `address`. Calls `derive` the first time.
    pub(crate) fn derived(
        &self,
        address: Address,
        derive: impl FnOnce() -> Result<Vec<u64>>,
    ) -> Result<Vec<u64>> {
        let known = || self.derived.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(extents) = known().get(&address) {
            return Ok(extents.clone());
        }
        // Not under the lock, as a source can be a virtual dataset of this file.
        let extents = derive()?;
        known().insert(address, extents.clone());
        Ok(extents)
    }

    /// The size of the file in bytes, with all members if it is split.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn stored_len(&self) -> Result<u64> {
        Ok(self.reader.len()?.saturating_add(self.user_block()))
    }

    /// Warnings about the file as a whole.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.superblock.is_open_for_swmr_writing() {
            warnings.push("a writer has the file open in SWMR mode, or did not close it".into());
        } else if self.superblock.is_open_for_writing() {
            warnings.push("a writer has the file open, or did not close it: parts may be missing".into());
        }
        let len = self.reader.len().unwrap_or(u64::MAX);
        let base = self.superblock.base_address.get().unwrap_or(0);
        if let Some(end) = self.superblock.end_of_file.get()
            && end.saturating_sub(base) > len
        {
            warnings.push(format!(
                "the file is truncated: found {} bytes, expected {}",
                len.saturating_add(base),
                end
            ));
        }
        warnings.extend(self.missing_bytes());
        if let Some(name) = self.siblings.own_name() {
            let revisions = format!("{name}.onion");
            if matches!(self.siblings.open(&revisions), Ok(Some(_))) {
                warnings.push(format!("later revisions are in {revisions}, which cannot be read"));
            }
        }
        warnings
    }

    /// The bytes that are missing from member files and read as zeros; `None` if there are none.
    pub fn missing_bytes(&self) -> Option<String> {
        let first = self.cut.first()?;
        let bytes = self.cut.iter().fold(0_u64, |sum, cut| sum.saturating_add(cut.end - cut.start));
        Some(format!(
            "member files are truncated: {bytes} missing bytes, the first at {:#x}, read as zeros",
            first.start
        ))
    }

    /// The superblock.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// The bytes of the user block before the superblock.
    pub fn user_block(&self) -> u64 {
        self.superblock.base_address.get().unwrap_or(0)
    }

    /// Reads bytes by address.
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

    /// The address of the root group.
    pub fn root_address(&self) -> Address {
        self.superblock.root_object_header()
    }

    /// The object at `address`.
    ///
    /// # Errors
    /// If there is none, or it is invalid.
    pub fn object(&self, address: Address) -> Result<Object> {
        Object::open(self, address)
    }

    /// Fetches what opening these objects will read: in a few requests for a remote file, not at all for a local one.
    /// More than [`File::MAX_FETCHED`] would evict each other from the cache, so the rest is not fetched.
    pub fn fetch_objects(&self, addresses: &[Address]) {
        prefetch::objects(&self.reader, addresses.get(..File::MAX_FETCHED).unwrap_or(addresses));
    }

    /// Whether each request to the file takes long, as over a network.
    pub fn is_far(&self) -> bool {
        self.reader.is_far()
    }

    /// The maximum number of headers that are fetched at once.
    pub const MAX_FETCHED: usize = 256;

    /// A converter for elements of `datatype`.
    ///
    /// # Errors
    /// As [`Converter::new`].
    pub fn converter(&self, datatype: &Datatype) -> Result<Converter> {
        Converter::with_global_heap(datatype, self.reader.sizes(), Arc::clone(&self.global_heap))
    }
}

/// Reads the superblock extension, which affects how the rest of the file is read.
fn extended(reader: Reader, extension: Address, storage: Arc<dyn ReadAt>) -> Result<Reader> {
    let header = ObjectHeader::read(&reader, extension)?;
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

/// The whole file of which this storage is a member. The storage itself if it is a single file, or has no readable
/// superblock. Addresses between members are holes.
///
/// # Errors
/// If other members are missing, or reading fails.
pub(crate) fn whole(storage: Box<dyn ReadAt>, limits: Limits) -> Result<(Arc<dyn ReadAt>, Ranges)> {
    let (storage, siblings) = leading(storage)?;
    let Some((superblock, base)) = valid(superblock::read(&*storage))? else {
        return Ok((storage, Vec::new()));
    };
    let reader = |storage: &Arc<dyn ReadAt>| {
        Reader::new(Box::new(Arc::clone(storage)), base, superblock.sizes, limits)
    };
    let (storage, Assembly { mut holes, cut, .. }) = joined(storage, &*siblings, &superblock, base, &reader)?;
    holes.extend(cut);
    holes.sort_unstable_by_key(|hole| hole.start);
    Ok((storage, holes))
}

/// The member with the superblock, and the directory of the files.
fn leading(storage: Box<dyn ReadAt>) -> Result<(Arc<dyn ReadAt>, Arc<dyn Siblings>)> {
    let storage = match set::leading(&*storage)? {
        Some(leading) => leading,
        None => storage,
    };
    let siblings = storage.siblings().unwrap_or_else(|| Arc::new(Lonely));
    Ok((storage.into(), siblings))
}

/// The whole file that a member with a superblock belongs to, or the member itself.
fn joined(
    storage: Arc<dyn ReadAt>,
    siblings: &dyn Siblings,
    superblock: &Superblock,
    base: u64,
    reader: &dyn Fn(&Arc<dyn ReadAt>) -> Reader,
) -> Result<(Arc<dyn ReadAt>, Assembly)> {
    let mut found = driver(&reader(&storage), superblock);
    if found.is_err()
        && let Some(whole) = set::assumed(siblings, superblock.extension())?
    {
        let whole: Arc<dyn ReadAt> = Arc::new(whole);
        found = driver(&reader(&whole), superblock).or(found);
    }
    match set::assemble(&storage, siblings, found, base, superblock.end_of_file)? {
        Some(whole) => {
            let assembly = Assembly { holes: whole.holes(), cut: whole.cut()?, members: members(&whole) };
            Ok((Arc::new(whole), assembly))
        }
        None => Ok((storage, Assembly::default())),
    }
}

/// How a split file is put together: its members, and the addresses without data.
#[derive(Default)]
struct Assembly {
    /// Between members.
    holes: Ranges,
    /// After the data of the members.
    cut: Ranges,
    members: Vec<Member>,
}

/// A member of a split file, and the bytes of the whole that it has.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) range: Range<u64>,
    /// None if it was not opened by a path.
    pub(crate) name: Option<String>,
}

fn members(whole: &Joined) -> Vec<Member> {
    let members = whole.parts().iter().map(|part| {
        let siblings = part.storage.as_ref().ok().and_then(ReadAt::siblings);
        let name = siblings.and_then(|siblings| siblings.own_name().map(str::to_owned));
        Member { range: part.start..part.end, name }
    });
    members.collect()
}

/// Addresses from the first to before the last.
pub(crate) type Ranges = Vec<Range<u64>>;

/// The driver information of the file. An error if it would be in another member.
fn driver(reader: &Reader, superblock: &Superblock) -> Result<Option<DriverInfo>> {
    let address = superblock.driver_info();
    if !address.is_undefined() {
        let block: DriverInfoBlock = reader.structure_up_to(address, MAX_DRIVER_INFO, reader.sizes())?;
        return Ok(Some(block.info));
    }
    if superblock.extension().is_undefined() {
        return Ok(None);
    }
    let header = ObjectHeader::read(reader, superblock.extension())?;
    let Some(message) = header.find(MessageType::DRIVER_INFO) else { return Ok(None) };
    let DriverInfoMessage { identification, information } = message.decode(reader)?;
    let d = Decoder::new(DriverInfoMessage::NAME, message.offset, &information);
    Ok(Some(DriverInfo::decode(identification, d)))
}

/// The maximum size of driver information.
const MAX_DRIVER_INFO: u64 = 4096;

/// The number of bytes that are fetched from the beginning of a remote file.
const BEGINNING: u64 = 64 << 10;

#[cfg(test)]
mod tests;
