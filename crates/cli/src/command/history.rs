//! `history LOCATION…`: lists what was written to arrays and groups, and when.

use crate::args::{Common, History};
use crate::exit::Exit;
use crate::line;
use crate::output::{Column, Messages, Table, open, paints_stdout, terminal_width};
use crate::terminal::Out;
use hyperslab::history::{Event, history};
use hyperslab::list::human_bytes;
use hyperslab::location::{LocatedObject, Locator, outermost};
use hyperslab::select::time_text;
use hyperslab::{Error, ErrorKind, NodePath, Result, Source};
use serde_json::{Map, Value};

pub(crate) fn run(args: &History, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let text = |header: &str| Column { header: header.into(), numbers: false };
    let number = |header: &str| Column { header: header.into(), numbers: true };
    let columns = vec![
        text("OBJECT"),
        text("TIME"),
        text("KIND"),
        number("CELLS"),
        number("BYTES"),
        text(WHAT.1),
        text(""),
    ];
    let (table, raw) = (Table::new(columns), common.raw);
    let mut answer = Answer { args, messages, raw, table, worst: Exit::Yes };
    for location in &args.locations {
        let location = Locator::parse(location);
        if let Err(error) = answer.location(&location, common, out) {
            messages.error(&error.in_file(&location.store));
            answer.worst = Exit::Trouble;
        }
    }
    if !args.json && !answer.table.is_empty() {
        if out.is_terminal() {
            answer.table.fit(terminal_width(), &[(WHAT.0, 20)]);
        }
        answer.table.write(out, paints_stdout(common, args.to.file().is_some()))?;
    }
    messages.finish();
    Ok(answer.worst)
}

/// The column that describes an event, which may be long.
const WHAT: (usize, &str) = (5, "WHAT");

struct Answer<'a> {
    args: &'a History,
    messages: &'a Messages,
    /// Whether long values are printed in full.
    raw: bool,
    table: Table,
    worst: Exit,
}

impl Answer<'_> {
    fn location(&mut self, location: &Locator, common: &Common, out: &mut Out<'_>) -> Result<()> {
        let source = open(location, common, None, self.messages)?;
        let targets = location.followed(&*source)?;
        if let Some(name) = targets.iter().find_map(|target| target.attribute.as_ref()) {
            let path = location.path.as_deref().unwrap_or("/");
            let object = path.strip_suffix(&format!("@{name}")).unwrap_or(path);
            let shown = line::of(["history", &format!("{}:{object}", location.store)]);
            return Err(Error::invalid("an attribute has no history of its own")
                .with_hint(format_args!("`{shown}` lists all metadata that were written"))
                .in_object(path));
        }
        if let [only] = targets.as_slice() {
            return self.target(location, &*source, only, out);
        }
        for target in outermost(&targets) {
            match self.target(location, &*source, target, out) {
                Err(error) if error.kind() != ErrorKind::Cancelled => {
                    self.messages.error_in(&error.in_object(&target.entry.handle.path), &location.store);
                    self.worst = self.worst.max(Exit::No);
                }
                done => done?,
            }
        }
        Ok(())
    }

    fn target(
        &mut self,
        location: &Locator,
        source: &dyn Source,
        target: &LocatedObject,
        out: &mut Out<'_>,
    ) -> Result<()> {
        history(source, &target.entry, &mut |path, events| {
            match events {
                Ok(events) => {
                    for event in &events {
                        match self.args.json {
                            true => out.json_line(json(location, path, event))?,
                            false => self.row(location, path, event),
                        }
                    }
                }
                Err(error) => {
                    self.messages.error_in(&error.in_object(path), &location.store);
                    self.worst = self.worst.max(Exit::No);
                }
            }
            Ok(())
        })
    }

    fn row(&mut self, location: &Locator, path: &NodePath, event: &Event) {
        let name = match self.args.locations.len() {
            1 => path.to_string(),
            _ => format!("{}:{path}", location.store),
        };
        let time = event.at.as_ref().map(|at| match at.start() == at.end() {
            true => time_text(*at.start()),
            // In the form that --at accepts.
            false => format!("{}..{}", time_text(*at.start()), time_text(*at.end())),
        });
        let state = match (event.is_consolidated, &event.replaced_by) {
            (false, None) => "",
            (true, None) => "consolidated",
            (_, Some(_)) => "in a consolidated one, can be vacuumed",
        };
        let cells = event.cells.map(|cells| cells.to_string()).unwrap_or_default();
        let kind = event.kind.to_string();
        let what = if self.raw { &event.what } else { &event.brief };
        let (bytes, what) = (human_bytes(event.bytes), what.join(", "));
        for cell in [name.as_str(), &time.unwrap_or_default(), &kind, &cells, &bytes, &what, state] {
            self.table.cell(cell);
        }
    }
}

fn json(location: &Locator, path: &NodePath, event: &Event) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("location", location.store.as_str().into());
    put("path", path.as_str().into());
    put("kind", event.kind.to_string().into());
    put("start", event.at.as_ref().map(|at| *at.start()).into());
    put("end", event.at.as_ref().map(|at| *at.end()).into());
    put("name", event.name.as_str().into());
    put("what", event.what.as_slice().into());
    put("version", event.version.into());
    put("cells", event.cells.into());
    put("bytes", event.bytes.into());
    put("consolidated", event.is_consolidated.into());
    put("replaced_by", event.replaced_by.as_deref().into());
    object.into()
}
