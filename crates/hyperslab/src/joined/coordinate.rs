//! The coordinates along the dimension: whether they continue from one store to the next.

use super::axis::Axis;
use super::compared::{Found, Template};
use super::opening::Opening;
use super::recounted::Recounted;
use crate::meaning::meaning;
use crate::source::engine::stream;
use crate::source::{ArraySource, Item, Source};
use hyperslab_cf::time::Counting;
use hyperslab_core::nd::Region;
use hyperslab_core::{Error, Remedy, Result, valid};
use hyperslab_model::{Element, Elements};
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// The coordinates of all stores.
pub(super) struct Order {
    axis: Axis,
    /// The meaning of the counts, if they are times.
    counting: Option<Counting>,
    /// Whether the dimension has coordinates.
    has_coordinates: bool,
    ends: Vec<Option<Ends>>,
}

/// The coordinates of one store that has some.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ends {
    first: f64,
    last: f64,
    /// Whether the coordinates never decrease or never increase; `None` if all are equal.
    direction: Option<Ordering>,
    /// Whether neither order holds.
    is_unsorted: bool,
    /// The smallest and the largest distance between neighbours.
    steps: Option<(f64, f64)>,
}

impl Ends {
    fn of(values: impl Iterator<Item = f64>) -> Option<Ends> {
        let mut ends: Option<Ends> = None;
        for value in values {
            match &mut ends {
                None => {
                    let (first, last) = (value, value);
                    let is_unsorted = value.is_nan();
                    ends = Some(Ends { first, last, direction: None, is_unsorted, steps: None });
                }
                Some(ends) => ends.add(value),
            }
        }
        ends
    }

    fn add(&mut self, value: f64) {
        let order = value.partial_cmp(&self.last);
        // A repeated coordinate, as some instruments write, does not affect the order.
        let direction = order.filter(|order| *order != Ordering::Equal);
        self.is_unsorted |= order.is_none() || self.direction.zip(direction).is_some_and(|(a, b)| a != b);
        self.direction = self.direction.or(direction);
        let step = (value - self.last).abs();
        self.steps = Some(self.steps.map_or((step, step), |(least, most)| (least.min(step), most.max(step))));
        self.last = value;
    }
}

/// The stores in the order of their first coordinates.
///
/// # Errors
/// If a store cannot be opened, or has no coordinates that can be ordered.
pub(super) fn sorted(paths: Vec<PathBuf>, axis: &Axis, opening: &Opening) -> Result<Vec<PathBuf>> {
    let Some(coordinate) = axis.path() else { return Err(unordered(axis)) };
    let mut keyed = Vec::new();
    for path in paths {
        let begins = || -> Result<Option<(f64, Option<Ordering>)>> {
            let source = opening.open(&path)?;
            let entry = source.find(coordinate)?;
            if !matches!(entry.item, Item::Array { datatype: Some(_), .. }) {
                return Err(unordered(axis));
            }
            let array = source.array(&entry.handle)?;
            let node = source.load(&entry.handle)?;
            let counting = meaning(&*source, coordinate, &node, array.datatype()).counting;
            let Some(ends) = ends(&*array)? else { return Ok(None) };
            if ends.first.is_nan() {
                return Err(unordered(axis));
            }
            // Stores may count from different epochs.
            let begin = counting.and_then(|counting| counting.moment(ends.first));
            Ok(Some((begin.map_or(ends.first, |instant| instant as f64), ends.direction)))
        };
        let key = begins().map_err(|error| error.in_object(coordinate).in_file(path.display()))?;
        keyed.push((key, path));
    }
    let falls = keyed.iter().find_map(|(key, _)| key.and_then(|(_, direction)| direction));
    let order = |a: &f64, b: &f64| match falls {
        Some(Ordering::Less) => b.total_cmp(a),
        _ => a.total_cmp(b),
    };
    keyed.sort_by(|(a, _), (b, _)| match (a, b) {
        (Some((a, _)), Some((b, _))) => order(a, b),
        // Stores without coordinates come last.
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    Ok(keyed.into_iter().map(|(_, path)| path).collect())
}

fn unordered(axis: &Axis) -> Error {
    Error::invalid(format!("{axis} has no coordinates that are numbers or times"))
}

/// The ends of an array of coordinates, which counts as unsorted if they are not numbers.
fn ends(array: &dyn ArraySource) -> Result<Option<Ends>> {
    let Some(extents) = array.extents().filter(|extents| extents.len() == 1) else { return Ok(None) };
    let mut all: Vec<f64> = Vec::new();
    let mut found: Option<Ends> = None;
    stream(array, &Region::all(extents), &mut |_, values| {
        all.clear();
        all.extend(Elements::new(array.datatype(), values).map(|element| match element.get() {
            Element::Int(value) => value as f64,
            Element::Float(value) => value,
            _ => f64::NAN,
        }));
        match &mut found {
            None => found = Ends::of(all.iter().copied()),
            Some(found) => all.iter().for_each(|value| found.add(*value)),
        }
        Ok(())
    })?;
    Ok(found)
}

impl Order {
    pub(super) fn new(template: &Template<'_>, axis: &Axis) -> Order {
        let node = template.coordinates();
        let counting = node.zip(axis.path()).and_then(|(node, path)| {
            let datatype = node.datatype()?;
            let meaning = meaning(template.first(), path, node, datatype);
            meaning.counting.filter(|_| meaning.packing.is_none())
        });
        Order { axis: axis.clone(), counting, has_coordinates: node.is_some(), ends: Vec::new() }
    }

    /// Reads the coordinates of the next store.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn add(&mut self, source: &dyn Source, found: &Found) -> Result<()> {
        if !self.has_coordinates {
            return Ok(());
        }
        let Some(path) = self.axis.path() else { return Ok(()) };
        let Some(entry) = valid(source.find(path))? else { return Ok(()) };
        let mut array = source.array(&entry.handle)?;
        if let Some(counts) = found.recounts.get(path) {
            let node = source.load(&entry.handle)?;
            array = Recounted::shared(array, (source, &node), counts.clone());
        }
        self.ends.push(ends(&*array).map_err(|error| error.in_object(path))?);
        Ok(())
    }

    /// The reason why the order was not checked, if it was not.
    pub(super) fn note(&self) -> Option<String> {
        let name = &self.axis;
        if !self.has_coordinates {
            return Some(format!("{name} has no coordinates, so the order of the files was not checked"));
        }
        self.is_unsorted().then(|| {
            format!(
                "the coordinates of {name} are not sorted numbers, so the order of the files was not checked"
            )
        })
    }

    /// Whether the coordinates of some store are not in order, such as station numbers or strings.
    fn is_unsorted(&self) -> bool {
        let directions = || self.ends.iter().flatten().filter_map(|ends| ends.direction);
        let first = directions().next();
        self.ends.iter().flatten().any(|ends| ends.is_unsorted)
            || directions().any(|direction| Some(direction) != first)
    }

    /// Whether coordinates decrease from store to store.
    fn falls(&self) -> bool {
        let within = self.ends.iter().flatten().find_map(|ends| ends.direction);
        match within {
            Some(direction) => direction == Ordering::Less,
            None => {
                let firsts: Vec<f64> = self.ends.iter().flatten().map(|ends| ends.first).collect();
                firsts.len() > 1 && firsts.is_sorted_by(|a, b| a > b)
            }
        }
    }

    /// Checks that each store begins after the previous one ends; returns the gaps between them.
    ///
    /// # Errors
    /// If two stores are in the wrong order or overlap.
    pub(super) fn check(&self, paths: &[PathBuf]) -> Result<Vec<String>> {
        if self.is_unsorted() {
            return Ok(Vec::new());
        }
        let sign = if self.falls() { -1.0 } else { 1.0 };
        let all: Vec<(&Path, Ends)> = paths
            .iter()
            .zip(&self.ends)
            .filter_map(|(path, ends)| Some((path.as_path(), (*ends)?)))
            .collect();
        let name = &self.axis;
        for pair in all.windows(2) {
            let [(before, a), (after, b)] = pair else { continue };
            if sign * b.first > sign * a.last {
                continue;
            }
            let error = if sign * b.last < sign * a.first {
                let text = format!(
                    "{name} begins at {}, but {} before it begins at {}; the files are not in order",
                    self.text(b.first),
                    before.display(),
                    self.text(a.first)
                );
                Error::invalid(text).with_remedy(Remedy::SortStores)
            } else {
                let until = if sign * b.last < sign * a.last { b.last } else { a.last };
                // A store that begins before the other one may be the one that is out of order.
                let from = if sign * b.first > sign * a.first { b.first } else { a.first };
                let values = match from == until {
                    true => self.text(from),
                    false => format!("{} to {}", self.text(from), self.text(until)),
                };
                let text = format!("overlaps {} along {name}: both have {values}", before.display());
                Error::invalid(text).with_hint(
                    "leave out one of them, or first convert the part of one that the other does not have",
                )
            };
            let error = match self.axis.path() {
                Some(path) => error.in_object(path),
                None => error,
            };
            return Err(error.in_file(after.display()));
        }
        Ok(self.gaps(&all))
    }

    /// Steps between stores that differ from those within them.
    fn gaps(&self, all: &[(&Path, Ends)]) -> Vec<String> {
        let within = all.iter().filter_map(|(_, ends)| ends.steps);
        let within = within.reduce(|(a, b), (least, most)| (a.min(least), b.max(most)));
        let between: Vec<f64> = all
            .windows(2)
            .filter_map(|pair| match pair {
                [(_, a), (_, b)] => Some((b.first - a.last).abs()),
                _ => None,
            })
            .collect();
        let Some((usual, is_regular)) = usual_step(within, &between) else { return Vec::new() };
        let name = &self.axis;
        let mut gaps = Vec::new();
        for (pair, step) in all.windows(2).zip(&between) {
            let [(before, a), (after, b)] = pair else { continue };
            // Stores of one coordinate each may be months, most of which have 31 days.
            let is_strict = is_regular && within.is_some();
            let is_longer = *step > usual * if is_strict { 1.0 + ROUNDING } else { IRREGULAR };
            let is_shorter = is_strict && *step < usual * (1.0 - ROUNDING);
            if !is_longer && !is_shorter {
                continue;
            }
            let (before, after) = (before.display(), after.display());
            let ends =
                format!("{before} ends at {}, {after} begins at {}", self.text(a.last), self.text(b.first));
            let missing = (step / usual).round() - 1.0;
            let is_multiple =
                is_regular && (step / usual - (missing + 1.0)).abs() < ROUNDING * (missing + 1.0);
            gaps.push(match (is_longer, is_multiple) {
                (true, true) if missing >= 1.0 => {
                    let steps = if missing > 1.0 { "coordinates are" } else { "coordinate is" };
                    format!("gap in {name}: {ends}; {missing} {steps} missing")
                }
                (true, _) => format!("gap in {name}: {ends}"),
                (false, _) => format!("step in {name} shorter than within files: {ends}"),
            });
        }
        gaps
    }

    fn text(&self, value: f64) -> String {
        let instant = self.counting.as_ref().and_then(|counting| Some((counting, counting.moment(value)?)));
        instant.map_or_else(|| value.to_string(), |(counting, instant)| counting.text(instant))
    }
}

/// The usual distance of coordinates, and whether all within stores have it. For stores of one coordinate each, the
/// median distance between them.
fn usual_step(within: Option<(f64, f64)>, between: &[f64]) -> Option<(f64, bool)> {
    if let Some((least, most)) = within {
        return (most > 0.0).then_some((most, most - least <= ROUNDING * most));
    }
    let mut sorted = between.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied().filter(|step| *step > 0.0)?;
    let is_even =
        sorted.iter().filter(|step| (*step - middle).abs() <= ROUNDING * middle).count() * 2 > sorted.len();
    // Months have different lengths: only steps that are clearly longer are gaps.
    Some((middle, is_even && sorted.len() > 2))
}

/// Coordinates are rounded: steps whose relative difference is less than this are the same.
const ROUNDING: f64 = 1e-3;
/// A step between stores that is this many times as long as the longest step within them is a gap.
const IRREGULAR: f64 = 1.5;

#[cfg(test)]
mod tests {
    use super::*;
    use hyperslab_model::NodePath;

    fn checked(stores: &[&[f64]]) -> Result<Vec<String>> {
        let ends = stores.iter().map(|values| Ends::of(values.iter().copied())).collect();
        let axis = Axis::Named(NodePath::root().child("x"));
        let order = Order { axis, counting: None, has_coordinates: true, ends };
        let paths: Vec<PathBuf> = (0..stores.len()).map(|number| format!("{number}.nc").into()).collect();
        order.check(&paths)
    }

    #[test]
    fn stores_that_follow_on_each_other_have_no_gaps() {
        let none: [&str; 0] = [];
        assert_eq!(checked(&[&[0.0, 1.0], &[2.0, 3.0], &[4.0]]).unwrap(), none);
        assert_eq!(checked(&[&[9.0, 8.0], &[7.0], &[]]).unwrap(), none);
        // The lengths of months.
        assert_eq!(checked(&[&[0.0], &[31.0], &[59.0], &[90.0], &[120.0]]).unwrap(), none);
        let year = [0.0, 31.0, 59.0, 90.0, 120.0, 151.0, 181.0, 212.0, 243.0, 273.0, 304.0, 334.0, 365.0];
        assert_eq!(checked(&year.each_ref().map(std::slice::from_ref)).unwrap(), none);
        // A third of a day has no finite binary representation.
        assert_eq!(checked(&[&[0.0, 1.0 / 3.0, 2.0 / 3.0], &[1.0, 1.0 + 1.0 / 3.0]]).unwrap(), none);
    }

    #[test]
    fn gaps_are_named_with_both_files_and_what_is_missing() {
        let gap = checked(&[&[0.0, 1.0], &[5.0, 6.0]]).unwrap();
        assert_eq!(gap, ["gap in x: 0.nc ends at 1, 1.nc begins at 5; 3 coordinates are missing"]);
        let short = checked(&[&[0.0, 1.0], &[1.5, 2.5]]).unwrap();
        assert_eq!(short, ["step in x shorter than within files: 0.nc ends at 1, 1.nc begins at 1.5"]);
        let single = checked(&[&[0.0], &[1.0], &[3.0], &[4.0]]).unwrap();
        assert_eq!(single, ["gap in x: 1.nc ends at 1, 2.nc begins at 3; 1 coordinate is missing"]);
        let months = checked(&[&[0.0], &[31.0], &[59.0], &[120.0]]).unwrap();
        assert_eq!(months, ["gap in x: 2.nc ends at 59, 3.nc begins at 120"]);
    }

    #[test]
    fn overlaps_and_a_wrong_order_are_errors_that_name_both_files() {
        let error = |stores: &[&[f64]]| checked(stores).unwrap_err().to_string();
        let overlap = error(&[&[0.0, 1.0, 2.0], &[2.0, 3.0]]);
        assert!(overlap.contains("overlaps 0.nc along x: both have 2"), "{overlap}");
        let within = error(&[&[0.0, 9.0], &[2.0, 3.0]]);
        assert!(within.contains("both have 2 to 3"), "{within}");
        let repeated = error(&[&[0.0, 1.0, 1.0, 2.0], &[2.0, 2.0, 3.0]]);
        assert!(repeated.contains("overlaps 0.nc along x: both have 2"), "{repeated}");
        let order = error(&[&[4.0, 5.0], &[0.0, 1.0]]);
        assert!(order.contains("x begins at 0, but 0.nc before it begins at 4"), "{order}");
    }
}
