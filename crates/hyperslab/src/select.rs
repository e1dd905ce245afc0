//! Selections of parts of arrays, as values ([`Select`]) and as text.
//!
//! Text: by dimension order, `0:10:2,:,5`; or by name, with positions, `time=3,lat=0:90:2,lat=[0,5,9]`, or with
//! values of coordinates, `lat=-30..30`, `time=2026-01..2026-03`, `station==oslo`, `lat~=59.9`. Positions count from
//! 0, negative ones from the end; the stop of a range is excluded.

mod cells;
mod characters;
mod coordinate;
mod full_length;
mod narrowed;
mod parts;
mod pieces;
mod read;
mod request;
mod suggest;
mod syntax;
mod times;

pub(crate) use self::cells::ranges;
pub use self::full_length::FullLength;
pub use self::narrowed::Narrowed;
pub use self::parts::Parts;
pub use self::request::{Labels, Pick, Select};
pub use self::suggest::{Doubt, doubts, has_coordinates};
pub use self::times::{time_text, times};

use self::request::{Part, What};
use crate::location::nearest;
use crate::source::{Entry, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::nd::Selection;
use hyperslab_core::{Error, ErrorKind, Limit, Result};
use hyperslab_model::{Dimension, NodeKind, NodePath, Shape};
use std::collections::BTreeSet;

/// The selected positions of each dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    axes: Vec<Axis>,
}

/// The selected positions of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Axis {
    picks: Picks,
    /// A single position; the dimension is dropped.
    dropped: bool,
}

/// Positions along a dimension, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Picks {
    Range { start: u64, count: u64, step: u64 },
    List(Vec<u64>),
}

impl Selected {
    /// Resolves selections for an array of `source` to positions. If several apply to one dimension, the last one takes
    /// effect. Names of dimensions that the array does not have are ignored.
    ///
    /// # Errors
    /// For points and masks of whole arrays, too many dimensions, names that no dimension of the source has, positions
    /// outside the extents, and values that equal no coordinate.
    pub fn new(source: &dyn Source, selections: &[Select], shape: &Shape) -> Result<Selected> {
        let dims = shape.dims();
        let mut picks: Vec<Option<&Pick>> = vec![None; dims.len()];
        for selection in selections {
            let parts = selection.parts()?;
            let next = parts.iter().filter(|part| matches!(part, Part::Next(_))).count();
            if parts.iter().filter(|part| matches!(part, Part::Between)).count() > 1 {
                return Err(Error::invalid(format!("selection \"{selection}\" has several ...")));
            }
            let Some(between) = dims.len().checked_sub(next) else {
                let rank = dims.len();
                let error = Error::invalid(format!(
                    "selection \"{selection}\" has {next} dimensions, the array has {rank}"
                ));
                let name = |d: &Dimension| Some(d.coordinate.as_ref()?.name().to_owned());
                return Err(match dims.iter().map(name).collect::<Option<Vec<_>>>() {
                    Some(names) if rank > 0 => {
                        error.with_hint(format_args!("its dimensions are {}", names.join(", ")))
                    }
                    _ if rank > 0 => error.with_hint(format_args!(
                        "give at most {rank}, such as {}",
                        vec!["0"; rank].join(",")
                    )),
                    _ => error.with_hint("a single value needs no selection"),
                });
            };
            let mut at = 0;
            for part in parts {
                match part {
                    Part::Between => at += between,
                    Part::Next(pick) => {
                        picks.iter_mut().skip(at).take(1).for_each(|of| *of = Some(pick));
                        at += 1;
                    }
                    Part::Named(name, pick) => {
                        let mut own =
                            dims.iter().zip(&mut picks).filter(|(d, _)| has_name(d, name)).peekable();
                        if own.peek().is_none() {
                            drop(own);
                            check_known(source, name, dims, selection)?;
                            continue;
                        }
                        own.for_each(|(_, of)| *of = Some(pick));
                    }
                }
            }
        }
        let axes = dims.iter().zip(&picks).enumerate().map(|(index, (dimension, pick))| match pick {
            Some(pick) => axis_of(source, dimension, pick).map_err(|e| {
                let e = suggest::by_coordinate(e, source, selections, dimension, pick);
                in_dimension(e, dimension, index)
            }),
            None => Ok(whole(dimension.extent.current())),
        });
        Ok(Selected { axes: axes.collect::<Result<_>>()? })
    }

    /// The extents of the selection, including the dimensions that single positions drop.
    pub fn counts(&self) -> Vec<u64> {
        self.axes.iter().map(Axis::count).collect()
    }

    /// For each remaining dimension, its index in the array.
    pub fn kept(&self) -> Vec<usize> {
        self.axes.iter().enumerate().filter(|(_, axis)| !axis.dropped).map(|(at, _)| at).collect()
    }

    /// The selected positions of each dimension.
    pub(crate) fn picks(&self) -> impl Iterator<Item = &Picks> {
        self.axes.iter().map(|axis| &axis.picks)
    }

    /// The selection reduced to the first and last positions of each dimension that has more. `edges` has one number of
    /// positions for each dimension.
    pub(crate) fn edges(&self, edges: &[u64]) -> Selected {
        let axes = self.axes.iter().zip(edges).map(|(axis, edge)| {
            let count = axis.count();
            if count <= edge.saturating_mul(2).saturating_add(1) {
                return axis.clone();
            }
            let positions = (0..*edge).chain(count - edge..count);
            Axis {
                picks: Picks::List(positions.filter_map(|at| axis.picks.get(at)).collect()),
                ..axis.clone()
            }
        });
        Selected { axes: axes.collect() }
    }

    /// The same selection with only the first position along a dimension, which is dropped.
    pub(crate) fn with_first(mut self, dimension: usize) -> Selected {
        if let Some(axis) = self.axes.get_mut(dimension) {
            *axis = Axis { picks: axis.picks.part(0, axis.count().min(1), 1), dropped: true };
        }
        self
    }

    /// The same positions for an array of one dimension.
    pub(crate) fn along(picks: &Picks) -> Selected {
        Selected { axes: vec![Axis { picks: picks.clone(), dropped: false }] }
    }
}

impl Select {
    /// The selected positions of each dimension.
    fn parts(&self) -> Result<&[Part]> {
        match &self.what {
            What::Outer(parts) => Ok(parts),
            _ => Err(Error::invalid(format!("{self}, expected a selection by dimension"))),
        }
    }

    /// The elements that points or a mask select in an array with these extents; `None` for other selections.
    ///
    /// # Errors
    /// For points outside the extents, and a mask of another shape.
    pub fn elements(&self, extents: &[u64]) -> Result<Option<Selection>> {
        let (rank, positions) = match &self.what {
            What::Outer(_) => return Ok(None),
            What::Mask { shape, .. } if shape != extents => {
                return Err(Error::invalid(format!("a mask of {shape:?} for an array of {extents:?}")));
            }
            What::Mask { shape, mask } => return Selection::of_mask(shape, mask).map(Some),
            What::Points { rank, positions } => (*rank, positions),
        };
        if rank != extents.len() || rank == 0 || positions.len() % rank != 0 {
            let (found, rank) = (positions.len(), extents.len());
            return Err(Error::invalid(format!(
                "points of {found} positions, the array has {rank} dimensions"
            )));
        }
        let positions = positions.iter().zip(extents.iter().cycle());
        let coordinates = positions.map(|(at, extent)| position(*at, *extent)).collect::<Result<_>>()?;
        let rank = u32::try_from(rank).map_err(|_| Error::invalid("too many dimensions"))?;
        Ok(Some(Selection::Points { rank, coordinates }))
    }
}

impl Axis {
    fn count(&self) -> u64 {
        self.picks.count()
    }
}

impl Picks {
    /// The number of positions.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Picks::Range { count, .. } => *count,
            Picks::List(list) => list.len() as u64,
        }
    }

    /// The position with index `at`.
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

/// Whether a name, which may be a path, refers to the dimension at `path`.
pub(crate) fn is_named(path: &NodePath, name: &str) -> bool {
    path.name() == name || path.as_str() == name
}

/// Rejects selections by name of a dimension that nothing in the source has.
///
/// # Errors
/// If there is such a name; the error suggests the most similar one.
pub fn check_names(source: &dyn Source, selections: &[Select]) -> Result<()> {
    for selection in selections {
        for part in selection.parts()? {
            if let Part::Named(name, _) = part {
                check_known(source, name, &[], selection)?;
            }
        }
    }
    Ok(())
}

/// Rejects a name that no dimension has. `dims` are the dimensions of the array, if the selection is for one array.
fn check_known(source: &dyn Source, name: &str, dims: &[Dimension], selection: &Select) -> Result<()> {
    let own: Vec<&str> = dims.iter().filter_map(|d| Some(d.coordinate.as_ref()?.name())).collect();
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
    let remedy = near.and_then(|near| suggest::renamed(selection, name, near));
    let error = Error::invalid(match near {
        Some(_) => format!("no dimension {name}"),
        None if own.is_empty() && (all.is_empty() || !dims.is_empty()) => {
            format!("no dimension {name}: no dimension here has a name")
        }
        None if own.is_empty() => {
            let all: BTreeSet<_> = all.iter().map(NodePath::name).collect();
            format!("no dimension {name}; dimensions: {}", all.into_iter().collect::<Vec<_>>().join(", "))
        }
        None => format!("no dimension {name}; dimensions: {}", own.join(", ")),
    });
    let error = match near.is_none() && own.len() < dims.len() {
        true => error
            .with_hint("select unnamed dimensions by position: \"0\" for the first, \":,0\" for the second"),
        false => error,
    };
    Err(error.with_remedies(remedy))
}

/// Adds the dimension to the error, unless the error concerns a file.
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
            (range((*start, *stop, *step), extent, source.limits().allocation)?, false)
        }
        Pick::Mask(mask) if mask.len() as u64 != extent => {
            return Err(Error::invalid(format!("a mask of {} positions, it has {extent}", mask.len())));
        }
        Pick::Mask(mask) => {
            let positions = (0_u64..).zip(mask).filter_map(|(at, is_taken)| is_taken.then_some(at));
            (Picks::List(positions.collect()), false)
        }
        Pick::Labels(labels) => match &dimension.coordinate {
            Some(path) => coordinate::positions(source, path, extent, labels)?,
            None => return Err(Error::invalid("has no coordinates, expected positions")),
        },
    };
    Ok(Axis { picks, dropped })
}

/// The positions of a range; a list of them takes at most `max_bytes` bytes.
fn range((start, stop, step): (Option<i64>, Option<i64>, i64), extent: u64, max_bytes: u64) -> Result<Picks> {
    let distance = step.unsigned_abs();
    if step > 0 {
        let start = start.map_or(0, |at| bound(at, extent));
        let stop = stop.map_or(extent, |at| bound(at, extent));
        return Ok(Picks::Range {
            start,
            count: stop.saturating_sub(start).div_ceil(distance),
            step: distance,
        });
    }
    if step == 0 {
        return Err(Error::invalid("a step of 0"));
    }
    // The number of positions up to a bound. It is never negative, although bounds can be.
    let below = |at: i64| u64::try_from((from_end(at, extent) + 1).max(0)).map_or(extent, |n| n.min(extent));
    let (first, last) = (start.map_or(extent, below), stop.map_or(0, below));
    let count = first.saturating_sub(last).div_ceil(distance);
    if count > max_bytes / 8 {
        return Err(Error::limit_exceeded(Limit::Allocation, format!("{count} positions from high to low")));
    }
    Ok(Picks::List((0..count).map(|k| first - 1 - k * distance).collect()))
}

/// A position, which must exist.
fn position(at: i64, extent: u64) -> Result<u64> {
    u64::try_from(from_end(at, extent)).ok().filter(|found| *found < extent).ok_or_else(|| match extent {
        0 => Error::invalid(format!("position {at} is out of range: the dimension is empty")),
        _ => Error::invalid(format!("position {at} is out of range, expected -{extent} to {}", extent - 1)),
    })
}

/// A bound of a range, limited to the extent as in NumPy.
fn bound(at: i64, extent: u64) -> u64 {
    u64::try_from(from_end(at, extent).max(0)).map_or(extent, |found| found.min(extent))
}

fn from_end(at: i64, extent: u64) -> i128 {
    let at = i128::from(at);
    if at < 0 { at + i128::from(extent) } else { at }
}
