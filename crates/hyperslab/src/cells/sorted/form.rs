//! Cells as records: bytes that compare in the order of the cells, and from which the cells can be read back.
//!
//! A record contains the coordinates in an order-preserving form, then the canonical bytes of the attributes, then
//! those of coordinates that can be equal despite different bytes. No part is a prefix of another part of the same
//! column, so records compare as their parts do.

use super::records::{LENGTH, MAX_FIXED, length};
use crate::cells::CellColumn;
use crate::cells::part::{Part, Unpacked, has_references};
use crate::cells::scratch::broken;
use hyperslab_core::{Error, Result};
use hyperslab_model::{Cells, Column};
use std::ops::Range;

/// How cells of these columns are encoded as records.
pub(super) struct Form {
    columns: Vec<CellColumn>,
    parts: Vec<Placed>,
    /// The columns that are read back.
    wanted: Vec<usize>,
}

/// A part of a record.
struct Placed {
    column: usize,
    part: Part,
    /// Whether the column is read back from it.
    is_value: bool,
}

impl Form {
    /// The form for columns, dimensions first, of which `wanted` are read back.
    pub(super) fn new(columns: &[CellColumn], wanted: Vec<usize>) -> Result<Form> {
        if let Some(index) = wanted.iter().find(|index| **index >= columns.len()) {
            return Err(Error::invalid(format!("column {index} of {}", columns.len())));
        }
        if let Some(column) = columns.iter().find(|column| has_references(&column.datatype)) {
            return Err(Error::unsupported(format!("sorting cells with references ({:?})", column.name)));
        }
        let (mut parts, mut last) = (Vec::new(), Vec::new());
        for (column, CellColumn { datatype, is_dimension, .. }) in columns.iter().enumerate() {
            let canonical = || Part::canonical(datatype);
            if !is_dimension {
                parts.push(Placed { column, part: canonical(), is_value: true });
                continue;
            }
            let part = Part::coordinate(datatype);
            let is_value = part.is_exact();
            parts.push(Placed { column, part, is_value });
            if !is_value {
                last.push(Placed { column, part: canonical(), is_value: true });
            }
        }
        parts.extend(last);
        Ok(Form { columns: columns.to_vec(), parts, wanted })
    }

    /// The size of a record, a multiple of 8, if all records have the same size and it is not large.
    pub(super) fn fixed(&self) -> Option<usize> {
        let sizes = self.parts.iter().map(|placed| placed.part.size());
        let size = sizes.into_iter().try_fold(0_usize, |sum, size| sum.checked_add(size?))?;
        let size = size.max(1).checked_next_multiple_of(8)?;
        (size <= MAX_FIXED).then_some(size)
    }

    /// The size of the rows of the columns that are read back.
    pub(super) fn row_size(&self) -> usize {
        let columns = self.wanted.iter().filter_map(|column| self.columns.get(*column));
        columns.fold(0, |sum, column| sum.saturating_add(column.datatype.row_size().unwrap_or(usize::MAX)))
    }

    /// Checks that a batch has these columns, all of the same length.
    pub(super) fn check(&self, cells: &Cells) -> Result<()> {
        let (found, expected) = (cells.columns.len(), self.columns.len());
        if found != expected {
            return Err(Error::invalid(format!("cells of {found} columns, expected {expected}")));
        }
        let count = cells.len();
        for (found, expected) in cells.columns.iter().zip(&self.columns) {
            let name = &expected.name;
            if found.len() != count {
                let message =
                    format!("column {name:?} has {} values, the first column has {count}", found.len());
                return Err(Error::invalid(message));
            }
            if found.datatype.row_size() != expected.datatype.row_size() {
                let (found, expected) = (&found.datatype, &expected.datatype);
                return Err(Error::invalid(format!("column {name:?} of type {found}, expected {expected}")));
            }
        }
        Ok(())
    }

    /// Appends the records of some cells, each of `size` bytes.
    pub(super) fn encode_fixed(
        &self,
        cells: &Cells,
        range: Range<usize>,
        size: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        out.resize(start.saturating_add(range.len().saturating_mul(size)), 0);
        let records = out.get_mut(start..).unwrap_or_default();
        let mut at = 0_usize;
        for placed in &self.parts {
            let column = cells.columns.get(placed.column).ok_or_else(broken)?;
            placed.part.encode_each(column, range.clone(), records, size, at)?;
            at = at.saturating_add(placed.part.size().unwrap_or(0));
        }
        Ok(())
    }

    /// Appends the record of one cell.
    pub(super) fn encode(&self, cells: &Cells, cell: usize, out: &mut Vec<u8>) -> Result<()> {
        for placed in &self.parts {
            let element = cells.columns.get(placed.column).and_then(|column| column.get(cell));
            placed.part.encode(element.ok_or_else(broken)?, out)?;
        }
        Ok(())
    }

    /// Reads `count` cells back from records, which are preceded by their length if they are not of fixed size.
    pub(super) fn decode(&self, records: &[u8], count: usize) -> Result<Cells> {
        let mut columns: Vec<Unpacked> = self.columns.iter().map(|_| Unpacked::default()).collect();
        match self.fixed() {
            Some(size) => {
                let mut at = 0_usize;
                for placed in &self.parts {
                    let column = columns.get_mut(placed.column).ok_or_else(broken)?;
                    if placed.is_value && self.wanted.contains(&placed.column) {
                        placed.part.decode_each(records, size, at, column)?;
                    }
                    at = at.saturating_add(placed.part.size().unwrap_or(0));
                }
            }
            None => {
                let mut rest = records;
                for _ in 0..count {
                    let end =
                        length(rest).and_then(|length| length.checked_add(LENGTH)).ok_or_else(broken)?;
                    let (record, others) = rest.split_at_checked(end).ok_or_else(broken)?;
                    let mut record = record.get(LENGTH..).unwrap_or_default();
                    for placed in &self.parts {
                        let column = columns.get_mut(placed.column).ok_or_else(broken)?;
                        match placed.is_value {
                            true => placed.part.decode(&mut record, column)?,
                            false => placed.part.skip(&mut record)?,
                        }
                    }
                    rest = others;
                }
            }
        }
        let mut found = Vec::with_capacity(self.wanted.len());
        for wanted in &self.wanted {
            let column = self.columns.get(*wanted).ok_or_else(broken)?;
            // A column can be requested twice.
            let unpacked = columns.get(*wanted).ok_or_else(broken)?.clone();
            let (name, datatype) = (column.name.clone(), column.datatype.clone());
            found.push(Column { name, datatype, values: unpacked.values() });
        }
        Ok(Cells { columns: found })
    }
}
