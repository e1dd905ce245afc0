//! The elements of a selection, in the order in which two selections are paired.

use super::axis::Axis;
use crate::format::encoding::DataspaceSelection;
use crate::format::encoding::selection::hyperslab::{Blocks, Dimension};
use hyperslab_core::nd::{Region, advance, element_count};
use hyperslab_core::{Error, ErrorKind, Result};

/// Indexes along one dimension, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Indexes {
    /// Blocks at equal distances. The last one can be shorter.
    Blocks {
        start: u64,
        /// At least `block`.
        stride: u64,
        /// At least 1.
        block: u64,
        /// The number of indexes.
        len: u64,
    },
    /// Runs of any length, with gaps between them.
    Pieces(Vec<Piece>),
}

/// A run of consecutive indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    start: u64,
    /// The number of indexes in the runs before it.
    before: u64,
    len: u64,
}

/// Selected elements of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Elements {
    /// All combinations of indexes, in row-major order.
    Product(Vec<Indexes>),
    /// Runs of elements, one after the other.
    Runs(Vec<Run>),
}

/// Elements that are neighbours along the last dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The coordinates of the first element.
    pub(super) at: Vec<u64>,
    /// The number of elements in the runs before it.
    pub(super) before: u64,
    pub(super) len: u64,
}

impl Indexes {
    pub(super) fn all(size: u64) -> Indexes {
        Indexes::Blocks { start: 0, stride: size.max(1), block: size.max(1), len: size }
    }

    /// The indexes of a hyperslab along a dimension. An unlimited one has `u64::MAX`.
    pub(super) fn of(dimension: &Dimension) -> Result<Indexes> {
        let Dimension { start, stride, count, block } = *dimension;
        if count == 0 || block == 0 {
            return Ok(Indexes::Blocks { start, stride: 1, block: 1, len: 0 });
        }
        let len = match (count, block) {
            (u64::MAX, _) | (_, u64::MAX) => u64::MAX,
            _ => count.checked_mul(block).ok_or_else(beyond)?,
        };
        if count == 1 || block == u64::MAX || stride == block {
            return Ok(Indexes::Blocks { start, stride: len, block: len, len });
        }
        if stride < block {
            return Err(Error::malformed(format!(
                "hyperslab stride {stride}, expected at least the block {block}"
            )));
        }
        Ok(Indexes::Blocks { start, stride, block, len })
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Indexes::Blocks { len, .. } => *len,
            Indexes::Pieces(pieces) => pieces.last().map_or(0, |last| last.before.saturating_add(last.len)),
        }
    }

    /// The index at a position.
    pub(super) fn at(&self, place: u64) -> Option<u64> {
        match self {
            Indexes::Blocks { start, stride, block, len } if place < *len => {
                start.checked_add((place / block).checked_mul(*stride)?)?.checked_add(place % block)
            }
            Indexes::Blocks { .. } => None,
            Indexes::Pieces(pieces) => {
                let piece = pieces.get(pieces.partition_point(|p| p.before <= place).checked_sub(1)?)?;
                let within = place.checked_sub(piece.before).filter(|within| *within < piece.len)?;
                piece.start.checked_add(within)
            }
        }
    }

    /// The number of indexes below `index`.
    pub(super) fn before(&self, index: u64) -> u64 {
        match self {
            Indexes::Blocks { start, stride, block, len } => {
                let Some(left) = index.checked_sub(*start) else { return 0 };
                let whole = (left / stride).saturating_mul(*block);
                whole.saturating_add((left % stride).min(*block)).min(*len)
            }
            Indexes::Pieces(pieces) => {
                let piece = pieces.partition_point(|piece| piece.start < index).checked_sub(1);
                piece.and_then(|piece| pieces.get(piece)).map_or(0, |piece| {
                    piece.before.saturating_add(index.saturating_sub(piece.start).min(piece.len))
                })
            }
        }
    }

    /// The number of consecutive indexes from a position on.
    fn neighbours(&self, place: u64) -> u64 {
        match self {
            Indexes::Blocks { block, len, .. } => (block - place % block).min(len.saturating_sub(place)),
            Indexes::Pieces(pieces) => {
                let piece = pieces.partition_point(|p| p.before <= place).checked_sub(1);
                piece
                    .and_then(|piece| pieces.get(piece))
                    .map_or(0, |piece| piece.before.saturating_add(piece.len).saturating_sub(place))
            }
        }
    }

    /// The first `len` indexes.
    pub(super) fn first(&self, max: u64) -> Indexes {
        match self {
            Indexes::Blocks { start, stride, block, len } => {
                Indexes::Blocks { start: *start, stride: *stride, block: *block, len: max.min(*len) }
            }
            Indexes::Pieces(_) => self.clone(),
        }
    }
}

impl Elements {
    /// The elements of `selection` in an array of `extents`. An unlimited dimension has `u64::MAX` indexes.
    ///
    /// # Errors
    /// If the rank differs, or blocks or points are outside the array.
    pub(super) fn of(selection: &DataspaceSelection, extents: &[u64]) -> Result<Elements> {
        let rank = selection.rank().map_or(extents.len(), |rank| usize::try_from(rank).unwrap_or(usize::MAX));
        if rank != extents.len() {
            return Err(Error::malformed(format!(
                "selection of {rank} dimensions in a dataspace of {}",
                extents.len()
            )));
        }
        match selection {
            DataspaceSelection::None => Ok(Elements::Runs(Vec::new())),
            DataspaceSelection::All => {
                Ok(Elements::Product(extents.iter().map(|size| Indexes::all(*size)).collect()))
            }
            DataspaceSelection::Points(points) => {
                let coordinates = points.coordinates.chunks_exact(rank.max(1));
                let inside = |at: &[u64]| at.iter().zip(extents).all(|(at, size)| at < size);
                if let Some(at) = coordinates.clone().find(|at| !inside(at)) {
                    return Err(Error::malformed(format!(
                        "selected point {at:?} is outside of the extent {extents:?}"
                    )));
                }
                let runs = coordinates.zip(0..).map(|(at, before)| Run { at: at.to_vec(), before, len: 1 });
                Ok(Elements::Runs(runs.collect()))
            }
            DataspaceSelection::Hyperslab(hyperslab) => match &hyperslab.blocks {
                Blocks::Regular(dimensions) => {
                    Ok(Elements::Product(dimensions.iter().map(Indexes::of).collect::<Result<_>>()?))
                }
                Blocks::Irregular { bounds, .. } => listed(bounds, extents),
            },
        }
    }

    /// The number of elements. `None` if it does not fit in a `u64`.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Elements::Product(dimensions) => {
                element_count(&dimensions.iter().map(Indexes::len).collect::<Vec<_>>())
            }
            Elements::Runs(runs) => Some(runs.last().map_or(0, |last| last.before.saturating_add(last.len))),
        }
    }

    /// Whether an element may be in `region`. False only if none of them is.
    pub(super) fn may_meet(&self, region: &Region) -> bool {
        match self {
            Elements::Product(dimensions) => {
                dimensions.iter().zip(Axis::all(region)).all(|(own, axis)| axis.may_meet(own))
            }
            Elements::Runs(runs) => runs.iter().any(|run| {
                let mut inside = run.at.iter().zip(Axis::all(region)).rev();
                let last = inside.next().is_none_or(|(at, axis)| axis.meets(*at, at.saturating_add(run.len)));
                last && inside.all(|(at, axis)| axis.meets(*at, at.saturating_add(1)))
            }),
        }
    }

    /// The end of the indexes along each dimension, unless it is unlimited.
    pub(super) fn ends(&self, rank: usize) -> Vec<u64> {
        match self {
            Elements::Product(dimensions) => {
                let end = |own: &Indexes| own.at(own.len().checked_sub(1)?)?.checked_add(1);
                dimensions.iter().map(|own| end(own).unwrap_or(0)).collect()
            }
            Elements::Runs(runs) => {
                let mut ends = vec![0; rank];
                for run in runs {
                    for (dimension, (end, at)) in ends.iter_mut().zip(&run.at).enumerate() {
                        let len = if dimension + 1 == rank { run.len } else { 1 };
                        *end = (*end).max(at.saturating_add(len));
                    }
                }
                ends
            }
        }
    }

    /// The coordinates of the element at a position, and the number of neighbours from it on.
    pub(super) fn run_at(&self, place: u64, at: &mut Vec<u64>) -> Option<u64> {
        at.clear();
        match self {
            Elements::Product(dimensions) => {
                let mut rest = place;
                let mut neighbours = 1;
                for (inner, own) in dimensions.iter().rev().enumerate() {
                    let within = rest.checked_rem(own.len())?;
                    rest /= own.len();
                    at.push(own.at(within)?);
                    if inner == 0 {
                        neighbours = own.neighbours(within);
                    }
                }
                at.reverse();
                (rest == 0).then_some(neighbours)
            }
            Elements::Runs(runs) => {
                let run = runs.get(runs.partition_point(|run| run.before <= place).checked_sub(1)?)?;
                let within = place.checked_sub(run.before).filter(|within| *within < run.len)?;
                at.extend(&run.at);
                if let Some(last) = at.last_mut() {
                    *last = last.checked_add(within)?;
                }
                Some(run.len - within)
            }
        }
    }
}

/// The range of a region along each dimension.
pub(super) fn bounds(region: &Region) -> impl DoubleEndedIterator<Item = (u64, u64)> + ExactSizeIterator {
    region.start.iter().zip(&region.count).zip(&region.step).map(|((start, count), step)| {
        let last = count.saturating_sub(1).saturating_mul(*step);
        (*start, if *count == 0 { *start } else { start.saturating_add(last).saturating_add(1) })
    })
}

/// Boxes given by first and last corners. The library visits all of them together, row by row.
fn listed(corners: &[u64], extents: &[u64]) -> Result<Elements> {
    let rank = extents.len().max(1);
    let mut boxes: Vec<(&[u64], &[u64])> = Vec::new();
    for pair in corners.chunks_exact(rank.saturating_mul(2)) {
        let (first, last) = pair.split_at(rank);
        let inside =
            first.iter().zip(last).zip(extents).all(|((first, last), size)| first <= last && last < size);
        if !inside {
            return Err(Error::malformed(format!(
                "selected block from {first:?} to {last:?} is outside of the extent {extents:?}"
            )));
        }
        boxes.push((first, last));
    }
    boxes.sort_unstable();
    if let Some(product) = product(&boxes, rank) {
        return Ok(Elements::Product(product));
    }
    let rows = |(first, last): &(&[u64], &[u64])| {
        let outer = first.iter().zip(*last).take(rank - 1);
        outer.fold(1_u64, |rows, (first, last)| {
            rows.saturating_mul(last.saturating_sub(*first).saturating_add(1))
        })
    };
    let all = boxes.iter().fold(0_u64, |sum, one| sum.saturating_add(rows(one)));
    let run = (size_of::<Run>() as u64).saturating_add((rank as u64).saturating_mul(8));
    // As many rows as fit in the memory of the list of blocks.
    if all > boxes.len() as u64 && all.saturating_mul(run) > MAX_RUNS {
        let detail = format!("selection of {all} rows in {} blocks", boxes.len());
        return Err(Error::new(ErrorKind::LimitExceeded, detail));
    }
    let mut runs: Vec<Run> = Vec::new();
    for (first, last) in boxes {
        let len = last.last().zip(first.last()).map_or(1, |(last, first)| last - first + 1);
        let outer = first.iter().zip(last).take(rank - 1);
        let counts: Vec<u64> =
            outer.map(|(first, last)| last.saturating_sub(*first).saturating_add(1)).collect();
        let mut steps = vec![0; first.len()];
        loop {
            let at = first.iter().zip(&steps).map(|(first, step)| first + step).collect();
            runs.push(Run { at, before: 0, len });
            if !advance(&mut steps, &counts) {
                break;
            }
        }
    }
    runs.sort_unstable_by(|a, b| a.at.cmp(&b.at));
    let mut before = 0_u64;
    let mut joined: Vec<Run> = Vec::new();
    for mut run in runs {
        if let Some(last) = joined.last_mut()
            && let (Some((at, outer)), Some((own, own_outer))) = (last.at.split_last(), run.at.split_last())
            && outer == own_outer
            && *own < at.saturating_add(last.len)
        {
            // An element in several overlapping blocks counts once.
            let more = own.saturating_add(run.len).saturating_sub(at.saturating_add(last.len));
            last.len = last.len.saturating_add(more);
            before = before.saturating_add(more);
            continue;
        }
        run.before = before;
        before = before.saturating_add(run.len);
        joined.push(run);
    }
    Ok(Elements::Runs(joined))
}

/// The indexes whose combinations are exactly these boxes, which are sorted.
fn product(boxes: &[(&[u64], &[u64])], rank: usize) -> Option<Vec<Indexes>> {
    let mut dimensions = Vec::with_capacity(rank);
    for dimension in 0..rank {
        let of = |(first, last): &(&[u64], &[u64])| Some((*first.get(dimension)?, *last.get(dimension)?));
        let mut spans: Vec<(u64, u64)> = boxes.iter().filter_map(of).collect();
        spans.sort_unstable();
        spans.dedup();
        if spans.iter().zip(spans.iter().skip(1)).any(|((_, last), (first, _))| first <= last) {
            return None;
        }
        let mut before = 0;
        let pieces = spans.iter().map(|(first, last)| {
            let piece = Piece { start: *first, before, len: last - first + 1 };
            before += piece.len;
            piece
        });
        dimensions.push(Indexes::Pieces(pieces.collect()));
    }
    let spans = dimensions.iter().map(|own| match own {
        Indexes::Pieces(pieces) => pieces.len() as u64,
        Indexes::Blocks { .. } => 1,
    });
    let all = spans.fold(1_u64, u64::saturating_mul);
    let distinct = boxes.iter().zip(boxes.iter().skip(1)).all(|(a, b)| a != b);
    (distinct && all == boxes.len() as u64 && !boxes.is_empty()).then_some(dimensions)
}

fn beyond() -> Error {
    Error::malformed("selection of 2^64 elements or more")
}

/// The maximum size of the rows of an irregular selection, in bytes.
const MAX_RUNS: u64 = 12 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::encoding::selection::hyperslab::{HyperslabSelection, HyperslabVersion};

    fn selection(blocks: Blocks) -> DataspaceSelection {
        DataspaceSelection::Hyperslab(HyperslabSelection { version: HyperslabVersion::V2, blocks })
    }

    fn walked(elements: &Elements) -> Vec<Vec<u64>> {
        let mut at = Vec::new();
        (0..elements.count().unwrap())
            .map(|place| {
                elements.run_at(place, &mut at).unwrap();
                at.clone()
            })
            .collect()
    }

    #[test]
    fn indexes_know_their_places() {
        let spaced = Dimension { start: 2, stride: 5, count: 3, block: 2 };
        let pieces = Indexes::Pieces(vec![
            Piece { start: 2, before: 0, len: 2 },
            Piece { start: 7, before: 2, len: 2 },
            Piece { start: 12, before: 4, len: 2 },
        ]);
        for indexes in [Indexes::of(&spaced).unwrap(), pieces] {
            let all: Vec<u64> = (0..indexes.len()).map(|place| indexes.at(place).unwrap()).collect();
            assert_eq!(all, [2, 3, 7, 8, 12, 13]);
            assert_eq!(indexes.at(6), None);
            for index in 0..20 {
                assert_eq!(indexes.before(index), all.iter().filter(|own| **own < index).count() as u64);
            }
            let neighbours: Vec<u64> = (0..6).map(|place| indexes.neighbours(place)).collect();
            assert_eq!(neighbours, [2, 1, 2, 1, 2, 1]);
        }
        let endless = Indexes::of(&Dimension { start: 1, stride: 3, count: u64::MAX, block: 2 }).unwrap();
        assert_eq!((endless.len(), endless.before(8), endless.at(4)), (u64::MAX, 5, Some(7)));
        assert_eq!(endless.first(3).len(), 3);
        let open = Indexes::of(&Dimension { start: 4, stride: 1, count: 1, block: u64::MAX }).unwrap();
        assert_eq!((open.before(10), open.at(7)), (6, Some(11)));
        assert!(Indexes::of(&Dimension { start: 0, stride: 1, count: 2, block: 2 }).is_err());
        assert!(
            Indexes::of(&Dimension { start: 0, stride: 1 << 40, count: 1 << 40, block: 1 << 40 }).is_err()
        );
    }

    #[test]
    fn lists_of_boxes_are_walked_row_by_row() {
        // Two boxes beside each other, the second one row lower.
        let bounds = vec![0, 2, 1, 3, 1, 0, 2, 0];
        let elements = Elements::of(&selection(Blocks::Irregular { rank: 2, bounds }), &[4, 4]).unwrap();
        assert_eq!(walked(&elements), [[0, 2], [0, 3], [1, 0], [1, 2], [1, 3], [2, 0]]);
        assert_eq!(elements.ends(2), [3, 4]);
        assert!(elements.may_meet(&Region::new(vec![2, 0], vec![1, 1])));
        assert!(!elements.may_meet(&Region::new(vec![2, 1], vec![2, 3])));
        // The four corners are a product.
        let bounds = vec![0, 0, 0, 0, 0, 3, 0, 3, 3, 0, 3, 0, 3, 3, 3, 3];
        let elements = Elements::of(&selection(Blocks::Irregular { rank: 2, bounds }), &[4, 4]).unwrap();
        assert!(matches!(elements, Elements::Product(_)));
        assert_eq!(walked(&elements), [[0, 0], [0, 3], [3, 0], [3, 3]]);
        // An element in several overlapping blocks counts once.
        let bounds = vec![0, 0, 1, 1, 0, 1, 0, 2];
        let elements = Elements::of(&selection(Blocks::Irregular { rank: 2, bounds }), &[4, 4]).unwrap();
        assert_eq!(walked(&elements), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]]);
    }

    #[test]
    fn what_lies_outside_is_refused() {
        for bounds in [vec![0, 0, 0, 4], vec![1, 0, 0, 0]] {
            assert!(Elements::of(&selection(Blocks::Irregular { rank: 2, bounds }), &[4, 4]).is_err());
        }
        assert!(
            Elements::of(&selection(Blocks::Irregular { rank: 1, bounds: vec![0, 0] }), &[4, 4]).is_err()
        );
        let many = vec![0, 0, 0, u64::MAX - 2, u64::MAX - 2, 0, 1, 1, 1, 1, 1, 1];
        let e = Elements::of(&selection(Blocks::Irregular { rank: 3, bounds: many }), &[u64::MAX; 3]);
        assert_eq!(e.unwrap_err().kind(), ErrorKind::LimitExceeded);
    }

    #[test]
    fn rows_take_no_more_memory_than_a_list_of_a_file_may() {
        // Two columns, the second one row lower, of so many rows each.
        let columns = |rows: u64| {
            let blocks = Blocks::Irregular { rank: 2, bounds: vec![0, 0, rows - 1, 0, 1, 1, rows, 1] };
            Elements::of(&selection(blocks), &[1 << 40, 2])
        };
        assert_eq!(columns(1 << 16).unwrap().count(), Some(1 << 17));
        assert_eq!(columns(1 << 18).unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
}
