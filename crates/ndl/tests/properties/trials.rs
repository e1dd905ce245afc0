//! Trials of a property with many seeds.
//!
//! `HYPERSLAB_TRIALS` sets the number of seeds, for longer tests. `HYPERSLAB_SEED` runs a single seed; with both, the
//! seeds begin there.

use std::panic::catch_unwind;

/// Runs `trial` with the seeds from 0 or `HYPERSLAB_SEED`, on all processors: `usual` seeds, or `HYPERSLAB_TRIALS`.
pub(crate) fn try_all(usual: u64, trial: fn(u64) -> Result<(), String>) {
    let asked = |name: &str| std::env::var(name).ok().map(|number| number.parse::<u64>().expect("a number"));
    let seeds = match (asked("HYPERSLAB_SEED"), asked("HYPERSLAB_TRIALS")) {
        (Some(first), count) => first..first.saturating_add(count.unwrap_or(1)),
        (None, count) => 0..count.unwrap_or(usual),
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let run = &|first: usize| {
        let failed = |seed: u64| {
            let tried = catch_unwind(|| trial(seed)).unwrap_or_else(|_| Err("panicked".into()));
            tried.err().map(|why| format!("seed {seed}: {why}"))
        };
        seeds.clone().skip(first).step_by(threads).filter_map(failed).take(MAX_FAILURES).collect::<Vec<_>>()
    };
    let failed: Vec<String> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|first| scope.spawn(move || run(first))).collect();
        running.into_iter().flat_map(|one| one.join().expect("no panic")).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// The number of failures after which a thread stops.
const MAX_FAILURES: usize = 10;
