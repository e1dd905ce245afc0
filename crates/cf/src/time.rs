//! Counts of time since a moment, and the dates that they represent in the calendars of CF.
//!
//! ```
//! use hyperslab_cf::time::Counting;
//!
//! let counting = Counting::of_units("days since 2000-02-28", Some("360_day")).expect("a unit of time")?;
//! assert_eq!(counting.text(counting.instant(2)), "2000-02-30T00:00:00");
//! let (start, end) = counting.period("2000-03")?;
//! assert_eq!((counting.count(start), counting.count(end)), (3.0, 33.0));
//! # Ok::<(), hyperslab_core::Error>(())
//! ```
//!
//! Spec: CF 1.13, 4.4 Time Coordinate

mod calendar;
mod recount;
mod written;

pub use calendar::{Calendar, Date};
pub use recount::Recount;

use self::calendar::DATES;
use crate::units::Unit;
use hyperslab_core::{Error, Result};
use hyperslab_model::TimeUnit;
use written::Written;

/// The unit, epoch and calendar of numbers that are times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counting {
    calendar: Calendar,
    /// The instant of count 0.
    epoch: Instant,
    step: Step,
}

/// A moment as a number of attoseconds (10⁻¹⁸ s) since day 0 of a calendar. Instants of different calendars cannot be
/// compared.
pub type Instant = i128;

/// The number of attoseconds in a nanosecond.
pub const NANOSECOND: i128 = 1_000_000_000;

/// The number of attoseconds in a second.
pub const SECOND: i128 = 1_000_000_000 * NANOSECOND;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Attoseconds(i128),
    Months(i128),
}

impl Counting {
    /// The counting that an attribute `units` such as `hours since 2024-03-01` describes; `None` if it does not
    /// describe times. Without `calendar` it is `standard`, as in CF.
    ///
    /// The unit is one of UDUNITS, but case-insensitive as in xarray and cftime: `Ms` means milliseconds. A month has a
    /// fixed length only in the calendar `360_day`, and a `common_year` only in `noleap`.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for units without fixed length and other calendars;
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for epochs that do not exist in the calendar.
    pub fn of_units(units: &str, calendar: Option<&str>) -> Option<Result<Counting>> {
        let at = units.to_ascii_lowercase().find(" since ")?;
        let (unit, rest) = units.split_at_checked(at)?;
        let epoch = rest.get(" since ".len()..)?;
        Some(Counting::since(unit.trim(), epoch.trim(), calendar.unwrap_or("standard")))
    }

    fn since(unit: &str, epoch: &str, calendar: &str) -> Result<Counting> {
        let calendar = Calendar::named(calendar);
        let step = length(unit, calendar.as_ref().ok().copied()).ok_or_else(|| {
            Error::unsupported(format!(
                "unit {unit} is not a fixed length of time, expected seconds to weeks"
            ))
        })?;
        let calendar = calendar?;
        let written = Written::parse_epoch(epoch)
            .ok_or_else(|| Error::invalid(format!("epoch {epoch:?}, expected a date as 2026-03-01 06:00")))?;
        Ok(Counting { calendar, epoch: written.start(calendar)?, step: Step::Attoseconds(step) })
    }

    /// The counting of a datatype that counts time since 1970; `None` for durations, and for units that
    /// NumPy does not have.
    pub fn of_type(unit: &TimeUnit) -> Option<Counting> {
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
    fn parts(&self) -> Option<(Calendar, Instant, i128)> {
        match self.step {
            Step::Attoseconds(step) => Some((self.calendar, self.epoch, step)),
            Step::Months(_) => None,
        }
    }

    /// The beginning and end of the period that a text names; equal for a fraction of a second, which names a moment.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) for texts that are not dates, and for days that
    /// do not exist in the calendar.
    pub fn period(&self, text: &str) -> Result<(Instant, Instant)> {
        let written = Written::parse(text, 4).ok_or_else(|| {
            Error::invalid(format!("{text:?} is not a date, expected one as 2026-03-01T06:00"))
        })?;
        if let Some(month) = written.month.filter(|month| !(1..=12).contains(month)) {
            return Err(Error::invalid(format!("there is no month {month} in {text}")).with_hint(DATES));
        }
        Ok((written.start(self.calendar)?, written.end(self.calendar)?))
    }

    /// The instant of `count`; beyond some 10^12 years, the last possible instant.
    pub fn instant(&self, count: i128) -> Instant {
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

    /// The count of an instant, as exact as a 64-bit float can be; NaN if counts are months.
    pub fn count(&self, instant: Instant) -> f64 {
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

    /// The instant of a count with a fraction; `None` if the count is not finite, beyond all instants, or counts
    /// months.
    ///
    /// It is rounded to nanoseconds, microseconds or milliseconds: the finest of them that a 64-bit float of this size
    /// can distinguish. Days since 1600 are exact only to some microseconds, and 8 hours are 1/3 of a day, which has no
    /// finite binary representation.
    pub fn moment(&self, count: f64) -> Option<Instant> {
        let Step::Attoseconds(step) = self.step else { return None };
        if !count.is_finite() {
            return None;
        }
        let fraction = truncated((count.fract() * step as f64).round());
        let instant =
            truncated(count.trunc()).checked_mul(step)?.checked_add(fraction)?.checked_add(self.epoch)?;
        // Counts result from calculations, whose errors are a few times the distance to the next number.
        let noise = 4.0 * (count.abs().next_up() - count.abs()) * step as f64;
        let units = [NANOSECOND, 1000 * NANOSECOND];
        let unit = units.into_iter().find(|unit| noise < *unit as f64).unwrap_or(1_000_000 * NANOSECOND);
        instant.checked_add(unit / 2)?.div_euclid(unit).checked_mul(unit)
    }

    /// Whether an instant and those after it have the same dates as in the calendar of ISO 8601, so that every program
    /// interprets a count since 1970 as the same date.
    pub fn is_iso_from(&self, instant: Instant) -> bool {
        self.calendar.is_iso_from(instant.div_euclid(DAY))
    }

    /// The calendar of its dates.
    pub fn calendar(&self) -> Calendar {
        self.calendar
    }

    /// An instant in ISO 8601 format.
    pub fn text(&self, instant: Instant) -> String {
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

/// Whether a text is a date and not only a number: `2024-03` is one, `2024` is not.
pub fn is_date(text: &str) -> bool {
    Written::parse(text, 4).is_some_and(|written| written.month.is_some())
}

/// The length of a unit in attoseconds; `None` if it is not a unit of time, or has no fixed length in the calendar.
fn length(unit: &str, calendar: Option<Calendar>) -> Option<i128> {
    // In UDUNITS a month is a twelfth of a tropical year, which is never what is meant. cftime supports these two
    // units, each in the calendar where it is a number of days.
    match unit.to_ascii_lowercase().as_str() {
        "month" | "months" => calendar.filter(|calendar| calendar.has_equal_months()).map(|_| 30 * DAY),
        "common_year" | "common_years" => {
            calendar.filter(|calendar| calendar.has_equal_years()).map(|_| 365 * DAY)
        }
        lower => {
            // cftime, unlike UDUNITS, supports plurals of symbols: `hrs`, `mins`, `secs`.
            let texts = [lower, lower.strip_suffix('s').unwrap_or(lower), unit];
            let mut units = texts.into_iter().filter_map(|text| Unit::parse(text).ok());
            let unit =
                units.find(|unit| unit.is_time() && unit.offset() == 0.0 && unit.unread().is_none())?;
            let whole = unit.scale().trunc();
            let fraction = truncated((unit.scale().fract() * SECOND as f64).round());
            let length = truncated(whole).checked_mul(SECOND)?.checked_add(fraction)?;
            // From the sidereal month of 27.3 days on, UDUNITS has months, years and units derived from them.
            Some(length).filter(|length| (1..27 * DAY).contains(length))
        }
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[expect(clippy::cast_possible_truncation, reason = "has no fraction; saturates")]
fn truncated(number: f64) -> i128 {
    number as i128
}

const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;
const DAY: i128 = 24 * HOUR;

/// The maximum number of digits of a year; attoseconds of this many years fit into an [`Instant`] several times.
const MAX_DIGITS: u32 = 12;

/// All integers below this are exact as 64-bit floating-point numbers.
const EXACT: u128 = 1 << 53;

#[cfg(test)]
mod tests {
    use super::*;

    // The results of cftime, written by `tests/data/make_cf_times.py`.
    const TIMES: &str = include_str!("../tests/data/cf_times.tsv");
    const PERIODS: &str = include_str!("../tests/data/cf_periods.tsv");

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
    fn epochs_may_have_a_time_zone_without_a_clock() {
        let plain = counting("days since 2000-01-01", "standard").unwrap();
        for zone in [" UTC", " utc", " Z", " GMT", "  UTC", " 00:00 UTC", "T00:00:00Z"] {
            assert_eq!(
                counting(&format!("days since 2000-01-01{zone}"), "standard").unwrap(),
                plain,
                "{zone}"
            );
        }
        assert!(counting("days since 2000-01-01 CET", "standard").is_err());
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
            ("julian", "2024-13", "there is no month 13 in 2024-13\nhelp: dates are YEAR, YEAR-MONTH or"),
            ("360_day", "2024-00-07", "there is no month 0 in 2024-00-07"),
            ("standard", "336", "is not a date"),
            ("standard", "2024-01-01T24:00", "is not a date"),
            ("standard", "2024-01T06", "is not a date"),
            ("standard", "99999999999999999999", "is not a date"),
        ] {
            let message = counting("days since 2000-01-01", calendar).unwrap().period(text).unwrap_err();
            assert!(message.to_string().contains(part), "{text}: {message}");
        }
        for (units, calendar, part) in [
            ("months since 2000-01-01", "standard", "unit months is not a fixed length"),
            ("months since 2000-01-01", "noleap", "unit months"),
            ("years since 2000-01-01", "360_day", "unit years"),
            ("common_years since 2000-01-01", "standard", "unit common_years"),
            ("metres since 2000-01-01", "standard", "unit metres"),
            ("days since 2000-01-01 25:00", "standard", "epoch \"2000-01-01 25:00\""),
            ("days since 2000-02-30", "standard", "no 2000-02-30"),
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
    fn units_are_those_of_udunits_and_cftime() {
        let seconds = |unit: &str, calendar: &str| {
            let counting = counting(&format!("{unit} since 2000-01-01"), calendar).unwrap();
            (counting.instant(1) - counting.instant(0)) as f64 / SECOND as f64
        };
        // All units that cftime 1.6 supports.
        for (texts, expected) in [
            ("microseconds microsecond microsec microsecs", 1e-6),
            ("milliseconds millisecond millisec millisecs msec msecs ms Ms", 1e-3),
            ("seconds second sec secs s S", 1.0),
            ("minutes minute min mins", 60.0),
            ("hours hour hr hrs h Hours HRS", 3600.0),
            ("days day d D", 86_400.0),
            // UDUNITS also has these.
            ("nanoseconds nanosecond nanosec nanosecs nsec nsecs ns", 1e-9),
            ("us", 1e-6),
            ("weeks week", 604_800.0),
            ("fortnights", 1_209_600.0),
            ("sidereal_day", 86_164.09),
        ] {
            for text in texts.split(' ') {
                assert_eq!(seconds(text, "standard"), expected, "{text}");
            }
        }
        assert_eq!(seconds("10 minutes", "standard"), 600.0);
        assert_eq!(seconds("months", "360_day"), 30.0 * 86_400.0);
        assert_eq!(seconds("common_years", "365_day"), 365.0 * 86_400.0);
    }

    #[test]
    fn fractions_are_as_exact_as_counts() {
        for (units, count, expected) in [
            ("seconds since 2000-01-01", 0.123_456_789, "2000-01-01T00:00:00.123456789"),
            ("seconds since 1970-01-01", 1e9 + 0.123_456, "2001-09-09T01:46:40.123456"),
            ("days since 2000-01-01", 1.0 / 3.0, "2000-01-01T08:00:00"),
            ("days since 2000-01-01", 9000.0 + 1.0 / 3.0, "2024-08-22T08:00:00"),
            ("days since 1600-01-01", 154_000.0 + 1.0 / 3.0, "2021-08-21T08:00:00"),
            ("hours since 1900-01-01", 1_000_000.0 + 1.0 / 60.0, "2014-01-29T16:01:00"),
        ] {
            let counting = counting(units, "standard").unwrap();
            assert_eq!(counting.text(counting.moment(count).unwrap()), expected, "{count} {units}");
        }
        let counting = counting("days since 2000-01-01", "standard").unwrap();
        assert_eq!(counting.moment(f64::MAX), None);
        assert_eq!(counting.moment(f64::NAN), None);
    }

    #[test]
    fn epochs_may_be_written_without_separators() {
        for (epoch, expected) in [
            ("20000101", "2000-01-01T00:00:00"),
            ("20000101T12", "2000-01-01T12:00:00"),
            ("20000101 123015.5Z", "2000-01-01T12:30:15.5"),
            ("2000-01-01 1230", "2000-01-01T12:30:00"),
            ("2000", "2000-01-01T00:00:00"),
            ("1-1-1", "0001-01-01T00:00:00"),
        ] {
            let counting = counting(&format!("days since {epoch}"), "standard").unwrap();
            assert_eq!(counting.text(counting.instant(0)), expected, "{epoch}");
        }
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
