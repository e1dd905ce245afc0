//! Attributes of the CF conventions that formats without the content itself get.

use hyperslab_model::TimeUnit;

/// The attribute that marks missing values.
pub(crate) use hyperslab_netcdf4::name::FILL_VALUE;

/// The attributes of numbers that stand for datetimes or durations in this unit. None if CF has no such unit.
pub(crate) fn of_datetimes(unit: &TimeUnit) -> Vec<(&'static str, String)> {
    let Some((_, name)) = UNITS.iter().find(|(letters, _)| *letters == unit.unit) else { return Vec::new() };
    match unit.duration {
        true => vec![("units", (*name).to_owned())],
        false => vec![
            ("units", format!("{name} since 1970-01-01")),
            ("calendar", "proleptic_gregorian".to_owned()),
        ],
    }
}

/// Units of datetimes of NumPy, and the names that CF has for them.
const UNITS: [(&str, &str); 7] = [
    ("ns", "nanoseconds"),
    ("us", "microseconds"),
    ("ms", "milliseconds"),
    ("s", "seconds"),
    ("m", "minutes"),
    ("h", "hours"),
    ("D", "days"),
];
