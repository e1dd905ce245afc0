//! Resolves names of variables and dimensions through groups.
//!
//! Spec: CF 1.13, 2.7.1 Scope

use super::{Dataset, Found, Target};
use hyperslab_model::NodePath;

/// The kind of object that a name should refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A variable.
    Variables,
    /// A coordinate or auxiliary coordinate. Those with the name of their dimension are also found by a lateral search.
    Coordinates,
    /// A cell measure, which may be in another file.
    Measures,
    /// A dimension.
    Dimensions,
}

/// The object that a name in an attribute of a variable in a group refers to.
pub(super) fn resolve(dataset: &Dataset, group: usize, name: &str, wanted: Wanted) -> Target {
    let wants_dimension = wanted == Wanted::Dimensions;
    let of = |found: &Found| match wants_dimension {
        true => found.dimension.map(Target::Dimension),
        false => found.variable.map(Target::Variable),
    };
    let at = |path: &NodePath| dataset.by_path.get(path).and_then(of);
    let mut paths = dataset.groups.get(group).into_iter().flat_map(|group| places(&group.path, name));
    let is_alone = wanted == Wanted::Coordinates && !name.contains('/');
    paths
        .find_map(|path| at(&path))
        .or_else(|| is_alone.then(|| lateral(dataset, group, name)).flatten())
        .unwrap_or(Target::Missing)
}

/// The paths at which a name in an attribute of a variable in `group` is looked up, in this order.
///
/// A path with `/` is absolute, or relative to the group. A plain name is looked up in the group, then in its parents.
pub fn places(group: &NodePath, name: &str) -> Vec<NodePath> {
    if name.contains('/') {
        return joined(group, name).into_iter().collect();
    }
    std::iter::successors(Some(group.clone()), NodePath::parent).map(|group| group.child(name)).collect()
}

/// A path relative to a group. `None` above the root.
fn joined(group: &NodePath, name: &str) -> Option<NodePath> {
    let mut path = if name.starts_with('/') { NodePath::root() } else { group.clone() };
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => path = path.parent()?,
            part => path = path.child(part),
        }
    }
    Some(path)
}

/// The coordinate variable with this name below the group that has the dimension, preferring the one nearest to it.
fn lateral(dataset: &Dataset, group: usize, name: &str) -> Option<Target> {
    let Target::Dimension(dimension) = resolve(dataset, group, name, Wanted::Dimensions) else { return None };
    let dimension = dataset.dimension_at(dimension)?;
    let below = dataset.variables.iter().filter(|variable| {
        variable.name() == name
            && matches!(&*variable.dimensions, [along] if along.path.as_ref() == Some(&dimension.path))
    });
    below.min_by_key(|variable| variable.path.depth()).map(|variable| Target::Variable(variable.id))
}
