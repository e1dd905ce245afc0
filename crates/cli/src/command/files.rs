//! `files LOCATION…`: lists the files that a store consists of or names.

use crate::args::{Common, Files};
use crate::exit::Exit;
use crate::output::{Column, Messages, Table, open, paints_stdout};
use crate::terminal::Out;
use crate::words;
use hyperslab::files::{StoreFiles, files};
use hyperslab::list::human_bytes;
use hyperslab::location::Locator;
use hyperslab::{Error, FoundFile, NamedFile, Result};
use serde_json::{Map, Value};
use std::path::Path;

pub(crate) fn run(args: &Files, common: &Common, messages: &Messages, out: &mut Out<'_>) -> Result<Exit> {
    let text = |header: &str| Column { header: header.into(), numbers: false };
    let mut table = Table::new(vec![
        text("FILE"),
        Column { header: "SIZE".into(), numbers: true },
        text("ROLE"),
        text("NAMED BY"),
        text("FOUND"),
    ]);
    let mut worst = Exit::Yes;
    for location in &args.locations {
        let location = Locator::parse(location);
        let mut answer = Answer { args, messages, table: &mut table, worst: &mut worst };
        if let Err(error) = answer.location(&location, common, out) {
            messages.error(&error.in_file(&location.store));
            worst = Exit::Trouble;
        }
    }
    if !args.json && !table.is_empty() {
        table.write(out, paints_stdout(common, args.to.file().is_some()))?;
    }
    messages.finish();
    Ok(worst)
}

struct Answer<'a> {
    args: &'a Files,
    messages: &'a Messages,
    table: &'a mut Table,
    worst: &'a mut Exit,
}

impl Answer<'_> {
    fn location(&mut self, location: &Locator, common: &Common, out: &mut Out<'_>) -> Result<()> {
        if let Some(path) = &location.path {
            let error = Error::invalid(format!("{path} is a part of it; files belong to whole stores"));
            return Err(error.with_remedy(words::at_store(
                location,
                path,
                None,
                "lists the files of all of it",
            )));
        }
        let source = open(location, common, None, self.messages)?;
        let path = Path::new(&location.store);
        let mut is_first = true;
        files(path, source, &common.open_options(), &mut |store| {
            let first = std::mem::take(&mut is_first);
            self.store(&location.store, store, first, out)
        })
    }

    fn store(&mut self, location: &str, store: &StoreFiles, is_first: bool, out: &mut Out<'_>) -> Result<()> {
        let path = store.store.display().to_string();
        if is_first {
            match self.args.json {
                true => out.json_line(json_of_store(location, &path, store))?,
                false => {
                    let size = store.size.map(human_bytes).unwrap_or_default();
                    for cell in [path.as_str(), &size, "store", "", ""] {
                        self.table.cell(cell);
                    }
                }
            }
        }
        for file in &store.named.files {
            if !matches!(file.found, FoundFile::There { .. }) {
                *self.worst = (*self.worst).max(Exit::No);
            }
            match self.args.json {
                true => out.json_line(json_of_file(location, &path, file))?,
                false => self.row(file, if is_first { None } else { Some(&path) }),
            }
        }
        for error in &store.named.errors {
            *self.worst = (*self.worst).max(Exit::No);
            self.messages.error_in(error, &path);
        }
        Ok(())
    }

    /// Adds a row for a file. `store` is the path of the store that refers to it; `None` for the store at the location.
    fn row(&mut self, file: &NamedFile, store: Option<&str>) {
        let object = file.object.as_ref().map(ToString::to_string);
        let (size, found) = match &file.found {
            FoundFile::There { path, size } => {
                (human_bytes(*size), path.as_ref().map(|path| path.display().to_string()).unwrap_or_default())
            }
            FoundFile::Missing => (String::new(), "not found".to_owned()),
            FoundFile::Refused(error) => (String::new(), format!("not followed: {}", words::error(error))),
        };
        let named_by = match (store, object) {
            (Some(store), Some(object)) => format!("{store}:{object}"),
            (Some(store), None) => store.to_owned(),
            (None, object) => object.unwrap_or_default(),
        };
        for cell in [&file.name, &size, &file.role.to_string(), &named_by, &found] {
            // The remedy of an error is on a second line, but a table cell must be one line.
            self.table.cell(cell.replace('\n', "; "));
        }
    }
}

fn json_of_store(location: &str, path: &str, store: &StoreFiles) -> Value {
    let mut object = Map::new();
    object.insert("location".into(), location.into());
    object.insert("file".into(), path.into());
    object.insert("role".into(), "store".into());
    object.insert("format".into(), store.format.into());
    object.insert("size".into(), store.size.into());
    object.into()
}

fn json_of_file(location: &str, store: &str, file: &NamedFile) -> Value {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
    put("location", location.into());
    put("file", file.name.as_str().into());
    put("role", file.role.to_string().into());
    put("store", store.into());
    put("object", file.object.as_ref().map(ToString::to_string).into());
    match &file.found {
        FoundFile::There { path, size } => {
            put("found", true.into());
            put("path", path.as_ref().map(|path| path.display().to_string()).into());
            put("size", (*size).into());
        }
        FoundFile::Missing => drop(put("found", false.into())),
        FoundFile::Refused(error) => {
            put("found", Value::Null);
            put("refused", words::error(error).into());
        }
    }
    object.into()
}
