//! Writing and removing cells of sparse arrays.

use super::super::datatype::data_type;
use super::super::objects::{ArrayObject, Field};
use super::columns::{attribute_column, attribute_name, column, fill};
use super::condition::Fields;
use super::schema::{SchemaEdit, rectangle_text};
use super::{TileDbEditor, What};
use crate::editor::{Change, ChangeKind, Dates};
use hyperslab_core::store::Key;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Cells, NodePath};
use hyperslab_tiledb::write::delete::{DeletedCells, count_deleted};
use hyperslab_tiledb::write::sparse::{global_order, rectangle};

impl TileDbEditor {
    pub(super) fn write_cells(&mut self, path: &NodePath, cells: &Cells) -> Result<Change> {
        self.with_array(path, |editor, key, array| {
            if !array.is_sparse() {
                return Err(Error::invalid("is a dense array, to which no cells can be added"));
            }
            editor.plan_cells(path, key, array, cells)
        })
    }

    fn plan_cells(
        &mut self,
        path: &NodePath,
        key: &Key,
        array: &ArrayObject,
        cells: &Cells,
    ) -> Result<Change> {
        let mut evolution = self.evolution(key, &array.array)?;
        let schema = evolution.schema().clone();
        let (count, mut notes) = (cells.len(), Vec::new());
        let mut columns = Vec::new();
        let mut known = Vec::new();
        let given = |name: &str| cells.columns.iter().find(|column| column.name == name);
        for (position, dimension) in schema.domain.dimensions.iter().enumerate() {
            let name = array.name(Field::Dimension(position)).unwrap_or_default();
            let (datatype, _) = data_type(dimension.data_type, dimension.cell_val_num);
            let elements =
                given(name).ok_or_else(|| Error::invalid(format!("cells without coordinates of {name}")))?;
            columns.push(column(elements, &datatype, None)?);
            known.push(name.to_owned());
        }
        for attribute in &schema.attributes {
            let name = attribute_name(array, attribute);
            match given(&name) {
                Some(elements) => columns.push(attribute_column(&evolution, array, attribute, elements)?),
                None => {
                    notes.push(format!("{name} is not given, so it gets its fill value in all cells"));
                    columns.push(fill(attribute, count)?);
                }
            }
            known.push(name);
        }
        if let Some(other) = cells.columns.iter().find(|column| !known.contains(&column.name)) {
            let name = &other.name;
            let error =
                Error::invalid(format!("{name}, which is neither a dimension nor an attribute of the array"));
            let hint = crate::location::did_you_mean(name, known.iter().map(String::as_str));
            return Err(error.with_remedies(hint));
        }
        if count == 0 {
            return Err(Error::invalid("no cells to write"));
        }
        global_order(&schema, &columns, count)?;
        let around = rectangle(&schema, &columns)?;
        if evolution.grow_around(&around)? {
            let grown = evolution.schema().current_domain.as_ref().and_then(|of| of.rectangle.as_ref());
            notes.extend(
                grown.map(|grown| format!("the current domain grows to {}", rectangle_text(array, grown))),
            );
            self.push_schema(key, SchemaEdit::GrowAround(around.clone()));
        }
        let what = format!("cells within {}", rectangle_text(array, &around));
        self.push(key, What::Cells(columns, count));
        let cells = Some(count as u64);
        Ok(Change { cells, notes, ..Change::new(ChangeKind::Added, path, what) })
    }

    pub(super) fn remove_cells(&mut self, path: &NodePath, text: &str, dates: &Dates<'_>) -> Result<Change> {
        self.with_array(path, |editor, key, array| {
            let condition = Fields::of(&array.array)?.condition(text, dates)?;
            let counts = count_deleted(&array.array, &condition)?;
            let mut notes = reasons(&counts);
            if editor.planned(key).any(|what| matches!(what, What::Cells(..))) {
                notes.push(
                    "cells written earlier in this command are also removed, but not counted".to_owned(),
                );
            } else if counts.total() == 0 {
                notes.push("nothing is written, because no cell would be removed".to_owned());
            }
            let is_needed =
                counts.total() > 0 || editor.planned(key).any(|what| matches!(what, What::Cells(..)));
            if is_needed {
                editor.push(key, What::Delete(condition));
            }
            let (cells, what) = (Some(counts.total()), format!("cells where {text}"));
            Ok(Change { cells, notes, ..Change::new(ChangeKind::Removed, path, what) })
        })
    }
}

/// The reasons why cells are removed although the condition does not hold for them.
fn reasons(counts: &DeletedCells) -> Vec<String> {
    let reasons = [
        (counts.null, "a value that the condition compares is null"),
        (counts.not_a_number, "a value that the condition compares is not a number"),
        (counts.lacking, "they are older than an attribute that the condition compares"),
    ];
    let some = reasons.into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, why)| format!("{count} of them are removed because {why}")).collect()
}
