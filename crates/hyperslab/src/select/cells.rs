//! Selections of cells of sparse arrays, by their coordinates.

use super::coordinate::Interval;
use super::request::{Labels, Part, Pick, Select};
use super::suggest::in_order;
use crate::cells::{CellColumn, CellRange};
use crate::location::did_you_mean;
use crate::source::{Handle, Source};
use hyperslab_core::rows::Packed;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Elements, Pad, Text, Values};
use std::cmp::Ordering;

/// The coordinate bounds that selections request. If several apply to one dimension, the last one takes effect.
///
/// # Errors
/// For positions, which cells do not have; for names that are not dimensions; for values that are not coordinates.
pub(crate) fn ranges(
    source: &dyn Source,
    group: &Handle,
    columns: &[CellColumn],
    selections: &[Select],
) -> Result<Vec<CellRange>> {
    let mut ranges: Vec<CellRange> = Vec::new();
    for selection in selections {
        for part in selection.parts()? {
            let (name, labels) = match part {
                Part::Named(name, Pick::Labels(labels @ (Labels::Between(..) | Labels::Equal(_)))) => {
                    (name, labels)
                }
                Part::Named(_, Pick::Labels(Labels::Nearest(_))) => {
                    return Err(Error::invalid(
                        "cells of a sparse array can be selected by bounds, not by the nearest coordinate",
                    ));
                }
                _ => {
                    return Err(Error::invalid("cells of a sparse array have no positions")
                        .with_hint("select them by coordinates, as in x==3 or x=3..9"));
                }
            };
            let mut dimensions = columns.iter().enumerate().filter(|(_, column)| column.is_dimension);
            let Some((dimension, column)) = dimensions.clone().find(|(_, column)| column.name == *name)
            else {
                let hint = did_you_mean(name, dimensions.by_ref().map(|(_, column)| column.name.as_str()));
                let error = Error::not_found(format!("no dimension {name} in selection \"{selection}\""));
                return Err(error.with_remedies(hint));
            };
            let handle = source.find(&group.path.child(name))?.handle;
            let target = |labels: &Labels| Interval::of(source, &handle, &column.datatype, labels);
            let is_sound = |labels: &Labels| target(labels).is_ok();
            let target = target(labels)
                .map_err(|error| in_order(error, selections, (&handle.path, labels), &is_sound))?;
            let (low, high) = bounds(&column.datatype, &target)?;
            ranges.retain(|range| range.dimension != dimension);
            ranges.push(CellRange { dimension, low, high });
        }
    }
    Ok(ranges)
}

/// The lowest and the highest requested coordinate.
fn bounds(datatype: &Datatype, target: &Interval<'_>) -> Result<(Option<Values>, Option<Values>)> {
    if let Datatype::String(text) = datatype.resolved() {
        let [from, to] = target.texts();
        let bound = |of: Option<&[u8]>| of.map(|of| text_of(*text, of)).transpose();
        return Ok((bound(from)?, bound(to)?));
    }
    let numbers = Numbers::of(datatype)
        .ok_or_else(|| Error::unsupported(format!("coordinates of type {datatype} cannot be compared")))?;
    let place = |number: i128| {
        let values = numbers.value(number);
        let element = Elements::new(datatype, &values).next();
        element.map_or(Ordering::Less, |element| target.place_of(element))
    };
    // Places increase with the numbers, so the bounds are found by bisection.
    let first = |is_reached: &dyn Fn(Ordering) -> bool| {
        let (mut low, mut high) = (numbers.least, numbers.most.saturating_add(1));
        while low < high {
            // The mean of negative numbers must not be rounded up.
            let middle = low.saturating_add((high - low) / 2);
            match is_reached(place(middle)) {
                true => high = middle,
                false => low = middle.saturating_add(1),
            }
        }
        low
    };
    let (low, past) = (first(&Ordering::is_ge), first(&Ordering::is_gt));
    if low >= past {
        // No number matches: these bounds contain no coordinate.
        return Ok((Some(numbers.value(numbers.most)), Some(numbers.value(numbers.least))));
    }
    Ok((Some(numbers.value(low)), Some(numbers.value(past.saturating_sub(1)))))
}

/// The numbers of a datatype, counted in their order.
struct Numbers {
    size: usize,
    is_float: bool,
    least: i128,
    most: i128,
}

impl Numbers {
    fn of(datatype: &Datatype) -> Option<Numbers> {
        let size = datatype.row_size()?;
        let bits = u32::try_from(size.checked_mul(8)?).ok().filter(|bits| (8..=64).contains(bits))?;
        let integers = |signed: bool| {
            let (least, most) = match signed {
                true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
                false => (0, (1_i128 << bits) - 1),
            };
            Numbers { size, is_float: false, least, most }
        };
        Some(match datatype.resolved() {
            Datatype::Int { signed, .. } => integers(*signed),
            Datatype::Datetime(_) => integers(true),
            Datatype::Enum { base, .. } => match base.resolved() {
                Datatype::Int { signed, .. } => integers(*signed),
                _ => return None,
            },
            Datatype::Float(float) if float.keyword().is_some() => {
                // All bits of an exponent are ones in infinity.
                let exponent = match float.keyword()? {
                    "float16" => 0x7c00,
                    "bfloat16" => 0x7f80,
                    "float32" => 0x7f80_0000,
                    _ => 0x7ff0_0000_0000_0000,
                };
                Numbers { size, is_float: true, least: -1 - exponent, most: exponent }
            }
            _ => return None,
        })
    }

    /// The number at a place. Negative floating-point numbers are at -1 and below.
    fn value(&self, place: i128) -> Values {
        let bits = match self.is_float && place < 0 {
            true => (-1 - place) | 1 << (8 * self.size - 1),
            false => place,
        };
        let mut row = bits.to_le_bytes().get(..self.size).unwrap_or_default().to_vec();
        if cfg!(target_endian = "big") {
            row.reverse();
        }
        Values { rows: row.into(), ..Values::default() }
    }
}

/// A string as an element.
fn text_of(datatype: Text, text: &[u8]) -> Result<Values> {
    match datatype {
        Text::Variable => {
            let mut packed = Packed::default();
            packed.push(text)?;
            Ok(packed.finish())
        }
        Text::Fixed { len, pad } => {
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            if text.len() > len {
                let found = String::from_utf8_lossy(text);
                return Err(Error::invalid(format!("{found:?} is longer than its coordinates, {len} bytes")));
            }
            let mut row = text.to_vec();
            row.resize(len, if pad == Pad::Space { b' ' } else { 0 });
            Ok(Values { rows: row.into(), ..Values::default() })
        }
    }
}
