//! TileDB arrays and groups of every version of the format, as a [`Source`].
//!
//! An array is shown as a group of its dimensions, attributes and dimension labels. In a dense array the attributes are
//! arrays; a sparse array has cells.

mod array;
mod cells;
mod check;
mod consolidate;
mod current_domain;
mod dataspace;
mod datatype;
mod dimensions;
mod directives;
mod edit;
mod elements;
mod filter;
mod history;
mod members;
mod metadata;
mod netcdf;
mod objects;
mod own;
mod parts;
mod record;
mod schema;
mod source;
mod storage;
mod write;

use super::{DataspaceView, Format, Location, OpenOptions, Probe, Recognition};
use crate::editor::Editor;
use crate::report::{CheckOptions, Report};
use crate::source::{ContentStorage, Dialect, Source};
use edit::TileDbEditor;
use hyperslab_cf::dataspace::Dataspace;
use hyperslab_core::check::Rule;
use hyperslab_core::store::{Key, Store};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::Storage;
use hyperslab_tiledb::array::OpenOptions as ArrayOptions;
use hyperslab_tiledb::directory::is_array;
use hyperslab_tiledb::filter::Key as SecretKey;
use hyperslab_tiledb::group_directory::is_group;
use hyperslab_tiledb::opened::Moment;
use netcdf::NetcdfView;
pub use schema::tiledb_schema;
use source::TileDbSource;
use std::path::Path;
use std::sync::Arc;
pub(crate) use write::TILEDB_TARGET;

/// TileDB arrays and groups.
pub(crate) struct TileDb;

impl Format for TileDb {
    fn name(&self) -> &'static str {
        TILEDB
    }

    fn titles(&self) -> &'static [&'static str] {
        &["TileDB"]
    }

    fn dialects(&self) -> &'static [&'static Dialect] {
        DIALECTS
    }

    fn recognizes(&self, probe: &Probe<'_>) -> Recognition {
        match probe {
            Probe::Store(store) if is_recognized(*store) => Recognition::Certain,
            Probe::Store(_) | Probe::Object(_) => Recognition::No,
        }
    }

    fn store_of_part<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let folder = path.parent()?;
        let name = path.file_name()?.to_str()?;
        let is_in =
            |names: &[&str]| folder.file_name().is_some_and(|own| names.iter().any(|name| own == *name));
        let store = match name {
            "__array_schema.tdb" | "__tiledb_group.tdb" => folder,
            _ if is_in(&["__schema", "__commits", "__fragment_meta", "__meta", "__group"]) => {
                folder.parent()?
            }
            _ => return None,
        };
        Some(if store.as_os_str().is_empty() { Path::new(".") } else { store })
    }

    fn has_times(&self) -> bool {
        true
    }

    fn has_encryption(&self) -> bool {
        true
    }

    fn has_dataspaces(&self) -> bool {
        true
    }

    fn open(&self, location: Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let store = into_store(location)?;
        let source = TileDbSource::open(Arc::clone(&store), array_options(options)?, options)?;
        let Some(asked) = options.dataspace.filter(|_| !options.raw) else { return Ok(Arc::new(source)) };
        if let DataspaceView::Convention(convention) = asked {
            dataspace::expect(convention, Location::Store(store), options)?;
        }
        Ok(Arc::new(NetcdfView::new(source, asked.has_group_array())))
    }

    fn editor(&self, path: &Path, options: &OpenOptions) -> Result<Option<Box<dyn Editor>>> {
        Ok(Some(Box::new(TileDbEditor::open(path, array_options(options)?, options.pool.clone())?)))
    }

    fn check(&self, location: Location, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
        check::check(location, open, options)
    }

    fn dataspaces(&self, location: Location, open: &OpenOptions) -> Result<Vec<Dataspace>> {
        dataspace::dataspaces(location, open)
    }

    fn rules(&self) -> &'static [&'static [&'static Rule]] {
        RULES
    }

    fn default_directives(&self) -> &'static [&'static str] {
        &[storage::ENUMERATION_FILES]
    }
}

static RULES: &[&[&Rule]] = &[hyperslab_tiledb::check::RULES];

/// The name of the format and of its directives.
const TILEDB: &str = "tiledb";

static DIALECTS: &[&Dialect] = &[&DIALECT];

static DIALECT: Dialect = Dialect {
    content: ContentStorage::InChunks,
    escapes_names: true,
    ..Dialect::new("TileDB", Some(&[TILEDB]))
};

/// Whether an array holds the labels of a dimension.
pub(super) fn is_label(storage: &Storage) -> bool {
    let own = storage.native.iter().filter(|(format, _)| *format == TILEDB);
    own.flat_map(|(_, directives)| directives).any(|(key, _)| key == LABEL)
}

/// The directive that stores the order of the labels of a dimension.
const LABEL: &str = "label";

fn is_recognized(store: &dyn Store) -> bool {
    // A file that links out of the store exists; reading it reports the error.
    let there = |found: Result<bool>| found.unwrap_or_else(|e| e.kind() == ErrorKind::Malformed);
    there(is_array(store, &Key::root())) || there(is_group(store, &Key::root()))
}

fn into_store(location: Location) -> Result<Arc<dyn Store>> {
    match location {
        Location::Store(store) => Ok(store),
        Location::Object(_) => {
            Err(Error::invalid("is a single file, expected the folder of a TileDB array or group"))
        }
    }
}

fn array_options(options: &OpenOptions) -> Result<ArrayOptions> {
    let key = options.key.as_ref().map(|key| SecretKey::new(&key.bytes(SecretKey::LEN)?)).transpose()?;
    let at = options.at.map_or(Moment::ALL, |at| Moment { start: at.start, end: at.end });
    Ok(ArrayOptions { at, key, limits: options.limits })
}
