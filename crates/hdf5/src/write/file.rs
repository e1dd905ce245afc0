//! A file from its superblock to its end.
//!
//! Spec: HDF5 II.A Format Signature and Superblock, II.C Superblock Extension

use super::object_header::{HeaderOptions, ObjectHeader};
use super::output::Output;
use super::shared_messages::{SharedMessageOptions, SharedMessages, Sharing};
use super::symbol_table::root_entry;
use super::{GlobalHeapWriter, GroupAddress, LibraryVersion, Sink};
use crate::format::infrastructure::SymbolTableEntry;
use crate::format::infrastructure::symbol_table_entry::Cache;
use crate::format::message::HeaderMessage;
use crate::format::message::btree_k_values::BtreeKValues;
use crate::format::message::file_space_info::{FileSpaceInfo, StrategyV1};
use crate::format::message::shared_message_table::SharedMessageTable as TableMessage;
use crate::format::metadata::Superblock;
use crate::format::metadata::superblock::{ObjectHeaderRoot, SymbolTableRoot, Version};
use crate::format::object_header::MessageFlags;
use crate::format::{Address, Sizes, Structure};
use crate::space::{Space, SpaceKind};
use hyperslab_core::storage::WriteAt;
use hyperslab_core::{Encoder, Error, Result};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The properties of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOptions {
    /// The oldest library that must be able to read content that does not need a newer one.
    pub low: LibraryVersion,
    /// The oldest library that must be able to read everything.
    pub high: LibraryVersion,
    /// The widths of addresses and lengths: 2, 4 or 8 bytes each.
    pub sizes: Sizes,
    /// The size in bytes of the user block, which precedes the superblock: 0, or a power of two from 512.
    pub user_block: u64,
    /// How libraries that later modify the file manage its space; `None` for their default.
    pub file_space: Option<FileSpace>,
    /// The sizes of version 1 B-tree nodes.
    pub btree_k: BtreeKValues,
    /// How messages of headers are shared; `None` if every header has its own.
    pub shared_messages: Option<SharedMessageOptions>,
}

impl Default for FileOptions {
    fn default() -> Self {
        FileOptions {
            low: LibraryVersion::V1_8,
            high: LibraryVersion::V2_0,
            sizes: Sizes::DEFAULT,
            user_block: 0,
            file_space: None,
            btree_k: BtreeKValues::default(),
            shared_messages: None,
        }
    }
}

/// How the space of a file is managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSpace {
    /// The strategy. Only [`StrategyV1::Page`] also affects how a file is written: in pages.
    pub strategy: StrategyV1,
    /// Whether libraries store the free space that they leave behind. A newly written file has none.
    pub persists: bool,
    /// The minimum size in bytes of a free section that is tracked.
    pub threshold: u64,
    /// The size of a page in bytes, from 512.
    pub page_size: u64,
}

impl FileSpace {
    /// File space in pages of this size in bytes.
    pub const fn paged(page_size: u64) -> FileSpace {
        FileSpace { strategy: StrategyV1::Page, persists: false, threshold: 1, page_size }
    }
}

impl FileOptions {
    /// The size of a page in bytes; `None` for a file without pages.
    fn page_size(&self) -> Option<u64> {
        self.file_space.filter(|space| space.strategy == StrategyV1::Page).map(|space| space.page_size)
    }

    /// Checks that the options can be combined.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument), which names the option.
    pub fn check(&self) -> Result<()> {
        let FileOptions { low, high, sizes, user_block, file_space, .. } = self;
        if low > high {
            return Err(Error::invalid(format!(
                "lowest version {low}, expected at most the highest, {high}"
            )));
        }
        if [sizes.offsets, sizes.lengths].iter().any(|size| ![2, 4, 8].contains(size)) {
            let (offsets, lengths) = (sizes.offsets, sizes.lengths);
            return Err(Error::invalid(format!(
                "offsets of {offsets} and lengths of {lengths} bytes, expected 2, 4 or 8"
            )));
        }
        if *user_block != 0 && (*user_block < MIN_USER_BLOCK || !user_block.is_power_of_two()) {
            return Err(Error::invalid(format!(
                "user block of {user_block} bytes, expected 0 or a power of two from {MIN_USER_BLOCK}"
            )));
        }
        match file_space {
            Some(FileSpace { page_size: size, .. }) if !(MIN_PAGE..=MAX_PAGE).contains(size) => {
                Err(Error::invalid(format!("pages of {size} bytes, expected {MIN_PAGE} to {MAX_PAGE}")))
            }
            Some(FileSpace { strategy, .. }) if *high < LibraryVersion::V1_10 => {
                let what =
                    if *strategy == StrategyV1::Page { "paged file space" } else { "file space information" };
                Err(Error::invalid(format!("{what}, which {high} cannot read, expected v1.10 or later")))
            }
            _ => Ok(()),
        }
    }

    /// The number of the superblock version.
    fn superblock_version(&self) -> u8 {
        match self.low {
            LibraryVersion::Earliest if self.file_space.is_some() || self.shared_messages.is_some() => 2,
            LibraryVersion::Earliest => {
                let default = BtreeKValues::default().indexed_storage_internal;
                u8::from(self.btree_k.indexed_storage_internal != default)
            }
            LibraryVersion::V1_8 => 2,
            _ => 3,
        }
    }

    fn superblock(&self, root: GroupAddress, extension: Address, end: u64) -> Superblock {
        let object_header_root = ObjectHeaderRoot { extension, object_header: root.header };
        let symbol_table_root = || SymbolTableRoot {
            group_leaf_k: self.btree_k.group_leaf,
            group_internal_k: self.btree_k.group_internal,
            free_space: Address::UNDEFINED,
            driver_info: Address::UNDEFINED,
            entry: match root.symbol_table {
                Some(table) => root_entry(root.header, table),
                None => {
                    SymbolTableEntry { name_offset: 0, object_header: root.header, cache: Cache::Nothing }
                }
            },
        };
        Superblock {
            sizes: self.sizes,
            base_address: Address(self.user_block),
            end_of_file: Address(self.user_block.saturating_add(end)),
            consistency_flags: 0,
            version: match self.superblock_version() {
                0 => Version::V0(symbol_table_root()),
                1 => Version::V1 {
                    root: symbol_table_root(),
                    indexed_storage_k: self.btree_k.indexed_storage_internal,
                },
                2 => Version::V2(object_header_root),
                _ => Version::V3(object_header_root),
            },
        }
    }

    /// Space from `start` on.
    fn space(&self, start: u64) -> Space {
        let space = Space::new(self.sizes, start);
        match self.page_size() {
            Some(size) => space.with_pages(size),
            None => space,
        }
    }

    /// The superblock extension; `None` if nothing needs one. `table` is the address of the shared messages.
    fn extension(&self, table: Address) -> Result<Option<Vec<u8>>> {
        let has_btree_k = self.superblock_version() >= 2 && self.btree_k != BtreeKValues::default();
        if self.file_space.is_none() && !has_btree_k && self.shared_messages.is_none() {
            return Ok(None);
        }
        let mut header = ObjectHeader::new(&HeaderOptions::default(), LibraryVersion::V1_8, self.sizes)?;
        if has_btree_k {
            header.push(&self.btree_k, MessageFlags::CONSTANT | MessageFlags::DO_NOT_SHARE)?;
        }
        if let Some(shared) = &self.shared_messages {
            let index_count = u8::try_from(shared.indexes.len())
                .map_err(|_| Error::invalid("more than 255 indexes of shared messages"))?;
            let message = TableMessage { address: table, index_count };
            header.push(&message, MessageFlags::CONSTANT | MessageFlags::DO_NOT_SHARE)?;
        }
        if let Some(FileSpace { strategy, persists, threshold, page_size }) = self.file_space {
            let info = FileSpaceInfo::V1 {
                strategy,
                threshold,
                page_size,
                page_end_threshold: 0,
                end_of_allocation: Address::UNDEFINED,
                managers: persists.then_some([Address::UNDEFINED; 12]),
            };
            header.push(&info, MessageFlags::DO_NOT_SHARE | MessageFlags::MARK_IF_UNKNOWN)?;
        }
        header.encode().map(Some)
    }
}

/// A file that is being measured, then written.
///
/// Everything but elements is created by one thread, in the same order in both passes: in the first pass with those
/// addresses of other objects that are already known (their values do not matter then), in the second with all of them.
#[derive(Debug)]
pub struct FileWriter {
    options: FileOptions,
    /// The metadata region, which both passes allocate.
    space: Space,
    /// The objects of the metadata region that other structures refer to, such as strings of attributes.
    heap: GlobalHeapWriter,
    /// The numbers of dimensions of datasets, for references to all of their elements.
    pub(super) ranks: Ranks,
    /// The end of the metadata region, known in the second pass.
    measured: Option<u64>,
    raw: Option<Arc<Raw>>,
    extension: Address,
    /// The messages that headers share in this pass.
    pub(super) shared: Option<SharedMessages>,
    /// The address of the table of shared messages, known in the second pass.
    table: Address,
}

/// A file after the first pass.
#[derive(Clone, Debug)]
pub struct MeasuredFile {
    options: FileOptions,
    /// The end of the metadata region.
    end: u64,
    /// The address of the table of shared messages.
    table: Address,
}

impl MeasuredFile {
    /// Begins the second pass: the file is written to `storage`, whose first bytes are left to the user block. `ranks`
    /// has the datasets that references to all elements refer to.
    ///
    /// # Errors
    /// Any error of the storage.
    pub fn begin(self, storage: Arc<dyn WriteAt>, ranks: Ranks) -> Result<FileWriter> {
        let MeasuredFile { options, end, table } = self;
        let output = Output::new(storage, options.user_block);
        let space = Mutex::new(options.space(end));
        let raw = Arc::new(Raw { output, space, sizes: options.sizes });
        let mut writer =
            FileWriter { ranks, measured: Some(end), raw: Some(raw), table, ..FileWriter::of(options) };
        writer.start()?;
        Ok(writer)
    }
}

/// The numbers of dimensions of datasets by the addresses of their headers.
pub type Ranks = Arc<FxHashMap<Address, u32>>;

/// The part of the file after the metadata region: elements, their heaps and their indexes. Datasets share it.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) output: Output,
    space: Mutex<Space>,
    sizes: Sizes,
}

/// The metadata region as a [`Sink`].
pub(super) struct Metadata<'a> {
    sizes: Sizes,
    space: &'a mut Space,
    output: Option<&'a Output>,
}

/// The region after the metadata as a [`Sink`].
pub(super) struct RawSink<'a>(&'a Raw);

impl FileWriter {
    /// Begins the first pass.
    ///
    /// # Errors
    /// As [`FileOptions::check`].
    pub fn new(options: FileOptions) -> Result<FileWriter> {
        options.check()?;
        let mut writer = FileWriter::of(options);
        writer.start()?;
        Ok(writer)
    }

    fn of(options: FileOptions) -> FileWriter {
        FileWriter {
            space: options.space(0),
            options,
            heap: GlobalHeapWriter::new(),
            ranks: Ranks::default(),
            measured: None,
            raw: None,
            extension: Address::UNDEFINED,
            shared: None,
            table: Address::UNDEFINED,
        }
    }

    /// Ends the first pass.
    ///
    /// # Errors
    /// If addresses of the file are too narrow for what is created after all objects.
    pub fn measured(mut self) -> Result<MeasuredFile> {
        self.end_metadata()?;
        Ok(MeasuredFile { end: self.space.end(), options: self.options, table: self.table })
    }

    /// The properties of the file.
    pub fn options(&self) -> &FileOptions {
        &self.options
    }

    /// Whether this is the first pass.
    pub fn is_measuring(&self) -> bool {
        self.raw.is_none()
    }

    /// Allocates the superblock, and writes its extension.
    fn start(&mut self) -> Result<()> {
        let none = GroupAddress { header: Address::UNDEFINED, symbol_table: None };
        let mut e = Encoder::new();
        self.options.superblock(none, Address::UNDEFINED, 0).encode(&mut e, &())?;
        let extension = self.options.extension(self.table)?;
        let sizes = self.options.sizes;
        let shared = self.options.shared_messages.clone();
        self.shared = shared.map(|options| SharedMessages::new(sizes, options)).transpose()?;
        let (mut metadata, _) = self.metadata();
        metadata.allocate(SpaceKind::Metadata, e.len() as u64)?;
        if let Some(extension) = extension {
            let address = metadata.allocate(SpaceKind::Metadata, extension.len() as u64)?;
            metadata.write(address, &extension)?;
            self.extension = address;
        }
        Ok(())
    }

    /// The metadata region, and the heap in it.
    pub(super) fn metadata(&mut self) -> (Metadata<'_>, &mut GlobalHeapWriter) {
        let output = self.raw.as_ref().map(|raw| &raw.output);
        (Metadata { sizes: self.options.sizes, space: &mut self.space, output }, &mut self.heap)
    }

    /// The region after the metadata.
    pub(super) fn raw(&self) -> Result<Arc<Raw>> {
        self.raw.clone().ok_or_else(|| Error::invalid("elements of a file that is only measured"))
    }

    /// Creates what comes after all objects.
    fn end_metadata(&mut self) -> Result<()> {
        let shared = self.shared.take();
        let (mut metadata, heap) = self.metadata();
        heap.finish(&mut metadata)?;
        if let Some(shared) = shared {
            self.table = shared.write(&mut metadata)?.address;
        }
        Ok(())
    }

    /// Adds a message to a header, or a reference to a message that is shared.
    pub(super) fn push_shareable<M: HeaderMessage>(
        &mut self,
        header: &mut ObjectHeader,
        message: &M,
        flags: u8,
    ) -> Result<()> {
        let Some(shared) = &mut self.shared else { return header.push(message, flags) };
        let mut e = Encoder::new();
        message.encode(&mut e, &self.options.sizes)?;
        match shared.share(M::TYPE, e.as_slice(), Some(Address::UNDEFINED))? {
            Sharing::No => header.push(message, flags),
            Sharing::First => header.push(message, flags | MessageFlags::SHAREABLE),
            Sharing::Reference(location) => header.push_shared(M::TYPE, &location, flags),
        }
    }

    /// Allocates a header of this length, whose messages are final.
    pub(super) fn allocate_header(&mut self, len: u64) -> Result<Address> {
        let address = self.metadata().0.allocate(SpaceKind::Metadata, len)?;
        if let Some(shared) = &mut self.shared {
            shared.place_header(address);
        }
        Ok(address)
    }

    /// Completes the file. Its superblock is written last: until then, no program opens the file.
    ///
    /// # Errors
    /// Any error of the storage; if the metadata of the second pass differs from that of the first.
    pub fn finish(mut self, root: GroupAddress) -> Result<()> {
        self.end_metadata()?;
        let raw = self.raw()?;
        let (found, expected) = (self.space.end(), self.measured.unwrap_or(0));
        if found != expected {
            return Err(Error::invalid(format!(
                "{found} bytes of metadata, expected {expected} as measured: the source has changed"
            )));
        }
        let end = raw.space().end();
        raw.output.flush()?;
        raw.output.set_end(end)?;
        let mut e = Encoder::new();
        self.options.superblock(root, self.extension, end).encode(&mut e, &())?;
        raw.output.write_now(Address(0), e.as_slice())
    }
}

impl Raw {
    pub(super) fn space(&self) -> MutexGuard<'_, Space> {
        self.space.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sink(&self) -> RawSink<'_> {
        RawSink(self)
    }
}

impl Sink for Metadata<'_> {
    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn allocate(&mut self, kind: SpaceKind, len: u64) -> Result<Address> {
        self.space.allocate(kind, len)
    }

    fn is_measuring(&self) -> bool {
        self.output.is_none()
    }

    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<()> {
        self.output.map_or(Ok(()), |output| output.write_metadata(address, bytes))
    }
}

impl Sink for RawSink<'_> {
    fn sizes(&self) -> Sizes {
        self.0.sizes
    }

    fn allocate(&mut self, kind: SpaceKind, len: u64) -> Result<Address> {
        self.0.space().allocate(kind, len)
    }

    fn is_measuring(&self) -> bool {
        false
    }

    fn write(&mut self, address: Address, bytes: &[u8]) -> Result<()> {
        self.0.output.write_raw(address, bytes)
    }
}

/// The smallest user block in bytes.
const MIN_USER_BLOCK: u64 = 512;

/// The smallest and the largest page in bytes that libhdf5 accepts.
const MIN_PAGE: u64 = 512;
const MAX_PAGE: u64 = 1 << 30;

#[cfg(test)]
mod tests;
