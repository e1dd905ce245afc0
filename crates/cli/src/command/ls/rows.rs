//! The rows of a list: objects, and attributes if they are requested.

use super::{branch, columns, described, name, one_line};
use crate::args::{Common, Ls};
use crate::exit::Exit;
use crate::output::{Column, Messages, Table, paints_stdout, terminal_width};
use crate::terminal::{Out, harmless};
use hyperslab::list::{self, About, Counts};
use hyperslab::location::{LocatedObject, Locator, missing_attribute, outermost};
use hyperslab::model::{Attribute, Element, ElementRef, Elements};
use hyperslab::tabular::plain;
use hyperslab::{Entry, Error, Item, Result, Source, ndl};
use serde_json::{Map, Value, json};
use std::io::Write;

/// A list of objects in one store.
pub(super) struct List<'a> {
    source: &'a dyn Source,
    location: &'a Locator,
    args: &'a Ls,
    messages: &'a Messages,
    table: Table,
    rows: u64,
    counts: Counts,
    worst: Exit,
}

/// How the name of an object is written.
#[derive(Clone, Copy)]
enum Named<'r> {
    /// After the branch lines of a tree.
    Tree(&'r [bool]),
    Short,
    /// The whole path.
    Path,
}

impl<'a> List<'a> {
    pub(super) fn new(
        source: &'a dyn Source,
        location: &'a Locator,
        args: &'a Ls,
        messages: &'a Messages,
    ) -> Self {
        let mut columns = columns(args.long);
        columns.push(Column { header: "STORED".into(), numbers: true });
        columns.push(Column { header: "ABOUT".into(), numbers: false });
        List {
            source,
            location,
            args,
            messages,
            table: Table::new(columns),
            rows: 0,
            counts: Counts::default(),
            worst: Exit::Yes,
        }
    }

    /// Lists the contents of a group, or the object itself if it is not a group.
    pub(super) fn group(&mut self, entry: &Entry, out: &mut Out<'_>) -> Result<()> {
        if !matches!(entry.item, Item::Group) {
            return self.object(entry, Named::Short, out);
        }
        match list::attribute_count(self.source, &entry.handle) {
            Ok(count) => self.counts.attributes = count,
            Err(error) => self.failed(error, entry),
        }
        if self.args.attrs {
            self.attributes(entry, Named::Short, out)?;
        }
        let (source, recursive) = (self.source, self.args.recursive);
        list::rows(source, &entry.handle, recursive, &mut |row| {
            let name = if recursive { Named::Tree(row.lineage) } else { Named::Short };
            self.object(row.entry, name, out)
        })
    }

    /// Lists the objects or attributes that match a pattern, with `-r` including everything below them.
    pub(super) fn matches(&mut self, targets: &[LocatedObject], out: &mut Out<'_>) -> Result<()> {
        if targets.iter().any(|target| target.attribute.is_some()) {
            self.counts.attributes = targets.len() as u64;
            for LocatedObject { entry, attribute } in targets {
                self.attribute(entry, attribute.as_deref().unwrap_or_default(), Named::Path, out)?;
            }
            return Ok(());
        }
        if !self.args.recursive {
            return targets.iter().try_for_each(|target| self.object(&target.entry, Named::Path, out));
        }
        for target in outermost(targets) {
            self.object(&target.entry, Named::Path, out)?;
            if matches!(target.entry.item, Item::Group) {
                let source = self.source;
                list::rows(source, &target.entry.handle, true, &mut |row| {
                    self.object(row.entry, Named::Path, out)
                })?;
            }
        }
        Ok(())
    }

    /// Writes the table.
    pub(super) fn finish(
        mut self,
        targets: &[LocatedObject],
        common: &Common,
        out: &mut Out<'_>,
    ) -> Result<Exit> {
        if self.args.one || self.args.json {
            return Ok(self.worst);
        }
        let Locator { store, path } = self.location;
        let group = match targets {
            [only] if !path.as_deref().is_some_and(hyperslab::location::is_pattern) => {
                (only.attribute.is_none()).then_some(&only.entry.handle.path)
            }
            _ => None,
        };
        let place = match (group, path) {
            (Some(group), _) if group.is_root() => store.clone(),
            (Some(group), _) => format!("{store}:{group}"),
            (None, Some(path)) => format!("{store}:{path}"),
            (None, None) => store.clone(),
        };
        write!(out, "{}: {}, {}", harmless(&place), self.source.format(), self.counts.label())?;
        match group.is_some_and(|group| group.is_root()).then(|| self.source.size()).transpose()? {
            Some(bytes) => writeln!(out, ", {}", list::human_bytes(bytes))?,
            None => writeln!(out)?,
        }
        if self.rows > 0 {
            self.table.drop_empty_column();
            if out.is_terminal() {
                // The least important columns are narrowed first, and the name last.
                let narrowed = match self.args.long {
                    true => {
                        let (name, kind, shape, chunk, filters, about) = (0, 1, 2, 3, 4, 6);
                        let first = [(about, 12), (kind, 12), (filters, 12), (about, 0), (shape, 12)];
                        let then = [(chunk, 8), (filters, 0), (shape, 8), (kind, 8), (chunk, 0), (name, 16)];
                        [&first[..], &then].concat()
                    }
                    false => {
                        let (name, kind, shape, about) = (0, 1, 2, 4);
                        vec![(about, 12), (kind, 12), (about, 0), (shape, 12), (kind, 8), (name, 16)]
                    }
                };
                self.table.fit(terminal_width(), &narrowed);
            }
            self.table.write(out, paints_stdout(common, self.args.to.file().is_some()))?;
        }
        Ok(self.worst)
    }

    fn object(&mut self, entry: &Entry, named: Named<'_>, out: &mut Out<'_>) -> Result<()> {
        self.counts.add(&entry.item);
        self.rows += 1;
        if let Item::Unreadable(unreadable) = &entry.item {
            let error = Error::new(unreadable.kind, unreadable.reason.clone());
            self.failed(error, entry);
        }
        let path = entry.handle.path.as_str();
        if self.args.one {
            one_line(&self.whole(path), out)?;
        } else if self.args.json {
            let object = self.json(entry);
            out.json_line(Value::Object(object))?;
        } else {
            self.table.cell_with(|out| match named {
                Named::Tree(lineage) => branch(lineage, entry, out),
                Named::Short => out.push_str(name(entry)),
                Named::Path => out.push_str(path),
            });
            described(&entry.item, self.args.long, &mut self.table);
            match list::stored_bytes(self.source, entry) {
                Ok(bytes) => self.table.cell(bytes.map(list::human_bytes).unwrap_or_default()),
                Err(error) => {
                    self.table.cell("?");
                    self.failed(error, entry);
                }
            }
            let about = self.about(entry);
            self.table.cell(in_words(&about));
        }
        match self.args.attrs {
            true => self.attributes(entry, named, out),
            false => Ok(()),
        }
    }

    /// A short description of an object. In very long lists, it is not read for every object.
    fn about(&self, entry: &Entry) -> About {
        match self.rows <= MAX_ABOUT {
            // Objects that cannot be read are reported by verbs that read them.
            true => list::about(self.source, entry).unwrap_or_default(),
            false => About::default(),
        }
    }

    fn attributes(&mut self, entry: &Entry, named: Named<'_>, out: &mut Out<'_>) -> Result<()> {
        if !matches!(entry.item, Item::Group | Item::Array { .. } | Item::Datatype(_)) {
            return Ok(());
        }
        let names: Vec<String> = match self.source.load(&entry.handle) {
            Ok(node) => node.attributes().into_iter().flat_map(|all| all.keys().cloned()).collect(),
            Err(error) => {
                self.failed(error, entry);
                Vec::new()
            }
        };
        names.iter().try_for_each(|name| self.attribute(entry, name, named, out))
    }

    fn attribute(&mut self, entry: &Entry, name: &str, named: Named<'_>, out: &mut Out<'_>) -> Result<()> {
        let node = self.source.load(&entry.handle)?;
        let path = format!("{}@{name}", entry.handle.path);
        let found = match node.attributes().and_then(|all| all.get(name)) {
            Some(Ok(found)) => Some(found),
            Some(Err(unreadable)) => {
                let error = Error::new(unreadable.kind, unreadable.reason.clone());
                self.messages.error(&error.in_object(&path).in_file(&self.location.store));
                self.worst = self.worst.max(Exit::No);
                None
            }
            None => {
                let names = node.attributes().into_iter().flat_map(|all| all.keys().map(String::as_str));
                return Err(missing_attribute(&entry.handle.path, name, names));
            }
        };
        self.rows += 1;
        if self.args.one {
            return one_line(&self.whole(&path), out);
        }
        if self.args.json {
            let mut object = Map::new();
            object.insert("file".into(), self.location.store.as_str().into());
            object.insert("path".into(), path.into());
            object.insert("kind".into(), "attribute".into());
            if let Some(found) = found {
                object.insert("type".into(), found.datatype.to_string().into());
                object.insert("shape".into(), json!(found.shape));
                // Values are written as in NDL, including those that JSON numbers cannot represent.
                let values: Vec<String> =
                    Elements::new(&found.datatype, &found.value).map(ndl::json).collect();
                let text = match found.shape.as_deref() {
                    Some([]) => values.concat(),
                    _ => format!("[{}]", values.join(", ")),
                };
                object.insert("value".into(), serde_json::from_str(&text).unwrap_or(Value::String(text)));
            }
            return Ok(out.json_line(Value::Object(object))?);
        }
        self.table.cell_with(|out| match named {
            Named::Tree(lineage) => {
                for ended in lineage {
                    out.push_str(if *ended { "    " } else { "│   " });
                }
                out.push_str(&format!("@{name}"));
            }
            Named::Short => out.push_str(&format!("@{name}")),
            Named::Path => out.push_str(&path),
        });
        self.table.cell(found.map(|found| list::datatype_label(&found.datatype)).unwrap_or_default());
        let shape = found.map(|found| match &found.shape {
            Some(extents) => {
                format!("[{}]", extents.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
            }
            None => "null".into(),
        });
        self.table.cell(shape.unwrap_or_default());
        // An attribute has no chunks, filters or size.
        (0..if self.args.long { 3 } else { 1 }).for_each(|_| self.table.cell(""));
        self.table.cell(found.map(value).unwrap_or_default());
        Ok(())
    }

    /// The path, preceded by the store if several locations are listed.
    fn whole(&self, path: &str) -> String {
        match self.args.locations.len() {
            1 => path.to_owned(),
            _ => format!("{}:{path}", self.location.store),
        }
    }

    fn failed(&mut self, error: Error, entry: &Entry) {
        self.messages.error(&error.in_object(&entry.handle.path).in_file(&self.location.store));
        self.worst = self.worst.max(Exit::No);
    }

    fn json(&mut self, entry: &Entry) -> Map<String, Value> {
        let text = |text: &str| Value::from(text);
        let mut object = Map::new();
        object.insert("file".into(), text(&self.location.store));
        object.insert("path".into(), text(entry.handle.path.as_str()));
        let (kind, datatype) = list::kind(&entry.item);
        object.insert("kind".into(), text(kind));
        if let Some(datatype) = datatype {
            object.insert("type".into(), text(&datatype.to_string()));
        }
        match &entry.item {
            Item::Array { shape, stored, .. } => {
                object.insert("shape".into(), shape.current().into());
                let dims = shape.dims();
                if dims.iter().any(|d| !d.extent.is_fixed()) {
                    let max = dims.iter().map(|d| d.extent.max().into()).collect::<Vec<Value>>();
                    object.insert("max".into(), max.into());
                }
                if dims.iter().any(|d| d.coordinate.is_some()) {
                    let named = |d: &hyperslab::model::Dimension| match &d.coordinate {
                        Some(path) => text(path.as_str()),
                        None => Value::Null,
                    };
                    object.insert("dimensions".into(), dims.iter().map(named).collect::<Vec<_>>().into());
                }
                if self.args.long
                    && let hyperslab::Stored::Chunks(storage) = stored
                {
                    object.insert("chunk".into(), storage.chunk.clone().into());
                    object.insert("filters".into(), text(&list::filters_label(stored)));
                }
                match list::stored_bytes(self.source, entry) {
                    Ok(Some(bytes)) => drop(object.insert("stored".into(), bytes.into())),
                    Ok(None) => {}
                    Err(error) => {
                        object.insert("stored".into(), Value::Null);
                        self.failed(error, entry);
                    }
                }
            }
            Item::Link(_) => {
                let target = list::type_label(&entry.item);
                object.insert("target".into(), text(target.trim_start_matches("-> ")));
            }
            Item::Unreadable(unreadable) => {
                object.insert("error".into(), text(&unreadable.reason));
            }
            _ => {}
        }
        let About { value, units, class, long_name } = self.about(entry);
        let value = value.map(|value| serde_json::from_str(&value).unwrap_or(Value::String(value)));
        object.extend(value.map(|value| ("value".to_owned(), value)));
        for (key, about) in [("units", units), ("NX_class", class), ("long_name", long_name)] {
            object.extend(about.map(|about| (key.to_owned(), Value::from(about))));
        }
        object
    }
}

/// The number of objects of a list for which a description is read.
const MAX_ABOUT: u64 = 10_000;

/// A description such as `= 9.81 m s-2`, `degC, sea water temperature` or `NXdata`.
fn in_words(about: &About) -> String {
    let About { value, units, class, long_name } = about;
    let value = value.as_ref().map(|value| match units {
        Some(units) => format!("= {value} {units}"),
        None => format!("= {value}"),
    });
    let parts = [value.or_else(|| units.clone()), class.clone(), long_name.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The first values of an attribute.
fn value(attribute: &Attribute) -> String {
    let elements = Elements::new(&attribute.datatype, &attribute.value);
    let count = elements.len();
    // JSON numbers are always finite, so other numbers are quoted.
    let text = |element: ElementRef<'_>| match element.get() {
        Element::Float(_) => plain(element),
        _ => ndl::json(element),
    };
    let shown: Vec<String> = elements.take(MAX_VALUES).map(text).collect();
    let more = if count > MAX_VALUES { ", …" } else { "" };
    match attribute.shape.as_deref() {
        Some([]) => format!("= {}", shown.concat()),
        Some(_) => format!("= [{}{more}]", shown.join(", ")),
        None => String::new(),
    }
}

/// The number of values of an attribute that are listed.
const MAX_VALUES: usize = 8;
