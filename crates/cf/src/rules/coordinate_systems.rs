//! Rules of chapter 5, Coordinate Systems and Domain.

mod coordinates;
mod grid_mapping;
mod horizontal;
mod monotonic;
mod parameters;
mod spans;

pub(super) use coordinates::{
    coordinate_no_missing, coordinates_dimensions, dimension_has_coordinate, has_coordinates,
};
pub(super) use grid_mapping::grid_mapping;
pub(super) use horizontal::horizontal_coordinates;
pub(super) use monotonic::coordinate_monotonic;
pub(super) use parameters::grid_mapping_parameters;
pub(super) use spans::Spans;

use super::scope::{Found, Scope};
