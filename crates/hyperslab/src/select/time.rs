//! Times as text, and as counts in coordinates.
//!
//! Spec: CF 1.11, 4.4 Time Coordinate

use super::calendar::{Calendar, Date};
use hyperslab_core::{Error, Result};
use hyperslab_model::TimeUnit;

/// The unit and epoch of time coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counting {
    calendar: Calendar,
    /// The instant of count 0.
    epoch: Instant,
    step: Step,
}

/// Attoseconds since day 0 of the calendar.
pub(crate) type Instant = i128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Attoseconds(i128),
    Months(i128),
}

/// A date or time of day with the precision of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    year: i128,
    month: Option<u8>,
    day: Option<u8>,
    hour: Option<i128>,
    minute: Option<i128>,
    second: Option<i128>,
    fraction: Option<i128>,
    /// The offset of its clock from UTC in minutes.
    zone: i128,
}

impl Counting {
    /// The unit of an attribute `units` such as `hours since 2024-03-01`; `None` if it is not a unit of time.
    ///
    /// # Errors
    /// For units without fixed length, unsupported calendars, and epochs that do not exist in the calendar.
    pub(crate) fn of_units(units: &str, calendar: Option<&str>) -> Option<Result<Counting>> {
        let at = units.to_ascii_lowercase().find(" since ")?;
        let (unit, rest) = units.split_at_checked(at)?;
        let epoch = rest.get(" since ".len()..)?;
        Some(Counting::since(unit.trim(), epoch.trim(), calendar.unwrap_or("standard")))
    }

    fn since(unit: &str, epoch: &str, calendar: &str) -> Result<Counting> {
        let step = match unit.to_ascii_lowercase().as_str() {
            "nanoseconds" | "nanosecond" | "nanosec" | "nanosecs" | "nsec" | "nsecs" | "ns" => NANOSECOND,
            "microseconds" | "microsecond" | "microsec" | "microsecs" | "us" => 1000 * NANOSECOND,
            "milliseconds" | "millisecond" | "millisec" | "millisecs" | "msec" | "msecs" | "ms" => {
                1_000_000 * NANOSECOND
            }
            "seconds" | "second" | "sec" | "secs" | "s" => SECOND,
            "minutes" | "minute" | "min" | "mins" => MINUTE,
            "hours" | "hour" | "hr" | "hrs" | "h" => HOUR,
            "days" | "day" | "d" => DAY,
            "weeks" | "week" => 7 * DAY,
            _ => {
                return Err(Error::unsupported(format!(
                    "unit {unit} is no fixed length of time, expected seconds to weeks"
                )));
            }
        };
        let calendar = Calendar::named(calendar)?;
        let written = Written::parse(epoch, 1)
            .ok_or_else(|| Error::invalid(format!("epoch {epoch:?}, expected a date as 2026-03-01 06:00")))?;
        Ok(Counting { calendar, epoch: written.start(calendar)?, step: Step::Attoseconds(step) })
    }

    /// The unit of a datatype that counts time since 1970.
    pub(crate) fn of_type(unit: &TimeUnit) -> Option<Counting> {
        if unit.duration {
            return None;
        }
        let letters = unit.unit.trim_start_matches(|c: char| c.is_ascii_digit());
        let many = match unit.unit.strip_suffix(letters)? {
            "" => 1,
            digits => i128::from(digits.parse::<u32>().ok()?),
        };
        let step = match letters {
            "Y" => Step::Months(12 * many),
            "M" => Step::Months(many),
            "W" => Step::Attoseconds(7 * DAY * many),
            "D" => Step::Attoseconds(DAY * many),
            "h" => Step::Attoseconds(HOUR * many),
            "m" => Step::Attoseconds(MINUTE * many),
            "s" => Step::Attoseconds(SECOND * many),
            "ms" => Step::Attoseconds(1_000_000 * NANOSECOND * many),
            "us" => Step::Attoseconds(1000 * NANOSECOND * many),
            "ns" => Step::Attoseconds(NANOSECOND * many),
            "ps" => Step::Attoseconds(1_000_000 * many),
            "fs" => Step::Attoseconds(1000 * many),
            "as" => Step::Attoseconds(many),
            _ => return None,
        };
        Some(Counting { calendar: Calendar::PROLEPTIC_GREGORIAN, epoch: 0, step })
    }

    /// The calendar, the instant of count 0, and the length of a step in attoseconds; `None` if steps differ in length.
    pub(super) fn parts(&self) -> Option<(Calendar, Instant, i128)> {
        match self.step {
            Step::Attoseconds(step) => Some((self.calendar, self.epoch, step)),
            Step::Months(_) => None,
        }
    }

    /// The begin and end of the period that a text names; equal for a fraction of a second, which names a moment.
    ///
    /// # Errors
    /// For texts that are not dates, and days that the calendar does not have.
    pub(crate) fn period(&self, text: &str) -> Result<(Instant, Instant)> {
        let written = Written::parse(text, 4).ok_or_else(|| {
            Error::invalid(format!("{text:?} is no date, expected one as 2026-03-01T06:00"))
        })?;
        Ok((written.start(self.calendar)?, written.end(self.calendar)?))
    }

    /// The instant of `count`; beyond some 10^12 years the last possible instant.
    pub(crate) fn instant(&self, count: i128) -> Instant {
        match self.step {
            Step::Attoseconds(step) => count.saturating_mul(step).saturating_add(self.epoch),
            Step::Months(step) => {
                let months = count.saturating_mul(step);
                match months.unsigned_abs() < 12 * 10_u128.pow(MAX_DIGITS) {
                    true => self.calendar.month_since_1970(months) * DAY,
                    false if months < 0 => Instant::MIN,
                    false => Instant::MAX,
                }
            }
        }
    }

    /// The count of an instant, as exactly as a 64-bit number can be.
    pub(super) fn count(&self, instant: Instant) -> f64 {
        let Step::Attoseconds(step) = self.step else { return f64::NAN };
        let since = instant.saturating_sub(self.epoch);
        let shared = greatest_common_divisor(since.unsigned_abs(), step.unsigned_abs());
        let (Ok(shared), true) = (i128::try_from(shared), shared > 0) else { return f64::NAN };
        let (above, below) = (since / shared, step / shared);
        if above.unsigned_abs() < EXACT && below.unsigned_abs() < EXACT {
            // Both are exact, so the quotient is rounded only once.
            return above as f64 / below as f64;
        }
        above.div_euclid(below) as f64 + above.rem_euclid(below) as f64 / below as f64
    }

    /// The instant of a count with fraction, to a millisecond.
    pub(crate) fn moment(&self, count: f64) -> Option<Instant> {
        let Step::Attoseconds(step) = self.step else { return None };
        if !count.is_finite() {
            return None;
        }
        let fraction = truncated((count.fract() * step as f64).round());
        let instant =
            truncated(count.trunc()).checked_mul(step)?.checked_add(fraction)?.checked_add(self.epoch)?;
        // Days since 1600 are exact only to some microseconds.
        let millisecond = 1_000_000 * NANOSECOND;
        instant.checked_add(millisecond / 2)?.div_euclid(millisecond).checked_mul(millisecond)
    }

    /// Whether an instant and those after it have the same dates as in the calendar of ISO 8601, so that a count since
    /// 1970 means them in every program.
    pub(crate) fn is_iso_from(&self, instant: Instant) -> bool {
        self.calendar.is_iso_from(instant.div_euclid(DAY))
    }

    /// The calendar of its dates.
    pub(crate) fn calendar(&self) -> Calendar {
        self.calendar
    }

    /// An instant in ISO 8601 format.
    pub(crate) fn text(&self, instant: Instant) -> String {
        let of_day = instant.rem_euclid(DAY);
        let date = self.calendar.text(self.calendar.date(instant.div_euclid(DAY)));
        let (hour, minute) = (of_day / HOUR, of_day % HOUR / MINUTE);
        let (second, fraction) = (of_day % MINUTE / SECOND, of_day % SECOND);
        let mut text = format!("{date}T{hour:02}:{minute:02}:{second:02}");
        if fraction > 0 {
            text.push_str(format!(".{fraction:018}").trim_end_matches('0'));
        }
        text
    }
}

/// Whether a text is a date and not only a number.
pub(super) fn is_date(text: &str) -> bool {
    Written::parse(text, 4).is_some_and(|written| written.month.is_some())
}

impl Written {
    /// `2026`, `2026-03`, `2026-03-01`, `2026-03-01T06`, `2026-03-01 06:00:30.5+01:00`.
    fn parse(text: &str, year_digits: usize) -> Option<Written> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (date, time) = match rest.split_once(['T', 't', ' ']) {
            Some((date, time)) => (date, Some(time.trim())),
            None => (rest, None),
        };
        let mut fields = date.split('-');
        let year = fields.next().filter(|year| year.len() >= year_digits)?;
        let year = i128::from(digits(year, usize::try_from(MAX_DIGITS).ok()?)?);
        let two = |text: &str| u8::try_from(digits(text, 2)?).ok();
        let mut written = Written {
            year: if negative { -year } else { year },
            month: None,
            day: None,
            hour: None,
            minute: None,
            second: None,
            fraction: None,
            zone: 0,
        };
        if let Some(month) = fields.next() {
            written.month = Some(two(month)?);
        }
        if let Some(day) = fields.next() {
            written.day = Some(two(day)?);
        }
        if fields.next().is_some() {
            return None;
        }
        match time {
            Some(time) if written.day.is_some() => written.clock(time)?,
            Some(_) => return None,
            None => {}
        }
        Some(written)
    }

    /// Parses `06:00:30.5+01:00`.
    fn clock(&mut self, text: &str) -> Option<()> {
        let zone = text.find(|c: char| !(c.is_ascii_digit() || ":.".contains(c))).unwrap_or(text.len());
        let (clock, zone) = text.split_at_checked(zone)?;
        let mut fields = clock.split(':');
        let below = |text: &str, limit: i128| Some(i128::from(digits(text, 2)?)).filter(|n| *n < limit);
        self.hour = Some(below(fields.next()?, 24)?);
        if let Some(minute) = fields.next() {
            self.minute = Some(below(minute, 60)?);
        }
        if let Some(second) = fields.next() {
            let (second, fraction) = match second.split_once('.') {
                Some((second, fraction)) => (second, Some(fraction)),
                None => (second, None),
            };
            self.second = Some(below(second, 60)?);
            if let Some(fraction) = fraction {
                let places = u32::try_from(fraction.len()).ok()?;
                self.fraction = Some(
                    i128::from(digits(fraction, 18)?)
                        .checked_mul(10_i128.pow(18_u32.checked_sub(places)?))?,
                );
            }
        }
        if fields.next().is_some() {
            return None;
        }
        self.zone = offset(zone.trim())?;
        Some(())
    }

    fn date(&self) -> Date {
        Date { year: self.year, month: self.month.unwrap_or(1), day: self.day.unwrap_or(1) }
    }

    fn start(&self, calendar: Calendar) -> Result<Instant> {
        let clock = self.hour.unwrap_or(0) * HOUR
            + (self.minute.unwrap_or(0) - self.zone) * MINUTE
            + self.second.unwrap_or(0) * SECOND
            + self.fraction.unwrap_or(0);
        Ok(calendar.day(self.date())? * DAY + clock)
    }

    fn end(&self, calendar: Calendar) -> Result<Instant> {
        let length = match self {
            Written { month: None, .. } => return Ok(calendar.after_year(self.date())? * DAY),
            Written { day: None, .. } => return Ok(calendar.after_month(self.date())? * DAY),
            Written { hour: None, .. } => DAY,
            Written { minute: None, .. } => HOUR,
            Written { second: None, .. } => MINUTE,
            Written { fraction: None, .. } => SECOND,
            _ => 0,
        };
        Ok(self.start(calendar)? + length)
    }
}

/// The minutes of a time zone: `Z`, `UTC`, `+01:00`, `-5`.
fn offset(zone: &str) -> Option<i128> {
    if ["", "Z", "z", "UTC", "GMT"].contains(&zone) {
        return Some(0);
    }
    let (sign, rest) = match (zone.strip_prefix('+'), zone.strip_prefix('-')) {
        (Some(rest), _) => (1, rest),
        (_, Some(rest)) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None => rest.split_at_checked(2).unwrap_or((rest, "")),
    };
    let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2)? };
    let hours = digits(hours, 2)?;
    (hours < 24 && minutes < 60).then(|| sign * i128::from(60 * hours + minutes))
}

/// A number of one to `max` decimal digits; `None` for any other text.
fn digits(text: &str, max: usize) -> Option<u64> {
    let fits = (1..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

pub(super) fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[expect(clippy::cast_possible_truncation, reason = "has no fraction; saturates")]
pub(super) fn truncated(number: f64) -> i128 {
    number as i128
}

pub(crate) const NANOSECOND: i128 = 1_000_000_000;
pub(crate) const SECOND: i128 = 1_000_000_000 * NANOSECOND;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;

/// The maximum year; attoseconds of as many years fit into an [`Instant`] several times.
const MAX_DIGITS: u32 = 12;

/// All integers below are exact as 64-bit floating-point numbers.
pub(super) const EXACT: u128 = 1 << 53;

#[cfg(test)]
mod tests {
    use super::*;

    // As cftime has them; `tests/data/make_cf_times.py` wrote them.
    const TIMES: &str = include_str!("../../tests/data/cf_times.tsv");
    const PERIODS: &str = include_str!("../../tests/data/cf_periods.tsv");

    fn counting(units: &str, calendar: &str) -> Result<Counting> {
        Counting::of_units(units, Some(calendar)).unwrap()
    }

    #[test]
    fn dates_and_counts_are_those_of_cftime() {
        let mut lines = 0;
        for line in TIMES.lines() {
            let [calendar, units, date, count] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let counting = counting(units, calendar).unwrap();
            let (start, end) = counting.period(date).unwrap();
            let count: f64 = count.parse().unwrap();
            assert_eq!(end - start, SECOND, "{line}");
            assert_eq!(counting.count(start), count, "{line}");
            assert_eq!(counting.text(counting.moment(count).unwrap()), date, "{line}");
            if count.fract() == 0.0 {
                assert_eq!(counting.instant(truncated(count)), start, "{line}");
            }
            lines += 1;
        }
        assert!(lines > 500, "{lines}");
    }

    #[test]
    fn months_and_years_begin_and_end_as_those_of_cftime() {
        let mut lines = 0;
        for line in PERIODS.lines() {
            let [calendar, units, text, begin, over] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let counting = counting(units, calendar).unwrap();
            let (start, end) = counting.period(text).unwrap();
            let expected: (f64, f64) = (begin.parse().unwrap(), over.parse().unwrap());
            assert_eq!((counting.count(start), counting.count(end)), expected, "{line}");
            lines += 1;
        }
        assert!(lines > 500, "{lines}");
    }

    #[test]
    fn a_date_is_the_whole_period_that_it_names() {
        let counting = counting("hours since 2024-01-01", "standard").unwrap();
        let hours = |text| {
            let (start, end) = counting.period(text).unwrap();
            ((counting.count(start), counting.count(end)), text)
        };
        for expected in [
            ((0.0, 8784.0), "2024"),
            ((744.0, 1440.0), "2024-02"),
            ((8040.0, 8784.0), "2024-12"),
            ((24.0, 48.0), "2024-01-02"),
            ((6.0, 7.0), "2024-01-01T06"),
            ((6.5, 6.5 + 1.0 / 60.0), "2024-01-01 06:30"),
            ((5.0, 5.0 + 1.0 / 3600.0), "2024-01-01T06:00:00+01:00"),
            ((0.5, 0.5), "2024-01-01T00:30:00.0Z"),
        ] {
            assert_eq!(hours(expected.1), expected);
        }
    }

    #[test]
    fn rejects_invalid_dates_and_dates_not_in_the_calendar() {
        for (calendar, text, part) in [
            ("standard", "1582-10-10", "there is no 1582-10-10 in calendar standard"),
            ("standard", "0000", "there is no 0000-01-01 in calendar standard"),
            ("proleptic_gregorian", "2023-02-29", "no 2023-02-29 in calendar proleptic_gregorian"),
            ("noleap", "2024-02-29", "in calendar noleap"),
            ("360_day", "2024-01-31", "in calendar 360_day"),
            ("julian", "2024-13", "in calendar julian"),
            ("standard", "336", "is no date"),
            ("standard", "2024-01-01T24:00", "is no date"),
            ("standard", "2024-01T06", "is no date"),
            ("standard", "99999999999999999999", "is no date"),
        ] {
            let message = counting("days since 2000-01-01", calendar).unwrap().period(text).unwrap_err();
            assert!(message.to_string().contains(part), "{text}: {message}");
        }
        for (units, calendar, part) in [
            ("months since 2000-01-01", "standard", "unit months is no fixed length"),
            ("common_years since 2000-01-01", "noleap", "unit common_years"),
            ("days since yesterday", "standard", "epoch \"yesterday\""),
            ("days since 2001-02-29", "noleap", "no 2001-02-29"),
            ("days since 2000-01-01", "lunar", "calendar lunar"),
        ] {
            let message = counting(units, calendar).unwrap_err().to_string();
            assert!(message.contains(part), "{units}: {message}");
        }
        assert!(Counting::of_units("degrees_north", None).is_none());
    }

    #[test]
    fn types_count_from_1970_also_in_months() {
        let of = |unit: &str| Counting::of_type(&TimeUnit { unit: unit.into(), duration: false }).unwrap();
        let text = |unit, count| of(unit).text(of(unit).instant(count));
        assert_eq!(text("Y", 56), "2026-01-01T00:00:00");
        assert_eq!(text("M", -1), "1969-12-01T00:00:00");
        assert_eq!(text("W", 1), "1970-01-08T00:00:00");
        assert_eq!(text("15m", 3), "1970-01-01T00:45:00");
        assert_eq!(text("as", 1), "1970-01-01T00:00:00.000000000000000001");
        assert_eq!(of("Y").instant(i128::from(i64::MAX)), Instant::MAX);
        assert!(Counting::of_type(&TimeUnit { unit: "s".into(), duration: true }).is_none());
    }
}
