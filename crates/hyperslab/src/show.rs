//! Reads selected values of an array or attribute, with the coordinates along its dimensions.

mod cells;

pub use cells::{ShownCells, show_cells};

use crate::location::LocatedObject;
use crate::select::{Picks, Select, Selected};
use crate::source::{Item, MissingSources, Source, check_counts};
use hyperslab_core::{Error, ErrorKind, Remedy, Result};
use hyperslab_model::{Datatype, Elements, Link, NodeKind, NodePath, Shape, Values};
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
    /// The reasons why coordinates cannot be read; positions are in their place.
    pub unread: Vec<Error>,
}

/// A dimension of the selected values.
#[derive(Debug)]
pub struct ShownAxis {
    /// The name; the number in brackets if the dimension has none: `[0]`.
    pub name: String,
    positions: Picks,
    /// The datatype and values of the coordinates at the positions; `None` without coordinates.
    coordinates: Option<(Arc<Datatype>, Values)>,
}

impl ShownAxis {
    /// The number of selected positions.
    pub fn len(&self) -> usize {
        usize::try_from(self.positions.count()).unwrap_or(usize::MAX)
    }

    /// Whether no position is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The label of the selected position number `at`: its coordinate, or its index in the array if it has none. `None`
    /// if there is no such position.
    pub fn label(&self, at: usize) -> Option<String> {
        let position = self.positions.get(u64::try_from(at).ok()?)?;
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
    fn null(name: String, datatype: &Arc<Datatype>) -> Shown {
        Shown {
            name,
            datatype: Arc::clone(datatype),
            axes: Vec::new(),
            fixed: Vec::new(),
            values: Values::default(),
            is_null: true,
            missing: MissingSources::default(),
            unread: Vec::new(),
        }
    }

    /// The elements in row-major order.
    pub fn elements(&self) -> Elements<'_> {
        Elements::new(&self.datatype, &self.values)
    }

    /// The extents of the selected values.
    pub fn extents(&self) -> Vec<usize> {
        self.axes.iter().map(ShownAxis::len).collect()
    }
}

/// Reads the selected values of an array, or all values of an attribute.
///
/// # Errors
/// If `target` is neither an array nor an attribute, the selections do not fit it, or it cannot be read.
pub fn show(source: &dyn Source, target: &LocatedObject, selections: &[Select]) -> Result<Shown> {
    let path = &target.entry.handle.path;
    match &target.attribute {
        Some(name) => {
            attribute(source, target, name, selections).map_err(|e| e.in_object(format!("{path}@{name}")))
        }
        None => array(source, target, selections).map_err(|e| e.in_object(path)),
    }
}

fn array(source: &dyn Source, target: &LocatedObject, selections: &[Select]) -> Result<Shown> {
    let (entry, unfollowed) = (&target.entry, source.unfollowed_links());
    let shape = match &entry.item {
        Item::Array { datatype: None, .. } => return Err(Error::invalid("a dimension without values")),
        Item::Array { shape: Shape::Unsaid, .. } => {
            return Err(Error::invalid("the document states no shape"));
        }
        Item::Array { shape: Shape::Null, .. } if !selections.is_empty() => {
            return Err(Error::invalid("a part of a null dataspace cannot be selected"));
        }
        Item::Array { shape: Shape::Null, datatype: Some(datatype), .. } => {
            return Ok(Shown::null(entry.handle.path.to_string(), datatype));
        }
        Item::Array { kind, shape, .. } => &with_coordinate(*kind, shape, &entry.handle.path),
        Item::Group => {
            return Err(Error::invalid("a group has no values; `hyperslab ls` lists what is in it"));
        }
        Item::Datatype(_) => {
            return Err(Error::invalid("a datatype has no values; `hyperslab describe` shows it"));
        }
        Item::Link(_) if let Some(why) = unfollowed.reason(&entry.handle.path) => {
            let remedies = why.remedies().to_vec();
            return Err(Error::new(why.kind(), why.detail().to_owned()).with_remedies(remedies));
        }
        Item::Link(Link::External { file, path }) => {
            let leads =
                format!("leads to {path} of {file}, which does not exist there or may not be followed");
            return Err(Error::invalid(leads));
        }
        Item::Link(_) => {
            return Err(Error::invalid("a link has no values of its own; name what it leads to"));
        }
        Item::Unreadable(unreadable) => return Err(Error::new(unreadable.kind, unreadable.reason.clone())),
    };
    let selected = Selected::new(source, selections, shape)?;
    let array = source.array(&entry.handle)?;
    check_counts(source, &*array, &selected.counts())?;
    check_empty(&selected.counts())?;
    let values = selected.read(&*array)?;
    let kept = selected.kept();
    let (mut axes, mut fixed, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    for (index, (dimension, picks)) in shape.dims().iter().zip(selected.picks()).enumerate() {
        let coordinate = dimension.coordinate.as_ref().filter(|coordinate| *coordinate != &entry.handle.path);
        let coordinates =
            coordinate.map(|path| coordinates(source, path, picks).map_err(|e| e.in_object(path)));
        let coordinates = match coordinates.transpose() {
            Ok(coordinates) => coordinates.flatten(),
            Err(error) => {
                unread.push(error);
                None
            }
        };
        let axis = ShownAxis {
            name: coordinate.map_or_else(|| format!("[{index}]"), |path| path.name().to_owned()),
            positions: picks.clone(),
            coordinates,
        };
        if kept.contains(&index) { axes.push(axis) } else { fixed.push(axis) }
    }
    Ok(Shown {
        name: entry.handle.path.to_string(),
        datatype: Arc::clone(array.datatype()),
        axes,
        fixed,
        values,
        is_null: false,
        missing: array.missing_sources()?,
        unread,
    })
}

/// The shape of an array. A dimension coordinate is its own dimension.
pub(crate) fn with_coordinate(kind: NodeKind, shape: &Shape, path: &NodePath) -> Shape {
    let mut shape = shape.clone();
    if let (NodeKind::DimCoord, Shape::Dims(dims)) = (kind, &mut shape) {
        dims.iter_mut().for_each(|dimension| dimension.coordinate = Some(path.clone()));
    }
    shape
}

fn attribute(
    source: &dyn Source,
    target: &LocatedObject,
    name: &str,
    selections: &[Select],
) -> Result<Shown> {
    if !selections.is_empty() {
        return Err(Error::invalid("a part of an attribute cannot be selected"));
    }
    let node = source.load(&target.entry.handle)?;
    let attributes = node.attributes().ok_or_else(|| Error::not_found("it has no attributes"))?;
    let found = attributes.get(name).ok_or_else(|| {
        let near = crate::location::nearest(name, attributes.keys().map(String::as_str));
        let hint = near.map(|near| Remedy::Hint(format!("did you mean @{near}?")));
        Error::not_found("no such attribute").with_remedies(hint)
    })?;
    let found =
        found.as_ref().map_err(|unreadable| Error::new(unreadable.kind, unreadable.reason.clone()))?;
    let name = format!("{}@{name}", target.entry.handle.path);
    let Some(shape) = &found.shape else { return Ok(Shown::null(name, &found.datatype)) };
    check_empty(shape)?;
    let axis = |(index, extent): (usize, &u64)| ShownAxis {
        name: format!("[{index}]"),
        positions: Picks::Range { start: 0, count: *extent, step: 1 },
        coordinates: None,
    };
    Ok(Shown {
        name,
        datatype: Arc::clone(&found.datatype),
        axes: shape.iter().enumerate().map(axis).collect(),
        fixed: Vec::new(),
        values: found.value.clone(),
        is_null: false,
        missing: MissingSources::default(),
        unread: Vec::new(),
    })
}

/// The coordinates at some positions of a dimension; `None` if it has none.
fn coordinates(
    source: &dyn Source,
    path: &NodePath,
    positions: &Picks,
) -> Result<Option<(Arc<Datatype>, Values)>> {
    let entry = match source.find(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        entry => entry?,
    };
    match entry.item {
        Item::Array { kind: NodeKind::DimCoord, datatype: Some(_), .. } => {}
        Item::Unreadable(unreadable) => return Err(Error::new(unreadable.kind, unreadable.reason)),
        // What a format stores for a dimension without coordinates, such as the zeros of a dimension scale, is no label.
        _ => return Ok(None),
    }
    let array = source.array(&entry.handle)?;
    check_counts(source, &*array, &[positions.count()])?;
    let values = Selected::along(positions).read(&*array)?;
    Ok(Some((Arc::clone(array.datatype()), values)))
}

/// Rejects selections that are empty along one dimension and huge along others: they need no bytes in a file, but
/// printing their empty rows would not end.
fn check_empty(counts: &[u64]) -> Result<()> {
    let rows =
        counts.iter().filter(|count| **count > 0).try_fold(1_u64, |rows, count| rows.checked_mul(*count));
    if !counts.contains(&0) || rows.is_some_and(|rows| rows <= MAX_EMPTY_ROWS) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::LimitExceeded, format!("more than {MAX_EMPTY_ROWS} rows without elements")))
}

const MAX_EMPTY_ROWS: u64 = 1 << 20;
