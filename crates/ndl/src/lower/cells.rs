//! Cells of sparse arrays.

use super::Lower;
use super::value::{Form, check};
use crate::extensions::Extension;
use crate::tree::{Entries, Key, Table, Tree};
use hyperslab_core::{Error, Result};
use hyperslab_model::{Cells, Elements};

impl Lower<'_> {
    /// The columns and rows of cells. Empty in pure NDL, which has no place for them.
    pub(crate) fn cells<'a>(&mut self, cells: &'a Cells) -> Result<Entries<'a>> {
        if self.pure {
            self.changed("values of sparse arrays are left out");
            return Ok(Entries::new());
        }
        let mut columns = Vec::with_capacity(cells.columns.len());
        for column in &cells.columns {
            let elements = Elements::new(&column.datatype, &column.values);
            let count = columns.first().map_or(elements.len(), ExactSizeIterator::len);
            if elements.len() != count {
                let found = elements.len();
                return Err(Error::invalid(format!(
                    "cells: {found} values of {}, expected {count}",
                    column.name
                )));
            }
            check(elements.clone(), false)?;
            columns.push(elements);
        }
        self.use_extension(Extension::Cells);
        let names = cells.columns.iter().map(|column| Tree::text(column.name.as_str()));
        let form = Form { named: false, pure: false, exact: true };
        Ok(vec![
            (Key::Word("columns"), Tree::list(names)),
            (Key::Word("rows"), Tree::Table(Table { columns, form })),
        ])
    }
}
