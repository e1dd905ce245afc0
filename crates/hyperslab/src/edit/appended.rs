//! Additions to a store from a document or another store.

use super::{Edit, Editing};
use crate::cells::CellQuery;
use crate::editor::JOINED_INSTEAD;
use crate::formats;
use crate::location::Locator;
use crate::select::Selected;
use crate::source::{Entry, Handle, Item, Source};
use crate::walk::{Step, walk};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Column, Extent, Node, NodeKind, NodePath, Shape};
use std::path::Path;
use std::sync::Arc;

/// The changes that add the cells and arrays at a location: all of them, or those of one object.
pub(super) fn edits(editing: &Editing, location: &str) -> Result<Vec<Edit>> {
    if let Ok(Entry { item: Item::Array { .. }, .. }) = editing.source.find(&editing.base) {
        let detail = "is an array, expected a group: elements are appended to all arrays of a group at once";
        return Err(Error::unsupported(detail).with_hint(JOINED_INSTEAD).in_object(&editing.base));
    }
    let location = Locator::parse(location);
    let file = location.store.as_str();
    let options = crate::format::OpenOptions { key: None, ..editing.options.clone() };
    let source = formats::open(Path::new(file), &options)?;
    let in_file = |error: Error| error.in_file(file);
    let mut targets = location.followed(&*source).map_err(in_file)?;
    let root = match (targets.pop(), targets.len()) {
        (Some(root), 0) => root.entry.handle,
        (_, others) => {
            return Err(in_file(Error::invalid(format!("matches {} objects, expected one", others + 1))));
        }
    };
    let mut groups = Vec::new();
    walk(&*source, &root, &mut |step| {
        if let Step::Enter(group, _) = step {
            groups.push(group.clone());
        }
        Ok(())
    })
    .map_err(in_file)?;
    let mut edits = Vec::new();
    for group in groups {
        let target = target(editing, &root.path, &group.path)?;
        edits.extend(edit(editing, &source, &group, target).map_err(in_file)?);
    }
    match edits.is_empty() {
        true => {
            let error = Error::invalid("has neither cells nor elements for arrays of the store");
            Err(in_file(error.with_hint("the arrays need the same paths as in the store")))
        }
        false => Ok(edits),
    }
}

/// The path in the store that corresponds to a group of the source.
fn target(editing: &Editing, root: &NodePath, group: &NodePath) -> Result<NodePath> {
    let below = match root.is_root() {
        true => group.as_str(),
        false => group.as_str().strip_prefix(root.as_str()).unwrap_or_default(),
    };
    match below.trim_start_matches('/') {
        "" => Ok(editing.base.clone()),
        below => editing.path(below),
    }
}

fn edit(
    editing: &Editing,
    source: &Arc<dyn Source>,
    group: &Handle,
    target: NodePath,
) -> Result<Option<Edit>> {
    if let Some(cells) = source.cells(group)? {
        let cells = cells.read(&CellQuery::default())?;
        return Ok(cells.map(|cells| Edit::WriteCells { group: target, cells }));
    }
    let Some((along, known)) = growing(editing, &target)? else { return Ok(None) };
    let (mut arrays, mut all): (Vec<Column>, Option<Vec<u64>>) = (Vec::new(), None);
    for entry in source.members(group)? {
        let Item::Array { kind: NodeKind::Ndarray, datatype: Some(datatype), .. } = &entry.item else {
            continue;
        };
        let name = entry.handle.path.name();
        if !known.iter().any(|own| own == name) {
            return Err(Error::invalid("the store has no such array").in_object(&entry.handle.path));
        }
        let array = source.array(&entry.handle)?;
        let extents = array.extents().unwrap_or_default().to_vec();
        if *all.get_or_insert_with(|| extents.clone()) != extents {
            let expected = all.unwrap_or_default();
            let detail = format!("shape {extents:?}, expected {expected:?} as the other arrays");
            return Err(Error::invalid(detail).in_object(&entry.handle.path));
        }
        let shape = Shape::fixed(&extents);
        let values = Selected::new(&**source, &[], &shape)?.read(&*array)?;
        arrays.push(Column { name: name.to_owned(), datatype: Arc::clone(datatype), values });
    }
    Ok(all.map(|counts| Edit::AppendElements { group: target, along, counts, arrays }))
}

/// The dimension along which the arrays of a group of the store grow, and their names. `None` if there are none.
fn growing(editing: &Editing, group: &NodePath) -> Result<Option<(usize, Vec<String>)>> {
    let source = &*editing.source;
    let handle = source.find(group)?.handle;
    if source.cells(&handle)?.is_some() {
        return Ok(None);
    }
    let (mut names, mut along) = (Vec::new(), 0);
    for entry in source.members(&handle)? {
        if !matches!(entry.item, Item::Array { kind: NodeKind::Ndarray, .. }) {
            continue;
        }
        if let Node::Ndarray(node) = source.load(&entry.handle)?
            && let Shape::Dims(dims) = &node.shape
        {
            let can_grow = |extent: &Extent| !extent.is_fixed();
            along = dims.iter().position(|dimension| can_grow(&dimension.extent)).unwrap_or(0);
        }
        names.push(entry.handle.path.name().to_owned());
    }
    Ok((!names.is_empty()).then_some((along, names)))
}
