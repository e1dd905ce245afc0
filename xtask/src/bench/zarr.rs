//! `cargo xtask bench zarr`: reading and writing Zarr compared with other libraries.

mod rows;

use super::compare::Comparison;

pub(super) const COMPARISON: Comparison = Comparison {
    name: "zarr",
    title: "Speed of Zarr",
    about: "All sides read the same stores, made by zarr-python, and write the same elements from memory into new \
            ones, which another\nlibrary reads to find out what is in them; what is written is removed before it \
            goes to a disk. tensorstore does not wait for\nthe disk either. zarrs-python is zarr-python with the \
            codecs of zarrs.\n\n",
    command: false,
    rows: rows::rows,
};
