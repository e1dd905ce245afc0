//! Rules of chapter 9, Discrete Sampling Geometries.

use super::scope::{Found, Scope};

pub(super) fn feature_type(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn cf_role(_scope: &Scope<'_>, _found: &mut Found) {}
