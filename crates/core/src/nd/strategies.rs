//! Small arrays and regions for property tests, and simple reference implementations.

use super::Region;
use proptest::prelude::*;

/// An array of up to four dimensions, and a region in it.
pub(super) fn shape_and_region() -> impl Strategy<Value = (Vec<u64>, Region)> {
    prop::collection::vec((0..7_u64, 0..7_u64, 1..4_u64, 0..7_u64, any::<bool>()), 0..=4).prop_map(|dims| {
        let mut shape = Vec::new();
        let mut region = Region::new(Vec::new(), Vec::new());
        for (start, count, step, more, whole) in dims {
            // Whole dimensions take the fast paths, but random choices would rarely produce them.
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

/// The coordinates of the elements of a region, in row-major order.
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

/// The row-major index of an element.
pub(super) fn offset_of(element: &[u64], shape: &[u64]) -> u64 {
    element.iter().zip(shape).fold(0, |at, (index, size)| at * size + index)
}
