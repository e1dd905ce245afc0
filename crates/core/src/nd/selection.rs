//! Selections: elements of an array in a certain order.

use super::{Region, advance, element_count};
use crate::{Error, Result};
use std::borrow::Cow;
use std::slice::ChunksExact;

/// Selected elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All elements, in row-major order.
    All,
    /// No elements.
    None,
    /// The elements of a region, in row-major order.
    Region(Region),
    /// The elements of several regions, one region after the other. Regions can overlap.
    Blocks(Vec<Region>),
    /// Single elements, in stored order.
    Points {
        /// The number of dimensions of the array.
        rank: u32,
        /// The coordinates, `rank` for each element.
        coordinates: Vec<u64>,
    },
}

impl Selection {
    /// The elements of an array of `shape` for which `mask` is true. Both are in row-major order.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the mask has another number of elements
    /// than the array.
    ///
    /// ```
    /// use hyperslab_core::nd::Selection;
    ///
    /// let corners = Selection::of_mask(&[2, 3], &[true, false, true, true, false, true])?;
    /// assert_eq!(corners.count(&[2, 3]), Some(4));
    /// # Ok::<(), hyperslab_core::Error>(())
    /// ```
    pub fn of_mask(shape: &[u64], mask: &[bool]) -> Result<Selection> {
        if element_count(shape) != Some(mask.len() as u64) {
            return Err(Error::invalid(format!("a mask of {} elements for {shape:?}", mask.len())));
        }
        let width = shape.last().and_then(|width| usize::try_from(*width).ok()).unwrap_or(1).max(1);
        let (outer, _) = shape.split_at(shape.len().saturating_sub(1));
        let mut start = vec![0_u64; outer.len()];
        let mut blocks = Vec::new();
        for line in mask.chunks(width) {
            let mut at = 0_u64;
            for run in line.chunk_by(|a, b| a == b) {
                let len = run.len() as u64;
                if run.first() == Some(&true) {
                    let (mut from, mut count) = (start.clone(), vec![1; start.len()]);
                    if !shape.is_empty() {
                        from.push(at);
                        count.push(len);
                    }
                    blocks.push(Region::new(from, count));
                }
                at += len;
            }
            advance(&mut start, outer);
        }
        Ok(Selection::Blocks(blocks))
    }

    /// The number of selected elements in an array of `shape`. An element in several regions counts once for each.
    /// `None` if it does not fit in a `u64`.
    pub fn count(&self, shape: &[u64]) -> Option<u64> {
        match self {
            Selection::All => element_count(shape),
            Selection::None => Some(0),
            Selection::Region(region) => region.len(),
            Selection::Blocks(blocks) => {
                blocks.iter().try_fold(0, |sum: u64, block| sum.checked_add(block.len()?))
            }
            Selection::Points { rank, coordinates } => {
                (coordinates.len() as u64).checked_div(u64::from(*rank)).or(Some(0))
            }
        }
    }

    /// Whether both select the same elements in the same order, even if in different forms: a region with gaps equals
    /// the list of its boxes.
    ///
    /// ```
    /// use hyperslab_core::nd::{Region, Selection};
    ///
    /// let region = Region { start: vec![0], count: vec![2], step: vec![3] };
    /// let boxes = region.blocks().collect();
    /// assert!(Selection::Region(region).is_same(&Selection::Blocks(boxes)));
    /// ```
    pub fn is_same(&self, other: &Selection) -> bool {
        match (self, other) {
            (Selection::Region(a), Selection::Region(b)) => {
                let steps = a.step.iter().zip(&b.step).zip(&a.count);
                let same_steps = steps.into_iter().all(|((one, other), count)| one == other || *count <= 1);
                a.start == b.start && a.count == b.count && same_steps || a.is_empty() && b.is_empty()
            }
            (Selection::None, Selection::Region(region)) | (Selection::Region(region), Selection::None) => {
                region.is_empty()
            }
            (Selection::Blocks(blocks), Selection::Region(region))
            | (Selection::Region(region), Selection::Blocks(blocks)) => {
                blocks.iter().flat_map(Region::blocks).eq(region.blocks())
            }
            (Selection::Blocks(a), Selection::Blocks(b)) => {
                a == b || a.iter().flat_map(Region::blocks).eq(b.iter().flat_map(Region::blocks))
            }
            (a, b) => a == b,
        }
    }

    /// Checks that the selection has the rank of the array and is within it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument), with the dimension.
    pub fn check(&self, shape: &[u64]) -> Result<()> {
        match self {
            Selection::All | Selection::None => Ok(()),
            Selection::Region(region) => region.check(shape),
            Selection::Blocks(blocks) => blocks.iter().try_for_each(|block| block.check(shape)),
            Selection::Points { rank, coordinates } => check_points(*rank, coordinates, shape),
        }
    }

    /// The coordinates of the selected elements, in the order of the selection.
    ///
    /// # Errors
    /// As [`Selection::check`].
    ///
    /// ```
    /// use hyperslab_core::nd::Selection;
    ///
    /// let selection = Selection::Points { rank: 2, coordinates: vec![1, 1, 0, 2] };
    /// let elements: Vec<_> = selection.elements(&[2, 3])?.collect();
    /// assert_eq!(elements, [[1, 1], [0, 2]]);
    /// # Ok::<(), hyperslab_core::Error>(())
    /// ```
    pub fn elements(&self, shape: &[u64]) -> Result<Elements<'_>> {
        self.check(shape)?;
        let (blocks, points) = match self {
            Selection::All => (Cow::Owned(vec![Region::all(shape)]), None),
            Selection::None => (Cow::Owned(Vec::new()), None),
            Selection::Region(region) => (Cow::Borrowed(std::slice::from_ref(region)), None),
            Selection::Blocks(blocks) => (Cow::Borrowed(blocks.as_slice()), None),
            Selection::Points { coordinates, .. } => {
                (Cow::Owned(Vec::new()), Some(coordinates.chunks_exact(shape.len().max(1))))
            }
        };
        let left = self.count(shape);
        Ok(Elements { blocks, points, block: 0, inside: false, steps: Vec::new(), element: Vec::new(), left })
    }
}

/// The iterator that [`Selection::elements`] returns. Iterating allocates each element; [`Elements::next_element`]
/// does not.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    blocks: Cow<'a, [Region]>,
    points: Option<ChunksExact<'a, u64>>,
    /// The current block, or the next one if `inside` is false.
    block: usize,
    inside: bool,
    /// The current step along each dimension of the block.
    steps: Vec<u64>,
    element: Vec<u64>,
    left: Option<u64>,
}

impl Elements<'_> {
    /// The coordinates of the next element, in memory that is reused.
    pub fn next_element(&mut self) -> Option<&[u64]> {
        self.left = self.left.map(|left| left.saturating_sub(1));
        if let Some(points) = &mut self.points {
            return points.next();
        }
        if self.inside && self.step() {
            return Some(&self.element);
        }
        self.block += usize::from(self.inside);
        self.inside = false;
        while let Some(block) = self.blocks.get(self.block) {
            if !block.is_empty() {
                self.inside = true;
                self.element.clone_from(&block.start);
                self.steps.clear();
                self.steps.resize(block.rank(), 0);
                return Some(&self.element);
            }
            self.block += 1;
        }
        None
    }

    /// Moves to the next element of the block. Returns false after the last one.
    fn step(&mut self) -> bool {
        let Some(block) = self.blocks.get(self.block) else { return false };
        let moved = advance(&mut self.steps, &block.count);
        let of = block.start.iter().zip(&block.step).zip(&self.steps);
        for (at, ((start, step), steps)) in self.element.iter_mut().zip(of) {
            *at = start + steps * step;
        }
        moved
    }
}

impl Iterator for Elements<'_> {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        self.next_element().map(<[u64]>::to_vec)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.left.map(usize::try_from) {
            Some(Ok(left)) => (left, Some(left)),
            _ => (usize::MAX, None),
        }
    }
}

fn check_points(rank: u32, coordinates: &[u64], shape: &[u64]) -> Result<()> {
    if usize::try_from(rank).ok() != Some(shape.len()) {
        return Err(Error::invalid(format!("points of {rank} dimensions, the array has {}", shape.len())));
    }
    if !coordinates.len().is_multiple_of(shape.len()) {
        return Err(Error::invalid(format!(
            "{} coordinates, expected a multiple of {rank}",
            coordinates.len()
        )));
    }
    // `max` avoids a division by 0 for an empty list of points in an array without dimensions.
    for point in coordinates.chunks_exact(shape.len().max(1)) {
        for (dimension, (index, size)) in point.iter().zip(shape).enumerate() {
            if index >= size {
                return Err(Error::invalid(format!(
                    "a point at index {index} of dimension {dimension}, which has size {size}"
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::strategies::{elements_of, shape_and_region};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rejects_points_outside_the_extents() {
        let points =
            |rank, coordinates: &[u64]| Selection::Points { rank, coordinates: coordinates.to_vec() };
        points(2, &[1, 2, 0, 0]).check(&[2, 3]).unwrap();
        for (bad, shape) in [
            (points(2, &[1, 3]), &[2, 3][..]),
            (points(2, &[1, 2, 0]), &[2, 3]),
            (points(1, &[1, 2]), &[2, 3]),
            (points(0, &[1]), &[]),
        ] {
            assert!(bad.check(shape).is_err(), "{bad:?}");
        }
        let none = points(0, &[]);
        assert_eq!((none.count(&[]), none.elements(&[]).unwrap().count()), (Some(0), 0));
    }

    #[test]
    fn scalars_have_one_element() {
        assert_eq!(Selection::All.elements(&[]).unwrap().collect::<Vec<_>>(), [[]]);
        assert_eq!(Selection::None.elements(&[3]).unwrap().next(), None);
    }

    #[test]
    fn huge_selections_take_no_time_until_iterated() {
        let shape = [u64::MAX, u64::MAX];
        let mut elements = Selection::All.elements(&shape).unwrap();
        assert_eq!(elements.next_element(), Some(&[0, 0][..]));
        assert_eq!(elements.next_element(), Some(&[0, 1][..]));
        assert_eq!(Selection::All.count(&shape), None);
    }

    proptest! {
        #[test]
        fn blocks_are_iterated_in_order((shape, region) in shape_and_region(), times in 0..3_usize) {
            let blocks = Selection::Blocks(vec![region.clone(); times]);
            let elements = blocks.elements(&shape).unwrap();
            prop_assert_eq!(Some(elements.size_hint().0 as u64), blocks.count(&shape));
            prop_assert_eq!(elements.collect::<Vec<_>>(), vec![elements_of(&region); times].concat());
            let one = Selection::Region(region.clone());
            prop_assert_eq!(one.elements(&shape).unwrap().collect::<Vec<_>>(), elements_of(&region));
        }
    }
}
