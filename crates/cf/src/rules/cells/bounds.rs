//! Boundary variables: their types and dimensions.
//!
//! Spec: CF 1.13, 7.1 Cell Boundaries

use super::{Found, Scope, check_single_name, is_same_dimension, told};
use crate::dataset::{Along, Role, Variable};

pub(in crate::rules) fn bounds(scope: &Scope<'_>, found: &mut Found) {
    for variable in scope.with("bounds") {
        check_single_name(variable, "bounds", found);
        for boundary in scope.dataset.named(variable, "bounds").take(1) {
            if let Err(message) = check(variable, boundary, scope.is_since(12)) {
                found.add(&boundary.path, message, "give it the dimensions of its coordinate and vertices");
            }
        }
    }
}

/// Checks type and dimensions of a boundary variable.
fn check(variable: &Variable, boundary: &Variable, is_size_by_rank: bool) -> Result<(), String> {
    let name = variable.name();
    if boundary.datatype.is_some() && !boundary.is_numeric() {
        let own = boundary.type_name();
        return Err(format!("boundary variable of {own}, expected numbers as {name} has"));
    }
    let Some(vertices) = vertices(variable, boundary) else {
        let (own, of) = (told(&boundary.dimensions), told(variable.dimensions_of_values()));
        return Err(match variable.dimensions_of_values() {
            [] => format!("dimensions {own}, expected only one for the vertices as {name} has none"),
            _ => format!("dimensions {own}, expected those of {name}, {of}, and one more for the vertices"),
        });
    };
    let size = vertices.length;
    let rank = variable.dimensions_of_values().len();
    // The cells of one-dimensional auxiliary coordinates may be polygons.
    if variable.is(Role::Coordinate) && size != 2 {
        return Err(format!("{size} vertices, expected 2 as {name} is a coordinate variable"));
    }
    if size < 2 {
        return Err(format!("{size} vertices, expected at least 2"));
    }
    if is_size_by_rank && rank > 1 && size <= 2 {
        return Err(format!("{size} vertices, expected more than 2 as {name} has {rank} dimensions"));
    }
    Ok(())
}

/// The vertex dimension of a boundary variable; `None` if its dimensions are not those of its coordinate plus one.
pub(super) fn vertices<'a>(variable: &Variable, boundary: &'a Variable) -> Option<&'a Along> {
    let (vertices, rest) = boundary.dimensions.split_last()?;
    let of = variable.dimensions_of_values();
    let fits = rest.len() == of.len() && rest.iter().zip(of).all(|(own, of)| is_same_dimension(own, of));
    fits.then_some(vertices)
}
