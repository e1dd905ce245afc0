//! `cargo xtask bench read`: the reading engine beside other readers and beside what the machine allows.

mod rows;

use super::compare::Comparison;

pub(super) const COMPARISON: Comparison = Comparison {
    name: "read",
    title: "Speed and memory of reading",
    about: "",
    command: false,
    rows: rows::rows,
};
