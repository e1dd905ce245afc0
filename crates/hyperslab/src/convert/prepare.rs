//! All that stands against a conversion, found out before anything is written.

use super::{ConvertOptions, Plan, check_losses, plan};
use crate::publish::{self, Fingerprint};
use crate::source::Source;
use hyperslab_core::Result;
use std::path::Path;

/// A conversion that could begin.
#[derive(Debug)]
pub struct Prepared {
    /// What it would do.
    pub plan: Plan,
    /// Whether it may: an error that names the losses that are not allowed.
    pub refused: Result<()>,
}

/// Looks whether a store can be written to `target`, or to any path if it is `None`, and plans it. Nothing is written.
///
/// # Errors
/// If something is at the target that must not be replaced, or an interrupted run there was made of something else; as
/// [`plan`]. Losses that are not allowed are no error here but [`Prepared::refused`], as the plan tells which.
pub fn prepare(
    source: &dyn Source,
    made_from: &Fingerprint,
    target: Option<&Path>,
    options: &ConvertOptions<'_>,
) -> Result<Prepared> {
    if let Some(target) = target {
        publish::check(target, made_from, &options.publish)?;
        if options.publish.resume {
            options.check_resumable(made_from, target)?;
        }
    }
    let plan = plan(source, options)?;
    let refused = check_losses(&plan, options);
    Ok(Prepared { plan, refused })
}
