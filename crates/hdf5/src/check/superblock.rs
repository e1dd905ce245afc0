//! Checks the superblock, its extension and the driver information block.

use super::objects::{self, Cached};
use super::reading::{AtOffset, Pointer, pointer};
use super::rule;
use super::{Checker, Finding};
use crate::format::infrastructure::symbol_table_entry::Cache;
use crate::format::message::MessageType;
use crate::format::message::btree_k_values::BtreeKValues;
use crate::format::message::metadata_cache_image::MetadataCacheImage;
use crate::format::metadata::Superblock;
use crate::format::metadata::driver_info::DriverInfoBlock;
use crate::format::metadata::superblock::{SymbolTableRoot, Version};
use crate::format::object_header::MessageFlags;
use crate::format::{Address, Sizes, Structure, checksum};
use crate::navigate::cache_image::Imaged;
use crate::navigate::{Reader, superblock};
use hyperslab_core::check::{Findings, Rule};
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Decoder, ErrorKind, Limits, Result};
use std::sync::Arc;

/// What must be known before other structures can be read.
pub(super) struct Start {
    pub(super) reader: Reader,
    pub(super) superblock: AtOffset<Superblock>,
    pub(super) base: u64,
    pub(super) end: u64,
    pub(super) k: BtreeKValues,
}

/// Finds and decodes the superblock. `None` if that fails, which is reported.
pub(super) fn start(
    storage: &Arc<dyn ReadAt>,
    len: u64,
    limits: Limits,
    is_spread: bool,
    findings: &mut Findings<'_, Finding>,
) -> Result<Option<Start>> {
    let mut report = |rule: &'static Rule, byte: u64, len: Option<u64>, message: String| {
        if findings.wants(rule) {
            let (severity, hint) = (rule.severity, rule.hint.map(str::to_owned));
            let (rule_name, byte) = (rule.name, Some(byte));
            let structure = Superblock::NAME;
            let finding =
                Finding { severity, rule: rule_name, object: None, structure, byte, len, message, hint };
            findings.give(finding);
        }
    };
    let Some(base) = superblock::locate(storage)? else {
        report(&rule::SIGNATURE, 0, Some(8), "no format signature at 0, 512, 1024 and so on".to_owned());
        return Ok(None);
    };
    let end = storage.len()?.min(base.saturating_add(Superblock::MAX_LEN));
    let mut bytes = storage.read_at(base..end)?.to_vec();
    let mut decoded = Superblock::decode(&mut Decoder::new(Superblock::NAME, base, &bytes), &());
    if let Err(error) = &decoded
        && let Some(place) = error.place().filter(|_| error.kind() == ErrorKind::Checksum)
    {
        report(&rule::CHECKSUM, place.offset, Some(4), error.detail().to_owned());
        let at = usize::try_from(place.offset - base).unwrap_or(usize::MAX);
        let sum = checksum::lookup3(bytes.get(..at).unwrap_or_default());
        if let Some(field) = bytes.get_mut(at..at.saturating_add(4)) {
            field.copy_from_slice(&sum.to_le_bytes());
        }
        decoded = Superblock::decode(&mut Decoder::new(Superblock::NAME, base, &bytes), &());
    }
    let superblock = match decoded {
        Ok(superblock) => superblock,
        Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Cancelled) => return Err(error),
        Err(error) => {
            let rule = match error.kind() {
                ErrorKind::Unsupported => &rule::UNKNOWN_VERSION,
                _ => &rule::MALFORMED,
            };
            let byte = error.place().map_or(base, |place| place.offset);
            report(rule, byte, None, error.detail().to_owned());
            return Ok(None);
        }
    };
    let fields = Fields::of(&superblock, base);
    let stored_base = superblock.base_address.get().unwrap_or(0);
    if stored_base != base {
        let message = format!("base address {stored_base:#x}, the superblock is at {base:#x}");
        report(&rule::BASE_ADDRESS, fields.base, Some(superblock.sizes.offsets.into()), message);
    }
    let end = match superblock.end_of_file.get() {
        // The end of the member with the superblock.
        Some(_) if is_spread => len,
        Some(end) => end.saturating_sub(stored_base).saturating_add(base),
        None => {
            let message = "the end-of-file address is undefined".to_owned();
            report(&rule::UNDEFINED_ADDRESS, fields.end, None, message);
            len
        }
    };
    if end < base.saturating_add(fields.len) {
        let message = format!("the end-of-file address {end:#x} lies before the end of the superblock");
        report(&rule::OUT_OF_BOUNDS, fields.end, None, message);
        return Ok(None);
    }
    if end > len {
        let message = format!("the end-of-file address is {end:#x}, the file has {len} bytes");
        report(&rule::TRUNCATED, fields.end, Some(superblock.sizes.offsets.into()), message);
    }
    if end < len {
        let message = format!("{} bytes lie behind the end-of-file address {end:#x}", len - end);
        report(&rule::TRAILING_BYTES, end, Some(len - end), message);
    }
    let k = k_values(&superblock);
    let reader = Reader::new(Box::new(Arc::clone(storage)), base, superblock.sizes, limits);
    Ok(Some(Start { reader, superblock: AtOffset { value: superblock, byte: base }, base, end, k }))
}

fn k_values(superblock: &Superblock) -> BtreeKValues {
    let default = BtreeKValues::default();
    let root = |root: &SymbolTableRoot, indexed_storage_internal| BtreeKValues {
        indexed_storage_internal,
        group_internal: root.group_internal_k,
        group_leaf: root.group_leaf_k,
    };
    match &superblock.version {
        Version::V0(symbols) => root(symbols, default.indexed_storage_internal),
        Version::V1 { root: symbols, indexed_storage_k } => root(symbols, *indexed_storage_k),
        Version::V2(_) | Version::V3(_) => default,
    }
}

/// The offsets of the fields of a superblock.
struct Fields {
    flags: u64,
    base: u64,
    end: u64,
    driver_info: u64,
    extension: u64,
    root: u64,
    len: u64,
}

impl Fields {
    fn of(superblock: &Superblock, at: u64) -> Self {
        let offsets = u64::from(superblock.sizes.offsets);
        let old = |base: u64| Fields {
            flags: at + 20,
            base,
            end: base + 2 * offsets,
            driver_info: base + 3 * offsets,
            extension: base,
            root: base + 4 * offsets,
            len: base + 4 * offsets + entry_len(superblock.sizes) - at,
        };
        match superblock.version {
            Version::V0(_) => old(at + 24),
            Version::V1 { .. } => old(at + 28),
            Version::V2(_) | Version::V3(_) => Fields {
                flags: at + 11,
                base: at + 12,
                end: at + 12 + 2 * offsets,
                driver_info: at + 12,
                extension: at + 12 + offsets,
                root: at + 12 + 3 * offsets,
                len: 16 + 4 * offsets,
            },
        }
    }
}

fn entry_len(sizes: Sizes) -> u64 {
    crate::format::infrastructure::SymbolTableEntry::len(&sizes)
}

impl Checker<'_> {
    /// Checks the superblock and what it points to, except the root group.
    pub(super) fn superblock(&mut self, superblock: &AtOffset<Superblock>) -> Result<()> {
        const NAME: &str = Superblock::NAME;
        let AtOffset { value, byte } = superblock;
        let fields = Fields::of(value, *byte);
        self.claim(NAME, *byte, fields.len);
        self.consistency_flags(value, fields.flags);
        match &value.version {
            Version::V0(root) | Version::V1 { root, .. } => {
                if !root.free_space.is_undefined() {
                    let at = fields.base + u64::from(value.sizes.offsets);
                    let message = format!("free-space information at {}, expected none", root.free_space);
                    self.report(&rule::RESERVED, NAME, at, message);
                }
                if !root.driver_info.is_undefined() {
                    self.driver_info_block(root.driver_info, pointer(NAME, fields.driver_info))?;
                }
                self.check_k(NAME, [(root.group_leaf_k, byte + 16), (root.group_internal_k, byte + 18)]);
                if let Version::V1 { indexed_storage_k, .. } = value.version {
                    self.check_k(NAME, [(indexed_storage_k, byte + 24)]);
                }
            }
            Version::V2(root) | Version::V3(root) => {
                if !root.extension.is_undefined() {
                    self.extension(root.extension, pointer(NAME, fields.extension))?;
                }
            }
        }
        Ok(())
    }

    /// Makes the root group the first object.
    pub(super) fn root(&mut self, superblock: &AtOffset<Superblock>) -> Result<()> {
        let AtOffset { value, byte } = superblock;
        let from = Fields::of(value, *byte).root;
        let (address, cached, at) = match &value.version {
            Version::V0(root) | Version::V1 { root, .. } => {
                let cached = match root.entry.cache {
                    Cache::Group { btree, heap } => {
                        let scratch = from + entry_len(value.sizes) - 16;
                        Some(Cached { btree, heap, byte: scratch })
                    }
                    Cache::Nothing | Cache::SoftLink { .. } => None,
                };
                (root.entry.object_header, cached, from + u64::from(value.sizes.lengths))
            }
            Version::V2(root) | Version::V3(root) => (root.object_header, None, from),
        };
        if address.is_undefined() {
            let message = "there is no root group";
            self.report(&rule::UNDEFINED_ADDRESS, Superblock::NAME, at, message);
            return Ok(());
        }
        self.reach_root(address, cached, pointer(Superblock::NAME, at));
        Ok(())
    }

    fn consistency_flags(&mut self, superblock: &Superblock, byte: u64) {
        const NAME: &str = Superblock::NAME;
        let is_v3 = matches!(superblock.version, Version::V3(_));
        if superblock.is_open_for_writing() || superblock.is_open_for_swmr_writing() {
            let how = if superblock.is_open_for_swmr_writing() { " for single-writer access" } else { "" };
            self.report(&rule::WRITE_FLAG, NAME, byte, format!("is marked as open for writing{how}"));
        }
        // Older superblocks have arbitrary bytes there.
        if is_v3 && superblock.consistency_flags & !KNOWN_FLAGS != 0 {
            let message = format!("consistency flags {:#x}", superblock.consistency_flags);
            self.report(&rule::RESERVED, NAME, byte, message);
        }
    }

    fn check_k<const N: usize>(&mut self, structure: &'static str, values: [(u16, u64); N]) {
        for (value, byte) in values {
            if value == 0 {
                self.report_bytes(&rule::K_VALUES, structure, byte, Some(2), "a K value of 0");
            }
        }
    }

    fn driver_info_block(&mut self, address: Address, from: Pointer) -> Result<()> {
        const NAME: &str = DriverInfoBlock::NAME;
        let Some((byte, bytes)) = self.bytes_up_to(NAME, address, MAX_DRIVER_INFO, from)? else {
            return Ok(());
        };
        let mut d = Decoder::new(NAME, byte, &bytes);
        if let Err(error) = DriverInfoBlock::decode(&mut d, &self.sizes()) {
            return self.error(error);
        }
        if self.enter(NAME, address, from) {
            self.claim(NAME, byte, (bytes.len() - d.remaining()) as u64);
        }
        Ok(())
    }

    fn extension(&mut self, address: Address, from: Pointer) -> Result<()> {
        self.current = objects::FILE;
        let Some(header) = self.object_header(address, from)? else { return Ok(()) };
        for message in header.messages() {
            match message.message_type {
                MessageType::BTREE_K_VALUES => {
                    if let Some(values) = self.message::<BtreeKValues>(&header, message)? {
                        let at = message.offset + 1;
                        let BtreeKValues { indexed_storage_internal, group_internal, group_leaf } = values;
                        self.check_k(
                            BtreeKValues::NAME,
                            [(indexed_storage_internal, at), (group_internal, at + 2), (group_leaf, at + 4)],
                        );
                        self.k = values;
                    }
                }
                MessageType::METADATA_CACHE_IMAGE => {
                    if let Some(image) = self.message::<MetadataCacheImage>(&header, message)? {
                        self.cache_image(&image, pointer(MetadataCacheImage::NAME, message.offset + 1))?;
                    }
                }
                _ => {}
            }
        }
        // The metadata cache image can contain the targets of these addresses.
        for message in header.messages() {
            match message.message_type {
                MessageType::SHARED_MESSAGE_TABLE => {
                    if let Some(table) = self.message(&header, message)? {
                        self.open_shared_messages(&table, message.offset + 1)?;
                    }
                }
                // A program that modified the file without knowing this message left outdated values in it.
                MessageType::FILE_SPACE_INFO if message.flags.any(MessageFlags::WAS_UNKNOWN) => {}
                MessageType::FILE_SPACE_INFO => {
                    if let Some(info) = self.message(&header, message)? {
                        self.keep_file_space(info, message.offset);
                    }
                }
                MessageType::BTREE_K_VALUES | MessageType::METADATA_CACHE_IMAGE => {}
                _ => self.any_message(&header, message)?,
            }
        }
        Ok(())
    }

    /// Puts the cache image over the file. Its content may be nowhere else.
    fn cache_image(&mut self, image: &MetadataCacheImage, from: Pointer) -> Result<()> {
        const NAME: &str = crate::format::infrastructure::MetadataCacheImageBlock::NAME;
        if image.address.is_undefined() {
            return Ok(());
        }
        let Some(byte) = self.locate(NAME, image.address, image.len, from) else { return Ok(()) };
        self.claim(NAME, byte, image.len);
        match Imaged::read(&self.reader, Arc::clone(&self.storage), image) {
            Ok(imaged) => {
                let limits = *self.reader.limits();
                self.reader = Reader::new(Box::new(imaged), self.base, self.sizes(), limits);
                Ok(())
            }
            Err(error) => self.error(error),
        }
    }
}

/// The flags for "open for writing" and "open for SWMR writing".
const KNOWN_FLAGS: u32 = 0b101;

/// The maximum size of driver information.
const MAX_DRIVER_INFO: u64 = 4096;
