//! `-s`: which part of an array is meant.
//!
//! Dimensions by order, `0:10:2,:,5`, or by name, `time=3,lat=0:90:2,lat=[0,5,9]`. Positions count from 0,
//! negative ones from the end; the stop of a range is excluded.

use hyperslab_core::nd::{Region, scatter};
use hyperslab_core::rows::Heap;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Reference, Shape, Values};

use crate::describe::zeroed_rows;
use crate::source::ArraySource;

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
    /// Reads selections for an array; of several for one dimension the last holds.
    ///
    /// # Errors
    /// For text that is no selection, more dimensions than there are, unknown names and positions outside.
    pub fn parse(texts: &[String], shape: &Shape) -> Result<Selected> {
        let dims = shape.dims();
        let extents: Vec<u64> = dims.iter().map(|dimension| dimension.extent.current()).collect();
        let names: Vec<&str> =
            dims.iter().map(|d| d.coordinate.as_ref().map_or("", |path| path.name())).collect();
        let mut axes: Vec<Axis> = extents.iter().map(|extent| whole(*extent)).collect();
        for text in texts {
            let parts = split(text);
            let positional = parts.iter().filter(|part| name_of(part).is_none()).count();
            let ellipses = parts.iter().filter(|part| **part == "...").count();
            if ellipses > 1 {
                return Err(Error::invalid(format!("selection {text:?} has several ...")));
            }
            if positional - ellipses > axes.len() {
                let rank = axes.len();
                return Err(Error::invalid(format!(
                    "selection {text:?} has {} dimensions, the array has {rank}",
                    positional - ellipses
                )));
            }
            let mut next = 0;
            for part in &parts {
                if let Some((name, pick)) = name_of(part) {
                    if pick.contains("..") || part.contains("~=") || part.contains("==") {
                        return Err(Error::new(
                            ErrorKind::Unsupported,
                            format!("{part:?} selects by coordinate value, only positions can be selected"),
                        ));
                    }
                    let at =
                        names.iter().position(|own| *own == name).ok_or_else(|| unknown(name, &names))?;
                    set(&mut axes, &extents, at, pick)?;
                } else if *part == "..." {
                    next += axes.len() - (positional - ellipses);
                } else {
                    set(&mut axes, &extents, next, part)?;
                    next += 1;
                }
            }
        }
        Ok(Selected { axes })
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

    /// Reads the selected elements, row-major.
    ///
    /// # Errors
    /// If they cannot be read, or are more than memory holds.
    pub fn read(&self, array: &dyn ArraySource) -> Result<Values> {
        let counts = self.counts();
        let row = array.datatype().row_size().unwrap_or(0);
        let mut rows = zeroed_rows(array, &counts)?;
        let mut heap: Heap<Reference> = Heap::default();
        if let Some(region) = self.region() {
            array.read(&region, &mut rows, &mut heap)?;
            return Ok(Values { rows: rows.into(), heap });
        }
        // With lists of positions each combination of them is a box of its own.
        let out = Region::all(&counts);
        let mut at = vec![0_u64; self.axes.len()];
        loop {
            let (mut region, mut place) = (Region::all(&counts), vec![0; self.axes.len()]);
            for (dimension, axis) in self.axes.iter().enumerate() {
                let k = at.get(dimension).copied().unwrap_or(0);
                let (start, count, step, to) = match &axis.picks {
                    Picks::Range { start, count, step } => (*start, *count, *step, 0),
                    Picks::List(list) => {
                        (list.get(usize::try_from(k).unwrap_or(0)).copied().unwrap_or(0), 1, 1, k)
                    }
                };
                for (of, value) in [
                    (&mut region.start, start),
                    (&mut region.count, count),
                    (&mut region.step, step),
                    (&mut place, to),
                ] {
                    if let Some(of) = of.get_mut(dimension) {
                        *of = value;
                    }
                }
            }
            let mut part = zeroed_rows(array, &region.count)?;
            array.read(&region, &mut part, &mut heap)?;
            scatter(&part, &place, &region.count, &out, &mut rows, row)?;
            if !self.advance(&mut at) {
                return Ok(Values { rows: rows.into(), heap });
            }
        }
    }

    /// All of it as one region, unless positions are listed.
    fn region(&self) -> Option<Region> {
        let mut region = Region::all(&self.counts());
        for (axis, (start, (count, step))) in
            self.axes.iter().zip(region.start.iter_mut().zip(region.count.iter_mut().zip(&mut region.step)))
        {
            match axis.picks {
                Picks::Range { start: s, count: c, step: p } => (*start, *count, *step) = (s, c, p),
                Picks::List(_) => return None,
            }
        }
        Some(region)
    }

    /// The next combination of listed positions; false after the last.
    fn advance(&self, at: &mut [u64]) -> bool {
        for (axis, k) in self.axes.iter().zip(at.iter_mut()).rev() {
            if let Picks::List(list) = &axis.picks {
                *k += 1;
                if *k < list.len() as u64 {
                    return true;
                }
                *k = 0;
            }
        }
        false
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

/// Commas part dimensions, but not inside brackets or quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quoted) = (Vec::new(), 0, 0_u32, false);
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                parts.extend(text.get(begin..at));
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(begin..));
    parts.into_iter().map(str::trim).collect()
}

/// The name before `=` or `~=`, and what follows.
fn name_of(part: &str) -> Option<(&str, &str)> {
    let (name, pick) = part.split_once('=')?;
    Some((name.trim_end_matches('~').trim(), pick.trim_start_matches('=').trim()))
}

fn unknown(name: &str, names: &[&str]) -> Error {
    let known: Vec<_> = names.iter().filter(|name| !name.is_empty()).copied().collect();
    match crate::location::nearest(name, known.iter().copied()) {
        Some(near) => Error::invalid(format!("no dimension {name}\nhelp: did you mean {near}?")),
        None if known.is_empty() => {
            Error::invalid(format!("no dimension {name}, this array's have no names"))
        }
        None => Error::invalid(format!("no dimension {name}, there are {}", known.join(", "))),
    }
}

fn set(axes: &mut [Axis], extents: &[u64], at: usize, pick: &str) -> Result<()> {
    let (Some(axis), Some(extent)) = (axes.get_mut(at), extents.get(at)) else {
        return Err(Error::invalid(format!("no dimension number {at}")));
    };
    *axis = axis_of(pick, *extent)?;
    Ok(())
}

fn axis_of(pick: &str, extent: u64) -> Result<Axis> {
    if let Some(list) = pick.strip_prefix('[').and_then(|list| list.strip_suffix(']')) {
        let list = list.split(',').map(|item| position(item.trim(), extent)).collect::<Result<_>>()?;
        return Ok(Axis { picks: Picks::List(list), dropped: false });
    }
    if !pick.contains(':') {
        let start = position(pick, extent)?;
        return Ok(Axis { picks: Picks::Range { start, count: 1, step: 1 }, dropped: true });
    }
    let mut parts = pick.split(':');
    let mut next = |default: u64| match parts.next().map(str::trim) {
        None | Some("") => Ok(default),
        Some(text) => bound(text, extent),
    };
    let (start, stop) = (next(0)?, next(extent)?);
    let step = match parts.next().map(str::trim) {
        None | Some("") => 1,
        Some(text) => text.parse().ok().filter(|step| *step > 0).ok_or_else(|| {
            Error::invalid(format!("step {text:?} in {pick:?}, expected a number of at least 1"))
        })?,
    };
    if parts.next().is_some() {
        return Err(Error::invalid(format!("{pick:?} has too many colons, expected start:stop:step")));
    }
    let count = stop.saturating_sub(start).div_ceil(step);
    Ok(Axis { picks: Picks::Range { start: start.min(extent), count, step }, dropped: false })
}

/// A position that must be there.
fn position(text: &str, extent: u64) -> Result<u64> {
    let value = whole_number(text)?;
    let found = if value < 0 { i128::from(extent) + value } else { value };
    u64::try_from(found)
        .ok()
        .filter(|found| *found < extent)
        .ok_or_else(|| Error::invalid(format!("position {text} is outside a dimension of {extent}")))
}

/// A bound of a range, cut to the extent as NumPy does.
fn bound(text: &str, extent: u64) -> Result<u64> {
    let value = whole_number(text)?;
    let found = if value < 0 { i128::from(extent) + value } else { value };
    Ok(u64::try_from(found.max(0)).map_or(extent, |found| found.min(extent)))
}

fn whole_number(text: &str) -> Result<i128> {
    text.parse().map_err(|_| Error::invalid(format!("{text:?} is no position, expected a whole number")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::{Dimension, Extent, NodePath};

    fn shape() -> Shape {
        let named = |name: &str, n| Dimension {
            extent: Extent::Fixed(n),
            coordinate: Some(NodePath::root().child(name)),
        };
        Shape::Dims(vec![named("time", 4), named("lat", 10), named("lon", 6)])
    }

    fn parse(text: &str) -> Result<Selected> {
        Selected::parse(&[text.to_owned()], &shape())
    }

    fn positions(text: &str, dimension: usize) -> Vec<u64> {
        let selected = parse(text).unwrap();
        let picks = selected.picks().nth(dimension).unwrap();
        assert_eq!(picks.get(picks.count()), None);
        (0..picks.count()).map(|at| picks.get(at).unwrap()).collect()
    }

    #[test]
    fn positions_count_as_in_numpy() {
        assert_eq!(parse("1").unwrap().counts(), [1, 10, 6]);
        assert_eq!(parse("1").unwrap().kept(), [1, 2]);
        assert_eq!(positions(":,2:9:3", 1), [2, 5, 8]);
        assert_eq!(positions("...,-2:", 2), [4, 5]);
        assert_eq!(parse("-1,...,0").unwrap().kept(), [1]);
        assert_eq!(positions("lon=[0,-1],time=3", 2), [0, 5]);
        assert_eq!(parse(":99").unwrap().counts(), [4, 10, 6]);
        assert_eq!(parse("3:1").unwrap().counts(), [0, 10, 6]);
    }

    #[test]
    fn what_is_not_there_is_named() {
        for (text, part) in [
            ("4", "outside a dimension of 4"),
            ("lta=1", "did you mean lat?"),
            ("1,2,3,4", "has 4 dimensions, the array has 3"),
            ("a:b", "is no position"),
            ("lat=1..2", "by coordinate value"),
            ("::0", "at least 1"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
