//! A store as the NetCDF library lists it: groups with their types, dimensions and variables, in which every dimension
//! of a variable has a name.

use super::types::{Type, Types};
use crate::formats::array_name;
use crate::links;
use crate::source::{Declared, Entry, Handle, Item, Source};
use crate::walk::MetGroups;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Dimension, Extent, Link, Node, NodeKind, NodePath, Shape};
use rustc_hash::FxHashMap;

/// All objects of a store.
#[derive(Default)]
pub(super) struct Library {
    /// All groups. The first one is the root.
    pub(super) groups: Vec<Group>,
    pub(super) dimensions: Vec<NamedDimension>,
    pub(super) types: Types,
    /// Errors of objects that cannot be read.
    pub(super) errors: Vec<Error>,
    pub(super) objects: u64,
    /// Whether the root is an array, so that its attributes are not those of a group.
    pub(super) is_single_array: bool,
    /// The dimensions of the store by their paths.
    by_path: FxHashMap<NodePath, usize>,
    next_id: u64,
}

pub(super) struct Group {
    pub(super) handle: Handle,
    pub(super) name: String,
    pub(super) parent: Option<usize>,
    pub(super) groups: Vec<usize>,
    pub(super) types: Vec<usize>,
    /// In the order of their identifiers.
    pub(super) dimensions: Vec<usize>,
    pub(super) variables: Vec<Variable>,
    /// What CDL cannot express about the members.
    pub(super) left_out: Vec<String>,
}

pub(super) struct NamedDimension {
    pub(super) name: String,
    pub(super) group: usize,
    id: u64,
    pub(super) len: u64,
    pub(super) is_unlimited: bool,
}

pub(super) struct Variable {
    pub(super) handle: Handle,
    pub(super) name: String,
    pub(super) of: Type,
    /// The numbers of its dimensions.
    pub(super) dimensions: Vec<usize>,
    /// Its own dimensions, until they are given names.
    shape: Vec<Dimension>,
    /// Whether it is the coordinates of its only dimension.
    is_coordinates: bool,
}

impl Library {
    /// Lists all objects of a store, whose name is `location`.
    pub(super) fn of(source: &dyn Source, location: &str) -> Result<Library> {
        let mut library = Library::default();
        let root = source.find(&NodePath::root())?;
        match root.item {
            Item::Group => library.read_groups(source, root.handle)?,
            // The store is a single array.
            _ => {
                library.add_group(root.handle.clone(), String::new(), None);
                library.is_single_array = true;
                library.read_member(
                    source,
                    0,
                    (root, array_name(location.rsplit('/').next().unwrap_or(location))),
                    None,
                )?;
            }
        }
        library.name_dimensions();
        library.measure_unlimited();
        let Library { groups, dimensions, .. } = &mut library;
        for group in groups {
            group.dimensions.sort_by_key(|number| dimensions.get(*number).map(|dimension| dimension.id));
        }
        Ok(library)
    }

    fn add_group(&mut self, handle: Handle, name: String, parent: Option<usize>) -> usize {
        self.objects += 1;
        let number = self.groups.len();
        self.groups.push(Group {
            handle,
            name,
            parent,
            groups: Vec::new(),
            types: Vec::new(),
            dimensions: Vec::new(),
            variables: Vec::new(),
            left_out: Vec::new(),
        });
        if let Some(parent) = parent.and_then(|parent| self.groups.get_mut(parent)) {
            parent.groups.push(number);
        }
        number
    }

    /// Reads the members of a group, then its groups in the same way: dimensions and types are numbered in this order.
    fn read_groups(&mut self, source: &dyn Source, root: Handle) -> Result<()> {
        let mut met = MetGroups::beginning_with(&root);
        let mut links = 0_u64;
        let mut pending = vec![(root, String::new(), None)];
        while let Some((handle, name, parent)) = pending.pop() {
            source.pool().check()?;
            let number = self.add_group(handle.clone(), name, parent);
            let members = match source.members(&handle) {
                Ok(members) => members,
                Err(error) => {
                    self.fail(number, error.in_object(&handle.path));
                    continue;
                }
            };
            if source.cells(&handle)?.is_some() {
                self.leave_out(
                    number,
                    "the information that the arrays of this group are cells of a sparse array".to_owned(),
                );
            }
            let declared = source.declared(&handle, &members)?;
            let mut members: Vec<(Declared, Entry)> = declared.into_iter().zip(members).collect();
            members.sort_by_key(|(declared, _)| declared.place);
            let mut groups = Vec::new();
            for (declared, mut entry) in members {
                met.note(source, &mut entry);
                let name = entry.handle.path.name().to_owned();
                if let Item::Link(Link::Hard(_) | Link::Soft(_)) = entry.item
                    && let Ok(target) = links::follow(source, entry.clone())
                    && matches!(target.item, Item::Group)
                    && !self.is_inside(number, &target.handle)
                    && links < MAX_LINKED_GROUPS
                {
                    links += 1;
                    entry = target;
                }
                match entry.item {
                    Item::Group => groups.push((entry.handle, name, Some(number))),
                    _ => self.read_member(source, number, (entry, &name), declared.dimension)?,
                }
            }
            pending.extend(groups.into_iter().rev());
        }
        Ok(())
    }

    /// Whether a group is the other one or inside it.
    fn is_inside(&self, group: usize, other: &Handle) -> bool {
        let mut at = self.groups.get(group);
        while let Some(group) = at {
            if group.handle.id == other.id {
                return true;
            }
            at = group.parent.and_then(|parent| self.groups.get(parent));
        }
        false
    }

    /// The path of a group, by the names under which it and the groups that contain it are shown.
    pub(super) fn path_of(&self, group: usize) -> String {
        let mut names = Vec::new();
        let mut at = self.groups.get(group);
        while let Some(group) = at.filter(|group| group.parent.is_some()) {
            names.push(group.name.as_str());
            at = group.parent.and_then(|parent| self.groups.get(parent));
        }
        names.reverse();
        format!("/{}", names.join("/"))
    }

    fn read_member(
        &mut self,
        source: &dyn Source,
        group: usize,
        (entry, name): (Entry, &str),
        id: Option<u64>,
    ) -> Result<()> {
        self.objects += 1;
        let name = name.to_owned();
        let (entry, name) = match entry.item {
            Item::Link(Link::Hard(_) | Link::Soft(_)) => match links::follow(source, entry.clone()) {
                Ok(target) if !matches!(target.item, Item::Group) => (target, name),
                Ok(target) => {
                    self.leave_out(group, format!("{name}, a link to the group {}", target.handle.path));
                    return Ok(());
                }
                Err(error) => {
                    self.leave_out(group, format!("{name}, a link: {error}"));
                    return Ok(());
                }
            },
            _ => (entry, name),
        };
        match &entry.item {
            Item::Group => {}
            Item::Datatype(datatype) => match self.types.declare(group, &name, datatype) {
                Ok(number) => self.group_mut(group, |group| group.types.push(number)),
                Err(why) => self.leave_out(group, format!("the type {name}: {why}")),
            },
            Item::Link(Link::External { file, path }) => {
                self.leave_out(group, format!("{name}, a link to {path} in {file}"));
            }
            Item::Link(_) => {
                self.leave_out(group, format!("{name}, a link that only another program follows"))
            }
            Item::Unreadable(unreadable) => {
                let error = Error::new(unreadable.kind, unreadable.reason.clone());
                self.fail(group, error.in_object(&entry.handle.path));
            }
            Item::Array { datatype, shape, .. } => {
                let node = source.load(&entry.handle).ok();
                let own = self.own_dimension(group, (&entry, node.as_ref()), &name, id);
                let Some(datatype) = datatype else { return Ok(()) };
                let is_coordinates = own.is_some() && matches!(entry.item.kind(), NodeKind::DimCoord);
                let dimensions = own.filter(|_| is_coordinates).into_iter().collect();
                if let Shape::Dims(dims) = shape
                    && dims.iter().any(|dimension| dimension.extent == Extent::Uncounted)
                {
                    self.leave_out(group, format!("{name}, a dimension without a length"));
                    return Ok(());
                }
                let storage = node.as_ref().and_then(Node::storage);
                let precision = storage.and_then(|storage| storage.element.precision);
                match self.types.of_variable(datatype, precision) {
                    Ok(of) => {
                        if let Some(loss) = of.loss(datatype) {
                            self.leave_out(group, format!("{name}: {loss}"));
                        }
                        let shape = shape.dims().to_vec();
                        let handle = entry.handle.clone();
                        let variable = Variable { handle, name, of, dimensions, shape, is_coordinates };
                        self.group_mut(group, |group| group.variables.push(variable));
                    }
                    Err(why) => self.leave_out(group, format!("{name}: {why}")),
                }
            }
        }
        Ok(())
    }

    /// The dimension that an array is, or that shares its name.
    fn own_dimension(
        &mut self,
        group: usize,
        (entry, node): (&Entry, Option<&Node>),
        name: &str,
        id: Option<u64>,
    ) -> Option<usize> {
        let Item::Array { kind, shape, .. } = &entry.item else { return None };
        let extent = match kind {
            NodeKind::DimCoord => shape.dims().first()?.extent,
            // Only the loaded object contains this information.
            _ => match node {
                Some(Node::Ndarray(ndarray)) => ndarray.dimension?,
                _ => return None,
            },
        };
        let number = self.add_dimension(group, name, extent, id);
        self.by_path.insert(entry.handle.path.clone(), number);
        Some(number)
    }

    fn add_dimension(&mut self, group: usize, name: &str, extent: Extent, id: Option<u64>) -> usize {
        let id = id.unwrap_or(self.next_id);
        self.next_id = self.next_id.max(id.saturating_add(1));
        let number = self.dimensions.len();
        // The library declares a dimension as unlimited by the length 0.
        let is_unlimited = matches!(extent, Extent::Unlimited { .. }) || extent.current() == 0;
        let len = extent.current();
        self.dimensions.push(NamedDimension { name: name.to_owned(), group, id, len, is_unlimited });
        self.group_mut(group, |group| group.dimensions.push(number));
        number
    }

    /// Gives each dimension of a variable its name. Unnamed dimensions are numbered; those of inner groups come before
    /// those of the groups that contain them.
    fn name_dimensions(&mut self) {
        let mut order = Vec::with_capacity(self.groups.len());
        let mut pending = vec![(0, 0)];
        while let Some((group, next)) = pending.pop() {
            match self.groups.get(group).and_then(|of| of.groups.get(next)) {
                Some(child) => pending.extend([(group, next + 1), (*child, 0)]),
                None => order.push(group),
            }
        }
        for group in order {
            let variables = self.groups.get_mut(group).map(|of| std::mem::take(&mut of.variables));
            let mut variables = variables.unwrap_or_default();
            for variable in &mut variables {
                if !variable.is_coordinates {
                    variable.dimensions = self.dimensions_of(group, &variable.shape);
                }
            }
            self.group_mut(group, |of| of.variables = variables);
        }
    }

    fn dimensions_of(&mut self, group: usize, shape: &[Dimension]) -> Vec<usize> {
        let mut found = Vec::with_capacity(shape.len());
        for dimension in shape {
            let named = dimension.coordinate.as_ref().and_then(|path| self.by_path.get(path)).copied();
            let number = named.unwrap_or_else(|| match self.unused(group, dimension.extent, &found) {
                Some(number) => number,
                None => {
                    self.add_dimension(group, &format!("phony_dim_{}", self.next_id), dimension.extent, None)
                }
            });
            found.push(number);
        }
        found
    }

    /// The first dimension of a group with this length that a variable does not have yet.
    fn unused(&self, group: usize, extent: Extent, used: &[usize]) -> Option<usize> {
        let is_unlimited = matches!(extent, Extent::Unlimited { .. });
        let fits = |number: &&usize| {
            let dimension = self.dimensions.get(**number);
            dimension.is_some_and(|of| of.len == extent.current() && of.is_unlimited == is_unlimited)
                && !used.contains(*number)
        };
        self.groups.get(group)?.dimensions.iter().find(fits).copied()
    }

    /// An unlimited dimension is as long as the longest variable along it.
    fn measure_unlimited(&mut self) {
        for variable in self.groups.iter().flat_map(|group| &group.variables) {
            for (number, own) in variable.dimensions.iter().zip(&variable.shape) {
                if let Some(dimension) = self.dimensions.get_mut(*number).filter(|of| of.is_unlimited) {
                    dimension.len = dimension.len.max(own.extent.current());
                }
            }
        }
    }

    fn group_mut(&mut self, number: usize, change: impl FnOnce(&mut Group)) {
        if let Some(group) = self.groups.get_mut(number) {
            change(group);
        }
    }

    fn leave_out(&mut self, group: usize, what: String) {
        self.group_mut(group, |group| group.left_out.push(what));
    }

    fn fail(&mut self, group: usize, error: Error) {
        self.leave_out(group, error.to_string());
        self.errors.push(error);
    }

    /// Whether the name of a dimension alone would refer to another dimension in a group.
    pub(super) fn hides(&self, group: usize, dimension: &NamedDimension) -> bool {
        let mut at = Some(group);
        while let Some(group) = at.and_then(|number| Some((number, self.groups.get(number)?))) {
            if group.0 == dimension.group {
                return false;
            }
            let mut names = group.1.dimensions.iter().filter_map(|number| self.dimensions.get(*number));
            if names.any(|other| other.name == dimension.name) {
                return true;
            }
            at = group.1.parent;
        }
        true
    }

    /// Whether a type of this name is declared in a group or in one that contains it.
    pub(super) fn sees_type(&self, group: usize, name: &str) -> bool {
        let mut at = self.groups.get(group);
        while let Some(group) = at {
            let mut names = group.types.iter().filter_map(|number| self.types.get(*number));
            if names.any(|of| of.name == name) {
                return true;
            }
            at = group.parent.and_then(|parent| self.groups.get(parent));
        }
        false
    }
}

/// The maximum number of links to groups that are followed: each shows a whole group once more.
const MAX_LINKED_GROUPS: u64 = 1000;
