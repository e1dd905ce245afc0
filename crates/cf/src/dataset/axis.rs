//! The axis of a coordinate, according to its units, its standard name and its attribute `axis`.
//!
//! Spec: CF 1.13, 4 Coordinate Types

use super::Variable;
use crate::tables::vertical;

/// The axis that a coordinate belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// Time.
    T,
    /// Height or depth.
    Z,
    /// Latitude, or the second coordinate of a projection.
    Y,
    /// Longitude, or the first coordinate of a projection.
    X,
}

impl Axis {
    /// The axis with this letter, in either case.
    pub fn of_letter(letter: &str) -> Option<Axis> {
        match letter {
            "T" | "t" => Some(Axis::T),
            "Z" | "z" => Some(Axis::Z),
            "Y" | "y" => Some(Axis::Y),
            "X" | "x" => Some(Axis::X),
            _ => None,
        }
    }

    /// The letter.
    pub fn letter(self) -> &'static str {
        match self {
            Axis::T => "T",
            Axis::Z => "Z",
            Axis::Y => "Y",
            Axis::X => "X",
        }
    }
}

/// Units of latitude. Section 4.1.
pub const LATITUDE_UNITS: &[&str] =
    &["degrees_north", "degree_north", "degree_N", "degrees_N", "degreeN", "degreesN"];

/// Units of longitude. Section 4.2.
pub const LONGITUDE_UNITS: &[&str] =
    &["degrees_east", "degree_east", "degree_E", "degrees_E", "degreeE", "degreesE"];

/// Deprecated units that UDUNITS does not have. Section 4.3.2.
pub const LEVELS: &[&str] = &["level", "layer", "sigma_level"];

/// The axis of a coordinate, determined first by its units, then by `positive`, its standard name and the attribute
/// `axis`.
pub fn axis_of(variable: &Variable) -> Option<Axis> {
    by_units(variable).or_else(|| match variable.standard_name() {
        Some("latitude" | "grid_latitude" | "projection_y_coordinate") => Some(Axis::Y),
        Some("longitude" | "grid_longitude" | "projection_x_coordinate") => Some(Axis::X),
        Some("time") => Some(Axis::T),
        Some(name) if vertical::get(name).is_some() => Some(Axis::Z),
        _ => variable.text("axis").and_then(Axis::of_letter),
    })
}

/// The axis that follows from units and `positive`.
pub fn by_units(variable: &Variable) -> Option<Axis> {
    let units = variable.text("units").unwrap_or_default();
    if LATITUDE_UNITS.contains(&units) {
        return Some(Axis::Y);
    }
    if LONGITUDE_UNITS.contains(&units) {
        return Some(Axis::X);
    }
    let is_time = variable.unit().is_some_and(|unit| unit.is_reference_time());
    if is_time || matches!(variable.datatype, Some(hyperslab_model::Datatype::Datetime(_))) {
        return Some(Axis::T);
    }
    let has_positive =
        variable.text("positive").is_some_and(|text| matches!(&*text.to_ascii_lowercase(), "up" | "down"));
    (has_positive || LEVELS.contains(&units) || is_pressure(variable)).then_some(Axis::Z)
}

/// Whether the units are those of pressure, which alone identify a vertical coordinate.
fn is_pressure(variable: &Variable) -> bool {
    static PASCAL: std::sync::LazyLock<Option<crate::units::Unit>> =
        std::sync::LazyLock::new(|| crate::units::Unit::parse("Pa").ok());
    let (Some(unit), Some(pascal)) = (variable.unit(), PASCAL.as_ref()) else { return false };
    unit.dimension() == pascal.dimension() && !unit.is_dimensionless()
}
