//! Formats and writes output and messages.

use crate::args::{Common, When};
use crate::exit::Exit;
use crate::interrupt;
use crate::pager;
use crate::terminal::{Out, harmless, without_controls};
use crate::words;
use bytes::Bytes;
use hyperslab::files::parts_and_links;
use hyperslab::location::Locator;
use hyperslab::publish::OutputFile;
use hyperslab::{Error, ErrorKind, Result};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ChildStdin;

/// The destination of the output.
#[derive(Clone, Copy, Default)]
pub(crate) struct Destination<'a> {
    /// The file; `None` for standard output.
    pub(crate) file: Option<&'a Path>,
    /// Whether existing data of a known format is replaced.
    pub(crate) overwrite: bool,
    /// Whether output that reports errors is complete, as in a log of errors.
    pub(crate) logs_errors: bool,
    /// Whether it is shown in a pager on a terminal.
    pub(crate) pages: bool,
}

/// A verb, which writes its output.
pub(crate) type Work<'w> = &'w mut dyn FnMut(&mut Out<'_>) -> Result<Exit>;

/// Runs `work` with a writer to standard output, or to a file that appears only once it is complete. `locations` are
/// read by `work`, so their files are not replaced.
pub(crate) fn to(
    destination: Destination<'_>,
    locations: &[&str],
    common: &Common,
    messages: &Messages,
    work: Work<'_>,
) -> Result<Exit> {
    let Some(path) = destination.file else {
        if destination.pages
            && let Some(mut pager) = pager::start()
        {
            let exit = to_terminal(pager.stdin.take(), work);
            // The pager exits when its input ends, or when the user has read enough.
            pager.wait()?;
            return exit;
        }
        let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        return to_stdout(out, work);
    };
    let stores = locations.iter().map(|location| Locator::parse(location).store).filter(|store| store != "-");
    let stores: Vec<PathBuf> = stores.map(PathBuf::from).collect();
    let there: Vec<_> = stores.iter().filter(|store| store.exists()).cloned().collect();
    let parts = || {
        let mut all = Vec::new();
        for store in &stores {
            let options = common.open_options();
            // A source that cannot be opened does not refer to other files; `work` reports the error.
            if let Ok(source) = hyperslab::open(store, &options) {
                all.extend(parts_and_links(store, source, &options)?);
            }
        }
        Ok(all)
    };
    let mut file = OutputFile::begin(path, &there, parts, destination.overwrite)?;
    let is_terminal = file.is_terminal();
    // Read errors name the file that was read.
    let named = |error: Error| match error.kind() {
        ErrorKind::Io if error.file().is_none() => error.in_file(path.display()),
        _ => error,
    };
    let exit = work(&mut Out::new(&mut file, is_terminal)).and_then(finished).map_err(named)?;
    if exit == Exit::Trouble && !destination.logs_errors {
        messages.note(&format!("{}: not written, because the output is incomplete", path.display()));
        return Ok(exit);
    }
    file.publish().map_err(|e| e.in_file(path.display()))?;
    Ok(exit)
}

/// As [`to`], for work that is done even if nobody reads the output.
pub(crate) fn to_anybody(
    destination: Destination<'_>,
    locations: &[&str],
    common: &Common,
    messages: &Messages,
    work: Work<'_>,
) -> Result<Exit> {
    match destination.file {
        Some(_) => to(destination, locations, common, messages, work),
        None => to_stdout(BufWriter::with_capacity(1 << 16, Unread(io::stdout().lock())), work),
    }
}

/// Writes to the input of a pager, which shows it on the terminal.
fn to_terminal(pager: Option<ChildStdin>, work: Work<'_>) -> Result<Exit> {
    let pager = pager.ok_or_else(|| Error::invalid("a pager without input"))?;
    to_stdout(BufWriter::with_capacity(1 << 16, pager), work)
}

fn to_stdout(out: impl Write, work: Work<'_>) -> Result<Exit> {
    let mut out = Out::new(out, io::stdout().is_terminal());
    let exit = finished(work(&mut out)?)?;
    out.flush()?;
    Ok(exit)
}

/// Writes a complete text to standard error. If it is closed, there is nowhere to report that.
pub(crate) fn to_stderr(text: impl Display) {
    let _ = io::stderr().write_all(text.to_string().as_bytes());
}

/// Standard error, as a writer.
pub(crate) fn stderr() -> Out<'static> {
    Out::new(io::stderr(), io::stderr().is_terminal())
}

/// If Ctrl-C was pressed during the work, the output is valid only if it is complete.
fn finished(exit: Exit) -> Result<Exit> {
    match exit {
        Exit::Yes => Ok(exit),
        _ => interrupt::check().map(|()| exit),
    }
}

/// A writer that ignores a closed output.
struct Unread<W>(W);

impl<W: Write> Write for Unread<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// Messages about the work, on standard error.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    quiet: bool,
    color: bool,
    errors: Cell<u32>,
    /// Advice that has already been printed, so that each piece is printed only once, however many errors lead to it.
    said: RefCell<BTreeSet<String>>,
}

impl Messages {
    /// Messages with the colour and verbosity that the options request.
    pub(crate) fn new(common: &Common) -> Self {
        let color = paints(common.color, io::stderr().is_terminal());
        Messages { quiet: common.quiet, color, ..Messages::default() }
    }

    /// Messages before the options are known.
    pub(crate) fn early() -> Self {
        Messages { color: paints(When::Auto, io::stderr().is_terminal()), ..Messages::default() }
    }

    /// The same messages without notes and warnings.
    pub(crate) fn silent(self) -> Self {
        Messages { quiet: true, ..self }
    }

    /// Whether messages are coloured.
    pub(crate) fn color(&self) -> bool {
        self.color
    }

    /// Reports an error. After [`MAX_SHOWN_ERRORS`] errors, the others are only counted.
    pub(crate) fn error(&self, error: &Error) {
        if error.kind() == ErrorKind::Cancelled {
            // Reported once at the end.
            return;
        }
        self.errors.set(self.errors.get() + 1);
        if self.errors.get() <= MAX_SHOWN_ERRORS {
            self.say("error", "31", &words::error(error));
        }
    }

    /// Reports that Ctrl-C ended the work, and how another run can continue it.
    pub(crate) fn interrupted(&self, error: &Error) {
        let text = words::error(error);
        let help = text.split_once("\nhelp: ").map_or(String::new(), |(_, help)| format!("\nhelp: {help}"));
        self.say("error", "31", &format!("interrupted{help}"));
    }

    /// As [`Messages::error`], for an error in `file` that does not name its file.
    pub(crate) fn error_in(&self, error: &Error, file: &str) {
        if error.kind() == ErrorKind::Cancelled {
            return;
        }
        self.errors.set(self.errors.get() + 1);
        if self.errors.get() <= MAX_SHOWN_ERRORS {
            self.say("error", "31", &words::error_in(error, file));
        }
    }

    /// Prints a warning, except with `--quiet`.
    pub(crate) fn warning(&self, text: &str) {
        if !self.quiet {
            self.say("warning", "33", text);
        }
    }

    /// Prints a note, except with `--quiet`.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.say("  note", "36", text);
        }
    }

    /// Prints advice, except with `--quiet`.
    pub(crate) fn help(&self, text: &str) {
        if !self.quiet {
            self.say("  help", "36", text);
        }
    }

    /// Reports the number of errors that were not shown.
    pub(crate) fn finish(&self) {
        if let Some(more) = self.errors.get().checked_sub(MAX_SHOWN_ERRORS).filter(|more| *more > 0) {
            self.note(&format!("{more} more errors"));
        }
    }

    fn say(&self, level: &str, color: &str, text: &str) {
        for (index, line) in text.lines().enumerate() {
            let line = &*harmless(line);
            // Later lines have a separate level, such as `help:`.
            let (level, line) = match line.split_once(": ") {
                Some(("help", rest)) if index > 0 => ("  help", rest),
                _ if index > 0 => ("", line),
                _ => (level, line),
            };
            if level == "  help" && !self.said.borrow_mut().insert(line.to_owned()) {
                continue;
            }
            let level = if self.color { format!("\x1b[{color}m{level}\x1b[0m") } else { level.to_owned() };
            to_stderr(format_args!("{level}: {line}\n"));
        }
    }
}

/// The maximum number of errors that are shown; further errors are only counted.
const MAX_SHOWN_ERRORS: u32 = 20;

/// Whether standard output is coloured.
pub(crate) fn paints_stdout(common: &Common, to_file: bool) -> bool {
    paints(common.color, !to_file && io::stdout().is_terminal())
}

fn paints(when: When, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if set("NO_COLOR") => false,
        When::Auto if set("CLICOLOR_FORCE") => true,
        When::Auto => terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// A table: rows under a header, with columns as wide as their widest cell.
pub(crate) struct Table {
    columns: Vec<Column>,
    widths: Vec<usize>,
    /// The text of all cells, row by row, and the end of each cell.
    text: String,
    ends: Vec<usize>,
}

/// A column of a table.
pub(crate) struct Column {
    /// Its header, in upper case.
    pub(crate) header: String,
    /// Whether its cells are numbers, which are aligned right.
    pub(crate) numbers: bool,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(mut columns: Vec<Column>) -> Self {
        // Some headers are names from a file.
        for column in &mut columns {
            if let Some(header) = without_controls(&column.header) {
                column.header = header;
            }
        }
        let widths = columns.iter().map(|column| self::columns(&column.header)).collect();
        Table { columns, widths, text: String::new(), ends: Vec::new() }
    }

    /// Adds a cell. Rows fill from left to right.
    pub(crate) fn cell(&mut self, text: impl AsRef<str>) {
        self.cell_with(|out| out.push_str(text.as_ref()));
    }

    /// Adds a cell whose text `write` appends.
    pub(crate) fn cell_with(&mut self, write: impl FnOnce(&mut String)) {
        let begin = self.text.len();
        write(&mut self.text);
        if let Some(harmless) = self.text.get(begin..).and_then(without_controls) {
            self.text.truncate(begin);
            self.text.push_str(&harmless);
        }
        let width = columns(self.text.get(begin..).unwrap_or_default());
        let column = self.ends.len().checked_rem(self.columns.len()).unwrap_or(0);
        if let Some(widest) = self.widths.get_mut(column) {
            *widest = width.max(*widest);
        }
        self.ends.push(self.text.len());
    }

    /// Narrows these columns, in this order and to no less than their minimum, until a line has at most `width`
    /// columns of a terminal. Longer cells end in `…`.
    pub(crate) fn fit(&mut self, width: usize, narrowed: &[(usize, usize)]) {
        let gaps = 2 * self.widths.len().saturating_sub(1);
        for (column, least) in narrowed {
            let excess = (self.widths.iter().sum::<usize>() + gaps).saturating_sub(width);
            if let Some(own) = self.widths.get_mut(*column) {
                let narrow = own.saturating_sub(excess).max((*own).min(*least));
                // A column of only a few letters is unintelligible.
                *own = if narrow < LEGIBLE && narrow < *own { 0 } else { narrow };
            }
        }
    }

    /// Removes the header of the last column if all its cells are empty.
    pub(crate) fn drop_empty_column(&mut self) {
        let count = self.columns.len().max(1);
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let mut cells = begins.zip(&self.ends).skip(count - 1).step_by(count);
        if cells.all(|(begin, end)| begin == *end) {
            self.columns.pop();
            self.columns.push(Column { header: String::new(), numbers: false });
            self.widths.pop();
            self.widths.push(0);
        }
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all rows. Columns keep their width.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Writes header and rows, with two spaces between columns and no spaces at the ends of lines.
    pub(crate) fn write(&self, out: &mut Out<'_>, paint: bool) -> io::Result<()> {
        self.write_header(out, paint)?;
        self.write_rows(out)
    }

    /// Writes only the header.
    pub(crate) fn write_header(&self, out: &mut Out<'_>, paint: bool) -> io::Result<()> {
        let mut line = String::new();
        self.line(&mut line, self.columns.iter().map(|column| column.header.as_str()));
        match paint {
            true => out.own(format_args!("\x1b[2m{}\x1b[0m\n", line.trim_end())),
            false => out.write_all(line.as_bytes()),
        }
    }

    /// Writes the rows without the header.
    pub(crate) fn write_rows(&self, out: &mut Out<'_>) -> io::Result<()> {
        let mut lines = String::with_capacity(1 << 16);
        let mut begin = 0;
        for row in self.ends.chunks(self.columns.len().max(1)) {
            let cells = row.iter().map(|end| {
                let cell = self.text.get(begin..*end).unwrap_or_default();
                begin = *end;
                cell
            });
            self.line(&mut lines, cells);
            if lines.len() > 1 << 15 {
                out.write_all(lines.as_bytes())?;
                lines.clear();
            }
        }
        out.write_all(lines.as_bytes())
    }

    fn line<'a>(&self, line: &mut String, cells: impl Iterator<Item = &'a str>) {
        let mut pending = 0;
        let spaces = |line: &mut String, mut count: usize| {
            while count > 0 {
                let now = count.min(SPACES.len());
                line.push_str(SPACES.get(..now).unwrap_or(SPACES));
                count -= now;
            }
        };
        for (index, ((cell, width), column)) in cells.zip(&self.widths).zip(&self.columns).enumerate() {
            if index > 0 {
                pending += 2;
            }
            let cell = &*shortened(cell, *width);
            let pad = width.saturating_sub(columns(cell));
            if column.numbers {
                pending += pad;
            }
            // Spaces at the end of a line are not written.
            if !cell.is_empty() {
                spaces(line, std::mem::take(&mut pending));
                line.push_str(cell);
            }
            if !column.numbers {
                pending += pad;
            }
        }
        line.push('\n');
    }
}

/// The minimum width of a narrowed column.
const LEGIBLE: usize = 8;

const SPACES: &str = "                                                                ";

/// A text of at most `width` columns, which ends in `…` if it was longer.
fn shortened(text: &str, width: usize) -> std::borrow::Cow<'_, str> {
    match columns(text) > width {
        true if width == 0 => "".into(),
        true => text.chars().take(width - 1).chain(['…']).collect::<String>().into(),
        false => text.into(),
    }
}

/// The width of the terminal on standard output: the value of `COLUMNS`, or else its actual width.
pub(crate) fn terminal_width() -> usize {
    terminal_room(true).0.max(60)
}

/// The number of columns available for a drawing, and on a terminal the number of lines: the value of `COLUMNS`, or
/// else the actual width.
pub(crate) fn terminal_room(is_terminal: bool) -> (usize, Option<usize>) {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let own = if is_terminal { terminal_size::terminal_size() } else { None };
    let width = said.or_else(|| Some(usize::from(own?.0.0)).filter(|width| *width > 0)).unwrap_or(80);
    (width, own.map(|(_, height)| usize::from(height.0)).filter(|height| *height > 0))
}

/// The width of a text in terminal columns, approximately: one for each character.
fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// Opens the store of a location and prints warnings about the whole store. `-` is an NDL document on standard input.
pub(crate) fn open(
    location: &Locator,
    common: &Common,
    watch: Option<hyperslab::Watch>,
    messages: &Messages,
) -> Result<std::sync::Arc<dyn hyperslab::Source>> {
    let mut options = common.open_options();
    options.watch = watch;
    let source = match location.store.as_str() {
        "-" => {
            options.format.get_or_insert("ndl".into());
            hyperslab::open_storage(standard_input(&options.limits)?, &options)
                .map_err(|error| error.in_file("-"))?
        }
        store => hyperslab::open(Path::new(store), &options).map_err(|error| {
            let meant = || words::meant(store, &common.open_options());
            let error = words::unmatched(error, store);
            if Path::new(store).exists() { error } else { error.with_remedies(meant()) }
        })?,
    };
    for warning in source.warnings() {
        messages.warning(&format!("{}: {warning}", location.store));
    }
    Ok(source)
}

/// As [`open`]; external links are replaced by their targets if `follow_links` is set.
pub(crate) fn open_followed(
    follow_links: bool,
    location: &Locator,
    common: &Common,
    watch: Option<hyperslab::Watch>,
    messages: &Messages,
) -> Result<std::sync::Arc<dyn hyperslab::Source>> {
    let source = open(location, common, watch, messages)?;
    Ok(if follow_links { std::sync::Arc::new(hyperslab::Followed::new(source)) } else { source })
}

/// Reports the links that should have been followed and were not.
pub(crate) fn report_unfollowed(source: &dyn hyperslab::Source, store: &str, messages: &Messages) -> Exit {
    let links = source.unfollowed_links();
    links.reasons.iter().for_each(|why| messages.error_in(why, store));
    if let Some(more) = links.count.checked_sub(links.reasons.len() as u64).filter(|more| *more > 0) {
        messages.note(&format!("{store}: {more} more links not followed"));
    }
    if links.is_empty() { Exit::Yes } else { Exit::No }
}

/// The content of standard input.
pub(crate) fn standard_input(limits: &hyperslab::Limits) -> Result<Box<dyn hyperslab::ReadAt>> {
    let mut text = Vec::new();
    io::stdin().lock().take(limits.allocation.saturating_add(1)).read_to_end(&mut text)?;
    Ok(Box::new(Bytes::from(text)))
}

/// Colours NDL for a terminal: keys bold, types cyan, strings green, comments dim.
pub(crate) struct Painter<'a, 'o> {
    out: &'a mut Out<'o>,
    line: Vec<u8>,
}

impl<'a, 'o> Painter<'a, 'o> {
    pub(crate) fn new(out: &'a mut Out<'o>) -> Self {
        Painter { out, line: Vec::new() }
    }
}

impl Write for Painter<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&self.line);
                self.out.own(painted(&harmless(line.trim_end_matches('\n'))))?;
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A line with colours and its line break.
fn painted(line: &str) -> String {
    if line.starts_with('#') {
        return format!("\x1b[2m{}\x1b[0m\n", line.trim_end());
    }
    let indent = line.len() - line.trim_start_matches([' ', '-']).len();
    let (lead, rest) = line.split_at_checked(indent).unwrap_or(("", line));
    let Some((key, value)) =
        rest.split_once(": ").or_else(|| rest.trim_end().strip_suffix(':').map(|k| (k, "")))
    else {
        return format!("{line}\n");
    };
    let text = value.trim_end();
    let value = match text.as_bytes().first() {
        _ if key == "type" => format!("\x1b[36m{text}\x1b[0m"),
        Some(b'"' | b'\'') => format!("\x1b[32m{text}\x1b[0m"),
        Some(b'a'..=b'z' | b'A'..=b'Z') if !matches!(text, "null" | "true" | "false") => {
            format!("\x1b[32m{text}\x1b[0m")
        }
        _ => text.to_owned(),
    };
    let gap = if text.is_empty() { "" } else { " " };
    format!("{lead}\x1b[1m{key}\x1b[0m:{gap}{value}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_control_a_terminal_or_break_a_table() {
        let mut table = Table::new(vec![
            Column { header: "NAME".into(), numbers: false },
            Column { header: "N".into(), numbers: true },
        ]);
        for cell in ["a\x1b[31m\nb", "1", "å", "22"] {
            table.cell(cell);
        }
        let mut written = Vec::new();
        table.write(&mut Out::new(&mut written, false), false).unwrap();
        let text = String::from_utf8(written).unwrap();
        assert_eq!(text, "NAME             N\na\\u{1b}[31m\\nb   1\nå               22\n");
    }
}
