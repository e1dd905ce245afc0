//! The rectangles of the tiles of a sparse fragment, and rectangles around these.

use crate::format::array_schema::ArraySchema;
use crate::format::data_type::DataType;
use crate::format::fragment_metadata::mbr::{Mbr, Mbrs, Range};
use crate::format::fragment_metadata::r_tree::RTree;
use crate::read::compare::compare;
use hyperslab_core::Result;
use std::cmp::Ordering;

/// The tree over these rectangles; without levels if there are none.
pub(super) fn r_tree(schema: &ArraySchema, leaves: &[Mbr]) -> Result<RTree> {
    let sizes = schema.domain.coordinate_sizes();
    let mut tree = RTree { fanout: RTree::FANOUT, levels: Vec::new(), data_type: None };
    if leaves.is_empty() {
        return Ok(tree);
    }
    let mut level = leaves.to_vec();
    loop {
        tree.levels.push(Mbrs::of(&level, &sizes)?);
        if level.len() == 1 {
            break;
        }
        let fanout = usize::try_from(RTree::FANOUT).unwrap_or(10);
        level = level.chunks(fanout).filter_map(|below| around(schema, below)).collect();
    }
    tree.levels.reverse();
    Ok(tree)
}

/// The rectangle around others. `None` if there are none.
pub(super) fn around(schema: &ArraySchema, rectangles: &[Mbr]) -> Option<Mbr> {
    let (first, rest) = rectangles.split_first()?;
    let mut all = first.clone();
    for rectangle in rest {
        let types = schema.domain.dimensions.iter().map(|dimension| dimension.data_type);
        for ((all, own), data_type) in all.ranges.iter_mut().zip(&rectangle.ranges).zip(types) {
            widen(all, data_type, &own.min, &own.max);
        }
    }
    Some(all)
}

/// Widens a range to include these coordinates.
pub(super) fn widen(range: &mut Range, data_type: DataType, min: &[u8], max: &[u8]) {
    if compare(data_type, min, &range.min) == Some(Ordering::Less) {
        range.min = min.to_vec();
    }
    if compare(data_type, max, &range.max) == Some(Ordering::Greater) {
        range.max = max.to_vec();
    }
}
