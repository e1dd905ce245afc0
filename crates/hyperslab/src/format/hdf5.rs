//! HDF5 and NetCDF-4 files as a [`Source`].
//!
//! A file is shown as NetCDF-4 if it was written as such. Dimension scales become dimension coordinates in every file.
//! Neither applies to a file opened raw.

mod about;
mod array;
mod attribute;
mod beside;
mod check;
mod creation;
mod datatype;
mod files;
mod mapping;
mod names;
mod netcdf;
mod objects;
mod once;
mod opened;
mod paths;
mod storage;
pub(crate) mod write;

pub(crate) use write::HDF5 as HDF5_TARGET;

use super::netcdf::flavour::Flavour;
use super::netcdf::name::stored;
use super::netcdf::record::restore;
use super::{Format, Location, OpenOptions, Probe, Recognition};
use crate::links::{self, LastLink};
use crate::pool::Pool;
use crate::report::{CheckOptions, Report};
use crate::source::{ArraySource, Declared, Dialect, Entry, Handle, Item, NamedFiles, Source, Unshown};
use crate::strings::{has_escaped, name_text as text};
use array::Hdf5Array;
use hyperslab_core::check::Rule;
use hyperslab_core::storage::ReadAt;
use hyperslab_core::{Error, ErrorKind, Limit, Limits, Result, valid};
use hyperslab_hdf5::format::Address;
use hyperslab_hdf5::format::message::link::{ExternalLink, LinkTarget};
use hyperslab_hdf5::{File, Link as Hdf5Link, Links, Object, ObjectKind};
use hyperslab_model::{Directive, Extent, Link, Node, NodeKind, NodePath, Unreadable};
use hyperslab_netcdf4::is_netcdf4;
use names::Shown;
use netcdf::UserType;
use once::Once;
use opened::{Opened, Recent};
use paths::Paths;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The HDF5 file format, including NetCDF-4.
pub(crate) struct Hdf5;

impl Format for Hdf5 {
    fn name(&self) -> &'static str {
        "hdf5"
    }

    fn titles(&self) -> &'static [&'static str] {
        &["HDF5", "NetCDF-4"]
    }

    fn dialects(&self) -> &'static [&'static Dialect] {
        DIALECTS
    }

    fn recognizes(&self, probe: &Probe<'_>) -> Recognition {
        let Probe::Object(head) = probe else { return Recognition::No };
        let signature = hyperslab_hdf5::format::metadata::superblock::SIGNATURE;
        if head.first.starts_with(&signature) {
            Recognition::Certain
        } else if head.doubling.contains(&signature) {
            // The bytes before the superblock may be a file of another format that contains an HDF5 file.
            Recognition::Possible
        } else {
            Recognition::No
        }
    }

    fn recognizes_part(&self, object: &dyn ReadAt) -> Result<bool> {
        File::is_part(object)
    }

    fn first_of_set(&self, path: &Path) -> Option<PathBuf> {
        let name = File::first_member(path.file_name()?.to_str()?)?;
        Some(path.with_file_name(name))
    }

    fn open(&self, location: Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let file = File::open(location.into_object(self.name())?, options.limits)?;
        Ok(Arc::new(Hdf5Source::new(file, options.raw, options.pool.clone())?))
    }

    fn check(&self, location: Location, open: &OpenOptions, options: &CheckOptions) -> Result<Report> {
        check::check(location.into_object(self.name())?, open, options)
    }

    fn rules(&self) -> &'static [&'static [&'static Rule]] {
        RULES
    }

    fn repacks_raw(&self) -> bool {
        true
    }

    fn default_directives(&self) -> &'static [&'static str] {
        &[
            "atime",
            "mtime",
            "ctime",
            "btime",
            "track_order",
            "index_order",
            "track_attributes",
            "index_attributes",
            "link_phase_change",
            "link_estimates",
            "link_filter",
            "attribute_phase_change",
            "alloc_time",
            "unfiltered_edges",
            "bit_padding",
            "mappings",
            "sizes",
            "btree_k",
            "file_space",
            "shared_messages",
            "user_block",
            "classic_model",
            "user_block_size",
        ]
    }

    fn clear_layout_directives(&self, directives: &mut Vec<(String, Directive)>, cut: bool, _filtered: bool) {
        let is_of_layout =
            |key: &str| ["alloc_time", "external", "mappings", "unfiltered_edges"].contains(&key);
        directives.retain(|(key, _)| !(cut && is_of_layout(key)));
    }
}

static RULES: &[&[&Rule]] = &[hyperslab_hdf5::check::RULES];

pub(in crate::format) static DIALECTS: &[&Dialect] = &[&HDF5, &NETCDF4];

/// Files without NetCDF-4 markers.
static HDF5: Dialect = Dialect { escapes_names: true, ends_texts: true, ..Dialect::new("HDF5", DIRECTIVES) };

/// Files with NetCDF-4 markers.
static NETCDF4: Dialect = Dialect {
    ends_texts: true,
    missing: super::netcdf::missing,
    texts_are_characters: true,
    fills_to_length: true,
    escapes_names: true,
    keeps_order: true,
    ..Dialect::new("NetCDF-4", DIRECTIVES)
};

const DIRECTIVES: Option<&[&str]> = Some(&["hdf5", "netcdf"]);

struct Hdf5Source {
    file: File,
    len: u64,
    size_with_parts: Once<u64>,
    raw: bool,
    pool: Pool,
    netcdf: bool,
    paths: Once<Paths>,
    /// The dimension names of scales, by address: a file has few of them, and each variable looks them up.
    dimcoords: Mutex<FxHashMap<u64, Option<(NodePath, Extent)>>>,
    user_types: Once<Vec<UserType>>,
    dimensions_by_id: Once<FxHashMap<i64, Address>>,
    /// Whether a walk found an object at several paths although its header counts one link.
    linked: AtomicBool,
    recent: Mutex<Recent>,
}

/// Implemented for the shared source, which opened arrays keep.
impl Source for Arc<Hdf5Source> {
    fn dialect(&self) -> &'static Dialect {
        if self.netcdf { &NETCDF4 } else { &HDF5 }
    }

    fn size(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn size_with_parts(&self) -> Result<u64> {
        Ok(*self.size_with_parts.get_or_find(|| files::size_with_parts(self))?)
    }

    fn warnings(&self) -> Vec<String> {
        self.file.warnings()
    }

    fn unshown(&self) -> Vec<Unshown> {
        let zeros = self.file.missing_bytes().map(|what| Unshown { what, instead: "zeros" });
        let size = self.file.user_block();
        let block = (size > about::MAX_USER_BLOCK)
            .then(|| Unshown { what: format!("user block of {size} bytes"), instead: "nothing" });
        zeros.into_iter().chain(block).collect()
    }

    fn limits(&self) -> Limits {
        *self.file.reader().limits()
    }

    fn find(&self, path: &NodePath) -> Result<Entry> {
        let missing = || Error::not_found(format!("no object {path}"));
        let mut addresses = FxHashMap::from_iter([(NodePath::root(), self.file.root_address())]);
        let mut last = None;
        let at = links::resolve(path, LastLink::Keep, &mut |at| {
            if addresses.contains_key(at) {
                return Ok(None);
            }
            let group = at.parent().and_then(|group| addresses.get(&group).copied()).ok_or_else(missing)?;
            match self.link(group, at.name())?.ok_or_else(missing)?.target {
                LinkTarget::Hard(address) => {
                    addresses.insert(at.clone(), address);
                    Ok(None)
                }
                other => {
                    last = Some(link_of(other));
                    Ok(last.clone())
                }
            }
        })?;
        if at.is_root() {
            return Ok(Entry {
                handle: Handle { path: at, id: self.file.root_address().0 },
                item: Item::Group,
            });
        }
        // The object is requested at this path, even if it has an earlier one.
        match (addresses.get(&at), last) {
            (Some(address), _) => Ok(self.entry(path.clone(), *address, self.open(*address))),
            (None, Some(link)) => {
                let handle = Handle { path: path.clone(), id: u64::MAX };
                Ok(Entry { handle, item: Item::Link(link) })
            }
            (None, None) => Err(missing()),
        }
    }

    fn members(&self, group: &Handle) -> Result<Vec<Entry>> {
        let NamedLinks { links, unreadable } = self.links(group)?;
        let mut members = Vec::with_capacity(links.len());
        self.in_file_order(links, &mut |place, name, link| {
            members.push((place, self.member(group.path.child(&name), link)));
        });
        members.sort_unstable_by_key(|(place, _)| *place);
        let mut members: Vec<Entry> = members.into_iter().map(|(_, entry)| entry).collect();
        if self.netcdf {
            self.order_dimensions(&mut members)?;
        }
        members.extend(unreadable.into_iter().map(|(name, error)| Entry {
            handle: Handle { path: group.path.child(&into_text(name)), id: u64::MAX },
            item: Item::Unreadable(Unreadable::new(None, &error)),
        }));
        Ok(members)
    }

    fn declared(&self, group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        netcdf::declared(self, group, members)
    }

    fn stored_order_of_attributes(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        let object = self.file.object(Address(object.id))?;
        let Some(order) = object.stored_order_of_attributes(&self.file)? else { return Ok(None) };
        let mut order: Vec<String> = order.into_iter().map(into_text).collect();
        if self.netcdf {
            restore(&names::record(&self.file, &object)?.attributes, &mut order);
        }
        Ok(Some(order))
    }

    fn is_classic_model(&self) -> bool {
        self.netcdf && matches!(valid(netcdf::is_classic_model(&self.file)), Ok(Some(true)))
    }

    fn load(&self, object: &Handle) -> Result<Node> {
        let opened = self.open(Address(object.id)).map_err(|e| e.in_object(&object.path))?;
        let found = &opened.object;
        let scale = || self.scale(found).ok().flatten().is_some();
        self.node(&opened).or_else(|error| match self.attributes(found, scale()) {
            // The attributes are usually readable even if the dataset is damaged.
            Ok(attributes) if !attributes.is_empty() => {
                let unreadable = Unreadable::new(Some(kind_of(found.kind())), &error);
                Ok(Node::Unreadable(Unreadable { attributes, ..unreadable }))
            }
            _ => Err(error.in_object(&object.path)),
        })
    }

    fn has_unshown_elements(&self, object: &Handle) -> Result<bool> {
        self.hides_elements(Address(object.id))
    }

    fn array(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let opened = self.open(Address(object.id))?;
        let opened = self.dataset(&opened)?;
        Ok(Arc::new(Hdf5Array::open(Arc::clone(self), opened)?))
    }

    fn named_files(&self) -> Result<NamedFiles> {
        files::named_files(self)
    }

    fn open_named(&self, file: &str) -> Result<Option<Arc<dyn Source>>> {
        let Some(file) = self.file.open_named(file)? else { return Ok(None) };
        Ok(Some(Arc::new(Hdf5Source::new(file, self.raw, self.pool.clone())?)))
    }

    fn identity(&self) -> Option<PathBuf> {
        self.file.path().map(Path::to_owned)
    }

    fn met_twice(&self, _object: &Handle) {
        self.linked.store(true, Ordering::Relaxed);
    }
}

/// The links of a group.
struct NamedLinks {
    /// Each with its displayed name.
    links: Vec<(String, Hdf5Link)>,
    /// Stored names of links that cannot be read.
    unreadable: Vec<(Vec<u8>, Error)>,
}

impl Hdf5Source {
    fn new(file: File, raw: bool, pool: Pool) -> Result<Arc<Hdf5Source>> {
        let len = file.stored_len()?;
        let netcdf = !raw && valid(is_netcdf4(&file))?.unwrap_or(false);
        Ok(Arc::new(Hdf5Source {
            file,
            len,
            size_with_parts: Once::new(),
            raw,
            pool,
            netcdf,
            paths: Once::new(),
            dimcoords: Mutex::default(),
            user_types: Once::new(),
            dimensions_by_id: Once::new(),
            linked: AtomicBool::new(false),
            recent: Mutex::default(),
        }))
    }

    fn paths(&self) -> Result<&Paths> {
        self.paths.get_or_find(|| Paths::of(&self.file, self.netcdf))
    }

    /// The link of a group by its displayed name; `None` if there is no such link or group.
    fn link(&self, group: Address, name: &str) -> Result<Option<Hdf5Link>> {
        let opened = self.open(group)?;
        let object = &opened.object;
        if object.kind() != ObjectKind::Group {
            return Ok(None);
        }
        // A name that is not UTF-8, or that NetCDF forbids, is displayed differently from how it is stored.
        if has_escaped(name) || self.netcdf && stored(name, Flavour::Enhanced).0 != name {
            let links = object.links(&self.file)?;
            let mut links = Shown::of(&self.file, object, links, self.netcdf)?.links.into_iter();
            return Ok(links.find(|(shown, _)| shown == name).map(|(_, link)| link));
        }
        let found = object.link(&self.file, name.as_bytes())?;
        self.variable_of_name(object, name, found)
    }

    /// The links of a group with their displayed names.
    fn links(&self, group: &Handle) -> Result<NamedLinks> {
        let opened = self.open(Address(group.id))?;
        let Links { links, unreadable } = opened.object.all_links(&self.file)?;
        let links = Shown::of(&self.file, &opened.object, links, self.netcdf)?.links;
        check_paths(&self.file, &group.path, links.len().saturating_add(unreadable.len()))?;
        Ok(NamedLinks { links, unreadable })
    }

    /// Visits links, each with its position in the list. The object headers that they lead to are read in file order
    /// rather than name order, since one read often covers several of them. Those of a remote file are fetched
    /// together.
    fn in_file_order(&self, links: Vec<(String, Hdf5Link)>, visit: &mut dyn FnMut(usize, String, Hdf5Link)) {
        let address = |link: &Hdf5Link| match link.target {
            LinkTarget::Hard(address) => address.0,
            _ => u64::MAX,
        };
        let mut links: Vec<(usize, (String, Hdf5Link))> = links.into_iter().enumerate().collect();
        links.sort_by_key(|(_, (_, link))| address(link));
        let addresses: Vec<_> = links.iter().filter_map(|(_, (_, link))| link.address()).collect();
        for (number, (place, (name, link))) in links.into_iter().enumerate() {
            if number % File::MAX_FETCHED == 0 {
                self.file.fetch_objects(addresses.get(number..).unwrap_or_default());
            }
            visit(place, name, link);
        }
    }

    fn member(&self, path: NodePath, link: Hdf5Link) -> Entry {
        let address = match link.target {
            LinkTarget::Hard(address) => address,
            target => {
                return Entry { handle: Handle { path, id: u64::MAX }, item: Item::Link(link_of(target)) };
            }
        };
        let opened = self.open(address);
        let first = match &opened {
            Ok(opened) => self.first_path(&opened.object),
            Err(_) => Ok(None),
        };
        match first {
            Ok(Some(first)) if *first != path => {
                let item = Item::Link(Link::Hard(first.clone()));
                Entry { handle: Handle { path, id: address.0 }, item }
            }
            Ok(_) => self.entry(path, address, opened),
            // This may be a further link to an object that is shown elsewhere.
            Err(error) => self.entry(path, address, Err(error)),
        }
    }

    /// The first path of an object that may have several.
    fn first_path(&self, object: &Object) -> Result<Option<&NodePath>> {
        match object.reference_count() > 1 || self.linked.load(Ordering::Relaxed) {
            true => Ok(self.paths()?.get(object.address())),
            false => Ok(None),
        }
    }

    fn entry(&self, path: NodePath, address: Address, opened: Result<Arc<Opened>>) -> Entry {
        let item = match opened {
            Ok(opened) => self.item(&opened).unwrap_or_else(|error| {
                Item::Unreadable(Unreadable::new(Some(kind_of(opened.object.kind())), &error))
            }),
            Err(error) => Item::Unreadable(Unreadable::new(None, &error)),
        };
        Entry { handle: Handle { path, id: address.0 }, item }
    }
}

/// Rejects groups whose member paths would take far more memory than the size of the file: paths in nested groups
/// repeat the names of all their ancestors.
fn check_paths(file: &File, group: &NodePath, members: usize) -> Result<()> {
    let len = group.as_str().len();
    if len > MAX_PATH {
        let detail = format!("its path has {len} bytes, expected at most {MAX_PATH}");
        return Err(Error::new(ErrorKind::LimitExceeded, detail));
    }
    let bytes = (len as u64).saturating_mul(members as u64);
    match bytes <= file.reader().limits().allocation / 4 {
        true => Ok(()),
        false => {
            let detail = format!("paths of its {members} members take {bytes} bytes");
            Err(Error::limit_exceeded(Limit::Allocation, detail))
        }
    }
}

/// The maximum size of a path in bytes, well above the limit of any tool that opens files by name.
const MAX_PATH: usize = 16 << 10;

fn kind_of(kind: ObjectKind) -> NodeKind {
    match kind {
        ObjectKind::Group => NodeKind::Group,
        ObjectKind::Dataset => NodeKind::Ndarray,
        ObjectKind::NamedDatatype => NodeKind::Datatype,
        ObjectKind::Unknown => NodeKind::Unreadable,
    }
}

fn link_of(target: LinkTarget) -> Link {
    match target {
        LinkTarget::Hard(address) => Link::Soft(address.to_string()),
        LinkTarget::Soft(path) => Link::Soft(text(&path)),
        LinkTarget::External(ExternalLink { file, path }) => {
            Link::External { file: text(&file), path: text(&path) }
        }
        LinkTarget::UserDefined { code, data } => Link::User { class: code, data },
    }
}

/// As [`text`], without copying names that need no change.
fn into_text(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(name) if !has_escaped(&name) => name,
        Ok(name) => text(name.as_bytes()),
        Err(e) => text(e.as_bytes()),
    }
}
