//! Differences between two stores.

use super::told::{Progress, object};
use super::{Place, absent, selections};
use crate::work::run;
use hyperslab::diff::{DiffOptions, Found, FoundValues, On, Side};
use hyperslab::location::LocatedObject;
use hyperslab::model::Tolerance;
use hyperslab::{Error, Pool, Result, Source};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// The rules of a comparison.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct DiffRules {
    rtol: f64,
    atol: f64,
    ulp: u64,
    order: bool,
    storage: bool,
    max: usize,
    select: Vec<String>,
}

/// The differences between two stores or objects, and a summary.
#[pyfunction]
#[pyo3(signature = (a, b, rules, *, progress))]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    a: Place,
    b: Place,
    rules: DiffRules,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let progress = Progress::new(progress);
    let work = |pool: &Pool| {
        let options = DiffOptions {
            tolerance: Tolerance {
                relative: rules.rtol,
                absolute: rules.atol,
                ulps: rules.ulp,
                signed_zeros: false,
            },
            order: rules.order,
            storage: rules.storage,
            max_reported: rules.max,
            select: selections(&rules.select)?,
        };
        let ((x, at), (y, bt)) = (a.named(one(&a, pool))?, b.named(one(&b, pool))?);
        let sides = (Side { source: &*x, target: &at }, Side { source: &*y, target: &bt });
        let mut rows = Vec::new();
        let summary = hyperslab::diff::diff(
            sides.0,
            sides.1,
            &options,
            &mut |path, bytes| progress.tell(pool, path, bytes),
            &mut |found| {
                rows.push(difference(&found));
                Ok(())
            },
        )?;
        let missing = summary.missing.iter().map(|missing| {
            let store = if missing.on == On::A { &a.1 } else { &b.1 };
            format!("{store}:{}", absent(missing.path.as_str(), &missing.sources))
        });
        let about = json!({
            "is_same": summary.is_same(),
            "label": summary.label(),
            "missing": missing.collect::<Vec<_>>(),
        });
        Ok((Value::from(rows), about))
    };
    let done = run(py, usize::MAX, work);
    let (rows, about) = progress.end(py, done)?;
    Ok((object(py, &rows)?, object(py, &about)?))
}

fn one(place: &Place, pool: &Pool) -> Result<(Arc<dyn Source>, LocatedObject)> {
    let source = place.source(pool, false);
    let mut targets = place.location().targets(&*source)?;
    match (targets.pop(), targets.len()) {
        (Some(target), 0) => Ok((source, target)),
        (_, more) => Err(Error::invalid(format!("matches {} objects, expected one", more.saturating_add(1)))),
    }
}

fn difference(found: &Found) -> Value {
    let on = match found.on {
        On::A => "a",
        On::B => "b",
        On::Both => "both",
    };
    let mut row = json!({
        "path": found.path, "kind": found.subject.name(), "on": on, "what": found.what, "a": found.a, "b": found.b,
    });
    if let (Some(FoundValues { tally, at, floats }), Value::Object(row)) = (&found.values, &mut row) {
        let values = tally.first.iter().zip(at).map(|(pair, at)| {
            let parts: Vec<Value> = at.parts().iter().map(|part| value(part)).collect();
            json!({
                "at": parts,
                "a": value(&pair.a),
                "b": value(&pair.b),
                "text": [at.to_string(), pair.a.clone(), pair.b.clone(), pair.by.to_string()],
            })
        });
        row.insert("values".into(), values.collect());
        row.insert("differing".into(), tally.differing.into());
        row.insert("compared".into(), tally.compared.into());
        row.insert("largest".into(), tally.largest.and_then(|gap| gap.magnitude()).into());
        row.insert("floats".into(), (*floats).into());
    }
    row
}

/// A value as JSON, or as a string if JSON cannot represent it.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
