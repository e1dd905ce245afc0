//! The texts of tables, row by row.

use hyperslab::Result;
use hyperslab::model::{ElementRef, Elements};
use hyperslab::show::ShownAxis;
use hyperslab::tabular::{BatchColumn, Tabular};
use std::borrow::Cow;

/// The texts of the cells of a row.
type Row<'a> = dyn Iterator<Item = Cow<'a, str>> + 'a;

/// Calls a function with the cells of each row, as `text` writes them.
pub(super) fn each_row(
    tabular: &Tabular<'_>,
    text: &dyn Fn(ElementRef<'_>) -> String,
    take: &mut dyn FnMut(&mut Row<'_>) -> Result<()>,
) -> Result<()> {
    // The texts of coordinates, which are repeated in many rows.
    let mut known: Vec<Vec<String>> = tabular.columns().iter().map(|_| Vec::new()).collect();
    tabular.batches(&mut |batch| {
        for (known, column) in known.iter_mut().zip(&batch.columns) {
            if let BatchColumn::Coordinates { axis, .. } = column
                && known.is_empty()
                && axis.len() <= MAX_KNOWN
            {
                known.extend((0..axis.len()).map(|at| label(axis, at, text)));
            }
        }
        let columns = tabular.columns().iter().zip(&batch.columns).zip(&known);
        let mut cells: Vec<Cells<'_>> = columns
            .map(|((about, column), known)| match column {
                BatchColumn::Coordinates { .. } if !known.is_empty() => Cells::Known(column, known),
                BatchColumn::Coordinates { axis, .. } => Cells::Coordinates(column, axis),
                BatchColumn::Values(values) => Cells::Own(Elements::new(&about.datatype, values)),
            })
            .collect();
        for row in 0..batch.len {
            take(&mut cells.iter_mut().map(|cells| cells.text(row, text)))?;
        }
        Ok(())
    })
}

/// The cells of a column in one batch.
enum Cells<'c> {
    /// The texts of all coordinates are known.
    Known(&'c BatchColumn<'c>, &'c [String]),
    Coordinates(&'c BatchColumn<'c>, &'c ShownAxis),
    /// The cells of the next row and those after it.
    Own(Elements<'c>),
}

impl<'c> Cells<'c> {
    fn text(&mut self, row: usize, text: &dyn Fn(ElementRef<'_>) -> String) -> Cow<'c, str> {
        match self {
            Cells::Known(column, known) => {
                known.get(column.index(row)).map_or(Cow::Borrowed(""), |text| Cow::Borrowed(text.as_str()))
            }
            Cells::Coordinates(column, axis) => Cow::Owned(label(axis, column.index(row), text)),
            Cells::Own(elements) => Cow::Owned(elements.next().map(text).unwrap_or_default()),
        }
    }
}

/// A coordinate, or a position if there are no coordinates.
fn label(axis: &ShownAxis, at: usize, text: &dyn Fn(ElementRef<'_>) -> String) -> String {
    let Some((datatype, values)) = axis.coordinates() else {
        return axis.position(at).map(|position| position.to_string()).unwrap_or_default();
    };
    let mut elements = Elements::new(datatype, values);
    elements.split(at);
    elements.next().map(text).unwrap_or_default()
}

/// The maximum number of coordinates of a dimension whose texts are kept.
const MAX_KNOWN: usize = 1 << 16;
