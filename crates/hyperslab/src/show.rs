//! Reads selected values of an array or attribute, with the coordinates along its dimensions.

mod cells;
mod part;
mod view;

pub use cells::{ShownCells, show_cells};
pub(crate) use view::shown_shape;
pub use view::{Abbreviation, ShowOptions, View};

pub use crate::decode::Encoded;
pub(crate) use part::Part;

use crate::location::LocatedObject;
use crate::select::{Picks, Select};
use crate::source::{MissingSources, Source};
use hyperslab_core::{Error, ErrorKind, Result};
use hyperslab_model::{Datatype, Elements, NodeKind, NodePath, Shape, Values};
use std::sync::Arc;

/// Selected values of an array or attribute, with its dimensions.
#[derive(Debug)]
pub struct Shown {
    /// The path of the object, with `@NAME` for an attribute.
    pub name: String,
    /// The datatype of an element.
    pub datatype: Arc<Datatype>,
    /// The dimensions of `values`, slowest first.
    pub axes: Vec<ShownAxis>,
    /// The dimensions that were dropped, since a single position was selected.
    pub fixed: Vec<ShownAxis>,
    /// The elements in row-major order of `axes`.
    pub values: Values,
    /// Whether the object has a null dataspace: no shape and no elements.
    pub is_null: bool,
    /// The sources of a virtual array that do not exist.
    pub missing: MissingSources,
    /// The reasons why coordinates cannot be read; positions are shown in their place.
    pub unread: Vec<Error>,
}

/// A dimension of the selected values.
#[derive(Clone, Debug)]
pub struct ShownAxis {
    /// The name; the number in brackets if the dimension has none: `[0]`.
    pub name: String,
    /// The number of the dimension in the array.
    number: usize,
    /// Whether the name is that of a dimension.
    is_named: bool,
    /// Whether the shown values are the coordinates of this dimension.
    is_own: bool,
    positions: Picks,
    gap: Option<Gap>,
    /// The datatype and values of the coordinates at the positions; `None` if there are no coordinates.
    coordinates: Option<(Arc<Datatype>, Values)>,
}

/// Positions along a dimension that are left out of a large array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The number of shown positions before the gap.
    pub at: usize,
    /// The number of positions left out.
    pub count: u64,
}

impl ShownAxis {
    /// The positions that are left out; `None` if all are shown.
    pub fn gap(&self) -> Option<Gap> {
        self.gap
    }

    /// The number of selected positions.
    pub fn len(&self) -> usize {
        usize::try_from(self.positions.count()).unwrap_or(usize::MAX)
    }

    /// Whether no position is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name as the header of a column: that of the dimension, or `dim_0` for the first dimension if it has no name.
    pub(crate) fn column_name(&self) -> String {
        if self.is_named { self.name.clone() } else { format!("dim_{}", self.number) }
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }

    /// The datatype of the coordinates; that of positions if there are no coordinates.
    pub(crate) fn column_type(&self) -> Arc<Datatype> {
        match &self.coordinates {
            Some((datatype, _)) => Arc::clone(datatype),
            None => Arc::new(Datatype::int(64, true)),
        }
    }

    /// The position in the array of the selected position number `at`. `None` if there is no such position.
    pub fn position(&self, at: usize) -> Option<u64> {
        self.positions.get(u64::try_from(at).ok()?)
    }

    /// The datatype and values of the coordinates at all selected positions. `None` if there are no coordinates.
    pub fn coordinates(&self) -> Option<(&Arc<Datatype>, &Values)> {
        self.coordinates.as_ref().map(|(datatype, values)| (datatype, values))
    }

    /// The label of the selected position number `at`: its coordinate, or its index in the array if it has none. `None`
    /// if there is no such position.
    pub fn label(&self, at: usize) -> Option<String> {
        let position = self.position(at)?;
        let coordinate = self.coordinates.as_ref().and_then(|(datatype, values)| {
            let mut elements = Elements::new(datatype, values);
            elements.split(at);
            elements.next().map(hyperslab_ndl::plain)
        });
        Some(coordinate.unwrap_or_else(|| position.to_string()))
    }

    /// The labels of all positions.
    pub fn labels(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.len()).map_while(|at| self.label(at))
    }
}

impl Shown {
    /// The elements in row-major order.
    pub fn elements(&self) -> Elements<'_> {
        Elements::new(&self.datatype, &self.values)
    }

    /// The extents of the selected values.
    pub fn extents(&self) -> Vec<usize> {
        self.axes.iter().map(ShownAxis::len).collect()
    }
}

/// Reads the selected values of an array, or all values of an attribute, as stored.
///
/// # Errors
/// If `target` is neither an array nor an attribute, the selections do not fit it, or it cannot be read.
pub fn show(source: &dyn Source, target: &LocatedObject, selections: &[Select]) -> Result<Shown> {
    View::new(source, target, &ShowOptions { select: selections.to_vec(), ..ShowOptions::default() })?.read()
}

/// The shape of an array. A dimension coordinate is its own dimension.
pub(crate) fn with_coordinate(kind: NodeKind, shape: &Shape, path: &NodePath) -> Shape {
    let mut shape = shape.clone();
    if let (NodeKind::DimCoord, Shape::Dims(dims)) = (kind, &mut shape) {
        dims.iter_mut().for_each(|dimension| dimension.coordinate = Some(path.clone()));
    }
    shape
}

/// Rejects selections that are empty along one dimension and huge along others: they need no bytes in a file, but
/// printing their empty rows would never end.
fn check_empty(counts: &[u64]) -> Result<()> {
    let rows =
        counts.iter().filter(|count| **count > 0).try_fold(1_u64, |rows, count| rows.checked_mul(*count));
    if !counts.contains(&0) || rows.is_some_and(|rows| rows <= MAX_EMPTY_ROWS) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::LimitExceeded, format!("more than {MAX_EMPTY_ROWS} rows without elements")))
}

const MAX_EMPTY_ROWS: u64 = 1 << 20;
