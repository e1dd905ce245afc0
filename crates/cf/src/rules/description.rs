//! Rules of chapter 3, Description of the Data.

use super::scope::{Found, Scope};
use super::values::Fold;
use crate::dataset::Variable;

pub(super) fn units_present(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn units_known(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn units_canonical(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn units_dimensionless_name(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn units_metadata(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn name_present(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn standard_name(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn standard_name_modifier(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn region_or_area_type<'a>(
    _scope: &'a Scope<'_>,
    _variable: &'a Variable,
) -> Option<Box<dyn Fold + 'a>> {
    None
}

pub(super) fn flag_values(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn flag_masks(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn flag_meanings(_scope: &Scope<'_>, _found: &mut Found) {}
