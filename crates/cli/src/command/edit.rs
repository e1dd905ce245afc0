//! `edit LOCATION`: changes a store in place. With `-n`, reports what would change.

use crate::args::{Common, Edit};
use crate::exit::Exit;
use crate::line;
use crate::output::{Column, Messages, Table, paints_stdout, terminal_width, to_stderr};
use crate::terminal::{Out, harmless};
use crate::words;
use hyperslab::edit::{Change, ChangeKind, Editing};
use hyperslab::location::Locator;
use hyperslab::{Error, NodePath, Result};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn run(args: &Edit, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let location = Locator::parse(&args.location);
    let store = location.store.as_str();
    let changes = args.changes();
    if changes.is_empty() {
        let shown = line::of(["edit", store, "--set", "/@title=Survey"]);
        return Err(Error::invalid("no change was given")
            .with_hint(format_args!("`{shown}` sets an attribute; `hyperslab edit -h` lists all changes")));
    }
    let options = common.open_options();
    let editing =
        Editing::open(Path::new(store), &options).map_err(|error| match Path::new(store).exists() {
            true => error,
            false => error.with_remedies(words::meant(store, &options)),
        })?;
    let base = base(&location, &editing).map_err(|error| error.in_file(store))?;
    let mut editing = editing.at(base);
    for (action, text) in changes {
        editing.plan_text(action, text).map_err(|error| match error.file() {
            Some(_) => error,
            None => error.in_file(store),
        })?;
    }
    for change in editing.changes() {
        for note in &change.notes {
            messages.note(&format!("{store}:{}: {note}", change.place));
        }
    }
    let made = match (args.dry_run, args.sync) {
        (true, _) => editing.changes().to_vec(),
        (false, true) => editing.commit_durable()?,
        (false, false) => editing.commit()?,
    };
    match args.json {
        true => out.json_line(report(store, &made, !args.dry_run))?,
        false => {
            let mut table = table(&made);
            if out.is_terminal() {
                table.fit(terminal_width(), &[(WHAT, 20)]);
            }
            table.write(out, paints_stdout(common, false))?;
        }
    }
    if !args.dry_run && !common.quiet {
        let count = if made.len() == 1 { "1 change".to_owned() } else { format!("{} changes", made.len()) };
        to_stderr(format_args!("wrote {}: {count}\n", harmless(store)));
    } else if args.dry_run && !args.json {
        messages.note("nothing was written");
    }
    Ok(Exit::Yes)
}

/// The object that paths are relative to.
fn base(location: &Locator, editing: &Editing) -> Result<NodePath> {
    if location.path.is_none() {
        return Ok(NodePath::root());
    }
    let mut targets = location.followed(&**editing.source())?;
    match (targets.pop(), targets.len()) {
        (Some(target), 0) if target.attribute.is_none() => Ok(target.entry.handle.path),
        (Some(_), 0) => Err(Error::invalid("is an attribute, expected an array or a group")
            .with_hint("--set and --remove change attributes")),
        (_, others) => Err(Error::invalid(format!("matches {} objects, expected one", others + 1))),
    }
}

/// The column that describes a change, which may be long.
const WHAT: usize = 3;

fn table(changes: &[Change]) -> Table {
    let column = |header: &str, numbers| Column { header: header.into(), numbers };
    let mut table = Table::new(vec![
        column("CHANGE", false),
        column("OBJECT", false),
        column("CELLS", true),
        column("WHAT", false),
    ]);
    for Change { kind, place, what, cells, .. } in changes {
        let cells = cells.map(|cells| cells.to_string()).unwrap_or_default();
        for cell in [word(*kind), place, &cells, what] {
            table.cell(cell);
        }
    }
    table
}

fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Removed => "removed",
    }
}

fn report(store: &str, changes: &[Change], is_written: bool) -> Value {
    let change = |Change { kind, place, what, cells, notes }: &Change| json!({"change": word(*kind), "object": place, "what": what, "cells": cells, "notes": notes});
    let changes: Vec<Value> = changes.iter().map(change).collect();
    json!({"location": store, "written": is_written, "changes": changes})
}
