//! The methods of climatological times: the periods that follow `within` and `over`.
//!
//! The conventions state that valid values "must be in one of the forms" of a list, from 1.6 to 1.13; the conformance
//! document omits this. The text of the conventions takes precedence. Its `time: mean over years (ENSO years)` counts
//! as a single entry.
//!
//! Spec: CF 1.13, 7.4 Climatological Statistics

use super::syntax::{Entry, parse};
use super::{Names, brief};
use crate::dataset::{Axis, Role, Variable, axis_of};
use crate::rules::scope::{Found, Scope};

/// The forms that the conventions list.
static FORMS: [&[(&str, &str)]; 3] = [
    &[("within", "years"), ("over", "years")],
    &[("within", "days"), ("over", "days")],
    &[("within", "days"), ("over", "days"), ("over", "years")],
];

const EXPECTED: &str =
    "within years and over years, within days and over days, or within days, over days and over years";

const HINT: &str = "write it as \"time: METHOD within years time: METHOD over years\", or with days";

pub(in crate::rules::cells) fn periods(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.variables().filter(|variable| variable.is(Role::Data)) {
        let times = scope.dataset.coordinates(variable);
        let mut times: Vec<&Variable> =
            times.filter(|coordinate| is_climatological(scope, coordinate)).collect();
        // An attribute `coordinates` may name coordinate variables too.
        times.sort_by_key(|time| time.id);
        times.dedup_by_key(|time| time.id);
        if !times.is_empty() {
            check(scope, variable, &times, found);
        }
    }
}

/// If the attribute does not resolve, this has already been reported.
fn is_climatological(scope: &Scope<'_>, coordinate: &Variable) -> bool {
    axis_of(coordinate) == Some(Axis::T) && scope.dataset.named(coordinate, "climatology").next().is_some()
}

fn check(scope: &Scope<'_>, variable: &Variable, times: &[&Variable], found: &mut Found) {
    let (entries, fault) = parse(variable.text("cell_methods").unwrap_or_default());
    let is_text = !variable.has("cell_methods") || variable.text("cell_methods").is_some();
    let is_period = |entry: &Entry<'_>| entry.period.is_none_or(|(_, of)| matches!(of, "days" | "years"));
    // Syntax errors are covered by cell-methods.
    if fault.is_some() || !is_text || !entries.iter().all(is_period) {
        return;
    }
    // Anomalies have the times of the data and those of the norm.
    let is_anomaly = entries.iter().any(|entry| entry.norm.is_some());
    let names = Names::of(scope, variable);
    for time in times {
        let is_of = |entry: &&Entry<'_>| {
            let mut own = entry.names.iter();
            entry.norm.is_none() && own.any(|name| names.is_name_of(name, time))
        };
        let own: Vec<&Entry<'_>> = entries.iter().filter(is_of).collect();
        let name = time.name();
        if own.is_empty() {
            // Methods are not required. Section 7.3 recommends them for each dimension.
            if !is_anomaly && variable.is_numeric() {
                let message = format!("no methods of the climatological time {name}, expected {EXPECTED}");
                found.advise(place(variable), message, HINT);
            }
            continue;
        }
        let told: Option<Vec<(&str, &str)>> = own.iter().map(|entry| entry.period).collect();
        if !told.is_some_and(|told| FORMS.contains(&told.as_slice())) {
            let shown: Vec<String> = own.iter().take(MAX_METHODS).map(|entry| shown(entry)).collect();
            let message = format!(
                "methods of the climatological time {name}: {}, expected {EXPECTED}",
                shown.join(", ")
            );
            found.add(variable.place("cell_methods"), message, HINT);
        }
    }
}

fn place(variable: &Variable) -> String {
    match variable.has("cell_methods") {
        true => variable.place("cell_methods"),
        false => variable.path.to_string(),
    }
}

fn shown(entry: &Entry<'_>) -> String {
    let method = brief(entry.method);
    match entry.period {
        Some((word, of)) => format!("{method} {word} {of}"),
        None => format!("{method} without a period"),
    }
}

/// The maximum number of methods that are shown.
const MAX_METHODS: usize = 5;
