//! `stat LOCATION…`: prints how arrays are stored, and a summary of their values.

use crate::args::{Common, Stat};
use crate::exit::Exit;
use crate::line;
use crate::output::{Column, Messages, Table, open, paints_stdout, terminal_width};
use crate::progress::Progress;
use crate::terminal::Out;
use crate::words;
use hyperslab::list::human_bytes;
use hyperslab::location::{Locator, outermost};
use hyperslab::select::check_names;
use hyperslab::stat::{ArrayStat, Figure, Summary, SummaryOptions, arrays, is_told, stat, summary_with};
use hyperslab::{Asked, ChunkCount, Entry, Error, Result, Source};
use serde_json::{Map, Value, json};
use std::io::Write;

pub(crate) fn run(args: &Stat, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let values = args.values || args.decode || !args.select.is_empty();
    let options = SummaryOptions { decode: args.decode, select: words::selections(&args.select)? };
    let mut answer = Answer {
        args,
        options: values.then_some(options),
        table: Table::new(columns(values)),
        rows: 0,
        advice: Vec::new(),
        worst: Exit::Yes,
    };
    for text in &args.locations {
        let location = Locator::parse(text);
        if let Err(error) = answer.location(&location, common, messages, out) {
            messages.error(&error.in_file(&location.store));
            answer.worst = Exit::Trouble;
        }
    }
    if !args.json && answer.rows > 0 {
        if out.is_terminal() {
            // The type.
            answer.table.fit(terminal_width(), &[(1, 12)]);
        }
        answer.table.write(out, paints_stdout(common, args.to.file().is_some()))?;
        // Messages about the arrays come after the table.
        out.flush()?;
    }
    for advice in answer.advice.iter().take(MAX_SHOWN) {
        messages.help(advice);
    }
    if let Some(more) = answer.advice.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        messages.note(&format!("{more} more arrays could be stored more efficiently"));
    }
    messages.finish();
    Ok(answer.worst)
}

/// The maximum number of arrays with advice on better storage.
const MAX_SHOWN: usize = 20;

struct Answer<'a> {
    args: &'a Stat,
    /// The summary of values to compute; `None` for no summary.
    options: Option<SummaryOptions>,
    table: Table,
    rows: u64,
    advice: Vec<String>,
    worst: Exit,
}

impl Answer<'_> {
    fn location(
        &mut self,
        location: &Locator,
        common: &Common,
        messages: &Messages,
        out: &mut Out<'_>,
    ) -> Result<()> {
        let watch = Progress::of_reading("stat", &location.store, false, common);
        let source = open(location, common, watch, messages)?;
        let targets = location.followed(&*source)?;
        if let Some(name) = targets.iter().find_map(|target| target.attribute.as_ref()) {
            let of = location.path.as_deref().unwrap_or("/");
            let shown = line::of(["ls", &format!("{}:{of}", location.store)]);
            return Err(Error::invalid(format!("@{name} is an attribute, which has no chunks or filters"))
                .with_hint(format_args!("`{shown}` lists it with its value")));
        }
        if let Some(options) = &self.options {
            // Checked once, not for each array.
            check_names(&*source, &options.select)?;
            words::doubts(&*source, &options.select, messages)?;
        }
        let (before, asked) = (self.rows, Asked::default());
        for target in outermost(&targets) {
            // Patterns also match objects that are not arrays.
            if targets.len() > 1 && !is_told(&target.entry.item) {
                continue;
            }
            let of_one = |error: Error| error.in_object(&target.entry.handle.path);
            let mut visit = |entry: &Entry| self.array((&*source, &asked), entry, location, messages, out);
            arrays(&*source, &target.entry, &mut visit).map_err(of_one)?;
        }
        if self.rows == before && self.worst == Exit::Yes && !self.args.json {
            messages.note(&format!("{}: no arrays", location.store));
        }
        Ok(())
    }

    fn array(
        &mut self,
        (source, asked): (&dyn Source, &Asked),
        entry: &Entry,
        location: &Locator,
        messages: &Messages,
        out: &mut Out<'_>,
    ) -> Result<()> {
        let mut read = |error: Error| {
            messages.error_in(&error, &location.store);
            self.worst = self.worst.max(Exit::No);
        };
        let Ok(told) = stat(source, entry).map_err(&mut read) else { return Ok(()) };
        // Storage can be reported even if the values cannot be read.
        let values = self.options.as_ref().and_then(|options| {
            summary_with(source, entry, options, asked).map_err(&mut read).ok().flatten()
        });
        let path = entry.handle.path.as_str();
        if !told.missing.is_empty() {
            messages.warning(&words::missing(&location.store, path, &told.missing));
        }
        self.rows += 1;
        match self.args.json {
            true => out.json_line(Answer::json(location, path, &told, values.as_ref()))?,
            false => self.row(location, path, told, values.as_ref()),
        }
        Ok(())
    }

    /// The path, preceded by the store if there are several.
    fn name(&self, location: &Locator, path: &str) -> String {
        match self.args.locations.len() {
            1 => path.to_owned(),
            _ => format!("{}:{path}", location.store),
        }
    }

    fn row(&mut self, location: &Locator, path: &str, told: ArrayStat, values: Option<&Summary>) {
        let name = self.name(location, path);
        let table = &mut self.table;
        let bytes = |bytes: Option<u64>| bytes.map(human_bytes).unwrap_or_default();
        table.cell(name);
        table.cell(&told.datatype);
        table.cell(bytes(told.logical));
        table.cell(human_bytes(told.stored));
        table.cell(told.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default());
        let count = |count: &ChunkCount| format!("{}/{}", count.written, count.of);
        table.cell(match &told.chunks {
            Some(chunks) => match &chunks.inner {
                Some(inner) => format!("{} in {}", count(inner), count(&chunks.outer)),
                None => count(&chunks.outer),
            },
            None => String::new(),
        });
        table.cell(bytes(told.each));
        table.cell(&told.filters);
        if self.options.is_some() {
            values.map(summary_cells).unwrap_or_default().iter().for_each(|cell| table.cell(cell));
        }
        self.advice.extend(told.advice.iter().map(words::advice));
    }

    fn json(location: &Locator, path: &str, told: &ArrayStat, values: Option<&Summary>) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("location", location.store.as_str().into());
        put("path", path.into());
        put("type", told.datatype.as_str().into());
        put("shape", told.shape.current().into());
        put("logical", told.logical.into());
        put("stored", told.stored.into());
        put("ratio", told.ratio().into());
        if let Some(chunks) = &told.chunks {
            let counted =
                |count: &ChunkCount| json!({"shape": count.shape, "written": count.written, "of": count.of});
            let mut inner = counted(chunks.inner.as_ref().unwrap_or(&chunks.outer));
            if let Value::Object(inner) = &mut inner {
                inner.insert("bytes".into(), told.each.into());
            }
            put("chunks", inner);
            if chunks.inner.is_some() {
                put("shards", counted(&chunks.outer));
            }
        }
        put("filters", told.filters.split_whitespace().collect::<Vec<_>>().into());
        if let Some(Summary { count, missing, min, max, mean }) = values {
            let figure = |figure: &Option<Figure>| figure.as_ref().map_or(Value::Null, Figure::to_json);
            put("count", (*count).into());
            put("missing", (*missing).into());
            put("min", figure(min));
            put("max", figure(max));
            put("mean", figure(mean));
        }
        let advice: Vec<_> = told.advice.iter().map(words::advice).collect();
        put("help", advice.into());
        object.into()
    }
}

fn summary_cells(summary: &Summary) -> [String; 4] {
    let label = |figure: &Option<Figure>| figure.as_ref().map(Figure::label).unwrap_or_default();
    let mean = summary.mean.as_ref().map(Figure::rounded);
    [label(&summary.min), label(&summary.max), label(&mean), summary.missing.to_string()]
}

fn columns(values: bool) -> Vec<Column> {
    let text = |header: &str| Column { header: header.into(), numbers: false };
    let number = |header: &str| Column { header: header.into(), numbers: true };
    let mut columns = vec![text("ARRAY"), text("TYPE")];
    columns.extend(["LOGICAL", "STORED", "RATIO", "CHUNKS", "EACH"].map(number));
    columns.push(text("FILTERS"));
    if values {
        columns.extend(["MIN", "MAX", "MEAN", "MISSING"].map(number));
    }
    columns
}
