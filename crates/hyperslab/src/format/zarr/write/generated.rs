//! Generated names for unnamed dimensions, which xarray requires: `phony_dim_0` and so on, as netCDF-C names the
//! dimensions of HDF5 files without dimension scales.
//!
//! Dimensions of the same length in a group share a name, unless they belong to the same array or only one of them can
//! grow. Numbers are unique in the store, since in xarray a dimension is the same in a group and in the groups below
//! it.

use crate::format::zarr::keep::lowering;
use crate::target::Growing;
use hyperslab_model::{Node, NodePath, Shape};
use rustc_hash::{FxHashMap, FxHashSet};

/// The groups and arrays of a store, in the order of declaration.
#[derive(Default)]
pub(super) struct Unnamed {
    groups: Vec<NodePath>,
    /// The dimensions of arrays that have unnamed dimensions, by group.
    arrays: FxHashMap<NodePath, Vec<Array>>,
    /// The names of dimensions and arrays.
    taken: FxHashSet<String>,
}

/// The path of an array and its stored dimensions; `None` for those that already have a name.
type Array = (NodePath, Vec<Option<Dimension>>);

/// What dimensions with the same name have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Dimension {
    size: u64,
    can_grow: bool,
}

/// The generated names of an array, one for each stored dimension, with those of an array datatype last. `None` for
/// dimensions that already have a name.
pub(super) type Generated = Vec<Option<String>>;

impl Unnamed {
    /// Adds a group or an array.
    pub(super) fn declare(&mut self, path: &NodePath, node: &Node, growing: &Growing) {
        self.taken.insert(path.name().to_owned());
        if matches!(node, Node::Group(_)) {
            self.groups.push(path.clone());
        }
        let Some(shape) = node.shape(path).filter(|_| node.has_elements()) else { return };
        let dims = shape.dims();
        self.taken.extend(dims.iter().filter_map(|of| Some(of.coordinate.as_ref()?.name().to_owned())));
        let sizes = growing.full(dims);
        let own = dims.iter().zip(sizes).map(|(of, size)| {
            let can_grow = of.extent.max().is_none();
            of.coordinate.is_none().then_some(Dimension { size, can_grow })
        });
        let fixed = |size| Some(Dimension { size, can_grow: false });
        let null = (shape == Shape::Null).then(|| fixed(0));
        let trailing = node.datatype().map(|datatype| lowering::trailing(datatype)).unwrap_or_default();
        let stored: Vec<_> = own.chain(null).chain(trailing.into_iter().map(fixed)).collect();
        if stored.iter().any(Option::is_some) {
            let group = path.parent().unwrap_or_else(NodePath::root);
            self.arrays.entry(group).or_default().push((path.clone(), stored));
        }
    }

    /// The generated names of all arrays that need some.
    pub(super) fn named(&self) -> FxHashMap<NodePath, Generated> {
        let free = (0_u64..).map(|number| format!("phony_dim_{number}"));
        let mut free = free.filter(|name| !self.taken.contains(name));
        let mut named = FxHashMap::default();
        for group in &self.children_first() {
            // The names of the group. There are several if one array has several such dimensions.
            let mut names: FxHashMap<Dimension, Vec<String>> = FxHashMap::default();
            for (path, stored) in self.arrays.get(group).into_iter().flatten() {
                let mut used: FxHashMap<Dimension, usize> = FxHashMap::default();
                let mut name = |of: &Dimension| {
                    let alike = names.entry(*of).or_default();
                    let at = used.entry(*of).or_default();
                    if alike.len() == *at {
                        alike.extend(free.next());
                    }
                    let name = alike.get(*at).cloned();
                    *at += 1;
                    name
                };
                let generated = stored.iter().map(|of| of.as_ref().and_then(&mut name)).collect();
                named.insert(path.clone(), generated);
            }
        }
        named
    }

    /// The groups, each after the groups that it contains: the order in which netCDF-C numbers dimensions.
    fn children_first(&self) -> Vec<NodePath> {
        let mut order = Vec::with_capacity(self.groups.len() + 1);
        let mut open = vec![NodePath::root()];
        for group in self.groups.iter().filter(|group| !group.is_root()) {
            let parent = group.parent();
            while let Some(last) = open.pop_if(|last| !last.is_root() && parent.as_ref() != Some(last)) {
                order.push(last);
            }
            open.push(group.clone());
        }
        order.extend(open.into_iter().rev());
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::{self as model, Datatype, Extent, Group, Ndarray};
    use std::sync::Arc;

    /// The generated names of each array with these dimensions.
    fn generated(declared: &[(&str, &[(Extent, &str)])]) -> Vec<(String, String)> {
        let path = |path: &str| NodePath::new(path).unwrap();
        let mut unnamed = Unnamed::default();
        for (place, dims) in declared {
            let dimension = |(extent, coordinate): &(Extent, &str)| model::Dimension {
                extent: *extent,
                coordinate: (!coordinate.is_empty()).then(|| path(coordinate)),
            };
            let node = match place.strip_suffix('/') {
                Some(_) => Node::Group(Group::default()),
                None => Node::Ndarray(Ndarray {
                    shape: Shape::Dims(dims.iter().map(dimension).collect()),
                    datatype: Some(Arc::new(Datatype::int(8, true))),
                    attributes: model::Attributes::new(),
                    storage: model::BoxedStorage::default(),
                    dimension: None,
                    value: None,
                }),
            };
            let place = place.strip_suffix('/').filter(|place| !place.is_empty()).unwrap_or(place);
            unnamed.declare(&path(place), &node, &Growing::default());
        }
        let mut all: Vec<_> = unnamed.named().into_iter().collect();
        all.sort();
        let short = |name: Option<String>| name.map_or("-".into(), |name| name.replace("phony_dim_", ""));
        let joined = |names: Generated| names.into_iter().map(short).collect::<Vec<_>>().join(" ");
        all.into_iter().map(|(path, names)| (path.to_string(), joined(names))).collect()
    }

    fn fixed(size: u64) -> (Extent, &'static str) {
        (Extent::Fixed(size), "")
    }

    #[test]
    fn dimensions_have_the_names_of_netcdf_c() {
        let found = generated(&[
            ("/", &[]),
            ("/a", &[fixed(4), fixed(4)]),
            ("/b", &[fixed(4), fixed(6)]),
            ("/g/", &[]),
            ("/g/c", &[fixed(6), fixed(3)]),
            ("/g/d", &[fixed(4)]),
            ("/s", &[]),
            ("/u", &[(Extent::Unlimited { current: 4 }, "")]),
        ]);
        let expected = [("/a", "3 4"), ("/b", "3 5"), ("/u", "6"), ("/g/c", "0 1"), ("/g/d", "2")];
        assert_eq!(found, expected.map(|(path, names)| (path.to_owned(), names.to_owned())));
    }

    #[test]
    fn names_of_the_source_are_not_generated_again() {
        let named = (Extent::Fixed(3), "/phony_dim_0");
        let found = generated(&[("/", &[]), ("/a", &[named, fixed(3)]), ("/phony_dim_1", &[fixed(2)])]);
        let expected = [("/a", "- 2"), ("/phony_dim_1", "3")];
        assert_eq!(found, expected.map(|(path, names)| (path.to_owned(), names.to_owned())));
    }
}
