//! Dates as written, with their precision.
//!
//! [`units`](crate::units) interprets dates like UDUNITS, for which 25:00 is midnight, 30 February is 1 March in every
//! calendar, and seconds are 64-bit numbers. cftime and xarray reject such dates, and so does this module. In addition,
//! a date that selects a period must be known to the last digit that was written.

use super::calendar::{Calendar, Date};
use super::{DAY, HOUR, Instant, MAX_DIGITS, MINUTE, SECOND};
use hyperslab_core::Result;

/// A date or time of day with the precision of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    year: i128,
    pub(super) month: Option<u8>,
    day: Option<u8>,
    hour: Option<i128>,
    minute: Option<i128>,
    second: Option<i128>,
    fraction: Option<i128>,
    /// The offset of its clock from UTC in minutes.
    zone: i128,
}

impl Written {
    /// The date in an attribute `units`, which may also be written without hyphens, as in `20000101`, and with a time
    /// zone but without a time of day, as in `2000-01-01 UTC`.
    pub(super) fn parse_epoch(text: &str) -> Option<Written> {
        let text = match text.rsplit_once(' ') {
            Some((date, zone)) if UTC.iter().any(|utc| utc.eq_ignore_ascii_case(zone)) => date.trim_end(),
            _ => text,
        };
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        match (end, text.get(..4), text.get(4..6), text.get(6..)) {
            (8, Some(year), Some(month), Some(rest)) => Written::parse(&format!("{year}-{month}-{rest}"), 1),
            _ => Written::parse(text, 1),
        }
    }

    /// `2026`, `2026-03`, `2026-03-01`, `2026-03-01T06`, `2026-03-01 06:00:30.5+01:00`.
    pub(super) fn parse(text: &str, year_digits: usize) -> Option<Written> {
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

    /// Parses `06:00:30.5+01:00` and `060030.5+01:00`.
    fn clock(&mut self, text: &str) -> Option<()> {
        let zone = text.find(|c: char| !(c.is_ascii_digit() || ":.".contains(c))).unwrap_or(text.len());
        let (clock, zone) = text.split_at_checked(zone)?;
        let (clock, fraction) = match clock.split_once('.') {
            Some((clock, fraction)) => (clock, Some(fraction)),
            None => (clock, None),
        };
        let fields: Vec<&str> = match (clock.len(), clock.split_at_checked(2), clock.get(4..)) {
            (4, Some((hour, minute)), _) if !clock.contains(':') => vec![hour, minute],
            (6, Some((hour, rest)), Some(second)) if !clock.contains(':') => {
                vec![hour, rest.get(..2)?, second]
            }
            _ => clock.split(':').collect(),
        };
        let mut fields = fields.into_iter();
        let below = |text: &str, limit: i128| Some(i128::from(digits(text, 2)?)).filter(|n| *n < limit);
        self.hour = Some(below(fields.next()?, 24)?);
        if let Some(minute) = fields.next() {
            self.minute = Some(below(minute, 60)?);
        }
        if let Some(second) = fields.next() {
            self.second = Some(below(second, 60)?);
        }
        if let Some(fraction) = fraction {
            self.second?;
            let places = u32::try_from(fraction.len()).ok()?;
            self.fraction = Some(
                i128::from(digits(fraction, 18)?).checked_mul(10_i128.pow(18_u32.checked_sub(places)?))?,
            );
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

    pub(super) fn start(&self, calendar: Calendar) -> Result<Instant> {
        let clock = self.hour.unwrap_or(0) * HOUR
            + (self.minute.unwrap_or(0) - self.zone) * MINUTE
            + self.second.unwrap_or(0) * SECOND
            + self.fraction.unwrap_or(0);
        Ok(calendar.day(self.date())? * DAY + clock)
    }

    pub(super) fn end(&self, calendar: Calendar) -> Result<Instant> {
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

/// The offset of a time zone in minutes: `Z`, `UTC`, `+01:00`, `-5`.
fn offset(zone: &str) -> Option<i128> {
    if zone.is_empty() || UTC.iter().any(|utc| utc.eq_ignore_ascii_case(zone)) {
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

/// The names of UTC.
const UTC: [&str; 3] = ["Z", "UTC", "GMT"];
