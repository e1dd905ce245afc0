//! Suggests selections that work in place of ones that do not or that may mean something else.

use super::characters::are_names;
use super::coordinate::{Near, are_comparable, near};
use super::request::{Labels, Part, Pick, Select};
use super::{axis_of, is_named};
use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::{Dimension, NodeKind, NodePath};
use std::collections::BTreeMap;

/// A selection that was interpreted in one of two possible ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// How it was interpreted.
    pub text: String,
    /// What to write for the other interpretation.
    pub remedy: Option<Remedy>,
}

/// Doubts about `selections`: positions that look like years, along dimensions whose coordinates are times; ranges that
/// select nothing; and ranges of positions that reach beyond their dimension.
///
/// # Errors
/// If the objects of the source cannot be listed.
pub fn doubts(source: &dyn Source, selections: &[Select]) -> Result<Vec<Doubt>> {
    let mut years: Vec<(&str, i64, &Pick)> = Vec::new();
    let mut ranges: Vec<(&str, &Pick)> = Vec::new();
    for part in selections.iter().filter_map(|selection| selection.parts().ok()).flatten() {
        match part {
            Part::Named(name, pick @ Pick::Position(at)) if YEARS.contains(at) => {
                years.push((name, *at, pick))
            }
            Part::Named(name, pick @ (Pick::Range { .. } | Pick::Labels(Labels::Between(..)))) => {
                ranges.push((name, pick));
            }
            _ => {}
        }
    }
    if years.is_empty() && ranges.is_empty() {
        return Ok(Vec::new());
    }
    let mut of_years = Vec::new();
    let mut dimensions: BTreeMap<NodePath, Dimension> = BTreeMap::new();
    let root = source.find(&NodePath::root())?;
    walk(source, &root.handle, &mut |step| {
        let Step::Member(entry) = step else { return Ok(()) };
        of_years.extend(years.iter().filter_map(|year| doubt_of_year(source, selections, entry, *year)));
        for dimension in entry.dimensions().into_iter().flatten() {
            let Some(path) = dimension.coordinate.clone() else { continue };
            if ranges.iter().any(|(name, _)| is_named(&path, name)) {
                let known = dimensions.entry(path).or_insert_with(|| dimension.clone());
                if known.extent.current() < dimension.extent.current() {
                    *known = dimension;
                }
            }
        }
        Ok(())
    })?;
    let mut doubts = Vec::new();
    for (name, pick) in ranges {
        for (path, dimension) in dimensions.iter().filter(|(path, _)| is_named(path, name)) {
            doubts.extend(doubt_of_range(source, selections, (path, dimension), (name, pick)));
        }
    }
    doubts.extend(of_years);
    Ok(doubts)
}

/// The doubt about a position that looks like a year, if an object is the dimension and has times as coordinates.
fn doubt_of_year(
    source: &dyn Source,
    selections: &[Select],
    entry: &Entry,
    (name, at, pick): (&str, i64, &Pick),
) -> Option<Doubt> {
    let Entry { handle, item: Item::Array { kind: NodeKind::DimCoord, shape, .. } } = entry else {
        return None;
    };
    let length = shape.dims().first().map_or(0, |dimension| dimension.extent.current());
    let is_position = u64::try_from(at).is_ok_and(|at| at < length);
    if !is_position || !is_named(&handle.path, name) {
        return None;
    }
    // Coordinates that are not times cause no doubt; unreadable ones are reported when they are needed.
    let near = near(source, &handle.path, length, &at.to_string()).ok()?.filter(|near| near.is_time)?;
    let text = format!("{name}={at} selects position {at}, not the year {at}");
    Some(Doubt { text, remedy: nearest(selections, &handle.path, pick, near) })
}

/// The doubt about one range. Errors are reported when positions are needed.
fn doubt_of_range(
    source: &dyn Source,
    selections: &[Select],
    (path, dimension): (&NodePath, &Dimension),
    (name, pick): (&str, &Pick),
) -> Option<Doubt> {
    let length = dimension.extent.current();
    let axis = axis_of(source, dimension, pick).ok().filter(|_| length > 0)?;
    let given = format!("{name}={pick}");
    let has = match length {
        1 => "1 position".to_owned(),
        length => format!("{length} positions"),
    };
    let text = match (axis.count(), pick) {
        (0, Pick::Labels(_)) => format!("{given} selects nothing: {name} has no coordinate there"),
        (0, _) => format!("{given} selects nothing: {name} has {has}"),
        (count, Pick::Range { start, stop, .. }) => {
            let is_beyond = |at: &Option<i64>| at.is_some_and(|at| at.unsigned_abs() > length);
            if !is_beyond(start) && !is_beyond(stop) {
                return None;
            }
            format!("{given} reaches beyond {name}, which has {has}; {count} of them are selected")
        }
        _ => return None,
    };
    // Numbers with a colon are positions, but values may have been meant.
    let values = match pick {
        Pick::Range { start: Some(start), stop: Some(stop), step: 1 } => {
            let labels = Labels::Between(Some(start.to_string()), Some(stop.to_string()));
            let values = Pick::Labels(labels.clone());
            axis_of(source, dimension, &values).is_ok_and(|axis| axis.count() > 0).then_some(labels)
        }
        _ => None,
    };
    let effect = Some("selects by the values of coordinates".to_owned());
    let remedy = values.and_then(|labels| instead(selections, path, pick, labels, effect));
    Some(Doubt { text, remedy })
}

/// Whether a source has dimensions with coordinates of all names in a selection by coordinates. Other parts are
/// ignored.
///
/// # Errors
/// If the objects of the source cannot be listed.
pub fn has_coordinates(source: &dyn Source, select: &Select) -> Result<bool> {
    let mut missing: Vec<&str> = Vec::new();
    missing.extend(select.parts()?.iter().filter_map(|part| match part {
        Part::Named(name, Pick::Labels(_)) => Some(name.as_str()),
        _ => None,
    }));
    let root = source.find(&NodePath::root())?;
    walk(source, &root.handle, &mut |step| {
        if let Step::Member(entry) = step
            && (matches!(&entry.item, Item::Array { kind: NodeKind::DimCoord, datatype: Some(_), .. })
                || are_names(entry))
        {
            missing.retain(|name| !is_named(&entry.handle.path, name));
        }
        Ok(())
    })?;
    Ok(missing.is_empty())
}

/// Positions that are more likely to be years.
const YEARS: std::ops::RangeInclusive<i64> = 1000..=9999;

/// Adds a suggestion to an error: for a position or coordinate that does not exist, the coordinate that was probably
/// meant; for a range from high to low, the range in order.
pub(super) fn by_coordinate(
    error: Error,
    source: &dyn Source,
    selections: &[Select],
    dimension: &Dimension,
    pick: &Pick,
) -> Error {
    let (true, Some(path)) =
        (matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::NotFound), &dimension.coordinate)
    else {
        return error;
    };
    let extent = dimension.extent.current();
    let word = match pick {
        Pick::Position(at) => at.to_string(),
        Pick::Labels(Labels::Equal(word)) => word.clone(),
        Pick::Labels(labels) => {
            let is_sound = |labels: &Labels| are_comparable(source, path, extent, labels);
            return in_order(error, selections, (path, labels), &is_sound);
        }
        _ => return error,
    };
    match near(source, path, extent, &word) {
        Ok(Some(near)) => error.with_remedies(nearest(selections, path, pick, near)),
        // Without coordinates there is nothing to suggest.
        _ => error,
    }
}

/// Adds to the error of a range a suggestion with its ends exchanged, if that range is valid.
pub(super) fn in_order(
    error: Error,
    selections: &[Select],
    (path, labels): (&NodePath, &Labels),
    is_sound: &dyn Fn(&Labels) -> bool,
) -> Error {
    let Labels::Between(Some(first), Some(last)) = labels else { return error };
    let better = Labels::Between(Some(last.clone()), Some(first.clone()));
    match is_sound(&better) {
        true => error.with_remedies(instead(selections, path, &Pick::Labels(labels.clone()), better, None)),
        false => error,
    }
}

/// The selection with the nearest or equal coordinate in place of `pick`.
fn nearest(selections: &[Select], path: &NodePath, pick: &Pick, near: Near) -> Option<Remedy> {
    let Near { labels, at, equal, .. } = near;
    let effect = match equal {
        0 => format!("selects the nearest coordinate, position {at}"),
        1 => format!("selects the coordinate, position {at}"),
        count => format!("selects the {count} coordinates from position {at}"),
    };
    instead(selections, path, pick, labels, Some(effect))
}

/// The selection with these labels in place of `pick`.
fn instead(
    selections: &[Select],
    path: &NodePath,
    pick: &Pick,
    better: Labels,
    effect: Option<String>,
) -> Option<Remedy> {
    let better = Pick::Labels(better);
    // The last selection of a dimension applies.
    selections.iter().rev().find_map(|selection| {
        let mut parts = selection.parts().ok()?.to_vec();
        let part = parts.iter_mut().rev().find(|part| match part {
            Part::Named(name, own) => own == pick && is_named(path, name),
            Part::Next(own) => own == pick,
            Part::Between => false,
        })?;
        match part {
            Part::Named(_, own) => *own = better.clone(),
            // A coordinate can only be selected by name.
            next => {
                *next = Part::Next((..).into());
                parts.push(Part::Named(path.name().to_owned(), better.clone()));
            }
        }
        let write = Select::of_parts(parts).to_string();
        Some(Remedy::Instead { given: selection.to_string(), write, effect: effect.clone() })
    })
}

/// The selection with another name for a dimension.
pub(super) fn renamed(selection: &Select, name: &str, better: &str) -> Option<Remedy> {
    let mut parts = selection.parts().ok()?.to_vec();
    for part in &mut parts {
        if let Part::Named(own, _) = part
            && own == name
        {
            better.clone_into(own);
        }
    }
    let write = Select::of_parts(parts).to_string();
    Some(Remedy::Instead { given: selection.to_string(), write, effect: None })
}
