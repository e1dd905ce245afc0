//! Values in human-readable form: aligned columns.

use crate::output::{Column, Table};
use crate::terminal::{Out, harmless};
use hyperslab::Result;
use hyperslab::model::{Cells, Datatype, Element, ElementRef, Elements, Member};
use hyperslab::show::{Shown, ShownAxis, ShownCells};
use hyperslab::tabular::plain;
use std::io::Write;

/// Tables of at most two dimensions, one after another, each under a line with its position. Members of compounds are
/// columns, in tables of one dimension.
pub(super) fn write(shown: &Shown, paint: bool, out: &mut Out<'_>) -> Result<()> {
    let members = match shown.datatype.resolved() {
        Datatype::Compound(members) => members.as_slice(),
        _ => &[],
    };
    let depth = if members.is_empty() { 2 } else { 1 };
    let before = shown.axes.len().saturating_sub(depth);
    let (outer, inner) = shown.axes.split_at_checked(before).unwrap_or_default();
    let label =
        if members.is_empty() { shown.datatype.non_null().to_string() } else { "compound".to_owned() };
    let mut elements = shown.elements();
    let size: usize = inner.iter().map(ShownAxis::len).product();
    let count: usize = outer.iter().map(ShownAxis::len).product();
    // If there are no elements, one head is written for all tables.
    let (tables, outer) = if size == 0 || count == 0 { (1, &[][..]) } else { (count, outer) };
    let mut at = vec![0_usize; outer.len()];
    for index in 0..tables {
        if index > 0 {
            writeln!(out)?;
        }
        let mut head = format!("# {} {label}", shown.name);
        let fixed = shown.fixed.iter().map(|axis| (axis, 0));
        for (axis, position) in fixed.chain(outer.iter().zip(at.iter().copied())) {
            if let Some(label) = axis.label(position) {
                head.push_str(&format!(", {} {label}", axis.name));
            }
        }
        write_head(&head, paint, out)?;
        let own = elements.split(size);
        match inner {
            _ if count == 0 => {}
            [] if shown.is_null => writeln!(out, "null")?,
            [] if members.is_empty() => writeln!(out, "{}", own.map(text).collect::<String>())?,
            [] => compounds(None, members, own).write(out, paint)?,
            [axis] if members.is_empty() => list(axis, own).write(out, paint)?,
            [axis] => compounds(Some(axis), members, own).write(out, paint)?,
            [down, across, ..] => grid(down, across, own).write(out, paint)?,
        }
        for (axis, position) in outer.iter().zip(at.iter_mut()).rev() {
            *position += 1;
            if let Some(gap) = axis.gap().filter(|gap| gap.at == *position) {
                writeln!(out)?;
                write_head(&format!("# {GAP} {} more of {}", gap.count, axis.name), paint, out)?;
            }
            if *position < axis.len() {
                break;
            }
            *position = 0;
        }
    }
    Ok(())
}

/// The elements along one dimension, one per line.
fn list(axis: &ShownAxis, elements: Elements<'_>) -> Table {
    let numbers = is_number(elements.datatype());
    let mut rows = Table::new(vec![
        Column { header: axis.name.clone(), numbers: true },
        Column { header: String::new(), numbers },
    ]);
    for (at, (label, element)) in axis.labels().zip(elements).enumerate() {
        if is_gap(axis, at) {
            (0..2).for_each(|_| rows.cell(GAP));
        }
        rows.cell(label);
        rows.cell(text(element));
    }
    rows
}

/// The elements along two dimensions.
fn grid(down: &ShownAxis, across: &ShownAxis, mut elements: Elements<'_>) -> Table {
    let numbers = is_number(elements.datatype());
    let mut columns = vec![Column { header: format!("{} \\ {}", down.name, across.name), numbers: true }];
    for (at, header) in across.labels().enumerate() {
        if is_gap(across, at) {
            columns.push(Column { header: GAP.to_owned(), numbers });
        }
        columns.push(Column { header, numbers });
    }
    let width = columns.len();
    let mut rows = Table::new(columns);
    for (at, label) in down.labels().enumerate() {
        if is_gap(down, at) {
            (0..width).for_each(|_| rows.cell(GAP));
        }
        rows.cell(label);
        for (at, element) in elements.split(across.len()).enumerate() {
            if is_gap(across, at) {
                rows.cell(GAP);
            }
            rows.cell(text(element));
        }
    }
    rows
}

/// Compounds, one per line, with a column for each member.
fn compounds(axis: Option<&ShownAxis>, members: &[Member], elements: Elements<'_>) -> Table {
    let mut columns: Vec<Column> =
        axis.iter().map(|axis| Column { header: axis.name.clone(), numbers: true }).collect();
    let column =
        |member: &Member| Column { header: member.name.clone(), numbers: is_number(&member.datatype) };
    columns.extend(members.iter().map(column));
    let width = columns.len();
    let mut rows = Table::new(columns);
    for (at, element) in elements.enumerate() {
        if let Some(axis) = axis {
            if is_gap(axis, at) {
                (0..width).for_each(|_| rows.cell(GAP));
            }
            rows.cell(axis.label(at).unwrap_or_default());
        }
        if let Element::Compound(fields) = element.get() {
            fields.for_each(|(_, field)| rows.cell(text(field)));
        }
    }
    rows
}

/// Whether positions are omitted before the shown position with index `at`.
fn is_gap(axis: &ShownAxis, at: usize) -> bool {
    axis.gap().is_some_and(|gap| gap.at == at)
}

/// The text of an element. Missing ones are `_`, as in CDL.
fn text(element: ElementRef<'_>) -> String {
    match (element.datatype().resolved(), element.get()) {
        (Datatype::Nullable(_), Element::Null) => "_".to_owned(),
        _ => plain(element),
    }
}

/// The text that stands for omitted elements.
const GAP: &str = "\u{2026}";

/// Writes the line above a table.
fn write_head(head: &str, paint: bool, out: &mut Out<'_>) -> Result<()> {
    let head = harmless(head);
    match paint {
        true => out.own(format_args!("\x1b[2m{head}\x1b[0m\n"))?,
        false => writeln!(out, "{head}")?,
    }
    Ok(())
}

fn is_number(datatype: &Datatype) -> bool {
    matches!(
        datatype.non_null(),
        Datatype::Int { .. } | Datatype::Float(_) | Datatype::Time { .. } | Datatype::Bitfield { .. }
    )
}

/// The cells of a sparse array, one per line, in columns as wide as their widest value. The cells are read twice: the
/// widths are known only after all of them have been read, and memory must not grow with their number.
pub(super) fn cells(shown: &ShownCells, paint: bool, out: &mut Out<'_>) -> Result<()> {
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
        each_row(&batch?, &mut |row| row.for_each(|element| rows.cell(text(element))));
    }
    rows.write_header(out, paint)?;
    for batch in shown.batches()? {
        rows.clear();
        each_row(&batch?, &mut |row| row.for_each(|element| rows.cell(text(element))));
        rows.write_rows(out)?;
    }
    Ok(())
}

/// Calls a function with each cell of a batch, its values column by column.
fn each_row(batch: &Cells, visit: &mut dyn FnMut(&mut dyn Iterator<Item = ElementRef<'_>>)) {
    let mut columns: Vec<Elements<'_>> = batch.columns.iter().map(|column| column.elements()).collect();
    for _ in 0..batch.len() {
        visit(&mut columns.iter_mut().filter_map(Iterator::next));
    }
}
