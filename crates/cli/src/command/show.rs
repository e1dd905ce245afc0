//! `show LOCATION…`: prints or draws values.

mod json;
mod npy;
mod opened;
mod plot;
mod rows;
mod separated;
mod table;

pub(crate) use self::plot::Drawing;

use crate::args::{Common, Form, Show};
use crate::exit::Exit;
use crate::output::{Messages, paints_stdout};
use crate::terminal::Out;
use crate::words;
use hyperslab::show::{Abbreviation, ShowOptions, ShownCells, View, show_cells};
use hyperslab::tabular::Tabular;
#[cfg(feature = "arrow")]
use hyperslab::tabular::{write_arrow, write_parquet};
use hyperslab::{Error, ErrorKind, Pool, Result};

/// The part of large arrays that a terminal shows.
const SHORT: Abbreviation = Abbreviation { above: 1000, columns: 3, rows: 5, tables: 1 };

/// The object to show.
enum Found {
    Array(Box<View>),
    Cells(ShownCells),
}

pub(crate) fn run(args: &Show, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    if args.is_drawn() {
        return plot::run(args, common, messages, out);
    }
    let place = opened::Place::of(args)?;
    let form = args.form()?;
    if form.is_binary() && out.is_terminal() {
        let detail = "this form is binary, which a terminal cannot show";
        let hint = "write to a file with -o FILE, or to a pipe";
        messages.error(&Error::invalid(detail).with_hint(hint).in_file(place.store()));
        return Ok(Exit::Trouble);
    }
    let found = place.target(common, messages).and_then(|opened::Opened { source, target, member }| {
        let select = words::selections_of(&*source, &args.select)?;
        match show_cells(&*source, std::slice::from_ref(&target), &select)? {
            Some(cells) if args.decode => cells.decoded(&*source).map(Found::Cells),
            Some(cells) => Ok(Found::Cells(cells)),
            None => {
                let abbreviate = (form == Form::Table && out.is_terminal() && !args.all).then_some(SHORT);
                let (decode, texts) = (args.decode, !common.raw);
                let options = ShowOptions { select, member, decode, texts, abbreviate };
                View::new(&*source, &target, &options).map(|view| Found::Array(Box::new(view)))
            }
        }
    });
    let paint = paints_stdout(common, args.to.file().is_some());
    let mut exit = Exit::Yes;
    let written = match found {
        Ok(Found::Cells(cells)) => {
            if let Some(note) = words::encoded(&cells.encoded) {
                messages.note(&note);
            }
            cells_in(form, &cells, (paint, common.pool(), messages), out)
                .map_err(|error| error.in_object(&cells.name))
        }
        Ok(Found::Array(view)) => {
            if !view.missing.is_empty() {
                messages.warning(&words::missing(place.store(), &view.name, &view.missing));
            }
            for error in &view.unread {
                messages.error_in(error, place.store());
                exit = Exit::No;
            }
            if let Some(note) = words::encoded(&view.encoded) {
                messages.note(&note);
            }
            if let Some(all) = view.abbreviated_from() {
                messages
                    .note(&format!("only the first and last of {all} elements are shown; --all shows all"));
            }
            array_in((form, args.decode), *view, (paint, common, messages), out)
        }
        Err(error) => Err(error),
    };
    match written {
        // Errors of the output are reported by its writer.
        Err(error) if error.kind() != ErrorKind::Io => {
            messages.error(&error.in_file(place.store()));
            Ok(Exit::Trouble)
        }
        written => written.map(|()| exit),
    }
}

fn array_in(
    (form, is_decoded): (Form, bool),
    view: View,
    (paint, common, messages): (bool, &Common, &Messages),
    out: &mut Out<'_>,
) -> Result<()> {
    match form {
        Form::Table => table::write(&view.read()?, paint, out),
        Form::Csv => noted(&Tabular::of_array(&view), messages, |it| separated::write(it, ',', out)),
        Form::Tsv => noted(&Tabular::of_array(&view), messages, |it| separated::write(it, '\t', out)),
        // A single value has no columns.
        Form::Json if view.axes.is_empty() || view.is_attribute() => json::lists(&view.read()?, out),
        Form::Json => json::records(&Tabular::of_array(&view), out),
        Form::Lists => json::lists(&view.read()?, out),
        Form::Matrix => separated::matrix(&view.read()?, out),
        #[cfg(feature = "arrow")]
        Form::Parquet => {
            noted(&Tabular::of_array(&view), messages, |it| write_parquet(it, common.pool(), out))
        }
        #[cfg(feature = "arrow")]
        Form::Arrow => noted(&Tabular::of_array(&view), messages, |it| write_arrow(it, out)),
        Form::Npy => npy::write(view.read()?, (is_decoded, common.raw), out),
        Form::Raw => npy::write_raw(view.read()?, is_decoded, out),
    }
}

fn cells_in(
    form: Form,
    cells: &ShownCells,
    (paint, pool, messages): (bool, &Pool, &Messages),
    out: &mut Out<'_>,
) -> Result<()> {
    match form {
        Form::Table => table::cells(cells, paint, out),
        Form::Csv => noted(&Tabular::of_cells(cells), messages, |it| separated::write(it, ',', out)),
        Form::Tsv => noted(&Tabular::of_cells(cells), messages, |it| separated::write(it, '\t', out)),
        Form::Json => json::records(&Tabular::of_cells(cells), out),
        #[cfg(feature = "arrow")]
        Form::Parquet => noted(&Tabular::of_cells(cells), messages, |it| write_parquet(it, pool, out)),
        #[cfg(feature = "arrow")]
        Form::Arrow => noted(&Tabular::of_cells(cells), messages, |it| write_arrow(it, out)),
        Form::Lists | Form::Matrix | Form::Npy | Form::Raw => {
            let detail = "cells of a sparse array have columns of different types";
            Err(Error::unsupported(detail).with_hint("use --as csv or --as json"))
        }
    }
}

/// Writes a table, with a note if strings were escaped.
fn noted(
    tabular: &Tabular<'_>,
    messages: &Messages,
    write: impl FnOnce(&Tabular<'_>) -> Result<()>,
) -> Result<()> {
    write(tabular)?;
    if tabular.has_escaped() {
        messages.note("some strings are not UTF-8; bytes that are not are written as \\xHH");
    }
    Ok(())
}
