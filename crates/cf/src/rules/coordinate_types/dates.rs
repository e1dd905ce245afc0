//! Dates that do not exist.
//!
//! Every number of days since an existing date is an existing date, except in calendars that have a first date. The
//! Julian and the Gregorian part of the standard calendar are contiguous in this count.
//!
//! Spec: CF 1.13, 4.4.3 Calendar

use super::calendar::Calendar;
use super::time::{Written, is_time};
use super::{Found, Scope};
use crate::dataset::{Number, Variable};
use crate::rules::files_and_components::{default_fill, is_same};
use crate::rules::values::Fold;
use crate::units::{Form, Unit};
use hyperslab_model::Elements;

pub(in crate::rules) fn reference_in_calendar(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("units").filter(|variable| is_time(variable)) {
        let Some(reference) = variable.unit().and_then(Unit::reference_time) else { continue };
        let Some(calendar) = Calendar::of(scope, variable) else { continue };
        let date = Written::new(reference).date;
        if let Some(expected) = fault_of(scope, &calendar, date) {
            let (year, month, day) = date;
            let name = calendar.name();
            let message = format!(
                "reference date {year:04}-{month:02}-{day:02} in calendar {name}, expected {expected}"
            );
            found.add(variable.place("units"), message, "correct the date or the calendar");
        } else if date.0 == 0 && calendar.begins_julian() {
            let message =
                "a reference date in the year 0, which stood for a climatology, expected another one";
            found.advise(variable.place("units"), message, "use the attribute climatology, or another year");
        }
    }
}

/// The error in a date of a calendar. Whether months and days are in range at all is covered by time-units.
fn fault_of(scope: &Scope<'_>, calendar: &Calendar, date: (i64, i64, i64)) -> Option<String> {
    let (year, month, day) = date;
    if !(1..=12).contains(&month) || day < 1 || (day > 31 && !matches!(calendar, Calendar::Stated { .. })) {
        return None;
    }
    let days = calendar.days(year, month)?;
    if i128::from(day) > days {
        return Some(format!("at most {days} days in this month"));
    }
    let is_gap = calendar.is_standard() && ((1582, 10, 5)..(1582, 10, 15)).contains(&date);
    if is_gap {
        return Some("no date from 1582-10-05 to 1582-10-14, which it leaves out".to_owned());
    }
    let (first, since) = first_of(calendar)?;
    (date < first && scope.is_since(since)).then(|| {
        let (year, month, day) = first;
        format!("none before {year:04}-{month:02}-{day:02}")
    })
}

/// The first date of a calendar, and the first minor version that defines it. The year 0 means a climatology.
fn first_of(calendar: &Calendar) -> Option<((i64, i64, i64), u16)> {
    match calendar {
        calendar if calendar.begins_julian() => Some(((0, 1, 1), 9)),
        Calendar::Tai => Some(((1958, 1, 1), 12)),
        Calendar::Utc => Some(((1972, 1, 1), 12)),
        _ => None,
    }
}

pub(in crate::rules) fn date_in_calendar<'a>(
    scope: &'a Scope<'_>,
    variable: &'a Variable,
) -> Option<Box<dyn Fold + 'a>> {
    let is_packed = variable.has("scale_factor") || variable.has("add_offset");
    if is_packed || !variable.is_numeric() || !is_time(variable) {
        return None;
    }
    let Form::Since { unit, reference } = variable.unit()?.form() else { return None };
    let calendar = Calendar::of(scope, variable)?;
    let (first, since) = first_of(&calendar)?;
    let date = Written::new(reference).date;
    let is_date = (1..=12).contains(&date.1) && (1..=31).contains(&date.2);
    if !is_date || unit.scale() <= 0.0 || fault_of(scope, &calendar, date).is_some() {
        return None;
    }
    // The value of the beginning of a day. The first moment itself is a valid date, regardless of rounding.
    let value_of = |day: (i64, i64, i64)| {
        let before = calendar.day_number(date)?.checked_sub(calendar.day_number(day)?)?;
        let value = -(before as f64 * 86_400.0 + reference.clock() - reference.zone()) / unit.scale();
        Some(value - value.abs() * 1e-9)
    };
    let least = if scope.is_since(since) { value_of(first)? } else { f64::NEG_INFINITY };
    let is_mixed = calendar.is_standard();
    // Since 1.9, the reference date is also taken into account.
    let is_late = scope.is_since(9).then_some(date >= GREGORIAN);
    let sides = Sides {
        gregorian: if is_mixed { value_of(GREGORIAN)? } else { f64::NAN },
        is_late,
        seen: [false; 2],
    };
    let fill = variable.datatype.as_ref().and_then(default_fill);
    Some(Box::new(Dates {
        variable,
        calendar,
        first,
        least,
        sides,
        fills: variable.marks().chain(fill).collect(),
        count: 0,
        fault: None,
    }))
}

struct Dates<'a> {
    variable: &'a Variable,
    calendar: Calendar,
    first: (i64, i64, i64),
    /// The least value that is a date.
    least: f64,
    sides: Sides,
    fills: Vec<Number>,
    count: u64,
    /// The first value before it, and its index.
    fault: Option<(Number, u64)>,
}

/// The first day of the Gregorian part of the standard calendar.
const GREGORIAN: (i64, i64, i64) = (1582, 10, 15);

/// On which sides of the gap of the standard calendar there are dates: software that knows only one of its parts
/// miscounts across the gap.
struct Sides {
    /// The value of the first day after the gap; NaN in other calendars.
    gregorian: f64,
    /// Whether the reference date is after the gap, if that matters.
    is_late: Option<bool>,
    /// Whether there are values before the gap, and after it.
    seen: [bool; 2],
}

impl Sides {
    fn take(&mut self, value: f64) {
        let [early, late] = &mut self.seen;
        *early |= value < self.gregorian;
        *late |= value >= self.gregorian;
    }

    /// A description of the error, if there is one.
    fn fault(&self) -> Option<&'static str> {
        let [early, late] = self.seen;
        match self.is_late {
            None => (early && late)
                .then_some("dates before 1582-10-05 and from 1582-10-15 on, expected one side only"),
            Some(true) => {
                early.then_some("dates before 1582-10-05 counted from a later one, expected an earlier one")
            }
            Some(false) => {
                late.then_some("dates from 1582-10-15 on counted from an earlier one, expected a later one")
            }
        }
    }
}

impl Fold for Dates<'_> {
    fn take(&mut self, values: Elements<'_>) {
        for element in values {
            let at = self.count;
            self.count += 1;
            let Some(number) = Number::of(&element.get()) else { continue };
            // The smallest 64-bit integer means a missing time where dates are converted.
            let is_missing = number == Number::Int(i128::from(i64::MIN));
            if is_missing || self.fills.iter().any(|fill| is_same(*fill, number)) {
                continue;
            }
            if number.as_f64() < self.least {
                self.fault = Some((number, at));
                return;
            }
            self.sides.take(number.as_f64());
        }
    }

    fn is_done(&self) -> bool {
        self.fault.is_some()
    }

    fn finish(self: Box<Self>, found: &mut Found) {
        if let Some((number, at)) = self.fault {
            let (year, month, day) = self.first;
            let units = self.variable.text("units").unwrap_or_default();
            let message = format!(
                "value {at} is {number} {units}, expected none before {year:04}-{month:02}-{day:02} in calendar {}",
                self.calendar.name()
            );
            found.add(&self.variable.path, message, "correct the value or the calendar");
        } else if let Some(message) = self.sides.fault() {
            let hint = "use the calendar proleptic_gregorian, or count from another date";
            found.advise(&self.variable.path, message, hint);
        }
    }
}
