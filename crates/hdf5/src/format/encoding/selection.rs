//! Dataspace Selection.
//!
//! Spec: HDF5 VIII.A Dataspace Encoding, "Layout: Dataspace Selection"

pub mod hyperslab;
pub mod points;

pub use hyperslab::HyperslabSelection;
use hyperslab::{Blocks, HyperslabVersion};
pub use points::{PointSelection, PointVersion};

use crate::format::Structure;
use hyperslab_core::nd::Selection;
use hyperslab_core::{Decoder, Encoder, Result};

/// The selected elements of a dataspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataspaceSelection {
    /// No elements.
    None,
    /// Single elements, in order.
    Points(PointSelection),
    /// Blocks of elements.
    Hyperslab(HyperslabSelection),
    /// All elements.
    All,
}

impl DataspaceSelection {
    /// Encodes a selection in the oldest version that can hold it, which most readers support.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for regions that are empty, end at
    /// 2^64 or later, or consist of too many separate blocks.
    pub fn of(selection: &Selection) -> Result<DataspaceSelection> {
        Ok(match selection {
            Selection::All => DataspaceSelection::All,
            Selection::None => DataspaceSelection::None,
            Selection::Points { rank, coordinates } => {
                DataspaceSelection::of_points(*rank, coordinates.clone())
            }
            Selection::Region(region) => {
                DataspaceSelection::of_blocks(Blocks::of(std::slice::from_ref(region))?)
            }
            Selection::Blocks(blocks) => DataspaceSelection::of_blocks(Blocks::of(blocks)?),
        })
    }

    /// The elements with these coordinates, `rank` for each, in the oldest version that can hold them.
    pub fn of_points(rank: u32, coordinates: Vec<u64>) -> DataspaceSelection {
        let version = match is_narrow(&coordinates) {
            true => PointVersion::V1,
            false => PointVersion::V2 { width: 8 },
        };
        DataspaceSelection::Points(PointSelection { version, rank, coordinates })
    }

    /// These blocks, in the oldest version that can hold them.
    pub fn of_blocks(blocks: Blocks) -> DataspaceSelection {
        let version = match &blocks {
            Blocks::Regular(_) => HyperslabVersion::V2,
            Blocks::Irregular { bounds, .. } if is_narrow(bounds) => HyperslabVersion::V1,
            Blocks::Irregular { .. } => HyperslabVersion::V3 { width: 8 },
        };
        DataspaceSelection::Hyperslab(HyperslabSelection { version, blocks })
    }

    /// The number of dimensions, if the selection stores it.
    pub fn rank(&self) -> Option<u32> {
        match self {
            DataspaceSelection::None | DataspaceSelection::All => None,
            DataspaceSelection::Points(points) => Some(points.rank),
            DataspaceSelection::Hyperslab(hyperslab) => Some(hyperslab.rank()),
        }
    }

    /// Whether the selection is unlimited: it ends where its dataspace ends.
    pub fn is_unlimited(&self) -> bool {
        matches!(self, DataspaceSelection::Hyperslab(hyperslab) if hyperslab.is_unlimited())
    }

    /// The selection as regions or points.
    ///
    /// As in libhdf5, the elements of all blocks of a hyperslab are in row-major order together.
    ///
    /// # Errors
    /// As [`HyperslabSelection::to_selection`].
    pub fn to_selection(&self) -> Result<Selection> {
        match self {
            DataspaceSelection::None => Ok(Selection::None),
            DataspaceSelection::All => Ok(Selection::All),
            DataspaceSelection::Points(PointSelection { rank, coordinates, .. }) => {
                Ok(Selection::Points { rank: *rank, coordinates: coordinates.clone() })
            }
            DataspaceSelection::Hyperslab(hyperslab) => hyperslab.to_selection(),
        }
    }

    /// The selection in a dataspace of the shape `extent`, at which an unlimited selection ends.
    ///
    /// # Errors
    /// As [`HyperslabSelection::to_selection_in`].
    pub fn to_selection_in(&self, extent: &[u64]) -> Result<Selection> {
        match self {
            DataspaceSelection::Hyperslab(hyperslab) => hyperslab.to_selection_in(extent),
            _ => self.to_selection(),
        }
    }
}

impl Structure for DataspaceSelection {
    type Context = ();
    const NAME: &'static str = "Dataspace Selection";

    fn decode(d: &mut Decoder<'_>, (): &()) -> Result<Self> {
        let at = d.clone();
        match d.u32()? {
            NONE => decode_plain(d).map(|()| DataspaceSelection::None),
            POINTS => PointSelection::decode(d).map(DataspaceSelection::Points),
            HYPERSLABS => HyperslabSelection::decode(d).map(DataspaceSelection::Hyperslab),
            ALL => decode_plain(d).map(|()| DataspaceSelection::All),
            other => Err(at.unsupported(format!("selection type {other}, expected 0 to 3"))),
        }
    }

    fn encode(&self, e: &mut Encoder, (): &()) -> Result<()> {
        match self {
            DataspaceSelection::None => {
                e.u32(NONE);
                encode_plain(e);
            }
            DataspaceSelection::Points(points) => {
                e.u32(POINTS);
                points.encode(e)?;
            }
            DataspaceSelection::Hyperslab(hyperslab) => {
                e.u32(HYPERSLABS);
                hyperslab.encode(e)?;
            }
            DataspaceSelection::All => {
                e.u32(ALL);
                encode_plain(e);
            }
        }
        Ok(())
    }
}

fn decode_plain(d: &mut Decoder<'_>) -> Result<()> {
    let at = d.clone();
    match d.u32()? {
        1 => d.reserved(8),
        other => Err(at.unsupported(format!("version {other}, expected 1"))),
    }
}

fn encode_plain(e: &mut Encoder) {
    e.u32(1);
    e.reserved(8);
}

/// Reads the size of numbers in bytes, which the writer chose by the largest number.
fn decode_width(d: &mut Decoder<'_>) -> Result<u8> {
    let at = d.clone();
    match d.u8()? {
        width @ (2 | 4 | 8) => Ok(width),
        other => Err(at.malformed(format!("encoding size {other}, expected 2, 4 or 8"))),
    }
}

/// Reads the number of dimensions.
fn decode_rank(d: &mut Decoder<'_>) -> Result<u32> {
    let at = d.clone();
    match d.u32()? {
        rank @ 1..=MAX_RANK => Ok(rank),
        other => Err(at.malformed(format!("{other} dimensions, expected 1 to {MAX_RANK}"))),
    }
}

const NONE: u32 = 0;
const POINTS: u32 = 1;
const HYPERSLABS: u32 = 2;
const ALL: u32 = 3;
/// The maximum number of dimensions in libhdf5.
const MAX_RANK: u32 = 32;

/// Whether all numbers fit in 4 bytes. The largest number of 4 bytes means unlimited.
pub(super) fn is_narrow(numbers: &[u64]) -> bool {
    numbers.iter().all(|number| *number < u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::hyperslab::Dimension;
    use super::*;
    use crate::format::structure_tests::{hex, structure_tests};
    use hyperslab_core::nd::Region;

    macro_rules! golden {
        ($name:literal) => {
            include_str!(concat!("../../../tests/golden/selection_", $name, ".hex"))
        };
    }

    fn hyperslab(version: HyperslabVersion, blocks: Blocks) -> DataspaceSelection {
        DataspaceSelection::Hyperslab(HyperslabSelection { version, blocks })
    }

    structure_tests!(DataspaceSelection, context: (),
    golden: [
        golden!("none"), golden!("all"),
        golden!("points_v1"), golden!("points_v2_2"), golden!("points_v2_4"), golden!("points_v2_8"),
        golden!("regular_v1"), golden!("irregular_v1"), golden!("regular_v2"), golden!("unlimited_v2"),
        golden!("regular_v3_2"), golden!("regular_v3_4"), golden!("regular_v3_8"), golden!("unlimited_v3"),
        golden!("irregular_v3_2"), golden!("irregular_v3_4"), golden!("irregular_v3_8"),
    ],
    values: [
        DataspaceSelection::Points(PointSelection { version: PointVersion::V1, rank: 1, coordinates: vec![] }),
        hyperslab(HyperslabVersion::V2, Blocks::Irregular { rank: 1, bounds: vec![1, 2] }),
        hyperslab(HyperslabVersion::V3 { width: 4 }, Blocks::Regular(vec![
            Dimension { start: 1, stride: 2, count: u64::MAX, block: 1 },
            Dimension { start: 1, stride: 2, count: 1, block: u64::MAX },
        ])),
    ]);

    fn decode(text: &str) -> DataspaceSelection {
        let bytes = hex(text);
        DataspaceSelection::decode(&mut Decoder::new("t", 0, &bytes), &()).unwrap()
    }

    #[test]
    fn golden_selections_have_the_expected_elements() {
        assert_eq!(decode(golden!("none")).to_selection().unwrap(), Selection::None);
        assert_eq!(decode(golden!("all")).to_selection().unwrap(), Selection::All);
        let points = Selection::Points { rank: 2, coordinates: vec![0, 1, 7, 2, 3, 3] };
        assert_eq!(decode(golden!("points_v1")).to_selection().unwrap(), points);
        assert_eq!(decode(golden!("points_v2_2")).to_selection().unwrap(), points);
        let far = Selection::Points { rank: 1, coordinates: vec![1 << 40, 3] };
        assert_eq!(decode(golden!("points_v2_8")).to_selection().unwrap(), far);

        let boxes = |starts: &[[u64; 2]], count: [u64; 2]| {
            starts.iter().map(|start| Region::new(start.to_vec(), count.to_vec())).collect()
        };
        let regular = Selection::Blocks(boxes(&[[1, 2], [1, 7], [5, 2], [5, 7]], [2, 3]));
        for text in [golden!("regular_v1"), golden!("regular_v2"), golden!("regular_v3_2")] {
            assert_eq!(decode(text).to_selection().unwrap(), regular);
        }
        let irregular = Selection::Blocks([boxes(&[[0, 0]], [2, 2]), boxes(&[[4, 5]], [3, 1])].concat());
        for text in [golden!("irregular_v1"), golden!("irregular_v3_2")] {
            assert_eq!(decode(text).to_selection().unwrap(), irregular);
        }
    }

    #[test]
    fn regular_hyperslabs_without_gaps_or_of_single_elements_are_one_region() {
        let dimension = |start, stride, count, block| Dimension { start, stride, count, block };
        let blocks =
            Blocks::Regular(vec![dimension(1, 9, 1, 4), dimension(2, 3, 5, 1), dimension(0, 2, 3, 2)]);
        let region = Region { start: vec![1, 2, 0], count: vec![4, 5, 6], step: vec![1, 3, 1] };
        let selection = hyperslab(HyperslabVersion::V2, blocks).to_selection().unwrap();
        assert_eq!(selection, Selection::Region(region));
    }

    #[test]
    fn unlimited_selections_end_at_the_extent() {
        // Blocks of 2 rows at 1, 5, 9, …, and 3 columns at 2 and 7.
        let endless = decode(golden!("unlimited_v2"));
        let boxes = |rows: &[(u64, u64)]| {
            let starts = rows.iter().flat_map(|(start, count)| [2, 7].map(|column| (*start, column, *count)));
            let boxes = starts.map(|(row, column, count)| Region::new(vec![row, column], vec![count, 3]));
            Selection::Blocks(boxes.collect())
        };
        assert_eq!(endless.to_selection_in(&[7, 20]).unwrap(), boxes(&[(1, 2), (5, 2)]));
        assert_eq!(endless.to_selection_in(&[6, 20]).unwrap(), boxes(&[(1, 2), (5, 1)]));
        assert_eq!(endless.to_selection_in(&[1, 20]).unwrap(), Selection::None);
        assert!(endless.to_selection_in(&[7]).is_err());

        let rest = Blocks::Regular(vec![Dimension { start: 3, stride: 1, count: 1, block: u64::MAX }]);
        let rest = hyperslab(HyperslabVersion::V2, rest);
        assert_eq!(rest.to_selection_in(&[5]).unwrap(), Selection::Region(Region::new(vec![3], vec![2])));
        let close = Blocks::Regular(vec![Dimension { start: 1, stride: 4, count: u64::MAX, block: 4 }]);
        let close = hyperslab(HyperslabVersion::V2, close);
        assert_eq!(close.to_selection_in(&[7]).unwrap(), Selection::Region(Region::new(vec![1], vec![6])));
    }

    #[test]
    fn rejects_unlimited_hyperslabs_and_too_many_blocks() {
        use hyperslab_core::ErrorKind;
        let refused = |count, block| {
            let dimension = Dimension { start: 0, stride: 1 << 21, count, block };
            hyperslab(HyperslabVersion::V2, Blocks::Regular(vec![dimension; 2]))
                .to_selection()
                .unwrap_err()
                .kind()
        };
        assert_eq!(refused(u64::MAX, 1), ErrorKind::Unsupported);
        assert_eq!(refused(257, 2), ErrorKind::LimitExceeded);
        let e = decode(golden!("unlimited_v2")).to_selection().unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Unsupported);
    }
}
