//! Rules of chapter 8, Reduction of Dataset Size.

use super::scope::{Found, Scope};
use super::values::Fold;
use crate::dataset::Variable;

pub(super) fn packing(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn compress<'a>(_scope: &'a Scope<'_>, _variable: &'a Variable) -> Option<Box<dyn Fold + 'a>> {
    None
}
