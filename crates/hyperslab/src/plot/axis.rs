//! Axes: the coordinates along a dimension, and their division into cells.

use super::numbers::Numbers;
use super::scale::Scale;
use super::ticks::Ticks;
use crate::select::{Picks, Selected};
use crate::source::{Item, Source, check_counts};
use hyperslab_cf::meaning::text;
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Datatype, Elements, NodeKind, NodePath};
use hyperslab_ndl::plain;

/// A dimension that is drawn.
#[derive(Clone, Debug)]
pub struct PlotAxis {
    /// The name of the dimension; its number in brackets if it has none.
    pub name: String,
    /// The unit of the coordinates; `None` for dates, strings and positions.
    pub units: Option<String>,
    scale: Scale,
    points: Points,
    /// Whether the attribute `positive` states that coordinates increase downwards.
    is_downward: bool,
}

/// The coordinates of the selected positions, which are monotonic.
#[derive(Clone, Debug)]
enum Points {
    /// The positions themselves.
    Positions(Picks),
    Coordinates(Vec<f64>),
}

/// The positions along an axis in groups, and the coordinates between the groups.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    /// The number of the first position of each group, then the number of all positions.
    pub(super) starts: Vec<u64>,
    /// As `starts`, for the coordinates where groups begin and end.
    pub(super) edges: Vec<f64>,
}

impl PlotAxis {
    /// The axis of the positions `picks` of a dimension with coordinates at `path`.
    pub(super) fn of(
        source: &dyn Source,
        name: &str,
        path: Option<&NodePath>,
        picks: &Picks,
    ) -> Result<PlotAxis> {
        let without = PlotAxis::of_positions(name, picks);
        let Some(path) = path else { return Ok(without) };
        let entry = match source.find(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(without),
            entry => entry?,
        };
        match entry.item {
            Item::Array { kind: NodeKind::DimCoord, datatype: Some(_), .. } => {}
            Item::Unreadable(unreadable) => return Err(Error::new(unreadable.kind, unreadable.reason)),
            _ => return Ok(without),
        }
        let array = source.array(&entry.handle)?;
        check_counts(source, &*array, &[picks.count()])?;
        let node = source.load(&entry.handle)?;
        let values = Selected::along(picks).read(&*array)?;
        let attribute = |name: &str| node.attributes().and_then(|attributes| text(attributes, name));
        let Some(numbers) = Numbers::of(source, &entry.handle.path, &node, array.datatype()) else {
            if !matches!(array.datatype().non_null(), Datatype::String(_)) || picks.count() > MAX_WORDS {
                return Ok(without);
            }
            let words = Elements::new(array.datatype(), &values).map(plain).collect();
            return Ok(PlotAxis::of_words(name, words, attribute("units")));
        };
        let mut points = Vec::new();
        numbers.each(&values, &mut |numbers| points.extend_from_slice(numbers));
        let units = numbers.units(attribute("units"));
        let is_downward = attribute("positive").is_some_and(|positive| positive.eq_ignore_ascii_case("down"));
        let scale = numbers.scale(points.iter().copied());
        if !scale.is_words() && is_monotonic(&points) {
            let name = name.to_owned();
            return Ok(PlotAxis { name, units, scale, points: Points::Coordinates(points), is_downward });
        }
        // Coordinates that are not monotonic serve as names of positions.
        match picks.count() <= MAX_WORDS {
            true => {
                let words = points.iter().map(|point| scale.label(*point)).collect();
                Ok(PlotAxis::of_words(name, words, units))
            }
            false => Ok(without),
        }
    }

    pub(super) fn of_positions(name: &str, picks: &Picks) -> PlotAxis {
        // Positions in another order are numbered.
        let count = picks.count();
        let is_ascending = (1..count).all(|at| picks.get(at - 1) < picks.get(at));
        let picks = match picks {
            Picks::List(_) if !is_ascending => Picks::Range { start: 0, count, step: 1 },
            picks => picks.clone(),
        };
        let name = name.to_owned();
        PlotAxis {
            name,
            units: None,
            scale: Scale::positions(),
            points: Points::Positions(picks),
            is_downward: false,
        }
    }

    fn of_words(name: &str, words: Vec<String>, units: Option<String>) -> PlotAxis {
        let picks = Picks::Range { start: 0, count: words.len() as u64, step: 1 };
        let scale = Scale::words(words);
        let name = name.to_owned();
        PlotAxis { name, units, scale, points: Points::Positions(picks), is_downward: false }
    }

    /// The name, with the unit in brackets if there is one.
    pub fn title(&self) -> String {
        match &self.units {
            Some(units) => format!("{} ({units})", self.name),
            None => self.name.clone(),
        }
    }

    /// Whether coordinates are strings, each of which is a tick.
    pub fn has_words(&self) -> bool {
        self.scale.is_words()
    }

    /// The number of positions.
    pub fn count(&self) -> u64 {
        match &self.points {
            Points::Positions(picks) => picks.count(),
            Points::Coordinates(points) => points.len() as u64,
        }
    }

    /// The name and the label of the first position; `None` if there are no positions.
    pub(super) fn first_label(&self) -> Option<String> {
        Some(format!("{} {}", self.name, self.scale.label(self.point(0)?)))
    }

    /// At most about `most` ticks within the bounds.
    pub fn ticks(&self, (low, high): (f64, f64), most: usize) -> Ticks {
        self.scale.ticks(low.min(high), low.max(high), most)
    }

    /// The coordinates at the left and right ends of a line.
    pub fn ends(&self) -> (f64, f64) {
        let last = self.count().saturating_sub(1);
        let (first, last) = (self.point(0).unwrap_or(0.0), self.point(last).unwrap_or(0.0));
        match first == last {
            true => (first - 0.5, last + 0.5),
            false => (first.min(last), first.max(last)),
        }
    }

    /// The coordinates at the left and right borders of a heat map, whose cells are centred on their coordinates.
    pub fn across(&self) -> (f64, f64) {
        let (first, last) = (self.edge(0), self.edge(self.count()));
        (first.min(last), first.max(last))
    }

    /// The coordinates at the bottom and top borders of a heat map. Coordinates increase upwards, unless their
    /// attribute `positive` states otherwise; positions count from the top.
    pub fn upwards(&self) -> (f64, f64) {
        let (low, high) = self.across();
        let counts_down = matches!(self.points, Points::Positions(_));
        if counts_down || self.is_downward { (high, low) } else { (low, high) }
    }

    pub(super) fn point(&self, at: u64) -> Option<f64> {
        match &self.points {
            Points::Positions(picks) => picks.get(at).map(|position| position as f64),
            Points::Coordinates(points) => points.get(usize::try_from(at).ok()?).copied(),
        }
    }

    /// The coordinate halfway between two positions; beyond the ends, half a step away.
    fn edge(&self, at: u64) -> f64 {
        let count = self.count();
        let (first, second) = match at {
            0 => (self.point(0), self.point(1)),
            at if at >= count => {
                (self.point(count.saturating_sub(1)), count.checked_sub(2).and_then(|at| self.point(at)))
            }
            at => return middle(self.point(at - 1).unwrap_or(0.0), self.point(at).unwrap_or(0.0)),
        };
        match (first, second) {
            (Some(first), Some(second)) => first - (second - first) / 2.0,
            // A single position has no step.
            (Some(first), None) if at == 0 => first - 0.5,
            (Some(first), None) => first + 0.5,
            (None, _) => at as f64,
        }
    }

    /// The positions in at most `most` groups of nearly equal size.
    pub(super) fn bins(&self, most: usize) -> Bins {
        let count = self.count();
        let groups = count.min(most.max(1) as u64);
        let start = |group: u64| match groups {
            0 => 0,
            groups => {
                u64::try_from(u128::from(group) * u128::from(count) / u128::from(groups)).unwrap_or(count)
            }
        };
        let starts: Vec<u64> = (0..=groups).map(start).collect();
        let edges = starts.iter().map(|start| self.edge(*start)).collect();
        Bins { starts, edges }
    }
}

impl Bins {
    /// The number of groups.
    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The number of positions of the largest group.
    pub(super) fn largest(&self) -> u64 {
        let sizes = self.starts.windows(2).map(|pair| match pair {
            [start, end] => end - start,
            _ => 0,
        });
        sizes.max().unwrap_or(0)
    }

    /// The group that contains a coordinate.
    pub(super) fn at(&self, coordinate: f64) -> Option<usize> {
        let is_falling = self.edges.first() > self.edges.last();
        let is_before = |edge: &f64| if is_falling { *edge >= coordinate } else { *edge <= coordinate };
        let at = self.edges.partition_point(is_before).checked_sub(1)?;
        // The last border belongs to the last group.
        Some(at.min(self.len().checked_sub(1)?))
    }
}

fn middle(a: f64, b: f64) -> f64 {
    a / 2.0 + b / 2.0
}

/// Whether numbers are finite and strictly increasing or strictly decreasing.
fn is_monotonic(points: &[f64]) -> bool {
    let all = |is: fn(f64, f64) -> bool| points.windows(2).all(|pair| matches!(pair, [a, b] if is(*a, *b)));
    points.iter().all(|point| point.is_finite()) && (all(|a, b| a < b) || all(|a, b| a > b))
}

/// The maximum number of positions whose names are kept.
const MAX_WORDS: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(points: &[f64]) -> PlotAxis {
        PlotAxis {
            points: Points::Coordinates(points.to_vec()),
            scale: Scale::numbers(),
            ..PlotAxis::of_positions("x", &Picks::List(Vec::new()))
        }
    }

    #[test]
    fn cells_lie_around_their_coordinates_in_both_directions() {
        let depth = axis(&[0.0, 10.0, 25.0, 60.0, 150.0]);
        assert_eq!(depth.bins(9).edges, [-5.0, 5.0, 17.5, 42.5, 105.0, 195.0]);
        assert_eq!(depth.across(), (-5.0, 195.0));
        let falling = axis(&[90.0, 0.0, -90.0]);
        let bins = falling.bins(3);
        assert_eq!(bins.edges, [135.0, 45.0, -45.0, -135.0]);
        assert_eq!([100.0, 45.0, 0.0, -135.0].map(|at| bins.at(at)), [Some(0), Some(1), Some(1), Some(2)]);
        assert_eq!(falling.upwards(), (-135.0, 135.0));
    }

    #[test]
    fn groups_have_nearly_equal_sizes_and_hold_each_position_once() {
        let picks = Picks::Range { start: 10, count: 1000, step: 2 };
        let bins = PlotAxis::of_positions("[0]", &picks).bins(7);
        assert_eq!(bins.starts, [0, 142, 285, 428, 571, 714, 857, 1000]);
        assert_eq!((bins.len(), bins.largest()), (7, 143));
        assert_eq!(bins.edges.first(), Some(&9.0));
    }

    #[test]
    fn positions_count_from_the_top_and_single_ones_have_a_width() {
        let none = PlotAxis::of_positions("[0]", &Picks::Range { start: 0, count: 0, step: 1 });
        assert_eq!((none.bins(5).len(), none.across()), (0, (0.0, 0.0)));
        let one = PlotAxis::of_positions("[0]", &Picks::Range { start: 3, count: 1, step: 1 });
        assert_eq!((one.across(), one.upwards(), one.ends()), ((2.5, 3.5), (3.5, 2.5), (2.5, 3.5)));
    }
}
