//! Whether filters that may refuse an element take all elements of an array. They are encoded and stored nowhere.

use super::copy::{CopyError, Unobserved, Way};
use super::write::elements;
use super::{ConvertOptions, array_of};
use crate::source::{ArraySource, Handle, Source};
use crate::target::{Encoder, Facts, Planner};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::Node;

/// Why the filters refuse an element, if they do.
///
/// # Errors
/// If they cannot be read.
pub(super) fn refusal(
    source: &dyn Source,
    handle: &Handle,
    node: &Node,
    facts: Facts,
    options: &ConvertOptions<'_>,
    planner: &dyn Planner,
) -> Result<Option<Error>> {
    // An array that the format cannot hold is reported when it is planned.
    let Ok(Some(encoder)) = planner.trial(&handle.path, node, facts) else { return Ok(None) };
    let array = array_of(source, handle, options)?;
    if is_copied_raw(&*array, &*encoder) {
        return Ok(None);
    }
    let way = Way { array: &*array, encoder: &*encoder, target: None, pool: &options.pool };
    match elements(source, way, &Unobserved) {
        Ok(()) => Ok(None),
        // Of memory there may be more when it comes to writing.
        Err(CopyError::Write(error)) if error.kind() == ErrorKind::LimitExceeded => Ok(None),
        Err(CopyError::Write(error)) => Ok(Some(error)),
        Err(CopyError::Read(error)) => Err(error),
    }
}

/// Whether all chunks are copied undecoded, so that no filter sees an element.
fn is_copied_raw(array: &dyn ArraySource, encoder: &dyn Encoder) -> bool {
    let Some(extents) = array.extents() else { return true };
    let chunks = extents.iter().zip(encoder.chunk());
    let last: Vec<u64> = chunks.map(|(len, size)| len.saturating_sub(1) / (*size).max(1)).collect();
    !encoder.needs_unwritten()
        && array.stored_form().is_some_and(|form| encoder.can_copy_raw(&form))
        && encoder.can_copy_raw_at(&last)
}
