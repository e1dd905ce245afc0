//! Latitudes and longitudes of grids that have other coordinate variables: those of a projection, or of a rotated pole.
//!
//! The conventions 1.6 and 1.7 state: "it is required that the true latitude and longitude coordinates be supplied via
//! the coordinates attribute"; since 1.8 they require it "if no grid mapping variable is provided".
//!
//! Spec: CF 1.13, 5.6 Horizontal Coordinate Reference Systems, Grid Mappings, and Projections; CF 1.7 and 1.8, 5.6

use super::{Found, Scope};
use crate::dataset::{Axis, Dataset, Role, Target, Variable, axis_of, by_units};

pub(in crate::rules) fn horizontal_coordinates(scope: &Scope<'_>, found: &mut Found) {
    let dataset = scope.dataset;
    for variable in scope.variables().filter(|variable| variable.is(Role::Data) && !is_geographic(variable)) {
        let is_mapped = scope.is_since(8) && variable.has("grid_mapping");
        // Subsampled coordinates are not listed in `coordinates`.
        if is_mapped || variable.has("coordinate_interpolation") || is_told(dataset, variable) {
            continue;
        }
        let (Some(x), Some(y)) = (other(dataset, variable, Axis::X), other(dataset, variable, Axis::Y))
        else {
            continue;
        };
        let has = |axis| dataset.named(variable, "coordinates").any(|of| is_along(of, axis));
        let missing = match (has(Axis::Y), has(Axis::X)) {
            (true, true) => continue,
            (false, false) => "latitude or longitude",
            (false, true) => "latitude",
            (true, false) => "longitude",
        };
        let message = format!(
            "coordinates of data on {} and {} name no {missing}, expected true latitudes and longitudes",
            y.name(),
            x.name()
        );
        let hint = match scope.is_since(8) {
            true => "name them in coordinates, or a grid mapping in grid_mapping",
            false => "name them in coordinates",
        };
        found.add(&variable.path, message, hint);
    }
}

/// Whether an error in the attribute `coordinates` is covered by other rules: it is not a string, or names objects that
/// do not exist.
fn is_told(dataset: &Dataset, variable: &Variable) -> bool {
    let is_text = !variable.has("coordinates") || variable.text("coordinates").is_some();
    !is_text || dataset.references(variable, "coordinates").any(|of| of.target == Target::Missing)
}

/// The coordinate variable of a data variable that is along a horizontal axis, but is neither latitude nor longitude.
fn other<'a>(dataset: &'a Dataset, variable: &Variable, axis: Axis) -> Option<&'a Variable> {
    let mut coordinates = variable.dimensions.iter().filter_map(|along| dataset.coordinate_of(along));
    coordinates.find(|coordinate| axis_of(coordinate) == Some(axis) && !is_geographic(coordinate))
}

fn is_geographic(variable: &Variable) -> bool {
    is_along(variable, Axis::Y) || is_along(variable, Axis::X)
}

/// Whether a variable contains latitudes (Y) or longitudes (X), according to its units or its standard name.
fn is_along(variable: &Variable, axis: Axis) -> bool {
    let name = if axis == Axis::Y { "latitude" } else { "longitude" };
    by_units(variable) == Some(axis) || variable.standard_name() == Some(name)
}
