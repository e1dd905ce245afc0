//! Runs the sides in turns and summarises their runs.

use super::row::{Name, Row, Side, Wanted};
use super::side::{Running, Taken};

/// A run that takes longer than this multiple of the median of its side was disturbed and is repeated.
const DISTURBED: f64 = 1.5;

/// Other programs whose first run takes longer than this number of seconds run only once.
const SLOW: f64 = 10.0;

/// The results of a row.
pub(super) struct Measured {
    /// In the order of the sides of the row.
    pub(super) sides: Vec<Outcome>,
    /// Whether all hashes of all runs are equal.
    pub(super) agrees: bool,
}

/// The result of a side.
pub(super) enum Outcome {
    Measured(Figures),
    /// The reason why it could not do the job.
    Cannot(String),
}

/// The summary of the runs of a side.
#[derive(Debug, PartialEq)]
pub(super) struct Figures {
    pub(super) runs: usize,
    pub(super) rejected: usize,
    /// The seconds of the undisturbed runs.
    pub(super) wall: Spread,
    /// The median of the processor seconds, over all threads.
    pub(super) cpu: f64,
    /// The maximum of all runs.
    pub(super) peak: u64,
    pub(super) output: u64,
    pub(super) stored: u64,
    /// Whether the hash equals that of the other sides; `None` if there is no other hash to compare.
    pub(super) agrees: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) min: f64,
    pub(super) median: f64,
    pub(super) max: f64,
}

/// A running side.
struct Turn {
    running: Running,
    taken: Vec<Taken>,
    sums: Vec<String>,
    /// Whether it runs only once.
    single: bool,
}

/// Measures a row: a warm-up run of each side, which is verified, then rounds, then a last verified run.
pub(super) fn measure(row: &Row, runs: usize) -> Result<Measured, String> {
    let mut turns = Vec::new();
    for side in &row.sides {
        turns.push(begin(side, row)?);
    }
    let runs = if row.once { 0 } else { runs };
    // At most as many further rounds may replace disturbed runs.
    for round in 0..runs * 2 {
        let enough = |turn: &Turn| turn.single || counted(&turn.taken).len() >= runs;
        if turns.iter().flatten().all(enough) {
            break;
        }
        for place in 0..turns.len() {
            // Each round starts with another side, so that no side always follows the same one.
            let at = (place + round) % turns.len();
            go(&mut turns, at, |turn| {
                let taken = turn.running.run(false)?;
                turn.taken.push(taken);
                Ok(())
            });
        }
    }
    for at in 0..turns.len() {
        go(&mut turns, at, |turn| {
            let taken = turn.running.run(true)?;
            turn.sums.extend(taken.sum);
            Ok(())
        });
    }
    let expected = turns.iter().flatten().find_map(|turn| turn.sums.first().cloned());
    let compared = turns.iter().flatten().filter(|turn| !turn.sums.is_empty()).count() > 1;
    let sides: Vec<Outcome> = turns
        .into_iter()
        .map(|turn| match turn {
            Ok(turn) => {
                let agrees = agrees(&turn.sums, expected.as_deref()).filter(|same| compared || !same);
                Outcome::Measured(figures(&turn.taken, agrees))
            }
            Err(reason) => Outcome::Cannot(reason),
        })
        .collect();
    let differs = |outcome: &Outcome| matches!(outcome, Outcome::Measured(f) if f.agrees == Some(false));
    Ok(Measured { agrees: !sides.iter().any(differs), sides })
}

fn agrees(sums: &[String], expected: Option<&str>) -> Option<bool> {
    (!sums.is_empty()).then(|| sums.iter().all(|sum| Some(sum.as_str()) == expected))
}

/// Starts a side and runs it once.
fn begin(side: &Side, row: &Row) -> Result<Result<Turn, String>, String> {
    let mut running = match Running::start(side)? {
        Ok(running) => running,
        Err(reason) => return Ok(Err(reason)),
    };
    Ok(running.run(true).map(|mut taken| {
        let sums = taken.sum.take().into_iter().collect();
        let single = row.once || taken.wall > SLOW && !is_wanted(side, row);
        Turn { running, taken: if single { vec![taken] } else { Vec::new() }, sums, single }
    }))
}

fn is_wanted(side: &Side, row: &Row) -> bool {
    let is = |name: &Name| side.name == name.0 && side.memory == name.1;
    row.wanted.iter().any(|wanted| match wanted {
        Wanted::AtMost(one, other, _) | Wanted::AtLeast(one, other, _) => is(one) || is(other),
        Wanted::BestOfProcessor(one, others, _) | Wanted::AheadOfEach(one, others) => {
            is(one) || others.iter().any(is)
        }
        Wanted::Stored(..) | Wanted::Beside(_) | Wanted::InAll(_) => false,
    })
}

/// Calls `act` on a side. A side that has failed is not called again.
fn go(turns: &mut [Result<Turn, String>], at: usize, act: impl FnOnce(&mut Turn) -> Result<(), String>) {
    let Some(slot) = turns.get_mut(at) else { return };
    let failed = match slot {
        Ok(turn) if !turn.single => act(turn).err(),
        _ => None,
    };
    if let Some(reason) = failed {
        *slot = Err(reason);
    }
}

/// The undisturbed runs.
fn counted(taken: &[Taken]) -> Vec<&Taken> {
    let limit = spread(taken.iter().map(|taken| taken.wall)).median * DISTURBED;
    taken.iter().filter(|taken| taken.wall <= limit).collect()
}

fn figures(taken: &[Taken], agrees: Option<bool>) -> Figures {
    let kept = counted(taken);
    Figures {
        runs: kept.len(),
        rejected: taken.len() - kept.len(),
        wall: spread(kept.iter().map(|taken| taken.wall)),
        cpu: spread(kept.iter().map(|taken| taken.cpu)).median,
        peak: taken.iter().map(|taken| taken.peak).max().unwrap_or(0),
        output: taken.iter().map(|taken| taken.output).max().unwrap_or(0),
        stored: taken.iter().map(|taken| taken.stored).max().unwrap_or(0),
        agrees,
    }
}

fn spread(values: impl Iterator<Item = f64>) -> Spread {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    let half = values.len() / 2;
    let median =
        if values.len() % 2 == 1 { at(half) } else { f64::midpoint(at(half.wrapping_sub(1)), at(half)) };
    Spread { min: at(0), median, max: at(values.len().wrapping_sub(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(wall: f64) -> Taken {
        Taken { wall, cpu: wall, peak: 10, output: 4, stored: 0, sum: None }
    }

    #[test]
    fn disturbed_runs_are_replaced_and_counted() {
        let runs: Vec<Taken> = [1.0, 1.2, 0.9, 9.0].map(taken).into();
        let found = figures(&runs, None);
        assert_eq!((found.runs, found.rejected), (3, 1));
        assert_eq!(found.wall, Spread { min: 0.9, median: 1.0, max: 1.2 });
    }

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_middle_two() {
        assert_eq!(spread([4.0, 1.0, 2.0, 3.0].into_iter()), Spread { min: 1.0, median: 2.5, max: 4.0 });
    }

    #[test]
    fn a_different_hash_is_a_difference_and_no_hash_is_not_compared() {
        let sums = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(agrees(&sums(&["a", "a"]), Some("a")), Some(true));
        assert_eq!(agrees(&sums(&["a", "b"]), Some("a")), Some(false));
        assert_eq!(agrees(&[], Some("a")), None);
    }
}
