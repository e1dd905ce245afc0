//! Writes TileDB arrays and groups in directories.
//!
//! A group that describes a TileDB array, or that has cells, becomes an array. Other groups become groups, and each
//! array in them becomes a TileDB array with one attribute, which is marked in its record.

mod array;
mod cells;
mod collected;
mod convention;
mod coordinates;
mod definition;
mod dimension_names;
mod filters;
mod label;
mod lowerings;
mod metadata;
mod names;
mod planner;
mod schema;
mod target;

pub(super) use metadata::{shown, visible};

use crate::format::SecretKey;
use crate::target::{
    Growing, Lowered, OptionType, OptionValue, Planned, Planner, Target, TargetFormat, TargetOption,
    TargetOptions,
};
use hyperslab_cf::dataspace::NAMES;
use hyperslab_core::store::{DirectoryWriter, Durability, EntryKind, Key, Store, WritableStore};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Directive, Storage};
use hyperslab_tiledb::filter;
use hyperslab_tiledb::format::version::RELEASED;
use hyperslab_tiledb::write::array::WriteOptions;
use hyperslab_tiledb::write::names::Names;
use lowerings::LOWERINGS;
use planner::TileDbPlanner;
use std::path::Path;
use std::sync::Arc;
use target::TileDbTarget;

/// TileDB as a target.
pub(crate) struct TileDbFormat;

/// TileDB.
pub(crate) static TILEDB_TARGET: TileDbFormat = TileDbFormat;

impl TargetFormat for TileDbFormat {
    fn name(&self) -> &'static str {
        super::TILEDB
    }

    fn dialects(&self) -> &'static [&'static str] {
        &["TileDB"]
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &[".tdb", ".tiledb"]
    }

    fn is_directory(&self, _: &Path) -> bool {
        true
    }

    fn is_always_chunked(&self) -> bool {
        true
    }

    fn needs_default_fill(&self, _: &str) -> bool {
        true
    }

    fn has_zero_fill(&self) -> bool {
        false
    }

    fn needs_growing(&self) -> bool {
        false
    }

    fn key_option(&self) -> Option<&'static str> {
        Some(KEY_FILE)
    }

    fn has_enumerated_numbers(&self) -> bool {
        true
    }

    fn has_cells(&self) -> bool {
        true
    }

    fn has_nullables(&self) -> bool {
        true
    }

    fn options(&self) -> &'static [TargetOption] {
        OPTIONS
    }

    fn check_options(&self, options: &TargetOptions) -> Result<()> {
        version(options).and_then(|_| names(options)).and_then(|_| key(options)).map(|_| ())
    }

    fn lowerings(&self) -> &'static [&'static Lowered] {
        LOWERINGS
    }

    fn planner<'a>(&self, options: &'a TargetOptions, _: &'a Growing) -> Box<dyn Planner + 'a> {
        Box::new(TileDbPlanner::new(options))
    }

    fn create(
        &self,
        path: &Path,
        _: bool,
        options: &TargetOptions,
        planned: &Planned,
    ) -> Result<Box<dyn Target>> {
        let directory = DirectoryWriter::open_real(path, Durability::Process)?;
        // Data written by an interrupted run is not visible and is written again.
        for entry in directory.list(&Key::root())? {
            let key = Key::root().join(&entry.name)?;
            match entry.kind {
                EntryKind::Prefix => directory.delete_below(&key)?,
                _ => drop(directory.delete(&key)?),
            }
        }
        let write = WriteOptions { key: key(options)?, names: Arc::new(names(options)?) };
        Ok(Box::new(TileDbTarget::new(Arc::new(directory), options, write, planned)))
    }
}

/// The format version that is written.
fn version(options: &TargetOptions) -> Result<u32> {
    match options.get("tiledb.version") {
        Some(OptionValue::Number(version)) => u32::try_from(*version)
            .map_err(|_| Error::invalid(format!("tiledb.version={version}, expected 20 to {RELEASED}"))),
        _ => Ok(RELEASED),
    }
}

/// The source of names: the clock or a fixed moment.
fn names(options: &TargetOptions) -> Result<Names> {
    match options.get("tiledb.timestamp") {
        Some(OptionValue::Number(time)) => u64::try_from(*time).map(Names::fixed).map_err(|_| {
            Error::invalid(format!("tiledb.timestamp={time}, expected milliseconds since 1970"))
        }),
        _ => Ok(Names::system()),
    }
}

/// The key with which arrays are encrypted.
fn key(options: &TargetOptions) -> Result<Option<filter::Key>> {
    let Some(OptionValue::Text(path)) = options.get(KEY_FILE) else { return Ok(None) };
    let bytes = SecretKey::in_file(path.into()).bytes(filter::Key::LEN)?;
    filter::Key::new(&bytes).map(Some)
}

/// Whether a group describes a TileDB array.
fn is_array(storage: &Storage) -> bool {
    let own = storage.native.iter().filter(|(format, _)| *format == super::TILEDB);
    own.flat_map(|(_, directives)| directives)
        .any(|(key, value)| key == "array" && matches!(value, Directive::Text(_)))
}

/// Whether arrays of a group that have the same dimensions are combined into one.
fn collects(options: &TargetOptions) -> bool {
    options.flag("tiledb.collect")
}

/// The option that names the file of the key.
const KEY_FILE: &str = "tiledb.key-file";

const OPTIONS: &[TargetOption] = &[
    TargetOption {
        key: "collect",
        takes: OptionType::Flag,
        means: "store all arrays of a group that have the same dimensions in one TileDB array, with one attribute for each, as tiledb-cf does by default; every group satisfies cf-0.3.0 (default: false)",
    },
    TargetOption {
        key: "dataspace",
        takes: OptionType::Word(NAMES),
        means: "TileDB-CF convention that every group satisfies; content that cannot satisfy it is refused (default: simple-0.3.0, as far as all arrays have one attribute)",
    },
    TargetOption {
        key: "version",
        takes: OptionType::Number { min: 20, max: 22 },
        means: "format version of arrays that do not specify one: 22 is read by TileDB 2.25 and later, 20 by 2.17 and later (default: 22)",
    },
    TargetOption {
        key: "key-file",
        takes: OptionType::Text("a file"),
        means: "file with a key of 32 bytes, with which all arrays are encrypted (AES-256-GCM)",
    },
    TargetOption {
        key: "timestamp",
        takes: OptionType::Number { min: 0, max: i64::MAX },
        means: "timestamp of everything written, in milliseconds since 1970; file names are then the same in every run (default: now, with random names)",
    },
];
