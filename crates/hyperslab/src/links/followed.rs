//! A source in which external links are replaced by their targets.

use super::follow;
use crate::cells::CellSource;
use crate::source::{
    ArraySource, ArrayView, Declared, Entry, Handle, Item, Source, SourceView, UnfollowedLinks,
};
use hyperslab_codec::Scratch;
use hyperslab_core::links::MAX_LINKS;
use hyperslab_core::nd::{Planes, Region};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Attributes, Datatype, Link, Node, NodePath, Reference, ReferencedPart, Shape, Values};
use rustc_hash::FxHashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A source with the objects of other files at the paths of the external links to them. A link stays a link if its file
/// is missing, may not be followed, or does not have the object, or if it is user-defined; [`Source::unfollowed_links`]
/// reports the reason. Links of the other files are followed as well.
///
/// Dimensions keep their names if the link leads to a group that contains them. References within another file to
/// objects at or below the target of its link have the paths in this source; references to other objects of that file
/// are external.
///
/// ```
/// use hyperslab::{Followed, Item, NodePath, OpenOptions, Source, open};
///
/// let source = open("tests/data/nexus/master.nxs".as_ref(), &OpenOptions::default())?;
/// let followed = Followed::new(source);
/// let entry = followed.find(&NodePath::new("/entry/first")?)?;
/// assert!(matches!(entry.item, Item::Array { .. }));
/// # Ok::<(), hyperslab::Error>(())
/// ```
pub struct Followed {
    base: Arc<dyn Source>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The other files, in the order in which they were opened.
    stores: Vec<Arc<dyn Source>>,
    by_identity: FxHashMap<PathBuf, usize>,
    objects: Vec<Mounted>,
    /// The positions of objects in that list, by file and identifier.
    places: FxHashMap<(usize, u64), usize>,
    /// The links found so far that lead nowhere.
    unfollowed: UnfollowedLinks,
}

/// An object of another file.
#[derive(Clone)]
struct Mounted {
    store: usize,
    handle: Handle,
    mount: Arc<Mount>,
}

/// The target of a link, and the path at which it appears.
struct Mount {
    file: String,
    inner: NodePath,
    outer: NodePath,
}

/// A file: the opened one, or another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Base,
    Other(usize),
}

impl Followed {
    /// Follows the external links of `base`.
    pub fn new(base: Arc<dyn Source>) -> Followed {
        Followed { base, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn store(&self, place: Place) -> Option<Arc<dyn Source>> {
        match place {
            Place::Base => Some(Arc::clone(&self.base)),
            Place::Other(number) => self.state().stores.get(number).cloned(),
        }
    }

    /// The object of another file to which a handle refers; `None` for objects of the opened file.
    fn mounted(&self, handle: &Handle) -> Option<(Arc<dyn Source>, Mounted)> {
        let number = usize::try_from(handle.id.checked_sub(FIRST)?).ok()?;
        let state = self.state();
        let mounted = state.objects.get(number)?.clone();
        Some((Arc::clone(state.stores.get(mounted.store)?), mounted))
    }

    /// The file that a link of the file at `place` names.
    fn open(&self, place: Place, (file, path): (&str, &str)) -> Result<Place> {
        let opened = match self.store(place) {
            Some(from) => from.open_named(file)?,
            None => None,
        };
        let missing = || Error::not_found(format!("leads to {path} of {file}, a file that does not exist"));
        let opened = opened.ok_or_else(missing)?;
        let identity = opened.identity();
        if identity.is_some() && identity == self.base.identity() {
            return Ok(Place::Base);
        }
        let mut state = self.state();
        if let Some(known) = identity.as_ref().and_then(|identity| state.by_identity.get(identity)) {
            return Ok(Place::Other(*known));
        }
        let number = state.stores.len();
        if number >= MAX_STORES {
            let detail = format!("external links to more than {MAX_STORES} files");
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
        state.stores.push(opened);
        state.by_identity.extend(identity.map(|identity| (identity, number)));
        Ok(Place::Other(number))
    }

    /// The object that a link of the file at `place` to another file leads to, at the path `outer`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if it leads nowhere; if its file may not be followed or cannot be opened.
    fn target(
        &self,
        place: Place,
        (file, path): (&str, &str),
        outer: &NodePath,
        depth: usize,
    ) -> Result<Entry> {
        if depth >= MAX_LINKS {
            let detail = format!("is in a cycle of external links, or in a chain of more than {MAX_LINKS}");
            return Err(Error::new(ErrorKind::LimitExceeded, detail));
        }
        let there = self.open(place, (file, path))?;
        let missing = || Error::not_found(format!("leads to {path} of {file}, which has no such object"));
        let store = self.store(there).ok_or_else(missing)?;
        let inner = NodePath::new(&format!("/{}", path.trim_start_matches('/')))?;
        let entry = store.find(&inner).map_err(|error| match error.kind() {
            ErrorKind::NotFound => missing(),
            _ => error,
        })?;
        let mount = Mount { file: file.to_owned(), inner, outer: outer.clone() };
        self.adopt(there, entry, outer.clone(), &Arc::new(mount), depth)
    }

    /// An entry of the file at `place`, as an object at the path `outer`.
    ///
    /// # Errors
    /// If it is a link that leads nowhere.
    fn adopt(
        &self,
        place: Place,
        entry: Entry,
        outer: NodePath,
        mount: &Arc<Mount>,
        depth: usize,
    ) -> Result<Entry> {
        let store = self.store(place).ok_or_else(|| Error::not_found("leads to no open file"))?;
        let Entry { handle, item } = match &entry.item {
            Item::Link(Link::External { file, path }) => {
                return self.target(place, (file, path), &outer, depth + 1);
            }
            Item::Link(_) => follow(&*store, entry)?,
            _ => entry,
        };
        let Place::Other(number) = place else {
            return Ok(Entry { handle: Handle { path: outer, ..handle }, item });
        };
        let item = match item {
            Item::Array { kind, datatype, shape, stored } => {
                let datatype = datatype.map(|datatype| unnamed(&datatype));
                Item::Array { kind, datatype, shape: mount.shape(shape), stored }
            }
            item => item,
        };
        let mut state = self.state();
        let next = state.objects.len();
        let at = *state.places.entry((number, handle.id)).or_insert(next);
        if at == next {
            state.objects.push(Mounted { store: number, handle, mount: Arc::clone(mount) });
        }
        let id = FIRST.saturating_add(at as u64);
        Ok(Entry { handle: Handle { path: outer, id }, item })
    }

    /// The entry, or its target if it is an external link that can be followed.
    fn followed(&self, entry: Entry) -> Entry {
        let path = &entry.handle.path;
        let found = match &entry.item {
            Item::Link(Link::External { file, path: there }) => {
                self.target(Place::Base, (file, there), path, 0)
            }
            Item::Link(Link::User { class, .. }) => Err(user_defined(*class)),
            _ => return entry,
        };
        match found {
            Ok(found) => found,
            Err(error) => {
                self.state().unfollowed.add(path, error);
                entry
            }
        }
    }

    /// The object at a path that leads through external links.
    fn through(&self, path: &NodePath) -> Result<Option<Entry>> {
        let above: Vec<_> = std::iter::successors(path.parent(), NodePath::parent).collect();
        let Some(link) = above.iter().find_map(|path| {
            let entry = self.base.find(path).ok()?;
            matches!(entry.item, Item::Link(Link::External { .. })).then_some(entry)
        }) else {
            return Ok(None);
        };
        let Item::Link(Link::External { file, path: there }) = &link.item else { return Ok(None) };
        let target = self.target(Place::Base, (file, there), &link.handle.path, 0);
        let mut at = Some(target.map_err(|error| error.in_object(&link.handle.path))?);
        for name in path.relative_to(&link.handle.path).unwrap_or_default().split('/') {
            let Some(group) = at.filter(|entry| matches!(entry.item, Item::Group)) else { return Ok(None) };
            let members = self.members(&group.handle)?;
            at = members.into_iter().find(|member| member.handle.path.name() == name);
        }
        Ok(at)
    }
}

impl SourceView for Followed {
    fn viewed(&self) -> &dyn Source {
        &*self.base
    }

    fn entry_at(&self, path: &NodePath) -> Result<Entry> {
        match self.base.find(path) {
            Ok(entry) => Ok(self.followed(entry)),
            Err(error) if error.kind() == ErrorKind::NotFound => self.through(path)?.ok_or(error),
            Err(error) => Err(error),
        }
    }

    fn entries_in(&self, group: &Handle) -> Result<Vec<Entry>> {
        let Some((store, Mounted { store: number, handle, mount })) = self.mounted(group) else {
            let members = self.base.members(group)?;
            return Ok(members.into_iter().map(|entry| self.followed(entry)).collect());
        };
        let members = store.members(&handle)?.into_iter().map(|entry| {
            let outer = group.path.child(entry.handle.path.name());
            let link = entry.clone();
            let found = match &entry.item {
                Item::Link(Link::User { class, .. }) => Err(user_defined(*class)),
                _ => self.adopt(Place::Other(number), entry, outer.clone(), &mount, 0),
            };
            found.unwrap_or_else(|error| {
                self.state().unfollowed.add(&outer, error);
                Entry { handle: Handle { path: outer, id: u64::MAX }, item: link.item }
            })
        });
        Ok(members.collect())
    }

    fn node_of(&self, object: &Handle) -> Result<Node> {
        let Some((store, Mounted { handle, mount, .. })) = self.mounted(object) else {
            return self.base.load(object);
        };
        Ok(mount.node(store.load(&handle)?))
    }

    fn elements_of(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let Some((store, Mounted { handle, mount, .. })) = self.mounted(object) else {
            return self.base.array(object);
        };
        let array = store.array(&handle)?;
        Ok(match array.datatype().any(&is_reference) {
            true => Arc::new(Referring { array, mount }),
            false => array,
        })
    }

    fn cells_of(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        if self.mounted(group).is_some() { Ok(None) } else { self.base.cells(group) }
    }

    fn declared_in(&self, group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        let Some((store, Mounted { handle, .. })) = self.mounted(group) else {
            return self.base.declared(group, members);
        };
        let inner = |entry: &Entry| match self.mounted(&entry.handle) {
            Some((_, Mounted { handle: Handle { id, .. }, .. })) => {
                Entry { handle: Handle { id, ..entry.handle.clone() }, ..entry.clone() }
            }
            None => entry.clone(),
        };
        store.declared(&handle, &members.iter().map(inner).collect::<Vec<_>>())
    }

    fn attribute_order_of(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        match self.mounted(object) {
            Some((store, Mounted { handle, .. })) => store.stored_order_of_attributes(&handle),
            None => self.base.stored_order_of_attributes(object),
        }
    }

    fn unshown_elements_of(&self, object: &Handle) -> Result<bool> {
        match self.mounted(object) {
            Some((store, Mounted { handle, .. })) => store.has_unshown_elements(&handle),
            None => self.base.has_unshown_elements(object),
        }
    }

    fn links_left(&self) -> UnfollowedLinks {
        self.state().unfollowed.clone()
    }

    fn noted_twice(&self, object: &Handle) {
        if self.mounted(object).is_none() {
            self.base.met_twice(object);
        }
    }
}

impl Mount {
    /// The path at which an object of the other file appears. `None` if it is not at or below the target of the link.
    fn path(&self, path: &NodePath) -> Option<NodePath> {
        let below = path.relative_to(&self.inner)?;
        Some(
            below
                .split('/')
                .filter(|name| !name.is_empty())
                .fold(self.outer.clone(), |at, name| at.child(name)),
        )
    }

    fn shape(&self, mut shape: Shape) -> Shape {
        if let Shape::Dims(dims) = &mut shape {
            for dimension in dims {
                dimension.coordinate = dimension.coordinate.as_ref().and_then(|path| self.path(path));
            }
        }
        shape
    }

    fn node(&self, mut node: Node) -> Node {
        match &mut node {
            Node::Ndarray(array) => {
                array.shape = self.shape(std::mem::replace(&mut array.shape, Shape::Null));
                array.datatype = array.datatype.as_ref().map(unnamed);
            }
            Node::DimCoord(dimcoord) => dimcoord.datatype = dimcoord.datatype.as_ref().map(unnamed),
            _ => {}
        }
        if let Some(attributes) = attributes_mut(&mut node) {
            for attribute in attributes.values_mut().filter_map(|attribute| attribute.as_mut().ok()) {
                attribute.datatype = unnamed(&attribute.datatype);
                for reference in &mut attribute.value.heap.references {
                    *reference = self.reference(reference);
                }
            }
        }
        node
    }

    fn reference(&self, reference: &Reference) -> Reference {
        let mut part = ReferencedPart::Object;
        let own = match reference {
            Reference::Object(path) => self.path(path).map(Reference::Object),
            Reference::Region(path, selection) => {
                part = ReferencedPart::Region(Arc::clone(selection));
                self.path(path).map(|path| Reference::Region(path, Arc::clone(selection)))
            }
            Reference::Attribute(path, name) => {
                part = ReferencedPart::Attribute(name.clone());
                self.path(path).map(|path| Reference::Attribute(path, name.clone()))
            }
            Reference::Null => Some(Reference::Null),
            Reference::Dangling(_) | Reference::External { .. } => None,
        };
        own.unwrap_or_else(|| Reference::External { file: self.file.clone(), address: u64::MAX, part })
    }
}

/// An array of another file whose elements refer to objects.
struct Referring {
    array: Arc<dyn ArraySource>,
    mount: Arc<Mount>,
}

impl ArrayView for Referring {
    fn viewed(&self) -> &dyn ArraySource {
        &*self.array
    }

    fn is_in_place(&self) -> bool {
        true
    }

    fn read_shown(
        &self,
        region: &Region,
        rows: &mut Planes<'_>,
        heap: &mut Heap<Reference>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let before = heap.references.len();
        self.array.read_part(region, rows, heap, scratch)?;
        for reference in heap.references.iter_mut().skip(before) {
            *reference = self.mount.reference(reference);
        }
        Ok(())
    }

    fn shown_fill(&self) -> Result<Option<Values>> {
        let mut fill = self.array.fill()?;
        for reference in fill.iter_mut().flat_map(|fill| &mut fill.heap.references) {
            *reference = self.mount.reference(reference);
        }
        Ok(fill)
    }
}

fn user_defined(class: u8) -> Error {
    Error::unsupported(format!("a user-defined link of class {class}, which only its own program can follow"))
}

fn attributes_mut(node: &mut Node) -> Option<&mut Attributes> {
    match node {
        Node::Group(group) => Some(&mut group.attributes),
        Node::Ndarray(array) => Some(&mut array.attributes),
        Node::DimCoord(dimcoord) => Some(&mut dimcoord.attributes),
        Node::Datatype(named) => Some(&mut named.attributes),
        Node::Unreadable(unreadable) => Some(&mut unreadable.attributes),
        Node::Link(_) => None,
    }
}

/// The datatype without its name, which names an object of another file.
fn unnamed(datatype: &Arc<Datatype>) -> Arc<Datatype> {
    match &**datatype {
        Datatype::Named(_, of) => Arc::clone(of),
        _ => Arc::clone(datatype),
    }
}

fn is_reference(datatype: &Datatype) -> bool {
    matches!(datatype, Datatype::ObjRef | Datatype::RegRef | Datatype::Reference)
}

/// Identifiers of objects of other files begin here, above the addresses of any file.
const FIRST: u64 = 1 << 63;

/// The maximum number of other files, each of which stays open.
const MAX_STORES: usize = 500;
