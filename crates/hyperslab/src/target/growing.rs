//! The lengths of dimensions that can grow, and which dimensions have arrays.
//!
//! In NetCDF a dimension is as long as the longest array along it. Shorter arrays have fill values up to that length.
//! In formats where all arrays along a dimension must have the same length, they are stored with the full length.

use hyperslab_model::{Dimension, Extent, NodePath};
use rustc_hash::{FxHashMap, FxHashSet};

/// The lengths of the dimensions of a source that can grow, and which of all dimensions have arrays.
#[derive(Clone, Debug, Default)]
pub struct Growing {
    sizes: FxHashMap<NodePath, u64>,
    with_arrays: FxHashSet<NodePath>,
    is_uneven: bool,
}

impl Growing {
    /// Adds the extent of an array along a dimension, or of the dimension itself. Ignores fixed extents.
    pub fn add(&mut self, dimension: &NodePath, extent: Extent) {
        if extent.is_fixed() {
            return;
        }
        match self.sizes.get_mut(dimension) {
            Some(size) => {
                self.is_uneven |= *size != extent.current();
                *size = extent.current().max(*size);
            }
            None => drop(self.sizes.insert(dimension.clone(), extent.current())),
        }
    }

    /// Notes that an array of the same group, other than its coordinates, lies along a dimension.
    pub fn add_array(&mut self, dimension: &NodePath) {
        if !self.with_arrays.contains(dimension) {
            self.with_arrays.insert(dimension.clone());
        }
    }

    /// Whether an array of the same group, other than its coordinates, lies along a dimension. Formats without
    /// dimensions of their own take its name and length from these arrays.
    pub fn has_arrays(&self, dimension: &NodePath) -> bool {
        self.with_arrays.contains(dimension)
    }

    /// Whether arrays along the same dimension have different extents.
    pub fn is_uneven(&self) -> bool {
        self.is_uneven
    }

    /// Whether no dimension can grow.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// The length of a dimension in elements; `None` if it cannot grow.
    pub fn size(&self, dimension: &NodePath) -> Option<u64> {
        self.sizes.get(dimension).copied()
    }

    /// The shape of an array with these dimensions when it is extended to their full lengths.
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
    fn extends_arrays_to_the_full_length_of_their_dimensions() {
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
            // The maximum of this array is less than the length of the dimension.
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
