//! Fragment metadata: the locations of the tiles of a fragment, and what is known about them.
//!
//! Spec: TileDB format_spec, fragment.md "Fragment Metadata File"
//!
//! Since version 3, a file is a sequence of generic tiles, whose bodies are the structures here, followed by a
//! [footer](footer::Footer) that states where they begin. In versions 1 and 2, it is [one generic
//! tile](version_1::LegacyFragmentMetadata).

pub mod footer;
pub mod fragment_summary;
pub mod mbr;
pub mod processed_conditions;
pub mod r_tree;
pub mod slots;
pub mod tile_min_max;
pub mod tile_offsets;
pub mod tile_sums;
pub mod version_1;

use mbr::CoordinateSize;

/// What the schema of a fragment determines but its metadata does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentContext {
    /// The number of attributes.
    pub attributes: usize,
    /// How coordinates of each dimension are stored.
    pub coordinates: Vec<CoordinateSize>,
}
