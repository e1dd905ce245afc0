//! The values of an array or attribute.

use crate::describe::values;
use crate::location::Target;
use crate::select::Selected;
use crate::source::{Item, Source, check_size};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Datatype, Elements, NodePath, Shape, Values};
use std::sync::Arc;

/// Selected values, with what they lie along.
#[derive(Debug)]
pub struct Shown {
    /// What is shown: a path, with `@NAME` for an attribute.
    pub name: String,
    /// The type of an element.
    pub datatype: Arc<Datatype>,
    /// The dimensions that are left, slowest first.
    pub axes: Vec<ShownAxis>,
    /// The dimensions that a single position took away.
    pub fixed: Vec<ShownAxis>,
    /// The elements, row-major over `axes`.
    pub values: Values,
}

/// A dimension of what is shown.
#[derive(Debug)]
pub struct ShownAxis {
    /// Its name; that of its number where it has none.
    pub name: String,
    /// A label for each position: its coordinate where it has one, else its index.
    pub labels: Vec<String>,
}

impl Shown {
    /// The elements, row-major.
    pub fn elements(&self) -> Elements<'_> {
        Elements::new(&self.datatype, &self.values)
    }

    /// Extents of what is shown.
    pub fn extents(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.labels.len()).collect()
    }
}

/// Reads what `target` leads to, as far as `selections` say.
///
/// # Errors
/// If it is neither array nor attribute, the selections do not fit it, or it cannot be read.
pub fn show(source: &dyn Source, target: &Target, selections: &[String]) -> Result<Shown> {
    let path = &target.entry.handle.path;
    match &target.attribute {
        Some(name) => {
            attribute(source, target, name, selections).map_err(|e| e.in_object(format!("{path}@{name}")))
        }
        None => array(source, target, selections).map_err(|e| e.in_object(path)),
    }
}

fn array(source: &dyn Source, target: &Target, selections: &[String]) -> Result<Shown> {
    let entry = &target.entry;
    let shape = match &entry.item {
        Item::Array { datatype: None, .. } => return Err(Error::invalid("a dimension without values")),
        Item::Array { shape: Shape::Null, .. } => {
            return Err(Error::invalid("a null dataspace has no values"));
        }
        Item::Array { shape, .. } => shape,
        Item::Group => {
            return Err(Error::invalid("a group has no values; `hyperslab ls` lists what is in it"));
        }
        Item::Datatype(_) => {
            return Err(Error::invalid("a datatype has no values; `hyperslab describe` shows it"));
        }
        Item::Link(_) => {
            return Err(Error::invalid("a link has no values of its own; name what it leads to"));
        }
        Item::Unreadable(unreadable) => return Err(Error::new(unreadable.kind, unreadable.reason.clone())),
    };
    let selected = Selected::parse(selections, shape)?;
    let array = source.array(&entry.handle)?;
    let values = selected.read(&*array)?;
    let kept = selected.kept();
    let (mut axes, mut fixed) = (Vec::new(), Vec::new());
    for (index, dimension) in shape.dims().iter().enumerate() {
        let coordinate = dimension.coordinate.as_ref().filter(|coordinate| *coordinate != &entry.handle.path);
        let positions = selected.positions(index);
        let axis = ShownAxis {
            name: coordinate.map_or_else(|| format!("[{index}]"), |path| path.name().to_owned()),
            labels: labels(source, coordinate, &positions),
        };
        if kept.contains(&index) { axes.push(axis) } else { fixed.push(axis) }
    }
    Ok(Shown {
        name: entry.handle.path.to_string(),
        datatype: Arc::clone(array.datatype()),
        axes,
        fixed,
        values,
    })
}

fn attribute(source: &dyn Source, target: &Target, name: &str, selections: &[String]) -> Result<Shown> {
    if !selections.is_empty() {
        return Err(Error::invalid("a part of an attribute cannot be selected"));
    }
    let node = source.load(&target.entry.handle)?;
    let attributes = node.attributes().ok_or_else(|| Error::not_found("it has no attributes"))?;
    let found = attributes.get(name).ok_or_else(|| {
        let near = crate::location::nearest(name, attributes.keys().map(String::as_str));
        let help = near.map(|near| format!("\nhelp: did you mean @{near}?")).unwrap_or_default();
        Error::not_found(format!("no such attribute{help}"))
    })?;
    let found =
        found.as_ref().map_err(|unreadable| Error::new(unreadable.kind, unreadable.reason.clone()))?;
    let Some(shape) = &found.shape else { return Err(Error::invalid("a null dataspace has no values")) };
    let axis = |(index, extent): (usize, &u64)| ShownAxis {
        name: format!("[{index}]"),
        labels: (0..*extent).map(|position| position.to_string()).collect(),
    };
    Ok(Shown {
        name: format!("{}@{name}", target.entry.handle.path),
        datatype: Arc::clone(&found.datatype),
        axes: shape.iter().enumerate().map(axis).collect(),
        fixed: Vec::new(),
        values: found.value.clone(),
    })
}

/// Coordinates at `positions`, or the positions where there are none.
fn labels(source: &dyn Source, coordinate: Option<&NodePath>, positions: &[u64]) -> Vec<String> {
    let plain = || positions.iter().map(u64::to_string).collect();
    let read = |path: &NodePath| -> Result<Vec<String>> {
        let entry = source.find(path)?;
        let array = source.array(&entry.handle)?;
        check_size(source, &*array)?;
        let all = values(&*array)?;
        Ok(Elements::new(array.datatype(), &all).map(hyperslab_ndl::plain).collect())
    };
    let Some(texts) = coordinate.and_then(|path| read(path).ok()) else { return plain() };
    let of = |position: &u64| usize::try_from(*position).ok().and_then(|at| texts.get(at)).cloned();
    positions.iter().map(of).collect::<Option<_>>().unwrap_or_else(plain)
}
