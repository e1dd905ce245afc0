//! `transpose`: stores dimensions in another order.
//!
//! Spec: Zarr v3 "Transpose codec"

use crate::json::{Json, Spot};
use crate::metadata::Extension;
use hyperslab_core::{Error, Result};

/// Dimension `i` of the output of the codec is dimension `order[i]` of its input.
pub(super) fn parse(codec: &Extension, rank: usize, at: &Spot<'_>) -> Result<Vec<usize>> {
    let inner = at.name("configuration");
    let here = inner.name("order");
    let order = match codec.configured(at)?.required("order", &inner)? {
        // Drafts of the specification used "C" and "F" for the unchanged and the reversed order.
        Json::String(name) if name == "C" => (0..rank as u64).collect(),
        Json::String(name) if name == "F" => (0..rank as u64).rev().collect(),
        json => json.unsigned_array(&here)?,
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank as u64) {
        return Err(here.malformed(format!("{order:?}, expected each of {rank} dimensions once")));
    }
    Ok(order.into_iter().filter_map(|dimension| usize::try_from(dimension).ok()).collect())
}

/// The composition of two permutations.
pub(super) fn then(first: Option<&[usize]>, next: &[usize]) -> Vec<usize> {
    match first {
        Some(first) => next.iter().filter_map(|dimension| first.get(*dimension).copied()).collect(),
        None => next.to_vec(),
    }
}

/// The shape of the output.
pub(super) fn shape(order: &[usize], shape: &[u64]) -> Vec<u64> {
    order.iter().filter_map(|dimension| shape.get(*dimension).copied()).collect()
}

/// Fills `rows` in the order of `shape` from rows whose dimension `i` is dimension `order[i]` of it.
pub(super) fn undo(stored: &[u8], order: &[usize], shape: &[u64], row: usize, rows: &mut [u8]) -> Result<()> {
    let wrong = || Error::malformed("a chunk whose size does not match its shape");
    // The stride in stored bytes along each dimension of the array.
    let mut strides = vec![0; shape.len()];
    let mut stride = row;
    for dimension in order.iter().rev() {
        *strides.get_mut(*dimension).ok_or_else(wrong)? = stride;
        let len = shape.get(*dimension).and_then(|len| usize::try_from(*len).ok()).ok_or_else(wrong)?;
        stride = stride.checked_mul(len).ok_or_else(wrong)?;
    }
    if stride != stored.len() || stored.len() != rows.len() {
        return Err(wrong());
    }
    let (Some((last_len, outer)), Some((last_stride, outer_strides))) =
        (shape.split_last(), strides.split_last())
    else {
        rows.copy_from_slice(stored);
        return Ok(());
    };
    let line = usize::try_from(*last_len).ok().and_then(|len| len.checked_mul(row)).ok_or_else(wrong)?;
    let mut index = vec![0_u64; outer.len()];
    let mut base = 0_usize;
    for line in rows.chunks_exact_mut(line.max(1)) {
        let from = stored.get(base..).ok_or_else(wrong)?;
        match row {
            1 => copy::<1>(from, *last_stride, line),
            2 => copy::<2>(from, *last_stride, line),
            4 => copy::<4>(from, *last_stride, line),
            8 => copy::<8>(from, *last_stride, line),
            16 => copy::<16>(from, *last_stride, line),
            _ => {
                for (to, from) in line.chunks_exact_mut(row).zip(from.chunks(*last_stride)) {
                    to.copy_from_slice(from.get(..row).ok_or_else(wrong)?);
                }
            }
        }
        for ((place, len), stride) in index.iter_mut().zip(outer).zip(outer_strides).rev() {
            *place += 1;
            base += stride;
            if *place < *len {
                break;
            }
            base -= stride * usize::try_from(*len).map_err(|_| wrong())?;
            *place = 0;
        }
    }
    Ok(())
}

/// The inverse of [`undo`].
pub(super) fn apply(rows: &[u8], order: &[usize], of: &[u64], row: usize, out: &mut [u8]) -> Result<()> {
    let mut inverse = vec![0; order.len()];
    for (dimension, from) in order.iter().enumerate() {
        if let Some(inverse) = inverse.get_mut(*from) {
            *inverse = dimension;
        }
    }
    undo(rows, &inverse, &shape(order, of), row, out)
}

/// Copies one row of `N` bytes from every `stride` bytes.
fn copy<const N: usize>(from: &[u8], stride: usize, line: &mut [u8]) {
    for (to, from) in line.as_chunks_mut::<N>().0.iter_mut().zip(from.chunks(stride)) {
        if let Some(from) = from.first_chunk() {
            *to = *from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restores_the_order_of_the_array() {
        // An array of 2 x 3 x 4, stored as 4 x 2 x 3: each element is its own index in the array.
        let (shape, order) = ([2, 3, 4], [2, 0, 1]);
        let mut stored = Vec::new();
        for k in 0..4_u16 {
            for i in 0..2_u16 {
                for j in 0..3_u16 {
                    stored.extend((i * 12 + j * 4 + k).to_le_bytes());
                }
            }
        }
        let expected: Vec<u8> = (0..24_u16).flat_map(u16::to_le_bytes).collect();
        let mut rows = [0; 48];
        undo(&stored, &order, &shape, 2, &mut rows).unwrap();
        assert_eq!(rows, expected[..]);
        let mut back = [0; 48];
        apply(&rows, &order, &shape, 2, &mut back).unwrap();
        assert_eq!(back, stored[..]);
        assert!(undo(&stored[2..], &order, &shape, 2, &mut rows).is_err());
        let mut one = [0];
        undo(&[7], &[], &[], 1, &mut one).unwrap();
        assert_eq!(one, [7]);
    }

    #[test]
    fn rows_of_any_size_round_trip() {
        let shape = [3, 1, 4, 2];
        for row in [1, 2, 3, 4, 8, 11, 16] {
            let rows: Vec<u8> = (0..24 * row).map(|at| u8::try_from(at % 251).unwrap()).collect();
            for order in [[3, 2, 1, 0], [0, 1, 2, 3], [1, 3, 0, 2]] {
                let (mut stored, mut back) = (vec![0; rows.len()], vec![0; rows.len()]);
                apply(&rows, &order, &shape, row, &mut stored).unwrap();
                undo(&stored, &order, &shape, row, &mut back).unwrap();
                assert_eq!(back, rows);
            }
        }
    }

    #[test]
    fn composes_permutations() {
        assert_eq!(then(None, &[2, 0, 1]), [2, 0, 1]);
        assert_eq!(then(Some(&[2, 0, 1]), &[1, 2, 0]), [0, 1, 2]);
    }
}
