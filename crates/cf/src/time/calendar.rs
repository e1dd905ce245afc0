//! Calendars: conversion of day numbers to year, month and day, and back.
//!
//! Spec: CF 1.13, 4.4.2 Calendar

use hyperslab_core::{Error, Result};

/// A calendar of CF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calendar {
    rule: Rule,
    /// Whether the calendar has a year 0.
    year_zero: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Julian up to 1582-10-04, Gregorian from 1582-10-15; the days between do not exist.
    Standard,
    Gregorian,
    Julian,
    NoLeap,
    AllLeap,
    Days360,
}

/// A date in a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// The year; not 0 in a calendar without year 0.
    pub year: i128,
    /// The month, from 1 on.
    pub month: u8,
    /// The day of the month, from 1 on.
    pub day: u8,
}

impl Calendar {
    /// The Julian calendar up to 1582-10-04, the Gregorian from 1582-10-15 on.
    pub const STANDARD: Calendar = Calendar { rule: Rule::Standard, year_zero: false };

    /// The Julian calendar.
    pub const JULIAN: Calendar = Calendar { rule: Rule::Julian, year_zero: false };

    /// The calendar of ISO 8601, and of counts since 1970 that have no calendar attribute.
    pub const PROLEPTIC_GREGORIAN: Calendar = Calendar { rule: Rule::Gregorian, year_zero: true };

    /// The calendar with this CF name, in upper or lower case.
    ///
    /// # Errors
    /// [`Unsupported`](hyperslab_core::ErrorKind::Unsupported) for other names.
    pub fn named(name: &str) -> Result<Calendar> {
        let rule = match name.to_ascii_lowercase().as_str() {
            "standard" | "gregorian" => Rule::Standard,
            "proleptic_gregorian" => Rule::Gregorian,
            "julian" => Rule::Julian,
            "noleap" | "365_day" => Rule::NoLeap,
            "all_leap" | "366_day" => Rule::AllLeap,
            "360_day" => Rule::Days360,
            _ => {
                return Err(Error::unsupported(format!(
                    "calendar {name}, expected standard, proleptic_gregorian, julian, noleap, all_leap or 360_day"
                )));
            }
        };
        Ok(Calendar { rule, year_zero: !matches!(rule, Rule::Standard | Rule::Julian) })
    }

    /// The day number of a date: since 1970-01-01 in calendars with real leap years, since the first day of year 0 in
    /// the others.
    ///
    /// # Errors
    /// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if the date does not exist in the calendar.
    pub fn day(self, date: Date) -> Result<i128> {
        let Date { year, month, day } = date;
        let absent = || {
            let name = self.name();
            Error::invalid(format!("there is no {} in calendar {name}", self.text(date))).with_hint(DATES)
        };
        let counted = self.counted(year).filter(|year| year.unsigned_abs() < LAST_YEAR).ok_or_else(absent)?;
        if !(1..=12).contains(&month) || day == 0 || day > self.month_length(counted, month) {
            return Err(absent());
        }
        if self.rule == Rule::Standard && counted == 1582 && month == 10 && (5..15).contains(&day) {
            return Err(absent());
        }
        Ok(self.number(counted, month, day))
    }

    /// The number of the first day of the month after that of `date`.
    ///
    /// # Errors
    /// As [`day`](Calendar::day), for the first day of the month.
    pub fn after_month(self, date: Date) -> Result<i128> {
        self.day(Date { day: 1, ..date })?;
        let year = self.counted(date.year).unwrap_or_default();
        Ok(match date.month {
            12 => self.number(year + 1, 1, 1),
            month => self.number(year, month + 1, 1),
        })
    }

    /// The number of the first day of the year after that of `date`.
    ///
    /// # Errors
    /// As [`day`](Calendar::day), for the first day of the year.
    pub fn after_year(self, date: Date) -> Result<i128> {
        self.day(Date { month: 1, day: 1, ..date })?;
        Ok(self.number(self.counted(date.year).unwrap_or_default() + 1, 1, 1))
    }

    /// The number of the first day of a month, counted from January 1970. Months beyond 10¹⁶ years count as the last
    /// one.
    pub fn month_since_1970(self, months: i128) -> i128 {
        let last = 12 * LAST_YEAR.cast_signed();
        let months = months.clamp(-last, last);
        let month = u8::try_from(months.rem_euclid(12)).unwrap_or(0) + 1;
        self.number(1970 + months.div_euclid(12), month, 1)
    }

    /// The number of the month of a date, counted from January 1970.
    pub fn month_number(self, date: Date) -> i128 {
        let year = self.counted(date.year).unwrap_or_default();
        year.saturating_sub(1970).saturating_mul(12).saturating_add(i128::from(date.month) - 1)
    }

    /// The date of the day with this number. Days beyond 10¹⁸ count as the last one.
    pub fn date(self, number: i128) -> Date {
        let number = number.clamp(-LAST_DAY, LAST_DAY);
        // The estimate from the mean length of a year is at most one year off.
        let mut year = match self.rule {
            Rule::NoLeap => number.div_euclid(365),
            Rule::AllLeap => number.div_euclid(366),
            Rule::Days360 => number.div_euclid(360),
            Rule::Standard if number < 0 => 1970 + (4 * number).div_euclid(1461),
            Rule::Julian => 1970 + (4 * number).div_euclid(1461),
            Rule::Standard | Rule::Gregorian => 1970 + (400 * number).div_euclid(146_097),
        };
        while self.number(year, 1, 1) > number {
            year -= 1;
        }
        while self.number(year + 1, 1, 1) <= number {
            year += 1;
        }
        let mut month = 12;
        while month > 1 && self.number(year, month, 1) > number {
            month -= 1;
        }
        let mut day = number - self.number(year, month, 1) + 1;
        if self.rule == Rule::Standard && year == 1582 && month == 10 && day > 4 {
            day += 10;
        }
        let year = if self.year_zero || year > 0 { year } else { year - 1 };
        Date { year, month, day: u8::try_from(day).unwrap_or(u8::MAX) }
    }

    /// Whether day `number` and those after it have the same dates as in the calendar of ISO 8601.
    pub fn is_iso_from(self, number: i128) -> bool {
        match self.rule {
            Rule::Gregorian => true,
            Rule::Standard => number >= self.number(1582, 10, 15),
            _ => false,
        }
    }

    /// The first day from which two calendars have the same dates; `None` if they never have. Calendars that differ
    /// only before the Gregorian reform agree from 1582-10-15 on.
    pub fn same_from(self, other: Calendar) -> Option<i128> {
        if self == other {
            return Some(i128::MIN);
        }
        let reform = Calendar::PROLEPTIC_GREGORIAN.number(1582, 10, 15);
        (self.is_iso_from(reform) && other.is_iso_from(reform)).then_some(reform)
    }

    /// A date in ISO 8601 format.
    pub fn text(self, Date { year, month, day }: Date) -> String {
        let sign = if year < 0 { "-" } else { "" };
        format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
    }

    /// The CF name.
    pub fn name(self) -> &'static str {
        match self.rule {
            Rule::Standard => "standard",
            Rule::Gregorian => "proleptic_gregorian",
            Rule::Julian => "julian",
            Rule::NoLeap => "noleap",
            Rule::AllLeap => "all_leap",
            Rule::Days360 => "360_day",
        }
    }

    /// Whether all months have 30 days.
    pub(super) fn has_equal_months(self) -> bool {
        self.rule == Rule::Days360
    }

    /// Whether all years have 365 days.
    pub(super) fn has_equal_years(self) -> bool {
        self.rule == Rule::NoLeap
    }

    /// The year in a count with year 0; `None` for year 0 if the calendar does not have it.
    fn counted(self, year: i128) -> Option<i128> {
        match year {
            _ if self.year_zero || year > 0 => Some(year),
            0 => None,
            _ => Some(year + 1),
        }
    }

    /// The number of days of a month, from 1 to 12, of a year in a count with year 0.
    pub(crate) fn month_length(self, year: i128, month: u8) -> u8 {
        let leap = match self.rule {
            Rule::Days360 => return 30,
            Rule::NoLeap => false,
            Rule::AllLeap => true,
            Rule::Julian => year.rem_euclid(4) == 0,
            Rule::Standard if year <= 1582 => year.rem_euclid(4) == 0,
            Rule::Standard | Rule::Gregorian => {
                year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
            }
        };
        match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// Days since 1970-01-01 in calendars with real leap years; in the others, since the first day of year 0. Years are
    /// counted with year 0.
    pub(crate) fn number(self, year: i128, month: u8, day: u8) -> i128 {
        let (m, d) = (i128::from(month), i128::from(day));
        // Years are counted from March, so that the leap day is the last day of a year.
        let march = if month > 2 { m - 3 } else { m + 9 };
        let since_march = (153 * march + 2) / 5 + d - 1;
        let year_of_march = if month > 2 { year } else { year - 1 };
        let gregorian = || {
            let centuries = year_of_march.div_euclid(100);
            365 * year_of_march + year_of_march.div_euclid(4) - centuries
                + centuries.div_euclid(4)
                + since_march
                - 719_468
        };
        let julian = || 365 * year_of_march + year_of_march.div_euclid(4) + since_march - 719_470;
        match self.rule {
            Rule::Gregorian => gregorian(),
            Rule::Julian => julian(),
            Rule::Standard if (year, month, day) < (1582, 10, 15) => julian(),
            Rule::Standard => gregorian(),
            Rule::Days360 => 360 * year + 30 * (m - 1) + d - 1,
            Rule::NoLeap => 365 * year + self.before(year, month) + d - 1,
            Rule::AllLeap => 366 * year + self.before(year, month) + d - 1,
        }
    }

    /// The number of days in a year before a month.
    fn before(self, year: i128, month: u8) -> i128 {
        (1..month).map(|month| i128::from(self.month_length(year, month))).sum()
    }
}

/// The allowed forms of dates.
pub(super) const DATES: &str =
    "dates are YEAR, YEAR-MONTH or YEAR-MONTH-DAY, such as 2024, 2024-02 or 2024-02-28";

/// Years before this one can be dates; all sums of days stay far below the limits of their type.
const LAST_YEAR: u128 = 10_u128.pow(16);

/// The last day with a date, some 10¹⁵ years from now.
const LAST_DAY: i128 = 10_i128.pow(18);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_one_date_and_dates_go_up() {
        for name in ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"] {
            let calendar = Calendar::named(name).unwrap();
            for around in [0, -141_427, -719_162, 10_957, 719_468, 10_i128.pow(15), -10_i128.pow(15)] {
                let mut before = calendar.date(around - 800);
                for number in around - 799..around + 800 {
                    let date = calendar.date(number);
                    assert_eq!(calendar.day(date).unwrap(), number, "{name} {date:?}");
                    assert!(before < date, "{name}: {before:?} {date:?}");
                    before = date;
                }
            }
        }
    }

    #[test]
    fn the_gregorian_reform_leaves_out_ten_days() {
        let standard = Calendar::named("Standard").unwrap();
        let fourth = Date { year: 1582, month: 10, day: 4 };
        let next = standard.date(standard.day(fourth).unwrap() + 1);
        assert_eq!(next, Date { year: 1582, month: 10, day: 15 });
        assert_eq!(standard.after_month(fourth).unwrap() - standard.day(fourth).unwrap(), 18);
        assert!(standard.day(Date { day: 10, ..fourth }).is_err());
    }

    #[test]
    fn numbers_beyond_all_dates_are_the_last_date() {
        for name in ["standard", "julian", "noleap", "360_day"] {
            let calendar = Calendar::named(name).unwrap();
            assert_eq!(calendar.date(i128::MAX), calendar.date(LAST_DAY), "{name}");
            assert_eq!(calendar.month_since_1970(i128::MIN), calendar.month_since_1970(i128::MIN + 1));
            let date = Date { year: i128::MIN, month: 1, day: 1 };
            assert!(calendar.day(date).is_err() && calendar.after_year(date).is_err());
            assert!(calendar.month_number(date) < 0);
        }
    }

    #[test]
    fn months_count_from_1970() {
        let calendar = Calendar::PROLEPTIC_GREGORIAN;
        for (months, text) in
            [(0, "1970-01-01"), (-1, "1969-12-01"), (13, "1971-02-01"), (-12 * 1971, "-0001-01-01")]
        {
            assert_eq!(calendar.text(calendar.date(calendar.month_since_1970(months))), text);
        }
    }
}
