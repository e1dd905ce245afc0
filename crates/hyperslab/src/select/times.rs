//! The times as of which a store is read, as text.

use crate::format::Times;
use hyperslab_cf::time::{Counting, NANOSECOND, is_date};
use hyperslab_core::{Error, Result};
use hyperslab_model::TimeUnit;

/// Parses times: `2026-03-01T06:00` or `1772344800000` (milliseconds since 1970) for everything written until then;
/// `A..B` for everything written from A to B, either of which may be left out.
///
/// ```
/// use hyperslab::select::times;
///
/// let until = times("2026-03-01")?;
/// assert_eq!((until.start, until.end), (0, 1_772_409_599_999), "the end of the day");
/// assert_eq!(times("20..30")?, hyperslab::Times { start: 20, end: 30 });
/// assert_eq!(times("20..")?.end, u64::MAX);
/// # Ok::<(), hyperslab::Error>(())
/// ```
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for any other text, times before 1970, and a first
/// time after the last.
pub fn times(text: &str) -> Result<Times> {
    let (start, end) = text.split_once("..").unwrap_or(("", text));
    let times = Times {
        start: if start.is_empty() { 0 } else { moment(start)?.0 },
        end: if end.is_empty() { u64::MAX } else { moment(end)?.1 },
    };
    match times.start <= times.end && text != ".." && !text.is_empty() {
        true => Ok(times),
        false => Err(Error::invalid(format!(
            "{text:?}, expected a time or A..B, the first time not after the last"
        ))),
    }
}

/// The text of a time in milliseconds since 1970, as [`times`] reads it.
///
/// ```
/// assert_eq!(hyperslab::select::time_text(1_772_344_800_000), "2026-03-01T06:00:00");
/// ```
pub fn time_text(milliseconds: u64) -> String {
    match counting() {
        Some(counting) => counting.text(counting.instant(milliseconds.into())),
        None => milliseconds.to_string(),
    }
}

/// The first and the last millisecond of the time that a text names.
fn moment(text: &str) -> Result<(u64, u64)> {
    let expected = || {
        Error::invalid(format!(
            "{text:?} is not a time, expected a date such as 2026-03-01T06:00 or milliseconds since 1970"
        ))
    };
    if let Ok(milliseconds) = text.parse() {
        return Ok((milliseconds, milliseconds));
    }
    let counting = counting().filter(|_| is_date(text)).ok_or_else(expected)?;
    let (start, end) = counting.period(text)?;
    let (start, after) = (start.div_euclid(MILLISECOND), (end - 1).div_euclid(MILLISECOND));
    match (u64::try_from(start), u64::try_from(after.max(start))) {
        (Ok(start), Ok(last)) => Ok((start, last)),
        _ => Err(expected()),
    }
}

fn counting() -> Option<Counting> {
    Counting::of_type(&TimeUnit { unit: "ms".to_owned(), duration: false })
}

const MILLISECOND: i128 = 1_000_000 * NANOSECOND;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_times_are_read_as_the_same_times() {
        for milliseconds in [0, 1, 1_772_344_800_000, 1_772_344_800_120, 253_402_300_799_999] {
            let text = format!("{}..", time_text(milliseconds));
            assert_eq!(times(&text).unwrap().start, milliseconds, "{text}");
        }
        assert_eq!(time_text(1_772_344_800_001), "2026-03-01T06:00:00.001");
        assert!(time_text(u64::MAX).starts_with("584556"));
    }

    #[test]
    fn texts_that_name_no_time_are_refused() {
        for text in ["", "..", "yesterday", "30..20", "1969-01-01", "-5", "2026-02-30", "5..x"] {
            assert!(times(text).is_err(), "{text}");
        }
    }
}
