//! Verbs that write a store.

mod rules;

use self::rules::Layouting;
pub(crate) use self::rules::target_options;
use super::findings::answer;
use super::selections;
use super::told::{Progress, exceptions, object};
use crate::builder::Builder;
use crate::error::Raised;
use crate::file::File;
use crate::joining::Joining;
use crate::options::Options;
use crate::work::run;
use bytes::Bytes;
use hyperslab::check::CheckOptions;
use hyperslab::convert::{
    Chunking, ConvertOptions, Parts, Plan, Prepared, Summary, convert as write_store, prepare, verify,
};
use hyperslab::create::{Document, document, preview};
use hyperslab::files::{parts, parts_and_links};
use hyperslab::location::{LocatedObject, Locator, outermost};
use hyperslab::model::Tolerance;
use hyperslab::publish::{self, Fingerprint, PublishOptions};
use hyperslab::select::{Narrowed, doubts};
use hyperslab::target::{Loss, TargetFormat, TargetOptions};
use hyperslab::{
    Error, FileStorage, Followed, Joined, NodePath, OpenOptions, Operation, Pool, ReadAt, Remedy, Result,
    Severity, Source, in_group, open, repack as repacking, target_format, target_format_of,
};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a store is written.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Writing {
    format: Option<String>,
    allow_loss: Vec<String>,
    dry_run: bool,
    verify: bool,
    overwrite: bool,
    resume: bool,
    sync: bool,
    layout: Layouting,
    options: Vec<(String, Option<String>)>,
    progress: Option<Py<PyAny>>,
}

/// The source of a new store.
struct From<'a> {
    source: &'a dyn Source,
    store: &'a str,
    made_from: Fingerprint,
    /// The conversion options for the format of the source, if it is repacked.
    base: Option<ConvertOptions<'static>>,
    /// The part of the source; `None` for all of it.
    parts: Option<Parts>,
    /// The selections, as they were given.
    wishes: String,
}

/// The outcome of writing.
#[derive(Default)]
pub(crate) struct Outcome {
    report: Map<String, Value>,
    left_out: Vec<Error>,
    different: Vec<Error>,
    unreadable: Vec<Error>,
    /// Why nothing was written, or not what was requested.
    refused: Option<Error>,
}

impl Outcome {
    /// The outcome of a plan.
    pub(crate) fn planned(plan: &Plan, format: &dyn TargetFormat, target: Option<&Path>) -> Outcome {
        Outcome { report: planned(plan, format, target), ..Outcome::default() }
    }

    /// Adds the result of writing.
    pub(crate) fn written(&mut self, summary: Summary, target: &Path, options: &OpenOptions) -> Result<()> {
        self.add("arrays", summary.arrays);
        self.add("notes", summary.notes);
        self.left_out = summary.left_out;
        self.add("written", open(target, options)?.size()?);
        Ok(())
    }

    /// The same outcome, with the reason why it was not written.
    pub(crate) fn refused(mut self, error: Option<Error>) -> Outcome {
        self.refused = error;
        self
    }

    /// Whether nothing was written, or not what was requested.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    fn add(&mut self, key: &str, value: impl Into<Value>) {
        self.report.insert(key.to_owned(), value.into());
    }

    pub(crate) fn dict<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let dict = object(py, &Value::Object(self.report))?;
        for (key, errors) in
            [("left_out", self.left_out), ("different", self.different), ("unreadable", self.unreadable)]
        {
            dict.set_item(key, exceptions(py, &errors)?)?;
        }
        dict.set_item("refused", exceptions(py, self.refused.as_slice())?)?;
        Ok(dict)
    }
}

/// The format of a store: the named one, or that of its suffix.
pub(crate) fn format_of(target: Option<&Path>, name: Option<&str>) -> Result<&'static dyn TargetFormat> {
    match (name, target) {
        (Some(name), _) => target_format(name),
        (None, Some(target)) => target_format_of(target).map_err(|e| e.in_file(target.display())),
        (None, None) => {
            Err(Error::invalid("neither a target nor a format was given, expected at least one of them"))
        }
    }
}

/// Name of the format that a store will have.
#[pyfunction]
#[pyo3(name = "target_format")]
pub(crate) fn target_name(py: Python<'_>, target: PathBuf, format: Option<&str>) -> PyResult<&'static str> {
    format_of(Some(&target), format).map(|format| format.name()).raised(py)
}

/// Writes a store, or plans to.
fn write(
    from: From<'_>,
    target: Option<&Path>,
    writing: &Writing,
    progress: &Progress,
    pool: &Pool,
) -> Result<Outcome> {
    let in_store = |error: Error| if error.file().is_some() { error } else { error.in_file(from.store) };
    let base = match (&from.base, &writing.format, target) {
        (Some(base), ..) => base.clone(),
        (None, name, target) => ConvertOptions::new(format_of(target, name.as_deref())?),
    };
    let tell = |path: &NodePath, bytes: u64| progress.tell(pool, path, bytes);
    let Writing { overwrite, resume, sync, .. } = *writing;
    let mut options = ConvertOptions {
        native: target_options(base.native.clone(), &writing.options)?,
        layout: writing.layout.add_to(base.layout.clone())?,
        parts: from.parts.clone(),
        wishes: from.wishes.clone(),
        allow: Loss::of_names(&writing.allow_loss)?,
        publish: PublishOptions { overwrite, resume, sync },
        pool: pool.clone(),
        progress: Some(&tell),
        ..base
    };
    let prepared = prepare(from.source, &from.made_from, target, &options);
    if let (Err(_), false, Some(target)) = (&prepared, writing.dry_run, target) {
        publish::tidy(target);
    }
    let Prepared { plan, refused } = prepared.map_err(in_store)?;
    pool.check()?;
    let mut outcome = Outcome::planned(&plan, options.format, target);
    let links = from.source.unfollowed_links();
    let unfollowed: Vec<String> = links.reasons.iter().map(ToString::to_string).collect();
    outcome.add("unfollowed", unfollowed);
    if let Err(error) = refused {
        outcome.refused = Some(in_store(error));
        return Ok(outcome);
    }
    let (false, Some(target)) = (writing.dry_run, target) else { return Ok(outcome) };
    progress.of(plan.bytes);
    let summary = match write_store(from.source, &from.made_from, target, &plan, &options) {
        Ok(summary) => summary,
        // A loss that became apparent only during writing.
        Err(error) if is_loss(&error) => {
            outcome.refused = Some(in_store(error));
            return Ok(outcome);
        }
        Err(error) => return Err(in_store(error)),
    };
    options.progress = None;
    if writing.verify {
        let open_options = OpenOptions { pool: pool.clone(), ..options.opening() };
        // The source and the target are read in the same way.
        let written = match from.base.is_some() {
            true => repacking::open(target, &open_options)?,
            false => open(target, &open_options)?,
        };
        let done = (&plan, &summary, &options);
        let verified = verify(from.source, &*written, done, &mut |_, path, bytes| {
            progress.tell(pool, path, bytes);
        })?;
        outcome.add("equal", verified.equal);
        outcome.add("changed", verified.changed);
        (outcome.different, outcome.unreadable) = (verified.different, verified.unreadable);
    }
    outcome.written(summary, target, &options.opening())?;
    Ok(outcome)
}

/// Whether an error reports a loss that is not allowed.
pub(crate) fn is_loss(error: &Error) -> bool {
    error.remedies().iter().any(|of| matches!(of, Remedy::AllowLoss { .. } | Remedy::LeaveOutUnreadable))
}

fn planned(plan: &Plan, format: &dyn TargetFormat, target: Option<&Path>) -> Map<String, Value> {
    let rows = plan.report.rows().map(|row| {
        json!({
            "places": row.places, "count": row.count, "what": row.what, "becomes": row.becomes, "fate": row.fate.word(),
            "kind": row.fate.loss().map(Loss::name),
        })
    });
    let chunks = plan.chunking.iter().map(|of| {
        json!({
            "path": of.path.as_str(), "shape": of.shape, "chunk": of.chunk, "shard": of.shard,
            "count": of.count, "bytes": of.each,
        })
    });
    // In a single file, a chunk costs an index entry rather than a file name.
    let are_files = target.is_some_and(|target| format.is_directory(target));
    let advice = plan.chunking.iter().filter(|_| are_files).filter_map(Chunking::advice);
    let table: Vec<String> = plan.report.table().into_iter().map(|(line, _)| line).collect();
    let planned = json!({
        "format": format.name(),
        "bytes": plan.bytes,
        "rows": rows.collect::<Vec<_>>(),
        "chunks": chunks.collect::<Vec<_>>(),
        "advice": advice.map(|advice| advice.to_string()).collect::<Vec<_>>(),
        "table": table,
    });
    match planned {
        Value::Object(planned) => planned,
        _ => Map::new(),
    }
}

/// The state of sources before they are opened. Missing files are reported later.
fn made_from(stores: &[impl AsRef<Path>], how: String) -> Result<Fingerprint> {
    let paths = stores.iter().map(|store| store.as_ref().to_owned());
    let files: Vec<PathBuf> = paths.filter(|path| path.exists()).collect();
    Fingerprint::of_sources(&files, how)
}

/// The part of a source to read: all of it or some objects, and a selection of its elements.
struct Selecting<'a> {
    location: &'a Locator,
    select: &'a [String],
}

/// A source, the parts of it to write, and notes on doubtful selections.
type Chosen = (Arc<dyn Source>, Option<Parts>, Vec<String>);

impl Selecting<'_> {
    fn of(&self, source: Arc<dyn Source>) -> Result<Chosen> {
        let targets = self.location.targets(&*source)?;
        if let Some(name) = targets.iter().find_map(|target| target.attribute.as_deref()) {
            let detail = format!("@{name} is an attribute, expected a store, a group or an array");
            return Err(Error::invalid(detail));
        }
        let entries: Vec<_> =
            outermost(&targets).map(|target: &LocatedObject| target.entry.clone()).collect();
        let mut notes = Vec::new();
        let source = match self.select {
            [] => source,
            texts => {
                let select = selections(texts)?;
                notes.extend(doubts(&*source, &select)?.into_iter().map(|doubt| doubt.text));
                Arc::new(Narrowed::new(source, &select, &entries)?)
            }
        };
        let parts = match self.location.path.is_some() {
            true => Some(Parts::new(&*source, &entries)?),
            false => None,
        };
        Ok((source, parts, notes))
    }
}

/// Where a source is: a path with options for opening it, or an open store that has no path.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Stored {
    file: Option<Py<File>>,
    store: String,
    path: Option<String>,
    open: Options,
    /// The options as text, by which a later run recognizes that it has the same ones.
    how: String,
}

/// Writes a store with the content of another.
#[pyfunction]
#[pyo3(signature = (source, target, writing, *, select, follow_links))]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    source: Stored,
    target: Option<PathBuf>,
    writing: Writing,
    select: Vec<String>,
    follow_links: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let Stored { file, store, path, open: options, how } = source;
    let follow_links = follow_links || options.follow_links;
    let options = options.resolved(py)?;
    let progress = Progress::new(writing.progress.as_ref().map(|call| call.clone_ref(py)));
    let work = |pool: &Pool| {
        let location = Locator { store: store.clone(), path };
        let how = if follow_links { format!("{how} follow_links") } else { how };
        let (source, made_from): (Arc<dyn Source>, _) = match &file {
            Some(file) => {
                let source = Operation::new(Arc::clone(&file.get().stored), pool.clone());
                (Arc::new(source), Fingerprint::of_sources(&[], how)?)
            }
            None => {
                let options = OpenOptions { pool: pool.clone(), ..options };
                // Recorded before the store is opened, so that later changes are noticed.
                let mut made_from = made_from(std::slice::from_ref(&store), how)?;
                let mut source = open(Path::new(&store), &options)?;
                let others = match follow_links {
                    true => parts_and_links(Path::new(&store), Arc::clone(&source), &options)?,
                    false => parts(Path::new(&store), Arc::clone(&source), &options)?,
                };
                if !others.is_empty() {
                    made_from = made_from.with_parts(&others)?;
                    // Data already read from these files may be older than the recorded state.
                    source = open(Path::new(&store), &options)?;
                }
                (source, made_from)
            }
        };
        let source = if follow_links { Arc::new(Followed::new(source)) } else { source };
        let selecting = Selecting { location: &location, select: &select };
        let in_store = |error: Error| error.in_file(&location.store);
        let (source, parts, notes) = selecting.of(source).map_err(in_store)?;
        let format = format_of(target.as_deref(), writing.format.as_deref())?;
        let source = in_group(source, Path::new(&location.store), format).map_err(in_store)?;
        let wishes = select.join(" ");
        let from = From { source: &*source, store: &location.store, made_from, base: None, parts, wishes };
        let mut outcome = write(from, target.as_deref(), &writing, &progress, pool)?;
        outcome.add("doubts", notes);
        Ok(outcome)
    };
    let done = run(py, usize::MAX, work);
    progress.end(py, done)?.dict(py)
}

/// Writes a store from Python values.
#[pyfunction]
#[pyo3(name = "write_store")]
pub(crate) fn write_values<'py>(
    py: Python<'py>,
    builder: &Builder,
    target: PathBuf,
    writing: Writing,
) -> PyResult<Bound<'py, PyAny>> {
    let source = builder.built();
    let progress = Progress::new(writing.progress.as_ref().map(|call| call.clone_ref(py)));
    let work = |pool: &Pool| {
        let made_from = Fingerprint::of_sources(&[], "values of Python")?;
        let (base, parts, wishes) = (None, None, String::new());
        let from = From { source: &*source, store: "schema", made_from, base, parts, wishes };
        write(from, Some(&target), &writing, &progress, pool)
    };
    let done = run(py, usize::MAX, work);
    progress.end(py, done)?.dict(py)
}

/// Writes a store again in its own format.
#[pyfunction]
pub(crate) fn repack<'py>(
    py: Python<'py>,
    source: Stored,
    target: PathBuf,
    writing: Writing,
) -> PyResult<Bound<'py, PyAny>> {
    let Stored { store, path, open: options, how, .. } = source;
    let options = options.resolved(py)?;
    let progress = Progress::new(writing.progress.as_ref().map(|call| call.clone_ref(py)));
    let work = |pool: &Pool| {
        let in_store = |error: Error| if error.file().is_some() { error } else { error.in_file(&store) };
        if let Some(path) = &path {
            return Err(in_store(Error::invalid(format!(
                "{path} is part of a store, expected a whole store"
            ))));
        }
        let options = OpenOptions { pool: pool.clone(), ..options };
        // Recorded before the store is opened, so that later changes are noticed.
        let mut made_from = made_from(std::slice::from_ref(&store), format!("repack {how}"))?;
        let shown = open(Path::new(&store), &options)?;
        let others = parts(Path::new(&store), Arc::clone(&shown), &options)?;
        if !others.is_empty() {
            made_from = made_from.with_parts(&others)?;
        }
        let source = repacking::open(Path::new(&store), &options)?;
        let base = repacking::options(&*source).map_err(in_store)?;
        repacking::check_target(&base, &target)?;
        let base = Some(repacking::with_names_of(base, Arc::clone(&source), shown));
        let wishes = String::new();
        let from = From { source: &*source, store: &store, made_from, base, parts: None, wishes };
        write(from, Some(&target), &writing, &progress, pool)
    };
    let done = run(py, usize::MAX, work);
    progress.end(py, done)?.dict(py)
}

/// Writes several stores as one, concatenated along a dimension.
#[pyfunction]
#[pyo3(signature = (joining, target, writing, *, how, select))]
pub(crate) fn concat<'py>(
    py: Python<'py>,
    joining: Joining,
    target: Option<PathBuf>,
    writing: Writing,
    how: &str,
    select: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let name = joining.name.clone();
    let (stores, options) = joining.resolved(py)?;
    let progress = Progress::new(writing.progress.as_ref().map(|call| call.clone_ref(py)));
    let work = |pool: &Pool| {
        let mut options = options;
        options.open.pool = pool.clone();
        let (along, sort) = (&options.along, options.sort);
        let Tolerance { relative, absolute, .. } = options.tolerance;
        let how = format!("along {along:?} sort {sort} rtol {relative} atol {absolute} {how}");
        let mut made_from = made_from(&stores, how)?;
        let mut joined = Joined::open(&stores, &options)?;
        if !joined.parts().is_empty() {
            made_from = made_from.with_parts(joined.parts())?;
            // Data already read from these files may be older than the recorded state.
            joined = Joined::open(&stores, &options)?;
        }
        let (notes, gaps) = (joined.notes().to_vec(), joined.gaps().to_vec());
        let in_all = |error: Error| if error.file().is_some() { error } else { error.in_file(&name) };
        let location = Locator { store: name.clone(), path: options.path.clone() };
        let selecting = Selecting { location: &location, select: &select };
        let (source, parts, doubts) = selecting.of(joined.shared()).map_err(in_all)?;
        let wishes = select.join(" ");
        let from = From { source: &*source, store: &name, made_from, base: None, parts, wishes };
        let mut outcome = write(from, target.as_deref(), &writing, &progress, pool)?;
        outcome.add("doubts", doubts);
        outcome.add("join_notes", notes);
        outcome.add("gaps", gaps);
        Ok(outcome)
    };
    let done = run(py, usize::MAX, work);
    progress.end(py, done)?.dict(py)
}

/// How a document is read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    /// The file of the document.
    file: Option<PathBuf>,
    /// The document itself.
    text: Option<Vec<u8>>,
    strict: bool,
    lenient: bool,
    pure: bool,
}

/// Writes a store from a document. Also returns the findings in the document.
#[pyfunction]
pub(crate) fn create<'py>(
    py: Python<'py>,
    reading: Reading,
    target: Option<PathBuf>,
    writing: Writing,
) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
    let progress = Progress::new(writing.progress.as_ref().map(|call| call.clone_ref(py)));
    let work = |pool: &Pool| {
        let Reading { file, text, strict, lenient, pure } = reading;
        let options = CheckOptions { strict, lenient, pure, quick: false };
        let open = OpenOptions { pool: pool.clone(), ..OpenOptions::default() };
        let name = file.as_ref().map_or("document".to_owned(), |file| file.display().to_string());
        let how = format!("create {strict} {lenient} {pure}");
        let (text, made_from): (Box<dyn ReadAt>, _) = match file {
            Some(file) => {
                let made_from = made_from(&[file.display().to_string()], how)?;
                (Box::new(FileStorage::open(&file).map_err(|error| error.in_file(&name))?), made_from)
            }
            None => (Box::new(Bytes::from(text.unwrap_or_default())), Fingerprint::of_sources(&[], how)?),
        };
        let found = document(&*text, &open, &options).map_err(|error| error.in_file(&name))?;
        let Document { mut report, refusals, source } = found;
        let is_sound = report.count(Severity::Error) == 0 && refusals.is_empty();
        report.findings.extend(refusals);
        let report = answer(&name, report);
        let (true, Some(source)) = (is_sound, source) else { return Ok((report, None)) };
        let mut counted = None;
        if writing.dry_run {
            let layout = writing.layout.add_to(Default::default())?;
            let seen = preview(&*source, &layout).map_err(|error| error.in_file(&name))?;
            if let Some(error) = seen.errors.into_iter().next() {
                return Err(error.in_file(&name));
            }
            counted = Some(json!({
                "counts": seen.counts.label(), "attributes": seen.attributes, "bytes": seen.bytes,
                "given": seen.written,
            }));
            if target.is_none() && writing.format.is_none() {
                // Without a target and a format, it is not known yet what would be lost.
                Loss::of_names(&writing.allow_loss)?;
                target_options(TargetOptions::default(), &writing.options)?;
                let mut outcome = Outcome::default();
                outcome.add("preview", counted);
                return Ok((report, Some(outcome)));
            }
        }
        let from = From {
            source: &*source,
            store: &name,
            made_from,
            base: None,
            parts: None,
            wishes: String::new(),
        };
        let mut outcome = write(from, target.as_deref(), &writing, &progress, pool)?;
        outcome.add("preview", counted);
        Ok((report, Some(outcome)))
    };
    let done = run(py, usize::MAX, work);
    let (report, outcome) = progress.end(py, done)?;
    Ok((object(py, &report)?, outcome.map(|outcome| outcome.dict(py)).transpose()?))
}
