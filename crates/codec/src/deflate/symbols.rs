//! The symbols of deflate and their meaning.
//!
//! Spec: RFC 1951, 3.2.5 and 3.2.7

/// The symbols of literals, the end of the block, and lengths.
pub(super) const SYMBOLS: usize = 286;
/// The symbol of the end of a block. Smaller symbols are literals, larger ones are lengths.
pub(super) const END: usize = 256;

/// The symbols of the code of code lengths, and the order in which their lengths are stored.
pub(super) const CODE_LENGTHS: usize = 19;
pub(super) const ORDER: [usize; CODE_LENGTHS] =
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The first length of each symbol except the last, and the number of its extra bits.
pub(super) const LENGTHS: [(usize, u32); 28] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
];

/// The number of extra bits of the symbol of a distance.
pub(super) fn distance_extra(symbol: usize) -> usize {
    (symbol / 2).saturating_sub(1)
}
