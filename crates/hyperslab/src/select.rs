//! `-s`: which part of an array is meant.
//!
//! Dimensions by order, `0:10:2,:,5`, or by name: positions, `time=3,lat=0:90:2,lat=[0,5,9]`, which count
//! from 0 or, negative, from the end, the stop of a range excluded; or what coordinates have as values,
//! `lat=-30..30`, `time=2026-01..2026-03`, `station==oslo`, `lat~=59.9`.

mod calendar;
mod coordinate;
mod narrowed;
mod pieces;
mod read;
mod syntax;
mod time;

pub use self::narrowed::Narrowed;
pub(crate) use self::time::Counting;

use self::syntax::{Part, Pick};
use crate::location::nearest;
use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::{Dimension, NodeKind, NodePath, Shape};
use std::collections::BTreeSet;

/// What is taken of each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    axes: Vec<Axis>,
}

/// What is taken of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Axis {
    picks: Picks,
    /// A single position takes the dimension away.
    dropped: bool,
}

/// Positions along a dimension, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Picks {
    Range { start: u64, count: u64, step: u64 },
    List(Vec<u64>),
}

impl Selected {
    /// Reads selections for an array of `source`; of several for one dimension the last holds. A dimension
    /// that the array lacks does not select from it.
    ///
    /// # Errors
    /// For text that is no selection, more dimensions than there are, names that nothing in the source has,
    /// positions outside, and values that nothing equals.
    pub fn parse(source: &dyn Source, texts: &[String], shape: &Shape) -> Result<Selected> {
        let dims = shape.dims();
        let mut picks: Vec<Option<Pick>> = vec![None; dims.len()];
        for text in texts {
            let parts = syntax::parse(text)?;
            let next = parts.iter().filter(|part| matches!(part, Part::Next(_))).count();
            if parts.iter().filter(|part| **part == Part::Between).count() > 1 {
                return Err(Error::invalid(format!("selection {text:?} has several ...")));
            }
            let Some(between) = dims.len().checked_sub(next) else {
                let rank = dims.len();
                return Err(Error::invalid(format!(
                    "selection {text:?} has {next} dimensions, the array has {rank}"
                )));
            };
            let mut at = 0;
            for part in parts {
                match part {
                    Part::Between => at += between,
                    Part::Next(pick) => {
                        picks.iter_mut().skip(at).take(1).for_each(|of| *of = Some(pick.clone()));
                        at += 1;
                    }
                    Part::Named(name, pick) => {
                        let mut own =
                            dims.iter().zip(&mut picks).filter(|(d, _)| has_name(d, &name)).peekable();
                        if own.peek().is_none() {
                            drop(own);
                            check_known(source, &name, dims)?;
                            continue;
                        }
                        own.for_each(|(_, of)| *of = Some(pick.clone()));
                    }
                }
            }
        }
        let axes = dims.iter().zip(&picks).enumerate().map(|(index, (dimension, pick))| match pick {
            Some(pick) => axis_of(source, dimension, pick).map_err(|e| in_dimension(e, dimension, index)),
            None => Ok(whole(dimension.extent.current())),
        });
        Ok(Selected { axes: axes.collect::<Result<_>>()? })
    }

    /// Extents of what is selected, with the dimensions that single positions take away.
    pub fn counts(&self) -> Vec<u64> {
        self.axes.iter().map(Axis::count).collect()
    }

    /// For each dimension that is left, its index in the array.
    pub fn kept(&self) -> Vec<usize> {
        self.axes.iter().enumerate().filter(|(_, axis)| !axis.dropped).map(|(at, _)| at).collect()
    }

    /// What is selected along each dimension.
    pub(crate) fn picks(&self) -> impl Iterator<Item = &Picks> {
        self.axes.iter().map(|axis| &axis.picks)
    }

    /// The same positions of an array of one dimension.
    pub(crate) fn along(picks: &Picks) -> Selected {
        Selected { axes: vec![Axis { picks: picks.clone(), dropped: false }] }
    }
}

impl Axis {
    fn count(&self) -> u64 {
        self.picks.count()
    }
}

impl Picks {
    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Picks::Range { count, .. } => *count,
            Picks::List(list) => list.len() as u64,
        }
    }

    /// The position number `at`.
    pub(crate) fn get(&self, at: u64) -> Option<u64> {
        match self {
            Picks::Range { start, count, step } => {
                (at < *count).then(|| start.saturating_add(at.saturating_mul(*step)))
            }
            Picks::List(list) => list.get(usize::try_from(at).ok()?).copied(),
        }
    }
}

fn whole(extent: u64) -> Axis {
    Axis { picks: Picks::Range { start: 0, count: extent, step: 1 }, dropped: false }
}

fn has_name(dimension: &Dimension, name: &str) -> bool {
    dimension.coordinate.as_ref().is_some_and(|path| is_named(path, name))
}

/// Whether a dimension at `path` is meant by a name, which may be a path.
pub(crate) fn is_named(path: &NodePath, name: &str) -> bool {
    path.name() == name || path.as_str() == name
}

/// Refuses the name of a dimension that nothing has.
fn check_known(source: &dyn Source, name: &str, own: &[Dimension]) -> Result<()> {
    let own: Vec<&str> = own.iter().filter_map(|d| Some(d.coordinate.as_ref()?.name())).collect();
    let mut all = BTreeSet::new();
    let root = source.find(&NodePath::root())?;
    walk(source, &root.handle, &mut |step| {
        if let Step::Member(Entry { handle, item: Item::Array { kind, shape, .. } }) = step {
            all.extend((*kind == NodeKind::DimCoord).then(|| handle.path.clone()));
            all.extend(shape.dims().iter().filter_map(|dimension| dimension.coordinate.clone()));
        }
        Ok(())
    })?;
    if all.iter().any(|path| is_named(path, name)) {
        return Ok(());
    }
    let near = nearest(name, own.iter().copied()).or_else(|| nearest(name, all.iter().map(NodePath::name)));
    let hint = near.map(|near| Remedy::Hint(format!("did you mean {near}?")));
    let error = Error::invalid(match near {
        Some(_) => format!("no dimension {name}"),
        None if own.is_empty() && all.is_empty() => format!("no dimension {name}, none here has a name"),
        None if own.is_empty() => {
            let all: BTreeSet<_> = all.iter().map(NodePath::name).collect();
            format!("no dimension {name}, there are {}", all.into_iter().collect::<Vec<_>>().join(", "))
        }
        None => format!("no dimension {name}, there are {}", own.join(", ")),
    });
    Err(error.with_remedies(hint))
}

/// Names the dimension, unless the error lies in a file.
fn in_dimension(error: Error, dimension: &Dimension, index: usize) -> Error {
    match error.kind() {
        ErrorKind::InvalidArgument | ErrorKind::NotFound | ErrorKind::Unsupported => {
            let name =
                dimension.coordinate.as_ref().map_or_else(|| index.to_string(), |p| p.name().to_owned());
            error.map_detail(|detail| format!("dimension {name}: {detail}"))
        }
        _ => match &dimension.coordinate {
            Some(path) => error.in_object(path),
            None => error,
        },
    }
}

fn axis_of(source: &dyn Source, dimension: &Dimension, pick: &Pick) -> Result<Axis> {
    let extent = dimension.extent.current();
    let (picks, dropped) = match pick {
        Pick::Position(at) => (Picks::Range { start: position(*at, extent)?, count: 1, step: 1 }, true),
        Pick::List(list) => {
            (Picks::List(list.iter().map(|at| position(*at, extent)).collect::<Result<_>>()?), false)
        }
        Pick::Range { start, stop, step } => {
            let start = start.map_or(0, |at| bound(at, extent));
            let stop = stop.map_or(extent, |at| bound(at, extent));
            (Picks::Range { start, count: stop.saturating_sub(start).div_ceil(*step), step: *step }, false)
        }
        Pick::Values(wanted) => match &dimension.coordinate {
            Some(path) => coordinate::positions(source, path, extent, wanted)?,
            None => return Err(Error::invalid("has no coordinates, expected positions")),
        },
    };
    Ok(Axis { picks, dropped })
}

/// A position that must be there.
fn position(at: i128, extent: u64) -> Result<u64> {
    u64::try_from(from_end(at, extent))
        .ok()
        .filter(|found| *found < extent)
        .ok_or_else(|| Error::invalid(format!("position {at} is outside, it has {extent}")))
}

/// A bound of a range, cut to the extent as NumPy does.
fn bound(at: i128, extent: u64) -> u64 {
    u64::try_from(from_end(at, extent).max(0)).map_or(extent, |found| found.min(extent))
}

fn from_end(at: i128, extent: u64) -> i128 {
    if at < 0 { at.saturating_add(extent.into()) } else { at }
}
