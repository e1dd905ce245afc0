//! The runs of bytes in a file that the elements of a region take.

use crate::header::padding;
use crate::layout::Layout;
use hyperslab_core::Result;
use hyperslab_core::nd::{Region, advance};

/// Elements that follow each other in the file.
pub(super) struct Run {
    /// The offset in the file of the first of them.
    pub(super) offset: u64,
    /// Bytes of the elements.
    pub(super) len: u64,
    /// Bytes of padding that follow them: whoever writes the last element of a block writes its padding.
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
    let has_padding = layout.record.is_none_or(|distance| distance != layout.block);
    let after = if has_padding { padding(layout.block) } else { 0 };
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
