//! Prints the cells of a sparse array: one line for each cell, read in batches.

use super::{field, is_number, push, write_head};
use crate::args::Form;
use crate::output::{Column, Table};
use crate::terminal::{self, Out};
use hyperslab::model::{Cells, Elements};
use hyperslab::show::ShownCells;
use hyperslab::{Error, Result, ndl};
use std::io::Write;

pub(super) fn write(shown: &ShownCells, form: Form, paint: bool, out: &mut Out<'_>) -> Result<()> {
    match form {
        Form::Table => table(shown, paint, out),
        Form::Csv => separated(shown, ',', out),
        Form::Tsv => separated(shown, '\t', out),
        Form::Json => json(shown, out),
        Form::Npy | Form::Raw => {
            let detail = "cells of a sparse array have columns of different types";
            Err(Error::unsupported(detail).with_hint("use --as csv or --as json"))
        }
    }
}

/// Columns as wide as their widest value. The cells are read twice, since the width is known only after all were
/// read, and memory must not grow with their number.
fn table(shown: &ShownCells, paint: bool, out: &mut Out<'_>) -> Result<()> {
    let head = match shown.count {
        1 => format!("# {} 1 cell", shown.name),
        count => format!("# {} {count} cells", shown.name),
    };
    write_head(&head, paint, out)?;
    let columns = shown.columns();
    let column = |column: &&hyperslab::cells::CellColumn| Column {
        header: column.name.clone(),
        numbers: is_number(&column.datatype),
    };
    let mut rows = Table::new(columns.iter().map(column).collect());
    for batch in shown.batches()? {
        rows.clear();
        each_row(&batch?, &mut |row| {
            row.for_each(|element| rows.cell(ndl::plain(element)));
            Ok(())
        })?;
    }
    rows.write_header(out, paint)?;
    for batch in shown.batches()? {
        rows.clear();
        each_row(&batch?, &mut |row| {
            row.for_each(|element| rows.cell(ndl::plain(element)));
            Ok(())
        })?;
        rows.write_rows(out)?;
    }
    Ok(())
}

/// A line with the names of the columns, then one line for each cell.
fn separated(shown: &ShownCells, separator: char, out: &mut Out<'_>) -> Result<()> {
    let names: Vec<String> =
        shown.columns().iter().map(|column| field(&column.name, separator, out)).collect();
    writeln!(out, "{}", names.join(&separator.to_string()))?;
    let mut line = String::new();
    for batch in shown.batches()? {
        each_row(&batch?, &mut |row| {
            line.clear();
            push(&mut line, row, separator, out);
            Ok(writeln!(out, "{line}")?)
        })?;
    }
    Ok(())
}

/// `columns` and `rows`, as in NDL.
fn json(shown: &ShownCells, out: &mut Out<'_>) -> Result<()> {
    let names = shown.columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    write!(out, "{{\"columns\": {}, \"rows\": [", terminal::json(serde_json::Value::from(names)))?;
    let mut is_first = true;
    for batch in shown.batches()? {
        each_row(&batch?, &mut |row| {
            let values: Vec<String> = row.map(ndl::json).collect();
            let comma = if is_first { "" } else { ", " };
            is_first = false;
            Ok(write!(out, "{comma}[{}]", values.join(", "))?)
        })?;
    }
    writeln!(out, "]}}")?;
    Ok(())
}

/// Calls a function with each cell of a batch, its values column by column.
fn each_row(
    batch: &Cells,
    visit: &mut dyn FnMut(&mut dyn Iterator<Item = hyperslab::model::ElementRef<'_>>) -> Result<()>,
) -> Result<()> {
    let mut columns: Vec<Elements<'_>> = batch.columns.iter().map(|column| column.elements()).collect();
    for _ in 0..batch.len() {
        visit(&mut columns.iter_mut().filter_map(Iterator::next))?;
    }
    Ok(())
}
