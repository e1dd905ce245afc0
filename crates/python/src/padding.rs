//! Fixed-length strings in rows. NumPy pads them with zeros.

use hyperslab::model::{Datatype, Pad, Text};

/// Zeroes the padding of the strings in rows, and everything after the end of a string.
pub(crate) fn to_zeros(datatype: &Datatype, rows: &mut [u8]) {
    if !has_other(datatype) {
        return;
    }
    let row = datatype.row_size().unwrap_or(0);
    if row > 0 {
        rows.chunks_exact_mut(row).for_each(|row| in_row(datatype, row));
    }
}

/// Whether elements have strings with other padding than zeros.
fn has_other(datatype: &Datatype) -> bool {
    match datatype.resolved() {
        Datatype::String(Text::Fixed { pad, .. }) => matches!(pad, Pad::Space | Pad::NulTerminated),
        Datatype::Compound(members) => members.iter().any(|member| has_other(&member.datatype)),
        Datatype::Array { base, .. } | Datatype::Nullable(base) => has_other(base),
        _ => false,
    }
}

fn in_row(datatype: &Datatype, row: &mut [u8]) {
    match datatype.resolved() {
        Datatype::String(Text::Fixed { pad, .. }) => {
            let kept = pad.trim(row).len();
            row.iter_mut().skip(kept).for_each(|byte| *byte = 0);
        }
        Datatype::Compound(members) => {
            let mut rest = row;
            for member in members {
                let size = member.datatype.row_size().unwrap_or(0).min(rest.len());
                let (own, after) = rest.split_at_mut(size);
                in_row(&member.datatype, own);
                rest = after;
            }
        }
        Datatype::Array { base, .. } => to_zeros(base, row),
        // The first byte states whether there is a value.
        Datatype::Nullable(of) => in_row(of, row.get_mut(1..).unwrap_or_default()),
        _ => {}
    }
}
