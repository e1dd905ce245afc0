//! Consolidates fragments of an array. The pieces of each fragment are processed by all threads.

use crate::pool::Pool;
use hyperslab_core::{Limits, Result};
use hyperslab_tiledb::write::array::ArrayWriter;
use hyperslab_tiledb::write::consolidate::{ConsolidateOptions, ConsolidateScratch};

/// Consolidates all fragments that can be consolidated.
///
/// # Errors
/// If the array cannot be read or the store cannot be written.
pub(super) fn consolidate(
    writer: &ArrayWriter,
    options: ConsolidateOptions,
    limits: &Limits,
    pool: &Pool,
) -> Result<()> {
    let options = ConsolidateOptions { memory: options.memory.min(pool.memory()), ..options };
    let consolidator = writer.consolidator(options, limits)?;
    for set in &consolidator.plan()?.sets {
        let begun = consolidator.begun(set)?;
        let pieces = std::iter::from_fn(|| begun.next_piece().transpose());
        let share = options.memory / (pool.threads().max(1) as u64);
        let made = pool.in_order(
            pieces,
            share.max(1),
            |piece, _| begun.make(piece?, &mut ConsolidateScratch::default()),
            |made, _| begun.take(made).map(drop),
        );
        match made {
            Ok(()) => drop(begun.finish()?),
            Err(e) => {
                // Only the first error counts.
                let _ = begun.abandon();
                return Err(e);
            }
        }
    }
    Ok(())
}
