//! Names of variables and dimensions, found through groups.
//!
//! Spec: CF 1.13, 2.7.1 Scope

use super::{Dataset, Found, Target};
use hyperslab_model::NodePath;

/// What a name is to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A variable.
    Variables,
    /// A coordinate or auxiliary coordinate. Those with the name of their dimension are also found beside the group.
    Coordinates,
    /// A cell measure, which may be in another file.
    Measures,
    /// A dimension.
    Dimensions,
}

/// What a name in an attribute of a variable in a group leads to.
///
/// A path with `/` is absolute, or relative to the group. A name alone is looked for in the group, then in its parents.
pub(super) fn resolve(dataset: &Dataset, group: usize, name: &str, wanted: Wanted) -> Target {
    let wants_dimension = wanted == Wanted::Dimensions;
    let of = |found: &Found| match wants_dimension {
        true => found.dimension.map(Target::Dimension),
        false => found.variable.map(Target::Variable),
    };
    let at = |path: &NodePath| dataset.by_path.get(path).and_then(of);
    if name.contains('/') {
        let path = dataset.groups.get(group).and_then(|group| joined(&group.path, name));
        return path.and_then(|path| at(&path)).unwrap_or(Target::Missing);
    }
    let parents = std::iter::successors(Some(group), |at| dataset.groups.get(*at)?.parent);
    let mut paths = parents.filter_map(|at| Some(dataset.groups.get(at)?.path.child(name)));
    paths
        .find_map(|path| at(&path))
        .or_else(|| (wanted == Wanted::Coordinates).then(|| lateral(dataset, group, name)).flatten())
        .unwrap_or(Target::Missing)
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

/// The coordinate variable of this name below the group that has the dimension, the nearest to it first.
fn lateral(dataset: &Dataset, group: usize, name: &str) -> Option<Target> {
    let Target::Dimension(dimension) = resolve(dataset, group, name, Wanted::Dimensions) else { return None };
    let dimension = dataset.dimension_at(dimension)?;
    let below = dataset.variables.iter().filter(|variable| {
        variable.name() == name
            && matches!(&*variable.dimensions, [along] if along.path.as_ref() == Some(&dimension.path))
    });
    below.min_by_key(|variable| variable.path.depth()).map(|variable| Target::Variable(variable.id))
}
