//! Units of time coordinates.
//!
//! Spec: CF 1.13, 4.4 Time Coordinate

use super::axis::axis_attribute;
use super::{Found, Scope, is_coordinate};
use crate::dataset::{Axis, Role, Variable};
use crate::units::{Form, ReferenceTime, Unit};
use hyperslab_model::Datatype;
use std::sync::LazyLock;

/// Whether a variable is a time coordinate, according to its units, its standard name, its attribute `axis`, or its
/// datatype.
pub(super) fn is_time(variable: &Variable) -> bool {
    is_coordinate(variable) && is_of_time(variable)
}

/// Whether any property indicates that the values are times.
pub(super) fn is_of_time(variable: &Variable) -> bool {
    is_declared(variable)
        || variable.unit().is_some_and(Unit::is_reference_time)
        || matches!(variable.datatype, Some(Datatype::Datetime(_)))
}

/// Whether any property other than the units indicates that the values are times.
fn is_declared(variable: &Variable) -> bool {
    variable.standard_name() == Some("time") && variable.modifier().is_none()
        || axis_attribute(variable) == Some(Axis::T)
}

pub(in crate::rules) fn time_units(scope: &Scope<'_>, found: &mut Found) {
    let times = scope.variables().filter(|variable| is_time(variable) && variable.is_numeric());
    for variable in times.filter(|variable| !matches!(variable.datatype, Some(Datatype::Datetime(_)))) {
        const HINT: &str = "write units such as \"days since 1970-01-01 00:00:00\"";
        if !variable.has("units") {
            let message = "a time coordinate without units, expected a unit of time since a date";
            found.add(&variable.path, message, HINT);
            continue;
        }
        // Units that UDUNITS cannot parse are covered by units-known.
        let (Some(unit), Some(text)) = (variable.unit(), variable.text("units")) else { continue };
        let place = variable.place("units");
        match unit.reference_time() {
            None => {
                let message =
                    format!("units {text:?} of a time coordinate, expected a unit of time since a date");
                found.add(place, message, HINT);
            }
            Some(reference) => {
                if let Some(fault) = fault_of(scope, variable, &Written::new(reference), reference) {
                    found.add(place, format!("reference time {:?}, {fault}", reference.text), HINT);
                } else if scope.is_since(13) {
                    advise(text, reference, &place, found);
                }
            }
        }
    }
}

/// Reports recommendations for reference times, since version 1.13.
fn advise(units: &str, reference: &ReferenceTime, place: &str, found: &mut Found) {
    let has_since = units.split_whitespace().any(|word| word.eq_ignore_ascii_case("since"));
    if !has_since {
        let message = format!("units {units:?}, expected \"since\" before the reference time");
        found.advise(place, message, "write since: other software does not read alternatives to it");
    }
    if reference.zone() != 0.0 {
        let message = format!("reference time {:?} with a time zone, expected one in UTC", reference.text);
        found.advise(place, message, "write the reference time in UTC");
    }
}

/// The error in a reference time that is invalid in every calendar.
fn fault_of(
    scope: &Scope<'_>,
    variable: &Variable,
    written: &Written<'_>,
    reference: &ReferenceTime,
) -> Option<&'static str> {
    let calendar = variable.text("calendar").unwrap_or_default().to_ascii_lowercase();
    let has_leap_seconds = scope.is_since(12) && calendar == "utc";
    let (_, month, day) = written.date;
    let (hour, minute, second) = written.clock;
    if !(1..=12).contains(&month) {
        return Some("expected a month of 1 to 12");
    }
    // Calendars with explicit lengths of months may have longer months.
    if day < 1 || (day > 31 && !variable.has("month_lengths")) {
        return Some("expected a day of 1 to 31");
    }
    if hour >= 24.0 || minute >= 60.0 {
        return Some("expected a time of 00:00:00 to 23:59:59");
    }
    if second >= 61.0 || (second >= 60.0 && scope.is_since(9) && !has_leap_seconds) {
        return Some("expected less than 60 seconds");
    }
    if !scope.is_since(13) {
        return None;
    }
    if !written.is_whole {
        return Some("expected year, month and day with hyphens");
    }
    if reference.has_zone && !reference.has_clock {
        return Some("expected no time zone without a time");
    }
    if written.has_zone_name {
        return Some("expected a time zone of digits or Z");
    }
    let is_offset = reference.zone() != 0.0;
    (is_offset && matches!(&*calendar, "utc" | "tai"))
        .then_some("expected no time zone in the calendars utc and tai")
}

/// A reference time as written. UDUNITS has its own interpretation of numbers that are out of range.
pub(super) struct Written<'a> {
    /// Year, month and day.
    pub(super) date: (i64, i64, i64),
    /// Whether the date has year, month and day, with hyphens.
    is_whole: bool,
    /// Hours, minutes and seconds; 0 if they are not given.
    clock: (f64, f64, f64),
    /// Whether the time zone is given as a word: `UTC`, but not `Z`.
    has_zone_name: bool,
    /// The text after the date.
    rest: &'a str,
}

impl<'a> Written<'a> {
    pub(super) fn new(reference: &'a ReferenceTime) -> Written<'a> {
        let text = reference.text.trim();
        let as_read = (i64::from(reference.year), i64::from(reference.month), i64::from(reference.day));
        let end = text.find(|letter: char| letter.is_whitespace() || matches!(letter, 'T' | 't'));
        let (date, rest) = end.and_then(|end| text.split_at_checked(end)).unwrap_or((text, ""));
        let parsed = hyphenated(date);
        let rest =
            rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == 'T' || letter == 't');
        let mut written = Written {
            date: parsed.unwrap_or(as_read),
            is_whole: parsed.is_some(),
            clock: (0.0, 0.0, 0.0),
            has_zone_name: false,
            rest,
        };
        written.read_clock();
        written
    }

    /// Parses a time with colons.
    fn read_clock(&mut self) {
        let is_part = |letter: char| letter.is_ascii_digit() || matches!(letter, ':' | '.');
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (clock, zone) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        if clock.contains(':') {
            let mut fields = clock.split(':').map(|field| field.parse().unwrap_or(0.0));
            let mut next = || fields.next().unwrap_or(0.0);
            self.clock = (next(), next(), next());
        }
        let zone = zone.trim();
        let is_word = zone.len() > 1 && zone.starts_with(|letter: char| letter.is_ascii_alphabetic());
        self.has_zone_name = is_word;
    }
}

/// The numbers of `1970-1-1`, also with a sign.
fn hyphenated(text: &str) -> Option<(i64, i64, i64)> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut fields = digits.split('-').map(|field| {
        let is_number = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| field.parse::<i64>().ok()).flatten()
    });
    let date = (sign * fields.next()??, fields.next()??, fields.next()??);
    fields.next().is_none().then_some(date)
}

pub(in crate::rules) fn time_units_month(scope: &Scope<'_>, found: &mut Found) {
    static LONG: LazyLock<Vec<(&str, Unit)>> = LazyLock::new(|| {
        let units = ["year", "month"].into_iter();
        units.filter_map(|name| Some((name, Unit::parse(name).ok()?))).collect()
    });
    for variable in scope.with("units").filter(|variable| is_time(variable)) {
        let Some(Form::Since { unit, .. }) = variable.unit().map(Unit::form) else { continue };
        if let Some((name, _)) = LONG.iter().find(|(_, long)| unit.same(long)) {
            let text = variable.text("units").unwrap_or_default();
            let message = format!(
                "units {text:?} are a {name} of fixed length, not a {name} of the calendar, expected days"
            );
            found.add(variable.place("units"), message, "count days, hours, minutes or seconds");
        }
    }
}

/// Whether a variable is a coordinate with other evidence of its kind, but none that it is time.
pub(super) fn is_other(variable: &Variable) -> bool {
    let inherits = variable.is(Role::Boundary) || variable.is(Role::Climatology);
    if inherits || is_of_time(variable) {
        return false;
    }
    match (variable.has("units"), variable.unit()) {
        (true, unit) => unit.is_some(),
        (false, _) => variable.has("standard_name"),
    }
}
