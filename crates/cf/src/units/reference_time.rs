//! The moment that times are counted from: the date, time and time zone after `since`.
//!
//! Fields are parsed like `sscanf` in C, which counts a sign as one of the four characters of a packed year, and stored
//! as `int`, in which large numbers wrap around. A date such as 31 February is not rejected.
//!
//! Spec: UDUNITS-2.2.28, `lib/scanner.l` for the fields, `lib/unitcore.c` for the calendar: Julian until 1582-10-04,
//! then Gregorian from 1582-10-15 on, with the year 0 treated as 1

use super::algebra::wrapped;
use super::scanner::scan_integer;
use std::fmt;

/// A moment that times are counted from.
///
/// Displayed with all its fields: `1970-01-01 00:00:00 +1:00`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceTime {
    /// The text that it was parsed from: `1970-1-1 UTC`.
    pub text: String,
    /// The year as written. There is no year 0 in this calendar; UDUNITS treats it as 1.
    pub year: i32,
    /// The month as written; 1 if it was not written.
    pub month: i32,
    /// The day of the month as written; 1 if it was not written.
    pub day: i32,
    /// Whether a time of day was written.
    pub has_clock: bool,
    /// Whether a time zone was written.
    pub has_zone: bool,
    clock: Clock,
    zone: Clock,
}

impl ReferenceTime {
    pub(super) fn new(text: &str, date: Date, clock: Option<Clock>, zone: Option<Clock>) -> ReferenceTime {
        let Date { year, month, day } = date;
        ReferenceTime {
            text: text.to_owned(),
            year,
            month,
            day,
            has_clock: clock.is_some(),
            has_zone: zone.is_some(),
            clock: clock.unwrap_or_default(),
            zone: zone.unwrap_or_default(),
        }
    }

    /// The time of day, in seconds since midnight in its time zone. It may be negative: `-1:30` is accepted.
    pub fn clock(&self) -> f64 {
        self.clock.seconds()
    }

    /// The time zone, in seconds east of UTC; 0 if there is none.
    pub fn zone(&self) -> f64 {
        self.zone.seconds()
    }

    /// The moment in seconds since 2001-01-01 00:00:00 UTC.
    pub fn seconds(&self) -> f64 {
        let date = Date { year: self.year, month: self.month, day: self.day };
        let days = date.julian_day().saturating_sub(EPOCH);
        let midnight = 86_400.0 * f64::from(i32::try_from(days).unwrap_or(i32::MAX));
        midnight + (self.clock() - self.zone())
    }

    /// Whether two moments are as close to each other as the digits of seconds can distinguish.
    pub(super) fn is_same_moment(&self, other: &ReferenceTime) -> bool {
        let (one, two) = (self.seconds(), other.seconds());
        (one - two).abs() <= 4.0 * f64::EPSILON * one.abs().max(1.0)
    }
}

/// The day that UDUNITS counts from: 2001-01-01.
const EPOCH: i64 = 2_451_911;

impl fmt::Display for ReferenceTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Date { year, month, day } =
            Date { year: self.year, month: self.month, day: self.day }.within_calendar();
        write!(f, "{year:04}-{month:02}-{day:02} {}", self.clock)?;
        match self.has_zone {
            true => write!(f, " {:+}:{:02}", self.zone.hours, self.zone.minutes.unsigned_abs()),
            false => Ok(()),
        }
    }
}

/// A date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    year: i32,
    month: i32,
    day: i32,
}

impl Date {
    /// A date with hyphens: `1970-1-1`.
    pub(super) fn parse_broken(text: &str) -> Date {
        let mut fields = Fields(text);
        let year = fields.integer(usize::MAX).unwrap_or(1);
        let month = fields.after('-').and_then(|()| fields.integer(usize::MAX));
        let day = fields.after('-').and_then(|()| fields.integer(usize::MAX));
        Date { year, month: month.unwrap_or(1), day: day.unwrap_or(1) }
    }

    /// A date of digits: `19700101`.
    pub(super) fn parse_packed(text: &str) -> Date {
        let mut fields = Fields(text);
        let year = fields.integer(4).unwrap_or(1);
        let month = fields.integer(2);
        let day = month.and_then(|_| fields.integer(2));
        Date { year, month: month.unwrap_or(1), day: day.unwrap_or(1) }
    }

    /// The day number, as `gregorianDateToJulianDay`. Fields have at most four digits.
    fn julian_day(self) -> i64 {
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        let year = match i64::from(self.year) {
            0 => 1,
            year @ ..0 => year + 1,
            year => year,
        };
        let (julian_year, shifted_month) = if month > 2 { (year, month + 1) } else { (year - 1, month + 13) };
        let days = day + 306_001 * shifted_month / 10_000 + (1_461 * julian_year).div_euclid(4) + 1_720_995;
        if day + 31 * (month + 12 * year) < GREGORIAN {
            return days;
        }
        let century = julian_year / 100;
        days - century + 2 + century / 4
    }

    /// The same day with a month and day that can be written.
    fn within_calendar(self) -> Date {
        if (1..=12).contains(&self.month) && (1..=31).contains(&self.day) { self } else { self.normal() }
    }

    /// The date with the same day number, in the form that the calendar has.
    fn normal(self) -> Date {
        let number = self.julian_day();
        let leap_days = (4 * number + 274_277).div_euclid(146_097) * 3 / 4 - 38;
        let quarters = 4 * (number + 1_401 + if number < FIRST_GREGORIAN { 0 } else { leap_days }) + 3;
        let day_of_year = 5 * (quarters.rem_euclid(1_461) / 4) + 2;
        let month = (day_of_year / 153 + 2) % 12 + 1;
        let year = quarters.div_euclid(1_461) - 4_716 + (14 - month) / 12;
        let field = |number: i64| i32::try_from(number).unwrap_or(1);
        let year = if year > 0 { year } else { year - 1 };
        Date { year: field(year), month: field(month), day: field(day_of_year % 153 / 5 + 1) }
    }
}

/// 1582-10-15, as the sum that is used to compare dates.
const GREGORIAN: i64 = 15 + 31 * (10 + 12 * 1_582);
/// The number of the same day.
const FIRST_GREGORIAN: i64 = 2_299_161;

/// A time of day, or the offset of a time zone from UTC. All fields have the sign of the hour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Clock {
    hours: i32,
    minutes: i32,
    seconds: f64,
}

impl Clock {
    /// A time with colons: `12:30:00.5`.
    pub(super) fn parse_broken(text: &str) -> Clock {
        let mut fields = Fields(text);
        let hours = fields.integer(usize::MAX);
        let minutes = fields.after(':').and_then(|()| fields.integer(usize::MAX));
        let seconds = fields.after(':').map(|()| fields.real());
        Clock::new(hours, minutes, seconds)
    }

    /// A time of digits: `123000.5`.
    pub(super) fn parse_packed(text: &str) -> Clock {
        let mut fields = Fields(text);
        let hours = fields.integer(2);
        let minutes = fields.integer(2);
        Clock::new(hours, minutes, Some(fields.real()))
    }

    /// A time zone of digits: `+0100`, `-1`.
    pub(super) fn parse_zone(text: &str) -> Clock {
        let width = match (text.starts_with(['+', '-']), text.len()) {
            (true, ..=3) | (false, ..=2) => usize::MAX,
            (true, 4) => 2,
            (true, _) => 3,
            (false, 3) => 1,
            (false, _) => 2,
        };
        let mut fields = Fields(text);
        Clock::new(fields.integer(width), fields.integer(usize::MAX), None)
    }

    /// As `ut_encode_clock`, which treats a time as midnight if one of its fields is out of range.
    fn new(hours: Option<i32>, minutes: Option<i32>, seconds: Option<f64>) -> Clock {
        let (hours, minutes, seconds) = (hours.unwrap_or(0), minutes.unwrap_or(0), seconds.unwrap_or(0.0));
        if hours.unsigned_abs() >= 24 || minutes.unsigned_abs() >= 60 || seconds.abs() > 62.0 {
            return Clock::default();
        }
        match hours {
            ..0 => Clock { hours, minutes: -minutes, seconds: -seconds },
            _ => Clock { hours, minutes, seconds },
        }
    }

    fn seconds(self) -> f64 {
        f64::from((self.hours * 60 + self.minutes) * 60) + self.seconds
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Clock { hours, mut minutes, seconds } = *self;
        let mut seconds = seconds.abs();
        // Only leap seconds can be expressed: 61 and 62 belong to the next minute.
        if seconds >= 61.0 {
            seconds -= 60.0;
            minutes += if hours < 0 { -1 } else { 1 };
        }
        let (hours, minutes) = (hours + minutes / 60, (minutes % 60).unsigned_abs());
        let digits = if seconds < 10.0 { "0" } else { "" };
        write!(f, "{hours:02}:{minutes:02}:{digits}{seconds}")
    }
}

/// The rest of a text that is parsed field by field.
struct Fields<'a>(&'a str);

impl Fields<'_> {
    /// As `%d` of `sscanf`, with at most this many characters.
    fn integer(&mut self, width: usize) -> Option<i32> {
        let text = self.0.trim_start();
        let is_part = |(at, byte): (usize, u8)| match byte {
            b'+' | b'-' => at == 0,
            _ => byte.is_ascii_digit(),
        };
        let length = text.bytes().enumerate().take(width).take_while(|part| is_part(*part)).count();
        let (digits, rest) = text.split_at_checked(length)?;
        if !digits.ends_with(|end: char| end.is_ascii_digit()) {
            return None;
        }
        self.0 = rest;
        Some(wrapped(scan_integer(digits).0))
    }

    fn after(&mut self, separator: char) -> Option<()> {
        self.0 = self.0.strip_prefix(separator)?;
        Some(())
    }

    /// As `%lf` of `sscanf`; 0 if there is no number.
    fn real(&mut self) -> f64 {
        let text = self.0.trim();
        text.parse().unwrap_or(0.0)
    }
}
