//! Whether elements pass the filters that they are to pass, where these may refuse some.

use super::copy::{CopyError, Unobserved};
use super::write::elements;
use super::{ConvertOptions, array_of};
use crate::source::{ArraySource, Handle, Source};
use crate::target::{ArrayTarget, Facts, Planner};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::Node;

/// Why an element is refused, if one is: all are written to nowhere.
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
    // Why there is no such array, planning it says.
    let Ok(Some(target)) = planner.trial(&handle.path, node, facts) else { return Ok(None) };
    let array = array_of(source, handle, options)?;
    if is_passed(&*array, &*target) {
        return Ok(None);
    }
    match elements(source, &*array, &*target, &Unobserved) {
        Ok(()) => Ok(None),
        // Of memory there may be more when it comes to writing.
        Err(CopyError::Write(error)) if error.kind() == ErrorKind::LimitExceeded => Ok(None),
        Err(CopyError::Write(error)) => Ok(Some(error)),
        Err(CopyError::Read(error)) => Err(error),
    }
}

/// Whether all chunks are passed as they are stored, so that no filter sees an element.
fn is_passed(array: &dyn ArraySource, target: &dyn ArrayTarget) -> bool {
    let Some(extents) = array.extents() else { return true };
    let chunks = extents.iter().zip(target.chunk());
    let last: Vec<u64> = chunks.map(|(len, size)| len.saturating_sub(1) / (*size).max(1)).collect();
    !target.wants_all()
        && array.stored_form().is_some_and(|form| target.accepts(&form))
        && target.passes(&last)
}
