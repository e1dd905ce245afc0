//! Geometry of arrays of any rank: regions, selections, chunk grids, scatter and gather.
//!
//! Elements are fixed-size rows (see [`rows`](crate::rows)); nothing here knows a datatype.

/// A box of elements, possibly with steps: `start[i] + k * step[i]` for `k` in `0..count[i]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// First index of each dimension.
    pub start: Vec<u64>,
    /// How many along each dimension.
    pub count: Vec<u64>,
    /// Distance between neighbours along each dimension; 1 for a box without gaps.
    pub step: Vec<u64>,
}

/// Which elements of an array are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// None.
    None,
    /// One box.
    Region(Region),
    /// Several boxes, in stored order; they may overlap.
    Blocks(Vec<Region>),
    /// Single elements, `rank` coordinates each, in stored order.
    Points {
        /// Dimensions of the array.
        rank: u32,
        /// Coordinates, element after element.
        coordinates: Vec<u64>,
    },
}
