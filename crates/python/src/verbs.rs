//! The verbs of the command line, which return values.

mod differences;
mod findings;
mod list;
mod storage;
mod told;
mod write;

pub(crate) use self::differences::diff;
pub(crate) use self::findings::check;
pub(crate) use self::list::{ls, ls_folder};
pub(crate) use self::storage::stat;
pub(crate) use self::write::{
    Outcome, concat, convert, create, format_of, is_loss, repack, target_name, target_options, write_values,
};

use self::told::{Progress, exceptions, object};
use crate::error::Raised;
use crate::file::File;
use crate::work::run;
use hyperslab::cdl::cdl;
use hyperslab::describe::{DescribeOptions, Description};
use hyperslab::digest::{Line, LineContent, attribute, lines_with};
use hyperslab::files::is_plain_folder;
use hyperslab::location::{LocatedObject, Locator, outermost};
use hyperslab::ndl::StorageDetail;
use hyperslab::select::Select;
use hyperslab::{Error, Followed, MissingSources, Operation, Pool, Result, Source};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// What a verb reads: an open store, its name, and the path of the selected part.
#[derive(FromPyObject)]
pub(crate) struct Place(Py<File>, String, Option<String>);

impl Place {
    fn location(&self) -> Locator {
        Locator { store: self.1.clone(), path: self.2.clone() }
    }

    /// The store with the threads of one run.
    fn source(&self, pool: &Pool, follow_links: bool) -> Arc<dyn Source> {
        let stored = Arc::clone(&self.0.get().stored);
        let source: Arc<dyn Source> = Arc::new(Operation::new(stored, pool.clone()));
        if follow_links { Arc::new(Followed::new(source)) } else { source }
    }

    /// The same result, with the name of the store in the error.
    fn named<T>(&self, done: Result<T>) -> Result<T> {
        done.map_err(|error| match error.file() {
            Some(_) => error,
            None => error.in_file(&self.1),
        })
    }
}

/// The store and the path of a location such as `ocean.nc:/salinity`.
#[pyfunction]
pub(crate) fn locate(text: &str) -> (String, Option<String>) {
    let Locator { store, path } = Locator::parse(text);
    (store, path)
}

/// A number of bytes with a binary unit.
#[pyfunction]
pub(crate) fn human_bytes(bytes: u64) -> String {
    hyperslab::size::human_bytes(bytes)
}

/// Whether a path is a folder that is not a store.
#[pyfunction]
pub(crate) fn is_folder(py: Python<'_>, path: &str) -> bool {
    py.detach(|| is_plain_folder(Path::new(path)))
}

fn selections(texts: &[String]) -> Result<Vec<Select>> {
    texts.iter().map(|text| text.parse()).collect()
}

/// The description of a store as text, and remarks on it.
#[pyfunction]
#[pyo3(signature = (place, language, *, values, storage, depth, pure, follow_links))]
#[expect(clippy::too_many_arguments)]
pub(crate) fn describe<'py>(
    py: Python<'py>,
    place: Place,
    language: &str,
    values: Option<u64>,
    storage: &str,
    depth: Option<usize>,
    pure: bool,
    follow_links: bool,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let storage = match storage {
        "brief" => StorageDetail::Brief,
        "full" => StorageDetail::Full,
        "none" => StorageDetail::None,
        other => {
            let detail = format!("storage={other}, expected brief, full or none");
            return Err(Error::invalid(detail)).raised(py);
        }
    };
    let (is_cdl, json) = (language == "cdl", language == "json");
    let options = DescribeOptions { values, storage, depth, pure, json };
    let work = |pool: &Pool| {
        let source = place.source(pool, follow_links);
        let targets = place.location().targets(&*source)?;
        targets.iter().try_for_each(|target| target.check_attribute(&*source))?;
        let is_whole =
            |target: &LocatedObject| target.attribute.is_none() && target.entry.handle.path.is_root();
        let mut text = Vec::new();
        let done = match is_cdl {
            true if !targets.iter().all(is_whole) => {
                return Err(Error::invalid("CDL can only describe a whole store, not part of one"));
            }
            true => cdl(Arc::clone(&source), &place.1, values, &mut text)?,
            false => hyperslab::describe::describe(&*source, &place.1, &targets, &options, &mut text)?,
        };
        pool.check()?;
        Ok((String::from_utf8_lossy(&text).into_owned(), done))
    };
    let (text, done) = run(py, usize::MAX, |pool| place.named(work(pool)))?;
    let Description { objects, errors, notes, missing } = done;
    let about = PyDict::new(py);
    about.set_item("objects", objects)?;
    about.set_item("errors", exceptions(py, &errors)?)?;
    about.set_item("notes", notes)?;
    let missing: Vec<_> = missing.iter().map(|(path, missing)| absent(path.as_str(), missing)).collect();
    about.set_item("missing", missing)?;
    Ok((text, about))
}

/// The sentence stating that elements of an array are not those of its sources.
fn absent(path: &str, missing: &MissingSources) -> String {
    format!("{path}: {missing}: elements there have {}", missing.instead)
}

/// The lines of a digest.
#[pyfunction]
#[pyo3(signature = (place, *, progress))]
pub(crate) fn digest<'py>(
    py: Python<'py>,
    place: Place,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let progress = Progress::new(progress);
    let work = |pool: &Pool| {
        let source = place.source(pool, false);
        let targets = place.location().targets(&*source)?;
        let mut lines = Vec::new();
        // Either all targets are attributes or none is.
        for target in targets.iter().filter(|target| target.attribute.is_some()) {
            let name = target.attribute.as_deref().unwrap_or_default();
            lines.push(attribute(&*source, &target.entry.handle, name)?);
        }
        if lines.is_empty() {
            for target in outermost(&targets) {
                let tell = &mut |path: &_, bytes| progress.tell(pool, path, bytes);
                lines.extend(lines_with(&*source, &target.entry.handle.path, tell)?);
            }
        }
        pool.check()?;
        lines.sort_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
        let row = |line: &Line| {
            let [kind, path, datatype, ..] = line.columns();
            let (mut shape, mut hash, mut target, mut error) = (Value::Null, Value::Null, None, None);
            match &line.content {
                LineContent::Hashed { shape: extents, digest, .. } => {
                    (shape, hash) = (json!(extents), format!("blake3:{digest}").into());
                }
                LineContent::Link { target: leads } => target = Some(leads),
                LineContent::Error { reason, .. } => error = Some(reason),
                LineContent::Group | LineContent::Datatype { .. } => {}
            }
            let missing = (line.missing.count > 0).then(|| absent(&path, &line.missing));
            json!({
                "path": path, "kind": kind, "type": datatype, "shape": shape, "digest": hash,
                "target": target, "error": error, "missing_sources": missing,
            })
        };
        Ok(lines.iter().map(row).collect::<Value>())
    };
    let done = run(py, usize::MAX, |pool| place.named(work(pool)));
    let rows = progress.end(py, done)?;
    object(py, &rows)
}
