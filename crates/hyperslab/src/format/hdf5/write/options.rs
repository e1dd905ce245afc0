//! The options of HDF5 files.

use super::lowerings::{directive, numbers};
use crate::format::hdf5::creation::{SHAREABLE, STRATEGIES};
use crate::target::{OptionType, OptionValue, TargetOption, TargetOptions};
use hyperslab_core::{Error, Result};
use hyperslab_hdf5::format::Sizes;
use hyperslab_hdf5::format::message::btree_k_values::BtreeKValues;
use hyperslab_hdf5::format::message::file_space_info::StrategyV1;
use hyperslab_hdf5::write::{
    FileOptions, FileSpace, LibraryVersion, SharedIndexOptions, SharedMessageOptions,
};
use hyperslab_model::{Directive, Storage};

/// The options.
pub(super) const OPTIONS: &[TargetOption] = &[
    TargetOption {
        key: "libver",
        takes: OptionType::Text("LOW[,HIGH], of earliest, v1.8, v1.10, v1.12, v1.14, v2.0"),
        means: "the oldest libhdf5 that must read objects that need no newer version, and the oldest that must read everything \
                (default: v1.8,v2.0)",
    },
    TargetOption {
        key: "paged",
        takes: OptionType::Size { min: 512, max: 1 << 30, usual: Some(4 << 10) },
        means: "allocate file space in pages of this size (4K if omitted), with all metadata at the front: needs few requests \
                to cloud storage",
    },
    TargetOption {
        key: "userblock",
        takes: OptionType::Size { min: 512, max: 1 << 40, usual: None },
        means: "size in bytes of the user block before the HDF5 content: a power of two",
    },
    TargetOption {
        key: "times",
        takes: OptionType::Flag,
        means: "keep the times of objects in the source, if it has any (default: false)",
    },
    TargetOption {
        key: "sizes",
        takes: OptionType::Word(&["2", "4", "8"]),
        means: "the size of addresses and lengths in bytes (default: 8)",
    },
    TargetOption {
        key: "sources",
        takes: OptionType::Word(&["keep", "copy"]),
        means: "whether virtual datasets and datasets in external files still refer to their sources, or hold copies of the \
                elements (default: copy; repack: keep)",
    },
];

/// The options in the form that a file needs.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) file: FileOptions,
    /// Whether objects keep their times.
    pub(super) times: bool,
    /// Whether virtual and external datasets keep their sources.
    pub(super) keeps_sources: bool,
    /// Whether complex numbers have the class of HDF5 2.0, which older libraries cannot read. This applies if the user
    /// asks for this version, or for the objects of the source unchanged.
    pub(super) has_complex: bool,
    /// Whether the source has file space information that is written in another version or not at all.
    pub(super) replaces_file_space: bool,
    /// The bytes of the user block.
    pub(super) user_block: Vec<u8>,
    /// The options given explicitly, which the source does not change.
    given: Vec<&'static str>,
}

impl Options {
    /// Reads the options.
    ///
    /// # Errors
    /// If they cannot be combined.
    pub(super) fn of(options: &TargetOptions) -> Result<Options> {
        let mut file = FileOptions::default();
        if let Some(OptionValue::Text(bounds)) = options.get("hdf5.libver") {
            (file.low, file.high) = bounds_of(bounds)?;
        }
        if let Some(OptionValue::Size(size)) = options.get("hdf5.paged") {
            file.file_space = Some(FileSpace::paged(*size));
        }
        if let Some(OptionValue::Size(size)) = options.get("hdf5.userblock") {
            file.user_block = *size;
        }
        if let Some(OptionValue::Word(size)) = options.get("hdf5.sizes") {
            let size = size.parse().map_err(|_| Error::invalid(format!("sizes of {size} bytes")))?;
            (file.sizes.offsets, file.sizes.lengths) = (size, size);
        }
        file.check()?;
        let keeps_sources =
            matches!(options.get("hdf5.sources"), Some(OptionValue::Word(word)) if word == "keep");
        let is_new = options.get("hdf5.libver").is_some() || keeps_sources;
        let has_complex = is_new && file.high >= LibraryVersion::V2_0;
        let given = OPTIONS.iter().map(|option| option.key);
        let given = given.filter(|key| options.get(&format!("hdf5.{key}")).is_some()).collect();
        let times = options.flag("hdf5.times");
        let (replaces_file_space, user_block) = (false, Vec::new());
        Ok(Options { file, times, keeps_sources, has_complex, replaces_file_space, user_block, given })
    }

    /// Adds the settings that the root group states for the whole file, unless an option overrides them.
    ///
    /// # Errors
    /// If the settings cannot be combined with the options.
    pub(super) fn add_root(&mut self, root: &Storage) -> Result<()> {
        let is_free = |key: &str| !self.given.contains(&key);
        if let Some([offsets, lengths]) =
            numbers::<u8, 2>(directive(root, "sizes")).filter(|_| is_free("sizes"))
            && offsets.max(lengths) <= 8
        {
            self.file.sizes = Sizes { offsets, lengths };
        }
        if let Some([group_internal, group_leaf, chunks]) = numbers(directive(root, "btree_k")) {
            let number = |of: u64| u16::try_from(of).map_err(|_| Error::invalid(format!("btree_k {of}")));
            self.file.btree_k = BtreeKValues {
                indexed_storage_internal: number(chunks)?,
                group_internal: number(group_internal)?,
                group_leaf: number(group_leaf)?,
            };
        }
        if let Some(Directive::Map(block)) = directive(root, "user_block").filter(|_| is_free("userblock")) {
            for (key, value) in block {
                match (key.as_str(), value) {
                    ("size", Directive::Int(size)) => {
                        self.file.user_block = u64::try_from(*size)
                            .map_err(|_| Error::invalid(format!("user block of {size} bytes")))?;
                    }
                    ("bytes", Directive::Text(digits)) => self.user_block = bytes(digits)?,
                    _ => {}
                }
            }
            if self.user_block.len() as u64 > self.file.user_block {
                let (found, size) = (self.user_block.len(), self.file.user_block);
                return Err(Error::invalid(format!("{found} bytes in a user block of {size} bytes")));
            }
        }
        if let Some(Directive::Map(space)) = directive(root, "file_space").filter(|_| is_free("paged")) {
            let is_obsolete = !space.iter().any(|(key, _)| key == "page_size");
            let is_readable = self.file.high >= LibraryVersion::V1_10;
            self.replaces_file_space = is_obsolete || !is_readable;
            if is_readable {
                self.file.file_space = Some(file_space(space)?);
            }
        }
        if let Some(Directive::List(indexes)) = directive(root, "shared_messages") {
            self.file.shared_messages = Some(shared_messages(indexes)?);
        }
        self.file.check()
    }
}

/// The management of file space, from the directives that reading produces.
fn file_space(described: &[(String, Directive)]) -> Result<FileSpace> {
    let mut space =
        FileSpace { strategy: StrategyV1::FreeSpaceManagersAndAggregators, ..FileSpace::paged(DEFAULT_PAGE) };
    for (key, value) in described {
        let wrong = || Error::invalid(format!("file_space {key} {value:?}"));
        match (key.as_str(), value) {
            ("strategy", Directive::Text(word)) => {
                let found = STRATEGIES.iter().find(|(_, name)| name == word);
                space.strategy = found.ok_or_else(wrong)?.0;
            }
            ("persist", Directive::Bool(persists)) => space.persists = *persists,
            ("threshold", Directive::Int(size)) => {
                space.threshold = u64::try_from(*size).map_err(|_| wrong())?
            }
            ("page_size", Directive::Int(size)) => {
                space.page_size = u64::try_from(*size).map_err(|_| wrong())?
            }
            _ => return Err(wrong()),
        }
    }
    Ok(space)
}

/// The page size in bytes of files that do not state it.
const DEFAULT_PAGE: u64 = 4096;

/// The indexes of shared messages, from the directives that reading produces.
fn shared_messages(indexes: &[Directive]) -> Result<SharedMessageOptions> {
    let mut options = SharedMessageOptions { indexes: Vec::new(), list_cutoff: 50, btree_cutoff: 40 };
    for index in indexes {
        let wrong = || {
            Error::invalid(format!("shared_messages {index:?}, expected messages, min_size and phase_change"))
        };
        let Directive::Map(members) = index else { return Err(wrong()) };
        let mut own = SharedIndexOptions { message_types: 0, min_message_size: 0 };
        for (key, value) in members {
            match (key.as_str(), value) {
                ("messages", Directive::List(words)) => {
                    for word in words {
                        let of = SHAREABLE
                            .iter()
                            .find(|(_, name)| matches!(word, Directive::Text(word) if word == name));
                        let (message_type, _) = of.ok_or_else(wrong)?;
                        own.message_types |= 1 << message_type.0;
                    }
                }
                ("min_size", Directive::Int(size)) => {
                    own.min_message_size = u32::try_from(*size).map_err(|_| wrong())?;
                }
                ("phase_change", counts) => {
                    [options.list_cutoff, options.btree_cutoff] = numbers(Some(counts)).ok_or_else(wrong)?;
                }
                _ => return Err(wrong()),
            }
        }
        options.indexes.push(own);
    }
    Ok(options)
}

/// The bytes represented by hexadecimal digits after `0x`.
fn bytes(digits: &str) -> Result<Vec<u8>> {
    let wrong = || Error::invalid(format!("bytes {digits:?}, expected 0x and hexadecimal digits"));
    let digits = digits.strip_prefix("0x").ok_or_else(wrong)?;
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    pairs.map(byte).collect::<Option<_>>().ok_or_else(wrong)
}

/// The low and the high bound.
fn bounds_of(text: &str) -> Result<(LibraryVersion, LibraryVersion)> {
    let of = |name: &str| {
        let name = name.trim();
        let known = LibraryVersion::ALL.into_iter().find(|version| version.name() == name);
        let newest = (name == "latest").then_some(LibraryVersion::V2_0);
        known.or(newest).ok_or_else(|| {
            let names: Vec<_> = LibraryVersion::ALL.iter().map(|version| version.name()).collect();
            let detail = format!("hdf5.libver={text}: {name:?}, expected {} or latest", names.join(", "));
            Error::invalid(detail).with_hint("such as hdf5.libver=v1.10 or hdf5.libver=v1.8,v1.14")
        })
    };
    let (low, high) = match text.split_once(',') {
        Some((low, high)) => (of(low)?, of(high)?),
        None => (of(text)?, LibraryVersion::V2_0),
    };
    match high {
        LibraryVersion::Earliest => {
            Err(Error::invalid("hdf5.libver: the high bound cannot be earliest, expected v1.8 or later"))
        }
        _ => Ok((low, high)),
    }
}
