//! Suggests selections that work, where others do not or may mean something else.

use super::coordinate::{Near, near};
use super::is_named;
use super::request::{Labels, Part, Pick, Select};
use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::{Dimension, NodeKind, NodePath};

/// A selection that was read in one of two possible ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// How it was read.
    pub text: String,
    /// What to write for the other way.
    pub remedy: Option<Remedy>,
}

/// The positions in `selections` that look like years, of dimensions whose coordinates are times.
///
/// # Errors
/// If the objects of the source cannot be listed.
pub fn doubts(source: &dyn Source, selections: &[Select]) -> Result<Vec<Doubt>> {
    let parts = selections.iter().filter_map(|selection| selection.parts().ok()).flatten();
    let years: Vec<(&str, i64, &Pick)> = parts
        .filter_map(|part| match part {
            Part::Named(name, pick @ Pick::Position(at)) if YEARS.contains(at) => {
                Some((name.as_str(), *at, pick))
            }
            _ => None,
        })
        .collect();
    let mut doubts = Vec::new();
    if years.is_empty() {
        return Ok(doubts);
    }
    let root = source.find(&NodePath::root())?;
    walk(source, &root.handle, &mut |step| {
        let Step::Member(Entry { handle, item: Item::Array { kind: NodeKind::DimCoord, shape, .. } }) = step
        else {
            return Ok(());
        };
        let length = shape.dims().first().map_or(0, |dimension| dimension.extent.current());
        for (name, at, pick) in &years {
            let is_position = u64::try_from(*at).is_ok_and(|at| at < length);
            if !is_position || !is_named(&handle.path, name) {
                continue;
            }
            // Coordinates that are not times give no doubt; unreadable ones are reported where they are needed.
            if let Ok(Some(near)) = near(source, &handle.path, length, &at.to_string())
                && near.is_time
            {
                let text = format!("{name}={at} selects position {at}, not the year {at}");
                doubts.push(Doubt { text, remedy: remedy(selections, &handle.path, pick, near) });
            }
        }
        Ok(())
    })?;
    Ok(doubts)
}

/// Positions that are more probably years.
const YEARS: std::ops::RangeInclusive<i64> = 1000..=9999;

/// Adds to the error of a position or coordinate that does not exist the coordinate that was probably meant.
pub(super) fn by_coordinate(
    error: Error,
    source: &dyn Source,
    selections: &[Select],
    dimension: &Dimension,
    pick: &Pick,
) -> Error {
    let word = match pick {
        Pick::Position(at) => at.to_string(),
        Pick::Labels(Labels::Equal(word)) => word.clone(),
        _ => return error,
    };
    let (true, Some(path)) =
        (matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::NotFound), &dimension.coordinate)
    else {
        return error;
    };
    match near(source, path, dimension.extent.current(), &word) {
        Ok(Some(near)) => error.with_remedies(remedy(selections, path, pick, near)),
        // Without coordinates there is nothing to suggest.
        _ => error,
    }
}

/// The selection with the coordinate in the place of `pick`.
fn remedy(selections: &[Select], path: &NodePath, pick: &Pick, near: Near) -> Option<Remedy> {
    let Near { labels, at, equal, .. } = near;
    let better = Pick::Labels(labels);
    let effect = match equal {
        0 => format!("selects the nearest coordinate, position {at}"),
        1 => format!("selects the coordinate, position {at}"),
        count => format!("selects the {count} coordinates from position {at}"),
    };
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
            // A coordinate is selected by name only.
            next => {
                *next = Part::Next((..).into());
                parts.push(Part::Named(path.name().to_owned(), better.clone()));
            }
        }
        let write = Select::of_parts(parts).to_string();
        Some(Remedy::Instead { given: selection.to_string(), write, effect: Some(effect.clone()) })
    })
}

/// The selection with another name of a dimension.
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
