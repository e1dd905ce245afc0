//! Tests whether filters accept all elements of an array and leave them unchanged, by encoding them without storing.

use super::copy::{CopyError, Unobserved, Way};
use super::write::elements;
use super::{ConvertOptions, array_of};
use crate::source::{ArraySource, Asked, Handle, Source};
use crate::target::{Encoder, Facts, Planner};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::Node;

/// What filters do to the elements of an array.
pub(super) enum Verdict {
    /// They accept all elements; whether they change some is known without a trial.
    Accept,
    /// They change an element.
    Change,
    /// They reject an element.
    Reject(Error),
}

/// What the filters do, as far as this requires a trial.
///
/// # Errors
/// If elements cannot be read.
pub(super) fn verdict(
    source: &dyn Source,
    handle: &Handle,
    node: &Node,
    facts: Facts,
    options: &ConvertOptions<'_>,
    planner: &dyn Planner,
) -> Result<Verdict> {
    // An array that the format cannot store is reported by the plan.
    let Ok(Some(encoder)) = planner.trial(&handle.path, node, facts) else { return Ok(Verdict::Accept) };
    let array = array_of(source, handle, node, options)?;
    if is_copied_raw(&*array, &*encoder) {
        return Ok(Verdict::Accept);
    }
    let way = Way { array: &*array, encoder: &*encoder, target: None, pool: &options.pool };
    match elements((source, &Asked::default()), way, &Unobserved) {
        Ok(()) => Ok(Verdict::Accept),
        Err(CopyError::Write(_)) if encoder.has_changed() => Ok(Verdict::Change),
        // There may be more memory when the array is written.
        Err(CopyError::Write(error)) if error.kind() == ErrorKind::LimitExceeded => Ok(Verdict::Accept),
        Err(CopyError::Write(error)) => Ok(Verdict::Reject(error)),
        Err(CopyError::Read(error)) => Err(error),
    }
}

/// Whether all chunks are copied undecoded, so that filters are not applied.
fn is_copied_raw(array: &dyn ArraySource, encoder: &dyn Encoder) -> bool {
    let Some(extents) = array.extents() else { return true };
    let chunks = extents.iter().zip(encoder.chunk());
    let last: Vec<u64> = chunks.map(|(len, size)| len.saturating_sub(1) / (*size).max(1)).collect();
    !encoder.needs_unwritten()
        && array.stored_form().is_some_and(|form| encoder.can_copy_raw(&form))
        && encoder.can_copy_raw_at(&last)
}
