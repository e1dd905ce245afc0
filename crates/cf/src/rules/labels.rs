//! Rules of chapter 6, Labels and Alternative Coordinates.

use super::scope::{Found, Scope};

pub(super) fn label(_scope: &Scope<'_>, _found: &mut Found) {}
