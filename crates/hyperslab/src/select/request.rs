//! Selections as values, independent of an array.

use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

/// A selection of elements of an array.
///
/// Most selections list positions for each dimension, by order ([`next`](Select::next)) or by name
/// ([`dim`](Select::dim)). Dimensions that are not listed are selected in full. The result is the outer product.
/// Single elements ([`points`](Select::points)) and masks ([`mask`](Select::mask)) select a list of elements.
///
/// ```
/// use hyperslab::select::{Pick, Select};
///
/// let every_second = Select::all().next(..).next(Pick::range(Some(0), None, 2));
/// let by_name = Select::all().dim("time", 3).dim("lat", 10..20).dim("lon", [5, 0, 5]);
/// let by_label = Select::all().dim("lat", Pick::between(Some("-30"), Some("30"))).dim("station", Pick::equal("oslo"));
/// assert_eq!(by_name.to_string(), "time=3,lat=10:20,lon=[5,0,5]");
/// // The same as text, which the command line takes.
/// assert_eq!("time=3,lat=10:20,lon=[5,0,5]".parse::<Select>()?, by_name);
/// # Ok::<(), hyperslab::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Select {
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The outer product of the selected positions of each dimension.
    Outer(Vec<Part>),
    /// Single elements, with `rank` positions each.
    Points { rank: usize, positions: Vec<i64> },
    /// The elements for which the mask is true.
    Mask { shape: Vec<u64>, mask: Vec<bool> },
}

impl Default for What {
    fn default() -> Self {
        What::Outer(Vec::new())
    }
}

/// A part of an outer selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All positions of the dimensions that no other part selects.
    Between,
    /// The next dimension in order.
    Next(Pick),
    /// The dimensions with this name.
    Named(String, Pick),
}

/// The selected positions of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pick {
    /// One position; negative ones count from the end. The result does not have the dimension.
    Position(i64),
    /// The positions from `start` up to but not including `stop`, `step` apart. Negative bounds count from the end;
    /// bounds are limited to the extent, as in NumPy. A negative step yields descending positions.
    Range {
        /// The first position. `None` for the beginning, or for the end with a negative step.
        start: Option<i64>,
        /// The first excluded position. `None` for the end, or for before the beginning with a negative step.
        stop: Option<i64>,
        /// The distance between two positions; must not be 0.
        step: i64,
    },
    /// These positions in this order; a position may occur several times.
    List(Vec<i64>),
    /// The positions at which the mask is true. The mask has the length of the dimension.
    Mask(Vec<bool>),
    /// The positions with these coordinates.
    Labels(Labels),
}

/// A selection by coordinates. The strings are parsed with the datatype of the coordinates: numbers, names, or dates
/// such as `2026-03` in the calendar and units of the dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Labels {
    /// All coordinates from the first to the last, both included; `None` for no bound.
    Between(Option<String>, Option<String>),
    /// All equal coordinates. If there is exactly one, the result does not have the dimension.
    Equal(String),
    /// The nearest coordinate. The result does not have the dimension.
    Nearest(String),
}

impl Select {
    /// All elements.
    pub fn all() -> Select {
        Select::default()
    }

    /// Single elements in this order, with `rank` positions each; negative positions count from the end.
    pub fn points(rank: usize, positions: impl Into<Vec<i64>>) -> Select {
        Select { what: What::Points { rank, positions: positions.into() } }
    }

    /// The elements for which `mask` is true, in row-major order. The array must have the shape `shape`.
    pub fn mask(shape: impl Into<Vec<u64>>, mask: impl Into<Vec<bool>>) -> Select {
        Select { what: What::Mask { shape: shape.into(), mask: mask.into() } }
    }

    /// Selects positions of the next dimension in order. Has no effect on points and masks.
    #[must_use]
    pub fn next(self, pick: impl Into<Pick>) -> Select {
        self.with(Part::Next(pick.into()))
    }

    /// Selects positions of the dimensions with this name or path. Ignored by an array without such a dimension, if
    /// another array of the store has it.
    #[must_use]
    pub fn dim(self, name: impl Into<String>, pick: impl Into<Pick>) -> Select {
        self.with(Part::Named(name.into(), pick.into()))
    }

    /// Selects all dimensions between those before and those after, like `...` in NumPy.
    #[must_use]
    pub fn rest(self) -> Select {
        self.with(Part::Between)
    }

    pub(super) fn of_parts(parts: Vec<Part>) -> Select {
        Select { what: What::Outer(parts) }
    }

    fn with(mut self, part: Part) -> Select {
        if let What::Outer(parts) = &mut self.what {
            parts.push(part);
        }
        self
    }
}

impl Pick {
    /// A range with a step, see [`Pick::Range`].
    pub fn range(start: Option<i64>, stop: Option<i64>, step: i64) -> Pick {
        Pick::Range { start, stop, step }
    }

    /// The coordinates between two values given as text, both included.
    pub fn between(first: Option<&str>, last: Option<&str>) -> Pick {
        Pick::Labels(Labels::Between(first.map(str::to_owned), last.map(str::to_owned)))
    }

    /// The coordinates that equal a value given as text.
    pub fn equal(word: impl Into<String>) -> Pick {
        Pick::Labels(Labels::Equal(word.into()))
    }

    /// The coordinate that is nearest to a value given as text.
    pub fn nearest(word: impl Into<String>) -> Pick {
        Pick::Labels(Labels::Nearest(word.into()))
    }
}

impl From<i64> for Pick {
    fn from(position: i64) -> Pick {
        Pick::Position(position)
    }
}

impl From<Range<i64>> for Pick {
    fn from(range: Range<i64>) -> Pick {
        Pick::range(Some(range.start), Some(range.end), 1)
    }
}

impl From<RangeFrom<i64>> for Pick {
    fn from(range: RangeFrom<i64>) -> Pick {
        Pick::range(Some(range.start), None, 1)
    }
}

impl From<RangeTo<i64>> for Pick {
    fn from(range: RangeTo<i64>) -> Pick {
        Pick::range(None, Some(range.end), 1)
    }
}

impl From<RangeFull> for Pick {
    fn from(_: RangeFull) -> Pick {
        Pick::range(None, None, 1)
    }
}

impl From<Vec<i64>> for Pick {
    fn from(list: Vec<i64>) -> Pick {
        Pick::List(list)
    }
}

impl<const N: usize> From<[i64; N]> for Pick {
    fn from(list: [i64; N]) -> Pick {
        Pick::List(list.into())
    }
}

impl From<Vec<bool>> for Pick {
    fn from(mask: Vec<bool>) -> Pick {
        Pick::Mask(mask)
    }
}

impl From<Labels> for Pick {
    fn from(labels: Labels) -> Pick {
        Pick::Labels(labels)
    }
}

impl fmt::Display for Select {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = match &self.what {
            What::Outer(parts) => parts,
            What::Points { rank, positions } => {
                return write!(f, "{} points", positions.len().checked_div(*rank).unwrap_or(0));
            }
            What::Mask { shape, .. } => return write!(f, "a mask of {shape:?}"),
        };
        for (number, part) in parts.iter().enumerate() {
            f.write_str(if number > 0 { "," } else { "" })?;
            match part {
                Part::Between => f.write_str("...")?,
                Part::Next(pick) => pick.fmt(f)?,
                Part::Named(name, pick) => {
                    let mark = match pick {
                        Pick::Labels(Labels::Equal(_)) => "==",
                        Pick::Labels(Labels::Nearest(_)) => "~=",
                        _ => "=",
                    };
                    write!(f, "{}{mark}{pick}", quoted(name))?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pick::Position(at) => at.fmt(f),
            Pick::Range { start, stop, step } => {
                start.iter().try_for_each(|start| start.fmt(f))?;
                f.write_str(":")?;
                stop.iter().try_for_each(|stop| stop.fmt(f))?;
                if *step != 1 { write!(f, ":{step}") } else { Ok(()) }
            }
            Pick::List(list) => {
                let list: Vec<_> = list.iter().map(i64::to_string).collect();
                write!(f, "[{}]", list.join(","))
            }
            Pick::Mask(mask) => write!(f, "a mask of {}", mask.len()),
            Pick::Labels(Labels::Between(first, last)) => {
                first.iter().try_for_each(|first| f.write_str(&quoted(first)))?;
                f.write_str("..")?;
                last.iter().try_for_each(|last| f.write_str(&quoted(last)))
            }
            Pick::Labels(Labels::Equal(word) | Labels::Nearest(word)) => f.write_str(&quoted(word)),
        }
    }
}

/// A name or value in the text form of a selection.
fn quoted(word: &str) -> String {
    match word.is_empty() || word.contains(|c: char| "',=[]:".contains(c)) || word.contains("..") {
        true => format!("'{}'", word.replace('\'', "''")),
        false => word.to_owned(),
    }
}
