//! Small arrays and regions for property tests, and the plain definitions they are held against.

use super::Region;
use proptest::prelude::*;

/// An array of up to four dimensions and a region in it.
pub(super) fn shape_and_region() -> impl Strategy<Value = (Vec<u64>, Region)> {
    prop::collection::vec((0..7_u64, 0..7_u64, 1..4_u64, 0..7_u64, any::<bool>()), 0..=4).prop_map(|dims| {
        let mut shape = Vec::new();
        let mut region = Region::new(Vec::new(), Vec::new());
        for (start, count, step, more, whole) in dims {
            // Whole dimensions are what the fast paths look for, and would be rare.
            let (start, step, more) = if whole { (0, 1, 0) } else { (start, step, more) };
            let count = if whole { count.max(1) } else { count };
            let reach = if count == 0 { 0 } else { start + (count - 1) * step + 1 };
            shape.push(reach + more);
            region.start.push(start);
            region.count.push(count);
            region.step.push(step);
        }
        (shape, region)
    })
}

/// The coordinates of a region's elements, row-major.
pub(super) fn elements_of(region: &Region) -> Vec<Vec<u64>> {
    let mut elements = vec![vec![]];
    for ((start, count), step) in region.start.iter().zip(&region.count).zip(&region.step) {
        elements = elements
            .iter()
            .flat_map(|e| (0..*count).map(|k| [&e[..], &[start + k * step]].concat()))
            .collect();
    }
    elements
}

/// Where an element lies in an array stored row-major.
pub(super) fn offset_of(element: &[u64], shape: &[u64]) -> u64 {
    element.iter().zip(shape).fold(0, |at, (index, size)| at * size + index)
}
