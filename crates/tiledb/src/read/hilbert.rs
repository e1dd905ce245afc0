//! The Hilbert curve, by John Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 2004.
//!
//! Spec: TileDB format_spec does not describe it; `hilbert` as cell order in array_schema.md

/// The number of bits of each coordinate, given the number of coordinates: together they fit in 63 bits, as TileDB
/// requires.
pub(super) fn bits(dimensions: usize) -> u32 {
    63 / u32::try_from(dimensions.max(1)).unwrap_or(63).min(63)
}

/// The position on the curve of a point whose coordinates have this number of bits. Overwrites the coordinates.
pub(super) fn place(point: &mut [u64], bits: u32) -> u64 {
    transpose(point, bits);
    let mut place = 0;
    for bit in (0..bits).rev() {
        for coordinate in point.iter() {
            place = place << 1 | coordinate >> bit & 1;
        }
    }
    place
}

/// Converts coordinates to the bits of the position, spread over the coordinates.
fn transpose(point: &mut [u64], bits: u32) {
    let Some((first, rest)) = point.split_first_mut() else { return };
    for bit in (1..bits).rev() {
        let (above, below) = (1_u64 << bit, (1_u64 << bit) - 1);
        if *first & above != 0 {
            *first ^= below;
        }
        for other in rest.iter_mut() {
            if *other & above != 0 {
                *first ^= below;
            } else {
                let exchanged = (*first ^ *other) & below;
                *first ^= exchanged;
                *other ^= exchanged;
            }
        }
    }
    // Gray code.
    let mut before = *first;
    for other in rest.iter_mut() {
        *other ^= before;
        before = *other;
    }
    let mut folded = before;
    for bit in (1..bits).rev() {
        if before & 1 << bit != 0 {
            folded ^= (1 << bit) - 1;
        }
    }
    // What folding changed is undone in the last coordinate by its own change.
    let changed = before ^ folded;
    point.iter_mut().for_each(|coordinate| *coordinate ^= changed);
}

/// The maximum number of dimensions of a curve in TileDB.
pub(super) const MAX_DIMENSIONS: usize = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_visits_all_neighbours_once() {
        let bits = 4;
        let mut cells: Vec<(u64, [u64; 2])> = Vec::new();
        for x in 0..16 {
            for y in 0..16 {
                cells.push((place(&mut [x, y], bits), [x, y]));
            }
        }
        cells.sort_unstable();
        for (number, pair) in cells.windows(2).enumerate() {
            let [(place, a), (_, b)] = pair else { unreachable!() };
            assert_eq!(*place, number as u64);
            assert_eq!(a[0].abs_diff(b[0]) + a[1].abs_diff(b[1]), 1, "{a:?} {b:?}");
        }
    }

    #[test]
    fn places_are_those_of_the_library() {
        // From the figure in the source of the TileDB library.
        let expected =
            [([0, 0], 0), ([1, 0], 1), ([0, 1], 3), ([2, 3], 9), ([1, 1], 2), ([15, 0], 255), ([6, 0], 20)];
        for (point, on_curve) in expected {
            assert_eq!(place(&mut point.clone(), 4), on_curve, "{point:?}");
        }
    }

    #[test]
    fn bits_of_all_coordinates_fit_in_63() {
        assert_eq!([1, 2, 3, 15].map(bits), [63, 31, 21, 4]);
    }
}
