//! Finds everything that prevents a conversion, before anything is written.

use super::{ConvertOptions, Plan, check_losses, plan};
use crate::publish::{self, Fingerprint};
use crate::source::Source;
use hyperslab_core::Result;
use std::path::Path;

/// A prepared conversion.
#[derive(Debug)]
pub struct Prepared {
    /// The plan.
    pub plan: Plan,
    /// The error if the conversion must not run: it names the losses that are not allowed.
    pub refused: Result<()>,
}

/// Checks whether a store can be written to `target`, and plans the conversion. If `target` is `None`, only plans.
/// Writes nothing.
///
/// # Errors
/// If an existing target must not be replaced, or an interrupted run there had another source; as [`plan`]. Losses
/// that are not allowed are in [`Prepared::refused`], so that the plan is still returned.
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
