//! `cargo xtask bench read`: reading compared with other readers and with the limits of the machine.

mod rows;

use super::compare::Comparison;

pub(super) const COMPARISON: Comparison = Comparison {
    name: "read",
    title: "Speed and memory of reading",
    about: "",
    command: false,
    rows: rows::rows,
};
