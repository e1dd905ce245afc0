//! Zarr stores of both versions, in directories and zip files, as a [`Source`].
//!
//! A dimension's name is a dimension coordinate where all arrays of the group agree on its size. A symbolic link
//! to a node is a soft link.

mod attribute;
mod check;
mod datatype;
mod dimensions;
mod directive;
mod elements;
mod filter;
mod nczarr;
mod storage;

use super::{Format, OpenOptions, Probe, Recognition};
use crate::check::{CheckOptions, Report};
use crate::pool::Pool;
use crate::source::{ArraySource, Entry, Handle, Item, Source, Stored};
use dimensions::Dimensions;
use elements::ZarrArray;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Error, Limits, Result};
use hyperslab_model::{
    Attributes, DimCoord, Dimension, Directive, Extent, Group, Link, Ndarray, Node, NodeKind, NodePath,
    Shape, Storage, Unreadable,
};
use hyperslab_zarr::hierarchy::{Hierarchy, Metadata, Node as ZarrNode};
use hyperslab_zarr::json::Json;
use hyperslab_zarr::metadata::{v2, v3};
use hyperslab_zarr::name;
use hyperslab_zarr::store::{DirectoryStore, Key, Store, ZipStore};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Zarr, versions 2 and 3.
pub(super) struct Zarr;

impl Format for Zarr {
    fn name(&self) -> &'static str {
        "zarr"
    }

    fn recognizes(&self, _: &Probe) -> Recognition {
        // Zip files hold many things.
        Recognition::No
    }

    fn recognizes_part(&self, storage: &dyn ReadAt) -> Result<bool> {
        ZipStore::has(storage, &DOCUMENTS, &Limits::default())
    }

    fn recognizes_directory(&self, path: &Path) -> bool {
        DOCUMENTS.iter().any(|document| path.join(document).is_file())
    }

    fn open(&self, storage: Box<dyn ReadAt>, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        open(Arc::new(ZipStore::open(storage, &options.limits)?), options)
    }

    fn open_directory(&self, path: &Path, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        open(Arc::new(DirectoryStore::open(path)?), options)
    }

    fn check(&self, storage: Box<dyn ReadAt>, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
        check::zip(storage, open, options)
    }

    fn check_directory(&self, path: &Path, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
        check::directory(path, open, options)
    }
}

/// The folder of the node that a file is a document of.
pub(super) fn folder_of_document(path: &Path) -> Option<&Path> {
    let name = path.file_name()?.to_str()?;
    let documents = DOCUMENTS.iter().chain(&[v2::ATTRIBUTES, v2::CONSOLIDATED]);
    let parent = path.parent().filter(|_| documents.into_iter().any(|document| *document == name))?;
    Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

fn open(store: Arc<dyn Store>, options: &OpenOptions) -> Result<Arc<dyn Source>> {
    let mut warnings = Vec::new();
    let hierarchy = Hierarchy::open(Arc::clone(&store), options.limits).unwrap_or_else(|error| {
        warnings.push(format!("consolidated metadata is not used: {error}"));
        Hierarchy::unconsolidated(store, options.limits)
    });
    let title = match hierarchy.node_or_folder(&Key::root()) {
        Ok(None) => return Err(Error::invalid("has no zarr.json, .zarray or .zgroup: no Zarr store")),
        Ok(Some(root)) => match root.metadata {
            Metadata::V3(_) => "Zarr v3",
            Metadata::V2Array { .. } | Metadata::V2Group { .. } => "Zarr v2",
            Metadata::Folder => "Zarr",
        },
        Err(_) => "Zarr",
    };
    Ok(Arc::new(ZarrSource {
        hierarchy,
        title,
        raw: options.raw,
        pool: options.pool.clone(),
        warnings,
        size: OnceLock::new(),
        dimensions: Mutex::default(),
        renamed: Mutex::default(),
        recent: Mutex::default(),
    }))
}

struct ZarrSource {
    hierarchy: Hierarchy,
    title: &'static str,
    raw: bool,
    pool: Pool,
    warnings: Vec<String>,
    size: OnceLock<u64>,
    /// Of groups whose members were looked at.
    dimensions: Mutex<FxHashMap<NodePath, Arc<Dimensions>>>,
    /// Where nodes lie that have other names than in the store.
    renamed: Mutex<FxHashMap<NodePath, Key>>,
    /// Nodes of the group that was listed last, as whoever lists a group goes on to load what is in it.
    recent: Mutex<FxHashMap<NodePath, Arc<ZarrNode>>>,
}

impl Source for ZarrSource {
    fn format(&self) -> &'static str {
        self.title
    }

    fn size(&self) -> Result<u64> {
        if let Some(size) = self.size.get() {
            return Ok(*size);
        }
        let size = self.hierarchy.stored_bytes()?;
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
            let place = Some((&Key::root(), &Dimensions::default()));
            return Ok(self.entry(path.clone(), node.as_ref(), place));
        }
        let key = self.key(path).ok().filter(|key| self.is_there(key));
        let Some(key) = key.map_or_else(|| self.search(path), |key| Ok(Some(key)))? else {
            return self.dimension(path)?.ok_or_else(missing);
        };
        if let Some(link) = self.link(&key)? {
            return Ok(Entry { handle: handle(path.clone()), item: Item::Link(link) });
        }
        let node = self.hierarchy.node(&key).and_then(|node| node.ok_or_else(missing));
        let dimensions = match &node {
            Ok(node) => self.dimensions_for(path, node)?,
            Err(_) => Arc::default(),
        };
        Ok(self.entry(path.clone(), node.as_ref(), Some((&key, &dimensions))))
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
        entries.sort_by(|a, b| a.handle.path.as_str().cmp(b.handle.path.as_str()));
        self.keep_dimensions(&group.path, dimensions);
        Ok(entries)
    }

    fn load(&self, object: &Handle) -> Result<Node> {
        let path = &object.path;
        let key = self.key(path)?;
        let found =
            if path.is_root() { self.hierarchy.node_or_folder(&key) } else { self.hierarchy.node(&key) };
        match found {
            Ok(Some(node)) => self.node(path, &node).map_err(|error| error.in_object(path)),
            Ok(None) => match self.dimension(path)?.map(|entry| entry.item) {
                Some(Item::Array { shape, .. }) => {
                    let size = shape.dims().first().map_or(Extent::Fixed(0), |dimension| dimension.extent);
                    Ok(Node::DimCoord(DimCoord {
                        size,
                        datatype: None,
                        attributes: Attributes::new(),
                        storage: Storage::default(),
                        value: None,
                    }))
                }
                _ => Err(Error::not_found(format!("no object {path}"))),
            },
            Err(error) => match self.unreadable(&key, &error) {
                // What is wrong with an array seldom touches its attributes.
                unreadable if !unreadable.attributes.is_empty() => Ok(Node::Unreadable(unreadable)),
                _ => Err(error),
            },
        }
    }

    fn array(&self, object: &Handle) -> Result<Box<dyn ArraySource + '_>> {
        let node = self.stored(&object.path, &self.key(&object.path)?)?;
        let node = node.ok_or_else(|| Error::invalid("a dimension without values"))?;
        Ok(Box::new(ZarrArray::open(&self.hierarchy, &self.pool, node)?))
    }
}

/// The members of a group, before their dimensions are named.
#[derive(Default)]
struct Listing {
    entries: Vec<Entry>,
    dimensions: Dimensions,
}

impl ZarrSource {
    /// Where the node at `path` lies, if it is there.
    fn key(&self, path: &NodePath) -> Result<Key> {
        let renamed = unpoisoned(&self.renamed);
        let mut above = Some(path.clone()).filter(|_| !renamed.is_empty());
        while let Some(ancestor) = above {
            if let Some(key) = renamed.get(&ancestor) {
                let rest = path.as_str().strip_prefix(ancestor.as_str()).unwrap_or_default();
                return key.join(rest.trim_start_matches('/'));
            }
            above = ancestor.parent();
        }
        Key::new(path.as_str().trim_start_matches('/'))
    }

    fn stored(&self, path: &NodePath, key: &Key) -> Result<Option<Arc<ZarrNode>>> {
        if let Some(node) = unpoisoned(&self.recent).get(path) {
            return Ok(Some(Arc::clone(node)));
        }
        Ok(self.hierarchy.node(key)?.map(Arc::new))
    }

    /// Whether there is a node under `key`, readable or not, that nothing gives another name.
    fn is_there(&self, key: &Key) -> bool {
        match self.hierarchy.node(key) {
            Ok(Some(node)) => self.raw || node.attributes().and_then(name::recorded).is_none(),
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// Looks for a node by the names that people see, group by group.
    fn search(&self, path: &NodePath) -> Result<Option<Key>> {
        let mut way: Vec<_> = std::iter::successors(Some(path.clone()), NodePath::parent).collect();
        way.reverse();
        for (group, member) in way.iter().zip(way.iter().skip(1)) {
            if self.is_array(&self.key(group)?) {
                return Ok(None);
            }
            // Noting the members notes where the renamed ones lie.
            if !self.list(group)?.entries.iter().any(|entry| entry.handle.path == *member) {
                return Ok(None);
            }
        }
        self.key(path).map(Some)
    }

    fn is_array(&self, key: &Key) -> bool {
        self.hierarchy.node(key).is_ok_and(|node| node.is_some_and(|node| node.is_array()))
    }

    /// Where a symbolic link leads, if `key` is one.
    fn link(&self, key: &Key) -> Result<Option<Link>> {
        let store = self.hierarchy.store();
        let (parent, name) = key.as_str().rsplit_once('/').unwrap_or(("", key.as_str()));
        let (Some(target), Some(parent)) = (store.resolve(key)?, store.resolve(&Key::new(parent)?)?) else {
            return Ok(None);
        };
        Ok((parent.join(name)? != target).then(|| Link::Soft(format!("/{target}"))))
    }

    /// The members of a group. Names that were changed for the store are what they were.
    fn list(&self, group: &NodePath) -> Result<Listing> {
        let mut listing = Listing::default();
        let key = self.key(group)?;
        let children = self.hierarchy.children(&key)?;
        let stored: FxHashSet<&str> = children.iter().map(|child| child.path.name()).collect();
        let mut given = FxHashSet::default();
        let mut recent = FxHashMap::default();
        for child in &children {
            let name = child.path.name();
            let node = match child.is_alias {
                true => {
                    self.link(&child.path).map(|link| Found::Link(link.unwrap_or(Link::Soft(name.into()))))
                }
                false => {
                    self.hierarchy.node(&child.path).map(|node| node.map_or(Found::Nothing, Found::Node))
                }
            };
            let recorded = match &node {
                Ok(Found::Node(node)) if !self.raw => node.attributes().and_then(name::recorded),
                _ => None,
            };
            let recorded = recorded.filter(|name| {
                !matches!(*name, "" | "." | "..") && !name.contains('/') && !stored.contains(name)
            });
            let path = match recorded.filter(|name| given.insert((*name).to_owned())) {
                Some(name) => {
                    let path = group.child(name);
                    unpoisoned(&self.renamed).insert(path.clone(), child.path.clone());
                    path
                }
                None => group.child(name),
            };
            match node {
                Ok(Found::Nothing) => {}
                Ok(Found::Link(link)) => {
                    listing.dimensions.add(path.name(), None);
                    listing.entries.push(Entry { handle: handle(path), item: Item::Link(link) });
                }
                Ok(Found::Node(node)) => {
                    listing.dimensions.add(path.name(), Some(&node).filter(|_| !self.raw));
                    listing.entries.push(self.entry(path.clone(), Ok(&node), None));
                    if recent.len() < MOST_RECENT {
                        recent.insert(path, Arc::new(node));
                    }
                }
                Err(error) => {
                    listing.dimensions.add(path.name(), None);
                    let none = Dimensions::default();
                    listing.entries.push(self.entry(path, Err(&error), Some((&child.path, &none))));
                }
            }
        }
        listing.dimensions.finish();
        *unpoisoned(&self.recent) = recent;
        Ok(listing)
    }

    /// The dimensions of the group of a node, if it names any.
    fn dimensions_for(&self, path: &NodePath, node: &ZarrNode) -> Result<Arc<Dimensions>> {
        match path.parent() {
            Some(group) if !self.raw && dimensions::names(node).is_some() => self.dimensions(&group),
            _ => Ok(Arc::default()),
        }
    }

    /// The dimensions of a group.
    fn dimensions(&self, group: &NodePath) -> Result<Arc<Dimensions>> {
        if let Some(known) = unpoisoned(&self.dimensions).get(group) {
            return Ok(Arc::clone(known));
        }
        let dimensions = Arc::new(self.list(group)?.dimensions);
        self.keep_dimensions(group, Arc::clone(&dimensions));
        Ok(dimensions)
    }

    fn keep_dimensions(&self, group: &NodePath, dimensions: Arc<Dimensions>) {
        let mut known = unpoisoned(&self.dimensions);
        if known.len() >= MOST_GROUPS {
            known.clear();
        }
        known.insert(group.clone(), dimensions);
    }

    /// The dimension without coordinates at `path`, if there is one.
    fn dimension(&self, path: &NodePath) -> Result<Option<Entry>> {
        let Some(group) = path.parent() else { return Ok(None) };
        let is_group = |node: Option<ZarrNode>| node.is_some_and(|node| !node.is_array());
        let key = if group.is_root() { Ok(Key::root()) } else { self.key(&group) };
        if !key.and_then(|key| self.hierarchy.node_or_folder(&key)).is_ok_and(is_group) {
            return Ok(None);
        }
        let dimensions = self.dimensions(&group)?;
        let mut pure = dimensions.without_coordinates();
        Ok(pure.find(|(name, _)| *name == path.name()).map(|(_, size)| pure_dimension(path.clone(), size)))
    }

    fn entry(
        &self,
        path: NodePath,
        node: std::result::Result<&ZarrNode, &Error>,
        place: Option<(&Key, &Dimensions)>,
    ) -> Entry {
        let unreadable = |error: &Error| {
            let root = Key::root();
            let key = place.map_or(&root, |(key, _)| key);
            Item::Unreadable(Unreadable { attributes: Attributes::new(), ..self.unreadable(key, error) })
        };
        let item = match node {
            Ok(node) => self.item(node).unwrap_or_else(|error| unreadable(&error)),
            Err(error) => unreadable(error),
        };
        let mut entry = Entry { handle: handle(path), item };
        if let Some((_, dimensions)) = place {
            let group = entry.handle.path.parent().unwrap_or_else(NodePath::root);
            name_dimensions(&mut entry, &group, dimensions);
        }
        entry
    }

    /// What a list says of a node, dimensions by their sizes and names alone.
    fn item(&self, node: &ZarrNode) -> Result<Item> {
        let Some(storage) = array_storage(node)? else { return Ok(Item::Group) };
        let (datatype, _) = datatype_of(node)?;
        Ok(Item::Array {
            kind: NodeKind::Ndarray,
            datatype: Some(Arc::new(datatype)),
            shape: self.named_shape(node),
            stored: Stored::Chunks(Arc::new(storage)),
        })
    }

    /// The shape with whatever names dimensions have, as paths in no group.
    fn named_shape(&self, node: &ZarrNode) -> Shape {
        let names = if self.raw { None } else { dimensions::names(node) };
        let mut names = names.unwrap_or_default().into_iter();
        let dimension = |extent: &u64| Dimension {
            extent: Extent::Fixed(*extent),
            coordinate: names.next().flatten().map(|name| NodePath::root().child(&name)),
        };
        Shape::Dims(dimensions::shape(node).iter().map(dimension).collect())
    }

    fn node(&self, path: &NodePath, node: &ZarrNode) -> Result<Node> {
        let attributes = self.attributes(node);
        let Some(mut storage) = array_storage(node)? else {
            let is_consolidated = path.is_root() && self.hierarchy.is_consolidated();
            let unknown = match &node.metadata {
                Metadata::V3(v3::NodeMetadata::Group(group)) => Some(&group.unknown),
                Metadata::V2Group { group, .. } => Some(&group.unknown),
                _ => None,
            };
            let storage = storage::of_group(unknown, is_consolidated)?;
            return Ok(Node::Group(Group { attributes, storage, ..Group::default() }));
        };
        let (datatype, _) = datatype_of(node)?;
        let datatype = Some(Arc::new(datatype));
        let dimensions = self.dimensions_for(path, node)?;
        let group = path.parent().unwrap_or_else(NodePath::root);
        let shape = resolved(&self.named_shape(node), &group, &dimensions);
        self.note_names(node, &shape, &mut storage)?;
        if path.is_root() {
            // A text can only have it in a group.
            storage.native_mut("zarr")?.insert(0, ("root".to_owned(), Directive::Bool(true)));
        }
        Ok(match dimensions.has_coordinates(path.name()) {
            true => {
                let size = shape.dims().first().map_or(Extent::Fixed(0), |dimension| dimension.extent);
                Node::DimCoord(DimCoord { size, datatype, attributes, storage, value: None })
            }
            false => Node::Ndarray(Ndarray { shape, datatype, attributes, storage, value: None }),
        })
    }

    /// Keeps names of dimensions that are no dimension coordinates.
    fn note_names(&self, node: &ZarrNode, shape: &Shape, storage: &mut Storage) -> Result<()> {
        let names = match (&node.metadata, self.raw) {
            (Metadata::V3(v3::NodeMetadata::Array(array)), true) => array.dimension_names.clone(),
            // As the attribute that it is.
            (_, true) => None,
            _ => dimensions::names(node),
        };
        let Some(names) = names else { return Ok(()) };
        let is_said = |(name, dimension): (&Option<String>, &Dimension)| {
            name.is_none() || dimension.coordinate.is_some()
        };
        if !names.iter().zip(shape.dims()).all(is_said) {
            let name = |name: &Option<String>| name.clone().map_or(Directive::Null, Directive::Text);
            let names = Directive::List(names.iter().map(name).collect());
            storage.native_mut("zarr")?.push(("dimension_names".to_owned(), names));
        }
        Ok(())
    }

    fn attributes(&self, node: &ZarrNode) -> Attributes {
        let hides_names = || match &node.metadata {
            Metadata::V3(v3::NodeMetadata::Array(array)) if array.dimension_names.is_some() => {
                dimensions::of_attribute(node) == array.dimension_names
            }
            _ => dimensions::of_attribute(node).is_some(),
        };
        let mut attributes = Attributes::new();
        for (name, json) in node.attributes().into_iter().flat_map(|members| members.iter()) {
            let hidden = match name {
                dimensions::ATTRIBUTE => hides_names(),
                name::RECORD => matches!(json, Json::Object(_)),
                name => nczarr::is_bookkeeping(name, json),
            };
            if self.raw {
                put(&mut attributes, name, json);
            } else if !hidden {
                match node.attributes().and_then(|all| nczarr::attribute(all, name, json)) {
                    Some(typed) => {
                        attributes.insert(name.to_owned(), Ok(typed));
                    }
                    None => put(&mut attributes, name, json),
                }
            }
        }
        attributes
    }

    fn unreadable(&self, key: &Key, error: &Error) -> Unreadable {
        let remains = self.hierarchy.remains(key);
        let kind =
            remains.is_array.map(|is_array| if is_array { NodeKind::Ndarray } else { NodeKind::Group });
        let mut attributes = Attributes::new();
        for (name, json) in remains.attributes.iter().flat_map(|members| members.iter()) {
            put(&mut attributes, name, json);
        }
        Unreadable { attributes, ..Unreadable::new(kind, error) }
    }
}

/// What a child of a group turned out to be.
enum Found {
    Node(ZarrNode),
    Link(Link),
    Nothing,
}

fn put(attributes: &mut Attributes, name: &str, json: &Json) {
    let attribute = attribute::attribute(json).map_err(|error| Unreadable::new(None, &error));
    attributes.insert(name.to_owned(), attribute);
}

fn datatype_of(node: &ZarrNode) -> Result<(hyperslab_model::Datatype, hyperslab_model::ElementStorage)> {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) => {
            datatype::datatype(&array.data_type, array.byte_order)
        }
        Metadata::V2Array { array, .. } => datatype::datatype(&array.dtype.data_type, array.dtype.byte_order),
        _ => Err(Error::invalid("a group has no type")),
    }
}

/// How an array is stored; nothing for a group.
fn array_storage(node: &ZarrNode) -> Result<Option<Storage>> {
    match &node.metadata {
        Metadata::V3(v3::NodeMetadata::Array(array)) => storage::of_v3(array).map(Some),
        Metadata::V2Array { array, .. } => storage::of_v2(array).map(Some),
        _ => Ok(None),
    }
}

/// Makes of names of dimensions what they are in `group`: dimension coordinates or nothing.
fn name_dimensions(entry: &mut Entry, group: &NodePath, dimensions: &Dimensions) {
    let has_coordinates = dimensions.has_coordinates(entry.handle.path.name());
    if let Item::Array { kind, shape, .. } = &mut entry.item {
        *shape = resolved(shape, group, dimensions);
        if has_coordinates {
            *kind = NodeKind::DimCoord;
            if let Shape::Dims(dims) = shape {
                dims.iter_mut().for_each(|dimension| dimension.coordinate = None);
            }
        }
    }
}

/// A shape with names as one in `group`.
fn resolved(shape: &Shape, group: &NodePath, dimensions: &Dimensions) -> Shape {
    let mut shape = shape.clone();
    if let Shape::Dims(dims) = &mut shape {
        for dimension in dims {
            let name = dimension.coordinate.take();
            let name = name.as_ref().and_then(|path| path.as_str().strip_prefix('/'));
            dimension.coordinate =
                name.filter(|name| dimensions.size(name).is_some()).map(|name| group.child(name));
        }
    }
    shape
}

fn pure_dimension(path: NodePath, size: u64) -> Entry {
    let dimension = Dimension { extent: Extent::Fixed(size), coordinate: None };
    Entry {
        handle: handle(path),
        item: Item::Array {
            kind: NodeKind::DimCoord,
            datatype: None,
            shape: Shape::Dims(vec![dimension]),
            stored: Stored::Nothing,
        },
    }
}

/// The store has no numbers for nodes, so that the path makes one.
fn handle(path: NodePath) -> Handle {
    let mut hasher = DefaultHasher::new();
    path.as_str().hash(&mut hasher);
    Handle { id: hasher.finish(), path }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Documents that make a directory a node.
const DOCUMENTS: [&str; 3] = [v3::DOCUMENT, v2::ARRAY, v2::GROUP];

/// Nodes of a group that are kept.
const MOST_RECENT: usize = 1024;

/// Groups whose dimensions are remembered at once.
const MOST_GROUPS: usize = 4096;
