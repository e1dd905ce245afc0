//! Cells of a sparse array.

use super::Encoded;
use crate::cells::{CellBatches, CellColumn, CellQuery, CellSource};
use crate::decode::{Decoder, Times};
use crate::location::LocatedObject;
use crate::select::{self, Select};
use crate::source::{Item, Source};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Cells, Column, NodePath};
use std::sync::Arc;

/// Cells of a sparse array, sorted by their coordinates.
#[allow(missing_debug_implementations, reason = "cells are read from a source, which has no text form")]
pub struct ShownCells {
    /// The path of the group, or of the only requested column.
    pub name: String,
    /// The number of cells.
    pub count: u64,
    /// The columns that are shown as stored although attributes give their numbers another meaning.
    pub encoded: Vec<(String, Encoded)>,
    cells: Arc<dyn CellSource>,
    query: CellQuery,
    columns: Vec<CellColumn>,
    /// For each column; none if values are shown as stored.
    decoders: Vec<Decoder>,
    group: NodePath,
}

impl ShownCells {
    /// The columns, in the order of the columns of a batch.
    pub fn columns(&self) -> Vec<&CellColumn> {
        self.columns.iter().collect()
    }

    /// Reads the cells. Can be called several times.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn batches(&self) -> Result<CellBatches<'_>> {
        let batches = self.cells.batches(&self.query)?;
        if self.decoders.is_empty() {
            return Ok(batches);
        }
        Ok(Box::new(batches.map(|batch| self.decode(batch?))))
    }

    /// The same cells with CF attributes applied to the columns, as [`ShowOptions::decode`](super::ShowOptions::decode)
    /// does for an array. Columns of times are read once to find their unit.
    ///
    /// # Errors
    /// If attributes or times cannot be read.
    pub fn decoded(mut self, source: &dyn Source) -> Result<ShownCells> {
        let decoders: Result<Vec<_>> =
            self.columns.iter().map(|column| decoder(source, &self.group, column)).collect();
        let mut decoders = decoders?;
        let indexes = self.query.columns.clone().unwrap_or_else(|| (0..self.columns.len()).collect());
        let (mut times, mut read) = (Vec::new(), Vec::new());
        for (decoder, index) in decoders.iter_mut().zip(indexes) {
            if decoder.is_time() {
                times.push((decoder, Times::default()));
                read.push(index);
            }
        }
        if !times.is_empty() {
            for batch in self.cells.batches(&CellQuery { columns: Some(read), ..self.query.clone() })? {
                for ((decoder, seen), column) in times.iter_mut().zip(&batch?.columns) {
                    decoder.see(&column.values, seen);
                }
            }
        }
        times.into_iter().for_each(|(decoder, seen)| decoder.settle(seen));
        for (column, decoder) in self.columns.iter_mut().zip(&decoders) {
            column.datatype = Arc::clone(decoder.datatype());
        }
        self.decoders = decoders;
        self.encoded.clear();
        Ok(self)
    }

    fn decode(&self, batch: Cells) -> Result<Cells> {
        let columns = batch.columns.into_iter().zip(&self.decoders).map(|(column, decoder)| {
            let datatype = Arc::clone(decoder.datatype());
            Ok(Column { datatype, values: decoder.decode(column.values)?, ..column })
        });
        Ok(Cells { columns: columns.collect::<Result<_>>()? })
    }
}

/// The cells of a sparse array, or some of its columns with the coordinates of the cells; `None` if the targets have no
/// cells. Selections give coordinate bounds. Batches are read on demand.
///
/// # Errors
/// [`InvalidArgument`](hyperslab_core::ErrorKind::InvalidArgument) if only some of the targets are columns of the
/// array, if positions are selected, or something that is not a dimension; if the cells cannot be located.
pub fn show_cells(
    source: &dyn Source,
    targets: &[LocatedObject],
    selections: &[Select],
) -> Result<Option<ShownCells>> {
    let Some((target, others)) = targets.split_first() else { return Ok(None) };
    let handle = &target.entry.handle;
    if targets.iter().any(|target| target.attribute.is_some()) {
        return Ok(None);
    }
    let group = match &target.entry.item {
        Item::Group => handle.clone(),
        Item::Array { .. } => match handle.path.parent() {
            Some(group) => source.find(&group)?.handle,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let Some(cells) = source.cells(&group)? else { return Ok(None) };
    let columns = match group.path == handle.path {
        true => None,
        false => match columns(&*cells, &group.path, targets)? {
            None => return Ok(None),
            columns => columns,
        },
    };
    if let (None, Some(other)) = (&columns, others.first()) {
        let text = format!("is requested in addition to all of {}", group.path);
        return Err(Error::invalid(text).in_object(&other.entry.handle.path));
    }
    let ranges = select::ranges(source, &group, cells.columns(), selections);
    let ranges = ranges.map_err(|error| error.in_object(&handle.path))?;
    let query = CellQuery { columns, ranges, ..CellQuery::default() };
    let count = cells.count(&query).map_err(|error| error.in_object(&handle.path))?;
    let all = cells.columns();
    let columns: Vec<CellColumn> = match &query.columns {
        None => all.to_vec(),
        Some(indexes) => indexes.iter().filter_map(|index| all.get(*index)).cloned().collect(),
    };
    let encoded = columns.iter().filter_map(|column| {
        // Stored values can be shown even if attributes cannot be read.
        let decoder = decoder(source, &group.path, column).ok()?;
        Some((group.path.child(&column.name).to_string(), decoder.encoded()?))
    });
    let (encoded, decoders) = (encoded.collect(), Vec::new());
    let name = if others.is_empty() { &handle.path } else { &group.path }.to_string();
    let group = group.path;
    Ok(Some(ShownCells { name, count, encoded, cells, query, columns, decoders, group }))
}

/// The decoder of a column, which is a member of the group.
fn decoder(source: &dyn Source, group: &NodePath, column: &CellColumn) -> Result<Decoder> {
    let path = group.child(&column.name);
    let node = source.find(&path).and_then(|entry| source.load(&entry.handle));
    Ok(Decoder::new(source, &path, &node.map_err(|error| error.in_object(&path))?, &column.datatype))
}

/// The indexes of the coordinate columns and of the wanted ones; `None` if none of the wanted ones is a column.
///
/// # Errors
/// If only some of the wanted ones are columns.
fn columns(cells: &dyn CellSource, group: &NodePath, wanted: &[LocatedObject]) -> Result<Option<Vec<usize>>> {
    let columns = cells.columns();
    let paths: Vec<NodePath> = columns.iter().map(|column| group.child(&column.name)).collect();
    let wanted: Vec<&NodePath> = wanted.iter().map(|target| &target.entry.handle.path).collect();
    let (here, elsewhere): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|path| paths.contains(path));
    match (here.as_slice(), elsewhere.first()) {
        ([], _) => Ok(None),
        ([first, ..], Some(other)) => {
            let text = format!("is no column of the sparse array {group}, as {first} is");
            Err(Error::invalid(text).in_object(other))
        }
        (here, None) => {
            let all = columns.iter().zip(&paths).enumerate();
            let shown = all.filter(|(_, (column, path))| column.is_dimension || here.contains(path));
            Ok(Some(shown.map(|(index, _)| index).collect()))
        }
    }
}
