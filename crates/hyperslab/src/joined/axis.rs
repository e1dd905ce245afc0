//! The dimension along which stores are joined.

use super::new_dimension::is_scalar;
use crate::digest;
use crate::location::nearest;
use crate::select::is_named;
use crate::source::{Asked, Entry, Item, Source};
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Dimension, Extent, Node, NodePath};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The dimension along which stores are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    /// A dimension with a name, at its path.
    Named(NodePath),
    /// The dimension at this position, counted from 0, of each array that has no name for it, such as a dataset of HDF5
    /// without scales.
    Position(usize),
}

impl Axis {
    /// The path of the dimension; `None` if it has no name.
    pub fn path(&self) -> Option<&NodePath> {
        match self {
            Axis::Named(path) => Some(path),
            Axis::Position(_) => None,
        }
    }

    /// Whether an object is the dimension itself.
    pub(super) fn is_at(&self, path: &NodePath) -> bool {
        self.path() == Some(path)
    }

    /// The numbers of those dimensions of an array that are this one.
    pub(super) fn positions<'a>(&'a self, dims: &'a [Dimension]) -> impl Iterator<Item = usize> + 'a {
        let is_this = move |(at, dimension): &(usize, &Dimension)| match self {
            Axis::Named(path) => dimension.coordinate.as_ref() == Some(path),
            Axis::Position(position) => at == position && dimension.coordinate.is_none(),
        };
        dims.iter().enumerate().filter(is_this).map(|(at, _)| at)
    }
}

/// As messages name it: `time`, or `dimension 0`.
impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Axis::Named(path) => f.write_str(path.name()),
            Axis::Position(position) => write!(f, "dimension {position}"),
        }
    }
}

/// A store with its objects.
pub(super) type Listed<'a> = (&'a dyn Source, &'a [Entry]);

/// The dimension called `name`, or at that position in arrays whose dimensions have no names. Without a name: the only
/// unlimited one, or else the only one whose length or coordinates differ in the second store.
///
/// # Errors
/// If there is none, or several.
pub(super) fn find(first: Listed<'_>, second: Option<Listed<'_>>, name: Option<&str>) -> Result<Axis> {
    let dimensions = dimensions(first.1);
    if let Some(position) = name.and_then(|name| name.parse().ok())
        && !dimensions.keys().any(|path| Some(path.name()) == name)
    {
        return at_position(first.1, position);
    }
    let scalar =
        |name: &str| first.1.iter().any(|entry| is_named(&entry.handle.path, name) && is_scalar(entry));
    if dimensions.is_empty() && !name.is_some_and(scalar) {
        let text = "no dimension has a name, so it is not clear along which one the stores are joined";
        let remedy = match at_position(first.1, 0) {
            Ok(_) => Remedy::JoinAlong(vec!["0".to_owned()]),
            Err(_) => Remedy::JoinAsSteps("NAME".to_owned()),
        };
        return Err(Error::invalid(text).with_remedy(remedy));
    }
    let names = |of: &[&NodePath]| of.iter().map(|path| path.name().to_owned()).collect::<Vec<_>>();
    let all: Vec<&NodePath> = dimensions.keys().collect();
    if let Some(name) = name {
        let found: Vec<&NodePath> = all.iter().filter(|path| is_named(path, name)).copied().collect();
        return match found.as_slice() {
            [only] => Ok(Axis::Named((*only).clone())),
            [] => {
                let known = names(&all);
                if scalar(name) {
                    let text =
                        format!("{name} is a variable without dimensions, and no dimension of the stores");
                    return Err(Error::not_found(text).with_remedy(Remedy::JoinAsSteps(name.to_owned())));
                }
                let near = nearest(name, known.iter().map(String::as_str));
                let remedy = match near {
                    Some(near) => Remedy::JoinAlong(vec![near.to_owned()]),
                    None => Remedy::JoinAsSteps(name.to_owned()),
                };
                let text = format!("no dimension {name}; dimensions: {}", known.join(", "));
                Err(Error::not_found(text).with_remedy(remedy))
            }
            several => {
                let paths: Vec<String> = several.iter().map(ToString::to_string).collect();
                let text = format!("several dimensions are called {name}: {}", paths.join(", "));
                Err(among_several(Error::invalid(text), several))
            }
        };
    }
    let unlimited = dimensions.iter().filter(|(_, extent)| matches!(extent, Extent::Unlimited { .. }));
    let unlimited: Vec<&NodePath> = unlimited.map(|(path, _)| path).collect();
    if let [only] = unlimited.as_slice() {
        return Ok(Axis::Named((*only).clone()));
    }
    let among = if unlimited.is_empty() { all } else { unlimited };
    let mut differing = Vec::new();
    if let Some(second) = second {
        for path in &among {
            if differs(first, second, path)? {
                differing.push(*path);
            }
        }
    }
    match differing.as_slice() {
        [only] => Ok(Axis::Named((*only).clone())),
        several => {
            let several = if several.is_empty() { &among } else { several };
            let text = "it is unclear along which dimension to join the stores";
            Err(among_several(Error::invalid(text), several))
        }
    }
}

/// The dimension at a position of arrays that have no name for it.
///
/// # Errors
/// If there is no such array.
fn at_position(entries: &[Entry], position: usize) -> Result<Axis> {
    let axis = Axis::Position(position);
    let all = || entries.iter().filter_map(Entry::dimensions);
    if all().any(|dims| axis.positions(&dims).next().is_some()) {
        return Ok(axis);
    }
    let named: BTreeSet<String> = all()
        .filter_map(|dims| dims.into_iter().nth(position)?.coordinate)
        .map(|path| path.name().to_owned())
        .collect();
    if named.is_empty() {
        return Err(Error::not_found(format!("no array has a dimension {position}")));
    }
    let error = Error::not_found(format!("dimension {position} has a name in all arrays"));
    Err(error.with_remedy(Remedy::JoinAlong(named.into_iter().collect())))
}

/// The error with the names of the dimensions to choose from, as paths if the names alone are ambiguous.
fn among_several(error: Error, dimensions: &[&NodePath]) -> Error {
    let names: BTreeSet<&str> = dimensions.iter().map(|path| path.name()).collect();
    if names.len() == dimensions.len() {
        return error
            .with_remedy(Remedy::JoinAlong(dimensions.iter().map(|path| path.name().to_owned()).collect()));
    }
    let error = error.with_remedy(Remedy::JoinAlong(dimensions.iter().map(ToString::to_string).collect()));
    match dimensions.iter().find_map(|path| path.parent().filter(|group| !group.is_root())) {
        Some(group) => error.with_hint(format_args!("or join one group of each file, as FILE:{group}")),
        None => error,
    }
}

/// The objects of a store without their values.
///
/// # Errors
/// If one cannot be read.
pub(super) fn nodes((source, entries): Listed<'_>) -> Result<Vec<(NodePath, Node)>> {
    let arrays = entries.iter().filter(|entry| matches!(entry.item, Item::Group | Item::Array { .. }));
    arrays.map(|entry| Ok((entry.handle.path.clone(), source.load(&entry.handle)?))).collect()
}

/// The named dimensions of arrays, with the length of the longest array.
fn dimensions(entries: &[Entry]) -> BTreeMap<NodePath, Extent> {
    let mut all: BTreeMap<NodePath, Extent> = BTreeMap::new();
    for dimension in entries.iter().filter_map(Entry::dimensions).flatten() {
        if let Some(name) = dimension.coordinate {
            let known = all.entry(name).or_insert(dimension.extent);
            if known.current() < dimension.extent.current() {
                *known = dimension.extent;
            }
        }
    }
    all
}

/// Whether the length or the coordinates of a dimension differ in two stores.
fn differs(first: Listed<'_>, second: Listed<'_>, path: &NodePath) -> Result<bool> {
    let length = |of: Listed<'_>| dimensions(of.1).get(path).map(Extent::current);
    Ok(length(first) != length(second) || elements_differ(first, second, path)?)
}

/// Whether the elements of an array differ in two stores, or their units.
///
/// # Errors
/// If the array cannot be read.
pub(super) fn elements_differ(first: Listed<'_>, second: Listed<'_>, path: &NodePath) -> Result<bool> {
    let content = |(source, entries): Listed<'_>| {
        let entry = entries.iter().find(|entry| entry.handle.path == *path);
        let has_elements = |entry: &&Entry| matches!(entry.item, Item::Array { datatype: Some(_), .. });
        let Some(entry) = entry.filter(has_elements) else { return Ok(None) };
        digest::array((source, &Asked::default()), &entry.handle, &mut |_, _| {})
            .map(|(content, _)| Some(content))
    };
    if content(first)? != content(second)? {
        return Ok(true);
    }
    // Equal counts since different epochs are different times.
    let units = |(source, entries): Listed<'_>| -> Result<Option<String>> {
        let Some(entry) = entries.iter().find(|entry| entry.handle.path == *path) else { return Ok(None) };
        Ok(crate::meaning::text_of(&source.load(&entry.handle)?, "units"))
    };
    Ok(units(first)? != units(second)?)
}
