//! Prepares an array for drawing: a line along one dimension, or a heat map along two.
//!
//! Values are decoded according to the CF attributes of their array. Large arrays are read once, in bounded memory, and
//! reduced to as many cells as the drawing has room for. Drawing itself is left to the caller, who gets axes with ticks
//! and cells with numbers.
//!
//! ```
//! use hyperslab::location::Locator;
//! use hyperslab::plot::{Plot, PlotOptions};
//! use hyperslab::{OpenOptions, open};
//!
//! let source = open("../../examples/ocean.nc".as_ref(), &OpenOptions::default())?;
//! let found = Locator::parse("ocean.nc:/temperature").followed(&*source)?;
//! let options = PlotOptions { select: vec!["time=0,depth=0".parse()?], ..PlotOptions::default() };
//! let plot = Plot::new(&*source, &found[0], &options)?;
//! assert_eq!(plot.horizontal().name, "lon");
//! assert_eq!(plot.fixed, ["time 2024-03-01", "depth 0"]);
//! let map = plot.heat_map(8, 3)?;
//! // The northernmost row is on top.
//! assert!((map.pixels(8, 3)[0][0] - 10.4).abs() < 1e-5);
//! # Ok::<(), hyperslab::Error>(())
//! ```

mod axis;
mod dates;
mod numbers;
mod reduce;
mod scale;
mod ticks;

pub use self::axis::PlotAxis;
pub use self::reduce::{HeatMap, Line, LinePoint, Read};
pub use self::scale::Scale;
pub use self::ticks::{Tick, Ticks};

use self::numbers::Numbers;
use crate::location::LocatedObject;
use crate::select::{Select, Selected};
use crate::show::shown_shape;
use crate::source::{ArraySource, MissingSources, Source, check_counts};
use hyperslab_cf::meaning::text;
use hyperslab_core::{Error, Remedy, Result};
use hyperslab_model::{Datatype, NodePath, Shape};
use std::sync::Arc;

/// Which part of an array is drawn.
#[derive(Clone, Debug, Default)]
pub struct PlotOptions {
    /// The selected elements; all elements if there is no selection.
    pub select: Vec<Select>,
    /// The names or numbers of the dimensions that are drawn: one for a line; two for a heat map, the vertical one
    /// first. If none are given, the last two dimensions with several positions.
    pub axes: Vec<String>,
}

/// An array whose values are read when it is drawn.
#[allow(missing_debug_implementations, reason = "elements are read from a source, which has no text form")]
pub struct Plot {
    /// The path of the array.
    pub name: String,
    /// A description of the values: the attribute `long_name`, or else `standard_name`.
    pub about: Option<String>,
    /// The unit of the values.
    pub units: Option<String>,
    /// The single positions along the other dimensions, such as `time 2024-03-01`.
    pub fixed: Vec<String>,
    /// The dimensions of which only the first position is drawn, although several are selected.
    pub first_of: Vec<String>,
    /// The sources of a virtual array that do not exist.
    pub missing: MissingSources,
    /// The reasons why coordinates cannot be read; positions are shown in their place.
    pub unread: Vec<Error>,
    horizontal: PlotAxis,
    vertical: Option<PlotAxis>,
    /// Whether the vertical dimension comes after the horizontal one in the array.
    is_transposed: bool,
    array: Arc<dyn ArraySource>,
    selected: Selected,
    numbers: Numbers,
}

impl Plot {
    /// Prepares the drawing of an array. Coordinates are read, values are not.
    ///
    /// # Errors
    /// If `target` is not an array, its elements are not numbers, the selection leaves a single element, a dimension of
    /// `options` does not exist, or coordinates exceed the memory.
    pub fn new(source: &dyn Source, target: &LocatedObject, options: &PlotOptions) -> Result<Plot> {
        let path = &target.entry.handle.path;
        match &target.attribute {
            Some(name) => {
                Err(undrawable("attributes are not drawn, only arrays").in_object(format!("{path}@{name}")))
            }
            None => Plot::of_array(source, target, options).map_err(|error| error.in_object(path)),
        }
    }

    fn of_array(source: &dyn Source, target: &LocatedObject, options: &PlotOptions) -> Result<Plot> {
        let handle = &target.entry.handle;
        let (shape, datatype) = shown_shape(source, &target.entry)?;
        if shape == Shape::Null {
            return Err(undrawable("a null dataspace has no elements to draw"));
        }
        let node = source.load(handle)?;
        let numbers =
            Numbers::of(source, &handle.path, &node, &datatype).ok_or_else(|| cannot_draw(&datatype))?;
        let array = source.array(handle)?;
        let selected = Selected::new(source, &options.select, &shape)?;
        check_counts(source, &*array, &selected.counts())?;
        let names = names_of(&shape, &handle.path);
        let drawn = drawn_dimensions(&names, &selected, &options.axes)?;
        let mut unread = Vec::new();
        let (mut selected, mut first_of) = (selected, Vec::new());
        for (dimension, name) in names.iter().enumerate().filter(|(at, _)| !drawn.contains(at)) {
            if selected.counts().get(dimension).is_some_and(|count| *count > 1) {
                first_of.push(name.clone());
            }
            selected = selected.with_first(dimension);
        }
        let mut axes = Vec::new();
        for (dimension, (picks, name)) in selected.picks().zip(&names).enumerate() {
            let of = shape.dims().get(dimension).and_then(|own| own.coordinate.as_ref());
            let axis = PlotAxis::of(source, name, of.filter(|of| **of != handle.path), picks);
            axes.push(axis.unwrap_or_else(|error| {
                unread.push(match of {
                    Some(of) => error.in_object(of),
                    None => error,
                });
                PlotAxis::of_positions(name, picks)
            }));
        }
        let fixed = axes.iter().enumerate().filter(|(at, _)| !drawn.contains(at));
        let fixed = fixed.filter_map(|(_, axis)| axis.first_label()).collect();
        let axis = |at: usize| axes.get(at).cloned().ok_or_else(|| Error::invalid("no such dimension"));
        let (vertical, horizontal) = match drawn.as_slice() {
            [vertical, horizontal] => (Some(axis(*vertical)?), axis(*horizontal)?),
            [one, ..] => (None, axis(*one)?),
            [] => return Err(undrawable("a single value, which has no extent to draw")),
        };
        let attribute = |name: &str| node.attributes().and_then(|attributes| text(attributes, name));
        Ok(Plot {
            name: handle.path.to_string(),
            about: attribute("long_name").or_else(|| attribute("standard_name")),
            units: numbers.units(attribute("units")),
            fixed,
            first_of,
            missing: array.missing_sources()?,
            unread,
            horizontal,
            vertical,
            is_transposed: drawn.first() > drawn.get(1) && drawn.len() > 1,
            array,
            selected,
            numbers,
        })
    }

    /// The dimension from left to right.
    pub fn horizontal(&self) -> &PlotAxis {
        &self.horizontal
    }

    /// The dimension from the bottom to the top of a heat map; `None` for a line.
    pub fn vertical(&self) -> Option<&PlotAxis> {
        self.vertical.as_ref()
    }
}

/// The error for an object that has values but cannot be drawn.
fn undrawable(detail: impl Into<String>) -> Error {
    Error::unsupported(detail.into()).with_remedy(Remedy::PrintValues)
}

fn cannot_draw(datatype: &Datatype) -> Error {
    match datatype.non_null() {
        Datatype::Compound(members) => {
            let names: Vec<_> = members.iter().map(|member| member.name.as_str()).collect();
            let detail = "elements are compounds, which have no single number to draw";
            Error::unsupported(format!("{detail}; their members are {}", names.join(", ")))
                .with_remedy(Remedy::PrintMembers)
        }
        Datatype::String(_) => undrawable("elements are strings, which cannot be drawn"),
        Datatype::Complex(_) => undrawable("complex numbers have two parts, a drawing shows one"),
        other => undrawable(format!(
            "elements of {other} cannot be drawn, only numbers, booleans and enumerations"
        )),
    }
}

/// The names of the dimensions; the number in brackets for those without a name.
fn names_of(shape: &Shape, own: &NodePath) -> Vec<String> {
    let dims = shape.dims().iter().enumerate();
    dims.map(|(number, dimension)| match dimension.coordinate.as_ref().filter(|path| *path != own) {
        Some(path) => path.name().to_owned(),
        None => format!("[{number}]"),
    })
    .collect()
}

/// The numbers of the dimensions that are drawn, the vertical one first.
fn drawn_dimensions(names: &[String], selected: &Selected, axes: &[String]) -> Result<Vec<usize>> {
    let (counts, kept) = (selected.counts(), selected.kept());
    if axes.is_empty() {
        let has_several = |at: &&usize| counts.get(**at).is_some_and(|count| *count != 1);
        let mut several: Vec<usize> = kept.iter().filter(has_several).copied().collect();
        if several.is_empty() {
            several.extend(kept.last());
        }
        return Ok(several.split_off(several.len().saturating_sub(2)));
    }
    let mut drawn = Vec::new();
    for axis in axes {
        let number = axis.trim_matches(['[', ']']).parse::<usize>().ok();
        let found = names.iter().position(|name| name == axis);
        let found = found.or(number).filter(|at| *at < names.len());
        let found = found.ok_or_else(|| {
            Error::invalid(format!("no dimension {axis}, expected one or two of {}", names.join(", ")))
        })?;
        if !kept.contains(&found) {
            return Err(Error::invalid(format!(
                "a single position of {axis} is selected, so that it cannot be an axis"
            )));
        }
        if drawn.contains(&found) {
            return Err(Error::invalid(format!("{axis} is named twice, expected two dimensions")));
        }
        drawn.push(found);
    }
    match drawn.len() {
        1 | 2 => Ok(drawn),
        many => {
            Err(Error::invalid(format!("{many} dimensions, expected one for a line or two for a heat map")))
        }
    }
}
