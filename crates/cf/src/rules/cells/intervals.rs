//! The values of boundary variables, read together with those of their coordinates.
//!
//! Spec: CF 1.13, 7.1.2 Bounds for one-dimensional coordinate variables

use super::bounds::vertices;
use super::{Found, Scope};
use crate::dataset::{Axis, Dataset, Number, Role, Variable, axis_of};
use crate::rules::values::{BLOCK, ValueReader};
use hyperslab_core::Result;
use hyperslab_core::nd::{Region, bands};
use hyperslab_model::{Datatype, Float};
use std::cmp::Ordering;

/// Checks that the bounds of cells are in the order of the coordinates.
pub(in crate::rules) fn bounds_order(
    scope: &Scope<'_>,
    values: &dyn ValueReader,
    found: &mut Found,
) -> Result<()> {
    for (variable, boundary) in pairs(scope).filter(|(variable, _)| variable.is(Role::Coordinate)) {
        if variable.dimensions.first().is_none_or(|along| along.length < 2) {
            continue;
        }
        let ends = numbers(values, variable, &Region::new(vec![0], vec![2]))?;
        let [first, second] = ends.as_slice() else { continue };
        let is_increasing = match first.partial_cmp(second) {
            Some(Ordering::Less) => true,
            Some(Ordering::Greater) => false,
            _ => continue,
        };
        let mut wrong = Cells::default();
        each_cell(values, variable, boundary, |at, _, low, high| {
            wrong.count(at, if is_increasing { low > high } else { low < high });
        })?;
        if let Some((at, count)) = wrong.found() {
            let order = if is_increasing { "increase" } else { "decrease" };
            let message = format!(
                "bounds of {count} cells in the other order, the first at {at}, expected the order of {}, which {order}s",
                variable.name()
            );
            found.add(&boundary.path, message, format!("swap the bounds so that they {order}"));
        }
    }
    Ok(())
}

/// Checks that coordinates are within their cells. Cells with more than two vertices are not checked: at a pole or
/// where longitudes wrap around, they may contain a point that is outside of the range of their vertices.
pub(in crate::rules) fn bounds_contain(
    scope: &Scope<'_>,
    values: &dyn ValueReader,
    found: &mut Found,
) -> Result<()> {
    for (variable, boundary) in pairs(scope) {
        let is_circular = axis_of(variable) == Some(Axis::X) && is_angle(variable);
        let precision = precision(variable).max(precision(boundary));
        let mut outside = Cells::default();
        each_cell(values, variable, boundary, |at, value, low, high| {
            let is_within = is_within(value, low, high, precision)
                || (is_circular && is_on_circle(value, low, high, precision));
            outside.count(at, !is_within);
        })?;
        if let Some((at, count)) = outside.found() {
            let message = format!(
                "{count} values outside of their bounds in {}, the first at {at}, expected all within",
                boundary.name()
            );
            found.add(&variable.path, message, "correct the values or the bounds");
        }
    }
    Ok(())
}

/// The coordinates and boundary variables that can be compared: with two vertices, the same units, and no packing.
fn pairs<'s>(scope: &'s Scope<'_>) -> impl Iterator<Item = (&'s Variable, &'s Variable)> + 's {
    let dataset: &'s Dataset = scope.dataset;
    let all = scope.with("bounds").flat_map(move |variable| {
        dataset.named(variable, "bounds").take(1).map(move |boundary| (variable, boundary))
    });
    all.filter(|(variable, boundary)| {
        let is_packed = |of: &Variable| of.has("scale_factor") || of.has("add_offset");
        let is_date = |of: &Variable| matches!(of.datatype, Some(Datatype::Datetime(_)));
        let has_dates = is_date(variable) || is_date(boundary);
        variable.is_numeric()
            && boundary.is_numeric()
            && vertices(variable, boundary).is_some_and(|along| along.length == 2)
            && !is_packed(variable)
            && !is_packed(boundary)
            && (!has_dates || variable.datatype == boundary.datatype)
            && ["units", "calendar"]
                .iter()
                .all(|name| !boundary.has(name) || boundary.text(name) == variable.text(name))
    })
}

/// Passes each value of a coordinate with its index and its two bounds, leaving out missing ones.
fn each_cell(
    values: &dyn ValueReader,
    variable: &Variable,
    boundary: &Variable,
    mut each: impl FnMut(u64, f64, f64, f64),
) -> Result<()> {
    let shape: Vec<u64> = variable.dimensions.iter().map(|along| along.length).collect();
    let (missing, missing_bounds) = (missing(variable), missing(boundary));
    let mut at = 0_u64;
    for region in bands(&Region::all(&shape), &vec![1; shape.len()], 1, BLOCK)? {
        let points = numbers(values, variable, &region)?;
        let spans = (0..region.rank()).filter_map(|dimension| region.span(dimension));
        let (mut start, mut count): (Vec<u64>, Vec<u64>) =
            spans.map(|span| (span.start, span.end.saturating_sub(span.start))).unzip();
        start.push(0);
        count.push(2);
        let ends = numbers(values, boundary, &Region::new(start, count))?;
        for (value, ends) in points.iter().zip(ends.chunks_exact(2)) {
            if let [low, high] = ends {
                let is_there = !value.is_nan()
                    && !low.is_nan()
                    && !high.is_nan()
                    && !missing.contains(value)
                    && !missing_bounds.contains(low)
                    && !missing_bounds.contains(high);
                if is_there {
                    each(at, *value, *low, *high);
                }
            }
            at = at.saturating_add(1);
        }
    }
    Ok(())
}

/// The values of a region as numbers; NaN for those that are not numbers.
fn numbers(values: &dyn ValueReader, variable: &Variable, region: &Region) -> Result<Vec<f64>> {
    let mut numbers = Vec::new();
    values.region(&variable.path, region, &mut |elements| {
        numbers.extend(elements.map(|element| {
            let number = element.present().and_then(|element| Number::of(&element.get()));
            number.map_or(f64::NAN, Number::as_f64)
        }));
        Ok(())
    })?;
    Ok(numbers)
}

/// The values that mark missing ones.
fn missing(variable: &Variable) -> Vec<f64> {
    variable.marks().map(Number::as_f64).collect()
}

fn is_angle(variable: &Variable) -> bool {
    variable.text("units").is_some_and(|units| units.starts_with("degree"))
}

/// The maximum relative difference of values that count as equal.
fn precision(variable: &Variable) -> f64 {
    match variable.datatype {
        Some(Datatype::Float(Float::Half)) => 1e-3,
        Some(Datatype::Float(Float::Single)) => 4.0 * f64::from(f32::EPSILON),
        _ => 8.0 * f64::EPSILON,
    }
}

fn is_within(value: f64, a: f64, b: f64, precision: f64) -> bool {
    let slack = precision * value.abs().max(a.abs()).max(b.abs());
    value >= a.min(b) - slack && value <= a.max(b) + slack
}

/// Whether a longitude is within its bounds if a full turn is added or subtracted, or if the cell crosses the point
/// where longitudes wrap around.
fn is_on_circle(value: f64, a: f64, b: f64, precision: f64) -> bool {
    let turns = [-360.0, 0.0, 360.0];
    let is_crossing = (a - b).abs() > 180.0;
    let (low, high) = if is_crossing { (a.max(b), a.min(b) + 360.0) } else { (a, b) };
    turns.iter().any(|turn| is_within(value + turn, low, high, precision.max(1e-9)))
}

/// Counts the cells with errors.
#[derive(Default)]
struct Cells {
    first: Option<u64>,
    count: u64,
}

impl Cells {
    fn count(&mut self, at: u64, is_wrong: bool) {
        if is_wrong {
            self.first.get_or_insert(at);
            self.count = self.count.saturating_add(1);
        }
    }

    fn found(&self) -> Option<(u64, u64)> {
        Some((self.first?, self.count))
    }
}
