//! Compares the cells of two sparse arrays, matched by their coordinates.

use super::objects::has_floats;
use super::values::Failed;
use super::{FoundAt, FoundValues};
use crate::cells::{CellColumn, CellQuery, CellRange, CellSource, Cursor, by_value};
use hyperslab_core::Error;
use hyperslab_model::{Cells, Rules, Tally};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// The result of comparing cells.
pub(super) struct Matched {
    /// The cells of each side.
    pub(super) sides: [Counted; 2],
    /// The attributes whose values differ in matched cells, by name.
    pub(super) values: FxHashMap<String, FoundValues>,
}

/// The cells of one side.
#[derive(Default)]
pub(super) struct Counted {
    count: u64,
    /// The number of cells whose coordinates do not occur on the other side, and the coordinates of the first of them.
    unmatched: u64,
    first: Vec<String>,
}

impl Matched {
    /// Whether both sides have cells at the same coordinates.
    pub(super) fn is_same(&self) -> bool {
        self.sides.iter().all(|side| side.unmatched == 0)
    }
}

impl Counted {
    /// A text such as `5 (2 only here: ["oslo", 6], ["oslo", 7])`.
    pub(super) fn label(&self) -> String {
        let Counted { count, unmatched, first } = self;
        let more = if *unmatched > first.len() as u64 { ", …" } else { "" };
        match unmatched {
            0 => count.to_string(),
            _ => format!("{count} ({unmatched} only here: {}{more})", first.join(", ")),
        }
    }

    fn add_unmatched(&mut self, batch: &Cells, from: usize, count: usize, comparison: &Comparison<'_>) {
        self.count += count as u64;
        self.unmatched += count as u64;
        let count = MAX_TOLD.min(comparison.rules.max_reported).saturating_sub(self.first.len()).min(count);
        for cell in (from..).take(count) {
            self.first.push(comparison.coordinates(batch, cell).to_string());
        }
    }
}

/// Compares the cells of two sparse arrays in bounded memory: the coordinates, then the attributes of both sides whose
/// datatypes can be compared, within ranges of coordinates. `None` if the dimensions differ. Calls `done` with the
/// number of compared bytes.
pub(super) fn compare(
    (a, in_a): (&dyn CellSource, Vec<CellRange>),
    (b, in_b): (&dyn CellSource, Vec<CellRange>),
    rules: &Rules,
    done: &mut dyn FnMut(u64),
) -> Result<Option<Matched>, Failed> {
    let dimensions = |of: &dyn CellSource| of.columns().iter().filter(|column| column.is_dimension).count();
    let count = dimensions(a);
    let same = |(x, y): (&CellColumn, &CellColumn)| x.name == y.name && x.datatype.same_content(&y.datatype);
    if count != dimensions(b) || !a.columns().iter().zip(b.columns()).take(count).all(same) {
        return Ok(None);
    }
    let mut columns: (Vec<usize>, Vec<usize>) = ((0..count).collect(), (0..count).collect());
    let mut attributes = Vec::new();
    for (index, x) in a.columns().iter().enumerate().skip(count) {
        let mut others = b.columns().iter().enumerate().skip(count);
        if let Some((other, y)) = others.find(|(_, y)| y.name == x.name)
            && x.datatype.is_comparable(&y.datatype)
        {
            columns.0.push(index);
            columns.1.push(other);
            let floats = has_floats(&x.datatype) || has_floats(&y.datatype);
            attributes.push(Attribute {
                name: x.name.clone(),
                floats,
                tally: Tally::default(),
                at: Vec::new(),
            });
        }
    }
    let query = |columns, ranges| CellQuery { columns: Some(columns), ranges, ..CellQuery::default() };
    let mut x = Cursor::new(a, &query(columns.0, in_a)).map_err(of_a)?;
    let mut y = Cursor::new(b, &query(columns.1, in_b)).map_err(of_b)?;
    let mut comparison = Comparison { rules, dimensions: count, attributes, matched: 0 };
    let mut sides = <[Counted; 2]>::default();
    let [in_a, in_b] = &mut sides;
    loop {
        let (skipped, other) = match (x.rest().map_err(of_a)?, y.rest().map_err(of_b)?) {
            (None, None) => break,
            (Some((batch, at, left)), None) => {
                in_a.add_unmatched(batch, at, left, &comparison);
                (left, 0)
            }
            (None, Some((batch, at, left))) => {
                in_b.add_unmatched(batch, at, left, &comparison);
                (0, left)
            }
            (Some((x, i, left)), Some((y, j, other))) => match comparison.order(x, i, y, j) {
                Ordering::Less => {
                    in_a.add_unmatched(x, i, 1, &comparison);
                    (1, 0)
                }
                Ordering::Greater => {
                    in_b.add_unmatched(y, j, 1, &comparison);
                    (0, 1)
                }
                Ordering::Equal => {
                    let max = left.min(other);
                    let run = (1..max).find(|next| comparison.order(x, i + next, y, j + next).is_ne());
                    let run = run.unwrap_or(max);
                    done(comparison.add(x, i, y, j, run));
                    in_a.count += run as u64;
                    in_b.count += run as u64;
                    (run, run)
                }
            },
        };
        x.skip(skipped);
        y.skip(other);
    }
    let differing = comparison.attributes.into_iter().filter(|attribute| attribute.tally.differing > 0);
    let values =
        differing.map(|Attribute { name, floats, tally, at }| (name, FoundValues { tally, at, floats }));
    Ok(Some(Matched { sides, values: values.collect() }))
}

fn of_a(error: Error) -> Failed {
    Failed { a: Some(error), b: None }
}

fn of_b(error: Error) -> Failed {
    Failed { a: None, b: Some(error) }
}

struct Comparison<'a> {
    rules: &'a Rules,
    dimensions: usize,
    attributes: Vec<Attribute>,
    /// The number of matched cells.
    matched: u64,
}

/// An attribute of both sides.
struct Attribute {
    name: String,
    floats: bool,
    tally: Tally,
    /// The coordinates of the first differing cells.
    at: Vec<FoundAt>,
}

impl Comparison<'_> {
    /// Compares the coordinates of two cells.
    fn order(&self, a: &Cells, i: usize, b: &Cells, j: usize) -> Ordering {
        let columns = a.columns.iter().zip(&b.columns).take(self.dimensions);
        let mut each = columns.map(|(x, y)| match (x.get(i), y.get(j)) {
            (Some(x), Some(y)) => by_value(x, y),
            (x, y) => x.is_some().cmp(&y.is_some()),
        });
        each.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    fn coordinates(&self, batch: &Cells, cell: usize) -> FoundAt {
        let columns = batch.columns.iter().take(self.dimensions);
        FoundAt::Coordinates(columns.filter_map(|column| column.get(cell)).map(self.rules.show).collect())
    }

    /// Compares the attributes of `count` matched cells. Returns their size in bytes.
    fn add(&mut self, a: &Cells, i: usize, b: &Cells, j: usize, count: usize) -> u64 {
        let mut bytes = 0;
        let mut found = Vec::with_capacity(self.attributes.len());
        for (x, y) in a.columns.iter().zip(&b.columns).skip(self.dimensions) {
            let (mut x, mut y) = (x.elements(), y.elements());
            x.split(i);
            y.split(j);
            let (x, y) = (x.split(count), y.split(count));
            bytes += x.rows().len() as u64;
            let tally = Tally::of(x, y, self.rules);
            let at = tally.first.iter().map(|pair| {
                let cell = usize::try_from(pair.index).unwrap_or(usize::MAX);
                self.coordinates(a, i.saturating_add(cell))
            });
            found.push((at.collect::<Vec<_>>(), tally));
        }
        let (before, max) = (self.matched, self.rules.max_reported);
        for (attribute, (at, tally)) in self.attributes.iter_mut().zip(found) {
            attribute.tally.add(tally, max, |index| before.saturating_add(index));
            attribute.at.extend(at);
            attribute.at.truncate(max);
        }
        self.matched += count as u64;
        bytes
    }
}

/// The maximum number of reported coordinates of unmatched cells.
const MAX_TOLD: usize = 3;
