//! Rules of chapter 5, Coordinate Systems and Domain.

use super::scope::{Found, Scope};
use super::values::Fold;
use crate::dataset::Variable;

pub(super) fn dimension_has_coordinate(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn coordinate_monotonic<'a>(
    _scope: &'a Scope<'_>,
    _variable: &'a Variable,
) -> Option<Box<dyn Fold + 'a>> {
    None
}

pub(super) fn coordinate_no_missing(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn coordinates_dimensions(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn grid_mapping(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn grid_mapping_parameters(_scope: &Scope<'_>, _found: &mut Found) {}
