//! Rules of chapter 4, Coordinate Types.

use super::scope::{Found, Scope};
use super::values::Fold;
use crate::dataset::Variable;

pub(super) fn axis(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn axis_once(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn latitude_units(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn longitude_units(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn positive(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn formula_terms(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn formula_standard_names(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn time_units(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn time_units_month(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn calendar(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn month_lengths(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn date_in_calendar<'a>(
    _scope: &'a Scope<'_>,
    _variable: &'a Variable,
) -> Option<Box<dyn Fold + 'a>> {
    None
}
