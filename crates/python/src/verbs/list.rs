//! Lists objects, and the stores of a folder.

use super::Place;
use super::told::{exceptions, object};
use crate::work::run;
use hyperslab::list::{self, About, Counts};
use hyperslab::location::{LocatedObject, is_pattern, missing_attribute, outermost};
use hyperslab::model::{Attribute, Dimension, Elements};
use hyperslab::{Entry, Error, Item, OpenOptions, Pool, Result, Source, Stored, ndl};
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::{Map, Value, json};

/// The stores in a folder: paths, formats, sizes; and errors.
#[pyfunction]
pub(crate) fn ls_folder<'py>(
    py: Python<'py>,
    path: &str,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyList>)> {
    let (rows, errors) = run(py, usize::MAX, |pool| {
        let entries = std::fs::read_dir(path).map_err(|error| Error::from(error).in_file(path))?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        paths.sort();
        let (mut rows, mut errors) = (Vec::new(), Vec::new());
        for path in &paths {
            pool.check()?;
            let failed = |error: Error| error.in_file(path.display());
            match hyperslab::recognize(path) {
                Ok(Some(_)) => {}
                Ok(None) => continue,
                Err(error) => {
                    errors.push(failed(error));
                    continue;
                }
            }
            let opened = hyperslab::open(path, &OpenOptions { pool: pool.clone(), ..OpenOptions::default() });
            let format = opened.as_ref().map_or("unreadable", |source| source.format());
            let size = opened.and_then(|source| source.size());
            let size = size.map_err(|error| errors.push(failed(error))).ok();
            let size = size.or_else(|| Some(std::fs::metadata(path).ok()?.len()));
            rows.push(json!({"path": path.to_string_lossy(), "format": format, "bytes": size}));
        }
        Ok((Value::from(rows), errors))
    })?;
    Ok((object(py, &rows)?, exceptions(py, &errors)?))
}

/// The objects of a group or those that match a pattern, a summary of them, and errors.
#[pyfunction]
#[pyo3(signature = (place, *, recursive, attrs, follow_links))]
pub(crate) fn ls<'py>(
    py: Python<'py>,
    place: Place,
    recursive: bool,
    attrs: bool,
    follow_links: bool,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyList>)> {
    let work = |pool: &Pool| {
        let source = place.source(pool, follow_links);
        let location = place.location();
        let targets = location.targets(&*source)?;
        let mut list =
            List { source: &*source, attrs, rows: Vec::new(), counts: Counts::default(), errors: Vec::new() };
        let is_many = location.path.as_deref().is_some_and(is_pattern);
        let mut group = None;
        match targets.as_slice() {
            [only] if only.attribute.is_none() && !is_many => {
                group = Some(&only.entry.handle.path);
                list.group(&only.entry, recursive)?;
            }
            many if many.iter().any(|target| target.attribute.is_some()) => {
                list.counts.attributes = many.len() as u64;
                for LocatedObject { entry, attribute } in many {
                    list.attribute(entry, attribute.as_deref().unwrap_or_default())?;
                }
            }
            many if !recursive => many.iter().try_for_each(|target| list.object(&target.entry, 0))?,
            many => {
                for target in outermost(many) {
                    list.object(&target.entry, 0)?;
                    if matches!(target.entry.item, Item::Group) {
                        list.below(&target.entry, true, 1)?;
                    }
                }
            }
        }
        pool.check()?;
        let is_all = group.is_some_and(|group| group.is_root());
        let size = is_all.then(|| source.size()).transpose()?;
        let about = json!({
            "group": group.map(|group| group.as_str()),
            "format": source.format(),
            "counts": list.counts.label(),
            "size": size,
        });
        Ok((Value::from(list.rows), about, list.errors))
    };
    let (rows, about, errors) = run(py, usize::MAX, |pool| place.named(work(pool)))?;
    Ok((object(py, &rows)?, object(py, &about)?, exceptions(py, &errors)?))
}

/// A list of objects in one store.
struct List<'a> {
    source: &'a dyn Source,
    attrs: bool,
    rows: Vec<Value>,
    counts: Counts,
    errors: Vec<Error>,
}

impl List<'_> {
    /// Lists the content of a group, or an object that is not a group.
    fn group(&mut self, entry: &Entry, recursive: bool) -> Result<()> {
        if !matches!(entry.item, Item::Group) {
            return self.object(entry, 0);
        }
        match list::attribute_count(self.source, &entry.handle) {
            Ok(count) => self.counts.attributes = count,
            Err(error) => self.errors.push(error.in_object(&entry.handle.path)),
        }
        if self.attrs {
            self.attributes(entry)?;
        }
        self.below(entry, recursive, 0)
    }

    fn below(&mut self, entry: &Entry, recursive: bool, depth: usize) -> Result<()> {
        list::rows(self.source, &entry.handle, recursive, &mut |row| {
            self.object(row.entry, depth.saturating_add(row.lineage.len().saturating_sub(1)))
        })
    }

    fn object(&mut self, entry: &Entry, depth: usize) -> Result<()> {
        self.counts.add(&entry.item);
        let row = self.row(entry, depth);
        self.rows.push(row.into());
        if self.attrs { self.attributes(entry) } else { Ok(()) }
    }

    fn attributes(&mut self, entry: &Entry) -> Result<()> {
        if !matches!(entry.item, Item::Group | Item::Array { .. } | Item::Datatype(_)) {
            return Ok(());
        }
        let names: Vec<String> = match self.source.load(&entry.handle) {
            Ok(node) => node.attributes().into_iter().flat_map(|all| all.keys().cloned()).collect(),
            Err(error) => {
                self.errors.push(error.in_object(&entry.handle.path));
                Vec::new()
            }
        };
        names.iter().try_for_each(|name| self.attribute(entry, name))
    }

    fn attribute(&mut self, entry: &Entry, name: &str) -> Result<()> {
        let node = self.source.load(&entry.handle)?;
        let path = format!("{}@{name}", entry.handle.path);
        let mut row = Map::new();
        row.insert("path".into(), path.as_str().into());
        row.insert("kind".into(), "attribute".into());
        match node.attributes().and_then(|all| all.get(name)) {
            Some(Ok(found)) => {
                row.insert("type".into(), found.datatype.to_string().into());
                row.insert("shape".into(), json!(found.shape));
                row.insert("label".into(), list::datatype_label(&found.datatype).into());
                let (value, about) = values(found);
                row.insert("value".into(), value);
                row.insert("about".into(), about.into());
            }
            Some(Err(unreadable)) => {
                let error = Error::new(unreadable.kind, unreadable.reason.clone());
                row.insert("error".into(), unreadable.reason.as_str().into());
                self.errors.push(error.in_object(&path));
            }
            None => {
                let names = node.attributes().into_iter().flat_map(|all| all.keys().map(String::as_str));
                return Err(missing_attribute(&entry.handle.path, name, names));
            }
        }
        self.rows.push(row.into());
        Ok(())
    }

    fn row(&mut self, entry: &Entry, depth: usize) -> Map<String, Value> {
        let mut row = Map::new();
        let (kind, datatype) = list::kind(&entry.item);
        row.insert("path".into(), entry.handle.path.as_str().into());
        row.insert("kind".into(), kind.into());
        row.insert("depth".into(), depth.into());
        row.insert("label".into(), list::type_label(&entry.item).into());
        row.extend(datatype.map(|datatype| ("type".to_owned(), datatype.to_string().into())));
        match &entry.item {
            Item::Array { shape, stored, .. } => {
                let dims = shape.dims();
                let path = |of: &Dimension| of.coordinate.as_ref().map(|path| path.as_str().to_owned());
                let mut words = String::new();
                list::shape_label(shape, &mut words);
                row.insert("shape_label".into(), words.into());
                row.insert("shape".into(), shape.current().into());
                row.insert("max".into(), json!(dims.iter().map(|of| of.extent.max()).collect::<Vec<_>>()));
                row.insert("dimensions".into(), json!(dims.iter().map(path).collect::<Vec<_>>()));
                if let Stored::Chunks(storage) = stored {
                    row.insert("chunk".into(), json!(storage.chunk));
                    row.insert("filters".into(), list::filters_label(stored).into());
                }
                match list::stored_bytes(self.source, entry) {
                    Ok(bytes) => drop(row.insert("stored".into(), json!(bytes))),
                    Err(error) => self.errors.push(error.in_object(&entry.handle.path)),
                }
            }
            Item::Link(_) => {
                let label = list::type_label(&entry.item);
                row.insert("target".into(), label.trim_start_matches("-> ").into());
            }
            Item::Unreadable(unreadable) => {
                row.insert("error".into(), unreadable.reason.as_str().into());
                let error = Error::new(unreadable.kind, unreadable.reason.clone());
                self.errors.push(error.in_object(&entry.handle.path));
            }
            _ => {}
        }
        if self.rows.len() < MAX_ABOUT {
            // Unreadable values are reported by the verbs that read them.
            let About { value, units, class, long_name } =
                list::about(self.source, entry).unwrap_or_default();
            let about = [("value", value), ("units", units), ("nx_class", class), ("long_name", long_name)];
            let about = about.into_iter().filter_map(|(key, about)| Some((key.to_owned(), about?.into())));
            row.extend(about);
        }
        row
    }
}

/// The values of an attribute as written in NDL, and the first values as shown in a list.
fn values(attribute: &Attribute) -> (Value, String) {
    let all: Vec<String> = Elements::new(&attribute.datatype, &attribute.value).map(ndl::json).collect();
    let first = all.iter().take(MAX_VALUES).cloned().collect::<Vec<_>>().join(", ");
    let more = if all.len() > MAX_VALUES { ", …" } else { "" };
    let (text, about) = match attribute.shape.as_deref() {
        Some([]) => (all.concat(), format!("= {first}")),
        Some(_) => (format!("[{}]", all.join(", ")), format!("= [{first}{more}]")),
        None => return (Value::Null, String::new()),
    };
    (serde_json::from_str(&text).unwrap_or(Value::String(text)), about)
}

/// The maximum number of values of an attribute that are listed.
const MAX_VALUES: usize = 8;

/// The maximum number of objects in a list that are read for what they are about.
const MAX_ABOUT: usize = 10_000;
