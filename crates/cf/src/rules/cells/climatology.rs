//! Climatology boundary variables, and the methods of climatological times.
//!
//! Spec: CF 1.13, 7.4 Climatological Statistics

use super::bounds::vertices;
use super::inherited::check_agreement;
use super::methods::periods;
use super::{Found, Scope, check_single_name, told};
use crate::dataset::{Axis, Variable, axis_of};

pub(in crate::rules) fn climatology(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("climatology") {
        let place = variable.place("climatology");
        check_single_name(variable, "climatology", found);
        if axis_of(variable) != Some(Axis::T) {
            let message = "climatology of a variable that is not a time coordinate, expected one only there";
            found.add(&place, message, "remove it, or name the bounds in the attribute bounds");
        }
        if variable.has("bounds") {
            let message = "climatology beside bounds, expected one or the other";
            found.add(&place, message, "remove bounds from a climatological time coordinate");
        }
        for boundary in scope.dataset.named(variable, "climatology").take(1) {
            check(variable, boundary, found);
        }
    }
    periods(scope, found);
}

fn check(variable: &Variable, boundary: &Variable, found: &mut Found) {
    if boundary.datatype.is_some() && !boundary.is_numeric() {
        let own = boundary.type_name();
        let message = format!("climatology boundary variable of {own}, expected numbers");
        return found.add(&boundary.path, message, "store it as numbers");
    }
    match vertices(variable, boundary) {
        None => {
            let message = format!(
                "dimensions {}, expected that of {}, {}, and one of length 2",
                told(&boundary.dimensions),
                variable.name(),
                told(&variable.dimensions)
            );
            found.add(&boundary.path, message, "give it the dimension of its coordinate and 2 vertices");
        }
        Some(along) if along.length != 2 => {
            let message = format!("{} vertices, expected 2: the first and the last moment", along.length);
            found.add(&boundary.path, message, "give each climatological time 2 vertices");
        }
        Some(_) => {}
    }
    check_agreement(variable, boundary, ["units", "standard_name", "calendar"].into_iter(), found);
    for name in ["_FillValue", "missing_value"].into_iter().filter(|name| boundary.has(name)) {
        let message = format!("{name} of a climatology boundary variable, expected none");
        found.add(boundary.place(name), message, format!("remove {name}"));
    }
}
