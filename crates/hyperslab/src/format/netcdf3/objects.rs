//! Dimensions and variables as objects with paths. A one-dimensional variable with the name of its dimension holds the
//! coordinates of that dimension.

use super::datatype;
use crate::format::netcdf::record::{ATTRIBUTE, Names, Record, restore_keys};
use crate::strings::member_name;
use hyperslab_model::{Attributes, NodePath};
use hyperslab_netcdf3::{Attribute, DataType, File, Header};
use rustc_hash::{FxHashMap, FxHashSet};

/// An object, identified by its indices in the lists of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// A dimension without coordinates.
    Dimension(usize),
    /// A dimension and the variable that holds its coordinates.
    Coordinates { dimension: usize, variable: usize },
    /// A variable.
    Variable(usize),
}

impl Object {
    pub(super) fn dimension(self) -> Option<usize> {
        match self {
            Object::Dimension(dimension) | Object::Coordinates { dimension, .. } => Some(dimension),
            Object::Variable(_) => None,
        }
    }

    pub(super) fn variable(self) -> Option<usize> {
        match self {
            Object::Variable(variable) | Object::Coordinates { variable, .. } => Some(variable),
            Object::Dimension(_) => None,
        }
    }

    /// A number that is unique in the file.
    pub(super) fn id(self) -> u64 {
        let (number, is_dimension) = match (self.dimension(), self.variable()) {
            (Some(dimension), _) => (dimension, 1),
            (None, variable) => (variable.unwrap_or_default(), 0),
        };
        (number as u64) << 1 | is_dimension
    }
}

/// All objects: dimensions first, then the other variables, both in the order of the header.
pub(super) struct Objects {
    list: Vec<(NodePath, Object)>,
    places: FxHashMap<NodePath, usize>,
    /// The path of each dimension; `None` if its name is taken.
    dimensions: Vec<Option<NodePath>>,
    /// The dimension that shares its name with a variable that is not its coordinates, by the number of the variable.
    beside: FxHashMap<usize, usize>,
    /// Whether records are interpreted rather than shown.
    has_records: bool,
    /// The names that dimensions and variables have in the source, where they differ.
    originals: Names,
    pub(super) warnings: Vec<String>,
}

impl Objects {
    /// The objects of a file, with the names of the source if `has_records` is set and the file keeps them.
    pub(super) fn of(file: &File, has_records: bool) -> Objects {
        let header = file.header();
        let record = record_in(&header.attributes).filter(|_| has_records);
        let mut originals = record.unwrap_or_default().members;
        let names = header.dimensions.iter().map(|of| &of.name);
        let names = names.chain(header.variables.iter().map(|of| &of.name));
        if !originals.is_empty() {
            let taken: FxHashSet<String> = names.map(|name| text(name)).collect();
            originals.retain(|_, original| !taken.contains(original));
        }
        let mut objects = Objects {
            list: Vec::new(),
            places: FxHashMap::default(),
            dimensions: Vec::new(),
            beside: FxHashMap::default(),
            has_records,
            originals,
            warnings: Vec::new(),
        };
        let count = header.dimensions.len().saturating_add(header.variables.len());
        objects.list.reserve(count);
        objects.places.reserve(count);
        // The first variable with the name of each dimension; files have few dimensions.
        let names = header.dimensions.iter().map(|dimension| (until_nul(&dimension.name), None));
        let mut by_name: FxHashMap<&[u8], Option<usize>> = names.collect();
        for (number, variable) in header.variables.iter().enumerate() {
            if let Some(first) = by_name.get_mut(until_nul(&variable.name)) {
                first.get_or_insert(number);
            }
        }
        let mut coordinates = FxHashSet::default();
        for (dimension, found) in header.dimensions.iter().enumerate() {
            let object = match by_name.get(until_nul(&found.name)).and_then(Option::as_ref) {
                None => Object::Dimension(dimension),
                Some(variable) if is_along(header, *variable, dimension) && coordinates.insert(*variable) => {
                    Object::Coordinates { dimension, variable: *variable }
                }
                Some(variable) => {
                    let path = objects.path(&found.name);
                    let is_first = !coordinates.contains(variable) && !objects.beside.contains_key(variable);
                    if is_first {
                        objects.beside.insert(*variable, dimension);
                    } else {
                        objects.warn_of_second("dimension", &path);
                    }
                    objects.dimensions.push(is_first.then_some(path));
                    continue;
                }
            };
            let path = objects.add(&found.name, "dimension", object);
            objects.dimensions.push(path);
        }
        for (number, variable) in header.variables.iter().enumerate() {
            if !coordinates.contains(&number) {
                objects.add(&variable.name, "variable", Object::Variable(number));
            }
        }
        objects.warn_of_attributes(header);
        objects
    }

    /// Adds an object. Returns `None` if its name is taken.
    fn add(&mut self, name: &[u8], kind: &str, object: Object) -> Option<NodePath> {
        let path = self.path(name);
        if self.places.contains_key(&path) {
            self.warn_of_second(kind, &path);
            return None;
        }
        self.places.insert(path.clone(), self.list.len());
        self.list.push((path.clone(), object));
        Some(path)
    }

    /// The path of a dimension or variable.
    fn path(&self, name: &[u8]) -> NodePath {
        let name = text(name);
        NodePath::root().child(self.originals.get(&name).unwrap_or(&name))
    }

    /// The attributes of the file or of a variable.
    pub(super) fn attributes(&self, stored: &[Attribute]) -> Attributes {
        let mut attributes = datatype::attributes(stored);
        if self.has_records
            && let Some(record) = record_in(stored)
        {
            attributes.shift_remove(ATTRIBUTE);
            restore_keys(&record.attributes, &mut attributes);
        }
        attributes
    }

    fn warn_of_second(&mut self, kind: &str, path: &NodePath) {
        self.warnings.push(format!("a second {kind} of the name {:?} is not shown", path.name()));
    }

    fn warn_of_attributes(&mut self, header: &Header) {
        let of_variables = header.variables.iter().map(|of| (Some(&of.name), &of.attributes));
        for (owner, attributes) in std::iter::once((None, &header.attributes)).chain(of_variables) {
            if attributes.len() < 2 {
                continue;
            }
            let mut known = FxHashSet::default();
            for attribute in attributes.iter().filter(|attribute| !known.insert(text(&attribute.name))) {
                let owner = owner.map_or_else(NodePath::root, |name| self.path(name));
                let name = text(&attribute.name);
                self.warnings.push(format!("a second attribute {owner}@{name} is not shown"));
            }
        }
    }

    pub(super) fn find(&self, path: &NodePath) -> Option<Object> {
        self.places.get(path).and_then(|place| self.list.get(*place)).map(|(_, object)| *object)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&NodePath, Object)> {
        self.list.iter().map(|(path, object)| (path, *object))
    }

    /// The dimension that shares its name with a variable that is not its coordinates.
    pub(super) fn beside(&self, variable: usize) -> Option<usize> {
        self.beside.get(&variable).copied()
    }

    /// The path of a dimension.
    pub(super) fn dimension(&self, dimension: usize) -> Option<&NodePath> {
        self.dimensions.get(dimension)?.as_ref()
    }
}

/// The record among attributes.
fn record_in(attributes: &[Attribute]) -> Option<Record> {
    let own = attributes.iter().find(|own| own.name == ATTRIBUTE.as_bytes());
    own.filter(|own| own.data_type == DataType::Char).and_then(|own| Record::parse(&own.values))
}

/// Whether `dimension` is the only dimension of a variable.
fn is_along(header: &Header, variable: usize, dimension: usize) -> bool {
    header.variables.get(variable).is_some_and(|variable| variable.dimensions == [dimension as u64])
}

/// A name as displayed. Slashes, which occur in old files, are displayed like bytes that are not UTF-8.
pub(super) fn text(name: &[u8]) -> String {
    let name = until_nul(name);
    if let Ok(plain) = str::from_utf8(name)
        && !plain.is_empty()
        && !plain.contains(['/', char::REPLACEMENT_CHARACTER])
    {
        return plain.to_owned();
    }
    let text = member_name(name);
    if text.is_empty() { char::REPLACEMENT_CHARACTER.into() } else { text }
}

/// A name up to its first NUL. Old versions of the NetCDF library padded renamed objects with NUL bytes.
fn until_nul(name: &[u8]) -> &[u8] {
    name.split(|byte| *byte == 0).next().unwrap_or_default()
}
