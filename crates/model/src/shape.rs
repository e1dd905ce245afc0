//! Rank and extent of arrays.

use crate::NodePath;

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
