//! `digest [LOCATION…]`: prints one hash per object, computed from its contents.

use crate::args::{Common, Digest};
use crate::exit::Exit;
use crate::output::{Messages, open};
use crate::progress::Progress;
use crate::terminal::{Out, harmless};
use crate::words;
use hyperslab::digest::{Line, LineContent, attribute, lines_with};
use hyperslab::location::{LocatedObject, Locator, outermost};
use hyperslab::{Error, Result};
use std::io::Write;

pub(crate) fn run(args: &Digest, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let mut worst = Exit::Yes;
    for text in &args.locations {
        let location = Locator::parse(text);
        let found = match digest(&location, common, messages) {
            Ok(found) => found,
            Err(error) => {
                messages.error(&error.in_file(&location.store));
                worst = Exit::Trouble;
                continue;
            }
        };
        for line in &found {
            if let LineContent::Error { cause, reason, .. } = &line.content {
                worst = worst.max(Exit::No);
                let error = Error::new(*cause, reason.clone()).in_object(&line.path);
                messages.error_in(&error, &location.store);
            }
        }
        for line in found.iter().filter(|line| !line.missing.is_empty()) {
            messages.warning(&words::missing(&location.store, &line.path, &line.missing));
        }
        // A single store is represented by its digests alone, so that the output for equal stores is equal.
        let store = (args.locations.len() > 1).then_some(location.store.as_str());
        write(&found, store, args.json, out)?;
    }
    messages.finish();
    Ok(worst)
}

fn digest(location: &Locator, common: &Common, messages: &Messages) -> Result<Vec<Line>> {
    let source = open(location, common, None, messages)?;
    let mut progress = Progress::new("digest", common);
    let mut found = Vec::new();
    let targets = location.targets(&*source)?;
    // Either all targets are attributes or none is.
    if targets.iter().any(|target| target.attribute.is_some()) {
        for LocatedObject { entry, attribute: name } in &targets {
            found.push(attribute(&*source, &entry.handle, name.as_deref().unwrap_or_default())?);
        }
    } else {
        for target in outermost(&targets) {
            let path = &target.entry.handle.path;
            found.extend(lines_with(&*source, path, &mut |path, bytes| {
                progress.update(path.as_str(), bytes)
            })?);
        }
    }
    found.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    Ok(found)
}

/// Writes lines, with the store of each if there are several.
fn write(lines: &[Line], store: Option<&str>, json: bool, out: &mut Out<'_>) -> Result<()> {
    if json {
        for line in lines {
            out.json_line(store.map_or_else(|| line.to_json(), |store| line.to_json_of(store)))?;
        }
        return Ok(());
    }
    // Type names may have any length. One long name must not widen the column for all.
    const WIDEST: usize = 40;
    let row = |line: &Line| {
        let [kind, path, rest @ ..] = line.columns();
        let [datatype, shape, last] = rest;
        let path = store.map_or_else(|| path.clone(), |store| format!("{store}:{path}"));
        [kind, path, datatype, shape, last]
    };
    let rows: Vec<_> = lines.iter().map(row).collect();
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count().min(WIDEST));
        }
    }
    for row in &rows {
        let mut text = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let cell = harmless(cell);
            text.push_str(&format!("{cell:width$}  "));
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}
