//! Dimensions that can grow, and arrays that do not reach to their ends.
//!
//! In NetCDF a dimension is as long as the longest array along it, and others can be shorter: what they lack is fill.
//! Formats whose arrays along one dimension must have one length store them at its full length.

use hyperslab_model::{Dimension, Extent, NodePath};
use rustc_hash::FxHashMap;

/// How long the dimensions of a source are that can grow.
#[derive(Clone, Debug, Default)]
pub struct Growing {
    sizes: FxHashMap<NodePath, u64>,
}

impl Growing {
    /// Notes an array along a dimension, or the dimension itself.
    pub fn add(&mut self, dimension: &NodePath, extent: Extent) {
        if extent.is_fixed() {
            return;
        }
        match self.sizes.get_mut(dimension) {
            Some(size) => *size = extent.current().max(*size),
            None => drop(self.sizes.insert(dimension.clone(), extent.current())),
        }
    }

    /// Whether there is no such dimension.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// How long a dimension is; none if it cannot grow.
    pub fn size(&self, dimension: &NodePath) -> Option<u64> {
        self.sizes.get(dimension).copied()
    }

    /// How long an array of these dimensions is if it reaches to their ends.
    pub fn full(&self, dims: &[Dimension]) -> Vec<u64> {
        let full = |dimension: &Dimension| {
            let current = dimension.extent.current();
            let size = dimension.coordinate.as_ref().and_then(|of| self.size(of));
            let may = |size: &u64| {
                !dimension.extent.is_fixed() && dimension.extent.max().is_none_or(|max| max >= *size)
            };
            size.filter(may).map_or(current, |size| size.max(current))
        };
        dims.iter().map(full).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_becomes_as_long_as_the_longest_along_its_dimension() {
        let path = |path: &str| NodePath::new(path).unwrap();
        let mut growing = Growing::default();
        growing.add(&path("/time"), Extent::Unlimited { current: 2 });
        growing.add(&path("/time"), Extent::Unlimited { current: 5 });
        growing.add(&path("/time"), Extent::Unlimited { current: 3 });
        growing.add(&path("/x"), Extent::Fixed(4));
        let along = |name: &str, extent| Dimension { extent, coordinate: Some(path(name)) };
        let cases = [
            (along("/time", Extent::Unlimited { current: 2 }), 5),
            (along("/time", Extent::Limited { current: 2, max: 9 }), 5),
            // What can never reach the end stays as it is.
            (along("/time", Extent::Limited { current: 2, max: 4 }), 2),
            (along("/time", Extent::Fixed(2)), 2),
            (along("/g/time", Extent::Unlimited { current: 2 }), 2),
            (along("/x", Extent::Unlimited { current: 2 }), 2),
            (Dimension { extent: Extent::Unlimited { current: 2 }, coordinate: None }, 2),
        ];
        for (dimension, expected) in cases {
            assert_eq!(growing.full(std::slice::from_ref(&dimension)), [expected], "{dimension:?}");
        }
    }
}
