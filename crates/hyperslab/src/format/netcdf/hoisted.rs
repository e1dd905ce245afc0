//! Dimensions that move to a group above all variables along them, since NetCDF looks for the dimensions of a variable
//! only in its group and the groups above it.

use super::flavour::Flavour;
use super::name::{of_names, with_end};
use super::user_types::is_in_scope;
use hyperslab_model::{DimCoord, Dimension, Ndarray, Node, NodePath, Shape};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Information about all objects, collected before any of them is planned. All paths are stored paths.
#[derive(Debug, Default)]
pub(in crate::format) struct Survey {
    taken: FxHashSet<NodePath>,
    /// For dimensions with variables outside of their own group: the innermost group that contains the dimension and
    /// all variables along it.
    groups: BTreeMap<NodePath, NodePath>,
}

/// The dimensions that move and their new paths.
#[derive(Debug, Default)]
pub(in crate::format) struct Hoisted {
    paths: FxHashMap<NodePath, NodePath>,
}

impl Survey {
    /// Adds an object with its path in the source and, for an array, its dimensions.
    pub(in crate::format) fn add(&mut self, path: &NodePath, dimensions: &[Dimension]) {
        let stored = of_names(path, FLAVOUR);
        let group = stored.parent().unwrap_or_else(NodePath::root);
        self.taken.insert(stored);
        for dimension in dimensions.iter().filter_map(|dimension| dimension.coordinate.as_ref()) {
            let dimension = of_names(dimension, FLAVOUR);
            if is_in_scope(&dimension, &group) {
                continue;
            }
            let own = dimension.parent().unwrap_or_else(NodePath::root);
            let common = self.groups.entry(dimension).or_insert(own);
            while let Some(above) = common.parent().filter(|_| !group.is_within(common)) {
                *common = above;
            }
        }
    }

    /// Assigns the new paths. The names stay the same unless another object has them.
    pub(in crate::format) fn finish(self) -> Hoisted {
        let Survey { mut taken, groups } = self;
        let mut paths = FxHashMap::default();
        for (dimension, group) in groups {
            let name = dimension.name();
            let numbered = (2_u64..).map(|number| group.child(&with_end(name, &format!("_{number}"))));
            let mut candidates = std::iter::once(group.child(name)).chain(numbered);
            if let Some(path) = candidates.find(|path| taken.insert(path.clone())) {
                paths.insert(dimension, path);
            }
        }
        Hoisted { paths }
    }
}

impl Hoisted {
    /// The new stored path of a dimension that moves.
    pub(in crate::format) fn path_of(&self, dimension: &NodePath) -> Option<&NodePath> {
        if self.paths.is_empty() { None } else { self.paths.get(&of_names(dimension, FLAVOUR)) }
    }

    /// What remains of an object at `path` in the source when the dimension that it represents moves: a variable along
    /// the dimension, or `None`.
    pub(in crate::format) fn without_dimension<'a>(
        &self,
        path: &NodePath,
        node: &'a Node,
    ) -> Option<Cow<'a, Node>> {
        if self.path_of(path).is_none() {
            return Some(Cow::Borrowed(node));
        }
        match node {
            Node::DimCoord(DimCoord { datatype: None, .. }) => None,
            Node::DimCoord(own) => {
                let along = Dimension { extent: own.size, coordinate: Some(path.clone()) };
                let DimCoord { datatype, attributes, storage, value, .. } = own.clone();
                let shape = Shape::Dims(vec![along]);
                Some(Cow::Owned(Node::Ndarray(Ndarray {
                    shape,
                    dimension: None,
                    datatype,
                    attributes,
                    storage,
                    value,
                })))
            }
            Node::Ndarray(own) => Some(Cow::Owned(Node::Ndarray(Ndarray { dimension: None, ..own.clone() }))),
            other => Some(Cow::Borrowed(other)),
        }
    }
}

/// The only flavour with groups.
const FLAVOUR: Flavour = Flavour::Enhanced;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::Extent;

    fn path(of: &str) -> NodePath {
        NodePath::new(of).unwrap()
    }

    fn along(dimensions: &[&str]) -> Vec<Dimension> {
        let dimension = |of: &&str| Dimension { extent: Extent::Fixed(3), coordinate: Some(path(of)) };
        dimensions.iter().map(dimension).collect()
    }

    #[test]
    fn dimensions_move_to_the_nearest_group_above_their_variables() {
        let mut survey = Survey::default();
        for (name, dimensions) in [
            ("/a/b/first", &["/a/b/x", "/a/c/y", "/z"][..]),
            ("/a/c/second", &["/a/c/y"]),
            ("/d/third", &["/e/y"]),
            ("/e/fourth", &["/e/only"]),
        ] {
            survey.add(&path(name), &along(dimensions));
        }
        survey.add(&path("/y"), &[]);
        let hoisted = survey.finish();
        let found =
            ["/a/b/x", "/a/c/y", "/z", "/e/y", "/e/only"].map(|of| hoisted.path_of(&path(of)).cloned());
        // The root has a member with the name y.
        assert_eq!(found, [None, Some(path("/a/y")), None, Some(path("/y_2")), None]);
    }

    #[test]
    fn a_variable_stays_where_its_dimension_was() {
        let mut survey = Survey::default();
        survey.add(&path("/b/v"), &along(&["/a/x"]));
        let hoisted = survey.finish();
        let dimension = Node::DimCoord(DimCoord::without_coordinates(Extent::Fixed(3)));
        assert!(hoisted.without_dimension(&path("/a/x"), &dimension).is_none());
        let datatype = Some(std::sync::Arc::new(hyperslab_model::Datatype::int(32, true)));
        let coordinates = DimCoord { datatype, ..DimCoord::without_coordinates(Extent::Fixed(3)) };
        let coordinates = Node::DimCoord(coordinates);
        let moved = hoisted.without_dimension(&path("/a/x"), &coordinates).unwrap().into_owned();
        let Node::Ndarray(moved) = moved else { panic!("{moved:?}") };
        assert!(moved.dimension.is_none());
        assert_eq!(moved.shape.dims(), along(&["/a/x"]));
        let other = hoisted.without_dimension(&path("/a/y"), &coordinates).unwrap();
        assert!(matches!(other, Cow::Borrowed(Node::DimCoord(_))));
    }
}
