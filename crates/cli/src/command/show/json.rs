//! Values as JSON.

use super::rows::each_row;
use crate::terminal::{self, Out};
use hyperslab::model::Elements;
use hyperslab::show::Shown;
use hyperslab::tabular::{Tabular, TabularColumn};
use hyperslab::{Result, ndl};
use std::io::Write;

/// A list with an object for each row, whose keys are the names of the columns.
pub(super) fn records(tabular: &Tabular<'_>, out: &mut Out<'_>) -> Result<()> {
    let key = |column: &TabularColumn| terminal::json(serde_json::Value::from(column.name.as_str()));
    let keys: Vec<String> = tabular.columns().iter().map(key).collect();
    let mut line = String::new();
    let mut is_first = true;
    write!(out, "[")?;
    each_row(tabular, &|element| ndl::json(element), &mut |cells| {
        line.clear();
        line.push_str(if is_first { "{" } else { ",\n {" });
        is_first = false;
        for (index, (key, cell)) in keys.iter().zip(cells).enumerate() {
            if index > 0 {
                line.push_str(", ");
            }
            line.push_str(key);
            line.push_str(": ");
            line.push_str(&cell);
        }
        line.push('}');
        Ok(out.write_all(line.as_bytes())?)
    })?;
    writeln!(out, "]")?;
    Ok(())
}

/// Nested lists, one level for each dimension.
pub(super) fn lists(shown: &Shown, out: &mut Out<'_>) -> Result<()> {
    if shown.is_null {
        writeln!(out, "null")?;
        return Ok(());
    }
    let extents = shown.extents();
    let mut elements = shown.elements();
    nested(&extents, &mut elements, out)?;
    writeln!(out)?;
    Ok(())
}

fn nested(extents: &[usize], elements: &mut Elements<'_>, out: &mut Out<'_>) -> Result<()> {
    let Some((count, inner)) = extents.split_first() else {
        if let Some(element) = elements.next() {
            write!(out, "{}", ndl::json(element))?;
        }
        return Ok(());
    };
    write!(out, "[")?;
    for index in 0..*count {
        if index > 0 {
            write!(out, ", ")?;
        }
        nested(inner, elements, out)?;
    }
    write!(out, "]")?;
    Ok(())
}
