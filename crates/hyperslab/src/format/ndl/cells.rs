//! Cells in documents.

use crate::cells::{CellSource, CellTable};
use hyperslab_model::{Cells, Column, Content, Directive, Group, Node, NodePath, Shape, Values};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Moves the cells of all groups out of the content.
///
/// A sparse array without cells is empty, unless the document `is_partial` and states nothing about its cells.
pub(super) fn take(
    content: &mut Content,
    order: &[NodePath],
    is_partial: bool,
) -> FxHashMap<NodePath, Arc<CellTable>> {
    let mut tables = FxHashMap::default();
    for path in order {
        let Some(Node::Group(group)) = content.nodes.get_mut(path) else { continue };
        let cells = match group.cells.take() {
            Some(cells) => cells,
            None if is_sparse(group) && !is_partial => no_cells(content, path, order),
            None => continue,
        };
        let (cells, dimensions) = dimensions_first(content, path, cells);
        // The parser has checked that each row has a value for each column.
        if let Ok(table) = CellTable::new(cells, dimensions) {
            tables.insert(path.clone(), Arc::new(table));
        }
    }
    tables
}

/// The empty cells of a sparse array: their columns are the dimensions and arrays of the group.
fn no_cells(content: &Content, group: &NodePath, order: &[NodePath]) -> Cells {
    let members = order.iter().filter(|path| path.parent().as_ref() == Some(group));
    let column = |path: &NodePath| {
        let node = content.nodes.get(path)?;
        let datatype = Arc::clone(node.datatype()?);
        matches!(node, Node::DimCoord(_) | Node::Ndarray(_)).then(|| Column {
            name: path.name().to_owned(),
            datatype,
            values: Values::default(),
        })
    };
    Cells { columns: members.filter_map(column).collect() }
}

/// Sorts columns: first those of dimensions, in the order of the dimensions of the attributes, then those of
/// attributes, in the order of the document. Also returns the number of dimensions.
fn dimensions_first(content: &Content, group: &NodePath, cells: Cells) -> (Cells, usize) {
    let node = |column: &Column| content.nodes.get(&group.child(&column.name));
    let shape = cells.columns.iter().find_map(|column| match node(column) {
        Some(Node::Ndarray(array)) => Some(array.shape.clone()),
        _ => None,
    });
    let along = |name: &str| {
        let mut dims = shape.as_ref().map(Shape::dims).unwrap_or_default().iter();
        dims.position(|dimension| dimension.coordinate.as_ref().is_some_and(|at| at.name() == name))
    };
    let is_dimension = |column: &Column| matches!(node(column), Some(Node::DimCoord(_)));
    let (mut columns, attributes): (Vec<Column>, Vec<Column>) =
        cells.columns.into_iter().partition(|column| is_dimension(column));
    let dimensions = columns.len();
    columns.sort_by_key(|column| along(&column.name).unwrap_or(usize::MAX));
    columns.extend(attributes);
    (Cells { columns }, dimensions)
}

/// Whether the cells have a column for this member of the group.
pub(super) fn has_column(cells: &CellTable, name: &str) -> bool {
    cells.columns().iter().any(|column| column.name == name)
}

/// Whether a group is a sparse array.
pub(super) fn is_sparse(group: &Group) -> bool {
    let says_so =
        |(key, value): &(String, Directive)| key == "array" && *value == Directive::Text("sparse".to_owned());
    let native = group.storage.native.iter();
    native.flat_map(|(_, directives)| directives).any(says_so)
}
