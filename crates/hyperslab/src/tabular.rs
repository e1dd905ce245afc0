//! Values as the columns of a table with one row per element: the coordinates along the dimensions of an array, then
//! its value. Members of compounds become separate columns.
//!
//! Data frames of pandas, R and Polars have this form, which is called tidy or long.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod parquet;

#[cfg(feature = "arrow")]
pub use self::arrow::{arrow_array, arrow_type, read_arrow, write_arrow};
#[cfg(feature = "arrow")]
pub use self::parquet::write_parquet;

use crate::cells::CellColumn;
use crate::show::{Part, ShownAxis, ShownCells, View};
use hyperslab_core::Result;
use hyperslab_model::{Datatype, Element, ElementRef, Elements, Member, Values};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A table whose rows are read on demand.
#[allow(missing_debug_implementations, reason = "rows are read from a source, which has no text form")]
pub struct Tabular<'a> {
    columns: Vec<TabularColumn>,
    content: Content<'a>,
    /// Whether strings were escaped so far.
    has_escaped: AtomicBool,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct TabularColumn {
    /// The name, which is unique.
    pub name: String,
    /// The datatype of the cells.
    pub datatype: Arc<Datatype>,
    /// Whether the labels of an enumeration are ordered.
    pub is_ordered: bool,
}

enum Content<'a> {
    /// An array: the axes with their strides in rows, then the position of each value column in an element.
    Array {
        view: &'a View,
        axes: Vec<Axis<'a>>,
        parts: Vec<Part>,
    },
    Cells(&'a ShownCells),
}

/// An axis whose coordinates are a column.
struct Axis<'a> {
    axis: &'a ShownAxis,
    /// The number of rows from one position to the next.
    stride: u64,
}

/// Some rows of a table.
#[derive(Debug)]
pub struct TabularBatch<'a> {
    /// The number of rows.
    pub len: usize,
    /// The cells, in the order of the columns.
    pub columns: Vec<BatchColumn<'a>>,
}

/// The cells of one column in some rows.
#[derive(Debug)]
pub enum BatchColumn<'a> {
    /// Coordinates along a dimension, which repeat.
    Coordinates {
        /// The dimension.
        axis: &'a ShownAxis,
        /// The number of the first row in the table.
        start: u64,
        /// The number of rows with the same coordinate.
        stride: u64,
    },
    /// A cell for each row.
    Values(Values),
}

impl BatchColumn<'_> {
    /// The number of the selected position along the dimension in row number `row` of the batch; `row` itself for a
    /// column with a cell for each row.
    pub fn index(&self, row: usize) -> usize {
        match self {
            BatchColumn::Coordinates { axis, start, stride } => {
                let position = start.saturating_add(row as u64) / (*stride).max(1);
                usize::try_from(position % (axis.len().max(1) as u64)).unwrap_or(usize::MAX)
            }
            BatchColumn::Values(_) => row,
        }
    }
}

impl<'a> Tabular<'a> {
    /// The selected elements of an array, or those of an attribute.
    pub fn of_array(view: &'a View) -> Tabular<'a> {
        let mut names = Names::default();
        let (mut columns, mut axes) = (Vec::new(), Vec::new());
        let mut stride = 1_u64;
        let mut strides: Vec<u64> = Vec::new();
        for axis in view.axes.iter().rev() {
            strides.push(stride);
            stride = stride.saturating_mul(axis.len() as u64);
        }
        strides.reverse();
        // The coordinates of single positions do not change.
        let fixed = view.fixed.iter().map(|axis| (axis, stride.max(1)));
        let mut all: Vec<_> = view.axes.iter().zip(strides).chain(fixed).collect();
        all.sort_by_key(|(axis, _)| axis.number());
        for (axis, stride) in all.into_iter().filter(|(axis, _)| !axis.is_own()) {
            let name = names.add(axis.column_name());
            columns.push(TabularColumn { name, datatype: axis.column_type(), is_ordered: false });
            axes.push(Axis { axis, stride });
        }
        let mut parts = Vec::new();
        let name = own_name(view);
        let is_ordered = view.has_ordered_labels();
        add_parts(name, &view.datatype, 0, true, &mut |name, datatype, part| {
            columns.push(TabularColumn { name: names.add(name), datatype, is_ordered });
            parts.push(part);
        });
        Tabular {
            columns,
            content: Content::Array { view, axes, parts },
            has_escaped: AtomicBool::new(false),
        }
    }

    /// The cells of a sparse array.
    pub fn of_cells(cells: &'a ShownCells) -> Tabular<'a> {
        let mut names = Names::default();
        let column = |column: &CellColumn| TabularColumn {
            name: names.add(column.name.clone()),
            datatype: Arc::clone(&column.datatype),
            is_ordered: column.is_ordered,
        };
        Tabular {
            columns: cells.columns().into_iter().map(column).collect(),
            content: Content::Cells(cells),
            has_escaped: AtomicBool::new(false),
        }
    }

    /// The name of the array or attribute; empty for cells.
    #[cfg(feature = "arrow")]
    fn name(&self) -> &str {
        match &self.content {
            Content::Array { view, .. } => own_name(view),
            Content::Cells(_) => "",
        }
    }

    /// The columns.
    pub fn columns(&self) -> &[TabularColumn] {
        &self.columns
    }

    /// The number of coordinate columns, which come first.
    #[cfg(feature = "arrow")]
    fn coordinates(&self) -> usize {
        match &self.content {
            Content::Array { axes, .. } => axes.len(),
            Content::Cells(_) => 0,
        }
    }

    /// The text of a cell, as in [`plain`], noting whether it was escaped.
    pub fn text(&self, element: ElementRef<'_>) -> String {
        if matches!(element.get(), Element::Text(bytes) if str::from_utf8(bytes).is_err()) {
            self.has_escaped.store(true, Ordering::Relaxed);
        }
        plain(element)
    }

    /// Whether strings that were written so far are not UTF-8, so that some of their bytes were escaped.
    pub fn has_escaped(&self) -> bool {
        self.has_escaped.load(Ordering::Relaxed)
    }

    /// Reads the rows in order, in batches that fit into the memory.
    ///
    /// # Errors
    /// If they cannot be read; the first error of `take`.
    pub fn batches(&self, take: &mut dyn FnMut(&TabularBatch<'_>) -> Result<()>) -> Result<()> {
        match &self.content {
            Content::Cells(cells) => {
                for batch in cells.batches()? {
                    let batch = batch?;
                    let len = batch.len();
                    let columns = batch.columns.into_iter();
                    take(&TabularBatch {
                        len,
                        columns: columns.map(|column| BatchColumn::Values(column.values)).collect(),
                    })?;
                }
                Ok(())
            }
            Content::Array { view, axes, parts } => {
                let mut start = 0_u64;
                let size = view.datatype.row_size().unwrap_or(0);
                view.stream(&mut |values| {
                    let len = Elements::new(&view.datatype, &values).len();
                    let coordinates = axes.iter().map(|Axis { axis, stride }| BatchColumn::Coordinates {
                        axis,
                        start,
                        stride: *stride,
                    });
                    let own = parts.iter().map(|part| BatchColumn::Values(part.of(&values, size)));
                    let batch = TabularBatch { len, columns: coordinates.chain(own).collect() };
                    start = start.saturating_add(len as u64);
                    take(&batch)
                })
            }
        }
    }
}

/// The name of an array or attribute without its path. A store can be an array without a name.
fn own_name(view: &View) -> &str {
    match view.name.rsplit(['/', '@']).next() {
        None | Some("") => "value",
        Some(name) => name,
    }
}

/// Visits the columns of an element that starts at `offset`: its members, if it is a compound.
fn add_parts(
    name: &str,
    datatype: &Arc<Datatype>,
    offset: usize,
    is_whole: bool,
    add: &mut dyn FnMut(String, Arc<Datatype>, Part),
) {
    let Datatype::Compound(members) = datatype.resolved() else {
        let size = datatype.row_size().unwrap_or(0);
        return add(name.to_owned(), Arc::clone(datatype), Part { offset, size });
    };
    let mut offset = offset;
    for Member { name: member, datatype } in members {
        let name = if is_whole { member.clone() } else { format!("{name}.{member}") };
        add_parts(&name, &Arc::new(datatype.clone()), offset, false, add);
        offset = offset.saturating_add(datatype.row_size().unwrap_or(0));
    }
}

/// The text of an element in tables for people and programs. Non-finite numbers have the names that pandas, NumPy and R
/// read; bytes that are not UTF-8 are escaped: `\xff`.
pub fn plain(element: ElementRef<'_>) -> String {
    match element.get() {
        Element::Float(number) if number.is_nan() => "NaN".to_owned(),
        Element::Float(number) if number.is_infinite() => number.to_string(),
        Element::Text(bytes) => escaped(bytes),
        _ => hyperslab_ndl::plain(element),
    }
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

/// The names of columns so far.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// The name, followed by a number if another column already has it.
    fn add(&mut self, name: String) -> String {
        let mut own = name.clone();
        let mut number = 1;
        while !self.0.insert(own.clone()) {
            number += 1;
            own = format!("{name}_{number}");
        }
        own
    }
}
