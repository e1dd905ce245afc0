//! `show --plot`: draws an array, on a terminal or as a picture.

mod colours;
mod frame;
mod heat_map;
mod line;
#[cfg(feature = "pictures")]
mod picture;
mod words;

use self::colours::Style;
use self::frame::{Frame, Room};
use crate::args::{Common, Show};
use crate::command::show::opened;
use crate::exit::Exit;
use crate::output::{Messages, paints_stdout};
use crate::terminal::Out;
use crate::words as terms;
use hyperslab::plot::{Plot, PlotOptions};
use hyperslab::{Error, ErrorKind, Result};
#[cfg(feature = "pictures")]
use std::io::Write;

/// The form of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawing {
    Text,
    Png,
    Svg,
}

impl Drawing {
    /// The form that corresponds to the extension of a file; `None` for any other extension.
    pub(crate) fn of_extension(extension: &str) -> Option<Drawing> {
        match extension.to_ascii_lowercase().as_str() {
            "png" => Some(Drawing::Png),
            "svg" => Some(Drawing::Svg),
            _ => None,
        }
    }
}

pub(crate) fn run(args: &Show, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let place = &opened::Place::of(args)?;
    let drawn = draw(args, place, common, messages, out);
    match drawn {
        // Errors of the output are reported by its writer.
        Err(error) if error.kind() != ErrorKind::Io => {
            messages.error(&error.in_file(place.store()));
            Ok(Exit::Trouble)
        }
        drawn => drawn,
    }
}

fn draw(
    args: &Show,
    place: &opened::Place<'_>,
    common: &Common,
    messages: &Messages,
    out: &mut Out<'_>,
) -> Result<Exit> {
    if args.has_two_files() {
        return Err(Error::invalid("--plot=FILE and -o FILE name two files, expected one"));
    }
    if args.overwrites_nothing() {
        return Err(Error::invalid("--overwrite without a file, expected --plot=FILE or -o FILE"));
    }
    let opened::Opened { source, target, member } = place.target(common, messages)?;
    if !member.is_empty() {
        let detail = "a member of a compound cannot be drawn";
        return Err(Error::unsupported(detail).with_remedy(hyperslab::Remedy::PrintValues));
    }
    let options = PlotOptions { select: terms::selections(&args.select)?, axes: args.axes.clone() };
    if hyperslab::show::show_cells(&*source, std::slice::from_ref(&target), &options.select)?.is_some() {
        let detail = "cells of a sparse array cannot be drawn";
        return Err(Error::unsupported(detail).with_remedy(hyperslab::Remedy::PrintValues));
    }
    let plot = Plot::new(&*source, &target, &options)?;
    let mut exit = Exit::Yes;
    if !plot.missing.is_empty() {
        messages.warning(&terms::missing(place.store(), &plot.name, &plot.missing));
    }
    for error in &plot.unread {
        messages.error_in(error, place.store());
        exit = Exit::No;
    }
    if let Some(note) = words::first_of(&plot) {
        messages.note(&note);
    }
    match args.drawing() {
        Drawing::Text => {
            let to_file = args.destination().file.is_some();
            let style = Style::of_environment(paints_stdout(common, to_file));
            let room = Room::of(out.is_terminal());
            for line in text(&plot, style, room)? {
                out.own(line + "\n")?;
            }
        }
        #[cfg(feature = "pictures")]
        form => out.write_all(&picture::encoded(&plot, form)?)?,
        #[cfg(not(feature = "pictures"))]
        _ => {
            let detail = "this build of hyperslab draws no pictures";
            return Err(Error::unsupported(detail).with_hint("--plot without a file draws on the terminal"));
        }
    }
    Ok(exit)
}

/// The lines of a drawing.
fn text(plot: &Plot, style: Style, room: Room) -> Result<Vec<String>> {
    let titles = words::titles(plot);
    let drawn = match plot.vertical() {
        Some(vertical) => heat_map::draw(plot, vertical, style, room)?,
        None => line::draw(plot, style, room)?,
    };
    let mut lines: Vec<String> = titles.iter().flat_map(|title| frame::folded(title, room.width)).collect();
    lines.iter_mut().for_each(|line| *line = frame::fitting(line, room.width));
    lines.push(String::new());
    lines.extend(drawn.frame.lines(style, room));
    lines.extend(drawn.legend);
    lines.extend(drawn.notes.iter().flat_map(|note| frame::folded(note, room.width)));
    Ok(lines)
}

/// A drawing with its axes, and the lines below it: the meaning of colours, and what the drawing leaves out.
struct Drawn {
    frame: Frame,
    legend: Vec<String>,
    notes: Vec<String>,
}
