//! Rules of chapter 6, Labels and Alternative Coordinates.

use super::coordinate_systems::{Spans, has_coordinates};
use super::scope::{Found, Scope};
use crate::dataset::Variable;

/// Spec: CF 1.13, 6.1 Labels
///
/// A string variable along several dimensions of its variable does not label any axis. For ragged arrays and gathering,
/// labels have the dimensions that the dimensions of the variable represent.
pub(super) fn label(scope: &Scope<'_>, found: &mut Found) {
    let spans = Spans::new(scope.dataset);
    for variable in scope.with("coordinates").filter(|variable| has_coordinates(variable)) {
        for label in scope.dataset.named(variable, "coordinates").filter(|of| is_label(scope, of)) {
            let dimensions = label.dimensions_of_values();
            let name = label.name();
            let place = variable.place("coordinates");
            if dimensions.len() > 1 {
                let names = dimensions.iter().map(|along| along.name()).collect::<Vec<_>>().join(", ");
                let message = format!("label {name} has the dimensions {names}, expected one at most");
                found.add(place, message, "label one axis, with one text for each of its elements");
            } else if let Some(along) = spans.missing(variable, dimensions) {
                let message =
                    format!("label {name} has the dimension {}, expected one of the variable", along.name());
                found.add(
                    place,
                    message,
                    format!("remove {name} from coordinates, or correct its dimension"),
                );
            }
        }
    }
}

/// Whether a variable is a label. CF 1.8 introduced strings.
fn is_label(scope: &Scope<'_>, variable: &Variable) -> bool {
    variable.is_char() || (variable.is_text() && scope.is_since(8))
}
