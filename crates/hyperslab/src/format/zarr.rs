//! Zarr stores of versions 2 and 3, in directories and zip files, as a [`Source`].
//!
//! A dimension name becomes a dimension coordinate if all arrays of the group agree on its size. A symbolic link to a
//! node becomes a soft link.

mod check;
mod directive;
mod filter;
pub(super) mod keep;
mod nczarr;
mod read;
mod regions;
mod write;

use super::{Format, Location, OpenOptions, Probe, Recognition};
use crate::links::{self, LastLink};
use crate::pool::Pool;
use crate::report::{CheckOptions, Report};
use crate::source::{ArraySource, ContentStorage, Dialect, Entry, Handle, Item, Sizes, Source};
use hyperslab_core::check::Rule;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::store::{Key, Store, ZipStore};
use hyperslab_core::{Error, ErrorKind, Limits, Result, valid};
use hyperslab_model::{
    Attribute, Attributes, BoxedStorage, Datatype, DimCoord, Directive, Extent, Fill, Node, NodePath, Shape,
};
use hyperslab_zarr::hierarchy::{Hierarchy, Metadata, Node as ZarrNode};
use hyperslab_zarr::metadata::{DOCUMENTS, NODE_DOCUMENTS};
use keep::members::kept_entry;
use keep::record::{Record, places};
use read::dimensions::{Dimensions, name_dimensions, pure_dimension};
use read::elements::ZarrArray;
use read::paths::handle;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

pub(crate) use regions::{RegionWriter, Regions};
pub(crate) use write::{ZARR2, ZARR3};

/// Zarr, versions 2 and 3.
pub(crate) struct Zarr;

impl Format for Zarr {
    fn name(&self) -> &'static str {
        "zarr"
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Zarr"]
    }

    fn dialects(&self) -> &'static [&'static Dialect] {
        DIALECTS
    }

    fn recognizes(&self, probe: &Probe<'_>) -> Recognition {
        match probe {
            Probe::Store(store) if has_node(*store) => Recognition::Certain,
            // Many formats use zip files.
            Probe::Store(_) | Probe::Object(_) => Recognition::No,
        }
    }

    fn recognizes_part(&self, object: &dyn ReadAt) -> Result<bool> {
        ZipStore::has(object, &NODE_DOCUMENTS, &Limits::default())
    }

    fn store_of_part<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let name = path.file_name()?.to_str()?;
        let parent = path.parent().filter(|_| DOCUMENTS.contains(&name))?;
        Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
    }

    fn array_suffixes(&self) -> &'static [&'static str] {
        &[".zip", ".zarr"]
    }

    fn open(&self, location: Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let store = match location {
            Location::Object(object) => Arc::new(ZipStore::open(object, &options.limits)?),
            Location::Store(store) => store,
        };
        open(store, options)
    }

    fn check(&self, location: Location, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
        match location {
            Location::Object(object) => check::zip(object, open, options),
            Location::Store(store) => check::store(store, open, options),
        }
    }

    fn rules(&self) -> &'static [&'static [&'static Rule]] {
        RULES
    }

    fn foreign(&self, store: &Arc<dyn Store>) -> Result<Vec<String>> {
        check::foreign(store)
    }

    fn clear_layout_directives(&self, directives: &mut Vec<(String, Directive)>, cut: bool, filtered: bool) {
        read::storage::clear_layout_directives(directives, cut, filtered);
    }
}

/// The rules of the specification, and the rules of the records that this library writes.
static RULES: &[&[&Rule]] = &[hyperslab_zarr::check::RULES, check::RULES];

pub(in crate::format) static DIALECTS: &[&Dialect] = &[&V3, &V2, &UNKNOWN_VERSION];

/// Stores whose root has version 3.
static V3: Dialect = Dialect {
    // As xarray writes `_FillValue`: a double in base64, regardless of the type of the array.
    fill_of_text: read::fill_attribute::double,
    ..dialect("Zarr v3")
};

/// Stores whose root has version 2.
static V2: Dialect = Dialect {
    // As xarray writes _FillValue.
    missing: |datatype, fill| match fill {
        Fill::Value(value) => Some(value.rows.to_vec()),
        // Zero, which the array metadata states.
        Fill::Default if matches!(datatype, Datatype::Int { .. } | Datatype::Float(_)) => {
            datatype.row_size().map(|size| vec![0; size])
        }
        Fill::Default | Fill::Undefined => None,
    },
    ..dialect("Zarr v2")
};

/// Stores whose root is a plain directory or has an unreadable document.
static UNKNOWN_VERSION: Dialect = dialect("Zarr");

const fn dialect(title: &'static str) -> Dialect {
    Dialect {
        content: ContentStorage::InChunks,
        has_typed_attributes: false,
        undefined_is_zero: true,
        numbers_of_text: read::attribute::mixed_numbers,
        ..Dialect::new(title, DIRECTIVES)
    }
}

const DIRECTIVES: Option<&[&str]> = Some(&["zarr"]);

/// Whether the root of a store is a node.
fn has_node(store: &dyn Store) -> bool {
    let mut keys = NODE_DOCUMENTS.iter().filter_map(|document| Key::new(document).ok());
    keys.any(|key| match store.size(&key) {
        Ok(size) => size.is_some(),
        // A document that links out of the store exists; reading it reports the error.
        Err(e) => e.kind() == ErrorKind::Malformed,
    })
}

fn open(store: Arc<dyn Store>, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    open_source(store, options).map(|source| Arc::new(source) as Arc<dyn Source>)
}

fn open_source(store: Arc<dyn Store>, options: &OpenOptions) -> Result<ZarrSource> {
    let mut warnings = Vec::new();
    let hierarchy = match Hierarchy::open(Arc::clone(&store), options.limits) {
        Err(error) if !matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Io) => {
            warnings.push(format!("consolidated metadata is not used: {error}"));
            Hierarchy::unconsolidated(store, options.limits)
        }
        opened => opened?,
    };
    let dialect = match valid(hierarchy.node_or_folder(&Key::root()))? {
        Some(None) => return Err(Error::invalid("has no zarr.json, .zarray or .zgroup: no Zarr store")),
        Some(Some(root)) => match root.metadata {
            Metadata::V3(_) => &V3,
            Metadata::V2Array { .. } | Metadata::V2Group { .. } => &V2,
            Metadata::Folder => &UNKNOWN_VERSION,
        },
        None => &UNKNOWN_VERSION,
    };
    Ok(ZarrSource {
        hierarchy,
        dialect,
        raw: options.raw,
        pool: options.pool.clone(),
        warnings,
        size: OnceLock::new(),
        dimensions: Mutex::default(),
        renamed: Mutex::default(),
        recent: Mutex::default(),
        kept: Mutex::default(),
    })
}

/// Nodes whose names differ from those in the store, for groups that were listed.
#[derive(Default)]
struct Renamed {
    keys: FxHashMap<NodePath, Key>,
    paths: FxHashMap<Key, NodePath>,
}

struct ZarrSource {
    hierarchy: Hierarchy,
    dialect: &'static Dialect,
    raw: bool,
    pool: Pool,
    warnings: Vec<String>,
    size: OnceLock<u64>,
    /// The dimensions of listed groups.
    dimensions: Mutex<FxHashMap<NodePath, Arc<Dimensions>>>,
    /// The keys of nodes whose names differ from those in the store.
    renamed: Mutex<Renamed>,
    /// The nodes of the group that was listed last: a caller that lists a group usually loads its members next.
    recent: Mutex<FxHashMap<NodePath, Arc<ZarrNode>>>,
    /// The records of members that are not nodes, for listed groups.
    kept: Mutex<FxHashMap<NodePath, Arc<Record>>>,
}

impl Source for ZarrSource {
    fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    fn size(&self) -> Result<u64> {
        if let Some(size) = self.size.get() {
            return Ok(*size);
        }
        let mut sizes = Sizes::new(&**self.hierarchy.store(), &self.pool);
        self.hierarchy.values(&mut |key| sizes.add(key).map(ControlFlow::Continue))?;
        let size = sizes.sum()?;
        Ok(*self.size.get_or_init(|| size))
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn limits(&self) -> Limits {
        *self.hierarchy.limits()
    }

    fn find(&self, path: &NodePath) -> Result<Entry> {
        let missing = || Error::not_found(format!("no object {path}"));
        if path.is_root() {
            let node = self.hierarchy.node_or_folder(&Key::root());
            let node = node.and_then(|node| node.ok_or_else(missing));
            let mut item = self.item_or_reason(node.as_ref(), &Key::root());
            // Dimensions are identified by name, although no group contains them.
            if let Item::Array { shape: Shape::Dims(dims), .. } = &mut item {
                let is_sound =
                    |of: &NodePath| of.as_str().strip_prefix('/').is_some_and(read::dimensions::is_name);
                dims.iter_mut().for_each(|dim| drop(dim.coordinate.take_if(|of| !is_sound(of))));
            }
            return Ok(Entry { handle: handle(path.clone()), item });
        }
        if let Some(member) = self.kept_member(path)? {
            return Ok(kept_entry(path.clone(), &member));
        }
        let key = self.key(path).ok().filter(|key| self.is_there(key));
        if key.is_none()
            && let Some(dimension) = self.known_dimension(path)
        {
            return Ok(dimension);
        }
        let Some(key) = key.map_or_else(|| self.search(path), |key| Ok(Some(key)))? else {
            return self.dimension(path)?.map_or_else(|| self.behind_links(path), Ok);
        };
        if let Some(link) = self.link(&key)? {
            return Ok(Entry { handle: handle(path.clone()), item: Item::Link(link) });
        }
        let node = self.hierarchy.node(&key).and_then(|node| node.ok_or_else(missing));
        let dimensions = match &node {
            Ok(node) => self.dimensions_for(path, node)?,
            Err(_) => Arc::default(),
        };
        Ok(self.entry(path.clone(), node.as_ref(), &key, &dimensions))
    }

    fn members(&self, group: &Handle) -> Result<Vec<Entry>> {
        let mut listing = self.list(&group.path)?;
        let mut entries = std::mem::take(&mut listing.entries);
        let dimensions = Arc::new(listing.dimensions);
        for entry in &mut entries {
            name_dimensions(entry, &group.path, &dimensions);
        }
        let pure = dimensions.without_coordinates();
        entries.extend(pure.map(|(name, size)| pure_dimension(group.path.child(name), size)));
        entries.sort_unstable_by(|a, b| a.handle.path.as_str().cmp(b.handle.path.as_str()));
        if !self.raw {
            let kept = self.kept(&group.path)?;
            if !kept.member_order.is_empty() {
                let place = places(&kept.member_order);
                entries.sort_by_cached_key(|entry| place(entry.handle.path.name()));
            }
        }
        self.keep_dimensions(&group.path, dimensions);
        Ok(entries)
    }

    fn load(&self, object: &Handle) -> Result<Node> {
        let path = &object.path;
        if let Some(member) = self.kept_member(path)? {
            return Ok(member);
        }
        // A name that cannot be a key may still be the name of a dimension.
        let Ok(key) = self.key(path) else { return self.load_dimension(path) };
        let found =
            if path.is_root() { self.hierarchy.node_or_folder(&key) } else { self.hierarchy.node(&key) };
        match found {
            Ok(Some(node)) => self.node(path, &node).map_err(|error| error.in_object(path)),
            Ok(None) => self.load_dimension(path),
            Err(error) => match self.unreadable(&key, &error) {
                // The attributes are usually readable even if the array is damaged.
                unreadable if !unreadable.attributes.is_empty() => Ok(Node::Unreadable(unreadable)),
                _ => Err(error),
            },
        }
    }

    fn keeps_order(&self, group: &NodePath) -> Result<bool> {
        // A view can have groups that the store does not have.
        Ok(!self.raw && valid(self.kept(group))?.is_some_and(|kept| !kept.member_order.is_empty()))
    }

    fn fill_attribute(&self, object: &Handle) -> Result<Option<Attribute>> {
        if self.raw {
            return Ok(None);
        }
        let (node, record) = self.stored_array(&object.path)?;
        read::fill_attribute::typed(&node, record.as_ref())
    }

    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let (node, record) = self.stored_array(&object.path)?;
        let (hierarchy, pool) = (self.hierarchy.clone(), self.pool.clone());
        Ok(Arc::new(ZarrArray::open(hierarchy, pool, node, record.as_ref())?))
    }
}

impl ZarrSource {
    /// The node of an array and its record.
    fn stored_array(&self, path: &NodePath) -> Result<(Arc<ZarrNode>, Option<Record>)> {
        let node = self.stored(path, &self.key(path)?)?;
        let node = node.ok_or_else(|| Error::invalid("a dimension without values"))?;
        let record = self.record(&node)?;
        Ok((node, record))
    }

    /// The object at a path, following links that groups keep in their records.
    fn behind_links(&self, path: &NodePath) -> Result<Entry> {
        let resolved = links::resolve(path, LastLink::Keep, &mut |at| match self.kept_member(at)? {
            Some(Node::Link(link)) => Ok(Some(link)),
            _ => Ok(None),
        })?;
        match resolved == *path {
            true => Err(Error::not_found(format!("no object {path}"))),
            false => self.find(&resolved),
        }
    }

    /// A dimension without coordinates, which has no node of its own.
    fn load_dimension(&self, path: &NodePath) -> Result<Node> {
        match self.dimension(path)?.map(|entry| entry.item) {
            Some(Item::Array { shape, .. }) => {
                let size = shape.dims().first().map_or(Extent::Fixed(0), |dimension| dimension.extent);
                Ok(Node::DimCoord(DimCoord {
                    size,
                    datatype: None,
                    attributes: Attributes::new(),
                    storage: BoxedStorage::default(),
                    value: None,
                }))
            }
            _ => Err(Error::not_found(format!("no object {path}"))),
        }
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
