//! Rank and extent of arrays.

use crate::NodePath;
use std::fmt;

/// The dimensions of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A partial description says nothing of it.
    Unsaid,
    /// HDF5's null dataspace: no elements at all, not even one.
    Null,
    /// A dimension each; none for a scalar.
    Dims(Vec<Dimension>),
}

/// One dimension of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// How long it is and may become.
    pub extent: Extent,
    /// The dimcoord it is shared through.
    pub coordinate: Option<NodePath>,
}

/// How long a dimension is and may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// As long as it will ever be.
    Fixed(u64),
    /// May grow to a maximum.
    Limited {
        /// How long it is.
        current: u64,
        /// How long it may become.
        max: u64,
    },
    /// May grow without end.
    Unlimited {
        /// How long it is.
        current: u64,
    },
    /// Has no length: its coordinates are texts, fractions or more than 64 bits can count.
    Uncounted,
}

impl Extent {
    /// How long it is; 0 for one that is not counted.
    pub fn current(&self) -> u64 {
        match *self {
            Extent::Fixed(current) | Extent::Limited { current, .. } | Extent::Unlimited { current } => {
                current
            }
            Extent::Uncounted => 0,
        }
    }

    /// How long it may become; `None` without end.
    pub fn max(&self) -> Option<u64> {
        match *self {
            Extent::Fixed(max) | Extent::Limited { max, .. } => Some(max),
            Extent::Unlimited { .. } | Extent::Uncounted => None,
        }
    }

    /// Whether it cannot become longer than it is.
    pub fn is_fixed(&self) -> bool {
        matches!(self, Extent::Fixed(_))
    }
}

impl Shape {
    /// A scalar.
    pub const SCALAR: Shape = Shape::Dims(Vec::new());

    /// Fixed dimensions without coordinates.
    pub fn fixed(extents: &[u64]) -> Shape {
        Shape::Dims(
            extents.iter().map(|n| Dimension { extent: Extent::Fixed(*n), coordinate: None }).collect(),
        )
    }

    /// The dimensions; none for null and what is not said.
    pub fn dims(&self) -> &[Dimension] {
        match self {
            Shape::Null | Shape::Unsaid => &[],
            Shape::Dims(dims) => dims,
        }
    }

    /// The current extents; `None` for null and what is not said.
    pub fn current(&self) -> Option<Vec<u64>> {
        match self {
            Shape::Null | Shape::Unsaid => None,
            Shape::Dims(dims) => Some(dims.iter().map(|d| d.extent.current()).collect()),
        }
    }

    /// The number of elements; `None` where it overflows or is not said.
    pub fn len(&self) -> Option<u64> {
        match self {
            Shape::Null => Some(0),
            Shape::Unsaid => None,
            Shape::Dims(dims) if dims.iter().any(|d| d.extent.current() == 0) => Some(0),
            Shape::Dims(dims) => dims.iter().try_fold(1_u64, |n, d| n.checked_mul(d.extent.current())),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}

/// Extents with the names of their dimensions: `[time=3/10000, 2]`, `current/max` where they differ, `*` where
/// nothing is counted; nothing for what is not said.
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
