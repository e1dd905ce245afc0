//! The order of the values of coordinate variables.
//!
//! Spec: CF 1.13, 5 Coordinate Systems and Domain

use super::{Found, Scope};
use crate::dataset::{Number, Role, Variable};
use crate::number::Reading;
use crate::rules::files_and_components::{default_fill, is_same};
use crate::rules::values::Fold;
use hyperslab_model::{Datatype, Elements};
use std::cmp::Ordering;

/// Lists of compression by gathering are covered by `compress`.
pub(in crate::rules) fn coordinate_monotonic<'a>(
    _scope: &'a Scope<'_>,
    variable: &'a Variable,
) -> Option<Box<dyn Fold + 'a>> {
    let other = [Role::Compression, Role::Mesh];
    if !variable.is(Role::Coordinate) || other.iter().any(|role| variable.is(*role)) {
        return None;
    }
    // Integers may legitimately have the default fill value of the library.
    let is_float = matches!(variable.datatype, Some(Datatype::Float(_)));
    let fill = variable.datatype.as_ref().filter(|_| is_float).and_then(default_fill);
    let reading = variable.reading();
    Some(Box::new(Order {
        variable,
        reading,
        fills: variable.marks().map(|mark| reading.read(mark)).chain(fill).collect(),
        last: None,
        direction: None,
        count: 0,
        fault: None,
    }))
}

struct Order<'a> {
    variable: &'a Variable,
    reading: Reading,
    fills: Vec<Number>,
    last: Option<Number>,
    /// Whether values increase or decrease.
    direction: Option<Ordering>,
    count: u64,
    fault: Option<String>,
}

impl Order<'_> {
    /// The error in the next value.
    fn fault_of(&mut self, number: Number) -> Option<String> {
        let at = self.count;
        let is_nan = matches!(number, Number::Float(value) if value.is_nan());
        if is_nan || self.fills.iter().any(|fill| is_same(*fill, number)) {
            return Some(format!("value {number} at {at} is a missing one, expected none"));
        }
        let last = self.last.replace(number)?;
        let here = match (last, number) {
            (Number::Int(last), Number::Int(number)) => number.cmp(&last),
            _ => number.as_f64().partial_cmp(&last.as_f64())?,
        };
        let expected = match *self.direction.get_or_insert(here) {
            Ordering::Less => "values that decrease",
            Ordering::Greater => "values that increase",
            Ordering::Equal => "different values",
        };
        let is_fine = here != Ordering::Equal && Some(here) == self.direction;
        let before = at.saturating_sub(1);
        (!is_fine).then(|| format!("values {last} at {before} and {number} at {at}, expected {expected}"))
    }
}

impl Fold for Order<'_> {
    fn take(&mut self, values: Elements<'_>) {
        for element in values {
            if let Some(number) = Number::of(&element.get()) {
                self.fault = self.fault_of(self.reading.read(number));
            }
            self.count += 1;
            if self.fault.is_some() {
                return;
            }
        }
    }

    fn is_done(&self) -> bool {
        self.fault.is_some()
    }

    fn finish(self: Box<Self>, found: &mut Found) {
        if let Some(fault) = self.fault {
            found.add(
                &self.variable.path,
                fault,
                "sort the coordinate with its data, or make it an auxiliary one",
            );
        }
    }
}
