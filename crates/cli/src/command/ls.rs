//! `ls [LOCATION…]`: lists names, types, shapes and stored bytes.

mod rows;

use self::rows::List;
use crate::args::{Common, Ls};
use crate::exit::Exit;
use crate::output::{Column, Messages, Table, open_followed, paints_stdout, report_unfollowed};
use crate::progress::Progress;
use crate::terminal::{Out, harmless};
use hyperslab::files::is_plain_folder;
use hyperslab::list;
use hyperslab::location::{Locator, is_pattern};
use hyperslab::{Entry, Error, Item, Result, Source};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &Ls, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let mut worst = Exit::Yes;
    for (index, text) in args.locations.iter().enumerate() {
        let location = Locator::parse(text);
        if index > 0 && !args.one && !args.json {
            writeln!(out)?;
        }
        if location.path.is_none()
            && common.input_format.is_none()
            && is_plain_folder(Path::new(&location.store))
        {
            worst = worst.max(directory(&location.store, args, common, messages, out)?);
            continue;
        }
        let matches_many = location.path.as_deref().is_some_and(is_pattern);
        let watch = Progress::of_reading("ls", &location.store, args.to.file().is_none(), common);
        let listed =
            open_followed(args.follow_links, &location, common, watch, messages).and_then(|source| {
                let targets = location.targets(&*source)?;
                let mut list = List::new(&*source, &location, args, messages);
                match targets.as_slice() {
                    [only] if only.attribute.is_none() && !matches_many => list.group(&only.entry, out)?,
                    many => list.matches(many, out)?,
                }
                worst = worst.max(list.finish(targets.as_slice(), common, out)?);
                worst = worst.max(report_unfollowed(&*source, &location.store, messages));
                Ok(())
            });
        if let Err(error) = listed {
            messages.error(&error.in_file(&location.store));
            worst = Exit::Trouble;
        }
    }
    messages.finish();
    Ok(worst)
}

/// The stores in a directory, sorted by name.
fn directory(path: &str, args: &Ls, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => {
            messages.error(&Error::from(error).in_file(path));
            return Ok(Exit::Trouble);
        }
    };
    let mut exit = Exit::Yes;
    let mut failed = |error: Error, file: String| {
        messages.error(&error.in_file(file));
        exit = Exit::No;
    };
    let mut paths = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) => paths.push(entry.path()),
            Err(error) => failed(error.into(), path.to_owned()),
        }
    }
    paths.sort();
    let mut table = Table::new(vec![
        Column { header: "NAME".into(), numbers: false },
        Column { header: "FORMAT".into(), numbers: false },
        Column { header: "SIZE".into(), numbers: true },
    ]);
    let mut count = 0_u64;
    for path in &paths {
        match hyperslab::recognize(path) {
            Ok(Some(_)) => {}
            Ok(None) => continue,
            // It is unknown whether it is a store.
            Err(error) => {
                failed(error, path.display().to_string());
                continue;
            }
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let opened = hyperslab::open(path, &common.open_options());
        let format = opened.as_ref().map_or("unreadable", |source| source.format());
        let size = match opened.and_then(|source| source.size()) {
            Ok(size) => Some(size),
            Err(error) => {
                failed(error, path.display().to_string());
                None
            }
        };
        let size = size.or_else(|| Some(std::fs::metadata(path).ok()?.len())).unwrap_or(0);
        count += 1;
        if args.one {
            one_line(&path.display().to_string(), out)?;
        } else if args.json {
            let object = serde_json::json!({"file": path.to_string_lossy(), "format": format, "bytes": size});
            out.json_line(object)?;
        } else {
            table.cell(name);
            table.cell(format);
            table.cell(list::human_bytes(size));
        }
    }
    if !args.one && !args.json {
        writeln!(
            out,
            "{}: directory, {count} {}",
            harmless(path),
            if count == 1 { "store" } else { "stores" }
        )?;
        if count > 0 {
            table.write(out, paints_stdout(common, args.to.file().is_some()))?;
        }
    }
    Ok(exit)
}

/// Writes a path on a separate line, unchanged except on a terminal.
fn one_line(path: &str, out: &mut Out<'_>) -> Result<()> {
    match out.is_terminal() {
        true => writeln!(out, "{}", harmless(path))?,
        false => writeln!(out, "{path}")?,
    }
    Ok(())
}

/// Writes everything in a store as a tree, with chunks and filters.
pub(super) fn tree(source: &dyn Source, paint: bool, out: &mut Out<'_>) -> Result<()> {
    let root = source.find(&hyperslab::NodePath::root())?;
    let mut table = Table::new(columns(true));
    let mut count = 0_u64;
    list::rows(source, &root.handle, true, &mut |row| {
        count += 1;
        table.cell_with(|out| branch(row.lineage, row.entry, out));
        described(&row.entry.item, true, &mut table);
        Ok(())
    })?;
    if count > 0 {
        table.write(out, paint)?;
    }
    Ok(())
}

fn columns(long: bool) -> Vec<Column> {
    let headers: &[&str] = match long {
        true => &["NAME", "TYPE", "SHAPE", "CHUNK", "FILTERS"],
        false => &["NAME", "TYPE", "SHAPE"],
    };
    headers.iter().map(|header| Column { header: (*header).into(), numbers: false }).collect()
}

/// Adds the cells after the name.
fn described(item: &Item, long: bool, table: &mut Table) {
    table.cell(list::type_label(item));
    let Item::Array { shape, stored, .. } = item else {
        return (0..if long { 3 } else { 1 }).for_each(|_| table.cell(""));
    };
    table.cell_with(|out| list::shape_label(shape, out));
    if long {
        table.cell(list::chunk_label(stored));
        table.cell(list::filters_label(stored));
    }
}

fn name(entry: &Entry) -> &str {
    let path = &entry.handle.path;
    if path.is_root() { "/" } else { path.name() }
}

/// Appends the name after the branch lines of a tree.
fn branch(lineage: &[bool], entry: &Entry, text: &mut String) {
    if let Some((last, above)) = lineage.split_last() {
        for ended in above {
            text.push_str(if *ended { "    " } else { "│   " });
        }
        text.push_str(if *last { "└── " } else { "├── " });
    }
    text.push_str(entry.handle.path.name());
}
