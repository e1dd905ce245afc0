//! A source in which tables of cells are shown as sparse arrays again.

use super::cells::{StoredColumn, TableCells};
use super::mark::Mark;
use super::{CELL, MARK};
use crate::cells::{CellColumn, CellSource};
use crate::source::{
    ArraySource, ByGroup, ColumnOfCells, Declared, Entry, Handle, Item, Source, SourceView, Stored,
};
use hyperslab_core::{Error, Result, valid};
use hyperslab_model::{Datatype, DimCoord, Dimension, Ndarray, Node, NodeKind, NodePath, Pad, Shape, Text};
use std::sync::Arc;

/// A source in which tables of cells are shown as sparse arrays. A table that does not fit its mark is shown as it is
/// stored.
pub(crate) struct Restored {
    source: Arc<dyn Source>,
    /// The groups that were looked up.
    known: ByGroup<Option<Arc<Sparse>>>,
}

/// A sparse array that is stored as a table.
struct Sparse {
    mark: Mark,
    cells: Arc<TableCells>,
}

impl Sparse {
    /// Whether a member of the group does not belong to the sparse array.
    fn hides(&self, name: &str) -> bool {
        self.mark.along == name || self.mark.valid.iter().any(|(_, valid)| valid == name)
    }

    fn datatype(&self, name: &str) -> Option<&Arc<Datatype>> {
        let column = self.cells.columns().iter().find(|column| column.name == name)?;
        Some(&column.datatype)
    }

    /// A column, without its attributes.
    fn column(&self, path: &NodePath) -> Option<Node> {
        let mut node = self.mark.column(path.name(), &path.parent()?)?;
        let datatype = self.datatype(path.name())?;
        match &mut node {
            Node::DimCoord(DimCoord { datatype: of, storage, .. }) => {
                if of.as_ref().is_some_and(|of| !of.same_content(datatype)) {
                    storage.domain = None;
                }
                *of = Some(Arc::clone(datatype));
            }
            Node::Ndarray(Ndarray { datatype: of, .. }) => *of = Some(Arc::clone(datatype)),
            _ => return None,
        }
        Some(node)
    }

    fn entry(&self, handle: Handle) -> Option<Entry> {
        let node = self.column(&handle.path)?;
        let kind = node.kind();
        let shape = match &node {
            Node::DimCoord(dimcoord) => {
                Shape::Dims(vec![Dimension { extent: dimcoord.size, coordinate: None }])
            }
            Node::Ndarray(array) => array.shape.clone(),
            _ => return None,
        };
        let stored = match node.storage().filter(|storage| storage.chunk.is_some()) {
            Some(storage) => Stored::Chunks(Arc::new(storage.clone())),
            None => Stored::Nothing,
        };
        Some(Entry { handle, item: Item::Array { kind, datatype: node.datatype().cloned(), shape, stored } })
    }
}

impl Restored {
    /// The same source, with sparse arrays in place of tables of cells.
    pub(crate) fn shared(source: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(Restored { source, known: ByGroup::default() })
    }

    /// The sparse array at a group.
    fn sparse(&self, group: &NodePath) -> Result<Option<Arc<Sparse>>> {
        self.known.get(group, || Ok(self.read(group)?.map(Arc::new)))
    }

    fn read(&self, group: &NodePath) -> Result<Option<Sparse>> {
        let Some(entry) = valid(self.source.find(group))? else { return Ok(None) };
        let Some(Node::Group(node)) = valid(self.source.load(&entry.handle))? else { return Ok(None) };
        // A mark that hyperslab did not write, or that another program has truncated, is an ordinary attribute.
        let Some(mark) = valid(Mark::of(&node.attributes))?.flatten() else { return Ok(None) };
        let (mut columns, mut stored, mut length) = (Vec::new(), Vec::new(), None);
        for (name, node) in &mark.columns {
            let Some(recorded) = node.datatype() else { return Ok(None) };
            let Some(values) = self.stored(group, name, &mut length)? else { return Ok(None) };
            let (is_nullable, recorded) = match (recorded.resolved(), mark.valid_of(name)) {
                (Datatype::Nullable(of), Some(_)) => (true, &**of),
                (of, None) => (false, of),
                (_, Some(_)) => return Ok(None),
            };
            let Some(datatype) = restored(&*values, recorded) else { return Ok(None) };
            let valid = match mark.valid_of(name) {
                None => None,
                Some(valid) => match self.stored(group, valid, &mut length)? {
                    Some(valid) if valid.datatype().row_size() == Some(1) => Some(valid),
                    _ => return Ok(None),
                },
            };
            let datatype = match is_nullable {
                true => Arc::new(Datatype::Nullable(Box::new(Datatype::clone(&datatype)))),
                false => datatype,
            };
            let is_dimension = matches!(node, Node::DimCoord(_));
            columns.push(CellColumn { name: name.clone(), datatype, is_dimension, is_ordered: false });
            stored.push(StoredColumn { values, valid });
        }
        let Some(count) = length else { return Ok(None) };
        // Dimensions come before attributes.
        if !columns.iter().map(|column| !column.is_dimension).is_sorted() {
            return Ok(None);
        }
        Ok(Some(Sparse { mark, cells: Arc::new(TableCells::new(columns, stored, count)) }))
    }

    /// The array of a column, if it has the length of the others.
    fn stored(
        &self,
        group: &NodePath,
        name: &str,
        length: &mut Option<u64>,
    ) -> Result<Option<Arc<dyn ArraySource>>> {
        let Some(entry) = valid(self.source.find(&group.child(name)))? else { return Ok(None) };
        if !is_along_cells(&entry) {
            return Ok(None);
        }
        let Some(array) = valid(self.source.array(&entry.handle))? else { return Ok(None) };
        let own = array.extents().and_then(|extents| extents.first().copied());
        match own {
            Some(own) if length.is_none_or(|length| length == own) => {
                *length = Some(own);
                Ok(Some(array))
            }
            _ => Ok(None),
        }
    }

    /// The sparse array of which an object may be a member, as far as this is known without reading its group.
    fn sparse_of(&self, entry: &Entry) -> Result<Option<Arc<Sparse>>> {
        match entry.handle.path.parent() {
            Some(group) if is_along_cells(entry) || is_cell_dimension(entry) => self.sparse(&group),
            _ => Ok(None),
        }
    }

    /// An object as this source lists it; `None` if it is hidden.
    fn shown(&self, entry: Entry) -> Result<Option<Entry>> {
        let Some(sparse) = self.sparse_of(&entry)? else { return Ok(Some(entry)) };
        match sparse.hides(entry.handle.path.name()) {
            true => Ok(None),
            false => Ok(sparse.entry(entry.handle.clone()).or(Some(entry))),
        }
    }
}

impl SourceView for Restored {
    fn viewed(&self) -> &dyn Source {
        &*self.source
    }

    fn entry_at(&self, path: &NodePath) -> Result<Entry> {
        let entry = self.source.find(path)?;
        self.shown(entry)?.ok_or_else(|| Error::not_found(format!("no object {path}")))
    }

    fn entries_in(&self, group: &Handle) -> Result<Vec<Entry>> {
        let members = self.source.members(group)?;
        if !members.iter().any(is_along_cells) {
            // The attributes of the group need not be examined.
            self.known.note(&group.path, None);
            return Ok(members);
        }
        members.into_iter().filter_map(|entry| self.shown(entry).transpose()).collect()
    }

    fn node_of(&self, object: &Handle) -> Result<Node> {
        let mut node = self.source.load(object)?;
        let path = &object.path;
        match &mut node {
            Node::Group(group) if group.attributes.contains_key(MARK) => {
                if let Some(sparse) = self.sparse(path)? {
                    group.attributes.shift_remove(MARK);
                    for (format, directives) in &sparse.mark.storage.native {
                        let own = group.storage.native_mut(format)?;
                        own.retain(|(key, _)| !directives.iter().any(|(kept, _)| kept == key));
                        own.extend(directives.iter().cloned());
                    }
                }
            }
            Node::Ndarray(array) if is_of_cells(array.shape.dims()) => {
                if let Some(group) = path.parent()
                    && let Some(sparse) = self.sparse(&group)?
                    && let Some(mut column) = sparse.column(path)
                {
                    let mut attributes = std::mem::take(&mut array.attributes);
                    // Booleans stored as integers have this attribute for xarray.
                    let is_integer = |of: &Arc<Datatype>| matches!(of.resolved(), Datatype::Int { .. });
                    let says_bool = array.datatype.as_ref().is_some_and(is_integer)
                        && sparse.datatype(path.name()).is_some_and(|of| **of == Datatype::Bool);
                    // Strings stored as characters have this attribute for xarray.
                    let is_text = |of: &Arc<Datatype>| matches!(of.resolved(), Datatype::String(_));
                    let says_encoding =
                        array.shape.dims().len() == 2 && sparse.datatype(path.name()).is_some_and(is_text);
                    attributes.retain(|name, _| {
                        !(sparse.mark.is_added(path.name(), name)
                            || says_bool && name == "dtype"
                            || says_encoding && name == "_Encoding")
                    });
                    if let Some(own) = column.attributes_mut() {
                        *own = attributes;
                    }
                    return Ok(column);
                }
            }
            _ => {}
        }
        Ok(node)
    }

    fn elements_of(&self, object: &Handle) -> Result<Arc<dyn ArraySource>> {
        let array = self.source.array(object)?;
        // For objects that cannot be a column, the group need not be examined.
        let is_table = |group: &NodePath| self.known.known(group).is_none_or(|table| table.is_some());
        let has_rank = array.extents().is_some_and(|extents| !extents.is_empty());
        if !has_rank || !object.path.parent().is_some_and(|group| is_table(&group)) {
            return Ok(array);
        }
        let entry = self.source.find(&object.path)?;
        let Some(sparse) = self.sparse_of(&entry)? else { return Ok(array) };
        let Some(node) = sparse.column(&object.path) else { return Ok(array) };
        let extents = match &node {
            Node::DimCoord(dimcoord) => vec![dimcoord.size.current()],
            other => other.shape(&object.path).and_then(|shape| shape.current()).unwrap_or_default(),
        };
        let datatype = node.datatype().cloned().unwrap_or_else(|| Arc::clone(array.datatype()));
        let chunk = vec![1; extents.len()];
        Ok(Arc::new(ColumnOfCells {
            extents,
            datatype,
            chunk,
            pool: array.pool().clone(),
            stored: Box::new(move || array.stored()),
        }))
    }

    fn cells_of(&self, group: &Handle) -> Result<Option<Arc<dyn CellSource>>> {
        if let Some(cells) = self.source.cells(group)? {
            return Ok(Some(cells));
        }
        Ok(self.sparse(&group.path)?.map(|sparse| Arc::clone(&sparse.cells) as Arc<dyn CellSource>))
    }

    fn declared_in(&self, group: &Handle, members: &[Entry]) -> Result<Vec<Declared>> {
        match self.sparse(&group.path)? {
            None => self.source.declared(group, members),
            Some(_) => Ok((0..).zip(members).map(|(place, _)| Declared { place, dimension: None }).collect()),
        }
    }

    fn attribute_order_of(&self, object: &Handle) -> Result<Option<Vec<String>>> {
        let Some(mut names) = self.source.stored_order_of_attributes(object)? else { return Ok(None) };
        if names.iter().any(|name| name == MARK) && self.sparse(&object.path)?.is_some() {
            names.retain(|name| name != MARK);
        }
        Ok(Some(names))
    }
}

/// Whether an object is an array that may be a column of a table.
fn is_along_cells(entry: &Entry) -> bool {
    matches!(&entry.item, Item::Array { kind: NodeKind::Ndarray, shape, .. } if is_of_cells(shape.dims()))
}

/// Whether an object may be the dimension of a table.
fn is_cell_dimension(entry: &Entry) -> bool {
    matches!(&entry.item, Item::Array { kind: NodeKind::DimCoord, datatype: None, .. })
        && entry.handle.path.name().starts_with(CELL)
}

/// Whether an array has the dimension of a table. Other dimensions are those of the characters of strings and of arrays
/// in cells.
fn is_of_cells(dims: &[Dimension]) -> bool {
    let is_cells = |of: &Dimension| of.coordinate.as_ref().is_some_and(|path| path.name().starts_with(CELL));
    dims.first().is_some_and(is_cells)
}

/// The datatype of the values of a column whose original type is `recorded`: that type if formats store the same rows
/// under another type, otherwise the stored one. `None` if the array is not such a column.
fn restored(array: &dyn ArraySource, recorded: &Datatype) -> Option<Arc<Datatype>> {
    let (_, inner) = array.extents()?.split_first()?;
    of_cell(array.datatype(), inner, recorded)
}

/// The datatype of a cell whose elements lie along `inner` dimensions.
fn of_cell(stored: &Arc<Datatype>, inner: &[u64], recorded: &Datatype) -> Option<Arc<Datatype>> {
    match (recorded.resolved(), inner) {
        (_, []) => {}
        (Datatype::Array { base, shape }, _) => {
            let rest = inner.strip_prefix(&**shape)?;
            let base = Box::new(Datatype::clone(&*of_cell(stored, rest, base)?));
            return Some(Arc::new(Datatype::Array { base, shape: shape.clone() }));
        }
        (Datatype::String(_), [characters]) => {
            let len = u32::try_from(*characters).ok()?;
            let is_character =
                stored.row_size() == Some(1) && matches!(stored.resolved(), Datatype::String(_));
            return is_character.then(|| Arc::new(Datatype::String(Text::Fixed { len, pad: Pad::Nul })));
        }
        _ => return None,
    }
    if stored.same_content(recorded) {
        return Some(Arc::clone(stored));
    }
    let same_rows = match (stored.resolved(), recorded.resolved()) {
        (Datatype::Int { .. }, Datatype::Datetime(_) | Datatype::Enum { .. } | Datatype::Time { .. })
        | (Datatype::Enum { .. } | Datatype::Int { .. }, Datatype::Bool)
        | (Datatype::Compound(_), Datatype::Complex(_)) => stored.row_size() == recorded.row_size(),
        _ => false,
    };
    Some(if same_rows { Arc::new(recorded.clone()) } else { Arc::clone(stored) })
}
