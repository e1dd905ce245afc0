//! Extracts boxes from tiles with any cell order.

use super::fragment_grid::IndexBox;
use crate::format::layout::Layout;
use hyperslab_core::nd::advance;
use hyperslab_core::{Error, Result};
use std::cmp::Ordering;
use std::ops::Range;

/// Replaces `out` with the rows of a box within a tile, in row-major order. The tile has `shape`, its rows are in
/// `order`, and the box counts from its first cell.
pub(crate) fn box_rows(
    tile: &[u8],
    order: Layout,
    shape: &[u64],
    of: &IndexBox,
    row: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let strides = strides(order, shape, row)?;
    let first = of.first.iter().map(|first| usize::try_from(*first).unwrap_or(usize::MAX));
    let starts = first
        .zip(&strides)
        .try_fold(0_usize, |sum, (first, stride)| sum.checked_add(first.checked_mul(*stride)?));
    let start = starts.ok_or_else(outside)?;
    let counts: Vec<usize> =
        of.shape().iter().map(|count| usize::try_from(*count).unwrap_or(usize::MAX)).collect();
    let (Some((inner, outer)), Some((inner_stride, outer_strides))) =
        (counts.split_last(), strides.split_last())
    else {
        return Err(outside());
    };
    out.clear();
    let mut at = vec![0_usize; outer.len()];
    loop {
        let offset = at
            .iter()
            .zip(outer_strides)
            .try_fold(start, |sum: usize, (at, stride)| sum.checked_add(at.checked_mul(*stride)?));
        let from = offset.and_then(|offset| tile.get(offset..)).ok_or_else(outside)?;
        if *inner_stride == row {
            let run = inner.checked_mul(row).and_then(|len| from.get(..len));
            out.extend_from_slice(run.ok_or_else(outside)?);
        } else {
            let mut runs = from.chunks(*inner_stride);
            for _ in 0..*inner {
                let cell = runs.next().and_then(|run| run.get(..row));
                out.extend_from_slice(cell.ok_or_else(outside)?);
            }
        }
        if !advance(&mut at, outer) {
            return Ok(());
        }
    }
}

/// The boxes of a tile whose cells are consecutive at these positions, in their order.
pub(crate) fn cell_boxes(cells: Range<u64>, order: Layout, shape: &[u64]) -> Vec<IndexBox> {
    // The dimension along which cells are consecutive is the last.
    let shape: Vec<u64> = match order {
        Layout::ColMajor => shape.iter().rev().copied().collect(),
        _ => shape.to_vec(),
    };
    let mut stride = 1_u64;
    let mut strides: Vec<u64> = shape
        .iter()
        .rev()
        .map(|size| {
            let next = stride.saturating_mul(*size).max(1);
            std::mem::replace(&mut stride, next)
        })
        .collect();
    strides.reverse();
    let (mut boxes, mut start) = (Vec::new(), cells.start);
    while start < cells.end {
        // The outermost dimension along which there are whole steps.
        let is_whole = |stride: &u64| start.is_multiple_of(*stride) && cells.end - start >= *stride;
        let (along, stride) = match strides.iter().position(is_whole) {
            Some(along) => (along, strides.get(along).copied().unwrap_or(1)),
            None => break,
        };
        let mut of = IndexBox { first: Vec::new(), last: Vec::new() };
        let mut count = 1;
        for (dimension, (size, step)) in shape.iter().zip(&strides).enumerate() {
            let index = start / step % size.max(&1);
            let more = match dimension.cmp(&along) {
                Ordering::Less => 1,
                Ordering::Equal => {
                    count = ((cells.end - start) / stride).min(size.saturating_sub(index)).max(1);
                    count
                }
                Ordering::Greater => (*size).max(1),
            };
            of.first.push(index);
            of.last.push(index.saturating_add(more).saturating_sub(1));
        }
        start = start.saturating_add(count.saturating_mul(stride));
        if order == Layout::ColMajor {
            of.first.reverse();
            of.last.reverse();
        }
        boxes.push(of);
    }
    boxes
}

/// The distance in bytes between neighbours along each dimension.
pub(crate) fn strides(order: Layout, shape: &[u64], row: usize) -> Result<Vec<usize>> {
    let mut stride = row;
    let mut strides = vec![0; shape.len()];
    let mut place = |(of, size): (&mut usize, &u64)| {
        *of = stride;
        let size = usize::try_from(*size).ok();
        stride = size.and_then(|size| stride.checked_mul(size)).ok_or_else(outside)?;
        Ok::<(), Error>(())
    };
    let mut pairs = strides.iter_mut().zip(shape);
    match order {
        Layout::ColMajor => pairs.try_for_each(&mut place)?,
        _ => pairs.rev().try_for_each(&mut place)?,
    }
    Ok(strides)
}

#[cold]
pub(crate) fn outside() -> Error {
    Error::invalid("a box outside its tile")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_tile_are_boxes() {
        let boxes = |cells, order| {
            let boxes = cell_boxes(cells, order, &[2, 3, 4]);
            boxes.into_iter().map(|of| (of.first, of.last)).collect::<Vec<_>>()
        };
        assert_eq!(boxes(0..24, Layout::RowMajor), [(vec![0, 0, 0], vec![1, 2, 3])]);
        assert_eq!(
            boxes(2..21, Layout::RowMajor),
            [
                (vec![0, 0, 2], vec![0, 0, 3]),
                (vec![0, 1, 0], vec![0, 2, 3]),
                (vec![1, 0, 0], vec![1, 1, 3]),
                (vec![1, 2, 0], vec![1, 2, 0]),
            ]
        );
        assert_eq!(boxes(2..4, Layout::ColMajor), [(vec![0, 1, 0], vec![1, 1, 0])]);
        assert_eq!(boxes(3..3, Layout::RowMajor), []);
        let all = |order| {
            let cells = |cells| {
                boxes(cells, order)
                    .iter()
                    .map(|(a, b)| a.iter().zip(b).map(|(a, b)| b - a + 1).product::<u64>())
                    .sum::<u64>()
            };
            (0..24).all(|start| (start..=24).all(|end| cells(start..end) == end - start))
        };
        assert!(all(Layout::RowMajor) && all(Layout::ColMajor));
    }

    #[test]
    fn boxes_of_both_orders_are_row_major() {
        let of = IndexBox { first: vec![0, 1], last: vec![1, 2] };
        let mut out = Vec::new();
        box_rows(b"abcdef", Layout::RowMajor, &[2, 3], &of, 1, &mut out).unwrap();
        assert_eq!(out, b"bcef");
        box_rows(b"adbecf", Layout::ColMajor, &[2, 3], &of, 1, &mut out).unwrap();
        assert_eq!(out, b"bcef");
        box_rows(b"AaDdBbEeCcFf", Layout::ColMajor, &[2, 3], &of, 2, &mut out).unwrap();
        assert_eq!(out, b"BbCcEeFf");
        assert!(box_rows(b"abcde", Layout::RowMajor, &[2, 3], &of, 1, &mut out).is_err());
    }
}
