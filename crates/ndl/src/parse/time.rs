//! Parses ISO 8601 dates as counts of a time unit since 1970.

use crate::time::NOT_A_TIME;
use hyperslab_model::TimeUnit;

/// The number of units since 1970-01-01 that a text in ISO 8601 represents. `None` if it is not a date, or is not a
/// whole number of units.
pub(super) fn count(unit: &TimeUnit, text: &str) -> Option<i128> {
    if text == "NaT" {
        return Some(NOT_A_TIME);
    }
    if unit.duration {
        return None;
    }
    let letters = unit.unit.trim_start_matches(|c: char| c.is_ascii_digit());
    let step = match unit.unit.strip_suffix(letters)? {
        "" => 1,
        digits => i128::from(digits.parse::<u32>().ok()?),
    };
    let (months, day, attoseconds) = moment(text)?;
    let days = days(months)?.checked_add(day)?;
    let whole =
        |value: i128, unit: i128| (unit > 0 && value.rem_euclid(unit) == 0).then(|| value.div_euclid(unit));
    let count = match letters {
        "Y" | "M" if day != 0 || attoseconds != 0 => return None,
        "Y" => whole(months, 12)?,
        "M" => months,
        "W" if attoseconds == 0 => whole(days, 7)?,
        "D" if attoseconds == 0 => days,
        _ => {
            let size = match letters {
                "h" => 3600 * SECOND,
                "m" => 60 * SECOND,
                "s" => SECOND,
                "ms" => SECOND / 1_000,
                "us" => SECOND / 1_000_000,
                "ns" => SECOND / 1_000_000_000,
                "ps" => SECOND / 1_000_000_000_000,
                "fs" => 1000,
                "as" => 1,
                _ => return None,
            };
            days.checked_mul(86_400 * SECOND / size)?.checked_add(whole(attoseconds, size)?)?
        }
    };
    whole(count, step)
}

/// Months since 1970-01, days into the month, attoseconds into the day.
fn moment(text: &str) -> Option<(i128, i128, i128)> {
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let (sign, date) = match date.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, date.strip_prefix('+').unwrap_or(date)),
    };
    let mut parts = date.split('-');
    let year = sign * number(parts.next()?, 4..=20)?;
    let month = parts.next().map_or(Some(1), |text| number(text, 2..=2))?;
    let day = parts.next().map_or(Some(1), |text| number(text, 2..=2))?;
    let months = year.checked_sub(1970)?.checked_mul(12)?.checked_add(month - 1)?;
    let length = days(months + 1)? - days(months)?;
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=length).contains(&day) {
        return None;
    }
    Some((months, day - 1, time.map_or(Some(0), time_of_day)?))
}

fn time_of_day(text: &str) -> Option<i128> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let mut parts = text.split(':');
    let hour = number(parts.next()?, 2..=2)?;
    let minute = parts.next().map_or(Some(0), |text| number(text, 2..=2))?;
    let (second, fraction) = match parts.next() {
        None => (0, 0),
        Some(text) => {
            let (second, fraction) = text.split_once('.').unwrap_or((text, "0"));
            number(fraction, 1..=18)?;
            (number(second, 2..=2)?, format!("{fraction:0<18}").parse::<i128>().ok()?)
        }
    };
    let valid = hour < 24 && minute < 60 && second < 60 && parts.next().is_none();
    valid.then_some(((hour * 60 + minute) * 60 + second) * SECOND + fraction)
}

fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i128> {
    let valid = digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    valid.then(|| text.parse().ok())?
}

/// Days from 1970-01-01 to the first of a month, in the proleptic Gregorian calendar.
fn days(months: i128) -> Option<i128> {
    let (year, month) = (1970_i128.checked_add(months.div_euclid(12))?, months.rem_euclid(12));
    // Years begin in March, so that a leap day is the last day of a year.
    let (year, march) = if month >= 2 { (year, month - 2) } else { (year - 1, month + 10) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * march + 2) / 5 - 719_468)
}

/// The number of attoseconds in a second.
const SECOND: i128 = 1_000_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::iso8601;
    use proptest::prelude::*;

    #[test]
    fn rejects_invalid_times_and_fractions_of_the_unit() {
        let unit = |letters: &str| TimeUnit { unit: letters.into(), duration: false };
        for text in
            ["2026-13", "2026-02-29", "2026-02-01T24", "26-02-01", "2026-02-01T06:00:00.", "", "2026-1-1"]
        {
            assert_eq!(count(&unit("s"), text), None, "{text}");
        }
        assert_eq!(count(&unit("D"), "2026-02-01T06"), None);
        assert_eq!(count(&unit("15m"), "1970-01-01T00:44"), None);
        assert_eq!(count(&unit("15m"), "1970-01-01T00:45"), Some(3));
        assert_eq!(count(&unit("s"), "NaT"), Some(NOT_A_TIME));
    }

    proptest! {
        #[test]
        fn times_round_trip(count: i64, unit in prop::sample::select(vec![
            "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "15m", "7D",
        ])) {
            prop_assume!(count != i64::MIN);
            let unit = TimeUnit { unit: unit.into(), duration: false };
            let text = iso8601(&unit, count.into()).unwrap();
            prop_assert_eq!(super::count(&unit, &text), Some(count.into()), "{}", text);
        }
    }
}
