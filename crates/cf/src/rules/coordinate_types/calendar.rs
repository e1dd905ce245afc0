//! Calendars: their names, and the month lengths of explicitly defined ones.
//!
//! Spec: CF 1.13, 4.4.3 Calendar, 4.4.4 Explicitly Defined Calendar

use super::time::{is_other, is_time};
use super::{Found, Scope};
use crate::dataset::{Attribute, Number, Variable};
use crate::rules::scope::meant;
use crate::tables::nearest::nearest;
use crate::time;
use hyperslab_model::Datatype;

/// The calendars of all versions, and those of later versions.
const NAMES: [&str; 10] = [
    "standard",
    "gregorian",
    "proleptic_gregorian",
    "noleap",
    "365_day",
    "all_leap",
    "366_day",
    "360_day",
    "julian",
    "none",
];
const SINCE_12: [&str; 2] = ["utc", "tai"];

/// Whether a version knows a calendar. A table of 1.12 and later has `no_leap` for `noleap`, which may be a mistake.
fn is_known(scope: &Scope<'_>, name: &str) -> bool {
    let is = |known: &&str| name.eq_ignore_ascii_case(known);
    let is_later = || SINCE_12.iter().any(is) || is(&"no_leap");
    NAMES.iter().any(is) || (scope.is_since(12) && is_later())
}

pub(in crate::rules) fn calendar(scope: &Scope<'_>, found: &mut Found) {
    advise(scope, found);
    for variable in scope.with("calendar") {
        let Some(attribute) = variable.attributes.get("calendar") else { continue };
        let place = variable.place("calendar");
        if is_other(variable) {
            let message = "calendar at a variable that is not a time, expected it at time coordinates only";
            found.add(place, message, "remove calendar");
            continue;
        }
        let Some(name) = attribute.text() else {
            let message = format!("calendar is {}, expected a text", attribute.type_name());
            found.add(place, message, "write the name of a calendar");
            continue;
        };
        let has_months = variable.has("month_lengths");
        if !is_known(scope, name) && !has_months {
            let later: &[&str] = if scope.is_since(12) { &SINCE_12 } else { &[] };
            let names = NAMES.iter().chain(later).copied();
            let known = names.clone().collect::<Vec<_>>().join(", ");
            let message = format!("calendar {name:?}, expected one of {known}, or month_lengths beside it");
            found.add(place, message, meant(nearest(name, names), "use one of these, or add month_lengths"));
        } else if is_known(scope, name) && has_months && scope.is_since(12) {
            let message = format!("calendar {name:?} beside month_lengths, expected another name or none");
            found.add(place, message, "remove month_lengths, or calendar");
        }
    }
}

/// Reports recommendations about the calendar. `gregorian` has been a synonym of `standard` since version 1.9.
fn advise(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables().filter(|variable| variable.is_numeric() && is_time(variable)) {
        match variable.text("calendar") {
            Some(name) if scope.is_since(9) && name.eq_ignore_ascii_case("gregorian") => {
                let message = format!("calendar {name:?} is deprecated, expected standard");
                found.advise(variable.place("calendar"), message, "write standard, which is the same");
            }
            None if !variable.has("calendar")
                && !variable.has("month_lengths")
                && variable.unit().is_some_and(crate::units::Unit::is_reference_time) =>
            {
                let message = "a time coordinate without calendar, expected one";
                found.advise(&variable.path, message, "add the attribute calendar, such as \"standard\"");
            }
            _ => {}
        }
    }
}

pub(in crate::rules) fn month_lengths(scope: &Scope<'_>, found: &mut Found) {
    for name in ["month_lengths", "leap_year", "leap_month"] {
        let count = if name == "month_lengths" { 12 } else { 1 };
        for variable in scope.with(name) {
            let Some(attribute) = variable.attributes.get(name) else { continue };
            let place = variable.place(name);
            if is_other(variable) {
                let message =
                    format!("{name} at a variable that is not a time, expected it at time coordinates only");
                found.add(place, message, format!("remove {name}"));
                continue;
            }
            let what = if count == 1 { "1 integer".to_owned() } else { format!("{count} integers") };
            match integers(scope, attribute) {
                None => {
                    let message = format!("{name} is {}, expected {what}", attribute.type_name());
                    found.add(place, message, format!("write {name} as {what}"));
                }
                Some(values) if values.len() != count => {
                    let message = format!("{name} has {} values, expected {what}", values.len());
                    found.add(place, message, format!("write {name} as {what}"));
                }
                Some(values) if name == "leap_month" && !values.iter().all(|of| (1..=12).contains(of)) => {
                    let value = values.first().copied().unwrap_or_default();
                    let message = format!("leap_month is {value}, expected 1 to 12");
                    found.add(place, message, "give the number of the month that is longer in leap years");
                }
                Some(_) if name == "leap_month" && !variable.has("leap_year") => {
                    let message = "leap_month without leap_year, expected both";
                    found.advise(place, message, "add leap_year, or remove leap_month");
                }
                Some(_) => {}
            }
        }
    }
}

/// The values of an attribute of integers; `None` if they are of another type.
fn integers(scope: &Scope<'_>, attribute: &Attribute) -> Option<Vec<i128>> {
    let is_float = matches!(attribute.datatype, Some(Datatype::Float(_)));
    if is_float && scope.dataset.has_typed_attributes {
        return None;
    }
    attribute.numbers()?.iter().map(|number| number.as_int()).collect()
}

/// The calendar of a variable.
pub(super) enum Calendar {
    /// A calendar in which dates can be counted.
    Counted(time::Calendar),
    /// `utc`, which begins in 1972.
    Utc,
    /// `tai`, which begins in 1958.
    Tai,
    /// With explicit lengths of months.
    Stated {
        /// The lengths of the months, and their lengths in leap years.
        months: Vec<i128>,
        /// A leap year. Years that differ from it by a multiple of four are also leap years.
        leap_year: Option<i128>,
        /// The month that is longer by one day in a leap year.
        leap_month: i128,
    },
}

impl Calendar {
    pub(super) const STANDARD: Calendar = Calendar::Counted(time::Calendar::STANDARD);

    /// The calendar of a variable; `None` for `none` and unknown calendars.
    pub(super) fn of(scope: &Scope<'_>, variable: &Variable) -> Option<Calendar> {
        let first = |name: &str| variable.numbers(name)?.first().copied().and_then(Number::as_int);
        if let Some(months) = variable.numbers("month_lengths") {
            let months = months.iter().map(|length| length.as_int()).collect::<Option<Vec<_>>>()?;
            let leap_month = first("leap_month").unwrap_or(2);
            return Some(Calendar::Stated { months, leap_year: first("leap_year"), leap_month });
        }
        let Some(attribute) = variable.attributes.get("calendar") else { return Some(Calendar::STANDARD) };
        let name = attribute.text()?;
        if !is_known(scope, name) {
            return None;
        }
        match &*name.to_ascii_lowercase() {
            "utc" => Some(Calendar::Utc),
            "tai" => Some(Calendar::Tai),
            "no_leap" => time::Calendar::named("noleap").ok().map(Calendar::Counted),
            name => time::Calendar::named(name).ok().map(Calendar::Counted),
        }
    }

    /// The name, for messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Calendar::Counted(calendar) => calendar.name(),
            Calendar::Utc => "utc",
            Calendar::Tai => "tai",
            Calendar::Stated { .. } => "of month_lengths",
        }
    }

    /// Whether it is the Julian calendar followed by the Gregorian.
    pub(super) fn is_standard(&self) -> bool {
        matches!(self, Calendar::Counted(calendar) if *calendar == time::Calendar::STANDARD)
    }

    /// Whether it begins like the Julian calendar.
    pub(super) fn begins_julian(&self) -> bool {
        self.is_standard()
            || matches!(self, Calendar::Counted(calendar) if *calendar == time::Calendar::JULIAN)
    }

    /// The calendar in which its dates are counted; `None` if only the lengths of months are known.
    fn counted(&self) -> Option<time::Calendar> {
        match self {
            Calendar::Counted(calendar) => Some(*calendar),
            Calendar::Utc | Calendar::Tai => Some(time::Calendar::PROLEPTIC_GREGORIAN),
            Calendar::Stated { .. } => None,
        }
    }

    /// The number of days of a month; `None` if that is not known.
    pub(super) fn days(&self, year: i64, month: i64) -> Option<i128> {
        if let Calendar::Stated { months, leap_year, leap_month } = self {
            let at = usize::try_from(month.checked_sub(1)?).ok()?;
            let is_leap = leap_year.is_some_and(|leap| (i128::from(year) - leap % 4).rem_euclid(4) == 0);
            let longer = i128::from(is_leap && *leap_month == i128::from(month));
            return months.get(at)?.checked_add(longer);
        }
        let month = u8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
        // Years before 0 do not exist. They are all treated as leap years, as is the year 0 of a climatology.
        let year = if self.is_standard() { year.max(0) } else { year };
        Some(self.counted()?.month_length(year.into(), month).into())
    }

    /// The number of a day, counted from a day that is the same for all dates of the calendar; `None` if only the
    /// lengths of months are known.
    pub(super) fn day_number(&self, (year, month, day): (i64, i64, i64)) -> Option<i128> {
        Some(self.counted()?.number(year.into(), u8::try_from(month).ok()?, u8::try_from(day).ok()?))
    }
}
