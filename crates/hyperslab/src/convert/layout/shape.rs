//! Shapes of chunks and shards with about a given number of bytes.

/// A shape of at most `bytes` bytes, for elements of `row` bytes. It has more than a third of that size if the
/// dimensions and the chunks of the source allow it.
///
/// If the chunks of the `source` are smaller, they are doubled, first along the dimension with the most chunks, so that
/// each new chunk consists of whole old ones. If they are larger, or the source is contiguous, the longest side (the
/// outermost of several equal ones) is divided until the shape fits. A chunk is divided into two or three equal parts
/// if possible, so that each old chunk consists of whole new ones. No side exceeds its limit.
pub(super) fn about(bytes: u64, row: u64, limits: &[u64], source: Option<&[u64]>) -> Vec<u64> {
    let whole: Vec<u64> = limits.iter().map(|limit| (*limit).max(1)).collect();
    let Some(source) = source else {
        let mut shape = whole;
        let may = vec![true; shape.len()];
        halve(&mut shape, &may, row, bytes);
        return shape;
    };
    let mut shape: Vec<u64> =
        source.iter().zip(&whole).map(|(side, limit)| (*side).clamp(1, *limit)).collect();
    match bytes_of(&shape, row) > u128::from(bytes) {
        true => shorten(&mut shape, &vec![true; whole.len()], row, bytes, divided),
        false => grow(&mut shape, &whole, row, bytes),
    }
    shape
}

/// Halves the sides in `may` until the shape has at most `bytes` bytes or no side can be halved.
pub(super) fn halve(shape: &mut [u64], may: &[bool], row: u64, bytes: u64) {
    shorten(shape, may, row, bytes, |side| side.div_ceil(2));
}

fn shorten(shape: &mut [u64], may: &[bool], row: u64, bytes: u64, shorter: impl Fn(u64) -> u64) {
    while bytes_of(shape, row) > u128::from(bytes) {
        let sides = shape.iter_mut().zip(may).filter(|(side, may)| **may && **side > 1);
        // `max_by_key` returns the last of several maxima.
        let Some(side) = sides.map(|(side, _)| side).rev().max_by_key(|side| **side) else { return };
        *side = shorter(*side);
    }
}

/// The length of a part when a side is divided into as few parts as possible, of equal length if possible.
fn divided(side: u64) -> u64 {
    match side {
        even if even % 2 == 0 => even / 2,
        odd if odd % 3 == 0 => odd / 3,
        odd => odd.div_ceil(2),
    }
}

/// Doubles sides up to their limits while the shape has at most `bytes` bytes.
pub(super) fn grow(shape: &mut [u64], limits: &[u64], row: u64, bytes: u64) {
    loop {
        let mut open: Vec<(usize, u64)> = shape
            .iter()
            .zip(limits)
            .enumerate()
            .filter(|(_, (side, limit))| side < limit)
            .map(|(dimension, (side, limit))| (dimension, limit.div_ceil((*side).max(1))))
            .collect();
        // Of the dimensions with the largest number of chunks, the innermost gives the longest contiguous runs.
        open.sort_by_key(|(dimension, left)| std::cmp::Reverse((*left, *dimension)));
        let grown = open.into_iter().any(|(dimension, _)| {
            let (Some(side), Some(limit)) = (shape.get(dimension).copied(), limits.get(dimension)) else {
                return false;
            };
            let set =
                |shape: &mut [u64], to: u64| shape.iter_mut().skip(dimension).take(1).for_each(|s| *s = to);
            set(shape, side.saturating_mul(2).clamp(1, *limit));
            let fits = bytes_of(shape, row) <= u128::from(bytes);
            if !fits {
                set(shape, side);
            }
            fits
        });
        if !grown {
            return;
        }
    }
}

fn bytes_of(shape: &[u64], row: u64) -> u128 {
    shape.iter().fold(u128::from(row.max(1)), |bytes, side| bytes.saturating_mul(u128::from(*side)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn chooses_usual_shapes_for_typical_arrays() {
        for (bytes, row, limits, source, expected) in [
            (4 * MIB, 4, &[240, 1024, 1024][..], None, &[120, 64, 128][..]),
            (4 * MIB, 4, &[240, 1024, 1024], Some(&[8, 256, 256][..]), &[16, 256, 256]),
            (16 * MIB, 4, &[240, 1024, 1024], Some(&[1, 1024, 1024]), &[4, 1024, 1024]),
            (MIB, 4, &[240, 1024, 1024], Some(&[1, 1024, 1024]), &[1, 512, 512]),
            (4 * MIB, 8, &[1_000_000, 2], None, &[250_000, 2]),
            (MIB, 8, &[100, 20], None, &[100, 20]),
            (MIB, 8, &[100, 20], Some(&[10, 20]), &[100, 20]),
            (MIB, 4, &[900, 900], Some(&[300, 300]), &[300, 600]),
            (MIB, 8, &[], None, &[]),
            (MIB, 8, &[0, 5], None, &[1, 5]),
            (1, 8, &[1000, 1000], None, &[1, 1]),
        ] {
            assert_eq!(about(bytes, row, limits, source), expected, "{bytes} {row} {limits:?} {source:?}");
        }
    }

    #[test]
    fn sizes_beyond_64_bits_do_not_overflow() {
        let shape = about(MIB, u64::MAX, &[u64::MAX; 40], None);
        assert_eq!(shape, [1; 40]);
        assert!(about(MIB, 1, &[u64::MAX; 40], Some(&[1; 40])).iter().all(|side| *side <= 2));
    }

    proptest! {
        #[test]
        fn shapes_keep_the_limits_and_are_near_the_requested_size(
            dims in prop::collection::vec((1..5000_u64, 1..5000_u64), 1..5),
            chunked in any::<bool>(),
            row in 1..32_u64,
            bytes in 1..(64 * MIB),
        ) {
            let limits: Vec<u64> = dims.iter().map(|(limit, _)| *limit).collect();
            let source: Vec<u64> = dims.iter().map(|(limit, side)| side.min(limit)).copied().collect();
            let shape = about(bytes, row, &limits, chunked.then_some(source.as_slice()));
            prop_assert!(shape.iter().zip(&limits).all(|(side, limit)| (1..=*limit).contains(side)));
            let size = bytes_of(&shape, row);
            prop_assert!(size <= u128::from(bytes) || shape.iter().all(|side| *side == 1));
            let whole = bytes_of(&limits, row) <= u128::from(bytes);
            prop_assert_eq!(shape == limits, whole || limits.iter().all(|limit| *limit == 1));
            // Rounding up halves of short odd sides can leave a little more room than a third.
            let all_short = shape.iter().all(|side| *side < 8);
            let cut = !chunked || bytes_of(&source, row) > u128::from(bytes);
            prop_assert!(whole || all_short || !cut || size * 4 > u128::from(bytes), "{:?}", shape);
            // No side could be doubled within the limits.
            for (dimension, (side, limit)) in shape.iter().zip(&limits).enumerate().filter(|_| !cut) {
                let mut longer = shape.clone();
                longer[dimension] = (side * 2).min(*limit);
                prop_assert!(longer == shape || bytes_of(&longer, row) > u128::from(bytes));
            }
        }

        #[test]
        fn larger_chunks_consist_of_whole_smaller_chunks(
            dims in prop::collection::vec((1..500_u64, 1..60_u64), 1..4),
            bytes in 1..(4 * MIB),
        ) {
            let limits: Vec<u64> = dims.iter().map(|(limit, _)| *limit).collect();
            let source: Vec<u64> = dims.iter().map(|(limit, side)| side.min(limit)).copied().collect();
            prop_assume!(bytes_of(&source, 4) <= u128::from(bytes));
            let shape = about(bytes, 4, &limits, Some(&source));
            for ((side, limit), old) in shape.iter().zip(&limits).zip(&source) {
                prop_assert!(side == limit || side % old == 0);
            }
        }
    }
}
