//! Rules of chapter 7, Data Representative of Cells.

mod bounds;
mod climatology;
mod geometry;
mod inherited;
mod intervals;
mod measures;
mod methods;

pub(super) use bounds::bounds;
pub(super) use climatology::climatology;
pub(super) use geometry::{geometry, geometry_values};
pub(super) use inherited::bounds_attributes;
pub(super) use intervals::{bounds_contain, bounds_order};
pub(super) use measures::cell_measures;
pub(super) use methods::{cell_methods, methods};

use super::scope::{Found, Scope};
use crate::brief::brief;
use crate::dataset::{Along, Variable, words};

/// The single name that an attribute contains; otherwise a description of its content.
fn single_name<'a>(variable: &'a Variable, attribute: &str) -> Option<Result<&'a str, String>> {
    let own = variable.attributes.get(attribute)?;
    let Some(text) = own.text() else { return Some(Err(own.type_name())) };
    let mut names = words(text);
    match (names.next(), names.next()) {
        (Some(name), None) => Some(Ok(name)),
        (None, _) => Some(Err("empty".to_owned())),
        _ => Some(Err(format!("{} names", words(text).count()))),
    }
}

/// Reports an attribute that is not the name of a single variable.
fn check_single_name(variable: &Variable, attribute: &str, found: &mut Found) {
    if let Some(Err(own)) = single_name(variable, attribute) {
        let message = format!("{attribute} is {own}, expected the name of one variable");
        found.add(variable.place(attribute), message, "name one variable");
    }
}

/// Whether two dimensions are the same. Dimensions without names are compared by their lengths.
fn is_same_dimension(a: &Along, b: &Along) -> bool {
    match (&a.path, &b.path) {
        (Some(a), Some(b)) => a == b,
        _ => a.length == b.length,
    }
}

/// The dimensions as text: `time, lat`.
fn told(dimensions: &[Along]) -> String {
    if dimensions.is_empty() {
        return "no dimensions".to_owned();
    }
    let names = dimensions.iter().map(|along| match along.name() {
        "" => along.length.to_string(),
        name => name.to_owned(),
    });
    names.collect::<Vec<_>>().join(", ")
}
