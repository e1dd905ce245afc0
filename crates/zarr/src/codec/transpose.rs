//! `transpose`: dimensions in another order.
//!
//! Spec: Zarr v3 "Transpose codec"

use crate::json::{Json, Spot};
use crate::metadata::Extension;
use bytes::Bytes;
use hyperslab_core::{Error, Result};

/// Dimension `i` of what the codec makes is dimension `order[i]` of what it gets.
pub(super) fn parse(codec: &Extension, rank: usize, at: &Spot<'_>) -> Result<Vec<usize>> {
    let inner = at.name("configuration");
    let here = inner.name("order");
    let order = match codec.configured(at)?.required("order", &inner)? {
        // Drafts had names for the order as it is and for the opposite one.
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

/// What one permutation after another makes.
pub(super) fn then(first: Option<&[usize]>, next: &[usize]) -> Vec<usize> {
    match first {
        Some(first) => next.iter().filter_map(|dimension| first.get(*dimension).copied()).collect(),
        None => next.to_vec(),
    }
}

/// Rows in the order of `shape`, of rows whose dimension `i` is dimension `order[i]` of it.
pub(super) fn undo(stored: &[u8], order: &[usize], shape: &[u64], row: usize) -> Result<Bytes> {
    let wrong = || Error::malformed("a chunk that is not as large as its shape");
    // How far apart neighbours along a dimension of the array lie as stored.
    let mut strides = vec![0; shape.len()];
    let mut stride = row;
    for dimension in order.iter().rev() {
        *strides.get_mut(*dimension).ok_or_else(wrong)? = stride;
        let len = shape.get(*dimension).and_then(|len| usize::try_from(*len).ok()).ok_or_else(wrong)?;
        stride = stride.checked_mul(len).ok_or_else(wrong)?;
    }
    if stride != stored.len() {
        return Err(wrong());
    }
    let (Some((last_len, outer)), Some((last_stride, outer_strides))) =
        (shape.split_last(), strides.split_last())
    else {
        return Ok(Bytes::copy_from_slice(stored));
    };
    let mut rows = Vec::with_capacity(stored.len());
    let mut index = vec![0_u64; outer.len()];
    let mut base = 0_usize;
    while rows.len() < stored.len() {
        let mut from = base;
        for _ in 0..*last_len {
            rows.extend_from_slice(stored.get(from..from + row).ok_or_else(wrong)?);
            from += last_stride;
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
    Ok(rows.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_return_to_the_order_of_the_array() {
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
        let rows = undo(&stored, &order, &shape, 2).unwrap();
        let expected: Vec<u8> = (0..24_u16).flat_map(u16::to_le_bytes).collect();
        assert_eq!(rows, expected);
        assert!(undo(&stored[2..], &order, &shape, 2).is_err());
        assert_eq!(undo(&[7], &[], &[], 1).unwrap(), &[7][..]);
    }

    #[test]
    fn permutations_follow_one_another() {
        assert_eq!(then(None, &[2, 0, 1]), [2, 0, 1]);
        assert_eq!(then(Some(&[2, 0, 1]), &[1, 2, 0]), [0, 1, 2]);
    }
}
