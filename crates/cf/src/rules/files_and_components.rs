//! Rules of chapter 2, NetCDF Files and Components.

use super::scope::{Found, Scope};
use super::values::Fold;
use crate::dataset::Variable;

pub(super) fn names(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn names_differ_in_case(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn text_utf8(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn dimensions_distinct(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn dimension_order(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn string_coordinate_name(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn fill_value_type(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn valid_range(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn fill_in_valid_range(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn actual_range<'a>(_scope: &'a Scope<'_>, _variable: &'a Variable) -> Option<Box<dyn Fold + 'a>> {
    None
}

pub(super) fn conventions(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn global_text(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn external_variables(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn group_attributes(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn reference_resolves(_scope: &Scope<'_>, _found: &mut Found) {}
