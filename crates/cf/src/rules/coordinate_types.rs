//! Rules of chapter 4, Coordinate Types.

mod axis;
mod calendar;
mod dates;
mod horizontal;
mod time;
mod vertical;

pub(super) use axis::{axis, axis_once};
pub(super) use calendar::{calendar, month_lengths};
pub(super) use dates::{date_in_calendar, reference_in_calendar};
pub(super) use horizontal::{latitude_units, longitude_units};
pub(super) use time::{time_units, time_units_month};
pub(super) use vertical::{formula_standard_names, formula_terms, positive};

use super::scope::{Found, Scope};
use crate::dataset::{Role, Variable};

/// Whether a variable contains coordinates: a coordinate, auxiliary or scalar coordinate variable.
fn is_coordinate(variable: &Variable) -> bool {
    (variable.is(Role::Coordinate) || variable.is(Role::Auxiliary)) && !is_bounds(variable)
}

/// Whether a variable contains the bounds of cells, which inherit the attributes of their coordinate.
fn is_bounds(variable: &Variable) -> bool {
    variable.is(Role::Boundary) || variable.is(Role::Climatology)
}
