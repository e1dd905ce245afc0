//! The elements of a region: their runs of bytes in a file, and the bytes themselves.

use crate::file::to_big_endian;
use crate::layout::Layout;
use hyperslab_core::nd::{Region, advance, fill_rows};
use hyperslab_core::{Error, Result};

/// The elements to be written to a region.
pub(super) enum Elements<'a> {
    /// Rows in native byte order, which are taken from the front.
    Rows(&'a [u8]),
    /// The fill value.
    Fill,
}

impl<'a> Elements<'a> {
    /// The next elements, if they are given in their stored form.
    pub(super) fn take_stored(&mut self, len: u64, element: usize) -> Option<&'a [u8]> {
        let Elements::Rows(rows) = self else { return None };
        if element > 1 && cfg!(target_endian = "little") {
            return None;
        }
        let (own, rest) = rows.split_at_checked(usize::try_from(len).ok()?)?;
        *rows = rest;
        Some(own)
    }

    /// Fills `out` with the next elements, of `element` bytes each.
    pub(super) fn store(&mut self, out: &mut [u8], element: usize, fill: &[u8]) -> Result<()> {
        match self {
            Elements::Rows(rows) => {
                let parts = rows.split_at_checked(out.len());
                let (own, rest) =
                    parts.ok_or_else(|| Error::invalid("fewer elements than the region has"))?;
                out.copy_from_slice(own);
                to_big_endian(out, element);
                *rows = rest;
                Ok(())
            }
            Elements::Fill => fill_rows(fill, out),
        }
    }
}

/// Stores padding: the bytes that further elements with the fill value would have.
pub(super) fn pad(out: &mut [u8], fill: &[u8]) {
    for (byte, from) in out.iter_mut().zip(fill.iter().cycle()) {
        *byte = *from;
    }
}

/// Elements that are contiguous in the file.
pub(super) struct Run {
    /// The file offset of the first element.
    pub(super) offset: u64,
    /// The size of the elements in bytes.
    pub(super) len: u64,
    /// The number of padding bytes that follow them: whoever writes the last element of a block writes its padding.
    pub(super) padding: u64,
}

/// Calls `each` with the runs of a region, which is within the variable, in the order of its rows.
pub(super) fn runs(layout: &Layout, region: &Region, mut each: impl FnMut(&Run) -> Result<()>) -> Result<()> {
    if region.is_empty() {
        return Ok(());
    }
    let strides = strides(layout);
    let (mut len, mut outer) = (layout.element as u64, region.rank());
    for ((count, step), stride) in region.count.iter().zip(&region.step).zip(&strides).rev() {
        if *count > 1 && (*step != 1 || *stride != len) {
            break;
        }
        len = len.saturating_mul(*count);
        outer = outer.saturating_sub(1);
    }
    let after = layout.padding();
    let mut at = vec![0_u64; outer];
    loop {
        // No sum is 2^64 or more: the last element of the variable ends before.
        let steps = at.iter().chain(std::iter::repeat(&0));
        let axes = region.start.iter().zip(&region.step).zip(&strides).zip(steps);
        let within = axes.fold(0_u64, |sum, (((start, step), stride), at)| {
            start.saturating_add(at.saturating_mul(*step)).saturating_mul(*stride).saturating_add(sum)
        });
        let in_block =
            layout.record.map_or(within, |distance| within.checked_rem(distance).unwrap_or(within));
        let is_last = in_block.saturating_add(len) == layout.block;
        let padding = if is_last { after } else { 0 };
        each(&Run { offset: layout.begin.saturating_add(within), len, padding })?;
        if !advance(&mut at, &region.count) {
            return Ok(());
        }
    }
}

/// The distance in bytes between indexes along each dimension.
fn strides(layout: &Layout) -> Vec<u64> {
    let mut strides = vec![0; layout.shape.len()];
    let mut stride = layout.element as u64;
    for (own, extent) in strides.iter_mut().zip(&layout.shape).rev() {
        *own = stride;
        stride = stride.saturating_mul(*extent);
    }
    if let (Some(first), Some(distance)) = (strides.first_mut(), layout.record) {
        *first = distance;
    }
    strides
}
