//! Rules of chapter 7, Data Representative of Cells.

use super::scope::{Found, Scope};
use super::values::ValueReader;
use hyperslab_core::Result;

pub(super) fn bounds(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn bounds_attributes(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn bounds_contain(
    _scope: &Scope<'_>,
    _values: &dyn ValueReader,
    _found: &mut Found,
) -> Result<()> {
    Ok(())
}

pub(super) fn cell_measures(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn cell_methods(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn climatology(_scope: &Scope<'_>, _found: &mut Found) {}

pub(super) fn geometry(_scope: &Scope<'_>, _values: &dyn ValueReader, _found: &mut Found) -> Result<()> {
    Ok(())
}
