//! Shapes: the rank and the extents of arrays.

use crate::NodePath;
use std::fmt;

/// The shape of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Unknown, because a partial description does not give it.
    Unsaid,
    /// An HDF5 null dataspace, which has no elements.
    Null,
    /// One entry for each dimension. Empty for a scalar, which has one element.
    Dims(Vec<Dimension>),
}

/// One dimension of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Its current and maximum length.
    pub extent: Extent,
    /// The path of the dimension that it shares with other arrays, if any.
    pub coordinate: Option<NodePath>,
}

/// The current and maximum length of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The length cannot change.
    Fixed(u64),
    /// The length can grow up to a maximum.
    Limited {
        /// The current length.
        current: u64,
        /// The maximum length.
        max: u64,
    },
    /// The length can grow without limit.
    Unlimited {
        /// The current length.
        current: u64,
    },
    /// There is no length, because the coordinates are strings, floats, or more than 64 bits can count.
    Uncounted,
}

impl Extent {
    /// The current length. 0 for [`Extent::Uncounted`].
    pub fn current(&self) -> u64 {
        match *self {
            Extent::Fixed(current) | Extent::Limited { current, .. } | Extent::Unlimited { current } => {
                current
            }
            Extent::Uncounted => 0,
        }
    }

    /// The maximum length. `None` if there is no limit.
    pub fn max(&self) -> Option<u64> {
        match *self {
            Extent::Fixed(max) | Extent::Limited { max, .. } => Some(max),
            Extent::Unlimited { .. } | Extent::Uncounted => None,
        }
    }

    /// The same extent with another current length. If the maximum is smaller, it grows to that length.
    #[must_use]
    pub fn resized(self, length: u64) -> Extent {
        match self {
            Extent::Fixed(_) => Extent::Fixed(length),
            Extent::Limited { max, .. } => Extent::Limited { current: length, max: max.max(length) },
            Extent::Unlimited { .. } => Extent::Unlimited { current: length },
            Extent::Uncounted => Extent::Uncounted,
        }
    }

    /// Whether the length cannot grow.
    pub fn is_fixed(&self) -> bool {
        matches!(self, Extent::Fixed(_))
    }
}

impl Shape {
    /// The shape of a scalar.
    pub const SCALAR: Shape = Shape::Dims(Vec::new());

    /// A shape of fixed dimensions that are not shared.
    pub fn fixed(extents: &[u64]) -> Shape {
        Shape::Dims(
            extents.iter().map(|n| Dimension { extent: Extent::Fixed(*n), coordinate: None }).collect(),
        )
    }

    /// The dimensions. Empty for null and unknown shapes.
    pub fn dims(&self) -> &[Dimension] {
        match self {
            Shape::Null | Shape::Unsaid => &[],
            Shape::Dims(dims) => dims,
        }
    }

    /// The current extents. `None` for null and unknown shapes.
    pub fn current(&self) -> Option<Vec<u64>> {
        match self {
            Shape::Null | Shape::Unsaid => None,
            Shape::Dims(dims) => Some(dims.iter().map(|d| d.extent.current()).collect()),
        }
    }

    /// The current number of elements. `None` if it overflows or the shape is unknown.
    pub fn len(&self) -> Option<u64> {
        match self {
            Shape::Null => Some(0),
            Shape::Unsaid => None,
            Shape::Dims(dims) if dims.iter().any(|d| d.extent.current() == 0) => Some(0),
            Shape::Dims(dims) => dims.iter().try_fold(1_u64, |n, d| n.checked_mul(d.extent.current())),
        }
    }

    /// Whether the array currently has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}

/// Extents with the names of their dimensions: `[time=3/10000, 2]`. `current/max` if the two differ, `*` if there is no
/// length. Empty for an unknown shape.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Unsaid => Ok(()),
            Shape::Null => f.write_str("null"),
            Shape::Dims(dims) => {
                f.write_str("[")?;
                for (index, dimension) in dims.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    if let Some(path) = &dimension.coordinate {
                        write!(f, "{}=", path.name())?;
                    }
                    dimension.extent.fmt(f)?;
                }
                f.write_str("]")
            }
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Fixed(size) => write!(f, "{size}"),
            Extent::Limited { current, max } => write!(f, "{current}/{max}"),
            Extent::Unlimited { current } => write!(f, "{current}/inf"),
            Extent::Uncounted => f.write_str("*"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_show_names_and_maxima() {
        let time = Dimension {
            extent: Extent::Unlimited { current: 4 },
            coordinate: Some(NodePath::root().child("time")),
        };
        let lat = Dimension { extent: Extent::Fixed(3), coordinate: None };
        let station =
            Dimension { extent: Extent::Uncounted, coordinate: Some(NodePath::root().child("station")) };
        assert_eq!(Shape::Dims(vec![time, lat]).to_string(), "[time=4/inf, 3]");
        assert_eq!(Shape::Dims(vec![station]).to_string(), "[station=*]");
        assert_eq!(Shape::SCALAR.to_string(), "[]");
    }
}
