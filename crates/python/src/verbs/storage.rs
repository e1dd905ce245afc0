//! How arrays are stored, and summaries of their values.

use super::told::{exceptions, object};
use super::{Place, absent, selections};
use crate::work::run;
use hyperslab::location::outermost;
use hyperslab::select::check_names;
use hyperslab::stat::{ArrayStat, Better, Figure, Summary, SummaryOptions, arrays, is_told, summary_with};
use hyperslab::{Asked, ChunkCount, Entry, Error, Pool};
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::{Map, Value, json};

/// How arrays are stored, with `values` also a summary of their values; and errors.
#[pyfunction]
#[pyo3(signature = (place, *, values, decode, select))]
pub(crate) fn stat<'py>(
    py: Python<'py>,
    place: Place,
    values: bool,
    decode: bool,
    select: Vec<String>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyList>)> {
    let work = |pool: &Pool| {
        let options = SummaryOptions { decode, select: selections(&select)? };
        let source = place.source(pool, false);
        let targets = place.location().followed(&*source)?;
        if let Some(name) = targets.iter().find_map(|target| target.attribute.as_ref()) {
            return Err(Error::invalid(format!("@{name} is an attribute, which has no chunks or filters")));
        }
        if values {
            check_names(&*source, &options.select)?;
        }
        let (mut rows, mut errors, asked) = (Vec::new(), Vec::new(), Asked::default());
        let mut visit = |entry: &Entry| {
            pool.check()?;
            let told = match hyperslab::stat::stat(&*source, entry) {
                Ok(told) => told,
                Err(error) => {
                    errors.push(error);
                    return Ok(());
                }
            };
            let summary = match values.then(|| summary_with(&*source, entry, &options, &asked)).transpose() {
                Ok(summary) => summary.flatten(),
                Err(error) => {
                    errors.push(error);
                    None
                }
            };
            rows.push(statistics(entry.handle.path.as_str(), &told, summary.as_ref()));
            Ok(())
        };
        for target in outermost(&targets) {
            // Patterns also match objects that are not arrays.
            if targets.len() > 1 && !is_told(&target.entry.item) {
                continue;
            }
            let of_one = |error: Error| error.in_object(&target.entry.handle.path);
            arrays(&*source, &target.entry, &mut visit).map_err(of_one)?;
        }
        pool.check()?;
        Ok((Value::from(rows), errors))
    };
    let (rows, errors) = run(py, usize::MAX, |pool| place.named(work(pool)))?;
    Ok((object(py, &rows)?, exceptions(py, &errors)?))
}

fn statistics(path: &str, told: &ArrayStat, summary: Option<&Summary>) -> Value {
    let counted =
        |count: &ChunkCount| json!({"shape": count.shape, "written": count.written, "of": count.of});
    let chunks = told.chunks.as_ref();
    let missing = told.missing.count > 0;
    let mut row = json!({
        "path": path,
        "type": told.datatype,
        "shape": told.shape.current(),
        "logical": told.logical,
        "stored": told.stored,
        "ratio": told.ratio(),
        "chunks": chunks.map(|chunks| counted(chunks.inner.as_ref().unwrap_or(&chunks.outer))),
        "shards": chunks.filter(|chunks| chunks.inner.is_some()).map(|chunks| counted(&chunks.outer)),
        "chunk_bytes": told.each,
        "filters": told.filters.split_whitespace().collect::<Vec<_>>(),
        "advice": told.advice.iter().map(|advice| json!({
            "reason": advice.reason,
            "better": advice.better.iter().map(better).collect::<Map<_, _>>(),
        })).collect::<Vec<_>>(),
        "missing_sources": missing.then(|| absent(path, &told.missing)),
    });
    if let (Some(Summary { count, missing, min, max, mean }), Value::Object(row)) = (summary, &mut row) {
        let figure = |figure: &Option<Figure>| figure.as_ref().map_or(Value::Null, Figure::to_json);
        let label = |figure: Option<&Figure>| figure.map(Figure::label);
        let labels =
            [label(min.as_ref()), label(max.as_ref()), label(mean.as_ref().map(Figure::rounded).as_ref())];
        let values = json!({
            "count": count,
            "missing": missing,
            "min": figure(min),
            "max": figure(max),
            "mean": figure(mean),
            "labels": labels,
        });
        row.insert("values".into(), values);
    }
    row
}

/// A better way to store an array, as a keyword of `repack` and its value.
fn better(better: &Better) -> (String, Value) {
    let (key, value) = match better {
        Better::Chunk(shape) => ("chunk", json!(shape)),
        Better::ChunkBytes(bytes) => ("chunk", format!("{}MiB", bytes >> 20).into()),
        Better::Filters(filters) => ("filters", (*filters).into()),
        Better::NoFilters => ("filters", "none".into()),
    };
    (key.to_owned(), value)
}
