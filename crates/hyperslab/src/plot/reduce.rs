//! Elements reduced to the cells of a drawing: block means, read once and in bounded memory.

use super::axis::Bins;
use super::{Plot, Scale};
use hyperslab_core::Result;

/// A summary of what was read for a drawing.
#[derive(Clone, Debug)]
pub struct Read {
    /// The number of elements that were read.
    pub count: u64,
    /// How many of them are missing.
    pub missing: u64,
    /// How many of them are infinite.
    pub infinite: u64,
    /// The smallest and the largest finite number that is drawn; `None` if there is none.
    pub range: Option<(f64, f64)>,
    /// How the numbers are labelled.
    pub scale: Scale,
}

/// A heat map: a number for each cell.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// What was read.
    pub read: Read,
    /// The maximum number of rows and columns of elements in a cell. A cell has the mean of its elements, or the first
    /// of them if they are words.
    pub block: (u64, u64),
    /// The coordinates at the bottom and at the top.
    upwards: (f64, f64),
    /// The coordinates at the left and at the right.
    across: (f64, f64),
    rows: Bins,
    columns: Bins,
    /// The numbers of the cells, row by row unless `is_transposed`; NaN if all elements are missing.
    cells: Vec<f64>,
    is_transposed: bool,
}

/// A line.
#[derive(Clone, Debug)]
pub struct Line {
    /// What was read.
    pub read: Read,
    /// The maximum number of elements in a point.
    pub block: u64,
    /// The points in the order of the array.
    pub points: Vec<LinePoint>,
}

/// A point of a line: some adjacent elements. All numbers are NaN if the elements are missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePoint {
    /// The coordinate of the middle of the elements.
    pub at: f64,
    /// The smallest element.
    pub low: f64,
    /// The mean; for words, the first element.
    pub mean: f64,
    /// The largest element.
    pub high: f64,
}

impl Plot {
    /// Reads a heat map with at most `columns` cells side by side and `rows` cells above each other. An array of one
    /// dimension has one row.
    ///
    /// # Errors
    /// If elements cannot be read.
    pub fn heat_map(&self, columns: usize, rows: usize) -> Result<HeatMap> {
        let (across, upwards) = (self.horizontal.across(), self.vertical.as_ref().map(|axis| axis.upwards()));
        let columns = self.horizontal.bins(columns);
        let rows = self.vertical.as_ref().map_or_else(Bins::of_one, |axis| axis.bins(rows));
        let (outer, inner) = if self.is_transposed { (&columns, &rows) } else { (&rows, &columns) };
        let mut folded = self.fold(outer, inner)?;
        let numbers: Vec<f64> = folded.cells.iter().map(|cell| cell.drawn(folded.are_words)).collect();
        let scale = self.numbers.scale(numbers.iter().copied());
        let cells: Vec<f64> = numbers.into_iter().map(|number| scale.place(number)).collect();
        folded.range = range(cells.iter().copied());
        Ok(HeatMap {
            read: folded.read(scale),
            block: (rows.largest(), columns.largest()),
            upwards: upwards.unwrap_or((0.0, 1.0)),
            across,
            rows,
            columns,
            cells,
            is_transposed: self.is_transposed,
        })
    }

    /// Reads a line of at most `most` points.
    ///
    /// # Errors
    /// If elements cannot be read.
    pub fn line(&self, most: usize) -> Result<Line> {
        let bins = self.horizontal.bins(most);
        let mut folded = self.fold(&Bins::of_one(), &bins)?;
        let are_words = folded.are_words;
        let scale = self.numbers.scale(folded.cells.iter().map(|cell| cell.drawn(are_words)));
        let points = folded.cells.iter().zip(bins.starts.windows(2)).map(|(cell, group)| {
            let (first, last) = match group {
                [start, end] => (*start, end.saturating_sub(1)),
                _ => (0, 0),
            };
            let ends = (self.horizontal.point(first), self.horizontal.point(last));
            let at = ends.0.unwrap_or(f64::NAN) / 2.0 + ends.1.unwrap_or(f64::NAN) / 2.0;
            let mean = scale.place(cell.drawn(are_words));
            match (cell.count, are_words) {
                (0, _) => LinePoint { at, low: f64::NAN, mean: f64::NAN, high: f64::NAN },
                (_, true) => LinePoint { at, low: mean, mean, high: mean },
                (_, false) => LinePoint { at, low: cell.low, mean, high: cell.high },
            }
        });
        let points: Vec<LinePoint> = points.collect();
        folded.range = range(points.iter().flat_map(|point| [point.low, point.high]));
        Ok(Line { read: folded.read(scale), block: bins.largest(), points })
    }

    /// Folds all elements into cells, one for each group of rows and of elements in a row.
    fn fold(&self, outer: &Bins, inner: &Bins) -> Result<Folded> {
        let mut folded = Folded {
            cells: vec![Cell::default(); outer.len().saturating_mul(inner.len())],
            are_words: self.numbers.are_words(),
            count: 0,
            missing: 0,
            infinite: 0,
            range: None,
        };
        let mut place = Place { outer, inner, row: 0, column: 0, row_group: 0, column_group: 0 };
        self.selected
            .stream(&*self.array, &mut |values| {
                self.numbers.each(values, &mut |numbers| {
                    for number in numbers {
                        folded.count += 1;
                        folded.missing += u64::from(number.is_nan());
                        folded.infinite += u64::from(number.is_infinite());
                        let at = place.row_group * inner.len() + place.column_group;
                        if let (false, Some(cell)) = (number.is_nan(), folded.cells.get_mut(at)) {
                            cell.add(*number);
                        }
                        place.advance();
                    }
                });
                Ok(())
            })
            .map_err(|error| error.in_object(&self.name))?;
        Ok(folded)
    }
}

impl HeatMap {
    /// The numbers at the centres of this many pixels, from the top left; NaN where elements are missing.
    pub fn pixels(&self, columns: usize, rows: usize) -> Vec<Vec<f64>> {
        let groups = |bins: &Bins, (first, last): (f64, f64), count: usize| -> Vec<Option<usize>> {
            let at = |pixel: usize| {
                let part = (pixel as f64 + 0.5) / count as f64;
                bins.at(first * (1.0 - part) + last * part)
            };
            (0..count).map(at).collect()
        };
        let across = groups(&self.columns, self.across, columns);
        let (bottom, top) = self.upwards;
        let down = groups(&self.rows, (top, bottom), rows);
        let cell = |row: Option<usize>, column: Option<usize>| {
            let at = match self.is_transposed {
                true => column? * self.rows.len() + row?,
                false => row? * self.columns.len() + column?,
            };
            self.cells.get(at).copied()
        };
        let row = |row: &Option<usize>| across.iter().map(|at| cell(*row, *at).unwrap_or(f64::NAN)).collect();
        down.iter().map(row).collect()
    }
}

impl Bins {
    /// One group of one position.
    fn of_one() -> Bins {
        Bins { starts: vec![0, 1], edges: vec![0.0, 1.0] }
    }
}

/// The smallest and the largest finite number.
fn range(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    numbers.filter(|number| number.is_finite()).fold(None, |range, number| match range {
        Some((low, high)) => Some((number.min(low), number.max(high))),
        None => Some((number, number)),
    })
}

/// All elements in their cells.
struct Folded {
    cells: Vec<Cell>,
    are_words: bool,
    count: u64,
    missing: u64,
    infinite: u64,
    range: Option<(f64, f64)>,
}

impl Folded {
    fn read(&self, scale: Scale) -> Read {
        let Folded { count, missing, infinite, range, .. } = *self;
        Read { count, missing, infinite, range, scale }
    }
}

/// The elements of a cell that are not missing.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    count: u64,
    sum: f64,
    first: f64,
    low: f64,
    high: f64,
}

impl Cell {
    fn add(&mut self, number: f64) {
        match self.count {
            0 => *self = Cell { count: 1, sum: number, first: number, low: number, high: number },
            _ => {
                self.count += 1;
                self.sum += number;
                self.low = self.low.min(number);
                self.high = self.high.max(number);
            }
        }
    }

    /// The number that is drawn; NaN if there are no elements.
    fn drawn(&self, are_words: bool) -> f64 {
        let mean = self.sum / self.count as f64;
        match self.count {
            0 => f64::NAN,
            _ if are_words => self.first,
            _ if mean.is_finite() => mean,
            // The sum overflows, although its parts do not.
            _ if self.low.is_finite() && self.high.is_finite() => self.low / 2.0 + self.high / 2.0,
            _ if self.high.is_infinite() && self.high > 0.0 => self.high,
            _ => self.low,
        }
    }
}

/// The next element, and the groups to which it belongs.
struct Place<'b> {
    outer: &'b Bins,
    inner: &'b Bins,
    row: u64,
    column: u64,
    row_group: usize,
    column_group: usize,
}

impl Place<'_> {
    fn advance(&mut self) {
        self.column += 1;
        if self.inner.starts.get(self.column_group + 1) == Some(&self.column) {
            self.column_group += 1;
        }
        if self.column_group == self.inner.len() {
            (self.column, self.column_group) = (0, 0);
            self.row += 1;
            if self.outer.starts.get(self.row_group + 1) == Some(&self.row) {
                self.row_group += 1;
            }
        }
    }
}
