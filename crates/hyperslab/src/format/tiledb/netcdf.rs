//! Groups of arrays in their NetCDF form: variables, shared dimensions, and attributes.
//!
//! TileDB-CF stores the variables of a NetCDF group as attributes of arrays: all variables with the same dimensions in
//! one array, or each in its own array. This view shows them as variables again. Everything else is shown as without
//! the view: arrays written by this library, sparse arrays, links, and groups.
//!
//! Spec: TileDB-CF Dataspace Specification 0.1.0 to 0.3.0

mod dimensions;
mod space;
mod variable;

use super::array::Coordinates;
use super::objects::{Found, Object};
use super::source::TileDbSource;
use crate::source::{
    ArraySource, ByGroup, Entry, Handle, Item, LeftBehind, Source, SourceView, Stored, Unshown,
};
use dimensions::Own;
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Dimension, Group, Node, NodeKind, NodePath, Shape};
use rustc_hash::FxHashSet;
use space::{Shown, Space};
use std::sync::Arc;

/// A store whose groups are shown in their NetCDF form.
pub(super) struct NetcdfView {
    source: TileDbSource,
    /// Whether the metadata of a group may be stored in a separate array.
    has_group_array: bool,
    spaces: ByGroup<Option<Arc<Space>>>,
}

impl NetcdfView {
    pub(super) fn new(source: TileDbSource, has_group_array: bool) -> NetcdfView {
        NetcdfView { source, has_group_array, spaces: ByGroup::default() }
    }

    /// The group at a path; `None` for objects that are shown as without this view.
    fn space(&self, path: &NodePath) -> Result<Option<Arc<Space>>> {
        self.spaces.get(path, || self.find_space(path))
    }

    fn find_space(&self, path: &NodePath) -> Result<Option<Arc<Space>>> {
        let parent = match path.parent().filter(|_| !path.is_root()) {
            Some(parent) => match self.space(&parent)? {
                // Arrays whose attributes are variables are not groups in this view.
                Some(space) => match space.objects.get(path.name()) {
                    Some(Shown::Same) => Some(space),
                    _ => return Err(missing(path)),
                },
                None => return Ok(None),
            },
            None => None,
        };
        let objects = &self.source.objects;
        let found = match objects.find(path)? {
            Found::Object(key) => {
                let is_shown = match &*objects.open(&key)? {
                    Object::Group(_) => true,
                    Object::Array(array) => array.is_plain() && key == Key::root(),
                };
                let around = parent.as_deref();
                is_shown
                    .then(|| Space::of(&self.source, path, &key, around, self.has_group_array))
                    .transpose()?
            }
            Found::Field(..) | Found::Collected(..) | Found::Outside(_) | Found::Recorded(_) => None,
        };
        Ok(found.map(Arc::new))
    }

    /// The object at a path and the group that contains it; `None` for an object that is shown as without this view.
    fn own(&self, path: &NodePath) -> Result<Option<(Arc<Space>, usize)>> {
        let Some(parent) = path.parent().filter(|_| !path.is_root()) else { return Ok(None) };
        let Some(space) = self.space(&parent)? else { return Ok(None) };
        let (place, _, shown) = space.objects.get_full(path.name()).ok_or_else(|| missing(path))?;
        Ok((!matches!(shown, Shown::Same)).then_some((space, place)))
    }

    /// An object that this view shows.
    fn entry_of(&self, path: NodePath, space: &Space, shown: &Shown) -> Result<Entry> {
        let (id, item) = match shown {
            Shown::Same => return self.source.find(&path),
            Shown::Dimension(place) => {
                let own = space.dimension(*place)?;
                let shape = Shape::Dims(vec![Dimension { extent: own.extent, coordinate: None }]);
                let datatype = own.coordinates()?.map(|node| node.datatype).unwrap_or_default();
                let item =
                    Item::Array { kind: NodeKind::DimCoord, datatype, shape, stored: Stored::Bytes(0) };
                (u64::MAX, item)
            }
            Shown::Variable(variable) => {
                let node = variable.ndarray(space, Default::default())?;
                let kind = if variable.is_coordinates() { NodeKind::DimCoord } else { NodeKind::Ndarray };
                let stored = Stored::Chunks(Arc::new((*node.storage).clone()));
                let item = Item::Array { kind, datatype: node.datatype, shape: node.shape, stored };
                (variable.id, item)
            }
        };
        Ok(Entry { handle: Handle { path, id }, item })
    }

    /// The entry, or an unreadable one.
    fn listed(&self, path: NodePath, space: &Space, shown: &Shown) -> Entry {
        self.entry_of(path.clone(), space, shown).unwrap_or_else(|error| {
            let why = hyperslab_model::Unreadable::new(Some(NodeKind::Ndarray), &error);
            Entry { handle: Handle { path, id: u64::MAX }, item: Item::Unreadable(why) }
        })
    }
}

impl SourceView for NetcdfView {
    fn viewed(&self) -> &dyn Source {
        &self.source
    }

    fn entry_at(&self, path: &NodePath) -> Result<Entry> {
        match self.own(path)? {
            Some((space, place)) => match space.objects.get_index(place) {
                Some((_, shown)) => Ok(self.listed(path.clone(), &space, shown)),
                None => Err(missing(path)),
            },
            None => self.source.find(path),
        }
    }

    fn entries_in(&self, group: &Handle) -> Result<Vec<Entry>> {
        let Some(space) = self.space(&group.path)? else { return self.source.members(group) };
        let listed = space.objects.iter().map(|(name, shown)| {
            let path = group.path.child(name);
            match shown {
                Shown::Same => self.source.find(&path),
                shown => Ok(self.listed(path, &space, shown)),
            }
        });
        listed.collect()
    }

    fn node_of(&self, object: &Handle) -> Result<Node> {
        let path = &object.path;
        let Some((space, place)) = self.own(path)? else {
            return match self.space(path)? {
                Some(space) => {
                    let attributes = space.attributes.clone();
                    let storage = match self.source.load(object)? {
                        // The directives of an array describe the TileDB array, which is not shown.
                        Node::Group(group) if !space.is_array => group.storage,
                        _ => Default::default(),
                    };
                    Ok(Node::Group(Group { attributes, storage, ..Group::default() }))
                }
                None => self.source.load(object),
            };
        };
        let node = match space.objects.get_index(place) {
            Some((_, Shown::Variable(variable))) => variable.node(&space),
            Some((_, Shown::Dimension(place))) => space.dimension(*place).and_then(Own::node),
            _ => Err(missing(path)),
        };
        node.map_err(|error: Error| error.in_object(path))
    }

    fn elements_of(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let path = &object.path;
        let Some((space, place)) = self.own(path)? else { return self.source.array(object) };
        let pool = self.source.pool().clone();
        let array = || -> Result<Arc<dyn ArraySource>> {
            match space.objects.get_index(place) {
                Some((_, Shown::Variable(variable))) => variable.elements(&space, pool),
                Some((_, Shown::Dimension(place))) => {
                    let Some((array, position)) = space.dimension(*place)?.counted()? else {
                        return Err(Error::invalid("a dimension without coordinates"));
                    };
                    Ok(Arc::new(Coordinates::open(array, position, pool)?))
                }
                _ => Err(missing(path)),
            }
        };
        array().map_err(|error| error.in_object(path))
    }

    fn left_behind_of(&self, object: &Handle) -> Result<Vec<LeftBehind>> {
        let Some((space, place)) = self.own(&object.path)? else { return self.source.left_behind(object) };
        match space.objects.get_index(place) {
            Some((_, Shown::Variable(variable))) => variable.left_behind(),
            _ => Ok(Vec::new()),
        }
    }

    fn left_unshown(&self) -> Vec<Unshown> {
        let (mut unshown, mut left) = (self.source.unshown(), vec![NodePath::root()]);
        // A group may contain itself through another path.
        let mut known = FxHashSet::default();
        while let Some(path) = left.pop() {
            // A group that cannot be read is reported where it is listed.
            let Ok(Some(space)) = self.space(&path) else { continue };
            if !known.insert(space.key.clone()) {
                continue;
            }
            unshown.extend(space.unshown.iter().cloned());
            let same = space.objects.iter().filter(|(_, shown)| matches!(shown, Shown::Same));
            left.extend(same.map(|(name, _)| path.child(name)));
        }
        unshown
    }
}

fn missing(path: &NodePath) -> Error {
    Error::not_found(format!("no object {path}"))
}
