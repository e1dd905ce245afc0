//! R-tree: the rectangles of the tiles of a sparse fragment, and rectangles around these.
//!
//! Spec: TileDB format_spec, fragment.md "R-Tree"

use super::mbr::{CoordinateSize, Mbr, Mbrs};
use crate::format::Structure;
use crate::format::data_type::DataType;
use hyperslab_core::{Decoder, Encoder, Error, Result};

/// A tree of rectangles. Dense fragments have one without levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RTree {
    /// The number of rectangles below another one.
    pub fanout: u32,
    /// The levels: the root is first, the rectangles of the tiles are last. With a single tile, there is only one
    /// level.
    pub levels: Vec<Mbrs>,
    /// The datatype of all dimensions. `None` since version 5.
    pub data_type: Option<DataType>,
}

/// What the bytes of an R-tree do not determine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RTreeContext {
    /// The format version of the fragment.
    pub version: u32,
    /// How coordinates of each dimension are stored.
    pub coordinates: Vec<CoordinateSize>,
}

impl RTree {
    /// The fanout that writers use.
    pub const FANOUT: u32 = 10;

    /// The rectangles of the tiles, in the order of tiles. `None` without levels.
    pub fn leaves(&self) -> Option<&Mbrs> {
        self.levels.last()
    }
}

impl Structure for RTree {
    type Context = RTreeContext;
    const NAME: &'static str = "R-Tree";

    fn decode(d: &mut Decoder<'_>, context: &RTreeContext) -> Result<Self> {
        let at = d.clone();
        let is_old = context.version < 5;
        if is_old {
            let (found, expected) = (d.u32()?, context.coordinates.len());
            if u64::from(found) != expected as u64 {
                return Err(at.malformed(format!("{found} dimensions, expected {expected}")));
            }
        }
        let fanout = d.u32()?;
        let data_type = match is_old {
            true => Some(DataType::decode(d, &())?),
            false => None,
        };
        let at = d.clone();
        let count = u64::from(d.u32()?);
        let count = d.count(count, 8)?;
        let mut levels: Vec<Mbrs> = Vec::new();
        for _ in 0..count {
            let at = d.clone();
            let count = d.u64()?;
            let level = Mbrs::decode(d, count, &context.coordinates)?;
            if let Some(above) = levels.last() {
                check_level(above.len(), level.len(), fanout).map_err(|e| e.at_place(at.place()))?;
            }
            levels.push(level);
        }
        if count > 0 && fanout == 0 {
            return Err(at.malformed("a fanout of 0"));
        }
        Ok(RTree { fanout, levels, data_type })
    }

    fn encode(&self, e: &mut Encoder, context: &RTreeContext) -> Result<()> {
        match (context.version < 5, self.data_type) {
            (true, None) => return Err(Error::invalid("an R-tree without datatype before version 5")),
            (false, Some(_)) => return Err(Error::invalid("an R-tree with datatype since version 5")),
            (true, Some(data_type)) => {
                e.len_as(4, context.coordinates.len())?;
                e.u32(self.fanout);
                data_type.encode(e, &())?;
            }
            (false, None) => e.u32(self.fanout),
        }
        e.len_as(4, self.levels.len())?;
        for level in &self.levels {
            e.u64(level.len() as u64);
            e.bytes(level.as_bytes());
        }
        Ok(())
    }
}

/// Checks that a level has one rectangle for each `fanout` of the level below, so that a walk down the tree ends.
fn check_level(above: usize, below: usize, fanout: u32) -> Result<()> {
    let expected = match fanout {
        0 | 1 => 0,
        fanout => (below as u64).div_ceil(u64::from(fanout)),
    };
    match above as u64 == expected {
        true => Ok(()),
        false => Err(Error::malformed(format!(
            "a level of {above} {} above one of {below}, with a fanout of {fanout}",
            Mbr::NAME
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::mbr::Range;
    use super::*;
    use crate::format::structure_tests::structure_tests;

    fn context(version: u32) -> RTreeContext {
        RTreeContext { version, coordinates: vec![CoordinateSize::Fixed(4), CoordinateSize::Fixed(4)] }
    }

    fn level(count: u8) -> Mbrs {
        let range = |n: u8| Range { min: vec![n; 4], max: vec![n; 4] };
        let rectangles: Vec<Mbr> = (0..count).map(|n| Mbr { ranges: vec![range(n), range(n)] }).collect();
        Mbrs::of(&rectangles, &context(22).coordinates).unwrap()
    }

    fn tree(counts: &[u8]) -> RTree {
        RTree { fanout: 10, levels: counts.iter().map(|count| level(*count)).collect(), data_type: None }
    }

    structure_tests!(RTree, context: context(22),
        golden: [include_str!("../../../tests/golden/r_tree.hex"), "0a000000 00000000 # of a dense fragment"],
        values: [tree(&[]), tree(&[1]), tree(&[1, 10]), tree(&[1, 2, 11])]);

    mod strings {
        use super::*;
        structure_tests!(RTree,
            context: RTreeContext { version: 22, coordinates: vec![CoordinateSize::Var, CoordinateSize::Fixed(8)] },
            golden: [include_str!("../../../tests/golden/r_tree_string.hex")],
            values: []);
    }

    mod version_4 {
        use super::*;
        structure_tests!(RTree, context: context(4),
            golden: ["02000000 0a000000 00 01000000 0100000000000000 01000000 02000000 03000000 04000000"],
            values: [RTree { data_type: Some(DataType::Float32), ..tree(&[1, 3]) }]);
    }

    #[test]
    fn rejects_levels_that_do_not_shrink() {
        for counts in [&[2, 2][..], &[1, 11], &[3, 2], &[0, 2], &[1, 1, 3]] {
            let bytes = crate::format::encode_all(&tree(counts), &context(22)).unwrap();
            let decoded = RTree::decode(&mut Decoder::new("R-Tree", 0, &bytes), &context(22));
            // A level of one rectangle below the root results from rounding; the tree shrinks no further.
            assert_eq!(decoded.is_ok(), counts == [1, 1, 3], "{counts:?}");
        }
        let one = RTree { fanout: 1, ..tree(&[2, 2]) };
        let bytes = crate::format::encode_all(&one, &context(22)).unwrap();
        let e = RTree::decode(&mut Decoder::new("R-Tree", 0, &bytes), &context(22)).unwrap_err();
        assert_eq!(e.detail(), "a level of 2 MBR above one of 2, with a fanout of 1");
    }

    #[test]
    fn datatypes_stand_in_trees_before_version_5_only() {
        assert!(tree(&[1]).encode(&mut Encoder::new(), &context(4)).is_err());
        let old = RTree { data_type: Some(DataType::Int32), ..tree(&[1]) };
        assert!(old.encode(&mut Encoder::new(), &context(5)).is_err());
    }
}
