//! Rules of Appendix A.

use super::scope::{Found, Scope};

pub(super) fn attribute_use(_scope: &Scope<'_>, _found: &mut Found) {}
